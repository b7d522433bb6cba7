import tracemalloc

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from lifenet import ReluNetwork
from lifenet.data import budgets
from lifenet.kernels import lstsq
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.neurons.features import Activations
from lifenet.output import newton as module
from lifenet.output.newton import Curvature, fit_coefficients
from lifenet.recipe.single import pool_neurons
from oracles import plain_problem

N, RIDGE = 400, 0.03


def network_of(n_outputs, n_neurons=6, n_features=3, seed=0):
    generator = np.random.default_rng(seed)
    return ReluNetwork(
        weights=generator.normal(size=(n_neurons, n_features)) * 5,
        bias=generator.normal(size=n_neurons),
        beta=np.zeros((n_neurons, n_outputs)),
        intercept=np.zeros(n_outputs),
    )


def make(loss, seed=1):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(N, 3))
    signal = np.column_stack([np.abs(X[:, 0]), X[:, 1], np.zeros(N)]) * 2
    noisy = signal + generator.gumbel(size=(N, 3))
    if loss.n_outputs > 1:
        return X, noisy.argmax(axis=1).astype(float)
    return X, noisy[:, 0] if isinstance(loss, SquaredError) else (noisy[:, 0] > 2).astype(float)


@pytest.fixture(params=[False, True], ids=["direct", "by products"])
def wide(request, monkeypatch):
    if request.param:
        monkeypatch.setattr(module, "_DIRECT_LIMIT", 0)


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize(
    "loss", [SquaredError(), Logistic(), Multinomial(3)], ids=lambda s: type(s).__name__
)
def test_output_layer_agrees_with_scikit_learn(loss):
    X, y = make(loss)
    network = network_of(loss.n_outputs)
    weight = np.random.default_rng(2).uniform(0.5, 2, N)
    fitted = pool_neurons(plain_problem(X, y, weight, loss), [network], RIDGE)
    hidden = np.maximum(X @ network.weights.T + network.bias, 0)
    mean = np.average(hidden, weights=weight, axis=0)
    features = hidden / np.sqrt(np.average((hidden - mean) ** 2, weights=weight, axis=0))
    if isinstance(loss, SquaredError):
        peer = Ridge(alpha=RIDGE * weight.sum()).fit(features, y, sample_weight=weight)
        expected = peer.predict(features)[:, None]
    else:
        peer = LogisticRegression(C=1 / (RIDGE * weight.sum()), tol=1e-10, max_iter=5000)
        expected = peer.fit(features, y, sample_weight=weight).decision_function(features)
        expected = expected.reshape(N, -1)
    score = fitted.score(X)
    if loss.n_outputs > 1:  # multinomial scores are known up to a constant a row
        score = score - score.mean(axis=1, keepdims=True)
        expected = expected - expected.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(score, expected, atol=2e-5)


def test_separable_classes_stay_finite_under_the_penalty():
    X = np.concatenate([np.full(20, -1.0), np.full(20, 1.0)])[:, None]
    y = (X[:, 0] > 0).astype(float)
    fitted = pool_neurons(plain_problem(X, y, None, Logistic()), [network_of(1, 4, 1)], 1e-6)
    assert np.isfinite(fitted.beta).all()
    assert np.all((fitted.score(X)[:, 0] > 0) == (y == 1))


@pytest.mark.parametrize("loss", [Logistic(), Multinomial(3)], ids=str)
@pytest.mark.parametrize("ridge", [1e-12, 1e-9])
def test_a_tiny_penalty_asks_for_no_eigenvectors(loss, ridge, monkeypatch):
    """They took minutes where neurons repeat each other and classes are several."""
    monkeypatch.setattr(lstsq, "_eigen_solve", lambda *_: pytest.fail("eigenvectors"))
    X, y = make(loss)
    network = network_of(loss.n_outputs)
    twice = ReluNetwork.concatenate([network, network], (0.5, 0.5))
    found = [
        fit_coefficients(
            plain_problem(X, y, loss=loss), Activations(one.weights, one.bias), np.ones(m), ridge
        )
        for one, m in ((network, 6), (twice, 12))
    ]
    assert np.isfinite(found[1]).all()
    together = found[1][:6] + found[1][6:12]
    np.testing.assert_allclose(together, found[0][:6], rtol=1e-3, atol=1e-3)


def test_a_neuron_that_never_acts_gets_a_finite_coefficient():
    network = ReluNetwork(
        weights=np.array([[1.0], [1.0]]),
        bias=np.array([0.0, -99.0]),
        beta=np.zeros(2),
        intercept=0.0,
    )
    X = np.linspace(-1, 1, 50)[:, None]
    fitted = pool_neurons(plain_problem(X, np.maximum(X[:, 0], 0)), [network], 1e-8)
    np.testing.assert_allclose(fitted.beta[:, 0], [1.0, 0.0], atol=1e-4)


def test_pooling_stacks_all_neurons_in_order():
    X, y = make(Multinomial(3))
    members = [network_of(1, n, seed=n) for n in (2, 3)]
    pooled = pool_neurons(plain_problem(X, y, None, Multinomial(3)), members, RIDGE)
    np.testing.assert_array_equal(pooled.weights, np.vstack([m.weights for m in members]))
    assert pooled.n_outputs == 3
    np.testing.assert_allclose(pooled.intercept.sum(), 0, atol=1e-12)


def test_many_classes_need_no_array_of_classes_squared():
    """60 classes and 40 neurons: 2,460 unknowns, solved by products, in little memory."""
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(2000, 3)), np.arange(2000) % 60
    problem = plain_problem(X, y.astype(float), None, Multinomial(60))
    network = network_of(60, n_neurons=40)
    tracemalloc.start()
    try:
        fitted = pool_neurons(problem, [network], 1e-3)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20e6  # a block's full curvature alone would take 29 MB
    assert np.isfinite(fitted.beta).all()


@pytest.mark.parametrize("loss", [Logistic(), Multinomial(3)], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("held_bytes", [0, 1 << 28], ids=["anew", "held"])
def test_fits_along_a_path_are_those_made_alone_with_fewer_hessians(loss, held_bytes, monkeypatch):
    """A Hessian kept from one penalty to the next must not change where the fits end."""
    monkeypatch.setattr(budgets, "HELD_ACTIVATIONS", held_bytes)
    taken = []
    hessian = module._hessian
    monkeypatch.setattr(module, "_hessian", lambda *args: taken.append(1) or hessian(*args))
    X, y = make(loss)
    theta = np.random.default_rng(3).normal(size=(320 // loss.n_outputs, 4))
    problem, features = plain_problem(X, y, None, loss), Activations(theta[:, :3], theta[:, 3])
    scale, ridges = np.linalg.norm(theta[:, :3], axis=1), [1e-2, 3e-3, 1e-3]
    alone = [fit_coefficients(problem, features, scale, ridge) for ridge in ridges]
    n_alone = len(taken)
    near, fit = Curvature(), None
    for ridge, expected in zip(ridges, alone, strict=True):
        fit = fit_coefficients(problem, features, scale, ridge, fit, near=near)
        np.testing.assert_allclose(fit, expected, rtol=1e-6, atol=1e-8)
    assert len(taken) - n_alone <= n_alone / 2
