"""Blends: LIFE's presets that join narrow networks and the rules of trees, fold by fold."""

import pickle
from dataclasses import replace

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
)

from lifenet import (
    CodedNetwork,
    LIFEClassifier,
    LIFERegressor,
    LLARegressor,
    NeuronProjection,
    ReluNetwork,
)
from lifenet import blend as blend_module
from lifenet.blend import Blend, train_fold
from lifenet.blocks import ArrayRows
from lifenet.estimators import _fitting, _parts
from lifenet.kernels.hashing import hash_rows
from lifenet.losses import Logistic, SquaredError
from lifenet.rules.boosting import Boosting
from lifenet.simplify import Simplify
from lifenet.solvers.base import Problem
from lifenet.solvers.descent import Descent
from oracles import old_openblas

FEW = {"min_leaf": 20, "n_folds": 2, "n_trees": 8, "n_leaves": 4, "n_bins": 8}
SMALL = Blend(**FEW, n_networks=2, descent=Descent(n_steps=20))
# Without narrow networks a fit takes a tenth of a second.
RULES = Blend(**FEW, n_networks=0, descent=Descent(n_steps=20))


def planted(n=450, seed=0):
    """A step and an interaction. Trees bin columns of few values much faster."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.uniform(-1, 1, (n, 3)), 2)
    signal = np.where(X[:, 0] > 0.2, 1.0, 0.0) + 2 * X[:, 1] * (X[:, 2] > 0)
    return X, signal + 0.1 * rng.normal(size=n)


def labelled(n=450, seed=0):
    X, y = planted(n, seed)
    return X, np.array(["low", "mid", "top"])[np.digitize(y, [0.0, 1.0])]


def blended(preset=RULES, **settings):
    return LIFERegressor(**{"preset": preset, "random_state": 0, **settings})


def blended_classifier(preset=RULES, **settings):
    return LIFEClassifier(**{"preset": preset, "random_state": 0, **settings})


def same(one, other):
    """Bit for bit."""
    if isinstance(one, CodedNetwork):
        return isinstance(other, CodedNetwork) and same(one.network, other.network)
    return one == other


@pytest.fixture(scope="module")
def fitted():
    return blended(SMALL).fit(*planted())


@pytest.fixture(scope="module")
def of_rules():
    return blended().fit(*planted())


@pytest.fixture(scope="module")
def three():
    return blended_classifier(SMALL).fit(*labelled())


@pytest.fixture
def quick(monkeypatch):
    """Presets and the paper's way in a tenth of a second."""
    small = {"fast": RULES, "best": replace(RULES, n_folds=3), "small": RULES}
    for name, blend in small.items():
        for known in (_parts.BLENDS, _parts.BLENDS_OF_NUMBERS):
            monkeypatch.setitem(known, name, blend)
    monkeypatch.setitem(_parts.SAMPLERS, "neurons", lambda: NeuronProjection(levels=()))
    return small


class Enough(Exception):
    """Nothing is to be trained."""


@pytest.fixture
def folds_of(monkeypatch):
    """What a fit would train on: all rows, their columns and the folds."""

    def look(X, y, sample_weight=None, groups=None, model=None, **settings):
        seen = []

        def stop(problem, columns, folds, blend, run):
            seen.append((problem, columns, folds))
            raise Enough

        with monkeypatch.context() as patch:
            patch.setattr(_fitting, "train_blend", stop)
            model = blended(**settings) if model is None else model
            with pytest.raises(Enough):
                model.fit(X, y, sample_weight, groups=groups)
        return seen[0]

    return look


