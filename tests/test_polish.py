import joblib
import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.base import clone
from sklearn.datasets import make_classification

import lifenet.solvers.polish as module
from lifenet import LIFEClassifier, LIFERegressor, NeuronProjection, Polish, ReluNetwork
from lifenet.blocks import ArrayRows
from lifenet.datasets import simulate
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.solvers.base import Problem, Status
from lifenet.solvers.polish import Wide, value_and_gradient

FEW = NeuronProjection(levels=(5,), max_networks=6)


def random_network(rng, n_neurons=5, n_features=3, n_outputs=1):
    return ReluNetwork(
        rng.normal(size=(n_neurons, n_features)),
        rng.normal(size=n_neurons),
        rng.normal(size=(n_neurons, n_outputs)),
        rng.normal(size=n_outputs),
    )


def random_problem(rng, loss, n=60, weight=None):
    X = rng.normal(size=(n, 3))
    if isinstance(loss, SquaredError):
        y = rng.normal(size=n)
    else:
        y = rng.integers(max(loss.n_outputs, 2), size=n).astype(float)
    return Problem(ArrayRows.of(X, y, weight), loss)


LOSSES = [SquaredError(), Logistic(), Multinomial(3)]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient_is_that_of_differences(loss, weighted):
    rng = np.random.default_rng(0)
    problem = random_problem(rng, loss, weight=rng.integers(1, 4, 60) / 2 if weighted else None)
    wide = Wide.of(random_network(rng, n_outputs=loss.n_outputs))

    def value(flat):
        return value_and_gradient(problem, wide.like(flat), 0.1)[0]

    _, gradient = value_and_gradient(problem, wide, 0.1)
    np.testing.assert_allclose(gradient, approx_fprime(wide.flat, value, 1e-7), atol=2e-6)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_value_is_the_mean_loss_and_the_penalty(loss):
    rng = np.random.default_rng(1)
    problem = random_problem(rng, loss, weight=rng.uniform(0.5, 2.0, 60))
    network = random_network(rng, n_outputs=loss.n_outputs)
    wide = Wide.of(network)
    score = network.score(problem.rows.X)
    losses = loss.value(problem.rows.target, score[:, 0] if loss.n_outputs == 1 else score)
    penalty = sum(np.square(wide.theta[:, :-1]).sum(1) + np.square(wide.beta).sum(1))
    expected = np.average(losses, weights=problem.rows.weight) + 0.05 * penalty
    assert value_and_gradient(problem, wide, 0.1)[0] == pytest.approx(expected, rel=1e-12)


def test_single_precision_is_close(monkeypatch):
    rng = np.random.default_rng(2)
    problem = random_problem(rng, Logistic(), n=300)
    wide = Wide.of(random_network(rng, n_neurons=20))
    value, gradient = value_and_gradient(problem, wide, 1e-3)
    monkeypatch.setattr(module, "_SINGLE_ROWS", 10)
    monkeypatch.setattr(module, "_BLOCK_CELLS", 2000)  # several blocks
    single, slopes = value_and_gradient(problem, wide, 1e-3)
    assert single == pytest.approx(value, rel=1e-5)
    np.testing.assert_allclose(slopes, gradient, atol=1e-5)
    assert not np.array_equal(slopes, gradient)


def test_balancing_changes_no_score():
    rng = np.random.default_rng(3)
    network = random_network(rng, n_neurons=6, n_outputs=2)
    weights, beta = network.weights.copy(), network.beta.copy()
    weights[0], beta[1] = 0.0, 0.0  # a constant, and a neuron without effect
    network = ReluNetwork(weights, np.abs(network.bias), beta, network.intercept)
    wide = Wide.of(network)
    X = rng.normal(size=(40, 3))
    np.testing.assert_allclose(wide.network().score(X), network.score(X), atol=1e-12)
    assert len(wide.theta) == 4
    lengths = np.linalg.norm(wide.theta[:, :-1], axis=1)
    np.testing.assert_allclose(lengths, np.linalg.norm(wide.beta, axis=1))


def test_a_disturbed_network_is_found_again():
    rng = np.random.default_rng(4)
    truth = random_network(rng, n_neurons=4)
    X = rng.normal(size=(400, 3))
    problem = Problem(ArrayRows.of(X, truth.score(X)[:, 0]), SquaredError())
    disturbed = ReluNetwork(
        truth.weights + 0.05 * rng.normal(size=truth.weights.shape),
        truth.bias + 0.05 * rng.normal(size=4),
        truth.beta,
        truth.intercept,
    )
    found = Polish(max_iter=500, decay=0.0).refine(problem, disturbed)
    assert found.objectives[0] > 1e-4
    assert found.objectives[found.n_iterations] < 1e-8
    np.testing.assert_allclose(found.network.score(X), truth.score(X), atol=2e-3)


def test_the_objective_never_rises_and_the_best_judged_is_kept():
    rng = np.random.default_rng(5)
    problem, judge = (random_problem(rng, Logistic(), n=n) for n in (80, 200))
    start = random_network(rng, n_neurons=15)
    found = Polish(max_iter=200, decay=1e-6, patience=7).refine(problem, start, judge)
    assert np.all(np.diff(found.objectives) <= 1e-12)
    assert found.judged[found.n_iterations] == min(found.judged) <= found.judged[0]
    assert len(found.judged) - 1 - found.n_iterations == 7
    assert found.status is Status.JUDGED
    score = found.network.score(judge.rows.X)[:, 0]
    mean = float(np.mean(Logistic().value(judge.rows.target, score)))
    assert mean == pytest.approx(min(found.judged), rel=1e-10)


