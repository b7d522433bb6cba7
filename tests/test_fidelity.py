"""How far equations hold, how rough models are, and what curves and pairs can say."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lifenet import LLARegressor
from lifenet.explain import (
    equation_fidelity,
    explain_rows,
    interaction_order,
    partial_dependence,
    roughness,
)
from lifenet.network import ReluNetwork
from lifenet.plots import FidelityDisplay
from lifenet.schema import FeatureSchema

REACH = 0.1


def table(n=120, p=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def network(p=3, n_neurons=25, seed=1, n_outputs=1):
    generator = np.random.default_rng(seed)
    return ReluNetwork(
        2 * generator.normal(size=(n_neurons, p)),
        generator.normal(size=n_neurons),
        generator.normal(size=(n_neurons, n_outputs)),
        np.zeros(n_outputs),
    )


def by_hand(net, X, slopes_of):
    """1 - sum of squares that slopes leave over sum of squares, each a mean over a window."""
    total = left = 0.0
    for row in X:
        for j, column in enumerate(X.T):
            low, high = np.quantile(column, [0.05, 0.95], method="inverted_cdf")
            near = np.abs(column - row[j]) <= REACH * (high - low)
            values = column[near & (column != row[j])]
            if not len(values):
                continue
            moved = np.repeat(row[None], len(values), axis=0)
            moved[:, j] = values
            gain = (net.score(moved) - net.score(row[None]))[:, 0]
            slope = slopes_of(row, j, values - row[j], gain)
            total += np.mean(gain**2)
            left += np.mean((gain - slope * (values - row[j])) ** 2)
    return 1 - left / total


def test_fidelity_of_window_slopes_is_that_of_least_squares_by_hand():
    net, X = network(), table()
    expected = by_hand(net, X, lambda row, j, step, gain: step @ gain / (step @ step))
    found = equation_fidelity(net, X, reach=REACH)
    assert found.one[0] == pytest.approx(expected, rel=1e-9)
    assert 0.3 < expected < 0.999


def test_fidelity_of_pointwise_slopes_is_that_of_the_gradient_by_hand():
    net, X = network(), table()
    expected = by_hand(net, X, lambda row, j, step, gain: net.gradient(row[None])[0, j, 0])
    found = equation_fidelity(net, X, reach=REACH, slopes="pointwise")
    assert found.one[0] == pytest.approx(expected, rel=1e-9)


def test_the_slopes_are_those_that_rows_are_explained_by():
    net, X = network(), table()
    lines = np.array([row.explained for row in explain_rows(net, X, X=X, reach=REACH)])
    weight = np.isfinite(lines)
    found = equation_fidelity(net, X, reach=REACH)
    assert lines[weight].min() <= found.one[0] <= lines[weight].max()


def test_a_linear_function_is_perfect_in_every_way():
    X = table()
    line = ReluNetwork(np.zeros((0, 3)), [], np.zeros((0, 1)), 1.0, linear=[2.0, -1.0, 0.5])
    found = equation_fidelity(line, X, reach=(0.05, 0.5))
    np.testing.assert_allclose([found.one, found.together], 1.0)
    rough = roughness(line, X, reach=(0.05, 0.5))
    np.testing.assert_allclose([rough.one, rough.together], 0.0, atol=1e-12)


def test_columns_at_once_are_random_moves_of_all_by_hand():
    net, X = network(), table(60)
    found = equation_fidelity(net, X, reach=REACH, random_state=3)
    again = equation_fidelity(net, X, reach=REACH, random_state=3)
    other = equation_fidelity(net, X, reach=REACH, random_state=4)
    assert found.together[0] == again.together[0] != other.together[0]
    assert abs(found.together[0] - other.together[0]) < 0.1
    # A function of one column alone has nothing that acts together.
    one = ReluNetwork([[3.0, 0, 0]], [0.2], [1.0], 0.0)
    few = equation_fidelity(one, X, reach=REACH)
    assert few.together[0] == pytest.approx(few.one[0], abs=0.08)


def test_a_column_of_codes_does_not_count():
    X = table()
    X[:, 1] = X[:, 1] > 0
    found = equation_fidelity(network(), X, reach=REACH)
    assert np.isnan(found.by_column[0]).tolist() == [False, True, False]
    assert found.n_columns.tolist() == [2]
    codes = (X > 0).astype(float)
    nothing = equation_fidelity(network(), codes, reach=REACH)
    assert np.isnan([nothing.one[0], nothing.together[0]]).all()


def test_fresh_values_are_moved_to_with_the_same_slopes():
    net, X = network(), table()
    fresh = FeatureSchema.of(table(500, seed=9))
    same = equation_fidelity(net, X, reach=REACH, moves=FeatureSchema.of(X))
    plain = equation_fidelity(net, X, reach=REACH)
    assert same.one[0] == pytest.approx(plain.one[0], rel=1e-12)
    other = equation_fidelity(net, X, reach=REACH, moves=fresh)
    assert other.one[0] != plain.one[0]
    assert other.one[0] == pytest.approx(plain.one[0], abs=0.05)


def test_weights_of_zero_are_absence_and_integers_are_repetition():
    net, X = network(), table(40)
    weight = np.arange(40) % 3
    found = equation_fidelity(net, X, reach=REACH, sample_weight=weight)
    repeated = equation_fidelity(net, np.repeat(X, weight, axis=0), reach=REACH)
    assert found.one[0] == pytest.approx(repeated.one[0], rel=1e-9)


class TestRoughness:
    def test_of_a_network_it_is_what_its_best_lines_leave(self):
        net, X = network(), table()
        found = roughness(net, X, reach=(0.02, 0.1))
        np.testing.assert_allclose(found.one, 1 - equation_fidelity(net, X, reach=(0.02, 0.1)).one)
        asked = roughness(lambda rows: net.score(rows)[:, 0], X, reach=(0.02, 0.1))
        np.testing.assert_allclose(asked.one, found.one, rtol=1e-8)
        np.testing.assert_allclose(asked.together, found.together, rtol=1e-8)

    def test_trees_are_rough_and_lines_are_not(self):
        X = table(400)
        y = X @ [1.0, 2.0, 0.0] + np.sin(3 * X[:, 2])
        trees = HistGradientBoostingRegressor(max_iter=50).fit(X, y)
        line = make_pipeline(StandardScaler(), LinearRegression()).fit(X, y)
        assert roughness(trees, X, reach=0.02).one[0] > 0.3
        assert roughness(line, X, reach=0.02).one[0] < 1e-10

    def test_of_a_classifier_the_log_odds_are_read(self):
        X = pd.DataFrame(table(200), columns=list("abc"))
        model = LogisticRegression().fit(X, X["a"] > 0)
        assert roughness(model, X, reach=0.1).one[0] < 1e-10

        class Probabilities:
            feature_names_in_ = model.feature_names_in_

            def predict_proba(self, rows):
                return model.predict_proba(rows)

        assert roughness(Probabilities(), X, reach=0.1).one[0] < 1e-6

    def test_what_is_no_predictor_is_refused(self):
        with pytest.raises(TypeError, match="must have predict, decision_function or predict_prob"):
            roughness("model", table())
        with pytest.raises(ValueError, match="The predictor has 2 scores; choose output=0"):
            roughness(lambda rows: np.zeros((len(rows), 2)), table())


class TestInteractionOrder:
    def test_a_sum_of_curves_is_all_main_effects(self):
        X = table(2_000)
        found = interaction_order(lambda rows: np.sin(rows[:, 0]) + rows[:, 1] ** 2, X)
        assert found.main > 0.95
        assert found.beyond < 0.05

    def test_a_product_is_a_pair(self):
        X = table(2_000)
        found = interaction_order(lambda rows: rows[:, 0] * rows[:, 1] + 0.0 * rows[:, 2], X)
        assert found.main < 0.1
        assert found.pairs > 0.9

    def test_a_product_of_three_is_neither(self):
        X = np.sign(table(2_000))
        found = interaction_order(lambda rows: rows.prod(axis=1), X)
        assert found.pairs < 0.1
        assert found.beyond > 0.9

    def test_a_model_and_its_network_are_the_same(self):
        X = table(300)
        model = LLARegressor(4, random_state=0).fit(X, X[:, 0] * X[:, 1])
        shares = [interaction_order(one, X) for one in (model, model.network_)]
        assert shares[0].main == pytest.approx(shares[1].main)
        assert shares[0].pairs == pytest.approx(shares[1].pairs)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"reach": 0.0}, "reach must be above 0 and at most 1"),
        ({"reach": ()}, "reach is empty"),
        ({"slopes": "best"}, "slopes must be one of window, pointwise"),
        ({"max_rows": 0}, "max_rows must be a whole number"),
        ({"moves": FeatureSchema.named("abc")}, "does not know them"),
    ],
)
def test_bad_input_is_named(change, words):
    with pytest.raises(ValueError, match=words):
        equation_fidelity(network(), table(), **{"reach": 0.1, **change})


def test_frames_and_the_picture_have_the_figures():
    X = table()
    found = equation_fidelity(network(), X, reach=(0.05, 0.2), schema=list("abc"))
    frame = found.to_frame()
    assert list(frame.columns) == ["reach", "one", "together", "n_columns", "a", "b", "c"]
    np.testing.assert_array_equal(frame["one"], found.one)
    rough = roughness(network(), X, reach=(0.05, 0.2))
    display = FidelityDisplay(found).plot(name="network", beside={"best lines": rough})
    lines = [line.get_ydata() for line in display.ax_.lines]
    np.testing.assert_allclose(lines[0], found.one)
    np.testing.assert_allclose(lines[1], found.together)
    np.testing.assert_allclose(lines[2], 1 - rough.one)
    names = [text.get_text() for text in display.ax_.get_legend().texts]
    assert names == ["network", "best lines", "one column at a time", "all columns at once"]
    drawn = FidelityDisplay.from_network(network(), X, reach=0.1)
    assert [text.get_text() for text in drawn.ax_.get_legend().texts] == names[2:]
    assert "(3 of 3 columns" in drawn.ax_.get_xlabel()


def test_partial_dependence_is_straight_between_its_values():
    """It was drawn straight between quantiles, past what codes do in the tails."""
    from lifenet import LIFERegressor

    generator = np.random.default_rng(0)
    X = generator.standard_t(3, size=(600, 2))
    y = np.where(X[:, 0] > 3, 5.0, np.sin(2 * X[:, 0])) + X[:, 1]
    model = LIFERegressor(random_state=0).fit(X, y)
    curve = partial_dependence(model, X)["x0"]
    asked = np.sort(generator.uniform(X[:, 0].min(), X[:, 0].max(), 300))
    true = partial_dependence(model, X, features=["x0"], grid=asked)["x0"]
    gap = curve.at(asked) + curve.level - (true.effect + true.level)
    assert np.abs(gap).max() < 0.02 * np.ptp(true.effect)


def test_a_picture_of_what_is_no_result_says_what_to_pass():
    from lifenet.plots import EffectsDisplay

    with pytest.raises(TypeError, match=r"use EffectsDisplay\.from_estimator\(model, X\)"):
        EffectsDisplay(network())
    found = equation_fidelity(network(), table(), reach=0.1)
    with pytest.raises(TypeError, match="draws what equation_fidelity or roughness returns"):
        FidelityDisplay([found, found])
    with pytest.raises(TypeError, match="beside must map names to results"):
        FidelityDisplay(found).plot(beside=[found])
    with pytest.raises(TypeError, match="roughness and interaction_order read any model"):
        equation_fidelity(LinearRegression(), table())
    with pytest.raises(TypeError, match="schema must be a FeatureSchema or a list of names"):
        equation_fidelity(network(), table(), schema="abc")
    with pytest.raises(ValueError, match="schema has 2 names; the network reads 3"):
        equation_fidelity(network(), table(), schema=["a", "b"])
