"""Where the equation of a row ends: the hyperplanes on which neurons bend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats
    from lifenet.network import ReluNetwork

__all__ = ["Boundary", "nearest_boundaries"]

#: Hyperplanes closer than this, in standard deviations, are one.
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Boundary:
    """A hyperplane on which neurons bend, seen from one row.

    Attributes
    ----------
    neurons : the neurons that bend on it, one unless several share it
    distance : float
        From the row to it, in standard deviations of the columns.
    change : ndarray of shape (n_columns,)
        The smallest change, by that measure, that brings the row onto it, in the user's units.
    slopes : ndarray of shape (n_columns,)
        Slopes of the equation just beyond, at the place where the change leads.
    adjacent : bool
        Whether no other neuron switches on the way: the boundary is then one of the row's own
        region, and `slopes` are those of the neighbour behind it.
    """

    neurons: tuple[int, ...]
    distance: float
    change: Floats
    slopes: Floats
    adjacent: bool


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


def _switched(distance: Floats, towards: Floats, nearest: int) -> tuple[Bools, Bools]:
    """Neurons that share the hyperplane of one, and others switched on the way to it."""
    length = distance[nearest]
    slack = _SAME * (1.0 + length)
    parallel = np.abs(towards - towards[nearest]).max(axis=1) <= _SAME
    shared = parallel & (np.abs(distance - length) <= slack)
    crossed = distance - length * (towards @ towards[nearest]) < -slack
    return shared, crossed & ~shared
