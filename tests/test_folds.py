"""The folds of cross-fitting: which rows train a network, and which validate it."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, ShuffleSplit

from crossfitted import (
    BOTH,
    LEAVES,
    Enough,
    classifier,
    labelled,
    planted,
    regressor,
    small_recipe,
)
from lifenet import CrossFit, Holdout
from lifenet.data.problem import Problem
from lifenet.data.run import Run
from lifenet.recipe import recipe as recipe_module
from lifenet.recipe.auto import resolve_resampling
from lifenet.recipe.recipe import fit_fold
from oracles import stored


@pytest.fixture
def folds_of(monkeypatch):
    """What a fit would train on: the checked inputs, and the folds."""

    def look(X, y, sample_weight=None, groups=None, model=None, **settings):
        seen = []

        def stop(data, recipe, run):
            resampling = resolve_resampling(recipe.resampling, data.problem)
            seen.append((data, resampling.folds(data, run.split_seed)))
            raise Enough

        with monkeypatch.context() as patch:
            patch.setattr("lifenet.estimators._life_base.fit_life", stop)
            model = regressor(**settings) if model is None else model
            with pytest.raises(Enough):
                model.fit(X, y, sample_weight, groups=groups)
        return seen[0]

    return look


def test_every_row_is_in_one_fold(folds_of):
    X, y = planted()
    _, folds = folds_of(X, y, preset=small_recipe(resampling=CrossFit(4)))
    assert len(folds) == 4
    validation = np.concatenate([fold.validation.rows.index for fold in folds])
    np.testing.assert_array_equal(np.sort(validation), np.arange(450))
    for fold in folds:
        np.testing.assert_array_equal(fold.validation.rows.index, fold.index)
        both = np.concatenate([fold.train.rows.index, fold.validation.rows.index])
        np.testing.assert_array_equal(np.sort(both), np.arange(450))
        assert 450 / 8 < len(fold.index) < 450 / 2


def test_coefficients_are_fitted_to_the_training_rows_of_folds_and_to_all_rows_otherwise(folds_of):
    X, y = planted()
    _, folds = folds_of(X, y)
    assert all(fold.fit is fold.train for fold in folds)
    assert not any(fold.refits for fold in folds)
    data, (fold,) = folds_of(X, y, preset=small_recipe(resampling=Holdout(), stack=()))
    assert fold.fit is data.problem
    assert fold.refits
    assert not fold.training_only().refits


def test_an_extra_fold_shares_validation_rows_with_the_others(folds_of):
    X, y = planted()
    _, plain = folds_of(X, y, preset=small_recipe(resampling=CrossFit(3)))
    _, folds = folds_of(X, y, preset=small_recipe(resampling=CrossFit(3, extra_fold=True)))
    assert len(folds) == 4
    for one, other in zip(plain, folds[:3], strict=True):
        np.testing.assert_array_equal(one.index, other.index)
    shared = [np.intersect1d(folds[3].index, fold.index).size for fold in folds[:3]]
    assert min(shared) > 0
    assert sum(shared) == len(folds[3].index)


def test_equal_rows_are_in_the_same_fold(folds_of):
    X, y = planted()
    _, folds = folds_of(np.tile(X, (2, 1)), np.tile(y, 2))
    for fold in folds:
        inside = np.isin(np.arange(900), fold.index)
        np.testing.assert_array_equal(inside[:450], inside[450:])


def test_the_order_of_the_rows_does_not_matter(folds_of):
    X, y = planted()
    order = np.random.default_rng(0).permutation(450)
    _, folds = folds_of(X, y)
    _, shuffled = folds_of(X[order], y[order])
    for one, other in zip(folds, shuffled, strict=True):
        np.testing.assert_array_equal(np.sort(order[other.index]), one.index)


def test_the_last_digit_of_a_code_decides_nothing(folds_of):
    """Folds follow from the user's own values, which no machine rounds otherwise."""
    X, y = planted()
    data, _ = folds_of(X, y)
    for way in (-np.inf, np.inf):
        moved = replace(data, rows=replace(data.rows, X=np.nextafter(data.rows.X, way)))
        again = resolve_resampling(LEAVES.resampling, moved.problem).folds(moved, 0)
        assert not np.array_equal(moved.rows.X, data.rows.X)
        for one, other in zip(CrossFit(2).folds(data, 0), again, strict=True):
            np.testing.assert_array_equal(one.index, other.index)


def test_single_precision_of_the_same_values_has_the_same_folds(folds_of):
    X, y = planted()
    single = X.astype(np.float32)
    _, folds = folds_of(single.astype(np.float64), y)
    _, same = folds_of(single, y)
    for one, other in zip(folds, same, strict=True):
        np.testing.assert_array_equal(one.index, other.index)


def test_another_seed_has_other_folds(folds_of):
    X, y = planted()
    _, folds = folds_of(X, y)
    _, others = folds_of(X, y, random_state=1)
    assert not np.array_equal(folds[0].index, others[0].index)


