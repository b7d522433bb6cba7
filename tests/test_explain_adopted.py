"""Every explanation reads other people's networks, and says what it cannot read."""

import warnings

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier, MLPRegressor

from lifenet import explain
from lifenet.network import ReluNetwork

NAMES = ("age", "income", "debt")
READINGS = {
    "neuron_importance": {},
    "neuron_contributions": {},
    "feature_importance": {},
    "local_regions": {},
    "coefficient_signs": {},
    "merge_regions": {"n_regions": 2},
    "varying_coefficients": {},
    "two_stage_strength": {},
    "interaction_strength": {"n_pairs": 50},
    "accumulated_effects": {},
    "partial_dependence": {"grid": 5},
    "integrated_effects": {},
}


def data():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 3)) * [10, 1000, 1] + [40, 3000, 0]
    scaled = (X - [40, 3000, 0]) / [10, 1000, 1]
    return X, scaled, np.abs(scaled[:, 0]) + scaled[:, 1] * scaled[:, 2]


def fit(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def torch_twin(network):
    torch = pytest.importorskip("torch", reason="torch is optional")
    hidden = torch.nn.Linear(network.n_features, network.n_neurons, dtype=torch.float64)
    readout = torch.nn.Linear(network.n_neurons, network.n_outputs, dtype=torch.float64)
    with torch.no_grad():
        hidden.weight[:], hidden.bias[:] = torch.tensor(network.weights), torch.tensor(network.bias)
        readout.weight[:] = torch.tensor(network.beta.T)
        readout.bias[:] = torch.tensor(network.intercept)
    return torch.nn.Sequential(hidden, torch.nn.ReLU(), readout)


@pytest.fixture(scope="module")
def mlp():
    _, scaled, y = data()
    return fit(MLPRegressor(hidden_layer_sizes=(50,), max_iter=30, random_state=0), scaled, y)


def numbers(result):
    frame = result.to_frame().select_dtypes("number")
    return np.nan_to_num(frame.to_numpy(dtype=float))


@pytest.mark.parametrize("reading", READINGS)
def test_a_scikit_learn_network(mlp, reading):
    """Read under names, and equal to reading the same function in raw units."""
    pytest.importorskip("pandas")
    raw, scaled, _ = data()
    network = ReluNetwork.from_mlp(mlp)
    options = {**READINGS[reading], "schema": NAMES}
    result = getattr(explain, reading)(network, scaled, **options)
    assert len(result.to_frame())
    np.testing.assert_allclose(network.score(scaled)[:, 0], mlp.predict(scaled), rtol=1e-9)
    folded = network.fold_scaling([40, 3000, 0], [10, 1000, 1])
    in_units = getattr(explain, reading)(folded, raw, **options)
    assert len(in_units.to_frame()) == len(result.to_frame())


@pytest.mark.parametrize("reading", READINGS)
def test_a_torch_network(mlp, reading):
    pytest.importorskip("pandas")
    _, scaled, _ = data()
    network = ReluNetwork.from_mlp(mlp)
    same = ReluNetwork.from_torch(torch_twin(network))
    explaining, options = getattr(explain, reading), {**READINGS[reading], "schema": NAMES}
    one, two = (numbers(explaining(each, scaled, **options)) for each in (network, same))
    np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12)


def test_one_prediction_of_a_scikit_learn_network(mlp):
    _, scaled, _ = data()
    found = explain.explain_row(ReluNetwork.from_mlp(mlp), scaled[7], X=scaled, schema=NAMES)
    assert found.score == pytest.approx(mlp.predict(scaled[7:8])[0])
    assert "age" in found.equation()


def test_units_do_not_change_what_matters(mlp):
    """Importance, interactions and signs are the same in raw and in scaled columns."""
    raw, scaled, _ = data()
    network = ReluNetwork.from_mlp(mlp)
    folded = network.fold_scaling([40, 3000, 0], [10, 1000, 1])
    for reading, field in (
        ("feature_importance", "importance"),
        ("interaction_strength", "pair"),
        ("two_stage_strength", "pair"),
        ("coefficient_signs", "size"),
        ("coefficient_signs", "positive"),
    ):
        explaining = getattr(explain, reading)
        one, two = explaining(network, scaled), explaining(folded, raw)
        np.testing.assert_allclose(getattr(one, field), getattr(two, field), rtol=1e-6)


def test_a_class_is_chosen_by_its_score():
    _, scaled, y = data()
    labels = np.digitize(y, [0.0, 1.0])
    mlp = MLPClassifier(hidden_layer_sizes=(20,), max_iter=30, random_state=0)
    network = ReluNetwork.from_mlp(fit(mlp, scaled, labels))
    effects = [explain.accumulated_effects(network, scaled, output=k).curves[0] for k in range(3)]
    assert len({round(float(curve.strength), 9) for curve in effects}) == 3
    with pytest.raises(ValueError, match=r"3 scores \(one a class\); choose output=0 to output=2"):
        explain.accumulated_effects(network, scaled)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (MLPRegressor(hidden_layer_sizes=(5, 5), max_iter=2), "hidden layer"),
        (MLPRegressor(hidden_layer_sizes=(5,), activation="tanh", max_iter=2), "relu|ReLU"),
    ],
)
def test_other_networks_are_refused(model, words):
    _, scaled, y = data()
    fitted = fit(model, scaled, y)
    with pytest.raises(ValueError, match=words):
        ReluNetwork.from_mlp(fitted)
    with pytest.raises(TypeError, match=r"Explanations read a network.*from_mlp"):
        explain.accumulated_effects(fitted, scaled)


def test_a_table_of_another_width_is_refused(mlp):
    _, scaled, _ = data()
    network = ReluNetwork.from_mlp(mlp)
    for reading in READINGS:
        with pytest.raises(ValueError, match=r"\(n_samples, 3\)"):
            getattr(explain, reading)(network, scaled[:, :2])
        with pytest.raises(ValueError, match="names 2 columns; the network reads 3"):
            getattr(explain, reading)(network, scaled, schema=_two_names(scaled))


def _two_names(X):
    from lifenet.schema import FeatureSchema

    return FeatureSchema.of(X[:, :2], ["a", "b"])
