import time
from dataclasses import dataclass

import numpy as np
import pytest

from lifenet import ReluNetwork
from lifenet._clock import NEVER, Deadline
from lifenet._settings import Settings
from lifenet.data.folds import Fold
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.data.run import Run
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.neurons.hierarchy import Given, Hierarchy, successful
from lifenet.neurons.layer import Layer
from lifenet.neurons.sampling import Bootstrap, NeuronProjection, RandomProjection, coverage_of
from lifenet.neurons.subset import Fate
from lifenet.output.averaging import Averaging
from lifenet.output.base import fit_output
from lifenet.output.ridge import RidgeOutput
from lifenet.output.selection import BaseLearnerSelection
from lifenet.recipe.recipe import Recipe, fit_fold
from lifenet.recipe.single import train_single
from lifenet.solvers.base import Iteration, Outcome, Status, solve
from lifenet.solvers.lla import LLA

SOLVER = LLA(3, max_iter=10)
SAMPLER = NeuronProjection(levels=(4, 3), max_networks=6, cutoff=0.05)


def make(loss=None, n=400, seed=0):
    loss = loss or SquaredError()
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 3))
    signal = np.abs(X[:, 0]) + X[:, 1] * (X[:, 2] > 0) + 0.2 * generator.normal(size=n)
    if isinstance(loss, SquaredError):
        y = signal
    else:
        y = np.digitize(signal, [0.8] if loss.n_outputs == 1 else [0.3, 1.2]).astype(float)
    return Problem(ArrayRows.of(X, y, generator.uniform(0.5, 2, n)), loss)


def table_of(problem):
    return problem.rows.collect(lambda block: block.inputs[:-1].copy()).T


@dataclass(frozen=True)
class Life:
    """What a recipe of the paper's three steps made of a fold."""

    network: ReluNetwork
    stages: tuple
    members: tuple


def run_life(
    problem, *, sampler=SAMPLER, solver=SOLVER, output=None, run=None, fold=None, before=()
):
    """The paper's three steps, by the one function that trains all recipes."""
    hierarchy = Hierarchy(sampler, solver)
    recipe = Recipe(
        neurons=(Given(before), hierarchy) if before else (hierarchy,),
        output=RidgeOutput(0.01) if output is None else output,
    )
    fit = fit_fold(recipe, fold or Fold.whole(problem), run or Run(0))
    return Life(fit.network, fit.stages, successful(fit.stages[-1].trained))


class Keeper(Settings):
    """An output layer that keeps what it was asked to combine, and the coefficients it gave."""

    def __init__(self, output):
        self.output = output

    def fit(self, layer, fold, generator):
        coefficients = self.output.fit(layer, fold, generator)
        self.seen = layer, fold, coefficients
        return coefficients


@dataclass(repr=False)
class Fixed(Settings):
    """A solver whose networks are the same half-spaces everywhere, unless they have none."""

    n_neurons: int = 2
    bias: float = 0.0
    together: int = 1

    def train(self, problem, tasks, deadline=NEVER, monitor=None):
        p = problem.rows.n_features
        network = ReluNetwork(
            np.eye(p)[np.arange(self.n_neurons) % p],
            np.full(self.n_neurons, self.bias),
            np.ones(self.n_neurons),
            0.0,
        )
        row = Iteration(0, 0.0, 0.0, 0.0, 0.0, 0.0, 0)
        return tuple(Outcome(network, 0.0, 0.0, Status.COMPLETED, (row,)) for _ in tasks)


LOSSES = pytest.mark.parametrize(
    "loss", [SquaredError(), Logistic(), Multinomial(3)], ids=lambda s: type(s).__name__
)


