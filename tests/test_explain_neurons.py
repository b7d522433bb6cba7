"""Neurons: measures against loops over them, boundaries against steps across them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lifenet.explain import neurons
from lifenet.explain.boundaries import nearest_boundaries
from lifenet.explain.neurons import neuron_contributions, neuron_importance
from lifenet.network import CodedNetwork, ColumnCoding, PiecewiseLinear, ReluNetwork
from strategies import equivalents, invariant, networks, networks_and_rows


def network(n_neurons=12, n_features=3, n_outputs=1, seed=0, linear=True):
    generator = np.random.default_rng(seed)
    return ReluNetwork(
        generator.normal(size=(n_neurons, n_features)),
        generator.normal(size=n_neurons),
        generator.normal(size=(n_neurons, n_outputs)),
        generator.normal(size=n_outputs),
        generator.normal(size=(n_features, n_outputs)) if linear else None,
    )


def table(n=200, n_features=3, seed=1):
    generator = np.random.default_rng(seed)
    return generator.normal(size=(n, n_features)) * [1.0, 10.0, 0.1][:n_features] + 2.0


def weighted_std(values, weight):
    mean = np.average(values, weights=weight)
    return np.sqrt(np.average((values - mean) ** 2, weights=weight))


def by_loop(net, X, weight, output):
    """Importance and contributions of neurons made to have unit norm on standardised columns."""
    scale = np.array([weighted_std(column, weight) for column in X.T])
    center = np.average(X, axis=0, weights=weight)
    whole = weighted_std(net.score(X)[:, output], weight)
    importance, contribution = [], []
    for w, b, beta in zip(net.weights, net.bias, net.beta[:, output], strict=True):
        length = np.linalg.norm(w * scale)
        unit, offset, factor = w * scale / length, (b + w @ center) / length, beta * length
        hidden = np.maximum(0, (X - center) / scale @ unit + offset)
        importance.append(abs(factor) * weighted_std(hidden, weight) / whole)
        contribution.append(unit * factor * weighted_std(hidden, weight) / whole)
    return np.array(importance), np.array(contribution)


class TestImportance:
    @pytest.mark.parametrize("output", [0, 1])
    def test_a_loop_over_neurons_gives_the_same(self, output):
        net, X = network(n_outputs=2), table()
        weight = np.random.default_rng(2).uniform(size=len(X))
        importance, contribution = by_loop(net, X, weight, output)
        found = neuron_importance(net, X, sample_weight=weight, output=output)
        assert_allclose(found.importance, importance, rtol=1e-10)
        columns = neuron_contributions(net, X, sample_weight=weight, output=output)
        assert_allclose(columns.contribution, contribution, rtol=1e-10)
        assert_allclose(columns.importance, importance, rtol=1e-10)
        whole = weighted_std(net.score(X)[:, output], weight)
        straight = weighted_std(X @ net.linear[:, output], weight) / whole
        assert found.linear == pytest.approx(straight)
        assert np.linalg.norm(columns.linear) == pytest.approx(straight)

    def test_shares_of_active_rows(self):
        net, X = network(), table()
        assert_allclose(neuron_importance(net, X).active, net.active(X).mean(axis=0))

    def test_blocks_of_rows_change_nothing(self, monkeypatch):
        net, X = network(), table()
        weight = np.random.default_rng(2).uniform(size=len(X))
        whole = neuron_importance(net, X, sample_weight=weight)
        monkeypatch.setattr(neurons, "_BLOCK", 7 * 14)
        blocks = neuron_importance(net, X, sample_weight=weight)
        assert_allclose(blocks.importance, whole.importance, rtol=1e-12)
        assert_allclose(blocks.active, whole.active, rtol=1e-12)

    def test_a_neuron_far_above_its_spread_keeps_its_digits(self, monkeypatch):
        # Sums of squares would lose all digits: the mean is 1e9 times the deviation.
        X = np.random.default_rng(0).normal(size=(500, 1))
        net = ReluNetwork([[1.0], [1.0]], [2.0**30, 0.0], [1.0, 1.0], 0.0)
        monkeypatch.setattr(neurons, "_BLOCK", 64)
        found = neuron_importance(net, X).importance
        expected = X.std() / np.std(X[:, 0] + np.maximum(X[:, 0], 0))
        assert found[0] == pytest.approx(expected, rel=1e-6)

    def test_order_and_count(self):
        X = np.arange(4.0)[:, None]
        net = ReluNetwork([[1.0], [1.0], [1.0]], [0.0, 0.0, 0.0], [1.0, -100.0, 2.0], 0.0)
        found = neuron_importance(net, X)
        assert found.order.tolist() == [1, 2, 0]
        assert (found.n_above(), found.n_above(0.015), found.n_above(0.005)) == (1, 2, 3)
        frame = found.to_frame()
        assert frame["neuron"].tolist() == [1, 2, 0]
        assert_allclose(frame["share_of_largest"], [1, 0.02, 0.01])
        assert frame.columns.tolist() == ["neuron", "importance", "share_of_largest", "active"]

    def test_integer_weights_are_repeated_rows(self):
        net, X = network(), table(40)
        weight = np.random.default_rng(3).integers(0, 4, size=len(X))
        ours = neuron_contributions(net, X, sample_weight=weight)
        repeated = neuron_contributions(net, np.repeat(X, weight, axis=0))
        assert_allclose(ours.contribution, repeated.contribution, rtol=1e-10)
        assert_allclose(ours.linear, repeated.linear, rtol=1e-10)

    def test_columns_in_other_units_count_the_same(self):
        net, X = network(), table()
        unit = np.array([1000.0, 0.01, 3.0])
        other = ReluNetwork(
            net.weights / unit, net.bias, net.beta, net.intercept, net.linear / unit[:, None]
        )
        ours, theirs = neuron_contributions(net, X), neuron_contributions(other, X * unit)
        assert_allclose(theirs.contribution, ours.contribution, rtol=1e-9)


class TestDegenerate:
    def test_a_constant_score_has_no_importance(self):
        X = table()
        for net in (
            ReluNetwork([[1.0, 2.0, 3.0]] * 2, [0.5] * 2, [1.0, -1.0], 3.0),  # they cancel
            ReluNetwork([[0.0, 0.0, 0.0]], [1.0], [1.0], 3.0),
        ):
            assert not neuron_importance(net, X).importance.any()

    def test_a_single_row_and_a_network_without_neurons(self):
        assert not neuron_importance(network(), table(1)).importance.any()
        straight = ReluNetwork(np.zeros((0, 3)), [], np.zeros((0, 1)), 0.0, [1.0, 0.0, 0.0])
        found = neuron_importance(straight, table())
        assert found.importance.shape == (0,)
        assert found.n_above() == 0
        assert found.linear == pytest.approx(1.0)
        assert_allclose(neuron_contributions(straight, table()).linear, [1.0, 0.0, 0.0])

    def test_a_constant_column_contributes_nothing(self):
        X = table()
        X[:, 1] = 1e6 / 3
        found = neuron_contributions(network(), X)
        assert not found.contribution[:, 1].any()
        assert np.isfinite(found.contribution).all()

    def test_other_networks_are_told_what_is_supported(self):
        members = [name for name in vars(PiecewiseLinear) if not name.startswith("_")]
        wrapped = type(
            "Wrapped", (), {**dict.fromkeys(members, len), "n_features": 3, "n_outputs": 1}
        )
        with pytest.raises(TypeError, match="or a CodedNetwork; this is a Wrapped"):
            neuron_importance(wrapped(), table())
        with pytest.raises(ValueError, match="choose output=0 to output=1"):
            neuron_importance(network(n_outputs=2), table())


def coded(n_outputs=1, linear=True):
    """A network of three columns: three codes, one bent code, and the column as it is."""
    knots = [[0.0, 1.0, 2.0, 5.0], [-20.0, 0.0, 30.0], None]
    values = [np.random.default_rng(4).normal(size=(4, 3)), [1.0, 0.0, 4.0], None]
    inner = network(n_features=5, n_outputs=n_outputs, linear=linear)
    return CodedNetwork(ColumnCoding(knots, values), inner)


class TestCodes:
    """Neurons of codes: a column counts by what all of its codes add together."""

    @pytest.mark.parametrize("output", [0, 1])
    def test_a_loop_over_neurons_and_columns_gives_the_same(self, output, monkeypatch):
        net, X = coded(n_outputs=2), table()
        weight = np.random.default_rng(2).uniform(size=len(X))
        inner, codes = net.network, net.coding.encode(X)
        whole = weighted_std(net.score(X)[:, output], weight)
        sums = [*zip(inner.weights, inner.hidden(codes).T * inner.beta[:, [output]], strict=True)]
        sums.append((inner.linear[:, output], codes @ inner.linear[:, output]))
        expected = []
        for weights, part in sums:
            added = []
            for column in range(3):
                own = net.coding.codes_of(column)
                values = codes[:, own] @ weights[own]
                sign = np.sign(np.cov(values, X[:, column], aweights=weight)[0, 1])
                added.append(sign * weighted_std(values, weight))
            expected.append(np.array(added) / np.linalg.norm(added) * weighted_std(part, weight))
        expected[:-1] *= np.sign(inner.beta[:, [output]])
        monkeypatch.setattr(neurons, "_BLOCK", 100)  # several blocks of rows
        found = neuron_contributions(net, X, sample_weight=weight, output=output)
        assert_allclose(found.contribution, np.array(expected[:-1]) / whole, rtol=1e-9)
        assert_allclose(found.linear, expected[-1] / whole, rtol=1e-9)
        single = neuron_importance(net, X, sample_weight=weight, output=output)
        assert_allclose(single.importance, found.importance, rtol=1e-9)
        assert_allclose(single.active, weight @ inner.active(codes) / weight.sum())

    def test_columns_as_they_are_give_what_the_network_itself_gives(self):
        net, X = network(), table()
        same = CodedNetwork(ColumnCoding([None] * 3, [None] * 3), net)
        ours, theirs = neuron_contributions(same, X), neuron_contributions(net, X)
        assert_allclose(ours.contribution, theirs.contribution, rtol=1e-9)
        assert_allclose(ours.linear, theirs.linear, rtol=1e-9)

    def test_a_constant_column_contributes_nothing(self):
        X = table()
        X[:, 0] = 1 / 3
        found = neuron_contributions(coded(), X)
        assert not found.contribution[:, 0].any()
        assert found.contribution[:, 1:].any(axis=0).all()

    def test_a_network_without_neurons_has_its_linear_part_only(self):
        coding, none = coded().coding, np.zeros((0, 5))
        flat = CodedNetwork(coding, ReluNetwork(none, np.zeros(0), np.zeros((0, 1)), 1.0))
        assert not neuron_contributions(flat, table()).linear.any()
        slope = np.array([[0.0], [0.0], [0.0], [0.0], [2.0]])
        line = CodedNetwork(coding, ReluNetwork(none, np.zeros(0), np.zeros((0, 1)), 1.0, slope))
        assert_allclose(neuron_contributions(line, table()).linear, [0.0, 0.0, 1.0])


class TestLinearPart:
    def test_the_linear_part_is_a_row_of_its_own(self):
        net, X = network(), table()
        frame = neuron_contributions(net, X, schema=["a", "b", "c"]).to_frame()
        assert frame.columns.tolist() == ["a", "b", "c"]
        assert frame.index[-1] == "linear part"
        assert len(frame) == net.n_neurons + 1
        # It counts as a neuron that is active everywhere would.
        always = ReluNetwork(
            np.vstack([net.weights, net.linear[:, 0]]),
            np.append(net.bias, 1e4),
            np.append(net.beta[:, 0], 1.0),
            0.0,
        )
        again = neuron_contributions(always, X)
        assert not again.has_linear
        assert_allclose(again.contribution[-1], frame.iloc[-1].to_numpy(), rtol=1e-7)


class TestInvariance:
    @invariant
    @given(data=st.data(), pair=networks_and_rows(min_rows=2, min_neurons=1))
    def test_order_and_positive_scale_of_neurons(self, data, pair):
        net, X = pair
        factors = data.draw(
            st.lists(st.floats(1e-3, 1e3), min_size=net.n_neurons, max_size=net.n_neurons)
        )
        place = data.draw(st.permutations(range(net.n_neurons)))
        c = np.array(factors)
        other = ReluNetwork(
            net.weights * c[:, None], net.bias * c, net.beta / c[:, None], net.intercept, net.linear
        ).select(place)
        output = data.draw(st.integers(0, net.n_outputs - 1))
        ours = neuron_contributions(net, X, output=output)
        theirs = neuron_contributions(other, X, output=output)
        assert_allclose(theirs.contribution, ours.contribution[place], rtol=1e-7, atol=1e-9)
        assert_allclose(theirs.linear, ours.linear, rtol=1e-7, atol=1e-9)
        assert_allclose(
            neuron_importance(other, X, output=output).importance,
            neuron_importance(net, X, output=output).importance[place],
            rtol=1e-7,
            atol=1e-9,
        )


def crossing(net, x, boundary, beyond=1e-6):
    """Just before and just after the place where the change leads."""
    return x + (1 - beyond) * boundary.change, x + (1 + beyond) * boundary.change


class TestBoundaries:
    scale = np.array([1.0, 10.0, 0.1])

    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize("output", [0, 1])
    def test_a_step_across_switches_what_is_said(self, seed, output):
        net, x = network(10, n_outputs=2, seed=seed), table(seed=seed)[0]
        found = nearest_boundaries(net, x, self.scale, output, 10)
        assert len(found) == net.n_neurons
        assert_array_equal(np.argsort([one.distance for one in found]), np.arange(10))
        assert found[0].adjacent
        here = net.active(x[None])[0]
        for one in found:
            assert np.linalg.norm(one.change / self.scale) == pytest.approx(one.distance)
            before, after = crossing(net, x, one)
            switched = np.flatnonzero(net.active(before[None])[0] != net.active(after[None])[0])
            assert tuple(switched) == one.neurons
            assert_allclose(one.slopes, net.gradient(after[None])[0, :, output], atol=1e-12)
            assert one.adjacent == bool((net.active(before[None])[0] == here).all())
            if one.adjacent:
                assert net.region_keys(before[None]) == net.region_keys(x[None])
                assert net.region_keys(after[None]) != net.region_keys(x[None])

    def test_no_shorter_change_leaves_the_region(self):
        net, x = network(10), table()[0]
        nearest = nearest_boundaries(net, x, self.scale, 0, 1)[0]
        ways = np.random.default_rng(0).normal(size=(2000, 3))
        ways *= nearest.distance * 0.999 / np.linalg.norm(ways, axis=1, keepdims=True)
        assert set(net.region_keys(x + ways * self.scale)) == set(net.region_keys(x[None]))

    @invariant
    @given(data=st.data(), net=networks(n_features=2, n_outputs=1))
    def test_distances_are_those_of_any_network_of_the_same_function(self, data, net):
        # Padding adds hyperplanes of neurons that cancel, so those of ours must be among theirs.
        other = data.draw(equivalents(net))
        x = np.array([0.3, -1.7])
        ours = nearest_boundaries(net, x, np.ones(2), 0, 99)
        theirs = [one.distance for one in nearest_boundaries(other, x, np.ones(2), 0, 99)]
        for one in ours:
            assert np.min(np.abs(np.array(theirs) - one.distance)) < 1e-7

    def test_neurons_that_share_a_hyperplane_are_one_boundary(self):
        net = ReluNetwork(
            [[1.0, 0.0], [2.0, 0.0], [-3.0, 0.0], [0.0, 1.0]],
            [-1.0, -2.0, 3.0, -5.0],
            [1.0, 10.0, 100.0, 1.0],
            0.0,
        )
        first, second = nearest_boundaries(net, np.zeros(2), np.ones(2), 0, 5)
        assert (first.neurons, second.neurons) == ((0, 1, 2), (3,))
        assert first.change.tolist() == [1.0, 0.0]
        assert_allclose(first.slopes, [21.0, 0.0])
        assert_allclose(net.gradient(np.array([[1.1, 0.0]]))[0, :, 0], first.slopes)

    def test_a_row_on_a_kink_is_on_the_side_that_the_gradient_takes(self):
        net = ReluNetwork([[1.0], [-1.0]], [0.0, 0.0], [1.0, 3.0], 0.0)
        up, down = nearest_boundaries(net, np.zeros(1), np.ones(1), 0, 5)
        assert (up.neurons, up.distance, up.slopes.tolist()) == ((0,), 0.0, [1.0])
        assert (down.neurons, down.distance, down.slopes.tolist()) == ((1,), 0.0, [-3.0])
        assert net.limits(np.zeros(1), 0).tolist() == [[0.0, 0.0]]

    def test_what_the_output_or_the_columns_do_not_reach_bounds_nothing(self):
        net = ReluNetwork(
            [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1e-320, 0.0], [1e-150, 0.0]],
            [1.0, 1.0, 1.0, 1.0, 1e200],
            [[1.0, 0.0], [1.0, 1.0], [1.0, 1.0], [1.0, 0.0], [1.0, 0.0]],
            [0.0, 0.0],
        )
        x = np.zeros(2)
        assert [b.neurons for b in nearest_boundaries(net, x, np.ones(2), 1, 9)] == [(1,)]
        frozen = nearest_boundaries(net, x, np.array([1.0, 0.0]), 0, 9)
        assert [b.neurons for b in frozen] == [(0,)]
        assert nearest_boundaries(net, x, np.ones(2), 0, 0) == ()

    @pytest.mark.parametrize("seed", range(4))
    def test_the_equation_holds_up_to_the_limits_and_no_farther(self, seed):
        net, x = network(10, n_outputs=2, seed=seed), table(seed=seed)[0]
        key = net.region_keys(x[None])[0]
        n_finite = 0
        for column, limits in enumerate(net.limits(x, 1)):
            for limit in limits:
                moved = np.array([x, x])
                step = limit - x[column] if np.isfinite(limit) else np.copysign(1e6, limit)
                moved[:, column] += np.array([1 - 1e-6, 1 + 1e-6]) * step
                before, after = net.region_keys(moved)
                assert before == key
                if np.isfinite(limit):
                    n_finite += 1
                    assert after != key
        assert n_finite >= 3
