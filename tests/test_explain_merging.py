"""Merged regions: planted boxes are found again, searches against brute force, Wald errors."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import linalg, optimize, special, stats

from lifenet import LLAClassifier, LLARegressor, datasets
from lifenet.explain._glm import fit_equation
from lifenet.explain.merging import merge_regions
from lifenet.losses import Logistic, SquaredError
from lifenet.network import ReluNetwork
from lifenet.schema import FeatureSchema
from made_up import REAL
from planted_interactions import Planted
from strategies import equivalents, floats, networks

# The equation of one region.


def table(n=80, p=3, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, p)) @ generator.normal(size=(p, p)) + [5.0, -2.0, 100.0][:p]
    return X, generator


def test_least_squares_of_one_column_is_that_of_scipy():
    X, generator = table(p=1)
    y = 2 * X[:, 0] + generator.normal(size=80)
    found, truth = fit_equation(X, y, np.ones(80), SquaredError()), stats.linregress(X[:, 0], y)
    np.testing.assert_allclose(found.coefficients, [truth.intercept, truth.slope])
    np.testing.assert_allclose(found.errors, [truth.intercept_stderr, truth.stderr])
    assert found.freedom == 78


def test_least_squares_of_several_columns_is_the_textbooks():
    X, generator = table()
    y = X @ [1.0, 0.0, -0.5] + generator.normal(size=80)
    found = fit_equation(X, y, np.ones(80), SquaredError())
    design = np.column_stack([np.ones(80), X])
    beta = np.linalg.lstsq(design, y, rcond=None)[0]
    variance = np.sum((y - design @ beta) ** 2) / 76 * np.linalg.inv(design.T @ design)
    np.testing.assert_allclose(found.coefficients, beta, rtol=1e-9)
    np.testing.assert_allclose(found.errors, np.sqrt(np.diag(variance)), rtol=1e-7)


def test_logistic_errors_are_those_of_the_curvature_at_the_optimum():
    X, generator = table()
    y = (X @ [1.0, 0.0, 0.5] - 55 + generator.logistic(size=80) > 0).astype(float)
    found = fit_equation(X, y, np.ones(80), Logistic())
    middle, spread = X.mean(axis=0), X.std(axis=0)
    design = np.column_stack([np.ones(80), (X - middle) / spread])

    def loss(beta):
        score = design @ beta
        return np.sum(np.logaddexp(0, score) - y * score)

    best = optimize.minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-7}).x
    step = 1e-3
    corners = step * np.eye(4)
    hessian = [
        [
            (loss(best + a + b) - loss(best + a - b) - loss(best - a + b) + loss(best - a - b))
            / (4 * step**2)
            for a in corners
        ]
        for b in corners
    ]
    errors = np.sqrt(np.diag(np.linalg.inv(hessian)))
    np.testing.assert_allclose(found.coefficients[1:], best[1:] / spread, rtol=1e-4)
    np.testing.assert_allclose(found.errors[1:], errors[1:] / spread, rtol=1e-4)
    back = np.append(1.0, -middle / spread)
    assert found.coefficients[0] == pytest.approx(back @ best, rel=1e-4)
    variance = back @ np.linalg.inv(hessian) @ back
    assert found.errors[0] == pytest.approx(np.sqrt(variance), rel=1e-4)
    assert found.freedom == np.inf


@pytest.mark.parametrize("loss", [SquaredError(), Logistic()])
def test_a_weight_is_so_many_rows(loss):
    X, generator = table()
    y = (generator.normal(size=80) > 0).astype(float)
    weight = generator.integers(1, 4, size=80)
    one = fit_equation(X, y, weight.astype(float), loss)
    two = fit_equation(
        np.repeat(X, weight, axis=0), np.repeat(y, weight), np.ones(weight.sum()), loss
    )
    np.testing.assert_allclose(one.coefficients, two.coefficients, rtol=1e-8)
    np.testing.assert_allclose(one.errors, two.errors, rtol=1e-8)
    assert one.freedom == two.freedom


@pytest.mark.parametrize("loss", [SquaredError(), Logistic()])
def test_what_the_rows_do_not_tell_apart_has_no_error(loss):
    X, generator = table()
    y = (X[:, 0] + generator.normal(size=80) > 5).astype(float)
    more = np.column_stack([X, X[:, 1], np.full(80, 7.0)])
    alone = fit_equation(X, y, np.ones(80), loss)
    found = fit_equation(more, y, np.ones(80), loss)
    # Columns 1 and 3 (terms 2 and 4) are one; column 4 (term 5) is constant.
    assert np.isnan(found.errors).tolist() == [False, False, True, False, True, True]
    kept = [0, 1, 3]
    np.testing.assert_allclose(found.errors[kept], alone.errors[kept], rtol=1e-7)
    np.testing.assert_allclose(found.coefficients[kept], alone.coefficients[kept], rtol=1e-7)
    assert found.coefficients[2] == pytest.approx(alone.coefficients[2] / 2, rel=1e-7)
    assert found.coefficients[5] == 0
    assert found.freedom == alone.freedom


@pytest.mark.parametrize("n", [1, 2, 4])
def test_too_few_rows_give_an_equation_without_errors(n):
    X, generator = table(n=n)
    y = generator.normal(size=n)
    found = fit_equation(X, y, np.ones(n), SquaredError())
    np.testing.assert_allclose(found.coefficients[0] + X @ found.coefficients[1:], y, atol=1e-8)
    assert np.isnan(found.errors).all()


@pytest.mark.parametrize("cut", [-np.inf, 5.0])
def test_classes_that_can_be_separated_keep_a_finite_equation_without_errors(cut):
    X, _ = table()
    y = (X[:, 0] > cut).astype(float)
    found = fit_equation(X, y, np.ones(80), Logistic())
    score = found.coefficients[0] + X @ found.coefficients[1:]
    assert np.isnan(found.errors).all()
    assert np.abs(score).max() < 30
    assert ((score > 0) == (y > 0)).mean() > 0.9


def dummies(shares, n=300, seed=1):
    """Three columns of which the first counts, and rare dummies, each of one class only."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 3))
    y = (generator.logistic(size=n) < X[:, 0]).astype(float)
    for number, share in enumerate(shares):
        dummy = generator.random(n) < share
        y[dummy] = number % 2
        X = np.column_stack([X, dummy])
    return X, y


