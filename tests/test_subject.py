"""What can be explained: models, pipelines, searches and networks; frames matched by name."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import crossfitted
from lifenet import LIFERegressor, LLAClassifier, LLARegressor, explain
from lifenet.explain import (
    accumulated_effects,
    coefficient_signs,
    explain_row,
    explain_rows,
    local_regions,
    merge_regions,
)
from lifenet.explain._subject import in_order, labels_of, subject_of
from lifenet.losses import SquaredError
from lifenet.network import CodedNetwork, ReluNetwork

pd = pytest.importorskip("pandas")

NAMES = ["age", "job", "income", "hours"]
TURNED = ["hours", "income", "age", "job"]


def frame(n=200):
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=n), rng.integers(0, 4, n), 50 + 9 * rng.normal(size=n)]
    return pd.DataFrame(
        np.column_stack([*columns, np.round(rng.uniform(size=n), 2)]), columns=NAMES
    )


X = frame()
y = np.abs(X["age"]) + X["job"] * (X["income"] > 50) + X["hours"]
MODELS = {
    "plain": LLARegressor(n_neurons=4, max_iter=20, random_state=0),
    "coded": crossfitted.regressor(),
    "default": LIFERegressor(random_state=0),
}


@cache
def fitted(kind, scaled=False):
    model = clone(MODELS[kind])
    return (make_pipeline(StandardScaler(), model) if scaled else model).fit(X, y)


@cache
def classifier(low, high):
    """Trained on the same rows whatever the labels are."""
    model = LLAClassifier(n_neurons=4, max_iter=20, random_state=0)
    return model.fit(X, np.where(y > y.median(), high, low))


def same_row(one, other):
    assert one.schema.names == other.schema.names
    assert one.equation() == other.equation()
    assert one.worth == other.worth
    assert one.steps() == other.steps()
    for name in ("x", "slopes", "window", "fidelity", "parts", "nearest", "nearest_change"):
        assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.score, one.reference_score) == (other.score, other.reference_score)


# ------------------------------------------------------------------ what is explained


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_is_its_network_with_all_that_the_model_knows(kind):
    model = fitted(kind)
    found = explain_row(model, X.iloc[5])
    assert found.score == pytest.approx(model.predict(X.iloc[[5]]).item(), rel=1e-12)
    assert found.features == tuple(NAMES)
    assert found.reach == 0.05
    same_row(found, explain_row(model.network_, X.iloc[5], schema=model.schema_))
    given = explain_row(model.network_, X.iloc[5], schema=model.schema_, X=X)
    same_row(explain_row(model, X.iloc[5], X=X), given)


@pytest.mark.parametrize("kind", MODELS)
def test_a_finished_search_is_its_best_model(kind):
    search = SimpleNamespace(best_estimator_=fitted(kind))
    same_row(explain_row(search, X.iloc[5], X=X), explain_row(fitted(kind), X.iloc[5], X=X))
    pipeline = fitted("plain", scaled=True)
    row = X.iloc[[5]]
    found = explain_row(SimpleNamespace(best_estimator_=pipeline), row, X=X)
    same_row(found, explain_row(pipeline, row, X=X))


def test_a_search_of_scikit_learn_is_explained():
    model = LLARegressor(max_iter=3, random_state=0)
    search = GridSearchCV(model, {"n_neurons": [2, 3]}, cv=2).fit(X, y)
    found = explain_row(search, X.iloc[5])
    assert found.score == pytest.approx(search.predict(X.iloc[[5]]).item(), rel=1e-12)
    with pytest.raises(TypeError, match="not a GridSearchCV"):
        explain_row(GridSearchCV(model, {"n_neurons": [2, 3]}), X.iloc[5])


@pytest.mark.parametrize("kind", MODELS)
def test_a_pipeline_is_its_last_model_on_rows_that_went_through_the_others(kind):
    """Names are those of the frame, units those that the model sees."""
    pipeline = fitted(kind, scaled=True)
    scaled = pipeline[:-1].transform(X)
    bare = {"schema": subject_of(pipeline).schema}
    found = explain_row(pipeline, X.iloc[[5]], X=X)
    assert found.score == pytest.approx(pipeline.predict(X.iloc[[5]]).item(), rel=1e-12)
    assert found.features == tuple(NAMES)
    assert_allclose(found.x, scaled[5])
    same_row(found, explain_row(pipeline[-1].network_, scaled[5], X=scaled, **bare))
    several = explain_rows(pipeline, X[:3]), explain_rows(pipeline[-1], scaled[:3], **bare)
    for one, other in zip(*several, strict=True):
        same_row(one, other)
    effects = accumulated_effects(pipeline, X)
    expected = accumulated_effects(pipeline[-1], scaled)
    for curve, other in zip(effects.curves, expected.curves, strict=True):
        assert_array_equal(curve.effect, other.effect)
    assert [curve.feature for curve in effects.curves] == NAMES


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_pipeline_takes_a_single_row_of_any_kind():
    """A list and a Series stopped in the scaler, which wants a table."""
    pipeline = fitted("plain", scaled=True)
    expected = explain_row(pipeline, X.iloc[[5]])
    for row in (X.iloc[5], X.iloc[5].to_numpy(), X.iloc[5].tolist(), X.iloc[[5]].to_numpy()):
        same_row(explain_row(pipeline, row), expected)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_reference_row_goes_through_the_pipeline_too():
    """It was read as if it were scaled already."""
    pipeline = fitted("plain", scaled=True)
    for row in (X.iloc[[7]], X.iloc[7], X.iloc[7].tolist()):
        found = explain_row(pipeline, X.iloc[[5]], reference=row)
        score = pipeline.predict(X.iloc[[7]]).item()
        assert found.reference_score == pytest.approx(score, rel=1e-12)


def test_a_pipeline_of_one_step_is_its_model():
    model = fitted("plain")
    same_row(explain_row(make_pipeline(model), X.iloc[5]), explain_row(model, X.iloc[5]))


def test_names_that_a_pipeline_makes_are_the_names_of_the_columns():
    """With frames between the steps, the model has learned names of its own."""
    steps = make_pipeline(StandardScaler(), clone(MODELS["plain"])).set_output(transform="pandas")
    pipeline = steps.fit(X, y)
    assert explain_row(pipeline, X.iloc[[5]]).features == tuple(NAMES)
    unnamed = make_pipeline(StandardScaler(), clone(MODELS["plain"])).fit(X.to_numpy(), y)
    assert explain_row(unnamed, X.iloc[[5]].to_numpy()).features == ("x0", "x1", "x2", "x3")


@pytest.mark.parametrize(
    ("model", "remedy"),
    [
        (LIFERegressor(), "not a LIFERegressor. It is not fitted yet: call fit first"),
        (make_pipeline(StandardScaler(), LLARegressor()), "not a LLARegressor. It is not fitted"),
        (MLPRegressor().partial_fit(X, y), r"Pass ReluNetwork.from_mlp\(...\) of it"),
        (SimpleNamespace(named_modules=list), r"Pass ReluNetwork.from_torch\(...\) of it"),
        (LinearRegression(), "not a LinearRegression. Supported are fitted lifenet models"),
        (make_pipeline(StandardScaler(), "passthrough"), "not a str. Supported are"),
        (np.zeros(3), "not a ndarray. Supported are"),
    ],
)
def test_what_cannot_be_explained_is_told_what_to_pass(model, remedy):
    for read, rows in ((explain_row, X.iloc[5]), (explain_rows, X), (accumulated_effects, X)):
        with pytest.raises(TypeError, match=remedy):
            read(model, rows)


#: Every reading of a model on rows, and what it is asked for.
READINGS = {
    explain.accumulated_effects: {},
    explain.coefficient_signs: {},
    explain.equation_fidelity: {},
    explain.feature_importance: {},
    explain.integrated_effects: {},
    explain.interaction_strength: {"n_pairs": 50},
    explain.local_regions: {},
    explain.merge_regions: {"n_regions": 2},
    explain.neuron_contributions: {},
    explain.neuron_importance: {},
    explain.pair_effect: {"features": ("job", "income")},
    explain.partial_dependence: {},
    explain.two_stage_strength: {},
    explain.varying_coefficients: {},
}


@pytest.mark.parametrize("read", READINGS)
def test_every_reading_takes_the_model_and_its_columns_in_any_order(read):
    model, options = fitted("plain"), READINGS[read]
    expected = read(model.network_, X, schema=model.schema_, **options).to_frame()
    for given, rows in (
        (model, X),
        (model, X[TURNED]),
        (SimpleNamespace(best_estimator_=model), X[TURNED]),
    ):
        pd.testing.assert_frame_equal(read(given, rows, **options).to_frame(), expected)


def test_several_models_are_compared_with_their_columns_in_any_order():
    other = clone(MODELS["plain"]).set_params(random_state=1).fit(X, y)
    models = [fitted("plain"), other]
    expected = explain.stability(models, X).to_frame()
    pd.testing.assert_frame_equal(explain.stability(models, X[TURNED]).to_frame(), expected)


# ------------------------------------------------------------------ columns by name


@pytest.mark.parametrize("kind", MODELS)
def test_columns_in_another_order_are_matched_by_name(kind):
    model, turned = fitted(kind), X[TURNED]
    expected = explain_row(model, X.iloc[5], X=X, reference=X.iloc[7])
    for row in (turned.iloc[5], turned.iloc[[5]]):
        for start in (turned.iloc[7], X.iloc[7]):
            same_row(explain_row(model, row, X=turned, reference=start), expected)
    many = explain_rows(model, X[:4], X=X), explain_rows(model, turned[:4], X=turned)
    for one, other in zip(*many, strict=True):
        same_row(one, other)
    effects = accumulated_effects(model, X), accumulated_effects(model, turned)
    for one, other in zip(*(found.curves for found in effects), strict=True):
        assert one.feature == other.feature
        assert_array_equal(one.effect, other.effect)


@pytest.mark.parametrize("kind", MODELS)
def test_signs_and_regions_do_not_depend_on_the_order_of_the_columns(kind):
    model, turned = fitted(kind), X[TURNED]
    pd.testing.assert_frame_equal(
        coefficient_signs(model, turned).to_frame(), coefficient_signs(model, X).to_frame()
    )
    pd.testing.assert_frame_equal(
        local_regions(model, turned, y).to_frame(), local_regions(model, X, y).to_frame()
    )


def test_a_pipeline_takes_columns_in_any_order():
    """Scikit-learn's own steps refuse another order."""
    pipeline, turned = fitted("plain", scaled=True), X[TURNED]
    expected = explain_row(pipeline, X.iloc[[5]], X=X)
    same_row(explain_row(pipeline, turned.iloc[[5]], X=turned), expected)


