"""Fine-tuning by mini-batches: its gradient, its schedule, and which network it keeps."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.base import clone

import lifenet.finetune.minibatch as module
from lifenet import MiniBatch, ReluNetwork
from lifenet._clock import Deadline
from lifenet.data import budgets
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.solvers.base import Status

LOSSES = [SquaredError(), Logistic(), Multinomial(3)]
named = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)


def random_network(rng, n_neurons=6, n_features=4, n_outputs=1):
    return ReluNetwork(
        rng.normal(size=(n_neurons, n_features)),
        rng.normal(size=n_neurons),
        rng.normal(size=(n_neurons, n_outputs)),
        rng.normal(size=n_outputs),
    )


def random_problem(rng, loss, n=150, weighted=False):
    X = rng.normal(size=(n, 4))
    if isinstance(loss, SquaredError):
        y = np.sin(X[:, 0]) + X[:, 1] * (X[:, 2] > 0) + 0.1 * rng.normal(size=n)
    else:
        y = rng.integers(max(loss.n_outputs, 2), size=n).astype(float)
    weight = rng.uniform(0.2, 3.0, n) if weighted else None
    return Problem(ArrayRows.of(X, y, weight), loss)


def mean_loss(problem, network):
    score, loss = network.score(problem.rows.X), problem.loss
    values = loss.value(problem.rows.target, score)
    return np.average(values, weights=problem.rows.weight)


def everything(network):
    return np.ones(network.weights.shape, dtype=bool)


def seeded(number=0):
    return np.random.SeedSequence(number)


def planted():
    """Training and validation rows of a network, and the same network disturbed."""
    rng = np.random.default_rng(11)
    truth = random_network(rng)
    train, validation = (
        Problem(ArrayRows.of(X, truth.score(X)[:, 0]), SquaredError())
        for X in (rng.normal(size=(600, 4)), rng.normal(size=(300, 4)))
    )
    disturbed = ReluNetwork(
        truth.weights + 0.1 * rng.normal(size=truth.weights.shape),
        truth.bias + 0.1 * rng.normal(size=6),
        truth.beta,
        truth.intercept,
    )
    return train, validation, disturbed


class TestRefine:
    @named
    @pytest.mark.parametrize("few", [1, 8])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_gradient_is_that_of_differences(self, loss, weighted, few, monkeypatch):
        rng = np.random.default_rng(0)
        problem = random_problem(rng, loss, 60, weighted)
        network = random_network(rng, n_outputs=loss.n_outputs)
        # Codes 0 and 1 enter the same neurons, 2 and 3 others; two weights stand still.
        trainable = np.ones((6, 4), dtype=bool)
        trainable[:2, :2] = trainable[3:, 2] = False
        weights = np.where(trainable, network.weights, 0.0)
        weights[0, 0] = weights[4, 2] = 1.0
        network = ReluNetwork(weights, network.bias, network.beta, network.intercept)
        monkeypatch.setattr(module, "_FEW_CODES", few)
        parts = module._parts(weights, trainable)
        now = module._Parameters.of(network, parts)
        now.vector = now.vector.astype(np.float64)
        table = module._Table.of(problem, parts)
        table.inputs = tuple(problem.rows.X[:, part.codes] for part in parts)
        batch = rng.permutation(60)[:25]
        weight = problem.rows.weight / problem.rows.weight.mean()

        def value(vector):
            moved = dataclasses.replace(now, vector=vector).network()
            score = moved.score(problem.rows.X[batch])
            each = loss.value(problem.rows.target[batch], score)
            return float(np.mean(weight[batch] * each))

        expected = approx_fprime(now.vector, value, 1e-7)
        start = 0
        for part in parts:  # of weights that may not move
            inside = slice(start, start + np.prod(part.shape))
            expected[inside] *= trainable[np.ix_(part.neurons, part.codes)].ravel()
            start = inside.stop
        found = module._gradient(now, table.take(batch), loss)
        np.testing.assert_allclose(found, expected, atol=5e-6)

    def test_neurons_without_weights_are_constants(self):
        train, validation, start = planted()
        still = ReluNetwork(np.zeros((6, 4)), np.ones(6), start.beta, start.intercept)
        found = MiniBatch(30, learning_rate=0.05).refine(
            train,
            still,
            trainable=np.zeros((6, 4), dtype=bool),
            validation=validation,
            seed=seeded(),
        )
        assert not found.network.weights.any()
        assert found.validation_loss < found.validation_losses[0]

    def test_codes_of_the_same_neurons_are_one_part(self, monkeypatch):
        monkeypatch.setattr(module, "_FEW_CODES", 2)
        trainable = np.zeros((3, 6), dtype=bool)
        trainable[np.ix_([0, 2], [1, 4])] = True
        trainable[1, 0] = trainable[0, 5] = True
        weights = np.zeros((3, 6))
        weights[1, 0] = weights[1, 5] = 1.0
        many, few = module._parts(weights, trainable)
        np.testing.assert_array_equal(many.codes, [1, 4])
        np.testing.assert_array_equal(many.neurons, [0, 2])
        assert many.moves is None
        np.testing.assert_array_equal(few.codes, [0, 5])  # 2 and 3 enter none
        np.testing.assert_array_equal(few.moves, [[0, 1], [1, 0]])

    @named
    def test_balancing_changes_no_score(self, loss):
        rng = np.random.default_rng(1)
        network = random_network(rng, n_outputs=loss.n_outputs)
        weights, beta = network.weights.copy(), network.beta.copy()
        weights[0], beta[1] = 0.0, 0.0  # a constant, and a neuron without effect
        network = ReluNetwork(weights, network.bias, beta, network.intercept)
        X = rng.normal(size=(40, 4))
        parts = module._parts(weights, everything(network))
        again = module._Parameters.of(network, parts).network()
        np.testing.assert_allclose(again.score(X), network.score(X), atol=1e-5)

    @named
    def test_readings_are_the_loss_of_the_validation_rows(self, loss, monkeypatch):
        monkeypatch.setattr(budgets, "FORWARD_BLOCK", 1)  # several parts
        rng = np.random.default_rng(2)
        train, validation = (random_problem(rng, loss, n, weighted=True) for n in (80, 150))
        start = random_network(rng, n_outputs=loss.n_outputs)
        found = MiniBatch(40, learning_rate=0.02, batch_size=20).refine(
            train, start, validation=validation, seed=seeded()
        )
        losses = found.validation_losses
        assert losses[0] == pytest.approx(mean_loss(validation, start), rel=1e-5)
        assert found.validation_loss == min(losses)
        assert found.validation_loss == pytest.approx(
            mean_loss(validation, found.network), rel=1e-5
        )
        assert len(losses) == 9  # at the start, and after every fifth step
        assert found.n_iterations == 5 * int(np.argmin(losses))
        assert found.objectives == ()
        assert found.status is Status.COMPLETED

    def test_it_finds_a_disturbed_network_again(self):
        train, validation, start = planted()
        found = MiniBatch(300, max_epochs=200, learning_rate=5e-3, batch_size=64).refine(
            train, start, validation=validation, seed=seeded()
        )
        assert found.n_iterations == 300
        assert mean_loss(validation, found.network) < 0.1 * mean_loss(validation, start)

    def test_the_best_reading_is_kept_though_later_ones_are_worse(self):
        # The training rows lie two above the network, the validation rows only one.
        rng = np.random.default_rng(4)
        start = random_network(rng)
        X = rng.normal(size=(200, 4))
        train, validation = (
            Problem(ArrayRows.of(X, start.score(X)[:, 0] + above), SquaredError())
            for above in (2.0, 1.0)
        )
        found = MiniBatch(100, learning_rate=0.05, n_readings=20).refine(
            train, start, validation=validation, seed=seeded()
        )
        losses = found.validation_losses
        assert 0 < np.argmin(losses) < len(losses) - 1
        assert losses[-1] > 2 * min(losses)
        assert mean_loss(validation, found.network) == pytest.approx(min(losses), rel=1e-5)

    def test_weights_that_are_not_trainable_do_not_move(self):
        train, validation, start = planted()
        rng = np.random.default_rng(5)
        trainable = rng.random(start.weights.shape) < 0.5
        trainable[0], trainable[1] = False, True
        weights = np.where(rng.random(trainable.shape) < 0.3, 0.0, start.weights)
        start = ReluNetwork(weights, start.bias, start.beta, start.intercept)
        found = MiniBatch(60, learning_rate=5e-3, batch_size=64).refine(
            train, start, trainable=trainable, validation=validation, seed=seeded()
        )
        assert found.network is not start
        after = found.network.weights
        assert not after[~trainable & (weights == 0)].any()
        assert after[trainable & (weights == 0)].all()
        for k in range(6):
            kept = ~trainable[k] & (weights[k] != 0)
            if kept.sum() > 1:  # the same up to the neuron's own unit
                ratio = after[k, kept] / weights[k, kept]
                assert ratio[0] > 0
                np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
        moved = ~np.isclose(after / after[:, :1], weights / weights[:, :1], rtol=1e-4)
        assert moved[1, 1:].all()
        # Biases and coefficients always move.
        balanced = module._Parameters.of(start, module._parts(weights, trainable)).network()
        assert (found.network.bias != balanced.bias).all()
        assert (found.network.beta != balanced.beta).all()

    def test_no_steps_or_no_neurons_give_back_the_network(self):
        train, validation, start = planted()
        none = MiniBatch(0).refine(train, start, validation=validation, seed=seeded())
        empty = random_network(np.random.default_rng(0), n_neurons=0)
        nobody = MiniBatch().refine(train, empty, validation=validation, seed=seeded())
        for found, network in ((none, start), (nobody, empty)):
            assert found.network is network
            assert found.status is Status.COMPLETED
            assert len(found.validation_losses) == 1
            assert found.validation_loss == pytest.approx(mean_loss(validation, network), rel=1e-5)

    @named
    def test_where_validation_rows_do_not_gain_nothing_changes(self, loss):
        rng = np.random.default_rng(6)
        train, validation = (random_problem(rng, loss) for _ in range(2))
        start = random_network(rng, n_outputs=loss.n_outputs)
        if isinstance(loss, SquaredError):  # it fits already
            near = start.score(validation.rows.X)[:, 0] + 0.1 * rng.normal(size=150)
            validation = Problem(validation.rows.with_target(near), loss)
        found = MiniBatch(100, learning_rate=100.0).refine(
            train, start, validation=validation, seed=seeded()
        )
        assert found.network is start
        assert len(found.validation_losses) > 2
        assert found.validation_loss == found.validation_losses[0]

    def test_what_is_no_number_is_never_kept(self, monkeypatch):
        train, validation, start = planted()
        readings = iter([1.0, np.nan, np.inf, 0.5, np.nan])
        monkeypatch.setattr(module, "_mean_loss", lambda *_: next(readings))
        found = MiniBatch(4, n_readings=4).refine(
            train, start, validation=validation, seed=seeded()
        )
        assert list(found.validation_losses) == [1.0, np.inf, np.inf, 0.5, np.inf]
        assert found.validation_loss == 0.5
        assert found.network is not start

    def test_it_stops_in_time(self):
        train, validation, start = planted()
        found = MiniBatch().refine(
            train, start, validation=validation, seed=seeded(), deadline=Deadline.after(0.0)
        )
        assert found.status is Status.TIME_LIMIT
        assert len(found.validation_losses) == 2
        assert found.n_iterations <= 1

    def test_it_follows_from_the_seed(self):
        train, validation, start = planted()
        one, two, other = (
            MiniBatch(30, learning_rate=2e-3)
            .refine(train, start, validation=validation, seed=seeded(number))
            .network
            for number in (0, 0, 1)
        )
        for name in ("weights", "bias", "beta", "intercept"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        assert not np.array_equal(one.weights, other.weights)

    def test_scaled_weights_change_nothing(self):
        rng = np.random.default_rng(7)
        problems = [random_problem(rng, Logistic(), weighted=True) for _ in range(2)]
        start = random_network(rng)
        heavy = [
            Problem(dataclasses.replace(one.rows, weight=8 * one.rows.weight), one.loss)
            for one in problems
        ]
        one, two = (
            MiniBatch(50, learning_rate=5e-3).refine(
                pair[0], start, validation=pair[1], seed=seeded()
            )
            for pair in (problems, heavy)
        )
        np.testing.assert_array_equal(one.network.weights, two.network.weights)

    def test_each_pass_holds_every_row_once(self):
        batches = module._batches(103, 20, np.random.default_rng(0))
        passes = [np.concatenate([next(batches) for _ in range(5)]) for _ in range(2)]
        for rows in passes:
            np.testing.assert_array_equal(np.sort(rows), np.arange(103))
        assert not np.array_equal(*passes)
        assert len(next(module._batches(3, 20, np.random.default_rng(0)))) == 3

    def test_steps_are_enough_passes_within_bounds(self):
        settings = MiniBatch(400, max_epochs=12, batch_size=100)
        assert settings.steps(2000) == 240
        assert settings.steps(10**6) == 400
        assert settings.steps(50) == 100
        assert MiniBatch(30).steps(50) == 30
        assert MiniBatch(0).steps(10**6) == 0

    def test_the_rate_rises_at_first_and_then_falls_to_nothing(self):
        settings = MiniBatch(learning_rate=0.5)
        rates = np.array([settings.rate(step, 400) for step in range(400)])
        assert rates[0] == pytest.approx(0.5 / 50)
        assert rates.argmax() == 49
        assert np.all(np.diff(rates[:50]) > 0)
        assert np.all(np.diff(rates[49:]) < 0)
        assert rates[200] == pytest.approx(0.25)
        assert 0 < rates[-1] < 1e-4

    @pytest.mark.parametrize(
        "wrong",
        [
            {"n_steps": -1},
            {"n_steps": 1.5},
            {"max_epochs": 0},
            {"learning_rate": 0.0},
            {"batch_size": 0},
            {"n_readings": 0},
        ],
        ids=str,
    )
    def test_bad_settings_are_named(self, wrong):
        (name,) = wrong
        with pytest.raises(ValueError, match=f"The '{name}' parameter"):
            MiniBatch(**wrong).check()

    def test_settings_are_cloned_and_good_ones_pass(self):
        MiniBatch().check()
        assert clone(MiniBatch(7)).set_params(batch_size=3) == MiniBatch(7, batch_size=3)


def test_many_rows_get_more_steps_where_passes_are_asked_for():
    settings = MiniBatch(n_steps=600, max_epochs=30, min_epochs=10)
    assert [settings.steps(n) for n in (100, 14_000, 40_000)] == [
        100,
        600,
        10 * round(40_000 / 256),
    ]
    assert dataclasses.replace(settings, min_epochs=0).steps(40_000) == 600
    assert dataclasses.replace(settings, n_steps=0).steps(40_000) == 0


# ---------------------------------------------------------------------- a number of iterations


@pytest.fixture
def vectors(monkeypatch):
    """The parameters after each step of every run, in order."""
    seen, step = [], module._Parameters.step

    def look(self, *args):
        step(self, *args)
        seen.append(dataclasses.replace(self, vector=self.vector.copy()))

    monkeypatch.setattr(module._Parameters, "step", look)
    return seen


NAMES = ("weights", "bias", "beta", "intercept")


class TestIterations:
    """After a rehearsal: a given number of steps of the same schedule, without validation rows."""

    settings = MiniBatch(60, learning_rate=5e-3, batch_size=64)

    @pytest.mark.parametrize("n_iterations", [1, 7, 40, 60])
    @pytest.mark.parametrize("masked", [False, True])
    def test_it_is_a_longer_run_stopped_there(self, n_iterations, masked, vectors):
        train, _, start = planted()
        trainable = np.random.default_rng(1).random((6, 4)) < 0.6 if masked else None
        given = {"trainable": trainable, "seed": seeded()}
        self.settings.refine(train, start, **given)
        long = list(vectors)
        assert len(long) == self.settings.steps(600) == 60
        vectors.clear()
        found = self.settings.refine(train, start, n_iterations=n_iterations, **given)
        assert len(vectors) == found.n_iterations == n_iterations
        expected = long[n_iterations - 1].network()
        for name in NAMES:
            np.testing.assert_array_equal(getattr(found.network, name), getattr(expected, name))
        assert found.status is Status.COMPLETED
        assert found.validation_losses == ()

    def test_none_leaves_the_network(self):
        train, _, start = planted()
        found = self.settings.refine(train, start, seed=seeded(), n_iterations=0)
        assert (found.network, found.n_iterations) == (start, 0)

    def test_more_than_the_schedule_has_is_the_whole_schedule(self, vectors):
        train, _, start = planted()
        found = self.settings.refine(train, start, seed=seeded(), n_iterations=1_000)
        assert len(vectors) == found.n_iterations == 60

    def test_what_validation_rows_choose_can_be_had_without_them(self):
        """A rehearsal and what follows it on the same rows are the same network."""
        train, validation, start = planted()
        noisy = validation.rows.target + np.random.default_rng(2).normal(size=300)
        validation = Problem(validation.rows.with_target(noisy), validation.loss)
        rehearsed = self.settings.refine(train, start, validation=validation, seed=seeded())
        assert rehearsed.n_iterations > 0
        again = self.settings.refine(
            train, start, seed=seeded(), n_iterations=rehearsed.n_iterations
        )
        for name in NAMES:
            np.testing.assert_array_equal(
                getattr(rehearsed.network, name), getattr(again.network, name)
            )


@named
def test_auto_is_longer_and_faster_where_scores_are_bounded(loss):
    rate, epochs = (2e-4, 30) if loss.separable else (5e-4, 150)
    given = MiniBatch(80, max_epochs=epochs, learning_rate=rate)
    auto = MiniBatch(80, max_epochs="auto", learning_rate="auto")
    assert auto.resolved(loss) == given.resolved(loss) == given
    rng = np.random.default_rng(8)
    problem = random_problem(rng, loss)
    start = random_network(rng, n_outputs=loss.n_outputs)
    one, two = (settings.refine(problem, start, seed=seeded()) for settings in (auto, given))
    np.testing.assert_array_equal(one.network.weights, two.network.weights)
    assert auto.max_epochs == "auto"
