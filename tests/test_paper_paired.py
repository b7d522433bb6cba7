"""Paired tests of two models: against scipy, by hand, and where nothing can be said."""

import numpy as np
import pytest
from benchmarks.paper.paired import Paired, compare, holm, of_counts, over_sets
from scipy import stats

SIMULATED, REAL = ("sim_reg1", "GAM"), ("real_reg", "airfoil")


def runs(place, first, second, n_train=80, n_test=20):
    def of(errors):
        return {
            seed: {"error": error, "n_train": n_train, "n_test": n_test}
            for seed, error in enumerate(errors)
            if error is not None
        }

    return {(*place, "one"): of(first), (*place, "other"): of(second)}


def compared(place, first, second):
    return compare(runs(place, first, second), (*place, "one"), (*place, "other"))


def test_independent_samples_have_the_t_test_of_scipy():
    rng = np.random.default_rng(0)
    first, second = np.exp(0.1 * rng.normal(size=(2, 7)))
    found = compared(SIMULATED, first, 1.1 * second)
    known = stats.ttest_rel(np.log(first), np.log(1.1 * second))
    assert (found.t, found.p) == pytest.approx((known.statistic, known.pvalue))
    assert found.ratio == pytest.approx(stats.gmean(first / (1.1 * second)))


def test_splits_of_one_set_count_for_less():
    first, second = [1.0, 1.2, 1.1, 0.9], [1.1, 1.2, 1.3, 1.0]
    alone, split = compared(SIMULATED, first, second), compared(REAL, first, second)
    # 1 / n becomes 1 / n + n_test / n_train: 1/4 and 1/4 + 1/4.
    assert split.t == pytest.approx(alone.t / 2**0.5)
    assert split.p > alone.p


def test_only_seeds_that_both_have_are_compared():
    found = compared(SIMULATED, [1.0, 2.0, None, 4.0], [2.0, 4.0, 1.0, None])
    assert (found.n, found.ratio) == (2, pytest.approx(0.5))
    assert compared(SIMULATED, [None], [1.0]).n == 0
    single = compared(SIMULATED, [1.0], [2.0])
    assert single.n == 1
    assert not single.better
    assert not single.worse


def test_several_comparisons_are_beyond_chance_together():
    ps = (0.001, 0.04, 0.012, 0.5)
    found = [Paired(0.9, 3.0, p, 5) for p in ps]
    # Holm: 0.001 < 0.05 / 4, 0.012 < 0.05 / 3, 0.04 > 0.05 / 2 ends it.
    assert holm(found) == [True, False, True, False]


def test_sets_together():
    assert over_sets([0.9] * 10) < 0.01
    assert over_sets([0.9, 1.1, 0.8, 1.3, 0.95, 1.02]) > 0.5
    assert over_sets([]) == over_sets([1.0, 1.0]) == 1.0
    assert of_counts(18, 32) == pytest.approx(stats.binomtest(18, 32).pvalue)
    assert of_counts(0, 0) == 1.0
