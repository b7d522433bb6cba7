"""Cross-fitted networks: leaves of trees and base learners, fine-tuned and averaged over folds."""

import pickle
from dataclasses import replace

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from crossfitted import (
    BOTH,
    Enough,
    classifier,
    fit_with_folds,
    hierarchy,
    labelled,
    leaves,
    planted,
    regressor,
    same,
    small_recipe,
)
from lifenet import (
    CodedNetwork,
    CrossFit,
    Distil,
    Leaves,
    LIFEClassifier,
    LIFERegressor,
    LLARegressor,
    MiniBatch,
    QuantileCoding,
)
from lifenet.neurons.subset import Fate
from lifenet.recipe.recipe import fit_fold
from oracles import old_openblas


@pytest.fixture(scope="module")
def fitted():
    return regressor(BOTH).fit(*planted())


@pytest.fixture(scope="module")
def of_leaves():
    return regressor().fit(*planted())


@pytest.fixture(scope="module")
def three():
    return classifier(BOTH).fit(*labelled())


class TestTheNetwork:
    @pytest.mark.parametrize("task", ["regression", "classes"])
    def test_it_is_the_mean_of_the_folds_networks(self, task, monkeypatch):
        X, y = planted() if task == "regression" else labelled()
        alone = small_recipe(*BOTH.neurons, stack=())  # a companion may have weight
        model = regressor(alone) if task == "regression" else classifier(alone)
        model, folds = fit_with_folds(model, X, y, monkeypatch)
        Z, _ = planted(seed=1)
        assert len(folds) == len(model.folds_) == 2
        mean = np.mean([one.score(Z) for one in folds], axis=0)
        if task == "classes":
            mean -= mean.mean(axis=1, keepdims=True)
        # Weights of the network are kept in single precision.
        np.testing.assert_allclose(model.network_.score(Z), mean, rtol=1e-5, atol=1e-5)
        assert [one.network.n_neurons for one in folds] == [one.n_neurons for one in model.folds_]
        assert model.network_.n_neurons <= sum(one.n_neurons for one in model.folds_)

    @pytest.mark.parametrize("model", ["fitted", "three"])
    def test_contributions_and_intercept_are_the_score(self, request, model):
        network = request.getfixturevalue(model).network_
        X, _ = planted(60, seed=1)
        total = network.contributions(X).sum(axis=1) + network.local_intercept(X)
        np.testing.assert_allclose(total, network.score(X), atol=1e-8)

    def test_activations_and_output_layer_are_the_score(self, fitted):
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

    def test_base_learners_and_leaves_are_both_in_it(self, fitted, of_leaves):
        assert 0 < of_leaves.network_.n_neurons < fitted.network_.n_neurons

    def test_a_distilled_one_has_few_neurons(self, of_leaves):
        X, y = planted()
        compress = Distil(8, finetune=MiniBatch(200, max_epochs=100, learning_rate=2e-3))
        model = regressor(small_recipe(compress=compress)).fit(X, y)
        assert 0 < model.network_.n_neurons <= 8 < of_leaves.network_.n_neurons
        assert isinstance(model.network_, CodedNetwork)
        assert model.score(*planted(seed=1)) > Ridge().fit(X, y).score(*planted(seed=1)) + 0.1

    def test_its_columns_may_be_in_single_precision(self):
        """On the same folds: drawn by a hash, they would be others in another precision."""
        X, y = planted()
        model = regressor(validation=KFold(2, shuffle=True, random_state=0))
        double = clone(model).fit(X, y).predict(X)
        rounded = X.astype(np.float32)
        single = clone(model).fit(rounded, y).predict(rounded)
        assert np.corrcoef(single, double)[0, 1] > 0.99


