"""Which attributes of fitted estimators an archive holds, and in which form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifenet.archive import ModelParts, NotStorableError, write_model
from lifenet.archive.forms import (
    Array,
    Choice,
    Fields,
    Form,
    Many,
    Maybe,
    Number,
    Truth,
    Whole,
    Wholes,
)
from lifenet.archive.networks import CODING, NETWORK
from lifenet.archive.parameters import CheckedRecipe
from lifenet.archive.records import (
    FOLDS,
    HIERARCHY,
    MEMBERS,
    ORIGIN,
    OUTCOMES,
    RECORD,
    STACKED,
)
from lifenet.archive.tables import LABELS, SCHEMA, TABLE
from lifenet.estimators._slices import FoldSlices

if TYPE_CHECKING:
    import os

    from sklearn.base import BaseEstimator

__all__ = ["FORMS", "OPTIONAL", "save_model"]

_SLICES = Fields(
    FoldSlices,
    {
        "drawn": Truth(),
        "seed": Whole(0),
        "n_folds": Whole(0),
        "ends": Wholes,
        "factor": Number(),
        "intercepts": Array(2),
    },
)
# scikit-learn's own: what `set_output` chose.
_OUTPUT = Fields(
    dict,
    {"transform": Choice(("default", "pandas", "polars"))},
    lambda chosen: chosen,
)
_NETWORK: dict[str, Form] = {
    "n_features_in_": Whole(1),
    "feature_names_in_": LABELS,
    "origin_": ORIGIN,
    "table_": TABLE,
    "n_iter_": Whole(0),
}
_SINGLE: dict[str, Form] = {
    **_NETWORK,
    "network_": NETWORK,
    "schema_": SCHEMA,
    "outcomes_": OUTCOMES,
}
_LIFE: dict[str, Form] = {
    **_NETWORK,
    "recipe_": CheckedRecipe(),
    "coding_": Maybe(CODING),
    "network_": NETWORK,
    "schema_": SCHEMA,
    "interaction_cst_": Maybe(Many(Wholes)),
    "record_": RECORD,
    "hierarchy_": HIERARCHY,
    "members_": MEMBERS,
    "member_inputs_": Maybe(Array(1, ("<i8", "<i4"))),
    "folds_": FOLDS,
    "stacked_": STACKED,
    "_slices": Maybe(_SLICES),
    "_split_seed": Whole(0),
    "_fitted": Number(),
    "_sklearn_output_config": _OUTPUT,
}
_CLASSES: dict[str, Form] = {"classes_": LABELS}

#: The attributes of each estimator, in the order in which they are written and read.
FORMS: dict[str, dict[str, Form]] = {
    "AdamClassifier": {**_SINGLE, **_CLASSES},
    "AdamRegressor": _SINGLE,
    "LIFEClassifier": {**_LIFE, **_CLASSES},
    "LIFERegressor": _LIFE,
    "LLAClassifier": {**_SINGLE, **_CLASSES},
    "LLARegressor": _SINGLE,
}
#: Attributes that are there only at times.
OPTIONAL = frozenset(("feature_names_in_", "_sklearn_output_config"))


def save_model(model: BaseEstimator, path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Write a fitted estimator."""
    kind = type(model)
    if kind.__name__ not in FORMS or not kind.__module__.startswith("lifenet.estimators."):
        raise NotStorableError(
            f"{path}: a {kind.__name__} cannot be saved; an archive holds {', '.join(FORMS)}, "
            "whose parts are lifenet's own. Pickle this model."
        )
    forms, own = FORMS[kind.__name__], vars(model)
    missing = [name for name in forms if name not in own and name not in OPTIONAL]
    if missing:
        raise NotStorableError(
            f"{path}: the model has no {', '.join(missing)}, as models of earlier versions. Fit it "
            "anew."
        )
    fitted: dict[str, Any] = {name: own[name] for name in forms if name in own}
    parts = ModelParts(kind.__name__, model.get_params(deep=False), fitted)
    write_model(path, parts, forms, overwrite=overwrite)
