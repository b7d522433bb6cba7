"""Fewer neurons: the frontier of a fitted estimator, and estimators with another network."""

from __future__ import annotations

import copy
import time
import warnings
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from lifenet._threads import one_blas_thread
from lifenet.coding import CodedNetwork
from lifenet.estimators._base import NetworkEstimator
from lifenet.estimators._codes import code_groups
from lifenet.estimators._holdout import fingerprint, first_fold, hold_out
from lifenet.mixture import saved_by_averaging
from lifenet.network import ReluNetwork
from lifenet.simplify import Simplify, select_neurons, walk_frontier
from lifenet.solvers.descent import Descent

if TYPE_CHECKING:
    from typing import Self

    from lifenet._typing import Floats
    from lifenet.coding import ColumnCoding
    from lifenet.frontier import Frontier
    from lifenet.readouts.design import HeldOut
    from lifenet.recipe import Life
    from lifenet.record import Member
    from lifenet.rules.boosting import Mixture
    from lifenet.solvers.base import Problem

__all__ = ["SmallerMixin", "with_fewer_neurons"]

# First size on the way to a network of few neurons, and iterations of each.
_FIRST, _MAX_ITER = 4, 300
# How networks of codes, which have many weights, learn from larger ones.
_OF_CODES: dict[str, Any] = {
    "crossed": 1.0,
    "descent": Descent(4_000, max_epochs=10_000, learning_rate=2e-3),
}

_SEEN = (
    "The network was fitted to these rows: its error on them is too low, and the prices of fewer "
    "neurons too high. Give simplify rows that it has not seen."
)


class SmallerMixin(NetworkEstimator):
    """Estimators whose network can be had with fewer neurons."""

    coding_: ColumnCoding | None
    members_: tuple[Member, ...]
    mixture_: Mixture | None
    # Seed and number of the folds whose networks `network_` is the mean of, drawn by a hash.
    _folds: tuple[int, int] | None
    # Tells the rows of the fit from others.
    _fitted: float

    def _coded(self, network: ReluNetwork) -> ReluNetwork | CodedNetwork:
        """A network of the codes, or of the columns, as one of the columns.

        Scores of several classes are determined up to a number common to all; theirs sum to zero.
        """
        if network.n_outputs > 1:
            network = network.with_readout(
                network.beta - network.beta.mean(axis=1, keepdims=True),
                network.intercept - network.intercept.mean(),
            )
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
        has not seen it, less what the mean of all folds is known to be better: its prices are
        rather too high, as small networks learn from that mean in the end. With any other network
        (the paper's, "small", a blend whose `validation` is not "auto") rows of the fit flatter the
        full network, so that prices are far too high: a warning says so, and rows that it has not
        seen give honest ones.

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
        _check_arguments(settings, time_limit)
        deadline = None if time_limit is None else time.monotonic() + time_limit
        prepared = self._prepare(X, y, sample_weight, reset=False)
        units, own, saved = prepared.units, None, None
        if self._folds is None:
            apart = hold_out(prepared, "auto", X, y, None, 0)
        else:
            apart = first_fold(prepared, *self._folds)
        seen = self._folds is None and fingerprint(prepared) == self._fitted
        if seen:
            warnings.warn(_SEEN, stacklevel=2)
        if self._folds is not None and apart is not None:
            members = [units.rescale(one.network) for one in self.members_]
            own, saved = members[0], self._saved(apart.judge, members)
        network = units.rescale(self._inner)
        if settings is None and self.coding_ is not None:
            settings = Simplify(**_OF_CODES)
        groups = code_groups(self.coding_)
        frontier = walk_frontier(
            prepared.problem, network, apart, settings, deadline, own, groups, saved
        )
        return replace(frontier, seen=seen).unscaled(
            lambda one: self._coded(units.unscale(one, trained=False)), units.spread
        )

    def _saved(self, judge: Problem, members: list[ReluNetwork]) -> Floats:
        """How much better than the first fold's network theirs is, mean and trees, row by row."""
        by_trees = 0.0 if self.mixture_ is None else self.mixture_.alone - self.mixture_.loss
        return saved_by_averaging(judge, members) + max(by_trees, 0.0)

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


def _check_arguments(settings: object, time_limit: Any) -> None:
    if settings is not None and not isinstance(settings, Simplify):
        raise TypeError(
            f"settings must be a Simplify or None; it is {settings!r}. For sizes of your own, "
            "write settings=Simplify(sizes=[...])."
        )
    if time_limit is not None and not (isinstance(time_limit, Real) and float(time_limit) > 0):
        raise ValueError(f"time_limit must be above 0 seconds, or None; it is {time_limit!r}.")


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
