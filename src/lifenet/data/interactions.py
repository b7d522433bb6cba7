"""Which columns a neuron may read together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from lifenet.kernels.weights import stored_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Bools, Floats, Integers, Weights

__all__ = ["Groups", "Interactions", "read_groups"]

#: Groups of columns, by their indices, each ascending.
Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class Interactions:
    """Groups of columns; a neuron reads the columns of one of them only.

    Attributes
    ----------
    groups : they may share columns, and each column is in one of them at least
    column : (n_inputs,), the column that each input of the rows is of
    numbers : the groups by columns of numbers, where a column became several of these
    """

    groups: Groups
    column: Integers
    numbers: Groups

    @classmethod
    def of(
        cls, groups: Groups, inputs: Sequence[Integers] | None, columns_of: Groups | None = None
    ) -> Interactions:
        """Of the inputs of each column of numbers, which these are where `inputs` is None.

        Parameters
        ----------
        columns_of : the columns of numbers of each column; None where they are the same
        """
        if columns_of is None:
            columns_of = tuple((one,) for one in range(1 + max(max(group) for group in groups)))
        numbers = tuple(
            tuple(sorted({n for one in group for n in columns_of[one]})) for group in groups
        )
        n_numbers = sum(len(own) for own in columns_of)
        known = np.arange(n_numbers)[:, None] if inputs is None else inputs
        column = np.zeros(sum(len(one) for one in known), dtype=np.intp)
        for number, own in enumerate(columns_of):
            for one in own:
                column[known[one]] = number
        return cls(groups, column, numbers)

    def draw(
        self, n: int, generator: np.random.Generator, inputs: Integers | None = None
    ) -> list[Integers]:
        """What each of n base learners reads: the inputs of a group, which take turns.

        Parameters
        ----------
        generator : of the order in which they do
        inputs : indices of the inputs that base learners can read, which those returned are among,
            counted from zero; None for all
        """
        column = self.column if inputs is None else self.column[inputs]
        order = generator.permutation(len(self.groups))
        turns = [self.groups[order[number % len(order)]] for number in range(n)]
        return [np.flatnonzero(np.isin(column, group)) for group in turns]

    def movable(self, weights: Weights) -> Bools:
        """Inputs of the columns that a neuron reads, (n_neurons, n_inputs)."""
        return np.asarray(self._read(weights).toarray()[:, self.column] > 0)

    def allow(self, weights: Weights) -> bool:
        """Whether every neuron reads the columns of one group only."""
        n_columns = int(self.column.max()) + 1
        members = np.zeros((n_columns, len(self.groups)), dtype=np.int32)
        for number, group in enumerate(self.groups):
            members[list(group), number] = 1
        read = self._read(weights).astype(np.int32)
        inside: Floats = read @ members
        return bool(np.all((inside == read.sum(axis=1)[:, None]).any(axis=1)))

    def _read(self, weights: Weights) -> sparse.csr_array:
        """Which columns each neuron reads, (n_neurons, n_columns), as 0 and 1."""
        held = sparse.csr_array(weights, copy=True)
        held.eliminate_zeros()
        return stored_columns(held, self.column, int(self.column.max()) + 1)


def read_groups(given: Any, n_columns: int, names: Sequence[str] | None = None) -> Groups:
    """Groups of column indices, from what the user gave.

    Columns of no group form one further group, as in scikit-learn's boosted trees.

    Parameters
    ----------
    given : "pairwise", "no_interactions", or groups of indices or names
    names : of the columns; None where they have none
    """
    everything = range(n_columns)
    if isinstance(given, str):
        if given not in ("pairwise", "no_interactions"):
            raise ValueError(
                f"interaction_cst={given!r} is none of 'pairwise', 'no_interactions', groups of "
                "columns such as [[0, 1], [2]], BestPairs() and None."
            )
        alone = given == "no_interactions" or n_columns == 1
        return tuple(combinations(everything, 1 if alone else 2))
    groups = [_group(one, n_columns, names) for one in given]
    if not groups:
        raise ValueError(
            "interaction_cst holds no group. Give groups of columns such as [[0, 1], [2]], or "
            "None, which lets all columns interact."
        )
    rest = sorted(set(everything).difference(*groups))
    return (*groups, *((tuple(rest),) if rest else ()))


def _group(given: Any, n_columns: int, names: Sequence[str] | None) -> tuple[int, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(
            f"interaction_cst must hold groups of columns, and {given!r} is none; write "
            f"[[{given!r}, ...], ...]."
        )
    columns = sorted({_column(one, n_columns, names) for one in given})
    if not columns:
        raise ValueError(
            "interaction_cst holds a group without columns; leave it out, or name its columns."
        )
    return tuple(columns)


def _column(given: Any, n_columns: int, names: Sequence[str] | None) -> int:
    """The index of a column."""
    if isinstance(given, str):
        if names is None:
            raise ValueError(
                f"interaction_cst names the column {given!r}, and the columns of X have no names; "
                "give a data frame, or indices of columns."
            )
        if given not in names:
            known = ", ".join(repr(str(name)) for name in names)
            raise ValueError(
                f"interaction_cst names the column {given!r}, which X does not have; its columns "
                f"are {known}."
            )
        return list(names).index(given)
    if isinstance(given, bool | np.bool_) or not isinstance(given, Integral):
        raise ValueError(
            f"interaction_cst holds {given!r}, which is neither the index nor the name of a column."
        )
    if not 0 <= int(given) < n_columns:
        raise ValueError(
            f"interaction_cst holds the column {given}; X has {n_columns} columns, from 0 to "
            f"{n_columns - 1}."
        )
    return int(given)
