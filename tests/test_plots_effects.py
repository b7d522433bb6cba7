"""Pictures of effects: what is drawn is what was computed, at few and at many features."""

import numpy as np
import pytest

from lifenet.explain import accumulated_effects, pair_effect, partial_dependence
from lifenet.network import ReluNetwork
from lifenet.plots import EffectsDisplay, PairEffectDisplay
from lifenet.schema import FeatureSchema

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pytest.importorskip("pandas")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    matplotlib.pyplot.close("all")


def random_network(n_features, n_outputs=1, n_neurons=12):
    generator = np.random.default_rng(n_features)
    return ReluNetwork(
        generator.normal(size=(n_neurons, n_features)),
        generator.normal(size=n_neurons),
        generator.normal(size=(n_neurons, n_outputs)),
        np.zeros(n_outputs),
    )


def rows(n_features, n=200):
    return np.random.default_rng(1).normal(size=(n, n_features))


def longest_line(ax):
    return max(ax.lines, key=lambda line: len(line.get_xdata()))


@pytest.mark.parametrize("n_features", [1, 3, 40])
def test_the_strongest_effects_are_drawn(n_features, tmp_path):
    network, X = random_network(n_features), rows(n_features)
    display = EffectsDisplay.from_network(network, X, max_features=8, share_of_rows=1)
    strongest = accumulated_effects(network, X).ranked()[:8]
    assert [ax.get_title() for ax in display.axes_] == [curve.feature for curve in strongest]
    for ax, curve in zip(display.axes_, strongest, strict=True):
        np.testing.assert_allclose(longest_line(ax).get_ydata(), curve.effect)
    left_out = "32 weaker features are not shown" in display.figure_.get_suptitle()
    assert left_out == (n_features == 40)
    for kind in ("png", "svg", "pdf"):
        display.figure_.savefig(tmp_path / f"effects.{kind}")
    assert len(display.to_frame()) == 200 * n_features


def test_panels_show_the_middle_of_the_rows_unless_told():
    network, X = random_network(3), rows(3)
    X[0] = 50.0
    curve = accumulated_effects(network, X)["x1"]
    for share, ends in ((0.98, np.sort(X[:, 1])[[1, -2]]), (1, np.sort(X[:, 1])[[0, -1]])):
        display = EffectsDisplay.from_network(network, X, share_of_rows=share)
        (panel,) = (ax for ax in display.axes_ if ax.get_title() == "x1")
        line = longest_line(panel)
        assert (line.get_xdata()[0], line.get_xdata()[-1]) == pytest.approx(ends, abs=0.5)
        np.testing.assert_allclose(line.get_ydata(), curve.at(line.get_xdata()))
    with pytest.raises(ValueError, match="share_of_rows must be above 0"):
        EffectsDisplay.from_network(network, X, share_of_rows=0)


def test_panels_share_a_scale_unless_told():
    network, X = random_network(3), rows(3)
    shared = EffectsDisplay.from_network(network, X)
    assert len({ax.get_ylim() for ax in shared.axes_}) == 1
    free = EffectsDisplay.from_network(network, X, share_scale=False)
    assert len({ax.get_ylim() for ax in free.axes_}) == 3


def test_another_kind_beside_it():
    network, X = random_network(3), rows(3)
    other = partial_dependence(network, X, grid=20)
    display = EffectsDisplay(accumulated_effects(network, X)).plot(beside=[other])
    name = display.axes_[0].get_title()
    drawn = [line.get_ydata() for line in display.axes_[0].lines]
    assert any(np.array_equal(line, other[name].effect) for line in drawn)
    legend = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    kinds = ["accumulated local effect", "partial dependence, centred"]
    assert legend == [*kinds, "distribution of the rows"]


