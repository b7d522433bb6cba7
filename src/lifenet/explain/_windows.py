"""Lines through a row's own score, over the values that a column has near the row's.

For a row `x`, a column `j` and its training values `v` within a reach of ``x_j``, each with the
weight ``c_v`` of the rows that had it, the slope is that of least squares::

    s = sum_v c_v (v - x_j) (f(x with v in j) - f(x)) / sum_v c_v (v - x_j)^2

The line goes through the row's own score, so that an equation with these slopes still has the
score as its value at the row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet.explain._level_changes import level_slopes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lifenet._typing import Bools, Floats
    from lifenet.explain._sample import Sample
    from lifenet.network import PiecewiseLinear
    from lifenet.schema import ColumnValues, FeatureSchema

__all__ = [
    "DEFAULT_REACH",
    "WindowLines",
    "Windows",
    "check_reach",
    "known_values",
    "lines_of",
    "neighbours",
    "share_explained",
    "slopes_at_reach",
    "window_lines",
    "windows_of",
]

#: Share of a column's span over which equations are asked to hold where nothing else is asked: a
#: tenth of the span in all, about what a reader means by "a little more or less of it".
DEFAULT_REACH = 0.05
#: Cells of moves (values times rows times columns) that are held at a time.
_CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class Windows:
    """The values near each cell of some rows, without the cell's own.

    Attributes
    ----------
    targets : (s, n, p), the values; the cell's own where there are fewer than s
    weight : (s, n, p), of the rows that had each, as shares of the window; 0 where there are fewer
    """

    targets: Floats
    weight: Floats


@dataclass(frozen=True, eq=False)
class WindowLines:
    """Lines of n rows in p columns for k outputs.

    Attributes
    ----------
    slopes : (n, p, k); zero where a window has no other value
    total : (n, p, k), mean square of the change of the score over the window
    left : (n, p, k), mean square of what the line leaves of it
    known : (n, p), whether a window has another value
    low, high : (n, p), the outermost values of each window, the row's own included
    """

    slopes: Floats
    total: Floats
    left: Floats
    known: Bools
    low: Floats
    high: Floats

    @property
    def fidelity(self) -> Floats:
        """Share of the change over all windows that the lines explain, (k,); NaN without any."""
        return share_explained(self.total.sum(axis=(0, 1)), self.left.sum(axis=(0, 1)))


def share_explained(total: Floats, left: Floats) -> Floats:
    """``1 - left / total``; NaN where nothing changes."""
    share = np.full(np.shape(total), np.nan)
    np.divide(total - left, total, out=share, where=np.asarray(total) > 0)
    return share


def check_reach(reach: float, *, zero: bool = True) -> float:
    """A reach as a share of the span of each column."""
    if isinstance(reach, bool) or not isinstance(reach, int | float | np.number):
        raise TypeError(f"reach must be a share of each column's span; it is {reach!r}.")
    if not (0 <= reach <= 1) or (reach == 0 and not zero):
        least = "at least 0" if zero else "above 0"
        raise ValueError(
            f"reach must be {least} and at most 1, a share of each column's span; it is {reach}."
        )
    return float(reach)


def known_values(schema: FeatureSchema) -> tuple[ColumnValues, ...]:
    """The training values of the columns, or an error that says where they come from."""
    if not schema.values:
        raise ValueError(
            "A reach needs the values that columns had in training, and this schema does not know "
            "them. Pass the fitted model, its schema_, or background rows X; or reach=0."
        )
    return schema.values


def neighbours(schema: FeatureSchema, rows: Floats, wanted: Bools) -> Floats:
    """The next training value below and above each wanted cell, (n, p, 2); NaN where none is.

    None is next to a missing value, nor to one that says which level a category has.
    """
    found = np.full((*rows.shape, 2), np.nan)
    wanted = wanted & ~_gone(rows, schema.gaps)
    indicators = set(schema.indicators)
    for columns in (list(one.columns) for one in schema.features if one.kind == "category"):
        own = [column for column in columns if column in indicators]
        # Levels with an indicator are what they are, whatever is expected there.
        for column in columns:
            wanted[:, column] &= ~rows[:, own].any(axis=1)
    wanted[:, sorted(indicators)] = False
    for column, known in enumerate(known_values(schema)):
        some, values = np.flatnonzero(wanted[:, column]), known.values
        own = rows[some, column]
        below = np.searchsorted(values, own, side="left") - 1
        below -= (below >= 0) & _same(values[np.maximum(below, 0)], own)
        above = np.searchsorted(values, own, side="right")
        above += (above < len(values)) & _same(values[np.minimum(above, len(values) - 1)], own)
        found[some, column, 0] = np.where(below >= 0, values[np.maximum(below, 0)], np.nan)
        last = len(values) - 1
        found[some, column, 1] = np.where(above <= last, values[np.minimum(above, last)], np.nan)
    return found


def slopes_at_reach(sample: Sample, reach: float) -> tuple[Floats, Floats]:
    """A slope for every cell of the rows, as readings of many rows take them.

    With a reach of 0 the slopes of the rows themselves. Otherwise those of the windows; where a
    column has no other value in reach, the change from its next value below to the one above, by
    their distance: between such values a network may bend at will. Of a column that says whether
    something is the case, such as "income is missing", the change from its not being so
    (`level_slopes`). Cells whose value is missing have none.

    Returns
    -------
    slopes (n, p), and the width (n, p) that each was taken over: one standard deviation at reach 0
    """
    network, rows, schema, output = sample.network, sample.X, sample.known, sample.output
    if reach == 0:
        return sample.gradient, np.broadcast_to(sample.spread, rows.shape)
    lines = window_lines(network, rows, schema, reach)
    slopes = np.where(lines.known, lines.slopes[..., output], 0.0)
    width = lines.high - lines.low
    ends = neighbours(schema, rows, ~lines.known)
    ends = np.where(np.isnan(ends), rows[..., None], ends)
    apart = ends[..., 1] - ends[..., 0]
    apart[lines.known] = 0.0
    for column in np.flatnonzero((apart > 0).any(axis=0)).tolist():
        some = np.flatnonzero(apart[:, column] > 0)
        along = network.along(rows[some], column)
        rise = along.increment(ends[some, column, 0], ends[some, column, 1])[:, output]
        slopes[some, column] = rise / apart[some, column]
        width[some, column] = apart[some, column]
    for column, change in level_slopes(sample).items():
        slopes[:, column], width[:, column] = change, 1.0
    return slopes, width


def _gone(rows: Floats, gaps: Mapping[int, int] | None) -> Bools:
    """Cells that stand for a missing value, (n, p)."""
    gone = np.zeros(rows.shape, dtype=bool)
    for column, indicator in (gaps or {}).items():
        gone[:, column] = rows[:, indicator] != 0
    return gone


def _same(values: Floats, own: Floats) -> Bools:
    """Which values are those of the rows: tables may have been rounded to single precision."""
    return np.asarray(values.astype(np.float32) == own.astype(np.float32))


def windows_of(
    values: Sequence[ColumnValues],
    rows: Floats,
    reach: float,
    gaps: Mapping[int, int] | None = None,
) -> Windows:
    """The windows of some rows; `gaps` as in `lines_of`."""
    gone = _gone(rows, gaps)
    parts = [one.windows(rows[:, column], reach) for column, one in enumerate(values)]
    width = max((int((high - low).max(initial=0)) for low, high in parts), default=0)
    targets = np.broadcast_to(rows, (width, *rows.shape)).copy()
    weight = np.zeros(targets.shape)
    for column, (one, (low, high)) in enumerate(zip(values, parts, strict=True)):
        for place in range(int((high - low).max(initial=0))):
            at = low + place
            inside = at < high
            value = one.values[np.minimum(at, len(one.values) - 1)]
            counted = inside & ~_same(value, rows[:, column]) & ~gone[:, column]
            targets[place, counted, column] = value[counted]
            weight[place, counted, column] = one.counts[at[counted]]
    total = weight.sum(axis=0)
    return Windows(targets, np.divide(weight, total, out=weight, where=total > 0))


def window_lines(
    network: PiecewiseLinear, rows: Floats, schema: FeatureSchema, reach: float
) -> WindowLines:
    """Lines of all columns of rows (n, p), evaluated exactly on each moved column alone."""
    values, gaps = known_values(schema), schema.gaps
    return lines_of(network.moves, network.n_outputs, rows, values, reach, gaps=gaps)


def lines_of(
    moves: Callable[[Floats, Floats], Floats],
    n_outputs: int,
    rows: Floats,
    values: Sequence[ColumnValues],
    reach: float,
    given: Floats | None = None,
    gaps: Mapping[int, int] | None = None,
) -> WindowLines:
    """The same of anything that says what moves of a column alone do to its scores.

    Parameters
    ----------
    moves : (n, p), (s, n, p) -> (s, n, p, n_outputs), as of `PiecewiseLinear`
    given : (n, p), slopes to take instead of those of least squares; windows with NaN do not count
    gaps : for each column whose value may be missing, the one that is 1 in the rows where it is;
        these have no window
    """
    shape = (*rows.shape, n_outputs)
    slopes, total, left = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    known, low, high = np.zeros(rows.shape, dtype=bool), rows.copy(), rows.copy()
    for block in _blocks(rows, values, reach):
        here = windows_of(values, rows[block], reach, gaps)
        if not len(here.targets):
            continue
        change = moves(rows[block], here.targets)
        steps = here.targets - rows[block]
        below = np.einsum("snp,snp->np", here.weight, np.square(steps))
        if given is not None:
            below = np.where(np.isnan(given[block]), 0.0, below)
            here.weight[:, below == 0] = 0.0
        known[block] = below > 0
        low[block] = np.minimum(rows[block], here.targets.min(axis=0))
        high[block] = np.maximum(rows[block], here.targets.max(axis=0))
        if given is None:
            slope = np.einsum("snp,snpk->npk", here.weight * steps, change)
            np.divide(slope, below[..., None], out=slope, where=below[..., None] > 0)
        else:
            slope = np.where(below > 0, np.nan_to_num(given[block]), 0.0)[..., None]
        slopes[block] = slope
        total[block] = np.einsum("snp,snpk->npk", here.weight, np.square(change))
        change -= steps[..., None] * slope
        left[block] = np.einsum("snp,snpk->npk", here.weight, np.square(change))
    return WindowLines(slopes, total, left, known, low, high)


def _blocks(rows: Floats, values: Sequence[ColumnValues], reach: float) -> Iterator[slice]:
    """Rows whose moves are held at a time."""
    widest = max(
        (int(np.diff(one.windows(one.values, reach), axis=0).max()) for one in values), default=0
    )
    size = max(1, _CELLS // max(1, (widest + 1) * rows.shape[1]))
    for start in range(0, len(rows), size):
        yield slice(start, start + size)
