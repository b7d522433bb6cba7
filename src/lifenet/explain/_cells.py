"""The cells of a row as people read them, and which of them training never had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain.levels import BASE_LEVEL
from lifenet.kernels.numbers import number_text
from lifenet.tables import MISSING, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Bools, Floats
    from lifenet.explain._subject import Subject
    from lifenet.schema import FeatureSchema
    from lifenet.tables import Feature

__all__ = ["Cells", "cells_of"]


@dataclass(frozen=True)
class Cells:
    """A row's own cells.

    Attributes
    ----------
    texts : of each feature, its value or level as text
    outside : columns of the user's table whose cell is none that training had
    cautions : the same in words, such as "age = 90 (seen in training: 18 to 75)"
    """

    texts: tuple[str, ...]
    outside: tuple[str, ...]
    cautions: tuple[str, ...]


def cells_of(subject: Subject, schema: FeatureSchema, given: Any, rows: Floats) -> list[Cells]:
    """Of rows as the user gave them, and as the network reads them."""
    table = None if schema.table is None else subject.cells(given)
    if table is None or schema.table is None:
        outside = _outside(schema, rows)
        return [_of_numbers(schema, row, out) for row, out in zip(rows, outside, strict=True)]
    known = {one.columns: place for place, one in enumerate(schema.table.features)}
    outside = schema.outside_of(table)
    found = []
    for row, out, own in zip(rows, outside, schema.table.texts(table), strict=True):
        texts = tuple(
            own[known[one.columns]] if one.columns in known else _text(schema, one, row)
            for one in schema.features
        )
        by_name = dict(zip((one.name for one in schema.table.features), own, strict=True))
        names = [name for name, odd in zip(schema.table.names, out, strict=True) if odd]
        said = tuple(f"{name} {_odd(schema, name, by_name[name])}" for name in names)
        found.append(Cells(texts, tuple(names), said))
    return found


def _outside(schema: FeatureSchema, rows: Floats) -> Bools:
    """Which columns of numbers are out of their range."""
    return ~((rows >= schema.lower) & (rows <= schema.upper))


def _of_numbers(schema: FeatureSchema, row: Floats, outside: Sequence[bool]) -> Cells:
    said = []
    names = [name for name, odd in zip(schema.names, outside, strict=True) if odd]
    for name in names:
        column = schema.names.index(name)
        value, low, high = map(
            number_text, (row[column], schema.lower[column], schema.upper[column])
        )
        said.append(f"{name} = {value} (seen in training: {low} to {high})")
    texts = tuple(_text(schema, one, row) for one in schema.features)
    return Cells(texts, tuple(names), tuple(said))


def _text(schema: FeatureSchema, feature: Feature, row: Floats) -> str:
    """What a feature is in a row of numbers; of dummies, the level."""
    columns = list(feature.columns)
    if feature.missing is not None and row[feature.missing]:
        return MISSING
    dummy = schema.table is None and schema.names[columns[0]] != feature.name
    if feature.kind != "category" and not dummy:
        return value_text(row[columns[0]], feature.kind)
    expected = set(schema.codes_of_levels) - set(schema.indicators)
    columns = [column for column in columns if column not in expected]
    values, names = row[columns], [schema.names[column] for column in columns]
    if not np.isin(values, (0.0, 1.0)).all() or values.sum() > 1:
        return ", ".join(number_text(value) for value in values)
    on = [name for name, value in zip(names, values, strict=True) if value]
    return on[0].removeprefix(feature.name).lstrip("=_ ") or on[0] if on else BASE_LEVEL


def _odd(schema: FeatureSchema, name: str, text: str) -> str:
    """What is unusual about a cell of the user's table."""
    if text == MISSING:
        return "is missing (never in training)"
    feature = next(one for one in schema.features if one.name == name)
    if feature.kind == "category":
        return f"= {text} (a level that training did not have)"
    column = feature.columns[0]
    low, high = (value_text(end[column], feature.kind) for end in (schema.lower, schema.upper))
    return f"= {text} (seen in training: {low} to {high})"
