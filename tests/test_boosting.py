"""Boosted trees that enter a network as they are, and how their share is chosen."""

import dataclasses
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import ShuffleSplit

from lifenet import LIFEClassifier, LIFERegressor
from lifenet import blend as blend_module
from lifenet.blend import Blend
from lifenet.blocks import ArrayRows
from lifenet.encoding import QuantileCoding
from lifenet.estimators import _fitting
from lifenet.estimators._codes import coded_columns
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.mixture import Fold, disagreement
from lifenet.rules import Boosting, grow_trees, rule_network
from lifenet.rules.boosting import Apart, Sample
from lifenet.solvers.base import Problem
from lifenet.solvers.descent import Descent

LOSSES = [SquaredError(), Logistic(), Multinomial(3)]
named = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
SEED = np.random.SeedSequence(0)
FEW = Boosting(n_leaves=(4, 8), min_leaf=(10, 3), n_trees=20, learning_rate=(0.3,), columns=1.0)
RULES = Blend(3, 0, n_trees=8, n_leaves=4, min_leaf=20, descent=Descent(n_steps=20), boosting=FEW)


def few_valued(n=400, seed=0):
    """Columns of few values: ramps are 0 or 1 at each, so that boxes are exact."""
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.integers(0, 8, n), rng.integers(0, 5, n), rng.integers(0, 2, n)])


def target_of(X, loss, seed=1):
    noise = 0.3 * np.random.default_rng(seed).normal(size=len(X))
    score = np.where(X[:, 0] > 3, X[:, 1], 3 * X[:, 2]) + noise
    if isinstance(loss, SquaredError):
        return score
    edges = [1.5] if isinstance(loss, Logistic) else [0.8, 2.2]
    return np.searchsorted(edges, score).astype(float)


def coded(X):
    """Standardised codes of the rows, and what they say of the columns."""
    coding = QuantileCoding("full", min_values=2).learn(X, None)
    rows = ArrayRows.of(coding.encode(X), np.zeros(len(X)), None).standardised()
    return rows, coded_columns(coding, rows)


def model_of(values, target, loss, n_rounds):
    squared = isinstance(loss, SquaredError)
    kind = HistGradientBoostingRegressor if squared else HistGradientBoostingClassifier
    return kind(
        max_iter=n_rounds,
        learning_rate=0.3,
        max_leaf_nodes=5,
        min_samples_leaf=8,
        max_features=0.7,
        early_stopping=False,
        random_state=2,
    ).fit(values, target)


def raw(model, values):
    predict = getattr(model, "decision_function", model.predict)
    return predict(values).reshape(len(values), -1)


def trees_of(values, target, loss, n_trees):
    return grow_trees(
        values,
        target,
        np.ones(len(values)),
        loss,
        n_trees=n_trees,
        n_leaves=5,
        learning_rate=0.3,
        min_leaf=8,
        columns=0.7,
        seed=2,
    )


class TestTrees:
    @named
    def test_their_network_says_what_they_say(self, loss):
        X = few_valued().astype(float)
        rows, columns = coded(X)
        inputs = rows.collect(lambda block: block.inputs.copy()).T
        values, target = inputs[:, columns.value], target_of(X, loss)
        n_rounds = 6
        expected = raw(model_of(values, target, loss, n_rounds), values)
        trees = trees_of(values, target, loss, n_rounds * loss.n_outputs)
        assert trees.n_rounds == n_rounds
        network = rule_network(*trees.boxes(), trees.intercept(), columns)
        np.testing.assert_allclose(network.score(inputs[:, :-1]), expected, atol=1e-9)
        # Equal boxes are one neuron.
        assert network.n_neurons < len(trees.boxes()[0])

    @named
    def test_fewer_rounds_are_those_of_fewer_trees(self, loss):
        X = few_valued().astype(float)
        target = target_of(X, loss)
        trees = trees_of(X, target, loss, 6 * loss.n_outputs)
        for n_rounds, score in zip((2, 5), trees.scores(X, (2, 5)), strict=True):
            expected = raw(model_of(X, target, loss, n_rounds), X)
            np.testing.assert_allclose(score, expected, atol=1e-9)
            boxes, height = trees.boxes(n_rounds)
            inside = np.array(
                [
                    np.all((low < X) & (high >= X), axis=1)
                    for low, high in zip(boxes.lower, boxes.upper, strict=True)
                ]
            )
            found = trees.intercept(n_rounds) + inside.T @ height
            np.testing.assert_allclose(found, expected, atol=1e-6)

    def test_a_tree_without_a_split_is_part_of_the_intercept(self):
        X = few_valued(30).astype(float)
        target = (np.arange(30) % 3 == 0).astype(float)
        trees = grow_trees(
            X, target, np.ones(30), Logistic(),
            n_trees=3, n_leaves=4, learning_rate=0.5, min_leaf=30, columns=1.0, seed=0,
        )  # fmt: skip
        assert len(trees.boxes()[0]) == 0
        (score,) = trees.scores(X, (3,))
        np.testing.assert_allclose(trees.intercept(), score[0], atol=1e-9)


