"""Frontiers of fitted estimators: the error of fewer neurons, on which rows, by which networks."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import KFold

from crossfitted import BOTH, LEAVES, fit_with_folds, planted, regressor, small_recipe
from lifenet import (
    LBFGS,
    BoostedTrees,
    CrossFit,
    Distil,
    Leaves,
    LIFERegressor,
    LinearModel,
    LLARegressor,
    MiniBatch,
    NeuronProjection,
    QuantileCoding,
)
from lifenet.explain import equation_fidelity
from lifenet.kernels.hashing import hash_rows
from lifenet.neurons.hierarchy import SAMPLERS

# Many leaves on as many codes as the preset "fast" has, without a linear model.
FULL_CODES = replace(
    LEAVES,
    codes=QuantileCoding("full", max_bins=64, min_values=2),
    neurons=(Leaves(n_trees=60),),
    stack=(),
)
# Few steps where it is the full network that matters.
FEW_STEPS = MiniBatch(100, max_epochs=100, learning_rate=2e-3)


def distil(size):
    return Distil(size, largest=size, finetune=FEW_STEPS, augmentation=0)


@pytest.fixture(scope="module")
def of_leaves():
    return regressor().fit(*planted())


def test_a_frontier_is_in_the_users_units_and_its_networks_can_be_had():
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(900, 3))
    y = 1000 + 100 * (np.abs(X[:, 0]) + X[:, 1]) + rng.normal(size=900)
    model = regressor(replace(BOTH, resampling=CrossFit(5))).fit(X[:600], y[:600])
    frontier = model.simplify(X[600:], y[600:], settings=Distil(8, largest=16))
    assert frontier.sizes[0] == model.network_.n_neurons
    assert frontier.sizes[-1] == 8
    full = np.sqrt(np.mean((model.predict(X[600:]) - y[600:]) ** 2))
    assert 0.5 * full < frontier.error(frontier.sizes[0]) < 2 * full
    small = model.with_network(frontier.network_of(8))
    error = np.sqrt(np.mean((small.predict(X[600:]) - y[600:]) ** 2))
    assert error < 4 * full
    assert model.network_.n_neurons == frontier.sizes[0]
    with pytest.raises(ValueError, match="n_features"):
        model.with_network(LLARegressor(3).fit(X[:, :2], y).network_)


def test_rows_of_the_fit_do_not_flatter_the_full_network_in_a_frontier():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1_200, 6))
    y = X[:, 0] + rng.normal(size=1_200)
    recipe = replace(FULL_CODES, finetune=MiniBatch(60), resampling=CrossFit(3))
    model = regressor(recipe).fit(X[:400], y[:400])
    settings = distil(16)
    seen = model.simplify(X[:400], y[:400], settings=settings)
    full = seen.error(seen.sizes[0])
    training = np.sqrt(np.mean((model.predict(X[:400]) - y[:400]) ** 2))
    fresh = np.sqrt(np.mean((model.predict(X[400:]) - y[400:]) ** 2))
    assert training < 0.9 * fresh
    assert full > 0.93 * fresh  # a fold of 130 rows
    # The validation rows are those that the first fold's network has not seen.
    few = model.simplify(X[:300], y[:300], settings=settings)
    assert few.n_rows == pytest.approx(100, abs=25)
    assert few.error(few.sizes[0]) > 0.85 * fresh
    # Another network has no fold of its own.
    smaller = model.with_network(seen.network_of(16))
    assert smaller.simplify(X, y, settings=distil(8)).sizes == (16, 8)


def test_the_frontier_of_a_distilled_network_begins_with_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    model = regressor(small_recipe(compress=Distil(8, finetune=LBFGS(20)))).fit(X, X[:, 0])
    assert isinstance(model.recipe_.resampling, CrossFit)
    with pytest.warns(UserWarning, match="fitted to these rows"):
        frontier = model.simplify(X, X[:, 0], settings=distil(2))
    assert frontier.sizes[0] == model.network_.n_neurons


def test_what_is_no_network_is_refused(of_leaves):
    with pytest.raises(TypeError, match="ReluNetwork or a CodedNetwork, not str"):
        of_leaves.with_network("small")


def test_the_increase_of_fewer_neurons_is_over_the_mean_of_the_folds(monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, size=(3_000, 4))
    y = np.sin(7 * X[:, 0]) * X[:, 1] + X[:, 2] * X[:, 3] + 0.1 * rng.normal(size=3_000)
    recipe = replace(FULL_CODES, finetune=MiniBatch(40), resampling=CrossFit(5))
    model, folds = fit_with_folds(regressor(recipe), X[:600], y[:600], monkeypatch)
    frontier = model.simplify(X[:600], y[:600], settings=distil(32))

    def error(score, rows):
        return np.sqrt(np.mean((score - y[rows]) ** 2))

    new = np.arange(600, 3_000)
    single = np.mean([error(one.score(X[new])[:, 0], new) for one in folds])
    mean = error(model.predict(X[new]), new)
    assert mean < 0.97 * single
    # The first fold of the 600 rows, against all folds and other rows: as near as 120 rows can say.
    held_out = _rows_of_first_fold(model, X[:600], y[:600])
    alone = error(folds[0].score(X[held_out])[:, 0], held_out)
    shown = frontier.error(frontier.sizes[0]) / alone
    # Networks differ less on rows that all but one were trained on: rather too little is saved.
    assert mean / single - 0.02 < shown < 1 - 0.3 * (1 - mean / single)


def _rows_of_first_fold(model, X, y):
    inputs = model._prepare(X, y, None, reset=False)
    hashes = hash_rows(inputs.X, model._slices.seed)
    return np.flatnonzero(hashes < 1 / model._slices.n_folds)


def test_networks_of_folds_are_found_again_in_their_mean(monkeypatch):
    X, y = planted()
    trees = BoostedTrees((8,), (10,), 40, 400, (0.3,), 1.0)
    recipe = small_recipe(stack=(LinearModel(), trees))
    model, folds = fit_with_folds(regressor(recipe), X + 3, 10 * y + 5, monkeypatch)
    assert model.stacked_[1].weight > 0
    codes = model.coding_.encode(X + 3)
    for one, other in zip(folds, model._slices.networks(model.network_.network), strict=True):
        # Weights of the network are kept in single precision.
        np.testing.assert_allclose(other.score(codes), one.score(X + 3), rtol=1e-5, atol=1e-5)


def test_what_boosted_trees_save_is_in_the_increase_too(monkeypatch):
    X, y = planted()
    trees = BoostedTrees((8, 16), (10, 5), 40, 400, (0.3,), 1.0)
    model = regressor(small_recipe(stack=(LinearModel(), trees))).fit(X, y)
    _, boosted = model.stacked_
    assert boosted.weight > 0
    assert boosted.gain == boosted.loss_without - boosted.loss > 0
    settings = distil(8)
    with_trees = model.simplify(X, y, settings=settings).losses[0]
    monkeypatch.setattr(model, "stacked_", ())
    without = model.simplify(X, y, settings=settings).losses[0]
    assert without > with_trees


@pytest.mark.parametrize(
    "settings",
    [
        {"preset": "paper"},
        {"validation": 0.3},
        {"validation": None},
        {"validation": KFold(2)},
    ],
    ids=str,
)
def test_a_frontier_on_rows_of_the_fit_says_so_where_they_flatter(settings, monkeypatch):
    monkeypatch.setitem(SAMPLERS, "neurons", lambda: NeuronProjection(levels=()))
    X, y = planted()
    model = regressor(**settings).fit(X, y)
    small = distil(4)
    order = np.random.default_rng(0).permutation(len(X))
    with pytest.warns(UserWarning, match="fitted to these rows"):
        frontier = model.simplify(X[order], y[order], settings=small)
    assert frontier.seen
    assert "training rows" in repr(frontier)
    assert "increases are too high" in repr(frontier)
    fresh = model.simplify(*planted(seed=1), settings=small)
    assert not fresh.seen
    assert "held-out rows" in repr(fresh)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"settings": "small"}, TypeError, "settings must be a Distil or None; it is 'small'"),
        ({"settings": 64}, TypeError, "sizes of your own"),
        ({"time_limit": -1}, ValueError, "time_limit must be above 0 seconds, or None; it is -1"),
    ],
)
def test_wrong_arguments_of_simplify_are_named(of_leaves, wrong, error, message):
    with pytest.raises(error, match=message):
        of_leaves.simplify(*planted(), **wrong)


def test_a_frontier_says_how_far_straight_lines_explain_each_size():
    """Beside a measure of its own: windows around rows, values of the columns in training."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(900, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=900)
    model = LIFERegressor(preset="paper", random_state=0).fit(X[:600], y[:600])
    frontier = model.simplify(X[600:], y[600:], settings=Distil(4, largest=16))
    for size in frontier.sizes:
        smaller = model.with_network(frontier.network_of(size))
        window = equation_fidelity(smaller, X[600:], reach=0.05).one[0]
        assert frontier.fidelity(size) == pytest.approx(window, abs=0.04)
    assert frontier.to_frame()["fidelity"].between(0.5, 1).all()
    least = frontier.fidelity(frontier.sizes[0])
    assert frontier.smallest(10.0) == 4
    assert frontier.smallest(10.0, fidelity=least) >= 4
    with pytest.raises(ValueError, match=r"No size within 1.*fidelity of 1\.1; the highest"):
        frontier.smallest(0.01, fidelity=1.1)


def test_columns_with_few_values_have_no_fidelity():
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(400, 3)).astype(float)
    y = X @ [1, 2, 3]
    model = LIFERegressor(preset="paper", random_state=0).fit(X[:250], y[:250])
    frontier = model.simplify(X[250:], y[250:], settings=Distil(2, largest=2))
    assert all(np.isnan(frontier.fidelity(size)) for size in frontier.sizes)
    assert "lines explain" not in repr(frontier)
