import numpy as np
import pytest
from scipy import optimize
from sklearn.metrics import log_loss

from lifenet.losses import Logistic, Loss, Multinomial, SquaredError

LOSSES = [SquaredError(), Logistic(), Multinomial(3)]
IDS = ["squared", "logistic", "multinomial"]


def rows(loss, n=40, seed=0):
    generator = np.random.default_rng(seed)
    if isinstance(loss, Multinomial):
        return generator.integers(0, 3, n).astype(float), generator.normal(size=(n, 3)) * 3
    target = (
        generator.normal(size=n) if isinstance(loss, SquaredError) else generator.uniform(size=n)
    )
    return target, generator.normal(size=(n, 1)) * 3


def shifted(score, output, step):
    moved = score.copy()
    moved[..., output] += step
    return moved


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_gradient_is_the_slope_of_the_value(loss):
    target, score = rows(loss)
    gradient = loss.gradient(target, score)
    for output in range(loss.n_outputs):
        up = loss.value(target, shifted(score, output, 1e-5))
        down = loss.value(target, shifted(score, output, -1e-5))
        np.testing.assert_allclose(gradient[:, output], (up - down) / 2e-5, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_curvature_is_the_slope_of_the_gradient(loss):
    target, score = rows(loss)
    diagonal = loss.curvature(target, score)
    assert diagonal.min() >= 0
    for output in range(loss.n_outputs):
        up = loss.gradient(target, shifted(score, output, 1e-5))
        down = loss.gradient(target, shifted(score, output, -1e-5))
        column = (up - down) / 2e-5
        unit = np.zeros_like(score)
        unit[:, output] = 1.0
        product = loss.curvature_product(target, score, unit)
        np.testing.assert_allclose(product, column, atol=1e-8)
        np.testing.assert_allclose(diagonal[:, output], column[:, output], atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_curvature_is_never_negative_along_any_change(loss):
    target, score = rows(loss, n=200)
    change = np.random.default_rng(3).normal(size=score.shape)
    product = loss.curvature_product(target, score, change)
    assert np.sum(product * change, axis=1).min() >= -1e-12


def test_values_against_scikit_learn():
    target, score = rows(Logistic())
    target = (target > 0.5).astype(float)
    expected = log_loss(target, Logistic().mean(score)[:, 0])
    assert Logistic().value(target, score).mean() == pytest.approx(expected)
    target, score = rows(Multinomial(3))
    expected = log_loss(target, Multinomial(3).mean(score))
    assert Multinomial(3).value(target, score).mean() == pytest.approx(expected)


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_null_score_is_the_best_constant(loss):
    target, _ = rows(loss)
    weight = np.random.default_rng(1).uniform(0, 2, len(target))
    shape = (len(target), loss.n_outputs)

    def objective(constant):
        score = np.broadcast_to(constant, shape)
        return weight @ loss.value(target, score)

    best = optimize.minimize(objective, np.zeros(loss.n_outputs), tol=1e-10)
    assert objective(loss.null_score(target, weight)) == pytest.approx(best.fun, rel=1e-8)


@pytest.mark.parametrize("extreme", [1e3, -1e3])
@pytest.mark.parametrize("label", [0.0, 1.0])
def test_logistic_is_exact_at_extreme_scores(extreme, label):
    target, score, loss = np.array([label]), np.array([[extreme]]), Logistic()
    wrong = (extreme > 0) != (label == 1)
    assert loss.value(target, score)[0] == (1e3 if wrong else 0.0)
    assert loss.gradient(target, score)[0, 0] == pytest.approx(np.sign(extreme) if wrong else 0.0)
    assert loss.curvature(target, score)[0, 0] == pytest.approx(0.0, abs=1e-300)
    assert loss.mean(score)[0, 0] == pytest.approx(float(extreme > 0))


def test_logistic_keeps_small_losses_and_gradients():
    """log(1 + e^f) - f would cancel to zero at f = 40; the loss there is e^-40."""
    target, score = np.array([1.0]), np.array([[40.0]])
    assert Logistic().value(target, score)[0] == pytest.approx(np.exp(-40.0), rel=1e-12)
    assert Logistic().gradient(target, score)[0, 0] == pytest.approx(-np.exp(-40.0), rel=1e-12)


def test_multinomial_is_finite_at_extreme_scores():
    loss = Multinomial(3)
    target, score = np.array([0.0, 1.0]), np.array([[1e3, -1e3, 0.0], [1e3, -1e3, 0.0]])
    np.testing.assert_allclose(loss.value(target, score), [0.0, 2e3])
    assert np.isfinite(loss.gradient(target, score)).all()
    assert np.isfinite(loss.curvature(target, score)).all()
    np.testing.assert_allclose(loss.mean(score).sum(axis=1), 1.0)


def test_a_class_without_weight_leaves_the_null_score_finite():
    assert np.isfinite(Logistic().null_score(np.zeros(3), np.ones(3))).all()
    assert np.isfinite(Multinomial(3).null_score(np.array([0.0, 1.0]), np.ones(2))).all()


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_outputs_are_the_last_axis_whatever_the_axes_before(loss):
    """Stacks of members ask for the losses of all at once, the target shared or not."""
    target, score = rows(loss, n=24)
    stacked, shared = score.reshape(2, 3, 4, -1), target.reshape(2, 3, 4)[:1]
    whole = np.broadcast_to(shared, (2, 3, 4)).ravel()
    for name in ("value", "gradient", "curvature"):
        expected = getattr(loss, name)(whole, score)
        found = getattr(loss, name)(shared, stacked)
        np.testing.assert_array_equal(found.reshape(expected.shape), expected)
    assert loss.value(shared, stacked).shape == (2, 3, 4)
    assert loss.gradient(shared, stacked).shape == stacked.shape
    assert loss.curvature_product(shared, stacked, stacked).shape == stacked.shape
    assert loss.mean(stacked).shape == stacked.shape
    assert loss.responses(target).shape == (24, loss.n_outputs)
    assert loss.side(target).shape == (24, loss.n_outputs)
    assert loss.null_score(target, np.ones(24)).shape == (loss.n_outputs,)


class TestAnswers:
    """What algorithms ask of a loss, checked against what they would find by trying."""

    @pytest.mark.parametrize("loss", LOSSES, ids=IDS)
    def test_quadratic_means_a_curvature_of_one(self, loss):
        assert loss.quadratic == bool(np.all(loss.curvature(*rows(loss)) == 1.0))

    @pytest.mark.parametrize("loss", LOSSES, ids=IDS)
    def test_relative_means_that_a_common_shift_changes_nothing(self, loss):
        target, score = rows(loss)
        same = np.allclose(loss.value(target, score), loss.value(target, score + 1.7))
        assert loss.relative == same

    @pytest.mark.parametrize("loss", LOSSES, ids=IDS)
    def test_along_its_side_the_loss_falls_for_ever(self, loss):
        target = np.array([0.0, 1.0])
        far = 1e3 * loss.side(target)
        assert loss.separable == bool(far.any(axis=1).all())
        if loss.separable:
            assert loss.value(target, far).max() < 1e-12

    def test_a_share_has_no_side(self):
        assert Logistic().side(np.array([0.3]))[0, 0] == 0.0

    @pytest.mark.parametrize("loss", LOSSES, ids=IDS)
    def test_mean_is_the_expected_response(self, loss):
        """At the best constant, the mean response is the prediction."""
        target, _ = rows(loss)
        null = loss.null_score(target, np.ones(len(target)))
        np.testing.assert_allclose(loss.mean(null[None])[0], loss.responses(target).mean(axis=0))

    def test_summary_is_what_its_measure_says(self):
        target, score = rows(SquaredError())
        rmse = np.sqrt(np.mean((target - score[:, 0]) ** 2))
        loss = SquaredError()
        assert loss.summary(loss.value(target, score).mean()) == pytest.approx(rmse)
        assert [loss.measure for loss in LOSSES] == ["RMSE", "log-loss", "log-loss"]
        assert Logistic().summary(0.4) == Multinomial(3).summary(0.4) == 0.4

    def test_softened_labels_are_those_of_one_more_row_of_either(self):
        target = np.array([0.0, 1.0, 1.0, 0.5])
        np.testing.assert_allclose(Logistic().soften(target, 4.0), [1 / 6, 5 / 6, 5 / 6, 0.5])
        assert SquaredError().soften(target, 4.0) is target

    def test_targets_out_of_range_are_named(self):
        target = np.array([0.0, 0.5, 1.0, 2.0, 3.0, -1.0, np.nan])
        accepted = [loss.accepts(target).tolist() for loss in LOSSES]
        assert accepted[0] == [True] * 6 + [False]
        assert accepted[1] == [True] * 3 + [False] * 4
        assert accepted[2] == [True, False, True, True, False, False, False]
        assert "0 to 2" in Multinomial(3).accepted

    def test_one_class_against_the_rest_is_logistic(self):
        assert Multinomial(3).against_rest(1) == Logistic()
        assert Logistic().against_rest(0) == Logistic()

    @pytest.mark.parametrize("loss", LOSSES, ids=IDS)
    def test_trees_are_grown_with_a_loss_that_scikit_learn_knows(self, loss):
        assert loss.tree_loss == ("squared_error" if loss.quadratic else "log_loss")


def test_a_loss_must_be_written_whole():
    class Half(Loss):
        def value(self, target, score):
            return 0.0 * target

    with pytest.raises(TypeError, match="abstract"):
        Half()
