"""Reading the weights of networks that others have trained, by the names of their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from lifenet._typing import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["read_mlp", "read_torch"]

#: weights (m, p), bias (m,), beta (m, q), intercept (q,)
Layers: TypeAlias = tuple[Floats, Floats, Floats, Floats]

_LINKS = ("identity", "exp", "logistic", "softmax")
_ORDER = ("Linear", "ReLU", "Linear")
_PASSED_OVER = ("Dropout", "Identity")


def read_mlp(model: Any) -> Layers:
    """Read a fitted multi-layer perceptron of scikit-learn with one hidden ReLU layer."""
    kind = type(model).__name__
    if not hasattr(model, "activation"):
        raise TypeError(
            f"model is a {kind}; expected a fitted MLPRegressor or MLPClassifier. Of a Pipeline "
            f"pass its last step, and fold the scaler in with fold_scaling"
        )
    if not hasattr(model, "coefs_"):
        raise ValueError(f"model, a {kind}, is not fitted: it has no coefs_. Call fit first")
    if model.activation != "relu":
        raise ValueError(f"model has activation={model.activation!r}; expected 'relu'")
    n_hidden = len(model.coefs_) - 1
    if n_hidden != 1:
        raise ValueError(f"model has {n_hidden} hidden layers; expected exactly one")
    if model.out_activation_ not in _LINKS:
        raise ValueError(
            f"model has out_activation_={model.out_activation_!r}; expected one of {_LINKS}"
        )
    (inner, outer), (bias, intercept) = model.coefs_, model.intercepts_
    return inner.T, bias, outer, intercept


def read_torch(module: Any) -> Layers:
    """Read a torch module whose innermost modules are Linear, ReLU, Linear in this order."""
    if not hasattr(module, "named_modules"):
        raise TypeError(f"module is a {type(module).__name__}; expected a torch.nn.Module")
    layers = [(name, leaf) for name, leaf in _leaves(module) if _kind(leaf) not in _PASSED_OVER]
    for place, (name, leaf) in enumerate(layers):
        expected = _ORDER[place] if place < len(_ORDER) else "nothing more"
        if _kind(leaf) != expected:
            raise ValueError(f"layer {name!r} is a {_kind(leaf)}; expected {expected} in its place")
    if len(layers) < len(_ORDER):
        found = ", ".join(_kind(leaf) for _, leaf in layers) or "no layers"
        raise ValueError(f"module has {found}; expected Linear, ReLU, Linear")
    weights, bias = _affine(layers[0][1])
    outer, intercept = _affine(layers[2][1])
    return weights, bias, outer.T, intercept


def _leaves(module: Any) -> Iterator[tuple[str, Any]]:
    """Modules without modules inside, with their names, in the order of registration."""
    for name, inner in module.named_modules():
        if not any(True for _ in inner.children()):
            yield name, inner


def _kind(module: Any) -> str:
    return type(module).__name__


def _affine(layer: Any) -> tuple[Floats, Floats]:
    """Weight (out, in) and bias (out,) of a Linear; the bias is zero where it has none."""
    weight: Floats = layer.weight.detach().cpu().numpy()
    if layer.bias is None:
        return weight, np.zeros(len(weight), dtype=weight.dtype)
    return weight, layer.bias.detach().cpu().numpy()