@pytest.mark.parametrize("shares", [(0.03,), (0.03, 0.05), (0.01, 0.02, 0.4)])
def test_a_dummy_of_one_class_leaves_the_others_as_without_it_and_its_rows(shares):
    X, y = dummies(shares)
    found = fit_equation(X, y, np.ones(300), Logistic())
    rest = (X[:, 3:] == 0).all(axis=1)
    truth = fit_equation(X[rest, :3], y[rest], np.ones(rest.sum()), Logistic())
    np.testing.assert_allclose(found.coefficients[:4], truth.coefficients, rtol=1e-6)
    np.testing.assert_allclose(found.errors[:4], truth.errors, rtol=1e-6)
    assert np.isnan(found.errors[4:]).all()
    side = np.where(np.arange(len(shares)) % 2, 1, -1)
    assert (side * found.coefficients[4:] > 1).all()
    assert (np.abs(found.coefficients[4:]) < 12).all()


def test_a_network_of_separated_rows_reports_no_absurd_significance():
    X, y = dummies((0.03,))
    network = LLAClassifier(3, random_state=0, ridge=0.05, max_iter=20).fit(X, y).network_
    frame = (
        merge_regions(network, X, y, n_regions=1, fit_to="response").to_frame().set_index("term")
    )
    assert frame.loc["x3", ["standard_error", "p_value", "lower"]].isna().all()
    assert frame.drop("x3")["p_value"].between(0, 1).all()
    assert frame.loc["x0", "p_value"] < 1e-6


def test_separated_rows_with_weights_are_repeated_rows():
    X, y = dummies((0.03, 0.05))
    weight = np.random.default_rng(0).integers(1, 4, size=300)
    one = fit_equation(X, y, weight.astype(float), Logistic())
    repeated = np.repeat(X, weight, axis=0), np.repeat(y, weight), np.ones(weight.sum())
    two = fit_equation(*repeated, Logistic())
    assert np.isnan(one.errors).sum() == 2
    np.testing.assert_allclose(one.errors, two.errors, rtol=1e-7)
    np.testing.assert_allclose(one.coefficients, two.coefficients, rtol=1e-7)


def test_a_combination_that_separates_takes_the_errors_of_its_columns_only():
    generator = np.random.default_rng(0)
    X = np.column_stack([generator.normal(size=200), generator.integers(0, 4, size=(200, 2))])
    # Where columns 1 and 2 differ, their difference tells the class; elsewhere column 0 helps.
    gap = X[:, 1] - X[:, 2]
    chance = generator.logistic(size=200) < X[:, 0]
    y = np.where(gap == 0, chance, gap > 0).astype(float)
    found = fit_equation(X, y, np.ones(200), Logistic())
    assert np.isnan(found.errors).tolist() == [False, False, True, True]
    level = fit_equation(X[gap == 0, :2], y[gap == 0], np.ones((gap == 0).sum()), Logistic())
    np.testing.assert_allclose(found.coefficients[1], level.coefficients[1], rtol=1e-6)
    np.testing.assert_allclose(found.errors[1], level.errors[1], rtol=1e-6)
    assert found.coefficients[2] > 0 > found.coefficients[3]


def test_large_effects_that_end_somewhere_keep_their_errors():
    generator = np.random.default_rng(0)
    x = generator.normal(size=5000)
    dummy = np.arange(5000) < 1000
    y = (20 * x + generator.logistic(size=5000) > 0).astype(float)
    y[dummy] = 1
    y[0] = 0  # one of a thousand: log-odds of seven
    found = fit_equation(np.column_stack([x * ~dummy, dummy]), y, np.ones(5000), Logistic())
    assert found.coefficients[1] == pytest.approx(20, rel=0.2)
    alone = fit_equation(x[1000:, None], y[1000:], np.ones(4000), Logistic())
    np.testing.assert_allclose(found.errors[:2], alone.errors, rtol=1e-7)
    assert found.coefficients[[0, 2]].sum() == pytest.approx(np.log(999))
    variance = 1000 / 999 + alone.errors[0] ** 2
    assert found.errors[2] == pytest.approx(np.sqrt(variance), rel=1e-6)


