"""Fewer neurons: the frontier of a fitted estimator, and estimators with another network."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from lifenet._clock import Deadline
from lifenet.compress.distil import Distil, follow_path
from lifenet.data.folds import CrossFit, Fold, Holdout, fingerprint
from lifenet.estimators._base import NetworkEstimator
from lifenet.finetune.lbfgs import LBFGS
from lifenet.network import CodedNetwork, FoldNetworks, ReluNetwork
from lifenet.stacking.base import averaging_gain

if TYPE_CHECKING:
    from typing import Self

    from lifenet.compress.frontier import Frontier
    from lifenet.data.inputs import Inputs
    from lifenet.data.interactions import Interactions
    from lifenet.data.units import Units
    from lifenet.estimators._slices import FoldSlices
    from lifenet.network import ColumnCoding
    from lifenet.stacking.base import Stacked

__all__ = ["DistilMixin"]

_SEEN = (
    "The network was fitted to these rows: its error on them is too low, and the increases of "
    "fewer neurons too high. Give simplify rows that it has not seen."
)


class DistilMixin(NetworkEstimator):
    """Estimators whose network can be had with fewer neurons."""

    coding_: ColumnCoding | None
    stacked_: tuple[Stacked, ...]
    # The folds whose networks `network_` is the mean of.
    _slices: FoldSlices | None
    # Tells the rows of the fit from others.
    _fitted: float

    def _coded(self, network: ReluNetwork, units: Units) -> ReluNetwork | CodedNetwork:
        """A network of the codes, or of the columns, as one of the columns.

        Scores of several classes are determined up to a number common to all; theirs sum to zero.
        """
        if network.n_outputs > 1:
            network = network.with_readout(
                network.beta - network.beta.mean(axis=1, keepdims=True),
                network.intercept - network.intercept.mean(),
                network.linear - network.linear.mean(axis=1, keepdims=True),
            )
        if self.coding_ is None:
            return network.dense()
        return CodedNetwork(self.coding_, network.compact(units.scaling.center))

    @property
    def fold_networks_(self) -> FoldNetworks:
        """For each fold `network_` with the fold's network in place of the mean of all.

        In the user's units; their mean is `network_`. Companions are the same in all. Empty where
        `network_` is no mean of folds: of one hold-out, after distillation or `refit_readout`.
        """
        check_is_fitted(self)
        if self._slices is None or len(self._slices.ends) < 2:
            return FoldNetworks()
        own, rest = self._slices.apart(self._inner)
        coding = self.network_.coding if isinstance(self.network_, CodedNetwork) else None
        return FoldNetworks(tuple(own), rest, coding)

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
        settings: Distil | None = None,
        time_limit: float | None = None,
    ) -> Frontier:
        """How the error increases with fewer neurons: a network of every size down to a few.

        Smaller networks are distilled from this one; a part of the rows validates them. This
        estimator is not changed: `with_network` gives one with a network of the frontier. The rows
        may be those of the fit: a cross-fitted network is validated on one of its folds, by the
        fold's network, which has not seen it, less what the mean of all folds is known to be
        better. Its increases are rather too high, as small networks are distilled from that mean in
        the end. With any other network (preset "paper" or "small", a `validation` that is not
        "auto") rows of the fit flatter the full network, so that increases are far too high: a
        warning says so, and rows that it has not seen give honest ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
        settings : Distil or None
            Sizes, and how they are reached; None is ``Distil(4, largest=512)``.
        time_limit : float or None
            Seconds after which the sizes that are done are returned.

        Returns
        -------
        Frontier
            In the user's units; `FrontierDisplay` in `lifenet.plots` draws it.
        """
        check_is_fitted(self)
        _check_arguments(settings, time_limit)
        deadline = Deadline.after(time_limit)
        data = self._prepare(X, y, sample_weight, reset=False)
        data = replace(data, validation="auto", groups=self._code_groups())
        units, slices = data.units, self._slices
        slices = None if slices is None or not slices.drawn else slices
        own = saved = None
        fold: Fold | None
        if slices is None:
            fold = Holdout().folds(data, 0)[0]
        else:
            fold = CrossFit().first(data, slices.seed, slices.n_folds)
        seen = slices is None and fingerprint(data) == self._fitted
        if seen:
            warnings.warn(_SEEN, stacklevel=2)
        if slices is not None and fold is not None and fold.validation is not None:
            networks = [units.rescale(one) for one in slices.networks(self._inner)]
            by_companions = sum(one.gain for one in self.stacked_)
            own = networks[0]
            saved = averaging_gain(fold.validation, networks) + by_companions
        if settings is None:
            plain: dict[str, Any] = {} if self.coding_ is not None else {"finetune": LBFGS(100)}
            settings = Distil(4, largest=512, **plain)
        frontier = follow_path(
            data.problem,
            units.rescale(self._inner),
            settings,
            fold,
            own,
            data.together,
            saved,
            deadline,
            self._interactions(),
        )
        return replace(frontier, seen=seen).unscaled(
            lambda one: self._coded(units.unscale(one, trained=False), units), units.spread
        )

    def _code_groups(self) -> Any:
        """The codes of each column; None without codes."""
        raise NotImplementedError

    def _interactions(self) -> Interactions | None:
        """Which columns a neuron may read together; None for all."""
        raise NotImplementedError

    def _keep_fit(self, data: Inputs, slices: FoldSlices | None) -> None:
        """Keep what `simplify` needs of a fit."""
        self._fitted, self._slices = fingerprint(data), slices

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
        model.network_, model._slices = network, None
        return model


def _check_arguments(settings: object, time_limit: Any) -> None:
    if settings is not None and not isinstance(settings, Distil):
        raise TypeError(
            f"settings must be a Distil or None; it is {settings!r}. For sizes of your own, "
            "write settings=Distil(sizes=[...])."
        )
    if time_limit is not None and not (isinstance(time_limit, Real) and float(time_limit) > 0):
        raise ValueError(f"time_limit must be above 0 seconds, or None; it is {time_limit!r}.")
