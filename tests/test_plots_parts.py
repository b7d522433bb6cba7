"""Panels of curves and maps show the parts of a score, the strongest first."""

import numpy as np
import pytest

from pairwise_networks import plain_pairwise

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from lifenet import LLAClassifier  # noqa: E402
from lifenet.explain import decompose  # noqa: E402
from lifenet.network import ReluNetwork  # noqa: E402
from lifenet.plots import EffectsAndPairsDisplay  # noqa: E402
from lifenet.schema import FeatureSchema  # noqa: E402


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def rows(n=300):
    return np.random.default_rng(0).normal(size=(n, 4))


def test_curves_come_before_pairs_and_strong_before_weak():
    result = decompose(plain_pairwise(), rows(), schema=list("abcd"))
    display = EffectsAndPairsDisplay(result).plot(max_pairs=2)
    strongest = sorted(result.curves, key=lambda curve: -curve.strength)
    assert len(display.axes_) == 6
    for panel, curve in zip(display.axes_, strongest, strict=False):
        assert panel.get_title().startswith(f"{curve.feature}: ")
        line = max(panel.get_lines(), key=lambda one: len(one.get_xdata()))
        x, y = line.get_xdata(), line.get_ydata()
        np.testing.assert_allclose(y, np.interp(x, curve.values, curve.effect))
    heights = {panel.get_ylim() for panel in display.axes_[:4]}
    assert len(heights) == 1
    pairs = sorted(result.surfaces, key=lambda surface: -surface.strength)
    for panel, pair in zip(display.axes_[4:], pairs, strict=False):
        assert (panel.get_xlabel(), panel.get_ylabel()) == pair.features
        low, high = panel.collections[0].get_clim()
        assert low == -high
    hidden = len(result.surfaces) - 2
    assert f"they sum to it exactly ({hidden} pairs not shown)" in title(display)


def title(display):
    return display.figure_.get_suptitle()


def test_titles_give_shares_of_the_variance():
    result = decompose(plain_pairwise(), rows(), schema=list("abcd"))
    display = EffectsAndPairsDisplay(result).plot()
    for panel in display.axes_[:4]:
        name, share = panel.get_title().split(": ")
        wanted = result.main_share[result.features.index(name)]
        assert float(share.strip("<% ")) / 100 == pytest.approx(wanted, abs=0.0051)


def test_curves_end_where_nearly_all_rows_end():
    result = decompose(plain_pairwise(), rows(2000))
    for panel in EffectsAndPairsDisplay(result).plot().axes_[:4]:
        assert max(np.abs(panel.get_xlim())) < 3


def test_a_class_is_named_and_the_rest_is_told():
    X = rows()
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] > 0, "yes", "no")
    model = LLAClassifier(n_neurons=6, max_iter=20, random_state=0).fit(X, y)
    display = EffectsAndPairsDisplay.from_estimator(model, X, n_background=50, max_features=2)
    assert "log-odds of 'yes'" in title(display)
    assert "leave over" in title(display)
    assert "2 features" in title(display)
    assert display.axes_[0].get_ylabel() == "change of the log-odds of 'yes'"
    assert len(display.to_frame()) >= 5


def test_categories_have_bars_and_bands(tmp_path):
    X = np.column_stack([rows()[:, 0], np.eye(3)[np.arange(300) % 3, 1:]])
    schema = FeatureSchema.of(X, ["x", "job=clerk", "job=smith"]).grouped({"job": [1, 2]})
    network = ReluNetwork([[1.0, 2, 0], [1, 0, -2], [0, 1, 3]], [0.1, 0.2, 0], [1.0, 1, 1], 0.0)
    display = EffectsAndPairsDisplay.from_network(network, X, schema=schema)
    assert display.result.exact
    assert [len(panel.patches) for panel in display.axes_[:2]].count(3) == 1
    labels = {text.get_text() for text in display.axes_[2].get_yticklabels()}
    assert labels == {"clerk", "smith", "base level"}
    display.figure_.savefig(tmp_path / "parts.svg")


def test_pairs_of_no_strength_are_not_drawn():
    X = np.column_stack([rows()[:, 0], np.full(300, 2.0)])
    network = ReluNetwork([[1.0, 1.0]], [0.0], [1.0], 0.0)
    assert len(EffectsAndPairsDisplay.from_network(network, X).axes_) == 2


@pytest.mark.parametrize("suffix", ["png", "pdf"])
def test_it_saves_on_given_axes(tmp_path, suffix):
    figure, axes = plt.subplots(1, 2, figsize=(14, 6))
    result = decompose(plain_pairwise(), rows())
    display = EffectsAndPairsDisplay(result).plot(axes[0], max_features=3, max_pairs=1)
    assert display.ax_ is axes[0]
    figure.savefig(tmp_path / f"parts.{suffix}")


def test_wrong_numbers_are_refused():
    result = decompose(plain_pairwise(), rows())
    with pytest.raises(ValueError, match="max_features"):
        EffectsAndPairsDisplay(result).plot(max_features=0)
    with pytest.raises(ValueError, match="max_pairs"):
        EffectsAndPairsDisplay(result).plot(max_pairs=-1)
    with pytest.raises(TypeError, match="from_estimator"):
        EffectsAndPairsDisplay(plain_pairwise())
