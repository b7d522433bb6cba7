"""Pictures of how much readings move."""

import numpy as np
import pytest

from lifenet.plots import StabilityDisplay
from lifenet.schema import FeatureSchema
from test_explain_stability import random_network, rows

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    matplotlib.pyplot.close("all")


def several(n_features=4):
    return [random_network(seed, n_features) for seed in range(3)]


@pytest.mark.parametrize("kind", ["effects", "importance", "interactions"])
@pytest.mark.parametrize("n_features", [3, 40])
def test_each_view_is_drawn(kind, n_features, tmp_path):
    X = rows(60, n_features)
    display = StabilityDisplay.from_network(several(n_features), X, kind=kind)
    for ending in ("png", "svg", "pdf"):
        display.figure_.savefig(tmp_path / f"{kind}.{ending}")
    title = display.figure_.get_suptitle() + display.ax_.get_title()
    assert "3 networks" in title
    assert ("not shown" in title or "weaker" in title) == (n_features == 40)


def test_whiskers_reach_from_the_lowest_to_the_highest():
    X = rows()
    display = StabilityDisplay.from_network(several(), X, kind="importance")
    found = display.result.importance
    order = np.argsort(-found.mean(axis=0), kind="stable")
    segments = display.ax_.collections[0].get_segments()
    ends = np.array([segment[:, 0] for segment in segments])
    np.testing.assert_allclose(ends, np.stack([found.min(axis=0), found.max(axis=0)], 1)[order])


def test_the_band_of_a_category_is_a_bar_of_errors():
    generator = np.random.default_rng(0)
    X = np.column_stack([generator.normal(size=50), np.eye(3)[generator.integers(0, 3, 50)]])
    schema = FeatureSchema.of(X, ["a", "b0", "b1", "b2"], [("a", (0,)), ("b", (1, 2, 3))])
    display = StabilityDisplay.from_network(several(), X, schema=schema)
    assert {ax.get_title() for ax in display.axes_} == {"a", "b"}
    display.figure_.canvas.draw()


def test_several_models_are_read_by_their_networks():
    class Fitted:
        def __init__(self, network, X):
            self.network_ = network
            self.schema_ = FeatureSchema.of(X, list("abcd"))

    X = rows()
    display = StabilityDisplay.from_estimator([Fitted(one, X) for one in several()], X)
    assert {ax.get_title() for ax in display.axes_} == set("abcd")


def test_what_cannot_be_drawn_is_said():
    display = StabilityDisplay.from_network(several(), rows())
    with pytest.raises(ValueError, match="effects, importance, interactions; it is 'pairs'"):
        display.plot(kind="pairs")
    with pytest.raises(ValueError, match="level must be above 0"):
        display.plot(level=0)