class TestRecords:
    """What is told of the base learners of every fold."""

    def test_members_are_the_base_learners_of_every_fold(self, fitted):
        assert {member.fold for member in fitted.members_} == {0, 1}
        for number, fold in enumerate(fitted.folds_):
            members = [one for one in fitted.members_ if one.fold == number]
            assert 1 <= len(members) == fold.n_members <= 2
            assert {one.network.n_neurons for one in members} == {10}
            # Base learners see values and normal scores of the columns, not the ramps.
            assert {one.network.n_features for one in members} == {len(fitted.member_names_)}
        assert len(fitted.member_names_) == 2 * fitted.n_features_in_
        expected = [name for name in fitted.coding_.code_names if name[-3:] in ("[0]", "[1]")]
        assert list(fitted.member_names_) == expected

    def test_neurons_of_base_learners_are_in_the_network_where_nothing_moves_them(self):
        model = regressor(replace(BOTH, finetune=None)).fit(*planted())
        layer = model.network_.network.dense().weights[:, model.member_inputs_]
        for member in model.members_:
            for weights in member.network.weights:
                near = np.abs(layer - weights).max(axis=1) < 1e-6 * np.abs(weights).max()
                assert near.sum() == 1

    def test_members_networks_are_those_of_the_last_level_and_kept_once(self, fitted):
        last = [network for levels in fitted.hierarchy_.folds for network in levels[-1].networks]
        pairs = zip(fitted.members_, last, strict=True)
        assert all(member.network is network for member, network in pairs)

    def test_the_hierarchy_has_the_levels_of_every_fold(self, fitted):
        record = fitted.hierarchy_
        assert len(record.folds) == 2
        assert record.folds[0] is record.levels
        assert record.fold(1).levels == record.folds[1]
        with pytest.raises(IndexError, match="no fold 2; there are 2"):
            record.fold(2)
        for levels in record.folds:
            assert [level.n_neurons for level in levels] == [8, 10]
            assert len(levels[0].networks) == 1
            kept = {(s.network, s.neuron) for s in levels[0].splits if s.fate is Fate.KEPT}
            assert {subset.parent for subset in levels[1].subsets} == kept

    def test_hierarchy_and_record_are_tables_of_all_folds(self, fitted):
        pytest.importorskip("pandas")
        splits = fitted.hierarchy_.to_frame()
        assert list(splits.groupby("fold").size()) == [8, 8]
        frame = fitted.record_.to_frame()
        for fold, levels in enumerate(fitted.hierarchy_.folds):
            for number, level in enumerate(levels, 1):
                rows = frame[(frame["fold"] == fold) & (frame["level"] == number)]
                assert list(rows["member"]) == list(range(len(level.networks)))
                assert list(rows["neurons"]) == [one.n_neurons for one in level.networks]
                assert list(rows["rows"]) == [one.n_rows for one in level.subsets]
        assert np.isfinite(frame["loss"]).all()
        assert (frame["iterations"] > 0).all()
        assert fitted.n_iter_ >= frame["iterations"].max()
        assert "level 2" in str(fitted.record_)

    def test_subsets_say_how_many_training_rows_of_which_fold_they_select_from(self, fitted):
        names = fitted.member_names_
        for number, (fold, levels) in enumerate(
            zip(fitted.folds_, fitted.hierarchy_.folds, strict=True)
        ):
            base = f"the {fold.train_rows:,} training rows of fold {number}"
            assert levels[0].subsets[0].describe(names) == base
            assert levels[0].subsets[0].n_rows == fold.train_rows
            for subset in levels[1].subsets:
                condition, words = subset.describe(names).split(" > ")
                assert any(name in condition for name in names)
                assert words.endswith(f", of {base}")
                assert subset.n_rows < fold.train_rows

    def test_subsets_say_so_where_base_learners_see_some_of_the_training_rows(self):
        model = regressor(small_recipe(leaves(), hierarchy(max_rows=100))).fit(*planted())
        for number, fold in enumerate(model.folds_):
            first = model.hierarchy_.folds[number][0].subsets[0]
            expected = f"100 of the {fold.train_rows:,} training rows of fold {number}"
            assert first.describe(model.member_names_) == expected
            assert first.n_rows == 100

    def test_a_single_fold_has_no_number(self):
        model = regressor(BOTH, validation=0.3).fit(*planted())
        (fold,) = model.folds_
        first = model.hierarchy_.levels[0].subsets[0]
        assert first.describe(model.member_names_) == f"the {fold.train_rows} training rows"
        whole = regressor(BOTH, validation=None).fit(*planted())
        assert whole.hierarchy_.levels[0].subsets[0].describe(()) == "all rows"

    def test_subsets_hold_the_training_rows_that_were_counted(self, monkeypatch):
        X, y = planted()
        seen = []

        def watched(recipe, fold, run):
            seen.append(fold.train.rows.index)
            return fit_fold(recipe, fold, run)

        monkeypatch.setattr("lifenet.recipe.recipe.fit_fold", watched)
        model = regressor(BOTH).fit(X, y)
        codes = model.coding_.encode(X)[:, model.member_inputs_]
        for member in model.members_:
            subset, train = member.subset, seen[member.fold]
            inside = (codes[train] @ subset.weights.T + subset.bias > subset.cutoff).all(axis=1)
            assert inside.sum() == subset.n_rows
            assert inside.mean() == pytest.approx(subset.share)

    def test_folds_are_told(self, fitted, of_leaves):
        for model, n_levels in ((fitted, 2), (of_leaves, 0)):
            assert sum(fold.validation_rows for fold in model.folds_) == 450
            for fold, levels in zip(model.folds_, model.hierarchy_.folds, strict=True):
                assert len(levels) == n_levels
                assert fold.train_rows + fold.validation_rows == 450
                assert 0 < fold.n_leaf_neurons <= fold.n_neurons
                assert fold.loss == pytest.approx(min(fold.validation_losses))
                assert fold.loss < fold.validation_losses[0]
                assert 0 < fold.iterations <= 20
                assert fold.status == "completed"
                assert fold.seconds > 0
        assert all(one.n_leaf_neurons == one.n_neurons for one in of_leaves.folds_)
        assert of_leaves.members_ == ()
        assert len(of_leaves.record_) == 0
        assert all(one.n_leaf_neurons < one.n_neurons for one in fitted.folds_)