class TestWhichPresetIsTaken:
    @pytest.mark.parametrize("estimator", [LIFERegressor, LIFEClassifier])
    def test_many_rows_and_no_step_are_blended_fast(self, quick, estimator):
        X, y = planted(200)
        y = y if estimator is LIFERegressor else y > 0.5
        model = estimator(random_state=0)
        assert model.preset == "auto"
        model.fit(X, y)
        assert model.blend_ == quick["fast"]
        assert isinstance(model.network_, CodedNetwork)
        assert same(model.network_, clone(model).set_params(preset="fast").fit(X, y).network_)

    def test_a_name_is_its_blend(self, quick):
        X, y = planted()
        model = blended("best").fit(X, y)
        assert model.blend_ == quick["best"]
        assert len(model.members_) == 3

    def test_fewer_rows_go_the_papers_way(self, quick):
        X, y = planted(60)
        model = blended("auto").fit(X, y)
        assert model.blend_ is None
        assert model.coding_ is None
        assert isinstance(model.network_, ReluNetwork)
        assert same(model.network_, blended("paper").fit(X, y).network_)

    def test_rows_without_weight_do_not_count(self, quick):
        X, y = planted(400)
        weight = np.zeros(400)
        weight[:60] = 1
        assert blended("auto").fit(X, y, weight).blend_ is None
        weight[:200] = 1
        assert blended("auto").fit(X, y, weight).blend_ == quick["fast"]

    @pytest.mark.parametrize(
        ("step", "value"),
        [
            ("sampler", "neurons"),
            ("solver", "lla"),
            ("readout", "ridge"),
            ("coding", "piecewise"),
            ("polish", "lbfgs"),
            ("warm_start", True),
        ],
    )
    def test_a_given_step_goes_the_papers_way_unless_a_blend_is_asked_for(self, quick, step, value):
        X, y = planted()
        model = blended("auto", **{step: value}).fit(X, y)
        assert model.blend_ is None
        paper = blended("paper", **{step: value}).fit(X, y)
        assert same(model.network_, paper.network_)
        message = f"'{step}'; use preset='paper', or leave '{step}' out"
        for preset in ("fast", "best", "small", RULES):
            with pytest.raises(ValueError, match=message):
                blended(preset, **{step: value}).fit(X, y)

    def test_rows_that_make_no_folds_go_the_papers_way(self, quick):
        X, y = planted()
        X, labels = X[np.arange(450) % 50], y > 0.5
        model = blended_classifier("auto").fit(X, labels)
        assert model.blend_ is None
        assert same(model.network_, blended_classifier("paper").fit(X, labels).network_)

    @pytest.mark.parametrize("preset", ["fast", "best", "small", RULES])
    def test_where_a_blend_was_asked_for_a_warning_says_so(self, quick, preset):
        X, y = planted(60)
        with pytest.warns(UserWarning, match="60 rows .* the paper's way"):
            assert blended(preset).fit(X, y).blend_ is None

    def test_a_fit_after_a_blend_can_be_the_papers(self, quick):
        X, y = planted()
        model = blended().fit(X, y).set_params(preset="paper").fit(X, y)
        assert model.blend_ is None
        assert same(model.network_, blended("paper").fit(X, y).network_)


class TestSettings:
    @pytest.mark.parametrize("preset", ["fastest", None, 3, Blend])
    def test_an_unknown_preset_is_refused(self, preset):
        with pytest.raises(ValueError, match="'preset' parameter of LIFERegressor"):
            blended(preset).fit(*planted())

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("n_folds", 1),
            ("n_folds", "many"),
            ("n_networks", -1),
            ("n_trees", 0),
            ("n_leaves", 1),
            ("learning_rate", 0.0),
            ("min_leaf", 0),
            ("columns", 0.0),
            ("columns", 1.5),
            ("n_bins", 1),
            ("descent", "adam"),
        ],
    )
    def test_a_bad_setting_is_named(self, name, value):
        with pytest.raises(ValueError, match=f"'{name}' parameter of Blend"):
            blended(Blend(**{name: value})).fit(*planted())

    def test_a_bad_setting_of_the_descent_is_named(self):
        with pytest.raises(ValueError, match="'n_steps' parameter of Descent"):
            blended(Blend(descent=Descent(n_steps=-1))).fit(*planted())

    def test_settings_can_be_set_and_cloned(self):
        model = blended(Blend()).set_params(preset__n_trees=7, preset__descent__n_steps=3)
        copy = clone(model)
        assert copy.preset == Blend(n_trees=7, descent=Descent(n_steps=3))
        assert copy.preset is not model.preset
        assert blended("fast").get_params()["preset"] == "fast"

    def test_settings_can_be_searched(self):
        X, y = planted(500)
        cv = ShuffleSplit(1, train_size=0.9, random_state=0)
        search = GridSearchCV(blended(clone(RULES)), {"preset__n_trees": [1, 8]}, cv=cv)
        search.fit(X, y)
        assert search.best_params_ == {"preset__n_trees": 8}
        assert search.best_estimator_.blend_.n_trees == 8

    def test_fitting_leaves_them_as_they_were(self, of_rules):
        assert of_rules.preset is RULES
        assert replace(RULES) == Blend(**FEW, n_networks=0, descent=Descent(n_steps=20))

    def test_auto_follows_the_rows_and_the_columns(self):
        blend = Blend()
        assert (blend.folds(2_999), blend.folds(3_000), SMALL.folds(3_000)) == (5, 4, 2)
        assert (blend.networks(3, 900.0), blend.networks(1_000, 900.0)) == (20, 4)
        assert (SMALL.networks(1_000, 900.0), RULES.networks(3, 900.0)) == (2, 0)
        assert (blend.networks(3, 399.0), blend.networks(3, 900.0, n_outputs=3)) == (8, 7)
        assert (blend.rows_of_leaf(399.0), blend.rows_of_leaf(400.0)) == (10, 20)
        assert replace(blend, min_leaf=3).rows_of_leaf(1e6) == 3
        rows = ArrayRows.of(np.zeros((2, 1)), np.array([0.0, 1.0]), np.array([4_999.0, 1.0]))
        assert blend.leaves(Problem(rows, SquaredError())) == 16
        assert blend.leaves(Problem(rows, Logistic())) == 8
        assert SMALL.leaves(Problem(rows, SquaredError())) == 4


