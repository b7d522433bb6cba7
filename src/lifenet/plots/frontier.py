"""How the error increases with fewer neurons: the error against the number of neurons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.plots._style import BLUE, GREY, INK, VERMILION, make_axes, matplotlib, tidy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    import pandas as pd

    from lifenet.compress.frontier import Frontier

__all__ = ["FrontierDisplay"]

# The band is so many standard errors of the difference to the full network to either side.
_ERRORS = 2.0
# The lower end of the axis is so much of its range below the lowest error.
_ROOM = 0.08
# The same where numbers stand at the foot.
_FOOT = 0.3


class FrontierDisplay:
    """The error of networks of fewer and fewer neurons, and which of them are good enough.

    A dot for each size; the band is two standard errors of the difference to the full network,
    whose error is the dashed line: where it lies in the band, the increase may be chance. The
    fewest neurons within each of some increases are marked. The axis of errors has the name that
    the loss reports its mean under, such as RMSE or log-loss. The numbers at the foot say how much
    of what each network does within 5 % of a column's span its equations explain.

    Parameters
    ----------
    result : Frontier

    Attributes
    ----------
    result : as given
    figure_, ax_ : matplotlib Figure and Axes, after `plot`
    """

    figure_: Any
    ax_: Any

    def __init__(self, result: Frontier) -> None:
        self.result = result

    def to_frame(self) -> pd.DataFrame:
        """The numbers behind it, one row a size."""
        return self.result.to_frame()

    def plot(
        self,
        ax: Any = None,
        *,
        tolerances: Sequence[float] | float = (0.02, 0.05),
        max_increase: float = 0.3,
        unit: str | None = None,
    ) -> Self:
        """Draw the frontier.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        tolerances : float or sequence of float, default=(0.02, 0.05)
            The fewest neurons within each of these relative increases are marked.
        max_increase : float, default=0.3
            Sizes whose relative increase is above it are cut off; the title says how many.
        unit : str or None, default=None
            Of the target, as it is called at the axis of errors.

        Returns
        -------
        self
        """
        if not max_increase > 0:
            raise ValueError(f"max_increase must be above 0; it is {max_increase}.")
        if self.result.sizes[0] == 0:
            raise ValueError("The full network has no neurons: there is nothing to draw.")
        given = np.atleast_1d(np.asarray(tolerances, dtype=float)).tolist()
        within = {tolerance: self.result.smallest(tolerance) for tolerance in given}
        self.figure_, self.ax_ = make_axes(ax, (5.6, 3.6))
        shown = self._draw(max_increase)
        self._scale(shown)
        self._tell_fidelity(_apart(shown))
        self._mark(sorted(set(shown) & {*within.values(), self.result.sizes[0]}, reverse=True))
        self._explain([one for one, size in within.items() if size in shown[1:]])
        self._label(unit, len(self.result.sizes) - len(shown))
        return self

    def _draw(self, max_increase: float) -> list[int]:
        """The curve, its band and the full network's level; the sizes that are shown."""
        result = self.result
        sizes = [
            size for size in result.sizes if size > 0 and result.increase(size) <= max_increase
        ]
        error = np.array([result.error(size) for size in sizes])
        full = result.sizes[0]
        width = (
            _ERRORS * result.error(full) * np.array([result.standard_error(size) for size in sizes])
        )
        band = {"color": BLUE, "alpha": 0.15, "lw": 0, "label": f"± {_ERRORS:g} standard errors"}
        self.ax_.fill_between(sizes, error - width, error + width, **band)
        self.ax_.axhline(result.error(full), color=GREY, lw=0.8, ls="--")
        self.ax_.plot(sizes, error, "o-", color=BLUE, ms=4, lw=1.3)
        self.ax_.plot([full], error[:1], "D", color=INK, ms=6, zorder=4)
        return sizes

    def _scale(self, sizes: list[int]) -> None:
        """Neurons on a logarithmic axis; errors and, at the right, their increases."""
        ticker, full = matplotlib("ticker"), self.result.error(self.result.sizes[0])
        self.ax_.set_xscale("log", base=2)
        self.ax_.set_xlim(sizes[-1] / 1.3, sizes[0] * 1.5)
        self.ax_.xaxis.set_major_locator(ticker.FixedLocator(_apart(sizes)))
        self.ax_.xaxis.set_major_formatter(ticker.FuncFormatter(lambda size, _: f"{size:,.0f}"))
        self.ax_.xaxis.set_minor_locator(ticker.NullLocator())
        low, high = self.ax_.get_ylim()
        told = _FOOT if self.result.fidelities else _ROOM
        self.ax_.set_ylim(low - told * (high - low), high + 1.5 * _ROOM * (high - low))
        if full > 0:
            functions = (lambda error: error / full - 1.0, lambda increase: (increase + 1.0) * full)
            right = self.ax_.secondary_yaxis("right", functions=functions)
            right.yaxis.set_major_formatter(ticker.FuncFormatter(_percent))
            right.set_ylabel("over the full network")
            tidy(right)
            right.spines["right"].set(visible=True, color=GREY, linewidth=0.6)

    def _tell_fidelity(self, sizes: list[int]) -> None:
        """How much of what each network does near rows straight lines explain, as numbers."""
        known = [size for size in sizes if np.isfinite(self.result.fidelity(size))]
        for size in known:
            self.ax_.annotate(
                f"{self.result.fidelity(size):.0%}",
                (size, 0.09),
                xycoords=("data", "axes fraction"),
                ha="center",
                fontsize=7,
                color=INK,
            )
        if known:
            self.ax_.annotate(
                "equations explain, within 5 % of a column's span",
                (0.01, 0.02),
                xycoords="axes fraction",
                fontsize=7,
                color=GREY,
            )

    def _mark(self, sizes: list[int]) -> None:
        """The sizes that are good enough, each with its number and increase."""
        result, full = self.result, self.result.sizes[0]
        for number, size in enumerate(sizes):
            error, label = result.error(size), _words(result, size)
            if size != full:
                self.ax_.plot([size], [error], "o", color=VERMILION, ms=7, zorder=5)
            where = {"xytext": (10, 8 + 16 * number), "ha": "left"}
            if size == full:
                where = {"xytext": (4, -16), "ha": "right"}
            self.ax_.annotate(
                label,
                (size, error),
                textcoords="offset points",
                fontsize=8,
                color=INK,
                arrowprops={"arrowstyle": "-", "color": GREY, "lw": 0.6},
                **where,
            )

    def _explain(self, tolerances: list[float]) -> None:
        """What the marks mean."""
        if tolerances:
            limits = " and ".join(f"{_percent(one).lstrip('+')}" for one in sorted(tolerances))
            words = f"fewest neurons within {limits}"
            self.ax_.plot([], [], "o", color=VERMILION, ms=7, label=words)
        self.ax_.legend(loc="upper right", frameon=False, fontsize=8)

    def _label(self, unit: str | None, n_cut: int) -> None:
        result = self.result
        of = "" if unit is None else f" ({unit})"
        self.ax_.set_xlabel("neurons")
        self.ax_.set_ylabel(f"{result.measure}{of}, {result.n_rows:,.0f} {result.rows} rows")
        cut = f" ({n_cut} smaller not shown)" if n_cut else ""
        self.ax_.set_title(f"Error against number of neurons{cut}")
        tidy(self.ax_)


def _apart(sizes: list[int]) -> list[int]:
    """Sizes whose labels do not touch, from the full network down."""
    kept = sizes[:1]
    for size in sizes[1:]:
        if size * 1.6 <= kept[-1]:
            kept.append(size)
    return kept


def _words(result: Frontier, size: int) -> str:
    if size == result.sizes[0]:
        return f"full: {size:,} neurons"
    return f"{size:,} neurons, {100 * result.increase(size):+.1f} %"


def _percent(increase: float, _: Any = None) -> str:
    """An increase at the axis, as in "+2 %"."""
    percent = round(100 * increase, 6)
    return "0 %" if percent == 0 else f"{percent:+.3g} %"
