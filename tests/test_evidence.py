import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from lifenet import LLAClassifier, LLARegressor
from lifenet.losses import Logistic, SquaredError
from lifenet.solvers import lla as module
from lifenet.solvers.base import solve, start_seeds
from lifenet.solvers.evidence import effective_unknowns, next_ridge
from lifenet.solvers.hinges import Hinges
from lifenet.solvers.lla import LLA, LLAState, linearise
from oracles import plain_problem, planted_network, random_hinges


def gram(seed, n, m, rank=None):
    Z = np.random.default_rng(seed).normal(size=(n, m))
    if rank is not None:
        Z[:, rank:] = Z[:, :rank] @ np.ones((rank, m - rank))
    return Z.T @ Z / n


def seeds(seed=0):
    return start_seeds(np.random.SeedSequence(seed, spawn_key=(0,)), 1)


@given(
    seed=st.integers(0, 99),
    m=st.integers(1, 30),
    ridge=st.floats(1e-6, 1e3),
)
@settings(max_examples=40, deadline=None)
def test_effective_unknowns_are_those_of_the_eigenvalues(seed, m, ridge):
    matrix = gram(seed, 50, m)
    values = np.linalg.eigvalsh(matrix)
    expected = np.sum(values / (values + ridge))
    assert effective_unknowns(matrix, ridge) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("ridge", [1e-10, 1e-300, 0.0])
def test_directions_that_are_only_rounding_do_not_count(ridge):
    assert effective_unknowns(gram(0, 50, 12, rank=5), ridge) == pytest.approx(5, abs=0.2)


def test_effective_unknowns_fall_with_the_ridge():
    matrix = gram(1, 40, 10)
    found = [effective_unknowns(matrix, 10.0**k) for k in range(-8, 4)]
    assert np.all(np.diff(found) < 0)
    assert found[0] == pytest.approx(10, abs=1e-3)
    assert found[-1] < 0.1


def log_evidence(ridge, Z, y, variance):
    """Of a linear model with a normal prior, from the definition: y is normal."""
    n = len(y)
    covariance = variance * np.eye(n) + Z @ Z.T * variance / (n * ridge)
    sign, log_determinant = np.linalg.slogdet(covariance)
    assert sign > 0
    return -0.5 * (log_determinant + y @ np.linalg.solve(covariance, y))


@pytest.mark.parametrize("seed", range(4))
def test_the_fixed_point_has_the_largest_evidence(seed):
    """Of a linear model, whose evidence is known in closed form."""
    rng = np.random.default_rng(seed)
    n, m, variance = 60, 8, 0.5
    Z = rng.normal(size=(n, m))
    y = Z @ rng.normal(0, 0.6, m) + rng.normal(0, variance**0.5, n)
    ridge = 1e-4
    for _ in range(300):
        theta = np.linalg.solve(Z.T @ Z / n + ridge * np.eye(m), Z.T @ y / n)
        gamma = effective_unknowns(Z.T @ Z / n, ridge)
        ridge = next_ridge(ridge, gamma, float(theta @ theta), variance, n)
    best = minimize_scalar(
        lambda log: -log_evidence(np.exp(log), Z, y, variance), bounds=(-12, 5), method="bounded"
    )
    assert np.log(ridge) == pytest.approx(best.x, abs=1e-3)


def test_one_step_changes_the_ridge_by_ten_at_most():
    assert next_ridge(1e-3, 5.0, 1e-9, 1.0, 100) == pytest.approx(1e-2)
    assert next_ridge(1e-3, 5.0, 1e9, 1.0, 100) == pytest.approx(1e-4)
    assert next_ridge(1e-3, 5.0, 0.0, 1.0, 100) == pytest.approx(1e-2)
    assert next_ridge(1e-10, 5.0, 1e9, 0.0, 100) == 1e-10


