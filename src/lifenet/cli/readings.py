"""What is read of a model: tables, lines for people, and pictures, one class a question."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lifenet._extras import require
from lifenet.explain import (
    accumulated_effects,
    explain_rows,
    feature_importance,
    interaction_strength,
)
from lifenet.plots import (
    EffectsDisplay,
    FeatureImportanceDisplay,
    InteractionDisplay,
    WaterfallDisplay,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Integers
    from lifenet.cli.subjects import Subject

__all__ = ["READINGS", "Asked", "Reading"]

#: Lines of a table that people are shown, and steps of a waterfall.
_MOST_LINES, _MOST_STEPS = 20, 12


@dataclass(frozen=True, eq=False)
class Asked:
    """What is to be read.

    Attributes
    ----------
    subject : model and rows
    output : which score; None where there is one
    score_name : what it is called
    chosen : indices of rows that are explained
    places : of these rows in the file, in words
    """

    subject: Subject
    output: int | None
    score_name: str
    chosen: Integers
    places: tuple[str, ...]

    @property
    def options(self) -> dict[str, Any]:
        """What all explanations take."""
        return {"output": self.output}


class Reading(Protocol):
    """An answer: computed once, told in several ways."""

    def __init__(self, asked: Asked) -> None: ...

    def table(self) -> dict[str, Any]:
        """Columns of a table."""
        ...

    def lines(self) -> list[str]:
        """Lines for people."""
        ...

    def pictures(self, kind: str) -> dict[str, bytes]:
        """Pictures in a format, by the end of their names; none where nothing is drawn."""
        ...


class Importance:
    """How much the score depends on each feature."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._result = feature_importance(asked.subject.model, asked.subject.rows, **asked.options)

    def table(self) -> dict[str, Any]:
        """Features, the most important first."""
        result, order = self._result, self._result.order
        return {
            "feature": [result.features[at] for at in order],
            "importance": result.importance[order],
            "relative": result.relative[order],
        }

    def lines(self) -> list[str]:
        """A line a feature."""
        return _aligned(self.table(), ("importance", "relative"))

    def pictures(self, kind: str) -> dict[str, bytes]:
        """Bars."""
        return {"": _drawn(FeatureImportanceDisplay, self._result, self._asked, kind)}


