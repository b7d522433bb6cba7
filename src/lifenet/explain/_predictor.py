"""What can be asked of any model: scores, and what moves of a column change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logit

from lifenet._extras import require
from lifenet.explain._sample import Sample
from lifenet.explain._subject import in_order, subject_of
from lifenet.network import ReluNetwork

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from lifenet._typing import Floats
    from lifenet.network import PiecewiseLinear
    from lifenet.schema import FeatureSchema

__all__ = ["Predictor", "predictor_of"]

# Probabilities of 0 and 1 have no log-odds; those of a millionth and less count alike.
_LEAST = 1e-6
#: Rows that are scored at once.
_BLOCK_ROWS = 200_000


@dataclass(frozen=True, eq=False)
class Predictor:
    """One score of a model, as a function of rows of numbers.

    Attributes
    ----------
    score : (n, p) -> (n,)
    moves : (n, p), (s, n, p) -> (s, n, p, 1), what each column's going there changes
    network : where the model is one, and `output`, its score
    """

    score: Callable[[Floats], Floats]
    moves: Callable[[Floats, Floats], Floats]
    network: PiecewiseLinear | None = None
    output: int = 0

    @classmethod
    def of_network(cls, network: PiecewiseLinear, output: int) -> Predictor:
        """A score of a network."""
        return cls(
            lambda rows: np.asarray(network.score(rows)[:, output], dtype=np.float64),
            lambda rows, targets: network.moves(rows, targets)[..., [output]],
            network,
            output,
        )

    @classmethod
    def of_function(cls, score: Callable[[Floats], Floats]) -> Predictor:
        """Any function of rows: cells that move are scored one by one."""
        return cls(score, lambda rows, targets: _moves(score, rows, targets))

    def gradient(self, rows: Floats) -> Floats:
        """Slopes at the rows themselves, (n, p)."""
        assert self.network is not None
        return np.asarray(self.network.gradient(rows)[:, :, self.output], dtype=np.float64)


def _moves(score: Callable[[Floats], Floats], rows: Floats, targets: Floats) -> Floats:
    moved = np.zeros(targets.shape)
    place, row, column = np.nonzero(targets != rows)
    own = score(rows)
    for start in range(0, len(row), _BLOCK_ROWS):
        part = slice(start, start + _BLOCK_ROWS)
        index = (place[part], row[part], column[part])
        table = rows[index[1]]
        table[np.arange(len(table)), index[2]] = targets[index]
        moved[index] = score(table) - own[index[1]]
    return moved[..., None]


def predictor_of(
    model: Any,
    X: Any,
    schema: FeatureSchema | Sequence[str] | None,
    sample_weight: npt.ArrayLike | None,
    output: int | None,
) -> tuple[Predictor, Sample]:
    """Any model, and the rows to read it on."""
    try:
        subject_of(model)
    except TypeError:
        return _of_other(model, X, schema, sample_weight, output)
    sample = Sample.of(model, X, schema=schema, sample_weight=sample_weight, output=output)
    return Predictor.of_network(sample.network, sample.output), sample


def _of_other(
    model: Any,
    X: Any,
    schema: FeatureSchema | Sequence[str] | None,
    sample_weight: npt.ArrayLike | None,
    output: int | None,
) -> tuple[Predictor, Sample]:
    if getattr(schema, "table", None) is not None and hasattr(X, "columns"):
        raise ValueError(
            "Columns of numbers are moved, and this schema makes them of a table with categories, "
            "missing values or dates. Pass X=schema.table.transform(X), and as the predictor a "
            "function of these columns."
        )
    names = list(X.columns) if hasattr(X, "columns") else None
    function = _function_of(model, output, names)
    n_columns = np.shape(X)[1]
    # Stands for the columns only; it is never asked for a score.
    blank = ReluNetwork(np.zeros((0, n_columns)), np.zeros(0), np.zeros((0, 1)), 0.0)
    given = schema if schema is not None else names
    sample = Sample.of(blank, X, schema=given, sample_weight=sample_weight)
    return Predictor.of_function(function), sample


def _function_of(model: Any, output: int | None, names: Any) -> Callable[[Floats], Floats]:
    """A score as a function of rows of numbers."""
    method = next(
        (getattr(model, name) for name in _METHODS if hasattr(model, name)),
        model if callable(model) else None,
    )
    if method is None:
        raise TypeError(
            f"A predictor must have predict, decision_function or predict_proba, or be a function; "
            f"{type(model).__name__} has none."
        )
    framed = hasattr(model, "feature_names_in_") and names is not None

    def score(rows: Floats) -> Floats:
        table: Any = rows
        if framed:
            pandas: Any = require("pandas", extra="data", purpose="Asking this model")
            frame = pandas.DataFrame(rows, columns=names)
            table = in_order(frame, list(model.feature_names_in_))
        found = np.asarray(method(table), dtype=np.float64)
        if getattr(method, "__name__", "") == "predict_proba":
            found = logit(np.clip(found, _LEAST, 1 - _LEAST))
            found = found[:, 1] if found.shape[1] == 2 else found
        return _one_output(found, output)

    return score


#: Asked for in this order: a classifier's log-odds before its labels.
_METHODS = ("decision_function", "predict_proba", "predict")


def _one_output(found: Floats, output: int | None) -> Floats:
    if found.ndim == 1:
        return found
    if output is None and found.shape[1] > 1:
        raise ValueError(
            f"The predictor has {found.shape[1]} scores; choose output=0 to "
            f"output={found.shape[1] - 1}."
        )
    return np.asarray(found[:, output or 0])
