"""Every colour, mark and size of a picture is told in the picture, and no text is cut off."""

import numpy as np
import pytest

from crossfitted import planted, regressor, small_recipe
from lifenet import CrossFit, LIFERegressor
from lifenet.explain import accumulated_effects, decompose, equation_fidelity, pair_effect
from lifenet.network import ReluNetwork
from lifenet.plots import (
    CoefficientViolinDisplay,
    DecompositionDisplay,
    EffectsAndPairsDisplay,
    EffectsDisplay,
    FeatureImportanceDisplay,
    FidelityDisplay,
    HierarchyDisplay,
    LocalCoefficientsDisplay,
    MergedRegionsDisplay,
    NeuronContributionDisplay,
    NeuronImportanceDisplay,
    PairEffectDisplay,
    StabilityDisplay,
    VaryingCoefficientsDisplay,
)
from lifenet.schema import FeatureSchema
from lifenet.theory import decompose_path
from test_theory import problem

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pytest.importorskip("pandas")

BAND = "from lowest to highest of 3 folds"
ROWS = "distribution of the rows"
LEVELS = "level, as wide as it is frequent"
DOTS = "dots: rows, the larger the more"
PALER = "paler: no rows"


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    matplotlib.pyplot.close("all")


@pytest.fixture(scope="module")
def model():
    X, y = planted()
    return regressor(small_recipe(resampling=CrossFit(3))).fit(X, y)


def network(n_features=3, n_neurons=8, seed=0):
    generator = np.random.default_rng(seed)
    weights = generator.normal(size=(n_neurons, n_features))
    beta = generator.normal(size=(n_neurons, 1))
    return ReluNetwork(weights, generator.normal(size=n_neurons), beta, 0.0)


def table(n_features=3, n=200):
    return np.random.default_rng(1).normal(size=(n, n_features))


def with_category():
    """Two columns, a category of three levels, and the schema that says so."""
    level = np.random.default_rng(2).integers(0, 3, size=200)
    X = np.column_stack([table(2), np.eye(3)[level][:, 1:]])
    return X, FeatureSchema.of(
        X, ["a", "b", "c_x", "c_y"], [("a", (0,)), ("b", (1,)), ("c", (2, 3))]
    )


def words(legend):
    return [text.get_text() for text in legend.get_texts()]


def plain(text):
    """A text without its line breaks."""
    return " ".join(text.split())


def cut_off(figure):
    """How far what is drawn goes beyond the figure, in inches."""
    figure.canvas.draw()
    box = figure.get_tightbbox(figure.canvas.get_renderer())
    width, height = figure.get_size_inches()
    return max(-box.x0, -box.y0, box.x1 - width, box.y1 - height)


def shaded(panel):
    """Values, lower and upper end of the band in a panel."""
    (band,) = panel.collections
    (path,) = band.get_paths()
    corners = path.vertices[~np.isclose(path.codes, 79)]
    values = np.unique(corners[:, 0])
    low = [corners[corners[:, 0] == value, 1].min() for value in values]
    high = [corners[corners[:, 0] == value, 1].max() for value in values]
    return values, np.array(low), np.array(high)


