"""The paper's figures on tiny data: computed piece by piece, kept, and drawn from what is kept."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

pytest.importorskip("fcntl", reason="records are locked by it")

from benchmarks.paper import figures, figures_theory, records
from benchmarks.paper.experiments import RESNETS
from benchmarks.paper.figures_data import Store
from benchmarks.paper.samples import draw_sample

from made_up import REAL

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def draw(name: str, folder: Path, **options: bool) -> list[str]:
    files = figures.draw(
        name, folder=folder / "images", data_folder=folder / "data", small=True, **options
    )
    assert all(file.stat().st_size > 1000 for file in files)
    return [file.name for file in files]


@dataclass
class Measuring:
    """In the place of `measure` or `compare`: takes no time, and is killed at some setting."""

    killed_at: int = -1
    done: list[str] = field(default_factory=list)

    def _count(self, data: Any, setting: Any) -> float:
        if len(self.done) == self.killed_at:
            raise KeyboardInterrupt
        self.done.append(f"{data.name}, {setting.name}")
        return 0.3 + 0.01 * len(self.done)

    def measure(self, pair: Any, data: Any, sample: Any, setting: Any) -> Any:
        loss = self._count(data, setting)
        term = {"cutoff": setting.cutoff, "subset_share": 0.5 - setting.cutoff}
        sizes = {"loss": loss, "accuracy": 2 * loss, "diversity": loss, "n_used": 3}
        return [{**term, "space": space, **sizes} for space in pair.spaces]

    def compare(self, pair: Any, data: Any, sample: Any, setting: Any) -> Any:
        loss = self._count(data, setting)
        return [{"stacking": loss, "life": loss - 0.1, "part": part} for part in ("train", "test")]


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> Measuring:
    found = Measuring()
    for name in ("measure", "compare"):
        monkeypatch.setattr(figures_theory, name, getattr(found, name))
    monkeypatch.setattr(figures_theory, "draw_sample", lambda *_: None)
    return found


def test_there_are_thirteen_figures_and_others_are_refused(tmp_path: Path) -> None:
    assert len(set(figures.NAMES)) == 13
    with pytest.raises(ValueError, match="no figure 'loss'; there are stack_life_reg, "):
        draw("loss", tmp_path)


def test_a_killed_figure_goes_on(tmp_path: Path, measuring: Measuring) -> None:
    measuring.killed_at = 3
    with pytest.raises(KeyboardInterrupt):
        draw("loss_dec_cla", tmp_path)
    assert len(pd.read_csv(tmp_path / "data" / "loss_dec_cla.csv")) == 2 * 3
    measuring.killed_at = -1
    assert draw("loss_dec_cla", tmp_path) == ["loss_dec_cla.svg", "loss_dec_cla.png"]
    assert draw("stack_life_cal", tmp_path) == ["stack_life_cal.svg", "stack_life_cal.png"]
    # Two sets with two cutoffs, and with three random settings.
    assert len(measuring.done) == len(set(measuring.done)) == 2 * (2 + 3)
    assert [path.name for path in sorted((tmp_path / "data").iterdir())] == [
        "loss_dec_cla.csv",
        "stack_life_cal.csv",
    ]


def test_nothing_is_computed_where_only_what_is_kept_may_be_drawn(
    tmp_path: Path, measuring: Measuring, capsys: pytest.CaptureFixture[str]
) -> None:
    assert draw("stack_life_reg", tmp_path, kept=True) == []
    assert draw("base", tmp_path, kept=True) == []
    assert not measuring.done
    said = capsys.readouterr().out
    assert "stack_life_reg: 3 of 3 settings of MIM are not kept; draw it without --kept" in said
    assert "base: GAM is not kept" in said


@pytest.mark.parametrize("pair", [figures_theory.REGRESSIONS, figures_theory.CLASSES])
def test_a_setting_is_decomposed(pair: figures_theory.Pair) -> None:
    data = pair.data[0]
    sample = draw_sample(data, 0, 300)
    terms = figures_theory.measure(pair, data, sample, figures_theory.SMALL_CUTOFFS[0])
    assert [term["space"] for term in terms] == list(pair.spaces)
    for term in terms:
        assert term["loss"] == pytest.approx(term["accuracy"] - term["diversity"])
        assert 0 < term["subset_share"] < 1


@pytest.mark.parametrize("pair", [figures_theory.REGRESSIONS, figures_theory.CLASSES])
def test_life_fits_the_training_rows_no_worse_than_stacking_its_members(
    pair: figures_theory.Pair,
) -> None:
    """Stacking weighs members as wholes; LIFE weighs their neurons, among them the same."""
    data = pair.data[0]
    sample = draw_sample(data, 0, 300)
    train, test = figures_theory.compare(pair, data, sample, figures_theory.SMALL_RANDOM[1])
    assert (train["part"], test["part"]) == ("train", "test")
    assert train["life"] <= train["stacking"] * (1 + 1e-6)
    assert all(0 < row[name] < np.inf for row in (train, test) for name in ("life", "stacking"))


def test_the_loss_of_log_odds_is_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=50), rng.integers(0, 2, 50)
    known = log_loss(y, 1 / (1 + np.exp(-scores)))
    assert figures_theory.mean_loss(scores, y, "classification") == pytest.approx(known)


def test_random_settings_are_the_same_every_time_and_all_differ() -> None:
    settings = figures_theory.random_settings()
    assert settings == figures_theory.random_settings()
    assert len({replace(one, name="") for one in settings}) == figures_theory.N_RANDOM


def test_selection_is_drawn_and_not_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plt.close(figures_theory.draw_selection(Store(tmp_path / "data", small=True)))
    monkeypatch.delattr(figures_theory, "draw_sample")
    assert len(draw("base", tmp_path, kept=True)) == 2
    table = pd.read_csv(tmp_path / "data" / "base.csv")
    assert list(table["keep"]) == 2 * [0.4, 0.7, 1.0]
    assert table.groupby("data")["neurons"].apply(lambda found: found.is_monotonic_increasing).all()


def test_resnets_are_drawn_from_the_records_of_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert draw("ResNet18_LIFE", tmp_path) == []
    assert "--table MNIST_ResNet18 first" in capsys.readouterr().out
    about = {"kind": "fit", "table": "MNIST_ResNet18", "data": "MNIST"}
    lines = [
        {**about, "model": model, "seed": seed, "error": 0.1 + 0.01 * seed, "second": 0.9}
        for model in RESNETS
        for seed in range(3)
    ]
    lines.append({**about, "model": RESNETS[0], "seed": 3, "failed": "no memory"})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / records.FILE).write_text(text)
    contents = []
    for _ in range(2):
        assert draw("ResNet18_LIFE", tmp_path) == ["ResNet18_LIFE.svg", "ResNet18_LIFE.png"]
        contents.append([path.read_bytes() for path in sorted((tmp_path / "images").iterdir())])
    assert contents[0] == contents[1]  # the same drawing is the same file


@pytest.mark.parametrize("origin", ["made-up", REAL])
def test_bike_rentals_are_fitted_once(
    origin: str,
    home_of: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LIFENET_DATA", str(home_of(origin)))
    assert len(draw("neuron_imp", tmp_path)) == 2
    assert "fitting" in capsys.readouterr().out
    assert len(draw("heatmap_imp", tmp_path, kept=True)) == 2
    assert "fitting" not in capsys.readouterr().out
    assert len(pd.read_csv(tmp_path / "data" / "heatmap_imp.csv"))
    (reading,) = pd.read_csv(tmp_path / "data" / "bike_reading.csv").to_dict("records")
    assert 0 < reading["above"] <= reading["neurons"]


@pytest.mark.parametrize("origin", ["made-up", REAL])
def test_times_at_equal_width_are_measured_once(
    origin: str,
    home_of: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LIFENET_DATA", str(home_of(origin)))
    assert len(draw("equal_width", tmp_path)) == 2
    table = pd.read_csv(tmp_path / "data" / "equal_width.csv")
    assert len(table) == 4
    assert (table[["life_seconds", "base_seconds", "life_error"]] > 0).all(axis=None)
    capsys.readouterr()
    assert len(draw("equal_width", tmp_path, kept=True)) == 2
    assert "equal_width:" not in capsys.readouterr().out


def test_rows_with_the_same_keys_are_replaced(tmp_path: Path) -> None:
    store = Store(tmp_path / "data")
    assert store.read("a.csv").empty
    store.add("a.csv", [{"one": 1, "two": 0.1}, {"one": 2, "two": 0.2}], ["one"])
    store.add("a.csv", [{"one": 1, "two": 0.3}], ["one"])
    assert store.read("a.csv").to_dict("list") == {"one": [2, 1], "two": [0.2, 0.3]}
