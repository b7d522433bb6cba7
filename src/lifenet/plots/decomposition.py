"""Why ensembles work: figures `loss_dec`, `stack_life` and `base` of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.plots._display import ResultDisplay, codes_of, rows_of_members
from lifenet.plots._style import (
    BLUE,
    COLOURS,
    GREY,
    INK,
    PALE,
    VERMILION,
    make_axes,
    make_panels,
    matplotlib,
    tidy,
)
from lifenet.theory.curves import decompose_path

if TYPE_CHECKING:
    from typing import Self

    from lifenet._typing import Floats, Integers
    from lifenet.theory.curves import DecompositionCurve
    from lifenet.theory.selection import SelectionCurve
    from lifenet.theory.stacking import SettingsLine

__all__ = ["DecompositionDisplay", "SelectionDisplay", "StackingLineDisplay"]

GREEN = COLOURS[2]
# Members so many times as bad as their mixture are drawn on a logarithmic scale.
_WIDE = 30.0


def _decompose_members(
    estimator: Any, X: Any, y: Any, *, held_out: Any = None, **options: Any
) -> DecompositionCurve:
    """`decompose_path` of the scores of a fitted model's members."""
    members = getattr(estimator, "members_", None)
    if members is None or not all(hasattr(one, "network") for one in members):
        raise TypeError(
            f"{type(estimator).__name__} has no networks for members. Supported are fitted LIFE "
            "models; for others pass their predictions to lifenet.theory.decompose_path."
        )
    classes = getattr(estimator, "classes_", None)
    if classes is not None and len(classes) != 2:
        raise ValueError(
            f"The loss of two classes is decomposed; the model has {len(classes)}. Pass the scores "
            "of the members of one class to lifenet.theory.decompose_path."
        )

    def scores(rows: Any) -> Floats:
        table = np.asarray(rows_of_members(estimator, rows), dtype=np.float64)
        return np.column_stack([one.network.score(table)[:, 0] for one in members])

    if held_out is not None:
        rows, target, *weight = held_out
        options["held_out"] = (scores(rows), codes_of(estimator, target), *weight)
    options["space"] = "squared" if classes is None else "log-odds"
    return decompose_path(scores(X), codes_of(estimator, y), **options)


class DecompositionDisplay(ResultDisplay):
    """Accuracy and diversity on the left, the loss that they leave on the right.

    The distance between the two curves on the left is the loss; where members are far worse than
    their mixture, the scale is logarithmic. A dashed line marks the least loss; along the number
    of members a dotted one marks the fewest members that come close to it.

    Parameters
    ----------
    result : DecompositionCurve
        Of `decompose_path`, or `DecompositionCurve.of` several decompositions.

    Attributes
    ----------
    axes_ : the two panels
    """

    _explain = staticmethod(_decompose_members)
    result: DecompositionCurve
    axes_: list[Any]

    @classmethod
    def from_estimator(cls, estimator: Any, *args: Any, ax: Any = None, **options: Any) -> Self:
        """Draw how the loss of a fitted model's members falls with their number.

        Members' scores are mixed, as in two-stage stacking; LIFE's own read-out is not looked at.

        Parameters
        ----------
        estimator : fitted `LIFERegressor`, or `LIFEClassifier` of two classes
        *args : X and y, rows to fit the weights to
        ax : matplotlib Axes or None, default=None
        **options : keyword arguments of `plot` and of `decompose_path`
            Where `held_out` is given, it is (X, y) or (X, y, sample_weight).
        """
        return cls.from_network(estimator, *args, ax=ax, **options)

    def plot(self, ax: Any = None, *, slack: float = 0.01) -> Self:
        """Draw both panels.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Place of both; None makes a figure.
        slack : float, default=0.01
            Along the number of members: how much more than the least loss, as a share of it,
            may be paid for fewer.

        Returns
        -------
        self
        """
        curve = self.result
        figure, grid = make_panels(ax, 1, 2, (3.6, 3.0), wspace=0.35)
        self.figure_ = figure if ax is None else ax.figure
        self.axes_ = [figure.add_subplot(grid[0, place]) for place in (0, 1)]
        self.ax_ = self.axes_[0] if ax is None else ax
        terms, loss = self.axes_
        _draw_line(terms, curve.x, curve.accuracy, VERMILION, "accuracy: members' loss")
        _draw_line(terms, curve.x, curve.diversity, BLUE, "diversity")
        if curve.accuracy.max() > _WIDE * curve.loss.min():
            _scale_logarithmically(terms, curve.diversity)
        else:
            between = {"color": PALE, "alpha": 0.5, "lw": 0, "label": "loss: between"}
            terms.fill_between(curve.x, curve.diversity, curve.accuracy, **between)
        place = {"loc": "lower left", "bbox_to_anchor": (-0.08, 1.0), "ncols": 3}
        room = {"handlelength": 1.4, "columnspacing": 1.0, "borderpad": 0.2}
        terms.legend(fontsize=7.5, frameon=False, labelcolor=INK, **place, **room)
        terms.set(xlabel=curve.label, ylabel="mean over the rows")
        _draw_line(loss, curve.x, curve.loss, GREEN, "loss")
        loss.set(xlabel=curve.label, ylabel="loss of the mixture")
        self._mark(slack)
        for panel in self.axes_:
            if curve.order is not None:
                panel.xaxis.set_major_locator(matplotlib("ticker").MaxNLocator(integer=True))
            tidy(panel)
        return self

    def _mark(self, slack: float) -> None:
        """The place of the least loss, and of the fewest members that come close."""
        curve, loss = self.result, self.axes_[1]
        best = curve.best
        for panel in self.axes_:
            style = {"color": INK, "lw": 0.9, "ls": (0, (4, 2)), "zorder": 1}
            panel.axvline(curve.x[best], label="least loss", **style)
        title = f"least loss {curve.loss[best]:.4g} at {curve.x[best]:.3g}"
        if curve.order is not None:
            title += f" of {len(curve.x)} members"
            few = curve.fewest(slack)
            if few < best:
                style = {"color": GREY, "lw": 0.9, "ls": (0, (1, 1.5)), "zorder": 1}
                loss.axvline(curve.x[few], label=f"fewest within {100 * slack:g} %", **style)
                title += f"\n{curve.x[few]:.0f} come within {100 * slack:g} % of it"
        loss.set_title(title)
        # The curve is the label of the axis; the legend is of the lines.
        loss.legend(handles=loss.lines[1:], fontsize=7.5, frameon=False, labelcolor=INK)


