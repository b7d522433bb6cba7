"""A fitted model as a formula: columns of the table, codes of these, neurons, scores, link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from lifenet.export.fields import Field, fields_of
from lifenet.export.runs import joined_ramps
from lifenet.network import CodedNetwork, ColumnCoding, ReluNetwork

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers

__all__ = ["Code", "Formula", "formula_of"]

#: Share of a neuron's weights below which its height is zero but for rounding. Rows on a knot are
#: often on the kink of a neuron, too: rounding must not say on which side. Chosen by hand.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Code:
    """A number that the neurons read, made of one column.

    It is the column itself, or goes in straight lines from knot to knot and is constant outside the
    first and the last. A ramp has two knots, at which it is 0 and 1; ramps in a row that are always
    read together are one code with values 0, 1, 2, ...

    Attributes
    ----------
    column : index of the column of numbers
    knots : (r,), ascending; none where the code is the column itself
    values : (r,), the code at the knots
    """

    column: int
    knots: tuple[float, ...] = ()
    values: tuple[float, ...] = ()

    @property
    def is_ramp(self) -> bool:
        """Whether the code rises from 0 to 1 between two knots."""
        return self.values == (0.0, 1.0)

    @property
    def steps(self) -> int:
        """Knots over which the code rises by one each; 0 where it does anything else."""
        rises = self.values == tuple(range(len(self.values)))
        return max(len(self.values) - 1, 0) if rises else 0


@dataclass(frozen=True, eq=False)
class Formula:
    """A model as numbers and names alone::

        score = intercept + linear' codes + sum_k beta_k max(0, weights_k' codes + bias_k)

    Attributes
    ----------
    fields : columns of the user's table
    columns : names of the columns of numbers that these become
    knots : of each column of numbers, where its codes bend, ascending
    codes : what the neurons read
    weights : CSR array (n_neurons, n_codes) without zeros
    bias : (n_neurons,)
    beta : (n_neurons, n_outputs)
    intercept : (n_outputs,)
    linear : (n_codes, n_outputs)
    features : pairs of a feature's name and its columns of numbers
    classes : labels; None for a regression. Two have one score, the log-odds of the second; more
        have one each, whose softmax are probabilities
    """

    fields: tuple[Field, ...]
    columns: tuple[str, ...]
    knots: tuple[Floats, ...]
    codes: tuple[Code, ...]
    weights: Any
    bias: Floats
    beta: Floats
    intercept: Floats
    linear: Floats
    features: tuple[tuple[str, tuple[int, ...]], ...]
    classes: tuple[Any, ...] | None

    @property
    def n_neurons(self) -> int:
        """Number of neurons."""
        return len(self.bias)

    @property
    def n_outputs(self) -> int:
        """Number of scores."""
        return len(self.intercept)

    @property
    def outputs(self) -> tuple[str, ...]:
        """What each score is of, for names: a class, or nothing."""
        if self.classes is None or self.n_outputs == 1:
            return ("",) * self.n_outputs
        return tuple(str(label) for label in self.classes)

    @property
    def is_plain(self) -> bool:
        """Whether the user's table is numbers alone, each of them a column of numbers."""
        return all(one.kind == "number" and not one.gaps for one in self.fields)

    @property
    def zero(self) -> Floats:
        """Height up to which each neuron is on its kink, where it counts as inactive, (n,)."""
        largest = [max(map(abs, code.values), default=1.0) for code in self.codes]
        return np.asarray(_ROUNDING * (np.abs(self.bias) + np.abs(self.weights) @ largest))

    @property
    def straight(self) -> Integers:
        """Codes that the linear part reads."""
        return np.flatnonzero(np.any(self.linear != 0, axis=1))

    @property
    def used(self) -> Integers:
        """Codes that some neuron or the linear part reads, ascending."""
        return np.union1d(self.weights.indices, self.straight).astype(np.intp)

    def read_by(self, neuron: int) -> tuple[Integers, Floats]:
        """Codes that a neuron reads, and its weights on them."""
        part = slice(*self.weights.indptr[neuron : neuron + 2].tolist())
        return self.weights.indices[part], self.weights.data[part]


