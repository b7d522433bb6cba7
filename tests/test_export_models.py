"""What can be exported, and what an error says of the rest."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from exported_models import case, close
from lifenet import LIFERegressor, LLAClassifier, LLARegressor, SubsetStackingRegressor
from lifenet.export import to_json, to_python, to_sql
from test_export_python import module_of

X = np.random.default_rng(0).normal(size=(60, 2))
Y = X[:, 0]
SMALL = LLARegressor(2, max_iter=3, random_state=0)
everywhere = pytest.mark.parametrize("export", [to_python, to_sql, to_json])


@everywhere
def test_models_that_are_no_fitted_network_are_named(export):
    with pytest.raises(ValueError, match=r"LIFERegressor is not fitted yet. Call fit first"):
        export(LIFERegressor())
    with pytest.raises(TypeError, match="not of the class LIFERegressor"):
        export(LIFERegressor)
    with pytest.raises(TypeError, match="it was given a RandomForestRegressor"):
        export(RandomForestRegressor(2).fit(X, Y))
    with pytest.raises(TypeError, match=r"not of a Pipeline.*Fit the model to the table itself"):
        export(make_pipeline(StandardScaler(), SMALL).fit(X, Y))
    stack = SubsetStackingRegressor(DecisionTreeRegressor(max_depth=2), random_state=0)
    with pytest.raises(TypeError, match=r"members of another kind. Fit LIFERegressor"):
        export(stack.fit(X, Y))


def test_a_search_is_its_best_model():
    search = GridSearchCV(SMALL, {"max_iter": [3]}, cv=2).fit(X, Y)
    row = {"x0": X[0, 0], "x1": X[0, 1]}
    close(module_of(search).score(row), search.predict(X[:1])[0])


@everywhere
@pytest.mark.parametrize(
    "levels", [["a", 1], [(1, 2), (3, 4)], [2**60, 2**60 + 1], [dt.time(3), dt.time(4)]]
)
def test_levels_that_a_file_cannot_hold_are_named(export, levels):
    cells = np.empty(60, dtype=object)
    cells[:] = [levels[one % 2] for one in range(60)]
    frame = pd.DataFrame({"x": X[:, 0], "odd": pd.Categorical(cells)})
    model = SMALL.fit(frame, Y)
    with pytest.raises(ValueError, match=r"Column 'odd' has levels.*Make text of them before fit"):
        export(model)


@everywhere
def test_classes_that_a_file_cannot_hold_are_named(export):
    model = LLAClassifier(2, max_iter=3, random_state=0).fit(X, Y > 0)
    model.classes_ = np.array([dt.date(2020, 1, 1), dt.date(2021, 1, 1)], dtype=object)
    with pytest.raises(ValueError, match=r"cannot hold the class.*Fit the model to labels"):
        export(model)


def test_features_of_one_name_stay_apart():
    frame = pd.DataFrame(
        {
            "d": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(60) * 20, unit="D"),
            "d: month": X[:, 0],
        }
    )
    model = SMALL.fit(frame, Y)
    names = [name for name, _ in model.schema_.groups]
    assert names.count("d: month") == 2
    row = {"d": dt.date(2020, 5, 5), "d: month": 0.5}
    module = module_of(model)
    found = module.contributions(row)
    assert list(found) == ["d", "d: month", "d: weekday", "d: month'"]
    close(sum(found.values()) + module.local_intercept(row), module.score(row))


def test_a_gap_that_training_did_not_have_is_the_median():
    one = case("plain")
    module = module_of(one.model)
    row = dict(zip(one.model.schema_.names, one.rows[0], strict=True))
    neutral = one.model.table_.codes[1].neutral
    assert module.score({**row, "x1": None}) == module.score({**row, "x1": neutral})


@everywhere
def test_a_saved_model_is_exported_as_the_model_itself(export, tmp_path):
    from lifenet import load

    one = case("single").model
    one.save(tmp_path / "m.life")
    assert str(export(load(tmp_path / "m.life"))) == str(export(one))
