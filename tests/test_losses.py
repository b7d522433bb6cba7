import numpy as np
import pytest
from scipy import optimize
from sklearn.metrics import log_loss

from lifenet.losses import Logistic, Multinomial, SquaredError

LOSSES = [SquaredError(), Logistic(), Multinomial(3)]
IDS = ["squared", "logistic", "multinomial"]


def rows(loss, n=40, seed=0):
    generator = np.random.default_rng(seed)
    if isinstance(loss, Multinomial):
        return generator.integers(0, 3, n).astype(float), generator.normal(size=(n, 3)) * 3
    target = (
        generator.normal(size=n) if isinstance(loss, SquaredError) else generator.uniform(size=n)
    )
    return target, generator.normal(size=n) * 3


def shifted(score, output, step):
    moved = score.copy()
    moved[..., output] += step
    return moved


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_gradient_is_the_slope_of_the_value(loss):
    target, score = rows(loss)
    gradient = loss.gradient(target, score).reshape(len(target), -1)
    score = score.reshape(len(target), -1)
    squeeze = (lambda s: s) if loss.n_outputs > 1 else (lambda s: s[:, 0])
    for output in range(loss.n_outputs):
        up = loss.value(target, squeeze(shifted(score, output, 1e-5)))
        down = loss.value(target, squeeze(shifted(score, output, -1e-5)))
        np.testing.assert_allclose(gradient[:, output], (up - down) / 2e-5, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_curvature_is_the_slope_of_the_gradient(loss):
    target, score = rows(loss)
    n, c = len(target), loss.n_outputs
    flat = (lambda s: s) if c > 1 else (lambda s: s[:, 0])
    score = score.reshape(n, c)
    diagonal = loss.curvature(target, flat(score)).reshape(n, c)
    assert diagonal.min() >= 0
    for output in range(c):
        up = loss.gradient(target, flat(shifted(score, output, 1e-5))).reshape(n, c)
        down = loss.gradient(target, flat(shifted(score, output, -1e-5))).reshape(n, c)
        column = (up - down) / 2e-5
        unit = np.zeros((n, c))
        unit[:, output] = 1.0
        product = loss.curvature_product(target, flat(score), flat(unit)).reshape(n, c)
        np.testing.assert_allclose(product, column, atol=1e-8)
        np.testing.assert_allclose(diagonal[:, output], column[:, output], atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_curvature_is_never_negative_along_any_change(loss):
    target, score = rows(loss, n=200)
    change = np.random.default_rng(3).normal(size=score.shape)
    product = loss.curvature_product(target, score, change)
    assert np.sum((product * change).reshape(200, -1), axis=1).min() >= -1e-12


def test_values_against_scikit_learn():
    target, score = rows(Logistic())
    target = (target > 0.5).astype(float)
    expected = log_loss(target, Logistic().mean(score))
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
        return weight @ loss.value(target, score if loss.n_outputs > 1 else score[:, 0])

    best = optimize.minimize(objective, np.zeros(loss.n_outputs), tol=1e-10)
    assert objective(loss.null_score(target, weight)) == pytest.approx(best.fun, rel=1e-8)


@pytest.mark.parametrize("extreme", [1e3, -1e3])
@pytest.mark.parametrize("label", [0.0, 1.0])
def test_logistic_is_exact_at_extreme_scores(extreme, label):
    target, score, loss = np.array([label]), np.array([extreme]), Logistic()
    wrong = (extreme > 0) != (label == 1)
    assert loss.value(target, score)[0] == (1e3 if wrong else 0.0)
    assert loss.gradient(target, score)[0] == pytest.approx(np.sign(extreme) if wrong else 0.0)
    assert loss.curvature(target, score)[0] == pytest.approx(0.0, abs=1e-300)
    assert loss.mean(score)[0] == pytest.approx(float(extreme > 0))


def test_logistic_keeps_small_losses_and_gradients():
    """log(1 + e^f) - f would cancel to zero at f = 40; the loss there is e^-40."""
    target, score = np.array([1.0]), np.array([40.0])
    assert Logistic().value(target, score)[0] == pytest.approx(np.exp(-40.0), rel=1e-12)
    assert Logistic().gradient(target, score)[0] == pytest.approx(-np.exp(-40.0), rel=1e-12)


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
