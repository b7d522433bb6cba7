"""Bands about curves: from the lowest to the highest of the folds' networks, or of refits."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from crossfitted import classifier, hierarchy, labelled, leaves, planted, regressor, small_recipe
from lifenet import BoostedTrees, CrossFit, LinearModel, LLARegressor
from lifenet.explain import (
    accumulated_effects,
    decompose,
    integrated_effects,
    partial_dependence,
)
from lifenet.network import ReluNetwork

X, Y = planted(200)
# A category of three levels in two columns beside the others.
LEVEL = np.random.default_rng(3).integers(0, 3, size=len(X))
TABLE = pd.DataFrame(
    np.column_stack([X, LEVEL == 1, LEVEL == 2]), columns=["a", "b", "c", "sex_F", "sex_M"]
)
TREES = BoostedTrees((8,), (10,), 40, 400, (0.3,), 1.0)
RECIPES = {
    "alone": small_recipe(leaves(), hierarchy(), resampling=CrossFit(3), stack=()),
    "with companions": small_recipe(
        leaves(), hierarchy(), resampling=CrossFit(3), stack=(LinearModel(), TREES)
    ),
    "pairs": small_recipe(resampling=CrossFit(3), stack=(), interaction_cst="pairwise"),
}
READINGS = {
    "accumulated": accumulated_effects,
    "partial": partial(partial_dependence, grid=20),
    "integrated": integrated_effects,
    "decompose": partial(decompose, max_pairs=1, n_background=40),
}


def fit(model, seed=0):
    return clone(model).set_params(random_state=seed).fit(TABLE, Y + 0.8 * LEVEL)


@pytest.fixture(scope="module")
def models():
    found = {name: fit(regressor(recipe)) for name, recipe in RECIPES.items()}
    assert found["with companions"].stacked_[1].weight > 0
    return found


def grouped(model):
    return model.schema_.grouped({"sex": ["sex_F", "sex_M"]})


def curves_of(reading, *args, **options):
    return READINGS[reading](*args, **options).curves


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("reading", READINGS)
def test_a_band_is_what_each_folds_network_says_by_itself(models, reading, name):
    model = models[name]
    schema = grouped(model)
    found = READINGS[reading](model, TABLE, schema=schema)
    assert found.band == "3 folds"
    own = curves_of(reading, model.network_, TABLE, schema=schema)
    singles = [curves_of(reading, one, TABLE, schema=schema) for one in model.fold_networks_]
    assert [curve.feature for curve in found.curves] == ["a", "b", "c", "sex"]
    for curve, alone, *folds in zip(found.curves, own, *singles, strict=True):
        np.testing.assert_allclose(curve.effect, alone.effect, atol=1e-9)
        assert curve.level == pytest.approx(alone.level, abs=1e-9)
        effects = np.stack([one.effect for one in folds])
        # The smooths of the folds are their own: the mean of them need not be the model's.
        if reading == "integrated":
            effects = np.vstack([effects, alone.effect])
        else:
            np.testing.assert_allclose(effects.mean(axis=0), curve.effect, atol=1e-9)
        np.testing.assert_allclose(curve.low, effects.min(axis=0), atol=1e-9)
        np.testing.assert_allclose(curve.high, effects.max(axis=0), atol=1e-9)
        assert np.max(curve.high - curve.low) > 1e-3


def test_pairs_are_decomposed_exactly_in_folds_too(models):
    model = models["pairs"]
    found = decompose(model, TABLE)
    assert found.exact
    assert all(decompose(one, TABLE).exact for one in model.fold_networks_)


@pytest.mark.parametrize("reading", READINGS)
def test_of_refits_the_band_holds_the_model_and_them(models, reading):
    model = models["alone"]
    others = [fit(regressor(RECIPES["pairs"]), seed) for seed in (1, 2)]
    found = READINGS[reading](model, TABLE, refits=others)
    assert found.band == "2 refits"
    options = {"grid": found["a"].values, "features": ["a"]} if reading == "partial" else {}
    read = partial_dependence if reading == "partial" else READINGS[reading]
    single = [read(one.network_, TABLE, schema=model.schema_, **options) for one in others]
    alone = curves_of(reading, model.network_, TABLE, schema=model.schema_)[0]
    curve = found.curves[0]
    np.testing.assert_array_equal(curve.effect, alone.effect)
    # Refits have knots of their own, between which a decomposition is linear on their own grid.
    effects = [one.curves[0].at(curve.values) for one in single]
    apart = 1e-9 if reading != "decompose" else 0.02
    low, high = np.min([alone.effect, *effects], axis=0), np.max([alone.effect, *effects], axis=0)
    np.testing.assert_allclose(curve.low, low, atol=apart)
    np.testing.assert_allclose(curve.high, high, atol=apart)


@pytest.mark.parametrize("reading", READINGS)
def test_there_is_no_band_where_nothing_lies_beside(models, reading):
    paper = LLARegressor(3, random_state=0).fit(TABLE, Y)
    for model, options in ((paper, {}), (models["alone"], {"refits": []})):
        found = READINGS[reading](model, TABLE, **options)
        assert found.band == ""
        assert found.curves[0].low is None
        assert found.curves[0].high is None


def test_tables_have_the_band(models):
    found = accumulated_effects(models["alone"], TABLE, features=["a", "b"])
    frame = found.to_frame()
    np.testing.assert_array_equal(frame["low"], [*found["a"].low, *found["b"].low])
    np.testing.assert_array_equal(frame["high"], [*found["a"].high, *found["b"].high])
    bare = accumulated_effects(models["alone"].network_, TABLE, schema=models["alone"].schema_)
    assert bare.to_frame()[["low", "high"]].isna().all(axis=None)
    parts = decompose(models["pairs"], TABLE)
    np.testing.assert_array_equal(parts.curve_frame("b")["high"], parts.curve("b").high)


def test_a_pipeline_and_a_search_have_the_bands_of_their_model(models):
    model = models["alone"]
    scaler = StandardScaler().set_output(transform="pandas").fit(TABLE)
    steps = make_pipeline(scaler, clone(model)).fit(TABLE, Y)

    class Search:
        best_estimator_ = steps

    read = partial(accumulated_effects, X=TABLE, features=["b"])
    inner = accumulated_effects(steps[-1], scaler.transform(TABLE), features=["b"])
    np.testing.assert_array_equal(read(steps)["b"].low, inner["b"].low)
    np.testing.assert_array_equal(read(Search())["b"].high, inner["b"].high)
    again = fit(regressor(RECIPES["alone"]), 1)
    with pytest.raises(ValueError, match="the steps of a pipeline give one others"):
        accumulated_effects(steps, TABLE, refits=[again])


def test_one_class_of_several_has_a_band():
    rows, labels = labelled()
    model = classifier(small_recipe(resampling=CrossFit(3))).fit(rows, labels)
    curve = accumulated_effects(model, rows, output=2, features=["x1"])["x1"]
    singles = [
        accumulated_effects(one, rows, output=2, features=["x1"])["x1"].effect
        for one in model.fold_networks_
    ]
    np.testing.assert_allclose(curve.low, np.min(singles, axis=0), atol=1e-9)
    other = classifier(small_recipe(resampling=CrossFit(3))).fit(rows, [f"{y}!" for y in labels])
    with pytest.raises(ValueError, match=r"refits must have the classes .*'low'.*'low!'"):
        accumulated_effects(model, rows, output=2, refits=[other])


def test_weights_count_as_repeated_rows(models):
    weight = np.random.default_rng(0).integers(0, 3, size=len(TABLE))
    model = models["with companions"]
    weighted = accumulated_effects(model, TABLE, sample_weight=weight, features=["a"])["a"]
    repeated = TABLE.loc[np.repeat(TABLE.index, weight)]
    repeated = accumulated_effects(model, repeated, features=["a"])["a"]
    np.testing.assert_allclose(weighted.low, repeated.low, atol=1e-9)
    np.testing.assert_allclose(weighted.high, repeated.high, atol=1e-9)


def test_what_are_no_refits_of_the_model_is_said(models):
    model = models["alone"]
    for wrong in (model, model.network_, 3):
        with pytest.raises(TypeError, match="refits must be a list of fitted models"):
            accumulated_effects(model, TABLE, refits=wrong)
    turned = LLARegressor(3, random_state=0).fit(TABLE[TABLE.columns[::-1]], Y)
    with pytest.raises(ValueError, match=r"one reads \['sex_M', 'sex_F'.*Fit all to the same"):
        accumulated_effects(model, TABLE, refits=[turned])
    narrow = ReluNetwork(np.ones((1, 2)), [0.0], [1.0], 0.0)
    with pytest.raises(ValueError, match="5 columns; the network reads 2"):
        accumulated_effects(model, TABLE, refits=[narrow])
