"""Estimators on tables with categories, gaps and dates: the promises that hold on numbers."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from benchmarks.recipe.models import QUICK
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from lifenet import (
    LLA,
    AdamRegressor,
    LIFEClassifier,
    LIFERegressor,
    LLAClassifier,
    LLARegressor,
    NeuronProjection,
    SubsetStackingClassifier,
    SubsetStackingRegressor,
)
from lifenet.tuning import LIFESearchCV

FEW = NeuronProjection(levels=(2,))
STEPS = LLA(2, init="least-squares", max_iter=5)
SHARES = {"u": 0.4, "v": 0.25, "w": 0.15, "x": 0.12, "y": 0.08}


def table(n=300, seed=0):
    """Numbers with gaps, five levels, dates and truth values, and a target of all of them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "n": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "t": rng.choice(list(SHARES), n, p=list(SHARES.values())),
            "d": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D"),
            "b": rng.random(n) < 0.3,
        }
    )
    effect = frame["t"].map({"u": 0, "v": 1, "w": -1, "x": 2, "y": 0.5}).to_numpy()
    y = np.nan_to_num(frame["n"].to_numpy(), nan=1.5) ** 2 + effect * np.where(frame["b"], 2, 1)
    return frame, y + 0.05 * frame["d"].dt.month.to_numpy() + 0.1 * rng.normal(size=n)


def paper(kind=LIFERegressor, **settings):
    """No neuron, row or start is drawn."""
    return kind(FEW, STEPS, preset="paper", validation=None, random_state=0, **settings)


REGRESSORS = {
    "paper": paper(),
    "own": LIFERegressor(preset=QUICK, random_state=0),
    "lla": LLARegressor(3, random_state=0),
    "adam": AdamRegressor(8, max_epochs=100, random_state=0),
    "subsets": SubsetStackingRegressor(DecisionTreeRegressor(max_depth=3), FEW, random_state=0),
}
CLASSIFIERS = {
    "paper": paper(LIFEClassifier),
    "own": LIFEClassifier(preset=QUICK, random_state=0),
    "lla": LLAClassifier(3, random_state=0),
    "subsets": SubsetStackingClassifier(DecisionTreeClassifier(max_depth=3), FEW, random_state=0),
}
ALL = [
    *(pytest.param(one, False, id=f"{name}, target") for name, one in REGRESSORS.items()),
    *(pytest.param(one, True, id=f"{name}, classes") for name, one in CLASSIFIERS.items()),
]


def answer(model, X):
    """What is not rounded to a class."""
    return (model.predict_proba if hasattr(model, "predict_proba") else model.predict)(X)


@pytest.mark.parametrize(("model", "classes"), ALL)
def test_every_estimator_learns_from_a_table(model, classes):
    X, y = table(600)
    y = np.where(y > np.median(y), "yes", "no") if classes else y
    model = clone(model).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > (0.7 if classes else 0.3)
    expected = answer(model, X)
    assert np.isfinite(expected).all()
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(answer(again, X), expected)
    assert_array_equal(answer(model, pl.from_pandas(X)), expected)
    assert_array_equal(answer(model, X[["b", "d", "t", "n"]]), expected)
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == ["n", "t", "d", "b"]
    assert [name for name, _ in model.schema_.groups][:2] == ["n", "t"]
    strange = X[:3].assign(t=["never", None, "u"], n=[1e9, None, -1e9])
    assert np.isfinite(answer(model, strange)).all()


@pytest.mark.parametrize(("model", "classes"), ALL)
def test_the_same_seed_gives_the_same_model(model, classes):
    X, y = table(200)
    y = (y > np.median(y)).astype(int) if classes else y
    one, other = (clone(model).fit(X, y) for _ in range(2))
    assert_array_equal(answer(one, X), answer(other, X))


def test_a_search_takes_tables():
    X, y = table(150)
    search = LIFESearchCV(LLARegressor(2), "lla", cv=2, n_trials=2, budget=None, random_state=0)
    search.fit(X, y)
    assert np.isfinite(search.predict(X)).all()
    assert search.predict(pl.from_pandas(X)).tolist() == search.predict(X).tolist()


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_tables_come_through_a_pipeline(output):
    X, y = table(200)
    scaled = make_column_transformer(
        (StandardScaler(), ["n"]), remainder="passthrough", verbose_feature_names_out=False
    )
    model = make_pipeline(scaled, LLARegressor(2, random_state=0)).set_output(transform=output)
    model.fit(X if output == "pandas" else pl.from_pandas(X), y)
    assert model[-1].feature_names_in_.tolist() == ["n", "t", "d", "b"]
    found = model.predict(X if output == "pandas" else pl.from_pandas(X))
    assert np.corrcoef(found, y)[0, 1] > 0.5
    neurons = make_pipeline(paper()).set_output(transform=output)
    assert next(iter(neurons.fit(X, y).transform(X).columns)) == "neuron0"


