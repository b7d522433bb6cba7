from dataclasses import dataclass

import joblib
import numpy as np
import pytest

from lifenet import ReluNetwork
from lifenet._clock import NEVER, Deadline
from lifenet._settings import Settings
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.data.run import Run
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.neurons.members import Position, train_members
from lifenet.neurons.sampling import Bootstrap
from lifenet.neurons.subset import Subset
from lifenet.solvers.base import Iteration, Outcome, Status, solve
from lifenet.solvers.lla import LLA
from oracles import old_openblas

SOLVER = LLA(3, max_iter=15)
PAST = Deadline.after(-1.0)


def make(loss, n=240, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 2))
    signal = np.abs(X[:, 0]) + X[:, 1] + 0.3 * generator.normal(size=n)
    if isinstance(loss, SquaredError):
        y = signal
    else:
        y = np.digitize(signal, [1.0] if loss.n_outputs == 1 else [0.3, 1.2]).astype(float)
    return Problem(ArrayRows.of(X, y, generator.uniform(0.5, 2, n)), loss)


def half_spaces():
    """Three half-planes and one that holds the condition of two."""
    return (
        Subset(np.array([[1.0, 0.0]]), np.array([0.0])),
        Subset(np.array([[-1.0, 0.0]]), np.array([0.5])),
        Subset(np.array([[0.0, 1.0]]), np.array([0.0]), cutoff=-0.5),
        Subset(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.3, 0.3])),
    )


def table_of(rows):
    return rows.collect(lambda block: block.inputs[:-1].copy()).T


def inside(subset, X):
    return np.flatnonzero(np.all(X @ subset.weights.T + subset.bias > subset.cutoff, axis=1))


@dataclass(repr=False)
class Listener(Settings):
    """A solver that learns nothing, but hands back what it was given, as a network's numbers."""

    n_neurons: int = 2
    together: int = 1

    def train(self, problem, tasks, deadline=NEVER, monitor=None):
        return tuple(self._echo(problem, task) for task in tasks)

    def _echo(self, problem, task):
        rows = problem.rows.take(task.index, task.counts)
        network = ReluNetwork(
            table_of(rows), rows.target, rows.weight, float(task.seed.generate_state(1)[0])
        )
        return Outcome(network, 0.0, 0.0, Status.COMPLETED, (Iteration(0, 0.0, 0, 0, 0, 0, 0),))


@pytest.mark.parametrize("together", [1, 3, 100])
def test_each_network_is_given_exactly_its_subset(together):
    problem = make(SquaredError())
    X = table_of(problem.rows)
    trained = train_members(
        problem, half_spaces(), Listener(together=together), level=2, run=Run(5)
    )
    assert len(trained) == 4
    for number, (one, subset) in enumerate(zip(trained, half_spaces(), strict=True)):
        index = inside(subset, X)
        assert 0 < len(index) < len(X)
        np.testing.assert_array_equal(one.network.weights, X[index])
        np.testing.assert_array_equal(one.network.bias, problem.rows.target[index])
        np.testing.assert_array_equal(one.network.beta[:, 0], problem.rows.weight[index])
        assert one.position == Position(2, number, None)
        assert (one.output, one.status) == (0, Status.COMPLETED)


def test_a_bootstrap_draw_weighs_rows_by_how_often_they_were_drawn():
    problem = make(SquaredError())
    subsets = Bootstrap(3).begin(problem.rows, np.random.SeedSequence(0))
    X, weight = table_of(problem.rows), problem.rows.weight
    for one, subset in zip(
        train_members(problem, subsets, Listener(), level=1, run=Run(0)), subsets, strict=True
    ):
        index, counts = subset.select(problem.rows)
        np.testing.assert_array_equal(one.network.weights, X[index])
        np.testing.assert_array_equal(one.network.beta[:, 0], weight[index] * counts)


@pytest.mark.parametrize("together", [1, 3])
def test_with_several_classes_each_subset_has_a_network_for_every_class(together):
    problem = make(Multinomial(3))
    X, y = table_of(problem.rows), problem.rows.target
    trained = train_members(
        problem, half_spaces(), Listener(together=together), level=1, run=Run(5)
    )
    positions = [(one.position.subset, one.position.output) for one in trained]
    assert positions == [(k, c) for k in range(4) for c in range(3)]
    for one in trained:
        rows = inside(one.subset, X)
        np.testing.assert_array_equal(one.network.bias, y[rows] == one.output)
        np.testing.assert_array_equal(one.network.weights, X[rows])
    seeds = {one.network.intercept[0] for one in trained}
    assert len(seeds) == 12


def test_seeds_follow_from_the_position():
    """Another order, or fewer subsets, leave the others' seeds as they were."""
    problem = make(SquaredError())

    def seeds(level, seed, n):
        trained = train_members(problem, half_spaces()[:n], Listener(), level=level, run=Run(seed))
        return [one.network.intercept[0] for one in trained]

    assert seeds(1, 5, 2) == seeds(1, 5, 4)[:2]
    assert not set(seeds(1, 5, 4)) & set(seeds(2, 5, 4))
    assert not set(seeds(1, 5, 4)) & set(seeds(1, 6, 4))


