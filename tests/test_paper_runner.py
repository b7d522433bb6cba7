"""`scripts/bench paper`: records survive kills, and nothing that is recorded is computed again."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("fcntl", reason="records are locked by it")
optuna = pytest.importorskip("optuna")

from benchmarks.bars import RESULTS, commit  # noqa: E402
from benchmarks.paper import records  # noqa: E402
from benchmarks.paper.experiments import REGRESSION, TABLES, TUNED, cells  # noqa: E402
from benchmarks.paper.models import MODELS, Model, readable  # noqa: E402
from benchmarks.paper.protocol import PAPER  # noqa: E402
from benchmarks.paper.runner import REPLICATE, missing, plan  # noqa: E402
from benchmarks.paper.samples import draw_sample, fill_gaps  # noqa: E402
from benchmarks.paper.work import chosen, confirm  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
TINY = "--table sim_reg1 --data GAM --model Oracle LLA --rows 300 --trials 12 --seeds 2"
N_JOBS = 2 + 1 + 2
PATIENCE = 120


def start(folder: Path, options: str = TINY, **environment: str) -> subprocess.Popen[str]:
    """The runner in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.paper", *options.split(), "--folder", str(folder)],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str]) -> list[str]:
    """Its progress lines."""
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    return [line for line in output.splitlines() if line.startswith("[")]


def lines(folder: Path) -> bytes:
    path = folder / records.FILE
    content = path.read_bytes() if path.exists() else b""
    return content[: content.rfind(b"\n") + 1]


def journals(folder: Path) -> dict[str, bytes]:
    """Whole lines of the journals of tunings that are not recorded yet."""
    found = {}
    for path in (folder / "scratch").glob("*.log"):
        content = path.read_bytes()
        found[path.name] = content[: content.rfind(b"\n") + 1]
    return found


def n_trials(folder: Path) -> int:
    """Trials begun of such a tuning."""
    return max((content.count(b'"op_code":4') for content in journals(folder).values()), default=0)


def kill_when(process: subprocess.Popen[str], reached) -> None:
    """SIGKILL the whole group as soon as something is reached."""
    deadline = time.monotonic() + PATIENCE
    while not reached():
        assert process.poll() is None, "the runner ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def figures(folder: Path) -> dict[records.Key, tuple[object, ...]]:
    """What must not depend on kills, of each cell, which are there once each."""
    rows = [json.loads(line) for line in lines(folder).splitlines()]
    names = ("error", "second", "neurons", "split", "params", "trial", "score", "trials")
    found = {records.key(row): tuple(row.get(name) for name in names) for row in rows}
    assert len(found) == len(rows)
    return found


def test_kills_change_nothing(tmp_path):
    calm, rough = tmp_path / "calm", tmp_path / "rough"
    assert len(finish(start(calm))) == N_JOBS

    before, trials = b"", {}
    for reached in (
        lambda: n_trials(rough) >= 3,
        lambda: n_trials(rough) >= 6,
        lambda: lines(rough).count(b"\n") >= 4,
    ):
        kill_when(start(rough), reached)
        assert lines(rough).startswith(before)
        for name, content in journals(rough).items():
            assert content.startswith(trials.get(name, b""))
        before, trials = lines(rough), journals(rough)
        break_writes(rough)
    n_left = N_JOBS - before.count(b"\n")
    progress = finish(start(rough))

    assert 0 < n_left < N_JOBS
    assert [line.split()[0] for line in progress] == [f"[{i + 1}/{n_left}]" for i in range(n_left)]
    assert lines(rough).startswith(before)
    assert figures(rough) == figures(calm)
    assert finish(start(rough)) == []
    for row in map(json.loads, lines(rough).splitlines()):
        assert row["commit"] == commit()


