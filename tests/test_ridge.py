import numpy as np
import pytest
from scipy import optimize, special
from sklearn import linear_model
from sklearn.metrics import log_loss

from lifenet.data.problem import Problem
from lifenet.kernels.spectrum import Spectrum
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.output.moments import gather_moments, quadratic_model
from lifenet.output.ridge import RidgeOutput
from oracles import fold_of, plain_layer, plain_problem, split_rows

SCALE = np.array([0.5, 1.0, 2.0, 4.0, 1.0])


def make(loss, n=300, seed=0, noise=1.0):
    """Five uneven columns with means of their own, of which three matter."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 5)) * [1, 2, 0.5, 3, 1] + [0, 1, -2, 3, 0]
    signal = X @ [1.0, -0.5, 2.0, 0.0, 0.0] + noise * generator.normal(size=n)
    if isinstance(loss, SquaredError):
        y = signal
    elif loss.n_outputs == 1:
        y = (generator.uniform(size=n) < special.expit(signal + 4)).astype(float)
    else:
        y = np.digitize(signal, [-5.0, -3.0]).astype(float)
    return plain_problem(X, y, generator.uniform(0.3, 2, n), loss)


def columns(problem):
    """The problem's table, targets and weights, as arrays."""
    X = problem.rows.collect(lambda block: block.inputs[:-1].copy()).T
    return X, problem.rows.target, problem.rows.weight


def fit(problem, penalty="auto", layer=None, parts=(), **settings):
    output = RidgeOutput(penalty, **settings)
    output.check()
    layer = plain_layer(5, scale=SCALE) if layer is None else layer
    return output.fit(layer, fold_of(problem, *parts), np.random.default_rng(0))


def ridge_by_rows(X, y, weight, penalty, scale):
    """Weighted mean of half squares plus penalty / 2 |scale * b|², as stacked least squares."""
    total = weight.sum()
    root = np.sqrt(weight / total)[:, None]
    design = np.column_stack([X, np.ones(len(X))]) * root
    extra = np.column_stack([np.sqrt(penalty) * np.diag(scale), np.zeros(len(scale))])
    response = np.concatenate([y * root[:, 0], np.zeros(len(scale))])
    return np.linalg.lstsq(np.vstack([design, extra]), response, rcond=None)[0]