def test_shares_between_the_classes_are_never_separated():
    X, y = dummies((0.03,))
    y[X[:, 3] == 1] = 0.999
    found = fit_equation(X, y, np.ones(300), Logistic())
    assert np.isfinite(found.errors).all()
    assert found.coefficients[4] > 5


def undetermined(X, y):
    """Terms that the likelihood does not determine, by a linear programme over all rows."""
    design = np.column_stack([np.ones(len(X)), X])
    n, c = design.shape
    moves = design * (2 * y - 1)[:, None]
    cost = np.append(np.zeros(c), -np.ones(n))
    bounds = [(None, None)] * c + [(0, 1)] * n
    steps = optimize.linprog(cost, np.hstack([-moves, np.eye(n)]), np.zeros(n), bounds=bounds).x
    kept = design[steps[c:] < 0.5]
    null = linalg.null_space(kept, rcond=1e-9) if len(kept) else np.eye(c)
    return (np.abs(null) > 1e-7).any(axis=1)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(6, 40), st.integers(1, 4))
@example(3, 24, 3)
def test_what_is_separated_is_what_a_linear_programme_finds(seed, n, p):
    generator = np.random.default_rng(seed)
    levels = generator.integers(2, 5, size=p)
    X = generator.integers(0, levels, size=(n, p)).astype(float)
    X[:, 0] += generator.normal(size=n) * generator.integers(0, 2)
    X = np.column_stack([X, generator.random(n) < 0.2])
    X = X[:, np.ptp(X, axis=0) > 0]
    y = (X @ generator.normal(size=X.shape[1]) + generator.logistic(size=n) > 0).astype(float)
    found = fit_equation(X, y, np.ones(n), Logistic())
    assert np.isfinite(found.coefficients).all()
    without_error, loose = np.isnan(found.errors), undetermined(X, y)
    if without_error.any() and not loose.any():
        # So nearly separated that what determines the coefficients drowns in rounding.
        design = np.column_stack([np.ones(n), (X - X.mean(axis=0)) / X.std(axis=0)])
        odds = special.expit(found.coefficients[0] + X @ found.coefficients[1:])
        bends = linalg.eigvalsh((design.T * (odds * (1 - odds))) @ design)
        assert bends[0] < 1e-12 * bends[-1]
    else:
        np.testing.assert_array_equal(without_error, loose)


# The regions.


def valley(n=300, seed=0):
    """|x0| + x1: two planes that meet between values of x0; a third column without a say."""
    network = ReluNetwork([[1.0, 0, 0], [-1.0, 0, 0]], [0, 0], [1, 1], 3.0, [0, 1.0, 0])
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 3))
    X[:, 0] = generator.integers(-5, 5, size=n) / 2 + 0.25
    return network, X, generator


def many_regions(n=300, q=1, seed=0):
    generator = np.random.default_rng(seed)
    network = ReluNetwork(
        generator.normal(size=(40, 3)),
        generator.normal(size=40),
        generator.normal(size=(40, q)) / 6,
        np.zeros(q),
    )
    return network, generator.normal(size=(n, 3)), generator


def test_the_planted_pieces_are_found_again():
    network, X, _ = valley()
    found = merge_regions(network, X)
    assert found.n_regions == 2
    assert found.tried.tolist() == [1, 2]
    assert found.fidelity == found.refit_fidelity == pytest.approx(1.0)
    assert {found.describe(number) for number in range(2)} == {"x0 <= 0", "x0 > 0"}
    left = int(found.assign([[-1.0, 0.0, 0.0]])[0])
    np.testing.assert_allclose(found.coefficients[left], [-1, 1, 0], atol=1e-9)
    np.testing.assert_allclose(found.coefficients[1 - left], [1, 1, 0], atol=1e-9)
    np.testing.assert_allclose(found.intercept, 3.0)
    np.testing.assert_array_equal(found.region == left, X[:, 0] <= 0)
    fresh = np.random.default_rng(1).normal(size=(50, 3))
    np.testing.assert_allclose(found.score(fresh), network.score(fresh)[:, 0])


