"""Long tables a few rows at a time, so that memory does not grow with rows times neurons."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

__all__ = ["BLOCK_BYTES", "row_blocks"]

#: Preactivations are computed in blocks of about this many bytes: large enough for the matrix
#: product to run at full speed, small enough to stay in the cache and never to fill the memory.
BLOCK_BYTES = 4 * 2**20


def row_blocks(n_rows: int, width: int, dtype: np.dtype[np.floating]) -> Iterator[slice]:
    """Cut `n_rows` rows of `width` numbers into slices of about `BLOCK_BYTES` each."""
    length = max(1, BLOCK_BYTES // (dtype.itemsize * max(1, width)))
    for start in range(0, n_rows, length):
        yield slice(start, min(start + length, n_rows))
