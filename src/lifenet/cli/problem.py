"""What a model is fitted to or measured on: columns, a target, weights, and how rows are split."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.cli.csv_text import is_number, shown
from lifenet.cli.errors import CommandError, UsageError
from lifenet.tables import Labels, Numbers, Times, read_table

if TYPE_CHECKING:
    import numpy.typing as npt

    from lifenet._typing import Bools, Floats, Integers
    from lifenet.cli.files import Source

__all__ = ["Problem", "Task", "read_problem", "read_target", "split_rows", "with_target"]

#: Most distinct integers that are taken for classes; chosen by hand.
_FEW = 10
#: Fewest rows that a model is fitted to.
_FEWEST = 4


@dataclass(frozen=True)
class Task:
    """What is predicted.

    Attributes
    ----------
    kind : "regression" or "classification"
    why : it was taken for that, in words
    """

    kind: str
    why: str


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with a target.

    Attributes
    ----------
    source : the rows with all their columns
    features : names of the columns that the model reads
    target : name of the column that is predicted
    y : (n_rows,), numbers or classes
    task : what is predicted
    weight : (n_rows,), or None
    groups : (n_rows,), numbers of groups whose rows stay together; None without any
    order : (n_rows,), what rows are ordered by in time; None without any
    """

    source: Source
    features: list[str]
    target: str
    y: npt.NDArray[Any]
    task: Task
    weight: Floats | None = None
    groups: Integers | None = None
    order: Floats | None = None

    @property
    def X(self) -> Any:
        """The columns that the model reads, as a table."""
        return self.source.table.select(self.features)

    @property
    def classification(self) -> bool:
        """Whether classes are predicted."""
        return self.task.kind == "classification"

    def take(self, rows: Integers) -> Problem:
        """Some of the rows."""
        return replace(
            self,
            source=self.source.take(rows),
            y=self.y[rows],
            weight=None if self.weight is None else self.weight[rows],
            groups=None if self.groups is None else self.groups[rows],
            order=None if self.order is None else self.order[rows],
        )


def read_problem(
    source: Source,
    target: str,
    *,
    task: str = "auto",
    drop_missing: bool = False,
    weight: str | None = None,
    group: str | None = None,
    time: str | None = None,
    dropped: tuple[str, ...] = (),
) -> Problem:
    """The problem that a table and the arguments pose.

    Parameters
    ----------
    drop_missing : whether rows without a target are left out
    weight, group, time : names of columns with these; all but time are no features
    dropped : columns that are no features either
    """
    source.require([target], "--target names")
    source.require(dropped, "--drop names")
    for name, option in ((weight, "--weight"), (group, "--split-by"), (time, "--split-by")):
        if name is not None:
            source.require([name], f"{option} names")
            if name == target:
                raise UsageError(f"{option} names the target, {target!r}. Name another column.")
    source = with_target(source, target, drop_missing=drop_missing)
    y, found = read_target(source, target, task)
    left_out = {target, weight, group, *dropped}
    features = [name for name in source.names if name not in left_out]
    if not features:
        raise CommandError(f"{source.name} has no column left to predict {target!r} from.")
    if source.n_rows < _FEWEST:
        raise CommandError(
            f"{source.name} has {source.n_rows} rows with a target; a model needs at least "
            f"{_FEWEST}."
        )
    return Problem(
        source,
        features,
        target,
        y,
        found,
        None if weight is None else _numbers(source, weight, "a weight"),
        None if group is None else _groups(source, group),
        None if time is None else _times(source, time),
    )


# ------------------------------------------------------------------ the target


def with_target(source: Source, target: str, *, drop_missing: bool) -> Source:
    """The rows that have a target."""
    column = source.table.column(target)
    missing = np.asarray(column.is_null(nan_is_null=True).to_pylist(), dtype=bool)
    if not missing.any():
        return source
    n_missing = int(missing.sum())
    if n_missing == source.n_rows:
        raise CommandError(f"{source.name}: the target {target!r} is missing in every row.")
    if not drop_missing:
        rows = "row has" if n_missing == 1 else "rows have"
        raise CommandError(
            f"{source.name}: {n_missing:,} of {source.n_rows:,} {rows} no target {target!r}, the "
            f"first on {source.place(int(np.flatnonzero(missing)[0]))}. Pass "
            "--drop-missing-target to leave them out."
        )
    return source.take(~missing)


def read_target(
    source: Source, target: str, task: str, *, several: bool = True
) -> tuple[npt.NDArray[Any], Task]:
    """The target, and what kind of task it poses.

    Parameters
    ----------
    several : whether a target of a single class is refused
    """
    column = _column(source, target)
    if isinstance(column, Times):
        raise CommandError(
            f"{source.name}: the target {target!r} holds times. Make numbers of them, such as days "
            "from a date on."
        )
    found = _task_of(column, target) if task == "auto" else Task(task, "as --task says")
    if found.kind == "regression":
        return _number_target(source, target, column), found
    y = _classes(column)
    if several and len(np.unique(y)) < 2:
        raise CommandError(
            f"{source.name}: the target {target!r} is {y[0]!s} in every row, so that there is "
            "nothing to predict."
        )
    return y, found


