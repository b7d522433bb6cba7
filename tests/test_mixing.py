import numpy as np
import pytest
from scipy import special
from sklearn.linear_model import LogisticRegression

from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.output import mixing as module
from lifenet.output.averaging import Averaging
from lifenet.output.mixing import Mixing, calibrate
from oracles import fold_of, plain_layer, plain_problem

N = 400


def fit(output, problem, layer, seed=0):
    output.check()
    return output.fit(layer, fold_of(problem), np.random.default_rng(seed))


def scores(n_members=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n_members, N))


def weights(seed=1):
    return np.random.default_rng(seed).uniform(0.2, 2, N)


class TestCalibration:
    @pytest.mark.parametrize(
        ("scale", "shift"), [(1.0, 0.0), (1e-3, 0.0), (1e3, 0.0), (1.0, 1e3), (1e-3, 5.0)]
    )
    def test_squared_error_is_a_straight_line(self, scale, shift):
        """Steps used to be cut in the score's own units: slopes beyond 50 were never reached."""
        found, weight = scores(), weights()
        target = 3 * found[0] - found[1] + 0.1 * scores(1, seed=9)[0]
        slope, constant = calibrate(SquaredError(), scale * found + shift, target, weight)
        for k in range(4):
            expected = np.polyfit(scale * found[k] + shift, target, 1, w=np.sqrt(weight))
            fitted = slope[k] * (scale * found[k] + shift) + constant[k]
            np.testing.assert_allclose(slope[k], expected[0], rtol=1e-6)
            np.testing.assert_allclose(
                fitted, np.polyval(expected, scale * found[k] + shift), atol=1e-6
            )

    @pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (1e-3, 0.0), (50.0, 0.0), (1.0, 1e3)])
    @pytest.mark.parametrize("tails", ["normal", "heavy"])
    def test_logistic_is_logistic_regression_on_one_column(self, scale, shift, tails):
        found, weight = scores(), weights()
        if tails == "heavy":
            found = np.random.default_rng(4).standard_t(1, size=(4, N))
        chance = special.expit(found[0] - 0.5 * found[1])
        target = (np.random.default_rng(2).uniform(size=N) < chance).astype(float)
        slope, constant = calibrate(Logistic(), scale * found + shift, target, weight)
        for k in range(4):
            peer = LogisticRegression(C=1e10, tol=1e-10, max_iter=10_000)
            peer.fit(found[k][:, None], target, sample_weight=weight)
            np.testing.assert_allclose(scale * slope[k], peer.coef_[0, 0], atol=1e-4)
            at_zero = slope[k] * shift + constant[k]
            np.testing.assert_allclose(at_zero, peer.intercept_[0], atol=1e-4)

    @pytest.mark.parametrize("loss", [SquaredError(), Logistic()], ids=lambda s: type(s).__name__)
    def test_a_score_that_does_not_vary_keeps_slope_zero_and_the_best_constant(self, loss):
        found = np.stack([np.full(N, 0.1), np.zeros(N), scores(1)[0], np.full(N, -1e9 / 3)])
        target = (scores(1, seed=3)[0] > 0.5).astype(float)
        slope, constant = calibrate(loss, found, target, weights())
        np.testing.assert_array_equal(slope[[0, 1, 3]], 0.0)
        null = loss.null_score(target, weights())[0]
        np.testing.assert_allclose(constant[[0, 1, 3]], null)
        assert slope[2] != 0

    def test_separable_classes_stay_finite(self):
        found = np.linspace(-1, 1, N)[None]
        slope, constant = calibrate(Logistic(), found, (found[0] > 0).astype(float), weights())
        assert np.isfinite(slope).all()
        assert np.isfinite(constant).all()
        assert slope[0] > 5

    def test_whole_weights_are_repeated_rows(self):
        found = scores(2)
        target = (found[0] + scores(1, seed=5)[0] > 0).astype(float)
        times = np.random.default_rng(6).integers(1, 4, N)
        for loss in (SquaredError(), Logistic()):
            heavy = calibrate(loss, found, target, times.astype(float))
            long = calibrate(
                loss,
                np.repeat(found, times, axis=1),
                np.repeat(target, times),
                np.ones(times.sum()),
            )
            np.testing.assert_allclose(heavy, long, rtol=1e-8)