# ---------------------------------------------------------------------- what does not matter


@pytest.mark.parametrize("kind", [LIFERegressor, LIFEClassifier])
class TestInvariances:
    @pytest.fixture
    def given(self, kind):
        X, y = table()
        y = y if kind is LIFERegressor else np.digitize(y, [0.5, 2.0])
        return X, y, paper(kind).fit(X, y).network_.score

    def same(self, kind, given, X, y, weight=None):
        old, _, score = given
        model = paper(kind).fit(X, y, sample_weight=weight)
        found = model.network_.score(model.table_.transform(self.turn(old, X)))
        coding = paper(kind).fit(*given[:2]).table_
        assert_allclose(found, score(coding.transform(old)), rtol=1e-8, atol=1e-8)

    turn = staticmethod(lambda old, X: old)

    def test_order_of_the_rows(self, kind, given):
        X, y, _ = given
        order = np.random.default_rng(3).permutation(len(y))
        self.same(kind, given, X.iloc[order], y[order])

    def test_order_of_the_columns(self, kind, given):
        X, y, _ = given
        self.same(kind, given, X[["b", "d", "t", "n"]], y)

    def test_order_of_the_levels(self, kind, given):
        X, y, _ = given
        for levels in ("yxwvu", "vuyxw"):
            self.same(kind, given, X.assign(t=pd.Categorical(X["t"], list(levels))), y)

    @pytest.mark.parametrize(
        "names", ["abcde", "zyxwv", ["", " ", "é", "10", "9"], [5, 4, 1, 2, 3]]
    )
    def test_names_of_the_levels(self, kind, given, names):
        X, y, _ = given
        renamed = X.assign(t=X["t"].map(dict(zip(SHARES, names, strict=True))).astype("category"))
        self.turn = lambda old, new: renamed
        self.same(kind, given, renamed, y)

    def test_zero_weights_are_absence(self, kind, given):
        X, y, _ = given
        strange = X[:20].assign(t=[f"z{k}" for k in range(20)], n=1e6, b=True)
        strange.loc[:9, "n"] = None
        weight = np.append(np.ones(len(y)), np.zeros(20))
        both = pd.concat([X, strange], ignore_index=True)
        self.same(kind, given, both, np.append(y, y[:20]), weight)
        model = paper(kind).fit(both, np.append(y, y[:20]), sample_weight=weight)
        assert set(model.table_.codes[1].levels) == set(SHARES)
        assert model.schema_.outside(strange)[:, 1].all()

    def test_integer_weights_are_repeated_rows(self, kind, given):
        X, y, _ = given
        weight = np.random.default_rng(1).integers(0, 4, len(y))
        rows = np.repeat(np.arange(len(y)), weight)
        one = paper(kind).fit(X, y, sample_weight=weight)
        other = paper(kind).fit(X.iloc[rows], y[rows])
        found = [model.network_.score(model.table_.transform(X)) for model in (one, other)]
        assert_allclose(*found, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("model", [paper(), LLARegressor(2, init="least-squares", random_state=0)])
def test_integer_weights_are_repeated_rows_with_two_thousand_levels(model):
    rng = np.random.default_rng(0)
    n = 6000
    levels = rng.integers(0, 2000, n)
    X = pd.DataFrame({"t": [f"l{one}" for one in levels], "n": rng.normal(size=n)})
    y = rng.normal(size=2000)[levels] + X["n"].to_numpy() + 0.3 * rng.normal(size=n)
    weight = rng.integers(0, 4, n)
    rows = rng.permutation(np.repeat(np.arange(n), weight))
    one = clone(model).fit(X, y, sample_weight=weight)
    other = clone(model).fit(X.iloc[rows], y[rows])
    assert one.table_.codes[0].levels == other.table_.codes[0].levels
    assert_allclose(one.predict(X), other.predict(X), atol=1e-7)
    assert one.score(X, y) > 0.5


# ---------------------------------------------------------------------- cells outside


def test_cells_outside_the_training_table_are_marked():
    X, y = table()
    X.loc[:9, "n"] = None
    model = LLARegressor(2, random_state=0).fit(X, y)
    assert not model.schema_.outside(X).any()
    new = X.iloc[10:16].copy().reset_index(drop=True)
    new["n"] = [0.0, None, 1e6, 0.0, 0.0, 0.0]
    new["t"] = ["u", "u", "u", "never", None, "y"]
    new["d"] = [*pd.to_datetime(["1999-01-01", "2100-01-01", "2020-05-05"]), *[pd.NaT] * 3]
    expected = np.zeros((6, 4), dtype=bool)
    expected[2, 0] = expected[[3, 4], 1] = expected[[0, 1, 3, 4, 5], 2] = True
    assert_array_equal(model.schema_.outside(new), expected)
    assert_array_equal(model.schema_.outside(new[["b", "d", "t", "n"]]), expected)
    assert_array_equal(model.schema_.outside(pl.from_pandas(new)), expected)


# ---------------------------------------------------------------------- few rows, odd tables

SMALL = [
    paper(),
    LIFERegressor(random_state=0),
    LLARegressor(3, random_state=0),
    AdamRegressor(4, max_epochs=20, random_state=0),
]


@pytest.mark.parametrize("n", [2, 5, 20, 50])
@pytest.mark.parametrize("model", SMALL, ids=["paper", "default", "lla", "adam"])
def test_few_rows_give_a_model_that_stays_near_the_target(model, n):
    X, y = table(n)
    X.loc[0, "n"] = 0.5
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Too few of the")
        model = clone(model).fit(X, y)
    new, _ = table(200, seed=1)
    found = model.predict(new)
    assert np.isfinite(found).all()
    span = np.ptp(y)
    assert found.min() > y.min() - 10 * span
    assert found.max() < y.max() + 10 * span


@pytest.mark.parametrize("model", SMALL[:3:2])
def test_more_columns_than_rows_give_a_model(model):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"c{k}": rng.choice(list("uvwxyz"), 30) for k in range(60)})
    y = rng.normal(size=30)
    found = clone(model).fit(X, y).predict(X)
    assert np.isfinite(found).all()
    assert np.abs(found).max() < 10 * np.abs(y).max()