class TestPromises:
    @pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
    def test_the_same_seed_gives_the_same_model_anywhere(self, fitted, backend):
        X, y = planted()
        with joblib.parallel_config(backend):
            other = regressor(BOTH, n_jobs=None if backend == "sequential" else 2).fit(X, y)
        if old_openblas():
            np.testing.assert_allclose(other.predict(X), fitted.predict(X), rtol=1e-8)
        else:
            assert same(other.network_, fitted.network_)

    def test_another_seed_gives_another(self, of_leaves):
        assert not same(regressor(random_state=1).fit(*planted()).network_, of_leaves.network_)

    def test_a_time_limit_leaves_at_least_one_fold(self, monkeypatch):
        X, y = planted()
        late = "time_limit=1e-06 seconds: 1 of 2 folds were left out, .* base learners .* Give more"
        with pytest.warns(UserWarning, match=late):
            model, folds = fit_with_folds(regressor(BOTH, time_limit=1e-6), X, y, monkeypatch)
        (fold,) = model.folds_
        assert fold.status == "time_limit"
        assert {"not_started", "time_limit"} & set(model.record_["status"])
        assert set(model.record_["fold"]) == {0}
        assert model.score(X, y) > 0.5
        # Weights of the network are kept in single precision.
        np.testing.assert_allclose(model.predict(X), folds[0].score(X)[:, 0], rtol=1e-5, atol=1e-6)

    def test_verbose_prints_a_line_a_fold(self, capsys):
        regressor(verbose=1).fit(*planted())
        first, second, last = capsys.readouterr().out.splitlines()
        assert first.startswith("fold 1 of 2 done, ")
        assert second.startswith("fold 2 of 2 done, ")
        assert last.startswith("2 folds done, ")
        with pytest.warns(UserWarning, match="1 of 1 runs of fine-tuning ended early"):
            regressor(verbose=1, time_limit=1e-6).fit(*planted())
        assert "1 of 2 folds done, " in capsys.readouterr().out
        regressor().fit(*planted())
        assert capsys.readouterr().out == ""

    @pytest.mark.parametrize("task", ["regression", "classes"])
    def test_rows_of_no_weight_do_not_matter(self, task):
        X, y = planted() if task == "regression" else labelled()
        model = regressor() if task == "regression" else classifier()
        more = np.vstack([3 * X[::-1], X])
        weight = np.repeat([0.0, 1.0], 450)
        weighted = clone(model).fit(more, np.tile(y, 2), weight)
        assert same(weighted.network_, model.fit(X, y).network_)

    def test_weights_equal_repeated_rows_where_leaves_may_have_one(self):
        X, y = planted()
        times = np.random.default_rng(0).integers(1, 3, len(X))
        rows = np.repeat(np.arange(len(X)), times)
        model = regressor(small_recipe(leaves(min_samples_leaf=1, max_features=1.0), finetune=None))
        weighted = clone(model).fit(X, y, times.astype(float)).predict(X)
        repeated = clone(model).fit(X[rows], y[rows]).predict(X)
        np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-6)

    def test_it_survives_pickling(self, three):
        X, _ = labelled(seed=1)
        other = pickle.loads(pickle.dumps(three))
        np.testing.assert_array_equal(other.predict_proba(X), three.predict_proba(X))
        assert other.recipe_ == BOTH

    def test_a_failed_fit_leaves_the_estimator_unchanged(self, of_leaves):
        X, y = planted()
        new = regressor()
        bad = np.where(np.arange(450) == 3, np.nan, y)
        for model in (new, of_leaves):
            before = vars(model).copy()
            with pytest.raises(ValueError, match="NaN"):
                model.fit(X, bad)
            assert vars(model) == before
        assert not hasattr(new, "network_")

    def test_a_fit_that_fails_in_a_fold_leaves_the_estimator_unchanged(self, monkeypatch):
        X, y = planted()
        model = regressor(validation=0.3).fit(X, y)
        before = vars(model).copy()

        def fails(*_):
            raise Enough

        monkeypatch.setattr("lifenet.recipe.recipe.fit_fold", fails)
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

    def test_scores_of_several_classes_sum_to_zero(self, three):
        X, y = labelled(seed=1)
        settings = Distil(8, largest=8)
        small = three.with_network(three.simplify(X, y, settings=settings).network_of(8))
        for model in (three, small):
            np.testing.assert_allclose(model.decision_function(X).sum(axis=1), 0.0, atol=1e-10)

    def test_two_classes_of_text(self):
        X, y = planted()
        labels = np.where(y > 0.5, "yes", "no")
        model = classifier().fit(X, labels)
        assert list(model.classes_) == ["no", "yes"]
        assert model.network_.n_outputs == 1
        Z, z = planted(seed=1)
        assert model.score(Z, np.where(z > 0.5, "yes", "no")) > 0.8
        np.testing.assert_array_equal(model.predict(Z) == "yes", model.decision_function(Z) > 0)

    def test_balanced_classes_find_the_rare_one(self):
        X, y = planted()
        y = y + np.random.default_rng(0).normal(size=len(y))
        rare = y > np.quantile(y, 0.9)
        plain = classifier().fit(X, rare)
        balanced = classifier(class_weight="balanced").fit(X, rare)
        assert balanced.predict(X)[rare].mean() > plain.predict(X)[rare].mean() + 0.1

    @pytest.mark.parametrize("task", ["regression", "classes"])
    def test_the_output_layer_can_be_refitted(self, task):
        X, y = planted() if task == "regression" else labelled()
        model = (regressor() if task == "regression" else classifier()).fit(X, y)
        before, members = model.score(X, y), model.members_
        model.set_params(readout="ridge").refit_readout(X, y)
        assert isinstance(model.network_, CodedNetwork)
        assert model.members_ is members
        assert model.score(X, y) > before - 0.03
        with pytest.raises(ValueError, match="'average' weighs members"):
            model.set_params(readout="average").refit_readout(X, y)


