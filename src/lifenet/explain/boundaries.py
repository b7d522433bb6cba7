"""Where the equation of a row ends.

A region of a `ReluNetwork` is bounded by the hyperplanes on which neurons switch. A region of a
network of codes is bounded by knots of the columns too, and its hyperplanes bend at the knots; its
boundaries are given column by column, the others held.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet._shown import shown

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats
    from lifenet.network import ColumnBound, ReluNetwork

__all__ = ["Boundary", "column_boundaries", "nearest_boundaries"]

#: Hyperplanes closer than this, in standard deviations, are one.
_SAME = 1e-9


@shown
@dataclass(frozen=True, eq=False)
class Boundary:
    """Where the equation changes, seen from one row: a hyperplane, or a value of one column.

    Attributes
    ----------
    neurons : indices of the neurons that switch there; none where there is only a knot
    distance : float
        From the row to it, in standard deviations of the columns.
    change : ndarray of shape (n_columns,)
        The smallest change, by that measure, that brings the row onto it, in the user's units.
        Where `column` is given, the change of that column alone.
    slopes : ndarray of shape (n_columns,)
        Slopes of the equation just beyond, at the point to which the change leads.
    adjacent : bool
        Whether the equation holds all the way to it: the boundary is then one of the row's own
        region, and `slopes` are those of the neighbour behind it.
    column : int or None
        Index of the column that moves alone; None for a hyperplane, reached by all columns.
    value : float or None
        Value of that column at the boundary.
    knot : bool
        Whether a knot of that column lies there, at which the slope in the column changes.
    """

    neurons: tuple[int, ...]
    distance: float
    change: Floats
    slopes: Floats
    adjacent: bool
    column: int | None = None
    value: float | None = None
    knot: bool = False

    @property
    def kind(self) -> str:
        """What changes the equation: "neuron", "knot" or "knot and neuron"."""
        if not self.knot:
            return "neuron"
        return "knot and neuron" if self.neurons else "knot"


def nearest_boundaries(
    network: ReluNetwork, x: Floats, scale: Floats, output: int, n_boundaries: int
) -> tuple[Boundary, ...]:
    """Boundaries nearest to a row, the nearest first; that one is always adjacent.

    With ``z_k = b_k + x'w_k``, the distance is ``|z_k| / ||w_k * scale||``. Neurons that the
    output does not count (``beta_k = 0``), and those that no column with a positive scale reaches,
    bound nothing.

    Parameters
    ----------
    x : (n_columns,)
    scale : (n_columns,), standard deviations of the columns; zero where one cannot change
    """
    network = network.dense()
    norm = np.linalg.norm(network.weights * scale, axis=1)
    counted = np.flatnonzero((network.beta[:, output] != 0) & (norm > 0))
    part, norm = network.select(counted), norm[counted]
    z = part.preactivations(x[None])[0]
    side = np.where(z > 0, -1.0, 1.0)[:, None]  # the sign that z must take
    with np.errstate(over="ignore"):
        distance = np.abs(z) / norm
    towards = side * part.weights * scale / norm[:, None]  # unit vectors on standardised columns
    bend = side * part.weights * part.beta[:, [output]]
    here = network.gradient(x[None])[0, :, output]
    found: list[Boundary] = []
    left = np.isfinite(distance)
    while left.any() and len(found) < n_boundaries:
        nearest = int(np.argmin(np.where(left, distance, np.inf)))
        shared, crossed = _switched(distance, towards, nearest)
        left &= ~shared
        found.append(
            Boundary(
                neurons=tuple(counted[shared].tolist()),
                distance=float(distance[nearest]),
                change=distance[nearest] * towards[nearest] * scale,
                slopes=here + bend[shared | crossed].sum(axis=0),
                adjacent=not crossed.any(),
            )
        )
    return tuple(found)


def column_boundaries(
    bounds: tuple[ColumnBound, ...], x: Floats, scale: Floats, n_boundaries: int | None
) -> tuple[Boundary, ...]:
    """The bounds of a row, column by column, as boundaries, the nearest first.

    Columns without a scale cannot change, so that theirs are left out.

    Parameters
    ----------
    bounds : of the row, from a network of codes
    x : (n_columns,)
    scale : (n_columns,), standard deviations of the columns; zero where one cannot change
    n_boundaries : how many to return; None for all, at most two a column
    """
    found = []
    for bound in bounds:
        if scale[bound.column] > 0:
            change = np.zeros(len(x))
            change[bound.column] = bound.value - x[bound.column]
            found.append(
                Boundary(
                    neurons=bound.neurons,
                    distance=float(abs(change[bound.column]) / scale[bound.column]),
                    change=change,
                    slopes=bound.slopes,
                    adjacent=True,
                    column=bound.column,
                    value=bound.value,
                    knot=bound.knot,
                )
            )
    return tuple(sorted(found, key=lambda one: one.distance)[:n_boundaries])


def _switched(distance: Floats, towards: Floats, nearest: int) -> tuple[Bools, Bools]:
    """Neurons that share the hyperplane of one, and others switched on the way to it."""
    length = distance[nearest]
    slack = _SAME * (1.0 + length)
    parallel = np.abs(towards - towards[nearest]).max(axis=1) <= _SAME
    shared = parallel & (np.abs(distance - length) <= slack)
    crossed = distance - length * (towards @ towards[nearest]) < -slack
    return shared, crossed & ~shared