def break_writes(folder: Path) -> None:
    """What a kill within a write leaves behind, which is too rare to wait for."""
    for name in journals(folder):
        (folder / "scratch" / f"{name}.lock").touch()
        with (folder / "scratch" / name).open("ab") as file:
            file.write(b'{"op_code":6,"wor')
    with (folder / records.FILE).open("ab") as file:
        file.write(b'{"kind": "fit", "tab')


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes by /proc")
def test_no_process_outlives_the_runner(tmp_path):
    process = start(
        tmp_path, "--table sim_reg1 --data GAM --model LIFE(LLA) --trials 1 --rows 9000"
    )
    deadline = time.monotonic() + PATIENCE
    while not n_trials(tmp_path):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(members(process.pid)) >= 3  # the runner, the server of processes, the search
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    while members(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert lines(tmp_path) == b""


def members(group: int) -> list[int]:
    """Processes of a group that are not dead."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, pgrp = path.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(pgrp) == group and state not in "ZX":
            found.append(int(path.parent.name))
    return found


def test_what_fails_is_recorded_and_run_again_only_if_asked_for(tmp_path):
    options = "--table real_reg --data airfoil --model LLA --seeds 2"
    nowhere = {"LIFENET_DATA": str(tmp_path / "nowhere")}
    assert len(finish(start(tmp_path, options, **nowhere))) == 3
    rows = records.read(tmp_path / records.FILE)
    assert [row["kind"] for row in rows] == ["tuning", "fit", "fit"]
    assert re.match("FileNotFoundError: .*LIFENET_DATA", rows[0]["failed"])
    assert rows[1]["failed"] == f"its tuning failed: {rows[0]['failed']}"
    jobs = plan(["real_reg"], ["airfoil"], ["LLA"], 2)
    assert missing(jobs, tmp_path / records.FILE) == []
    assert missing(jobs, tmp_path / records.FILE, retry=True) == jobs


def fit_record(seed: int, **more: object) -> records.Record:
    return {"kind": "fit", "table": "t", "data": "d", "model": "m", "seed": seed, **more}


def test_records_are_kept_once_and_failures_are_replaced(tmp_path):
    path = tmp_path / "new" / "runs.jsonl"
    assert records.read(path) == []
    records.append(path, [fit_record(0, failed="why"), fit_record(1, error=1.5)])
    with path.open("ab") as file:
        file.write(b'{"kind": "fit", "ta')
    assert records.read(path) == [fit_record(0, failed="why"), fit_record(1, error=1.5)]
    again = [fit_record(0, error=2.5), fit_record(1, error=9.0), fit_record(2, error=3.5)]
    assert records.append(path, again) == [again[0], again[2]]
    assert records.read(path) == [again[0], fit_record(1, error=1.5), again[2]]
    with path.open("ab") as file:
        file.write(b"{torn\n")
    with pytest.raises(ValueError, match=r"Line 5 of runs\.jsonl is no record .* remove the line"):
        records.read(path)


def test_two_runs_may_append_at_once(tmp_path):
    path = tmp_path / "runs.jsonl"
    code = (
        "import sys; from pathlib import Path; from benchmarks.paper import records\n"
        "for seed in range(int(sys.argv[2]), 100, 2):\n"
        "    one = dict(kind='fit', table='t', data='d', model='m', seed=seed, text='x' * 5000)\n"
        "    records.append(Path(sys.argv[1]), [one])\n"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", code, str(path), first], cwd=ROOT)
        for first in ("0", "1")
    ]
    assert [one.wait(PATIENCE) for one in both] == [0, 0]
    assert sorted(one["seed"] for one in records.read(path)) == list(range(100))


def test_the_plan_has_every_cell_once_and_its_tuning_before_it():
    jobs = plan(TABLES)
    given = [key for job in jobs for key in job.gives()]
    wanted = {
        ("fit", cell.table, cell.data, cell.model, cell.seed)
        for table in TABLES.values()
        for cell in cells(table)
    }
    assert len(given) == len(set(given))
    assert {key for key in given if key[0] == "fit"} == wanted
    for job in jobs:
        needed = job.needs()
        assert needed is None or given.index(needed) < given.index(job.gives()[0])
    assert sum(job.kind == REPLICATE for job in jobs) == 10
    assert len(plan(["real_reg"], ["casp"], ["LLA"])) == 1 + 5
    assert len(plan(["real_cla"], ["breast_cancer"], ["LLA"])) == 1 + 10


def test_what_was_found_replaces_the_model_as_given_only_where_fresh_rows_say_so():
    """A model that ignores x, one that is right, and one that is the same as it was."""
    from sklearn.linear_model import Ridge

    x = np.random.default_rng(0).normal(size=(500, 1))
    sample = SimpleNamespace(X=x, y=x[:, 0] + np.random.default_rng(1).normal(size=500))
    made = Model(lambda task, seed: Ridge(alpha=1e6))
    better, same = (
        confirm(made, REGRESSION, sample, {"alpha": alpha}, PAPER) for alpha in (1e-3, 1e6)
    )
    assert 0.6 < better["gain"] < 1.4  # the variance of x
    assert better["gain"] > 5 * better["error"]
    assert same == {"gain": 0.0, "error": 0.0}


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("name", TUNED)
def test_chosen_parameters_are_rebuilt_from_a_record(name, task):
    space = MODELS[name].space(task)
    for seed in range(5):
        sampler = optuna.samplers.RandomSampler(seed=seed)
        trial = optuna.create_study(sampler=sampler).ask()
        parameters = space.suggest(trial, 400, 7)
        kept = json.loads(json.dumps({"trial": trial.params, "shape": [400, 7]}))
        rebuilt = chosen(MODELS[name], task, kept)
        assert readable(rebuilt) == readable(parameters)
        if name != "XGBoost":  # an extra
            MODELS[name].build(task, 0).set_params(**rebuilt)
    assert chosen(MODELS[name], task, {"trial": None, "shape": [400, 7]}) == {}


def test_parameters_of_kept_records_are_rebuilt_though_names_have_changed():
    """Fits of records that are there need not be tuned again."""
    formerly = {"init": "start", "n_init": "n_restarts"}
    rows = [
        row
        for row in records.read(RESULTS / "paper-runs.jsonl")  # of the protocol before
        if row["kind"] == "tuning" and "failed" not in row
    ]
    assert {row["model"] for row in rows} == set(TUNED)
    for row in rows:
        task = TABLES[row["table"]].find(row["data"]).task
        rebuilt = readable(chosen(MODELS[row["model"]], task, row))
        assert {
            formerly.get(name, name): re.sub(r"\b(Ridge|ElasticNet)Output\(", r"\1(", value)
            if isinstance(value, str)
            else value
            for name, value in rebuilt.items()
        } == row["params"]


def test_gaps_get_the_training_medians_and_a_column():
    nan = np.nan
    X = np.array([[1.0, nan], [2.0, 5.0], [9.0, 7.0], [2.0, 5.0]])
    X_test = np.array([[nan, nan]])
    filled, filled_test = fill_gaps(X, X_test)
    assert filled.tolist() == [[1, 5, 1], [2, 5, 0], [9, 7, 0], [2, 5, 0]]
    assert filled_test.tolist() == [[2, 5, 1]]


def test_a_sample_of_a_simulation_knows_its_bounds():
    regression = draw_sample(TABLES["sim_reg1"].find("MIM"), 0, 2000)
    assert (len(regression.y), len(regression.y_test)) == (1600, 400)
    assert np.std(regression.y_test - regression.oracle) == pytest.approx(1, abs=0.1)
    classes = draw_sample(TABLES["sim_cal2"].find("MIM"), 0, 2000)
    assert classes.y.mean() == pytest.approx(classes.y_test.mean(), abs=2e-3)
    assert classes.oracle.mean() == pytest.approx(classes.attainable.mean(), abs=0.05)
    assert classes.split == draw_sample(TABLES["sim_cal2"].find("MIM"), 0, 2000).split
    assert classes.split != draw_sample(TABLES["sim_cal2"].find("MIM"), 1, 2000).split
