"""The target of rows as a fitted model knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.cli.errors import CommandError
from lifenet.cli.models import is_classifier
from lifenet.cli.problem import read_target, with_target

if TYPE_CHECKING:
    import numpy.typing as npt

    from lifenet.cli.files import Source

__all__ = ["target_for"]


def target_for(
    model: Any, source: Source, target: str, *, drop_missing: bool
) -> tuple[Source, npt.NDArray[Any]]:
    """The rows that have a target, and the target: numbers, or labels as the model has them.

    Parameters
    ----------
    drop_missing : whether rows without a target are left out
    """
    source = with_target(source, target, drop_missing=drop_missing)
    task = "classification" if is_classifier(model) else "regression"
    y, _ = read_target(source, target, task, several=False)
    if not is_classifier(model):
        return source, y
    classes = np.asarray(model.classes_)
    known = {str(label): number for number, label in enumerate(classes.tolist())}
    names = [str(label) for label in y.tolist()]
    for row, name in enumerate(names):
        if name not in known:
            raise CommandError(
                f"{source.name}, {source.place(row)}, column {target!r}: the model does not know "
                f"the class {name!r}; it knows {', '.join(known)}."
            )
    return source, classes[[known[name] for name in names]]
