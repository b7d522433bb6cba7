import joblib
import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.base import clone
from sklearn.datasets import make_classification

import lifenet.finetune.lbfgs as module
from lifenet import LBFGS, LIFEClassifier, LIFERegressor, NeuronProjection, ReluNetwork
from lifenet._clock import Deadline
from lifenet.data import budgets
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.datasets import simulate
from lifenet.finetune.base import FineTuned
from lifenet.finetune.lbfgs import Wide, value_and_gradient
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.solvers.base import Status
from oracles import store

FEW = NeuronProjection(levels=(5,), max_networks=6)


def same(one, other):
    """Whether two networks are the same to the last digit."""
    names = ("weights", "bias", "beta", "intercept")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def random_network(rng, n_neurons=5, n_features=3, n_outputs=1):
    return ReluNetwork(
        rng.normal(size=(n_neurons, n_features)),
        rng.normal(size=n_neurons),
        rng.normal(size=(n_neurons, n_outputs)),
        rng.normal(size=n_outputs),
    )


def wide_of(network):
    """Parameters that fine-tuning moves."""
    return Wide.of(network)[0]


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
    wide = wide_of(random_network(rng, n_outputs=loss.n_outputs))

    def value(flat):
        return value_and_gradient(problem, wide.like(flat), 0.1)[0]

    _, gradient = value_and_gradient(problem, wide, 0.1)
    np.testing.assert_allclose(gradient, approx_fprime(wide.flat, value, 1e-7), atol=2e-6)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_value_is_the_mean_loss_and_the_penalty(loss):
    rng = np.random.default_rng(1)
    problem = random_problem(rng, loss, weight=rng.uniform(0.5, 2.0, 60))
    network = random_network(rng, n_outputs=loss.n_outputs)
    wide = wide_of(network)
    score = network.score(problem.rows.X)
    losses = loss.value(problem.rows.target, score)
    penalty = sum(np.square(wide.theta[:, :-1]).sum(1) + np.square(wide.beta).sum(1))
    expected = np.average(losses, weights=problem.rows.weight) + 0.05 * penalty
    assert value_and_gradient(problem, wide, 0.1)[0] == pytest.approx(expected, rel=1e-12)


def test_single_precision_is_close(monkeypatch):
    rng = np.random.default_rng(2)
    problem = random_problem(rng, Logistic(), n=300)
    wide = wide_of(random_network(rng, n_neurons=20))
    value, gradient = value_and_gradient(problem, wide, 1e-3)
    monkeypatch.setattr(module, "_SINGLE_ROWS", 10)
    monkeypatch.setattr(budgets, "GRADIENT_BLOCK", 2000)  # several blocks
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
    wide = wide_of(network)
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
    found = LBFGS(max_iter=500, decay=0.0).refine(problem, disturbed)
    assert found.objectives[0] > 1e-4
    assert found.objectives[found.n_iterations] < 1e-8
    np.testing.assert_allclose(found.network.score(X), truth.score(X), atol=2e-3)


def test_the_objective_never_rises_and_the_best_on_validation_rows_is_kept():
    rng = np.random.default_rng(5)
    problem, validation = (random_problem(rng, Logistic(), n=n) for n in (80, 200))
    start = random_network(rng, n_neurons=15)
    found = LBFGS(max_iter=200, decay=1e-6, patience=7).refine(
        problem, start, validation=validation
    )
    assert np.all(np.diff(found.objectives) <= 1e-12)
    losses = found.validation_losses
    assert losses[found.n_iterations] == min(losses) == found.validation_loss <= losses[0]
    assert len(losses) - 1 - found.n_iterations == 7
    assert found.status is Status.VALIDATED
    score = found.network.score(validation.rows.X)
    mean = float(np.mean(Logistic().value(validation.rows.target, score)))
    assert mean == pytest.approx(min(losses), rel=1e-10)


def test_a_number_of_iterations_is_where_a_longer_run_is_then():
    rng = np.random.default_rng(9)
    problem, start = random_problem(rng, Logistic()), random_network(rng, n_neurons=8)
    long = LBFGS(max_iter=30).refine(problem, start)
    short = LBFGS(max_iter=100).refine(problem, start, n_iterations=11)
    again = LBFGS(max_iter=11).refine(problem, start)
    assert long.n_iterations == 30
    assert short.n_iterations == 11
    assert short.status is Status.MAX_ITER
    assert short.objectives == long.objectives[:12]
    assert same(short.network, again.network)
    assert not same(short.network, long.network)
    assert short.validation_losses == ()
    assert np.isnan(short.validation_loss)


