"""One prediction: its equation, how it differs from a reference, and how far the equation holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet.explain._sample import Sample, check_network, check_output
from lifenet.explain.boundaries import column_boundaries, nearest_boundaries
from lifenet.explain.levels import BASE_LEVEL
from lifenet.kernels.quantiles import weighted_quantiles
from lifenet.network import Bounded, Limited, ReluNetwork
from lifenet.schema import FeatureSchema, default_names, describe_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Bools, Floats
    from lifenet.explain.boundaries import Boundary
    from lifenet.network import PiecewiseLinear

__all__ = ["MINUS", "RowExplanation", "explain_row", "number_text"]

MINUS = "\N{MINUS SIGN}"
#: Columns out of range that are named in words; the others are counted.
_MOST_NAMED = 5
#: Hyperplanes that are reported where no number is asked for; chosen by hand.
_N_HYPERPLANES = 5


@dataclass(frozen=True, eq=False)
class RowExplanation:
    """Why a row has its score; made by `explain_row`.

    The parts of the waterfall sum to ``score - reference_score``; the contributions and the
    intercept of the equation sum to `score`.

    Attributes
    ----------
    schema : names, groups and training ranges of the columns
    x : ndarray of shape (n_columns,)
    score : float
    intercept : float, of the linear equation that holds in the row's region
    slopes : ndarray of shape (n_columns,), of that equation
    contributions : ndarray of shape (n_features,)
        Slope times value, summed over the columns of each feature.
    reference : str
        "mean", "median", "zero" or "row".
    reference_row : ndarray of shape (n_columns,)
    reference_score : float
    parts : ndarray of shape (n_features,)
        Change of the score from the reference to the row along the straight line, by feature.
    scale : ndarray of shape (n_columns,)
        One standard deviation of each column, by which distances are measured.
    limits : ndarray of shape (n_columns, 2)
        Lowest and highest value of each column for which the equation holds, the others held.
        NaN where nothing is known of the inner layer.
    boundaries : tuple of Boundary, the nearest first
        Of a `ReluNetwork`, the nearest hyperplanes. Of a `CodedNetwork`, for each column alone
        the nearest values below and above at which the equation changes, and why.
    region_share : float or None
        Share of the background rows that lie in the row's region.
    as_far : float or None
        Share of the background rows that are at least as far from their centre as the row, by
        Mahalanobis distance; 0 where it is farther out than all.
    """

    schema: FeatureSchema
    x: Floats
    score: float
    intercept: float
    slopes: Floats
    contributions: Floats
    reference: str
    reference_row: Floats
    reference_score: float
    parts: Floats
    scale: Floats
    limits: Floats
    boundaries: tuple[Boundary, ...]
    region_share: float | None
    as_far: float | None

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(name for name, _ in self.schema.groups)

    @property
    def outside(self) -> tuple[str, ...]:
        """Columns whose value lies outside the range seen in training."""
        outside = self.schema.outside(self.x[None])[0]
        return tuple(name for name, out in zip(self.schema.names, outside, strict=True) if out)

    @property
    def extrapolates(self) -> bool:
        """Whether a column is out of its range, or the row farther out than all background."""
        return bool(self.outside) or self.as_far == 0

    @property
    def caution(self) -> str:
        """What to beware of, in words; empty where the row lies among the data."""
        schema, said = self.schema, []
        for name in self.outside[:_MOST_NAMED]:
            column = schema.names.index(name)
            value, *ends = map(
                number_text, (self.x[column], schema.lower[column], schema.upper[column])
            )
            said.append(f"{name} = {value} (seen in training: {' to '.join(ends)})")
        if len(self.outside) > _MOST_NAMED:
            said.append(f"{len(self.outside) - _MOST_NAMED} more columns")
        if self.as_far == 0:
            said.append("the row is farther from the centre than all background rows")
        return f"Outside the training data: {'; '.join(said)}." if said else ""

    @property
    def unknown(self) -> tuple[str, ...]:
        """What cannot be said for want of rows, ranges or neurons, in words; a sentence each."""
        said = []
        ranged = np.isfinite(np.subtract(self.schema.upper, self.schema.lower))
        if self.region_share is None:
            said += [
                "Without background rows X, the share of rows in the row's region (region_share) "
                "and how far out the row lies (as_far) are unknown.",
                f"Without background rows X, distances are in {_unit_of(ranged)}.",
            ]
        if not ranged.all():
            said.append(
                "Without training ranges in the schema, values outside them cannot be flagged."
            )
        if np.isnan(self.limits).any():
            said.append(
                "The network does not show its neurons, so that limits and boundaries are unknown."
            )
        return tuple(said)

    def equation(self, digits: int = 4) -> str:
        """The row's equation, such as ``3.21 + 0.42·temp − 1.5·hum``; zero slopes are left out."""
        terms = [number_text(self.intercept, digits)]
        for slope, name in zip(self.slopes, self.schema.names, strict=True):
            if slope:
                sign = "+" if slope > 0 else MINUS
                terms.append(f"{sign} {number_text(abs(slope), digits)}·{name}")
        return " ".join(terms)

    def values(self) -> tuple[str, ...]:
        """The row's value of each feature as text; for dummies, the level."""
        return tuple(self._value(name, list(columns)) for name, columns in self.schema.groups)

    def _value(self, feature: str, columns: list[int]) -> str:
        values, names = self.x[columns], [self.schema.names[column] for column in columns]
        if names == [feature]:
            return number_text(values[0])
        if not np.isin(values, (0.0, 1.0)).all() or values.sum() > 1:
            return ", ".join(number_text(value) for value in values)
        on = [name for name, value in zip(names, values, strict=True) if value]
        return on[0].removeprefix(feature).lstrip("=_ ") or on[0] if on else BASE_LEVEL

    def steps(self, max_features: int = 12) -> tuple[tuple[str, float], ...]:
        """The waterfall: label and part of each feature, the largest first.

        What exceeds `max_features` is folded into a last step, "others (k)".
        """
        if max_features < 1:
            raise ValueError(f"max_features must be at least 1; it is {max_features}.")
        labels = [
            f"{name} = {value}" for name, value in zip(self.features, self.values(), strict=True)
        ]
        order = np.argsort(-np.abs(self.parts), kind="stable")
        n_shown = len(order) if len(order) <= max_features else max_features - 1
        steps = [(labels[place], float(self.parts[place])) for place in order[:n_shown]]
        if n_shown < len(order):
            rest = order[n_shown:]
            steps.append((f"others ({len(rest)})", float(self.parts[rest].sum())))
        return tuple(steps)

    def to_frame(self) -> pd.DataFrame:
        """One row a feature, in their order.

        Columns: feature, value (NaN for a category), label (its value or level as text), part (of
        the waterfall), contribution (to the equation).
        """
        single = [
            self.x[columns[0]] if len(columns) == 1 else np.nan for _, columns in self.schema.groups
        ]
        return _frame(
            {
                "feature": self.features,
                "value": single,
                "label": self.values(),
                "part": self.parts,
                "contribution": self.contributions,
            }
        )

    def columns_to_frame(self) -> pd.DataFrame:
        """One row a column.

        Columns: column, value, reference, slope, holds_from, holds_to (the equation, the other
        columns held), change (the smallest that leaves the region), outside (of training).
        """
        outside = self.outside
        return _frame(
            {
                "column": self.schema.names,
                "value": self.x,
                "reference": self.reference_row,
                "slope": self.slopes,
                "holds_from": self.limits[:, 0],
                "holds_to": self.limits[:, 1],
                "change": self.smallest_change,
                "outside": [name in outside for name in self.schema.names],
            }
        )

    @property
    def smallest_change(self) -> Floats:
        """The smallest change of each column alone that leaves the region, (n_columns,).

        Infinite where no change of that column does, NaN where it is not known.
        """
        down, up = (self.limits - self.x[:, None]).T
        return np.asarray(np.where(-down < up, down, up))

    def boundaries_to_frame(self) -> pd.DataFrame:
        """One row a boundary, the nearest first.

        Columns: kind, column and value (of the column that moves alone; None and NaN for a
        hyperplane), neurons, distance, adjacent, and for each column the change that leads there
        ("change of temp") and the slope just beyond ("slope of temp").
        """
        names = self.schema.names
        shown: dict[str, Any] = {
            "kind": [one.kind for one in self.boundaries],
            "column": [
                None if one.column is None else names[one.column] for one in self.boundaries
            ],
            "value": [np.nan if one.value is None else one.value for one in self.boundaries],
            "neurons": [", ".join(map(str, one.neurons)) for one in self.boundaries],
            "distance": [one.distance for one in self.boundaries],
            "adjacent": [one.adjacent for one in self.boundaries],
        }
        for column, name in enumerate(names):
            shown[f"change of {name}"] = [one.change[column] for one in self.boundaries]
        for column, name in enumerate(names):
            shown[f"slope of {name}"] = [one.slopes[column] for one in self.boundaries]
        return _frame(shown)


