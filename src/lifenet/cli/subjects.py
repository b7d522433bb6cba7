"""What is explained: a model, rows as explanations take them, and which scores it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.cli.errors import UsageError
from lifenet.cli.models import columns_of, is_classifier

if TYPE_CHECKING:
    from lifenet._typing import Integers
    from lifenet.cli.files import Source

__all__ = ["Subject"]


@dataclass(frozen=True, eq=False)
class Subject:
    """A model and rows, as `lifenet.explain` takes them.

    Attributes
    ----------
    model : to be explained
    rows : the columns that the model reads, in its order: an array where all are plain numbers,
        else a table
    classes : labels of a classifier; none of a regressor
    """

    model: Any
    rows: Any
    classes: tuple[Any, ...]

    @classmethod
    def of(cls, model: Any, source: Source) -> Subject:
        """Of a table with the columns of the model."""
        table = source.table.select(columns_of(model))
        try:
            # What is wrong with a cell is told before anything is explained.
            numbers = model.table_.transform(table)
        except ValueError as error:
            raise source.explained(error) from error
        plain = model.schema_.table is None
        classes = tuple(np.asarray(model.classes_).tolist()) if is_classifier(model) else ()
        return cls(model, numbers if plain else table, classes)

    @property
    def median(self) -> Any:
        """The median row of training, as explanations take it; they know that of tables."""
        if not isinstance(self.rows, np.ndarray):
            return None
        return [code.neutral for code in self.model.table_.codes]

    def take(self, index: Integers) -> Any:
        """Some of the rows."""
        return self.rows[index] if isinstance(self.rows, np.ndarray) else self.rows.take(index)

    @property
    def n_scores(self) -> int:
        """One for numbers and two classes; one a class for more."""
        return len(self.classes) if len(self.classes) > 2 else 1

    def scores(self) -> list[tuple[int | None, str]]:
        """Each score's number as explanations take it, and what sets its names apart."""
        if self.n_scores == 1:
            return [(None, "")]
        return [(number, f" ({label})") for number, label in enumerate(self.classes)]

    def score_of(self, label: str | None) -> tuple[int | None, str]:
        """The number of a class's score, and what the score is called."""
        names = [str(one) for one in self.classes]
        if self.n_scores == 1:
            if label is not None and (not names or label != names[1]):
                rest = f"that of {names[1]}, the score of two classes" if names else "of numbers"
                raise UsageError(
                    f"--class {label} cannot be explained; the model's score is {rest}."
                )
            return None, f"log-odds of {names[1]}" if names else "score"
        if label not in names:
            found = "is missing" if label is None else f"is {label}"
            raise UsageError(f"--class {found}; it may be {', '.join(names)}.")
        return names.index(label), f"score of {label}"
