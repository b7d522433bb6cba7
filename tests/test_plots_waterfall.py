"""The waterfall: bars that lead from the reference to the row, and labels that say so."""

import numpy as np
import pytest

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402

from lifenet import LLARegressor  # noqa: E402
from lifenet.explain.rows import explain_row  # noqa: E402
from lifenet.network import ReluNetwork  # noqa: E402
from lifenet.plots._style import BLUE, VERMILION  # noqa: E402
from lifenet.plots.waterfall import WaterfallDisplay  # noqa: E402


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def network(n_features=4, n_outputs=1):
    generator = np.random.default_rng(0)
    return ReluNetwork(
        generator.normal(size=(20, n_features)),
        generator.normal(size=20),
        generator.normal(size=(20, n_outputs)),
        np.zeros(n_outputs),
    )


def table(n_features=4):
    return np.random.default_rng(1).normal(size=(150, n_features))


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_bars_lead_from_the_reference_to_the_row():
    X = table()
    result = explain_row(network(), X[0], X=X, schema=["a", "b", "c", "d"])
    display = WaterfallDisplay(result).plot()
    at = result.reference_score
    for bar, (_, part) in zip(display.ax_.patches, result.steps(), strict=True):
        ends = sorted([bar.get_x(), bar.get_x() + bar.get_width()])
        assert ends == pytest.approx(sorted([at, at + part]))
        assert to_hex(bar.get_facecolor()) == (BLUE if part >= 0 else VERMILION).lower()
        at += part
    assert at == pytest.approx(result.score)
    ends = display.ax_.collections[-1].get_offsets()[:, 0]
    assert np.allclose(ends, [result.reference_score, result.score])
    assert labels(display.ax_) == ["mean score", *(name for name, _ in result.steps()), "this row"]
    assert display.to_frame()["part"].sum() == pytest.approx(result.score - result.reference_score)


def test_all_of_it_is_inside_the_axes():
    X = table()
    display = WaterfallDisplay.from_network(network(), X[0], X=X)
    display.figure_.canvas.draw()
    low, high = display.ax_.get_xlim()
    for bar in display.ax_.patches:
        assert low < bar.get_x() < high
        assert low < bar.get_x() + bar.get_width() < high
    frame = display.figure_.bbox
    for text in [*display.ax_.texts, *display.ax_.get_yticklabels()]:
        box = text.get_window_extent()
        assert box.x0 >= frame.x0
        assert box.x1 <= frame.x1


def test_numbers_carry_their_sign():
    straight = ReluNetwork(np.zeros((0, 3)), [], np.zeros((0, 1)), 1.0, [2.0, -3.0, 0.0])
    display = WaterfallDisplay.from_network(
        straight, [1, 1, 1], reference=[0, 0, 0], schema=["a", "b", "c"]
    )
    assert [text.get_text() for text in display.ax_.texts] == ["−3", "+2", "0", "1", "0"]  # noqa: RUF001
    assert labels(display.ax_)[0] == "reference row"


def test_a_row_alone_starts_at_zero():
    display = WaterfallDisplay.from_network(network(), table()[0])
    assert labels(display.ax_)[0] == "score of the row of zeros"


def test_small_steps_are_folded():
    X = table(40)
    display = WaterfallDisplay.from_network(network(40), X[0], X=X, reference="median")
    assert len(display.ax_.patches) == 12
    assert labels(display.ax_)[0] == "score of the median row"
    assert labels(display.ax_)[-2] == "others (29)"


def test_long_names_and_values_are_shortened_apart():
    names = ["the temperature outside in degrees", "b"]
    display = WaterfallDisplay.from_network(
        network(2), [0.5, 2.0], reference=[0.0, 0.0], schema=names
    )
    assert "the temper…in degrees = 0.5" in labels(display.ax_)


def test_a_row_outside_is_flagged():
    X = table()
    usual = WaterfallDisplay.from_network(network(), X[0], X=X, schema=list("abcd"))
    assert usual.ax_.get_title(loc="left") == ""
    odd = WaterfallDisplay.from_network(network(), [99, 0, 0, 0], X=X, schema=list("abcd"))
    assert "a = 99" in odd.ax_.get_title(loc="left")


@pytest.mark.parametrize(
    ("n_features", "suffix"), [(1, "png"), (3, "svg"), (40, "pdf"), (40, "png")]
)
def test_it_saves(n_features, suffix, tmp_path):
    X = table(n_features)
    display = WaterfallDisplay.from_network(network(n_features, 2), X[0], X=X, output=1)
    display.figure_.savefig(tmp_path / f"picture.{suffix}")
    assert (tmp_path / f"picture.{suffix}").stat().st_size > 1000


def test_a_row_that_is_its_own_reference():
    X = table()
    display = WaterfallDisplay.from_network(network(), X[0], X=X, reference=X[0])
    display.figure_.canvas.draw()
    low, high = display.ax_.get_xlim()
    assert low < display.result.score < high


def test_of_an_estimator_and_in_given_axes():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(table(), columns=list("abcd"))
    model = LLARegressor(n_neurons=3, random_state=0).fit(X, X["a"].abs())
    figure, axes = plt.subplots(2, 1)
    display = WaterfallDisplay.from_estimator(model, X.iloc[3], X=X, ax=axes[0], max_features=2)
    assert display.figure_ is figure
    assert display.ax_ is axes[0]
    assert display.result.score == pytest.approx(model.predict(X.iloc[[3]])[0])
    assert display.result.features == tuple("abcd")
    assert len(display.ax_.patches) == 2