class TestAccuracy:
    LARGER = small_recipe(
        Leaves(n_trees=40, max_leaf_nodes=8),
        hierarchy(n_networks=4),
        codes=QuantileCoding("full", max_bins=16, min_values=2),
    )

    def test_steps_and_an_interaction_are_found(self):
        def stairs(seed):
            rng = np.random.default_rng(seed)
            X = np.round(rng.uniform(-1, 1, (800, 4)), 2)
            signal = np.floor(3 * X[:, 0]) % 2 + 2 * (X[:, 1] > 0.1) * (X[:, 2] > -0.2)
            return X, signal + 0.1 * rng.normal(size=800)

        def error(model):
            return 1 - model.fit(*stairs(0)).score(*stairs(1))

        ours = error(regressor(self.LARGER))
        assert ours < 0.5 * error(Ridge())
        assert ours < 0.7 * error(LLARegressor(10, random_state=0))

    def test_a_smooth_function_is_found_as_well_as_by_the_papers_method(self):
        def smooth(seed):
            rng = np.random.default_rng(seed)
            X = np.round(rng.uniform(-1, 1, (450, 3)), 2)
            signal = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - 0.5 * X[:, 2]
            return X, signal + 0.1 * rng.normal(size=450)

        X, y = smooth(1)
        model = regressor(replace(self.LARGER, resampling=CrossFit(4))).fit(*smooth(0))
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

    def test_odd_columns_are_fitted(self):
        X, y = self.odd()
        model = regressor(BOTH).fit(X, y)
        assert model.score(X, y) > 0.85
        other = X.copy()
        other[:, 0] = -100.0
        np.testing.assert_array_equal(model.predict(other), model.predict(X))
        far = X[:1] * [1.0, 1.0, 1.0, 0.0, 0.0] + [0.0, 0.0, 0.0, 1e14, 1e14]
        assert np.abs(model.predict(far) - y.mean()) < 3 * np.ptp(y)

    def test_only_constant_columns_give_the_mean(self):
        _, y = planted()
        X = np.ones((450, 2))
        model = regressor(validation=None).fit(X, y)
        np.testing.assert_allclose(model.predict(X), y.mean())
        assert model.network_.n_neurons == 0

    def test_a_constant_target_is_predicted(self):
        X, _ = planted()
        model = regressor(BOTH).fit(X, np.full(450, 3.5))
        np.testing.assert_allclose(model.predict(X), 3.5, atol=1e-10)

    def test_single_precision_is_read(self, of_leaves):
        X, y = planted()
        model = regressor().fit(X.astype(np.float32), y)
        assert model.score(X.astype(np.float32), y) > of_leaves.score(X, y) - 0.03

    def test_names_come_from_a_frame(self):
        pandas = pytest.importorskip("pandas")
        X, y = planted()
        frame = pandas.DataFrame(X, columns=["income", "age", "member"])
        model = regressor().fit(frame, y)
        assert model.schema_.names == ("income", "age", "member")
        assert list(model.feature_names_in_) == ["income", "age", "member"]
        assert model.coding_.names == ("income", "age", "member")
        assert model.predict(frame[:3]).shape == (3,)


@pytest.mark.parametrize("kind", [LIFERegressor, LIFEClassifier])
def test_activations_that_take_much_memory_are_computed_at_every_pass(kind, monkeypatch):
    X, y = planted(300)
    y = y if kind is LIFERegressor else y > np.median(y)
    # Fine-tuning would follow the last digits of where it starts.
    model = kind(preset=clone(BOTH).set_params(finetune=None), random_state=0)
    held = clone(model).fit(X, y)
    monkeypatch.setattr("lifenet.data.budgets.HELD_LAYER", 0)
    if kind is LIFEClassifier:  # of which rows that cannot be held would be left out
        monkeypatch.setattr("lifenet.output.ridge.lay_out", lambda layer, fold: (layer, fold))
    passed = clone(model).fit(X, y)
    found, expected = passed.network_.score(X), held.network_.score(X)
    atol = 1e-4 * np.abs(expected).max()  # some scores are near zero
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=atol)
