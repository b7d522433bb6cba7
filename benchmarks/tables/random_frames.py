"""Random frames of every library: cells as Python objects, and the same cells as a frame."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LIBRARIES = ("pandas", "polars", "pyarrow", "numpy")
#: What a column can hold, and what it is read as.
GOOD = (
    *("float", "int", "number", "truth", "text", "levels", "category", "int category"),
    *("iso", "date", "moment", "duration", "time"),
)
BAD = ("mixed", "infinite", "huge", "list", "bytes", "gone")
_ONLY = {
    "number": ("pandas", "numpy"),
    "category": ("pandas", "polars", "pyarrow"),
    "int category": ("pandas", "pyarrow"),
    "mixed": ("pandas", "numpy"),
    "list": ("pandas", "polars", "pyarrow"),
    "bytes": ("pandas", "polars", "pyarrow"),
}
_ALPHABET = ["", " ", "a", "b", "é", "日本", "0", "1", "NaN", "None", "other levels", "x y"]
_NAMES = [
    "n",
    "t t",
    "ä",
    "日",
    "a'b",
    'q"',
    "x = 1",
    "is missing",
    "",
    " ",
    "%d",
    "{}",
    "\\",
    "z\n",
]
_EPOCH = dt.datetime(1970, 1, 1)


@dataclass(frozen=True)
class RandomColumn:
    """A column's name, what it holds, and its cells; None where one is missing."""

    name: str
    kind: str
    cells: tuple[Any, ...]

    @property
    def is_bad(self) -> bool:
        """Whether fitting must refuse it."""
        return self.kind in BAD or all(cell is None for cell in self.cells)


@dataclass(frozen=True)
class RandomFrame:
    """Columns, the library that holds them, and the frame or array."""

    columns: tuple[RandomColumn, ...]
    library: str
    given: Any


def draw_frame(
    rng: np.random.Generator, *, bad: float = 0.05, rows: tuple[int, int] = (1, 40), most: int = 4
) -> RandomFrame:
    """A frame in which each column is a bad one with some probability."""
    library = str(rng.choice(LIBRARIES))
    n, p = int(rng.integers(*rows)), int(rng.integers(1, most + 1))
    names = rng.choice(_NAMES, p, replace=False).tolist()
    if library == "numpy":
        names = [f"x{k}" for k in range(p)]
    columns = []
    for name in names:
        kinds = BAD if rng.random() < bad else GOOD
        kinds = [kind for kind in kinds if library in _ONLY.get(kind, LIBRARIES)]
        kind = str(rng.choice(kinds))
        columns.append(RandomColumn(name, kind, _cells(rng, kind, n)))
    return RandomFrame(tuple(columns), library, _BUILD[library](rng, columns))


def _cells(rng: np.random.Generator, kind: str, n: int) -> tuple[Any, ...]:
    draw = _DRAW[kind]
    cells = draw(rng, n)
    gaps = rng.choice([0.0, 0.0, 0.2, 0.9])
    if kind in BAD:
        return tuple(cells)
    return tuple(
        None if gone else cell for cell, gone in zip(cells, rng.random(n) < gaps, strict=True)
    )


def _floats(rng: np.random.Generator, n: int) -> list[float]:
    odd = [0.0, -0.0, 5e-324, 1e-300, 1e139, -1e139, 0.1, 1 / 3, 2.0**53 + 2]
    return [float(rng.choice(odd)) if rng.random() < 0.3 else float(rng.normal()) for _ in range(n)]


def _ints(rng: np.random.Generator, n: int) -> list[int]:
    spread = int(rng.choice([2, 100, 2**40]))
    return [int(one) for one in rng.integers(-spread, spread, n)]


def _numbers(rng: np.random.Generator, n: int) -> list[Any]:
    kinds: list[Callable[[int], Any]] = [
        lambda k: k,
        lambda k: 10**30 + k,
        lambda k: k / 7,
        lambda k: Decimal(k) / 8,
        lambda k: Fraction(k, 3),
        np.float32,
        np.int8,
    ]
    return [kinds[rng.integers(len(kinds))](int(rng.integers(-9, 9))) for _ in range(n)]


def _texts(rng: np.random.Generator, n: int) -> list[str]:
    most = int(rng.choice([1, 2, 3, len(_ALPHABET)]))
    return [str(one) for one in rng.choice(rng.permutation(_ALPHABET)[:most], n)]


def _levels(rng: np.random.Generator, n: int) -> list[str]:
    most = int(rng.choice([3, 10, 11, 30]))
    return [f"level {int(one)}" for one in rng.geometric(2 / most, n)]


def _moments(rng: np.random.Generator, n: int) -> list[dt.datetime]:
    return [_EPOCH + one for one in _durations(rng, n)]


def _durations(rng: np.random.Generator, n: int) -> list[dt.timedelta]:
    unit = int(rng.choice([1, 10**6, 86_400 * 10**6]))
    most = 60_000 * 86_400 * 10**6 // unit
    return [dt.timedelta(microseconds=unit * int(one)) for one in rng.integers(-most, most, n)]


def _times(rng: np.random.Generator, n: int) -> list[dt.time]:
    return [one.time() for one in _moments(rng, n)]


def _iso(rng: np.random.Generator, n: int) -> list[str]:
    moments = _moments(rng, n)
    if rng.random() < 0.5:
        return [one.date().isoformat() for one in moments]
    return [one.isoformat("T" if rng.random() < 0.5 else " ") for one in moments]


