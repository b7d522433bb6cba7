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

__all__ = ["Subject", "fold_networks_of", "in_order", "labels_of", "subject_of"]


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
    """

    network: PiecewiseLinear
    schema: FeatureSchema | None = None
    classes: npt.NDArray[Any] | None = None
    steps: Any = None
    names: tuple[str, ...] = ()

    def prepared(self, X: Any) -> Any:
        """Rows as the network reads them: through the steps of the pipeline."""
        if self.steps is None:
            return X
        names = getattr(self.steps, "feature_names_in_", None)
        return self.steps.transform(X if names is None else in_order(X, list(names)))

    def prepared_row(self, x: Any, name: str = "x") -> Any:
        """A single row in the same way: a list, a Series, or a frame of one row."""
        if self.steps is None:
            return x
        labels = labels_of(x)
        if labels is not None:
            x = in_order(x, list(getattr(self.steps, "feature_names_in_", labels)), name)
            x = x if hasattr(x, "columns") else x.to_frame().T
        return self.prepared(x if np.ndim(x) == 2 else [x])


def subject_of(model: Any) -> Subject:
    """Find the network of a network, a fitted model, a finished search or a pipeline."""
    if isinstance(model, PiecewiseLinear):
        names = model.coding.names if isinstance(model, CodedNetwork) else ()
        known = tuple(names) if tuple(names) != default_names(model.n_features) else ()
        return Subject(model, names=known)
    if hasattr(model, "steps") and hasattr(model, "named_steps"):
        return _of_pipeline(model)
    if hasattr(model, "network_") and hasattr(model, "schema_"):
        return Subject(model.network_, model.schema_, getattr(model, "classes_", None))
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
