"""How error and straightness change with fewer neurons, as a frozen value."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from lifenet._extras import require

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from lifenet.losses import Loss

__all__ = ["Frontier"]


@dataclass(frozen=True, repr=False)
class Frontier:
    """The error of a network against its number of neurons, and a network for each number.

    The first size is the full network; from there the sizes fall. All sequences are in their
    order. The error is what the loss reports its mean as: the root mean squared error in the units
    of the target, the mean log-loss, or the mean of another loss in standardised units.

    Attributes
    ----------
    sizes : numbers of neurons, falling, the full network first
    networks : a network of each size, fitted to all rows
    losses : mean loss of each size on the validation rows, in standardised units
    standard_errors : of the difference between that loss and the full network's, over the
        validation rows; 0 for the full network
    loss : what was minimised; it says what errors are called and how they follow from `losses`
    n_rows : weight of the validation rows
    held_out : whether they are rows that the measured networks were not fitted to; where not,
        errors are those of training
    seen : whether the full network was fitted to them all the same, so that its error is too low
        and increases are too high
    complete : whether all sizes that were asked for are there; False where time ran out
    spread : units of the target in one unit of the networks' training
    fidelities : of each size, the share of what its network does within 5 % of each column's span
        that straight lines explain; NaN where columns have no other value so near
    """

    sizes: tuple[int, ...]
    networks: tuple[Any, ...]
    losses: tuple[float, ...]
    standard_errors: tuple[float, ...]
    loss: Loss
    n_rows: float
    held_out: bool = True
    complete: bool = True
    spread: float = 1.0
    seen: bool = False
    fidelities: tuple[float, ...] = ()

    # ------------------------------------------------------------------ reading it

    @property
    def measure(self) -> str:
        """What the error is, as the loss calls it: "RMSE", "log-loss" or "mean loss"."""
        return self.loss.measure

    @property
    def rows(self) -> str:
        """Which rows the errors are of: "held-out" or "training"."""
        return "held-out" if self.held_out and not self.seen else "training"

    def error(self, n_neurons: int) -> float:
        """Error of a size, in the terms that `measure` names."""
        return self._error(self._index(n_neurons))

    def increase(self, n_neurons: int) -> float:
        """Relative increase of the error over the full network's: 0.02 is two percent more."""
        return self._increase(self._index(n_neurons))

    def standard_error(self, n_neurons: int) -> float:
        """Standard error of the increase: increases below twice as much may be chance."""
        return self._standard_error(self._index(n_neurons))

    def fidelity(self, n_neurons: int) -> float:
        """Share of what a size's network does near rows that straight lines explain."""
        return self._fidelity(self._index(n_neurons))

    def smallest(self, tolerance: float = 0.02, *, fidelity: float | None = None) -> int:
        """Fewest neurons whose increase is at most `tolerance`.

        Parameters
        ----------
        tolerance : relative increase of the error
        fidelity : least share of what the network does near rows that straight lines explain; None
            asks for none
        """
        if not isinstance(tolerance, Real):
            raise TypeError(f"tolerance must be a number; it is {tolerance!r}.")
        if not tolerance >= 0:
            raise ValueError(
                f"tolerance must not be negative; it is {tolerance}. It is a relative increase of "
                "the error: 0.02 is two percent."
            )
        least = -math.inf if fidelity is None else float(fidelity)
        indices = range(len(self.sizes))
        found = [
            self.sizes[index]
            for index in indices
            if self._increase(index) <= tolerance
            and (fidelity is None or self._fidelity(index) >= least)
        ]
        if not found:
            best = max((self._fidelity(index) for index in indices), default=math.nan)
            raise ValueError(
                f"No size within {tolerance:.1%} of the full network's error has a fidelity of "
                f"{least:g}; the highest of all sizes is {best:.2f}. Ask for less, or fit with "
                "more smoothness."
            )
        return min(found)

    def network_of(self, n_neurons: int) -> Any:
        """The network of a size, fitted to all rows."""
        return self.networks[self._index(n_neurons)]

    def to_frame(self) -> pd.DataFrame:
        """One row a size: neurons, error, relative increase, its standard error, loss, fidelity."""
        pandas = require("pandas", extra="data", purpose="A table of the frontier")
        indices = range(len(self.sizes))
        frame: pd.DataFrame = pandas.DataFrame(
            {
                "neurons": self.sizes,
                "error": [self._error(index) for index in indices],
                "increase": [self._increase(index) for index in indices],
                "standard_error": [self._standard_error(index) for index in indices],
                "loss": self.losses,
                "fidelity": [self._fidelity(index) for index in indices],
            }
        )
        return frame

    def __repr__(self) -> str:
        head = f"Frontier: {self.measure} on {self.n_rows:,.6g} {self.rows} rows against neurons"
        if self.seen:
            head += "\n  (the full network was fitted to them: increases are too high)"
        ended = "" if self.complete else "\n  (time ran out before smaller sizes)"
        lines = [self._line(index) for index in range(len(self.sizes))]
        return "\n".join([head, *lines]) + ended

    # ------------------------------------------------------------------ making others of it

    def unscaled(self, convert: Callable[[Any], Any], spread: float = 1.0) -> Frontier:
        """The same frontier in other units.

        Parameters
        ----------
        convert : makes of each network the one in those units
        spread : new units of the target in one unit of now
        """
        networks = tuple(convert(network) for network in self.networks)
        return replace(self, networks=networks, spread=self.spread * spread)

    # ------------------------------------------------------------------ by index

    def _index(self, n_neurons: int) -> int:
        if n_neurons not in self.sizes:
            sizes = ", ".join(str(size) for size in self.sizes)
            raise ValueError(f"n_neurons must be one of {sizes}; it is {n_neurons!r}.")
        return self.sizes.index(n_neurons)

    def _error(self, index: int) -> float:
        return float(self.loss.summary(self.losses[index], self.spread))

    def _increase(self, index: int) -> float:
        error, full = self._error(index), self._error(0)
        if full > 0:
            return error / full - 1.0
        return math.inf if error > full else 0.0

    def _standard_error(self, index: int) -> float:
        """By the chain rule, d e(L) / e(L_full) = e'(L) dL / e(L_full), where e is the summary."""
        loss, full, error = self.losses[index], self.losses[0], self.standard_errors[index]
        if error == 0 or full <= 0:
            return 0.0 if error == 0 else math.inf
        return error * float(self.loss.summary_slope(loss) / self.loss.summary(full))

    def _fidelity(self, index: int) -> float:
        return self.fidelities[index] if self.fidelities else math.nan

    def _line(self, index: int) -> str:
        line = f"  {self.sizes[index]:>6,} neurons  {self._error(index):.4g}"
        straight = self._fidelity(index)
        told = "" if math.isnan(straight) else f"  lines explain {straight:.0%}"
        if index == 0:
            return f"{line}  (full){told}"
        return f"{line}  {self._increase(index):+.1%} ± {self._standard_error(index):.1%}{told}"
