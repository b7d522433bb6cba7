"""Random frames through the reader, the coding and small fits; an independent decoder checks them.

What is read is decoded again from the columns of numbers alone: numbers from the value and the
indicator of a gap, levels from what their indicators are called, times from days since 1970.
"""

from __future__ import annotations

import datetime as dt
import warnings
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.tables.random_frames import draw_frame
from lifenet import LLA, AdamRegressor, LIFERegressor, NeuronProjection
from lifenet.tables import Targets, learn_coding, read_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.tables.random_frames import RandomColumn, RandomFrame
    from lifenet.tables import TableCoding

_EPOCH, _MICROSECOND = dt.datetime(1970, 1, 1), dt.timedelta(microseconds=1)
_DAY = 86_400 * 10**6
#: Levels up to which each has an indicator, unless it has fewer rows than the next number.
_FEW, _RARE = 10, 5


def fuzz(n_frames: int, seed: int) -> dict[str, Any]:
    """Frames read and coded, those refused, wrong cells, and errors that name no bad column."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter(frames=0, refused=0, cells=0, wrong=0, unnamed=0)
    for _ in range(n_frames):
        frame = draw_frame(rng)
        found["frames"] += 1
        _try(frame, rng, found)
    return dict(found)


def _try(frame: RandomFrame, rng: np.random.Generator, found: Counter[str]) -> None:
    bad = [one for one in frame.columns if one.is_bad]
    try:
        coding, encoded = code(frame, rng.normal(size=len(frame.columns[0].cells)))
    except ValueError as error:
        found["refused"] += 1
        found["unnamed"] += not _names(str(error), frame)
        return
    except Exception as error:  # what a user must never see
        print(f"{type(error).__name__}: {error}; {frame.columns}")
        found["unnamed"] += 1
        return
    found["unnamed"] += len(bad)
    for place, column in enumerate(frame.columns):
        own = encoded[:, list(coding.columns_of[place])]
        wrong = list(wrong_cells(column, coding.codes[place], own))
        found["cells"] += len(column.cells)
        found["wrong"] += len(wrong)
        for row in wrong[:1]:
            print(f"{frame.library}, {column.kind}, row {row}: {column.cells}, {own[row]}")
    again = coding.transform(_turned(frame, rng))
    found["wrong"] += int(np.sum(again != encoded))


def code(frame: RandomFrame, y: Any) -> tuple[TableCoding, Any]:
    """The coding of a frame and its columns of numbers."""
    table = read_table(frame.given)
    named = frame.library != "numpy"
    weight = np.ones(table.n_rows)
    coding = learn_coding(table, None, weight, Targets(y[:, None], ("target",)), named=named)
    return coding, coding.encode(table)


def _names(message: str, frame: RandomFrame) -> bool:
    """Whether an error names one bad column or more, and none that is good."""
    said = {one.name for one in frame.columns if f"olumn {one.name!r} (number" in message}
    bad = {one.name for one in frame.columns if one.is_bad}
    return bool(said) and said <= bad


def _turned(frame: RandomFrame, rng: np.random.Generator) -> Any:
    """The same frame with its columns in another order, where they have names."""
    order = rng.permutation(len(frame.columns))
    names = [frame.columns[place].name for place in order]
    if frame.library == "numpy":
        return frame.given
    return frame.given.select(names) if frame.library != "pandas" else frame.given[names]


# ---------------------------------------------------------------------- the decoder


def wrong_cells(column: RandomColumn, code: Any, own: Any) -> Iterator[int]:
    """Rows whose numbers do not say what the cell held."""
    if column.kind in ("text", "levels", "category", "int category"):
        yield from _wrong_levels(column, code.indicators, own)
        return
    values = [None if cell is None else _number(column.kind, cell) for cell in column.cells]
    known = sorted(value for value in values if value is not None)
    neutral = known[(len(known) - 1) // 2]
    gaps = None in values
    parts = list(_parts(column)) if column.kind in ("iso", "date", "moment") else []
    if own.shape[1] != 1 + gaps + len(parts):
        yield from range(len(values))
        return
    for row, value in enumerate(values):
        expected = [neutral if value is None else value]
        expected += [float(value is None)] if gaps else []
        expected += [part[row] for part in parts]
        if not np.allclose(own[row], expected, rtol=0.0, atol=0.0):
            yield row


def _number(kind: str, cell: Any) -> float:
    if kind in ("iso", "date", "moment"):
        return float((_moment(cell) - _EPOCH) // _MICROSECOND) / _DAY
    if kind == "duration":
        return float(cell // _MICROSECOND) / _DAY
    if kind == "time":
        return cell.hour + cell.minute / 60 + (cell.second + cell.microsecond * 1e-6) / 3600
    return float(Fraction(cell)) if isinstance(cell, Decimal) else float(cell)


def _moment(cell: Any) -> dt.datetime:
    if isinstance(cell, str):
        return dt.datetime.fromisoformat(cell)
    return cell if isinstance(cell, dt.datetime) else dt.datetime(cell.year, cell.month, cell.day)


def _parts(column: RandomColumn) -> Iterator[list[float]]:
    """The calendar parts that vary, of every row; the median where a cell is missing."""
    moments = [None if cell is None else _moment(cell) for cell in column.cells]
    for of in (
        lambda one: float(one.month),
        lambda one: float(one.isoweekday()),
        lambda one: round(
            (one - one.replace(hour=0, minute=0, second=0, microsecond=0)) / _HOUR, 6
        ),
    ):
        values = [None if one is None else of(one) for one in moments]
        known = sorted(value for value in values if value is not None)
        if known[0] < known[-1]:
            middle = known[(len(known) - 1) // 2]
            yield [middle if value is None else value for value in values]


_HOUR = dt.timedelta(hours=1)


def _wrong_levels(column: RandomColumn, indicators: Any, own: Any) -> Iterator[int]:
    counts = Counter(cell for cell in column.cells if cell is not None)
    own = own[:, : len(indicators)]
    said = [name.removeprefix(f"{column.name} = ") for name in indicators]
    gap = f"{column.name} is missing"
    for row, cell in enumerate(column.cells):
        lit = np.flatnonzero(own[row])
        if not np.isin(own[row], (0.0, 1.0)).all() or len(lit) > 1:
            yield row
        elif not len(lit):
            if cell is None or not _may_be_silent(cell, counts, said):
                yield row
        elif indicators[lit[0]] == gap:
            if cell is not None:
                yield row
        elif said[lit[0]] != _text(cell):
            pooled = lit[0] == max(place for place, one in enumerate(said) if one != gap)
            if cell is None or not (
                pooled and said[lit[0]] == "other levels" and counts[cell] < _RARE
            ):
                yield row


def _may_be_silent(cell: Any, counts: Counter[Any], said: list[str]) -> bool:
    """Whether a level has no indicator: one of two, or one of many."""
    if _text(cell) in said and len(counts) <= _FEW:
        return False
    return len(counts) == 2 or len(counts) > _FEW


def _text(cell: Any) -> str:
    return str(cell) if str(cell) else '""'


# ---------------------------------------------------------------------- fits


def fuzz_fits(n_fits: int, seed: int) -> dict[str, Any]:
    """Fits of random frames, and the largest difference to fits of the same columns of numbers."""
    rng = np.random.default_rng(seed)
    found: dict[str, Any] = {"fits": 0, "largest": 0.0}
    while found["fits"] < n_fits:
        frame = draw_frame(rng, bad=0.0, rows=(20, 41))
        if any(one.is_bad for one in frame.columns):
            continue
        y = rng.normal(size=len(frame.columns[0].cells))
        coding, encoded = code(frame, y)
        if any(getattr(one, "targets", ()) for one in coding.codes):
            continue  # codes by the target are another's to check
        model = _models(found["fits"])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".* reads as a number")
            one = model.fit(frame.given, y).predict(_turned(frame, rng))
        other = model.fit(encoded, y).predict(encoded)
        gap = float(np.max(np.abs(one - other)))
        if not gap <= found["largest"]:
            found["largest"] = gap
        found["fits"] += 1
    return found


def _models(number: int) -> Any:
    """Small models that draw no rows."""
    if number % 2:
        return AdamRegressor(3, max_epochs=5, early_stopping=False, random_state=0)
    steps = LLA(2, init="least-squares", max_iter=3)
    sampler = NeuronProjection(levels=(2,))
    return LIFERegressor(sampler, steps, preset="paper", validation=None, random_state=0)