class TestEffects:
    def test_the_band_is_drawn_and_named(self, model):
        X = planted()[0]
        display = EffectsDisplay.from_estimator(model, X, share_of_rows=1)
        assert words(display.figure_.legends[0]) == ["accumulated local effect", BAND, ROWS]
        for panel in display.axes_:
            curve = display.result[panel.get_title()]
            values, low, high = shaded(panel)
            np.testing.assert_allclose(values, curve.values)
            np.testing.assert_allclose(low, curve.low)
            np.testing.assert_allclose(high, curve.high)
        assert len(display.axes_) == 3

    def test_the_band_of_a_middle_is_the_middle_of_the_band(self, model):
        X = planted()[0]
        panel = EffectsDisplay.from_estimator(model, X, features=["x1"]).axes_[0]
        curve = accumulated_effects(model, X)["x1"]
        values, low, _ = shaded(panel)
        assert len(values) < len(curve.values)
        np.testing.assert_allclose(low, np.interp(values, curve.values, curve.low))

    def test_bands_fit_on_the_common_scale(self, model):
        X = planted()[0]
        display = EffectsDisplay.from_estimator(model, X, share_of_rows=1)
        low, high = display.axes_[0].get_ylim()
        assert low < min(curve.low.min() for curve in display.result.curves)
        assert high > max(curve.high.max() for curve in display.result.curves)

    def test_levels_have_whiskers(self):
        X, schema = with_category()
        others = [network(4, seed=seed) for seed in (1, 2)]
        found = accumulated_effects(network(4), X, schema=schema, refits=others)
        display = EffectsDisplay(found).plot()
        labels = words(display.figure_.legends[0])
        whiskers = "from lowest to highest of 2 refits (band, whiskers)"
        assert labels == ["accumulated local effect", whiskers, ROWS, LEVELS]
        (panel,) = (one for one in display.axes_ if one.get_title() == "c")
        segments = panel.collections[0].get_segments()
        np.testing.assert_allclose([one[:, 1].min() for one in segments], found["c"].low)
        np.testing.assert_allclose([one[:, 1].max() for one in segments], found["c"].high)

    def test_without_a_band_nothing_is_said_of_one(self):
        display = EffectsDisplay.from_network(network(), table())
        assert words(display.figure_.legends[0]) == [ROWS]
        assert not any(panel.collections for panel in display.axes_)

    def test_refits_of_a_foreign_model_are_converted(self):
        from sklearn.neural_network import MLPRegressor

        X = table()
        few = {"hidden_layer_sizes": (4,), "solver": "lbfgs", "max_iter": 2_000}
        one, other = (MLPRegressor(random_state=k, **few).fit(X, X[:, 0]) for k in (0, 1))
        found = EffectsDisplay.from_estimator(one, X, refits=[other]).result
        alone = accumulated_effects(ReluNetwork.from_mlp(other), X)
        both = np.minimum(alone["x0"].effect, found["x0"].effect)
        np.testing.assert_allclose(found["x0"].low, both)

    def test_curves_of_a_decomposition_have_it_too(self, model):
        X = planted()[0]
        display = EffectsAndPairsDisplay.from_estimator(model, X)
        labels = words(display.figure_.legends[0])
        assert labels[:2] == [BAND, ROWS]
        assert labels[2] == DOTS
        curve = display.result.curves[int(np.argmax(display.result.main_share))]
        values, low, _ = shaded(display.axes_[0])
        np.testing.assert_allclose(low, np.interp(values, curve.values, curve.low))


class TestMaps:
    def test_dots_and_pale_cells_are_named_where_there_are_any(self):
        X = table()
        X[:, 1] = np.where(X[:, 0] > 0, np.abs(X[:, 1]), X[:, 1])  # a quarter without rows
        title = PairEffectDisplay.from_network(network(), X, ("x0", "x1")).ax_.get_title()
        assert title.split("\n")[1] == f"{DOTS}; {PALER}"

    def test_pairs_of_levels_without_rows_are_pale(self):
        X, schema = with_category()
        X = np.column_stack([X, X[:, 0] > 0])[:, 1:]
        X[:, 2] *= 1 - X[:, 3]  # one level of the category never comes with the last column
        schema = FeatureSchema.of(X, ["b", "c_x", "c_y", "d"], [("c", (1, 2)), ("d", (3,))])
        found = pair_effect(network(4), X, ("c", "d"), schema=schema)
        place = found.labels[0].index("y")
        counts = [np.sum((X[:, 2] == 1) & (X[:, 3] == value)) for value in (0, 1)]
        np.testing.assert_allclose(found.share[place], np.array(counts) / len(X))
        assert counts[0] > 0 == counts[1]
        display = PairEffectDisplay(found).plot()
        assert display.ax_.get_title().split("\n")[1] == PALER
        _, cover = display.ax_.collections
        hidden = ~np.ma.getmaskarray(cover.get_array())
        np.testing.assert_array_equal(hidden, found.share.T == 0)
        assert cover.get_alpha() > 0.8

    def test_the_maps_of_a_decomposition_know_where_rows_are(self):
        generator = np.random.default_rng(0)
        X = generator.integers(0, 3, size=(100, 2)).astype(float)
        X[(X == 2).all(axis=1)] = 0.0
        (surface,) = decompose(network(2), X).surfaces
        counts = [[np.sum(np.equal(X, (a, b)).all(axis=1)) for b in range(3)] for a in range(3)]
        np.testing.assert_allclose(surface.share, np.array(counts) / 100)
        assert surface.share[2, 2] == 0


def test_lines_of_a_decomposition_of_the_loss_are_named():
    predictions, y = problem("squared", n=60, n_members=30)
    loss = DecompositionDisplay(decompose_path(predictions, y)).plot(slack=0.2).axes_[1]
    assert words(loss.get_legend()) == ["least loss", "fewest within 20 %"]