def _task_of(column: Numbers | Labels, target: str) -> Task:
    if isinstance(column, Labels):
        return Task("classification", f"{target!r} holds text")
    if column.boolean:
        return Task("classification", f"{target!r} holds truth values")
    values = np.unique(column.values)
    if len(values) <= _FEW and np.array_equal(values, np.round(values)):
        return Task("classification", f"{target!r} holds {len(values)} different whole numbers")
    return Task("regression", f"{target!r} holds numbers")


def _number_target(source: Source, target: str, column: Numbers | Labels) -> Floats:
    if not isinstance(column, Labels):
        return column.values
    texts = [str(label) for label in column.labels]
    wrong = [at for at, text in enumerate(texts) if not is_number(text)]
    row = int(np.flatnonzero(np.isin(column.codes, wrong))[0]) if wrong else 0
    raise CommandError(
        f"{source.name}, {source.place(row)}, column {target!r}: "
        f"{shown(texts[wrong[0]] if wrong else texts[0])} is no number, and regression needs "
        "numbers. Mend the cell, pass what stands for a missing value to --missing, or pass "
        "--task classification."
    )


def _classes(column: Numbers | Labels) -> npt.NDArray[Any]:
    if isinstance(column, Labels):
        return np.array([str(one) for one in column.labels])[column.codes]
    if column.boolean:
        return column.values.astype(bool)
    whole = np.array_equal(column.values, np.round(column.values))
    return column.values.astype(np.int64) if whole else column.values


def _column(source: Source, name: str) -> Numbers | Times | Labels:
    try:
        return read_table(source.table.select([name]))[0]
    except ValueError as error:
        raise source.explained(error) from error


# ------------------------------------------------------------------ weights, groups and times


def _numbers(source: Source, name: str, what: str) -> Floats:
    column = _column(source, name)
    if not isinstance(column, Numbers):
        raise CommandError(f"{source.name}: column {name!r} is to hold {what}, and has no numbers.")
    gone = np.flatnonzero(column.missing)
    if len(gone):
        raise CommandError(
            f"{source.name}, {source.place(int(gone[0]))}, column {name!r}: {what} is missing."
        )
    low = np.flatnonzero(column.values < 0)
    if len(low):
        raise CommandError(
            f"{source.name}, {source.place(int(low[0]))}, column {name!r}: {what} is negative."
        )
    return column.values


def _groups(source: Source, name: str) -> Integers:
    column = _column(source, name)
    values = column.codes if isinstance(column, Labels) else column.values
    _, codes = np.unique(values, return_inverse=True)
    groups = np.asarray(codes.ravel(), dtype=np.intp)
    if groups.max() < 1:
        raise CommandError(
            f"{source.name}: column {name!r} has one group, and a split needs two or more."
        )
    return groups


def _times(source: Source, name: str) -> Floats:
    column = _column(source, name)
    if isinstance(column, Labels):
        row = int(np.flatnonzero(column.codes >= 0)[0])
        raise CommandError(
            f"{source.name}, column {name!r}: rows cannot be split by time, since it holds text, "
            f"such as {shown(str(column.labels[0]))} on {source.place(row)}. Write dates as "
            "2026-01-31."
        )
    gone = np.flatnonzero(column.missing)
    if len(gone):
        raise CommandError(
            f"{source.name}, {source.place(int(gone[0]))}, column {name!r}: the time is missing, "
            "by which rows are split."
        )
    return column.values


# ------------------------------------------------------------------ splits


def split_rows(problem: Problem, share: float, seed: int) -> tuple[Integers, Integers, str]:
    """Rows to fit to and rows to measure on, each in its order, and how they were chosen."""
    if problem.groups is not None:
        test, how = _some_groups(problem.groups, share, seed), "whole groups, at random"
    elif problem.order is not None:
        test, how = _latest(problem.order, share), "the latest"
    else:
        test, how = _at_random(problem, share, seed), "at random"
    if not test.any() or np.sum(~test) < _FEWEST:
        raise CommandError(
            f"A share of {share:g} of {len(test):,} rows leaves {int(test.sum()):,} to measure on "
            f"and {int(np.sum(~test)):,} to fit to. Pass another --test-share, or 0 for none."
        )
    return np.flatnonzero(~test), np.flatnonzero(test), how


def _at_random(problem: Problem, share: float, seed: int) -> Bools:
    """A share of the rows; of classes, of each."""
    rng, n = np.random.default_rng(seed), problem.source.n_rows
    codes = np.unique(problem.y, return_inverse=True)[1] if problem.classification else np.zeros(n)
    test = np.zeros(n, dtype=bool)
    for code in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == code))
        test[rows[: min(round(share * len(rows)), len(rows) - 1)]] = True
    return test


def _some_groups(groups: Integers, share: float, seed: int) -> Bools:
    """Groups at random, until they have the share; one is always left."""
    counts = np.bincount(groups)
    order = np.random.default_rng(seed).permutation(len(counts))
    before = np.cumsum(counts[order]) - counts[order]
    chosen = order[:-1][before[:-1] < share * len(groups)]
    return np.isin(groups, chosen)


def _latest(order: Floats, share: float) -> Bools:
    """The last rows in time; those of one time stay together."""
    cut = np.sort(order)[min(int(np.ceil((1 - share) * len(order))), len(order) - 1)]
    return np.asarray(order >= cut if (order < cut).any() else order > cut)
