"""A layer on codes by what each column gives, against products of the codes and differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lifenet.network.tables as module
from lifenet import QuantileCoding
from lifenet.network import ColumnCoding
from lifenet.network.tables import FEW_ROWS, ColumnTables
from oracles import store
from strategies import eighths, floats, invariant

KINDS = ["full", "both", "piecewise", "quantile"]


def random_table(n=60, seed=0):
    """Two columns of many values, one of few, one of two, and one that does not vary."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [
            rng.normal(size=n),
            np.exp(rng.normal(size=n)),
            rng.integers(0, 5, n),
            rng.choice([-3.0, 5.0], n),
            np.full(n, 7.0),
        ]
    )


def coding_of(kind):
    """Learned codes; or ones by hand, of columns that pass through and codes that fall."""
    if kind != "by hand":
        return QuantileCoding(kind, max_bins=5, n_knots=6, min_values=3).learn(random_table())
    knots = [[0.0, 1.0, 4.0], None, [-1.0, 0.5], [0.0, 1.0, 2.0, 3.0], None]
    ramps = np.tri(4, 3, -1)
    values = [
        [[0.0, 1.0], [2.0, 0.5], [3.0, -1.0]],
        None,
        [1.0, 0.0],
        np.column_stack([ramps, [0.0, 2.0, 2.0, 1.0]]),
        None,
    ]
    return ColumnCoding(knots, values)


