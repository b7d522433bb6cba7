"""Boosted trees stacked with a network, and how their settings and their weight are chosen."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

import lifenet.stacking.boosted_trees as module
from coded_tables import Coded
from lifenet import (
    BoostedTrees,
    CrossFit,
    Leaves,
    LIFEClassifier,
    LIFERegressor,
    LinearModel,
    MiniBatch,
    QuantileCoding,
    Recipe,
    ReluNetwork,
    RidgeOutput,
)
from lifenet._clock import Deadline
from lifenet.data.folds import Fold
from lifenet.data.inputs import Inputs
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.data.run import Run
from lifenet.data.units import Units
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.neurons.leaves import sample_of
from lifenet.neurons.trees import TreeSettings, grow_trees
from lifenet.stacking.base import Ensemble, FoldFit, add_with_weight, variance_loss

LOSSES = [SquaredError(), Logistic(), Multinomial(3)]
SQUARED = LOSSES[0]
named = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
FEW = BoostedTrees(
    max_leaf_nodes=(4, 8),
    min_samples_leaf=(10, 3),
    n_trees=20,
    learning_rate=(0.3,),
    max_features=1.0,
)
RECIPE = Recipe(
    codes=QuantileCoding("full", max_bins=64, min_values=2),
    neurons=(Leaves(4, 3, learning_rate=0.15, min_samples_leaf=20),),
    output=RidgeOutput(),
    finetune=MiniBatch(n_steps=20),
    resampling=CrossFit(3, extra_fold=True),
    stack=(LinearModel(), FEW),
)


def few_valued(n=400, seed=0):
    """Columns of few values: ramps are 0 or 1 at each, so that leaves are exact."""
    rng = np.random.default_rng(seed)
    table = [rng.integers(0, 8, n), rng.integers(0, 5, n), rng.integers(0, 2, n)]
    return np.column_stack(table).astype(float)


def target_of(X, loss, seed=1):
    noise = 0.3 * np.random.default_rng(seed).normal(size=len(X))
    score = np.where(X[:, 0] > 3, X[:, 1], 3 * X[:, 2]) + noise
    if isinstance(loss, SquaredError):
        return score
    edges = [1.5] if isinstance(loss, Logistic) else [0.8, 2.2]
    return np.searchsorted(edges, score).astype(float)


def inputs_of(X, y, loss=SQUARED):
    """The rows as a recipe sees them: standardised codes."""
    coded = Coded.of(X)
    problem = coded.problem(y, loss)
    units = Units(problem.rows.scaling)
    return Inputs(X, problem, problem.rows, units, columns=coded.columns)


def constant(n_inputs, score=(0.0,)):
    return ReluNetwork(
        np.zeros((0, n_inputs)), np.zeros(0), np.zeros((0, len(score))), np.asarray(score)
    )


class Case:
    """Half the rows train, half validate, and networks have these scores of the latter."""

    def __init__(self, loss, *scores, n=600):
        X = few_valued(n)
        self.loss, self.data = loss, inputs_of(X, target_of(X, loss), loss)
        rows = self.data.rows
        index = np.arange(n // 2, n)
        train, self.validation = (
            Problem(rows.take(part), loss) for part in (np.arange(n // 2), index)
        )
        self.fold = Fold(train, self.validation, train, index, (0,), self.data.columns)
        self.network = constant(rows.n_features, (0.0,) * loss.n_outputs)
        self.fits = tuple(
            FoldFit(self.fold, self.network, score(self.validation.rows.target)) for score in scores
        )

    def add(self, companion=FEW, **run):
        ensemble = Ensemble.of(self.network, self.fits)
        found = add_with_weight(ensemble, companion, self.data, Run(0, **run))
        return found.network, found.fits, (found.stacked or (None,))[-1]

    def stacked(self, companion=FEW, **run):
        return self.add(companion, **run)[2]

    def trees(self, stacked, problem):
        """The trees that were chosen, grown on some rows."""
        settings = TreeSettings(*(stacked.settings[name] for name in TreeSettings._fields))
        seed = np.random.SeedSequence(0, spawn_key=(0, 4))
        n_trees = stacked.settings["n_rounds"] * self.loss.n_outputs
        return grow_trees(sample_of(problem, self.data.columns), self.loss, settings, n_trees, seed)

    def said(self, stacked):
        """What the chosen trees of the training rows say of the validation rows."""
        values = sample_of(self.validation, self.data.columns).values
        (scores,) = self.trees(stacked, self.fold.train).scores(
            values, (stacked.settings["n_rounds"],)
        )
        return scores


def nothing(target, n_outputs=1):
    return np.zeros((len(target), n_outputs))


def noise(number):
    return np.random.default_rng(number).normal(size=(300, 1))


def noisy(target):
    return target[:, None] + noise(5)


class TestChoice:
    def test_a_poor_network_leaves_all_to_the_trees(self):
        case = Case(SQUARED, nothing)
        stacked = case.stacked()
        assert stacked.companion == "boosted trees"
        assert stacked.weight > 0.9
        assert stacked.loss < 0.1 * stacked.loss_without
        half = 0.5 * float(np.mean(case.validation.rows.target**2))
        assert stacked.loss_without == pytest.approx(half)
        assert stacked.gain == pytest.approx(stacked.loss_without - stacked.loss)

    def test_a_perfect_network_has_no_trees(self):
        case = Case(SQUARED, lambda target: target[:, None])
        network, fits, stacked = case.add()
        assert network is case.network
        assert fits == case.fits
        assert (stacked.weight, stacked.loss_without, stacked.gain) == (0.0, 0.0, 0.0)
        assert stacked.loss > 0  # what the best trees would have come to
        assert stacked.settings["n_rounds"] > 0

    def test_the_loss_is_that_of_the_weighted_mean(self):
        case = Case(SQUARED, noisy)
        stacked = case.stacked()
        assert 0 < stacked.weight < 1
        said, target = case.said(stacked), case.validation.rows.target

        def loss(weight):
            mixed = (1 - weight) * case.fits[0].score + weight * said
            return 0.5 * np.mean((mixed[:, 0] - target) ** 2)

        assert stacked.loss == pytest.approx(loss(stacked.weight))
        # No other weight of the same trees does better.
        for weight in (stacked.weight - 0.05, stacked.weight + 0.05):
            assert loss(weight) >= stacked.loss

    @named
    def test_the_network_has_trees_of_all_rows_in_their_weight(self, loss):
        case = Case(loss, lambda target: nothing(target, loss.n_outputs))
        network, fits, stacked = case.add()
        assert fits == case.fits
        rows, columns = case.data.problem, case.data.columns
        inputs = rows.rows.collect(lambda block: block.inputs[:-1].copy()).T
        trees = case.trees(stacked, rows)
        (said,) = trees.scores(sample_of(rows, columns).values, (trees.n_rounds,))
        expected = (1 - stacked.weight) * case.network.score(inputs) + stacked.weight * said
        np.testing.assert_allclose(network.score(inputs), expected, atol=1e-8)

    def test_networks_that_their_mean_improves_on_keep_more(self):
        """All have the same loss; more and more of it is variance, which their mean is without."""

        def four(share):
            common, own = 0.3 * np.sqrt(1 - share), 0.3 * np.sqrt(share)
            return [
                lambda target, k=k: target[:, None] + common * noise(5) + own * noise(6 + k)
                for k in range(4)
            ]

        found = [Case(SQUARED, *four(share)).stacked() for share in (0.0, 0.5, 1.0)]
        weights = [one.weight for one in found]
        assert weights[0] > weights[1] > weights[2]

    def test_the_gain_of_a_mean_is_never_said_to_be_all_of_the_loss(self):
        """The loss of classes far off is a line; the quadratic would say more than there is."""
        case = Case(Logistic(), lambda y: np.full((len(y), 1), 50.0), lambda y: nothing(y) - 50.0)
        single = np.mean(
            [Logistic().value(case.validation.rows.target, one.score).mean() for one in case.fits]
        )
        assert variance_loss(case.fits) > 10 * single
        stacked = case.stacked()
        assert stacked.loss_without == pytest.approx(0.1 * single)
        assert 0 < stacked.loss <= stacked.loss_without

    @named
    def test_every_loss_is_measured_by_itself(self, loss):
        stacked = Case(loss, lambda target: nothing(target, loss.n_outputs)).stacked()
        assert stacked.weight > 0.5
        assert stacked.loss < stacked.loss_without
        if not isinstance(loss, SquaredError):
            assert stacked.loss_without == pytest.approx(np.log(max(loss.n_outputs, 2)))

    def test_a_gain_below_one_standard_error_is_not_worth_the_neurons(self, monkeypatch):
        case = Case(SQUARED, noisy)
        found = case.stacked()
        said, target = case.said(found), case.validation.rows.target
        mixed = (1 - found.weight) * case.fits[0].score + found.weight * said
        saved = SQUARED.value(target, case.fits[0].score) - SQUARED.value(target, mixed)
        expected = np.std(saved) / np.sqrt(len(saved))
        assert found.standard_error == pytest.approx(expected)
        assert found.gain == pytest.approx(saved.mean())
        errors = found.gain / expected
        monkeypatch.setattr("lifenet.stacking.base._STANDARD_ERRORS", 0.99 * errors)
        assert case.stacked().weight == found.weight
        monkeypatch.setattr("lifenet.stacking.base._STANDARD_ERRORS", 1.01 * errors)
        network, _, left_out = case.add()
        assert network is case.network
        assert left_out.weight == left_out.gain == 0
        assert (left_out.loss, left_out.loss_without) == (found.loss, found.loss_without)

    def test_nothing_is_begun_after_the_deadline(self):
        case = Case(SQUARED, nothing)
        network, _, stacked = case.add(deadline=Deadline.after(-1.0))
        assert stacked is None
        assert network is case.network

    @pytest.mark.parametrize(("limit", "fewest"), [(2.0, 0), (40.0, 1), (1e6, 10)])
    def test_rounds_are_as_many_as_the_time_has_room_for(self, monkeypatch, limit, fewest):
        clock, tried = [0.0], []

        def now():
            return clock[0]

        def slow(grow):
            def grown(sample, loss, settings, n_trees, seed):
                clock[0] += n_trees * len(sample.target) / 600  # seconds a round of 600 rows
                tried.append(n_trees)
                return grow(sample, loss, settings, n_trees, seed)

            return grown

        monkeypatch.setattr("lifenet._clock.now", now)
        monkeypatch.setattr(module, "now", now)
        monkeypatch.setattr(module, "grow_trees", slow(module.grow_trees))
        _, _, stacked = Case(SQUARED, nothing).add(deadline=Deadline(0.0, limit))
        # A pilot begins before the time is over.
        assert now() <= limit + 6.0
        assert max(tried, default=0) >= fewest
        assert (stacked is None) == (limit == 2.0)

    def test_without_validation_rows_nothing_is_chosen(self):
        case = Case(SQUARED, nothing)
        case.fits = (FoldFit(Fold.whole(case.data.problem), case.network, np.zeros((0, 1))),)
        network, fits, stacked = case.add()
        assert network is case.network
        assert fits == case.fits
        assert stacked is None

    def test_enough_validation_rows_are_those_of_the_first_folds(self, monkeypatch):
        """Folds beyond that number of rows measure nothing, so that their scores do not matter."""
        good = Case(SQUARED, noisy, lambda target: target[:, None])
        bad = Case(SQUARED, noisy, lambda target: nothing(target) + 1e3)
        for case in (good, bad):  # with no variance between networks
            case.fits = tuple(
                replace(one, fold=replace(one.fold, index=300 * k + np.arange(300)))
                for k, one in enumerate(case.fits)
            )
        monkeypatch.setattr("lifenet.stacking.base._ENOUGH_ROWS", 300)
        assert good.stacked().loss == bad.stacked().loss
        monkeypatch.setattr("lifenet.stacking.base._ENOUGH_ROWS", 301)
        assert good.stacked().loss_without < 1 < bad.stacked().loss_without

    def test_large_trees_are_few_and_no_two_sizes_alike(self):
        settings = BoostedTrees(max_leaf_nodes=(8, 64, 160), n_trees=300, max_leaves=1600)
        assert settings.rounds(160, 9_000, SquaredError()) == list(range(1, 11))
        assert settings.rounds(8, 9_000, SquaredError())[-1] == 200
        assert settings.rounds(8, 9_000, Multinomial(4))[-1] == 50
        as_rows = replace(settings, max_leaves="auto")
        assert [as_rows.rounds(160, n, SquaredError())[-1] for n in (9, 32_000)] == [125, 200]
        assert [tuple(one) for one in settings.sizes(1000)] == [
            (8, 20, 0.07, 0.5, None),
            (50, 20, 0.07, 0.5, None),
        ]
        assert [one.max_leaf_nodes for one in settings.sizes(10_000)] == [8, 64, 160]

    def test_other_leaves_and_rates_are_taken_where_they_are_better(self):
        case = Case(SQUARED, nothing)
        slow = replace(FEW, learning_rate=(0.01,))
        either = replace(FEW, learning_rate=(0.01, 0.3))
        first, found = (case.stacked(one) for one in (slow, either))
        assert first.settings["learning_rate"] == 0.01
        assert found.settings["learning_rate"] == 0.3
        assert found.loss < first.loss
        # The trees that are grown are those that were measured.
        score = case.said(found) * found.weight
        target = case.validation.rows.target
        assert np.mean(SQUARED.value(target, score)) == pytest.approx(found.loss)

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("max_leaf_nodes", (8, 1), "max_leaf_nodes must be integers of 2 at least; 1 is among"),
            ("max_leaf_nodes", (), "there are none"),
            ("min_samples_leaf", (0.5,), "min_samples_leaf must be integers of 1 .*; 0.5 is among"),
            ("learning_rate", (0.1, 0), "learning_rate must be numbers above 0; 0 is among them"),
            ("n_trees", 0, "'n_trees' parameter of BoostedTrees"),
        ],
    )
    def test_a_bad_setting_is_named(self, name, value, message):
        wrong = replace(BoostedTrees(), **{name: value})
        with pytest.raises(ValueError, match=message):
            wrong.check()
        model = LIFERegressor(preset=replace(RECIPE, stack=(wrong,)))
        with pytest.raises(ValueError, match=message):
            model.fit(few_valued(), np.arange(400.0))


class TestVarianceLoss:
    def problem(self, n, loss=SQUARED):
        target = np.arange(n, dtype=float) % 2
        return Problem(ArrayRows.of(np.zeros((n, 1)), target, None), loss)

    def fit(self, index, scores, loss=SQUARED):
        train, validation = self.problem(9, loss), self.problem(len(index), loss)
        score = np.array(scores, dtype=float)[:, None]
        return FoldFit(Fold(train, validation, train, np.array(index)), constant(1), score)

    def test_half_the_curvature_times_the_variance_on_rows_that_neither_has_seen(self):
        fits = [
            self.fit([0, 1, 2], [5, 1, 2]),
            self.fit([1, 2, 7], [3, 2, 9]),
            self.fit([3, 4], [1, 1]),
        ]
        # Rows 1 and 2: (1, 3) and (2, 2); variances 2 and 0.
        assert variance_loss(fits) == pytest.approx(0.5 * (2 + 0) / 2)

    def test_the_curvature_of_classes_counts(self):
        fits = [self.fit([0], [score], Logistic()) for score in (1, 3)]
        middle = 1 / (1 + np.exp(-2.0))
        assert variance_loss(fits) == pytest.approx(0.5 * middle * (1 - middle) * 2)

    def test_without_such_rows_it_is_nothing(self):
        fits = [self.fit([2 * k, 2 * k + 1], [1 - k, 1 - k]) for k in (0, 1)]
        assert variance_loss(fits) == 0


def planted(n=450, seed=0):
    """Sharp edges, which few small trees do not find."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.uniform(-1, 1, (n, 3)), 2)
    return X, np.sign(np.sin(8 * X[:, 0])) * (1 + X[:, 1]) + 0.1 * rng.normal(size=n)


