"""What fewer neurons cost, as a frozen value: sizes, their errors, and their networks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from lifenet._extras import require

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

__all__ = ["Frontier"]


@dataclass(frozen=True, repr=False)
class Frontier:
    """The error of a network against its number of neurons, and a network for each number.

    The first size is the full network; from there the sizes fall. All sequences are in their
    order. The error is the root mean squared error in the units of the target, or the mean
    log-loss.

    Attributes
    ----------
    sizes : numbers of neurons, falling, the full network first
    networks : a network of each size, fitted to all rows
    losses : mean loss of each size on the rows that judge: half the mean squared error of the
        target over `spread`, or the log-loss
    noises : standard error of the difference between that loss and the full network's, over the
        rows that judge; 0 for the full network
    squared : whether the loss is half the squared error
    n_rows : weight of the rows that judge
    held_out : whether they are rows that the judged networks were not fitted to; where not, errors
        are those of training
    seen : whether the full network was fitted to them all the same, so that its error is too low
        and prices are too high
    complete : whether all sizes that were asked for are there; False where time ran out
    spread : units of the target in one unit of the networks' training
    """

    sizes: tuple[int, ...]
    networks: tuple[Any, ...]
    losses: tuple[float, ...]
    noises: tuple[float, ...]
    squared: bool
    n_rows: float
    held_out: bool = True
    complete: bool = True
    spread: float = 1.0
    seen: bool = False

    # ------------------------------------------------------------------ reading it

    @property
    def measure(self) -> str:
        """What the error is: "RMSE" or "log-loss"."""
        return "RMSE" if self.squared else "log-loss"

    @property
    def rows(self) -> str:
        """Which rows judge: "held-out" or "training"."""
        return "held-out" if self.held_out and not self.seen else "training"

    def error(self, n_neurons: int) -> float:
        """Error of a size: RMSE in the units of the target, or log-loss."""
        return self._error(self._place(n_neurons))

    def price(self, n_neurons: int) -> float:
        """Relative increase of the error over the full network's: 0.02 is two percent more."""
        return self._price(self._place(n_neurons))

    def noise(self, n_neurons: int) -> float:
        """Standard error of the price: prices below twice as much may be chance."""
        return self._noise(self._place(n_neurons))

    def smallest(self, tolerance: float = 0.02) -> int:
        """Fewest neurons whose price is at most `tolerance`."""
        if not isinstance(tolerance, Real):
            raise TypeError(f"tolerance must be a number; it is {tolerance!r}.")
        if not tolerance >= 0:
            raise ValueError(
                f"tolerance must not be negative; it is {tolerance}. It is a relative increase of "
                "the error: 0.02 is two percent."
            )
        places = range(len(self.sizes))
        return min(self.sizes[place] for place in places if self._price(place) <= tolerance)

    def network_of(self, n_neurons: int) -> Any:
        """The network of a size, fitted to all rows."""
        return self.networks[self._place(n_neurons)]

    def to_frame(self) -> pd.DataFrame:
        """One row a size: neurons, error, price, noise (of the price), loss."""
        pandas = require("pandas", extra="data", purpose="A table of the frontier")
        places = range(len(self.sizes))
        frame: pd.DataFrame = pandas.DataFrame(
            {
                "neurons": self.sizes,
                "error": [self._error(place) for place in places],
                "price": [self._price(place) for place in places],
                "noise": [self._noise(place) for place in places],
                "loss": self.losses,
            }
        )
        return frame

    def __repr__(self) -> str:
        head = f"Frontier: {self.measure} on {self.n_rows:,.6g} {self.rows} rows against neurons"
        if self.seen:
            head += "\n  (the full network was fitted to them: prices are too high)"
        ended = "" if self.complete else "\n  (time ran out before smaller sizes)"
        lines = [self._line(place) for place in range(len(self.sizes))]
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

    # ------------------------------------------------------------------ by place

    def _place(self, n_neurons: int) -> int:
        if n_neurons not in self.sizes:
            sizes = ", ".join(str(size) for size in self.sizes)
            raise ValueError(f"n_neurons must be one of {sizes}; it is {n_neurons!r}.")
        return self.sizes.index(n_neurons)

    def _error(self, place: int) -> float:
        loss = self.losses[place]
        return self.spread * math.sqrt(2.0 * loss) if self.squared else loss

    def _price(self, place: int) -> float:
        error, full = self._error(place), self._error(0)
        if full > 0:
            return error / full - 1.0
        return math.inf if error > full else 0.0

    def _noise(self, place: int) -> float:
        """By the chain rule, d sqrt(L) / sqrt(L_full) = dL / (2 sqrt(L L_full))."""
        loss, full, noise = self.losses[place], self.losses[0], self.noises[place]
        if noise == 0 or full <= 0:
            return 0.0 if noise == 0 else math.inf
        return noise / (2.0 * math.sqrt(loss * full)) if self.squared else noise / full

    def _line(self, place: int) -> str:
        line = f"  {self.sizes[place]:>6,} neurons  {self._error(place):.4g}"
        if place == 0:
            return f"{line}  (full)"
        return f"{line}  {self._price(place):+.1%} ± {self._noise(place):.1%}"
