"""One row: sums, slopes by differences, distances by loops, and what is said in words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lifenet.data.codes import QuantileCoding
from lifenet.explain.one_row import number_text
from lifenet.explain.rows import explain_row, explain_rows
from lifenet.network import CodedNetwork, PiecewiseLinear, ReluNetwork
from lifenet.schema import FeatureSchema
from strategies import floats, invariant, networks

pd = pytest.importorskip("pandas")


def network(n_neurons=12, n_features=4, n_outputs=1, seed=0):
    generator = np.random.default_rng(seed)
    return ReluNetwork(
        generator.normal(size=(n_neurons, n_features)),
        generator.normal(size=n_neurons),
        generator.normal(size=(n_neurons, n_outputs)),
        generator.normal(size=n_outputs),
        generator.normal(size=(n_features, n_outputs)),
    )


def table(n=200, seed=1):
    return np.random.default_rng(seed).normal(size=(n, 4)) * [1.0, 10.0, 0.1, 1.0] + 2.0


class Opaque:
    """A network whose inner layer is hidden: only the reading interface shows."""

    def __init__(self, net):
        self.net = net


for name in [one for one in vars(PiecewiseLinear) if not one.startswith("_")]:
    setattr(Opaque, name, property(lambda self, name=name: getattr(self.net, name)))


class TestEquation:
    @pytest.mark.parametrize("output", [0, 1])
    @pytest.mark.parametrize("reference", ["mean", "median", "row"])
    def test_parts_and_contributions_add_up(self, output, reference):
        net, X = network(n_outputs=2), table()
        start = X[7] if reference == "row" else reference
        for x in X[:5]:
            found = explain_row(net, x, X=X, reference=start, output=output)
            assert found.reference == reference
            assert found.score == pytest.approx(net.score(x[None])[0, output], rel=1e-12)
            whole = found.intercept + found.contributions.sum()
            assert whole == pytest.approx(found.score, rel=1e-10)
            gone = found.reference_score + found.parts.sum()
            assert gone == pytest.approx(found.score, rel=1e-10)
            assert_allclose(found.slopes * x, found.contributions, rtol=1e-12)

    def test_slopes_are_finite_differences(self):
        net, X = network(), table()
        found = explain_row(net, X[3], X=X, reach=0)
        step = 1e-7 * np.eye(4)
        assert found.boundaries[0].distance > 1e-5
        slopes = (net.score(X[3] + step) - net.score(X[3] - step))[:, 0] / 2e-7
        assert_allclose(found.slopes, slopes, rtol=1e-6)

    def test_parts_are_the_gradient_along_the_way(self):
        net, X = network(), table()
        found = explain_row(net, X[0], X=X, reference=X[1])
        share = (np.arange(200_000)[:, None] + 0.5) / 200_000
        gradient = net.gradient(X[1] + share * (X[0] - X[1]))[:, :, 0]
        assert_allclose(found.parts, (X[0] - X[1]) * gradient.mean(axis=0), atol=1e-4)

    @invariant
    @given(data=st.data(), net=networks(n_features=3))
    def test_sums_hold_for_any_network(self, data, net):
        x, start = data.draw(floats(3)), data.draw(floats(3))
        found = explain_row(net, x, reference=start, output=net.n_outputs - 1)
        size = np.abs(found.contributions).sum() + abs(found.intercept) + 1
        assert abs(found.intercept + found.contributions.sum() - found.score) < 1e-12 * size
        assert abs(found.parts.sum() - (found.score - found.reference_score)) < 1e-12 * size

    def test_as_text(self):
        net = ReluNetwork([[1.0, 0.0, 0.0]], [0.0], [0.42], -3.21, [0.0, -1.5, 0.0])
        x = pd.Series([2.0, 1.0, 0.0], index=["temp", "hum", "wind"])
        names = ["temp", "hum", "wind"]
        found = explain_row(net, x, reference=[0, 0, 0], schema=names)
        assert found.equation() == "−3.21 + 0.42·temp − 1.5·hum"  # noqa: RUF001
        assert found.equation(1) == "−3 + 0.4·temp − 2·hum"  # noqa: RUF001

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (0.0, "0"),
            (-0.0, "0"),
            (2012.0, "2012"),
            (1234567.8, "1234568"),
            (9999.7, "10000"),
            (0.0123456, "0.01235"),
            (-1.5, "−1.5"),  # noqa: RUF001
            (3e-9, "3e-09"),
            (np.inf, "inf"),
        ],
    )
    def test_numbers(self, value, text):
        assert number_text(value) == text


class TestMeanScore:
    """The waterfall from the mean score, which is where it starts if nothing else is asked."""

    @pytest.mark.parametrize("weighed", [False, True])
    @pytest.mark.parametrize("n", [1, 2, 60, 100, 101, 700])
    def test_it_starts_there_exactly_and_ends_at_the_score(self, n, weighed):
        net, X = network(n_outputs=2), table(n)
        weight = np.random.default_rng(2).integers(n == 1, 4, n) if weighed else None
        mean = np.average(net.score(X), axis=0, weights=weight)
        for output in (0, 1):
            options = {"X": X, "sample_weight": weight, "output": output}
            for x in (X[0], X[-1] + 3.0):
                found = explain_row(net, x, **options)
                assert found.reference == "mean score"
                assert found.reference_score == pytest.approx(mean[output], rel=1e-11)
                score = net.score(x[None])[0, output]
                assert found.parts.sum() == pytest.approx(score - mean[output], rel=1e-10)
                assert_allclose(
                    explain_row(net, x, reference="mean score", **options).parts, found.parts
                )

    @invariant
    @given(data=st.data(), net=networks(n_features=3, n_outputs=1))
    def test_sums_hold_for_any_network_and_background(self, data, net):
        x, X = data.draw(floats(3)), data.draw(floats(7, 3))
        weight = data.draw(st.lists(st.integers(0, 3), min_size=7, max_size=7).filter(any))
        found = explain_row(net, x, X=X, sample_weight=weight)
        mean = np.average(net.score(X)[:, 0], weights=weight)
        size = np.abs(net.score(X)).max() + np.abs(found.parts).sum() + 1
        assert abs(found.reference_score - mean) < 1e-12 * size
        assert abs(found.parts.sum() - (found.score - mean)) < 1e-12 * size

    @pytest.mark.parametrize("weighed", [False, True])
    def test_of_a_linear_network_a_part_is_slope_times_distance_from_the_mean(self, weighed):
        X, slopes = table(30), np.array([2.0, -0.5, 30.0, 0.0])
        net = ReluNetwork(np.zeros((0, 4)), [], np.zeros((0, 1)), 5.0, slopes)
        weight = np.random.default_rng(3).uniform(size=30) if weighed else None
        center = np.average(X, axis=0, weights=weight)
        for x in X[:5]:
            found = explain_row(net, x, X=X, sample_weight=weight)
            assert_allclose(found.parts, slopes * (x - center), rtol=1e-9, atol=1e-11)

    def test_integer_weights_are_repeated_rows(self):
        net, X = network(), table(50)
        weight = np.random.default_rng(4).integers(0, 4, 50)
        rows = np.repeat(X, weight, axis=0)
        assert 50 < len(rows) <= 100
        weighed = explain_row(net, X[0], X=X, sample_weight=weight)
        repeated = explain_row(net, X[0], X=rows)
        assert_allclose(weighed.parts, repeated.parts, rtol=1e-9, atol=1e-11)
        assert weighed.reference_score == pytest.approx(repeated.reference_score, rel=1e-12)

    def test_parts_are_means_over_lines_from_the_background_rows(self):
        net, X = network(), table(20)
        weight = np.random.default_rng(5).integers(0, 3, 20)
        share = (np.arange(20_000)[:, None] + 0.5) / 20_000

        def along(start, x):
            slopes = net.gradient(start + share * (x - start))[:, :, 0]
            return (x - start) * slopes.mean(axis=0)

        expected = np.average([along(row, X[3]) for row in X], axis=0, weights=weight)
        found = explain_row(net, X[3], X=X, sample_weight=weight)
        assert_allclose(found.parts, expected, atol=1e-3)

    def test_of_many_rows_some_stand_for_all(self):
        """Near what all of them say, and near Shapley values, which do without lines."""
        net, X = network(), table(700)
        found = explain_row(net, X[3], X=X).parts
        everything = net.segment(X, X[3])[:, :, 0].mean(axis=0)
        assert_allclose(found, everything, atol=0.25 * np.abs(everything).sum())

    def test_two_networks_start_from_the_same_rows(self):
        """Rows chosen by each network's scores let the first reasons of two seeds differ."""
        X = table(700)
        one = ReluNetwork(np.zeros((0, 4)), [], np.zeros((0, 1)), 0.0, [1.0, 2.0, 0.5, 0.0])
        other = one.with_readout(one.beta, one.intercept, [1.0, 2.0, 0.5, 1e-9])
        parts = [explain_row(each, X[3], X=X).parts for each in (one, other)]
        assert_allclose(*parts, atol=1e-6)

    def test_many_rows_are_explained_as_few_are(self):
        net, X = network(), table(300)
        parts = [one.parts for one in explain_rows(net, X[:50], X=X)]
        alone = [explain_row(net, row, X=X).parts for row in X[:50]]
        assert_allclose(parts, alone, atol=1e-10)

    @pytest.mark.parametrize("size", [7.0, 1e-6])
    def test_it_is_exact_where_few_rows_have_another_score(self, size):
        """No row of those that stand for all had another score, so that the start was theirs."""
        net, X = ReluNetwork([[1.0]], [0.0], [1.0], 0.0), np.full((1_000, 1), -1.0)
        X[[3, 501]] = size
        found = explain_row(net, [2.0], X=X)
        assert found.reference_score == pytest.approx(2 * size / 1_000, rel=1e-9)
        assert found.parts.sum() == pytest.approx(2.0 - 2 * size / 1_000, rel=1e-12)

    def test_the_order_of_the_background_rows_does_not_matter(self):
        """Every seventh row was taken: of a table with a weekly cycle, always the same day."""
        day = np.arange(694) % 7
        X = np.column_stack([day, np.random.default_rng(6).normal(size=(694, 3))])
        net, turn = network(), np.random.default_rng(7).permutation(694)
        found, other = (explain_row(net, X[5], X=rows) for rows in (X, X[turn]))
        assert_allclose(found.parts, other.parts, rtol=1e-9, atol=1e-11)


