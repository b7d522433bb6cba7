"""Explanations of rows, one or many: what they share is computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain._sample import Sample, check_network, check_output
from lifenet.explain.boundaries import column_boundaries, nearest_boundaries
from lifenet.explain.one_row import RowExplanation
from lifenet.kernels.quantiles import weighted_quantiles
from lifenet.network import Bounded, Limited, ReluNetwork
from lifenet.schema import FeatureSchema, default_names, describe_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from lifenet._typing import Floats, Integers
    from lifenet.explain.boundaries import Boundary
    from lifenet.network import PiecewiseLinear

__all__ = ["explain_row", "explain_rows"]

#: Hyperplanes that are reported where no number is asked for; chosen by hand.
_N_HYPERPLANES = 5


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
    known, sample = _background(network, x, X, schema, sample_weight, output)
    row = _row_of("x", x, known)[None]
    (found,) = _explain(network, row, reference, known, sample, output, True, n_boundaries)
    return found


def explain_rows(
    network: PiecewiseLinear,
    rows: Any,
    *,
    reference: Any = None,
    X: Any = None,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
    limits: bool = False,
    n_boundaries: int | None = None,
) -> tuple[RowExplanation, ...]:
    """Explain the scores of many rows, as `explain_row` explains one.

    Equations and waterfalls of all rows are computed together, and what is asked of the background
    rows once.

    Parameters
    ----------
    network, reference, X, schema, sample_weight, output, n_boundaries : as in `explain_row`
    rows : array-like or data frame of shape (n_rows, n_columns)
    limits : bool, default=False
        Whether to look for the limits and boundaries of every row's equation, which takes longer
        than all else. Otherwise they are unknown.

    Returns
    -------
    tuple of RowExplanation, one a row

    Examples
    --------
    >>> from lifenet.explain import explain_rows
    >>> from lifenet.network import ReluNetwork
    >>> hinge = ReluNetwork([[1.0, -1.0]], [0.5], [2.0], 1.0)
    >>> first, second = explain_rows(hinge, [[1.0, 0.0], [0.0, 1.0]])
    >>> first.equation(), second.equation()
    ('2 + 2·x0 − 2·x1', '1')
    """
    check_network(network)
    known, sample = _background(network, rows, X, schema, sample_weight, output)
    table = _table_of("rows", rows, known)
    found = _explain(network, table, reference, known, sample, output, limits, n_boundaries)
    return tuple(found)


def _explain(
    network: PiecewiseLinear,
    rows: Floats,
    reference: Any,
    known: FeatureSchema,
    sample: Sample | None,
    output: int | None,
    limits: bool,
    n_boundaries: int | None,
) -> list[RowExplanation]:
    """Explanations of checked rows."""
    if n_boundaries is not None and n_boundaries < 0:
        raise ValueError(f"n_boundaries must be at least 0; it is {n_boundaries}.")
    if reference is None:
        reference = "zero" if sample is None else "mean"
    start, which = _reference_row(reference, sample, known), check_output(network, output)
    scale = _scale_of(known) if sample is None else sample.spread
    slopes, constant = network.equation(rows)
    scores = np.asarray(network.score(np.vstack([start, rows]))[:, which], dtype=np.float64)
    parts = network.segment(start, rows)[:, :, which]
    usual = None if sample is None else _Background(sample)
    shares = None if usual is None else usual.region_shares(rows)
    far = None if usual is None else usual.shares_as_far(rows)
    found = []
    for index, row in enumerate(rows):
        ends: Floats = np.full((len(row), 2), np.nan)
        boundaries: tuple[Boundary, ...] = ()
        if limits:
            ends, boundaries = _ends_of_equation(network, row, scale, which, n_boundaries)
        slope = slopes[index, :, which]
        found.append(
            RowExplanation(
                schema=known,
                x=row,
                score=float(scores[1 + index]),
                intercept=float(constant[index, which]),
                slopes=slope,
                contributions=_by_feature(slope * row, known),
                reference=reference if isinstance(reference, str) else "row",
                reference_row=start,
                reference_score=float(scores[0]),
                parts=_by_feature(parts[index], known),
                scale=scale,
                limits=ends,
                boundaries=boundaries,
                region_share=None if shares is None else float(shares[index]),
                as_far=None if far is None else float(far[index]),
            )
        )
    return found


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


def _table_of(name: str, rows: Any, schema: FeatureSchema) -> Floats:
    """Rows as checked numbers, (n_rows, n_columns)."""
    labels = _labels(rows) if hasattr(rows, "columns") else []
    if labels and labels != list(schema.names):
        raise ValueError(
            f"{name} has the columns {labels}; expected {list(schema.names)}, in this order."
        )
    try:
        table = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a table of numbers: {error}.") from error
    if table.ndim != 2 or table.shape[1] != schema.n_features:
        raise ValueError(f"{name} has shape {table.shape}; expected (n_rows, {schema.n_features}).")
    for row, column in np.argwhere(~np.isfinite(table))[:1]:
        kind, remedy = describe_number(table[row, column])
        raise ValueError(
            f"{name} contains {kind}: column {schema.names[column]!r}, row {row}. {remedy}"
        )
    return table


def _ends_of_equation(
    network: PiecewiseLinear, row: Floats, scale: Floats, output: int, n_boundaries: int | None
) -> tuple[Floats, tuple[Boundary, ...]]:
    """Limits of each column and boundaries of the row, as far as the network shows them."""
    if isinstance(network, Bounded):  # its limits are its bounds
        bounds = network.bounds(row, output)
        ends = np.tile([-np.inf, np.inf], (len(row), 1))
        for bound in bounds:
            ends[bound.column, int(bound.upper)] = bound.value
        return ends, column_boundaries(bounds, row, scale, n_boundaries)
    limits = np.full((len(row), 2), np.nan)
    if isinstance(network, Limited):
        limits = network.limits(row, output)
    if isinstance(network, ReluNetwork):
        most = _N_HYPERPLANES if n_boundaries is None else n_boundaries
        return limits, nearest_boundaries(network, row, scale, output, most)
    return limits, ()


def _by_feature(columns: Floats, schema: FeatureSchema) -> Floats:
    return np.array([columns[list(group)].sum() for _, group in schema.groups], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Background:
    """Background rows, and what is asked of them for every row."""

    sample: Sample

    @cached_property
    def _regions(self) -> tuple[Integers, Floats]:
        """Keys of the regions of the background rows, ascending, and the weight in each."""
        keys, index = np.unique(self.sample.network.region_keys(self.sample.X), return_inverse=True)
        weight: Floats = np.bincount(index.ravel(), self.sample.weight).astype(np.float64)
        return keys, weight

    def region_shares(self, rows: Floats) -> Floats:
        """Share of the background rows that lie in the region of each row, (n,)."""
        keys, weight = self._regions
        own = self.sample.network.region_keys(rows)
        place = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
        return np.where(keys[place] == own, weight[place], 0.0)

    def shares_as_far(self, rows: Floats) -> Floats:
        """Share of the background rows at least as far from their centre as each row, (n,).

        By Mahalanobis distance over the directions in which the rows vary. A row that leaves the
        plane of all others (another value in a constant column, dummies that contradict each
        other) is farther than all.
        """
        sample = self.sample
        center, spread = sample.center, sample.spread
        unit = np.where(spread > 0, spread, np.maximum(np.abs(center), 1.0))
        known, given = (sample.X - center) / unit, (rows - center) / unit
        values, axes = np.linalg.eigh(known.T @ (sample.weight[:, None] * known))
        varies = values > 1e-10
        flat, stretch = axes[:, ~varies], axes[:, varies] / np.sqrt(values[varies])
        beside = np.linalg.norm(known @ flat, axis=1).max(initial=0.0)
        out = np.linalg.norm(given @ flat, axis=1) > 1e-6 + beside
        distance = np.linalg.norm(known @ stretch, axis=1)
        order = np.argsort(distance)
        beyond = np.append(np.cumsum(sample.weight[order][::-1])[::-1], 0.0)
        reach = np.linalg.norm(given @ stretch, axis=1) * (1 - 1e-9)
        share = beyond[np.searchsorted(distance[order], reach)]
        return np.where(out, 0.0, np.minimum(share, 1.0))
