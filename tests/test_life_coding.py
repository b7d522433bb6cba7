"""LIFE on codes of columns: the same promises, in the raw columns."""

import numpy as np
import pytest
from sklearn.base import clone

from crossfitted import planted, regressor
from lifenet import (
    LBFGS,
    CodedNetwork,
    LIFEClassifier,
    LIFERegressor,
    NeuronProjection,
    QuantileCoding,
    ReluNetwork,
)
from lifenet.explain import accumulated_effects, explain_row, feature_importance
from lifenet.plots import DecompositionDisplay, HierarchyDisplay
from lifenet.theory import decompose_path

FEW = NeuronProjection(levels=(4,), max_networks=5)


def skewed(n=800, seed=0):
    """A smooth effect of ranks, seen through a heavy-tailed column, and a dummy."""
    rng = np.random.default_rng(seed)
    normal, other = rng.normal(size=(2, n))
    dummy = rng.integers(2, size=n)
    X = np.column_stack([np.exp(3 * normal), other, dummy])
    return X, np.sin(2 * normal) + 0.3 * other * dummy + 0.05 * rng.normal(size=n)


def fitted(kind="both", **settings):
    X, y = skewed()
    return LIFERegressor(FEW, coding=kind, random_state=0, **settings).fit(X, y), X, y


def test_heavy_tails_are_learnt():
    model, _, _ = fitted()
    X, y = skewed(seed=1)
    plain = LIFERegressor(FEW, random_state=0).fit(*skewed())
    assert 1 - model.score(X, y) < 0.5 * (1 - plain.score(X, y))
    assert isinstance(plain.network_, ReluNetwork)
    assert plain.coding_ is None


@pytest.mark.parametrize("kind", ["both", "quantile", "piecewise"])
def test_the_network_reads_raw_columns(kind):
    model, X, _ = fitted(kind)
    network = model.network_
    assert isinstance(network, CodedNetwork)
    assert network.n_features == 3
    np.testing.assert_allclose(network.score(X)[:, 0], model.predict(X))
    codes = model.coding_.encode(X)
    np.testing.assert_allclose(network.network.score(codes)[:, 0], model.predict(X))
    equation = np.sum(network.gradient(X)[:, :, 0] * X, axis=1) + network.local_intercept(X)[:, 0]
    np.testing.assert_allclose(equation, model.predict(X), atol=1e-9 * np.abs(X).max())


def test_predictions_do_not_run_away():
    model, X, _ = fitted()
    far = X[:1].copy()
    far[0, 0] = 1e9
    most = X.copy()
    most[:, 0] = X[:, 0].max()
    assert model.predict(far)[0] == pytest.approx(model.predict(most[:1])[0])


def test_activations_give_the_score():
    model, X, _ = fitted()
    inner = model.network_.network
    score = model.transform(X) @ inner.beta[:, 0] + inner.intercept[0]
    np.testing.assert_allclose(score, model.predict(X))
    assert len(model.get_feature_names_out()) == model.transform(X).shape[1]


def test_weights_equal_repetition():
    X, y = skewed(600)
    times = np.random.default_rng(0).integers(0, 3, len(X))
    rows = np.repeat(np.arange(len(X)), times)
    model = LIFERegressor(FEW, coding="both", finetune=LBFGS(max_iter=10), random_state=0)
    weighted = clone(model).fit(X, y, sample_weight=times.astype(float)).predict(X)
    repeated = clone(model).fit(X[rows], y[rows]).predict(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-6)


