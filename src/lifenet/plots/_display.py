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

__all__ = ["ResultDisplay", "read_estimator"]


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
    figure_, ax_ : matplotlib Figure and Axes, after `plot`
    """

    _explain: ClassVar[Callable[..., Any]]
    figure_: Any
    ax_: Any

    def __init__(self, result: Any) -> None:
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
        drawn = set(inspect.signature(cls.plot).parameters)
        asked = {name: value for name, value in options.items() if name not in drawn}
        how = {name: value for name, value in options.items() if name in drawn}
        return cls(cls._explain(network, *args, **asked)).plot(ax, **how)

    @classmethod
    def from_estimator(cls, estimator: Any, *args: Any, ax: Any = None, **options: Any) -> Self:
        """Explain a fitted model and draw the result.

        Parameters
        ----------
        estimator : a fitted model of lifenet, a scikit-learn MLP or a torch module
            The latter two with a single hidden layer of ReLUs. The column names are those that
            the model knows; of several classes, `output` may name one by its label, and a
            response `y` holds labels.
        *args, ax, **options : as in `from_network`
        """
        network, schema = read_estimator(estimator)
        if schema is not None:
            options.setdefault("schema", schema)
        if options.get("output") is not None:
            options["output"] = _output_of(estimator, options["output"])
        given = inspect.signature(cls._explain).bind_partial(network, *args)
        if given.arguments.get("y", options.get("y")) is not None:
            options["y"] = _codes_of(estimator, given.arguments.pop("y", options.get("y")))
            args = given.args[1:]
        return cls.from_network(network, *args, ax=ax, **options)

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
    raise TypeError(
        f"{type(estimator).__name__} has no network to read. Supported are fitted models of "
        "lifenet, a fitted scikit-learn MLP and a torch module, the latter two with a single "
        "hidden layer of ReLUs."
    )


def _codes_of(estimator: Any, y: Any) -> Any:
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


def _output_of(estimator: Any, output: Any) -> int:
    """The place of a class label among the scores, where the model has one score a class."""
    classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) < 3:
        return int(output)
    found = np.flatnonzero(np.asarray(classes) == output)
    if not len(found):
        raise ValueError(f"output must be one of the classes {list(classes)}; it is {output!r}.")
    return int(found[0])