class TestFeatures:
    X = np.column_stack([np.linspace(0, 1, 6), np.eye(3)[[0, 1, 2, 0, 1, 2], 1:], [0, 1] * 3])
    schema = FeatureSchema.of(
        X,
        ["size", "sex=M", "sex=F", "own=yes"],
        groups=[("size", (0,)), ("sex", (1, 2)), ("own", (3,))],
    )

    def test_dummies_are_one_feature(self):
        net = network()
        found = explain_row(net, self.X[1], X=self.X, schema=self.schema, reach=0, reference="mean")
        parts = net.segment(self.X.mean(axis=0), self.X[1])[0, :, 0]
        assert found.features == ("size", "sex", "own")
        assert_allclose(found.parts, [parts[0], parts[1] + parts[2], parts[3]])
        pieces = net.contributions(self.X[[1]])[0, :, 0]
        assert_allclose(found.contributions, [pieces[0], pieces[1] + pieces[2], pieces[3]])
        frame = found.to_frame()
        assert frame["label"].tolist() == ["0.2", "M", "yes"]
        assert_allclose(frame["value"], [0.2, np.nan, 1.0])
        assert_allclose(frame["part"], found.parts)

    def test_levels_in_words(self):
        net = network()

        def values(*x):
            return explain_row(net, x, reference=self.X[0], schema=self.schema).values()

        assert values(0, 0, 1, 0) == ("0", "F", "base level")
        assert values(0, 0, 0, 0.5) == ("0", "base level", "0.5")
        assert values(0, 1, 1, 0)[1] == "1, 1"
        assert values(0, 0.25, 0.5, 1) == ("0", "0.25, 0.5", "yes")

    def test_small_parts_are_folded(self):
        net = ReluNetwork(np.zeros((0, 5)), [], np.zeros((0, 1)), 0.0, [1.0, -5.0, 2.0, 4.0, -3.0])
        found = explain_row(net, np.ones(5), reference=np.zeros(5), schema=list("abcde"))
        assert found.steps(5) == (
            ("b = 1", -5.0),
            ("d = 1", 4.0),
            ("e = 1", -3.0),
            ("c = 1", 2.0),
            ("a = 1", 1.0),
        )
        assert found.steps(3) == (("b = 1", -5.0), ("d = 1", 4.0), ("others (3)", 0.0))
        assert found.steps(1) == (("others (5)", -1.0),)
        with pytest.raises(ValueError, match="max_features must be at least 1; it is 0"):
            found.steps(0)