def test_equations_are_fitted_to_the_response_where_there_is_one():
    network, X, generator = valley()
    y = 2 * np.abs(X[:, 0]) + generator.normal(size=300)
    found = merge_regions(network, X, y, fit_to="response")
    assert (found.target, found.measure) == ("response", "RMSE")
    for number in range(2):
        own = found.region == number
        truth = fit_equation(X[own], y[own], np.ones(own.sum()), SquaredError())
        np.testing.assert_allclose(found.coefficients[number], truth.coefficients[1:])
        np.testing.assert_allclose(found.errors[number], truth.errors[1:])
    ratio = found.coefficients / found.errors
    np.testing.assert_allclose(found.statistics, ratio)
    truth = 2 * stats.t.sf(np.abs(ratio), found.freedom[:, None])
    np.testing.assert_allclose(found.p_values, truth)
    assert (found.p_values[:, 0] < 1e-12).all()
    reach = stats.t.ppf(0.95, found.freedom[:, None]) * found.errors
    np.testing.assert_allclose(found.interval(0.9)[1], found.coefficients + reach)
    score = found.score(X)
    assert found.merged_loss == pytest.approx(np.sqrt(np.mean((y - score) ** 2)))
    residual = y - network.score(X)[:, 0]
    assert found.network_loss == pytest.approx(np.sqrt(np.mean(residual**2)))
    gap = np.mean((score - network.score(X)[:, 0]) ** 2) / network.score(X).var()
    assert found.refit_fidelity == pytest.approx(1 - gap)
    assert found.fidelity == pytest.approx(1.0)
    for number in range(2):
        own = found.region == number
        assert found.response_mean[number] == pytest.approx(y[own].mean())
        np.testing.assert_allclose(found.column_means[number], X[own].mean(axis=0))


def test_two_classes_are_refitted_by_logistic_regression():
    network, X, generator = valley()
    y = (network.score(X)[:, 0] - 4 + generator.logistic(size=300) > 0).astype(int)
    found = merge_regions(network, X, y, fit_to="response")
    assert found.measure == "log-loss"
    assert np.isinf(found.freedom).all()
    np.testing.assert_allclose(found.p_values, 2 * stats.norm.sf(np.abs(found.statistics)))
    chance = 1 / (1 + np.exp(-found.score(X)))
    loss = -np.mean(np.log(np.where(y == 1, chance, 1 - chance)))
    assert found.merged_loss == pytest.approx(loss)
    assert found.merged_loss < found.network_loss
    reach = stats.norm.ppf(0.975) * found.errors
    np.testing.assert_allclose(found.interval()[0], found.coefficients - reach)


def test_regions_come_by_size_and_are_assigned_again():
    network, X, generator = many_regions()
    found = merge_regions(network, X, n_regions=5)
    assert found.n_regions == len(found.boxes) == 5
    np.testing.assert_array_equal(found.assign(X), found.region)
    np.testing.assert_array_equal(np.bincount(found.region), found.count)
    assert (np.diff(found.count) <= 0).all()
    np.testing.assert_allclose(found.share, found.count / 300)
    with_response = merge_regions(network, X, generator.normal(size=300), n_regions=5)
    assert with_response.boxes == found.boxes


def test_auto_takes_the_fewest_that_reach_the_fidelity_or_the_best():
    network, X, _ = many_regions()
    found = merge_regions(network, X, fidelity=0.98, min_rows=20)
    assert found.n_regions == found.tried[-1]
    assert found.tried.tolist() == list(range(1, found.n_regions + 1))
    assert found.fidelity == found.tried_fidelity[-1] >= 0.98
    assert (found.tried_fidelity[:-1] < 0.98).all()
    assert len(found.tried) > 2
    gap = np.mean((found.score(X) - network.score(X)[:, 0]) ** 2) / network.score(X).var()
    assert found.fidelity_loss == pytest.approx(gap)
    few = merge_regions(network, X, fidelity=1.0, max_regions=4)
    assert few.tried.tolist() == [1, 2, 3, 4]
    assert few.fidelity == few.tried_fidelity.max() < 0.98
    assert (found.asked_fidelity, few.asked_fidelity) == (0.98, 1.0)
    for tried, reached in zip(found.tried, found.tried_fidelity, strict=True):
        fixed = merge_regions(network, X, n_regions=int(tried), min_rows=20)
        assert fixed.tried.tolist() == [tried]
        assert fixed.n_regions == tried
        assert fixed.fidelity == pytest.approx(reached)
        assert np.isnan(fixed.asked_fidelity)


def test_a_refit_of_one_region_is_a_linear_model():
    network, X, generator = many_regions()
    y = generator.normal(size=300)
    found = merge_regions(network, X, y, n_regions=1, fit_to="response")
    truth = fit_equation(X, y, np.ones(300), SquaredError())
    np.testing.assert_allclose(found.coefficients[0], truth.coefficients[1:])
    assert found.share[0] == pytest.approx(1.0)


@pytest.mark.parametrize("classes", [False, True])
def test_integer_weights_are_repeated_rows_and_zero_is_absence(classes):
    network, X, generator = many_regions()
    y, weight = generator.normal(size=300), generator.integers(0, 4, size=300)
    y = (y > 0).astype(float) if classes else y
    one = merge_regions(network, X, y, sample_weight=weight, n_regions=4, fit_to="response")
    two = merge_regions(
        network, np.repeat(X, weight, axis=0), np.repeat(y, weight), n_regions=4, fit_to="response"
    )
    np.testing.assert_array_equal(np.repeat(one.region, weight), two.region)
    assert (one.region[weight == 0] == -1).all()
    numbers = one.to_frame().select_dtypes("number")
    np.testing.assert_allclose(numbers, two.to_frame()[numbers.columns], rtol=1e-6)
    assert one.merged_loss == pytest.approx(two.merged_loss)


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_merging_does_not_depend_on_how_the_network_is_written(data):
    network, X, _ = many_regions(n=120)
    other = data.draw(equivalents(network))
    one, two = (merge_regions(each, X, n_regions=3) for each in (network, other))
    np.testing.assert_array_equal(one.region, two.region)
    np.testing.assert_allclose(one.coefficients, two.coefficients, rtol=1e-7, atol=1e-9)
    assert one.fidelity == pytest.approx(two.fidelity, abs=1e-9)


