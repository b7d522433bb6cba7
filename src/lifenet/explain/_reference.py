"""Where waterfalls start: at the mean score, or at the score of a reference row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain._subject import in_order
from lifenet.kernels.quantiles import weighted_quantiles
from lifenet.schema import describe_number

if TYPE_CHECKING:
    from lifenet._typing import Floats
    from lifenet.explain._sample import Sample
    from lifenet.network import PiecewiseLinear
    from lifenet.schema import FeatureSchema

__all__ = ["MEAN_SCORE", "Start", "row_of", "start_of"]

MEAN_SCORE = "mean score"
_OF_ROWS = ("mean", "median", "zero")
#: Background rows whose own waterfalls are averaged, and most whose scores are. Chosen by hand: the
#: waterfalls of a hundred rows of a default take half a second.
_AVERAGED, _SCORED = 100, 20_000


@dataclass(frozen=True, eq=False)
class Start:
    """Where waterfalls start, and what is subtracted from their parts.

    Attributes
    ----------
    name : "mean score", "mean", "median", "zero" or "row"
    row : ndarray of shape (p,), from which straight lines lead to the rows
    score : float
    usual : ndarray of shape (p,), the mean parts of the background rows; zero for a reference row
    """

    name: str
    row: Floats
    score: float
    usual: Floats

    def parts(self, network: PiecewiseLinear, rows: Floats, output: int) -> Floats:
        """Change of the score from the start to each row, by column, (n, p)."""
        return np.asarray(network.segment(self.row, rows)[:, :, output] - self.usual)


def start_of(
    reference: Any,
    network: PiecewiseLinear,
    output: int,
    sample: Sample | None,
    schema: FeatureSchema,
) -> Start:
    """The start that is asked for; without a wish the mean score, or zero without rows."""
    if reference is None:
        reference = "zero" if sample is None else MEAN_SCORE
    name = reference if isinstance(reference, str) else "row"
    if name == MEAN_SCORE:
        return _mean_score(network, output, _known(sample, name))
    row = _reference_row(reference, sample, schema)
    score = float(network.score(row[None])[0, output])
    return Start(name, row, score, np.zeros(len(row)))


def _mean_score(network: PiecewiseLinear, output: int, sample: Sample) -> Start:
    """From the mean row, less what the straight lines from there to the background rows have.

    So that parts add up from the mean score: of a linear function each is then the slope times the
    distance from the column's mean. Lines to some of the rows stand for all; their weights are
    calibrated (Deville and Sarndal, "Calibration estimators in survey sampling", 1992), so that
    their mean score is that of all. Of very many rows some are scored.
    """
    row = sample.center
    if len(sample.X) > _SCORED:
        chosen = np.sort(np.random.default_rng(0).permutation(len(sample.X))[:_SCORED])
        weight = sample.weight[chosen] / sample.weight[chosen].sum()
        sample = replace(sample, X=sample.X[chosen], weight=weight, rows=sample.rows[chosen])
    scores = sample.score
    mean = float(sample.mean(scores))
    # Evenly along the scores: the smallest and the largest are among them.
    some = np.unique(np.linspace(0, len(scores) - 1, _AVERAGED).astype(np.intp))
    some = np.argsort(scores, kind="stable")[some]
    weight = sample.weight[some] / sample.weight[some].sum()
    own = scores[some]
    centred = own - weight @ own
    spread = float(weight @ np.square(centred))
    missing = mean - float(weight @ own)
    if spread > 0:
        weight = weight * (1.0 + missing * centred / spread)
    parts = weight @ network.segment(row, sample.X[some])[:, :, output]
    # To rounding, from the mean row's score to the mean score.
    start = float(network.score(row[None])[0, output]) + float(parts.sum())
    return Start(MEAN_SCORE, row, start, parts)


def _reference_row(reference: Any, sample: Sample | None, schema: FeatureSchema) -> Floats:
    if not isinstance(reference, str):
        return row_of("reference", reference, schema)
    if reference not in _OF_ROWS:
        raise ValueError(
            f'reference must be "mean score", "mean", "median", "zero" or a row of numbers; it is '
            f"{reference!r}."
        )
    if reference == "zero":
        return np.zeros(schema.n_features)
    known = _known(sample, reference)
    if reference == "mean":
        return known.center
    half, weight = np.array([0.5]), known.weight
    return np.array([weighted_quantiles(column, weight, half)[0] for column in known.X.T])


def _known(sample: Sample | None, reference: str) -> Sample:
    if sample is None:
        raise ValueError(
            f'The {reference} needs background rows: pass X, or "zero" or a row of numbers as the '
            "reference."
        )
    return sample


def row_of(name: str, x: Any, schema: FeatureSchema) -> Floats:
    """A single row as checked numbers, (n_columns,)."""
    x = in_order(x, schema.names, name)
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
