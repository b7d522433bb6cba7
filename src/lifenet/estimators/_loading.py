"""Estimators from archives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifenet.archive import MAX_BYTES, DamagedArchiveError, read_model
from lifenet.estimators._adam import AdamClassifier, AdamRegressor
from lifenet.estimators._life import LIFEClassifier, LIFERegressor
from lifenet.estimators._lla import LLAClassifier, LLARegressor
from lifenet.estimators._saving import FORMS, OPTIONAL
from lifenet.network import CodedNetwork

if TYPE_CHECKING:
    import os

    from lifenet.estimators._base import NetworkEstimator

__all__ = ["load"]

_ESTIMATORS: dict[str, type[NetworkEstimator]] = {
    kind.__name__: kind
    for kind in (
        *(AdamClassifier, AdamRegressor, LIFEClassifier),
        *(LIFERegressor, LLAClassifier, LLARegressor),
    )
}
_KNOWN = {name: (forms, OPTIONAL) for name, forms in FORMS.items()}


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Any:
    """A fitted estimator from a file that its method `save` wrote.

    It predicts and explains as the one that was saved did, bit for bit. The file is not trusted:
    no code of it is run, and every value is checked before the estimator is made.

    Parameters
    ----------
    path : str or path
        Such as "m.life".
    max_bytes : int, default=4 * 2**30
        Bytes that the arrays of the file may take in memory.

    Returns
    -------
    estimator : LIFERegressor, LIFEClassifier, LLARegressor, LLAClassifier, AdamRegressor or \
AdamClassifier

    Raises
    ------
    ArchiveError
        Where the file is no archive, damaged, too large, or of a later format; each has a class of
        its own in `lifenet.archive`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import lifenet
    >>> from lifenet.datasets import simulate
    >>> data = simulate.aim(500, random_state=0)
    >>> model = lifenet.LLARegressor(random_state=0).fit(data.X, data.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder, "m.life"))
    ...     again = lifenet.load(Path(folder, "m.life"))
    >>> bool((again.predict(data.X) == model.predict(data.X)).all())
    True
    """
    parts = read_model(path, _KNOWN, max_bytes)
    kind = _ESTIMATORS[parts.estimator]
    try:
        model = kind(**parts.parameters)
    except TypeError as error:
        raise DamagedArchiveError(f"the parameters are wrong: {error}").about(path) from error
    for name, value in parts.fitted.items():
        setattr(model, name, value)
    wrong = _misfit(model)
    if wrong:
        raise DamagedArchiveError(f"the parts do not fit together: {wrong}").about(path)
    return model


def _misfit(model: Any) -> str | None:
    """What does not fit together in a model, if anything."""
    network, table, names = model.network_, model.table_, model.table_.columns
    slices, inner = getattr(model, "_slices", None), network
    if isinstance(network, CodedNetwork):
        inner = network.network
    classes = getattr(model, "classes_", None)
    n_outputs = 1 if classes is None or len(classes) == 2 else len(classes)
    given = getattr(model, "feature_names_in_", None)
    checks = {
        "the network reads other columns than the table has": network.n_features == len(names),
        "the schema has other columns than the table": model.schema_.names == names,
        "the schema has a table of its own": model.schema_.table in (None, table),
        "a plain table has a schema without one": (model.schema_.table is None) == table.is_plain,
        "the table has another number of columns": model.n_features_in_ == len(table.codes),
        "the names of the columns are others": given is None or tuple(given) == table.names,
        "the network has other outputs than there are classes": network.n_outputs == n_outputs,
        "there are too few classes": classes is None or len(classes) >= 2,
        "the folds are not those of the network": slices is None or _fits(slices, inner),
        "the recipe's codes are of other columns": _codes_fit(model, len(names)),
    }
    return next((what for what, fits in checks.items() if not fits), None)


def _fits(slices: Any, network: Any) -> bool:
    """Whether the folds' networks are within the network."""
    ends = slices.ends
    rising = all(a <= b for a, b in zip((0, *ends), ends, strict=False))
    shape = (len(ends), network.n_outputs)
    return bool(
        ends and rising and ends[-1] <= network.n_neurons and slices.intercepts.shape == shape
    )


def _codes_fit(model: Any, n_columns: int) -> bool:
    coding = getattr(model, "coding_", None)
    return coding is None or coding.n_features == n_columns