class TestTheNetwork:
    def test_it_is_the_mean_of_the_members(self, fitted):
        X, _ = planted(seed=1)
        codes = fitted.coding_.encode(X)
        assert len(fitted.members_) == 2
        scores = [member.network.score(codes)[:, 0] for member in fitted.members_]
        np.testing.assert_allclose(fitted.predict(X), np.mean(scores, axis=0), atol=1e-10)
        n_neurons = [member.network.n_neurons for member in fitted.members_]
        assert fitted.network_.n_neurons <= sum(n_neurons)

    @pytest.mark.parametrize("model", ["fitted", "three"])
    def test_contributions_and_intercept_are_the_score(self, request, model):
        network = request.getfixturevalue(model).network_
        X, _ = planted(60, seed=1)
        total = network.contributions(X).sum(axis=1) + network.local_intercept(X)
        np.testing.assert_allclose(total, network.score(X), atol=1e-8)

    def test_activations_and_readout_are_the_score(self, fitted):
        X, _ = planted(seed=1)
        inner = fitted.network_.network
        score = fitted.transform(X) @ inner.beta[:, 0] + inner.intercept[0]
        np.testing.assert_allclose(score, fitted.predict(X), atol=1e-10)
        assert len(fitted.get_feature_names_out()) == fitted.transform(X).shape[1]

    def test_it_is_constant_outside_the_training_range(self, fitted):
        X, _ = planted()
        for column in range(3):
            for end, far in ((X[:, column].min(), -1e6), (X[:, column].max(), 1e6)):
                at_end, beyond = X[:20].copy(), X[:20].copy()
                at_end[:, column], beyond[:, column] = end, far
                np.testing.assert_allclose(
                    fitted.predict(beyond), fitted.predict(at_end), atol=1e-12
                )

    def test_narrow_networks_and_rules_are_both_in_it(self, fitted, of_rules):
        assert 0 < of_rules.network_.n_neurons < fitted.network_.n_neurons

    def test_hierarchy_and_record_have_one_level(self, fitted):
        pytest.importorskip("pandas")
        assert len(fitted.hierarchy_) == 1
        level = fitted.hierarchy_.levels[0]
        assert len(level.networks) == 2
        frame = fitted.record_.to_frame()
        assert list(frame["level"]) == [1, 1]
        assert list(frame["member"]) == [0, 1]
        assert list(frame["neurons"]) == [one.network.n_neurons for one in fitted.members_]
        assert frame["rows"].sum() == 450
        assert frame["share"].sum() == pytest.approx(1.0)
        assert np.isfinite(frame["loss"]).all()
        assert set(frame["status"]) == {"completed"}
        assert fitted.polished_ is None

    def test_a_small_one_has_few_neurons(self, quick, of_rules, monkeypatch):
        monkeypatch.setattr(_fitting, "SMALL_NEURONS", 8)
        X, y = planted()
        model = blended("small").fit(X, y)
        assert 0 < model.network_.n_neurons <= 8 < of_rules.network_.n_neurons
        assert isinstance(model.network_, CodedNetwork)
        assert model.score(*planted(seed=1)) > Ridge().fit(X, y).score(*planted(seed=1)) + 0.1

    def test_its_codes_may_be_in_single_precision(self, monkeypatch):
        """On the same folds: drawn by a hash, they would be others in another precision."""
        X, y = planted()
        model = blended(validation=KFold(2, shuffle=True, random_state=0))
        double = clone(model).fit(X, y).predict(X)
        monkeypatch.setattr(_fitting, "_MOST_DOUBLE", 0)
        single = clone(model).fit(X, y).predict(X)
        assert np.corrcoef(single, double)[0, 1] > 0.99