def formula_of(model: Any, what: str) -> Formula:
    """The formula of a fitted model, or of the best one of a finished search.

    Parameters
    ----------
    what : the file that it is for, for messages

    Raises
    ------
    TypeError, ValueError
        Where there is no network, or something that files cannot hold.
    """
    if hasattr(model, "best_estimator_"):
        return formula_of(model.best_estimator_, what)
    _check(model, what)
    network, schema = model.network_, model.schema_
    table = getattr(model, "table_", None) or schema.table
    inner, coding = network, None
    if isinstance(network, CodedNetwork):
        inner, coding = network.network, network.coding
    if coding is None:
        coding = ColumnCoding([None] * network.n_features, [None] * network.n_features)
    inner = inner.astype(np.float64)
    weights = sparse.csr_array(inner.weights, copy=True)
    weights.eliminate_zeros()
    weights.sort_indices()
    codes, weights, linear = joined_ramps(_codes_of(coding), weights, inner.linear)
    return Formula(
        fields=fields_of(table),
        columns=schema.names,
        knots=coding.knots,
        codes=codes,
        weights=weights,
        bias=inner.bias,
        beta=inner.beta,
        intercept=inner.intercept,
        linear=linear,
        features=_named_once(schema.groups),
        classes=_labels(model, what),
    )


def _check(model: Any, what: str) -> None:
    if hasattr(model, "steps") and hasattr(model, "named_steps"):
        raise TypeError(
            f"{what} is made of a model, not of a Pipeline, whose steps it cannot hold. Fit the "
            "model to the table itself, which may have text, gaps and dates; or export the last "
            "step, model[-1], for tables that the steps before it give."
        )
    if isinstance(model, type):
        raise TypeError(f"{what} is made of a fitted model, not of the class {model.__name__}.")
    if isinstance(getattr(model, "network_", None), ReluNetwork | CodedNetwork):
        if hasattr(model, "schema_"):
            return
    elif hasattr(model, "members_") and hasattr(model, "coef_"):
        raise TypeError(
            f"{what} is made of one network, and a {type(model).__name__} has members of another "
            "kind. Fit LIFERegressor or LIFEClassifier."
        )
    elif hasattr(model, "fit") and type(model).__module__.partition(".")[0] == "lifenet":
        raise ValueError(f"This {type(model).__name__} is not fitted yet. Call fit first.")
    raise TypeError(
        f"{what} is made of a fitted lifenet model, which has network_ and schema_; it was given a "
        f"{type(model).__name__}."
    )


def _labels(model: Any, what: str) -> tuple[Any, ...] | None:
    """Labels of classes that every file can hold."""
    if not hasattr(model, "classes_"):
        return None
    labels = tuple(model.classes_.tolist())
    for one in labels:
        if not isinstance(one, str | int | float):
            raise ValueError(
                f"{what} cannot hold the class {one!r}, a {type(one).__name__}. Fit the model to "
                "labels that are text or numbers."
            )
    return labels


def _codes_of(coding: ColumnCoding) -> tuple[Code, ...]:
    """The codes of all columns."""
    found, first = [], coding.grid.first
    for column, knots in enumerate(coding.knots):
        values = coding.values_of(column)
        own = coding.codes_of(column)
        for number, rises in enumerate(coding.ramp_of_code[own].tolist()):
            if not len(knots):
                found.append(Code(column))
            elif rises >= 0:
                at = rises - int(first[column])
                found.append(Code(column, tuple(knots[at : at + 2].tolist()), (0.0, 1.0)))
            else:
                bends = tuple(knots.tolist())
                found.append(Code(column, bends, tuple(values[:, number].tolist())))
    return tuple(found)


def _named_once(
    groups: tuple[tuple[str, tuple[int, ...]], ...],
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Features under names that differ."""
    found: dict[str, tuple[int, ...]] = {}
    for given, columns in groups:
        name = given
        while name in found:
            name += "'"
        found[name] = tuple(columns)
    return tuple(found.items())