def rows_of(coding, n, seed=1):
    """Rows between, beyond and (the last ones of many) on the knots."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(scale=2.5, size=(n, coding.n_features))
    for column, knots in enumerate(coding.knots):
        if len(knots) and n > 2 * len(knots):
            rows[-len(knots) :, column] = knots
            rows[:, column] = np.where(rng.random(n) < 0.8, rows[:, column], 9 * rows[:, column])
    return rows


def layer_of(coding, n_neurons=20, seed=2):
    """Weights of neurons of all kinds, and which of them are stored."""
    rng = np.random.default_rng(seed)
    where = rng.random((n_neurons, coding.n_codes)) < 0.3
    plain = np.isin(np.arange(coding.n_codes), coding.plain_codes)
    where[:4] = plain  # neurons that read no ramps
    where[4] = False  # a neuron without weights
    where[5] = True
    where[6] = ~plain  # only ramps
    weights = np.where(where, rng.normal(size=where.shape), 0.0)
    weights[7] = 0.0  # stored zeros
    return weights, where, rng.normal(size=n_neurons)


@pytest.fixture(params=[*KINDS, "by hand"])
def coding(request):
    return coding_of(request.param)


@pytest.fixture(params=[True, False], ids=["sparse", "dense"])
def case(request, coding, monkeypatch):
    """Tables, and the weights that they are of; several groups of neurons."""
    monkeypatch.setattr(module, "_GROUP", 5)
    weights, where, bias = layer_of(coding)
    held = store(weights, where) if request.param else weights
    return ColumnTables(coding, held, bias), weights


def heights_of(tables, weights, rows):
    """The layer on the codes of rows, as everyone would write it."""
    return tables.coding.encode(rows) @ weights.T + tables.bias


def pulled(tables, weights, rows, share, beta, slopes):
    """Slopes of heights in each column, by the chain rule, (n, n_columns, n_outputs)."""
    n, coding = len(rows), tables.coding
    found = np.zeros((n, coding.n_features, beta.shape[1]))
    for code, column in enumerate(coding.column_of_code):
        of_neurons = share * (slopes[:, [code]] * weights[:, code])  # (n, n_neurons)
        found[:, column] += of_neurons @ beta
    return found


def shares(n, n_neurons, seed=3):
    return np.random.default_rng(seed).integers(0, 2, (n, n_neurons)).astype(float)


def betas(n_neurons, n_outputs, seed=4):
    return np.random.default_rng(seed).normal(size=(n_neurons, n_outputs))


def pull(tables, cells, share, beta, few):
    """What is added to ones."""
    total = np.ones((len(cells), tables.coding.n_features, beta.shape[1]))
    if few:
        tables.pull_few(cells, share, beta, total)
    else:
        parts = ((neurons, share[:, neurons]) for neurons, _ in tables.heights(cells))
        tables.pull(cells, parts, beta, total)
    return total - 1.0


class TestHeights:
    @pytest.mark.parametrize("n", [1, FEW_ROWS, FEW_ROWS + 1, 60])
    def test_all_heights_are_those_of_the_codes(self, case, n):
        tables, weights = case
        rows = rows_of(tables.coding, n)
        found = tables.all_heights(tables.grid.locate(rows))
        assert found.shape == (n, tables.n_neurons)
        np.testing.assert_allclose(found, heights_of(tables, weights, rows), rtol=1e-12, atol=1e-11)

    @pytest.mark.parametrize("n", [3, 60])
    def test_every_neuron_comes_once_and_in_parts_no_wider_than_said(self, case, n):
        tables, weights = case
        rows = rows_of(tables.coding, n)
        expected = heights_of(tables, weights, rows)
        seen = []
        for neurons, heights in tables.heights(tables.grid.locate(rows)):
            np.testing.assert_allclose(heights, expected[:, neurons], rtol=1e-12, atol=1e-11)
            assert heights.shape == (n, len(neurons))
            assert len(neurons) <= tables.width
            seen.extend(neurons.tolist())
        assert sorted(seen) == list(range(tables.n_neurons))

    def test_few_rows_are_rows_of_many(self, case):
        tables, _ = case
        rows = rows_of(tables.coding, 60)
        many = tables.all_heights(tables.grid.locate(rows))
        for start in range(0, 60, FEW_ROWS):
            few = tables.all_heights(tables.grid.locate(rows[start : start + FEW_ROWS]))
            np.testing.assert_allclose(few, many[start : start + FEW_ROWS], rtol=1e-12, atol=1e-11)

    def test_in_single_precision_they_are_close(self, coding):
        weights, where, bias = layer_of(coding)
        tables = ColumnTables(coding, store(weights, where), bias, np.float32)
        rows = rows_of(coding, 60)
        expected = heights_of(tables, weights, rows)
        size = np.abs(coding.encode(rows)) @ np.abs(weights).T + np.abs(bias)
        for neurons, heights in tables.heights(tables.grid.locate(rows)):
            assert heights.dtype == np.float32
            limit = 1e-6 * (size + size.max(axis=0))[:, neurons]
            assert (np.abs(heights - expected[:, neurons]) <= limit).all()

    def test_weights_in_single_precision_are_read_in_double(self, coding):
        weights, where, bias = layer_of(coding)
        weights = weights.astype(np.float32)
        tables = ColumnTables(coding, store(weights, where), bias)
        rows = rows_of(coding, 60)
        np.testing.assert_allclose(
            tables.all_heights(tables.grid.locate(rows)),
            heights_of(tables, weights.astype(np.float64), rows),
            rtol=1e-12,
            atol=1e-11,
        )

    def test_no_neurons_have_no_heights(self, coding):
        nothing = np.zeros((0, coding.n_codes))
        for weights in (nothing, store(nothing, nothing > 0)):
            tables = ColumnTables(coding, weights, np.zeros(0))
            for n in (2, 40):
                cells = tables.grid.locate(rows_of(coding, n))
                assert tables.all_heights(cells).shape == (n, 0)
                assert list(tables.heights(cells)) == []


@pytest.mark.parametrize("few", [False, True], ids=["many", "few"])
@pytest.mark.parametrize("n_outputs", [1, 3])
class TestPull:
    def test_slopes_follow_by_the_chain_rule(self, case, n_outputs, few):
        """At knots, too, and beyond the outer ones, where they are zero."""
        tables, weights = case
        rows = rows_of(tables.coding, 60)
        share, beta = shares(60, tables.n_neurons), betas(tables.n_neurons, n_outputs)
        slopes = tables.coding.slopes(rows)
        expected = pulled(tables, weights, rows, share, beta, slopes)
        found = pull(tables, tables.grid.locate(rows), share, beta, few)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)

    def test_slopes_are_differences(self, case, n_outputs, few):
        tables, weights = case
        step, n = 1e-6, 40
        rows = np.random.default_rng(7).normal(scale=2.0, size=(n, tables.coding.n_features))
        share, beta = shares(n, tables.n_neurons), betas(tables.n_neurons, n_outputs)
        found = pull(tables, tables.grid.locate(rows), share, beta, few)
        for column, knots in enumerate(tables.coding.knots):
            near = np.abs(rows[:, [column]] - knots).min(axis=1, initial=np.inf) < 2 * step
            assert not near.any()
            above, below = rows.copy(), rows.copy()
            above[:, column] += step
            below[:, column] -= step
            change = heights_of(tables, weights, above) - heights_of(tables, weights, below)
            expected = (share * change / (2 * step)) @ beta
            np.testing.assert_allclose(found[:, column], expected, rtol=1e-5, atol=1e-7)

    def test_in_single_precision_they_are_close(self, coding, n_outputs, few):
        weights, where, bias = layer_of(coding)
        tables = ColumnTables(coding, store(weights, where), bias, np.float32)
        rows = rows_of(coding, 60)
        share, beta = shares(60, tables.n_neurons), betas(tables.n_neurons, n_outputs)
        slopes = coding.slopes(rows)
        expected = pulled(tables, weights, rows, share, beta, slopes)
        found = pull(tables, coding.grid.locate(rows), share, beta, few)
        # Of differences of codes over short gaps.
        size = pulled(
            tables, np.abs(weights), rows, share, np.abs(beta), np.abs(coding.slopes(rows))
        )
        assert (np.abs(found - expected) <= 1e-5 * (size + size.max())).all()


class TestOneColumn:
    def test_tables_hold_values_at_the_knots_of_the_neurons_that_read_it(self, coding):
        weights, where, bias = layer_of(coding)
        tables = ColumnTables(coding, store(weights, where), bias)
        for column, (neurons, at_knots) in enumerate(tables.column_tables):
            codes = coding.codes_of(column)
            np.testing.assert_array_equal(neurons, np.flatnonzero(where[:, codes].any(axis=1)))
            knots = coding.knots[column]
            places = knots if len(knots) else np.array([0.0, 1.0])
            rows = np.tile(rows_of(coding, 1), (len(places), 1))
            rows[:, column] = places
            expected = coding.encode(rows)[:, codes] @ weights[neurons, codes].T
            np.testing.assert_allclose(at_knots, expected, rtol=1e-12, atol=1e-12)

    def test_rates_are_slopes_in_every_bin(self, coding):
        weights, where, bias = layer_of(coding)
        tables = ColumnTables(coding, store(weights, where), bias)
        for column, rates in enumerate(tables.column_rates):
            codes, knots = coding.codes_of(column), coding.knots[column]
            neurons = tables.column_tables[column].neurons
            inside = (knots[1:] + knots[:-1]) / 2
            places = [knots[0] - 1, *inside, knots[-1] + 1] if len(knots) else [0.5]
            rows = np.tile(rows_of(coding, 1), (len(places), 1))
            rows[:, column] = places
            expected = coding.slopes(rows)[:, codes] @ weights[neurons, codes].T
            np.testing.assert_allclose(rates, expected, rtol=1e-12, atol=1e-12)
            if len(knots):
                assert not rates[[0, -1]].any()  # exactly


@st.composite
def codings(draw):
    """Codings of columns that pass through, bend, have one knot or ramps."""
    knots, values = [], []
    for _ in range(draw(st.integers(1, 3))):
        places = sorted(draw(st.sets(eighths(), max_size=4)))
        if not places:
            knots.append(None)
            values.append(None)
            continue
        codes = draw(floats(len(places), draw(st.integers(1, 3))))
        if len(places) > 1 and draw(st.booleans()):
            codes = np.column_stack([codes, np.tri(len(places), len(places) - 1, -1)])
        knots.append(places)
        values.append(codes)
    return ColumnCoding(knots, values)


@invariant
@given(st.data())
def test_any_layer_on_any_codes_is_read_as_products_of_the_codes(data):
    coding = data.draw(codings())
    m, n = data.draw(st.integers(0, 4)), data.draw(st.integers(1, 2 * FEW_ROWS))
    weights = data.draw(floats(m, coding.n_codes))
    tables = ColumnTables(coding, weights, data.draw(floats(m)))
    rows = data.draw(floats(n, coding.n_features))
    cells = coding.grid.locate(rows)
    found = tables.all_heights(cells)
    np.testing.assert_allclose(found, heights_of(tables, weights, rows), rtol=1e-12, atol=1e-11)
    share, beta = np.ones((n, m)), data.draw(floats(m, 2))
    expected = pulled(tables, weights, rows, share, beta, coding.slopes(rows))
    for few in (False, True):
        total = pull(tables, cells, share, beta, few)
        np.testing.assert_allclose(total, expected, rtol=1e-9, atol=1e-9)