def test_dashes_of_a_fidelity_are_named():
    found = equation_fidelity(network(), table())
    both = ["one column at a time", "all columns at once"]
    assert words(FidelityDisplay(found).plot().ax_.get_legend()) == both
    several = FidelityDisplay(found).plot(name="a", beside={"b": found})
    assert words(several.ax_.get_legend()) == ["a", "b", *both]
    dashed = several.ax_.get_legend().get_lines()[-1]
    assert dashed.is_dashed()
    assert FidelityDisplay(found).plot(together=False).ax_.get_legend() is None


def test_whiskers_dots_and_means_of_several_networks_are_named():
    several = [network(seed=seed) for seed in range(3)]
    display = StabilityDisplay.from_network(several, table(), kind="importance")
    marks = ["from lowest to highest", "a network", "mean"]
    assert words(display.figure_.legends[0]) == marks
    _, (left, _) = matplotlib.pyplot.subplots(1, 2)
    given = StabilityDisplay.from_network(several, table(), kind="importance", ax=left)
    assert words(given.ax_.get_legend()) == marks
    assert display.ax_.get_xlabel() == "change of the score when the value is another row's"
    effects = StabilityDisplay.from_network(several, table())
    band = "middle 90% of the networks"
    assert words(effects.figure_.legends[0]) == ["mean", band, ROWS]


def test_marks_of_merged_regions_are_named_where_there_are_any():
    X = table()
    display = MergedRegionsDisplay.from_network(network(), X, n_regions=2, min_rows=20)
    label = plain(display.figure_.get_supxlabel())
    hollow = any(
        np.allclose(face[:3], 1)
        for panel in display.axes_[:2]
        for one in panel.collections
        for face in one.get_facecolors()
    )
    assert ("hollow: the interval holds zero" in label) == hollow
    assert "cross" not in label
    constant = np.column_stack([X[:, :2], np.ones(len(X))])
    display = MergedRegionsDisplay.from_network(network(), constant, n_regions=2, min_rows=20)
    assert "cross: no interval" in plain(display.figure_.get_supxlabel())


def test_titles_and_labels_say_what_marks_are():
    X, y = table(), table()[:, 0]
    violins = CoefficientViolinDisplay.from_network(network(), X)
    assert "dot: median; bar: middle half" in violins.ax_.get_title(loc="left")
    lines = LocalCoefficientsDisplay.from_network(network(n_neurons=2), X, y)
    assert "the thicker, the more rows" in lines.ax_.get_title(loc="left")
    varying = VaryingCoefficientsDisplay.from_network(network(), X)
    title = plain(varying.figure_.get_suptitle())
    assert "Dots: rows" in title
    assert "numbers: strength in standard deviations of the score" in title
    importance = NeuronImportanceDisplay.from_network(network(), X)
    assert "(blue)" in importance.ax_.get_title(loc="left")
    contributions = NeuronContributionDisplay.from_network(network(), X)
    bar = contributions.figure_.axes[1]
    assert bar.get_ylabel() == "contribution to the\nneuron's importance"


def test_the_size_of_a_neuron_in_a_hierarchy_is_named():
    X, y = planted()
    model = LIFERegressor(preset="paper", random_state=0)
    legend = HierarchyDisplay.from_estimator(model.fit(X, y)).ax_.get_legend()
    assert legend.get_title().get_text() == "neurons, the larger the more rows"


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_no_text_is_cut_off(n_features):
    X = table(n_features)
    one, several = network(n_features), [network(n_features, seed=seed) for seed in range(3)]
    frame = accumulated_effects(one, X, refits=several[1:])
    figures = [
        EffectsDisplay(frame).plot().figure_,
        StabilityDisplay.from_network(several, X).figure_,
        StabilityDisplay.from_network(several, X, kind="importance").figure_,
        FeatureImportanceDisplay.from_network(one, X).figure_,
        FidelityDisplay.from_network(one, X).figure_,
        VaryingCoefficientsDisplay.from_network(one, X).figure_,
        CoefficientViolinDisplay.from_network(one, X).figure_,
        NeuronContributionDisplay.from_network(one, X).figure_,
        EffectsAndPairsDisplay.from_network(one, X, refits=several[1:]).figure_,
    ]
    assert [round(cut_off(figure), 2) for figure in figures if cut_off(figure) > 0.02] == []
