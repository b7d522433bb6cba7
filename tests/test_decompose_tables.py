"""Curves and maps of models of users' tables: sums, purity and brute force."""

import itertools

import numpy as np
import pandas as pd
import pytest

from lifenet import LIFEClassifier, LIFERegressor
from lifenet.explain import decompose
from user_tables import settings, table, target

KINDS = ("number", "two classes")


def few_valued(n=600, seed=0):
    """Few values of everything, so that all of them can be enumerated."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": np.where(rng.random(n) < 0.2, np.nan, rng.integers(1, 25, n)),
            "purpose": np.where(rng.random(n) < 0.15, None, rng.choice(["car", "tv", "trip"], n)),
            "owns": rng.random(n) < 0.4,
        }
    )


def response(X):
    return (
        0.2 * X["income"].fillna(30.0) * (1 + X["owns"])
        + (X["purpose"] == "car") * X["income"].fillna(-20.0) / 4
        + X["purpose"].isna()
    ).to_numpy()


def pairwise(kind, X, y):
    model = LIFERegressor if kind == "number" else LIFEClassifier
    options = settings("quick")
    return model(**options, interaction_cst="pairwise").fit(X, y)


@pytest.fixture(scope="module")
def additive_in_pairs():
    X = few_valued()
    return pairwise("number", X, response(X)), X


def product(X):
    """All rows that the features' own distributions allow, with their probabilities."""
    parts = []
    for name in X.columns:
        counts = X[name].value_counts(dropna=False, normalize=True)
        parts.append(list(counts.items()))
    rows = [[value for value, _ in one] for one in itertools.product(*parts)]
    share = [np.prod([share for _, share in one]) for one in itertools.product(*parts)]
    frame = pd.DataFrame(rows, columns=X.columns).astype({"income": float, "owns": bool})
    return frame, np.array(share)


def same(column, value):
    return (column.isna() if pd.isna(value) else column == value).to_numpy()


def test_parts_are_means_over_independent_features(additive_in_pairs):
    """Brute force: every combination of values, levels and what is missing."""
    model, X = additive_in_pairs
    found = decompose(model, X)
    assert found.exact
    everything, share = product(X)
    score = model.predict(everything)
    mean = share @ score
    assert found.intercept == pytest.approx(mean)
    main = found.main(everything)
    alone = {}
    for place, name in enumerate(X.columns):
        column = everything[name]
        effect = np.empty(len(everything))
        for value in column.unique():
            rows = same(column, value)
            effect[rows] = share[rows] @ score[rows] / share[rows].sum() - mean
        alone[name] = effect
        np.testing.assert_allclose(main[:, place], effect, atol=1e-9)
    pairs = found.pairs(everything)
    for place, surface in enumerate(found.surfaces):
        first, second = surface.features
        for a, b in itertools.product(everything[first].unique(), everything[second].unique()):
            rows = same(everything[first], a) & same(everything[second], b)
            both = share[rows] @ score[rows] / share[rows].sum() - mean
            expected = both - alone[first][rows][0] - alone[second][rows][0]
            np.testing.assert_allclose(pairs[rows, place], expected, atol=1e-9)


def test_curves_and_maps_hold_what_the_rows_have(additive_in_pairs):
    model, X = additive_in_pairs
    found = decompose(model, X)
    curve = found.curve("income")
    assert np.isnan(curve.values[-1])
    assert curve.mass[-1] == pytest.approx(X["income"].isna().mean())
    row = X[X["income"].isna()].iloc[[0]]
    assert curve.missing == pytest.approx(found.main(row)[0, 0])
    assert curve.at([np.nan, 2.0])[1] == pytest.approx(found.main(X[X["income"] == 2])[0, 0])
    frame = found.curve_frame("income")
    assert frame["label"].iloc[-1] == "missing"
    surface = found.surface("income", "purpose")
    assert surface.labels[1][-1] == "missing"
    assert surface.kinds == ("number", "category")
    assert surface.share.sum() == pytest.approx(1)
    gone = X["income"].isna() & (X["purpose"] == "car")
    place = surface.labels[1].index("car")
    assert surface.share[-1, place] == pytest.approx(gone.mean())
    rows = X[gone]
    names = found.names[1 + len(found.features) :]
    column = names.index("income & purpose")
    np.testing.assert_allclose(found.pairs(rows)[:, column], surface.effect[-1, place], atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_exact_parts_sum_to_the_score_of_any_row(kind):
    """Also far from the data, at levels and gaps that training did not have."""
    X = table()
    model = pairwise(kind, X, target(X, kind))
    found = decompose(model, X)
    assert found.exact
    assert found.left_over == 0
    new = X.copy()
    new.loc[:20, "purpose"] = "ship"
    new.loc[10:40, "city"] = "nowhere"
    new.loc[30:60, "age"] = np.nan
    new.loc[50:70, "income"] = 1e6
    new.loc[60:80, "children"] = np.nan
    score = model.predict(new) if kind == "number" else model.decision_function(new)
    parts = found.parts(new)
    np.testing.assert_allclose(parts.sum(axis=1), score, atol=1e-9 * np.abs(parts).max())
    # Pure: of mean zero over each feature's own distribution, missing values included.
    for curve in found.curves:
        assert curve.mass @ curve.effect == pytest.approx(0, abs=1e-9)
    assert found.deviation**2 == pytest.approx(
        sum(one.strength**2 for one in (*found.curves, *found.surfaces)), rel=1e-6
    )


@pytest.mark.parametrize("recipe", ["paper", "quick"])
def test_other_networks_have_partial_dependences_with_missing_values(recipe):
    X = few_valued()
    X["more"] = np.random.default_rng(1).normal(size=len(X)).round(1)
    y = response(X) + 0.2 * X["more"] * X["income"].fillna(0) * X["owns"]
    model = LIFERegressor(**settings(recipe)).fit(X, y)
    found = decompose(model, X, max_pairs=6, n_background=400)
    assert found.curve("income").has_missing
    parts = found.parts(X)
    assert np.isfinite(parts).all()
    rest = model.predict(X) - parts.sum(axis=1)
    if not found.exact:
        assert rest.var() / model.predict(X).var() < 0.2
    # A row's part depends on its own cells alone.
    gone = X["income"].isna().to_numpy()
    assert np.ptp(found.main(X)[gone, 0]) == 0
    assert found.curve("income").missing == pytest.approx(found.main(X)[gone, 0][0])
    # Values beyond the data are no part of the way to a missing one.
    far = X[~gone].iloc[[0]].assign(income=1e9)
    last = found.curve("income").observed.effect[-1]
    if not found.exact:
        assert found.main(far)[0, 0] == pytest.approx(last)
