"""What estimators share that train a single network by one solver, without an ensemble."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import _fit_context

from lifenet._clock import Deadline
from lifenet._threads import one_blas_thread
from lifenet.data.inputs import unchanged_on_failure
from lifenet.data.run import Run
from lifenet.estimators._base import NetworkEstimator, constant_network
from lifenet.recipe.single import train_single

if TYPE_CHECKING:
    from typing import Self

    from lifenet.data.problem import Problem
    from lifenet.solvers.base import Iteration, Outcome, Trainer

__all__ = ["SingleEstimator"]


class SingleEstimator(NetworkEstimator):
    """One network by one solver; with more than two classes, one for each class, pooled."""

    time_limit: float | None
    verbose: int

    outcomes_: tuple[Outcome, ...]
    n_iter_: int

    # Penalty of the output layer that more than two classes share.
    _pooled_ridge: float = 1e-6

    def _solver(self, problem: Problem) -> Trainer:
        raise NotImplementedError

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Target, or class labels.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative; a weight of two is the same as a repeated row, zero as a missing one.
        """
        with unchanged_on_failure(self), one_blas_thread():
            data, seed = self._prepare(X, y, sample_weight), self._seed()
            outcomes: tuple[Outcome, ...] = ()
            if data.is_constant:
                network = constant_network(data.units.center, data.rows.n_features)
            else:
                training = train_single(
                    data.problem,
                    self._solver(data.problem),
                    Run(seed, deadline=Deadline.after(self.time_limit)),
                    self._pooled_ridge,
                    print_iteration if self.verbose else None,
                )
                network, outcomes = data.units.unscale(training.network), training.outcomes
            self._keep(network, data, seed)
            self.outcomes_ = outcomes
            self.n_iter_ = max((outcome.n_iterations for outcome in outcomes), default=0)
        return self


def print_iteration(network: int, start: int, row: Iteration) -> None:
    """One line for people who watch."""
    print(
        f"network {network + 1}, start {start + 1}, iteration {row.iteration}: "
        f"objective {row.objective:.6g}, damping {row.damping:.1e}, {row.seconds:.1f} s"
    )
