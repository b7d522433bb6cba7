"""Explanations of rows, one or many: what they share is computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain._cells import cells_of
from lifenet.explain._level_changes import level_changes
from lifenet.explain._reference import row_of, start_of
from lifenet.explain._sample import Sample, check_output, names_unless_unknown
from lifenet.explain._subject import Subject, in_order, subject_with
from lifenet.explain._windows import (
    DEFAULT_REACH,
    check_reach,
    neighbours,
    share_explained,
    window_lines,
)
from lifenet.explain.boundaries import column_boundaries, nearest_boundaries
from lifenet.explain.one_row import RowExplanation
from lifenet.kernels.numbers import describe_number
from lifenet.network import Bounded, Limited, ReluNetwork
from lifenet.schema import FeatureSchema

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from lifenet._typing import Floats, Integers
    from lifenet.explain._cells import Cells
    from lifenet.explain.boundaries import Boundary
    from lifenet.network import PiecewiseLinear

__all__ = ["explain_row", "explain_rows"]

#: Hyperplanes that are reported where no number is asked for; chosen by hand.
_N_HYPERPLANES = 5


def explain_row(
    network: Any,
    x: Any,
    *,
    reach: float | None = None,
    reference: Any = None,
    X: Any = None,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
    n_boundaries: int | None = None,
) -> RowExplanation:
    """Explain the score of one row: equation, waterfall, and how usual the row is.

    Parameters
    ----------
    network : fitted model, pipeline that ends in one, or PiecewiseLinear
        With `reach=0`, limits and boundaries need a ReluNetwork or a CodedNetwork, whose inner
        layer can be looked at.
    x : row (n_columns,) as a list, an array or a Series, or a data frame of one row
        Named columns are matched by name.
    reach : float or None, default=None
        How far the equation is to hold, as a share of each column's span (the distance of its 5 %
        and 95 % quantile). The slope of a column is then that of least squares through the row's
        own score, over the training values within reach of the row's value, the other columns
        held; a column without another value in reach gets none, and `nearest` says what its next
        values would change, `level_changes` what other levels and missing values would. 0 is the
        exact equation at the row itself, which may hold nowhere else. None is 0.05 where the values
        of the columns in training are known (from a model, its `schema_`, or `X`), else 0.
    reference : "mean score", "mean", "median", "zero", a row of numbers, or None, default=None
        Where the waterfall starts: at the mean score of `X`, with the mean over straight lines from
        32 rows that stand for all; or at the score of a row, which is much faster. Mean and
        median are those of `X`, column by column (the median is the smallest value that half of
        the weight does not exceed; of a category the most frequent level), zero is the row of
        zeros. None is the mean score; where no `X` is given, zero, or for tables with categories,
        missing values or dates the median of training.
    X : array-like or data frame of shape (n_samples, n_columns), or None
        Background rows, such as the training data. Distances are in their standard deviations.
        Without them nothing is said about how usual the row is (`unknown` says what is missing),
        and a standard deviation is taken to be that of an even spread over the training range of
        a `FeatureSchema`, or 1 where no range is known.
    schema : FeatureSchema, names of the columns, or None
        None takes the model's own.
    sample_weight : array-like of shape (n_samples,) or None, of the rows of `X`
    output : int or None
        Which score; None where there is only one.
    n_boundaries : int or None, default=None
        With `reach=0`, how many of the nearest boundaries to report. None is 5 hyperplanes for a
        ReluNetwork, and all boundaries for a CodedNetwork, at most two a column.
    """
    at_row = n_boundaries is not None
    request = _Request.of(network, x, X, schema, sample_weight, output, reach, reference, at_row)
    row = row_of("x", request.subject.prepared_row(x), request.schema)[None]
    cells = cells_of(request.subject, request.schema, request.subject.one_row(x), row)
    (found,) = _explain(request, row, cells, True, n_boundaries)
    return found


def explain_rows(
    network: Any,
    rows: Any,
    *,
    reach: float | None = None,
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
    network, reach, reference, X, schema, sample_weight, output, n_boundaries : as in `explain_row`
    rows : array-like or data frame of shape (n_rows, n_columns)
    limits : bool, default=False
        With `reach=0`, whether to look for the limits and boundaries of every row's equation,
        which takes longer than all else. Otherwise they are unknown.

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
    at_row = limits or n_boundaries is not None
    request = _Request.of(network, rows, X, schema, sample_weight, output, reach, reference, at_row)
    table = _table_of("rows", request.subject.prepared(rows, "rows"), request.schema)
    cells = cells_of(request.subject, request.schema, rows, table)
    return tuple(_explain(request, table, cells, limits, n_boundaries))


@dataclass(frozen=True, eq=False)
class _Request:
    """What is asked, checked, but for the rows themselves."""

    subject: Subject
    schema: FeatureSchema
    sample: Sample | None
    output: int
    reach: float
    reference: Any

    @property
    def network(self) -> PiecewiseLinear:
        return self.subject.network

    @classmethod
    def of(
        cls,
        model: Any,
        x: Any,
        X: Any,
        schema: FeatureSchema | Sequence[str] | None,
        sample_weight: npt.ArrayLike | None,
        output: int | None,
        reach: float | None,
        reference: Any,
        at_row: bool,
    ) -> _Request:
        subject = subject_with(model, schema)
        sample = None
        if X is not None:
            options: dict[str, Any] = {"sample_weight": sample_weight, "output": output}
            sample = Sample.of(model, X, schema=schema, **options)
            known = sample.known
        elif sample_weight is not None:
            raise ValueError("sample_weight weighs the rows of X, which is None. Pass X as well.")
        else:
            known = _schema_alone(subject, x, schema)
        if reach is None:
            reach = DEFAULT_REACH if known.values and not at_row else 0.0
        if at_row and reach != 0:
            raise ValueError(
                "Limits and boundaries are those of the equation at the row itself. Pass reach=0 "
                f"with limits= or n_boundaries=; reach is {reach}."
            )
        which = check_output(subject.network, output)
        if reference is not None and not isinstance(reference, str):
            reference = subject.prepared_row(reference, "reference")
        return cls(subject, known, sample, which, check_reach(reach), reference)


def _schema_alone(
    subject: Subject, x: Any, schema: FeatureSchema | Sequence[str] | None
) -> FeatureSchema:
    """What is known of the columns without background rows."""
    p = subject.network.n_features
    known = subject.schema if schema is None else schema
    if not isinstance(known, FeatureSchema) and known is not None and subject.schema is not None:
        # Other names for the same columns.
        known = subject.schema.renamed(known)
    if known is None:
        known = subject.names or names_unless_unknown(x, p)
    if not isinstance(known, FeatureSchema):
        known = FeatureSchema.named(known)
    if known.n_features != p:
        raise ValueError(f"The schema names {known.n_features} columns; the network reads {p}.")
    return known


def _explain(
    request: _Request,
    rows: Floats,
    cells: list[Cells],
    limits: bool,
    n_boundaries: int | None,
) -> list[RowExplanation]:
    """Explanations of checked rows."""
    if n_boundaries is not None and n_boundaries < 0:
        raise ValueError(f"n_boundaries must be at least 0; it is {n_boundaries}.")
    network, which, known = request.network, request.output, request.schema
    sample = request.sample
    start = start_of(request.reference, network, which, sample, known)
    scale = _scale_of(known) if sample is None else sample.spread
    scores = np.asarray(network.score(rows)[:, which], dtype=np.float64)
    equations = _Equations.of(request, rows, scores)
    parts = start.parts(network, rows, which)
    changes = level_changes(network, known, rows, which)
    usual = None if sample is None else _Background(sample)
    at_row = request.reach == 0
    shares = usual.region_shares(rows) if usual is not None and at_row else None
    far = None if usual is None else usual.shares_as_far(rows)
    found = []
    for index, row in enumerate(rows):
        ends: Floats = np.full((len(row), 2), np.nan)
        boundaries: tuple[Boundary, ...] = ()
        if limits and at_row:
            ends, boundaries = _ends_of_equation(network, row, scale, which, n_boundaries)
        found.append(
            RowExplanation(
                schema=known,
                x=row,
                score=float(scores[index]),
                reach=request.reach,
                **equations.of_row(index),
                contributions=_by_feature(equations.slopes[index] * row, known),
                reference=start.name,
                reference_row=start.row,
                reference_score=start.score,
                parts=_by_feature(parts[index], known),
                scale=scale,
                limits=ends,
                boundaries=boundaries,
                region_share=None if shares is None else float(shares[index]),
                as_far=None if far is None else float(far[index]),
                cells=cells[index],
                level_changes=changes[index],
            )
        )
    return found


@dataclass(frozen=True, eq=False)
class _Equations:
    """Equations of n rows, and what they are worth."""

    slopes: Floats
    intercept: Floats
    window: Floats
    fidelity: Floats
    explained: Floats
    nearest: Floats
    nearest_change: Floats

    @classmethod
    def of(cls, request: _Request, rows: Floats, scores: Floats) -> _Equations:
        network, which, reach = request.network, request.output, request.reach
        unknown = np.full((*rows.shape, 2), np.nan)
        if reach == 0:
            slopes, constant = (part[..., which] for part in network.equation(rows))
            nothing = np.full(rows.shape, np.nan)
            empty = np.full(len(rows), np.nan)
            return cls(slopes, constant, unknown, nothing, empty, unknown, unknown)
        lines = window_lines(network, rows, request.schema, reach)
        slopes = lines.slopes[..., which]
        total, left = lines.total[..., which], lines.left[..., which]
        window = np.where(lines.known[..., None], np.stack([lines.low, lines.high], -1), np.nan)
        wanted = ~lines.known
        wanted[:, list(request.schema.codes_of_levels)] = False
        nearest = neighbours(request.schema, rows, wanted)
        away = np.where(np.isnan(nearest), rows[..., None], nearest)
        change = network.moves(rows, np.moveaxis(away, 2, 0))[..., which]
        return cls(
            slopes,
            scores - np.einsum("np,np->n", slopes, rows),
            window,
            np.where(lines.known, share_explained(total, left), np.nan),
            share_explained(total.sum(axis=1), left.sum(axis=1)),
            nearest,
            np.where(np.isnan(nearest), np.nan, np.moveaxis(change, 0, 2)),
        )

    def of_row(self, index: int) -> dict[str, Any]:
        """What a `RowExplanation` has of it."""
        return {
            "intercept": float(self.intercept[index]),
            "slopes": self.slopes[index],
            "window": self.window[index],
            "fidelity": self.fidelity[index],
            "explained": float(self.explained[index]),
            "nearest": self.nearest[index],
            "nearest_change": self.nearest_change[index],
        }


def _scale_of(schema: FeatureSchema) -> Floats:
    """Standard deviation of an even spread over each column's range; 1 where it is unknown."""
    width = np.subtract(schema.upper, schema.lower)
    return np.asarray(np.where(np.isfinite(width), width / np.sqrt(12.0), 1.0))


def _table_of(name: str, rows: Any, schema: FeatureSchema) -> Floats:
    """Rows as checked numbers, (n_rows, n_columns)."""
    rows = in_order(rows, schema.names, name)
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