def explain_row(
    network: PiecewiseLinear,
    x: Any,
    *,
    reference: Any = None,
    X: Any = None,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
    n_boundaries: int | None = None,
) -> RowExplanation:
    """Explain the score of one row: equation, waterfall, boundaries, and how usual the row is.

    Parameters
    ----------
    network : PiecewiseLinear
        Limits and boundaries need a ReluNetwork or a CodedNetwork, whose inner layer can be
        looked at.
    x : row of numbers (n_columns,), a Series, or a data frame of one row
    reference : "mean", "median", "zero", a row of numbers, or None, default=None
        Where the waterfall starts; mean and median are those of `X`, column by column (the median
        is the smallest value that half of the weight does not exceed), zero is the row of zeros.
        None is the mean, or zero where no `X` is given.
    X : array-like or data frame of shape (n_samples, n_columns), or None
        Background rows, such as the training data. Distances are in their standard deviations.
        Without them nothing is said about how usual the row is (`unknown` says what is missing),
        and a standard deviation is taken to be that of an even spread over the training range of
        a `FeatureSchema`, or 1 where no range is known.
    schema : FeatureSchema, names of the columns, or None
    sample_weight : array-like of shape (n_samples,) or None, of the rows of `X`
    output : int or None
        Which score; None where there is only one.
    n_boundaries : int or None, default=None
        How many of the nearest boundaries to report. None is 5 hyperplanes for a ReluNetwork, and
        all boundaries for a CodedNetwork, at most two a column.
    """
    check_network(network)
    known, background = _background(network, x, X, schema, sample_weight, output)
    if n_boundaries is not None and n_boundaries < 0:
        raise ValueError(f"n_boundaries must be at least 0; it is {n_boundaries}.")
    if reference is None:
        reference = "zero" if background is None else "mean"
    row, start = _row_of("x", x, known), _reference_row(reference, background, known)
    which = check_output(network, output)
    scale = _scale_of(known) if background is None else background.spread
    limits, boundaries = _ends_of_equation(network, row, scale, which, n_boundaries)
    slopes, constant = network.equation(row[None])
    ends = np.asarray(network.score(np.stack([start, row]))[:, which], dtype=np.float64)
    return RowExplanation(
        schema=known,
        x=row,
        score=float(ends[1]),
        intercept=float(constant[0, which]),
        slopes=slopes[0, :, which],
        contributions=_by_feature(slopes[0, :, which] * row, known),
        reference=reference if isinstance(reference, str) else "row",
        reference_row=start,
        reference_score=float(ends[0]),
        parts=_by_feature(network.segment(start, row)[0, :, which], known),
        scale=scale,
        limits=limits,
        boundaries=boundaries,
        region_share=None if background is None else _region_share(background, row),
        as_far=None if background is None else _share_as_far(background, row),
    )