class TestBoundaries:
    def test_distances_are_in_standard_deviations_of_the_background(self):
        net, X = network(), table()
        weight = np.random.default_rng(0).integers(0, 3, size=len(X))
        found = explain_row(net, X[0], X=X, sample_weight=weight, n_boundaries=3, reach=0)
        scale = np.repeat(X, weight, axis=0).std(axis=0)
        assert_allclose(found.scale, scale)
        by_hand = np.abs(net.weights @ X[0] + net.bias) / np.linalg.norm(
            net.weights * scale, axis=1
        )
        order = np.argsort(by_hand)[:3]
        assert [one.neurons for one in found.boundaries] == [(k,) for k in order]
        assert_allclose([one.distance for one in found.boundaries], by_hand[order])

    def test_slopes_beyond_are_the_gradient_there(self):
        net, X = network(n_outputs=3), table()
        boundaries = explain_row(net, X[0], X=X, output=2, reach=0).boundaries
        assert len(boundaries) == 5
        for one in boundaries:
            beyond = X[0] + (1 + 1e-6) * one.change
            assert_allclose(one.slopes, net.gradient(beyond[None])[0, :, 2], atol=1e-12)
            assert net.region_keys(beyond[None]) != net.region_keys(X[[0]])

    def test_the_smallest_change_of_one_column(self):
        net = ReluNetwork([[1.0, 0.0], [2.0, 0.0]], [-3.0, 4.0], [1.0, 1.0], 0.0)
        found = explain_row(net, [0.0, 5.0], reference=[0, 0])
        assert found.limits.tolist() == [[-2.0, 3.0], [-np.inf, np.inf]]
        assert found.smallest_change.tolist() == [-2.0, np.inf]
        frame = found.columns_to_frame()
        assert frame["change"].tolist() == [-2.0, np.inf]
        assert frame["holds_to"].tolist() == [3.0, np.inf]
        assert frame["slope"].tolist() == [2.0, 0.0]

    def test_frame(self):
        found = explain_row(network(), table()[0], X=table(), schema=list("abcd"), reach=0)
        frame = found.boundaries_to_frame()
        assert frame.shape == (5, 6 + 2 * 4)
        assert frame["change of b"].tolist() == [one.change[1] for one in found.boundaries]
        assert frame["slope of d"].tolist() == [one.slopes[3] for one in found.boundaries]

    def test_scales_without_background(self):
        x, start = np.zeros(4), np.ones(4)
        assert explain_row(network(), x, reference=start).scale.tolist() == [1.0] * 4
        schema = FeatureSchema.of([[0.0, 0.0, 0.0, 7.0], [12.0, 24.0, 6.0, 7.0]])
        found = explain_row(network(), x, reference=start, schema=schema, reach=0)
        assert_allclose(found.scale, np.array([12.0, 24.0, 6.0, 0.0]) / np.sqrt(12))
        assert len(found.boundaries) == 5
        assert all(one.change[3] == 0 for one in found.boundaries)

    @pytest.mark.parametrize("row", range(6))
    def test_limits_of_a_coded_network_are_where_its_slopes_change(self, row):
        rng = np.random.default_rng(row)
        X = np.column_stack([rng.normal(size=300), rng.integers(0, 4, 300), rng.normal(size=300)])
        coding = QuantileCoding("both", max_bins=5).learn(X, None)
        inner = ReluNetwork(
            rng.normal(size=(7, coding.n_codes)), rng.normal(size=7), rng.normal(size=7), 0.0
        )
        net = CodedNetwork(coding, inner)
        x = X[[row, np.argmax(X[:, 1])][row % 2]].copy()
        x[0] = x[0] if row < 5 else 99.0  # beyond the last knot nothing bends any more
        limits = explain_row(net, x, X=X, reach=0).limits
        slopes = net.gradient(x[None])[0, :, 0]
        for column, (low, high) in enumerate(limits):
            assert low <= x[column] <= high
            ends = [
                one if np.isfinite(one) else x[column] + 5.0 * way
                for one, way in ((low, -1), (high, 1))
            ]
            inside = np.tile(x, (40, 1))
            inside[:, column] = np.linspace(*ends, 42)[1:-1]
            np.testing.assert_allclose(
                net.gradient(inside)[:, column, 0], slopes[column], rtol=1e-9, atol=1e-9
            )
            for end, way in zip((low, high), (-1, 1), strict=True):
                if np.isfinite(end):
                    beyond = x.copy()
                    beyond[column] = end + way * 1e-6
                    changed = net.gradient(beyond[None])[0, column, 0]
                    assert abs(changed - slopes[column]) > 1e-6 or slopes[column] == 0

    def test_a_network_that_hides_its_neurons_has_no_boundaries(self):
        net, X = network(), table()
        hidden, shown = (explain_row(one, X[0], X=X, reach=0) for one in (Opaque(net), net))
        assert hidden.boundaries == ()
        assert np.isnan(hidden.limits).all()
        assert_allclose(hidden.parts, shown.parts)
        assert (hidden.equation(), hidden.as_far) == (shown.equation(), shown.as_far)
        assert hidden.boundaries_to_frame().shape == (0, 14)


