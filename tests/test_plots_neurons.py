"""What is drawn of neurons is what was computed."""

import numpy as np
import pytest

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402
from sklearn.neural_network import MLPRegressor  # noqa: E402

from lifenet import LLARegressor, datasets  # noqa: E402
from lifenet.explain.importance import feature_importance  # noqa: E402
from lifenet.explain.neurons import (  # noqa: E402
    NeuronImportance,
    neuron_contributions,
    neuron_importance,
)
from lifenet.network import ReluNetwork  # noqa: E402
from lifenet.plots._style import BLUE  # noqa: E402
from lifenet.plots.neurons import (  # noqa: E402
    FeatureImportanceDisplay,
    NeuronContributionDisplay,
    NeuronImportanceDisplay,
)
from made_up import REAL  # noqa: E402

DISPLAYS = (NeuronImportanceDisplay, NeuronContributionDisplay, FeatureImportanceDisplay)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def network(n_neurons=12, n_features=3, n_outputs=1, linear=True):
    generator = np.random.default_rng(0)
    return ReluNetwork(
        generator.normal(size=(n_neurons, n_features)),
        generator.normal(size=n_neurons),
        generator.normal(size=(n_neurons, n_outputs))
        * np.exp(3 * np.arange(n_neurons) / 10)[:, None],
        np.zeros(n_outputs),
        generator.normal(size=(n_features, n_outputs)) if linear else None,
    )


def table(n_features=3):
    return np.random.default_rng(1).normal(size=(150, n_features))


def heights(ax, colour):
    bars = [bar for bar in ax.patches if to_hex(bar.get_facecolor()) == colour.lower()]
    return sum(bar.get_height() for bar in bars)


class TestImportance:
    def test_every_neuron_is_in_a_bar_and_those_above_the_line_are_coloured(self):
        result = neuron_importance(network(40), table())
        display = NeuronImportanceDisplay(result).plot(share=0.05)
        assert heights(display.ax_, BLUE) == result.n_above(0.05)
        assert sum(bar.get_height() for bar in display.ax_.patches) == 40
        line = display.ax_.lines[0].get_xdata()[0]
        assert line == pytest.approx(0.05 * result.importance.max())
        blue = [bar for bar in display.ax_.patches if to_hex(bar.get_facecolor()) == BLUE.lower()]
        left = [bar.get_x() for bar in blue if bar.get_height()]
        assert min(left) >= line * (1 - 1e-9)
        title = display.ax_.get_title(loc="left")
        assert f"{result.n_above(0.05)} of 40 neurons exceed 5 % of the largest" in title
        assert f"linear part: {result.linear:.2g}" in title

    def test_faint_neurons_share_the_first_bar(self):
        importance = np.array([1.0, 0.5, 1e-5, 0.0, 0.0])
        display = NeuronImportanceDisplay(NeuronImportance(importance, np.ones(5), 0.0)).plot()
        first = min(display.ax_.patches, key=lambda bar: (bar.get_x(), -bar.get_height()))
        assert first.get_height() == 3
        assert "3 below 0.01 % are in the first bar" in display.ax_.get_title(loc="left")

    def test_nothing_to_show_is_no_error(self):
        constant = ReluNetwork(np.zeros((0, 3)), [], np.zeros((0, 1)), 0.0)
        for each in DISPLAYS:
            each.from_network(constant, table()).figure_.canvas.draw()

    def test_bad_share(self):
        display = NeuronImportanceDisplay(neuron_importance(network(), table()))
        for share in (0.0, 1.0, 1e-5):
            with pytest.raises(ValueError, match=r"share must lie between 0\.001 and 1"):
                display.plot(share=share)


class TestContributions:
    def test_cells_are_the_contributions_in_order(self):
        result = neuron_contributions(network(), table(), schema=["a", "b", "c"])
        display = NeuronContributionDisplay(result).plot()
        image = display.ax_.images[0]
        low, high = image.get_clim()
        assert low == -high
        names = [label.get_text() for label in display.ax_.get_yticklabels()]
        neurons = [label.get_text() for label in display.ax_.get_xticklabels()]
        assert neurons == [*map(str, result.order), "linear"]
        shown = image.get_array()
        for row, name in enumerate(names):
            column = "abc".index(name)
            assert np.array_equal(shown[row, :12], result.contribution[result.order, column])
            assert shown.mask[row, 12]
            assert shown[row, 13] == result.linear[column]

    def test_without_a_linear_part_there_is_no_column_for_it(self):
        display = NeuronContributionDisplay.from_network(network(linear=False), table())
        assert display.ax_.images[0].get_array().shape == (3, 12)

    def test_what_is_left_out_is_said(self):
        display = NeuronContributionDisplay.from_network(
            network(60, 40), table(40), max_neurons=10, max_columns=7
        )
        assert display.ax_.images[0].get_array().shape == (7, 12)
        assert display.ax_.get_title(loc="left") == "10 of 60 neurons, 7 of 40 columns"
        with pytest.raises(ValueError, match="max_columns must be at least 1"):
            display.plot(max_columns=0)


