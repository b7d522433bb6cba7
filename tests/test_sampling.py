import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone

from lifenet import ReluNetwork
from lifenet.data.rows import ArrayRows
from lifenet.neurons.sampling import Bootstrap, NeuronProjection, RandomProjection, coverage_of
from lifenet.neurons.subset import Fate, Subset
from strategies import floats, invariant, networks

SEED = np.random.SeedSequence(0)


def rows_of(X, weight=None):
    return ArrayRows.of(np.asarray(X, float), np.zeros(len(X)), weight)


def layer(weights, bias):
    weights = np.asarray(weights, float)
    return ReluNetwork(weights, np.asarray(bias, float), np.ones(len(weights)), 0.0)


def everywhere(rows, n=1):
    return [Subset.everything(rows)] * n


def table(n=400, p=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


class TestNeuronProjection:
    @invariant
    @given(networks(n_features=2, n_outputs=1), floats(9, 2), st.sampled_from([-0.5, 0.0, 0.5]))
    def test_every_neuron_is_measured_on_all_rows(self, network, X, cutoff):
        """Algorithm 1, steps 2 to 4, by a loop: l < s / N < u, both strict."""
        lower, upper = 2 / 9, 7 / 9
        sampler = NeuronProjection(cutoff=cutoff, lower=lower, upper=upper)
        rows = rows_of(X)
        division = sampler.split(rows, [network], everywhere(rows), SEED)
        kept = []
        for neuron, split in enumerate(division.splits):
            length = np.linalg.norm(network.weights[neuron]) or 1.0
            unit, bias = network.weights[neuron] / length, network.bias[neuron] / length
            inside = [i for i, x in enumerate(X) if bias + x @ unit > cutoff]
            share = len(inside) / 9
            assert (split.network, split.neuron) == (0, neuron)
            assert split.share == pytest.approx(share)
            expected = Fate.KEPT
            if len(inside) <= 2:
                expected = Fate.TOO_SMALL
            if len(inside) >= 7:
                expected = Fate.TOO_LARGE
            assert split.fate is expected
            if expected is Fate.KEPT:
                kept.append((neuron, inside))
        assert len(division.splits) == network.n_neurons
        assert [subset.parent for subset in division.subsets] == [(0, neuron) for neuron, _ in kept]
        for subset, (_, inside) in zip(division.subsets, kept, strict=True):
            assert subset.select(rows)[0].tolist() == inside
            assert (subset.n_rows, subset.share) == (len(inside), pytest.approx(len(inside) / 9))

    def test_subsets_are_taken_from_the_entire_data_not_from_the_parents_rows(self):
        """The second network saw rows with x0 > 1 only; its neuron's subset reaches below."""
        X = table()
        rows = rows_of(X)
        parent = Subset(np.array([[1.0, 0, 0]]), np.array([-1.0]))
        network = layer([[0, 1.0, 0]], [0.0])
        division = NeuronProjection(cutoff=0.0).split(rows, [network], [parent], SEED)
        index, _ = division.subsets[0].select(rows)
        np.testing.assert_array_equal(index, np.flatnonzero(X[:, 1] > 0))
        assert X[index, 0].min() < -1

    def test_nested_subsets_must_fulfil_all_conditions_of_their_line(self):
        X = table()
        rows = rows_of(X)
        sampler = NeuronProjection(levels=(1, 1, 1), nested=True, cutoff=0.1, lower=0.01)
        subsets = sampler.begin(rows, SEED)
        inside = np.ones(len(X), dtype=bool)
        for k in range(3):
            division = sampler.split(rows, [layer([np.eye(3)[k]], [0.2])], subsets, SEED)
            subsets = division.subsets
            inside &= X[:, k] + 0.2 > 0.1
            np.testing.assert_array_equal(subsets[0].select(rows)[0], np.flatnonzero(inside))
            assert division.splits[0].share == pytest.approx(inside.mean())
            assert len(subsets[0].bias) == k + 1

    def test_bounds_are_strict(self):
        X = np.arange(10.0)[:, None]
        network = layer([[1.0]] * 3, [-8.5, -4.5, -0.5])  # 1, 5 and 9 of 10 rows
        rows = rows_of(X)
        at_zero = NeuronProjection(cutoff=0.0)
        fates = [one.fate for one in at_zero.split(rows, [network], everywhere(rows), SEED).splits]
        assert fates == [Fate.TOO_SMALL, Fate.KEPT, Fate.TOO_LARGE]
        wider = NeuronProjection(lower=0.09, upper=0.91)
        assert len(wider.split(rows, [network], everywhere(rows), SEED).subsets) == 3

    def test_a_row_on_the_hyperplane_is_out(self):
        rows = rows_of([[-1.0], [0.0], [1.0], [2.0]])
        division = NeuronProjection(cutoff=0.0).split(
            rows, [layer([[1.0]], [0.0])], everywhere(rows), SEED
        )
        assert division.subsets[0].select(rows)[0].tolist() == [2, 3]

    def test_shares_are_shares_of_the_weight(self):
        X = np.arange(10.0)[:, None]
        weight = np.ones(10)
        weight[-1] = 11.0
        network = layer([[1.0]] * 3, [-8.5, -4.5, -0.5])
        rows = rows_of(X, weight)
        splits = NeuronProjection(cutoff=0.0).split(rows, [network], everywhere(rows), SEED).splits
        assert [one.share for one in splits] == pytest.approx([11 / 20, 15 / 20, 19 / 20])
        assert [one.fate for one in splits] == [Fate.KEPT, Fate.KEPT, Fate.TOO_LARGE]

    def test_whole_weights_are_repeated_rows(self):
        X = table(60)
        weight = np.random.default_rng(1).integers(1, 5, 60)
        network = layer(table(12, 3, seed=2), np.linspace(-2, 2, 12))
        heavy, long = rows_of(X, weight.astype(float)), rows_of(np.repeat(X, weight, axis=0))
        sampler = NeuronProjection(max_networks=4)
        one = sampler.split(heavy, [network], everywhere(heavy), SEED)
        other = sampler.split(long, [network], everywhere(long), SEED)
        assert one.splits == other.splits
        assert [s.parent for s in one.subsets] == [s.parent for s in other.subsets]
        assert len(one.subsets) == 4

    def test_too_many_subsets_are_drawn_without_replacement_and_stay_in_order(self):
        rows = rows_of(table())
        pair = [layer(table(10, 3, seed=k), np.zeros(10)) for k in (1, 2)]
        pair[0] = layer(np.vstack([pair[0].weights, [[1.0, 0, 0]]]), np.append(np.zeros(10), 9.0))
        sampler = NeuronProjection(max_networks=7)

        def split(seed, cap=7):
            sampler = NeuronProjection(max_networks=cap)
            return sampler.split(rows, pair, everywhere(rows, 2), np.random.SeedSequence(seed))

        division = split(0)
        fates = [one.fate for one in division.splits]
        assert len(division.subsets) == sampler.max_networks
        assert fates.count(Fate.KEPT) == 7
        assert fates.count(Fate.TOO_LARGE) == 1
        assert fates.count(Fate.NOT_DRAWN) == 13
        parents = [subset.parent for subset in division.subsets]
        assert parents == sorted(set(parents))
        assert parents == [(s.network, s.neuron) for s in division.splits if s.fate is Fate.KEPT]
        assert split(0).splits == division.splits
        assert split(1).splits != division.splits
        assert len(split(0, cap=20).subsets) == 20
        assert Fate.NOT_DRAWN not in {one.fate for one in split(0, cap=20).splits}

    def test_all_subsets_are_equally_likely_to_be_drawn(self):
        rows = rows_of(table(100))
        network = layer(table(5, 3, seed=1), np.zeros(5))
        sampler = NeuronProjection(max_networks=2)
        counts = np.zeros(5)
        for seed in map(np.random.SeedSequence, range(500)):
            subsets = sampler.split(rows, [network], everywhere(rows), seed).subsets
            assert len(subsets) == 2
            for one in subsets:
                counts[one.parent[1]] += 1
        assert np.abs(counts - 200).max() < 5 * np.sqrt(500 * 0.4 * 0.6)

    def test_no_networks_make_no_subsets(self):
        rows = rows_of(table(10))
        division = NeuronProjection(cutoff=0.0).split(rows, [], [], SEED)
        assert division.splits == division.subsets == ()

    def test_the_first_network_sees_all_rows(self):
        rows = rows_of(table(10))
        (whole,) = NeuronProjection().begin(rows, SEED)
        assert whole.select(rows)[0].tolist() == list(range(10))

    def test_widths(self):
        assert NeuronProjection(levels=[3, np.int64(4), 5]).widths(10, 2) == (3, 4, 5)
        assert NeuronProjection(levels=()).widths(10, 2) == ()
        auto = NeuronProjection()
        assert auto.widths(100_000, 10) == (20, 20)
        assert auto.widths(30, 10) == (3, 3)
        few, more = auto.widths(200, 9)[0], auto.widths(300, 9)[0]
        assert 3 < few < more < 20

    def test_networks_are_as_many_as_make_so_many_neurons(self):
        auto = NeuronProjection()
        assert [auto.n_networks(width) for width in (10, 40, 5000)] == [150, 37, 1]
        assert NeuronProjection(max_networks=7).n_networks(40) == 7

    def test_a_cutoff_below_zero_widens_subsets_and_one_above_narrows_them(self):
        X = table()
        rows = rows_of(X)
        network = layer([[1.0, 0, 0]], [0.2])
        for cutoff in (-0.5, 0.0, 0.5):
            sampler = NeuronProjection(cutoff=cutoff)
            (subset,) = sampler.split(rows, [network], everywhere(rows), SEED).subsets
            expected = np.flatnonzero(X[:, 0] + 0.2 > cutoff)
            np.testing.assert_array_equal(subset.select(rows)[0], expected)

    @pytest.mark.parametrize(
        ("settings", "named"),
        [
            ({"lower": -0.1}, "'lower'"),
            ({"upper": 1.1}, "'upper'"),
            ({"lower": 0.5, "upper": 0.5}, "'lower' must be below 'upper'"),
            ({"levels": (3, 0)}, "'levels'"),
            ({"levels": (2.5,)}, "'levels'"),
            ({"levels": (True,)}, "'levels'"),
            ({"levels": "many"}, "'levels'"),
            ({"levels": 10}, "'levels'"),
            ({"max_networks": 0}, "'max_networks'"),
            ({"max_networks": "all"}, "'max_networks'"),
            ({"cutoff": np.inf}, "'cutoff'"),
            ({"nested": "yes"}, "'nested'"),
        ],
    )
    def test_settings_out_of_range_are_named(self, settings, named):
        with pytest.raises(ValueError, match=named):
            NeuronProjection(**settings).check()

    def test_settings_can_be_cloned_and_tuned(self):
        sampler = NeuronProjection(levels=(4,), cutoff=0.3)
        copy = clone(sampler).set_params(lower=0.2)
        assert (copy.levels, copy.cutoff, copy.lower) == ((4,), 0.3, 0.2)
        assert sampler.lower == 0.1
        copy.check()


class TestRandomProjection:
    def test_weights_and_bias_are_standard_normal_where_bounds_do_not_bind(self):
        rows = rows_of(table(50))
        # An upper bound of one drops half-spaces of all or no rows: 2,000 draws lose few.
        subsets = RandomProjection(2000, lower=0.0, upper=1.0).begin(rows, SEED)
        drawn = np.array([[*s.weights[0], s.bias[0]] for s in subsets])
        assert drawn.shape == (2000, 4)
        for column in drawn[:, :3].T:
            assert stats.kstest(column, "norm").pvalue > 1e-4
        assert stats.kstest(drawn[:, 3], "norm").pvalue > 1e-4
        correlation = np.corrcoef(drawn, rowvar=False)[~np.eye(4, dtype=bool)]
        assert np.abs(correlation).max() < 0.12

    @pytest.mark.parametrize("cutoff", [0.0, 1.0])
    def test_shares_are_within_bounds_and_true(self, cutoff):
        X = table(300)
        weight = np.random.default_rng(3).uniform(0.1, 2, 300)
        rows = rows_of(X, weight)
        subsets = RandomProjection(80, lower=0.3, upper=0.5, cutoff=cutoff).begin(rows, SEED)
        assert len(subsets) == 80  # some are drawn anew: one round leaves about a quarter
        for subset in subsets:
            inside = X @ subset.weights[0] + subset.bias[0] > cutoff
            assert subset.share == pytest.approx(weight[inside].sum() / weight.sum())
            assert 0.3 < subset.share < 0.5
            assert subset.n_rows == inside.sum()
            assert subset.parent is None
        assert len({subset.bias[0] for subset in subsets}) == 80

    def test_it_follows_its_seed(self):
        rows = rows_of(table(50))
        one, again, other = (
            RandomProjection(5).begin(rows, np.random.SeedSequence(seed))[0].bias[0]
            for seed in (1, 1, 2)
        )
        assert one == again != other

    def test_where_no_half_space_will_do_all_rows_serve(self):
        rows = rows_of(np.ones((10, 2)))  # one point: shares are 0 or 1
        (whole,) = RandomProjection(3).begin(rows, SEED)
        assert whole.select(rows)[0].tolist() == list(range(10))

    @pytest.mark.parametrize(
        ("settings", "named"),
        [({"n_subsets": 0}, "'n_subsets'"), ({"lower": 0.9, "upper": 0.1}, "'lower' must be")],
    )
    def test_settings_out_of_range_are_named(self, settings, named):
        with pytest.raises(ValueError, match=named):
            RandomProjection(**settings).check()


class TestBootstrap:
    def test_each_member_draws_as_many_rows_as_there_are(self):
        rows = rows_of(table(200))
        subsets = Bootstrap(30).begin(rows, SEED)
        again = Bootstrap(30).begin(rows, np.random.SeedSequence(0))
        total = np.zeros(200)
        drawn = set()
        for one, two in zip(subsets, again, strict=True):
            index, counts = one.select(rows)
            np.testing.assert_array_equal(counts, two.select(rows)[1])
            np.testing.assert_array_equal(index, two.select(rows)[0])
            assert counts.sum() == 200
            total[index] += counts
            drawn.add(tuple(index))
        assert len(drawn) == 30
        assert total.sum() == 6000
        # Counts are Poisson-like with mean 30: 200 rows stay within five deviations.
        assert np.abs(total - 30).max() < 5 * np.sqrt(30)

    def test_there_is_no_level_before_the_last(self):
        assert Bootstrap().widths(1000, 3) == RandomProjection().widths(1000, 3) == ()

    def test_settings_out_of_range_are_named(self):
        with pytest.raises(ValueError, match="'n_subsets'"):
            Bootstrap(n_subsets=1.5).check()


@invariant
@given(floats(9, 2), floats(4, 2), floats(4), st.lists(st.integers(1, 5), min_size=9, max_size=9))
def test_coverage_is_the_weight_in_any_subset(X, weights, bias, weight):
    weight = np.array(weight, float)
    rows = rows_of(X, weight)
    subsets = [Subset(weights[k : k + 1], bias[k : k + 1], 0.25) for k in range(4)]
    covered = sum(
        w
        for x, w in zip(X, weight, strict=True)
        if any(x @ weights[k] + bias[k] > 0.25 for k in range(4))
    )
    assert coverage_of(rows, subsets) == pytest.approx(covered / weight.sum())
    assert coverage_of(rows, []) == 0.0
    assert coverage_of(rows, everywhere(rows)) == 1.0
