"""No row sees its own target in its code: random levels teach nothing, and bypasses are seen."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from benchmarks.recipe.models import QUICK
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import log_loss

import lifenet.recipe.recipe as algorithm
import lifenet.tables.categories as categories
from lifenet import (
    LLA,
    Hierarchy,
    Leaves,
    LIFEClassifier,
    LIFERegressor,
    MiniBatch,
    NeuronProjection,
)
from lifenet.data.folds import CrossFit, with_own_codes
from lifenet.kernels.shrinkage import shrunken_means

N, LEVELS = 8_000, 2_000
FEW = NeuronProjection(levels=(3,))
#: The default's own kind with fewer trees, networks and steps.
RECIPE = replace(
    QUICK,
    neurons=(Leaves(10), Hierarchy(n_neurons=5, max_iter=3, n_networks=2, max_rows="auto")),
    finetune=MiniBatch(10),
)


def drawn(deviation, seed=0):
    """Training and held-out rows of a column of many levels, whose effects have a deviation."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, LEVELS, 2 * N)
    X = pd.DataFrame({"level": [f"l{one}" for one in levels], "z": rng.normal(size=2 * N)})
    y = deviation * rng.normal(size=LEVELS)[levels] + rng.normal(size=2 * N)
    return X[:N], y[:N], X[N:], y[N:]


def regression(X, y, new, truth):
    """Held-out error over that of the mean, and the folds' loss on their validation rows."""
    model = LIFERegressor(preset=RECIPE, random_state=0).fit(X, y)
    error = np.sqrt(np.mean((model.predict(new) - truth) ** 2))
    null = np.sqrt(np.mean((truth - y.mean()) ** 2))
    return error / null, np.mean([fold.loss for fold in model.folds_])


def classification(X, y, new, truth):
    """The same of two classes."""
    y, truth = y > 0, truth > 0
    model = LIFEClassifier(preset=RECIPE, random_state=0).fit(X, y)
    null = log_loss(truth, np.full(len(truth), y.mean()))
    error = log_loss(truth, model.predict_proba(new))
    return error / null, np.mean([fold.loss for fold in model.folds_])


def plain_means(ids, target, weight, part, n_levels):
    """What cross-fitting is there to avoid: a row's own target is in its code."""
    return shrunken_means(ids, target, weight, n_levels)[ids]


@pytest.mark.parametrize("work", [regression, classification])
@pytest.mark.parametrize("seed", [0, 1])
def test_random_levels_teach_nothing(work, seed):
    ratio, _ = work(*drawn(0.0, seed))
    assert ratio < 1.01


def test_plain_codes_in_training_would_be_seen(monkeypatch):
    data = drawn(0.3)
    honest, _ = regression(*data)
    monkeypatch.setattr(categories, "crossfitted_means", plain_means)
    assert honest < 1.0
    assert regression(*data)[0] > honest + 0.05


@pytest.mark.parametrize("work", [regression, classification])
def test_codes_of_all_rows_in_every_fold_would_be_seen(monkeypatch, work):
    """Of real effects: a validation row's target would be in the codes of training rows."""
    data = drawn(1.0)
    error, honest = work(*data)
    monkeypatch.setattr(algorithm, "with_own_codes", lambda data, folds: folds)
    _, flattering = work(*data)
    assert error < 0.9
    assert flattering < 0.97 * honest


@pytest.mark.parametrize("work", [regression, classification])
def test_both_bypassed_random_levels_teach_nonsense(monkeypatch, work):
    monkeypatch.setattr(categories, "crossfitted_means", plain_means)
    monkeypatch.setattr(algorithm, "with_own_codes", lambda data, folds: folds)
    data = drawn(0.3)
    error, loss = work(*data)
    assert error > 1.03
    monkeypatch.undo()
    honest_error, honest_loss = work(*data)
    assert honest_error < 1.0
    assert loss < 0.85 * honest_loss


def folds_of(X, y):
    """Folds of the rows, with codes of their own."""
    model = LIFERegressor(preset=RECIPE, random_state=0)
    model.recipe_ = RECIPE
    data = model._inputs(X, y, None, (X, y, None), reset=True)
    return with_own_codes(data, CrossFit(2).folds(data, 0)), data


def test_no_code_of_a_fold_depends_on_its_validation_targets():
    X, y, _, _ = drawn(1.0)
    folds, data = folds_of(X, y)
    for number, fold in enumerate(folds):
        changed = y.copy()
        changed[fold.validation.rows.index] += 100 * np.random.default_rng(1).random()
        changed[fold.validation.rows.index[::2]] *= -3
        again = folds_of(X, changed)[0][number]
        assert_array_equal(again.validation.rows.index, fold.validation.rows.index)
        assert_array_equal(again.train.rows.X, fold.train.rows.X)
    assert not np.array_equal(folds[0].train.rows.X, data.X)


def test_no_training_row_sees_its_own_target():
    X, y, _, _ = drawn(1.0)
    _, data = folds_of(X, y)
    codes = data.crossfitted.table(data.X)[:, 0]
    for row in (0, 1, 2):
        changed = y.copy()
        changed[row] += 50.0
        again = folds_of(X, changed)[1]
        own = again.crossfitted.part == again.crossfitted.part[row]
        found = again.crossfitted.table(again.X)[:, 0]
        assert_allclose(found[own], codes[own], atol=1e-12)
        assert np.abs(found - codes)[~own].max() > 1e-3


# ---------------------------------------------------------------------- further fits


def error_of(model, new, truth):
    return np.sqrt(np.mean((model.predict(new) - truth) ** 2))


def paper(**settings):
    solver = LLA(3, max_iter=5)
    return LIFERegressor(FEW, solver, preset="paper", random_state=0, **settings)


@pytest.mark.parametrize("again", ["warm start", "refit", "refit of folds"])
def test_further_fits_of_the_same_rows_do_not_see_their_targets_either(again):
    """They had codes in which every row's own target was: held-out errors rose by 6 %."""
    X, y, new, truth = drawn(0.3)
    folds = again == "refit of folds"
    model = LIFERegressor(preset=RECIPE, random_state=0) if folds else paper()
    model.set_params(warm_start=again == "warm start").fit(X, y)
    before = error_of(model, new, truth)
    model.fit(X, y) if again == "warm start" else model.refit_readout(X, y)
    assert error_of(model, new, truth) < 1.01 * before


def test_nothing_is_expected_in_a_further_fit_of_what_training_did_not_have():
    X, y, new, _ = drawn(1.0)
    model = paper(warm_start=True).fit(X, y)
    strange = new[:200].assign(level=[None, "never"] * 100)
    both, target = pd.concat([X, strange]), np.append(y, np.full(200, 50.0))
    data = model._inputs(both, target, None, (both, target, None), reset=False)
    at = model.table_.columns.index("level [expected target]")
    assert_array_equal(data.X[-200:, at], 0.0)
    assert_array_equal(model.table_.transform(strange)[:, at], 0.0)
    assert np.abs(data.X[:-200, at]).max() > 1.0
