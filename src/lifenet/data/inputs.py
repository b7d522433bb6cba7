"""What fit receives, checked once at the border: errors name the column, the row, the remedy."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.kernels.numbers import LARGEST, describe_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from lifenet._typing import Floats, Integers
    from lifenet.data.coded_rows import CodedRows
    from lifenet.data.columns import CodedColumns
    from lifenet.data.interactions import Groups, Interactions
    from lifenet.data.problem import Problem
    from lifenet.data.rows import ArrayRows
    from lifenet.data.units import Units
    from lifenet.tables import CrossFitted, Table, TableCoding

__all__ = [
    "Inputs",
    "check_sample_weight",
    "check_target",
    "encode_classes",
    "unchanged_on_failure",
]


@dataclass(frozen=True, eq=False)
class Inputs:
    """What fit received, checked: a problem on standardised rows, and the way back.

    Attributes
    ----------
    X : columns of numbers, of all rows; codes by the target are cross-fitted over all of them
    problem : the loss on `rows`
    rows : standardised columns, or codes of them, of the rows that have weight
    units : the way back to the user's units
    classes : labels of a classifier
    columns : which codes belong to which column; None where the inputs are no "full" codes
    groups : the inputs of each column; None where there are no codes
    validation : how validation rows are chosen: "auto", a share, a splitter or None
    given : X, y and groups as the user gave them, for a splitter
    names : of the user's columns; None where they have none
    interactions : which columns a neuron may read together; None for all
    table : the user's table, as it was read; None where there is only X
    coding : how it became X
    crossfitted : columns of X that each fold has of its own, so that no validation row was seen in
        making them; None where there are none
    target : of all rows, in the user's units, or codes of classes; None where it is not known
    """

    X: Floats
    problem: Problem
    rows: ArrayRows | CodedRows
    units: Units
    classes: npt.NDArray[Any] | None = None
    columns: CodedColumns | None = None
    groups: Sequence[Integers] | None = None
    validation: Any = "auto"
    given: tuple[Any, Any, Any] = (None, None, None)
    names: Sequence[str] | None = None
    interactions: Interactions | None = None
    table: Table | None = None
    coding: TableCoding | None = None
    crossfitted: CrossFitted | None = None
    target: Floats | None = None

    @cached_property
    def identity(self) -> Floats:
        """Numbers that stand for the user's own values, of the rows that have weight."""
        if self.coding is None or self.table is None:
            return self.present
        own = self.coding.identity(self.table)
        return own if self.rows.index is None else own[self.rows.index]

    @property
    def n_columns(self) -> int:
        """Columns of the user's table."""
        return self.X.shape[1] if self.coding is None else len(self.coding.codes)

    @property
    def columns_of(self) -> Groups:
        """The columns of X that each of the user's columns became."""
        if self.coding is None:
            return tuple((column,) for column in range(self.X.shape[1]))
        return self.coding.columns_of

    @property
    def features(self) -> Groups:
        """The columns of X of each feature: one of the user's columns, or a part of a date."""
        if self.coding is None:
            return self.columns_of
        return tuple(one.columns for one in self.coding.features)

    @property
    def together(self) -> Sequence[Integers] | None:
        """The inputs of each of the user's columns; None where each input is one."""
        if self.coding is None or self.coding.is_plain:
            return self.groups
        if self.groups is None:
            return [np.array(columns, dtype=np.intp) for columns in self.columns_of]
        known = self.groups
        return [np.concatenate([known[one] for one in columns]) for columns in self.columns_of]

    @property
    def present(self) -> Floats:
        """The user's columns, of the rows that have weight."""
        return self.X if self.rows.index is None else self.X[self.rows.index]

    @property
    def is_constant(self) -> bool:
        """Whether the target does not vary, so that there is nothing to learn."""
        target = self.rows.target
        return bool(target.min() == target.max())