class TestFlattening:
    @LOSSES
    def test_the_network_is_the_output_layer_of_all_members_neurons_on_all_rows(self, loss):
        """Equation of step 3: intercept + sum_k beta_k relu(b_k + w_k'x), members outside too."""
        problem = make(loss)
        X = table_of(problem)
        keeper = Keeper(RidgeOutput(0.01))
        life = run_life(problem, output=keeper)
        _, fold, coefficients = keeper.seen
        assert fold.validation is None
        assert fold.fit is problem
        expected = np.tile(coefficients[-1], (len(X), 1))
        index = 0
        for member in life.members:
            for neuron in range(member.network.n_neurons):
                z = X @ member.network.weights[neuron] + member.network.bias[neuron]
                expected += np.maximum(z, 0)[:, None] * coefficients[index]
                index += 1
        assert index == len(coefficients) - 1
        assert life.network.n_outputs == loss.n_outputs
        np.testing.assert_allclose(life.network.score(X), expected, atol=1e-12)

    @LOSSES
    def test_averaging_is_the_mean_of_the_members(self, loss):
        problem = make(loss)
        X = table_of(problem)
        life = run_life(problem, output=Averaging())
        score = life.network.score(X)
        for output in range(loss.n_outputs):
            of = [one.network.score(X)[:, 0] for one in life.members if one.output == output]
            np.testing.assert_allclose(score[:, output], np.mean(of, axis=0), atol=1e-12)

    def test_the_output_layer_has_the_penalised_optimum_of_the_new_features(self):
        """Closed form on the design matrix of the paper, N x m_J, evaluated on all rows."""
        problem = make()
        X, y, weight = table_of(problem), problem.rows.target, problem.rows.weight
        life = run_life(problem, output=RidgeOutput(0.05))
        neurons = [one.network for one in life.members]
        W, b = np.vstack([n.weights for n in neurons]), np.concatenate([n.bias for n in neurons])
        features = np.maximum(X @ W.T + b, 0)
        root = np.sqrt(weight / weight.sum())[:, None]
        penalty = np.sqrt(0.05) * np.diag(np.linalg.norm(W, axis=1))
        design = np.vstack(
            [
                np.column_stack([features, np.ones(len(X))]) * root,
                np.column_stack([penalty, np.zeros(len(W))]),
            ]
        )
        response = np.concatenate([y * root[:, 0], np.zeros(len(W))])
        beta = np.linalg.lstsq(design, response, rcond=None)[0]
        np.testing.assert_allclose(
            life.network.score(X)[:, 0], features @ beta[:-1] + beta[-1], atol=1e-7
        )

    def test_neurons_that_the_output_layer_does_not_use_are_left_out(self):
        problem = make()
        keeper = Keeper(BaseLearnerSelection(keep=0.5, then=RidgeOutput(0.01)))
        life = run_life(problem, output=keeper)
        used = np.any(keeper.seen[2][:-1] != 0, axis=1)
        assert 0 < used.sum() < len(used)
        assert life.network.n_neurons == used.sum()
        assert len(life.members) * 3 == len(used)

    def test_a_neurons_length_does_not_matter(self):
        """The penalty falls on slopes: w -> c w, beta -> beta / c leaves the network unchanged."""
        problem = make()
        X = table_of(problem)
        members = [one.network for one in run_life(problem).members]
        factors = np.random.default_rng(0).uniform(0.1, 10, (len(members), 3))
        longer = [
            ReluNetwork(m.weights * c[:, None], m.bias * c, m.beta / c[:, None], m.intercept)
            for m, c in zip(members, factors, strict=True)
        ]
        seed, fold = np.random.SeedSequence(0), Fold.whole(problem)

        def score(some, penalty):
            layer = Layer.of_members([(one, 0) for one in some], 3, None)
            network, _ = fit_output(RidgeOutput(penalty), layer, fold, seed)
            return network.score(X)

        scores = [score(some, 0.05) for some in (members, longer)]
        np.testing.assert_allclose(scores[0], scores[1], atol=1e-8)
        bare = score(members, 0.0)
        assert np.abs(scores[0] - bare).max() > 1e-3  # the penalty is felt

    def test_members_from_an_earlier_run_come_first(self):
        problem = make()
        first = run_life(problem)
        before = [(one.network, one.output) for one in first.members]
        keeper = Keeper(Averaging())
        life = run_life(problem, run=Run(1), output=keeper, before=before)
        layer = keeper.seen[0]
        assert layer.n_members == len(before) + len(life.members)
        earlier = np.concatenate([one.network.bias for one in first.members])
        np.testing.assert_array_equal(layer.neurons.bias[: len(earlier)], earlier)
        X = table_of(problem)
        scores = [one.network.score(X)[:, 0] for one in (*first.members, *life.members)]
        np.testing.assert_allclose(life.network.score(X)[:, 0], np.mean(scores, axis=0), atol=1e-12)


