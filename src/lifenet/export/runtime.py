"""How an exported Python module computes: its text is copied into the file, data follow it."""

from __future__ import annotations

import datetime
import math
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?", re.ASCII)
#: Larger numbers are refused, as in training.
_LARGEST = 1e140
#: Share of a neuron's weights below which its height is zero but for rounding: on a kink.
_ROUNDING = 1e-12


def _is_missing(value: Any) -> bool:
    """Whether a cell is empty: None or NaN."""
    return value is None or (not isinstance(value, str) and bool(value != value))


def _wrong(name: str, value: Any, wanted: str) -> ValueError:
    return ValueError(
        f"Column {name!r} holds {value!r}, and should hold {wanted}, or None where it is missing."
    )


def _number(name: str, value: Any) -> float:
    """A number; truth values are 0 and 1, times of day are hours."""
    if isinstance(value, datetime.time):
        seconds = value.second + value.microsecond * 1e-6
        return value.hour + value.minute / 60 + seconds / 3600
    if isinstance(value, str | bytes | datetime.date | datetime.timedelta):
        raise _wrong(name, value, "a number")
    number = float(value)
    if not abs(number) <= _LARGEST:
        raise _wrong(name, value, "a finite number")
    return number


def _days(name: str, value: Any) -> float:
    """Days since 1970 of a date, a date and a time, or a text that is one in ISO 8601."""
    if isinstance(value, str) and _ISO.fullmatch(value):
        value = datetime.datetime.fromisoformat(value.replace(" ", "T")[:26])
    if isinstance(value, datetime.datetime):
        moment = value.replace(tzinfo=None)
    elif isinstance(value, datetime.date):
        moment = datetime.datetime(value.year, value.month, value.day)
    else:
        raise _wrong(name, value, "a date, such as datetime.date(2024, 12, 31) or '2024-12-31'")
    return ((moment - _EPOCH) // _MICROSECOND) / 86_400e6


def _length(name: str, value: Any) -> float:
    """Days that a duration has: a timedelta, or their number."""
    if isinstance(value, datetime.timedelta):
        return (value // _MICROSECOND) / 86_400e6
    return _number(name, value)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong(name, value, "text")
    return value


_READ: dict[str, Callable[[str, Any], Any]] = {
    "number": _number,
    "boolean": _number,
    "duration": _length,
    "date": _days,
    "text": _text,
}


def _part(days: float, part: str) -> float:
    """The month (1 to 12), the weekday (Monday is 1) or the hour of days since 1970."""
    whole = math.floor(days)
    if part == "hour":
        return round(24 * (days - whole) * 1e6) / 1e6
    if part == "weekday":
        return float((whole + 3) % 7 + 1)
    return float((_EPOCH + datetime.timedelta(days=whole)).month)


def _columns_of(field: dict[str, Any], value: Any) -> list[float]:
    """The columns of numbers that one value of the table becomes."""
    name, kind, missing = field["name"], field["kind"], _is_missing(value)
    if kind == "category":
        patterns, levels = field["patterns"], field["levels"]
        if missing:
            return list(patterns[-1])
        level = _READ[field["level_kind"]](name, value)
        return list(patterns[levels.get(level, len(levels))])
    x = field["neutral"] if missing else _READ[kind](name, value)
    parts = [mid if missing else _part(x, part) for part, mid in field.get("parts", ())]
    return [x, *([float(missing)] if field["gaps"] else []), *parts]


class _Column:
    """The codes of one column of numbers."""

    def __init__(self, knots: list[float]) -> None:
        self.knots = knots
        self.ramps: list[tuple[int, int, int]] = []
        self.tables: list[tuple[int, list[float]]] = []

    def add(self, code: int, first: int, steps: int, values: list[float]) -> None:
        """A code that rises by one over each of some knots, or else one by its values at them."""
        if steps:
            self.ramps.append((code, first, steps))
        else:
            self.tables.append((code, values))

    def fill(self, x: float, codes: list[float], slopes: dict[int, float]) -> None:
        """The codes of a value; their slopes where they are not zero."""
        if len(self.knots) < 2:
            for code, values in self.tables:
                codes[code] = values[0] if values else x
                if not values:
                    slopes[code] = 1.0
            return
        knots, last = self.knots, len(self.knots) - 2
        at = min(max(bisect_right(knots, x) - 1, 0), last)
        gap = knots[at + 1] - knots[at]
        share = min(max((x - knots[at]) / gap, 0.0), 1.0)
        inside = knots[0] <= x <= knots[-1]
        for code, first, steps in self.ramps:
            codes[code] = min(max(at - first + share, 0.0), float(steps))
            if inside and first <= at < first + steps:
                slopes[code] = 1.0 / gap
        for code, values in self.tables:
            rise = values[at + 1] - values[at]
            codes[code] = values[at] + share * rise
            if inside:
                slopes[code] = rise / gap


class _Model:
    """The network: codes of columns, neurons, scores."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.fields, self.classes = data["fields"], data["classes"]
        self.features, self.intercept = data["features"], data["intercept"]
        self.columns = [_Column(knots) for knots in data["knots"]]
        self.column_of: list[int] = []
        largest = []
        for code, (column, first, steps, values) in enumerate(data["codes"]):
            self.columns[column].add(code, first, steps, values)
            self.column_of.append(column)
            largest.append(max(map(abs, values), default=float(steps or 1)))
        self.linear = [(code, values) for code, *values in data["linear"]]
        self._read_neurons(data["neurons"], largest, len(self.intercept))

    def _read_neurons(self, text: str, largest: list[float], n_outputs: int) -> None:
        """A line for each neuron: bias; coefficients; a code and its weight, and so on."""
        self.bias: list[float] = []
        self.beta: list[list[float]] = []
        self.zero: list[float] = []
        self.readers: list[list[int]] = [[] for _ in largest]
        self.weights: list[list[float]] = [[] for _ in largest]
        for neuron, line in enumerate(text.split("\n")[1:-1]):
            parts = line.split()
            self.bias.append(float(parts[0]))
            self.beta.append([float(one) for one in parts[1 : 1 + n_outputs]])
            scale = abs(self.bias[-1])
            for place in range(1 + n_outputs, len(parts), 2):
                code, weight = int(parts[place]), float(parts[place + 1])
                self.readers[code].append(neuron)
                self.weights[code].append(weight)
                scale += abs(weight) * largest[code]
            self.zero.append(_ROUNDING * scale)

    def read(self, row: dict[str, Any]) -> list[float]:
        """The columns of numbers of a row."""
        x: list[float] = []
        for field in self.fields:
            if field["name"] not in row:
                raise ValueError(
                    f"The row has no column {field['name']!r}; give None where a value is missing."
                )
            x += _columns_of(field, row[field["name"]])
        return x

    def activate(self, x: list[float]) -> tuple[list[float], dict[int, float], list[float]]:
        """What every neuron cuts at zero, the slopes of codes, and the scores."""
        codes, slopes = [0.0] * len(self.column_of), dict[int, float]()
        for value, column in zip(x, self.columns, strict=True):
            column.fill(value, codes, slopes)
        heights = list(self.bias)
        for code, value in enumerate(codes):
            if value:
                for neuron, weight in zip(self.readers[code], self.weights[code], strict=True):
                    heights[neuron] += weight * value
        scores = []
        for output, score in enumerate(self.intercept):
            parts = [codes[code] * values[output] for code, values in self.linear]
            parts += [
                height * beta[output]
                for height, beta in zip(heights, self.beta, strict=True)
                if height > 0
            ]
            scores.append(math.fsum([score, *parts]))
        return heights, slopes, scores

    def equation(self, row: dict[str, Any]) -> tuple[dict[str, list[float]], list[float]]:
        """Contribution of each feature to each score, and the local intercepts."""
        x = self.read(row)
        heights, slopes, scores = self.activate(x)
        linear = dict(self.linear)
        found = [[0.0] * len(x) for _ in scores]
        for code, slope in slopes.items():
            column = self.column_of[code]
            active = [
                (self.beta[neuron], weight)
                for neuron, weight in zip(self.readers[code], self.weights[code], strict=True)
                if heights[neuron] > self.zero[neuron]
            ]
            for output, parts in enumerate(found):
                total = linear[code][output] if code in linear else 0.0
                total += sum(beta[output] * weight for beta, weight in active)
                parts[column] += slope * total * x[column]
        by_feature = {
            name: [sum(parts[column] for column in columns) for parts in found]
            for name, columns in self.features
        }
        rest = [score - sum(parts) for score, parts in zip(scores, found, strict=True)]
        return by_feature, rest

    def probabilities(self, scores: list[float]) -> list[float]:
        """Of each class."""
        if len(scores) == 1:
            scores = [0.0, scores[0]]
        top = max(scores)
        powers = [math.exp(one - top) for one in scores]
        return [one / sum(powers) for one in powers]

    def label(self, scores: list[float]) -> Any:
        """The prediction: the score itself, or the likeliest class."""
        if self.classes is None:
            return scores[0]
        if len(scores) == 1:
            return self.classes[int(scores[0] > 0)]
        return self.classes[scores.index(max(scores))]
