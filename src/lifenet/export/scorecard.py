"""A model of two classes without interactions as points that people add up."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.export.card_features import FeaturePoints, features_of, rounded
from lifenet.export.formula import formula_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from lifenet._typing import Floats
    from lifenet.export.formula import Formula
    from lifenet.tables import TableCoding

__all__ = ["Scorecard", "to_scorecard"]

_COLUMNS = ("feature", "value", "points", "share")


@shown
@dataclass(frozen=True, eq=False)
class Scorecard:
    """Points by bin and level; with the base they add up to a row's points.

    Attributes
    ----------
    features : points of each feature's bins or levels; over the training rows their mean is zero
    base : points of every row
    good : the class whose odds the points count
    points_to_double : points that double the odds
    base_points, base_odds : points at which the odds are these
    largest_difference, mean_difference : distance from the model in points, over the rows given;
        NaN without any
    table : how the user's table becomes columns of numbers
    """

    features: tuple[FeaturePoints, ...]
    base: float
    good: Any
    points_to_double: float
    base_points: float
    base_odds: float
    largest_difference: float
    mean_difference: float
    table: TableCoding

    @property
    def factor(self) -> float:
        """Points of one unit of log-odds."""
        return float(self.points_to_double / np.log(2.0))

    def points(self, X: Any) -> Floats:
        """Points of the rows of a table, (n,)."""
        table = self.table.read(X)
        columns = self.table.encode(table)
        return self.base + sum(
            (one.points[one.places(columns, table)] for one in self.features),
            start=np.zeros(table.n_rows),
        )

    def probability(self, X: Any) -> Floats:
        """Probability of the class `good` by the points of the rows of a table, (n,)."""
        log_odds = (self.points(X) - self.base_points) / self.factor + np.log(self.base_odds)
        return np.asarray(special.expit(log_odds))

    def rows(self) -> Iterator[tuple[str, str, float, float]]:
        """Feature, value, points and share of the training rows, of every bin and level."""
        yield "base", "", self.base, 1.0
        for one in self.features:
            for label, points, share in zip(one.labels, one.points, one.share, strict=True):
                yield one.name, label, float(points), float(share)

    def to_frame(self) -> pd.DataFrame:
        """One row a bin or level, the base first: feature, value, points, share."""
        pandas: Any = require("pandas", extra="data", purpose="A frame of a scorecard")
        frame: pd.DataFrame = pandas.DataFrame(list(self.rows()), columns=list(_COLUMNS))
        return frame

    def to_csv(self) -> str:
        """The same as the text of a CSV file."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_COLUMNS)
        writer.writerows((*names, repr(p), repr(share)) for *names, p, share in self.rows())
        return text.getvalue()

    def __str__(self) -> str:
        """The CSV file."""
        return self.to_csv()

    def to_html(self) -> str:
        """The same as a page, with what the points mean."""
        rows = "\n".join(
            f"<tr><td>{escape(name)}</td><td>{escape(value)}</td>"
            f"<td align='right'>{points:g}</td><td align='right'>{share:.1%}</td></tr>"
            for name, value, points, share in self.rows()
        )
        head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
        return (
            "<!DOCTYPE html>\n<html><head><meta charset='utf-8'><title>Scorecard</title></head>\n"
            f"<body><h1>Scorecard</h1>\n<p>{escape(self.meaning)}</p>\n"
            f"<table border='1'>\n<tr>{head}</tr>\n{rows}\n</table></body></html>\n"
        )

    @property
    def meaning(self) -> str:
        """What the points mean, and how far they are from the model, in sentences."""
        text = (
            f"{self.base_points:g} points are odds of {self.base_odds:g} to 1 for {self.good!r}; "
            f"{self.points_to_double:g} points double the odds."
        )
        if np.isnan(self.mean_difference):
            return text
        return (
            f"{text} The card differs from the model by {self.mean_difference:.2f} points on "
            f"average and by {self.largest_difference:.2f} at most."
        )