@pytest.mark.parametrize("model", SMALL[:1] + SMALL[2:])
def test_one_distinct_row_gives_the_mean(model):
    X = pd.DataFrame({"n": [1.0] * 20, "t": ["u"] * 20, "d": pd.Timestamp("2020-01-01")})
    y = np.arange(20.0)
    model = clone(model).fit(X, y)
    assert_allclose(model.predict(X), 9.5, atol=0.01)
    assert model.schema_.outside(X.assign(t="v")).tolist() == [[False, True, False]] * 20


@pytest.mark.parametrize("model", SMALL[:1] + SMALL[2:])
def test_a_target_of_one_value_is_predicted_everywhere(model):
    X, _ = table(120)
    assert_allclose(clone(model).fit(X, np.full(120, 7.0)).predict(X), 7.0)


@pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=list(CLASSIFIERS))
def test_one_class_is_refused_with_the_remedy(model):
    X, _ = table(50)
    with pytest.raises(ValueError, match=r"at least two classes.*'yes'.* Check the target"):
        clone(model).fit(X, ["yes"] * 50)


def test_twin_and_constant_columns_change_next_to_nothing():
    X, y = table()
    plain = LLARegressor(2, init="least-squares", random_state=0).fit(X, y)
    odd = X.assign(
        constant="one", zero=0.0, always=True, again=X["t"], day=pd.Timestamp("2020-01-01")
    )
    model = LLARegressor(2, init="least-squares", random_state=0).fit(odd, y)
    assert model.score(odd, y) > plain.score(X, y) - 0.05
    assert np.isfinite(model.predict(odd)).all()


# ---------------------------------------------------------------------- a column of pure names


@pytest.mark.parametrize("share_missing", [0.0, 0.3])
def test_names_of_rows_are_coded_as_nothing(share_missing):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"id": [f"row {k}" for k in range(400)], "n": rng.normal(size=400)})
    X.loc[rng.random(400) < share_missing, "id"] = None
    y = X["n"].to_numpy() + 0.1 * rng.normal(size=400)
    model = LLARegressor(2, random_state=0).fit(X, y)
    new = pd.DataFrame({"id": [f"new {k}" for k in range(400)], "n": rng.normal(size=400)})
    assert model.score(new, new["n"]) > 0.97
    assert model.schema_.outside(new)[:, 0].all()
