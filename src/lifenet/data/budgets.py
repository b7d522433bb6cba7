"""One table of memory budgets: how much is held at once, in bytes or in cells of a matrix.

Read through the module (``budgets.HELD_ROWS``), so that a test or a user can change an entry.
"""

from __future__ import annotations

#: Bytes of rows that are scaled and laid out once for many passes.
HELD_ROWS = 64 << 20
#: Bytes of activations of all rows that are held while an output layer is fitted by Newton's
#: method; beyond them they are computed at every pass.
HELD_ACTIVATIONS = 1 << 28
#: The same while penalty discounts are chosen, in single precision: fewer passes, of larger layers.
HELD_LAYER = 1 << 29
#: Bytes of rows that distillation holds in double precision, and beyond them in single precision.
HELD_DOUBLE, HELD_SINGLE = 1 << 26, 1 << 29
#: Cells of a block of features whose products are summed: few large blocks, since each adds a
#: whole matrix to the sum.
GRAM_BLOCK = 1 << 22
#: Cells of a hidden layer that is only evaluated.
FORWARD_BLOCK = 1 << 22
#: Cells of a hidden layer whose gradient is taken. More leave the cache, and every pass takes three
#: times as long.
GRADIENT_BLOCK = 1 << 18
#: Cells of projections of the rows that a start looks at.
PROJECTIONS = 1 << 21