class Effects:
    """What each feature does to the score."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._result = accumulated_effects(asked.subject.model, asked.subject.rows, **asked.options)

    def table(self) -> dict[str, Any]:
        """A row a feature and value."""
        found: dict[str, list[Any]] = {}
        for curve in self._result.curves:
            columns = {"feature": [curve.feature] * len(curve.values), **curve.columns()}
            for name, values in columns.items():
                found.setdefault(name, []).extend(values)
        return found

    def lines(self) -> list[str]:
        """Strength of each effect, and where it is lowest and highest."""
        curves = self._result.ranked()
        ends = [(np.argmin(one.effect), np.argmax(one.effect)) for one in curves]
        labels = [one.columns()["label"] for one in curves]
        low = [
            f"{c.effect[a]:.3g} at {names[a]}" for c, (a, _), names in _zip(curves, ends, labels)
        ]
        high = [
            f"{c.effect[b]:.3g} at {names[b]}" for c, (_, b), names in _zip(curves, ends, labels)
        ]
        table = {
            "feature": [one.feature for one in curves],
            "strength": np.array([one.strength for one in curves]),
            "lowest": low,
            "highest": high,
        }
        return _aligned(table, ("strength",))

    def pictures(self, kind: str) -> dict[str, bytes]:
        """A panel a feature."""
        return {"": _drawn(EffectsDisplay, self._result, self._asked, kind)}


class PairStrengths:
    """How much each pair of features acts together."""

    def __init__(self, asked: Asked) -> None:
        if len(asked.subject.model.schema_.groups) < 2:
            raise ValueError("The model has one feature, and interactions are of two.")
        self._asked = asked
        self._result = interaction_strength(
            asked.subject.model, asked.subject.rows, **asked.options
        )

    def table(self) -> dict[str, Any]:
        """A row a pair, the strongest first."""
        result = self._result
        first, second = np.triu_indices(len(result.features), 1)
        strength = result.pair[first, second]
        order = np.argsort(-strength, kind="stable")
        return {
            "first": [result.features[at] for at in first[order]],
            "second": [result.features[at] for at in second[order]],
            "strength": strength[order],
            "relative": strength[order] / (result.score_deviation or np.nan),
        }

    def lines(self) -> list[str]:
        """A line a pair."""
        return _aligned(self.table(), ("strength", "relative"))

    def pictures(self, kind: str) -> dict[str, bytes]:
        """A map of all pairs."""
        return {"": _drawn(InteractionDisplay, self._result, self._asked, kind)}


class Rows:
    """Why rows have their predictions."""

    def __init__(self, asked: Asked) -> None:
        self._asked, subject = asked, asked.subject
        rows = subject.take(asked.chosen)
        self._results = explain_rows(subject.model, rows, X=subject.rows, **asked.options)

    def table(self) -> dict[str, Any]:
        """A row a row of the file and feature."""
        found: dict[str, list[Any]] = {}
        for number, one in zip(self._asked.chosen, self._results, strict=True):
            n = len(one.features)
            columns = {
                "row": [int(number) + 1] * n,
                "feature": one.features,
                "value": one.values(),
                "part": one.parts,
                "contribution": one.contributions,
                "score": [one.score] * n,
                "mean_score": [one.reference_score] * n,
            }
            for name, values in columns.items():
                found.setdefault(name, []).extend(values)
        return found

    def lines(self) -> list[str]:
        """The equation of each row, its worth and its waterfall."""
        found = []
        for number, place, one in zip(
            self._asked.chosen, self._asked.places, self._results, strict=True
        ):
            found += ["", f"Row {number + 1} ({place}): {self._asked.score_name} {one.score:.4g}"]
            found += [f"  {one.equation()}", *(f"  {sentence}" for sentence in one.worth)]
            found += [f"  {one.caution}"] if one.caution else []
            found.append(f"  From the mean score {one.reference_score:.4g}:")
            steps = one.steps(_MOST_STEPS)
            width = max(len(label) for label, _ in steps)
            found += [f"    {label:<{width}}  {part:+.4g}" for label, part in steps]
        return found[1:]

    def pictures(self, kind: str) -> dict[str, bytes]:
        """A waterfall a row."""
        return {
            f"-{number + 1}": _drawn(WaterfallDisplay, one, self._asked, kind)
            for number, one in zip(self._asked.chosen, self._results, strict=True)
        }


class Equations:
    """The linear equation of each row."""

    def __init__(self, asked: Asked) -> None:
        self._asked, subject = asked, asked.subject
        self._results = explain_rows(subject.model, subject.take(asked.chosen), **asked.options)

    def table(self) -> dict[str, Any]:
        """A row a row of the file: score, share explained, intercept, slopes."""
        slopes = np.array([one.slopes for one in self._results])
        names = self._results[0].schema.names
        return {
            "row": self._asked.chosen + 1,
            "score": [one.score for one in self._results],
            "explained": [one.explained for one in self._results],
            "intercept": [one.intercept for one in self._results],
            **{f"slope of {name}": slopes[:, at] for at, name in enumerate(names)},
        }

    def lines(self) -> list[str]:
        """A line a row."""
        pairs = zip(self._asked.chosen[:_MOST_LINES], self._results, strict=False)
        found = [f"row {number + 1}: {one.equation()}" for number, one in pairs]
        return [*found, *_more(len(self._results))]

    def pictures(self, kind: str) -> dict[str, bytes]:
        """None."""
        return {}


#: What can be read, by name.
READINGS: dict[str, type[Reading]] = {
    "rows": Rows,
    "effects": Effects,
    "importance": Importance,
    "interactions": PairStrengths,
    "equations": Equations,
}


def _zip(*several: Sequence[Any]) -> Any:
    return zip(*several, strict=True)


def _aligned(table: dict[str, Any], numbers: tuple[str, ...]) -> list[str]:
    """The first rows of a table in columns."""
    columns = []
    for name, values in table.items():
        texts = [f"{one:.4g}" if name in numbers else str(one) for one in values[:_MOST_LINES]]
        width = max(map(len, [name, *texts]))
        mark = ">" if name in numbers else "<"
        columns.append([f"{one:{mark}{width}}" for one in [name, *texts]])
    n_rows = len(next(iter(table.values())))
    return ["  ".join(cells).rstrip() for cells in _zip(*columns)] + _more(n_rows)


def _more(n_rows: int) -> list[str]:
    left = n_rows - _MOST_LINES
    return [f"and {left:,} more; --output writes all"] if left > 0 else []


def _drawn(display: Any, result: Any, asked: Asked, kind: str) -> bytes:
    """A picture as bytes."""
    require("matplotlib", extra="plots", purpose="Drawing").use("Agg")
    pyplot = require("matplotlib.pyplot", extra="plots", purpose="Drawing")
    shown = display(result)
    shown.score_name = asked.score_name
    figure = shown.plot().figure_
    sink = io.BytesIO()
    figure.savefig(sink, format=kind, dpi=150)
    pyplot.close(figure)
    return sink.getvalue()