def test_units_change_no_region():
    network, X, _ = many_regions()
    unit, zero = np.array([10.0, 0.01, 1.0]), np.array([5.0, -3.0, 100.0])
    one = merge_regions(network, X, n_regions=4)
    two = merge_regions(network.fold_scaling(zero, unit), X * unit + zero, n_regions=4)
    np.testing.assert_array_equal(one.region, two.region)
    np.testing.assert_allclose(one.coefficients, two.coefficients * unit, rtol=1e-6, atol=1e-9)
    high = merge_regions(network.fold_scaling(0.0, 1.0, 1e8), X, n_regions=4)
    np.testing.assert_array_equal(one.region, high.region)


def test_the_order_of_the_rows_changes_no_region():
    network, X, generator = many_regions()
    turn = generator.permutation(300)
    one, two = (merge_regions(network, rows, n_regions=5) for rows in (X, X[turn]))
    assert one.boxes == two.boxes
    np.testing.assert_array_equal(one.region[turn], two.region)


@pytest.mark.parametrize("output", [0, 2])
def test_one_class_of_several_is_merged_by_its_score(output):
    network, X, generator = many_regions(q=3)
    found = merge_regions(network, X, output=output, n_regions=12, min_rows=10)
    gap = found.score(X) - network.score(X)[:, output]
    assert found.fidelity == pytest.approx(1 - gap.var() / network.score(X)[:, output].var())
    assert found.fidelity > 0.8
    y = generator.integers(0, 3, size=300)
    with pytest.raises(ValueError, match='leave fit_to="score"'):
        merge_regions(network, X, y, output=output, fit_to="response")
    assert (
        merge_regions(
            network, X, y == output, output=output, loss=Logistic(), fit_to="response"
        ).merged_loss
        > 0
    )


def test_a_network_without_regions_is_one_equation():
    linear = ReluNetwork(np.zeros((0, 2)), [], np.zeros((0, 1)), 1.0, [2.0, -1.0])
    X = np.random.default_rng(0).normal(size=(20, 2))
    found = merge_regions(linear, X, n_regions=5)
    assert found.n_regions == 1
    np.testing.assert_allclose(found.coefficients, [[2.0, -1.0]])
    assert found.fidelity == pytest.approx(1.0)
    constant = merge_regions(linear.with_readout(linear.beta, 1.0, [0.0, 0.0]), X)
    assert constant.fidelity == 1.0
    np.testing.assert_allclose(constant.coefficients, 0, atol=1e-12)


def test_tiny_regions_and_constant_columns_do_no_harm():
    network, X, generator = many_regions(n=30)
    X[:, 1], X[:, 2] = 4.0, (X[:, 2] > 1.5)
    found = merge_regions(
        network, X, generator.normal(size=30), n_regions=12, min_rows=3, fit_to="response"
    )
    assert found.n_regions > 3
    assert np.isnan(found.errors[:, 1]).all()
    assert (found.coefficients[:, 1] == 0).all()
    assert np.isfinite(found.score(X)).all()
    assert np.isfinite(found.merged_loss)
    frame = found.to_frame()
    np.testing.assert_array_equal(frame["p_value"].isna(), frame["standard_error"].isna())


def test_the_table_has_a_row_for_each_region_and_term():
    network, X, generator = valley()
    schema = FeatureSchema.of(X, ["a", "b=1", "b=2"], [("a", (0,)), ("b", (1, 2))])
    frame = merge_regions(
        network, X, generator.normal(size=300), schema=schema, fit_to="response"
    ).to_frame()
    assert frame["term"].tolist() == ["(intercept)", "a", "b=1", "b=2"] * 2
    assert frame["region"].tolist() == [0] * 4 + [1] * 4
    inside = (frame["lower"] < frame["coefficient"]) & (frame["coefficient"] < frame["upper"])
    assert inside.all()
    with pytest.raises(ValueError, match="Missing: \\['a', 'b=1', 'b=2'\\]"):
        merge_regions(network, X, schema=schema).assign(frame.iloc[:, :3])


def test_the_table_says_where_regions_lie():
    network, X, _ = many_regions()
    found = merge_regions(network, X, n_regions=4)
    frame = found.to_frame()
    assert frame["where"].tolist() == [found.describe(k) for k in range(4) for _ in range(4)]
    assert merge_regions(network, X, n_regions=1).to_frame()["where"].unique() == ["all rows"]