class TestFeatures:
    def test_bars_are_importance_in_deviations_of_the_score_in_order(self):
        result = feature_importance(network(), table(), schema=["a", "b", "c"])
        display = FeatureImportanceDisplay(result).plot()
        widths = [bar.get_width() for bar in display.ax_.patches]
        assert widths == sorted(result.importance / result.score_deviation, reverse=True)
        labels = [label.get_text() for label in display.ax_.get_yticklabels()]
        assert labels == [result.features[place] for place in result.order]
        assert [text.get_text() for text in display.ax_.texts] == [f"{one:.2f}" for one in widths]
        words = display.ax_.get_xlabel().replace("\n", " ")
        assert words.startswith("change of the score when the value is another row's")
        assert "standard deviations" in words

    def test_the_score_is_called_by_its_name(self):
        display = FeatureImportanceDisplay(feature_importance(network(), table()))
        display.score_name = "log-odds of 'bad'"
        assert "change of the log-odds of 'bad'" in display.plot().ax_.get_xlabel()

    def test_of_the_rest_the_largest_is_given(self):
        result = feature_importance(network(60, 40), table(40))
        display = FeatureImportanceDisplay(result).plot(max_features=15)
        assert len(display.ax_.patches) == 15
        assert display.ax_.get_yticklabels()[-1].get_text() == "others (25)"
        largest = np.sort(result.relative)[24]
        assert display.ax_.texts[-1].get_text() == f"at most {largest:.2f}"
        with pytest.raises(ValueError, match="max_features must be at least 1"):
            display.plot(max_features=0)

    def test_what_hardly_matters_is_not_written_as_nothing(self):
        straight = ReluNetwork(np.zeros((0, 3)), [], np.zeros((0, 1)), 0.0, [1.0, 1e-4, 0.0])
        display = FeatureImportanceDisplay.from_network(straight, table())
        assert [text.get_text() for text in display.ax_.texts][1:] == ["< 0.01", "0.00"]
        display.plot(max_features=1)
        assert display.ax_.texts[-1].get_text() == "< 0.01"


@pytest.mark.parametrize("display", DISPLAYS)
class TestAll:
    @pytest.mark.parametrize(
        ("n_features", "suffix"), [(1, "png"), (3, "svg"), (40, "pdf"), (40, "png")]
    )
    def test_it_saves(self, display, n_features, suffix, tmp_path):
        names = [f"quite a long name {place}" for place in range(n_features)]
        drawn = display.from_network(network(60, n_features), table(n_features), schema=names)
        drawn.figure_.savefig(tmp_path / f"picture.{suffix}")
        assert (tmp_path / f"picture.{suffix}").stat().st_size > 1000

    def test_it_draws_where_it_is_told(self, display):
        figure, axes = plt.subplots(1, 2)
        drawn = display.from_network(network(n_outputs=2), table(), output=1, ax=axes[1])
        assert drawn.figure_ is figure
        assert drawn.ax_ is axes[1]
        assert len(drawn.to_frame()) >= 3

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_of_a_scikit_learn_model(self, display):
        X = table()
        model = MLPRegressor(hidden_layer_sizes=(5,), max_iter=3, random_state=0).fit(X, X[:, 0])
        drawn = display.from_estimator(model, X)
        assert drawn.figure_.axes[0] is drawn.ax_


@pytest.mark.parametrize("origin", ["made-up", REAL])
def test_hour_leads_in_bike_sharing(origin, home_of):
    data = datasets.load("bike_sharing", data_home=home_of(origin))
    rows = np.random.default_rng(0).permutation(len(data.X))[:1500]
    model = LLARegressor(n_neurons=10, random_state=0).fit(data.X[rows], data.y[rows])
    drawn = FeatureImportanceDisplay.from_estimator(model, data.X[rows], schema=data.feature_names)
    assert drawn.to_frame()["feature"][0] == "hr"
