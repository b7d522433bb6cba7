"""Panels of merged regions show the coefficients, intervals and fidelity of the result."""

from __future__ import annotations

import io

import numpy as np
import pytest

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.collections import LineCollection, PathCollection  # noqa: E402

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


def test_a_panel_a_region_with_standardised_coefficients_and_intervals():
    network, X, y = problem()
    result = merge_regions(network, X, y, n_regions=3, schema=["a", "b", "c"])
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
        assert title.startswith(f"region {number + 1}: {result.count[number]:,.0f} rows\nmean ")
    text = display.figure_.get_suptitle()
    assert f"{result.n_total} regions merged into 3: R² {result.fidelity:.3f}" in text
    assert f"RMSE: network {result.network_loss:.3g}, merged {result.merged_loss:.3g}" in text


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
    display = MergedRegionsDisplay.from_network(network, X, n_regions=8, max_panels=4)
    assert len(display.axes_) == 4
    assert len(ticks(display.axes_[0].yaxis)) == 20
    assert "not shown: 4 smaller regions and 20 weaker columns" in display.figure_.get_suptitle()
    with pytest.raises(ValueError, match="max_panels must be at least 1"):
        display.plot(max_panels=0)


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_on_given_axes_all_regions_are_drawn_together(kind):
    network, X, y = problem()
    figure, (ax, _) = plt.subplots(1, 2, layout="constrained", figsize=(11, 4))
    display = MergedRegionsDisplay.from_network(network, X, y > y.mean(), n_regions=4, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert len(points(ax)) == 4 * 3
    assert len(ax.get_legend().get_texts()) == 4
    assert "log-loss" in ax.get_title(loc="left")
    file = io.BytesIO()
    figure.savefig(file, format=kind)
    assert len(file.getvalue()) > 5_000
