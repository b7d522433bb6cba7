"""One prediction: its equation, how it differs from a reference, and how far the equation holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.kernels.numbers import MINUS, number_text
from lifenet.tables import value_text

if TYPE_CHECKING:
    import pandas as pd

    from lifenet._typing import Bools, Floats, Integers
    from lifenet.explain._cells import Cells
    from lifenet.explain._level_changes import LevelChanges
    from lifenet.explain.boundaries import Boundary
    from lifenet.schema import FeatureSchema

__all__ = ["MINUS", "RowExplanation", "number_text"]

#: Columns out of range that are named in words; the others are counted.
_MOST_NAMED = 5
#: Fidelity below which a column's slope is named as a poor one.
_POOR = 0.5


@shown
@dataclass(frozen=True, eq=False)
class RowExplanation:
    """Why a row has its score; made by `explain_row` and `explain_rows`.

    The parts of the waterfall sum to ``score - reference_score``; the contributions and the
    intercept of the equation sum to `score`.

    Attributes
    ----------
    schema : names, groups and training ranges of the columns
    x : ndarray of shape (n_columns,)
    score : float
    reach : float
        Share of each column's span over which the equation was fitted; 0 is the row itself.
    intercept : float, of the row's linear equation, which gives the score at the row exactly
    slopes : ndarray of shape (n_columns,), of that equation
        Zero, with a window of NaN, where a column has no other value in reach.
    window : ndarray of shape (n_columns, 2)
        Lowest and highest training value of each column within reach, the row's own included; NaN
        without another, and with a reach of 0.
    fidelity : ndarray of shape (n_columns,)
        Share of the change of the score over its window that each column's slope explains: 1 is
        perfect, 0 no better than "nothing changes". NaN without a window or a change.
    explained : float
        The same over all windows together.
    nearest, nearest_change : ndarrays of shape (n_columns, 2)
        For columns without a window, the next training value below and above, and what going
        there changes, exactly; NaN where there is none.
    contributions : ndarray of shape (n_features,)
        Slope times value, summed over the columns of each feature.
    reference : str
        "mean score", "mean", "median", "zero" or "row".
    reference_row : ndarray of shape (n_columns,)
    reference_score : float
    parts : ndarray of shape (n_features,)
        Change of the score from the reference to the row along the straight line, by feature.
        From the mean score: the mean over lines from background rows.
    scale : ndarray of shape (n_columns,)
        One standard deviation of each column, by which distances are measured.
    limits : ndarray of shape (n_columns, 2)
        With a reach of 0, lowest and highest value of each column for which the equation holds,
        the others held. NaN where nothing is known of the inner layer, or limits were not asked
        for.
    boundaries : tuple of Boundary, the nearest first
        Of a `ReluNetwork`, the nearest hyperplanes. Of a `CodedNetwork`, for each column alone
        the nearest values below and above at which the equation changes, and why.
    region_share : float or None
        With a reach of 0, share of the background rows that lie in the row's region.
    cells : Cells
        The row's own cells as text, and which of them training never had.
    level_changes : dict of feature to pairs of a level and a change
        For categories of the user's table, what going to the most frequent other levels and to a
        missing value would change, exactly; for numbers with gaps, to a missing value, or from it
        to the median.
    as_far : float or None
        Share of the background rows that are at least as far from their centre as the row, by
        Mahalanobis distance; 0 where it is farther out than all.
    """

    schema: FeatureSchema
    x: Floats
    score: float
    reach: float
    intercept: float
    slopes: Floats
    window: Floats
    fidelity: Floats
    explained: float
    nearest: Floats
    nearest_change: Floats
    contributions: Floats
    reference: str
    reference_row: Floats
    reference_score: float
    parts: Floats
    scale: Floats
    limits: Floats
    boundaries: tuple[Boundary, ...]
    region_share: float | None
    as_far: float | None
    cells: Cells
    level_changes: LevelChanges

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(name for name, _ in self.schema.groups)

    @property
    def outside(self) -> tuple[str, ...]:
        """Columns whose value lies outside the range, or is no level, seen in training."""
        return self.cells.outside

    @property
    def extrapolates(self) -> bool:
        """Whether a column is out of its range, or the row farther out than all background."""
        return bool(self.outside) or self.as_far == 0

    @property
    def caution(self) -> str:
        """What to beware of, in words; empty where the row lies among the data."""
        said = list(self.cells.cautions[:_MOST_NAMED])
        if len(self.outside) > _MOST_NAMED:
            said.append(f"{len(self.outside) - _MOST_NAMED} more columns")
        if self.as_far == 0:
            said.append("the row is farther from the centre than all background rows")
        return f"Outside the training data: {'; '.join(said)}." if said else ""

    @property
    def unknown(self) -> tuple[str, ...]:
        """What cannot be said for want of rows, ranges or neurons, in words; a sentence each."""
        said = []
        ranged = np.isfinite(np.subtract(self.schema.upper, self.schema.lower))
        if self.as_far is None:
            said += [
                "Without background rows X, the share of rows in the row's region (region_share) "
                "and how far out the row lies (as_far) are unknown.",
                f"Without background rows X, distances are in {_unit_of(ranged)}.",
            ]
        if not ranged.all():
            said.append(
                "Without training ranges in the schema, values outside them cannot be flagged."
            )
        if self.reach == 0 and np.isnan(self.limits).any():
            said.append(
                "The network does not show its neurons, or limits were not asked for, so that "
                "limits and boundaries are unknown."
            )
        return tuple(said)

    @property
    def worth(self) -> tuple[str, ...]:
        """What the equation is worth, in words; a sentence each."""
        if self.reach == 0:
            return ("This equation is that of the row itself; how far it holds is not said.",)
        names = np.array(self.schema.names)
        held = np.isnan(self.window[:, 0])
        held[list(self.schema.codes_of_levels)] = False
        said = [self._overall()]
        poor = np.flatnonzero(self.fidelity < _POOR)
        if len(poor) and self.explained >= _POOR:
            few = [f"{names[at]} ({_percent(self.fidelity[at])})" for at in poor[:_MOST_NAMED]]
            more = f" and {len(poor) - _MOST_NAMED} more" if len(poor) > _MOST_NAMED else ""
            said.append(f"It explains less than half for {', '.join(few)}{more}.")
        missing = self._missing
        held[[column for column, gone in missing.items() if gone]] = False
        if held.any():
            said.append(self._jumps(np.flatnonzero(held)))
        if self.level_changes:
            said.append(self._levels())
        return tuple(said)

    @property
    def _missing(self) -> dict[int, bool]:
        """For each column that may be without a value, whether it is."""
        return {at: bool(self.x[gone]) for at, gone in self.schema.gaps.items()}

    def _levels(self) -> str:
        """What other levels, and missing values, would change, the largest first."""
        names = sorted(
            self.level_changes,
            key=lambda name: -max(abs(change) for _, change in self.level_changes[name]),
        )
        said = []
        for name in names[:_MOST_NAMED]:
            steps = [f"to {level}: {_signed(change)}" for level, change in self.level_changes[name]]
            said.append(f"{name} ({'; '.join(steps)})")
        more = f"; and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        return f"Exact changes to other levels: {', '.join(said)}{more}."

    def _jumps(self, held: Integers) -> str:
        """What the nearest values of columns without a slope change, the largest first."""
        sizes = np.nan_to_num(np.abs(self.nearest_change[held])).max(axis=1)
        order = held[np.argsort(-sizes, kind="stable")]
        said = []
        for column in order[:_MOST_NAMED]:
            ends = zip(self.nearest[column], self.nearest_change[column], strict=True)
            steps = [
                f"to {value_text(value, self._kinds[column])}: {_signed(change)}"
                for value, change in ends
                if np.isfinite(value)
            ]
            said.append(f"{self.schema.names[column]} ({'; '.join(steps) or 'no other value'})")
        more = f"; and {len(held) - _MOST_NAMED} more" if len(held) > _MOST_NAMED else ""
        return (
            f"Columns without another value in reach have no slope; exact changes: "
            f"{', '.join(said)}{more}."
        )

    @property
    def _kinds(self) -> dict[int, str]:
        """What the values of each column are, where they are no category's."""
        kinds = dict.fromkeys(range(len(self.x)), "number")
        features = self.schema.features
        return kinds | {one.columns[0]: one.kind for one in features if one.kind != "category"}

    def _overall(self) -> str:
        held = np.isnan(self.window[:, 0])
        if held.all():
            return "No column has another training value in reach, so that there are no slopes."
        if np.isnan(self.explained):
            return "Nothing within reach changes the score."
        share, text = f"{100 * self.reach:g} %", _percent(self.explained)
        of = "what the model does"
        if (~held).sum() == 1:
            column = int(np.flatnonzero(~held)[0])
            low, high = (value_text(end, self._kinds[column]) for end in self.window[column])
            name = self.schema.names[column]
            return f"With {name} from {low} to {high} this equation explains {text} of {of}."
        return (
            f"Within {share} of each column's span, one column at a time, this equation explains "
            f"{text} of {of}."
        )

    def equation(self, digits: int = 4) -> str:
        """The row's equation, such as ``3.21 + 0.42·temp − 1.5·hum``; zero slopes are left out.

        At a reach it is read under conditions, which come last: ``..., if purpose = car and income
        is missing``. At the row itself, ``[purpose = car]`` is 1 where that is so, else 0. A date
        counts days since 1970. `worth` says how far the equation holds.
        """
        terms = [number_text(self.intercept, digits)]
        for slope, name in zip(self.slopes, self._terms(), strict=True):
            if slope:
                sign = "+" if slope > 0 else MINUS
                terms.append(f"{sign} {number_text(abs(slope), digits)}·{name}")
        conditions = self.conditions() if self.reach > 0 else ()
        where = f", if {' and '.join(conditions)}" if conditions else ""
        return " ".join(terms) + where

    def _terms(self) -> list[str]:
        """What each column is called in an equation."""
        names = list(self.schema.names)
        for column in self.schema.indicators:
            names[column] = f"[{names[column]}]"
        for column, kind in self._kinds.items():
            if kind == "date":
                names[column] = f"days({names[column]})"
        return names

    def conditions(self) -> tuple[str, ...]:
        """What is so in this row and has no slope: "purpose = car", "income is missing"."""
        found = []
        for feature, text in zip(self.schema.features, self.values(), strict=True):
            if feature.missing is not None and self.x[feature.missing]:
                found.append(f"{feature.name} is missing")
            elif (feature.kind == "category" and self.schema.table is not None) or (
                feature.kind == "boolean" and not self.slopes[feature.columns[0]]
            ):
                found.append(f"{feature.name} = {text}")
        return tuple(found)

    def values(self) -> tuple[str, ...]:
        """The row's value of each feature as text: a level, a date, "missing"."""
        return self.cells.texts

    def steps(self, max_features: int = 12) -> tuple[tuple[str, float], ...]:
        """The waterfall: label and part of each feature, the largest first.

        What exceeds `max_features` is folded into a last step, "others (k)".
        """
        if max_features < 1:
            raise ValueError(f"max_features must be at least 1; it is {max_features}.")
        labels = [
            f"{name} = {value}" for name, value in zip(self.features, self.values(), strict=True)
        ]
        order = np.argsort(-np.abs(self.parts), kind="stable")
        n_shown = len(order) if len(order) <= max_features else max_features - 1
        steps = [(labels[place], float(self.parts[place])) for place in order[:n_shown]]
        if n_shown < len(order):
            rest = order[n_shown:]
            steps.append((f"others ({len(rest)})", float(self.parts[rest].sum())))
        return tuple(steps)

    def to_frame(self) -> pd.DataFrame:
        """One row a feature, in their order.

        Columns: feature, value (NaN for a category, and where it is missing), label (its value or
        level as text), part (of the waterfall), contribution (to the equation).
        """
        single = [
            np.nan
            if one.kind == "category" or (one.missing is not None and self.x[one.missing])
            else self.x[one.columns[0]]
            for one in self.schema.features
        ]
        return _frame(
            {
                "feature": self.features,
                "value": single,
                "label": self.values(),
                "part": self.parts,
                "contribution": self.contributions,
            }
        )

    def columns_to_frame(self) -> pd.DataFrame:
        """One row a column.

        Columns: column, value, reference, slope, window_from, window_to and fidelity (of the
        slope), below, above, change_below and change_above (the nearest values of a column without
        a window, and what going there changes), holds_from, holds_to (the equation at the row
        itself, the other columns held), change (the smallest that leaves the region), outside (of
        training).
        """
        out = ~((self.x >= self.schema.lower) & (self.x <= self.schema.upper))
        return _frame(
            {
                "column": self.schema.names,
                "value": self.x,
                "reference": self.reference_row,
                "slope": self.slopes,
                "window_from": self.window[:, 0],
                "window_to": self.window[:, 1],
                "fidelity": self.fidelity,
                "below": self.nearest[:, 0],
                "above": self.nearest[:, 1],
                "change_below": self.nearest_change[:, 0],
                "change_above": self.nearest_change[:, 1],
                "holds_from": self.limits[:, 0],
                "holds_to": self.limits[:, 1],
                "change": self.smallest_change,
                "outside": out,
            }
        )

    @property
    def smallest_change(self) -> Floats:
        """The smallest change of each column alone that leaves the region, (n_columns,).

        Infinite where no change of that column does, NaN where it is not known.
        """
        down, up = (self.limits - self.x[:, None]).T
        return np.asarray(np.where(-down < up, down, up))

    def boundaries_to_frame(self) -> pd.DataFrame:
        """One row a boundary, the nearest first.

        Columns: kind, column and value (of the column that moves alone; None and NaN for a
        hyperplane), neurons, distance, adjacent, and for each column the change that leads there
        ("change of temp") and the slope just beyond ("slope of temp").
        """
        names = self.schema.names
        shown: dict[str, Any] = {
            "kind": [one.kind for one in self.boundaries],
            "column": [
                None if one.column is None else names[one.column] for one in self.boundaries
            ],
            "value": [np.nan if one.value is None else one.value for one in self.boundaries],
            "neurons": [", ".join(map(str, one.neurons)) for one in self.boundaries],
            "distance": [one.distance for one in self.boundaries],
            "adjacent": [one.adjacent for one in self.boundaries],
        }
        for column, name in enumerate(names):
            shown[f"change of {name}"] = [one.change[column] for one in self.boundaries]
        for column, name in enumerate(names):
            shown[f"slope of {name}"] = [one.slopes[column] for one in self.boundaries]
        return _frame(shown)


def _signed(change: float) -> str:
    sign = "+" if change > 0 else MINUS if change < 0 else ""
    return sign + number_text(abs(change), 3)


def _percent(share: float) -> str:
    """A share in words: not above what it is, and in the end as bad as nothing."""
    if share <= 0:
        return "nothing"
    return f"{min(np.floor(100 * share + 1e-9), 100):.0f} %"


def _frame(columns: dict[str, Any]) -> pd.DataFrame:
    pandas: Any = require("pandas", extra="data", purpose="A frame of the explanation")
    frame: pd.DataFrame = pandas.DataFrame(columns)
    return frame


def _unit_of(ranged: Bools) -> str:
    """What `_scale_of` measures distances in, given which columns have a range."""
    spread = "standard deviations of an even spread over the training ranges"
    if ranged.all():
        return spread
    return f"{spread}, in plain units without one" if ranged.any() else "units of the columns"
