"""What the score does when features of a row are exchanged for those of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats
    from lifenet.explain._sample import Sample

__all__ = ["draw_pairs", "exchange_gains", "exchanged"]


def draw_pairs(
    sample: Sample, n_pairs: int, random_state: int | np.random.Generator
) -> tuple[Floats, Floats]:
    """Two tables of rows, (n_pairs, n_columns) each.

    By inversion of the cumulated weights: a row of weight two is drawn as its two copies, next to
    each other, would be.
    """
    if isinstance(n_pairs, bool) or not isinstance(n_pairs, (int, np.integer)):
        raise TypeError(f"n_pairs must be a whole number; it is {n_pairs!r}.")
    if n_pairs < 1:
        raise ValueError(f"n_pairs must be at least 1; it is {n_pairs}.")
    cumulated = np.cumsum(sample.weight)
    generator = np.random.default_rng(random_state)
    uniform = generator.random((2, int(n_pairs))) * cumulated[-1]
    first, second = np.minimum(np.searchsorted(cumulated, uniform, "right"), len(cumulated) - 1)
    return sample.X[first], sample.X[second]


def exchange_gains(sample: Sample, rows: Floats, others: Floats, since: int = 0) -> Floats:
    """Change of the score as each feature from a number on alone is exchanged, (n, n_features)."""
    groups = sample.groups[since:]
    gains = np.zeros((len(rows), len(groups)))
    single = [place for place, columns in enumerate(groups) if len(columns) == 1]
    if single:
        columns = [groups[place][0] for place in single]
        targets = rows.copy()
        targets[:, columns] = others[:, columns]
        moved = sample.network.moves(rows, targets[None])[0, :, :, sample.output]
        gains[:, single] = moved[:, columns]
    several = [place for place in range(len(groups)) if place not in single]
    if several:
        own = _score(sample, rows)
        for place in several:
            gains[:, place] = _score(sample, exchanged(rows, others, groups[place])) - own
    return gains


def exchanged(rows: Floats, others: Floats, columns: Sequence[int]) -> Floats:
    """Rows with some columns taken from others."""
    mixed = rows.copy()
    mixed[:, list(columns)] = others[:, list(columns)]
    return mixed


def _score(sample: Sample, rows: Floats) -> Floats:
    return np.asarray(sample.network.score(rows)[:, sample.output], dtype=np.float64)