class TestHierarchy:
    @LOSSES
    def test_levels_and_parents_are_those_of_the_algorithm(self, loss):
        problem = make(loss)
        X, weight = table_of(problem), problem.rows.weight
        life = run_life(problem)
        assert [stage.n_neurons for stage in life.stages] == [4, 3, 3]
        assert life.stages[0].trained[0].subset.n_rows == len(X)
        for level, stage in enumerate(life.stages):
            networks = [one for one in stage.trained if one.outcome is not None]
            assert all(one.network.n_neurons == stage.n_neurons for one in networks)
            assert {one.position.level for one in stage.trained} == {level + 1}
            if level == 2:
                assert stage.splits == ()
                break
            assert len(stage.splits) == len(networks) * stage.n_neurons
            below = life.stages[level + 1]
            kept = [(s.network, s.neuron) for s in stage.splits if s.fate is Fate.KEPT]
            outputs = loss.n_outputs
            assert [one.subset.parent for one in below.trained[::outputs]] == kept
            for one in below.trained:
                network, neuron = one.subset.parent
                parent = networks[network].network
                inside = X @ parent.weights[neuron] + parent.bias[neuron] > SAMPLER.cutoff
                np.testing.assert_array_equal(
                    one.subset.select(problem.rows)[0], np.flatnonzero(inside)
                )
                assert one.subset.share == pytest.approx(weight[inside].sum() / weight.sum())
                assert 0.1 < one.subset.share < 0.9
        n_members = len(life.stages[-1].trained)
        assert n_members <= 6 * loss.n_outputs
        assert life.members == tuple(o for o in life.stages[-1].trained if o.outcome is not None)

    def test_coverage_is_that_of_the_subsets(self):
        problem = make()
        life = run_life(problem)
        for stage in life.stages:
            subsets = [one.subset for one in stage.trained]
            assert stage.coverage == pytest.approx(coverage_of(problem.rows, subsets))
        assert life.stages[0].coverage == pytest.approx(1.0)

    def test_the_number_of_neurons_is_that_of_the_paper(self):
        """Figure 2: [K_1, K_2, K_3] with every neuron kept: m_J = K_1 K_2 K_J."""
        life = run_life(make(), sampler=NeuronProjection(levels=(2, 3)), solver=Fixed(4))
        assert [len(stage.trained) for stage in life.stages] == [1, 2, 6]
        assert sum(one.network.n_neurons for one in life.members) == 2 * 3 * 4

    def test_where_no_neuron_survives_the_levels_subsets_serve(self):
        """All neurons see all rows: too large. The members are trained on what there was."""
        problem = make()
        life = run_life(problem, solver=Fixed(3, bias=50.0))
        assert [len(stage.trained) for stage in life.stages] == [1, 1]
        assert {split.fate for split in life.stages[0].splits} == {Fate.TOO_LARGE}
        (member,) = life.members
        assert member.subset.n_rows == problem.rows.n_rows
        assert member.position.level == 2

    def test_no_levels_train_one_network_on_all_rows(self):
        life = run_life(make(), sampler=NeuronProjection(levels=()))
        assert len(life.stages) == 1
        assert len(life.members) == 1

    @pytest.mark.parametrize("sampler", [Bootstrap(4), RandomProjection(4)])
    def test_other_samplers_have_one_level(self, sampler):
        problem = make()
        life = run_life(problem, sampler=sampler)
        assert [len(stage.trained) for stage in life.stages] == [4]
        assert all(one.subset.parent is None for one in life.members)
        assert np.isfinite(life.network.score(table_of(problem))).all()

    @LOSSES
    def test_a_target_that_does_not_vary_gives_the_best_constant(self, loss):
        X = np.random.default_rng(0).normal(size=(50, 2))
        problem = Problem(ArrayRows.of(X, np.ones(50)), loss)
        life = run_life(problem)
        assert life.members == ()
        assert life.stages[0].trained[0].status is Status.NOTHING_TO_LEARN
        np.testing.assert_allclose(
            life.network.score(X), np.tile(loss.null_score(np.ones(50), np.ones(50)), (50, 1))
        )

    def test_settings_are_not_changed_by_training(self):
        solver = LLA(3, max_iter=5)
        run_life(make(), solver=solver)
        assert solver.n_neurons == 3