class TestFolds:
    def test_every_row_is_in_one_fold(self, folds_of):
        X, y = planted()
        _, _, folds = folds_of(X, y, preset=replace(RULES, n_folds=4))
        assert len(folds) == 4
        judges = np.concatenate([fold.judge.rows.index for fold in folds])
        np.testing.assert_array_equal(np.sort(judges), np.arange(450))
        for fold in folds:
            both = np.concatenate([fold.learn.rows.index, fold.judge.rows.index])
            np.testing.assert_array_equal(np.sort(both), np.arange(450))
            assert 450 / 8 < len(fold.judge.rows.index) < 450 / 2

    def test_equal_rows_are_in_the_same_fold(self, folds_of):
        X, y = planted()
        _, _, folds = folds_of(np.tile(X, (2, 1)), np.tile(y, 2))
        for fold in folds:
            inside = np.isin(np.arange(900), fold.judge.rows.index)
            np.testing.assert_array_equal(inside[:450], inside[450:])

    def test_their_order_does_not_matter(self, folds_of):
        X, y = planted()
        order = np.random.default_rng(0).permutation(450)
        _, _, folds = folds_of(X, y)
        _, _, shuffled = folds_of(X[order], y[order])
        for one, other in zip(folds, shuffled, strict=True):
            found = np.sort(order[other.judge.rows.index])
            np.testing.assert_array_equal(found, one.judge.rows.index)

    def test_another_seed_has_other_folds(self, folds_of):
        X, y = planted()
        _, _, folds = folds_of(X, y)
        _, _, others = folds_of(X, y, random_state=1)
        assert not np.array_equal(folds[0].judge.rows.index, others[0].judge.rows.index)

    @pytest.mark.parametrize(
        "splitter",
        [GroupKFold(3), ShuffleSplit(2, test_size=0.3, random_state=0), KFold(4)],
        ids=["groups", "shuffle", "k-fold"],
    )
    def test_a_splitter_has_its_own(self, folds_of, splitter):
        X, y = planted()
        groups = np.arange(450) // 10 if isinstance(splitter, GroupKFold) else None
        weight = np.where(np.arange(450) < 30, 0.0, 1.0)
        _, _, folds = folds_of(X, y, weight, groups, validation=splitter)
        for fold, (learn, judge) in zip(folds, splitter.split(X, y, groups), strict=True):
            np.testing.assert_array_equal(fold.learn.rows.index, np.sort(learn[learn >= 30]))
            np.testing.assert_array_equal(fold.judge.rows.index, np.sort(judge[judge >= 30]))

    def test_a_share_is_one_fold(self):
        X, y = planted()
        model = blended(validation=0.25).fit(X, y)
        assert len(model.members_) == 1
        assert 0.65 * 450 < model.record_["rows"][0] < 0.85 * 450

    def test_without_any_all_rows_are_learnt_from(self):
        X, y = planted()
        model = blended(validation=None).fit(X, y)
        assert len(model.members_) == 1
        assert model.record_["rows"][0] == 450
        assert np.isnan(model.record_["loss"][0])
        assert model.score(*planted(seed=1)) > 0.8

    def test_they_are_fewer_where_rows_are_few(self, folds_of):
        X, y = planted(150)
        _, _, folds = folds_of(X, y, preset=replace(RULES, n_folds=30))
        assert 2 <= len(folds) < 8
        assert min(len(fold.places) for fold in folds) >= 20
        np.testing.assert_array_equal(
            np.sort(np.concatenate([fold.places for fold in folds])), np.arange(150)
        )

    def test_all_learn_from_a_class_that_one_would_hold_out(self, folds_of):
        X, y = labelled()
        y[7] = "rare"
        problem, _, folds = folds_of(X, y, model=blended_classifier())
        code = problem.rows.target[7]
        for fold in folds:
            assert code in fold.learn.rows.target
            assert code not in fold.judge.rows.target
        assert blended_classifier().fit(X, y).predict_proba(X).shape == (450, 4)

    def test_a_class_wholly_held_out_is_refused(self):
        X, y = labelled()
        splitter = PredefinedSplit(np.where(y == "top", 0, 1))
        with pytest.raises(ValueError, match=r"holds out all rows of the classes \['top'\]"):
            blended_classifier(validation=splitter).fit(X, y)

    def test_members_learn_from_all_rows_but_those_that_judge_them(self, monkeypatch):
        X, y = planted()
        seen = []

        def recorded(blend, columns, learn, judge, seed, fold, deadline=None):
            seen.append((fold, learn.rows.index, judge.rows.index))
            return train_fold(blend, columns, learn, judge, seed, fold, deadline)

        monkeypatch.setattr(blend_module, "train_fold", recorded)
        model = blended(replace(RULES, n_folds=3)).fit(X, y)
        assert [fold for fold, _, _ in seen] == [0, 1, 2]
        for _, learn, judge in seen:
            assert not set(learn) & set(judge)
            assert set(learn) | set(judge) == set(range(450))
        assert list(model.record_["rows"]) == [len(learn) for _, learn, _ in seen]

    def test_neurons_do_not_know_the_rows_that_judge(self, folds_of):
        X, y = planted()
        blend = replace(SMALL, descent=Descent(n_steps=0))
        _, columns, folds = folds_of(X, y, preset=blend)
        learn, judge = folds[0].learn, folds[0].judge
        wild = Problem(judge.rows.with_target(100 * judge.rows.target[::-1]), judge.loss)
        one = train_fold(blend, columns, learn, judge, 0, 0).network
        other = train_fold(blend, columns, learn, wild, 0, 0).network
        np.testing.assert_array_equal(one.weights, other.weights)
        np.testing.assert_array_equal(one.bias, other.bias)
        # The penalty is theirs to choose.
        assert not np.array_equal(one.beta, other.beta)