class TestOutside:
    def test_columns_out_of_range_are_named(self):
        X = table()
        x = X[0].copy()
        x[1], x[3] = 99.0, -50.0
        found = explain_row(network(), x, X=X, schema=["a", "temp", "c", "wind"])
        assert found.outside == ("temp", "wind")
        assert found.extrapolates
        high = number_text(X[:, 1].max())
        assert "temp = 99 (seen in training:" in found.caution
        assert f"to {high})" in found.caution
        assert "farther from the centre than all" in found.caution
        assert found.columns_to_frame()["outside"].tolist() == [False, True, False, True]

    def test_many_columns_out_of_range_are_counted(self):
        schema = FeatureSchema.of(np.zeros((1, 9)))
        net = network(n_features=9)
        found = explain_row(net, np.ones(9), reference=np.zeros(9), schema=schema)
        assert len(found.outside) == 9
        assert "x4 = 1 (seen in training: 0 to 0); 4 more columns." in found.caution
        assert "x5" not in found.caution

    def test_share_of_rows_as_far_by_a_loop(self):
        X = table(60) @ np.array([[1, 0.9, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.3], [0, 0, 0, 1]])
        weight = np.random.default_rng(0).integers(0, 4, size=60)
        rows = np.repeat(X, weight, axis=0)
        inverse = np.linalg.inv(np.cov(rows.T))
        far = [row @ inverse @ row for row in rows - rows.mean(axis=0)]
        for x in X[:10]:
            gap = x - rows.mean(axis=0)
            expected = np.mean([one >= gap @ inverse @ gap * (1 - 1e-9) for one in far])
            found = explain_row(network(), x, X=X, sample_weight=weight)
            assert found.as_far == pytest.approx(expected)

    def test_a_row_inside_every_range_but_off_the_cloud(self):
        a = np.linspace(-1, 1, 101)
        X = np.column_stack([a, a + 0.01 * np.cos(99 * a)])
        net = network(n_features=2)
        usual, odd = (explain_row(net, x, X=X) for x in ([0.5, 0.5], [0.5, -0.5]))
        assert usual.as_far > 0.3
        assert (usual.extrapolates, usual.caution) == (False, "")
        assert odd.outside == ()
        assert odd.as_far == 0
        assert "than all background rows" in odd.caution

    def test_leaving_a_direction_in_which_no_row_varies(self):
        X = np.column_stack([table()[:, 0], np.full(200, 7.0), np.eye(2)[[0, 1] * 100]])
        net = network()
        usual = explain_row(net, X[0], X=X)
        assert usual.as_far > 0
        for x in (X[0] + [0, 1, 0, 0], [X[0, 0], 7.0, 1.0, 1.0]):
            assert explain_row(net, x, X=X).as_far == 0

    def test_every_background_row_counts_itself(self):
        X = table(30)
        assert all(explain_row(network(), x, X=X).as_far > 0 for x in X)
        assert explain_row(network(), X[0], X=X[:1]).as_far == 1

    def test_share_of_the_region(self):
        net, X = network(4), table()
        weight = np.random.default_rng(0).uniform(size=len(X))
        found = explain_row(net, X[0], X=X, sample_weight=weight, reach=0)
        alike = (net.active(X) == net.active(X[:1])).all(axis=1)
        assert found.region_share == pytest.approx(weight[alike].sum() / weight.sum())

    def test_a_row_alone_is_explained_from_zero(self):
        """It raised: the default reference, the mean, needs rows that nobody had given."""
        net, x = network(), table()[0]
        found, given = explain_row(net, x), explain_row(net, x, X=table(), reach=0)
        assert found.reference == "zero"
        assert found.reference_score == pytest.approx(net.score(np.zeros((1, 4))).item())
        assert found.reference_score + found.parts.sum() == pytest.approx(found.score)
        assert found.equation() == given.equation()
        assert_allclose(found.limits, given.limits)
        assert_allclose(found.contributions, given.contributions)
        assert len(found.boundaries) == 5
        assert explain_row(net, x, X=table(), reference="zero").parts == pytest.approx(found.parts)

    def test_what_is_unknown_is_said_in_words(self):
        net, X = network(), table()
        assert explain_row(net, X[0], X=X).unknown == ()
        assert explain_row(net, X[0], X=X, reach=0).unknown == ()
        rows, units, ranges = explain_row(net, X[0]).unknown
        assert "Without background rows X" in rows
        assert "region_share" in rows
        assert units == "Without background rows X, distances are in units of the columns."
        assert "training ranges" in ranges
        ranged = explain_row(net, X[0], schema=FeatureSchema.of(X), reach=0).unknown
        assert len(ranged) == 2
        assert "even spread over the training ranges" in ranged[1]
        hidden = explain_row(Opaque(net), X[0], X=X, reach=0)
        assert "limits and boundaries are unknown" in hidden.unknown[0]

    def test_nothing_is_said_without_background(self):
        found = explain_row(network(), np.full(4, 1e6), reference=np.zeros(4))
        assert (found.as_far, found.region_share, found.extrapolates) == (None, None, False)
        schema = FeatureSchema.of(table())
        found = explain_row(network(), np.full(4, 1e6), reference=np.zeros(4), schema=schema)
        assert found.outside == schema.names