def test_weights_equal_repetition():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    times = rng.integers(0, 4, 200)
    start = random_network(rng, n_neurons=8)
    polish = Polish(max_iter=40, decay=1e-4)
    weighted = polish.refine(
        Problem(ArrayRows.of(X, y, times.astype(float)), SquaredError()), start
    )
    rows = np.repeat(np.arange(200), times)
    repeated = polish.refine(Problem(ArrayRows.of(X[rows], y[rows]), SquaredError()), start)
    np.testing.assert_allclose(
        weighted.network.score(X), repeated.network.score(X), rtol=1e-6, atol=1e-8
    )


def test_it_stops_in_time():
    rng = np.random.default_rng(7)
    problem = random_problem(rng, SquaredError())
    found = Polish(max_iter=1000, decay=0.0).refine(problem, random_network(rng), deadline=0.0)
    assert found.status is Status.TIME_LIMIT
    assert len(found.objectives) == 2


def test_a_network_without_neurons_stays():
    rng = np.random.default_rng(8)
    empty = random_network(rng, n_neurons=0)
    assert Polish().refine(random_problem(rng, SquaredError()), empty).network is empty


class TestLife:
    def data(self, seed=0, n=1500):
        sample = simulate.aim(n, noise=0.1, random_state=seed)
        return sample.X, sample.y

    def test_it_lowers_the_error_on_new_rows(self):
        X, y = self.data()
        X_new, y_new = self.data(1)
        plain = LIFERegressor(FEW, random_state=0).fit(X, y)
        polished = LIFERegressor(FEW, polish="lbfgs", random_state=0).fit(X, y)
        assert plain.polished_ is None
        assert polished.polished_.n_iterations > 0
        assert polished.polished_.status in (Status.JUDGED, Status.MAX_ITER)
        assert len(polished.polished_.judged) >= polished.polished_.n_iterations
        assert 1 - polished.score(X_new, y_new) < 0.8 * (1 - plain.score(X_new, y_new))
        # What the members are does not depend on the polish.
        for one, other in zip(plain.members_, polished.members_, strict=True):
            np.testing.assert_array_equal(one.network.weights, other.network.weights)

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_classes(self, n_classes):
        X, y = make_classification(
            1200, 6, n_informative=5, n_redundant=0, n_classes=n_classes, random_state=0
        )
        model = LIFEClassifier(FEW, polish=Polish(max_iter=30), random_state=0).fit(X, y)
        judged = model.polished_.judged
        assert min(judged) <= judged[0]
        share = model.predict_proba(X)
        np.testing.assert_allclose(share.sum(1), 1.0)
        assert model.score(X, y) > 0.75

    def test_it_is_the_same_for_any_number_of_workers(self):
        X, y = self.data(n=600)
        model = LIFERegressor(FEW, polish=Polish(max_iter=20), random_state=0)
        with joblib.parallel_config(backend="threading"):
            one, two = (clone(model).set_params(n_jobs=jobs).fit(X, y) for jobs in (1, 2))
        np.testing.assert_array_equal(one.predict(X), two.predict(X))

    def test_weights_equal_repetition(self):
        X, y = self.data(n=1000)
        times = np.random.default_rng(0).integers(0, 3, 1000)
        rows = np.repeat(np.arange(1000), times)
        model = LIFERegressor(FEW, polish=Polish(max_iter=15), random_state=0)
        weighted = clone(model).fit(X, y, sample_weight=times.astype(float)).predict(X)
        repeated = clone(model).fit(X[rows], y[rows]).predict(X)
        np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-6)

    def test_where_rows_held_out_do_not_gain_nothing_changes(self, monkeypatch):
        X, y = self.data(n=600)
        plain = LIFERegressor(FEW, random_state=0).fit(X, y)
        polish = Polish(decay=100.0, patience=3)  # all weights shrink at once
        model = LIFERegressor(FEW, polish=polish, random_state=0).fit(X, y)
        assert model.polished_.n_iterations == 0
        assert model.polished_.status is Status.JUDGED
        np.testing.assert_array_equal(model.predict(X), plain.predict(X))

    def test_without_rows_held_out_there_is_none(self):
        X, y = self.data(n=300)
        model = LIFERegressor(FEW, polish="lbfgs", validation=None, random_state=0).fit(X, y)
        assert model.polished_ is None

    def test_its_settings_can_be_tuned(self):
        model = LIFERegressor(polish=Polish()).set_params(polish__decay=0.5)
        assert clone(model).get_params()["polish__decay"] == 0.5

    @pytest.mark.parametrize(
        ("polish", "message"),
        [
            ("adam", "'polish' parameter"),
            (Polish, r"write Polish\(\)"),
            (Polish(decay=-1.0), "'decay' parameter"),
            (Polish(max_iter=0), "'max_iter' parameter"),
        ],
    )
    def test_bad_settings_are_named(self, polish, message):
        X, y = self.data(n=300)
        with pytest.raises((TypeError, ValueError), match=message):
            LIFERegressor(FEW, polish=polish).fit(X, y)

    def test_the_readout_of_polished_neurons_is_refitted(self):
        X, y = self.data()
        model = LIFERegressor(FEW, polish="lbfgs", random_state=0).fit(X, y)
        before = model.network_
        model.refit_readout(X, 2 * y)
        directions = {tuple(np.round(w / np.linalg.norm(w), 9)) for w in before.weights}
        assert all(
            tuple(np.round(w / np.linalg.norm(w), 9)) in directions for w in model.network_.weights
        )
        assert np.corrcoef(model.predict(X), 2 * y)[0, 1] > 0.95
        with pytest.raises(ValueError, match=r"polish=None"):
            model.set_params(readout="average").refit_readout(X, y)