class TestSquaredError:
    @pytest.mark.parametrize("penalty", [1e-3, 0.5, 20.0])
    def test_a_penalty_is_the_closed_form(self, penalty):
        problem = make(SquaredError())
        expected = ridge_by_rows(*columns(problem), penalty, SCALE)
        np.testing.assert_allclose(fit(problem, penalty)[:, 0], expected, rtol=1e-7, atol=1e-9)

    def test_without_penalty_it_is_least_squares(self):
        problem = make(SquaredError())
        X, y, weight = columns(problem)
        peer = linear_model.LinearRegression().fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(
            fit(problem, 0.0)[:, 0], np.append(peer.coef_, peer.intercept_), rtol=1e-8
        )

    def test_without_penalty_more_features_than_rows_have_minimum_norm(self):
        """Minimum in coefficients of features of unit deviation: no unit of measure matters."""
        generator = np.random.default_rng(0)
        X, y = (
            generator.normal(size=(12, 30)) * np.geomspace(0.01, 100, 30),
            generator.normal(size=12),
        )
        found = fit(plain_problem(X, y), 0.0, plain_layer(30))[:, 0]
        np.testing.assert_allclose(X @ found[:-1] + found[-1], y, atol=1e-8)
        units = X.std(axis=0)
        expected = np.linalg.pinv((X - X.mean(axis=0)) / units) @ (y - y.mean())
        np.testing.assert_allclose(found[:-1] * units, expected, atol=1e-7)

    @pytest.mark.parametrize("inflation", [1.0, 1.4])
    def test_auto_has_the_least_gcv_score_by_brute_force(self, inflation):
        problem = make(SquaredError(), n=60, noise=4.0)
        X, y, weight = columns(problem)
        total = weight.sum()
        root = np.sqrt(weight)[:, None]

        def score(penalty):
            """By the hat matrix of the weighted rows, constant included."""
            design = np.column_stack([X, np.ones(len(X))]) * root
            system = design.T @ design / total + penalty * np.diag([*SCALE**2, 0.0])
            hat = design @ np.linalg.solve(system, design.T) / total
            residual = root[:, 0] * y - hat @ (root[:, 0] * y)
            return residual @ residual / total / (1 - inflation * np.trace(hat) / total) ** 2

        chosen = fit(problem, inflation=inflation)[:, 0]
        moments = gather_moments(problem, plain_layer(5).features, SCALE)
        best = min(Spectrum.of(*moments.centred).penalties(), key=score)
        expected = ridge_by_rows(X, y, weight, best, SCALE)
        np.testing.assert_allclose(chosen, expected, rtol=1e-6, atol=1e-9)
        unpenalised = ridge_by_rows(X, y, weight, 0.0, SCALE)
        assert np.abs(X @ (expected - unpenalised)[:-1]).max() > 0.1  # the choice matters here

    def test_penalty_is_the_best_on_the_validation_rows_and_the_fit_is_of_all_rows(self):
        problem = make(SquaredError(), n=90, noise=5.0)
        train, validation = slice(0, 30), slice(30, 90)
        parts = split_rows(problem, 30)
        X, y, weight = columns(problem)
        grid = Spectrum.of(
            *gather_moments(parts[0], plain_layer(5).features, SCALE).centred
        ).penalties()

        def validation_loss(penalty):
            b = ridge_by_rows(X[train], y[train], weight[train], penalty, SCALE)
            return weight[validation] @ (y[validation] - X[validation] @ b[:-1] - b[-1]) ** 2

        best = grid[int(np.argmin([validation_loss(one) for one in grid]))]
        assert grid[0] < best < grid[-1]
        expected = ridge_by_rows(X, y, weight, best, SCALE)
        np.testing.assert_allclose(fit(problem, parts=parts)[:, 0], expected, rtol=1e-6, atol=1e-9)

    def test_base_learners_beyond_those_of_use_on_the_validation_rows_are_left_out(self):
        """Nested draws, each at its own best penalty: the least loss by brute force."""
        generator = np.random.default_rng(3)
        n, n_members = 120, 16
        X = generator.normal(size=(n, n_members))
        y = X[:, :3].sum(axis=1) + generator.normal(size=n)
        problem = plain_problem(X, y)
        parts = split_rows(problem, 60)
        layer = plain_layer(n_members, member=np.arange(n_members))
        coefficients = fit(problem, layer=layer, parts=parts, shares=(0.25, 1.0))
        order = np.random.default_rng(0).permutation(n_members)

        def least_loss(members):
            moments = gather_moments(parts[0], layer.features, layer.scale).of(members)
            losses = []
            for penalty in Spectrum.of(*moments.centred).penalties():
                b = ridge_by_rows(
                    X[:60][:, members], y[:60], np.ones(60), penalty, np.ones(len(members))
                )
                losses.append(np.sum((y[60:] - X[60:][:, members] @ b[:-1] - b[-1]) ** 2))
            return min(losses)

        few, all_of_them = np.sort(order[:4]), np.arange(n_members)
        expected = few if least_loss(few) < least_loss(all_of_them) else all_of_them
        np.testing.assert_array_equal(np.flatnonzero(coefficients[:-1, 0]), expected)
        inside = fit(
            plain_problem(X[:, expected], y),
            layer=plain_layer(len(expected)),
            parts=[
                plain_problem(X[rows][:, expected], y[rows]) for rows in (slice(60), slice(60, n))
            ],
        )
        np.testing.assert_allclose(coefficients[np.append(expected, -1)], inside, rtol=1e-6)

    @pytest.mark.parametrize("loss", [SquaredError(), Logistic()])
    def test_more_base_learners_that_know_nothing_hardly_hurt(self, loss):
        generator = np.random.default_rng(0)
        n, n_members = 400, 320
        X = generator.normal(size=(n, n_members))
        # The more base learners are drawn, the more of them say nothing; the first know something.
        order = np.random.default_rng(0).permutation(n_members)
        signal = X[:, order[:40]] @ np.full(40, 0.5)
        y = signal + generator.normal(size=n)
        y = y if loss.quadratic else (y > 0).astype(float)
        problem = plain_problem(X[:300], y[:300], loss=loss)
        layer = plain_layer(n_members, member=np.arange(n_members))

        def error(shares):
            b = fit(problem, layer=layer, parts=split_rows(problem, 200), shares=shares)
            score = X[300:] @ b[:-1, 0] + b[-1, 0]
            return np.mean(loss.value(y[300:], score[:, None]))

        assert error((0.125, 0.25, 0.5, 1.0)) < 0.9 * error((1.0,))

    @pytest.mark.parametrize("shares", [(), (0.0, 1.0), (0.5, 1.5)])
    def test_shares_out_of_range_are_refused(self, shares):
        with pytest.raises(ValueError, match="shares must be numbers above 0"):
            RidgeOutput(shares=shares).check()

    def test_features_that_never_act_get_nothing(self):
        problem = make(SquaredError())
        X, y, weight = columns(problem)
        X = X.copy()
        X[:, 2] = 0.0
        found = fit(plain_problem(X, y, weight))
        assert np.isfinite(found).all()
        assert found[2, 0] == 0.0