def to_scorecard(
    model: Any,
    X: Any = None,
    *,
    points_to_double: float = 20,
    base_points: float = 600,
    base_odds: float = 50,
    good: Any = None,
    max_bins: int = 10,
    decimals: int | None = 0,
) -> Scorecard:
    """Write a fitted classifier of two classes as a scorecard.

    The log-odds must be a sum of effects of single features. A card has steps and the model has
    slopes: the points of a bin are the mean over the training rows in it. Bins are those nearest to
    the model that so many can be, and as few as leave a root mean square of half a unit of the last
    decimal. Categories have the model's points, but for rounding.

    Parameters
    ----------
    model : fitted classifier, or finished search
    X : data frame, or array of shape (n, n_columns), or None
        Rows on which the card is compared with the model.
    points_to_double : float
        Points that double the odds.
    base_points, base_odds : float
        Points at which the odds are these.
    good : label
        The class whose odds the points count, such as that of the loans that are repaid. It must
        be named: a card of the other class turns every sign.
    max_bins : int
        Most bins of a column of numbers.
    decimals : int or None
        Decimals that points are rounded to; None for no rounding.
    """
    _check(points_to_double, base_odds, max_bins)
    formula = formula_of(model, "A scorecard")
    model = getattr(model, "best_estimator_", model)
    classes = _two_classes(formula)
    _check_additive(formula)
    _check_good(good, classes)
    factor = points_to_double / np.log(2.0)
    sign = 1.0 if good == classes[1] else -1.0
    close = 0.5 * 10.0 ** -(6 if decimals is None else decimals)
    constant, features = features_of(model, formula, sign * factor, max_bins, close)
    offset = base_points - factor * np.log(base_odds)
    card = Scorecard(
        features=tuple(one.rounded(decimals) for one in features),
        base=float(rounded(np.array(constant + offset), decimals)),
        good=good,
        points_to_double=float(points_to_double),
        base_points=float(base_points),
        base_odds=float(base_odds),
        largest_difference=np.nan,
        mean_difference=np.nan,
        table=model.table_,
    )
    if X is None:
        return card
    exact = sign * factor * model.decision_function(X) + offset
    apart = np.abs(card.points(X) - exact)
    return replace(card, largest_difference=float(apart.max()), mean_difference=float(apart.mean()))


def _check(points_to_double: float, base_odds: float, max_bins: int) -> None:
    for name, value in (("points_to_double", points_to_double), ("base_odds", base_odds)):
        if not (np.isfinite(value) and value > 0):
            raise ValueError(f"{name} is {value!r}; it must be positive.")
    if not max_bins >= 1:
        raise ValueError(f"max_bins is {max_bins!r}; it must be 1 or more.")


def _two_classes(formula: Formula) -> list[Any]:
    if formula.classes is None or len(formula.classes) != 2:
        n = 0 if formula.classes is None else len(formula.classes)
        given = f"a model of {n} classes" if n else "a regression"
        raise ValueError(
            f"A scorecard counts the odds of one class against another; it was given {given}. Fit "
            "a classifier to a target of two classes."
        )
    found: list[Any] = np.asarray(formula.classes).tolist()
    return found


def _check_good(good: Any, classes: list[Any]) -> None:
    if good is None:
        raise ValueError(
            f"A scorecard counts the odds of one class, and the classes are {classes}. Name the "
            f"one whose odds its points count, such as good={classes[0]!r}."
        )
    if good not in classes:
        raise ValueError(f"good={good!r} is no class; there are {classes}.")


def _check_additive(formula: Formula) -> None:
    """Raise where a neuron reads several features."""
    feature = {own: name for name, owned in formula.features for own in owned}
    for neuron in range(formula.n_neurons):
        read = {feature[formula.codes[code].column] for code in formula.read_by(neuron)[0].tolist()}
        if len(read) > 1:
            raise ValueError(
                "A scorecard has points for single features, and neurons of this model read "
                f"several, such as {' and '.join(map(repr, sorted(read)[:2]))}. Fit it with "
                "interaction_cst='no_interactions'."
            )