def test_levels_of_a_category_are_bars_with_names():
    generator = np.random.default_rng(2)
    level = generator.integers(0, 3, size=100)
    X = np.column_stack([generator.normal(size=100), np.eye(3)[level]])
    names = ["age", "sex_F", "sex_I", "sex_M"]
    schema = FeatureSchema.of(X, names, [("age", (0,)), ("sex", (1, 2, 3))])
    network = random_network(4)
    display = EffectsDisplay.from_network(network, X, schema=schema)
    panel = next(ax for ax in display.axes_ if ax.get_title() == "sex")
    curve = accumulated_effects(network, X, schema=schema)["sex"]
    np.testing.assert_allclose([bar.get_height() for bar in panel.patches], curve.effect)
    assert [tick.get_text() for tick in panel.get_xticklabels()] == ["F", "I", "M"]
    pair = PairEffectDisplay.from_network(network, X, ("sex", "age"), schema=schema)
    assert {tick.get_text() for tick in pair.ax_.get_xticklabels()} == {"M", "I", "F"}
    pair.figure_.canvas.draw()


def test_a_pair_is_drawn_on_a_scale_about_zero(tmp_path):
    network, X = random_network(3), rows(3)
    display = PairEffectDisplay.from_network(network, X, ("x0", "x2"), grid=10)
    result = pair_effect(network, X, ("x0", "x2"), grid=10)
    mesh = display.ax_.collections[0]
    limit = np.abs(result.effect).max()
    np.testing.assert_allclose(mesh.get_clim(), (-limit, limit))
    np.testing.assert_allclose(np.asarray(mesh.get_array()).ravel(), result.effect.T.ravel())
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("x0", "x2")
    display.figure_.savefig(tmp_path / "pair.svg")
    assert len(display.to_frame()) == 100


def test_axes_given_are_used():
    network, X = random_network(3), rows(3)
    figure, (left, right) = matplotlib.pyplot.subplots(1, 2)
    one = EffectsDisplay.from_network(network, X, ax=left)
    two = PairEffectDisplay.from_network(network, X, ("x0", "x1"), ax=right, colour_bar=False)
    assert one.figure_ is figure
    assert one.ax_ is left
    assert two.ax_ is right
    figure.canvas.draw()


def test_an_estimator_brings_names_and_classes():
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    X = rows(3)
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c"])
    mlp = MLPRegressor(hidden_layer_sizes=(5,), solver="lbfgs", max_iter=15, random_state=0)
    display = EffectsDisplay.from_estimator(_fit(mlp, frame, X[:, 0]), frame)
    assert {ax.get_title() for ax in display.axes_} == {"a", "b", "c"}
    labels = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    classifier = _fit(
        MLPClassifier(hidden_layer_sizes=(5,), solver="lbfgs", max_iter=15, random_state=0),
        X,
        labels,
    )
    of_high = EffectsDisplay.from_estimator(classifier, X, output="high")
    network = ReluNetwork.from_mlp(classifier)
    expected = accumulated_effects(network, X, output=list(classifier.classes_).index("high"))
    np.testing.assert_array_equal(of_high.result.curves[0].effect, expected.curves[0].effect)
    assert "score of 'high'" in of_high.figure_.get_suptitle()
    with pytest.raises(ValueError, match=r"one of the classes .*'low'.*; it is 'tall'"):
        EffectsDisplay.from_estimator(classifier, X, output="tall")
    with pytest.raises(ValueError, match=r"one of the classes .*'low'.*; it is missing"):
        EffectsDisplay.from_estimator(classifier, X)


def _fit(model, X, y):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def test_what_has_no_network_is_refused():
    from sklearn.linear_model import LinearRegression

    with pytest.raises(TypeError, match=r"LinearRegression has no network to read\. Supported"):
        EffectsDisplay.from_estimator(LinearRegression(), rows(3))
    with pytest.raises(ValueError, match="max_features must be at least 1"):
        EffectsDisplay.from_network(random_network(3), rows(3), max_features=0)


def test_labels_of_a_classifier_are_coded():
    from lifenet.plots import LocalCoefficientsDisplay

    class Fitted:
        classes_ = np.array(["good", "risky"])
        network_ = random_network(3, n_neurons=3)
        schema_ = FeatureSchema.of(rows(3), ["a", "b", "c"])

    X = rows(3)
    y = np.where(X[:, 0] > 0, "risky", "good")
    display = LocalCoefficientsDisplay.from_estimator(Fitted(), X, y)
    plain = LocalCoefficientsDisplay.from_network(Fitted.network_, X, X[:, 0] > 0)
    np.testing.assert_array_equal(display.result.response_mean, plain.result.response_mean)
    named = LocalCoefficientsDisplay.from_estimator(Fitted(), X, y=y)
    np.testing.assert_array_equal(named.result.response_mean, plain.result.response_mean)
    y[7] = "new"
    with pytest.raises(ValueError, match="y holds 'new' in row 7"):
        LocalCoefficientsDisplay.from_estimator(Fitted(), X, y)