def penalised_log_loss(X, y, weight, penalty, scale):
    def objective(b):
        score = X @ b[:-1] + b[-1]
        value = np.average(np.logaddexp(0, score) - y * score, weights=weight)
        gradient = weight / weight.sum() * (special.expit(score) - y)
        return (
            value + penalty / 2 * np.sum((scale * b[:-1]) ** 2),
            np.append(X.T @ gradient + penalty * scale**2 * b[:-1], gradient.sum()),
        )

    return objective


class TestLogistic:
    @pytest.mark.parametrize("penalty", [1e-3, 0.1])
    def test_a_penalty_is_the_optimum_of_the_penalised_log_loss(self, penalty):
        problem = make(Logistic())
        objective = penalised_log_loss(*columns(problem), penalty, SCALE)
        peer = optimize.minimize(
            objective, np.zeros(6), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000}
        )
        found = fit(problem, penalty)[:, 0]
        np.testing.assert_allclose(found, peer.x, atol=2e-6)
        assert np.abs(objective(found)[1]).max() < 1e-8

    def test_auto_is_the_optimum_at_some_penalty_and_settled_there(self):
        """At the chosen penalty, GCV of the loss's own quadratic would choose (nearly) the same."""
        problem = make(Logistic(), n=150)
        layer = plain_layer(5, scale=SCALE)
        X, y, weight = columns(problem)
        found = fit(problem)
        gradient = X.T @ (weight * (special.expit(X @ found[:-1, 0] + found[-1, 0]) - y))
        penalties = -gradient / weight.sum() / (SCALE**2 * found[:-1, 0])
        np.testing.assert_allclose(penalties, penalties[0], rtol=1e-4)  # stationary: one penalty
        moments = quadratic_model(
            problem, layer.features, SCALE, found * np.append(SCALE, 1)[:, None]
        )
        spectrum = Spectrum.of(*moments.centred)

        def score(penalty):
            paid = 1.4 * spectrum.freedom(penalty) / weight.sum()
            return spectrum.residual_variance(penalty) / 2 + paid

        grid = spectrum.penalties()
        assert grid[0] < penalties[0] < grid[-1]
        assert score(penalties[0]) <= min(score(one) for one in grid) * (1 + 1e-4)

    def test_auto_does_nearly_as_well_on_the_validation_rows_as_any_penalty(self):
        problem = make(Logistic(), n=400, noise=3.0)
        validation, parts = slice(60, 400), split_rows(problem, 60)
        found = fit(problem, parts=parts)
        X, y, weight = columns(problem)
        gradient = X.T @ (weight * (special.expit(X @ found[:-1, 0] + found[-1, 0]) - y))
        penalties = -gradient / weight.sum() / (SCALE**2 * found[:-1, 0])
        np.testing.assert_allclose(penalties, penalties[0], rtol=1e-4)  # fitted to all rows

        def validation_loss(penalty):
            b = fit(parts[0], penalty)[:, 0]
            score = X[validation] @ b[:-1] + b[-1]
            target = np.clip(y[validation], doubt, 1 - doubt)  # as if one more row had either label
            return np.average(np.logaddexp(0, score) - target * score, weights=weight[validation])

        doubt = 1 / (weight[validation].sum() + 2)
        grid = np.geomspace(1e-6, 1e2, 40)
        scores = [validation_loss(one) for one in grid]
        assert validation_loss(penalties[0]) <= min(scores) + 0.05 * (max(scores) - min(scores))

    def test_auto_does_not_run_away_where_many_features_separate_the_classes(self):
        """A strong signal among noise: the choice is not much worse than the best penalty."""
        ratios = []
        for seed in range(10):
            generator = np.random.default_rng(seed)
            X = generator.normal(size=(4400, 60))
            y = (generator.uniform(size=4400) < special.expit(5 * X[:, 0])).astype(float)
            problem = plain_problem(X[:400], y[:400], None, Logistic())

            def loss(penalty, problem=problem, X=X, y=y):
                b = fit(problem, penalty, plain_layer(60))[:, 0]
                score = X[400:] @ b[:-1] + b[-1]
                return np.mean(np.logaddexp(0, score) - y[400:] * score)

            ratios.append(loss("auto") / min(loss(one) for one in np.geomspace(1e-4, 1, 9)))
        assert max(ratios) < 2

    @pytest.mark.parametrize("penalty", ["auto", 0.0])
    def test_separable_classes_stay_finite(self, penalty):
        X = np.concatenate([np.linspace(-2, -1, 20), np.linspace(1, 2, 20)])[:, None]
        y = (X[:, 0] > 0).astype(float)
        found = fit(plain_problem(X, y, None, Logistic()), penalty, plain_layer(1))
        assert np.isfinite(found).all()
        np.testing.assert_array_equal(X[:, 0] * found[0, 0] + found[1, 0] > 0, y == 1)

    def test_without_penalty_more_features_than_rows_stay_finite(self):
        generator = np.random.default_rng(0)
        X, y = generator.normal(size=(15, 40)), np.arange(15) % 2.0
        found = fit(plain_problem(X, y, None, Logistic()), 0.0, plain_layer(40))
        assert np.isfinite(found).all()
        np.testing.assert_array_equal(X @ found[:-1, 0] + found[-1, 0] > 0, y == 1)