def apart_of(loss, score, n=600):
    """Half the rows to learn from, half to judge, and what a network says of these."""
    X = few_valued(n).astype(float)
    target = target_of(X, loss)
    half, weight = n // 2, np.ones(n // 2)
    learn = Sample(X[:half], target[:half], weight)
    judge = Sample(X[half:], target[half:], weight)
    return Apart(learn, judge, score(judge)), Sample(X, target, np.ones(n))


class TestChoice:
    def test_a_poor_network_leaves_all_to_the_trees(self):
        apart, rows = apart_of(SquaredError(), lambda judge: np.zeros((300, 1)))
        chosen = FEW.choose([apart], rows, SquaredError(), 0.0, SEED)
        assert chosen.share > 0.9
        assert chosen.loss < 0.1 * chosen.alone
        half = 0.5 * float(np.mean(apart.judge.target**2))
        assert chosen.alone == pytest.approx(half)

    def test_a_perfect_network_has_no_trees(self):
        apart, rows = apart_of(SquaredError(), lambda judge: judge.target[:, None])
        chosen = FEW.choose([apart], rows, SquaredError(), 0.0, SEED)
        assert dataclasses.astuple(chosen) == (0, 0, 0.0, 0, 0.0, 0.0, 0.0)

    def test_the_loss_is_that_of_the_mixture(self):
        def noisy(judge):
            return (judge.target + np.random.default_rng(5).normal(size=300))[:, None]

        apart, rows = apart_of(SquaredError(), noisy)
        chosen = FEW.choose([apart], rows, SquaredError(), 0.0, SEED)
        assert 0 < chosen.share < 1
        trees = FEW.grow(apart.learn, SquaredError(), chosen, SEED)
        (said,) = trees.scores(apart.judge.values, (trees.n_rounds,))
        mixed = (1 - chosen.share) * apart.score + chosen.share * said
        expected = 0.5 * np.mean((mixed[:, 0] - apart.judge.target) ** 2)
        assert chosen.loss == pytest.approx(expected)
        # No other share of the same trees does better.
        for share in (chosen.share - 0.05, chosen.share + 0.05):
            other = (1 - share) * apart.score + share * said
            assert np.mean((other[:, 0] - apart.judge.target) ** 2) >= 2 * expected

    def test_networks_that_their_mean_improves_on_keep_more(self):
        def noisy(judge):
            return (judge.target + np.random.default_rng(5).normal(size=300))[:, None]

        apart, rows = apart_of(SquaredError(), noisy)
        shares = [
            FEW.choose([apart], rows, SquaredError(), spread, SEED).share
            for spread in (0.0, 0.3, 0.5)
        ]
        assert shares[0] > shares[1] > shares[2]

    def test_a_mean_is_never_said_to_take_off_all(self):
        apart, rows = apart_of(SquaredError(), lambda judge: np.zeros((300, 1)))
        without = FEW.choose([apart], rows, SquaredError(), 0.0, SEED)
        chosen = FEW.choose([apart], rows, SquaredError(), 1e3, SEED)
        assert chosen.alone == pytest.approx(0.1 * without.alone)
        assert 0 < chosen.loss <= chosen.alone

    @named
    def test_every_loss_is_judged_by_itself(self, loss):
        apart, rows = apart_of(loss, lambda judge: np.zeros((300, loss.n_outputs)))
        chosen = FEW.choose([apart], rows, loss, 0.0, SEED)
        assert chosen.share > 0.5
        assert chosen.loss < chosen.alone
        if not isinstance(loss, SquaredError):
            assert chosen.alone == pytest.approx(np.log(max(loss.n_outputs, 2)))

    def test_little_gain_is_not_worth_the_neurons(self):
        apart, rows = apart_of(SquaredError(), lambda judge: np.zeros((300, 1)))
        loss = SquaredError()
        assert FEW.choose([apart], rows, loss, 0.0, SEED).share > 0
        strict = replace(FEW, min_gain=0.999)
        assert strict.choose([apart], rows, loss, 0.0, SEED).share == 0

    def test_nothing_is_begun_after_the_deadline(self):
        apart, rows = apart_of(SquaredError(), lambda judge: np.zeros((300, 1)))
        late = time.monotonic() - 1
        assert FEW.choose([apart], rows, SquaredError(), 0.0, SEED, None, late).share == 0

    def test_large_trees_are_few_and_no_two_sizes_alike(self):
        settings = Boosting(n_leaves=(8, 64, 160), n_trees=300, max_rules=1600)
        assert settings._rounds(160, 9_000, SquaredError()) == list(range(1, 11))
        assert settings._rounds(8, 9_000, SquaredError())[-1] == 200
        assert settings._rounds(8, 9_000, Multinomial(4))[-1] == 50
        as_rows = replace(settings, max_rules="auto")
        assert [as_rows._rounds(160, n, SquaredError())[-1] for n in (9, 32_000)] == [125, 200]
        assert settings._sizes(1000) == [(8, 20, 0.07), (50, 20, 0.07)]
        assert [kind.n_leaves for kind in settings._sizes(10_000)] == [8, 64, 160]

    def test_other_leaves_and_rates_are_taken_where_they_are_better(self):
        loss = SquaredError()
        apart, rows = apart_of(loss, lambda judge: np.zeros((300, 1)))
        slow = replace(FEW, learning_rate=(0.01,))
        either = replace(FEW, learning_rate=(0.01, 0.3))
        first, found = (one.choose([apart], rows, loss, 0.0, SEED) for one in (slow, either))
        assert (first.learning_rate, found.learning_rate) == (0.01, 0.3)
        assert found.loss < first.loss
        # The trees that are grown are those that were judged.
        trees = either.grow(apart.learn, loss, found, SEED)
        score = trees.scores(apart.judge.values, [found.n_rounds])[0][:, 0] * found.share
        assert np.mean(loss.value(apart.judge.target, score)) == pytest.approx(found.loss)

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("n_leaves", (8, 1), "n_leaves must be integers of 2 at least; 1 is among them"),
            ("n_leaves", (), "there are none"),
            ("min_leaf", (0.5,), "min_leaf must be integers of 1 at least; 0.5 is among them"),
            ("learning_rate", (0.1, 0), "learning_rate must be numbers above 0; 0 is among them"),
            ("n_trees", 0, "'n_trees' parameter of Boosting"),
            ("min_gain", 1.0, "'min_gain' parameter of Boosting"),
        ],
    )
    def test_a_bad_setting_is_named(self, name, value, message):
        with pytest.raises(ValueError, match=message):
            replace(Boosting(), **{name: value}).check()
        model = LIFERegressor(preset=Blend(boosting=replace(Boosting(), **{name: value})))
        with pytest.raises(ValueError, match=message):
            model.fit(few_valued(), np.arange(400.0))


