"""Sums of networks as one network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.checks import check_positions
from lifenet.kernels.weights import stack_weights
from lifenet.network.canonical import Parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from lifenet._typing import Floats
    from lifenet.network.relu import ReluNetwork

__all__ = ["alike", "join_parts"]


def join_parts(members: Sequence[Parts], coefficients: npt.ArrayLike | None) -> Parts:
    """The arrays of the weighted sum of networks; the coefficients are ones by default."""
    factors: Floats = np.ones(len(members))
    if coefficients is not None:
        factors = check_positions("coefficients", coefficients)
    if len(factors) != len(members):
        raise ValueError(
            f"coefficients has shape {factors.shape}; expected ({len(members)},), one a network"
        )
    pairs = list(zip(factors, members, strict=True))
    return Parts(
        stack_weights([member.weights for member in members], members[0].weights.shape[1]),
        np.concatenate([member.bias for member in members]),
        np.concatenate([factor * member.beta for factor, member in pairs]),
        np.asarray(np.sum([factor * member.intercept for factor, member in pairs], axis=0)),
        np.asarray(np.sum([factor * member.linear for factor, member in pairs], axis=0)),
    )


def alike(networks: Iterable[ReluNetwork]) -> list[ReluNetwork]:
    """Networks as a list, all with the columns and outputs of the first."""
    members = list(networks)
    if not members:
        raise ValueError("networks is empty; expected at least one")
    expected = (members[0].n_features, members[0].n_outputs)
    for index, member in enumerate(members):
        found = (member.n_features, member.n_outputs)
        if found != expected:
            raise ValueError(
                f"networks[{index}] has (n_features, n_outputs) = {found}; "
                f"expected {expected} as in networks[0]"
            )
    return members