def test_a_monotone_change_of_units_changes_nothing():
    """Ranks do not know units: knots move with the values."""
    X, y = skewed()
    other = X * np.array([1000.0, 0.01, 1.0]) + np.array([5.0, -3.0, 0.0])
    first = LIFERegressor(FEW, coding="quantile", random_state=0, validation=None).fit(X, y)
    second = LIFERegressor(FEW, coding="quantile", random_state=0, validation=None).fit(other, y)
    # Activations of codes are in single precision.
    np.testing.assert_allclose(first.predict(X), second.predict(other), atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes(n_classes):
    X, y = skewed()
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = LIFEClassifier(FEW, coding="both", random_state=0).fit(X, labels)
    assert model.network_.n_outputs == (1 if n_classes == 2 else 3)
    assert model.score(X, labels) > 0.8


def test_warm_start_and_refit_keep_the_codes():
    model, X, y = fitted(warm_start=True)
    coding, n_members = model.coding_, len(model.members_)
    model.fit(X, y)
    assert model.coding_ is coding
    assert len(model.members_) > n_members
    model.refit_readout(X, 2 * y)
    assert model.network_.coding is coding
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.9


def test_fine_tuned_neurons_are_refitted_on_codes():
    model, X, y = fitted(finetune="lbfgs")
    (fold,) = model.folds_
    assert fold.iterations > 0
    assert fold.status != "not fine-tuned"
    model.refit_readout(X, y)
    assert isinstance(model.network_, CodedNetwork)
    assert model.score(X, y) > 0.9


def test_explanations_are_in_raw_columns():
    model, X, _ = fitted()
    table = accumulated_effects(model.network_, X, schema=model.schema_).to_frame()
    assert set(table["feature"]) == {"x0", "x1", "x2"}
    row = explain_row(model.network_, X[3], X=X, schema=model.schema_)
    assert row.score == pytest.approx(model.predict(X[3:4])[0])
    assert row.reference_score + row.parts.sum() == pytest.approx(row.score)
    found = feature_importance(model.network_, X, schema=model.schema_)
    assert found.features == ("x0", "x1", "x2")
    assert found.order[0] == 0
    assert found.relative[0] > 0.9


def test_names_come_from_a_frame():
    pandas = pytest.importorskip("pandas")
    X, y = skewed()
    frame = pandas.DataFrame(X, columns=["income", "age", "member"])
    model = LIFERegressor(FEW, coding="both", random_state=0).fit(frame, y)
    assert model.schema_.names == ("income", "age", "member")
    with pytest.raises(ValueError, match="income"):
        model.predict(frame.assign(income=np.inf))


def test_pictures_of_members_are_of_codes():
    pytest.importorskip("matplotlib")
    model, X, y = fitted()
    assert model.coding_.code_names == ("x0 [0]", "x0 [1]", "x1 [0]", "x1 [1]", "x2")
    display = HierarchyDisplay.from_estimator(model)
    assert display.names == model.coding_.code_names
    curve = DecompositionDisplay.from_estimator(model, X, y).result
    scores = [member.network.score(model.coding_.encode(X))[:, 0] for member in model.members_]
    expected = decompose_path(np.column_stack(scores), y)
    np.testing.assert_allclose(curve.loss, expected.loss)


@pytest.mark.parametrize(
    ("coding", "message"),
    [
        ("splines", "'coding' parameter"),
        (QuantileCoding, r"write QuantileCoding\(\)"),
        (QuantileCoding(n_knots=1), "'n_knots' parameter"),
    ],
)
def test_bad_settings_are_named(coding, message):
    X, y = skewed(100)
    with pytest.raises((TypeError, ValueError), match=message):
        LIFERegressor(FEW, coding=coding).fit(X, y)


def test_its_settings_can_be_tuned():
    model = LIFERegressor(coding=QuantileCoding()).set_params(coding__n_knots=8)
    assert clone(model).get_params()["coding__n_knots"] == 8


@pytest.mark.parametrize(
    ("unit", "shift"), [(1.0, 0.0), (1e-60, 0.0), (1e60, 0.0), (1.0, 2e3), (1.0, 1e8)]
)
def test_the_effect_of_a_column_of_two_values_is_found_in_any_units(unit, shift):
    """Its code is the column itself, of which single precision may have no digits at all."""
    X, y = planted()
    other = np.random.default_rng(0).integers(0, 2, len(X))
    absent, present, table = (
        np.column_stack([X, unit * column + shift])
        for column in (np.zeros(len(X)), np.ones(len(X)), other)
    )
    model = regressor().fit(table, y + 2 * other)
    effect = model.predict(present) - model.predict(absent)
    assert 1.2 < effect.mean() < 2.2
    assert model.score(table, y + 2 * other) > 0.75
