"""The user's columns as columns of numbers, in ONNX operators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lifenet.export.fields import Field
    from lifenet.export.formula import Formula
    from lifenet.export.onnx_graph import Graph

__all__ = ["MATRIX", "columns_of_inputs", "missing_text"]

#: The only input of models of plain numbers.
MATRIX = "X"


def columns_of_inputs(graph: Graph, formula: Formula) -> str:
    """The columns of numbers (rows, n_columns) of a graph's inputs, which this declares."""
    if formula.is_plain:
        given = graph.declare_input(MATRIX, len(formula.fields))
        neutral = graph.constant(np.array([[one.neutral for one in formula.fields]]))
        return graph.add("Where", graph.add("IsNaN", given), neutral, given)
    found = []
    for field in formula.fields:
        text = field.level_kind == "text"
        given = graph.declare_input(field.name, 1, text=text)
        if field.kind == "category":
            found.append(_levels(graph, field, given))
        else:
            found += _numbers(graph, field, given)
    return graph.add("Concat", *found, axis=1)


def missing_text(field: Field) -> str:
    """What stands for a missing value of a column of text: nothing, unless that is a level."""
    mark = ""
    while mark in field.levels:
        mark = f"{mark}'" if mark else "<missing>"
    return mark


def _levels(graph: Graph, field: Field, given: str) -> str:
    """Patterns of levels."""
    assert field.patterns is not None
    if field.level_kind == "text":
        levels = graph.constant(np.array([field.levels], dtype=object))
        gone = graph.add("Equal", given, graph.constant(np.array([[missing_text(field)]], object)))
    else:
        levels = graph.constant(np.array([field.levels], dtype=np.float64))
        gone = graph.add("IsNaN", given)
    known, missing = graph.double(graph.add("Equal", given, levels)), graph.double(gone)
    axes = graph.constant(np.array([1]))
    either = graph.add("Concat", known, missing, axis=1)
    unseen = graph.add("Sub", graph.number(1.0), graph.add("ReduceSum", either, axes, keepdims=1))
    one = graph.add("Concat", known, unseen, missing, axis=1)
    return graph.add("MatMul", one, graph.constant(field.patterns))


def _numbers(graph: Graph, field: Field, given: str) -> Iterator[str]:
    """A number or a day, whether it is missing, and the parts of a date."""
    gone = graph.add("IsNaN", given)
    x = graph.add("Where", gone, graph.number(field.neutral), given)
    yield x
    if field.gaps:
        yield graph.double(gone)
    if field.parts:
        calendar = _Calendar(graph, x)
        for part, neutral in field.parts:
            yield graph.add("Where", gone, graph.number(neutral), calendar.part(part))


@dataclass(frozen=True)
class _Calendar:
    """Parts of days since 1970."""

    graph: Graph
    days: str

    def part(self, part: str) -> str:
        """The month, the weekday or the hour."""
        whole = self.graph.add("Floor", self.days)
        if part == "hour":
            of_day = self.graph.add("Sub", self.days, whole)
            millionths = self._times(self._times(of_day, 24.0), 1e6)
            return self._over(self.graph.add("Round", millionths), 1e6)
        if part == "weekday":
            return self._plus(self._rest(self._plus(whole, 3.0), 7.0), 1.0)
        return self._month(whole)

    def _month(self, whole: str) -> str:
        """Of the calendar whose years begin in March and whose eras have 400 years."""
        day = self._rest(self._plus(whole, 719_468.0), 146_097.0)
        leap = [self._floor(day, by) for by in (1_460.0, 36_524.0, 146_096.0)]
        counted = self._minus(self.graph.add("Add", self._minus(day, leap[0]), leap[1]), leap[2])
        year = self._floor(counted, 365.0)
        days = self.graph.add("Add", self._times(year, 365.0), self._floor(year, 4.0))
        of_year = self._minus(day, self._minus(days, self._floor(year, 100.0)))
        month = self._floor(self._plus(self._times(of_year, 5.0), 2.0), 153.0)
        late = self.graph.double(self.graph.add("Less", month, self.graph.number(10.0)))
        return self.graph.add("Add", self._plus(month, -9.0), self._times(late, 12.0))

    def _plus(self, x: str, y: float) -> str:
        return self.graph.add("Add", x, self.graph.number(y))

    def _minus(self, x: str, y: str) -> str:
        return self.graph.add("Sub", x, y)

    def _times(self, x: str, y: float) -> str:
        return self.graph.add("Mul", x, self.graph.number(y))

    def _over(self, x: str, y: float) -> str:
        return self.graph.add("Div", x, self.graph.number(y))

    def _floor(self, x: str, y: float) -> str:
        return self.graph.add("Floor", self._over(x, y))

    def _rest(self, x: str, y: float) -> str:
        return self._minus(x, self._times(self._floor(x, y), y))
