"""What is explained: a network, or a fitted model or pipeline with all that it knows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.network import CodedNetwork, FoldNetworks, PiecewiseLinear
from lifenet.schema import FeatureSchema, default_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from lifenet.tables import Table, TableCoding

__all__ = [
    "Subject",
    "fold_networks_of",
    "in_order",
    "labels_of",
    "subject_of",
    "subject_with",
]


@dataclass(frozen=True, eq=False)
class Subject:
    """A network, and what the model that it belongs to knows.

    Attributes
    ----------
    network : PiecewiseLinear
    schema : of the columns that the network reads; None where it is not known
    classes : labels of a classifier, in the order of its codes; None without any
    steps : of a pipeline, what comes before the model; None without any
    names : of the columns, where they are known without a schema
    coding : how the user's table becomes the columns; None where they are the table's own
    bare : whether arrays have the columns that the network reads, whatever the coding
    """

    network: PiecewiseLinear
    schema: FeatureSchema | None = None
    classes: npt.NDArray[Any] | None = None
    steps: Any = None
    names: tuple[str, ...] = ()
    coding: TableCoding | None = None
    bare: bool = False

    @property
    def reads_tables(self) -> bool:
        """Whether the user's columns are others than those that the network reads."""
        return self.coding is not None and not self.coding.is_plain

    def prepared(self, X: Any, name: str = "X") -> Any:
        """Rows as the network reads them: through the steps of the pipeline, then coded.

        Numbers that a network reads unchanged stay what they were; of those, missing ones become
        the median, as `predict` has it.
        """
        X = self._through_steps(X)
        if self.coding is None or (self.bare and not hasattr(X, "columns")):
            return X
        if self.reads_tables:
            table = self.coding.read(_with_objects(X), name)
            if not table.n_rows:
                raise ValueError("X has no rows, so there is nothing to read the network on.")
            return self.coding.encode(table)
        if not _has_gaps(X):
            return X
        return self.coding.encode(self.coding.read(in_order(X, self.coding.names, name), name))

    def prepared_row(self, x: Any, name: str = "x") -> Any:
        """A single row in the same way: a list, a Series, or a frame of one row."""
        if self.steps is None and not self.reads_tables and not _has_gaps(x):
            return x
        if self.bare and labels_of(x) is None:
            return x
        return self.prepared(self.one_row(x, name), name)

    def one_row(self, x: Any, name: str = "x") -> Any:
        """A list, a Series or a frame of one row as a table of one row, before any step."""
        labels = labels_of(x)
        if labels is not None:
            known = labels if self.coding is None else list(self.coding.names)
            x = in_order(x, list(getattr(self.steps, "feature_names_in_", known)), name)
            x = x if hasattr(x, "columns") else x.to_frame().T
        if hasattr(x, "columns") or np.ndim(_with_objects(x)) == 2:
            return x
        return [x.tolist() if hasattr(x, "tolist") else list(x)]

    def cells(self, X: Any, name: str = "X") -> Table | None:
        """Rows as the user's table has them; None where that is what the network reads."""
        if self.coding is None or not self.reads_tables:
            return None
        if self.bare and not hasattr(X, "columns"):
            return None
        return self.coding.read(_with_objects(self._through_steps(X)), name)

    def _through_steps(self, X: Any) -> Any:
        if self.steps is None:
            return X
        names = getattr(self.steps, "feature_names_in_", None)
        return self.steps.transform(X if names is None else in_order(X, list(names)))


def _with_objects(X: Any) -> Any:
    """Lists as an array: of objects where they mix numbers with text."""
    if hasattr(X, "columns") or hasattr(X, "dtype") or hasattr(X, "column_names"):
        return X.toarray() if hasattr(X, "toarray") else X
    given = np.asarray(X)
    return np.asarray(X, dtype=object) if given.dtype.kind in "USO" else given


def _has_gaps(X: Any) -> bool:
    """Whether some of it is no number: missing, or in need of reading."""
    try:
        return bool(np.isnan(np.asarray(X, dtype=np.float64)).any())
    except (TypeError, ValueError):
        return labels_of(X) is not None


