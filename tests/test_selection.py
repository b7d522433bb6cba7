import numpy as np
import pytest
from scipy import special

from lifenet.kernels.redundancy import keep_least_redundant
from lifenet.losses import Logistic, Multinomial
from lifenet.output.averaging import Averaging
from lifenet.output.ridge import RidgeOutput
from lifenet.output.selection import (
    BaseLearnerSelection,
    member_residuals,
    residual_covariance,
)
from oracles import fold_of, plain_layer, plain_problem

N = 400


def members(n_members=4, seed=0):
    """Predictions of members with errors of their own, and what they predict."""
    generator = np.random.default_rng(seed)
    target = generator.normal(size=N)
    return target[:, None] + 0.5 * generator.normal(size=(N, n_members)), target


def weights(seed=1):
    return np.random.default_rng(seed).uniform(0.2, 2, N)


def fit(output, problem, layer):
    output.check()
    return output.fit(layer, fold_of(problem), np.random.default_rng(0))


def test_features_of_dropped_members_get_nothing_the_others_what_they_get_alone():
    """Members of 2, 1, 3 and 1 features, of which the third makes the first one's errors."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(N, 7))
    X[:, 3:6] = np.column_stack([X[:, 0], X[:, 1], np.zeros(N)])
    layer = plain_layer(7, member=[0, 0, 1, 2, 2, 2, 3])
    problem = plain_problem(X, generator.normal(size=N), weights())
    found = fit(BaseLearnerSelection(keep=0.75, then=RidgeOutput(0.1)), problem, layer)
    np.testing.assert_array_equal(found[3:6], 0.0)
    alone = plain_problem(X[:, [0, 1, 2, 6]], problem.rows.target, problem.rows.weight)
    expected = fit(RidgeOutput(0.1), alone, plain_layer(4))
    np.testing.assert_allclose(found[[0, 1, 2, 6, 7]], expected, rtol=1e-9)


def test_duplicates_go_first_and_only_one_of_each_pair():
    X, y = members()
    near = X[:, [2, 0]] + 1e-4 * np.random.default_rng(5).normal(size=(N, 2))
    layer = plain_layer(6)
    problem = plain_problem(np.column_stack([X, near]), y)
    kept = BaseLearnerSelection(keep=4 / 6).select(problem, layer)
    assert sorted(np.array([0, 1, 2, 3, 2, 0])[kept]) == [0, 1, 2, 3]


@pytest.mark.parametrize(("keep", "n_kept"), [(1.0, 5), (0.5, 2), (0.7, 4), (0.01, 1)])
def test_the_share_kept_is_rounded_but_never_none(keep, n_kept):
    X, y = members(5)
    kept = BaseLearnerSelection(keep=keep).select(plain_problem(X, y), plain_layer(5))
    assert len(kept) == n_kept
    assert np.all(np.diff(kept) > 0)


def test_keeping_all_is_the_other_output_layer_alone():
    X, y = members()
    problem, layer = plain_problem(X, y), plain_layer(4)
    np.testing.assert_array_equal(
        fit(BaseLearnerSelection(keep=1.0, then=RidgeOutput(0.2)), problem, layer),
        fit(RidgeOutput(0.2), problem, layer),
    )


def test_with_averaging_the_kept_members_are_averaged():
    X, y = members()
    problem, layer = plain_problem(X, y), plain_layer(4, intercept=[1.0, 2.0, 3.0, 4.0])
    selection = BaseLearnerSelection(keep=0.5, then=Averaging())
    kept = selection.select(problem, layer)
    found = fit(selection, problem, layer)[:, 0]
    expected = np.zeros(4)
    expected[kept] = 0.5
    np.testing.assert_allclose(found[:-1], expected)
    assert found[-1] == pytest.approx((kept + 1).mean())


class TestResiduals:
    def test_squared_error(self):
        """Scores are intercept + sum of own coefficients times own features."""
        generator = np.random.default_rng(0)
        X, y, weight = generator.normal(size=(N, 5)), generator.normal(size=N), weights()
        beta, intercept = generator.normal(size=5), np.array([3.0, -40.0])
        layer = plain_layer(5, member=[0, 0, 0, 1, 1], beta=beta, intercept=intercept)
        scores = np.stack([X[:, :3] @ beta[:3] + 3.0, X[:, 3:] @ beta[3:] - 40.0])
        found = residual_covariance(plain_problem(X, y, weight), layer)
        np.testing.assert_allclose(found, np.cov(y - scores, aweights=weight, ddof=0), atol=1e-10)

    def test_two_classes(self):
        X, y = members(3)
        label = (y > 0).astype(float)
        problem = plain_problem(X, label, weights(), Logistic())
        found = residual_covariance(problem, plain_layer(3))
        expected = np.cov(label - special.expit(X.T), aweights=problem.rows.weight, ddof=0)
        np.testing.assert_allclose(found, expected, atol=1e-12)

    def test_several_classes_are_each_against_the_rest(self):
        X, y = members(4)
        label = np.digitize(y, [-0.5, 0.5]).astype(float)
        problem = plain_problem(X, label, None, Multinomial(3))
        layer = plain_layer(4, output=[0, 2, 1, 2])
        found = problem.rows.collect(lambda block: member_residuals(problem, layer, block))
        for k, output in enumerate([0, 2, 1, 2]):
            np.testing.assert_allclose(found[k], (label == output) - special.expit(X[:, k]))


def test_members_of_each_class_are_selected_among_themselves():
    """Class 1 has near-duplicates, class 0 has none; both lose half of their members."""
    generator = np.random.default_rng(3)
    X = generator.normal(size=(N, 6))
    X[:, 5] = X[:, 2] + 1e-3 * generator.normal(size=N)
    output = np.array([0, 0, 1, 1, 0, 1])
    label = generator.integers(0, 3, N).astype(float)
    problem = plain_problem(X, label, None, Multinomial(3))
    layer = plain_layer(6, output=output)
    selection = BaseLearnerSelection(keep=2 / 3, then=RidgeOutput(0.1))
    kept = selection.select(problem, layer)
    assert np.bincount(output[kept]).tolist() == [2, 2]
    assert 3 in kept
    covariance = residual_covariance(problem, layer)
    for one in (0, 1):
        of = np.flatnonzero(output == one)
        among = of[keep_least_redundant(covariance[np.ix_(of, of)], 2)]
        np.testing.assert_array_equal(kept[output[kept] == one], among)
    found = fit(selection, problem, layer)
    assert found.shape == (7, 3)
    np.testing.assert_array_equal(np.flatnonzero(np.any(found[:-1] != 0, axis=1)), kept)


def test_a_member_that_is_right_everywhere_stays():
    """Its errors are constant; those of the others say nothing of them."""
    X, y = members()
    X[:, 1] = y
    kept = BaseLearnerSelection(keep=0.25).select(plain_problem(X, y), plain_layer(4))
    found = BaseLearnerSelection(keep=0.5).select(plain_problem(X, y), plain_layer(4))
    assert 1 in found
    assert len(kept) == 1


def test_selecting_base_learners_of_a_layer_keeps_its_parts_together():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(10, 6))
    layer = plain_layer(
        6,
        member=[0, 0, 1, 2, 2, 3],
        beta=generator.normal(size=6),
        intercept=[1.0, 2.0, 3.0, 4.0],
        output=[0, 1, 0, 1],
        scale=np.arange(1.0, 7.0),
    )
    part = layer.select(np.array([3, 0]))
    rows = plain_problem(X, np.zeros(10)).rows
    np.testing.assert_allclose(
        rows.collect(part.member_scores), rows.collect(layer.member_scores)[[0, 3]]
    )
    assert part.scale.tolist() == [1, 2, 6]
    assert part.output.tolist() == [0, 1]
    assert (part.n_members, part.n_features) == (2, 3)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"keep": 0.0}, "'keep'"),
        ({"keep": 1.2}, "'keep'"),
        ({"then": "ridge"}, "'then'"),
        ({"then": RidgeOutput(-1.0)}, "'penalty'"),
    ],
)
def test_settings_out_of_range_are_named(settings, named):
    with pytest.raises(ValueError, match=named):
        BaseLearnerSelection(**settings).check()


def test_settings_of_the_other_output_layer_can_be_tuned():
    selection = BaseLearnerSelection().set_params(then__penalty=0.5)
    assert selection.then.penalty == 0.5