CHANGED = {
    "missing": (X.drop(columns="job"), r"Missing: \['job'\]\.$"),
    "unknown": (X.assign(height=1.0), r" Unknown: \['height'\]; rename or drop them\.$"),
    "both": (
        X.rename(columns={"age": "Age", "job": "Job"}),
        r"Missing: \['age', 'job'\]\. Unknown: \['Age', 'Job'\]; rename or drop them\.$",
    ),
    "doubled": (X[[*NAMES, "age"]], r"Twice: \['age'\]\.$"),
    "doubled and missing": (
        X[["age", "age", "job", "hours"]],
        r"Missing: \['income'\]\. Twice: \['age'\]",
    ),
}


@pytest.mark.parametrize("change", CHANGED)
def test_columns_that_do_not_fit_are_named(change):
    table, message = CHANGED[change]
    model = fitted("plain")
    names = r"must have the columns of training, by name and in any order\..*"
    for what, read in {
        "x": lambda: explain_row(model, table.iloc[5]),
        "rows": lambda: explain_rows(model, table),
        "reference": lambda: explain_row(model, X.iloc[5], reference=table.iloc[5]),
        "X": lambda: explain_row(model, X.iloc[5], X=table),
    }.items():
        with pytest.raises(ValueError, match=f"^{what} {names}{message}"):
            read()
    for read in (accumulated_effects, coefficient_signs, local_regions):
        with pytest.raises(ValueError, match=f"^X {names}{message}"):
            read(model, table)


