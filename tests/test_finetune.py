"""Fine-tuning in both resamplings: refits on all rows after a rehearsal, and folds of their own."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from lifenet import (
    LBFGS,
    CrossFit,
    Hierarchy,
    Holdout,
    Leaves,
    LIFEClassifier,
    LIFERegressor,
    MiniBatch,
    NeuronProjection,
    QuantileCoding,
    Recipe,
    ReluNetwork,
    RidgeOutput,
)
from lifenet._clock import NEVER
from lifenet.data.evaluation import mean_loss
from lifenet.data.folds import Fold
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.datasets import simulate
from lifenet.finetune.base import FineTuned, fine_tune
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.neurons.features import Activations
from lifenet.neurons.layer import Layer
from lifenet.output.base import fit_output
from lifenet.solvers.base import Status
from oracles import split_rows, store, stored

TUNINGS = [LBFGS(20, patience=5), MiniBatch(40, learning_rate=5e-3, batch_size=64)]
LOSSES = [SquaredError(), Logistic(), Multinomial(3)]
each_tuning = pytest.mark.parametrize("tuning", TUNINGS, ids=lambda one: type(one).__name__)
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda one: type(one).__name__)
NAMES = ("weights", "bias", "beta", "intercept")


def same(one, other):
    """Whether two networks are the same to the last digit."""
    pairs = [(getattr(one.dense(), name), getattr(other.dense(), name)) for name in NAMES]
    alike = np.array_equal(stored(one.weights), stored(other.weights))
    return alike and all(np.array_equal(*pair) for pair in pairs)


def seed():
    return np.random.SeedSequence(5)


def make(loss=LOSSES[0], n=400, number=0):
    """Rows of a network with noise, and neurons near its own, some weights of which may move."""
    rng = np.random.default_rng(number)
    truth = ReluNetwork(
        rng.normal(size=(6, 4)),
        rng.normal(size=6),
        2.0 * rng.normal(size=(6, loss.n_outputs)),
        np.zeros(loss.n_outputs),
    )
    X = rng.normal(size=(n, 4))
    score = truth.score(X)
    if loss.n_outputs > 1:
        y = (score + rng.gumbel(size=score.shape)).argmax(axis=1).astype(float)
    elif loss.separable:
        y = (score[:, 0] + rng.logistic(size=n) > 0).astype(float)
    else:
        y = score[:, 0] + 0.3 * rng.normal(size=n)
    theta = np.column_stack([truth.weights, truth.bias]) + 0.3 * rng.normal(size=(6, 5))
    moves = rng.random((6, 4)) < 0.7
    layer = Layer.of(Activations(store(theta[:, :-1], moves), theta[:, -1]), np.ones(6))
    return Problem(ArrayRows.of(X, y), loss), layer


def tune(tuning, fold, layer):
    """The network of a fold, as a recipe makes it, and as it was before fine-tuning."""
    output = RidgeOutput()
    network, _ = fit_output(output, layer, fold, seed())

    def rehearse():
        return fit_output(output, layer, fold.training_only(), seed())[0]

    return network, fine_tune(tuning, network, fold, rehearse, seed(), NEVER)


class TestHoldout:
    """Coefficients of all rows: a rehearsal on the training rows says how far to go."""

    @each_loss
    @each_tuning
    def test_all_rows_are_refined_for_as_long_as_the_rehearsal_gained(self, tuning, loss):
        problem, layer = make(loss)
        train, validation = split_rows(problem, 300)
        fold = Fold(train, validation, problem)
        network, found = tune(tuning, fold, layer)
        start, _ = fit_output(RidgeOutput(), layer, Fold(train, validation, train), seed())
        rehearsed = tuning.refine(train, start, validation=validation, seed=seed())
        assert rehearsed.n_iterations > 0
        expected = tuning.refine(
            problem,
            network,
            seed=seed(),
            n_iterations=rehearsed.n_iterations,
        )
        assert same(found.network, expected.network)
        assert found.n_iterations == rehearsed.n_iterations == expected.n_iterations
        assert found.validation_losses == rehearsed.validation_losses
        assert found.status is rehearsed.status
        # All rows are fitted better than before.
        assert mean_loss(problem, found.network) < mean_loss(problem, network)

    @each_tuning
    def test_validation_rows_are_among_those_that_are_refined(self, tuning):
        """Their targets move the network; where they only choose, they would not beyond that."""
        problem, layer = make()
        train, validation = split_rows(problem, 300)
        network, found = tune(tuning, Fold(train, validation, problem), layer)
        alone = tuning.refine(
            train,
            network,
            seed=seed(),
            n_iterations=found.n_iterations,
        )
        assert not same(found.network, alone.network)

    @pytest.mark.parametrize(
        "tuning",
        [LBFGS(decay=100.0, patience=3), MiniBatch(100, learning_rate=100.0)],
        ids=lambda one: type(one).__name__,
    )
    def test_where_the_rehearsal_gains_nothing_the_network_stays(self, tuning):
        """All weights shrink at once, or steps lead far away."""
        problem, layer = make()
        train, validation = split_rows(problem, 300)
        network, found = tune(tuning, Fold(train, validation, problem), layer)
        assert found.network is network
        assert found.n_iterations == 0
        assert len(found.validation_losses) > 1
        assert found.validation_loss == found.validation_losses[0]

    def test_what_a_rehearsal_says_is_kept(self):
        """A fine-tuning that only counts: what it is given, and what becomes of its answers."""
        calls = []

        class Counting:
            def refine(self, problem, network, **given):
                calls.append((problem, network, given))
                first = "validation" in given
                status = Status.VALIDATED if first else Status.MAX_ITER
                losses = (3.0, 1.0, 2.0) if first else ()
                n = 7 if first else given["n_iterations"]
                return FineTuned(network, status, n, (), losses, 1.5)

        problem, layer = make()
        train, validation = split_rows(problem, 300)
        network, found = tune(Counting(), Fold(train, validation, problem), layer)
        (first, start, given), (second, again, after) = calls
        assert (first, second) == (train, problem)
        assert again is network
        assert start is not network
        assert given["validation"] is validation
        assert "n_iterations" not in given
        assert "validation" not in after
        assert after["n_iterations"] == 7
        np.testing.assert_array_equal(stored(again.weights), stored(layer.neurons.weights))
        np.testing.assert_array_equal(stored(start.weights), stored(layer.neurons.weights))
        assert (found.status, found.n_iterations) == (Status.VALIDATED, 7)
        assert found.validation_losses == (3.0, 1.0, 2.0)
        assert found.seconds == 3.0


class TestCrossFit:
    """Coefficients of the training rows: validation rows only choose where to stop."""

    @each_loss
    @each_tuning
    def test_training_rows_are_refined_as_far_as_validation_rows_gain(self, tuning, loss):
        problem, layer = make(loss)
        train, validation = split_rows(problem, 300)
        network, found = tune(tuning, Fold(train, validation, train), layer)
        expected = tuning.refine(train, network, validation=validation, seed=seed())
        assert same(found.network, expected.network)
        assert found.n_iterations > 0
        assert found.validation_loss == pytest.approx(
            mean_loss(validation, found.network), rel=1e-5
        )
        assert found.validation_loss < found.validation_losses[0]

    @each_tuning
    def test_validation_rows_only_choose(self, tuning):
        """The network is one of those that the training rows alone lead through."""
        problem, layer = make()
        train, validation = split_rows(problem, 300)
        network, found = tune(tuning, Fold(train, validation, train), layer)
        alone = tuning.refine(
            train,
            network,
            seed=seed(),
            n_iterations=found.n_iterations,
        )
        assert same(found.network, alone.network)

    @each_tuning
    def test_weights_that_may_not_move_stand_still(self, tuning):
        problem, layer = make()
        train, validation = split_rows(problem, 300)
        network, found = tune(tuning, Fold(train, validation, train), layer)
        moves, after = stored(network.weights), found.network.dense().weights
        assert network.is_sparse
        assert 0 < moves.sum() < moves.size
        assert not after[~moves].any()
        # All others do move: by more than the neuron's own unit.
        before = network.dense().weights
        for k in np.flatnonzero(moves.sum(axis=1) > 1):
            ratio = after[k, moves[k]] / before[k, moves[k]]
            assert np.ptp(ratio) > 1e-4 * np.abs(ratio).max()


@each_tuning
@pytest.mark.parametrize("empty", ["no validation rows", "no neurons"])
def test_without_validation_rows_or_neurons_there_is_no_fine_tuning(tuning, empty):
    problem, layer = make()
    train, validation = split_rows(problem, 300)
    fold = Fold.whole(problem) if empty == "no validation rows" else Fold(train, validation, train)
    if empty == "no neurons":
        layer = layer.pick(np.zeros(0, dtype=int))
    assert tune(tuning, fold, layer)[1] is None


# ---------------------------------------------------------------------- in recipes


FEW = Hierarchy(sampler=NeuronProjection(levels=(4,), max_networks=4))
PLAIN = {"neurons": (FEW,)}
CODED = {
    "codes": QuantileCoding("full", max_bins=8, min_values=2),
    "neurons": (
        Leaves(n_trees=6, max_leaf_nodes=4, learning_rate=0.15, max_features=0.5),
        Hierarchy(n_neurons=3, n_networks=2),
    ),
    "output": RidgeOutput(discounts=(3.0, 30.0)),
}
RESAMPLINGS = [Holdout(), CrossFit(2)]


def fitted(estimator, X, y, **parts):
    return estimator(preset=Recipe(**parts), random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def data():
    sample = simulate.aim(900, noise=0.1, random_state=0)
    return sample.X, sample.y


@each_tuning
@pytest.mark.parametrize("parts", [PLAIN, CODED], ids=["columns", "codes"])
@pytest.mark.parametrize("resampling", RESAMPLINGS, ids=lambda one: type(one).__name__)
class TestRecipes:
    def test_every_fold_is_fine_tuned(self, data, tuning, parts, resampling):
        X, y = data
        before, after = (
            fitted(LIFERegressor, X, y, **parts, resampling=resampling, finetune=one)
            for one in (None, tuning)
        )
        assert len(before.folds_) == len(after.folds_) == getattr(resampling, "n_folds", 1)
        for plain, tuned in zip(before.folds_, after.folds_, strict=True):
            assert (plain.status, plain.iterations) == ("not fine-tuned", 0)
            assert tuned.iterations > 0
            assert min(tuned.validation_losses) < tuned.validation_losses[0]
            assert tuned.n_neurons == plain.n_neurons
            if isinstance(resampling, CrossFit):  # nothing is fitted to the validation rows
                assert tuned.loss == pytest.approx(min(tuned.validation_losses), rel=1e-4)
                assert tuned.validation_losses[0] == pytest.approx(plain.loss, rel=1e-4)
        assert self.columns(after) == self.columns(before)

    def columns(self, model):
        """The columns, and kinds of codes, that each neuron reads: fine-tuning adds none."""
        network, coding = model.network_, model.coding_
        if coding is None:
            return None
        column = coding.column_of_code
        first = np.searchsorted(column, column)
        smooth = np.arange(len(column)) - first < 2  # value and normal score, then the ramps
        kind = 2 * column + smooth
        return [set(kind[np.flatnonzero(row)]) for row in network.network.dense().weights]


@each_tuning
@pytest.mark.parametrize("resampling", RESAMPLINGS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_fine_tuned_in_both_resamplings(data, tuning, resampling, n_classes):
    X, score = data
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    # Base learners that are hardly trained: there is something left to gain.
    small = {**CODED, "neurons": (Hierarchy(n_neurons=3, n_networks=2, max_iter=1),)}
    before, after = (
        fitted(LIFEClassifier, X, y, **small, resampling=resampling, finetune=one)
        for one in (None, tuning)
    )
    for fold in after.folds_:
        assert fold.iterations > 0
        assert fold.validation_losses[0] > min(fold.validation_losses)
    np.testing.assert_allclose(after.predict_proba(X).sum(axis=1), 1.0)
    losses = [log_loss(y, model.predict_proba(X)) for model in (before, after)]
    assert losses[1] < losses[0] < np.log(n_classes)
