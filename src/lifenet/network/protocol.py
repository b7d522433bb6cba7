"""What every explanation, plot and export asks of a model, and nothing more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import numpy.typing as npt

    from lifenet._typing import Floats, Integers
    from lifenet.network.coded_bounds import ColumnBound
    from lifenet.network.relu import ReluNetwork

__all__ = ["Bounded", "Coded", "Limited", "PiecewiseLinear", "Restriction"]


@runtime_checkable
class Restriction(Protocol):
    """A function of one column, for each of n rows whose other columns are held.

    Row `i` stands for ``t -> f(x_i1, ..., t, ..., x_ip)`` with `t` in the place of the column.
    """

    def increment(self, low: npt.ArrayLike, high: npt.ArrayLike) -> Floats:
        """Change of the score between two values of the column, shape (n, n_outputs)."""
        ...

    def mean(self, grid: npt.ArrayLike, weight: npt.ArrayLike | None = None) -> Floats:
        """Mean of the score over the rows at each value in `grid`, shape (g, n_outputs)."""
        ...

    def kinks(self) -> Iterator[tuple[int, Floats]]:
        """Neurons that bend along the column, each with where it does so in each row, (n,)."""
        ...


@runtime_checkable
class PiecewiseLinear(Protocol):
    """A continuous function that is linear on each of finitely many regions.

    Everywhere `X` has shape (n, n_features); p stands for `n_features`.
    """

    @property
    def n_features(self) -> int:
        """Number of columns that the function reads."""
        ...

    @property
    def n_outputs(self) -> int:
        """Number of scores that it gives."""
        ...

    def score(self, X: npt.ArrayLike) -> Floats:
        """Value of the function, shape (n, n_outputs)."""
        ...

    def equation(self, X: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Slopes and constant of the linear piece that each row lies on.

        Shapes (n, p, n_outputs) and (n, n_outputs); ``constant + sum_j x_j slopes_j`` is the
        score.
        """
        ...

    def gradient(self, X: npt.ArrayLike) -> Floats:
        """Slopes of each row's `equation`, shape (n, p, n_outputs)."""
        ...

    def local_intercept(self, X: npt.ArrayLike) -> Floats:
        """Constant of each row's `equation`, shape (n, n_outputs)."""
        ...

    def contributions(self, X: npt.ArrayLike) -> Floats:
        """Parts of the score by column, shape (n, p, n_outputs).

        With the local intercept they sum to the score.
        """
        ...

    def region_keys(self, X: npt.ArrayLike) -> npt.NDArray[np.uint64]:
        """A number for the linear region that each row lies in, shape (n,)."""
        ...

    def along(self, X: npt.ArrayLike, column: int) -> Restriction:
        """The function of one column alone, the others held at each row's values."""
        ...

    def moves(self, X: npt.ArrayLike, targets: npt.ArrayLike) -> Floats:
        """Change of the score as each column alone goes to other values.

        `targets` has shape (s, n, p), the result (s, n, p, n_outputs).
        """
        ...

    def segment(self, start: npt.ArrayLike, end: npt.ArrayLike) -> Floats:
        """Integral of the gradient along straight segments, by column, (n, p, n_outputs).

        Over the columns it sums to ``score(end) - score(start)``.
        """
        ...


@runtime_checkable
class Limited(Protocol):
    """A network that can say how far the equation of a row holds."""

    def limits(self, x: npt.ArrayLike, output: int = 0) -> Floats:
        """Lowest and highest value of each column alone, the others held, (n_features, 2)."""
        ...


@runtime_checkable
class Bounded(Protocol):
    """A network that can say where the equation of a row changes, column by column."""

    def bounds(self, x: npt.ArrayLike, output: int = 0) -> tuple[ColumnBound, ...]:
        """The nearest bounds below and above the row's value in each column."""
        ...


@runtime_checkable
class Coded(Protocol):
    """A network of codes, each of which follows one column."""

    @property
    def network(self) -> ReluNetwork:
        """The network of the codes."""
        ...

    @property
    def column_of_code(self) -> Integers:
        """The column that each code follows, (n_codes,)."""
        ...

    def encode(self, X: npt.ArrayLike) -> Floats:
        """Codes of rows, (n, n_codes)."""
        ...