class TestPromises:
    @pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
    def test_the_same_seed_gives_the_same_model_anywhere(self, fitted, backend):
        X, y = planted()
        with joblib.parallel_config(backend):
            other = blended(SMALL, n_jobs=None if backend == "sequential" else 2).fit(X, y)
        if old_openblas():
            np.testing.assert_allclose(other.predict(X), fitted.predict(X), rtol=1e-8)
        else:
            assert same(other.network_, fitted.network_)

    def test_another_seed_gives_another(self, of_rules):
        assert not same(blended(random_state=1).fit(*planted()).network_, of_rules.network_)

    def test_a_time_limit_leaves_at_least_one(self):
        pytest.importorskip("pandas")
        X, y = planted()
        model = blended(SMALL, time_limit=1e-6).fit(X, y)
        assert len(model.members_) == 1
        frame = model.record_.to_frame()
        assert list(frame["status"]) == ["time_limit", "not_started"]
        assert list(frame["member"]) == [0, -1]
        assert model.score(X, y) > 0.5
        codes = model.coding_.encode(X)
        alone = model.members_[0].network.score(codes)[:, 0]
        np.testing.assert_allclose(model.predict(X), alone, atol=1e-12)

    def test_verbose_prints_a_line(self, capsys):
        blended(verbose=1).fit(*planted())
        first, second, last = capsys.readouterr().out.splitlines()
        assert first.startswith("fold 1 of 2 done, ")
        assert second.startswith("fold 2 of 2 done, ")
        assert last.startswith("level 1: 2 networks done, ")
        blended(verbose=1, time_limit=1e-6).fit(*planted())
        assert "level 1: 1 of 2 networks done" in capsys.readouterr().out
        blended().fit(*planted())
        assert capsys.readouterr().out == ""

    @pytest.mark.parametrize("task", ["regression", "classes"])
    def test_rows_of_no_weight_do_not_matter(self, task):
        X, y = planted() if task == "regression" else labelled()
        model = blended() if task == "regression" else blended_classifier()
        more = np.vstack([3 * X[::-1], X])
        weight = np.repeat([0.0, 1.0], 450)
        weighted = clone(model).fit(more, np.tile(y, 2), weight)
        assert same(weighted.network_, model.fit(X, y).network_)

    def test_weights_equal_repeated_rows_where_leaves_may_have_one(self):
        X, y = planted()
        times = np.random.default_rng(0).integers(1, 3, len(X))
        rows = np.repeat(np.arange(len(X)), times)
        model = blended(replace(RULES, min_leaf=1, columns=1.0, descent=Descent(n_steps=0)))
        weighted = clone(model).fit(X, y, times.astype(float)).predict(X)
        repeated = clone(model).fit(X[rows], y[rows]).predict(X)
        np.testing.assert_allclose(weighted, repeated, atol=1e-8)

    def test_networks_are_kept_once(self, fitted):
        (level,) = fitted.hierarchy_.levels
        pairs = zip(fitted.members_, level.networks, strict=True)
        assert all(member.network is network for member, network in pairs)

    def test_it_survives_pickling(self, three):
        X, _ = labelled(seed=1)
        other = pickle.loads(pickle.dumps(three))
        np.testing.assert_array_equal(other.predict_proba(X), three.predict_proba(X))
        assert other.blend_ == SMALL

    def test_a_failed_fit_leaves_it_as_it_was(self, of_rules):
        X, y = planted()
        new = blended()
        bad = np.where(np.arange(450) == 3, np.nan, y)
        for model in (new, of_rules):
            before = vars(model).copy()
            with pytest.raises(ValueError, match="NaN"):
                model.fit(X, bad)
            assert vars(model) == before
        assert not hasattr(new, "network_")

    def test_a_fit_that_fails_in_a_fold_leaves_it_as_it_was(self, monkeypatch):
        X, y = planted()
        model = blended(validation=0.3).fit(X, y)
        before = vars(model).copy()

        def fails(*_):
            raise Enough

        monkeypatch.setattr(blend_module, "train_fold", fails)
        with pytest.raises(Enough):
            model.fit(X[:, :2], y)
        assert vars(model) == before


