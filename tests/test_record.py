from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifenet.data.rows import ArrayRows
from lifenet.neurons.subset import Fate, Split, Subset
from lifenet.recipe.record import HierarchyRecord, Level, Record, RecordRow
from strategies import eighths, floats, invariant


def rows_of(X):
    return ArrayRows.of(X, np.zeros(len(X)))


def inside_by_loop(subset, X):
    return [
        all(
            sum(w * v for w, v in zip(weights, x, strict=True)) + bias > subset.cutoff
            for weights, bias in zip(subset.weights, subset.bias, strict=True)
        )
        for x in X
    ]


@st.composite
def subsets(draw, n_features=3):
    n_conditions = draw(st.integers(0, 3))
    return Subset(
        draw(floats(n_conditions, n_features)), draw(floats(n_conditions)), draw(eighths(-1, 1))
    )


class TestSubset:
    @invariant
    @given(subsets(), floats(9, 3))
    def test_it_holds_the_rows_that_fulfil_every_condition(self, subset, X):
        """Numbers are multiples of 1/8, so rows on the hyperplane are exactly there: outside."""
        expected = np.array(inside_by_loop(subset, X))
        rows = rows_of(X)
        np.testing.assert_array_equal(rows.collect(subset.holds), expected)
        index, counts = subset.select(rows)
        np.testing.assert_array_equal(index, np.flatnonzero(expected))
        assert counts is None

    @invariant
    @given(subsets(), floats(9, 3), floats(3), st.lists(st.integers(-2, 2), min_size=3, max_size=3))
    def test_unscaled_says_the_same_of_the_raw_columns(self, subset, X, center, exponents):
        """Scales are powers of two, so that both ways of reckoning are exact."""
        scale = 2.0 ** np.array(exponents)
        scaled = rows_of((X - center) / scale)
        raw = rows_of(X)
        np.testing.assert_array_equal(
            raw.collect(subset.unscaled(center, scale).holds), scaled.collect(subset.holds)
        )

    def test_rows_are_numbered_as_they_take_part(self):
        """Rows of weight zero are absent: numbers are those of the rows, not of the table."""
        X = np.array([[5.0], [-1.0], [1.0], [2.0]])
        rows = ArrayRows.of(X, np.zeros(4), np.array([0.0, 1.0, 1.0, 1.0]))
        index, _ = Subset(np.ones((1, 1)), np.zeros(1)).select(rows)
        assert index.tolist() == [1, 2]
        np.testing.assert_array_equal(rows.take(index).held().inputs[0], [1.0, 2.0])

    def test_rows_beyond_one_block_are_found(self):
        X = np.arange(10_000.0)[:, None]
        index, _ = Subset(np.ones((1, 1)), np.array([-6000.5])).select(rows_of(X))
        np.testing.assert_array_equal(index, np.arange(6001, 10_000))

    def test_everything_holds_all_rows(self):
        rows = rows_of(np.zeros((5, 2)))
        whole = Subset.everything(rows)
        assert (whole.n_rows, whole.share, whole.parent) == (5, 1.0, None)
        assert whole.select(rows)[0].tolist() == [0, 1, 2, 3, 4]
        assert rows.collect(whole.holds).tolist() == [1.0] * 5

    def test_a_draw_counts_as_many_rows_as_there_are(self):
        rows = rows_of(np.zeros((500, 1)))
        index, counts = Subset.everything(rows, draw=(1, 2)).select(rows)
        assert counts.sum() == 500
        assert counts.min() >= 1
        assert np.all(np.diff(index) > 0)
        assert 0.58 < len(index) / 500 < 0.68  # 1 - 1/e of the rows turn up
        again = Subset.everything(rows, draw=(1, 2)).select(rows)
        np.testing.assert_array_equal(index, again[0])
        np.testing.assert_array_equal(counts, again[1])
        assert len(index) != len(Subset.everything(rows, draw=(1, 3)).select(rows)[0])

    def test_a_draw_from_a_half_space_stays_there(self):
        X = np.linspace(-1, 1, 100)[:, None]
        rows = rows_of(X)
        index, counts = Subset(np.ones((1, 1)), np.zeros(1), draw=(0,)).select(rows)
        assert index.min() >= 50
        assert counts.sum() == 50

    def test_conditions_in_words(self):
        names = ["age", "income", "debt"]
        subset = Subset(np.array([[0.3, -1.25, 0.0]]), np.array([0.4]), 0.0)
        assert subset.describe(names) == "-1.25 income +0.3 age +0.4 > 0"
        assert subset.describe(names, digits=1) == "-1 income +0.3 age +0.4 > 0"
        two = Subset(np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 3.0]]), np.array([-1.0, 0.5]), 0.25)
        assert two.describe(names) == "2 age +1 income -1 > 0.25 and 3 debt +0.5 > 0.25"
        assert Subset.everything(rows_of(np.zeros((2, 3)))).describe(names) == "all rows"

    def test_words_name_the_rows_that_the_conditions_select_from(self):
        base = "the 240 training rows of fold 2"
        whole = replace(Subset.everything(rows_of(np.zeros((2, 1)))), base=base)
        assert whole.describe(["age"]) == base
        half = Subset(np.array([[2.0]]), np.array([-1.0]), base=base)
        assert half.describe(["age"]) == "2 age -1 > 0, of the 240 training rows of fold 2"