class TestMultinomial:
    def test_a_penalty_agrees_with_scikit_learn(self):
        problem = make(Multinomial(3))
        X, y, weight = columns(problem)
        penalty = 0.01
        peer = linear_model.LogisticRegression(
            C=1 / (penalty * weight.sum()), tol=1e-10, max_iter=5000
        ).fit(X / SCALE, y, sample_weight=weight)
        found = fit(problem, penalty)
        ours, theirs = X @ found[:-1] + found[-1], peer.decision_function(X / SCALE)
        np.testing.assert_allclose(
            special.softmax(ours, axis=1), special.softmax(theirs, axis=1), atol=2e-5
        )

    def test_auto_is_the_gcv_choice_for_the_indicators_turned_into_the_units_of_scores(self):
        """A penalty on a least-squares fit times the mean of p (1 - p): the loss's curvature."""
        problem = make(Multinomial(3))
        X, y, weight = columns(problem)
        indicators = (y[:, None] == np.arange(3)).astype(float)
        total, root = weight.sum(), np.sqrt(weight)[:, None]
        design = np.column_stack([X, np.ones(len(X))]) * root

        def score(penalty):
            system = design.T @ design / total + penalty * np.diag([*SCALE**2, 0.0])
            hat = design @ np.linalg.solve(system, design.T) / total
            residual = root * indicators - hat @ (root * indicators)
            return np.square(residual).sum() / (1 - 1.4 * np.trace(hat) / total) ** 2

        moments = gather_moments(problem, plain_layer(5).features, SCALE)
        best = min(Spectrum.of(*moments.centred).penalties(), key=score)
        share = weight @ indicators / total
        found = fit(problem)
        # Where the gradient vanishes, it shows the penalty that was paid.
        chance = special.softmax(X @ found[:-1] + found[-1], axis=1)
        gradient = X.T @ (weight[:, None] * (chance - indicators)) / total
        paid = -gradient / (SCALE[:, None] ** 2 * found[:-1])
        np.testing.assert_allclose(paid, best * np.mean(share * (1 - share)), rtol=1e-3)

    @pytest.mark.parametrize("held_out", [False, True], ids=["all rows", "validation rows"])
    def test_auto_beats_the_null_model_by_far_on_new_rows(self, held_out):
        problem, test = make(Multinomial(3)), make(Multinomial(3), n=2000, seed=9)
        parts = ()
        if held_out:
            halves = (problem.rows.take(np.arange(k, 300, 2)) for k in (0, 1))
            parts = [Problem(half, problem.loss) for half in halves]
        found = fit(problem, parts=parts)
        assert found.shape == (6, 3)
        X, y, _ = columns(test)
        null = np.bincount(problem.rows.target.astype(int)) / 300
        loss = log_loss(y, special.softmax(X @ found[:-1] + found[-1], axis=1))
        assert loss < 0.7 * log_loss(y, np.tile(null, (2000, 1)))


