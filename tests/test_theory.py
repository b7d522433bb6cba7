"""Ambiguity, stacking and selection, against definitions, quadrature and SLSQP."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import integrate, optimize, special

from lifenet.theory import (
    DecompositionCurve,
    compare_settings,
    decompose,
    decompose_path,
    optimality_gap,
    selection_curve,
    simplex_weights,
)
from strategies import invariant

SPACES = ("squared", "log-odds", "probability")


def loss_of(space, y, f):
    """The three losses, written down again."""
    if space == "squared":
        return (y - f) ** 2
    p = special.expit(f) if space == "log-odds" else f
    return -special.xlogy(y, p) - special.xlogy(1 - y, 1 - p)


def slope_of(space, y, f):
    if space == "squared":
        return 2 * (f - y)
    if space == "log-odds":
        return special.expit(f) - y
    return -y / f + (1 - y) / (1 - f)


def curvature_of(space, y, f):
    """As the paper prints them, the braces of equations `cal_dec` and `cal_dec2`."""
    if space == "squared":
        return 2.0
    if space == "log-odds":
        return (np.exp(f) + np.exp(-f) + 2) / ((1 + np.exp(-f)) * (1 + np.exp(f))) ** 2
    return (y - 2 * f * y + f**2) / (f * (1 - f)) ** 2


def problem(space, n=200, n_members=5, seed=0):
    """Members of different skill, each with noise of its own."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    noise = rng.normal(size=(n, n_members)) * rng.uniform(0.4, 2, n_members)
    scores = truth[:, None] * rng.uniform(0.3, 1.4, n_members) + noise
    if space == "squared":
        return scores, truth + 0.5 * rng.normal(size=n)
    y = (rng.random(n) < special.expit(2 * truth)).astype(float)
    return (scores if space == "log-odds" else special.expit(scores)), y


@st.composite
def mixtures(draw):
    space = draw(st.sampled_from(SPACES))
    n, n_members = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    low, high = (0.01, 0.99) if space == "probability" else (-8, 8)
    predictions = draw(hnp.arrays(np.float64, (n, n_members), elements=st.floats(low, high)))
    target = st.floats(-8, 8) if space == "squared" else st.sampled_from([0.0, 0.25, 1.0])
    y = draw(hnp.arrays(np.float64, n, elements=target))
    beta = draw(hnp.arrays(np.float64, n_members, elements=st.floats(0, 1)))
    beta = beta / beta.sum() if beta.sum() > 1e-3 else np.full(n_members, 1 / n_members)
    weight = draw(hnp.arrays(np.float64, n, elements=st.floats(0.1, 3)))
    return space, predictions, y, beta, weight


@invariant
@given(mixtures())
def test_the_loss_is_accuracy_less_diversity_in_all_and_in_every_row(case):
    space, predictions, y, beta, weight = case
    found = decompose(predictions, y, beta, space=space, sample_weight=weight)
    size = 1 + found.accuracy
    assert abs(found.loss - (found.accuracy - found.diversity)) < 1e-12 * size
    left = found.row_loss - (found.row_accuracy - found.row_diversity)
    assert np.all(np.abs(left) < 1e-12 * (1 + found.row_accuracy))
    assert np.all(found.row_diversity >= 0)
    assert np.all(found.member_diversity >= 0)


@invariant
@given(mixtures())
def test_all_terms_are_what_their_definitions_say(case):
    space, predictions, y, beta, weight = case
    found = decompose(predictions, y, beta, space=space, sample_weight=weight)
    share = weight / weight.sum()
    mixture = predictions @ beta
    losses = loss_of(space, y[:, None], predictions)
    tangent = loss_of(space, y, mixture)[:, None]
    tangent = tangent + slope_of(space, y, mixture)[:, None] * (predictions - mixture[:, None])
    near = {"rtol": 1e-9, "atol": 1e-11}
    np.testing.assert_allclose(found.loss, share @ loss_of(space, y, mixture), **near)
    np.testing.assert_allclose(found.member_loss, share @ losses, **near)
    np.testing.assert_allclose(found.member_diversity, share @ (losses - tangent), **near)
    np.testing.assert_allclose(found.accuracy, share @ losses @ beta, **near)


