"""Explanations of models of users' tables, against their definitions by the public methods.

What the model says of a table is asked by `predict` and `decision_function`; cells are changed in
the user's table. How it is coded inside does not matter here.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from lifenet import LIFERegressor
from lifenet.explain import (
    accumulated_effects,
    coefficient_signs,
    equation_fidelity,
    feature_importance,
    integrated_effects,
    interaction_strength,
    local_regions,
    merge_regions,
    neuron_contributions,
    neuron_importance,
    pair_effect,
    partial_dependence,
    two_stage_strength,
    varying_coefficients,
)
from lifenet.explain._exchange import draw_pairs
from lifenet.explain._sample import Sample
from lifenet.explain.one_row import MINUS
from user_tables import MODELS, fitted, median, options, put, scorer, settings, table, target

each_model = pytest.mark.parametrize(("kind", "recipe"), MODELS)
GAPS = ("income", "children")


def cells(X, column):
    """The known values of a column, and which rows have each; text and truths included."""
    values = np.unique(X[column].dropna().to_numpy())
    return values, [X[column].to_numpy() == value for value in values]


def values_of(curve):
    """The values of a curve as the user's cells; the first of levels with one label."""
    if curve.labels is not None:
        first = [label.split(", ")[0] for label in curve.labels]
        return [None if label == "missing" else label for label in first]
    if curve.kind == "date":
        return [pd.Timestamp("1970-01-01") + pd.Timedelta(day, "D") for day in curve.values]
    if curve.kind == "boolean":
        return [bool(value) for value in curve.values]
    return [None if np.isnan(value) else value for value in curve.values]


def members(curve, X):
    """The levels behind each label: rare ones of which the same is expected have one in common."""
    named = [label.split(" and ")[0].split(", ") for label in curve.labels]
    left = set(X[curve.feature].dropna()) - {name for names in named for name in names}
    more = [label.endswith(" more") for label in curve.labels]
    assert sum(more) <= 1
    return [
        [None] if names == ["missing"] else names + sorted(left) * rest
        for names, rest in zip(named, more, strict=True)
    ]


@each_model
def test_features_are_the_users_columns_and_parts_of_dates(kind, recipe):
    model, X = fitted(kind, recipe)
    effects = accumulated_effects(model, X, **options(kind))
    names = [curve.feature for curve in effects.curves]
    assert names == [*X.columns[:6], "day: month", "day: weekday", "children"]
    kinds = {curve.feature: curve.kind for curve in effects.curves}
    assert kinds["owns"] == "boolean"
    assert kinds["day"] == "date"
    assert kinds["purpose"] == kinds["city"] == "category"
    assert set(effects["purpose"].labels) == {*X["purpose"].dropna().unique(), "missing"}
    assert set(X["city"]) == {city for cities in members(effects["city"], X) for city in cities}
    assert effects["income"].missing is not None
    assert effects["age"].missing is None
    frame = effects.to_frame()
    last = frame[frame["feature"] == "income"].iloc[-1]
    assert np.isnan(last["value"])
    assert last["label"] == "missing"
    assert "2011-01" in frame[frame["feature"] == "day"]["label"].iloc[0]