class TestClasses:
    def test_three_classes(self, three):
        X, y = labelled(seed=1)
        shares = three.predict_proba(X)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
        assert three.network_.n_outputs == 3
        most_frequent = np.unique(y, return_counts=True)[1].max() / len(y)
        assert three.score(X, y) > most_frequent + 0.15
        scores = [one.network.score(three.coding_.encode(X)) for one in three.members_]
        mean = np.mean(scores, axis=0)
        mean -= mean.mean(axis=1, keepdims=True)
        np.testing.assert_allclose(three.network_.score(X), mean, atol=1e-10)

    def test_scores_of_several_classes_sum_to_zero(self, three):
        X, y = labelled(seed=1)
        settings = Simplify(largest=8, smallest=8)
        small = three.with_network(three.simplify(X, y, settings=settings).network_of(8))
        for model in (three, small):
            np.testing.assert_allclose(model.decision_function(X).sum(axis=1), 0.0, atol=1e-10)

    def test_two_classes_of_text(self):
        X, y = planted()
        labels = np.where(y > 0.5, "yes", "no")
        model = blended_classifier().fit(X, labels)
        assert list(model.classes_) == ["no", "yes"]
        assert model.network_.n_outputs == 1
        Z, z = planted(seed=1)
        assert model.score(Z, np.where(z > 0.5, "yes", "no")) > 0.8
        np.testing.assert_array_equal(model.predict(Z) == "yes", model.decision_function(Z) > 0)

    def test_balanced_classes_find_the_rare_one(self):
        X, y = planted()
        rare = y > np.quantile(y, 0.9)
        plain = blended_classifier().fit(X, rare)
        balanced = blended_classifier(class_weight="balanced").fit(X, rare)
        assert balanced.predict(X)[rare].mean() > plain.predict(X)[rare].mean() + 0.1

    @pytest.mark.parametrize("task", ["regression", "classes"])
    def test_the_readout_can_be_refitted(self, task):
        X, y = planted() if task == "regression" else labelled()
        model = (blended() if task == "regression" else blended_classifier()).fit(X, y)
        before, members = model.score(X, y), model.members_
        model.set_params(readout="ridge").refit_readout(X, y)
        assert isinstance(model.network_, CodedNetwork)
        assert model.members_ is members
        assert model.score(X, y) > before - 0.03
        with pytest.raises(ValueError, match="'average' weighs members"):
            model.set_params(readout="average").refit_readout(X, y)


class TestAccuracy:
    LARGER = Blend(
        n_folds=2, n_networks=4, n_trees=40, n_leaves=8, n_bins=16, descent=Descent(n_steps=20)
    )

    def test_steps_and_an_interaction_are_found(self):
        def stairs(seed):
            rng = np.random.default_rng(seed)
            X = np.round(rng.uniform(-1, 1, (800, 4)), 2)
            signal = np.floor(3 * X[:, 0]) % 2 + 2 * (X[:, 1] > 0.1) * (X[:, 2] > -0.2)
            return X, signal + 0.1 * rng.normal(size=800)

        def error(model):
            return 1 - model.fit(*stairs(0)).score(*stairs(1))

        blend = error(blended(self.LARGER))
        assert blend < 0.5 * error(Ridge())
        assert blend < 0.7 * error(LLARegressor(10, random_state=0))

    def test_a_smooth_function_is_found_as_well_as_by_the_papers_way(self):
        def smooth(seed):
            rng = np.random.default_rng(seed)
            X = np.round(rng.uniform(-1, 1, (450, 3)), 2)
            signal = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - 0.5 * X[:, 2]
            return X, signal + 0.1 * rng.normal(size=450)

        X, y = smooth(1)
        model = blended(replace(self.LARGER, n_folds=4)).fit(*smooth(0))
        # Measured once with preset="paper": it takes four seconds.
        paper = 0.1096
        assert np.sqrt(np.mean((model.predict(X) - y) ** 2)) < 1.1 * paper


class TestColumns:
    def odd(self):
        """Constant, of two values, of three, heavy-tailed with an outlier, and one twice."""
        X, y = planted()
        heavy = np.round(np.exp(4 * X[:, 1]), 3)
        heavy[5] = 1e12
        odd = np.column_stack(
            [
                np.full(450, 7.0),
                X[:, 2] > 0,
                np.digitize(X[:, 0], [-0.4, 0.2]),
                heavy,
                heavy,
            ]
        )
        return odd, y

    def test_odd_columns_are_learnt(self):
        X, y = self.odd()
        model = blended(SMALL).fit(X, y)
        assert model.score(X, y) > 0.85
        other = X.copy()
        other[:, 0] = -100.0
        np.testing.assert_array_equal(model.predict(other), model.predict(X))
        far = X[:1] * [1.0, 1.0, 1.0, 0.0, 0.0] + [0.0, 0.0, 0.0, 1e14, 1e14]
        assert np.abs(model.predict(far) - y.mean()) < 3 * np.ptp(y)

    def test_only_constant_columns_give_the_mean(self):
        _, y = planted()
        X = np.ones((450, 2))
        model = blended(validation=None).fit(X, y)
        np.testing.assert_allclose(model.predict(X), y.mean())
        assert model.network_.n_neurons == 0

    def test_a_constant_target_is_predicted(self):
        X, _ = planted()
        model = blended(SMALL).fit(X, np.full(450, 3.5))
        np.testing.assert_allclose(model.predict(X), 3.5, atol=1e-10)

    def test_single_precision_is_read(self, of_rules):
        X, y = planted()
        model = blended().fit(X.astype(np.float32), y)
        assert model.score(X.astype(np.float32), y) > of_rules.score(X, y) - 0.03

    def test_names_come_from_a_frame(self):
        pandas = pytest.importorskip("pandas")
        X, y = planted()
        frame = pandas.DataFrame(X, columns=["income", "age", "member"])
        model = blended().fit(frame, y)
        assert model.schema_.names == ("income", "age", "member")
        assert list(model.feature_names_in_) == ["income", "age", "member"]
        assert model.coding_.names == ("income", "age", "member")
        assert model.predict(frame[:3]).shape == (3,)


