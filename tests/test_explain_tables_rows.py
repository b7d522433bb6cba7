"""Single rows of users' tables: sums, slopes, other levels, and what is said in words."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from lifenet import LIFERegressor
from lifenet.explain import explain_row, explain_rows, interaction_order, roughness
from user_tables import MODELS, fitted, median, options, put, scorer, settings, table, target

each_model = pytest.mark.parametrize(("kind", "recipe"), MODELS)
EPOCH = pd.Timestamp("1970-01-01")


def row_with(X, **cells):
    """The first row with some cells, None for missing."""
    held = np.ones(len(X), dtype=bool)
    for column, value in cells.items():
        held &= (X[column].isna() if value is None else X[column] == value).to_numpy()
    return X.iloc[[int(np.flatnonzero(held)[0])]]


@each_model
@pytest.mark.parametrize("reach", [0.05, 0.0])
def test_equations_and_waterfalls_sum_to_the_score(kind, recipe, reach):
    model, X = fitted(kind, recipe)
    score = scorer(model, kind)(X.iloc[:40])
    found = explain_rows(model, X.iloc[:40], X=X, reach=reach, **options(kind))
    for one, expected in zip(found, score, strict=True):
        size = 1 + np.abs(one.contributions).sum()
        assert one.score == pytest.approx(expected, abs=1e-9)
        assert one.intercept + one.contributions.sum() == pytest.approx(expected, abs=1e-12 * size)
        assert one.reference_score + one.parts.sum() == pytest.approx(expected, abs=1e-9)
        assert one.reference_score == pytest.approx(scorer(model, kind)(X).mean(), abs=1e-9)
        assert len(one.parts) == len(one.features) == len(one.values())


@each_model
def test_slopes_are_of_values_that_the_row_could_have(kind, recipe):
    """No slope of levels, of what is missing, nor of a value that the row does not have."""
    model, X = fitted(kind, recipe)
    score, reach = scorer(model, kind), 0.2
    rows = pd.concat([row_with(X, income=None), row_with(X, income=2.7)])
    for row, one in zip(rows.index, explain_rows(model, rows, reach=reach, **options(kind)),
                        strict=True):  # fmt: skip
        names = one.schema.names
        column = names.index("income")
        levels = [names.index(name) for name in names if " = " in name or "missing" in name]
        assert not one.slopes[levels].any()
        assert np.isnan(one.window[levels]).all()
        assert np.isnan(one.nearest[levels]).all()
        if pd.isna(X["income"][row]):
            assert one.slopes[column] == 0
            assert np.isnan([one.window[column], one.nearest[column]]).all()
            continue
        values, counts = np.unique(X["income"].dropna(), return_counts=True)
        span = model.schema_.values[column].span
        near = (np.abs(values - 2.7) <= reach * span * (1 + 1e-9)) & (values != 2.7)
        moved = pd.concat([rows.loc[[row]]] * near.sum()).assign(income=values[near])
        change, step = score(moved) - score(rows.loc[[row]]), values[near] - 2.7
        slope = (counts[near] * step * change).sum() / (counts[near] * step**2).sum()
        assert one.slopes[column] == pytest.approx(slope, abs=1e-9)


@each_model
def test_changes_to_other_levels_are_exact(kind, recipe):
    model, X = fitted(kind, recipe)
    score = scorer(model, kind)
    rows = pd.concat(
        [row_with(X, income=None, purpose="car"), row_with(X, purpose=None), X.iloc[:6]]
    )
    found = explain_rows(model, rows, **options(kind))
    for place, one in enumerate(found):
        row = rows.iloc[[place]]
        assert {"purpose", "city", "income", "children"} <= set(one.level_changes)
        assert not {"age", "owns", "day"} & set(one.level_changes)
        for column, pairs in one.level_changes.items():
            own = row[column].iloc[0]
            levels = [level for level, _ in pairs]
            assert len(set(levels)) == len(levels) <= 6
            assert (own if pd.notna(own) else "missing") not in levels
            if column in ("income", "children"):
                expected = ["missing"] if pd.notna(own) else [f"{median(X[column]):g}"]
                assert levels == expected
            for level, change in pairs:
                cell = None if level == "missing" else level.split(", ")[0]
                cell = float(cell) if cell and column in ("income", "children") else cell
                expected = score(put(row, column, cell)) - score(row)
                assert change == pytest.approx(expected[0], abs=1e-9)
    # The most frequent levels of training first.
    order = X["purpose"].value_counts().index[:5].tolist()
    assert [level for level, _ in found[1].level_changes["purpose"]] == order


def test_equations_say_under_which_conditions_they_are_read():
    model, X = fitted("number", "quick")
    row = row_with(X, income=None, purpose="house", owns=True)
    one = explain_row(model, row)
    city = row["city"].iloc[0]
    where = f", if income is missing and purpose = house and city = {city} and owns = yes"
    assert where in one.equation()
    assert "·days(day)" in one.equation()
    assert "income" not in one.equation().split(", if")[0]
    at_row = explain_row(model, row, reach=0).equation()
    assert "·[income is missing]" in at_row
    assert "·[purpose = car]" in at_row
    assert ", if " not in at_row
    said = " ".join(one.worth)
    assert f"income (to {median(X['income']):g}: " in said
    assert "purpose (to car: " in said
    assert "purpose = car (to" not in said
    assert "[expected" not in said


def test_cells_are_told_as_the_table_has_them():
    model, X = fitted("number", "quick")
    row = X.iloc[[3]].assign(purpose="boat", income=np.nan, owns=False)
    row["day"] = pd.Timestamp("2012-03-05")
    one = explain_row(model, row)
    told = dict(zip(one.features, one.values(), strict=True))
    assert told["income"] == "missing"
    assert told["purpose"] == "boat"
    assert told["city"] == row["city"].iloc[0]
    assert told["owns"] == "no"
    assert told["day"] == "2012-03-05"
    assert told["day: month"] == "Mar"
    assert told["day: weekday"] == "Mon"
    assert {label for label, _ in one.steps()} >= {"income = missing", "day = 2012-03-05"}
    frame = one.to_frame().set_index("feature")
    assert frame["value"].isna()[["income", "purpose", "city"]].all()
    assert frame["value"]["age"] == row["age"].iloc[0]


def test_what_training_never_had_is_said_in_the_columns_of_the_table():
    model, X = fitted("number", "quick")
    usual = explain_row(model, X.iloc[[3]])
    assert usual.outside == ()
    assert usual.caution == ""
    odd = X.iloc[[3]].assign(purpose="ship", age=np.nan, income=1000.0)
    odd["day"] = pd.Timestamp("2030-01-01")
    one = explain_row(model, odd)
    assert one.outside == ("income", "age", "purpose", "day")
    assert one.extrapolates
    assert "age is missing (never in training)" in one.caution
    assert "purpose = ship (a level that training did not have)" in one.caution
    low, high = X["income"].min(), X["income"].max()
    assert f"income = 1000 (seen in training: {low:g} to {high:g})" in one.caution
    assert "day = 2030-01-01 (seen in training: 2011-" in one.caution
    assert one.score == pytest.approx(model.predict(odd)[0])
    assert "purpose = ship" in one.equation()


FORMS = {
    "a frame": lambda row: row,
    "a frame in another order": lambda row: row[row.columns[::-1]],
    "a Series": lambda row: row.iloc[0],
    "a list": lambda row: row.iloc[0].tolist(),
    "an array of objects": lambda row: row.to_numpy(dtype=object)[0],
    "polars": lambda row: pytest.importorskip("polars").from_pandas(row),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_row_may_come_in_any_form(form):
    model, X = fitted("number", "quick")
    row = row_with(X, income=None, purpose="tv")
    expected = explain_row(model, row, X=X)
    models = [model]
    if "frame" in form or form == "a Series":  # steps of others want a table
        models.append(make_pipeline(FunctionTransformer(), model))
    for given in models:
        found = explain_row(given, FORMS[form](row), X=X)
        assert found.values() == expected.values()
        np.testing.assert_allclose(found.parts, expected.parts, atol=1e-12)
        np.testing.assert_array_equal(found.slopes, expected.slopes)
        start = explain_row(given, FORMS[form](row), reference=FORMS[form](X.iloc[[7]]))
        assert start.reference_score == pytest.approx(model.predict(X.iloc[[7]])[0])


def test_without_rows_the_waterfall_starts_at_medians_and_frequent_levels():
    """The row of zeros was in 1970, and had no level."""
    model, X = fitted("number", "quick")
    one = explain_row(model, X.iloc[[3]])
    assert one.reference == "median"
    usual = X.iloc[[0]].assign(
        **{name: median(X[name]) for name in ("income", "age", "children")},
        **{name: X[name].value_counts().index[0] for name in ("purpose", "city")},
    )
    usual["owns"] = False
    own = explain_row(model, usual).x
    names = list(one.schema.names)
    same = [at for at, name in enumerate(names) if not name.startswith("day")]
    np.testing.assert_allclose(one.reference_row[same], own[same])
    days = (X["day"] - EPOCH).dt.days.quantile(0.5, interpolation="lower")
    assert one.reference_row[names.index("day")] == days
    with_rows = explain_row(model, X.iloc[[3]], X=X, reference="median")
    np.testing.assert_allclose(with_rows.reference_row, one.reference_row)


def test_columns_that_do_not_fit_are_named():
    model, X = fitted("number", "quick")
    with pytest.raises(ValueError, match=r"^x must have the columns .* Missing: \['income'\]"):
        explain_row(model, X.iloc[[0]].drop(columns="income"))
    with pytest.raises(ValueError, match=r"^rows must have .* Unknown: \['height'\]"):
        explain_rows(model, X.assign(height=1.0))
    with pytest.raises(ValueError, match=r"'age'.* holds 'old'"):
        explain_row(model, X.iloc[[0]].astype({"age": object}).assign(age="old"))
    with pytest.raises(ValueError, match="has 3 columns, and should have 7"):
        explain_rows(model, np.zeros((2, 3)))


def test_a_missing_number_of_a_model_without_gaps_is_the_median():
    X = table()[["age", "income"]].fillna({"income": 2.0})
    model = LIFERegressor(**settings("quick")).fit(X, X["age"] * X["income"])
    row = X.iloc[[3]].assign(income=np.nan)
    expected = model.predict(row)[0]
    for given in (row, row.iloc[0], row.iloc[0].tolist()):
        assert explain_row(model, given, X=X).score == pytest.approx(expected)
    (one,) = explain_rows(model, row)
    assert one.x[1] == median(X["income"])


def test_other_models_of_tables_are_told_what_to_pass():
    model, X = fitted("number", "quick")
    numbers = model.table_.transform(X)
    peer = HistGradientBoostingRegressor(max_iter=5).fit(numbers, target(X, "number"))
    for read in (roughness, interaction_order):
        with pytest.raises(ValueError, match=r"Pass X=schema\.table\.transform\(X\)"):
            read(peer, X, schema=model.schema_)
    theirs = roughness(peer.predict, numbers, schema=model.schema_, reach=0.1)
    ours = roughness(model, X, reach=0.1)
    assert theirs.n_columns.tolist() == ours.n_columns.tolist()
    assert 0 <= interaction_order(model, X).main <= 1