class TestInput:
    net, X = network(), table()

    def test_references(self):
        weight = np.random.default_rng(0).integers(0, 3, size=len(self.X))
        rows = np.repeat(self.X, weight, axis=0)
        mean = explain_row(self.net, self.X[0], X=self.X, sample_weight=weight, reference="mean")
        assert_allclose(mean.reference_row, rows.mean(axis=0))
        median = explain_row(
            self.net, self.X[0], X=self.X, sample_weight=weight, reference="median"
        )
        assert_allclose(median.reference_row, np.quantile(rows, 0.5, axis=0, method="inverted_cdf"))

    def test_rows_of_any_kind(self):
        frame = pd.DataFrame(self.X, columns=list("abcd"))
        expected = explain_row(self.net, self.X[5], X=self.X).parts
        for x in (frame.iloc[5], frame.iloc[[5]], self.X[5].tolist(), self.X[[5]]):
            assert_allclose(explain_row(self.net, x, X=frame, schema=list("abcd")).parts, expected)
        schema = {"schema": list("abcd")}
        found = explain_row(self.net, frame.iloc[5], reference=frame.iloc[6], **schema)
        assert found.features == tuple("abcd")
        mixed = pd.Series([1, True, 0.5, 2], index=list("abcd"))
        assert explain_row(self.net, mixed, X=frame, **schema).x.tolist() == [1, 1, 0.5, 2]

    def test_the_result_keeps_its_own_row(self):
        x = self.X[0].copy()
        found = explain_row(self.net, x, X=self.X)
        x[:] = 0
        assert_allclose(found.x, self.X[0])

    def test_float32(self):
        small = self.net.astype(np.float32)
        found = explain_row(small, self.X[0].astype(np.float32), X=self.X.astype(np.float32))
        assert found.intercept + found.contributions.sum() == pytest.approx(found.score, rel=1e-10)

    @pytest.mark.parametrize(
        ("error", "x", "options", "message"),
        [
            (ValueError, [1, 2, 3], {}, r"x has shape \(3,\); expected a single row, \(4,\)"),
            (ValueError, np.ones((2, 4)), {}, r"x has shape \(2, 4\)"),
            (ValueError, [1, np.nan, 3, 4], {}, "x contains NaN: column 'x1'. Impute"),
            (ValueError, [1, 2, 3, np.inf], {}, "x contains infinity: column 'x3'"),
            (TypeError, [1, "red", 3, 4], {}, "x must be a row of numbers: .*red"),
            (
                ValueError,
                [1, 2, 3, 4],
                {"reference": "mode"},
                'must be "mean score", "mean", "median", "zero" or',
            ),
            (ValueError, [1, 2, 3, 4], {"reference": [1]}, "reference has shape"),
            (
                ValueError,
                [1, 2, 3, 4],
                {"X": None, "reference": "mean"},
                'mean needs background rows: pass X, or "zero" or a row',
            ),
            (ValueError, [1, 2, 3, 4], {"n_boundaries": -1}, "n_boundaries must be at least 0"),
            (ValueError, [1, 2, 3, 4], {"output": 1}, "output must be from 0 to 0"),
            (
                ValueError,
                [1, 2, 3, 4],
                {"X": None, "reference": np.ones(4), "sample_weight": [1]},
                "sample_weight weighs the rows of X, which is None",
            ),
            (
                ValueError,
                [1, 2, 3, 4],
                {"X": None, "reference": np.ones(4), "schema": ["a"]},
                "schema names 1 columns; the network reads 4",
            ),
            (
                ValueError,
                pd.Series([1, 2, 3, 4], index=list("abde")),
                {"schema": list("abcd")},
                r"x must have the columns of training.* Missing: \['c'\]. Unknown: \['e'\]",
            ),
        ],
    )
    def test_bad_input_is_named(self, error, x, options, message):
        with pytest.raises(error, match=message):
            explain_row(self.net, x, **{"X": self.X, **options})

    def test_an_estimator_is_told_what_to_pass(self):
        with pytest.raises(TypeError, match="Explanations read a network, not a str"):
            explain_row("model", [1.0])


