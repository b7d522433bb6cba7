"""A network as tables of a database: pieces of codes, weights and neurons.

A code is pieces of straight lines. The bias of a neuron is its weight on a code that is always one;
intercept and linear part of a score are a neuron that is not cut at zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifenet.export.sql_cells import select_as

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lifenet.export.formula import Code, Formula
    from lifenet.export.sql_dialects import Dialect

__all__ = ["fill_tables", "tabled_scores"]

#: Rows of one INSERT.
_ROWS = 500
#: Beyond every number that a table may hold.
_FAR = 1e308
#: The code that is always one.
_ONE = -1


def fill_tables(
    formula: Formula, dialect: Dialect, prefix: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Statements that create and fill the tables, and statements that drop them."""
    betas = [f"beta{output}" for output in range(formula.n_outputs)]
    columns = {
        "pieces": ("number", "code", *_PIECE),
        "weights": ("code", "neuron", "weight"),
        "neurons": ("neuron", "cut", *betas),
    }
    whole = {"number", "code", "neuron", "cut"}
    create, drop = [], []
    for table, names in columns.items():
        name = dialect.named(f"{prefix}_{table}")
        types = [f"{one} {'INTEGER' if one in whole else 'DOUBLE PRECISION'}" for one in names]
        create.append(f"CREATE TABLE {name} ({', '.join(types)})")
        drop.append(f"DROP TABLE IF EXISTS {name}")
    rows = {"pieces": _pieces(formula), "weights": _weights(formula), "neurons": _neurons(formula)}
    for table, found in rows.items():
        name = dialect.named(f"{prefix}_{table}")
        create += _inserts(name, list(found), dialect)
    for table, by in (("pieces", "number"), ("weights", "code"), ("neurons", "neuron")):
        index = dialect.named(f"{prefix}_{table}_by_{by}")
        create.append(f"CREATE INDEX {index} ON {dialect.named(f'{prefix}_{table}')} ({by})")
    return (*drop, *create), tuple(drop)


def tabled_scores(formula: Formula, dialect: Dialect, prefix: str) -> Iterator[str]:
    """Table expressions with a row for each number, code and neuron, then the scores."""
    pieces, weights, neurons = (
        dialect.named(f"{prefix}_{table}") for table in ("pieces", "weights", "neurons")
    )
    cases = " ".join(f"WHEN {one} THEN x{one}" for one in range(len(formula.columns)))
    line = "level + rise * ((x - origin) / width)"
    yield select_as(
        "pieced",
        ["life_row", f"CASE number {cases} END AS x", "code", *_PIECE],
        f"numbers CROSS JOIN {pieces}",
    )
    yield (
        f"codes AS MATERIALIZED (\n  SELECT life_row, code, {line} AS code_value\n  FROM pieced\n"
        "  WHERE x >= start AND x < ending\n)"
    )
    yield (
        "heights AS MATERIALIZED (\n  SELECT life_row, neuron, SUM(weight * code_value) AS height\n"
        f"  FROM codes JOIN {weights} AS w ON w.code = codes.code\n"
        "  GROUP BY life_row, neuron\n)"
    )
    sums = [f"SUM(beta{output} * height) AS s{output}" for output in range(formula.n_outputs)]
    yield (
        f"summed AS MATERIALIZED (\n  SELECT life_row AS scored, {', '.join(sums)}\n"
        f"  FROM heights JOIN {neurons} AS n ON n.neuron = heights.neuron\n"
        f"  WHERE height > {dialect.literal(0.0)} OR cut = 0\n  GROUP BY life_row\n)"
    )
    yield "scores AS (\n  SELECT * FROM numbers JOIN summed ON scored = life_row\n)"


_PIECE = ("start", "ending", "origin", "width", "level", "rise")


def _pieces(formula: Formula) -> Iterator[tuple[float, ...]]:
    """Rows of the pieces at which codes are not zero."""
    yield 0, _ONE, -_FAR, _FAR, 0.0, 1.0, 1.0, 0.0
    for number, code in enumerate(formula.codes):
        for piece in _lines(code):
            if piece[-2] or piece[-1]:
                yield code.column, number, *piece


def _lines(code: Code) -> Iterator[tuple[float, ...]]:
    """Start, end, origin, width, level at the origin and rise over the width of each piece."""
    if not code.knots:
        yield -_FAR, _FAR, 0.0, 1.0, 0.0, 1.0
        return
    yield -_FAR, code.knots[0], 0.0, 1.0, code.values[0], 0.0
    for at in range(len(code.knots) - 1):
        (left, right), (low, high) = code.knots[at : at + 2], code.values[at : at + 2]
        yield left, right, left, right - left, low, high - low
    yield code.knots[-1], _FAR, 0.0, 1.0, code.values[-1], 0.0


def _weights(formula: Formula) -> Iterator[tuple[float, ...]]:
    for neuron, bias in enumerate(formula.bias.tolist()):
        yield _ONE, neuron, bias
        codes, weights = formula.read_by(neuron)
        for code, weight in zip(codes.tolist(), weights.tolist(), strict=True):
            yield code, neuron, weight
    for output, intercept in enumerate(formula.intercept.tolist()):
        neuron, linear = formula.n_neurons + output, formula.linear[:, output]
        yield _ONE, neuron, intercept
        for code in linear.nonzero()[0].tolist():
            yield code, neuron, float(linear[code])


def _neurons(formula: Formula) -> Iterator[tuple[float, ...]]:
    for neuron, beta in enumerate(formula.beta.tolist()):
        yield neuron, 1, *beta
    for output in range(formula.n_outputs):
        unit = [float(one == output) for one in range(formula.n_outputs)]
        yield formula.n_neurons + output, 0, *unit


def _inserts(name: str, rows: Sequence[tuple[float, ...]], dialect: Dialect) -> Iterator[str]:
    for start in range(0, len(rows), _ROWS):
        some = rows[start : start + _ROWS]
        lines = ",\n".join(f"({', '.join(_value(one, dialect) for one in row)})" for row in some)
        yield f"INSERT INTO {name} VALUES\n{lines}"


def _value(value: float, dialect: Dialect) -> str:
    return str(value) if isinstance(value, int) else dialect.literal(value)