class TestDisagreement:
    def problem(self, n, loss=LOSSES[0]):
        target = np.arange(n, dtype=float) % 2
        return Problem(ArrayRows.of(np.zeros((n, 1)), target, None), loss)

    def test_half_the_curvature_times_the_variance_on_rows_that_neither_has_seen(self):
        folds = [
            Fold(self.problem(9), self.problem(3), np.array([0, 1, 2])),
            Fold(self.problem(9), self.problem(3), np.array([1, 2, 7])),
            Fold(self.problem(9), self.problem(2), np.array([3, 4])),
        ]
        scores = [np.array([[5.0], [1.0], [2.0]]), np.array([[3.0], [2.0], [9.0]]), np.ones((2, 1))]
        # Rows 1 and 2: (1, 3) and (2, 2); variances 2 and 0.
        assert disagreement(folds, scores) == pytest.approx(0.5 * (2 + 0) / 2)

    def test_the_curvature_of_classes_counts(self):
        part = self.problem(1, Logistic())
        folds = [Fold(part, part, np.array([0])), Fold(part, part, np.array([0]))]
        scores = [np.array([[1.0]]), np.array([[3.0]])]
        middle = 1 / (1 + np.exp(-2.0))
        expected = 0.5 * middle * (1 - middle) * 2
        assert disagreement(folds, scores) == pytest.approx(expected)

    def test_without_such_rows_it_is_nothing(self):
        folds = [
            Fold(self.problem(4), self.problem(2), np.array([2 * k, 2 * k + 1])) for k in (0, 1)
        ]
        assert disagreement(folds, [np.ones((2, 1)), np.zeros((2, 1))]) == 0


