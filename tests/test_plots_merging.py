"""Panels of merged regions show the coefficients, intervals and fidelity of the result."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.collections import LineCollection, PathCollection  # noqa: E402

from lifenet.explain._partition import Box  # noqa: E402
from lifenet.explain.merging import merge_regions  # noqa: E402
from lifenet.network import ReluNetwork  # noqa: E402
from lifenet.plots.merging import MergedRegionsDisplay  # noqa: E402


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def problem(p=3, n=300):
    generator = np.random.default_rng(0)
    weights = generator.normal(size=(30, p)) / np.arange(1, p + 1)
    network = ReluNetwork(weights, generator.normal(size=30), generator.normal(size=30), 0.0)
    X = generator.normal(size=(n, p)) * 3 + 7
    return network, X, network.score(X)[:, 0] + generator.normal(size=n)


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def points(ax):
    """Places of all marks of a panel, (x, y)."""
    marks = [one for one in ax.collections if isinstance(one, PathCollection)]
    return np.concatenate([np.asarray(mark.get_offsets()) for mark in marks])


def beyond(ax):
    """Places of the arrows, (x, y)."""
    arrows = [one.get_offsets() for one in ax.collections if one.get_gid() == "beyond"]
    return np.concatenate([np.empty((0, 2)), *arrows])


def test_a_panel_a_region_with_standardised_coefficients_and_intervals():
    network, X, y = problem()
    result = merge_regions(network, X, y, n_regions=3, schema=["a", "b", "c"], fit_to="response")
    display = MergedRegionsDisplay(result).plot()
    assert len(display.axes_) == 3
    importance = result.share @ np.abs(result.coefficients * result.spread)
    order = np.argsort(-importance, kind="stable")
    assert ticks(display.axes_[0].yaxis) == [result.schema.names[column] for column in order]
    lower, upper = result.interval()
    for number, ax in enumerate(display.axes_):
        found = points(ax)
        wanted = (result.coefficients[number] * result.spread)[order]
        np.testing.assert_allclose(found[np.argsort(found[:, 1]), 0], wanted)
        (bars,) = (one for one in ax.collections if isinstance(one, LineCollection))
        ends = np.array(bars.get_segments())[:, :, 0]
        np.testing.assert_allclose(ends[:, 0], (lower[number] * result.spread)[order])
        np.testing.assert_allclose(ends[:, 1], (upper[number] * result.spread)[order])
        title = ax.get_title(loc="left")
        first, *conditions = title.split("\n")
        assert first == f"region {number}: {result.count[number]:,.0f} rows"
        assert " and ".join(conditions) == result.describe(number)
    text = display.figure_.get_suptitle()
    assert f"3 regions with an equation each: R² {result.refit_fidelity:.3f} for the score" in text
    assert f"RMSE: network {result.network_loss:.3g}, merged {result.merged_loss:.3g}" in text


def test_conditions_beyond_the_third_are_counted():
    result = merge_regions(*problem(p=5), n_regions=1)
    sides = tuple((column, column - 0.5, np.inf) for column in range(5))
    result = replace(result, boxes=(Box(sides), Box(((0, -np.inf, -0.5),))), **doubled(result))
    first, second = MergedRegionsDisplay(result).plot().axes_[:2]
    title = first.get_title(loc="left").split("\n")
    assert title[1:] == ["x0 > \N{MINUS SIGN}0.5", "x1 > 0.5", "x2 > 1.5 and 2 more"]
    assert second.get_title(loc="left").split("\n")[1:] == ["x0 <= \N{MINUS SIGN}0.5"]


def doubled(result):
    """The arrays of a result of one region as those of two."""
    arrays = ("count", "share", "coefficients", "intercept", "errors", "intercept_error", "freedom")
    return {name: np.concatenate([getattr(result, name)] * 2) for name in arrays}


def test_a_name_with_an_and_stays_in_one_line():
    """Conditions were taken apart at every "and"."""
    network, X, y = problem()
    names = ["r and d", "bed and board", "age"]
    result = merge_regions(network, X, y, n_regions=4, schema=names)
    display = MergedRegionsDisplay(result).plot()
    for ax, box in zip(display.axes_, result.boxes, strict=True):
        conditions = ax.get_title(loc="left").split("\n")[1:]
        assert len(conditions) == len(box.sides)
        for condition, (column, _, _) in zip(conditions, box.sides, strict=True):
            assert names[column] in condition


def test_long_names_keep_to_their_panels():
    network, X, y = problem()
    names = [f"{'a very ' * 20}long name {number}" for number in range(3)]
    result = merge_regions(network, X, y, n_regions=4, schema=names)
    display = MergedRegionsDisplay(result).plot()
    display.figure_.canvas.draw()
    ends = [ax._left_title.get_window_extent().x1 for ax in display.axes_]
    nexts = [ax._left_title.get_window_extent().x0 for ax in display.axes_[1:]]
    for end, following in zip(ends, [*nexts, display.figure_.bbox.x1], strict=True):
        assert end < following
    assert display.ax_.bbox.width > 0.15 * display.figure_.bbox.width


def test_filled_marks_are_those_whose_interval_excludes_zero():
    network, X, y = problem(p=5)
    result = merge_regions(network, X, y, n_regions=1)
    ax = MergedRegionsDisplay(result).plot().ax_
    filled, hollow, unknown = (one for one in ax.collections if isinstance(one, PathCollection))
    lower, upper = result.interval()
    sure = (lower[0] > 0) | (upper[0] < 0)
    assert len(filled.get_offsets()) == sure.sum() > 0
    assert len(hollow.get_offsets()) == (~sure).sum() > 0
    assert len(unknown.get_offsets()) == 0


def test_coefficients_without_an_error_are_crosses():
    network, X, y = problem()
    X[:, 2] = 7.0
    display = MergedRegionsDisplay.from_network(network, X, y, n_regions=2)
    for ax in display.axes_:
        cross = [one for one in ax.collections if isinstance(one, PathCollection)][-1]
        np.testing.assert_allclose(cross.get_offsets(), [[0.0, 2.0]])


def test_the_last_panel_shows_the_fidelity_of_what_was_tried():
    network, X, _ = problem()
    display = MergedRegionsDisplay.from_network(network, X, fidelity=0.999)
    result = display.result
    assert len(result.tried) > 1
    ax = display.axes_[-1]
    (line,) = ax.lines
    np.testing.assert_allclose(line.get_xydata().T, [result.tried, result.tried_fidelity])
    (chosen,) = (one for one in ax.collections if one.get_gid() == "chosen")
    np.testing.assert_allclose(chosen.get_offsets(), [[result.n_regions, result.fidelity]])
    assert "RMSE" not in display.figure_.get_suptitle()


def test_what_is_left_out_is_said():
    network, X, _ = problem(p=40, n=600)
    display = MergedRegionsDisplay.from_network(network, X, n_regions=8, min_rows=50, max_panels=4)
    assert len(display.axes_) == 4
    assert len(ticks(display.axes_[0].yaxis)) == 20
    assert "not shown: 4 smaller regions and 20 weaker columns" in display.figure_.get_suptitle()
    with pytest.raises(ValueError, match="max_panels must be at least 1"):
        display.plot(max_panels=0)


def test_one_wild_region_leaves_the_others_their_scale():
    network, X, y = problem()
    result = merge_regions(network, X, y, n_regions=4)
    plain = MergedRegionsDisplay(result).plot().axes_[0].get_xlim()
    wild, errors = result.coefficients.copy(), result.errors.copy()
    wild[3] *= -300
    errors[0, 1] *= 1000
    errors[1, 2], wild[1, 2] = np.nan, 1e3
    display = MergedRegionsDisplay(replace(result, coefficients=wild, errors=errors)).plot()
    low, high = display.axes_[0].get_xlim()
    assert -low == high < 3.5 * plain[1]
    names = ticks(display.axes_[0].yaxis)
    first, second, third, fourth = display.axes_
    place = names.index("x1")
    np.testing.assert_allclose(beyond(first), [[low, place], [high, place]])
    np.testing.assert_allclose(beyond(second), [[high, names.index("x2")]])
    assert [text.get_text() for text in second.texts] == [f"{1e3 * result.spread[2]:.3g}"]
    assert len(beyond(third)) == 0
    assert len(beyond(fourth)) == len(fourth.texts) > 0


def test_a_scale_can_be_found_where_nothing_is_sure():
    network, X, y = problem()
    result = merge_regions(network, X, y, n_regions=2)
    unsure = replace(result, errors=np.full_like(result.errors, np.nan))
    ax = MergedRegionsDisplay(unsure).plot().ax_
    assert ax.get_xlim()[1] >= np.abs(result.coefficients * result.spread).max()
    zero = replace(unsure, coefficients=np.zeros_like(result.coefficients))
    assert MergedRegionsDisplay(zero).plot().ax_.get_xlim()[1] > 0


def test_a_fidelity_that_was_missed_is_said():
    network, X, _ = problem()
    missed = MergedRegionsDisplay.from_network(network, X, fidelity=0.9999, max_regions=2)
    words = f"R² {missed.result.fidelity:.3f} for the score, 0.9999 was asked for"
    assert words in missed.figure_.get_suptitle().replace("\n", " ")
    reached = MergedRegionsDisplay.from_network(network, X, fidelity=0.5)
    assert "asked" not in reached.figure_.get_suptitle()
    assert "asked" not in MergedRegionsDisplay.from_network(
        network, X, n_regions=1, fidelity=1.0
    ).figure_.get_suptitle().replace("\n", " ")


def test_one_is_singular_and_the_score_has_a_name():
    linear = ReluNetwork(np.zeros((0, 2)), [], np.zeros((0, 1)), 1.0, [2.0, -1.0])
    X = np.random.default_rng(0).normal(size=(1, 2))
    display = MergedRegionsDisplay(merge_regions(linear, X))
    display.score_name = "log-odds of 'bad'"
    display.plot(max_columns=1)
    title = display.figure_.get_suptitle().replace("\n", " ")
    assert title.startswith("1 region with an equation each: R² 1.000 for the log-odds of 'bad'")
    assert title.endswith("not shown: 1 weaker column")
    assert display.ax_.get_title(loc="left") == "region 0: 1 row"
    words = display.figure_.get_supxlabel().replace("\n", " ")
    assert words.startswith("change of the log-odds of 'bad' by 1 sd")


@pytest.mark.parametrize("size", [(6.4, 4.8), (12, 4.5)])
def test_half_of_a_figure_is_enough(size):
    network, X, y = problem(p=40, n=600)
    figure, both = plt.subplots(1, 2, layout="constrained", figsize=size)
    for ax in both:
        MergedRegionsDisplay.from_network(network, X, y, n_regions=4, min_rows=80, ax=ax)
    figure.canvas.draw()
    renderer, whole = figure.canvas.get_renderer(), figure.bbox
    for ax in both:
        legend = ax.get_legend().get_window_extent(renderer)
        label = ax.xaxis.label.get_window_extent(renderer)
        assert legend.y1 <= label.y0 + 2
        for box in (legend, label, ax._left_title.get_window_extent(renderer)):
            assert whole.x0 - 1 <= box.x0 < box.x1 <= whole.x1 + 1
            assert whole.y0 <= box.y0
        assert ax.get_window_extent().height > 0.3 * whole.height
        # Four regions within a column's line need some points each.
        line = ax.get_window_extent().height / len(ticks(ax.yaxis)) / figure.dpi * 72
        assert line > 15


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_on_given_axes_all_regions_are_drawn_together(kind):
    network, X, y = problem()
    figure, (ax, _) = plt.subplots(1, 2, layout="constrained", figsize=(11, 4))
    display = MergedRegionsDisplay.from_network(network, X, y > y.mean(), n_regions=4, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert len(points(ax)) == 4 * 3 + len(beyond(ax))
    assert len(ax.get_legend().get_texts()) == 4
    assert "log-loss" in ax.get_title(loc="left")
    file = io.BytesIO()
    figure.savefig(file, format=kind)
    assert len(file.getvalue()) > 5_000