@each_model
@pytest.mark.parametrize("column", ["income", "age", "owns", "children"])
def test_accumulated_effects_of_numbers_are_their_definition(kind, recipe, column):
    model, X = fitted(kind, recipe)
    score, weight = scorer(model, kind), np.arange(len(X)) % 3 + 1.0
    curve = accumulated_effects(model, X, sample_weight=weight, **options(kind))[column]
    values, held = cells(X, column)
    effect = [0.0]
    for (low, first), (high, second) in itertools.pairwise(zip(values, held, strict=True)):
        ends = first | second
        rise = score(put(X[ends], column, high)) - score(put(X[ends], column, low))
        effect.append(effect[-1] + np.average(rise, weights=weight[ends]))
    mass = [weight[rows].sum() / weight.sum() for rows in held]
    if column in GAPS:
        gone = X[column].isna()
        known = X[column].fillna(median(X[column]))
        change = score(put(X, column, None)) - score(X.assign(**{column: known}))
        at = np.interp(known, values, effect)
        effect.append(np.average(change + at, weights=weight))
        mass.append(weight[gone].sum() / weight.sum())
    expected = np.array(effect) - np.dot(mass, effect)
    np.testing.assert_allclose(curve.effect, expected, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(curve.mass, mass, atol=1e-12)
    assert curve.level == pytest.approx(np.average(score(X), weights=weight))


@each_model
@pytest.mark.parametrize("column", ["purpose", "city"])
def test_accumulated_effects_of_levels_agree_best_with_all_pairs(kind, recipe, column):
    model, X = fitted(kind, recipe)
    score = scorer(model, kind)
    curve = accumulated_effects(model, X, **options(kind))[column]
    levels = members(curve, X)
    held = [X[column].isna() if names == [None] else X[column].isin(names) for names in levels]
    rows, rises = [], []
    at = [score(put(X, column, names[0])) for names in levels]
    for a, b in itertools.combinations(range(len(levels)), 2):
        either = held[a] | held[b]
        size = np.sqrt(either.mean())
        row = np.zeros(len(levels))
        row[b], row[a] = size, -size
        rows.append(row)
        rises.append(size * (at[b] - at[a])[either].mean())
    effect = np.linalg.lstsq(np.array(rows), np.array(rises), rcond=None)[0]
    shares = [rows.mean() for rows in held]
    np.testing.assert_allclose(curve.mass, shares, atol=1e-12)
    effect -= effect @ shares
    np.testing.assert_allclose(curve.effect, effect, atol=1e-8 * np.abs(effect).max())


@each_model
def test_partial_dependence_is_the_mean_with_every_cell_the_same(kind, recipe):
    model, X = fitted(kind, recipe)
    score = scorer(model, kind)
    for curve in partial_dependence(model, X, **options(kind)).curves:
        if curve.feature in X.columns:
            values = values_of(curve)
            some = sorted({0, len(values) // 2, len(values) - 1})
            for place in some:
                expected = score(put(X, curve.feature, values[place])).mean()
                if curve.kind == "date":
                    continue  # its parts do not move along: see the next test
                assert curve.effect[place] + curve.level == pytest.approx(expected, abs=1e-9)
            assert curve.mass @ curve.effect == pytest.approx(0, abs=1e-9)
            assert curve.mass.sum() == pytest.approx(1)


@each_model
def test_a_date_and_its_parts_are_moved_apart(kind, recipe):
    model, X = fitted(kind, recipe)
    effects = partial_dependence(model, X, features=["day"], grid=[15_000.0], **options(kind))
    sample = Sample.of(model, X, **options(kind))
    rows = sample.X.copy()
    rows[:, sample.names.index("day")] = 15_000.0
    expected = model.network_.score(rows)[:, sample.output].mean()
    curve = effects["day"]
    assert curve.effect[0] + curve.level == pytest.approx(expected)


@each_model
def test_the_papers_effects_have_missing_values_and_levels_too(kind, recipe):
    model, X = fitted(kind, recipe)
    ours = integrated_effects(model, X, **options(kind))
    theirs = accumulated_effects(model, X, **options(kind))
    np.testing.assert_allclose(ours["purpose"].effect, theirs["purpose"].effect, atol=1e-12)
    for name in GAPS:
        curve, other = ours[name], theirs[name]
        np.testing.assert_array_equal(curve.values, other.values)
        assert curve.mass @ curve.effect == pytest.approx(0, abs=1e-12)
        known = X[name].fillna(median(X[name]))
        at = [np.interp(known, one.observed.values, one.observed.effect).mean()
              for one in (curve, other)]  # fmt: skip
        # The contrast is the same, beside another curve.
        assert curve.missing - at[0] == pytest.approx(other.missing - at[1], abs=1e-9)


def test_the_missing_value_of_a_sum_is_its_own_term():
    """Without interactions every row says the same of a missing value."""
    X = table()[["income", "owns"]]
    y = np.where(X["income"].isna(), 3.0, X["income"]) + 2.0 * X["owns"]
    recipe = settings("quick")["preset"]
    model = LIFERegressor(preset=recipe, interaction_cst="no_interactions", random_state=0)
    model.fit(X, y)
    for effects in (accumulated_effects(model, X), partial_dependence(model, X)):
        curve = effects["income"]
        x = float(X["income"].dropna().iloc[0])
        two = pd.DataFrame({"income": [np.nan, x], "owns": [True, True]})
        found = curve.missing - np.interp(x, curve.observed.values, curve.observed.effect)
        assert found == pytest.approx(np.subtract(*model.predict(two)), abs=2e-2)


# ------------------------------------------------------------------ pairs


def raw(effect):
    """An effect less those of its first row and column: what centring does not change."""
    return effect - effect[:1] - effect[:, :1] + effect[0, 0]


@each_model
def test_pairs_of_numbers_with_gaps_are_their_definition(kind, recipe):
    """All cells hold rows; both features have gaps."""
    model, X = fitted(kind, recipe)
    X = X.assign(income=X["income"].round(0).clip(1, 4))
    score = scorer(model, kind)
    result = pair_effect(model, X, ("income", "children"), **options(kind))
    a, b = (values[:-1] for values in result.values)
    assert all(np.isnan(values[-1]) for values in result.values)
    effect = raw(result.effect)
    own = {name: X[name].fillna(median(table()[name])) for name in GAPS}
    income, children = X["income"], X["children"]

    def mixed(rows, first, second):
        """The mixed difference of some rows between two values of either feature."""
        at = {}
        for i, j in itertools.product((0, 1), (0, 1)):
            changed = X[rows].assign(income=first[i], children=second[j])
            at[i, j] = score(changed)
        return at[1, 1] - at[0, 1] - at[1, 0] + at[0, 0]

    for i, j in itertools.product(range(len(a) - 1), range(len(b) - 1)):
        inside = income.isin(a[i : i + 2]) & children.isin(b[j : j + 2])
        steps = np.diff(np.diff(effect[i : i + 2, j : j + 2], axis=0), axis=1)
        expected = mixed(inside, a[i : i + 2], b[j : j + 2]).mean()
        assert steps[0, 0] == pytest.approx(expected, abs=1e-9)

    known, m = effect[: len(a), : len(b)], len(a)
    for j in range(len(b) - 1):
        inside = children.isin(b[j : j + 2])
        value = own["income"][inside]
        rise = np.array([np.interp(value, a, np.diff(known[:, j : j + 2], axis=1)[:, 0])])[0]
        expected = (mixed(inside, [value, np.nan], b[j : j + 2]) + rise).mean()
        assert np.diff(effect[m, j : j + 2])[0] == pytest.approx(expected, abs=1e-9)

    everyone = pd.Series(True, index=X.index)
    change = mixed(everyone, [own["income"], np.nan], [own["children"], np.nan])
    beside = np.interp(own["income"], a, effect[:m, -1])
    above = np.interp(own["children"], b, effect[-1, : len(b)])
    inner = [
        np.interp(x, a, [np.interp(y, b, row) for row in known])
        for x, y in zip(own["income"], own["children"], strict=True)
    ]
    assert effect[-1, -1] == pytest.approx((change + beside + above - inner).mean(), abs=1e-9)
    turned = pair_effect(model, X, ("children", "income"), **options(kind))
    np.testing.assert_allclose(turned.effect, result.effect.T, atol=1e-9)
    assert result.share.sum() == pytest.approx(1)
    gone = income.isna() & children.isna()
    assert result.share[-1, -1] == pytest.approx(gone.mean())


@each_model
def test_pairs_of_levels_are_named_by_them(kind, recipe):
    model, X = fitted(kind, recipe)
    result = pair_effect(model, X, ("purpose", "income"), grid=6, **options(kind))
    assert set(result.labels[0]) == {*X["purpose"].dropna().unique(), "missing"}
    assert result.kinds == ("category", "number")
    frame = result.to_frame()
    assert frame["income"].isna().sum() == 7  # once a level
    assert len(frame) == result.effect.size


def test_without_interactions_no_pair_has_an_effect():
    X = table()
    recipe = settings("quick")["preset"]
    model = LIFERegressor(preset=recipe, interaction_cst="no_interactions", random_state=0)
    model.fit(X, target(X, "number"))
    for pair in itertools.combinations(["income", "children", "purpose", "owns", "day"], 2):
        assert pair_effect(model, X, pair, grid=8).strength < 1e-9
    assert interaction_strength(model, X, n_pairs=50).pair.max() < 1e-9


def test_a_number_with_one_value_is_there_or_not():
    X = table()[["age", "owns"]].assign(flag=np.where(np.arange(400) % 3, 7.0, np.nan))
    y = X["age"] * X["flag"].isna()
    model = LIFERegressor(**settings("quick")).fit(X, y)
    result = pair_effect(model, X, ("flag", "age"), grid=5)
    assert set(result.labels[0]) == {"7", "missing"}
    curve = accumulated_effects(model, X)["flag"]
    assert curve.observed.values.tolist() == [7.0]


# ------------------------------------------------------------------ slopes and signs


@each_model
def test_what_is_missing_or_a_level_changes_is_asked_of_whole_features(kind, recipe):
    model, X = fitted(kind, recipe)
    score = scorer(model, kind)
    signs = coefficient_signs(model, X, expected={"income is missing": 1}, **options(kind))
    names = list(signs.schema.names)
    known = X.assign(income=X["income"].fillna(median(X["income"])))
    change = score(put(X, "income", None)) - score(known)
    found = signs.changes[:, names.index("income is missing")]
    np.testing.assert_allclose(found, change, atol=1e-9)
    levels = {one: score(put(X, "purpose", one)) for one in X["purpose"].dropna().unique()}
    levels[None] = score(put(X, "purpose", None))
    share = {one: (X["purpose"] == one).mean() for one in levels if one}
    share[None] = X["purpose"].isna().mean()
    rest = [one for one in levels if one != "car"]
    others = sum(share[one] * levels[one] for one in rest) / sum(share[one] for one in rest)
    found = signs.changes[:, names.index("purpose = car")]
    np.testing.assert_allclose(found, levels["car"] - others, atol=1e-9)
    (check,) = signs.checks
    least = 0.05 * np.sqrt(np.square(change).mean())
    assert check.against == pytest.approx((change < -least).mean())


@each_model
def test_rows_without_a_value_have_no_slope_of_it(kind, recipe):
    model, X = fitted(kind, recipe)
    gone = X["income"].isna().to_numpy()
    signs = coefficient_signs(model, X, **options(kind))
    column = signs.schema.names.index("income")
    np.testing.assert_array_equal(np.isnan(signs.changes[:, column]), gone)
    whole = signs.slopes[~gone, column].mean()
    assert signs.mean[column] == pytest.approx(whole)
    varying = varying_coefficients(model, X, **options(kind))
    feature = varying.features.index("income")
    one = int(np.flatnonzero(varying.owner == feature)[0])
    np.testing.assert_array_equal(np.isnan(varying.alpha[:, one]), gone)
    np.testing.assert_array_equal(np.isnan(varying.places[:, feature]), gone)
    assert varying.mean[one] == pytest.approx(np.nanmean(varying.alpha[:, one]))
    # Curves of others over income are of the rows that have one.
    assert np.isfinite(varying.strength).all()
    assert np.isfinite(np.concatenate([curve.ravel() for curve in varying.curves])).all()


@each_model
def test_contrasts_of_levels_are_differences_of_scores(kind, recipe):
    model, X = fitted(kind, recipe)
    score = scorer(model, kind)
    varying = varying_coefficients(model, X, **options(kind))
    usual = X["purpose"].value_counts().index[0]
    assert "purpose: missing - car" in varying.names
    assert usual == "car"
    one = varying.names.index("purpose: missing - car")
    change = score(put(X, "purpose", None)) - score(put(X, "purpose", "car"))
    np.testing.assert_allclose(varying.alpha[:, one], change, atol=1e-9)


@each_model
def test_fidelity_moves_the_values_that_rows_have(kind, recipe):
    """One column at a time, by loops over the rows and the values of training."""
    model, X = fitted(kind, recipe)
    score = scorer(model, kind)
    reach, column = 0.2, "income"
    found = equation_fidelity(model, X, reach=reach, **options(kind))
    place = found.schema.names.index(column)
    known = X[column].dropna()
    values, counts = np.unique(known, return_counts=True)
    low, high = known.quantile([0.05, 0.95], interpolation="lower")
    span = model.schema_.values[place].span
    assert span == pytest.approx(high - low, rel=0.1)
    total = left = 0.0
    for row in np.flatnonzero(X[column].notna()):
        near = np.abs(values - X[column][row]) <= reach * span * (1 + 1e-9)
        near &= values != X[column][row]
        if not near.any():
            continue
        moved = pd.concat([X.iloc[[row]]] * near.sum()).assign(**{column: values[near]})
        change = score(moved) - score(X.iloc[[row]])
        step, weight = values[near] - X[column][row], counts[near] / counts[near].sum()
        slope = (weight * step * change).sum() / (weight * step**2).sum()
        total += (weight * change**2).sum()
        left += (weight * (change - slope * step) ** 2).sum()
    assert found.by_column[0, place] == pytest.approx(1 - left / total, abs=1e-9)
    assert np.isnan(found.by_column[0, found.schema.names.index("income is missing")])
    assert np.isnan(found.by_column[0, found.schema.names.index("purpose = car")])


# ------------------------------------------------------------------ features, regions, neurons


@each_model
def test_importance_exchanges_whole_features(kind, recipe):
    model, X = fitted(kind, recipe)
    found = feature_importance(model, X, **options(kind))
    sample = Sample.of(model, X, **options(kind))
    first, second = draw_pairs(sample, 2_000, 0)
    for feature, (name, columns) in enumerate(model.schema_.groups):
        mixed = first.copy()
        mixed[:, columns] = second[:, columns]
        gain = np.subtract(*(model.network_.score(one)[:, sample.output] for one in (mixed, first)))
        expected = np.sqrt(np.square(gain).mean() / 2)
        assert found.features[feature] == name
        assert found.importance[feature] == pytest.approx(expected, abs=1e-12)


@each_model
def test_conditions_of_regions_hold_in_their_rows_as_they_are_worded(kind, recipe):
    model, X = fitted(kind, recipe)
    found = merge_regions(model, X, n_regions=6, min_rows=15, **options(kind))
    np.testing.assert_array_equal(found.assign(X), found.region)
    assert found.n_regions > 1
    known = {f"{name} = {level}": X[name] == level for name in ("purpose", "city")
             for level in X[name].dropna().unique()}  # fmt: skip
    known |= {f"{name} is missing": X[name].isna() for name in ("income", "purpose", "children")}
    known |= {"owns = yes": X["owns"], "owns = no": ~X["owns"]}
    days = (X["day"] - pd.Timestamp("1970-01-01")).dt.days
    # What is expected at levels has no words of the table.
    worded = [one for one in range(found.n_regions) if "expected" not in found.describe(one)]
    assert len(worded) > 1
    for region in worded:
        inside = np.ones(len(X), dtype=bool)
        for text in found.conditions(region):
            assert "> 0.5" not in text
            inside &= np.asarray(holds(text, X, known, days))
        np.testing.assert_array_equal(inside, found.region == region)


def holds(text, X, known, days):
    """Which rows a condition holds in, read as a user would."""
    if text in known:
        return known[text]
    if text.startswith("not: "):
        return ~known[text[5:]]
    if "≠" in text:
        return ~known[text.replace("≠", "=")]
    or_missing, text = text.startswith("("), text.strip("()").removesuffix(" or missing")
    parts = text.split(" ")
    name = next(one for one in ["day: month", "day: weekday", *X.columns] if one in text)
    parts_of_day = {"day: month": X["day"].dt.month, "day: weekday": X["day"].dt.day_of_week + 1.0}
    column = {**X, **parts_of_day, "day": days}[name]
    number = (lambda s: (pd.Timestamp(s) - pd.Timestamp("1970-01-01")) / pd.Timedelta("1D")) if (
        name == "day") else (lambda s: float(s.replace(MINUS, "-")))  # fmt: skip
    inside = np.ones(len(X), dtype=bool)
    if text.count("<") == 2:
        inside &= column > number(parts[0])
    if "<=" in text:
        inside &= column <= number(text.split("<= ")[1])
    if "> " in text:
        inside &= column > number(text.split("> ")[1])
    return inside | X[name].isna() if or_missing else inside


TURNED = ["day", "purpose", "children", "age", "owns", "city", "income"]
READINGS = {
    accumulated_effects: {},
    coefficient_signs: {},
    equation_fidelity: {"reach": 0.1},
    feature_importance: {"n_pairs": 100},
    integrated_effects: {},
    interaction_strength: {"n_pairs": 50},
    local_regions: {"min_rows": 1},
    merge_regions: {"n_regions": 2},
    neuron_contributions: {},
    neuron_importance: {},
    partial_dependence: {},
    two_stage_strength: {},
}


@pytest.mark.parametrize("read", READINGS)
@pytest.mark.parametrize("recipe", ["paper", "quick"])
def test_every_reading_takes_tables_of_any_kind(read, recipe):
    """Columns in another order, polars, and the network alone with the model's schema."""
    polars = pytest.importorskip("polars")
    model, X = fitted("number", recipe)
    expected = read(model, X, **READINGS[read]).to_frame()
    turned = polars.from_pandas(X[TURNED])
    for found in (
        read(model, turned, **READINGS[read]),
        read(model.network_, X[TURNED], schema=model.schema_, **READINGS[read]),
        read(make_pipeline(FunctionTransformer(), model), X, **READINGS[read]),
    ):
        if hasattr(found, "band"):
            continue  # folds are the model's own
        pd.testing.assert_frame_equal(found.to_frame(), expected)


def test_rows_with_new_levels_and_gaps_are_read():
    """At levels that training did not have, the score is that of `predict`."""
    model, X = fitted("number", "quick")
    new = X.iloc[:60].copy()
    new["purpose"] = ["ship"] * 20 + list(new["purpose"][20:])
    new.loc[new.index[30:], "age"] = np.nan
    effects = accumulated_effects(model, new)
    # An unseen level of few is to the model what the most frequent one is.
    likes = new["purpose"].isin(["car", "ship"]).mean()
    curve = effects["purpose"]
    assert curve.mass[curve.labels.index("car")] == pytest.approx(likes)
    assert effects["age"].level == pytest.approx(model.predict(new).mean())
    np.testing.assert_allclose(Sample.of(model, new).score, model.predict(new))


def test_a_category_of_very_many_levels_shows_the_frequent_ones():
    rng = np.random.default_rng(0)
    n = 900
    title = np.array([f"title {one}" for one in rng.integers(0, 450, n)], dtype=object)
    title[:300] = rng.choice(["nurse", "teacher", "driver"], 300)
    title[::50] = None
    X = pd.DataFrame({"title": title, "age": rng.integers(20, 60, n).astype(float)})
    y = (X["title"] == "nurse") * 2.0 + 0.01 * X["age"] + rng.normal(size=n)
    model = LIFERegressor(**settings("quick")).fit(X, y)
    curve = accumulated_effects(model, X)["title"]
    assert set(curve.labels) == {"nurse", "teacher", "driver", "other levels", "missing"}
    assert curve.labels[-2:] == ("other levels", "missing")
    assert curve.mass.sum() == pytest.approx(1)
    at = dict(zip(curve.labels, curve.effect, strict=True))
    assert max(at, key=at.get) == "nurse"
    dependence = partial_dependence(model, X)["title"]
    found = dependence.effect[dependence.labels.index("nurse")] + dependence.level
    assert found == pytest.approx(model.predict(X.assign(title="nurse")).mean())


def test_missing_numbers_of_a_model_without_gaps_are_the_median():
    """Of a table of plain numbers they stopped every explanation."""
    X = table()[["age", "income"]].fillna({"income": 2.0})
    model = LIFERegressor(**settings("quick")).fit(X, X["age"] * X["income"])
    assert model.schema_.table is None
    gone = X.assign(income=np.where(np.arange(len(X)) % 2, np.nan, X["income"]))
    filled = gone.fillna({"income": median(X["income"])})
    for given in (gone, gone[["income", "age"]], gone.to_numpy()):
        found = accumulated_effects(model, given)
        np.testing.assert_array_equal(
            found["income"].effect, accumulated_effects(model, filled)["income"].effect
        )
    with pytest.raises(ValueError, match=r"Missing: \['age'\]"):
        accumulated_effects(model, gone.drop(columns="age"))
