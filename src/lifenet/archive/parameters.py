"""Parameters of estimators: plain values, and lifenet's own settings from a closed list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import model_selection

from lifenet.archive.errors import DamagedArchiveError, NotStorableError
from lifenet.archive.forms import Array, Many, Number, Text, Whole, damaged, made
from lifenet.compress.distil import Distil
from lifenet.data.codes import QuantileCoding
from lifenet.data.folds import CrossFit, Holdout
from lifenet.finetune.lbfgs import LBFGS
from lifenet.finetune.minibatch import MiniBatch
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.neurons.hierarchy import Hierarchy
from lifenet.neurons.leaves import Leaves
from lifenet.neurons.sampling import Bootstrap, NeuronProjection, RandomProjection
from lifenet.output.averaging import Averaging
from lifenet.output.elastic_net import ElasticNetOutput
from lifenet.output.mixing import Mixing
from lifenet.output.ridge import RidgeOutput
from lifenet.output.selection import BaseLearnerSelection
from lifenet.recipe.pairs import BestPairs
from lifenet.recipe.recipe import Recipe
from lifenet.solvers.adam import Adam
from lifenet.solvers.lla import LLA
from lifenet.solvers.lla_printed import PrintedLLA
from lifenet.stacking.boosted_trees import BoostedTrees
from lifenet.stacking.linear_model import LinearModel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lifenet.archive.arrays import Sink, Source

__all__ = ["CheckedRecipe", "Parameter", "Parameters"]

_SETTINGS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(Recipe, QuantileCoding, Hierarchy, Leaves, BestPairs, Holdout, CrossFit),
        *(NeuronProjection, RandomProjection, Bootstrap, LLA, PrintedLLA, Adam),
        *(RidgeOutput, ElasticNetOutput, BaseLearnerSelection, Mixing, Averaging),
        *(LBFGS, MiniBatch, LinearModel, BoostedTrees, Distil),
    )
}
_LOSSES: dict[str, type] = {kind.__name__: kind for kind in (SquaredError, Logistic, Multinomial)}
# scikit-learn's splitters, and what their constructors take.
_SPLITTERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("KFold", "StratifiedKFold", "StratifiedGroupKFold"),
        ("n_splits", "shuffle", "random_state"),
    ),
    **dict.fromkeys(
        ("ShuffleSplit", "StratifiedShuffleSplit", "GroupShuffleSplit"),
        ("n_splits", "test_size", "train_size", "random_state"),
    ),
    "GroupKFold": ("n_splits",),
    "TimeSeriesSplit": ("n_splits", "max_train_size", "test_size", "gap"),
    "LeaveOneGroupOut": (),
    "PredefinedSplit": ("test_fold",),
}
_NUMBERS = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")
# Most that values may stand inside one another, as steps of the way to them.
_DEEPEST = 40
_KEPT = (
    "an archive keeps numbers, texts, lists, tuples, dicts, arrays, lifenet's own settings and "
    "losses, and scikit-learn's splitters"
)


@dataclass(frozen=True)
class Parameter:
    """Any value that a parameter may have; what JSON does not tell apart has a tag."""

    def write(self, value: Any, sink: Sink, at: str) -> Any:
        """The value itself, or a tag and what stands for it."""
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int and abs(value) < 2**63:
            return value
        if type(value) is float:
            number = Number().write(value, sink, at)
            return number if isinstance(number, float) else {"float": number}
        if at.count(".") > _DEEPEST:
            raise NotStorableError(f"{at:.100} holds values that stand too deep in one another")
        for tag, (fits, write, _) in _TAGS.items():
            if fits(value):
                return {tag: write(value, sink, at)}
        raise NotStorableError(f"{at} is {value!r:.200}, and {_KEPT}")

    def read(self, node: Any, source: Source, at: str) -> Any:
        """The value itself, or a tag and what stands for it."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if not isinstance(node, dict) or len(node) != 1 or at.count(".") > _DEEPEST:
            damaged(at, "the value of a parameter")
        ((tag, inner),) = node.items()
        if tag == "float":
            return Number().read(inner, source, at)
        if tag not in _TAGS:
            raise DamagedArchiveError(f"the header is wrong at {at}: {tag!r} is no kind of value")
        return _TAGS[tag][2](inner, source, at)


@dataclass(frozen=True)
class Parameters:
    """Parameters by name."""

    def write(self, value: Mapping[str, Any], sink: Sink, at: str) -> dict[str, Any]:
        """Each by its name."""
        return {name: Parameter().write(one, sink, f"{at}.{name}") for name, one in value.items()}

    def read(self, node: Any, source: Source, at: str) -> dict[str, Any]:
        """Each by its name."""
        if not isinstance(node, dict):
            damaged(at, "parameters by name")
        return {name: Parameter().read(one, source, f"{at}.{name}") for name, one in node.items()}


@dataclass(frozen=True)
class CheckedRecipe:
    """A recipe that was fitted, and so has passed its own checks."""

    def write(self, value: Any, sink: Sink, at: str) -> Any:
        """As any parameter."""
        return Parameter().write(value, sink, at)

    def read(self, node: Any, source: Source, at: str) -> Recipe:
        """A recipe, checked."""
        recipe = Parameter().read(node, source, at)
        if not isinstance(recipe, Recipe):
            damaged(at, "a recipe")
        made(at, recipe.check)
        return recipe


def _is(kind: type) -> Callable[[Any], bool]:
    return lambda value: type(value) is kind


def _is_named(known: Mapping[str, type]) -> Callable[[Any], bool]:
    return lambda value: known.get(type(value).__name__) is type(value)


