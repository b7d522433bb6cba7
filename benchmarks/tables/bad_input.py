"""Bad input of fit and predict: every message names what is wrong, and says the remedy."""

from __future__ import annotations

import datetime as dt
import re
import warnings
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

from benchmarks.bars import RESULTS
from lifenet import LLAClassifier, LLARegressor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

N = 60
_GENERATOR = np.random.default_rng(0)
_Y = _GENERATOR.normal(size=N)
_FRAME = pd.DataFrame(
    {"income": _GENERATOR.normal(size=N), "purpose": ["car", "house", "other"] * (N // 3)}
)
#: What a remedy is told with.
_REMEDY = re.compile(
    r"\b(give|drop|make|mend|replace|rename|rescale|pass|use|check|call|decode|name it|reshape|"
    r"must|should|requires?|required|expect(?:ed|ing)|fit it|zero leaves|is for a classifier|"
    r"classes are for)\b",
    re.IGNORECASE,
)
_LONGEST = 240


@dataclass(frozen=True)
class Bad:
    """One bad input.

    Attributes
    ----------
    what : in words
    work : what must raise
    named : a pattern of the column, row or parameter that the message must name
    """

    what: str
    work: Callable[[], Any]
    named: str


def bad_inputs() -> list[tuple[str, str]]:
    """Each bad input and its message; an assertion fails where one names or remedies nothing."""
    cases = [*_tables(), *_cells(), *_kinds(), *_targets(), *_parameters(), *_new_rows()]
    return [(one.what, _message(one)) for one in cases]


def write_table(found: list[tuple[str, str]]) -> None:
    """Write benchmarks/results/tables-bad-input.md."""
    lines = ["# Bad input and its messages", "", "| what is given | what is said |", "|---|---|"]
    for what, message in found:
        # scikit-learn prints the array that it was given.
        told = " ".join(re.sub(r"array=\[.*?\]\.", "", message, flags=re.DOTALL).split())
        told = told if len(told) <= _LONGEST else told[:_LONGEST].rsplit(" ", 1)[0] + " ..."
        lines.append(f"| {what} | {told.replace('|', chr(92) + '|')} |")
    (RESULTS / "tables-bad-input.md").write_text("\n".join(lines) + "\n")


def _message(case: Bad) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case.work()
    except (ValueError, TypeError) as error:
        message = str(error)
    else:
        raise AssertionError(f"{case.what}: nothing was said.")
    assert re.search(case.named, message), f"{case.what}: {case.named} is not in {message!r}"
    assert _REMEDY.search(message), f"{case.what}: no remedy in {message!r}"
    return message


def _fit(X: Any, y: Any = None, weight: Any = None, **settings: Any) -> Callable[[], Any]:
    y = _Y if y is None else y
    return lambda: LLARegressor(2, max_iter=2, **settings).fit(X, y, sample_weight=weight)


def _with(**columns: Any) -> pd.DataFrame:
    return _FRAME.assign(**columns)


def _tables() -> Iterator[Bad]:
    """What is no table."""
    yield Bad("no table: None", _fit(None), "X is a NoneType")
    yield Bad("a text", _fit("income"), "X is a str")
    yield Bad("a dictionary", _fit({"income": _Y}), "X is a dict")
    yield Bad("a generator", _fit([1.0] for _ in range(N)), "X is a generator")
    yield Bad("one column as a series", _fit(_FRAME["income"]), "container|X ")
    yield Bad("an array of one dimension", _fit(_Y), "2D array")
    yield Bad("an array of three dimensions", _fit(np.zeros((N, 2, 2))), "dim 3")
    yield Bad("a list of uneven rows", _fit([[1.0, 2.0], [3.0]] * (N // 2)), "Row 1 of X")
    yield Bad("an array of records", _fit(_FRAME.to_records()), "X is an array of records")
    yield Bad("a lazy frame", _fit(pl.from_pandas(_FRAME).lazy()), "X is a lazy frame")
    yield Bad("a frame without columns", _fit(_FRAME[[]]), "0 feature")
    yield Bad("a frame without rows", _fit(_FRAME[:0], _Y[:0]), "0 sample")
    yield Bad("a single row", _fit(_FRAME[:1], _Y[:1]), "1 sample")
    yield Bad("more rows than targets", _fit(_FRAME, _Y[:7]), "X has 60 rows and y has 7")
    twice = _FRAME.set_axis(["income", "income"], axis=1)
    yield Bad("two columns of one name", _fit(twice), "'income'")
    some = _FRAME.set_axis([0, "purpose"], axis=1)
    yield Bad("names of which some are no text", _fit(some), "Feature names")


def _cells() -> Iterator[Bad]:
    """Cells that cannot be read."""
    column = r"[Cc]olumn 'income' \(number 0\)"
    infinite = np.where(np.arange(N) == 4, np.inf, _Y)
    yield Bad("an infinite number", _fit(_with(income=infinite)), column + ", row 4")
    huge = np.where(np.arange(N) == 4, 1e200, _Y)
    yield Bad("a number too large", _fit(_with(income=huge)), column + ", row 4")
    decimals = [Decimal("Infinity"), *map(Decimal, range(N - 1))]
    yield Bad("an infinite decimal", _fit(_with(income=decimals)), column + ", row 0")
    yield Bad("a column without values", _fit(_with(income=np.nan)), column)
    mixed = [*_Y[:-1].tolist(), "unknown"]
    yield Bad("numbers and a text", _fit(_with(income=mixed)), column + r".*row 59: 'unknown'")
    mixed = [dt.date(2020, 1, 1), *_Y[1:].tolist()]
    yield Bad("a date and numbers", _fit(_with(income=mixed)), column + r".*time \(row 0")
    mixed = [dt.date(2020, 1, 1), *["unknown"] * (N - 1)]
    yield Bad("a date and texts", _fit(_with(income=mixed)), column + r".*text \(row 1")
    yield Bad("lists in cells", _fit(_with(income=[[1.0]] * N)), column + ".*row 0")
    yield Bad("dictionaries in cells", _fit(_with(income=[{}] * N)), column + ".*row 0")
    yield Bad("bytes in cells", _fit(_with(income=[b"a"] * N)), column + ".*row 0")
    yield Bad("complex numbers in a frame", _fit(_with(income=_Y * 1j)), column + ".*row 0")
    several = pd.DataFrame({"income": ["a", 1] * (N // 2), "age": [b"a"] * N})
    yield Bad("two columns that cannot be read", _fit(several), "(?s)'income'.*'age'")


def _kinds() -> Iterator[Bad]:
    """Kinds of columns and arrays that are no numbers, times or categories."""
    column = r"Column 'income' \(number 0\)"
    periods = pd.period_range("2020", periods=N, freq="M")
    yield Bad("a column of periods", _fit(_with(income=periods)), column)
    yield Bad("a column of intervals", _fit(_with(income=pd.interval_range(0, N))), column)
    yield Bad("a polars column of lists", _fit(pl.DataFrame({"income": [[1.0]] * N})), column)
    yield Bad("a polars column of structs", _fit(pl.DataFrame({"income": [{"a": 1}] * N})), column)
    yield Bad("a pyarrow column of bytes", _fit(pa.table({"income": [b"a"] * N})), column)
    yield Bad("an array of complex numbers", _fit(_Y[:, None] * 1j), "X holds complex")
    yield Bad(
        "a sparse matrix of them", _fit(sparse.csr_array(_Y[:, None] * 1j)), "X holds complex"
    )
    yield Bad("an array of bytes", _fit(np.array([[b"a"]] * N)), "Column 'x0'")
    years = np.ones((N, 1), dtype="m8[Y]")
    yield Bad("durations in years", _fit(years), "Column 'x0'")
    far = np.full((N, 1), np.datetime64("300000-01-01"))
    yield Bad("a date 298,000 years from now", _fit(far), "Column 'x0'.*row 0")
    holes = sparse.csr_array(np.full((N, 1), np.inf))
    yield Bad("infinity in a sparse matrix", _fit(holes), "column 'x0'.*row 0")


def _targets() -> Iterator[Bad]:
    """Targets, classes and weights."""
    gap = np.where(np.arange(N) == 3, np.nan, _Y)
    yield Bad("a missing target", _fit(_FRAME, gap), "y contains NaN in row 3")
    yield Bad("an infinite target", _fit(_FRAME, gap + np.inf), "y contains")
    yield Bad("text for a regressor", _fit(_FRAME, ["high"] * N), "y contains text in row 0")
    yield Bad("two targets", _fit(_FRAME, np.column_stack([_Y, _Y])), "y should be a 1d array")
    one = LLAClassifier(2)
    yield Bad("one class", lambda: one.fit(_FRAME, ["good"] * N), "y holds only one class.*'good'")
    gap = pd.array(["good", "bad", None] * (N // 3), "string")
    yield Bad("a missing class", lambda: one.fit(_FRAME, gap), "y contains NaN in row 2")
    yield Bad(
        "a weight below zero", _fit(_FRAME, _Y, -(_Y**2)), "sample_weight is negative in row 0"
    )
    yield Bad("weights of another length", _fit(_FRAME, _Y, [1.0]), "sample_weight.shape")
    yield Bad(
        "weights of zero", _fit(_FRAME, _Y, np.zeros(N)), "sample_weight is zero in every row"
    )
    yield Bad(
        "a missing weight", _fit(_FRAME, _Y, gap_of(3)), "sample_weight is not finite in row 3"
    )


def gap_of(row: int) -> np.ndarray:
    """Weights of which one is missing."""
    return np.where(np.arange(N) == row, np.nan, 1.0)


def _parameters() -> Iterator[Bad]:
    """The parameter categorical_features."""
    for what, given, named in (
        ("a short mask", [True], "categorical_features is a mask of 1"),
        ("a column that is not there", [5], "categorical_features holds column 5"),
        ("a column below zero", [-1], "categorical_features holds column -1"),
        ("an unknown name", ["job"], r"categorical_features names \['job'\]"),
        ("a number", 1, "'categorical_features' parameter"),
        ("a name that is no list", "purpose", "'categorical_features' parameter"),
    ):
        yield Bad(f"categorical_features: {what}", _fit(_FRAME, categorical_features=given), named)
    unnamed = _fit(_FRAME.to_numpy(), categorical_features=["purpose"])
    yield Bad("categorical_features: names of an array", unnamed, "categorical_features names")
    none = _fit(_FRAME, categorical_features=None)
    yield Bad("text that is said to be no category", none, r"Column 'purpose' .*row 0")


def _new_rows() -> Iterator[Bad]:
    """New rows that do not fit the table of training."""
    moments = _with(day=pd.Timestamp("2020-01-01"), length=pd.Timedelta(days=1))
    model = LLARegressor(2, max_iter=2).fit(moments, _Y)

    def new(**columns: Any) -> Callable[[], Any]:
        return lambda: model.predict(moments.assign(**columns))

    yield Bad("predict before fit", lambda: LLARegressor().predict(_FRAME), "LLARegressor")
    yield Bad("no new rows", lambda: model.predict(moments[:0]), "0 sample")
    yield Bad("a column less", lambda: model.predict(_FRAME), r"Missing: \['day', 'length'\]")
    yield Bad("a column more", new(job="a"), r"Unknown: \['job'\]")
    fewer = moments.to_numpy()[:, :2]
    yield Bad("an array of fewer columns", lambda: model.predict(fewer), "X has 2 features")
    yield Bad("text where numbers were", new(income="a"), "Column 'income'.*row 0")
    yield Bad("numbers where text was", new(purpose=1.0), "Column 'purpose'.*row 0")
    yield Bad("a date where numbers were", new(income=moments["day"]), "Column 'income'.*numbers")
    yield Bad("numbers where dates were", new(day=1.0), "Column 'day'.*dates")
    yield Bad("text where dates were", new(day="soon"), "Column 'day'.*dates")
    yield Bad("numbers where durations were", new(length=1.0), "Column 'length'.*durations")
    yield Bad("an infinite number in new rows", new(income=np.inf), "column 'income'.*row 0")
    yield Bad("a mixture in new rows", new(purpose=["car", 1] * (N // 2)), "Column 'purpose'.*row")
