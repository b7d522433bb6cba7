"""A model as SQL: one SELECT, or for large networks tables of neurons that a SELECT joins."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from lifenet._shown import shown
from lifenet.export.formula import Formula, formula_of
from lifenet.export.sql_cells import Cells, select_as
from lifenet.export.sql_dialects import DIALECTS, Dialect
from lifenet.export.sql_tables import fill_tables, tabled_scores

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lifenet.export.formula import Code

__all__ = ["SqlExport", "to_sql"]

#: Largest network that is written into one SELECT: weights, and columns of one expression, of which
#: databases allow 1,664 (PostgreSQL) or more. Chosen by hand.
_MOST_WEIGHTS, _MOST_COLUMNS = 5_000, 1_500
_LAYOUTS = ("auto", "select", "tables")
#: Exponents beyond this are those of probabilities that differ from 0 or 1 by nothing.
_LEAST_EXPONENT = -700.0


@shown
@dataclass(frozen=True, eq=False)
class SqlExport:
    """A model in SQL.

    Attributes
    ----------
    dialect : "sqlite", "duckdb" or "postgresql"
    select : the statement that predicts
    setup : statements that create and fill the tables that `select` joins; none for small networks
    teardown : statements that drop these tables
    columns : names of the columns of the result
    """

    dialect: str
    select: str
    setup: tuple[str, ...]
    teardown: tuple[str, ...]
    columns: tuple[str, ...]

    def __str__(self) -> str:
        """All statements that a prediction needs, as a script."""
        return "\n".join(f"{one};" for one in (*self.setup, self.select)) + "\n"


def to_sql(
    model: Any,
    table: str | Sequence[str] = "t",
    dialect: str = "sqlite",
    *,
    keep: Sequence[str] = (),
    layout: str = "auto",
    prefix: str = "life",
) -> SqlExport:
    """Write a fitted model as SQL that predicts every row of a table.

    The table has the columns of training under their names. NULL stands for a missing value, dates
    are of the database's types (in SQLite text as ISO 8601 writes it), durations are days. Rows
    come in the order in which the database reads the table.

    Parameters
    ----------
    model : fitted model, or finished search
        Any estimator with `network_` and `schema_`.
    table : str, or sequence of str
        The table's name, or the names of its schema and its own.
    dialect : {"sqlite", "duckdb", "postgresql"}
        SQLite from 3.35, with its mathematical functions where there are classes; PostgreSQL from
        14.
    keep : sequence of str
        Columns of the table that the result keeps in front, such as its key.
    layout : {"auto", "select", "tables"}
        "select" writes the network into one SELECT, "tables" into tables that a SELECT joins.
        "auto" is "select" up to 5,000 weights and 1,500 neurons and codes.
    prefix : str
        What names of such tables begin with.

    Returns
    -------
    SqlExport
        Its text is the whole script. The result has the kept columns, "prediction", and for
        classes "score" and "probability" of the second class, or one of each a class.
    """
    formula = formula_of(model, "SQL")
    for name, given, known in (("dialect", dialect, DIALECTS), ("layout", layout, _LAYOUTS)):
        if given not in known:
            raise ValueError(f"{name}={given!r} is not known; it is one of {', '.join(known)}.")
    if isinstance(keep, str):
        raise TypeError(f"keep is a sequence of names; give [{keep!r}].")
    way = DIALECTS[dialect]
    names = (table,) if isinstance(table, str) else tuple(table)
    cells = Cells(formula.fields, names, tuple(keep), way)
    large = _is_large(formula) if layout == "auto" else layout == "tables"
    scores = tabled_scores(formula, way, prefix) if large else _scores(formula, cells)
    last, columns = _result(formula, cells)
    if len(set(columns)) < len(columns):
        twice = sorted({name for name in columns if columns.count(name) > 1})
        raise ValueError(
            f"The result would have several columns called {', '.join(map(repr, twice))}. Leave "
            "them out of keep, or rename them in the table."
        )
    expressions = ",\n".join(chain(cells.expressions(), scores))
    create, drop = fill_tables(formula, way, prefix) if large else ((), ())
    return SqlExport(dialect, f"WITH {expressions}\n{last}", create, drop, columns)


def _is_large(formula: Formula) -> bool:
    widest = max(formula.n_neurons, len(formula.codes), len(formula.columns))
    return formula.weights.nnz > _MOST_WEIGHTS or widest > _MOST_COLUMNS


def _scores(formula: Formula, cells: Cells) -> Iterator[str]:
    """Table expressions with the codes, the neurons and the scores s0, s1, ..."""
    dialect, literal = cells.dialect, cells.dialect.literal
    codes = formula.used.tolist()
    written = [f"{_code(formula.codes[code], dialect)} AS c{code}" for code in codes]
    yield select_as("codes", [*cells.kept, *written], "numbers", stored=True)
    neurons = []
    for neuron, bias in enumerate(formula.bias.tolist()):
        reads, weights = formula.read_by(neuron)
        pairs = zip(reads.tolist(), weights.tolist(), strict=True)
        terms = [literal(bias), *(f"{literal(weight)} * c{code}" for code, weight in pairs)]
        height = f"{dialect.greatest}({dialect.sum(terms)}, {literal(0.0)})"
        neurons.append(f"{height} AS h{neuron}")
    kept = [*cells.kept, *(f"c{code}" for code in formula.straight.tolist())]
    yield select_as("neurons", [*kept, *neurons], "codes", stored=True)
    scores = []
    for output, intercept in enumerate(formula.intercept.tolist()):
        terms = [literal(intercept)]
        for letter, table in (("c", formula.linear), ("h", formula.beta)):
            values = table[:, output]
            numbers = values.nonzero()[0].tolist()
            terms += [f"{literal(values[one])} * {letter}{one}" for one in numbers]
        scores.append(f"{dialect.sum(terms)} AS s{output}")
    yield select_as("scores", [*cells.kept, *scores], "neurons", stored=True)


def _code(code: Code, dialect: Dialect) -> str:
    """A code of its column."""
    x, literal = f"x{code.column}", dialect.literal
    if not code.knots:
        return x
    if code.is_ramp:
        left, right = code.knots
        return dialect.clipped(f"({x} - {literal(left)}) / {literal(right - left)}")
    cases = [f"WHEN {x} <= {literal(code.knots[0])} THEN {literal(code.values[0])}"]
    for at in range(len(code.knots) - 1):
        (left, right), (low, high) = code.knots[at : at + 2], code.values[at : at + 2]
        share = f"(({x} - {literal(left)}) / {literal(right - left)})"
        line = f"{literal(low)} + {literal(high - low)} * {share}"
        cases.append(f"WHEN {x} < {literal(right)} THEN {line}")
    return f"CASE {' '.join(cases)} ELSE {literal(code.values[-1])} END"


def _result(formula: Formula, cells: Cells) -> tuple[str, tuple[str, ...]]:
    """The last SELECT, and the names of its columns."""
    dialect = cells.dialect
    found = [(kept, name) for kept, name in zip(cells.kept[1:], cells.keep, strict=True)]
    if formula.classes is None:
        found.append(("s0", "prediction"))
    elif formula.n_outputs == 1:
        found += _two_classes(formula.classes, dialect)
    else:
        found += _classes(formula, dialect)
    names = tuple(name for _, name in found)
    columns = ",\n  ".join(f"{text} AS {dialect.named(name)}" for text, name in found)
    return f"SELECT\n  {columns}\nFROM scores\nORDER BY life_row", names


def _two_classes(classes: tuple[Any, ...], dialect: Dialect) -> Iterator[tuple[str, str]]:
    literal, (first, second) = dialect.literal, (_label(one, dialect) for one in classes)
    one, zero = literal(1.0), literal(0.0)
    yield f"CASE WHEN s0 > {zero} THEN {second} ELSE {first} END", "prediction"
    yield "s0", "score"
    power = f"exp({dialect.greatest}(-abs(s0), {literal(_LEAST_EXPONENT)}))"
    odds = f"CASE WHEN s0 > {zero} THEN {one} ELSE {power} END / ({one} + {power})"
    yield odds, "probability"


def _classes(formula: Formula, dialect: Dialect) -> Iterator[tuple[str, str]]:
    assert formula.classes is not None
    scores = [f"s{output}" for output in range(formula.n_outputs)]
    top = scores[0]
    for one in scores[1:]:
        top = f"{dialect.greatest}({top}, {one})"
    labels = [_label(one, dialect) for one in formula.classes]
    cases = [f"WHEN {one} >= {top} THEN {label}" for one, label in zip(scores, labels, strict=True)]
    yield f"CASE {' '.join(cases)} END", "prediction"
    for one, label in zip(scores, formula.outputs, strict=True):
        yield one, f"score {label}"
    least = dialect.literal(_LEAST_EXPONENT)
    powers = [f"exp({dialect.greatest}({one} - {top}, {least}))" for one in scores]
    for one, label in zip(powers, formula.outputs, strict=True):
        yield f"{one} / ({dialect.sum(powers)})", f"probability {label}"


def _label(label: Any, dialect: Dialect) -> str:
    """A class as a literal."""
    if isinstance(label, str):
        return dialect.quoted(label)
    if isinstance(label, bool):
        return "1" if label else "0"
    return str(label) if isinstance(label, int) else dialect.literal(float(label))
