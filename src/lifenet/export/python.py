"""A model as a Python module that needs the standard library only."""

from __future__ import annotations

from importlib.resources import files
from itertools import pairwise
from pprint import pformat
from typing import TYPE_CHECKING, Any

from lifenet.export.formula import Formula, formula_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lifenet.export.fields import Field

__all__ = ["to_python"]

_WIDTH = 99
_HEAD = '''\
"""A model exported from lifenet. It needs the standard library of Python 3.11 only.

predict(row), score(row) and contributions(row) take a row as a dictionary with the columns

    {columns}

Other keys are passed over. None stands for a missing value.
"""
'''
_FUNCTIONS = '''
_MODEL = _Model(
    {
        "fields": FIELDS,
        "knots": KNOTS,
        "codes": CODES,
        "neurons": NEURONS,
        "intercept": INTERCEPT,
        "linear": LINEAR,
        "features": FEATURES,
        "classes": CLASSES,
    }
)


def predict(row: dict[str, Any]) -> Any:
    """The predicted number or class of a row."""
    return _MODEL.label(_MODEL.activate(_MODEL.read(row))[2])


def score(row: dict[str, Any]) -> Any:
    """The score: a number; with more than two classes a list with one for each."""
    return _alone(_MODEL.activate(_MODEL.read(row))[2])


def contributions(row: dict[str, Any]) -> dict[str, Any]:
    """Of each feature: its values times the local slopes. With the local intercept, the score."""
    return {name: _alone(parts) for name, parts in _MODEL.equation(row)[0].items()}


def local_intercept(row: dict[str, Any]) -> Any:
    """The constant of the equation that holds at a row."""
    return _alone(_MODEL.equation(row)[1])


def _alone(values: list[float]) -> Any:
    return values[0] if len(values) == 1 else values
'''
_PROBABILITY = '''

def probability(row: dict[str, Any]) -> dict[Any, float]:
    """The probability of each class."""
    scores = _MODEL.activate(_MODEL.read(row))[2]
    return dict(zip(CLASSES, _MODEL.probabilities(scores), strict=True))
'''


def to_python(model: Any) -> str:
    """Write a fitted model as a Python module without dependencies.

    The module has ``predict(row)``, ``score(row)``, ``contributions(row)``,
    ``local_intercept(row)`` and, for classes, ``probability(row)``, where a row is a dictionary of
    the table's columns. Its numbers are those of the model, to the last bit.

    Parameters
    ----------
    model : fitted model, or finished search
        Any estimator with `network_` and `schema_`.

    Returns
    -------
    str
        The text of the module.
    """
    formula = formula_of(model, "A Python module")
    names = ", ".join(repr(one.name) for one in formula.fields)
    head = _HEAD.format(columns=_quiet(names))
    functions = _FUNCTIONS + (_PROBABILITY if formula.classes is not None else "")
    return "\n".join([head + _runtime(), *_data(formula), functions])


def _quiet(text: str) -> str:
    """Text for a docstring: nothing in it ends or escapes."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _runtime() -> str:
    """The source of the runtime without its docstring."""
    text = files("lifenet.export").joinpath("runtime.py").read_text(encoding="utf-8")
    return text.split('"""', 2)[2]


def _data(formula: Formula) -> Iterator[str]:
    """Statements that hold what the model knows."""
    yield "\n# Columns of the table, and what they become: columns of numbers, in this order."
    yield _statement("FIELDS", [_field(one) for one in formula.fields])
    yield "\n# Of each column of numbers, where its codes bend."
    yield _statement("KNOTS", [one.tolist() for one in formula.knots])
    yield "\n# Codes: column; first knot and number of unit rises; else -1, 0 and values at knots."
    yield _statement("CODES", list(_codes(formula)))
    yield "\n# A neuron a line: bias; coefficients of the scores; a code and its weight, and so on."
    yield 'NEURONS = """'
    yield from _neurons(formula)
    yield '"""\n'
    yield _statement("INTERCEPT", formula.intercept.tolist())
    straight = formula.straight.tolist()
    yield _statement("LINEAR", [(code, *formula.linear[code].tolist()) for code in straight])
    yield _statement("FEATURES", [(name, list(columns)) for name, columns in formula.features])
    yield _statement("CLASSES", None if formula.classes is None else list(formula.classes))


def _statement(name: str, value: Any) -> str:
    text = pformat(value, width=_WIDTH, compact=True, sort_dicts=False)
    return f"{name} = {text}"


def _field(field: Field) -> dict[str, Any]:
    found: dict[str, Any] = {"name": field.name, "kind": field.kind}
    if field.patterns is None:
        found |= {"neutral": field.neutral, "gaps": field.gaps}
        return found | ({"parts": list(field.parts)} if field.parts else {})
    levels = {level: number for number, level in enumerate(field.levels)}
    patterns = field.patterns.tolist()
    kind = {"level_kind": field.level_kind}
    return found | kind | {"levels": levels, "patterns": patterns}


def _codes(formula: Formula) -> Iterator[tuple[int, int, int, list[float]]]:
    for code in formula.codes:
        if code.steps:
            knots = formula.knots[code.column]
            yield code.column, int(knots.searchsorted(code.knots[0])), code.steps, []
        else:
            yield code.column, -1, 0, list(code.values)


def _neurons(formula: Formula) -> Iterator[str]:
    codes, weights = formula.weights.indices.tolist(), formula.weights.data.tolist()
    starts = formula.weights.indptr.tolist()
    lines = zip(formula.bias.tolist(), formula.beta.tolist(), pairwise(starts), strict=True)
    for bias, beta, (start, end) in lines:
        pairs = zip(codes[start:end], weights[start:end], strict=True)
        reads = " ".join(f"{code} {weight!r}" for code, weight in pairs)
        yield f"{bias!r}  {' '.join(map(repr, beta))}  {reads}"