@contextmanager
def unchanged_on_failure(estimator: object) -> Iterator[None]:
    """Leave an estimator as it was where fitting fails or is interrupted."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_target(y: Any, *, numeric: bool = False) -> None:
    """Name the first row whose target is missing, infinite, too large or, if asked, no number."""
    target = np.asarray(y)
    if numeric and target.dtype.kind in "US":
        _refuse_text(target)
    if target.ndim == 0 or target.dtype.kind not in "fO":
        return
    for row, value in _suspects(target):
        if value is None or type(value).__name__ in ("NAType", "NaTType"):
            value = np.nan
        if isinstance(value, float) and not abs(value) <= LARGEST:
            kind, _ = describe_number(value)
            raise ValueError(f"Input y contains {kind} in row {row}. Drop or mend such rows.")


def _refuse_text(target: npt.NDArray[Any]) -> None:
    for row, value in enumerate(target.ravel().tolist()):
        try:
            float(value)
        except ValueError:
            raise ValueError(
                f"Input y contains text in row {row}: {value!r}. A regressor needs numbers; "
                "classes are for a classifier, such as LIFEClassifier."
            ) from None


def _suspects(target: npt.NDArray[Any]) -> Iterator[tuple[int, Any]]:
    """Rows that may hold an unusable target, found fast where they are numbers."""
    if target.dtype.kind == "O":
        yield from enumerate(target.ravel().tolist())
    else:
        with np.errstate(invalid="ignore"):
            usable = np.abs(target) <= LARGEST
        yield from ((int(index[0]), float(target[tuple(index)])) for index in np.argwhere(~usable))


def check_sample_weight(sample_weight: Any, n_samples: int) -> Floats | None:
    """Weights as a float array; errors name the row."""
    if sample_weight is None:
        return None
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(f"sample_weight must hold numbers: {error}") from error
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight.shape == {weight.shape}, expected {(n_samples,)}: one weight a row."
        )
    faults = (
        ("not finite", ~np.isfinite(weight)),
        ("negative", weight < 0),
        ("too large", weight > LARGEST),
    )
    for fault, bad in faults:
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise ValueError(
                f"sample_weight is {fault} in row {row} ({weight[row]}). "
                "Weights must be finite and not negative; zero leaves a row out."
            )
    if not weight.any():
        raise ValueError(
            "sample_weight is zero in every row: nothing is left to fit. Give some row a positive "
            "weight."
        )
    return weight


def encode_classes(
    y: npt.NDArray[Any],
    weight: Floats | None,
    class_weight: Any,
    known: npt.NDArray[Any] | None = None,
) -> tuple[npt.NDArray[Any], Floats, Floats]:
    """Labels that occur with positive weight, codes of all rows, and the rows' final weights.

    `known` are labels from before: then these are kept, and others refused.
    """
    weight = np.ones(len(y)) if weight is None else weight
    classes = np.unique(y[weight > 0])
    if known is not None:
        strange = np.setdiff1d(classes, known)
        if len(strange):
            raise ValueError(
                f"y holds the classes {strange.tolist()}, which the model does not know; it knows "
                f"{known.tolist()}. Fit it anew to add classes."
            )
        if len(classes) > 1:
            classes = known
    if len(classes) < 2:
        raise ValueError(
            f"A classifier needs at least two classes, but y holds only one class with positive "
            f"weight: {classes.tolist()[0]!r}. Check the target, or the rows' weights."
        )
    # Rows of weight zero may hold labels that occur nowhere else; their code is never read.
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    factors = _class_factors(classes, codes, weight, class_weight)
    # Factors say how classes compare, not how many rows there are: the total stays.
    final = weight * factors[codes]
    return classes, codes.astype(np.float64), final * (weight.sum() / final.sum())


def _class_factors(
    classes: npt.NDArray[Any], codes: Any, weight: Floats, class_weight: Any
) -> Floats:
    """The factor that each class's weights are multiplied with, (n_classes,)."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        totals = np.bincount(codes, weights=weight, minlength=len(classes))
        return np.asarray(weight.sum() / (len(classes) * totals))
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    if unknown and not all(label in class_weight for label in labels):
        raise ValueError(f"class_weight names {unknown}, but the classes are {labels}.")
    factors = np.array([class_weight.get(label, 1.0) for label in labels], dtype=np.float64)
    if not (np.isfinite(factors).all() and (factors > 0).all()):
        raise ValueError(
            f"class_weight must hold positive numbers; got {dict(class_weight)!r}. "
            "To leave a class out, drop its rows."
        )
    return factors