def test_names_that_are_no_strings_are_no_names():
    model, numbered = fitted("plain"), X.set_axis(range(4), axis=1)
    same_row(explain_row(model, numbered.iloc[5], X=numbered), explain_row(model, X.iloc[5], X=X))
    assert labels_of(numbered) is None
    assert labels_of(X.to_numpy()) is None
    assert labels_of(X.iloc[5].tolist()) is None
    assert labels_of(X) == labels_of(X.iloc[5]) == NAMES
    assert in_order(numbered, NAMES) is numbered
    assert in_order(X, NAMES) is X


def test_a_network_alone_does_not_know_names():
    network = fitted("plain").network_
    assert isinstance(network, ReluNetwork)
    remedy = r"Pass the fitted model instead of its network_, or schema=model.schema_"
    for read in (
        lambda: explain_row(network, X.iloc[5]),
        lambda: explain_row(network, X.iloc[[5]]),
        lambda: explain_row(network, X.iloc[5].tolist(), X=X),
        lambda: explain_rows(network, X),
        lambda: accumulated_effects(network, X),
        lambda: coefficient_signs(network, X),
        lambda: local_regions(network, X),
    ):
        with pytest.raises(ValueError, match=remedy):
            read()
    expected = explain_row(fitted("plain"), X.iloc[5], X=X)
    named = explain_row(network, X[TURNED].iloc[5], X=X[TURNED], schema=NAMES)
    assert_array_equal(named.parts, expected.parts)
    unnamed = explain_row(network, X.iloc[5].tolist(), X=X.to_numpy())
    assert_array_equal(unnamed.parts, expected.parts)
    assert unnamed.features == ("x0", "x1", "x2", "x3")


