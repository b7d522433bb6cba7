"""Learning codes of columns from rows: knots at quantiles, and what the codes are there."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import ndtri
from sklearn.utils._param_validation import Interval, StrOptions

from lifenet._settings import Settings
from lifenet.data.inputs import check_sample_weight
from lifenet.kernels.quantiles import weighted_quantiles
from lifenet.network import ColumnCoding
from lifenet.network.coding_checks import check_names, read_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from lifenet._typing import Floats

__all__ = ["QuantileCoding"]

#: Rows that a bin should have; fewer rows than this times the knots get fewer knots.
_ROWS_A_BIN = 10
#: But not fewer knots than this.
_FEWEST_KNOTS = 4
#: "auto" bins: times the square root of the rows, at least, and at most. Fewer than 64 raise the
#: error on California (16,500 rows) by 2 %, and change nothing on smaller sets; with 128 a
#: function with jumps has an error of .255 at 180,000 rows, with 256 it has .212 (CatBoost .233).
_FEWEST_BINS, _MOST_BINS = 32, 256
#: Knots nearer to each other than this share of their size, or of the column's range, differ by
#: rounding only.
_SAME_SIZE, _SAME_RANGE = 1e-12, 1e-15


@dataclass(repr=False)
class QuantileCoding(Settings):
    """Codes with knots at quantiles of the columns.

    A column with more than `min_values` distinct values gets knots at weighted inverted-CDF
    quantiles, each of them one of its values. A value that alone has the share of a bin, such as
    the zeros of a column that is mostly zero, is a knot, and the other knots are quantiles of the
    rest. Columns with fewer values, dummies among them, are one code: the value itself, constant
    beyond the smallest and the largest.

    The first and the last knot are the quantiles at `clip` from below and from above, but never
    beyond the second smallest and the second largest row: one stray value moves no code. Where
    both are the same value they are the smallest and the largest. Outside them the codes are
    constant, but for the value itself: it goes on to the smallest and the largest row, or by
    `margin` of the distance between the outer knots where these are further, so that a function
    that is linear over all rows stays so. Beyond, it is constant too: no prediction explodes.

    Integer weights equal repeated rows, and weight zero absence.

    Parameters
    ----------
    kind : {"both", "quantile", "piecewise", "full"}, default="both"
        "quantile": one code, the normal score of the value's mid-rank at the knots and linear
        between them. "both": two codes, the value itself, standardised, and the normal score.
        "piecewise": one code a bin, which rises from 0 to 1 over its bin (piecewise-linear
        encoding). "full": those of "both", then those of "piecewise".
    n_knots : int, default=32
        Most knots for "quantile" and "both"; fewer where there are not ten rows (or units of
        weight) to a knot, down to four.
    max_bins : int or "auto", default=12
        Most bins of a column for "piecewise" and "full", fewer likewise. "auto" takes the
        square root of the rows, 32 at least and 256 at most.
    min_values : int, default=12
        Columns with no more distinct values are one code, the value itself.
    clip : float, default=0.001
        Share of the rows beyond each outer knot.
    margin : float, default=0.25
        How far the value code may go on beyond the outer knots, over the distance between them.

    References
    ----------
    Gorishniy, Rubachev and Babenko, "On embeddings for numerical features in tabular deep
    learning", NeurIPS 2022, for piecewise-linear encoding.

    Examples
    --------
    >>> import numpy as np
    >>> from lifenet.data.codes import QuantileCoding
    >>> rows = np.column_stack([np.arange(100.0), np.arange(100) % 2])
    >>> QuantileCoding().learn(rows)
    ColumnCoding(n_features=2, n_codes=3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kind": [StrOptions({"both", "quantile", "piecewise", "full"})],
        "n_knots": [Interval(Integral, 2, None, closed="left")],
        "max_bins": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "min_values": [Interval(Integral, 1, None, closed="left")],
        "clip": [Interval(Real, 0, 0.5, closed="left")],
        "margin": [Interval(Real, 0, None, closed="left")],
    }

    kind: str = "both"
    n_knots: int = 32
    max_bins: int | str = 12
    min_values: int = 12
    clip: float = 0.001
    margin: float = 0.25

    def learn(
        self,
        X: Any,
        sample_weight: npt.ArrayLike | None = None,
        *,
        names: Sequence[str] | None = None,
    ) -> ColumnCoding:
        """The coding of the columns of `X`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_columns)
            Finite numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Not negative.
        names : sequence of str, optional
            Of the columns; those of a frame, or x0, x1, ... by default.

        Returns
        -------
        ColumnCoding
        """
        self.check()
        table, labels = _read(X, names)
        given = check_sample_weight(sample_weight, len(table))
        weight = np.ones(len(table)) if given is None else given
        counted = weight > 0
        codes = [
            self._code(_Distribution.of(column[counted], weight[counted])) for column in table.T
        ]
        return ColumnCoding([knots for knots, _ in codes], [at for _, at in codes], labels)

    def _code(self, rows: _Distribution) -> tuple[Floats | None, Floats | None]:
        """Knots and the codes there; None for a column that does not vary."""
        if len(rows.values) <= self.min_values:
            return _between_ends(rows)
        wanted = self.n_knots
        if self.kind in ("piecewise", "full"):
            wanted = 1 + _bins(rows.total) if isinstance(self.max_bins, str) else 1 + self.max_bins
        enough = max(_FEWEST_KNOTS, int(rows.total // _ROWS_A_BIN))
        knots = _place_knots(rows, min(wanted, enough), self.clip)
        if len(knots) < 2:
            return _between_ends(rows)
        ramps = np.tri(len(knots), len(knots) - 1, -1)
        if self.kind == "piecewise":
            return knots, ramps
        scores = ndtri(rows.mid_ranks(knots))
        if self.kind == "quantile":
            return knots, scores
        codes = scores[:, None] if self.kind == "both" else np.column_stack([scores, ramps])
        ends = _further(rows, knots, self.margin)
        values = rows.standardised(knots, np.concatenate([ends[0], knots, ends[1]]))
        # Beyond the outer knots the value goes on, and the other codes are constant.
        before, after = (len(one) for one in ends)
        others = np.pad(codes, ((before, after), (0, 0)), mode="edge")
        return np.concatenate([ends[0], knots, ends[1]]), np.column_stack([values, others])


@dataclass(frozen=True, eq=False)
class _Distribution:
    """Distinct values of a column, ascending, and the weight of each."""

    values: Floats
    mass: Floats
    total: float  # how many rows the weights stand for, never fewer than there are

    @classmethod
    def of(cls, column: Floats, weight: Floats) -> _Distribution:
        values, index = np.unique(column, return_inverse=True)
        mass = np.bincount(index.ravel(), weights=weight).astype(np.float64)
        return cls(values, mass, max(float(weight.sum()), float(len(column))))

    def quantiles(self, levels: Floats) -> Floats:
        return weighted_quantiles(self.values, self.mass, levels)

    def ends(self, clip: float) -> tuple[float, float]:
        """The outer knots."""
        level = np.array([max(clip, 2 / self.total)])
        low = float(self.quantiles(level)[0])
        high = -float(weighted_quantiles(-self.values, self.mass, level)[0])
        return (low, high) if low < high else (float(self.values[0]), float(self.values[-1]))

    def mid_ranks(self, knots: Floats) -> Floats:
        """Share of the weight below each knot and half of that at it, (r,); strictly inside (0, 1).

        The knots are some of the values.
        """
        index = np.searchsorted(self.values, knots)
        upto = np.cumsum(self.mass)
        return np.asarray((upto[index] - self.mass[index] / 2) / upto[-1])

    def standardised(self, knots: Floats, values: Floats) -> Floats:
        """Values, less the mean and over the deviation of the column cut at the outer knots."""
        # On [-1, 1], so that no square leaves the range of floats.
        middle, half = (knots[0] + knots[-1]) / 2, (knots[-1] - knots[0]) / 2
        cut = (np.clip(self.values, knots[0], knots[-1]) - middle) / half
        share = self.mass / self.mass.sum()
        mean = share @ cut
        deviation = np.sqrt(share @ np.square(cut - mean))
        return np.asarray(((values - middle) / half - mean) / deviation)


def _bins(n_rows: float) -> int:
    """Bins that so many rows allow for."""
    return int(np.clip(np.sqrt(n_rows), _FEWEST_BINS, _MOST_BINS))


def _place_knots(rows: _Distribution, n_knots: int, clip: float) -> Floats:
    """At most `n_knots` of the values, ascending, from one outer knot to the other."""
    low, high = rows.ends(clip)
    inside = (rows.values >= low) & (rows.values <= high)
    values, mass = rows.values[inside], rows.mass[inside]
    # More than the share of a bin: such a value is a knot itself. There are at most n_knots - 2.
    heavy = mass * (n_knots - 1) > mass.sum()
    knots = values[heavy]
    if not heavy.all():
        levels = np.linspace(0, 1, n_knots - len(knots))
        knots = np.append(knots, weighted_quantiles(values[~heavy], mass[~heavy], levels))
    return _apart(np.unique(knots))


def _between_ends(rows: _Distribution) -> tuple[Floats | None, Floats | None]:
    """The column itself between its smallest and its largest value, and constant beyond them."""
    ends = _apart(rows.values[[0, -1]])
    return (ends, ends) if len(ends) > 1 else (None, None)


def _further(rows: _Distribution, knots: Floats, margin: float) -> tuple[Floats, Floats]:
    """Where the value code ends, below and above the outer knots; nothing where it ends there."""
    room = margin * (knots[-1] - knots[0])
    low = max(float(rows.values[0]), float(knots[0] - room))
    high = min(float(rows.values[-1]), float(knots[-1] + room))
    below = len(_apart(np.array([low, knots[0]]))) > 1
    above = len(_apart(np.array([knots[-1], high]))) > 1
    return np.array([low] if below else []), np.array([high] if above else [])


def _apart(knots: Floats) -> Floats:
    """The knots without those that differ from the one before by rounding only."""
    size = np.maximum(np.abs(knots[1:]), np.abs(knots[:-1]))
    limit = np.maximum(_SAME_SIZE * size, _SAME_RANGE * (knots[-1] - knots[0]))
    return np.asarray(knots[np.append(True, np.diff(knots) > limit)])


def _read(X: Any, names: Sequence[str] | None) -> tuple[Floats, tuple[str, ...]]:
    """The table as float64, and the names of its columns, by which bad cells are refused."""
    table = np.asarray(X)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"X must have rows and columns; it has shape {table.shape}")
    if names is None and hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
    labels = check_names(names, table.shape[1])
    return read_rows("X", table, labels), labels