class _OfSettings(ResultDisplay):
    """A display of figures from many models, which no single one holds."""

    @classmethod
    def from_network(cls, network: Any, *args: Any, ax: Any = None, **options: Any) -> Self:
        """Not available: it takes many models; see the class for the function that collects."""
        raise TypeError(
            f"{cls.__name__} shows many models, not one; pass it what a function of "
            "lifenet.theory has collected of them."
        )

    @classmethod
    def from_estimator(cls, estimator: Any, *args: Any, ax: Any = None, **options: Any) -> Self:
        """Not available, see `from_network`."""
        return cls.from_network(estimator)


class StackingLineDisplay(_OfSettings):
    """LIFE's loss against two-stage stacking's, a dot a setting, with line and diagonal.

    Below the diagonal LIFE has the lower loss.

    Parameters
    ----------
    result : SettingsLine
        Of `compare_settings`.
    """

    result: SettingsLine

    def plot(self, ax: Any = None) -> Self:
        """Draw the dots, the fitted line and the diagonal; returns self."""
        line = self.result
        self.figure_, self.ax_ = make_axes(ax, (4.4, 4.0))
        both = np.concatenate([line.stacking, line.life])
        room = 0.05 * float(np.ptp(both)) or 1.0
        ends = np.array([both.min() - room, both.max() + room])
        self.ax_.plot(ends, ends, color=GREEN, lw=1, label="equal losses")
        x = np.array([line.stacking.min(), line.stacking.max()])
        sign = "+" if line.slope >= 0 else "-"
        words = f"{line.intercept:.3g} {sign} {abs(line.slope):.3g} x,  R² = {line.r_squared:.3f}"
        fitted = line.intercept + line.slope * x
        self.ax_.plot(x, fitted, color=VERMILION, lw=1.3, ls=(0, (4, 2)), label=words)
        dots = {"ms": 4, "color": BLUE, "alpha": 0.7, "mew": 0, "label": "a setting"}
        self.ax_.plot(line.stacking, line.life, "o", **dots)
        self.ax_.set(xlim=ends, ylim=ends, aspect="equal")
        self.ax_.set(xlabel="loss of two-stage stacking", ylabel="loss of LIFE")
        self.ax_.legend(fontsize=7.5, frameon=False, labelcolor=INK, loc="upper left")
        self.ax_.set_title(
            f"LIFE is lower in {line.n_better} of {len(line.life)} settings\n"
            f"least losses: stacking {line.stacking.min():.4g}, LIFE {line.life.min():.4g}"
        )
        tidy(self.ax_)
        return self


class SelectionDisplay(_OfSettings):
    """R² against neurons: models with members dropped in blue, that with all of them in red.

    Parameters
    ----------
    result : SelectionCurve
        Of `selection_curve`.
    """

    result: SelectionCurve

    def plot(self, ax: Any = None, *, slack: float = 0.01) -> Self:
        """Draw the points.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        slack : float, default=0.01
            The title names the smallest model whose R² is at most so far below the highest.
        """
        curve = self.result
        self.figure_, self.ax_ = make_axes(ax, (4.8, 3.4))
        _draw_line(self.ax_, curve.n_neurons, curve.r_squared, BLUE, "members selected")
        if curve.all_members is not None:
            neurons, found = curve.all_members
            self.ax_.plot(neurons, found, "o", ms=7, color=VERMILION, label="all members")
        few = curve.fewest(slack)
        style = {"color": GREY, "lw": 0.9, "ls": (0, (1, 1.5)), "zorder": 1}
        self.ax_.axvline(curve.n_neurons[few], label=f"fewest within {slack:g}", **style)
        self.ax_.set(xlabel="neurons", ylabel="R²")
        self.ax_.set_title(
            f"R² {curve.r_squared[few]:.3f} with {curve.n_neurons[few]:,} neurons; the best "
            f"selection, {curve.n_neurons[curve.best]:,}, has {curve.r_squared[curve.best]:.3f}"
        )
        self.ax_.legend(fontsize=7.5, frameon=False, labelcolor=INK, loc="lower right")
        tidy(self.ax_)
        return self


def _draw_line(ax: Any, x: Floats | Integers, y: Floats, colour: str, label: str) -> None:
    few = len(x) <= 40
    ax.plot(x, y, "-o" if few else "-", ms=3.5, lw=1.4, color=colour, label=label)


def _scale_logarithmically(ax: Any, diversity: Floats) -> None:
    """For what spans powers of ten; diversity may be zero, as that of one member is."""
    positive = diversity[diversity > 0]
    ax.set_yscale("symlog", linthresh=float(np.median(positive)) if len(positive) else 1.0)