def subject_of(model: Any) -> Subject:
    """Find the network of a network, a fitted model, a finished search or a pipeline."""
    if isinstance(model, PiecewiseLinear):
        names = model.coding.names if isinstance(model, CodedNetwork) else ()
        known = tuple(names) if tuple(names) != default_names(model.n_features) else ()
        return Subject(model, names=known)
    if hasattr(model, "steps") and hasattr(model, "named_steps"):
        return _of_pipeline(model)
    if hasattr(model, "network_") and hasattr(model, "schema_"):
        coding = model.schema_.table or getattr(model, "table_", None)
        classes = getattr(model, "classes_", None)
        return Subject(model.network_, model.schema_, classes, coding=coding)
    if hasattr(model, "best_estimator_"):
        return subject_of(model.best_estimator_)
    raise TypeError(f"Explanations read a network, not a {type(model).__name__}. {_remedy(model)}")


def fold_networks_of(model: Any) -> FoldNetworks:
    """The networks of a fitted model's folds, whose mean its network is; none where there is one.

    They read what its network reads: of a pipeline, what its last step does.
    """
    if hasattr(model, "steps") and hasattr(model, "named_steps"):
        return fold_networks_of(model.steps[-1][1])
    if hasattr(model, "best_estimator_") and not hasattr(model, "network_"):
        return fold_networks_of(model.best_estimator_)
    found: FoldNetworks = getattr(model, "fold_networks_", FoldNetworks())
    return found


def subject_with(model: Any, schema: Any) -> Subject:
    """The same, of which more is known where a schema is given.

    A network alone reads frames as the schema says; arrays have the columns that it reads.
    """
    subject = subject_of(model)
    coding = getattr(schema, "table", None)
    if coding is None or subject.coding is not None:
        return subject
    return replace(subject, coding=coding, bare=True)


def _of_pipeline(pipeline: Any) -> Subject:
    """The last step's, its columns under the names that the steps before give them."""
    last = subject_of(pipeline.steps[-1][1])
    steps = pipeline[:-1] if len(pipeline.steps) > 1 else None
    schema = last.schema
    if steps is not None and schema is not None:
        schema = _renamed(schema, steps)
    return replace(last, schema=schema, steps=steps)


def _renamed(schema: FeatureSchema, steps: Any) -> FeatureSchema:
    """The schema with the names of the steps' output, where it has none of its own."""
    if schema.names != default_names(schema.n_features):
        return schema
    try:
        names = tuple(str(name) for name in steps.get_feature_names_out())
    except (AttributeError, ValueError):
        return schema
    return schema.renamed(names)


def _remedy(model: Any) -> str:
    if hasattr(model, "coefs_"):
        return "Pass ReluNetwork.from_mlp(...) of it."
    if hasattr(model, "named_modules"):
        return "Pass ReluNetwork.from_torch(...) of it."
    if hasattr(model, "fit") and type(model).__module__.partition(".")[0] == "lifenet":
        return "It is not fitted yet: call fit first."
    return (
        "Supported are fitted lifenet models, pipelines that end in one, their network_, and "
        "single-hidden-layer ReLU networks of scikit-learn (ReluNetwork.from_mlp) and torch "
        "(ReluNetwork.from_torch). roughness and interaction_order read any model."
    )


def labels_of(X: Any) -> list[str] | None:
    """Names of the columns of a frame, or of a row of one; None where it has none."""
    labels = getattr(X, "columns", None)
    if labels is None and hasattr(X, "index") and hasattr(X, "dtype") and not callable(X.index):
        labels = X.index  # a Series that is a row
    names = [] if labels is None else list(labels)
    return names if names and all(isinstance(name, str) for name in names) else None


def in_order(X: Any, names: Sequence[str], what: str = "X") -> Any:
    """A frame, or a row of one, with its columns in the order of the names."""
    found = labels_of(X)
    if found is None or found == list(names):
        return X
    missing = [name for name in names if name not in found]
    further = [name for name in found if name not in names]
    twice = sorted({name for name in found if found.count(name) > 1})
    if missing or further or twice:
        raise ValueError(
            f"{what} must have the columns of training, by name and in any order."
            + (f" Missing: {missing}." if missing else "")
            + (f" Unknown: {further}; rename or drop them." if further else "")
            + (f" Twice: {twice}." if twice else "")
        )
    return X[list(names)]