class TestManyRows:
    @pytest.mark.parametrize("background", [False, True])
    def test_they_are_what_each_row_is_by_itself(self, background):
        generator = np.random.default_rng(3)
        network = ReluNetwork(
            generator.normal(size=(9, 3)), generator.normal(size=9), generator.normal(size=9), 0.5
        )
        rows, X = generator.normal(size=(4, 3)), generator.normal(size=(50, 3))
        X[7] = rows[1]
        known = {"X": X} if background else {}
        found = explain_rows(network, rows, limits=True, **known)
        for row, one in zip(rows, found, strict=True):
            alone = explain_row(network, row, reach=0, **known)
            assert one.equation() == alone.equation()
            assert (one.score, one.region_share, one.as_far) == pytest.approx(
                (alone.score, alone.region_share, alone.as_far)
            )
            for name in ("x", "slopes", "contributions", "parts", "limits", "reference_row"):
                np.testing.assert_allclose(getattr(one, name), getattr(alone, name), atol=1e-12)
            assert len(one.boundaries) == len(alone.boundaries)

    def test_limits_are_unknown_unless_they_are_asked_for(self):
        network = ReluNetwork([[1.0, -1.0]], [0.5], [2.0], 1.0)
        (one,) = explain_rows(network, [[1.0, 0.0]])
        assert np.isnan(one.limits).all()
        assert one.boundaries == ()
        assert any("limits and boundaries are unknown" in said for said in one.unknown)

    def test_a_bad_cell_is_named(self):
        network = ReluNetwork([[1.0, -1.0]], [0.5], [2.0], 1.0)
        with pytest.raises(ValueError, match=r"rows contains NaN: column 'b', row 1"):
            explain_rows(network, [[1.0, 0.0], [1.0, np.nan]], schema=["a", "b"])
        with pytest.raises(ValueError, match=r"rows has shape \(2,\); expected \(n_rows, 2\)"):
            explain_rows(network, [1.0, 0.0])
