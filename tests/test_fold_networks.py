"""The networks of the folds, as readings see them: each in place of the mean of all."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from crossfitted import (
    BOTH,
    classifier,
    fit_with_folds,
    hierarchy,
    labelled,
    planted,
    regressor,
    small_recipe,
)
from lifenet import BoostedTrees, CrossFit, Distil, LIFERegressor, LinearModel


def scores(networks, X):
    return np.stack([one.score(X) for one in networks])


def boosted(**changes):
    """A recipe in which boosted trees get a weight."""
    trees = BoostedTrees((8,), (10,), 40, 400, (0.3,), 1.0)
    return small_recipe(stack=(LinearModel(), trees), **changes)


def test_without_companions_they_are_the_networks_that_were_trained(monkeypatch):
    X, y = planted()
    recipe = small_recipe(resampling=CrossFit(3), stack=())
    model, folds = fit_with_folds(regressor(recipe), X + 3, 10 * y + 5, monkeypatch)
    found = scores(model.fold_networks_, X + 3)
    assert len(found) == 3
    # Weights of the network are kept in single precision.
    np.testing.assert_allclose(found, scores(folds, X + 3), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        found.mean(axis=0)[:, 0], model.predict(X + 3), rtol=1e-10, atol=1e-12
    )
    assert found.std(axis=0).max() > 0.1


def test_companions_are_the_same_in_all(monkeypatch):
    X, y = planted()
    model, folds = fit_with_folds(regressor(boosted()), X + 3, 10 * y + 5, monkeypatch)
    share = np.prod([1 - one.weight for one in model.stacked_])
    assert 0 < share < 1
    own, found = scores(folds, X + 3), scores(model.fold_networks_, X + 3)
    expected = model.network_.score(X + 3) + share * (own - own.mean(axis=0))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    several = model.fold_networks_
    parts = scores(several.own, X + 3) + several.companions.score(X + 3)
    np.testing.assert_allclose(parts, found, atol=1e-12)
    np.testing.assert_allclose(
        found.mean(axis=0)[:, 0], model.predict(X + 3), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("recipe", [BOTH, boosted(resampling=CrossFit(3))], ids=["own", "boosted"])
def test_the_mean_of_several_classes_is_the_model(recipe):
    X, y = labelled()
    model = classifier(recipe).fit(X, y)
    found = scores(model.fold_networks_, X)
    np.testing.assert_allclose(found.mean(axis=0), model.decision_function(X), atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=2), 0, atol=1e-9)
    assert found.std(axis=0).max() > 0.01


def test_networks_of_columns_without_codes_have_them():
    X, y = planted()
    recipe = small_recipe(hierarchy(max_rows=None), codes=None, stack=(), finetune=None)
    model = regressor(recipe).fit(X, y)
    assert model.coding_ is None
    found = scores(model.fold_networks_, X)
    np.testing.assert_allclose(found.mean(axis=0)[:, 0], model.predict(X), rtol=1e-10, atol=1e-12)


def test_folds_of_a_splitter_are_there_too_and_simplify_does_not_take_them_for_drawn():
    X, y = planted()
    model = regressor(validation=KFold(3)).fit(X, y)
    found = scores(model.fold_networks_, X)
    assert len(found) == 3
    np.testing.assert_allclose(found.mean(axis=0)[:, 0], model.predict(X), rtol=1e-10, atol=1e-12)
    with pytest.warns(UserWarning, match="The network was fitted to these rows"):
        model.simplify(X, y, settings=Distil(8))


def test_what_is_no_mean_of_folds_has_none():
    X, y = planted()
    assert len(LIFERegressor(preset="paper", random_state=0).fit(X, y).fold_networks_) == 0
    small = small_recipe(compress=Distil(8))
    assert len(regressor(small).fit(X, y).fold_networks_) == 0
    assert len(regressor(validation=0.2).fit(X, y).fold_networks_) == 0
    model = regressor().fit(X, y)
    assert len(model.fold_networks_) == 2
    assert len(model.with_network(model.network_).fold_networks_) == 0
    assert len(model.refit_readout(X, y).fold_networks_) == 0
