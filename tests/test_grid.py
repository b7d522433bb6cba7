"""Where rows are between knots, against loops and numpy's own interpolation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lifenet.network.grid as module
from lifenet.network.grid import Cells, Grid
from strategies import eighths, floats, invariant

KNOTS = [
    np.array([0.0, 1.0, 4.0]),
    np.array([]),
    np.array([2.0]),
    np.array([-1.0, 1.5]),
    np.array([-3.0, -2.5, 0.0, 0.25, 7.0]),
]


def place(knots, x):
    """Number of the point below within its column, share and whether it is inside; by a loop."""
    if not len(knots):
        return 0, x, True
    if len(knots) == 1:
        return 0, 0.0, False
    below = 0
    for number, knot in enumerate(knots[:-1]):
        if knot <= x:
            below = number
    share = (x - knots[below]) / (knots[below + 1] - knots[below])
    return below, min(max(share, 0.0), 1.0), bool(knots[0] <= x <= knots[-1])


def expected_cells(knots, rows):
    first = np.cumsum([0, *(max(2, len(one)) for one in knots)])
    found = [
        [(first[j] + at[0], *at[1:]) for j, x in enumerate(row) for at in [place(knots[j], x)]]
        for row in rows
    ]
    point, share, inside = np.moveaxis(np.array(found, dtype=float).reshape(*rows.shape, 3), 2, 0)
    return point.astype(int), share, inside.astype(bool)


def assert_cells(found, expected):
    point, share, inside = expected
    np.testing.assert_array_equal(found.point, point)
    np.testing.assert_allclose(found.share, share, rtol=1e-15, atol=1e-15)
    np.testing.assert_array_equal(found.inside, inside)


@st.composite
def knots_and_rows(draw):
    """Knots of columns, some without any or with one, and rows on, between and beyond them."""
    columns = draw(st.lists(st.sets(eighths(), max_size=5), min_size=1, max_size=4))
    knots = [np.array(sorted(one)) for one in columns]
    n = draw(st.integers(0, 6))
    return knots, draw(floats(n, len(knots))) * draw(st.sampled_from([0.5, 1.0, 2.0]))


@pytest.fixture(params=["few", "many"])
def way(request, monkeypatch):
    """Both ways to locate rows, whatever their number."""
    monkeypatch.setattr(module, "_FEW_CELLS", -1 if request.param == "many" else 1 << 40)


def random_rows(n=50, seed=0):
    """Rows within and beyond all knots, the first ones on them."""
    rows = np.random.default_rng(seed).uniform(-5, 9, (n, len(KNOTS)))
    for column, knots in enumerate(KNOTS):
        rows[: len(knots), column] = knots
    return rows


@pytest.mark.usefixtures("way")
class TestLocate:
    def test_rows_are_where_a_loop_puts_them(self):
        rows = random_rows()
        assert_cells(Grid.of(KNOTS).locate(rows), expected_cells(KNOTS, rows))

    def test_a_column_by_itself_is_where_it_is_among_others(self):
        rows, grid = random_rows(), Grid.of(KNOTS)
        whole = grid.locate(rows)
        for column in range(len(KNOTS)):
            found = grid.locate_column(column, rows[:, column])
            some = (whole.point[:, [column]], whole.share[:, [column]], whole.inside[:, [column]])
            assert_cells(found, some)

    def test_values_at_by_and_beyond_the_knots(self):
        grid = Grid.of([np.array([0.0, 1.0, 4.0])])
        x = np.array([-9.0, 0.0, 0.5, 1.0, 2.5, 4.0, np.nextafter(4.0, 5), 9.0])
        found = grid.locate(x[:, None])
        assert found.point[:, 0].tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
        np.testing.assert_allclose(found.share[:, 0], [0, 0, 0.5, 0, 0.5, 1, 1, 1], rtol=1e-15)
        assert found.inside[:, 0].tolist() == [False, *[True] * 5, False, False]

    def test_a_column_without_knots_is_its_own_share(self):
        x = np.array([-7.0, 0.0, 0.3, 1e300])
        found = Grid.of([np.array([])]).locate(x[:, None])
        np.testing.assert_array_equal(found.share[:, 0], x)
        assert not found.point.any()
        assert found.inside.all()

    def test_a_single_knot_has_no_inside_and_no_share(self):
        found = Grid.of([np.array([2.0])]).locate(np.array([[1.0], [2.0], [3.0]]))
        assert not found.point.any()
        assert not found.share.any()
        assert not found.inside.any()

    def test_rows_in_single_precision_are_located_in_double(self):
        rows = random_rows().astype(np.float32)
        found = Grid.of(KNOTS).locate(rows)
        assert found.share.dtype == np.float64
        assert_cells(found, expected_cells(KNOTS, rows.astype(np.float64)))

    def test_no_rows_have_no_cells(self):
        found = Grid.of(KNOTS).locate(np.zeros((0, 5)))
        assert len(found) == 0
        assert found.point.shape == found.share.shape == found.inside.shape == (0, 5)


@invariant
@given(knots_and_rows())
def test_few_rows_are_where_many_rows_are(case):
    knots, rows = case
    grid = Grid.of(knots)
    few = grid._locate_few(rows)
    many = [grid.locate_column(column, rows[:, column]) for column in range(len(knots))]
    for name in ("point", "share", "inside"):
        expected = np.column_stack([getattr(one, name) for one in many])
        np.testing.assert_array_equal(getattr(few, name), expected)
    assert_cells(few, expected_cells(knots, rows))


@invariant
@given(knots_and_rows(), st.data())
def test_what_is_linear_between_knots_is_a_mean_of_two_points(case, data):
    """numpy's interpolation is constant beyond the outer knots, and so are shares."""
    knots, rows = case
    grid = Grid.of(knots)
    table = data.draw(floats(grid.n_points))
    cells = grid.locate(rows)
    found = (1 - cells.share) * table[cells.point] + cells.share * table[cells.point + 1]
    for column, places in enumerate(knots):
        own, x = table[grid.points_of(column)], rows[:, column]
        if len(places) > 1:
            expected = np.interp(x, places, own)
        elif len(places):
            expected = np.full(len(x), own[0])
        else:
            expected = own[0] + x * (own[1] - own[0])
        np.testing.assert_allclose(found[:, column], expected, rtol=1e-12, atol=1e-12)


