"""Fine-tuning by mini-batches: its gradient, its schedule, and which network it keeps."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime
from sklearn.base import clone

import lifenet.finetune.minibatch as module
from lifenet import MiniBatch, QuantileCoding, ReluNetwork
from lifenet._clock import Deadline
from lifenet.data.coded_rows import CodedRows
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.finetune.parts import Reading, Table, parts_of
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.solvers.base import Status
from oracles import store, stored

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


def coded_problem(problem):
    """The same rows, whose inputs are standardised "full" codes of their columns."""
    rows = problem.rows
    coding = QuantileCoding("full", max_bins=4, min_values=2).learn(rows.X, rows.weight)
    coded = CodedRows.of(rows.X, coding, rows.target, rows.weight).standardised()
    return Problem(coded, problem.loss)


def replace_weights(network, weights):
    return ReluNetwork(weights, network.bias, network.beta, network.intercept)


def wide_ramps(rows):
    """Two neurons on a column: the first has one ramp of two bins, the second that and another.

    Returns the network, and first codes and widths of the three ramps.
    """
    ramps = np.arange(rows.coding.n_codes)[rows.coding.codes_of(1)][2:]
    first, width = ramps[[0, 0, 2]], np.array([2, 2, 2])
    weights = np.zeros((2, rows.n_features))
    for neuron, begin, n, height in zip((0, 1, 1), first, width, (1.0, 1.0, -1.5), strict=True):
        own = slice(begin, begin + n)
        weights[neuron, own] = height / n * rows.scaling.scale[own]
    return ReluNetwork(sparse.csr_array(weights), [0.2, 0.3], [1.0, -0.5], 0.1), first, width


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


@pytest.fixture
def vectors(monkeypatch):
    """The parameters after each step of every run, in order."""
    seen, step = [], module._Parameters.step

    def look(self, *args):
        step(self, *args)
        seen.append(dataclasses.replace(self, vector=self.vector.copy()))

    monkeypatch.setattr(module._Parameters, "step", look)
    return seen


@pytest.fixture
def averages(monkeypatch):
    """Their average after each step of every run, in order."""
    seen, approach = [], module._Parameters.approach

    def look(self, *args):
        approach(self, *args)
        seen.append(dataclasses.replace(self, vector=self.vector.copy()))

    monkeypatch.setattr(module._Parameters, "approach", look)
    return seen


class TestRefine:
    @named
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("some", [False, True], ids=["all move", "some move"])
    @pytest.mark.parametrize("coded", [False, True], ids=["columns", "codes"])
    def test_gradient_is_that_of_differences(self, loss, weighted, some, coded):
        rng = np.random.default_rng(0)
        problem = random_problem(rng, loss, 60, weighted)
        if coded:
            problem = coded_problem(problem)
        rows = problem.rows
        network = random_network(rng, 6, rows.n_features, loss.n_outputs)
        if some:
            # Inputs 0 and 1 enter the same neurons, 2 others; a weight that may move is zero.
            trainable = np.ones(network.weights.shape, dtype=bool)
            trainable[:2, :2] = trainable[3:, 2] = trainable[1:5, -1] = False
            weights = network.weights.copy()
            weights[2, 0] = weights[1, 2] = 0.0
            network = replace_weights(network, store(weights, trainable))
        parts = parts_of(network, rows)
        now = module._Parameters.of(network, parts)
        now.vector = now.vector.astype(np.float64)
        table = Table.of(problem, parts)
        inputs = rows.collect(lambda block: block.inputs[:-1].copy()).T
        batch = rng.permutation(60)[:25]
        weight = rows.weight / rows.weight.mean()

        def value(vector):
            moved = dataclasses.replace(now, vector=vector).network()
            each = loss.value(rows.target[batch], moved.score(inputs[batch]))
            return float(np.mean(weight[batch] * each))

        expected = approx_fprime(now.vector, value, 1e-7)
        start = 0
        for part in parts:  # of weights that may not move
            inside = slice(start, start + np.prod(part.shape))
            still = ~stored(network.weights)[np.ix_(part.neurons, part.codes)].ravel()
            assert not expected[inside][still].any()
            start = inside.stop
        gradient = now.copy()
        module._fill_gradient(gradient, now, table.take(batch), loss)
        found = gradient.vector
        np.testing.assert_allclose(found, expected, atol=5e-6)

    def test_neurons_without_weights_are_constants(self):
        train, validation, start = planted()
        nowhere = sparse.csr_array((6, 4))
        still = ReluNetwork(nowhere, np.ones(6), start.beta, start.intercept)
        found = MiniBatch(30, learning_rate=0.05).refine(
            train, still, validation=validation, seed=seeded()
        )
        assert not found.network.dense().weights.any()
        assert found.validation_loss < found.validation_losses[0]

    def test_ramps_of_a_column_and_their_neurons_are_one_part(self):
        rows = coded_problem(random_problem(np.random.default_rng(0), SquaredError(), 200)).rows
        coding = rows.coding
        ramps = [np.arange(coding.n_codes)[coding.codes_of(j)][2:] for j in range(4)]
        smooth = np.setdiff1d(np.arange(coding.n_codes), np.concatenate(ramps))
        assert all(len(one) > 1 for one in ramps)
        trainable = np.zeros((5, coding.n_codes), dtype=bool)
        trainable[np.ix_([0, 2], ramps[1])] = True  # all ramps of a column
        trainable[3, ramps[3][0]] = trainable[1, ramps[3][1]] = True  # some of them
        trainable[1, smooth[0]] = trainable[4, smooth] = True
        weights = store(np.ones(trainable.shape), trainable)
        network = ReluNetwork(weights, np.ones(5), np.ones(5), 0.0)
        plain, every, some = parts_of(network, rows)  # columns 0 and 2 enter none
        np.testing.assert_array_equal(plain.codes, smooth)
        np.testing.assert_array_equal(plain.neurons, [1, 4])
        np.testing.assert_array_equal(plain.moves, trainable[np.ix_([1, 4], smooth)])
        np.testing.assert_array_equal(every.codes, ramps[1])
        np.testing.assert_array_equal(every.neurons, [0, 2])
        assert every.moves is None
        np.testing.assert_array_equal(some.codes, ramps[3][:2])  # the others enter no neuron
        np.testing.assert_array_equal(some.neurons, [1, 3])
        np.testing.assert_array_equal(some.moves, [[0, 1], [1, 0]])
        assert plain.ramps is None
        assert (set(every.ramps.column), set(some.ramps.column)) == ({1}, {3})
        (whole,) = parts_of(network, ArrayRows.of(np.zeros((3, coding.n_codes)), np.zeros(3)))
        np.testing.assert_array_equal(whole.codes, np.arange(coding.n_codes))
        np.testing.assert_array_equal(whole.neurons, np.arange(5))
        np.testing.assert_array_equal(whole.moves, trainable)

    def test_bins_that_rise_alike_are_one_ramp(self):
        rng = np.random.default_rng(12)
        problem = coded_problem(random_problem(rng, SquaredError(), 200))
        network, first, width = wide_ramps(problem.rows)
        (part,) = parts_of(network, problem.rows)
        np.testing.assert_array_equal(part.codes, np.sort(first[[0, 2]]))
        assert part.shape == (2, 2)  # both neurons share the first ramp, one has a second
        assert part.moves.sum() == 3
        table = Table.of(problem, (part,))
        codes = problem.rows.codes_of(problem.rows.values)[:-1]
        heights = codes * problem.rows.scaling.scale[:, None]
        for ramp, at in zip((0, 2), np.argsort(np.argsort(first[[0, 2]])), strict=True):
            own = slice(first[ramp], first[ramp] + width[ramp])
            unit = problem.rows.scaling.scale[own].mean()
            expected = heights[own].mean(axis=0) / unit
            np.testing.assert_allclose(
                Reading.of((part,)).inputs(table).of_part[0][:, at], expected, atol=1e-5
            )

    def test_a_ramp_moves_as_one(self):
        """Its bins rise alike after fine-tuning, too, and the gradient is that of differences."""
        rng = np.random.default_rng(13)
        problem = coded_problem(random_problem(rng, SquaredError(), 200))
        network, first, width = wide_ramps(problem.rows)
        parts = parts_of(network, problem.rows)
        now = module._Parameters.of(network, parts)
        now.vector = now.vector.astype(np.float64)
        X, y = problem.rows.codes_of(problem.rows.values)[:-1].T, problem.rows.target
        np.testing.assert_allclose(now.network().score(X), network.score(X), atol=1e-5)

        def value(vector):
            moved = dataclasses.replace(now, vector=vector).network()
            return float(np.mean(SquaredError().value(y, moved.score(X))))

        gradient = now.copy()
        module._fill_gradient(gradient, now, Table.of(problem, parts), SquaredError())
        found = gradient.vector
        np.testing.assert_allclose(found, approx_fprime(now.vector, value, 1e-7), atol=5e-6)
        tuned = MiniBatch(30, learning_rate=0.02, batch_size=64).refine(
            problem, network, seed=seeded()
        )
        rises = tuned.network.dense().weights / problem.rows.scaling.scale
        for neuron, ramp in ((0, 0), (1, 1), (1, 2)):
            own = rises[neuron, first[ramp] : first[ramp] + width[ramp]]
            np.testing.assert_allclose(own, own[0], rtol=1e-6)
            assert own[0] != pytest.approx(network.dense().weights[neuron, first[ramp]], rel=1e-3)

    def test_inputs_of_all_parts_are_those_of_the_rows(self):
        rng = np.random.default_rng(3)
        problem = coded_problem(random_problem(rng, SquaredError(), weighted=True))
        network = random_network(rng, 6, problem.rows.n_features)
        parts = parts_of(network, problem.rows)
        assert len(parts) == 5  # of the ramps of four columns, and of all other codes
        table = Table.of(problem, parts)
        inputs = problem.rows.codes_of(problem.rows.values)
        for part in parts:
            np.testing.assert_allclose(
                Reading.of((part,)).inputs(table).of_part[0].T, inputs[part.codes], atol=1e-5
            )
        codes = np.concatenate([part.codes for part in parts])
        np.testing.assert_array_equal(np.sort(codes), np.arange(problem.rows.n_features))

    @named
    @pytest.mark.parametrize("some", [False, True], ids=["all move", "some move"])
    def test_codes_made_on_the_way_are_as_good_as_those_that_are_held(self, loss, some):
        """The same steps lead to the same network, up to rounding in single precision."""
        rng = np.random.default_rng(9)
        problems = [coded_problem(random_problem(rng, loss, n, weighted=True)) for n in (300, 120)]
        problems[1] = Problem(
            dataclasses.replace(
                problems[1].rows,
                coding=problems[0].rows.coding,
                scaling=problems[0].rows.scaling,
            ),
            loss,
        )
        network = random_network(rng, 6, problems[0].rows.n_features, loss.n_outputs)
        if some:
            trainable = rng.random(network.weights.shape) < 0.4
            network = replace_weights(network, store(network.weights, trainable))
        held = []
        for one in problems:
            rows, table = one.rows, one.rows.codes_of(one.rows.values)[:-1].T
            held.append(Problem(ArrayRows.of(table, rows.target, rows.weight), loss))
        settings = MiniBatch(40, learning_rate=2e-3, batch_size=64)
        found, expected = (
            settings.refine(train, network, validation=validation, seed=seeded())
            for train, validation in (problems, held)
        )
        assert found.n_iterations == expected.n_iterations > 0
        np.testing.assert_allclose(found.validation_losses, expected.validation_losses, rtol=1e-5)
        table = held[1].rows.X
        np.testing.assert_allclose(
            found.network.score(table), expected.network.score(table), atol=1e-4
        )
        assert found.network.is_sparse == some
        np.testing.assert_array_equal(
            stored(found.network.weights), stored(expected.network.weights)
        )

    @named
    def test_balancing_changes_no_score(self, loss):
        rng = np.random.default_rng(1)
        network = random_network(rng, n_outputs=loss.n_outputs)
        weights, beta = network.weights.copy(), network.beta.copy()
        weights[0], beta[1] = 0.0, 0.0  # a constant, and a neuron without effect
        network = ReluNetwork(weights, network.bias, beta, network.intercept)
        X = rng.normal(size=(40, 4))
        parts = parts_of(network, ArrayRows.of(X, np.zeros(40)))
        again = module._Parameters.of(network, parts).network()
        np.testing.assert_allclose(again.score(X), network.score(X), atol=1e-5)

    @named
    def test_readings_are_the_loss_of_the_validation_rows(self, loss, monkeypatch):
        monkeypatch.setattr(module, "_BLOCK_ROWS", 64)  # several parts
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
        assert len(losses) == 11  # at the start, and after every fourth step
        assert found.n_iterations == 4 * int(np.argmin(losses))
        assert found.objectives == ()
        assert found.status is Status.COMPLETED

    def test_of_many_validation_rows_those_at_even_distances_are_read(self, monkeypatch):
        monkeypatch.setattr(module, "_READ_ROWS", 31)
        rng = np.random.default_rng(2)
        train, validation = (random_problem(rng, Logistic(), n, weighted=True) for n in (80, 151))
        start = random_network(rng)
        found = MiniBatch(40, learning_rate=0.02, batch_size=20).refine(
            train, start, validation=validation, seed=seeded()
        )
        rows = validation.rows
        some = ArrayRows.of(rows.X[::5], rows.target[::5], rows.weight[::5])
        read = Problem(some, Logistic())
        assert len(some.X) == 31
        assert found.validation_losses[0] == pytest.approx(mean_loss(read, start), rel=1e-5)
        assert found.validation_loss == pytest.approx(mean_loss(read, found.network), rel=1e-5)

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

    def test_weights_that_are_not_stored_do_not_move(self):
        train, validation, start = planted()
        rng = np.random.default_rng(5)
        trainable = rng.random(start.weights.shape) < 0.5
        trainable[0], trainable[1] = False, True
        weights = np.where(rng.random(trainable.shape) < 0.3, 0.0, start.weights)
        weights[1, 0] = 1.0
        assert (trainable & (weights == 0)).any()
        bias = np.append(1.0, start.bias[1:])  # the first neuron is a constant that counts
        start = ReluNetwork(store(weights, trainable), bias, start.beta, start.intercept)
        found = MiniBatch(60, learning_rate=5e-3, batch_size=64).refine(
            train, start, validation=validation, seed=seeded()
        )
        assert found.network is not start
        np.testing.assert_array_equal(stored(found.network.weights), trainable)
        after = found.network.dense().weights
        assert not after[~trainable].any()
        assert after[trainable & (weights == 0)].all()
        ratio, before = after[1] / after[1, 0], weights[1] / weights[1, 0]
        assert not np.isclose(ratio, before, rtol=1e-4)[1:].any()
        # Biases and coefficients always move.
        parts = parts_of(start, train.rows)
        balanced = module._Parameters.of(start, parts).network()
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
        found = MiniBatch(100, learning_rate=1e4).refine(
            train, start, validation=validation, seed=seeded()
        )
        assert found.network is start
        assert len(found.validation_losses) > 2
        assert found.validation_loss == found.validation_losses[0]

    def test_it_ends_after_some_readings_that_brought_nothing(self):
        train, validation, start = planted()
        settings = MiniBatch(100, learning_rate=2.0, batch_size=64, n_readings=20, patience=3)
        found = settings.refine(train, start, validation=validation, seed=seeded())
        assert found.status is Status.CONVERGED
        losses = found.validation_losses
        assert len(losses) == 1 + int(np.argmin(losses)) + 3
        patient = dataclasses.replace(settings, patience=20)
        longer = patient.refine(train, start, validation=validation, seed=seeded())
        assert longer.validation_losses[: len(losses)] == losses
        assert len(longer.validation_losses) > len(losses)

    def test_what_is_kept_is_an_average_of_the_steps(self, vectors):
        """Weights t (t + 1) (t + 2) over their sum, of the t-th step."""
        train, _, start = planted()
        found = MiniBatch(12, learning_rate=0.02, batch_size=64).refine(train, start, seed=seeded())
        t = np.arange(1.0, 13)
        weight = t * (t + 1) * (t + 2)
        mean = np.average([one.vector for one in vectors], axis=0, weights=weight)
        expected = dataclasses.replace(vectors[0], vector=mean).network()
        X = train.rows.X[:50]
        np.testing.assert_allclose(found.network.score(X), expected.score(X), atol=1e-5)

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

    def test_the_rate_rises_at_first(self):
        settings = MiniBatch(learning_rate=0.5)
        rates = np.array([settings.rate(step) for step in range(400)])
        np.testing.assert_allclose(rates[:50], 0.5 * np.arange(1, 51) / 50)
        assert set(rates[50:]) == {0.5}

    @pytest.mark.parametrize(
        "wrong",
        [
            {"n_steps": -1},
            {"n_steps": 1.5},
            {"max_epochs": 0},
            {"learning_rate": 0.0},
            {"batch_size": 0},
            {"n_readings": 0},
            {"patience": 0},
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


NAMES = ("weights", "bias", "beta", "intercept")


class TestIterations:
    """After a rehearsal: a given number of steps of the same schedule, without validation rows."""

    settings = MiniBatch(60, learning_rate=5e-3, batch_size=64)

    @pytest.mark.parametrize("n_iterations", [1, 7, 40, 60])
    @pytest.mark.parametrize("masked", [False, True])
    def test_it_is_a_longer_run_stopped_there(self, n_iterations, masked, averages):
        train, _, start = planted()
        if masked:
            trainable = np.random.default_rng(1).random((6, 4)) < 0.6
            start = replace_weights(start, store(start.weights, trainable))
        given = {"seed": seeded()}
        self.settings.refine(train, start, **given)
        long = list(averages)
        assert len(long) == self.settings.steps(600) == 60
        averages.clear()
        found = self.settings.refine(train, start, n_iterations=n_iterations, **given)
        assert len(averages) == found.n_iterations == n_iterations
        expected = long[n_iterations - 1].network()
        np.testing.assert_array_equal(stored(found.network.weights), stored(expected.weights))
        for name in NAMES:
            np.testing.assert_array_equal(
                getattr(found.network.dense(), name), getattr(expected.dense(), name)
            )
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
def test_auto_is_longer_where_scores_are_bounded(loss):
    separable = (300, 30, 2e-3)
    n_steps, max_epochs, rate = separable if loss.separable else (450, 150, 3e-3)
    given = MiniBatch(n_steps, max_epochs=max_epochs, learning_rate=rate)
    auto = MiniBatch(max_epochs="auto")
    assert auto.resolved(loss) == given.resolved(loss) == given
    rng = np.random.default_rng(8)
    problem = random_problem(rng, loss)
    start = random_network(rng, n_outputs=loss.n_outputs)
    one, two = (settings.refine(problem, start, seed=seeded()) for settings in (auto, given))
    np.testing.assert_array_equal(one.network.weights, two.network.weights)
    assert auto.max_epochs == "auto"