class TestFold:
    def test_no_network_sees_validation_rows_but_the_output_layer_is_fitted_to_all(self):
        problem = make()
        rows = problem.rows
        train, validation = np.arange(300), np.arange(300, 400)
        fold = Fold(
            Problem(rows.take(train), problem.loss),
            Problem(rows.take(validation), problem.loss),
            problem,
        )
        keeper = Keeper(RidgeOutput())
        life = run_life(problem, output=keeper, fold=fold)
        assert keeper.seen[1] is fold
        assert life.stages[0].trained[0].subset.n_rows == 300
        # Other targets on the validation rows: the members stay the same, bit for bit.
        target = rows.target.copy()
        target[validation] = 1e3
        changed = Problem(rows.with_target(target), problem.loss)
        other = Fold(fold.train, Problem(changed.rows.take(validation), problem.loss), changed)
        again = run_life(changed, output=RidgeOutput(), fold=other)
        assert [one.network for one in life.members] == [one.network for one in again.members]
        assert life.network != again.network

    def test_coefficients_are_fitted_to_the_rows_that_the_fold_says(self):
        problem = make()
        part = Problem(problem.rows.take(np.arange(300)), problem.loss)
        fold = Fold(part, None, problem)
        assert fold.refits
        assert not fold.training_only().refits
        for one, rows in ((fold, problem), (fold.training_only(), part)):
            life = run_life(problem, output=RidgeOutput(0.0), fold=one)
            residual = rows.rows.target - life.network.score(table_of(rows))[:, 0]
            # Least squares: the residuals of its own rows sum to zero, and of no others.
            assert rows.rows.weight @ residual == pytest.approx(0.0, abs=1e-6)
            other = part if rows is problem else problem
            residual = other.rows.target - life.network.score(table_of(other))[:, 0]
            assert abs(other.rows.weight @ residual) > 1e-3

    def test_the_seed_of_a_fold_follows_from_its_key(self):
        problem = make()
        one, again, other = (
            run_life(problem, fold=Fold.whole(problem, key=key)).network
            for key in ((0,), (0,), (1,))
        )
        assert one == again
        assert one != other


