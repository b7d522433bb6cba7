"""Training that pays for straight lines: moves, the output layer, fine-tuning, presets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from lifenet import LIFEClassifier, LIFERegressor, MiniBatch, preset
from lifenet.data.folds import Fold
from lifenet.data.moves import Moves, Smoothing
from lifenet.data.problem import Problem
from lifenet.data.rows import HeldRows
from lifenet.explain import equation_fidelity
from lifenet.finetune.lbfgs import LBFGS
from lifenet.losses import Multinomial, SquaredError
from lifenet.neurons.features import Activations
from lifenet.neurons.layer import Layer
from lifenet.output.elastic_net import ElasticNetOutput
from lifenet.output.ridge import RidgeOutput
from lifenet.output.smooth import fit_smooth

SEED = np.random.SeedSequence(0)


def rows_of(X, y, weight=None):
    inputs = np.vstack([np.asarray(X).T, np.ones(len(X))])
    return HeldRows(
        inputs, np.asarray(y, dtype=float), np.ones(len(X)) if weight is None else weight
    )


def staircase(rng, n=600):
    """Steps in the first column, a line in the second, nothing in the third."""
    X = rng.uniform(-1, 1, size=(n, 3))
    return X, np.round(3 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)


def bends_by_hand(moves, function):
    """What the least-squares line through the first of three points leaves of the two changes."""
    table = moves.rows.collect(lambda block: block.inputs[:-1].copy()).T
    start, one, other = np.split(table, 3)
    found = []
    for a, b, c in zip(start, one, other, strict=True):
        (column,) = np.flatnonzero((a != b) | (a != c))
        steps = np.array([b[column], c[column]]) - a[column]
        changes = np.array([function(b), function(c)]) - function(a)
        slope = steps @ changes / (steps @ steps)
        found.append(np.sum(np.square(changes - slope * steps)))
    return np.array(found)


def test_bends_are_what_a_line_through_the_row_leaves():
    rng = np.random.default_rng(0)
    X, y = staircase(rng)
    moves = Moves.draw(rows_of(X, y), 200, 0.2, rng)
    values = moves.rows.collect(lambda block: np.sin(5 * block.inputs[0])[None] + block.inputs[1])
    expected = bends_by_hand(moves, lambda x: np.sin(5 * x[0]) + x[1])
    np.testing.assert_allclose(np.square(moves.bends(values)[0]), expected, atol=1e-12)
    assert expected.max() > 1e-3


def test_moves_go_to_training_values_in_reach_and_change_one_column():
    rng = np.random.default_rng(1)
    X, y = staircase(rng)
    X[:, 2] = np.round(X[:, 2] * 5) / 5  # the next value is out of reach
    moves = Moves.draw(rows_of(X, y), 500, 0.05, rng)
    table = moves.rows.collect(lambda block: block.inputs[:-1].copy()).T
    start, one, other = np.split(table, 3)
    spans = np.quantile(X, 0.95, axis=0) - np.quantile(X, 0.05, axis=0)
    for moved in (one, other):
        changed = moved != start
        assert (changed.sum(axis=1) == 1).all()
        assert not changed[:, 2].any()
        assert (np.abs(moved - start) <= 0.05 * spans * 1.1).all()
        assert all(np.isin(moved[:, j], X[:, j]).all() for j in range(3))


def test_a_move_weighs_what_two_values_of_its_window_are_drawn_with():
    """Ten values, three in a window: two that differ from it and each other in 2 of 9 draws."""
    rng = np.random.default_rng(2)
    X = np.column_stack([np.repeat(np.arange(10.0), 40), rng.integers(0, 2, 400)])
    moves = Moves.draw(rows_of(X, X[:, 0]), 4_000, 0.12, rng)
    table = moves.rows.collect(lambda block: block.inputs[:1].copy())[0]
    start, one, other = np.split(table, 3)
    np.testing.assert_array_equal(np.sort([one - start, other - start], axis=0)[0], -1.0)
    np.testing.assert_array_equal(np.abs([one - start, other - start]), 1.0)
    assert len(moves) == 4_000
    # At the two ends a window has a single other value, and such rows have no bend.
    assert np.isclose(moves.weight.sum(), 0.8 * 2 / 9, rtol=0.05)


def test_no_column_to_move_in_means_no_moves():
    X = np.random.default_rng(0).integers(0, 2, size=(50, 3)).astype(float)
    assert Moves.draw(rows_of(X, X[:, 0]), 100, 0.05, np.random.default_rng(0)) is None


def layer_of(rng, n_columns, n_neurons=12):
    weights = rng.normal(size=(n_neurons, n_columns))
    return Layer.of(Activations(weights, rng.normal(size=n_neurons)), np.ones(n_neurons))


@pytest.mark.parametrize("loss", [SquaredError(), Multinomial(3)], ids=["squared", "classes"])
def test_the_smooth_output_layer_is_the_minimum_of_its_objective(loss):
    """Against scipy on the objective written out: loss, ridge, half the mean square of bends."""
    rng = np.random.default_rng(3)
    X, y = staircase(rng, 300)
    target = y if loss.quadratic else np.digitize(y, [-0.7, 0.7]).astype(float)
    problem = Problem(rows_of(X, target), loss)
    layer = layer_of(rng, 3)
    moves = Moves.draw(problem.rows, 300, 0.3, rng)
    output, fold = RidgeOutput(penalty=0.01), Fold(problem, problem, problem)
    network, _, smoothing = fit_smooth(output, layer, fold, SEED, moves, 2.0)

    features = Activations(network.weights, network.bias)  # those that are ever active
    k, m = loss.n_outputs, features.n_features
    penalty = 0.01 * np.ones(m)
    hidden = problem.rows.collect(features.of)
    moved = moves.rows.collect(features.of)

    def objective(flat):
        beta = flat.reshape(m + 1, k)
        score = hidden.T @ beta[:-1] + beta[-1]
        bends = moves.bends(beta[:-1].T @ moved)
        value = loss.value(target, score).mean()
        value += 0.5 * penalty @ np.square(beta[:-1]).sum(axis=1)
        return value + 0.5 * smoothing.factor * (np.square(bends) @ moves.weight).sum()

    found = np.vstack([network.beta, network.intercept])
    best = optimize.minimize(objective, found.ravel() * 0.9, method="BFGS", tol=1e-9)
    assert objective(found.ravel()) <= best.fun + 2e-4 * abs(best.fun)


def test_a_higher_price_gives_straighter_functions():
    rng = np.random.default_rng(4)
    X, y = staircase(rng)
    problem = Problem(rows_of(X, y), SquaredError())
    layer, fold = layer_of(rng, 3, 40), Fold(problem, problem, problem)
    moves = Moves.draw(problem.rows, 500, 0.3, rng)
    shares = []
    for price in (0.0, 0.1, 1.0, 10.0):
        network, used, _ = fit_smooth(RidgeOutput(), layer, fold, SEED, moves, price)
        values = network.beta.T @ moves.rows.collect(used.features.of)
        shares.append(
            (np.square(moves.bends(values)) @ moves.weight).sum()
            / (moves.changes(values) @ moves.weight).sum()
        )
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < 0.5 * shares[0]


@pytest.mark.parametrize("tuning", [LBFGS(30), MiniBatch(200, learning_rate=5e-3)])
def test_fine_tuning_keeps_what_was_paid_for(tuning):
    """Without the penalty it goes back to the steps."""
    rng = np.random.default_rng(5)
    X, y = staircase(rng, 1_000)
    train = Problem(rows_of(X[:700], y[:700]), SquaredError())
    validation = Problem(rows_of(X[700:], y[700:]), SquaredError())
    fold, layer = Fold(train, validation, train), layer_of(rng, 3, 60)
    moves = Moves.draw(train.rows, 400, 0.1, rng)
    network, _, smoothing = fit_smooth(RidgeOutput(), layer, fold, SEED, moves, 3.0)
    smoothing = Smoothing(moves, 100 * smoothing.factor, 3.0)

    def share(one):
        values = one.beta.T @ moves.rows.collect(Activations(one.weights, one.bias).of)
        return float(
            (np.square(moves.bends(values)) @ moves.weight).sum()
            / (moves.changes(values) @ moves.weight).sum()
        )

    refine = {"validation": validation, "seed": SEED}
    kept = tuning.refine(train, network, smoothing=smoothing, **refine)
    rough = tuning.refine(train, network, **refine)
    assert kept.n_iterations > 0
    assert share(kept.network) < 0.7 * share(rough.network)


def test_the_gradient_of_bends_in_lbfgs_is_that_of_differences():
    from lifenet.finetune.lbfgs import Wide, _Bends

    rng = np.random.default_rng(6)
    X, y = staircase(rng, 100)
    moves = Moves.draw(rows_of(X, y), 60, 0.4, rng)
    bends = _Bends.of(Smoothing(moves, 1.7, 1.0))
    wide = Wide(rng.normal(size=(5, 4)), rng.normal(size=(5, 2)), rng.normal(size=2))
    _, gradient = bends.value_and_gradient(wide)
    flat, step = wide.flat, 1e-6
    for place in range(len(flat)):
        ends = [flat.copy(), flat.copy()]
        ends[0][place] -= step
        ends[1][place] += step
        low, high = (bends.value_and_gradient(wide.like(end))[0] for end in ends)
        assert np.isclose((high - low) / (2 * step), gradient[place], atol=1e-5, rtol=1e-4)


def test_smooth_defaults_have_equations_that_hold():
    """On a smooth function, and on steps, beside the same recipe without smoothness."""
    rng = np.random.default_rng(7)
    X, y = staircase(rng, 1_200)
    found = {}
    for price in (0.0, 3.0):
        model = LIFERegressor(smoothness=price, random_state=0).fit(X[:900], y[:900])
        fidelity = equation_fidelity(model, X[900:], reach=0.05).one[0]
        found[price] = fidelity, model.score(X[900:], y[900:])
        assert {one.smoothness for one in model.folds_} == {price}
    assert found[3.0][0] > found[0.0][0] + 0.05
    assert found[3.0][1] > found[0.0][1] - 0.1


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_are_smoothed_too(classes):
    rng = np.random.default_rng(8)
    X, score = staircase(rng, 900)
    y = np.digitize(score + 0.5 * rng.normal(size=900), [0.0] if classes == 2 else [-0.7, 0.7])
    found = []
    for price in (0.0, 3.0):
        model = LIFEClassifier(smoothness=price, random_state=0).fit(X, y)
        fidelity = equation_fidelity(model, X, reach=0.05, output=None if classes == 2 else 0)
        found.append(fidelity.one[0])
    assert 1 - found[1] < 0.5 * (1 - found[0])


@pytest.mark.parametrize("name", ["paper", "small"])
def test_other_presets_take_a_price(name):
    rng = np.random.default_rng(9)
    X, y = staircase(rng, 400)
    recipe = preset(name).set_params(smoothness=1.0)
    if name == "small":
        recipe.compress.set_params(n_neurons=16, finetune=MiniBatch(200))
    model = LIFERegressor(preset=recipe, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.7


def test_auto_pays_nothing_where_there_is_nothing_to_choose_by():
    rng = np.random.default_rng(10)
    X, y = staircase(rng, 300)
    settings = {"preset": "fast", "validation": None, "random_state": 0}
    auto, none = (LIFERegressor(**settings, smoothness=one).fit(X, y) for one in ("auto", 0.0))
    np.testing.assert_array_equal(auto.predict(X), none.predict(X))


def test_outputs_without_a_ridge_refuse_a_price_and_auto_leaves_them_alone():
    recipe = preset("fast").set_params(output=ElasticNetOutput(), smoothness=0.5)
    with pytest.raises(ValueError, match=r"smoothness=0.5 needs output=RidgeOutput\(\)"):
        recipe.check()
    recipe.set_params(smoothness="auto").check()


@pytest.mark.parametrize("wrong", [-0.1, "much", np.nan])
def test_a_price_is_a_number_from_zero_on_or_auto(wrong):
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(ValueError, match="smoothness"):
        LIFERegressor(smoothness=wrong).fit(X, X[:, 0])