def row(level=1, member=0, **changes):
    settled = {
        "level": level,
        "member": member,
        "output": 0,
        "parent": -1,
        "neuron": -1,
        "share": 1.0,
        "rows": 1000,
        "neurons": 4,
        "loss": 0.5,
        "iterations": 7,
        "seconds": 0.25,
        "status": "converged",
    }
    return RecordRow(**settled | changes)


class TestRecord:
    record = Record((row(), row(2, 0, rows=300, share=0.3), row(2, 1, rows=2400, neurons=0)))

    def test_columns_and_rows(self):
        assert len(self.record) == 3
        assert [one.member for one in self.record] == [0, 0, 1]
        assert self.record["rows"].tolist() == [1000, 300, 2400]
        assert self.record["status"].tolist() == ["converged"] * 3

    def test_a_column_that_is_not_there_is_named(self):
        with pytest.raises(KeyError, match=r"no column 'los'; the columns are level, member"):
            self.record["los"]

    def test_as_a_frame(self):
        frame = self.record.to_frame()
        assert frame.shape == (3, 13)
        assert frame["share"].tolist() == [1.0, 0.3, 1.0]
        empty = Record().to_frame()
        assert list(empty.columns) == list(frame.columns)
        assert len(empty) == 0

    def test_folds_are_told_apart(self):
        both = Record((row(), row(fold=1), row(2, 0, fold=1)))
        assert both["fold"].tolist() == [0, 1, 1]
        frame = both.to_frame()
        assert frame["fold"].tolist() == [0, 1, 1]
        assert frame[frame["fold"] == 1]["level"].tolist() == [1, 2]

    def test_two_records_in_a_row(self):
        both = self.record + Record((row(3),))
        assert both["level"].tolist() == [1, 2, 2, 3]
        assert len(self.record) == 3

    def test_a_line_a_level(self):
        assert str(self.record).splitlines() == [
            "level 1: 1 networks, 4 neurons, on 1,000 to 1,000 rows, 0.2 s of work",
            "level 2: 1 networks, 4 neurons, on 300 to 2,400 rows, 0.5 s of work",
        ]
        assert str(Record()) == ""


def test_a_hierarchy_tells_the_fate_of_every_neuron():
    splits = (Split(0, 0, 0.5, Fate.KEPT), Split(0, 1, 0.01, Fate.TOO_SMALL))
    hierarchy = HierarchyRecord(
        (
            Level(2, (), (), splits),
            Level(1, (), (), (Split(1, 0, 0.95, Fate.TOO_LARGE),)),
            Level(3, (), ()),
        )
    )
    assert len(hierarchy) == 3
    frame = hierarchy.to_frame()
    assert frame.to_dict("records") == [
        {"fold": 0, "level": 1, "network": 0, "neuron": 0, "share": 0.5, "fate": "kept"},
        {"fold": 0, "level": 1, "network": 0, "neuron": 1, "share": 0.01, "fate": "too_small"},
        {"fold": 0, "level": 2, "network": 1, "neuron": 0, "share": 0.95, "fate": "too_large"},
    ]
    assert list(HierarchyRecord(()).to_frame().columns) == list(frame.columns)


class TestFolds:
    """Where networks are averaged over folds, each has a hierarchy of its own."""

    levels = tuple(
        (
            Level(width, (), (), tuple(Split(0, k, 0.1 * width, Fate.KEPT) for k in range(width))),
            Level(5, (), ()),
        )
        for width in (2, 3, 1)
    )
    hierarchy = HierarchyRecord(levels[0], levels[1:])

    def test_levels_are_those_of_the_first(self):
        assert self.hierarchy.levels == self.levels[0]
        assert self.hierarchy.folds == self.levels
        assert len(self.hierarchy) == 2

    @pytest.mark.parametrize("number", [0, 1, 2])
    def test_one_of_them_alone(self, number):
        alone = self.hierarchy.fold(number)
        assert alone.levels == self.levels[number]
        assert alone.folds == (self.levels[number],)

    @pytest.mark.parametrize("number", [-1, 3])
    def test_one_that_is_not_there_is_refused(self, number):
        with pytest.raises(IndexError, match=f"no fold {number}; there are 3, from 0"):
            self.hierarchy.fold(number)

    def test_the_table_tells_them_apart(self):
        frame = self.hierarchy.to_frame()
        assert frame["fold"].tolist() == [0, 0, 1, 1, 1, 2]
        assert frame["neuron"].tolist() == [0, 1, 0, 1, 2, 0]
        for number in range(3):
            rows = frame[frame["fold"] == number].drop(columns="fold").reset_index(drop=True)
            alone = self.hierarchy.fold(number).to_frame().drop(columns="fold")
            assert rows.equals(alone)
        assert HierarchyRecord((), ((), self.levels[0])).to_frame()["fold"].tolist() == [2, 2]