def test_wald_intervals_cover_the_truth_where_the_regions_are_right():
    network, X, generator = valley(n=200)
    covered = []
    for _ in range(40):
        y = network.score(X)[:, 0] + generator.normal(size=200)
        found = merge_regions(network, X, y, n_regions=2, fit_to="response")
        lower, upper = found.interval(0.8)
        sign = np.where(X[[np.argmax(found.region == k) for k in range(2)], 0] > 0, 1, -1)
        truth = np.column_stack([sign, [1, 1], [0, 0]])
        covered.append((lower < truth) & (truth < upper))
    # 240 intervals of level 0.8: three standard deviations are 0.077.
    assert np.mean(covered) == pytest.approx(0.8, abs=0.08)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_regions": "few"}, 'n_regions must be "auto" or a whole number'),
        ({"n_regions": 2.5}, "whole number; it is 2.5"),
        ({"min_rows": 0}, "min_rows must be above 0"),
        ({"min_rows": "few"}, 'min_rows must be "auto" or a number'),
        ({"n_regions": 0}, "n_regions must be at least 1"),
        ({"max_regions": 0}, "max_regions must be at least 1"),
        ({"fidelity": 1.5}, "fidelity is an R², at most 1"),
        ({"y": [1.0]}, "y has shape"),
    ],
)
def test_bad_input_is_named(change, words):
    network, X, _ = valley(n=20)
    with pytest.raises(ValueError, match=words):
        merge_regions(network, X, **change)
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        merge_regions(network, X).interval(95)


# Where regions lie.


def boxes_of(X):
    """A tree of three regions, with jumps and other slopes in each."""
    low, middle = X[:, 0] <= 0.4, X[:, 1] <= 0.6
    inside = np.where(middle, 4 - X[:, 1] + X[:, 0], -2 + 2 * X[:, 2])
    return np.where(low, 10 + X[:, 1], inside)


BOXES = Planted("boxes", 3, frozenset(), boxes_of, dict, uniform=True)
#: The same regions by hand, the lowest first.
SIDES = [
    ((0, -np.inf, 0.4),),
    ((0, 0.4, np.inf), (1, -np.inf, 0.6)),
    ((0, 0.4, np.inf), (1, 0.6, np.inf)),
]


@pytest.mark.parametrize("values", ["few", "many"])
def test_planted_boxes_are_found_within_the_gap_between_neighbouring_values(values):
    generator = np.random.default_rng(0)
    X = generator.uniform(size=(1000, 3))
    if values == "few":
        X = np.floor(10 * X) / 10 + 0.05
    found = merge_regions(BOXES, X, fidelity=1 - 1e-9)
    assert found.n_regions == 3
    assert found.fidelity == pytest.approx(1)
    place = {box.sides[-1][0] + np.isfinite(box.sides[-1][1]): box for box in found.boxes}
    for number, sides in enumerate(SIDES):
        box = place[number]
        assert [side[0] for side in box.sides] == [side[0] for side in sides]
        for (column, *ends), (_, *wanted) in zip(box.sides, sides, strict=True):
            for end, bound in zip(ends, wanted, strict=True):
                assert np.isfinite(end) == np.isfinite(bound)
                if np.isfinite(bound):
                    column_values = X[:, column]
                    assert column_values[column_values <= bound].max() <= end
                    assert end < column_values[column_values > bound].min()
    inside = found.boxes.index(place[1])
    np.testing.assert_allclose(found.coefficients[inside], [1, -1, 0], atol=1e-9)
    assert found.intercept[inside] == pytest.approx(4)


def errors_of(X, score, weight, region):
    """Weighted squared error of an equation in each region, by lstsq."""
    total = 0.0
    for number in np.unique(region):
        own = region == number
        root = np.sqrt(weight[own])[:, None]
        design = root * np.column_stack([np.ones(own.sum()), X[own] - X[own].mean(axis=0)])
        design[:, 1:] /= np.maximum(np.linalg.norm(design[:, 1:], axis=0), 1e-300)
        target = root[:, 0] * (score[own] - score[own].mean())
        left = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
        total += left @ left
    return total


def best_split(X, score, weight, min_rows):
    """Least squared error over all splits of one column between neighbouring values."""
    errors = []
    for column in X.T:
        for end in np.unique(column)[:-1]:
            region = (column > end).astype(int)
            if np.bincount(region, weight).min() >= min_rows:
                errors.append(errors_of(X, score, weight, region))
    return min(errors)


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_the_first_split_is_the_best_of_all(seed, weighed):
    generator = np.random.default_rng(seed)
    network, _, _ = many_regions(seed=seed)
    X = generator.integers(0, [4, 9, 12], size=(60, 3)) / [1.0, 4.0, 3.0] - [1, 1, 2]
    weight = generator.integers(1, 4, size=60) if weighed else np.ones(60)
    score = network.score(X)[:, 0]
    found = merge_regions(network, X, n_regions=2, min_rows=9, sample_weight=weight)
    best = best_split(X, score, weight, 9)
    assert errors_of(X, score, weight, found.region) == pytest.approx(best, rel=1e-4)
    spread = np.cov(score, aweights=weight, ddof=0) * weight.sum()
    assert found.fidelity == pytest.approx(1 - best / spread, abs=1e-6)