def _with_one(odd: Sequence[Any], draw: Any) -> Callable[[np.random.Generator, int], list[Any]]:
    def work(rng: np.random.Generator, n: int) -> list[Any]:
        cells = draw(rng, n)
        cells[rng.integers(n)] = odd[rng.integers(len(odd))]
        return cells

    return work


def _mixed(rng: np.random.Generator, n: int) -> list[Any]:
    odd = [
        (1.5, "a"),
        (True, "a"),
        (dt.date(2020, 1, 1), 3),
        (dt.timedelta(1), "a"),
        (1, b"x"),
        (1, [2]),
    ]
    one, other = odd[rng.integers(len(odd))]
    return [one if rng.random() < 0.5 else other for _ in range(max(n - 2, 0))] + (
        [one, other] if n > 1 else [{}]
    )


_DRAW: dict[str, Callable[[np.random.Generator, int], list[Any]]] = {
    "float": _floats,
    "int": _ints,
    "number": _numbers,
    "truth": lambda rng, n: [bool(one) for one in rng.random(n) < 0.5],
    "text": _texts,
    "levels": _levels,
    "category": _levels,
    "int category": lambda rng, n: [int(one) for one in rng.integers(0, 12, n)],
    "iso": _iso,
    "date": lambda rng, n: [one.date() for one in _moments(rng, n)],
    "moment": _moments,
    "duration": _durations,
    "time": _times,
    "mixed": _mixed,
    "infinite": _with_one([float("inf"), -float("inf")], _floats),
    "huge": _with_one([1e141, -1e300], _floats),
    "list": lambda rng, n: [[1.0, 2.0]] * n,
    "bytes": lambda rng, n: [b"a"] * n,
    "gone": lambda rng, n: [None] * n,
}


def _pandas(rng: np.random.Generator, columns: Sequence[RandomColumn]) -> pd.DataFrame:
    natives = {
        "float": ["float64", "Float64", "object"],
        "int": ["Int64", "object", "int64[pyarrow]"],
        "truth": ["boolean", "object"],
        "text": ["object", "string", "str", "category"],
        "levels": ["object", "category"],
        "iso": ["object", "str"],
        "category": ["category"],
        "int category": ["category"],
        "moment": ["object", "datetime64[us]"],
        "duration": ["object", "timedelta64[us]"],
        "infinite": ["float64", "object"],
        "huge": ["float64"],
        "gone": ["object", "float64", "Int64", "category", "datetime64[ns]", "string"],
    }
    found = {}
    for one in columns:
        dtype = str(rng.choice(natives.get(one.kind, ["object"])))
        found[one.name] = pd.Series(list(one.cells), dtype=dtype)
    return pd.DataFrame(found)


def _polars(rng: np.random.Generator, columns: Sequence[RandomColumn]) -> pl.DataFrame:
    nothing = [pl.Null, pl.Float64, pl.String, pl.Categorical, pl.Date, pl.Boolean]
    natives: dict[str, Any] = {
        "float": pl.Float64,
        "infinite": pl.Float64,
        "huge": pl.Float64,
        "int": pl.Int64,
        "truth": pl.Boolean,
        "text": pl.String,
        "levels": pl.String,
        "iso": pl.String,
        "category": pl.Categorical,
        "date": pl.Date,
        "moment": pl.Datetime("us"),
        "duration": pl.Duration("us"),
        "time": pl.Time,
        "list": pl.List(pl.Float64),
        "bytes": pl.Binary,
        "gone": nothing[rng.integers(len(nothing))],
    }
    series = {one.name: pl.Series(one.cells, dtype=natives[one.kind]) for one in columns}
    return pl.DataFrame(series)


def _pyarrow(rng: np.random.Generator, columns: Sequence[RandomColumn]) -> pa.Table:
    natives: dict[str, Any] = {
        "float": pa.float64(),
        "infinite": pa.float64(),
        "huge": pa.float64(),
        "int": pa.int64(),
        "truth": pa.bool_(),
        "text": pa.string(),
        "levels": pa.large_string(),
        "iso": pa.string(),
        "date": pa.date32(),
        "moment": pa.timestamp("us"),
        "duration": pa.duration("us"),
        "time": pa.time64("us"),
        "category": pa.string(),
        "int category": pa.int64(),
        "list": pa.list_(pa.float64()),
        "bytes": pa.binary(),
        "gone": [pa.null(), pa.float64(), pa.string(), pa.date32()][rng.integers(4)],
    }
    arrays = [pa.array(one.cells, natives[one.kind]) for one in columns]
    arrays = [
        array.dictionary_encode() if "category" in one.kind else array
        for array, one in zip(arrays, columns, strict=True)
    ]
    return pa.Table.from_arrays(arrays, names=[one.name for one in columns])


def _numpy(rng: np.random.Generator, columns: Sequence[RandomColumn]) -> np.ndarray:
    table = np.empty((len(columns[0].cells), len(columns)), dtype=object)
    gaps = [None, np.nan, pd.NA, pd.NaT]
    for place, one in enumerate(columns):
        for row, cell in enumerate(one.cells):
            table[row, place] = gaps[rng.integers(4)] if cell is None else cell
    return table


_BUILD: dict[str, Callable[..., Any]] = {
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": _pyarrow,
    "numpy": _numpy,
}