@pytest.mark.parametrize("penalty", ["auto", 0.05])
@pytest.mark.parametrize(
    "loss", [SquaredError(), Logistic(), Multinomial(3)], ids=lambda s: type(s).__name__
)
def test_whole_weights_are_repeated_rows(loss, penalty):
    problem = make(loss, n=80)
    X, y, _ = columns(problem)
    weight = np.random.default_rng(4).integers(1, 4, 80)
    heavy = fit(plain_problem(X, y, weight.astype(float), loss), penalty)
    long = fit(
        plain_problem(np.repeat(X, weight, axis=0), np.repeat(y, weight), None, loss), penalty
    )
    np.testing.assert_allclose(heavy, long, rtol=1e-4, atol=1e-6)


def test_the_measure_of_the_penalty_is_the_scale():
    """Features in other units, measured in them, are combined to the same score."""
    problem = make(SquaredError())
    X, y, weight = columns(problem)
    units = np.geomspace(1e-3, 1e3, 5)
    one = fit(problem, 0.3)[:, 0]
    other = fit(plain_problem(X * units, y, weight), 0.3, plain_layer(5, scale=SCALE * units))[:, 0]
    np.testing.assert_allclose(other[:-1] * units, one[:-1], rtol=1e-6)


def test_moments_of_two_sets_of_rows_add_up_to_those_of_both():
    problem = make(SquaredError())
    features = plain_layer(5).features
    halves = [
        gather_moments(Problem(problem.rows.take(np.arange(a, b)), problem.loss), features, SCALE)
        for a, b in ((0, 100), (100, 300))
    ]
    whole = gather_moments(problem, features, SCALE)
    for found, expected in ((halves[0] + halves[1], whole), (whole - halves[0], halves[1])):
        np.testing.assert_allclose(found.products, expected.products, atol=1e-8)
        assert found.total == pytest.approx(expected.total)


def test_centred_moments_are_weighted_covariances():
    problem = make(SquaredError())
    X, y, weight = columns(problem)
    moments = gather_moments(problem, plain_layer(5).features, SCALE)
    expected = np.cov(np.column_stack([X / SCALE, y]), rowvar=False, aweights=weight, ddof=0)
    covariance, cross, variance = moments.centred
    np.testing.assert_allclose(covariance, expected[:5, :5], atol=1e-9)
    np.testing.assert_allclose(cross[:, 0], expected[:5, 5], atol=1e-9)
    assert variance == pytest.approx(expected[5, 5])
    np.testing.assert_allclose(
        moments.means, np.average(np.column_stack([X / SCALE, y]), axis=0, weights=weight)
    )


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"penalty": -1.0}, "'penalty'"),
        ({"penalty": "best"}, "'penalty'"),
        ({"inflation": 0.0}, "'inflation'"),
    ],
)
def test_settings_out_of_range_are_named(settings, named):
    with pytest.raises(ValueError, match=named):
        RidgeOutput(**settings).check()


def test_deviations_are_those_of_the_features_and_one_where_they_do_not_vary():
    problem = make(SquaredError())
    X, y, weight = columns(problem)
    still = np.column_stack([X, np.full(len(X), 3.0), np.zeros(len(X))])
    problem = plain_problem(still, y, weight, SquaredError())
    moments = gather_moments(problem, plain_layer(7).features, np.ones(7))
    mean = np.average(X, axis=0, weights=weight)
    expected = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    np.testing.assert_allclose(moments.deviations(), [*expected, 1.0, 1.0], rtol=1e-10)