def test_one_outlier_leaves_the_splits_of_the_others_alone():
    """In its deviations the others had no spread, and a ridge took their slopes from them."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    X[:, 0] = np.clip(np.rint(2 * X[:, 0]), -4, 4) / 2
    X[0, 0] = 1e5
    # Slopes 0, 2, 1 and 0.
    network = ReluNetwork([[1, 0], [1, 0], [1, 0]], [2, 0, -1.5], [2, -1, -1], 0, [0, 1.0])
    score = network.score(X)[:, 0]
    found = merge_regions(network, X, n_regions=2, min_rows=30)
    best = best_split(X, score, np.ones(300), 30)
    assert errors_of(X, score, np.ones(300), found.region) == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_a_linear_score_of_skewed_columns_is_one_equation(scale):
    linear = ReluNetwork(np.zeros((0, 2)), [], np.zeros((0, 1)), 1.0, [2.0, -1.0])
    X = np.random.default_rng(0).normal(size=(500, 2))
    X[:, 0] = np.exp(scale * X[:, 0])
    assert merge_regions(linear, X, n_regions=5).n_regions == 1


def test_splits_count_rows_by_their_weight():
    # Slopes 0, 1 and 2.2, with four, four and two values.
    network = ReluNetwork([[1.0], [1.0]], [0.0, -1.0], [1.0, 1.2], 0.0)
    X = np.array([-1, -0.7, -0.4, -0.1, 0.1, 0.4, 0.7, 0.9, 1.1, 1.2])[:, None]
    score, places = network.score(X)[:, 0], []
    for weight in (np.repeat([20.0, 1.0], [8, 2]), np.repeat([1.0, 100.0], [4, 6])):
        found = merge_regions(network, X, n_regions=2, min_rows=2, sample_weight=weight)
        best = best_split(X, score, weight, 2)
        assert errors_of(X, score, weight, found.region) == pytest.approx(best, abs=1e-5)
        places.append(int(np.flatnonzero(np.diff(found.region))[0]))
    assert places[0] < places[1]


def test_each_partition_cuts_one_region_of_the_one_before():
    network, X, _ = many_regions()
    coarse = merge_regions(network, X, n_regions=1, min_rows=10)
    for n_regions in range(2, 9):
        fine = merge_regions(network, X, n_regions=n_regions, min_rows=10)
        both = set(zip(coarse.region, fine.region, strict=True))
        assert len(both) == fine.n_regions == n_regions
        assert len(set(fine.boxes) - set(coarse.boxes)) == 2
        assert fine.fidelity > coarse.fidelity
        coarse = fine


@pytest.mark.parametrize(("min_rows", "n_regions"), [(3, 12), (100, 2), (230, 1)])
def test_no_region_has_fewer_rows_than_asked(min_rows, n_regions):
    network, X, _ = many_regions()
    found = merge_regions(network, X, n_regions=12, min_rows=min_rows)
    assert found.n_regions == n_regions
    assert found.count.min() >= min_rows
    assert found.min_rows == min_rows


@pytest.mark.parametrize(("n", "min_rows"), [(300, 40), (2500, 50)])
def test_rows_of_a_region_are_ten_a_coefficient_and_a_fiftieth_of_all(n, min_rows):
    network, X, _ = many_regions(n=n)
    found = merge_regions(network, X, n_regions=12)
    assert found.min_rows == pytest.approx(min_rows)
    assert found.count.min() >= min_rows
    weighed = merge_regions(network, X, n_regions=12, sample_weight=np.full(n, 10.0))
    assert weighed.min_rows == pytest.approx(max(40, 0.2 * n))


def test_regions_of_long_tables_have_their_rows_too():
    """Splits were sought on 5,000 rows, a share of which had to be in each region."""
    for seed in range(5):
        generator = np.random.default_rng(seed)
        network = ReluNetwork(
            generator.normal(size=(20, 2)), generator.normal(size=20), generator.normal(size=20), 0
        )
        X = generator.normal(size=(20_000, 2))
        assert merge_regions(network, X, n_regions=12, min_rows=200).count.min() >= 200


def test_a_period_in_the_rows_of_a_long_table_does_not_matter():
    """Every fourth row was looked at, all of the same quarter of the hour."""
    n = 4 * 4999 + 1
    X = np.c_[np.arange(n) % 4, np.random.default_rng(0).normal(size=n)]
    # A step from the first two values to the others.
    network = ReluNetwork([[1.0, 0], [1.0, 0]], [-1.0, -2.0], [5, -5], 0, [0, 1.0])
    found = merge_regions(network, X)
    assert {found.describe(number) for number in range(found.n_regions)} == {
        "x0 <= 1",
        "x0 > 1",
    }


def test_long_tables_are_cut_by_some_of_their_rows_and_fitted_to_all(monkeypatch):
    network, X, _ = many_regions()
    whole = merge_regions(network, X, n_regions=1)
    monkeypatch.setattr("lifenet.explain._partition._ROWS", 100)
    found = merge_regions(network, X, n_regions=4)
    assert found.count.sum() == 300
    np.testing.assert_array_equal(found.assign(X), found.region)
    assert found.fidelity > whole.fidelity
    truth = fit_equation(
        X[found.region == 0],
        network.score(X[found.region == 0])[:, 0],
        np.ones(int(found.count[0])),
        SquaredError(),
    )
    np.testing.assert_allclose(found.coefficients[0], truth.coefficients[1:])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_regions_are_a_partition_of_any_table(data):
    network = data.draw(networks(min_neurons=1))
    p = network.n_features
    X = data.draw(floats(data.draw(st.integers(4, 30)), p))
    n_regions, output = data.draw(st.integers(1, 8)), network.n_outputs - 1
    found = merge_regions(network, X, n_regions=n_regions, min_rows=1, output=output)
    assert 1 <= found.n_regions <= n_regions
    ends = [end for box in found.boxes for _, low, high in box.sides for end in (low, high)]
    finite = [end for end in ends if np.isfinite(end)]
    corners = np.random.default_rng(0).choice([*finite, -1e9, 1e9], size=(40, p))
    other = np.vstack([data.draw(floats(20, p)), corners, np.nextafter(corners, np.inf)])
    for table in (X, other):
        inside = np.array([box.holds(table) for box in found.boxes])
        np.testing.assert_array_equal(inside.sum(axis=0), 1)
        np.testing.assert_array_equal(inside.argmax(axis=0), found.assign(table))
    assert sorted(set(found.region)) == list(range(found.n_regions))


def said(conditions, table, names):
    """Rows of a table for which a sentence such as ``1 < a <= 2 and b > 0`` holds."""
    inside = np.ones(len(table), dtype=bool)
    if conditions == "all rows":
        return inside
    compare = {"<": np.less, "<=": np.less_equal, ">": np.greater}
    for condition in conditions.replace("\N{MINUS SIGN}", "-").split(" and "):
        parts = re.split(r" (<=|<|>) ", condition)
        sides = [table[:, names.index(one)] if one in names else float(one) for one in parts[::2]]
        for (left, right), sign in zip(itertools.pairwise(sides), parts[1::2], strict=True):
            inside &= compare[sign](left, right)
    return inside


@pytest.mark.parametrize("seed", range(3))
def test_conditions_that_are_written_out_are_those_that_rows_are_assigned_by(seed):
    network, X, generator = many_regions(seed=seed)
    names = ["a", "b", "c"]
    found = merge_regions(network, X, n_regions=8, min_rows=10, schema=names)
    fresh = np.vstack([X, generator.normal(size=(300, 3))])
    region = found.assign(fresh)
    for number in range(8):
        inside = said(found.describe(number), fresh, names)
        np.testing.assert_array_equal(inside, region == number)
        assert found.describe(number - 8) == found.describe(number)
    for beyond in (8, -9):
        with pytest.raises(IndexError, match="There are 8 regions"):
            found.describe(beyond)


@pytest.mark.parametrize("step", [1.0, 0.001])
@pytest.mark.parametrize("first", [0, 100, 2009, 140_000])
def test_conditions_tell_the_values_of_the_column_apart_in_few_digits_too(first, step):
    """Years above 2011.5 were those above 2012, of which there were none."""
    generator = np.random.default_rng(0)
    X = np.c_[(first + generator.integers(0, 6, size=400)) * step, generator.normal(size=400)]
    for threshold in range(1, 5):
        jump = (first + threshold + np.array([0.0, 1.0])) * step

        def value(rows, jump=jump):
            return np.interp(rows[:, 0], jump, [0.0, 10.0]) + rows[:, 1]

        found = merge_regions(Planted("jump", 2, frozenset(), value, dict), X, schema=["yr", "x"])
        assert found.n_regions == 2
        for number in range(2):
            for words in (found.describe(number),):
                inside = said(words, X, ["yr", "x"])
                np.testing.assert_array_equal(inside, found.region == number, words)


def test_equations_of_noisy_classes_say_more_than_the_base_rate():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(800, 4))
    odds = 2 * np.abs(X[:, 0]) + X[:, 1] - 1.5 + 2 * generator.logistic(size=800)
    y = np.where(odds > 0, "bad", "good")
    model = LLAClassifier(5, random_state=0, max_iter=20).fit(X, y)
    found = merge_regions(model, X, y)
    share = np.mean(y == "good")
    base_rate = -share * np.log(share) - (1 - share) * np.log(1 - share)
    assert found.merged_loss < 0.97 * base_rate
    assert found.n_regions > 1
    fresh = generator.normal(size=(4000, 4))
    odds = 2 * np.abs(fresh[:, 0]) + fresh[:, 1] - 1.5 + 2 * generator.logistic(size=4000)
    loss = np.logaddexp(0, np.where(odds > 0, 1, -1) * found.score(fresh))
    assert loss.mean() < base_rate


@pytest.mark.parametrize("origin", ["made-up", REAL])
def test_bike_sharing_is_read_by_few_equations(origin, home_of):
    data = datasets.load("bike_sharing", data_home=home_of(origin))
    generator = np.random.default_rng(0)
    rows = generator.choice(len(data.X), 1500, replace=False)
    X, y = data.X[rows], data.y[rows]
    network = LLARegressor(n_neurons=20, max_iter=15, random_state=0).fit(X, y).network_
    found = merge_regions(network, X, y, schema=data.feature_names, fit_to="response")
    assert found.fidelity > 0.85
    assert found.merged_loss < 0.6 * y.std()
    assert "hr" in found.to_frame().query("p_value < 1e-6")["term"].to_list()