def _many(kind: type) -> tuple[Any, ...]:
    form = Many(Parameter())

    def read(node: Any, source: Source, at: str) -> Any:
        return kind(form.read(node, source, at))

    return _is(kind), form.write, read


def _write_dict(value: dict[Any, Any], sink: Sink, at: str) -> list[Any]:
    return Many(Many(Parameter())).write(value.items(), sink, at)


def _read_dict(node: Any, source: Source, at: str) -> dict[Any, Any]:
    pairs = Many(Many(Parameter())).read(node, source, at)
    return made(at, dict, pairs)  # type: ignore[no-any-return]


def _is_numbers(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype.newbyteorder("<").str in _NUMBERS


def _write_numbers(value: Any, sink: Sink, at: str) -> Any:
    return sink.put(np.asarray(value), at)


def _read_numbers(node: Any, source: Source, at: str) -> Any:
    return source.take(node, at)


def _is_number(value: Any) -> bool:
    return isinstance(value, np.generic) and value.dtype.newbyteorder("<").str in _NUMBERS


def _read_number(node: Any, source: Source, at: str) -> Any:
    array = source.take(node, at)
    return array[()] if array.ndim == 0 else damaged(at, "a single number")


def _is_texts(value: Any) -> bool:
    known = type(value) is np.ndarray and value.dtype.kind in "UO"
    return known and all(isinstance(one, str) for one in value.ravel())


def _write_texts(value: Any, sink: Sink, at: str) -> Any:
    return [value.dtype.kind, list(value.shape), [str(one) for one in value.ravel()]]


def _read_texts(node: Any, source: Source, at: str) -> Any:
    if not isinstance(node, list) or len(node) != 3 or node[0] not in ("U", "O"):
        damaged(at, "an array of texts")
    shape = Many(Whole(0)).read(node[1], source, at)
    texts = Many(Text()).read(node[2], source, at)
    longest = max(map(len, texts), default=0)
    if node[0] == "U" and 4 * longest * len(texts) > source.max_bytes:
        damaged(at, "texts of a reasonable length")
    array = np.array(texts, dtype=object if node[0] == "O" else str)
    return made(at, array.reshape, shape)


def _write_settings(value: Any, sink: Sink, at: str) -> Any:
    held = Parameters().write(value.get_params(deep=False), sink, at)
    return [type(value).__name__, held]


def _read_settings(node: Any, source: Source, at: str) -> Any:
    name, held = _named(node, _SETTINGS, at)
    return made(at, _SETTINGS[name], **Parameters().read(held, source, at))


def _write_loss(value: Any, sink: Sink, at: str) -> Any:
    own = {"n_outputs": value.n_outputs} if value.n_outputs > 1 else {}
    return [type(value).__name__, Parameters().write(own, sink, at)]


def _read_loss(node: Any, source: Source, at: str) -> Any:
    name, held = _named(node, _LOSSES, at)
    return made(at, _LOSSES[name], **Parameters().read(held, source, at))


def _is_splitter(value: Any) -> bool:
    name = type(value).__name__
    return name in _SPLITTERS and type(value) is getattr(model_selection, name, None)


def _write_splitter(value: Any, sink: Sink, at: str) -> Any:
    name = type(value).__name__
    own = {one: getattr(value, one) for one in _SPLITTERS[name] if hasattr(value, one)}
    return [name, Parameters().write(own, sink, at)]


def _read_splitter(node: Any, source: Source, at: str) -> Any:
    name, held = _named(node, _SPLITTERS, at)
    return made(at, getattr(model_selection, name), **Parameters().read(held, source, at))


def _named(node: Any, known: Mapping[str, Any], at: str) -> tuple[str, Any]:
    """A name that is known, and what belongs to it."""
    if not isinstance(node, list) or len(node) != 2 or node[0] not in tuple(known):
        damaged(at, f"one of {', '.join(known)}")
    return node[0], node[1]


def _write_state(value: np.random.RandomState, sink: Sink, at: str) -> Any:
    _, words, place, ready, normal = value.get_state()
    return [sink.put(np.asarray(words), at), int(place), int(ready), float(normal)]


def _read_state(node: Any, source: Source, at: str) -> np.random.RandomState:
    if not isinstance(node, list) or len(node) != 4:
        damaged(at, "the state of a random generator")
    words = Array(1, ("<u4",)).read(node[0], source, at)
    place, ready = (Whole(0).read(one, source, at) for one in node[1:3])
    if len(words) != 624 or place > 624 or ready > 1:
        damaged(at, "the state of a random generator")
    generator = np.random.RandomState(0)
    normal = Number().read(node[3], source, at)
    made(at, generator.set_state, ("MT19937", words, place, ready, normal))
    return generator


def _whole(node: Any, source: Source, at: str) -> int:
    return int(made(at, int, Text().read(node, source, at)))


#: By tag: which values have it, how they are written, and how they are read.
_TAGS: dict[str, tuple[Any, ...]] = {
    "integer": (_is(int), lambda value, sink, at: str(value), _whole),
    "list": _many(list),
    "tuple": _many(tuple),
    "dict": (_is(dict), _write_dict, _read_dict),
    "numbers": (_is_numbers, _write_numbers, _read_numbers),
    "number": (_is_number, _write_numbers, _read_number),
    "texts": (_is_texts, _write_texts, _read_texts),
    "settings": (_is_named(_SETTINGS), _write_settings, _read_settings),
    "loss": (_is_named(_LOSSES), _write_loss, _read_loss),
    "splitter": (_is_splitter, _write_splitter, _read_splitter),
    "random state": (_is(np.random.RandomState), _write_state, _read_state),
}