def number_text(value: float, digits: int = 4) -> str:
    """A number with about `digits` digits, never fewer than its whole part, and a real minus."""
    size = abs(float(value))
    text = f"{size:.0f}" if 10 ** (digits - 1) <= size < 1e15 else f"{size:.{digits}g}"
    return MINUS + text if value < 0 else text


def _frame(columns: dict[str, Any]) -> pd.DataFrame:
    pandas: Any = require("pandas", extra="data", purpose="A frame of the explanation")
    frame: pd.DataFrame = pandas.DataFrame(columns)
    return frame


def _background(
    network: PiecewiseLinear,
    x: Any,
    X: Any,
    schema: FeatureSchema | Sequence[str] | None,
    sample_weight: npt.ArrayLike | None,
    output: int | None,
) -> tuple[FeatureSchema, Sample | None]:
    """What is known of the columns, and the background rows where there are any."""
    if X is not None:
        sample = Sample.of(network, X, schema=schema, sample_weight=sample_weight, output=output)
        return sample.schema, sample
    if sample_weight is not None:
        raise ValueError("sample_weight weighs the rows of X, which is None. Pass X as well.")
    p = network.n_features
    if not isinstance(schema, FeatureSchema):
        names = schema if schema is not None else _labels(x) or default_names(p)
        groups = tuple((str(name), (column,)) for column, name in enumerate(names))
        names = tuple(name for name, _ in groups)
        low, high = (-np.inf,) * len(names), (np.inf,) * len(names)
        schema = FeatureSchema(names, low, high, groups)
    if schema.n_features != p:
        raise ValueError(f"The schema names {schema.n_features} columns; the network reads {p}.")
    return schema, None