class TestRun:
    @LOSSES
    def test_the_same_seed_gives_the_same_network(self, loss):
        problem = make(loss)
        one, again, other = (run_life(problem, run=Run(seed)) for seed in (1, 1, 2))
        assert one.network == again.network
        assert one.network != other.network
        assert [s.splits for s in one.stages] == [s.splits for s in again.stages]

    def test_workers_do_not_change_the_network(self):
        problem = make()
        alone = run_life(problem, run=Run(1, n_jobs=1))
        assert run_life(problem, run=Run(1, n_jobs=2)).network == alone.network

    def test_repeated_subsets_of_one_level_train_different_networks(self):
        """Members get a seed of their own, also where no neuron survives and subsets are equal."""
        life = run_life(make(), sampler=NeuronProjection(levels=(3,), lower=0.49, upper=0.491))
        assert life.stages[0].trained[0].network != life.members[0].network

    def test_a_time_limit_of_nothing_still_gives_a_network(self):
        problem = make()
        begun = time.monotonic()
        life = run_life(problem, run=Run(0, deadline=Deadline.after(1e-9)))
        assert time.monotonic() - begun < 5
        assert len(life.stages) == 2  # sampling ends after the first level
        assert len(life.members) == 1
        assert life.members[0].status is Status.TIME_LIMIT
        assert np.isfinite(life.network.score(table_of(problem))).all()

    def test_a_time_limit_is_kept(self):
        problem = make(n=4000)
        begun = time.monotonic()
        life = run_life(
            problem,
            sampler=NeuronProjection(levels=(20, 20)),
            solver=LLA(20, max_iter=1000, tol=0.0),
            run=Run(0, deadline=Deadline.after(1.0)),
        )
        assert time.monotonic() - begun < 4  # a machine at work may be slow
        statuses = {one.status for stage in life.stages for one in stage.trained}
        assert statuses & {Status.TIME_LIMIT, Status.NOT_STARTED}

    def test_progress_goes_level_by_level_and_ends_with_the_output_layer(self):
        calls = []
        life = run_life(make(), run=Run(0, progress=lambda *call: calls.append(call)))
        expected = [
            (f"level {level}", done, len(stage.trained))
            for level, stage in enumerate(life.stages, 1)
            for done in range(len(stage.trained) + 1)
        ]
        assert calls == [*expected, ("output layer", 0, 1), ("output layer", 1, 1)]


class TestAccuracy:
    def test_the_ensemble_is_better_than_one_of_its_networks_on_new_rows(self):
        """A wavy surface with an interaction: more than four neurons can say."""
        generator = np.random.default_rng(0)
        X = generator.normal(size=(3000, 3))
        y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * generator.normal(size=3000)
        problem = Problem(ArrayRows.of(X[:1500], y[:1500]), SquaredError())
        solver = LLA(4)
        life = run_life(
            problem, solver=solver, sampler=NeuronProjection((8,)), output=RidgeOutput()
        )
        alone = train_single(problem, solver, Run(0), ridge=1e-4)

        def error(network):
            return np.mean((network.score(X[1500:])[:, 0] - y[1500:]) ** 2)

        assert error(life.network) < 0.5 * error(alone.network)


class TestSingleNetwork:
    def test_one_score_is_the_solvers_own_network(self):
        problem = make()
        alone = train_single(problem, SOLVER, Run(4), ridge=0.1)
        seed = np.random.SeedSequence(4, spawn_key=(0, 0))
        by_hand = solve(SOLVER, problem, [seed])
        X = table_of(problem)
        np.testing.assert_allclose(alone.network.score(X), by_hand.network.score(X), atol=1e-9)
        assert alone.outcomes[0].status is by_hand.status

    def test_several_classes_pool_the_neurons_of_each_against_the_rest(self):
        problem = make(Multinomial(3))
        alone = train_single(problem, SOLVER, Run(4), ridge=0.01)
        assert len(alone.outcomes) == 3
        np.testing.assert_array_equal(
            alone.network.weights, np.vstack([one.network.weights for one in alone.outcomes])
        )
        for code, outcome in enumerate(alone.outcomes):
            rest = Problem(
                problem.rows.with_target((problem.rows.target == code).astype(float)), Logistic()
            )
            seed = np.random.SeedSequence(4, spawn_key=(code, 0))
            by_hand = solve(SOLVER, rest, [seed])
            assert outcome.loss == pytest.approx(by_hand.loss, rel=1e-6)

    def test_the_monitor_is_told_which_network(self):
        calls = []
        train_single(
            make(Multinomial(3)),
            SOLVER,
            Run(0),
            ridge=0.01,
            monitor=lambda network, start, row: calls.append((network, start, row.iteration)),
        )
        assert {network for network, _, _ in calls} == {0, 1, 2}
        assert {start for _, start, _ in calls} == {0}
        assert [i for network, _, i in calls if network == 1][:3] == [0, 1, 2]

    def test_a_time_limit_of_nothing_still_gives_a_network(self):
        alone = train_single(
            make(Multinomial(3)), SOLVER, Run(0, deadline=Deadline.after(1e-9)), ridge=0.01
        )
        assert {one.status for one in alone.outcomes} == {Status.TIME_LIMIT}