def test_diversity_of_squared_errors_is_the_members_variance():
    predictions, y = problem("squared")
    beta = np.array([0.1, 0.2, 0.3, 0.4, 0.0])
    found = decompose(predictions, y, beta)
    mixture = predictions @ beta
    expected = np.mean(np.square(predictions - mixture[:, None]) @ beta)
    assert found.diversity == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(found.diversity_share.sum(), 1)
    assert found.diversity_share[4] == 0


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("y", [0.0, 1.0])
def test_diversity_is_the_exact_remainder_with_the_factor_one_half(space, y):
    """The paper's appendix leaves the 1/2 out for log-odds: that would be twice as much."""
    pairs = [(0.2, 0.7), (0.9, 0.35), (0.5, 0.51)] if space == "probability" else [(-1, 2), (3, 1)]
    for one, other in pairs:
        f = 0.25 * one + 0.75 * other
        found = decompose([[one, other]], [y], [0.25, 0.75], space=space)
        for member, bracket in zip((one, other), found.member_diversity, strict=True):
            change = member - f

            def integrand(t, f=f, change=change):
                return (1 - t) * curvature_of(space, y, f + t * change)

            remainder = integrate.quad(integrand, 0, 1, epsabs=1e-14)[0] * change**2
            assert bracket == pytest.approx(remainder, rel=1e-9)
            # l''(f*) for some f* between: it lies between the least and the most on the way.
            between = curvature_of(space, y, np.linspace(f, member, 1001)) * np.ones(1001)
            slack = 1e-9 * between.max()
            middle = bracket / (change**2 / 2)
            assert between.min() - slack <= middle <= between.max() + slack


def test_log_odds_diversity_does_not_know_the_target():
    predictions, y = problem("log-odds")
    one = decompose(predictions, y, "equal", space="log-odds")
    other = decompose(predictions, 1 - y, "equal", space="log-odds")
    np.testing.assert_allclose(one.row_diversity, other.row_diversity, rtol=1e-14)
    assert one.loss != pytest.approx(other.loss)


def test_large_log_odds_lose_no_digits():
    """log(1 + e^f) of 40 and 41 are 40 and 41 but for e^-40: a plain difference keeps nothing."""
    found = decompose([[40.0, 41.0]], [1.0], "equal", space="log-odds")
    f = 40.5
    expected = [np.exp(-f) * (np.exp(f - one) - 1 + (one - f)) for one in (40.0, 41.0)]
    np.testing.assert_allclose(found.member_diversity, expected, rtol=1e-9)
    far = decompose([[-900.0, 900.0]], [1.0], [0.5, 0.5], space="log-odds")
    assert far.loss == pytest.approx(np.log(2))
    assert far.diversity == pytest.approx(450 - np.log(2))


def test_certain_members_that_are_right_do_no_harm():
    found = decompose([[0.0, 0.5], [1.0, 0.5]], [0.0, 1.0], "equal", space="probability")
    assert found.loss == pytest.approx(-np.log(0.75))
    assert found.member_loss[0] == 0
    assert found.loss == pytest.approx(found.accuracy - found.diversity, abs=1e-14)
    alone = decompose([[0.0, 0.0]], [0.0], "equal", space="probability")
    assert (alone.loss, alone.diversity) == (0, 0)


@pytest.mark.parametrize("space", SPACES)
def test_weights_are_repetition_and_zero_is_absence(space):
    predictions, y = problem(space, n=60)
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    weighed = decompose(predictions, y, space=space, sample_weight=counts)
    again = np.repeat(np.arange(len(y)), counts)
    repeated = decompose(predictions[again], y[again], space=space)
    np.testing.assert_allclose(weighed.weights, repeated.weights, atol=1e-7)
    for term in ("loss", "accuracy", "diversity"):
        assert getattr(weighed, term) == pytest.approx(getattr(repeated, term), rel=1e-6)
    np.testing.assert_array_equal(weighed.rows, np.flatnonzero(counts))
    np.testing.assert_array_equal(weighed.rows_to_frame()["row"], np.flatnonzero(counts))
    spoiled = predictions.copy()
    spoiled[counts == 0] = np.nan
    assert decompose(spoiled, y, space=space, sample_weight=counts).loss == weighed.loss