class TestTrainable:
    """Weights that are not stored stay zero: leaf neurons keep their columns."""

    def start(self, seed=10, n_outputs=1):
        rng = np.random.default_rng(seed)
        network = random_network(rng, n_neurons=7, n_outputs=n_outputs)
        weights, beta = network.weights.copy(), network.beta.copy()
        weights[2] = 0.0  # a constant
        beta[4] = 0.0  # a neuron without effect
        weights[5, 1] = 0.0  # a weight that is not there, and may not come to be
        trainable = rng.random(weights.shape) < 0.5
        trainable[0], trainable[1], trainable[5, 1] = False, True, False
        trainable[[0, 3, 5, 6], 0] = True  # no other neuron without weights
        weights[1, 2] = 0.0  # a weight that is not there, but may come to be
        weights = store(weights, trainable)
        return ReluNetwork(weights, network.bias, beta, network.intercept), trainable

    @pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
    def test_gradient_is_that_of_differences_where_weights_may_move(self, loss):
        network, trainable = self.start(n_outputs=loss.n_outputs)
        problem = random_problem(np.random.default_rng(11), loss)
        wide, alive = Wide.of(network.dense())
        np.testing.assert_array_equal(np.flatnonzero(~alive), [2, 4])
        movable = trainable[alive]

        def value(flat):
            return value_and_gradient(problem, wide.like(flat), 0.1, movable)[0]

        expected = wide.like(approx_fprime(wide.flat, value, 1e-7))
        expected.theta[:, :-1][~movable] = 0.0
        _, found = value_and_gradient(problem, wide, 0.1, movable)
        np.testing.assert_allclose(found, expected.flat, atol=2e-6)
        assert not wide.like(found).theta[:, :-1][~movable].any()

    @pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
    @pytest.mark.parametrize("validated", [False, True])
    def test_weights_outside_stay_zero_and_all_others_move(self, loss, validated):
        """In units of their own neuron, which balancing chooses before the first step."""
        network, trainable = self.start(n_outputs=loss.n_outputs)
        rng = np.random.default_rng(12)
        problem, validation = (random_problem(rng, loss, n=200) for _ in range(2))
        found = LBFGS(max_iter=25, decay=1e-3).refine(
            problem,
            network,
            validation=validation if validated else None,
        )
        assert found.n_iterations > 0
        before, alive = Wide.of(network.dense())
        movable, after = trainable[alive], found.network.dense().weights
        np.testing.assert_array_equal(after[~movable], before.theta[:, :-1][~movable])
        assert (after[movable] != before.theta[:, :-1][movable]).all()
        assert (found.network.bias != before.theta[:, -1]).all()
        assert (found.network.beta != before.beta).all()
        assert after[3, 1] == 0.0  # the sixth neuron is the fourth of those alive

    def test_it_ends_where_the_weights_that_may_move_are_best(self):
        """Neurons that are active on all rows: the objective is smooth, its gradient vanishes."""
        network, trainable = self.start()
        trainable[:, 2] = False  # a column that the target depends on
        weights = store(0.3 * network.dense().weights, trainable)
        network = ReluNetwork(weights, np.full(7, 3.0), network.beta, network.intercept)
        problem = random_problem(np.random.default_rng(13), SquaredError())
        target = problem.rows.target + problem.rows.X[:, 2]
        problem = Problem(problem.rows.with_target(target), problem.loss)
        found = LBFGS(max_iter=2000, decay=1e-2).refine(problem, network)
        after = found.network.dense()
        tuned = Wide(np.column_stack([after.weights, after.bias]), after.beta, after.intercept)
        assert (after.hidden(problem.rows.X) > 0).all()
        _, inside = value_and_gradient(problem, tuned, 1e-2, trainable[Wide.of(network.dense())[1]])
        _, everywhere = value_and_gradient(problem, tuned, 1e-2)
        assert np.abs(inside).max() < 0.01 * np.abs(everywhere).max()

    def test_all_that_are_stored_are_an_array_of_them(self):
        network, trainable = self.start()
        network = network.dense()
        everything = store(network.weights, np.ones_like(trainable))
        held = ReluNetwork(everything, network.bias, network.beta, network.intercept)
        assert held.is_sparse
        problem = random_problem(np.random.default_rng(14), SquaredError())
        one, two = (LBFGS(max_iter=10).refine(problem, start) for start in (network, held))
        assert same(one.network.dense(), two.network.dense())


def test_weights_equal_repetition():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    times = rng.integers(0, 4, 200)
    start = random_network(rng, n_neurons=8)
    settings = LBFGS(max_iter=40, decay=1e-4)
    weighted = settings.refine(
        Problem(ArrayRows.of(X, y, times.astype(float)), SquaredError()), start
    )
    rows = np.repeat(np.arange(200), times)
    repeated = settings.refine(Problem(ArrayRows.of(X[rows], y[rows]), SquaredError()), start)
    np.testing.assert_allclose(
        weighted.network.score(X), repeated.network.score(X), rtol=1e-6, atol=1e-8
    )


def test_it_stops_in_time():
    rng = np.random.default_rng(7)
    problem = random_problem(rng, SquaredError())
    found = LBFGS(max_iter=1000, decay=0.0).refine(
        problem, random_network(rng), deadline=Deadline.after(0.0)
    )
    assert found.status is Status.TIME_LIMIT
    assert len(found.objectives) == 2