class Binary:
    """A fitted model of two classes, as far as a display looks at it."""

    classes_ = np.array(["good", "risky"])
    network_ = random_network(3)
    schema_ = FeatureSchema.of(rows(3), ["a", "b", "c"])


def test_of_two_classes_the_picture_names_the_one_it_is_about():
    display = EffectsDisplay.from_estimator(Binary(), rows(3))
    assert "log-odds of 'risky'" in display.figure_.get_suptitle()
    EffectsDisplay.from_estimator(Binary(), rows(3), output="risky")
    with pytest.raises(ValueError, match=r"log-odds of 'risky'.* it is 'good'.* negative"):
        EffectsDisplay.from_estimator(Binary(), rows(3), output="good")


def test_a_kind_is_chosen_by_name():
    display = EffectsDisplay.from_estimator(Binary(), rows(3), kind="partial", grid=7)
    expected = partial_dependence(Binary.network_, rows(3), grid=7)
    np.testing.assert_array_equal(display.result.curves[0].effect, expected.curves[0].effect)
    assert display.figure_.get_suptitle().startswith("Partial dependence")
    with pytest.raises(ValueError, match="accumulated, partial, integrated; it is 'pdp'"):
        EffectsDisplay.from_estimator(Binary(), rows(3), kind="pdp")


def test_rounding_is_not_coloured():
    network = ReluNetwork([[1.0, 0.0], [0.0, 1.0]], [0.1, 0.3], [1.0, 0.7], 0.0, [1e3, 0.1])
    display = PairEffectDisplay.from_network(network, rows(2), ("x0", "x1"), grid=8)
    assert np.abs(display.result.effect).max() < 1e-3 * display.ax_.collections[0].get_clim()[1]


def test_empty_corners_do_not_set_the_scale():
    """Two columns that are nearly equal: far from the diagonal there are no rows."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(500, 1)) + [[0.0, 0.0]] + 0.05 * generator.normal(size=(500, 2))
    network = ReluNetwork([[1.0, -1.0]], [-0.2], [1.0], 0.0)
    display = PairEffectDisplay.from_network(network, X, ("x0", "x1"), grid=12)
    limit = display.ax_.collections[0].get_clim()[1]
    assert limit < 0.7 * np.abs(display.result.effect).max()


def test_what_to_do_is_said():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from lifenet import LLARegressor

    with pytest.raises(TypeError, match=r"LLARegressor has no network to read\. It is not fitted"):
        EffectsDisplay.from_estimator(LLARegressor(), rows(3))
    pipeline = make_pipeline(StandardScaler(), LLARegressor())
    with pytest.raises(TypeError, match="not fitted yet: call fit"):
        EffectsDisplay.from_estimator(pipeline, rows(3))


def test_a_pipeline_is_drawn_as_its_last_step_on_what_that_sees():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from lifenet import LLARegressor

    X = rows(3)
    pipeline = make_pipeline(StandardScaler(), LLARegressor(3, random_state=0)).fit(X, X[:, 0])
    drawn = EffectsDisplay.from_estimator(pipeline, X).to_frame()
    alone = EffectsDisplay.from_estimator(pipeline[-1], pipeline[0].transform(X)).to_frame()
    np.testing.assert_array_equal(drawn["effect"], alone["effect"])


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_panels_have_room_on_axes_of_a_grid(layout):
    figure, (left, _) = matplotlib.pyplot.subplots(1, 2, figsize=(12, 6), layout=layout)
    display = EffectsDisplay.from_network(random_network(3), rows(3), ax=left)
    figure.canvas.draw()
    for panel in display.axes_:
        box = panel.get_window_extent()
        assert box.width > 40
        assert box.height > 40