@pytest.mark.parametrize("space", SPACES)
def test_rows_beyond_one_block_count(space):
    """Rows are visited some thousands at a time."""
    predictions, y = problem(space, n=20_000, n_members=3)
    found = decompose(predictions, y, [0.5, 0.2, 0.3], space=space)
    expected = loss_of(space, y[:, None], predictions).mean(axis=0)
    np.testing.assert_allclose(found.member_loss, expected)
    np.testing.assert_allclose(found.loss, found.accuracy - found.diversity, atol=1e-12)
    beta = simplex_weights(predictions, y, space=space)
    assert optimality_gap(predictions, y, beta, space=space) < 1e-11


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("seed", range(4))
def test_stacked_weights_are_those_of_a_general_solver(space, seed):
    predictions, y = problem(space, n_members=6, seed=seed)
    weight = np.random.default_rng(seed).uniform(0.1, 2, len(y))
    beta = simplex_weights(predictions, y, space=space, sample_weight=weight)

    def loss(b):
        return np.average(loss_of(space, y, predictions @ b), weights=weight)

    other = optimize.minimize(
        loss,
        np.full(6, 1 / 6),
        method="SLSQP",
        bounds=[(0, 1)] * 6,
        constraints={"type": "eq", "fun": lambda b: b.sum() - 1},
        options={"ftol": 1e-13, "maxiter": 300},
    )
    assert loss(beta) <= other.fun + 1e-12
    np.testing.assert_allclose(beta, other.x, atol=1e-4)


@invariant
@given(st.sampled_from(SPACES), st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 30))
def test_the_conditions_of_kuhn_and_tucker_hold(space, seed, n, n_members):
    predictions, y = problem(space, n, n_members, seed)
    beta = simplex_weights(predictions, y, space=space)
    assert beta.min() >= 0
    assert beta.sum() == pytest.approx(1, abs=1e-14)
    pull = slope_of(space, y, predictions @ beta) / n
    slope = predictions.T @ pull
    level = beta @ slope
    # Members of as many rows may fit them exactly; then all slopes are rounding.
    size = (np.abs(predictions).T @ np.abs(pull)).max() + 1e-5
    assert np.all(slope >= level - 1e-9 * size)
    assert np.all(np.abs(slope - level)[beta > 1e-7] <= 1e-6 * size)
    gap = optimality_gap(predictions, y, beta, space=space)
    assert gap <= 1e-9 * (1e-3 + loss_of(space, y, predictions @ beta).mean())


def test_the_gap_bounds_what_is_lost():
    predictions, y = problem("log-odds")
    best = decompose(predictions, y, space="log-odds")
    rng = np.random.default_rng(3)
    for beta in rng.dirichlet(np.ones(5), 20):
        excess = decompose(predictions, y, beta, space="log-odds").loss - best.loss
        assert 0 < excess <= optimality_gap(predictions, y, beta, space="log-odds")


@pytest.mark.parametrize("space", SPACES)
def test_members_that_say_the_same_share_a_weight(space):
    predictions, y = problem(space, n_members=4)
    doubled = np.hstack([predictions, predictions[:, :2], predictions.mean(axis=1, keepdims=True)])
    one, other = (decompose(table, y, space=space) for table in (predictions, doubled))
    assert one.loss == pytest.approx(other.loss, rel=1e-12)
    same = decompose(np.repeat(predictions[:, :1], 3, axis=1), y, space=space)
    assert same.loss == pytest.approx(same.member_loss[0])
    assert same.diversity == pytest.approx(0, abs=1e-14)


def test_a_useless_and_a_wild_member_get_no_weight():
    """Ten million times the others' size, and of no use: the others' weights are as before."""
    predictions, y = problem("squared")
    alone = simplex_weights(predictions, y)
    residual = predictions @ alone - y
    wild = 1e7 * residual
    beta = simplex_weights(np.column_stack([predictions, wild + y]), y)
    assert beta[-1] == 0
    np.testing.assert_allclose(beta[:-1], alone, atol=1e-6)


def test_a_large_offset_does_not_blur_the_weights():
    predictions, y = problem("squared")
    moved = simplex_weights(predictions + 1e6, y + 1e6)
    np.testing.assert_allclose(moved, simplex_weights(predictions, y), atol=1e-8)