def test_a_network_without_neurons_stays():
    rng = np.random.default_rng(8)
    empty = random_network(rng, n_neurons=0)
    found = LBFGS().refine(random_problem(rng, SquaredError()), empty)
    assert isinstance(found, FineTuned)
    assert found.network is empty


class TestLife:
    def data(self, seed=0, n=1500):
        sample = simulate.aim(n, noise=0.1, random_state=seed)
        return sample.X, sample.y

    def test_it_lowers_the_error_on_new_rows(self):
        X, y = self.data()
        X_new, y_new = self.data(1)
        plain = LIFERegressor(FEW, random_state=0).fit(X, y)
        tuned = LIFERegressor(FEW, finetune="lbfgs", random_state=0).fit(X, y)
        (before,), (fold,) = plain.folds_, tuned.folds_
        assert (before.status, before.iterations) == ("not fine-tuned", 0)
        assert before.validation_losses == ()
        assert fold.iterations > 0
        assert fold.status in ("validated", "max_iter")
        assert len(fold.validation_losses) >= fold.iterations
        assert len(fold.objectives) == fold.iterations + 1  # of all rows
        assert 1 - tuned.score(X_new, y_new) < 0.8 * (1 - plain.score(X_new, y_new))
        # What the members are does not depend on fine-tuning.
        for one, other in zip(plain.members_, tuned.members_, strict=True):
            np.testing.assert_array_equal(one.network.weights, other.network.weights)

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_classes(self, n_classes):
        X, y = make_classification(
            1200, 6, n_informative=5, n_redundant=0, n_classes=n_classes, random_state=0
        )
        model = LIFEClassifier(FEW, finetune=LBFGS(max_iter=30), random_state=0).fit(X, y)
        losses = model.folds_[0].validation_losses
        assert min(losses) <= losses[0]
        share = model.predict_proba(X)
        np.testing.assert_allclose(share.sum(1), 1.0)
        assert model.score(X, y) > 0.75

    def test_it_is_the_same_for_any_number_of_workers(self):
        X, y = self.data(n=600)
        model = LIFERegressor(FEW, finetune=LBFGS(max_iter=20), random_state=0)
        with joblib.parallel_config(backend="threading"):
            one, two = (clone(model).set_params(n_jobs=jobs).fit(X, y) for jobs in (1, 2))
        np.testing.assert_array_equal(one.predict(X), two.predict(X))

    def test_weights_equal_repetition(self):
        X, y = self.data(n=1000)
        times = np.random.default_rng(0).integers(0, 3, 1000)
        rows = np.repeat(np.arange(1000), times)
        model = LIFERegressor(FEW, finetune=LBFGS(max_iter=15), random_state=0)
        weighted = clone(model).fit(X, y, sample_weight=times.astype(float)).predict(X)
        repeated = clone(model).fit(X[rows], y[rows]).predict(X)
        np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-6)

    def test_where_validation_rows_do_not_gain_nothing_changes(self):
        X, y = self.data(n=600)
        plain = LIFERegressor(FEW, random_state=0).fit(X, y)
        finetune = LBFGS(decay=100.0, patience=3)  # all weights shrink at once
        model = LIFERegressor(FEW, finetune=finetune, random_state=0).fit(X, y)
        (fold,) = model.folds_
        assert (fold.iterations, fold.status) == (0, "validated")
        np.testing.assert_array_equal(model.predict(X), plain.predict(X))

    def test_without_validation_rows_there_is_none(self):
        X, y = self.data(n=300)
        model = LIFERegressor(FEW, finetune="lbfgs", validation=None, random_state=0).fit(X, y)
        (fold,) = model.folds_
        assert (fold.iterations, fold.status) == (0, "not fine-tuned")

    def test_its_settings_can_be_tuned(self):
        model = LIFERegressor(finetune=LBFGS()).set_params(finetune__decay=0.5)
        assert clone(model).get_params()["finetune__decay"] == 0.5

    @pytest.mark.parametrize(
        ("finetune", "message"),
        [
            ("adam", "'finetune' parameter"),
            (LBFGS, r"write LBFGS\(\)"),
            (LBFGS(decay=-1.0), "'decay' parameter"),
            (LBFGS(max_iter=0), "'max_iter' parameter"),
        ],
    )
    def test_bad_settings_are_named(self, finetune, message):
        X, y = self.data(n=300)
        with pytest.raises((TypeError, ValueError), match=message):
            LIFERegressor(FEW, finetune=finetune).fit(X, y)

    def test_the_output_layer_of_fine_tuned_neurons_is_refitted(self):
        X, y = self.data()
        model = LIFERegressor(FEW, finetune="lbfgs", random_state=0).fit(X, y)
        before = model.network_
        model.refit_readout(X, 2 * y)
        directions = {tuple(np.round(w / np.linalg.norm(w), 9)) for w in before.weights}
        assert all(
            tuple(np.round(w / np.linalg.norm(w), 9)) in directions for w in model.network_.weights
        )
        assert np.corrcoef(model.predict(X), 2 * y)[0, 1] > 0.95
        with pytest.raises(ValueError, match=r"finetune=None"):
            model.set_params(readout="average").refit_readout(X, y)