def test_the_grid_counts_all_points():
    grid = Grid.of(KNOTS)
    assert grid.first.tolist() == [0, 3, 5, 7, 9, 14]
    assert grid.n_points == 14
    assert [grid.points_of(column) for column in (0, 2, 4)] == [
        slice(0, 3),
        slice(5, 7),
        slice(9, 14),
    ]
    np.testing.assert_array_equal(grid.gap, [1, 3, 1, 1, 1, 1, 1, 2.5, 1, 0.5, 2.5, 0.25, 6.75, 1])


def test_some_rows_of_cells_are_those_rows():
    rows, grid = random_rows(), Grid.of(KNOTS)
    whole = grid.locate(rows)
    assert len(whole) == 50
    for some in (slice(3, 17), np.array([9, 0, 9]), slice(0, 0)):
        part, alone = whole[some], grid.locate(rows[some])
        assert_cells(part, (alone.point, alone.share, alone.inside))


def test_a_coordinate_is_the_point_and_the_share():
    cells = Grid.of(KNOTS).locate(random_rows())
    expected = cells.point + cells.share
    np.testing.assert_array_equal(cells.coordinate(), expected)


class TestProducts:
    def loop(self, cells, columns, shift, tables):
        """Row by row, column by column."""
        found = np.zeros((len(cells), tables.shape[1]))
        for row in range(len(cells)):
            for column, less in zip(columns, shift, strict=True):
                at, share = cells.point[row, column] - less, cells.share[row, column]
                found[row] += (1 - share) * tables[at] + share * tables[at + 1]
        return found

    def case(self, columns, width=6, dtype=np.float64):
        """Tables of some columns, one after the other."""
        grid = Grid.of(KNOTS)
        cells = grid.locate(random_rows())
        columns = np.array(columns, dtype=int)
        widths = np.diff(grid.first)[columns]
        begin = np.concatenate([[0], np.cumsum(widths)])
        tables = np.random.default_rng(1).normal(size=(begin[-1], width)).astype(dtype)
        return cells, columns, grid.first[columns] - begin[:-1], tables

    @pytest.mark.parametrize("columns", [[0, 1, 2, 3, 4], [4], [1], [3, 0], [2, 4]], ids=str)
    def test_they_are_sums_over_the_columns(self, columns):
        case = self.case(columns)
        found = case[0].products(*case[1:])
        np.testing.assert_allclose(found, self.loop(*case), rtol=1e-12, atol=1e-12)

    def test_they_are_in_the_precision_of_the_tables(self):
        case = self.case([0, 3, 4], dtype=np.float32)
        found = case[0].products(*case[1:])
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, self.loop(*case), rtol=1e-5, atol=1e-5)

    def test_no_rows_have_no_sums(self):
        cells, columns, shift, tables = self.case([0, 3])
        assert cells[:0].products(columns, shift, tables).shape == (0, 6)

    @invariant
    @given(knots_and_rows(), st.data())
    def test_of_all_columns_they_are_sums_of_interpolations(self, case, data):
        knots, rows = case
        grid = Grid.of(knots)
        tables = data.draw(floats(grid.n_points, 2))
        cells = grid.locate(rows)
        columns = np.arange(len(knots))
        found = cells.products(columns, np.zeros(len(knots), dtype=int), tables)
        expected = self.loop(cells, columns, np.zeros(len(knots), dtype=int), tables)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_cells_hold_what_they_are_given():
    point, share = np.array([[3, 5]], dtype=np.int32), np.array([[0.5, 1.0]])
    cells = Cells(point, share, np.array([[True, False]]))
    assert len(cells) == 1
    np.testing.assert_array_equal(cells.coordinate(), [[3.5, 6.0]])