class TestSolver:
    def state(self, ridge=1e-3, loss=None, n=200, m=4):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(n, 3))
        y = X[:, 0] + rng.normal(size=n)
        if isinstance(loss, Logistic):
            y = (y > 0).astype(float)
        problem = plain_problem(X, y, loss=loss)
        hinges = random_hinges(rng, m, 3)
        local = linearise(problem, hinges, ridge)
        return problem, LLAState(hinges, local, 0.0, ridge, 1e-2)

    @pytest.mark.parametrize("loss", [SquaredError(), Logistic()], ids=["squared", "logistic"])
    def test_a_new_ridge_keeps_value_and_gradient_true(self, loss):
        problem, state = self.state(loss=loss)
        found = LLA(4, ridge="auto")._weigh_anew(problem, state, state)
        assert found.ridge != state.ridge
        expected = linearise(problem, state.hinges, found.ridge)
        assert found.objective == pytest.approx(expected.objective, rel=1e-12)
        np.testing.assert_allclose(found.local.gradient, expected.gradient, rtol=1e-10, atol=1e-12)

    def test_a_given_ridge_stays(self):
        problem, state = self.state()
        assert LLA(4, ridge=1e-3)._weigh_anew(problem, state, state) is state

    def test_long_steps_teach_nothing(self):
        problem, state = self.state()
        far = LLAState(
            Hinges(2 * state.hinges.theta, state.hinges.sign, 50.0),
            linearise(problem, Hinges(state.hinges.theta, state.hinges.sign, 50.0), 1e-3),
            0.0,
            1e-3,
            1e-2,
        )
        assert LLA(4, ridge="auto")._weigh_anew(problem, far, state) is state

    def test_many_unknowns_are_estimated_by_products(self, monkeypatch):
        problem, state = self.state(n=2_000, m=60, ridge=1e-2)
        direct = effective_unknowns(state.local.gram, state.ridge)
        monkeypatch.setattr(module, "_CG_TOLERANCE", 1e-8)
        monkeypatch.setattr(module, "_CG_MAX_ITER", 2_000)
        found = module._sampled_unknowns(problem, state)
        assert found == pytest.approx(direct, rel=0.1)

    def test_without_noise_the_ridge_vanishes(self):
        X, y = planted_network(0, 500, 3, 2)
        outcome = solve(LLA(2, ridge="auto", max_iter=200), plain_problem(X, y), seeds())
        assert outcome.loss < 1e-6 * np.var(y)
        assert outcome.history[-1].ridge < 1e-6 < outcome.history[0].ridge

    def test_noise_alone_is_shrunk_away(self):
        rng = np.random.default_rng(5)
        X, y = rng.normal(size=(200, 5)), rng.normal(size=200)
        free, held = (
            LLARegressor(20, ridge=one, random_state=0).fit(X, y) for one in (1e-6, "auto")
        )
        new = rng.normal(size=(2_000, 5))
        assert np.std(held.predict(new)) < 0.3
        assert held.outcomes_[0].history[-1].ridge > 1e-2
        assert {row.ridge for row in free.outcomes_[0].history} == {1e-6}
        assert np.std(free.predict(new)) > 0.7


@pytest.mark.parametrize("kind", [LLARegressor, LLAClassifier])
class TestEstimators:
    def rows(self, kind, n, seed=0):
        rng = np.random.default_rng([seed, n])
        X = rng.normal(size=(n, 6))
        y = np.abs(X[:, 0]) - X[:, 1] * (X[:, 2] > 0) + 0.7 * rng.normal(size=n)
        return X, (y > 0.4) if kind is LLAClassifier else y

    def test_more_neurons_do_not_hurt(self, kind):
        """With few rows and much noise; a small fixed ridge lets them."""
        X, y = self.rows(kind, 300)
        new = self.rows(kind, 3_000, 1)
        scores = {
            (ridge, width): kind(width, ridge=ridge, random_state=0).fit(X, y).score(*new)
            for ridge in ("auto", 1e-5)
            for width in (5, 40)
        }
        assert scores["auto", 40] > scores["auto", 5] - 0.03
        assert scores["auto", 40] > scores[1e-5, 40] + 0.02

    def test_weights_equal_repetition(self, kind):
        X, y = self.rows(kind, 120)
        weight = np.arange(120) % 3
        settings = {"ridge": "auto", "max_iter": 15, "random_state": 0}
        weighted = kind(4, **settings).fit(X, y, sample_weight=weight)
        repeated = kind(4, **settings).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-5, atol=1e-6)

    def test_it_is_the_default(self, kind):
        assert kind().ridge == "auto"

    def test_other_words_are_refused(self, kind):
        X, y = self.rows(kind, 50)
        with pytest.raises(ValueError, match=r"'ridge' parameter of LLA.* 'evidence'"):
            kind(ridge="evidence").fit(X, y)
