import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from lifenet.compress.frontier import Frontier
from lifenet.losses import Logistic, Loss, SquaredError
from lifenet.plots import FrontierDisplay


def frontier(**changes):
    sizes = (1500, 512, 128, 52, 16, 4)
    errors = np.array([1.0, 1.001, 1.004, 1.018, 1.04, 1.5])
    given = {
        "sizes": sizes,
        "networks": sizes,
        "losses": tuple(np.square(errors) / 2),
        "standard_errors": (0.0, 0.001, 0.002, 0.004, 0.01, 0.05),
        "loss": SquaredError(),
        "n_rows": 2000.0,
        "spread": 3.0,
    }
    return Frontier(**(given | changes))


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_sizes_within_tolerances_are_marked_with_number_and_increase():
    display = FrontierDisplay(frontier()).plot()
    labels = ["full: 1,500 neurons", "52 neurons, +1.8 %", "16 neurons, +4.0 %"]
    assert texts(display.ax_) == labels
    one = FrontierDisplay(frontier()).plot(tolerances=0.002)
    assert texts(one.ax_) == ["full: 1,500 neurons", "512 neurons, +0.1 %"]


def test_a_legend_says_what_the_marks_mean():
    def legend(tolerances):
        found = FrontierDisplay(frontier()).plot(tolerances=tolerances).ax_.get_legend()
        return [text.get_text() for text in found.get_texts()]

    band = "± 2 standard errors"
    assert legend((0.05, 0.02)) == [band, "fewest neurons within 2 % and 5 %"]
    assert legend((0.0, 0.02)) == [band, "fewest neurons within 2 %"]  # the other is the full one
    assert legend(()) == [band]


def test_errors_are_drawn_in_the_units_of_the_target():
    ax = FrontierDisplay(frontier()).plot(unit="dollars").ax_
    curve = next(line for line in ax.lines if len(line.get_xdata()) > 2)
    assert list(curve.get_xdata()) == [1500, 512, 128, 52, 16]
    np.testing.assert_allclose(curve.get_ydata(), 3 * np.array([1, 1.001, 1.004, 1.018, 1.04]))
    assert ax.get_xscale() == "log"
    assert ax.get_ylabel() == "RMSE (dollars), 2,000 held-out rows"
    assert "1 smaller not shown" in ax.get_title()


def test_the_band_is_two_standard_errors_of_the_difference():
    ax = FrontierDisplay(frontier()).plot(max_increase=1.0).ax_
    corners = ax.collections[0].get_paths()[0].vertices
    at = corners[np.isclose(corners[:, 0], 52), 1]
    half = 2 * 3 * 0.004 / 1.018  # the spread times d loss / rmse, twice
    assert [at.min(), at.max()] == pytest.approx([3 * 1.018 - half, 3 * 1.018 + half])


def test_the_axis_at_the_right_shows_increases():
    display = FrontierDisplay(frontier()).plot()
    display.figure_.canvas.draw()
    (right,) = display.ax_.child_axes
    low, high = display.ax_.get_ylim()
    np.testing.assert_allclose(right.get_ylim(), (low / 3 - 1, high / 3 - 1))
    assert "0 %" in [label.get_text() for label in right.get_yticklabels()]


def test_training_rows_and_log_loss_are_named():
    ax = FrontierDisplay(frontier(loss=Logistic(), held_out=False)).plot().ax_
    assert ax.get_ylabel() == "log-loss, 2,000 training rows"


class Absolute(Loss):
    """A loss of the user's own: its mean has no other name and no units of the target."""

    def value(self, target, score):
        return np.abs(target - score[..., 0])

    def gradient(self, target, score):
        return np.sign(score - target[..., None])

    def curvature(self, target, score):
        return np.ones_like(score)

    def null_score(self, target, weight):
        return np.array([np.median(target)])


def test_the_error_of_another_loss_is_named_by_the_loss():
    result = frontier(loss=Absolute())
    ax = FrontierDisplay(result).plot().ax_
    assert ax.get_ylabel() == "mean loss, 2,000 held-out rows"
    curve = next(line for line in ax.lines if len(line.get_xdata()) > 2)
    np.testing.assert_allclose(curve.get_ydata(), result.losses[:5])


def test_given_axes_are_drawn_on_and_an_exact_network_has_no_increases():
    _, ax = plt.subplots()
    exact = frontier(losses=(0.0,) * 6, standard_errors=(0.0,) * 6)
    assert FrontierDisplay(exact).plot(ax).ax_ is ax
    assert not ax.child_axes


def test_an_increase_out_of_range_is_refused():
    with pytest.raises(ValueError, match="max_increase must be above 0"):
        FrontierDisplay(frontier()).plot(max_increase=0)


def test_a_constant_is_not_on_the_axis():
    display = FrontierDisplay(frontier(sizes=(1500, 512, 128, 52, 16, 0))).plot(max_increase=1.0)
    assert "1 smaller not shown" in display.ax_.get_title()
    with pytest.raises(ValueError, match="no neurons"):
        FrontierDisplay(frontier(sizes=(0,))).plot()


def test_the_table_is_the_frontiers():
    assert FrontierDisplay(frontier()).to_frame().equals(frontier().to_frame())