def test_a_warm_start_after_a_blend_begins_the_papers_way(quick):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(450, 2))
    y = X[:, 0]
    model = LIFERegressor(preset=SMALL, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="warm_start"):
        model.set_params(warm_start=True).fit(X, y)
    model.set_params(preset="auto").fit(X, y)
    assert model.blend_ is None
    n_members = len(model.members_)
    assert len(model.fit(X, y).members_) > n_members


def test_small_has_few_neurons_with_few_rows_too(quick, monkeypatch):
    monkeypatch.setattr("lifenet.estimators._fitting.SMALL_NEURONS", 8)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    model = LIFERegressor(preset="small", random_state=0)
    with pytest.warns(UserWarning, match="the paper's way"):
        model.fit(X, np.abs(X[:, 0]) + X[:, 1])
    assert model.blend_ is None
    assert 0 < model.network_.n_neurons <= 8
    assert model.score(X, np.abs(X[:, 0]) + X[:, 1]) > 0.8


def test_a_frontier_is_in_the_users_units_and_its_networks_can_be_had():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 3))
    y = 1000 + 100 * (np.abs(X[:, 0]) + X[:, 1]) + rng.normal(size=900)
    model = LIFERegressor(preset=SMALL, random_state=0).fit(X[:600], y[:600])
    frontier = model.simplify(X[600:], y[600:], settings=Simplify(largest=16, smallest=8))
    assert frontier.sizes[0] == model.network_.n_neurons
    assert frontier.sizes[-1] == 8
    full = np.sqrt(np.mean((model.predict(X[600:]) - y[600:]) ** 2))
    assert 0.5 * full < frontier.error(frontier.sizes[0]) < 2 * full
    small = model.with_network(frontier.network_of(8))
    error = np.sqrt(np.mean((small.predict(X[600:]) - y[600:]) ** 2))
    assert error < 4 * full
    assert model.network_.n_neurons == frontier.sizes[0]
    with pytest.raises(ValueError, match="n_features"):
        model.with_network(LLARegressor(3).fit(X[:, :2], y).network_)


def test_rows_of_the_fit_do_not_flatter_the_full_network_in_a_frontier():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1_200, 6))
    y = X[:, 0] + rng.normal(size=1_200)
    blend = Blend(
        n_folds=3, n_networks=0, n_trees=60, n_leaves=8, descent=Descent(60), linear_gain=None
    )
    model = LIFERegressor(preset=blend, random_state=0).fit(X[:400], y[:400])
    settings = Simplify(largest=16, smallest=16)
    seen = model.simplify(X[:400], y[:400], settings=settings)
    full = seen.error(seen.sizes[0])
    training = np.sqrt(np.mean((model.predict(X[:400]) - y[:400]) ** 2))
    fresh = np.sqrt(np.mean((model.predict(X[400:]) - y[400:]) ** 2))
    assert training < 0.9 * fresh
    assert full > 0.93 * fresh  # a fold of 130 rows
    # The rows that judge are those that the first fold's network has not seen.
    few = model.simplify(X[:300], y[:300], settings=settings)
    assert few.n_rows == pytest.approx(100, abs=25)
    assert few.error(few.sizes[0]) > 0.85 * fresh
    # Another network has no fold of its own.
    smaller = model.with_network(seen.network_of(16))
    assert smaller.simplify(X, y, settings=Simplify(largest=8, smallest=8)).sizes == (16, 8)


@pytest.mark.parametrize("kind", [LIFERegressor, LIFEClassifier])
def test_activations_that_take_much_memory_are_computed_at_every_pass(kind, monkeypatch):
    X, y = planted(300)
    y = y if kind is LIFERegressor else y > np.median(y)
    model = kind(preset=SMALL, random_state=0)
    held = clone(model).fit(X, y)
    monkeypatch.setattr("lifenet.blend._HELD_BYTES", 0)
    passed = clone(model).fit(X, y)
    np.testing.assert_allclose(passed.network_.score(X), held.network_.score(X), rtol=1e-4)


def test_a_small_networks_own_frontier_begins_with_it(quick):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    model = LIFERegressor(preset="small", random_state=0).fit(X, X[:, 0])
    assert model.blend_ is not None
    with pytest.warns(UserWarning, match="fitted to these rows"):
        frontier = model.simplify(X, X[:, 0], settings=Simplify(largest=2, smallest=2))
    assert frontier.sizes[0] == model.network_.n_neurons