class TestMixing:
    def test_the_true_member_among_bad_ones_gets_nearly_all_weight(self):
        """Its score is off by a line, which calibration undoes."""
        X = scores(6).T
        y = 2 * X[:, 3] - 1 + 0.3 * scores(1, seed=7)[0]
        found = fit(Mixing(), plain_problem(X, y, weights()), plain_layer(6))[:, 0]
        assert found[3] == pytest.approx(2, abs=0.05)
        assert np.abs(np.delete(found[:-1], 3)).max() < 1e-6
        assert found[-1] == pytest.approx(-1, abs=0.05)

    def test_the_mixture_is_the_weighted_mean_of_calibrated_members(self):
        """One halving, all screened in: Yang's weights, straight from their definition."""
        X = scores(3).T
        y = 0.1 * X.sum(axis=1) + scores(1, seed=7)[0]
        weight = weights()
        found = fit(Mixing(1, 3), plain_problem(X, y, weight), plain_layer(3))[:, 0]
        order = np.random.default_rng(0).permutation(N)
        one, other = order[: N // 2], order[N // 2 :]
        log_likelihood = []
        for k in range(3):
            line = np.polyfit(X[one, k], y[one], 1, w=np.sqrt(weight[one]))
            square = (y - np.polyval(line, X[:, k])) ** 2
            variance = np.average(square[one], weights=weight[one])
            density = -0.5 * np.log(2 * np.pi * variance) - square[other] / (2 * variance)
            log_likelihood.append(weight[other] @ density)
        share = special.softmax(log_likelihood)
        assert 1e-3 < share.max() < 1 - 1e-3  # a mixture, not one member
        lines = np.array([np.polyfit(X[:, k], y, 1, w=np.sqrt(weight)) for k in range(3)])
        np.testing.assert_allclose(found[:-1], share * lines[:, 0], rtol=1e-6)
        assert found[-1] == pytest.approx(share @ lines[:, 1], rel=1e-6)

    @pytest.mark.parametrize("loss", [SquaredError(), Logistic()], ids=lambda s: type(s).__name__)
    @pytest.mark.parametrize("n_screened", [1, 2, 99])
    def test_weights_sum_to_one_and_only_the_screened_have_any(self, loss, n_screened):
        found = scores(5)
        target = (found[0] + 2 * scores(1, seed=7)[0] > 0).astype(float)
        order = np.random.default_rng(0).permutation(N)
        share = Mixing(n_screened=n_screened)._weights(loss, found, target, weights(), order)
        assert share.sum() == pytest.approx(1)
        assert share.min() >= 0
        assert np.count_nonzero(share) <= n_screened

    def test_members_that_are_all_constant_give_the_null_model(self):
        X = np.tile([1.0, -2.0, 0.0], (N, 1))
        y = scores(1)[0]
        found = fit(Mixing(), plain_problem(X, y, weights()), plain_layer(3))[:, 0]
        score = X @ found[:-1] + found[-1]
        np.testing.assert_allclose(score, np.average(y, weights=weights()))

    def test_a_constant_member_beside_a_true_one_is_left_alone(self):
        X = np.column_stack([np.full(N, 7.0), scores(1)[0]])
        y = X[:, 1] + 0.1 * scores(1, seed=3)[0]
        found = fit(Mixing(), plain_problem(X, y), plain_layer(2))[:, 0]
        np.testing.assert_allclose(found, [0, 1, 0], atol=0.02)

    def test_a_member_that_is_exact_gets_all_the_weight(self):
        X = scores(3).T
        found = fit(Mixing(), plain_problem(X, X[:, 1]), plain_layer(3))[:, 0]
        np.testing.assert_allclose(found, [0, 1, 0, 0], atol=1e-10)

    def test_logistic(self):
        X = scores(5).T
        y = (np.random.default_rng(3).uniform(size=N) < special.expit(3 * X[:, 2])).astype(float)
        found = fit(Mixing(), plain_problem(X, y, None, Logistic()), plain_layer(5))[:, 0]
        peer = LogisticRegression(C=1e10, tol=1e-10).fit(X[:, [2]], y)
        assert found[2] == pytest.approx(peer.coef_[0, 0], rel=1e-3)
        assert found[-1] == pytest.approx(peer.intercept_[0], abs=1e-3)
        assert np.abs(np.delete(found[:-1], 2)).max() < 1e-3

    def test_several_classes_are_mixed_each_among_its_own_members(self):
        generator = np.random.default_rng(0)
        X = generator.normal(size=(N, 6))
        y = (3 * X[:, :3] + generator.gumbel(size=(N, 3))).argmax(axis=1).astype(float)
        layer = plain_layer(6, output=[0, 1, 2, 2, 1, 0])
        found = fit(Mixing(), plain_problem(X, y, None, Multinomial(3)), layer)
        assert found.shape == (7, 3)
        for k, output in enumerate(layer.output):
            np.testing.assert_array_equal(np.delete(found[k], output), 0.0)
        np.testing.assert_allclose(found[3:6], 0.0, atol=1e-3)
        assert np.diag(found[:3]).min() > 0.5
        assert np.mean((X @ found[:-1] + found[-1]).argmax(axis=1) == y) > 0.7

    def test_members_of_several_features_keep_their_own_output_layer(self):
        generator = np.random.default_rng(0)
        X = generator.normal(size=(N, 4))
        y = X[:, 0] - 2 * X[:, 1] + 5 + 0.1 * generator.normal(size=N)
        layer = plain_layer(
            4, member=[0, 0, 1, 1], beta=[1.0, -2.0, 1.0, 1.0], intercept=[3.0, 0.0]
        )
        found = fit(Mixing(), plain_problem(X, y), layer)[:, 0]
        np.testing.assert_allclose(found, [1, -2, 0, 0, 5], atol=0.03)

    def test_with_too_many_rows_some_are_drawn(self, monkeypatch):
        monkeypatch.setattr(module, "_MOST_ROWS", 50)
        X = scores(3).T
        y = X[:, 1] + 0.1 * scores(1, seed=3)[0]
        found = fit(Mixing(), plain_problem(X, y), plain_layer(3))[:, 0]
        np.testing.assert_allclose(found, [0, 1, 0, 0], atol=0.1)
        whole = np.polyfit(X[:, 1], y, 1)
        assert found[1] != pytest.approx(whole[0], rel=1e-9)

    def test_it_follows_its_generator(self):
        X = scores(3).T
        problem = plain_problem(X, X.sum(axis=1) + 3 * scores(1, seed=3)[0])
        one, again, other = (fit(Mixing(2), problem, plain_layer(3), seed) for seed in (1, 1, 2))
        np.testing.assert_array_equal(one, again)
        assert np.abs(one - other).max() > 1e-6

    @pytest.mark.parametrize("named", ["n_splits", "n_screened"])
    def test_settings_out_of_range_are_named(self, named):
        with pytest.raises(ValueError, match=f"'{named}'"):
            Mixing(**{named: 0}).check()


class TestAveraging:
    def test_the_score_is_the_mean_of_the_members_scores(self):
        generator = np.random.default_rng(0)
        X = generator.normal(size=(N, 5))
        layer = plain_layer(
            5, member=[0, 0, 1, 2, 2], beta=generator.normal(size=5), intercept=[1.0, -7.0, 0.5]
        )
        problem = plain_problem(X, generator.normal(size=N), weights())
        found = fit(Averaging(), problem, layer)[:, 0]
        expected = problem.rows.collect(layer.member_scores).mean(axis=0)
        np.testing.assert_allclose(X @ found[:-1] + found[-1], expected, atol=1e-12)

    def test_several_classes_are_averaged_each_among_its_own(self):
        X = scores(5).T
        layer = plain_layer(5, output=[0, 2, 2, 1, 2], intercept=np.arange(5.0))
        problem = plain_problem(X, np.arange(N) % 3, None, Multinomial(3))
        found = fit(Averaging(), problem, layer)
        expected = np.column_stack(
            [X[:, 0], X[:, 3] + 3, (X[:, 1] + X[:, 2] + X[:, 4] + 1 + 2 + 4) / 3]
        )
        np.testing.assert_allclose(X @ found[:-1] + found[-1], expected, atol=1e-12)
