"""Fewer neurons: the frontier of a fitted estimator, and estimators with another network."""

from __future__ import annotations

import copy
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from lifenet._threads import one_blas_thread
from lifenet.coding import CodedNetwork
from lifenet.estimators._base import NetworkEstimator
from lifenet.estimators._codes import code_groups
from lifenet.estimators._holdout import first_fold, hold_out
from lifenet.network import ReluNetwork
from lifenet.simplify import Simplify, select_neurons, walk_frontier
from lifenet.solvers.descent import Descent

if TYPE_CHECKING:
    from typing import Self

    from lifenet.coding import ColumnCoding
    from lifenet.frontier import Frontier
    from lifenet.readouts.design import HeldOut
    from lifenet.recipe import Life
    from lifenet.record import Member
    from lifenet.solvers.base import Problem

__all__ = ["SmallerMixin", "with_fewer_neurons"]

# First size on the way to a network of few neurons, and iterations of each.
_FIRST, _MAX_ITER = 4, 300
# How networks of codes, which have many weights, learn from larger ones.
_OF_CODES: dict[str, Any] = {
    "crossed": 1.0,
    "descent": Descent(4_000, max_epochs=10_000, learning_rate=2e-3),
}


class SmallerMixin(NetworkEstimator):
    """Estimators whose network can be had with fewer neurons."""

    coding_: ColumnCoding | None
    members_: tuple[Member, ...]
    # Seed and number of the folds whose networks `network_` is the mean of, drawn by a hash.
    _folds: tuple[int, int] | None

    def _coded(self, network: ReluNetwork) -> ReluNetwork | CodedNetwork:
        """A network of the codes, or of the columns, as one of the columns."""
        return network if self.coding_ is None else CodedNetwork(self.coding_, network)

    @property
    def _inner(self) -> ReluNetwork:
        """The network of the columns or of their codes."""
        network = self.network_
        return network.network if isinstance(network, CodedNetwork) else network

    def simplify(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        settings: Simplify | None = None,
        time_limit: float | None = None,
    ) -> Frontier:
        """What fewer neurons would cost: a network of every size down to a few.

        Smaller networks learn what this one says of the rows; a share of the rows judges them.
        This estimator is not changed: `with_network` gives one with a network of the frontier.
        The rows may be those of the fit: a blend is judged on one of its folds, by the network that
        has not seen it. In the paper's way rows of the fit flatter the full network, so that prices
        are then rather too high; rows that it has not seen give honest ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
        settings : Simplify or None
            Sizes, and how they are reached; None is `Simplify()`, with crossed rows and
            mini-batches for networks of codes, which have many weights.
        time_limit : float or None
            Seconds after which the sizes that are done are returned.

        Returns
        -------
        Frontier
            In the user's units; `FrontierDisplay` in `lifenet.plots` draws it.
        """
        check_is_fitted(self)
        deadline = None if time_limit is None else time.monotonic() + time_limit
        prepared = self._prepare(X, y, sample_weight, reset=False)
        units, own = prepared.units, None
        if self._folds is None:
            apart = hold_out(prepared, "auto", X, y, None, 0)
        else:
            apart = first_fold(prepared, *self._folds)
            own = None if apart is None else units.rescale(self.members_[0].network)
        network = units.rescale(self._inner)
        if settings is None and self.coding_ is not None:
            settings = Simplify(**_OF_CODES)
        groups = code_groups(self.coding_)
        frontier = walk_frontier(prepared.problem, network, apart, settings, deadline, own, groups)
        return frontier.unscaled(
            lambda one: self._coded(units.unscale(one, trained=False)), units.spread
        )

    def with_network(self, network: ReluNetwork | CodedNetwork) -> Self:
        """A copy of this estimator that predicts by another network, such as one of a frontier.

        Parameters
        ----------
        network : ReluNetwork or CodedNetwork
            With as many columns and outputs as `network_`.
        """
        check_is_fitted(self)
        if not isinstance(network, ReluNetwork | CodedNetwork):
            raise TypeError(
                f"network must be a ReluNetwork or a CodedNetwork, not {type(network).__name__}."
            )
        known, found = ((one.n_features, one.n_outputs) for one in (self.network_, network))
        if known != found:
            raise ValueError(
                f"network has (n_features, n_outputs) = {found}; this estimator's has {known}."
            )
        model = copy.copy(self)
        model.network_, model._folds = network, None
        return model


def with_fewer_neurons(
    life: Life,
    problem: Problem,
    apart: HeldOut | None,
    own: ReluNetwork | None,
    n_neurons: int,
    deadline: float | None,
    coding: ColumnCoding | None = None,
) -> Life:
    """The same run with a network of at most so many neurons, which learnt from the full one.

    Parameters
    ----------
    apart : rows to learn from, and rows that judge on the way
    own : a network that has not seen those that judge, where there is one
    coding : of the columns, where the inputs are codes
    """
    if life.network.n_neurons <= n_neurons:
        return life
    settings = Simplify(
        largest=_FIRST * n_neurons,
        smallest=n_neurons,
        max_iter=_MAX_ITER,
        **({} if coding is None else _OF_CODES),
    )
    groups = code_groups(coding)
    with one_blas_thread():
        frontier = walk_frontier(problem, life.network, apart, settings, deadline, own, groups)
        network = frontier.networks[-1]
        if network.n_neurons > n_neurons:  # time is over
            network = select_neurons(problem, network, n_neurons)
    return replace(life, network=network)
