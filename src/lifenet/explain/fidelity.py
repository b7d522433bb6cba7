"""How far linear equations hold: fidelity of their slopes, and roughness of any model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.explain._predictor import Predictor, predictor_of
from lifenet.explain._sample import Sample
from lifenet.explain._windows import (
    check_reach,
    known_values,
    lines_of,
    share_explained,
    windows_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Floats
    from lifenet.explain._windows import WindowLines, Windows
    from lifenet.schema import ColumnValues, FeatureSchema

__all__ = ["EquationFidelity", "Roughness", "equation_fidelity", "roughness"]

#: Reaches that are asked where none are given: a hundredth to a fifth of the span.
_REACHES = (0.01, 0.02, 0.05, 0.1, 0.2)
#: Rows that are moved, and joint moves of each row. Of 500 rows of Bike the fidelity has a standard
#: deviation of .02 from draw to draw; of 2,000 rows half of it, for a second or two.
_ROWS, _DRAWS = 2_000, 8
_SLOPES = ("window", "pointwise")


@dataclass(frozen=True, eq=False)
class _ByReach:
    """A share for each of r reaches.

    Attributes
    ----------
    schema : names of the p columns
    reach : ndarray of shape (r,), shares of each column's span
    one : ndarray of shape (r,), columns moved one at a time; NaN where none has a value in reach
    together : ndarray of shape (r,), all columns with a value in reach moved at once
    by_column : ndarray of shape (r, p), each column alone; NaN where it has no value in reach
    n_columns : ndarray of shape (r,), columns with another value in reach of a tenth of the rows
    """

    schema: FeatureSchema
    reach: Floats
    one: Floats
    together: Floats
    by_column: Floats
    n_columns: npt.NDArray[np.intp]

    def to_frame(self) -> pd.DataFrame:
        """One row a reach: reach, one, together, n_columns, and each column by its name."""
        pandas: Any = require("pandas", extra="data", purpose="to_frame")
        parts: dict[str, Any] = {
            "reach": self.reach,
            "one": self.one,
            "together": self.together,
            "n_columns": self.n_columns,
        }
        columns = dict(zip(self.schema.names, self.by_column.T, strict=True))
        frame: pd.DataFrame = pandas.DataFrame(parts | columns)
        return frame


@shown
@dataclass(frozen=True, eq=False)
class EquationFidelity(_ByReach):
    """Share of what a model does near its rows that their equations explain.

    1 is perfect; 0 is no better than "nothing changes"; below 0 the equations mislead.

    Attributes
    ----------
    slopes : "window" or "pointwise"
    """

    slopes: str = "window"


@shown
@dataclass(frozen=True, eq=False)
class Roughness(_ByReach):
    """Share of what a model does near its rows that no line through their scores explains.

    0 is straight within the reach; 1 is as if every line were as bad as "nothing changes".
    """


def equation_fidelity(
    network: Any,
    X: Any,
    *,
    reach: float | Sequence[float] = _REACHES,
    slopes: str = "window",
    moves: FeatureSchema | None = None,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
    max_rows: int = _ROWS,
    random_state: int | np.random.Generator = 0,
) -> EquationFidelity:
    """How much of what the model does near its rows their equations explain, by reach.

    Column `j` of row `i` is moved to training values within ``reach * span_j``, each as often as
    the training rows had it. With the change of the score ``d`` and the change that the slopes
    promise ``e`` the fidelity is ``1 - sum (d - e)^2 / sum d^2``, over all rows and columns, each
    with the mean over its moves: one column at a time, and all columns at once. Columns without
    another value in reach do not count, nor do missing values.

    Parameters
    ----------
    network : fitted model, pipeline that ends in one, or PiecewiseLinear
    X : array-like or data frame of shape (n_samples, n_columns)
        Rows to start from; best ones that the model was not fitted to.
    reach : float or sequence of float, default=(0.01, 0.02, 0.05, 0.1, 0.2)
    slopes : {"window", "pointwise"}, default="window"
        Slopes as `explain_row` gives them with that reach, or those of the row itself (`reach=0`).
    moves : FeatureSchema or None, default=None
        Whose values the columns are moved to, such as ``FeatureSchema.of`` fresh rows: a check of
        slopes by values that they were not fitted to, wherever there is a slope. None takes the
        training values.
    schema, sample_weight, output : as in `explain_row`
        Training values are those of the schema, or of X where it has none.
    max_rows : int, default=2000
        Most rows that are moved, evenly spaced.
    random_state : int or numpy Generator, default=0
        Of the moves of all columns at once.

    Returns
    -------
    EquationFidelity

    Examples
    --------
    >>> import numpy as np
    >>> from lifenet.explain import equation_fidelity
    >>> from lifenet.network import ReluNetwork
    >>> X = np.linspace(-1, 1, 201)[:, None]
    >>> hinge = ReluNetwork([[1.0]], [0.0], [1.0], 0.0)
    >>> equation_fidelity(hinge, X, reach=(0.05, 0.5)).one.round(3).tolist()
    [0.998, 0.92]
    """
    if slopes not in _SLOPES:
        raise ValueError(f"slopes must be one of {', '.join(_SLOPES)}; it is {slopes!r}.")
    sample = Sample.of(network, X, schema=schema, sample_weight=sample_weight, output=output)
    model = Predictor.of_network(sample.network, sample.output)
    rows, weight = _some(sample, max_rows)
    gaps = sample.schema.gaps

    def given(share: float) -> Floats | None:
        if slopes == "pointwise":
            return model.gradient(rows)
        if moves is None:
            return None
        lines = lines_of(model.moves, 1, rows, sample.values, share, gaps=gaps)
        return np.where(lines.known, lines.slopes[..., 0], np.nan)

    values = sample.values
    if moves is not None:
        # Reaches are those of the training span: what is within reach does not depend on a sample.
        pairs = zip(known_values(moves), values, strict=True)
        values = tuple(replace(fresh, span=own.span) for fresh, own in pairs)
    found = _read(model, rows, weight, values, gaps, _reaches(reach), given, random_state)
    return EquationFidelity(sample.schema, **found, slopes=slopes)


def roughness(
    predictor: Any,
    X: Any,
    *,
    reach: float | Sequence[float] = _REACHES,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
    max_rows: int = _ROWS,
    random_state: int | np.random.Generator = 0,
) -> Roughness:
    """How far from straight any model is near its rows, by reach.

    As `equation_fidelity`, with the best slope that a row and a column can have: least squares
    through the row's score over the moves. One less the fidelity that these have.

    Parameters
    ----------
    predictor : fitted model, pipeline, PiecewiseLinear, or function
        Any regressor or classifier of two classes with scikit-learn's methods (of classifiers the
        log-odds are read), or a function of rows (n, p) that returns (n,) or (n, n_outputs) scores.
    X : array-like or data frame of shape (n_samples, n_columns), of numbers
    reach, sample_weight, max_rows, random_state : as in `equation_fidelity`
    schema : as in `equation_fidelity`; None takes names and values of X, but for models of lifenet
    output : which score, where there are several

    Returns
    -------
    Roughness
    """
    model, sample = predictor_of(predictor, X, schema, sample_weight, output)
    rows, weight = _some(sample, max_rows)
    values, gaps = sample.values, sample.schema.gaps
    found = _read(
        model, rows, weight, values, gaps, _reaches(reach), lambda share: None, random_state
    )
    left = {name: 1.0 - found[name] for name in ("one", "together", "by_column")}
    return Roughness(sample.schema, **(found | left))


def _reaches(reach: Any) -> list[float]:
    several = np.atleast_1d(np.asarray(reach, dtype=object)).tolist()
    if len(several) == 0:
        raise ValueError("reach is empty; give at least one share of the span.")
    return [check_reach(one, zero=False) for one in several]


def _some(sample: Sample, most: int) -> tuple[Floats, Floats]:
    """Rows, evenly spaced, and their weights."""
    if most < 1 or most != int(most):
        raise ValueError(f"max_rows must be a whole number, at least 1; it is {most!r}.")
    index = np.unique(np.linspace(0, len(sample.X) - 1, int(most)).astype(np.intp))
    return sample.X[index], sample.weight[index] / sample.weight[index].sum()


def _read(
    model: Predictor,
    rows: Floats,
    weight: Floats,
    values: Sequence[ColumnValues],
    gaps: Mapping[int, int],
    reaches: list[float],
    given: Callable[[float], Floats | None],
    random_state: int | np.random.Generator,
) -> dict[str, Any]:
    """Fidelities by reach, with slopes (n, p) that are given for each, or the best ones."""
    generator = np.random.default_rng(random_state)
    one, together, by_column, counted = [], [], [], []
    for reach in reaches:
        slopes = given(reach)
        lines = lines_of(model.moves, 1, rows, values, reach, slopes, gaps)
        slopes = lines.slopes[..., 0] if slopes is None else np.nan_to_num(slopes)
        total, left = (np.einsum("n,npk->p", weight, part) for part in (lines.total, lines.left))
        one.append(share_explained(total.sum(), left.sum()))
        by_column.append(np.where(lines.known.any(axis=0), share_explained(total, left), np.nan))
        counted.append(int((weight @ lines.known >= 0.1).sum()))
        windows = windows_of(values, rows, reach, gaps)
        together.append(_jointly(model, rows, weight, windows, slopes, lines, generator))
    shares = {"reach": reaches, "one": one, "together": together, "by_column": by_column}
    found = {name: np.array(share, dtype=np.float64) for name, share in shares.items()}
    return {**found, "n_columns": np.array(counted, dtype=np.intp)}


def _jointly(
    model: Predictor,
    rows: Floats,
    weight: Floats,
    windows: Windows,
    slopes: Floats,
    lines: WindowLines,
    generator: np.random.Generator,
) -> float:
    """Fidelity where all columns with a value in reach move at once."""
    if not lines.known.any():
        return np.nan
    reached = np.cumsum(windows.weight, axis=0)
    own, total, left = model.score(rows), 0.0, 0.0
    for _ in range(_DRAWS):
        place = (generator.random(rows.shape) > reached).sum(axis=0)
        place = np.minimum(place, len(reached) - 1)
        moved = np.take_along_axis(windows.targets, place[None], axis=0)[0]
        moved = np.where(lines.known, moved, rows)
        change = model.score(moved) - own
        promised = np.einsum("np,np->n", slopes, moved - rows)
        total += float(weight @ np.square(change))
        left += float(weight @ np.square(change - promised))
    return float(share_explained(np.array(total), np.array(left)))
