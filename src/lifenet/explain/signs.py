"""The sign of each column's slope over the data, and whether it is the one expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.explain._exchange import draw_pairs
from lifenet.explain._level_changes import level_slopes
from lifenet.explain._sample import Sample
from lifenet.explain._windows import DEFAULT_REACH, check_reach, slopes_at_reach
from lifenet.explain.regions import evenly_spaced
from lifenet.kernels.quantiles import weighted_quantiles

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Bools, Floats, Integers
    from lifenet.schema import FeatureSchema

__all__ = ["CoefficientSigns", "SignCheck", "coefficient_signs"]

# Shares are sums: one that is what was asked for may fall short of it by rounding.
_ROUNDING = 1e-12

#: Shares of the rows whose slopes lie below the quantiles that are given.
_LEVELS = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
_KEPT_ROWS, _WORST_ROWS = 5_000, 10
#: Pairs of rows that a column's size is measured on.
_PAIRS = 2_000
_NOT_ASKED: dict[str, Any] = {"expected": 0, "against": np.nan, "agrees": None}
_KINDS = {"expected": int, "against": float, "agrees": object}


@shown
@dataclass(frozen=True, eq=False)
class SignCheck:
    """One column's slopes against the sign that the user expects.

    Attributes
    ----------
    name : str
        Name of the column.
    expected : int
        +1 or -1.
    against : float
        Share of the rows whose slope has the other sign, and whose change is not near zero.
    agrees : bool
        Whether that share is at most ``1 - agreement``, or the column near zero.
    rows : ndarray of shape (n_worst,)
        Rows that are furthest against it, the worst first, as places in the table given; at most
        ten.
    slopes : ndarray of shape (n_worst,)
        Their slopes.
    """

    name: str
    expected: int
    against: float
    agrees: bool
    rows: Integers
    slopes: Floats


@shown
@dataclass(frozen=True, eq=False)
class CoefficientSigns:
    """How the slope of each column is distributed over the rows, and a verdict on its sign.

    Attributes
    ----------
    schema : FeatureSchema
        Names and groups of the columns.
    mean, deviation : ndarray of shape (n_columns,)
        Mean and standard deviation of the slope.
    levels : tuple of float
    quantiles : ndarray of shape (n_columns, n_levels)
        The slope that a share `levels` of the rows does not exceed.
    spread : ndarray of shape (n_columns,)
        Standard deviation of the column itself.
    size : ndarray of shape (n_columns,)
        By how much the score changes when the column's value is taken from another row, as
        `feature_importance` measures it.
    positive : ndarray of shape (n_columns,)
        Share of the change over the windows of all rows that goes up with the column; NaN where
        nothing changes.
    verdict : tuple of str
        "positive", "negative", "changing sign" or "near zero"; see `coefficient_signs`.
    near_zero, agreement, reach : float
        As given.
    checks : tuple of SignCheck
        One for each column whose sign was expected, in the order given.
    rows : ndarray of shape (n_kept,)
        At most 5,000 rows, evenly spaced, as places in the table given.
    slopes, changes : ndarrays of shape (n_kept, n_columns)
        Slopes of those rows, and the changes over their windows, to draw their distribution; NaN
        where a value is missing.
    weight : ndarray of shape (n_kept,)
        Their weights.
    """

    schema: FeatureSchema
    mean: Floats
    deviation: Floats
    levels: tuple[float, ...]
    quantiles: Floats
    spread: Floats
    size: Floats
    positive: Floats
    verdict: tuple[str, ...]
    near_zero: float
    agreement: float
    reach: float
    checks: tuple[SignCheck, ...]
    rows: Integers
    slopes: Floats
    changes: Floats
    weight: Floats

    @property
    def violations(self) -> tuple[SignCheck, ...]:
        """The checks that fail, with the worst rows of each."""
        return tuple(check for check in self.checks if not check.agrees)

    def to_frame(self) -> pd.DataFrame:
        """One row a column of the data.

        Columns: feature (the group of the column), mean, deviation, a quantile a level ("q5"),
        spread, size, positive, verdict; and where signs were expected, expected (0 for none),
        against and agrees (None where not asked).
        """
        pandas: Any = require("pandas", extra="data", purpose="The table of signs")
        feature = {column: name for name, columns in self.schema.groups for column in columns}
        table: dict[str, Any] = {
            "feature": [feature[column] for column in range(self.schema.n_features)],
            "mean": self.mean,
            "deviation": self.deviation,
        }
        for place, level in enumerate(self.levels):
            table[f"q{100 * level:g}"] = self.quantiles[:, place]
        table |= {"spread": self.spread, "size": self.size, "positive": self.positive}
        table["verdict"] = list(self.verdict)
        frame: pd.DataFrame = pandas.DataFrame(table, index=list(self.schema.names))
        asked = {check.name: check for check in self.checks}
        for part, without in _NOT_ASKED.items() if asked else ():
            found = [getattr(asked.get(name), part, without) for name in self.schema.names]
            frame[part] = pandas.Series(found, frame.index, dtype=_KINDS[part])
        return frame.rename_axis("column")


def coefficient_signs(
    network: Any,
    X: Any,
    *,
    expected: Mapping[str, int] | None = None,
    near_zero: float = 0.05,
    agreement: float = 0.95,
    reach: float = DEFAULT_REACH,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
) -> CoefficientSigns:
    """Which of the paper's three scenarios (section 4.2) the slopes of each column follow.

    Slopes are those over the reach of each row, as `explain_row` gives them; where a column has no
    other value in reach (a code, a count), the change between its next values below and above. A
    slope times the width that it was taken over is the row's change. Of a column that says whether
    something is the case, such as "income is missing" or "purpose = car", it is what its being so
    changes: against the row's own value, or the mean over the other levels. Rows whose value is
    missing count for the other columns only. The verdict is

    - "near zero" (scenario 3) where the column's size, as `feature_importance` measures it, is at
      most `near_zero` times the standard deviation of the score: it hardly moves the score;
    - "positive" or "negative" (scenario 1) where at least a share `agreement` of the changes, in
      absolute value and summed over the rows, has that sign;
    - "changing sign" (scenario 2) otherwise: the column has a nonlinear effect of its own, or
      interacts with others.

    Parameters
    ----------
    network : fitted model, pipeline that ends in one, or PiecewiseLinear
    X : array-like or data frame of shape (n_samples, n_columns)
    expected : mapping from column names to +1 or -1, or None, default=None
        Signs to be checked, such as ``{"age": +1}``. A row speaks against one if its slope has the
        other sign and its change is larger than `near_zero` times the root mean square of the
        column's changes. The column agrees if such rows are at most a share ``1 - agreement``, or
        if it is near zero.
    near_zero : float, default=0.05
        From 0 to below 1.
    agreement : float, default=0.95
        Above 0.5, at most 1.
    reach : float, default=0.05
        Share of each column's span; 0 takes the slopes of the rows themselves.
    schema : FeatureSchema, names of the columns, or None, default=None
    sample_weight : array-like of shape (n_samples,) or None, default=None
    output : int or None, default=None
        Which score; None where there is only one.

    Returns
    -------
    CoefficientSigns
    """
    if not 0 <= near_zero < 1:
        raise ValueError(f"near_zero must be from 0 to below 1; it is {near_zero}.")
    if not 0.5 < agreement <= 1:
        raise ValueError(f"agreement must be above 0.5 and at most 1; it is {agreement}.")
    sample = Sample.of(network, X, schema=schema, sample_weight=sample_weight, output=output)
    wanted = _check_expected(expected, sample.schema)
    asked = check_reach(reach)
    slopes, width = slopes_at_reach(sample, asked)
    changes = slopes * width
    rows = _ObservedRows.of(sample)
    mass, size = rows.mean(np.abs(changes)), _sizes(sample)
    positive = np.full(len(mass), np.nan)
    np.divide(rows.mean(np.maximum(changes, 0)), mass, out=positive, where=mass > 0)
    least = near_zero * float(sample.deviation(sample.score))
    kept = evenly_spaced(len(slopes), _KEPT_ROWS)
    return CoefficientSigns(
        schema=sample.schema,
        mean=rows.mean(slopes),
        deviation=np.sqrt(rows.mean(np.square(slopes - rows.mean(slopes)))),
        levels=_LEVELS,
        quantiles=rows.quantiles(slopes, np.array(_LEVELS)),
        spread=sample.spread,
        size=size,
        positive=positive,
        verdict=tuple(_verdicts(size <= least, positive, agreement)),
        near_zero=near_zero,
        agreement=agreement,
        reach=asked,
        checks=tuple(
            _check_sign(
                sample,
                column,
                sign,
                rows.weight(column),
                slopes[:, column],
                changes[:, column],
                near_zero,
                1.0 if size[column] <= least else 1 - agreement,
            )
            for column, sign in wanted.items()
        ),
        rows=sample.rows[kept],
        slopes=rows.or_nan(slopes)[kept],
        changes=rows.or_nan(changes)[kept],
        weight=sample.weight[kept],
    )


def _verdicts(small: Bools, positive: Floats, agreement: float) -> Iterator[str]:
    for near_zero, share in zip(small, positive, strict=True):
        if near_zero:
            yield "near zero"
        elif share >= agreement - _ROUNDING:
            yield "positive"
        else:
            yield "negative" if share <= 1 - agreement + _ROUNDING else "changing sign"


def _check_expected(expected: Mapping[str, int] | None, schema: FeatureSchema) -> dict[int, int]:
    """Expected signs by the number of the column."""
    if expected is None:
        return {}
    if not isinstance(expected, Mapping):
        raise TypeError(
            f"expected must map names to +1 or -1, such as {{'age': +1}}; it is {expected!r}."
        )
    groups = dict(schema.groups)
    signs: dict[int, int] = {}
    for name, sign in expected.items():
        if name not in schema.names:
            columns = [schema.names[column] for column in groups.get(name, ())]
            known = f"name its columns {columns}" if columns else f"known are {list(schema.names)}"
            raise ValueError(f"expected names {name!r}, which is not a column of X: {known}.")
        if sign not in (1, -1):
            raise ValueError(f"expected[{name!r}] must be +1 or -1; it is {sign!r}.")
        signs[schema.names.index(name)] = int(sign)
    return signs


def _sizes(sample: Sample) -> Floats:
    """Size of each column alone, (n_columns,).

    Of one that says whether something is the case, by what its being so changes, in the share of
    the pairs of rows that differ in it.
    """
    first, second = draw_pairs(sample, _PAIRS, 0)
    moved = sample.network.moves(first, second[None])[0, :, :, sample.output]
    for column, gone in sample.schema.gaps.items():
        moved[(first[:, gone] != 0) | (second[:, gone] != 0), column] = 0.0
    sizes = np.sqrt(np.square(moved).mean(axis=0) / 2)
    for column, change in level_slopes(sample).items():
        share = float(sample.mean(sample.X[:, column]))
        sizes[column] = np.sqrt(share * (1 - share) * float(sample.mean(np.square(change))))
    return np.asarray(sizes)


@dataclass(frozen=True, eq=False)
class _ObservedRows:
    """For columns with gaps the rows that have a value; for the others all."""

    sample: Sample
    seen: dict[int, Bools]

    @classmethod
    def of(cls, sample: Sample) -> _ObservedRows:
        gaps = sample.schema.gaps.items()
        seen = {column: sample.X[:, gone] == 0 for column, gone in gaps}
        return cls(sample, {column: one for column, one in seen.items() if one.any()})

    def weight(self, column: int) -> Floats:
        """Weights of the rows, (n,); zero where the value is missing."""
        if column not in self.seen:
            return self.sample.weight
        weight = np.where(self.seen[column], self.sample.weight, 0.0)
        return np.asarray(weight / weight.sum())

    def mean(self, values: Floats) -> Floats:
        """Weighted mean of each column, (n_columns,)."""
        found = self.sample.mean(values)
        for column in self.seen:
            found[column] = self.weight(column) @ values[:, column]
        return found

    def quantiles(self, values: Floats, levels: Floats) -> Floats:
        """Weighted quantiles of each column, (n_columns, n_levels)."""
        found = []
        for column, own in enumerate(values.T):
            weight = self.weight(column)
            found.append(weighted_quantiles(own[weight > 0], weight[weight > 0], levels))
        return np.array(found)

    def or_nan(self, values: Floats) -> Floats:
        """The values with NaN where the column has none."""
        found = values.copy()
        for column, seen in self.seen.items():
            found[~seen, column] = np.nan
        return found


def _check_sign(
    sample: Sample,
    column: int,
    sign: int,
    weight: Floats,
    slopes: Floats,
    changes: Floats,
    near_zero: float,
    allowed: float,
) -> SignCheck:
    opposed = -sign * changes
    bad = np.flatnonzero(opposed > near_zero * np.sqrt(weight @ np.square(changes)))
    worst = bad[np.argsort(-opposed[bad], kind="stable")[:_WORST_ROWS]]
    against = float(weight[bad].sum())
    return SignCheck(
        name=sample.names[column],
        expected=sign,
        against=against,
        agrees=against <= allowed + _ROUNDING,
        rows=sample.rows[worst],
        slopes=slopes[worst],
    )