@pytest.mark.parametrize(
    "loss", [SquaredError(), Logistic(), Multinomial(3)], ids=lambda s: type(s).__name__
)
def test_a_member_is_what_its_solver_makes_of_those_rows_alone(loss):
    """m_J = M x K_J neurons, each network as trained by hand on a table of its rows."""
    problem = make(loss)
    X, y, weight = table_of(problem.rows), problem.rows.target, problem.rows.weight
    trained = train_members(problem, half_spaces(), SOLVER, level=1, run=Run(3))
    assert sum(one.network.n_neurons for one in trained) == 4 * loss.n_outputs * 3
    for one in trained:
        rows = inside(one.subset, X)
        target, alone = y[rows], loss
        if loss.n_outputs > 1:
            target, alone = (target == one.output).astype(float), Logistic()
        seed = np.random.SeedSequence(3, spawn_key=(1, one.position.subset, one.output, 0))
        by_hand = solve(SOLVER, Problem(ArrayRows.of(X[rows], target, weight[rows]), alone), [seed])
        np.testing.assert_allclose(one.network.score(X), by_hand.network.score(X), atol=1e-9)
        assert one.status is by_hand.status
        assert one.outcome.loss == pytest.approx(by_hand.loss)


def test_subsets_with_nothing_to_learn_are_skipped_and_say_so():
    X = np.linspace(-1, 1, 100)[:, None]
    y = np.where(X[:, 0] > 0, 1.0, X[:, 0])
    problem = Problem(ArrayRows.of(X, y), SquaredError())
    constant = Subset(np.array([[1.0]]), np.array([0.0]))
    empty = Subset(np.array([[1.0]]), np.array([-5.0]))
    single = Subset(np.array([[-1.0]]), np.array([-0.99]))
    sound = Subset(np.array([[-1.0]]), np.array([0.0]))
    trained = train_members(
        problem, (constant, sound, empty, single), Listener(), level=1, run=Run(0)
    )
    assert [one.outcome is None for one in trained] == [True, False, True, True]
    assert [one.status for one in trained] == [
        Status.NOTHING_TO_LEARN,
        Status.COMPLETED,
        Status.NOTHING_TO_LEARN,
        Status.NOTHING_TO_LEARN,
    ]


def test_a_class_absent_from_a_subset_is_skipped_there_only():
    X = np.linspace(-1, 1, 90)[:, None]
    y = np.digitize(X[:, 0], [-0.3, 0.3]).astype(float)
    problem = Problem(ArrayRows.of(X, y), Multinomial(3))
    upper = Subset(np.array([[1.0]]), np.array([0.2]))
    trained = train_members(problem, (upper,), Listener(together=2), level=1, run=Run(0))
    assert [one.output for one in trained if one.outcome is None] == [0]


@pytest.mark.parametrize("loss", [SquaredError(), Multinomial(3)], ids=["one score", "classes"])
def test_a_deadline_in_the_past_leaves_out_all_but_the_first_subset(loss):
    problem = make(loss)
    trained = train_members(problem, half_spaces(), SOLVER, level=1, run=Run(3, deadline=PAST))
    assert len(trained) == 4 * loss.n_outputs
    for one in trained:
        first = one.position.subset == 0
        assert one.status is (Status.TIME_LIMIT if first else Status.NOT_STARTED)
        assert (one.outcome is not None) == first
    assert all(np.isfinite(one.network.score(table_of(problem.rows))).all() for one in trained[:1])


def test_a_deadline_far_off_changes_nothing():
    problem = make(SquaredError())
    early = train_members(problem, half_spaces(), SOLVER, level=1, run=Run(3))
    late = train_members(
        problem, half_spaces(), SOLVER, level=1, run=Run(3, deadline=Deadline.after(3600.0))
    )
    assert [one.network for one in early] == [one.network for one in late]


def test_progress_counts_networks():
    calls = []
    problem = make(Multinomial(3))
    train_members(
        problem,
        half_spaces(),
        Listener(together=3),
        level=2,
        run=Run(0, progress=lambda *call: calls.append(call)),
    )
    assert calls == [("level 2", done, 12) for done in (0, 3, 4, 7, 8, 11, 12)]


@pytest.mark.parametrize("backend", ["threading", "loky"])
@pytest.mark.parametrize("loss", [SquaredError(), Multinomial(3)], ids=["one score", "classes"])
def test_any_number_and_kind_of_workers_gives_the_same_networks(backend, loss):
    problem = make(loss)
    alone = train_members(problem, half_spaces(), SOLVER, level=1, run=Run(3, n_jobs=1))
    with joblib.parallel_config(backend=backend):
        both = train_members(problem, half_spaces(), SOLVER, level=1, run=Run(3, n_jobs=2))
    assert [one.position for one in both] == [one.position for one in alone]
    X = table_of(problem.rows)
    for one, other in zip(alone, both, strict=True):
        if backend == "threading" and old_openblas():
            np.testing.assert_allclose(one.network.score(X), other.network.score(X), atol=1e-10)
        else:
            assert one.network == other.network
            assert one.outcome.objective == other.outcome.objective