def fitted(X, y, kind=LIFERegressor, **parameters):
    return kind(**{"preset": RECIPE, "random_state": 0, **parameters}).fit(X, y)


def trees_of(model):
    """What was chosen of the trees; None where they were not weighed."""
    return next((one for one in model.stacked_ if one.companion == "boosted trees"), None)


class TestRecipe:
    def test_trees_make_it_better_and_it_stays_one_network(self):
        X, y = planted(900)
        without, both = (
            fitted(X[:450], y[:450], preset=recipe)
            for recipe in (replace(RECIPE, stack=(LinearModel(),)), RECIPE)
        )
        assert both.score(X[450:], y[450:]) > without.score(X[450:], y[450:])
        assert trees_of(without) is None
        assert trees_of(both).weight > 0
        network = both.network_
        np.testing.assert_allclose(both.predict(X), network.score(X)[:, 0])
        # A segment's parts sum to the change of the score: the whole reading interface is exact.
        (parts,) = network.segment(X[0], X[1])
        change = network.score(X[1:2]) - network.score(X[:1])
        np.testing.assert_allclose(parts.sum(axis=0), change[0], atol=1e-9)

    def test_it_is_the_mean_of_the_folds_and_the_trees_in_their_weights(self, monkeypatch):
        X, y = planted()
        seen = {}

        def look(ensemble, companion, *rest):
            seen["before"], seen["fits"] = ensemble.network, ensemble.fits
            return add_with_weight(ensemble, companion, *rest)

        monkeypatch.setattr("lifenet.recipe.recipe.add_with_weight", look)
        weak = replace(FEW, n_trees=6, learning_rate=(0.1,))
        model = fitted(X, y, preset=replace(RECIPE, stack=(LinearModel(), weak)))
        weight, before = trees_of(model).weight, seen["before"]
        assert 0 < weight < 1
        n = before.n_neurons
        inner = model.network_.network
        assert inner.n_neurons > n
        spread = np.std(y)  # scores were trained in deviations
        np.testing.assert_allclose(
            np.abs(inner.beta[:n, 0]), (1 - weight) * spread * np.abs(before.beta[:, 0])
        )
        assert len(seen["fits"]) == len(model.folds_) == 4  # a fold more

    def test_trees_may_have_all_the_weight(self):
        """Then the network has no part of the folds' networks, by which it could be validated."""
        X, y = planted()
        model = fitted(X, y)
        assert trees_of(model).weight == 1
        assert model.score(X, y) > 0.9
        with pytest.warns(UserWarning, match="was fitted to these rows"):
            frontier = model.simplify(X, y, time_limit=1e-3)
        assert frontier.seen
        assert frontier.networks

    def test_classes_have_it_too(self):
        X, y = planted()
        labels = np.array(["low", "mid", "top"])[np.digitize(y, [-0.5, 0.5])]
        model = fitted(X, labels, LIFEClassifier)
        stacked = trees_of(model)
        assert 0 < stacked.weight <= 1
        assert stacked.loss < stacked.loss_without
        assert model.score(X, labels) > 0.8

    def test_any_number_of_workers_gives_the_same(self):
        X, y = planted()
        one, two = (fitted(X, y, n_jobs=n_jobs).network_.network for n_jobs in (1, 2))
        assert one == two

    def test_without_validation_rows_there_are_no_trees(self):
        X, y = planted()
        assert fitted(X, y, validation=None).stacked_ == ()

    def test_a_splitter_has_its_own_folds(self):
        X, y = planted()
        model = fitted(X, y, validation=ShuffleSplit(2, test_size=0.3, random_state=0))
        assert len(model.folds_) == 2
        assert trees_of(model).weight > 0

    def test_the_extra_fold_shares_rows_with_the_others_and_keeps_copies_together(self):
        X, y = planted(300)
        data = inputs_of(np.tile(X, (2, 1)), np.tile(y, 2))
        *folds, more = CrossFit(3, extra_fold=True).folds(data, 0)
        assert len(folds) == 3
        index = [fold.index for fold in folds]
        np.testing.assert_array_equal(np.sort(np.concatenate(index)), np.arange(600))
        assert all(0 < len(np.intersect1d(more.index, one)) < len(more.index) for one in index)
        held = np.isin(np.arange(600), more.index)
        np.testing.assert_array_equal(held[:300], held[300:])
        assert [fold.key for fold in (*folds, more)] == [(0,), (1,), (2,), (3,)]