def planted(n=450, seed=0):
    """Sharp edges, which few small trees do not find."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.uniform(-1, 1, (n, 3)), 2)
    return X, np.sign(np.sin(8 * X[:, 0])) * (1 + X[:, 1]) + 0.1 * rng.normal(size=n)


class TestBlend:
    def test_trees_make_it_better_and_it_stays_one_network(self):
        X, y = planted(900)
        without = LIFERegressor(preset=replace(RULES, boosting=None), random_state=0)
        mixed = LIFERegressor(preset=RULES, random_state=0)
        scores = [model.fit(X[:450], y[:450]).score(X[450:], y[450:]) for model in (without, mixed)]
        assert scores[1] > scores[0]
        assert without.mixture_ is None
        assert mixed.mixture_.share > 0
        network = mixed.network_
        np.testing.assert_allclose(mixed.predict(X), network.score(X)[:, 0])
        # A segment's parts sum to the change of the score: the whole reading interface is exact.
        (parts,) = network.segment(X[0], X[1])
        change = network.score(X[1:2]) - network.score(X[:1])
        np.testing.assert_allclose(parts.sum(axis=0), change[0], atol=1e-9)

    def test_it_is_the_mean_of_the_folds_and_the_trees_in_their_shares(self, monkeypatch):
        X, y = planted()
        seen = {}
        mix = blend_module.mix_with_trees

        def look(network, done, *rest):
            seen["before"], seen["done"] = network, done
            return mix(network, done, *rest)

        monkeypatch.setattr(blend_module, "mix_with_trees", look)
        model = LIFERegressor(preset=RULES, random_state=0).fit(X, y)
        share, before = model.mixture_.share, seen["before"]
        n = before.n_neurons
        inner = model.network_.network
        assert inner.n_neurons > n
        spread = np.std(y)  # scores were learnt in deviations
        np.testing.assert_allclose(
            np.abs(inner.beta[:n, 0]), (1 - share) * spread * np.abs(before.beta[:, 0])
        )
        assert len(seen["done"]) == 4  # a fold more

    def test_classes_have_it_too(self):
        X, y = planted()
        labels = np.array(["low", "mid", "top"])[np.digitize(y, [-0.5, 0.5])]
        model = LIFEClassifier(preset=RULES, random_state=0).fit(X, labels)
        assert 0 < model.mixture_.share <= 1
        assert model.mixture_.loss < model.mixture_.alone
        assert model.score(X, labels) > 0.8

    def test_any_number_of_workers_gives_the_same(self):
        X, y = planted()
        one, two = (
            LIFERegressor(preset=RULES, random_state=0, n_jobs=n_jobs).fit(X, y).network_.network
            for n_jobs in (1, 2)
        )
        assert one == two

    def test_without_rows_apart_there_are_no_trees(self):
        X, y = planted()
        model = LIFERegressor(preset=RULES, random_state=0, validation=None).fit(X, y)
        assert model.mixture_ is None

    def test_a_splitter_has_its_own_folds(self):
        X, y = planted()
        splitter = ShuffleSplit(2, test_size=0.3, random_state=0)
        model = LIFERegressor(preset=RULES, random_state=0, validation=splitter).fit(X, y)
        assert len(model.members_) == 2
        assert model.mixture_.share > 0

    def test_the_fold_more_shares_rows_with_the_others_and_keeps_copies_together(self, monkeypatch):
        X, y = planted(300)
        seen = {}

        def look(problem, columns, folds, blend, run):
            seen["folds"] = folds
            return train(problem, columns, folds, blend, run)

        train = _fitting.train_blend
        monkeypatch.setattr(_fitting, "train_blend", look)
        LIFERegressor(preset=RULES, random_state=0).fit(np.tile(X, (2, 1)), np.tile(y, 2))
        *folds, more = [fold.places for fold in seen["folds"]]
        np.testing.assert_array_equal(np.sort(np.concatenate(folds)), np.arange(600))
        assert all(0 < len(np.intersect1d(more, one)) < len(more) for one in folds)
        held = np.isin(np.arange(600), more)
        np.testing.assert_array_equal(held[:300], held[300:])

    def test_folds_are_more_where_rows_are_few(self):
        assert [Blend("more").folds(n) for n in (500, 19_999, 20_000)] == [8, 8, 5]
