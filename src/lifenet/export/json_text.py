"""A model as JSON: every number and name that a prediction needs, for readers in any language."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lifenet.export.formula import formula_of

if TYPE_CHECKING:
    from lifenet.export.fields import Field
    from lifenet.export.formula import Code, Formula

__all__ = ["to_json"]

#: Of the layout of the file: it changes when readers of the one before would fail.
VERSION = 1


def to_json(model: Any, *, indent: int | None = None) -> str:
    """Write a fitted model as JSON: the columns of the table, codes, neurons, scores, link.

    docs/export.md says what each entry means. Numbers have all digits of double precision.

    Parameters
    ----------
    model : fitted model, or finished search
        Any estimator with `network_` and `schema_`.
    indent : int or None
        As in `json.dumps`.
    """
    formula = formula_of(model, "JSON")
    return json.dumps(_contents(formula), indent=indent, allow_nan=False, ensure_ascii=False)


def _contents(formula: Formula) -> dict[str, Any]:
    link = "identity"
    if formula.classes is not None:
        link = "logit" if formula.n_outputs == 1 else "softmax"
    linear = formula.linear.tolist()
    return {
        "format": "lifenet",
        "version": VERSION,
        "fields": [_field(one) for one in formula.fields],
        "columns": list(formula.columns),
        "codes": [_code(one) for one in formula.codes],
        "neurons": _neurons(formula),
        "intercept": formula.intercept.tolist(),
        "linear": [
            {"code": code, "coefficients": linear[code]} for code in formula.straight.tolist()
        ],
        "features": [
            {"name": name, "columns": list(columns)} for name, columns in formula.features
        ],
        "classes": None if formula.classes is None else list(formula.classes),
        "link": link,
    }


def _field(field: Field) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": field.name,
        "kind": field.kind,
        "columns": list(field.columns),
    }
    if field.patterns is None:
        parts = [{"part": part, "neutral": neutral} for part, neutral in field.parts]
        return found | {"neutral": field.neutral, "gaps": field.gaps, "parts": parts}
    *known, unseen, missing = field.patterns.tolist()
    return found | {
        "level_kind": field.level_kind,
        "levels": list(field.levels),
        "patterns": known,
        "unseen": unseen,
        "missing": missing,
    }


def _code(code: Code) -> dict[str, Any]:
    return {"column": code.column, "knots": list(code.knots), "values": list(code.values)}


def _neurons(formula: Formula) -> list[dict[str, Any]]:
    codes, weights = formula.weights.indices.tolist(), formula.weights.data.tolist()
    parts = pairwise(formula.weights.indptr.tolist())
    return [
        {
            "bias": bias,
            "coefficients": beta,
            "codes": codes[start:end],
            "weights": weights[start:end],
        }
        for bias, beta, (start, end) in zip(
            formula.bias.tolist(), formula.beta.tolist(), parts, strict=True
        )
    ]
