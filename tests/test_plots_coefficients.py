"""Lines, violins and labels say what the results say."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pytest

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402
from matplotlib.text import Text  # noqa: E402

from lifenet import LLAClassifier  # noqa: E402
from lifenet.explain.regions import local_regions  # noqa: E402
from lifenet.explain.signs import coefficient_signs  # noqa: E402
from lifenet.network import ReluNetwork  # noqa: E402
from lifenet.plots.coefficients import (  # noqa: E402
    VERDICT_COLOURS,
    CoefficientViolinDisplay,
    LocalCoefficientsDisplay,
    _density,
    leading_columns,
)
from lifenet.schema import FeatureSchema  # noqa: E402


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def problem(p=3, m=4, n=200):
    generator = np.random.default_rng(0)
    weights = generator.normal(size=(m, p)) / np.arange(1, p + 1)
    network = ReluNetwork(weights, generator.normal(size=m), np.ones(m), 0.0)
    return network, generator.normal(size=(n, p)) * 3 + 7


def lines_of(ax):
    (lines,) = (one for one in ax.collections if one.get_gid() == "regions")
    return lines


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_columns_are_ordered_and_cut_by_their_own_size():
    importance = np.array([3.0, 1.0, 2.0, 4.0, 0.0])
    assert leading_columns(importance, 20).tolist() == [3, 0, 2, 1, 4]
    assert leading_columns(importance, 2).tolist() == [3, 0]
    assert leading_columns(importance, 2, always=[1, 3]).tolist() == [3, 0, 1]
    with pytest.raises(ValueError, match="max_columns must be at least 1"):
        leading_columns(importance, 0)


def test_a_strong_dummy_is_not_hidden_by_a_weak_one_of_a_stronger_feature():
    network = ReluNetwork(np.zeros((0, 4)), [], np.zeros((0, 1)), 0.0, [3.0, 0.1, 2.0, 1.0])
    X = np.random.default_rng(0).normal(size=(50, 4))
    names, groups = list("abcd"), [("k", (0, 1)), ("c", (2,)), ("d", (3,))]
    schema = FeatureSchema.of(X, names, groups)
    for display in (CoefficientViolinDisplay, LocalCoefficientsDisplay):
        ax = display.from_network(network, X, schema=schema, max_columns=3).ax_
        axis = ax.yaxis if display is CoefficientViolinDisplay else ax.xaxis
        assert set(ticks(axis)) == {"a", "c", "d"}
        assert "1 weaker column" in ax.get_title(loc="left")


# Parallel coordinates.


def test_a_line_for_each_region_through_its_standardised_coefficients():
    network, X = problem()
    result = local_regions(network, X, X[:, 0], schema=["a", "b", "c"])
    ax = LocalCoefficientsDisplay(result).plot().ax_
    lines = lines_of(ax)
    order = np.argsort(-(result.share @ np.abs(result.standardized)), kind="stable")
    assert ticks(ax.xaxis) == [result.schema.names[column] for column in order]
    segments = np.array(lines.get_segments())
    assert segments.shape == (result.n_regions, 3, 2)
    # The largest region is drawn last, above the others, and thickest.
    np.testing.assert_allclose(segments[::-1, :, 1], result.standardized[:, order])
    np.testing.assert_allclose(lines.get_array()[::-1], result.response_mean)
    assert (np.diff(lines.get_linewidths()) >= 0).all()
    low, high = ax.get_ylim()
    assert low < segments[:, :, 1].min() < segments[:, :, 1].max() < high
    text = f"{result.n_regions} of {result.n_total} regions have at least 3 rows"
    assert ax.get_title(loc="left").startswith(text)


def test_what_is_left_out_is_said():
    network, X = problem(p=40, n=400)
    display = LocalCoefficientsDisplay.from_network(network, X, max_regions=2)
    assert len(lines_of(display.ax_).get_segments()) == 2
    assert len(ticks(display.ax_.xaxis)) == 20
    n_left = display.result.n_regions - 2
    title = display.ax_.get_title(loc="left")
    assert f"not shown: {n_left} smaller regions and 20 weaker columns" in title
    assert display.figure_.axes[1].get_ylabel() == "mean score in the region"


def test_no_region_to_draw_is_an_error_with_a_remedy():
    network, X = problem(n=20)
    with pytest.raises(ValueError, match=r"No region has 50 rows.*MergedRegionsDisplay"):
        LocalCoefficientsDisplay.from_network(network, X, min_rows=50)
    with pytest.raises(ValueError, match="max_regions must be at least 1"):
        LocalCoefficientsDisplay.from_network(network, X, max_regions=0)


def test_one_column_and_one_region_can_be_drawn():
    network = ReluNetwork(np.zeros((0, 1)), [], np.zeros((0, 1)), 1.0, [2.0])
    display = LocalCoefficientsDisplay.from_network(network, np.arange(5.0)[:, None])
    assert display.result.n_regions == 1
    flat = network.with_readout(network.beta, 1.0, [0.0])
    LocalCoefficientsDisplay.from_network(flat, np.arange(5.0)[:, None]).figure_.canvas.draw()
    display.figure_.canvas.draw()


# Violins.


def planted(n=400):
    network = ReluNetwork([[0, 0, 1, 0], [0, 0, -1, 0]], [0, 0], [1, 1], 0, [2.0, -3.0, 0, 0.01])
    return network, np.random.default_rng(0).normal(size=(n, 4))


def labels(ax):
    return [text.get_text() for text in ax.texts]


def test_each_column_has_its_verdict_in_words_and_colour():
    network, X = planted()
    names = ["up", "down", "bent", "small"]
    ax = CoefficientViolinDisplay.from_network(network, X, schema=names).ax_
    assert ticks(ax.yaxis) == ["down", "up", "bent", "small"]
    assert labels(ax) == ["negative", "positive", "changing sign", "near zero"]
    dots = [to_hex(line.get_markeredgecolor()) for line in ax.lines if line.get_marker() == "o"]
    assert dots == [VERDICT_COLOURS[verdict].lower() for verdict in labels(ax)]
    # The slope of `bent` is one or minus one, that of the others always the same.
    plain = CoefficientViolinDisplay.from_network(network, X, schema=names, reach=0).ax_
    (violin,) = plain.collections
    reach = X[:, 2].std()
    assert violin.get_paths()[0].get_extents().width == pytest.approx(2 * reach, rel=0.02)


def test_dots_and_bars_are_weighted_quantiles():
    network, X = problem()
    weight = np.where(X[:, 0] > 7, 3.0, 1.0)
    display = CoefficientViolinDisplay.from_network(network, X, sample_weight=weight)
    result, ax = display.result, display.ax_
    column = int(np.argmax(result.size))
    bar, dot = ax.lines[1], ax.lines[2]
    changes = np.repeat(result.changes[:, column], weight.astype(int))
    wanted = np.quantile(changes, [0.25, 0.75], method="inverted_cdf")
    np.testing.assert_allclose(bar.get_xdata(), wanted)
    middle = np.quantile(changes, 0.5, method="inverted_cdf")
    assert dot.get_xdata()[0] == pytest.approx(middle)


def test_a_contradicted_expectation_stands_out():
    network, X = planted()
    expected = {"x0": -1, "x1": -1}
    ax = CoefficientViolinDisplay.from_network(network, X, expected=expected).ax_
    assert labels(ax)[0] == "negative; expected -, 0 % against"
    assert labels(ax)[1] == "positive; expected -, 100 % against"
    assert [text.get_weight() for text in ax.texts[:2]] == ["normal", "bold"]


@pytest.mark.parametrize(
    ("reach", "words"),
    [(0.05, "over 5 % of"), (0.2, "over 20 % of"), (0, "by 1 sd of the column")],
)
def test_the_axis_says_over_what_changes_are_taken(reach, words):
    network, X = planted()
    ax = CoefficientViolinDisplay.from_network(network, X, reach=reach).ax_
    assert words in ax.get_xlabel().replace("\n", " ")


def test_many_columns_are_cut_to_the_most_important():
    network, X = problem(p=40)
    display = CoefficientViolinDisplay.from_network(network, X, max_columns=15)
    assert len(ticks(display.ax_.yaxis)) == 15
    assert "25 weaker columns are not shown" in display.ax_.get_title(loc="left")


def test_an_expected_sign_is_always_shown():
    network, X = planted()
    shown = CoefficientViolinDisplay.from_network(
        network, X, expected={"x3": -1, "x1": -1}, max_columns=1, near_zero=0.001
    )
    assert ticks(shown.ax_.yaxis) == ["x1", "x3"]
    assert labels(shown.ax_)[1] == "positive; expected -, 100 % against"
    title = shown.ax_.get_title(loc="left")
    assert "2 weaker columns without an expected sign are not shown" in title
    one = CoefficientViolinDisplay.from_network(network, X, max_columns=3)
    assert "1 weaker column is not shown" in one.ax_.get_title(loc="left")


def test_the_density_is_that_of_the_weighted_values():
    generator = np.random.default_rng(0)
    values = generator.normal(size=4000)
    weight = np.where(values > 0, 2.0, 1.0)
    grid, height = _density(values, weight)
    assert height.max() == 1
    truth = np.exp(-0.5 * grid**2) * np.where(grid > 0, 2, 1)
    away = (np.abs(grid) > 0.4) & (np.abs(grid) < 1.8)
    np.testing.assert_allclose(height[away] * 2, truth[away], atol=0.25)
    assert len(_density(np.ones(10), np.ones(10))[0]) == 0


# Both.


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
@pytest.mark.parametrize("display", [LocalCoefficientsDisplay, CoefficientViolinDisplay])
def test_a_classifier_is_drawn_on_given_axes_and_saved(display, kind):
    X = np.random.default_rng(0).normal(size=(150, 3))
    y = (np.abs(X[:, 0]) + X[:, 1] > 0.5).astype(int)
    model = LLAClassifier(n_neurons=3, max_iter=5, random_state=0).fit(X, y)
    figure, (ax, _) = plt.subplots(1, 2, layout="constrained", figsize=(12, 4))
    drawn = display.from_estimator(model, X, ax=ax)
    assert drawn.ax_ is ax
    assert drawn.figure_ is figure
    assert drawn.to_frame().shape[0] > 0
    file = io.BytesIO()
    figure.savefig(file, format=kind)
    assert len(file.getvalue()) > 5_000


@pytest.mark.parametrize("size", [(6.4, 4.8), (12, 4.5)])
@pytest.mark.parametrize("display", [LocalCoefficientsDisplay, CoefficientViolinDisplay])
def test_half_of_a_figure_is_enough(display, size):
    network, X = problem(p=40)
    names = [f"a rather long name={number}" for number in range(40)]
    figure, both = plt.subplots(1, 2, layout="constrained", figsize=size)
    options = {"expected": {names[-1]: 1}} if display is CoefficientViolinDisplay else {}
    for ax in both:
        display.from_network(network, X, ax=ax, schema=names, **options)
    figure.canvas.draw()
    renderer, whole = figure.canvas.get_renderer(), figure.bbox
    for ax in both:
        texts = [ax._left_title, ax.xaxis.label, ax.yaxis.label, *ax.texts]
        for text in filter(Text.get_text, texts):
            box = text.get_window_extent(renderer)
            assert whole.x0 <= box.x0
            assert box.x1 <= whole.x1 + 1
        assert ax.get_window_extent().width > 0.25 * whole.width / 2
    axis = both[0].yaxis if display is CoefficientViolinDisplay else both[0].xaxis
    boxes = [label.get_window_extent(renderer) for label in axis.get_ticklabels()]
    if display is CoefficientViolinDisplay:
        assert all(high.y0 >= low.y1 - 1 for high, low in itertools.pairwise(boxes))
    title = both[0].get_title(loc="left").replace("\n", " ")
    assert f"{40 - len(boxes)} weaker columns" in title


def test_the_score_is_called_by_its_name():
    network, X = problem()
    for display in (LocalCoefficientsDisplay, CoefficientViolinDisplay):
        drawn = display.from_network(network, X)
        drawn.score_name = "log-odds of 'bad'"
        ax = drawn.plot().ax_
        words = (ax.get_xlabel() + ax.get_ylabel()).replace("\n", " ")
        assert words.startswith("change of the log-odds of 'bad' ")


def test_one_class_of_several_is_drawn_by_its_label():
    X = np.random.default_rng(0).normal(size=(150, 2))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])]
    model = LLAClassifier(n_neurons=2, max_iter=5, random_state=0).fit(X, y)
    drawn = CoefficientViolinDisplay.from_estimator(model, X, output="c")
    truth = coefficient_signs(model.network_, X, output=2)
    np.testing.assert_allclose(drawn.result.mean, truth.mean)
