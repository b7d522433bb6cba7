"""What the plot matrix shows is what the coefficients say."""

import numpy as np
import pytest

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from lifenet import LLARegressor  # noqa: E402
from lifenet.explain.varying import varying_coefficients  # noqa: E402
from lifenet.network import ReluNetwork  # noqa: E402
from lifenet.plots.varying import VaryingCoefficientsDisplay  # noqa: E402
from lifenet.schema import FeatureSchema  # noqa: E402


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def random_network(n_features, seed=0):
    generator = np.random.default_rng(seed)
    return ReluNetwork(
        generator.normal(size=(30, n_features)) * (generator.random((30, n_features)) < 0.5),
        generator.normal(size=30),
        generator.normal(size=(30, 1)),
        np.zeros(1),
    )


def rows(n_features, n=300, seed=1):
    return np.random.default_rng(seed).normal(size=(n, n_features))


def with_category():
    level = np.random.default_rng(0).choice(3, size=300, p=[0.2, 0.5, 0.3])
    X = np.c_[rows(1), np.eye(3)[level]]
    groups = [("a", (0,)), ("sky", (1, 2, 3))]
    return X, FeatureSchema.of(X, ["a", "sky_clear", "sky_rain", "sky_snow"], groups)


def curve_of(panel):
    return max((line.get_ydata() for line in panel.lines), key=len)


def test_each_panel_has_its_coefficient_and_its_curve():
    result = varying_coefficients(random_network(3), rows(3))
    display = VaryingCoefficientsDisplay(result).plot()
    assert display.axes_.shape == (3, 3)
    for row, m in enumerate(display.shown_):
        for column, k in enumerate(display.shown_):
            panel = display.axes_[row, column]
            points = panel.collections[0].get_offsets()
            np.testing.assert_allclose(points, np.c_[result.places[:, k], result.alpha[:, m]])
            level = 0.0 if m == k else result.mean[m]
            np.testing.assert_allclose(curve_of(panel), result.curves[k][:, m] + level)
            text = panel.texts[0].get_text()
            if m != k:
                part = result.strength[m, k] / result.score_deviation
                assert float(text) == pytest.approx(part, abs=0.005)
            else:
                words = {"none": "no main effect", "linear and nonlinear": "linear + nonlinear"}
                assert text == words.get(result.verdict[m], result.verdict[m])
    names = [panel.get_xlabel() for panel in display.axes_[-1]]
    assert names == [f"x{k}" for k in display.shown_]
    assert [panel.get_ylabel() for panel in display.axes_[:, 0]] == [
        f"slope of\nx{m}" for m in display.shown_
    ]


def test_the_strongest_features_are_shown_and_the_title_says_of_how_many():
    weights = np.zeros((4, 9))
    weights[0, [7, 2]], weights[1, 4], weights[2, 5], weights[3, 0] = 5, 1, 0.5, 0.1
    network = ReluNetwork(weights, np.zeros(4), np.ones((4, 1)), np.zeros(1))
    display = VaryingCoefficientsDisplay.from_network(network, rows(9), max_features=4)
    assert display.axes_.shape == (4, 4)
    assert set(display.shown_) == {2, 7, 4, 5}
    assert "4 strongest of 9" in display.figure_.get_suptitle()
    everything = VaryingCoefficientsDisplay(display.result).plot(max_features=9)
    assert "strongest" not in everything.figure_.get_suptitle()


def test_rows_share_their_heights_and_zero_is_in_sight():
    display = VaryingCoefficientsDisplay.from_network(random_network(3), rows(3))
    for row in display.axes_:
        assert len({panel.get_ylim() for panel in row}) == 1
        low, high = row[0].get_ylim()
        assert low < 0 < high


def test_a_category_has_a_colour_a_level_and_names_on_its_axis():
    X, schema = with_category()
    display = VaryingCoefficientsDisplay.from_network(random_network(4, 3), X, schema=schema)
    result = display.result
    row = display.shown_.index(1)
    own, other = display.axes_[row, row], display.axes_[row, 1 - row]
    assert own.get_ylabel() + other.get_ylabel() == "contrasts of\nsky"
    curves = [line for line in other.lines if len(line.get_ydata()) > 2]
    assert len(curves) == 2
    assert len({line.get_color() for line in curves}) == 2
    dots = {
        line.get_xdata()[0]: line.get_ydata()[0] for line in own.lines if line.get_marker() == "o"
    }
    assert sorted(dots) == [0, 1, 2]
    for place, height in zip(result.level[1:], result.mean[1:], strict=True):
        assert dots[place] == pytest.approx(height)
    assert list(dots.values()).count(0.0) == 1
    labels = [tick.get_text() for tick in display.axes_[-1, row].get_xticklabels()]
    assert sorted(labels) == ["clear", "rain", "snow"]


def test_from_estimator_knows_names_and_forwards_options():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(rows(2), columns=["age", "income"])
    model = LLARegressor(n_neurons=3, random_state=0).fit(X, np.abs(X["age"]) + X["income"])
    display = VaryingCoefficientsDisplay.from_estimator(model, X, max_points=10, max_features=1)
    assert display.axes_[0, 0].get_xlabel() in {"age", "income"}
    assert len(display.result.alpha) == 10
    assert list(display.to_frame()["feature"]) == ["age", "income"]


def test_in_the_place_of_given_axes():
    figure, (left, right) = plt.subplots(1, 2)
    display = VaryingCoefficientsDisplay.from_network(
        random_network(5), rows(5), ax=left, max_features=2
    )
    assert display.figure_ is figure
    assert display.ax_ is left
    assert "2 strongest of 5" in display.axes_[0, 0].figure.get_suptitle()
    assert right.axison


@pytest.mark.parametrize(("n_features", "suffix"), [(1, "svg"), (2, "pdf"), (40, "png")])
def test_it_saves_without_a_warning(tmp_path, suffix, n_features):
    display = VaryingCoefficientsDisplay.from_network(
        random_network(n_features), rows(n_features, 100), max_features=3
    )
    display.figure_.savefig(tmp_path / f"matrix.{suffix}")
    assert (tmp_path / f"matrix.{suffix}").stat().st_size > 1000


def test_a_flat_network_can_be_drawn():
    flat = ReluNetwork(np.zeros((1, 2)), np.ones(1), np.ones((1, 1)), np.zeros(1))
    display = VaryingCoefficientsDisplay.from_network(flat, rows(2), max_points=0)
    assert display.axes_[0, 0].texts[0].get_text() == "no main effect"
    display.figure_.canvas.draw()


def test_at_least_one_feature():
    result = varying_coefficients(random_network(2), rows(2))
    with pytest.raises(ValueError, match="max_features"):
        VaryingCoefficientsDisplay(result).plot(max_features=0)