def _labels(x: Any) -> list[str]:
    """Names that a data frame or a Series gives to its columns; none for other rows."""
    labels = getattr(x, "columns", getattr(x, "index", None))
    return [] if labels is None or callable(labels) else [str(label) for label in labels]


def _row_of(name: str, x: Any, schema: FeatureSchema) -> Floats:
    """A single row as checked numbers, (n_columns,)."""
    labels = _labels(x)
    if labels and labels != list(schema.names):
        raise ValueError(
            f"{name} has the columns {labels}; expected {list(schema.names)}, in this order."
        )
    try:
        row = np.array(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a row of numbers: {error}.") from error
    row = row[0] if row.ndim == 2 and len(row) == 1 else row
    if row.shape != (schema.n_features,):
        raise ValueError(
            f"{name} has shape {row.shape}; expected a single row, ({schema.n_features},)."
        )
    for column in np.flatnonzero(~np.isfinite(row)):
        kind, remedy = describe_number(row[column])
        raise ValueError(f"{name} contains {kind}: column {schema.names[column]!r}. {remedy}")
    return row


def _reference_row(reference: Any, background: Sample | None, schema: FeatureSchema) -> Floats:
    if not isinstance(reference, str):
        return _row_of("reference", reference, schema)
    if reference not in ("mean", "median", "zero"):
        raise ValueError(
            f'reference must be "mean", "median", "zero" or a row of numbers; it is {reference!r}.'
        )
    if reference == "zero":
        return np.zeros(schema.n_features)
    if background is None:
        raise ValueError(
            f'The {reference} needs background rows: pass X, or "zero" or a row of numbers as the '
            "reference."
        )
    if reference == "mean":
        return background.center
    half, weight = np.array([0.5]), background.weight
    return np.array([weighted_quantiles(column, weight, half)[0] for column in background.X.T])


def _scale_of(schema: FeatureSchema) -> Floats:
    """Standard deviation of an even spread over each column's range; 1 where it is unknown."""
    width = np.subtract(schema.upper, schema.lower)
    return np.asarray(np.where(np.isfinite(width), width / np.sqrt(12.0), 1.0))


def _ends_of_equation(
    network: PiecewiseLinear, row: Floats, scale: Floats, output: int, n_boundaries: int | None
) -> tuple[Floats, tuple[Boundary, ...]]:
    """Limits of each column and boundaries of the row, as far as the network shows them."""
    limits = np.full((len(row), 2), np.nan)
    if isinstance(network, Limited):
        limits = network.limits(row, output)
    if isinstance(network, ReluNetwork):
        most = _N_HYPERPLANES if n_boundaries is None else n_boundaries
        return limits, nearest_boundaries(network, row, scale, output, most)
    if isinstance(network, Bounded):
        bounds = network.bounds(row, output)
        return limits, column_boundaries(bounds, row, scale, n_boundaries)
    return limits, ()


def _unit_of(ranged: Bools) -> str:
    """What `_scale_of` measures distances in, given which columns have a range."""
    spread = "standard deviations of an even spread over the training ranges"
    if ranged.all():
        return spread
    return f"{spread}, in plain units without one" if ranged.any() else "units of the columns"


def _by_feature(columns: Floats, schema: FeatureSchema) -> Floats:
    return np.array([columns[list(group)].sum() for _, group in schema.groups], dtype=np.float64)


def _region_share(background: Sample, row: Floats) -> float:
    """Share of the background rows that lie in the region of a row."""
    keys = background.network.region_keys(background.X)
    return float(background.weight[keys == background.network.region_keys(row[None])[0]].sum())


def _share_as_far(background: Sample, row: Floats) -> float:
    """Share of the background rows at least as far from their centre as a row.

    By Mahalanobis distance over the directions in which the rows vary. A row that leaves the
    plane of all others (another value in a constant column, dummies that contradict each other) is
    farther than all.
    """
    center, spread = background.center, background.spread
    unit = np.where(spread > 0, spread, np.maximum(np.abs(center), 1.0))
    rows, given = (background.X - center) / unit, (row - center) / unit
    values, axes = np.linalg.eigh(rows.T @ (background.weight[:, None] * rows))
    varies = values > 1e-10
    flat = axes[:, ~varies]
    if np.linalg.norm(given @ flat) > 1e-6 + np.linalg.norm(rows @ flat, axis=1).max():
        return 0.0
    stretch = axes[:, varies] / np.sqrt(values[varies])
    far = np.linalg.norm(rows @ stretch, axis=1) >= np.linalg.norm(given @ stretch) * (1 - 1e-9)
    return float(min(1.0, background.weight[far].sum()))