def test_a_frame_named_by_number_fits_a_network_in_any_order():
    network, named = fitted("plain").network_, X.set_axis(["x0", "x1", "x2", "x3"], axis=1)
    turned = named[["x2", "x0", "x3", "x1"]]
    expected = explain_row(network, named.iloc[5], X=named)
    same_row(explain_row(network, turned.iloc[5], X=turned), expected)
    same_row(explain_row(network, X.iloc[5].tolist(), X=turned), expected)


def test_a_network_of_codes_knows_the_names_that_its_codes_were_learned_with():
    network = fitted("coded").network_
    assert isinstance(network, CodedNetwork)
    assert network.coding.names == tuple(NAMES)
    expected = explain_row(fitted("coded"), X.iloc[5], reach=0)
    assert_array_equal(explain_row(network, X[TURNED].iloc[5]).slopes, expected.slopes)
    with pytest.raises(ValueError, match=r"Missing: \['job'\]"):
        explain_row(network, X.iloc[5].drop("job"))


# ------------------------------------------------------------------ labels


@pytest.mark.parametrize(("low", "high"), [("bad", "good"), (1, 2), (-1, 1), (False, True)])
def test_labels_of_a_classifier_are_its_classes(low, high):
    plain, model = classifier(0, 1), classifier(low, high)
    assert_array_equal(model.network_.score(X), plain.network_.score(X))
    codes = (y > y.median()).to_numpy()
    labels = np.where(codes, high, low)
    expected = local_regions(plain.network_, X, codes, schema=plain.schema_)
    assert expected.measure == "log-loss"
    for response in (labels, pd.Series(labels), labels.tolist(), labels.astype(object)):
        found = local_regions(model, X, response)
        assert (found.measure, found.target) == ("log-loss", "response")
        pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())


def test_several_labels_are_matched_with_their_scores():
    codes = np.digitize(y, [1.5, 3.0])
    labels = np.array(["high", "low", "mid"])[[1, 2, 0]][codes]  # sorted otherwise than by size
    model = LLAClassifier(n_neurons=4, max_iter=20, random_state=0).fit(X, labels)
    own = np.searchsorted(model.classes_, labels)
    found = local_regions(model, X, labels, output=1)
    expected = local_regions(model.network_, X, own, output=1, schema=model.schema_)
    assert found.measure == "log-loss"
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())


def test_a_label_that_is_no_class_is_named():
    model = classifier("bad", "good")
    labels = np.where(y > y.median(), "good", "bad").astype(object)
    labels[17] = "fair"
    remedy = r"y holds 'fair' in row 17, which is none of the model's classes \['bad', 'good'\]"
    with pytest.raises(ValueError, match=remedy):
        local_regions(model, X, labels)
    with pytest.raises(
        ValueError, match=r"y holds 0 in row 0, which is none of the model's classes"
    ):
        local_regions(model, X, (y > y.median()).astype(int))
    with pytest.raises(ValueError, match=r"y has shape \(9,\)"):
        local_regions(classifier(0, 1), X, np.zeros(9, dtype=int))


def test_a_missing_label_is_named():
    """It stopped in a comparison of text with None."""
    labels = np.where(y > y.median(), "good", "bad").astype(object)
    labels[17] = None
    with pytest.raises(ValueError, match="y holds None in row 17"):
        local_regions(classifier("bad", "good"), X, labels)


def test_rows_of_one_class_are_still_classes():
    """Scores were compared with the number of the class by their squared distance."""
    model, ones = classifier(0, 1), (y > y.median()).to_numpy()
    found = local_regions(model, X[ones], np.ones(ones.sum(), dtype=int))
    assert found.measure == "log-loss"


def test_two_numbers_that_may_be_labels_are_refused_of_a_network_alone():
    model = classifier(1, 2)
    labels = np.where(y > y.median(), 2, 1)
    for read in (local_regions, merge_regions):
        with pytest.raises(
            ValueError, match=r"y has two values, 1 and 2\. If they are classes"
        ) as e:
            read(model.network_, X, labels, schema=model.schema_)
        for remedy in ("pass the fitted classifier", "code them as 0 and 1", "SquaredError()"):
            assert remedy in str(e.value)
    as_numbers = local_regions(model.network_, X, labels, schema=model.schema_, loss=SquaredError())
    assert as_numbers.measure == "RMSE"
    with pytest.raises(ValueError, match="y has two values, -1 and 1"):
        local_regions(model.network_, X, 2 * labels - 3, schema=model.schema_)