def test_joint_least_squares_cannot_lose_to_stacking_in_training_but_may_elsewhere():
    """ "LIFE always outperforms stacking" is nested least squares: true of training rows only."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(size=120)
    activations = np.maximum(X @ rng.normal(size=(3, 40)) + rng.normal(size=40), 0)
    train, test = slice(0, 60), slice(60, 120)
    groups = np.arange(40).reshape(8, 5)

    def design(rows, columns):
        return np.column_stack([np.ones(60), activations[rows][:, columns]])

    def fit(columns):
        return np.linalg.lstsq(design(train, columns), y[train], rcond=None)[0]

    members = {
        name: np.column_stack([design(rows, group) @ fit(group) for group in groups])
        for name, rows in (("train", train), ("test", test))
    }
    everything = np.arange(40)
    life = {
        name: np.mean((y[rows] - design(rows, everything) @ fit(everything)) ** 2)
        for name, rows in (("train", train), ("test", test))
    }
    stacked = decompose(members["train"], y[train])
    on_test_rows = decompose(members["test"], y[test], stacked.weights)
    assert life["train"] < stacked.loss
    assert life["test"] > on_test_rows.loss


def test_a_path_is_the_decomposition_of_its_first_members():
    predictions, y = problem("log-odds", n_members=6)
    other, label = problem("log-odds", n_members=6, seed=0)[0][:80], y[:80]
    weight = np.linspace(1, 2, 80)
    order = [4, 0, 2]
    path = decompose_path(
        predictions, y, order=order, space="log-odds", held_out=(other, label, weight)
    )
    np.testing.assert_array_equal(path.x, [1, 2, 3])
    np.testing.assert_array_equal(path.order, order)
    for index in range(3):
        chosen = order[: index + 1]
        beta = simplex_weights(predictions[:, chosen], y, space="log-odds")
        found = decompose(other[:, chosen], label, beta, space="log-odds", sample_weight=weight)
        assert path.loss[index] == found.loss
        assert path.accuracy[index] == found.accuracy
        assert path.diversity[index] == found.diversity
    assert list(path.to_frame()["member"]) == order


@pytest.mark.parametrize("space", SPACES)
def test_stacked_members_never_lose_by_one_more_on_their_own_rows(space):
    predictions, y = problem(space, n_members=7)
    path = decompose_path(predictions, y, space=space)
    assert np.all(np.diff(path.loss) <= 1e-12)
    assert sorted(path.order) == list(range(7))
    assert path.diversity[0] == pytest.approx(0, abs=1e-15)


def test_orders():
    predictions, y = problem("squared", n_members=6)
    losses = np.square(predictions - y[:, None]).mean(axis=0)
    by_loss = decompose_path(predictions, y, order="loss", weights="equal")
    np.testing.assert_array_equal(by_loss.order, np.argsort(losses))
    given_ = decompose_path(predictions, y, order="given", max_members=4)
    np.testing.assert_array_equal(given_.order, range(4))
    greedy = decompose_path(predictions, y, weights="equal", max_members=3)
    chosen = []
    for index in range(3):
        left = [one for one in range(6) if one not in chosen]
        means = [np.mean((predictions[:, [*chosen, one]].mean(axis=1) - y) ** 2) for one in left]
        chosen.append(left[int(np.argmin(means))])
        assert greedy.loss[index] == pytest.approx(min(means))
    np.testing.assert_array_equal(greedy.order, chosen)


def test_a_curve_sorts_its_points_and_knows_the_least():
    predictions, y = problem("squared", n_members=4)
    pieces = [decompose(predictions[:, :k], y, "equal") for k in (3, 1, 4, 2)]
    curve = DecompositionCurve.of([0.7, 0.1, 0.9, 0.3], pieces, "share")
    np.testing.assert_array_equal(curve.x, [0.1, 0.3, 0.7, 0.9])
    np.testing.assert_array_equal(curve.n_used, [1, 2, 3, 4])
    assert curve.loss[curve.best] == min(one.loss for one in pieces)
    assert curve.fewest(0) == curve.best
    assert curve.fewest(100) == 0
    assert list(curve.to_frame()) == ["x", "loss", "accuracy", "diversity", "n_used"]


def test_the_line_through_settings_is_least_squares():
    rng = np.random.default_rng(0)
    stacking = rng.uniform(1, 2, 30)
    life = 0.1 + 0.8 * stacking + 0.05 * rng.normal(size=30)
    line = compare_settings(stacking, life)
    slope, intercept = np.polyfit(stacking, life, 1)
    assert (line.slope, line.intercept) == pytest.approx((slope, intercept))
    assert line.r_squared == pytest.approx(np.corrcoef(stacking, life)[0, 1] ** 2)
    assert line.n_better == sum(life < stacking)
    frame = compare_settings([1, 2, 4], [1, 2, 4.0], ["a", "b", "c"]).to_frame()
    assert list(frame["setting"]) == ["a", "b", "c"]
    np.testing.assert_allclose(frame["fitted"], [1, 2, 4])


def test_selection_is_sorted_and_keeps_the_whole_apart():
    curve = selection_curve([80, 20, 50], [0.75, 0.6, 0.745], keep=[0.8, 0.2, 0.5],
                            all_members=(100, 0.74))  # fmt: skip
    assert curve.n_neurons.tolist() == [20, 50, 80]
    assert (curve.best, curve.fewest(0.01), curve.fewest(0)) == (2, 1, 2)
    frame = curve.to_frame()
    assert frame["keep"].tolist() == [0.2, 0.5, 0.8, 1.0]
    assert frame["selected"].tolist() == [True, True, True, False]
    assert frame["n_neurons"].iloc[-1] == 100


TWO = np.array([[0.2, 0.4], [0.6, 0.7]])
REFUSED = [
    (lambda: decompose([0.1, 0.2], [0, 1]), r"predictions must have shape \(n_samples, n_members"),
    (lambda: decompose(TWO, [0.0]), r"target has shape \(1,\); expected \(2,\)"),
    (lambda: decompose(TWO, [0.0, np.nan]), "target must be finite; row 1"),
    (lambda: decompose(TWO, [0, 2], space="log-odds"), "row 1 has 2"),
    (lambda: decompose(TWO + 0.5, [0, 1], space="probability"), "member 0 in row 1 is no prob"),
    (lambda: decompose(np.round(TWO), [1, 1], space="probability"), "row 0 rules out.*np.clip"),
    (lambda: decompose([[1, np.inf]], [0]), "inf of member 1 in row 0 is not finite"),
    (lambda: decompose(TWO, [0, 1], space="odds"), "space must be one of squared, log-odds"),
    (lambda: decompose(TWO, [0, 1], "best"), "weights must be 'stacked', 'equal' or an array"),
    (lambda: decompose(TWO, [0, 1], [1.0]), r"weights has shape \(1,\); expected \(2,\)"),
    (lambda: decompose(TWO, [0, 1], [0.7, 0.7]), "sum to 1.4. Divide"),
    (lambda: decompose(TWO, [0, 1], [1.2, -0.2]), "member 1 has -0.2"),
    (lambda: simplex_weights(TWO, [0, 1], sample_weight=[-1, 1]), "must not be negative; row 0"),
    (lambda: simplex_weights(TWO, [0, 1], sample_weight=[0, 0]), "zero for every row"),
    (lambda: decompose_path(TWO, [0, 1], order="best"), "order must be 'greedy', 'loss', 'given'"),
    (lambda: decompose_path(TWO, [0, 1], order=[0, 2]), "names member 2; members are 0 to 1"),
    (lambda: decompose_path(TWO, [0, 1], order=[1, 1]), "member 1 twice"),
    (lambda: decompose_path(TWO, [0, 1], order=[0.5]), "list of member numbers"),
    (lambda: decompose_path(TWO, [0, 1], weights="x"), "weights must be 'stacked' or 'equal'"),
    (lambda: decompose_path(TWO, [0, 1], max_members=0), "max_members must be at least 1"),
    (lambda: decompose_path(TWO, [0, 1], held_out=(TWO,)), "held_out must be .*it has 1 parts"),
    (lambda: decompose_path(TWO, [0, 1], held_out=(TWO[:, :1], [0, 1])), "predictions of 1 memb"),
    (lambda: DecompositionCurve.of([1, 2], [decompose(TWO, [0, 1])]), "one value a decomposition"),
    (lambda: DecompositionCurve.of([np.nan], [decompose(TWO, [0, 1])]), "value 0 is nan"),
    (lambda: compare_settings([1, 2], [1, 2]), "at least three settings"),
    (lambda: compare_settings([1, 1, 1], [1, 2, 3]), "same loss in every setting"),
    (lambda: compare_settings([1, 2, 3], [1, 2]), "stacking has 3 losses and life 2"),
    (lambda: compare_settings([1, 2, 3], [1, 2, np.nan]), "setting 2 has nan"),
    (lambda: compare_settings([1, 2, 3], [1, 2, 3], ["a"]), "names 1 settings; there are 3"),
    (lambda: selection_curve([1.5], [0.2]), "list of whole numbers"),
    (lambda: selection_curve([1], [0.2, 0.3]), r"r_squared has shape \(2,\)"),
    (lambda: selection_curve([1, 2], [0.2, np.nan]), "model 1 has nan"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_cannot_be_computed_is_said(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_curves_of_two_losses_do_not_mix():
    pieces = [decompose(TWO, [0, 1], space=space) for space in ("squared", "log-odds")]
    with pytest.raises(ValueError, match="several losses: log-odds, squared"):
        DecompositionCurve.of([1, 2], pieces)
    with pytest.raises(TypeError, match="max_members must be a whole number or None"):
        decompose_path(TWO, [0, 1], max_members=1.5)
