"""Pictures of accuracy, diversity, stacking and selection."""

import numpy as np
import pytest

from lifenet import LLA, LIFEClassifier, LIFERegressor, NeuronProjection
from lifenet.datasets import simulate
from lifenet.plots.decomposition import (
    DecompositionDisplay,
    SelectionDisplay,
    StackingLineDisplay,
)
from lifenet.theory import (
    DecompositionCurve,
    compare_settings,
    decompose,
    decompose_path,
    selection_curve,
)
from test_theory import problem

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    matplotlib.pyplot.close("all")


def line_of(ax, label):
    return next(line for line in ax.lines if line.get_label().startswith(label))


@pytest.mark.parametrize("n_members", [1, 2, 9, 60])
def test_the_curves_are_drawn_with_the_optimum(n_members, tmp_path):
    predictions, y = problem("log-odds", n=60, n_members=n_members)
    path = decompose_path(predictions, y, space="log-odds", weights="equal")
    display = DecompositionDisplay(path).plot()
    for ending in ("png", "svg", "pdf"):
        display.figure_.savefig(tmp_path / f"path.{ending}")
    terms, loss = display.axes_
    np.testing.assert_array_equal(line_of(terms, "accuracy").get_ydata(), path.accuracy)
    np.testing.assert_array_equal(line_of(terms, "diversity").get_ydata(), path.diversity)
    np.testing.assert_array_equal(line_of(loss, "loss").get_ydata(), path.loss)
    assert {line.get_xdata()[0] for line in terms.lines if len(line.get_xdata()) == 2} >= {
        path.x[path.best]
    }
    assert f"of {n_members} members" in loss.get_title()
    assert display.to_frame().equals(path.to_frame())


def test_the_dotted_line_stands_at_the_fewest_members():
    path = DecompositionCurve(
        label="members",
        x=np.arange(1.0, 5),
        loss=np.array([2.0, 1.005, 1.0, 1.1]),
        accuracy=np.array([2.0, 2.0, 2.0, 2.0]),
        diversity=np.array([0.0, 0.995, 1.0, 0.9]),
        n_used=np.arange(1, 5),
        order=np.arange(4),
    )
    loss = DecompositionDisplay(path).plot().axes_[1]
    assert [line.get_xdata()[0] for line in loss.lines[1:]] == [3, 2]
    assert "2 come within 1 %" in loss.get_title()
    loss = DecompositionDisplay(path).plot(slack=0).axes_[1]
    assert [line.get_xdata()[0] for line in loss.lines[1:]] == [3]


@pytest.mark.parametrize(("factor", "scale"), [(1, "linear"), (100, "symlog")])
def test_members_far_worse_than_their_mixture_get_a_logarithmic_scale(factor, scale):
    predictions, y = problem("squared")
    swing = factor * np.where(np.arange(5) % 2, 1, -1)
    pieces = [decompose(predictions[:, :k] + swing[:k], y, "equal") for k in (2, 4)]
    display = DecompositionDisplay(DecompositionCurve.of([0.4, 0.2], pieces)).plot()
    terms, loss = display.axes_
    assert terms.get_yscale() == scale
    assert bool(terms.collections) == (scale == "linear")
    assert "subset size" in loss.get_xlabel()
    assert "members" not in loss.get_title()


def test_it_is_drawn_in_a_given_place():
    predictions, y = problem("squared")
    figure, axes = matplotlib.pyplot.subplots(1, 2)
    display = DecompositionDisplay(decompose_path(predictions, y)).plot(axes[0])
    assert display.figure_ is figure
    assert display.ax_ is axes[0]
    figure.canvas.draw()
    right = axes[1].get_window_extent().x0
    assert [panel.get_window_extent().x1 < right for panel in display.axes_] == [True, True]


def test_the_members_of_a_fitted_model_are_read():
    data = simulate.mim(400, random_state=0)
    model = LIFERegressor(NeuronProjection(levels=(4,)), LLA(2), random_state=0)
    model.fit(data.X[:300], data.y[:300])

    def scores(X):
        return np.column_stack([one.network.score(X)[:, 0] for one in model.members_])

    expected = decompose_path(
        scores(data.X[:300]), data.y[:300], held_out=(scores(data.X[300:]), data.y[300:])
    )
    display = DecompositionDisplay.from_estimator(
        model, data.X[:300], data.y[:300], held_out=(data.X[300:], data.y[300:]), slack=0.1
    )
    np.testing.assert_array_equal(display.result.loss, expected.loss)
    assert expected.loss.min() < np.var(data.y[300:])


def test_a_classifiers_labels_are_understood():
    data = simulate.ringnorm(300, random_state=0)
    labels = np.where(data.y == 1, "yes", "no")
    model = LIFEClassifier(NeuronProjection(levels=(3,)), LLA(2), random_state=0)
    model.fit(data.X, labels)
    display = DecompositionDisplay.from_estimator(model, data.X, labels, order="loss")
    assert display.result.loss[-1] < np.log(2)


def test_what_has_no_members_is_refused():
    with pytest.raises(TypeError, match="object has no networks for members"):
        DecompositionDisplay.from_estimator(object(), [[1.0]], [1.0])

    class Many:
        members_ = ()
        classes_ = (0, 1, 2)

    with pytest.raises(ValueError, match="two classes is decomposed; the model has 3"):
        DecompositionDisplay.from_estimator(Many(), [[1.0]], [1.0])
    for display in (StackingLineDisplay, SelectionDisplay):
        with pytest.raises(TypeError, match="shows many models, not one"):
            display.from_estimator(Many())


def test_settings_are_drawn_with_line_and_diagonal():
    line = compare_settings([1, 2, 3, 4.0], [0.9, 1.7, 3.2, 3.3])
    display = StackingLineDisplay(line).plot()
    diagonal = line_of(display.ax_, "equal")
    np.testing.assert_array_equal(diagonal.get_xdata(), diagonal.get_ydata())
    fitted = line_of(display.ax_, f"{line.intercept:.3g} + {line.slope:.3g} x")
    np.testing.assert_allclose(fitted.get_ydata(), line.intercept + line.slope * np.array([1, 4]))
    assert "3 of 4 settings" in display.ax_.get_title()
    display.figure_.canvas.draw()


def test_selection_is_drawn_with_the_whole_set_off():
    curve = selection_curve([80, 20, 50], [0.75, 0.6, 0.745], all_members=(100, 0.74))
    display = SelectionDisplay(curve).plot()
    np.testing.assert_array_equal(
        line_of(display.ax_, "members").get_xydata(), [[20, 0.6], [50, 0.745], [80, 0.75]]
    )
    np.testing.assert_array_equal(line_of(display.ax_, "all").get_xydata(), [[100, 0.74]])
    assert "R² 0.745 with 50 neurons" in display.ax_.get_title()
    alone = SelectionDisplay(selection_curve([5], [0.1])).plot()
    words = [text.get_text() for text in alone.ax_.get_legend().get_texts()]
    assert words == ["members selected", "fewest within 0.01"]
