import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge as Oracle

import lifenet.output.discounts as module
from lifenet.data import budgets
from lifenet.data.folds import Fold
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.neurons.features import Activations
from lifenet.neurons.layer import Layer
from lifenet.output.discounts import choose_scale, discounted_scales, lay_out, squared_error
from lifenet.output.moments import gather_moments
from lifenet.output.ridge import RidgeOutput


def problem(n, seed, loss=None, weight=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    y = 2 * X[:, 0] + 0.1 * rng.normal(size=n)
    if loss is not None:
        y = np.digitize(y, [-1, 1]).astype(float)
    weight = None if weight is None else rng.integers(1, 4, n).astype(float)
    return Problem(ArrayRows.of(X, y, weight), loss or SquaredError())


# Both signs of each column, so that a linear function is among the output layers.
FEATURES = Activations(np.vstack([np.eye(6), -np.eye(6)]), np.zeros(12))


def table(one):
    return one.rows.collect(FEATURES.of).T


def moments(one):
    return gather_moments(one, FEATURES, np.ones(12))


def choose(train, validation, scales):
    """The number of the scale chosen, and its fit."""
    return choose_scale(moments(train), validation, FEATURES, scales)[:2]


def scales_of(leaf, train, discounts):
    return discounted_scales(leaf, moments(train), discounts)


def test_errors_are_those_of_the_rows():
    validation = problem(50, 1, weight=True)
    fit = np.random.default_rng(0).normal(size=(13, 1))
    score = table(validation) @ fit[:-1, 0] + fit[-1, 0]
    expected = np.average((validation.rows.target - score) ** 2, weights=validation.rows.weight)
    assert_allclose(squared_error(validation, FEATURES, fit), expected, rtol=1e-10)


def test_features_that_the_truth_needs_get_the_discount():
    train, validation = problem(40, 2), problem(400, 3)
    right, wrong = np.ones(12), np.ones(12)
    right[[0, 6]] = 1e-2  # those of the first column may cost little
    wrong[[1, 7]] = 1e-2
    index, fit = choose(train, validation, [wrong, np.ones(12), right])
    assert index == 2
    assert np.abs(fit[[0, 6], 0]).min() > 10 * np.abs(np.delete(fit[:-1, 0], [0, 6])).max()


def test_the_fit_is_a_ridge_fit_of_scaled_features():
    train, validation = problem(60, 4, weight=True), problem(60, 5)
    scale = np.random.default_rng(0).uniform(0.5, 2, 12)
    _, fit = choose(train, validation, [scale])
    X, weight = table(train) / scale, train.rows.weight
    share = weight / weight.sum()
    unit = np.mean(share @ np.square(X - share @ X))
    paths = []
    for penalty in np.geomspace(1e-5, 10, 13):
        oracle = Oracle(alpha=penalty * unit * weight.sum())
        oracle.fit(X, train.rows.target, sample_weight=weight)
        paths.append(np.append(oracle.coef_ / scale, oracle.intercept_))
    errors = [
        np.mean((table(validation) @ one[:-1] + one[-1] - validation.rows.target) ** 2)
        for one in paths
    ]
    assert_allclose(fit[:, 0], paths[int(np.argmin(errors))], rtol=1e-6, atol=1e-6)


def test_the_penalty_is_that_of_the_fit():
    train, validation = problem(60, 4, weight=True), problem(60, 5)
    rng = np.random.default_rng(1)
    scales = [rng.uniform(0.5, 2, 12) for _ in range(3)]
    index, fit, penalty = choose_scale(moments(train), validation, FEATURES, scales)
    X, weight = table(train) / scales[index], train.rows.weight
    oracle = Oracle(alpha=penalty * weight.sum()).fit(X, train.rows.target, sample_weight=weight)
    assert_allclose(fit[:-1, 0], oracle.coef_ / scales[index], rtol=1e-6, atol=1e-6)
    assert_allclose(fit[-1, 0], oracle.intercept_, rtol=1e-6, atol=1e-6)


def test_classes_are_fitted_as_indicators():
    train, validation = problem(80, 6, Multinomial(3)), problem(80, 7, Multinomial(3))
    _, fit = choose(train, validation, [np.ones(12)])
    assert fit.shape == (13, 3)
    assert_allclose(fit[-1].sum(), 1, atol=0.2)


@pytest.mark.parametrize("n_rows", [5, 12])
def test_fewer_rows_than_features_have_a_fit(n_rows):
    _, fit = choose(problem(n_rows, 8), problem(30, 9), [np.ones(12)])
    assert np.isfinite(fit).all()


# ---------------------------------------------------------------------- leaf neurons and others

LEAF = np.arange(12) < 4
LAYER = Layer.of(FEATURES, np.ones(12), leaf=LEAF)
DISCOUNTS = (3.0, 30.0, 300.0)


def binary(n, seed):
    one = problem(n, seed)
    return Problem(one.rows.with_target((one.rows.target > 0).astype(float)), Logistic())


def fit(fold, layer=LAYER, **settings):
    output = RidgeOutput(discounts=DISCOUNTS, **settings)
    output.check()
    return output.fit(layer, fold, np.random.default_rng(0))


def test_other_neurons_are_measured_in_deviations_over_that_of_leaf_neurons():
    train = problem(200, 10, weight=True)
    X, weight = table(train), train.rows.weight
    spread = np.sqrt(np.average((X - np.average(X, axis=0, weights=weight)) ** 2, 0, weight))
    others = np.maximum(spread[~LEAF], 0.2 * np.sqrt(np.mean(spread[~LEAF] ** 2)))
    scales = scales_of(LEAF, train, DISCOUNTS)
    for discount, scale in zip(DISCOUNTS, scales, strict=True):
        assert_allclose(scale[LEAF], 1.0)
        expected = others / np.sqrt(np.mean(spread[LEAF] ** 2)) / discount
        assert_allclose(scale[~LEAF], expected, rtol=1e-9)


@pytest.mark.parametrize("leaf", [np.zeros(12, bool), np.ones(12, bool)], ids=["none", "all"])
def test_neurons_of_one_kind_are_penalised_alike(leaf):
    (scale,) = scales_of(leaf, problem(50, 11), (3,))
    assert_allclose(scale, 1.0)


@pytest.mark.parametrize("refits", [False, True], ids=["training rows", "all rows"])
@pytest.mark.parametrize("held_bytes", [0, 1 << 29], ids=["anew", "held"])
def test_rows_laid_out_have_the_same_activations(refits, held_bytes, monkeypatch):
    monkeypatch.setattr(budgets, "HELD_LAYER", held_bytes)
    train, validation = problem(40, 12), problem(30, 13)
    fold = Fold(train, validation, problem(70, 14) if refits else train)
    layer, laid_out = lay_out(LAYER, fold)
    assert laid_out.refits == refits
    for name in ("train", "validation", "fit"):
        before, after = getattr(fold, name).rows, getattr(laid_out, name).rows
        found, expected = after.collect(layer.features.of), before.collect(FEATURES.of)
        if held_bytes:  # in single precision
            assert found.dtype == np.float32
            assert_allclose(found, expected, rtol=1e-6)
        else:
            assert_allclose(found, expected, atol=1e-12)
        assert_allclose(after.target, before.target)


def spaced(rows, n):
    """Rows at even distances, the first and the last among them."""
    return rows.target[np.linspace(0, rows.n_rows - 1, n).astype(int)]


@pytest.mark.parametrize("refits", [False, True], ids=["training rows", "all rows"])
def test_of_rows_that_a_gram_matrix_has_no_time_for_some_stand_for_all(refits, monkeypatch):
    monkeypatch.setattr(module, "_GRAM_PRODUCTS", 1)
    monkeypatch.setattr(module, "_ROWS_A_FEATURE", 2)
    train, validation, every = problem(60, 12), problem(50, 13), problem(110, 14)
    fold = Fold(train, validation, every if refits else train)
    layer, found = lay_out(LAYER, fold)
    assert found.refits == refits
    assert_allclose(found.train.rows.target, spaced(train.rows, 26))
    assert_allclose(found.fit.rows.target, spaced(fold.fit.rows, 26))
    assert_allclose(found.validation.rows.target, validation.rows.target)
    rows = train.rows.take(np.linspace(0, 59, 26).astype(int))
    columns = found.train.rows.collect(layer.features.of)
    assert_allclose(columns, rows.collect(FEATURES.of), rtol=1e-6)


def test_of_many_validation_rows_some_choose(monkeypatch):
    monkeypatch.setattr(module, "_VALIDATION_ROWS", 9)
    train, validation = problem(60, 12), problem(50, 13)
    _, found = lay_out(LAYER, Fold(train, validation, train))
    assert_allclose(found.validation.rows.target, spaced(validation.rows, 9))
    assert found.train.rows.n_rows == 60


@pytest.mark.parametrize("make", [problem, binary], ids=["squared error", "logistic"])
def test_rows_that_cannot_be_held_are_left_out_where_many_passes_follow(make, monkeypatch):
    monkeypatch.setattr(budgets, "HELD_LAYER", 4 * 13 * 20)
    train, validation = make(600, 12), make(50, 13)
    layer, found = lay_out(LAYER, Fold(train, validation, train))
    assert isinstance(layer.features, Activations)  # the activations are not held, either
    assert layer.features.dtype is np.float32
    few = make is binary  # a quadratic loss has a single pass; twenty rows a feature are kept
    assert_allclose(found.train.rows.target, spaced(train.rows, 20 * 13 if few else 600))


@pytest.fixture(params=[False, True], ids=["anew", "held"])
def close(request, monkeypatch):
    """Compares fits, whose activations are computed anew, or held in single precision."""
    monkeypatch.setattr(budgets, "HELD_LAYER", (1 << 29) if request.param else 0)

    def compare(found, expected, rtol=1e-6, atol=1e-9, single=1e-5):
        if request.param:  # in units of the largest coefficient
            rtol, atol = 0, single * np.abs(expected).max()
        assert_allclose(found, expected, rtol=rtol, atol=atol)

    return compare


def test_squared_error_of_a_fold_is_the_fit_of_the_choice(close):
    train, validation = problem(60, 15), problem(60, 16)
    scales = scales_of(LEAF, train, DISCOUNTS)
    _, expected = choose(train, validation, scales)
    close(fit(Fold(train, validation, train)), expected)


@pytest.mark.parametrize("make", [problem, binary], ids=["squared error", "logistic"])
def test_where_all_rows_are_fitted_the_discount_is_that_of_the_training_rows(
    make, close, monkeypatch
):
    """The fit is then that of all rows under the chosen scale, penalty chosen as without any."""
    train, validation, every = make(60, 17), make(60, 18), make(120, 19)
    if not budgets.HELD_LAYER:  # room for all rows to fit, not for the validation rows as well
        monkeypatch.setattr(budgets, "HELD_LAYER", 4 * 13 * 120)
    scales = scales_of(LEAF, train, DISCOUNTS)
    index, _ = choose(train, validation, scales)
    chosen = Layer.of(FEATURES, scales[index])
    fold = Fold(train, validation, every)
    expected = RidgeOutput().fit(chosen, fold, np.random.default_rng(0))
    # Of classes the optimum is flat: single precision leaves a few more digits of it open.
    single = 1e-5 if make is problem else 1e-4
    close(fit(fold), expected, rtol=1e-5, atol=1e-7, single=single)


@pytest.mark.parametrize("settings", [{}, {"penalty": 0.01}], ids=["no validation", "penalty"])
def test_without_a_choice_the_middle_discount_is_taken(settings, close):
    train, validation = problem(60, 20), problem(60, 21)
    middle = scales_of(LEAF, train, DISCOUNTS)[1]
    fold = Fold(train, validation, train) if settings else Fold.whole(train)
    expected = RidgeOutput(**settings).fit(
        Layer.of(FEATURES, middle), fold, np.random.default_rng(0)
    )
    close(fit(fold, **settings), expected)


@pytest.mark.parametrize("wrong", [(3.0, 0.0), (-1.0,), ("3",)], ids=str)
def test_discounts_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match="discounts must be numbers above 0"):
        RidgeOutput(discounts=wrong).check()