def test_what_is_no_network_is_refused(of_rules):
    with pytest.raises(TypeError, match="ReluNetwork or a CodedNetwork, not str"):
        of_rules.with_network("small")


def test_the_price_of_fewer_neurons_is_over_the_mean_of_the_folds():
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, size=(3_000, 4))
    y = np.sin(7 * X[:, 0]) * X[:, 1] + X[:, 2] * X[:, 3] + 0.1 * rng.normal(size=3_000)
    blend = Blend(n_folds=5, n_networks=0, n_trees=60, descent=Descent(40), linear_gain=None)
    model = LIFERegressor(preset=blend, random_state=0).fit(X[:600], y[:600])
    frontier = model.simplify(X[:600], y[:600], settings=Simplify(largest=32, smallest=32))

    def error(score):
        return np.sqrt(np.mean((score - y[600:]) ** 2))

    codes = model.coding_.encode(X[600:])
    single = np.mean([error(one.network.score(codes)[:, 0]) for one in model.members_])
    mean = error(model.predict(X[600:]))
    assert mean < 0.97 * single
    # The first fold of the 600 rows, against all folds and other rows: as near as 120 rows can say.
    judge = np.isin(np.arange(600), _first_places(model, X[:600], y[:600]))
    own = model.members_[0].network.score(model.coding_.encode(X[:600][judge]))[:, 0]
    apart = np.sqrt(np.mean((own - y[:600][judge]) ** 2))
    shown = frontier.error(frontier.sizes[0]) / apart
    # Networks differ less on rows that all but one have learnt from: rather too little is saved.
    assert mean / single - 0.02 < shown < 1 - 0.3 * (1 - mean / single)


def _first_places(model, X, y):
    prepared = model._prepare(X, y, None, reset=False)
    hashes = hash_rows(prepared.rows.X, model._folds[0])
    return np.flatnonzero(hashes < 1 / model._folds[1])


def test_boosted_trees_are_in_the_price_too(monkeypatch):
    X, y = planted()
    model = blended(replace(RULES, boosting=Boosting((8, 16), (10, 5), 40, 400, (0.3,), 1.0))).fit(
        X, y
    )
    assert model.mixture_.share > 0
    settings = Simplify(largest=8, smallest=8)
    with_trees = model.simplify(X, y, settings=settings).losses[0]
    monkeypatch.setattr(model, "mixture_", None)
    without = model.simplify(X, y, settings=settings).losses[0]
    saved = without - with_trees
    assert saved > 0


@pytest.mark.parametrize(
    "settings",
    [
        {"preset": "paper"},
        {"validation": 0.3},
        {"validation": None},
        {"validation": KFold(2)},
    ],
    ids=str,
)
def test_a_frontier_on_rows_of_the_fit_says_so_where_they_flatter(quick, settings):
    X, y = planted()
    model = blended(**settings).fit(X, y)
    small = Simplify(largest=4, smallest=4)
    order = np.random.default_rng(0).permutation(len(X))
    with pytest.warns(UserWarning, match="fitted to these rows"):
        frontier = model.simplify(X[order], y[order], settings=small)
    assert frontier.seen
    assert "training rows" in repr(frontier)
    assert "prices are too high" in repr(frontier)
    fresh = model.simplify(*planted(seed=1), settings=small)
    assert not fresh.seen
    assert "held-out rows" in repr(fresh)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"settings": "small"}, TypeError, "settings must be a Simplify or None; it is 'small'"),
        ({"settings": 64}, TypeError, "sizes of your own"),
        ({"time_limit": -1}, ValueError, "time_limit must be above 0 seconds, or None; it is -1"),
    ],
)
def test_wrong_arguments_of_simplify_are_named(of_rules, wrong, error, message):
    with pytest.raises(error, match=message):
        of_rules.simplify(*planted(), **wrong)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("preset__n_trees", "preset, which is 'auto'; give preset as an object .* preset=Blend"),
        ("sampler__levels", "sampler, which is None; .* sampler=NeuronProjection"),
        ("solver__ridge", "solver=LLA"),
    ],
)
def test_settings_of_a_part_by_name_say_how_they_can_be_set(key, message):
    with pytest.raises(ValueError, match=message):
        LIFERegressor().set_params(**{key: 3})
    both = LIFERegressor().set_params(preset=Blend(), preset__n_trees=3)
    assert both.preset.n_trees == 3
    with pytest.raises(ValueError, match="Invalid parameter 'nothing'"):
        LIFERegressor().set_params(nothing__here=3)


@pytest.mark.parametrize("preset", ["auto", "paper"])
def test_a_word_is_no_splitter(preset):
    with pytest.raises(ValueError, match="'validation' parameter of LIFERegressor"):
        LIFERegressor(preset=preset, validation="kfold").fit(*planted())
