"""What the displays of explanations share: where the result comes from, and its frame."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lifenet.network import PiecewiseLinear, ReluNetwork

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    import pandas as pd

    from lifenet.schema import FeatureSchema

__all__ = ["ResultDisplay", "choose_output", "codes_of", "read_estimator"]


class ResultDisplay:
    """A result of `lifenet.explain`, to be drawn.

    A subclass names the function that computes its result in `_explain`, and has ``plot(ax=None,
    *, ...)``, which draws, sets `figure_` and `ax_` and returns self.

    Parameters
    ----------
    result : what the function returned

    Attributes
    ----------
    result : as given
    score_name : what the score is called in the picture; `from_estimator` names the class
    figure_, ax_ : matplotlib Figure and Axes, after `plot`
    """

    _explain: ClassVar[Callable[..., Any]]
    #: What the score is called in the picture.
    score_name = "score"
    figure_: Any
    ax_: Any

    def __init__(self, result: Any) -> None:
        if hasattr(result, "network_") or isinstance(result, PiecewiseLinear):
            name = type(self).__name__
            raise TypeError(
                f"{name} draws a result of lifenet.explain; of a model, use "
                f"{name}.from_estimator(model, X)."
            )
        self.result = result

    @classmethod
    def from_network(cls, network: Any, *args: Any, ax: Any = None, **options: Any) -> Self:
        """Explain a network and draw the result.

        Parameters
        ----------
        network : PiecewiseLinear, or several where the explaining function takes several
        *args : the other positional arguments of the explaining function, such as `X`
        ax : matplotlib Axes or None, default=None
        **options : keyword arguments of the explaining function, and of `plot`
        """
        return cls._computed(network, args, options, cls.score_name, ax)

    @classmethod
    def _computed(
        cls, network: Any, args: tuple[Any, ...], options: dict[str, Any], score_name: str, ax: Any
    ) -> Self:
        """Explain by those options that `plot` does not know, and draw by the others."""
        drawn = set(inspect.signature(cls.plot).parameters)
        asked = {name: value for name, value in options.items() if name not in drawn}
        how = {name: value for name, value in options.items() if name in drawn}
        display = cls(cls._explain(network, *args, **asked))
        display.score_name = score_name
        return display.plot(ax, **how)

    @classmethod
    def from_estimator(cls, estimator: Any, *args: Any, ax: Any = None, **options: Any) -> Self:
        """Explain a fitted model and draw the result.

        Parameters
        ----------
        estimator : a fitted model of lifenet or a pipeline that ends in one, an MLP, a torch module
            The latter two with a single hidden layer of ReLUs. The column names are those that
            the model knows; of several classes, `output` may name one by its label, and a
            response `y` holds labels.
        *args, ax, **options : as in `from_network`
        """
        if hasattr(estimator, "network_") or hasattr(estimator, "named_steps"):
            # Explanations read these themselves, names and labels included.
            score_name = choose_output(estimator, options)
            return cls._computed(estimator, args, options, score_name, ax)
        network, schema = read_estimator(estimator)
        if schema is not None:
            options.setdefault("schema", schema)
        if options.get("refits") is not None:
            options["refits"] = [read_estimator(one)[0] for one in options["refits"]]
        score_name = choose_output(estimator, options)
        given = inspect.signature(cls._explain).bind_partial(network, *args)
        if given.arguments.get("y", options.get("y")) is not None:
            options["y"] = codes_of(estimator, given.arguments.pop("y", options.get("y")))
            args = given.args[1:]
        return cls._computed(network, args, options, score_name, ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the result."""
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """The numbers behind it."""
        frame: pd.DataFrame = self.result.to_frame()
        return frame


def read_estimator(estimator: Any) -> tuple[PiecewiseLinear, FeatureSchema | Any | None]:
    """The network in a fitted model, and what it knows of the columns (None if nothing)."""
    if isinstance(estimator, PiecewiseLinear):
        return estimator, None
    if hasattr(estimator, "network_"):
        return estimator.network_, getattr(estimator, "schema_", None)
    if hasattr(estimator, "named_modules"):
        return ReluNetwork.from_torch(estimator), None
    if hasattr(estimator, "coefs_"):
        names = getattr(estimator, "feature_names_in_", None)
        return ReluNetwork.from_mlp(estimator), None if names is None else tuple(names)
    raise TypeError(f"{type(estimator).__name__} has no network to read. {_remedy(estimator)}")


def names_of_members(estimator: Any) -> tuple[str, ...]:
    """Names of what a fitted model's members read: its columns, or codes of them."""
    names: tuple[str, ...] = getattr(estimator, "member_names_", estimator.schema_.names)
    return names


def rows_of_members(estimator: Any, X: Any) -> Any:
    """Rows as a fitted model's members read them."""
    table = getattr(estimator, "table_", None)
    if table is not None and not table.is_plain:
        X = table.transform(X)
    coding = getattr(estimator, "coding_", None)
    if coding is None:
        return X
    codes = coding.encode(np.asarray(X, dtype=np.float64))
    inputs = getattr(estimator, "member_inputs_", None)
    return codes if inputs is None else codes[:, inputs]


def _remedy(estimator: Any) -> str:
    ours = type(estimator).__module__.startswith("lifenet.")
    if ours or hasattr(estimator, "hidden_layer_sizes"):
        return "It is not fitted: call fit first."
    return (
        "Supported are fitted models of lifenet, a fitted scikit-learn MLP and a torch module, the "
        "latter two with a single hidden layer of ReLUs."
    )


def codes_of(estimator: Any, y: Any) -> Any:
    """A response as the losses know it: labels of a classifier as 0, 1, ..."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return y
    labels = np.asarray(y)
    codes = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    strange = np.flatnonzero(np.asarray(classes)[codes] != labels)
    if len(strange):
        raise ValueError(
            f"y must hold the classes {list(classes)}; row {strange[0]} has {labels[strange[0]]!r}."
        )
    return codes


def choose_output(estimator: Any, options: dict[str, Any]) -> str:
    """Turn a class label in `options` into the number of its score; what the score is called."""
    classes, label = getattr(estimator, "classes_", None), options.pop("output", None)
    if classes is None or np.ndim(classes[0]):
        if label is not None:
            options["output"] = label
        return ResultDisplay.score_name
    known = [name.item() if isinstance(name, np.generic) else name for name in classes]
    if len(known) == 2:
        if label is not None and label != known[1]:
            raise ValueError(
                f"Of two classes the score is the log-odds of {known[1]!r}, so output must be "
                f"{known[1]!r} or left out; it is {label!r}. That of the other is its negative."
            )
        return f"log-odds of {known[1]!r}"
    if label not in known:
        found = "it is missing" if label is None else f"it is {label!r}"
        raise ValueError(f"output must be one of the classes {known}; {found}.")
    options["output"] = known.index(label)
    return f"score of {label!r}"