@pytest.mark.parametrize(
    "splitter",
    [GroupKFold(3), ShuffleSplit(2, test_size=0.3, random_state=0), KFold(4)],
    ids=["groups", "shuffle", "k-fold"],
)
def test_a_splitter_has_its_own(folds_of, splitter):
    X, y = planted()
    groups = np.arange(450) // 10 if isinstance(splitter, GroupKFold) else None
    weight = np.where(np.arange(450) < 30, 0.0, 1.0)
    _, folds = folds_of(X, y, weight, groups, validation=splitter)
    for fold, (train, validation) in zip(folds, splitter.split(X, y, groups), strict=True):
        np.testing.assert_array_equal(fold.train.rows.index, np.sort(train[train >= 30]))
        np.testing.assert_array_equal(
            fold.validation.rows.index, np.sort(validation[validation >= 30])
        )


def test_a_share_is_one_fold():
    X, y = planted()
    model = regressor(validation=0.25).fit(X, y)
    (fold,) = model.folds_
    assert 0.65 * 450 < fold.train_rows < 0.85 * 450
    assert fold.train_rows + fold.validation_rows == 450


def test_without_validation_all_rows_are_trained_on():
    X, y = planted()
    model = regressor(validation=None).fit(X, y)
    (fold,) = model.folds_
    assert (fold.train_rows, fold.validation_rows) == (450, 0)
    assert np.isnan(fold.loss)
    assert fold.status == "not fine-tuned"
    assert model.score(*planted(seed=1)) > 0.8


def test_folds_are_fewer_where_rows_are_few(folds_of):
    X, y = planted(150)
    _, folds = folds_of(X, y, preset=small_recipe(resampling=CrossFit(30)))
    assert 2 <= len(folds) < 8
    assert min(len(fold.index) for fold in folds) >= 20
    np.testing.assert_array_equal(
        np.sort(np.concatenate([fold.index for fold in folds])), np.arange(150)
    )


def test_all_folds_train_on_a_class_that_one_would_hold_out(folds_of):
    X, y = labelled()
    y[7] = "rare"
    data, folds = folds_of(X, y, model=classifier())
    code = data.rows.target[7]
    for fold in folds:
        assert code in fold.train.rows.target
        assert code not in fold.validation.rows.target
    assert classifier().fit(X, y).predict_proba(X).shape == (450, 4)


def test_a_class_wholly_held_out_is_refused():
    X, y = labelled()
    splitter = PredefinedSplit(np.where(y == "top", 0, 1))
    with pytest.raises(ValueError, match=r"holds out all rows of the classes \['top'\]"):
        classifier(validation=splitter).fit(X, y)


def test_networks_are_trained_on_all_rows_but_their_validation_rows(monkeypatch):
    X, y = planted()
    seen = []

    def recorded(recipe, fold, run):
        seen.append((fold.key, fold.train.rows.index, fold.validation.rows.index))
        return fit_fold(recipe, fold, run)

    monkeypatch.setattr(recipe_module, "fit_fold", recorded)
    model = regressor(small_recipe(resampling=CrossFit(3))).fit(X, y)
    assert [key for key, _, _ in seen] == [(0,), (1,), (2,)]
    for _, train, validation in seen:
        assert not set(train) & set(validation)
        assert set(train) | set(validation) == set(range(450))
    assert [fold.train_rows for fold in model.folds_] == [len(train) for _, train, _ in seen]
    assert [fold.validation_rows for fold in model.folds_] == [len(some) for *_, some in seen]


def test_neurons_do_not_depend_on_the_validation_rows(folds_of):
    X, y = planted()
    recipe = replace(BOTH, finetune=None)
    _, folds = folds_of(X, y, preset=recipe)
    fold = folds[0]
    rows = fold.validation.rows
    wild = Problem(rows.with_target(100 * rows.target[::-1]), fold.validation.loss)
    one = fit_fold(recipe, fold, Run(0)).network
    other = fit_fold(recipe, replace(fold, validation=wild), Run(0)).network
    np.testing.assert_array_equal(stored(one.weights), stored(other.weights))
    np.testing.assert_array_equal(one.dense().weights, other.dense().weights)
    np.testing.assert_array_equal(one.bias, other.bias)
    # The penalty is theirs to choose.
    assert not np.array_equal(one.beta, other.beta)


@pytest.mark.parametrize("preset", ["auto", "paper", LEAVES])
def test_a_word_is_no_splitter(preset):
    with pytest.raises(ValueError, match="'validation' parameter of LIFERegressor"):
        regressor(preset, validation="kfold").fit(*planted())


def test_groups_without_a_splitter_are_refused():
    X, y = planted()
    with pytest.raises(ValueError, match=r"groups are used by a splitter only.*GroupKFold\(5\)"):
        regressor().fit(X, y, groups=np.arange(450) // 9)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        regressor(validation=GroupKFold(2)).fit(X, y, groups=[1, 2])
