"""Distillation: fewer neurons along a pruning path, each size refined towards the full network.

From the full network, parallel neurons are merged, and then a pruning path of sizes is followed.
At each size the neurons that the fit misses least are eliminated one by one, the others refitted
(`eliminate_backward`), and all that is left is fine-tuned. What is fitted is not the target but the
full network's expectation of it, the soft targets of knowledge distillation (Hinton, Vinyals and
Dean, 2015): it carries no noise of its own, so that a small network cannot overfit it. It can be
asked of any row: rows whose columns are swapped between two rows are worth learning from where
neurons have many weights. There mini-batches are better than full ones, too, and several times as
fast.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from lifenet._clock import NEVER, Deadline
from lifenet._settings import Settings
from lifenet._threads import one_blas_thread
from lifenet.compress.frontier import Frontier
from lifenet.compress.pruning import select_neurons
from lifenet.compress.soft_targets import hold, soft_targets, swap_columns
from lifenet.data.evaluation import row_losses, scores_of, some_rows, standard_error
from lifenet.data.moves import Moves
from lifenet.finetune.lbfgs import LBFGS
from lifenet.finetune.minibatch import MiniBatch
from lifenet.neurons.layer import neurons_for_linear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats, Integers
    from lifenet.data.folds import Fold
    from lifenet.data.inputs import Inputs
    from lifenet.data.interactions import Interactions
    from lifenet.data.moves import Smoothing
    from lifenet.data.problem import Problem
    from lifenet.data.run import Run
    from lifenet.network import ReluNetwork
    from lifenet.stacking.base import FoldFit

__all__ = ["Distil", "follow_path"]

# Up to this size a network is fine-tuned for all iterations; above it for fewer, so that no size
# takes longer, but never for less than this many iterations, or steps.
_ALL_ITERATIONS, _FEWEST_ITERATIONS, _FEWEST_STEPS = 64, 20, 100
# Rows on which mini-batches are measured, and trained on, too: soft targets have no noise.
_VALIDATION_ROWS = 4_000
# Moves by which a network is asked how straight it is, and their reach.
_MOVES, _REACH = 3_000, 0.05
# Rows that are enough to distil from: soft targets have no noise. Where time is short, fewer, and
# the largest neurons only.
_MOST_ROWS, _HURRIED_ROWS, _HURRIED_NEURONS = 20_000, 2_000, 400
# Seconds below which a path is not begun. Chosen by hand.
_LEAST_SECONDS = 4.0
# The refinement on all rows starts near its end: it gets this part of the steps and of the rate.
_AGAIN = 4
# Share of a network's loss that another may be known to save.
_MOST_SAVED, _TINY = 0.5, 1e-300
# What a small network pays for bends, over what the full one paid: it is fitted to a function that
# is smooth already. On HMEQ, German credit, California and magic a tenth costs about 1 % and
# has equations as good as the full network's; all of it costs up to 16 %.
_SMOOTH = 0.1
# Steps of mini-batches where there is one size, and for each of several. At once down to 64 neurons
# with the many is as fast as over 256 and 128 with the few, and better: docs/ablations.md.
_STEPS_OF_ONE, _STEPS_OF_EACH = 10_000, 4_000


@dataclass(repr=False)
class Distil(Settings):
    """How a network of few neurons is made of a full one.

    Parameters
    ----------
    n_neurons : int, default=64
        Smallest size of the pruning path.
    largest : int or "auto", default="auto"
        First size of the path; sizes not below the full network's are left out. "auto" takes
        `n_neurons` itself: at once down to the smallest size.
    ratio : float, default=2.0
        From each size of the path to the next.
    sizes : sequence of int, default=()
        Sizes wanted beside those of the path.
    finetune : LBFGS, MiniBatch or "auto", default="auto"
        How each size is refined; above 64 neurons with fewer iterations in proportion (fine-tuning
        of another class is not shortened). "auto"
        takes `MiniBatch` on codes, where inputs are many (10,000 steps for a single size, 4,000 for
        each of several), and `LBFGS` elsewhere, for which integer weights equal repeated rows.
    soft_share : float, default=1.0
        Share of the full network's expectation in what the small ones are fitted to; the rest is
        the target itself. 1 is safe; below it noise is overfitted, and two classes that many
        neurons can tell apart drive scores to extremes.
    augmentation : float or "auto", default="auto"
        Rows with swapped columns, for each row (a few thousand at least), on which the small
        networks are fitted to the full one's expectation. With them integer weights equal repeated
        rows only nearly. "auto" takes 1 on codes and 0 elsewhere.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neurons": [Interval(Integral, 1, None, closed="left")],
        "largest": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "ratio": [Interval(Real, 1, None, closed="neither")],
        "sizes": ["array-like"],
        "finetune": [HasMethods(["refine", "check"]), StrOptions({"auto"})],
        "soft_share": [Interval(Real, 0, 1, closed="both")],
        "augmentation": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
    }

    n_neurons: int = 64
    largest: int | str = "auto"
    ratio: float = 2.0
    sizes: Sequence[int] = field(default_factory=tuple)
    finetune: Any = "auto"
    soft_share: float = 1.0
    augmentation: float | str = "auto"

    def check(self) -> None:
        """Refuse settings out of their range."""
        super().check()
        if not isinstance(self.finetune, str):
            self.finetune.check()
        given: Sequence[object] = self.sizes
        wrong = [one for one in given if not isinstance(one, int | np.integer) or one < 1]
        if not isinstance(self.largest, str) and self.largest < self.n_neurons:
            raise ValueError(
                f"largest must not be below n_neurons={self.n_neurons}, the smallest size; it is "
                f"{self.largest}."
            )
        if wrong:
            raise ValueError(f"sizes must be positive integers; {wrong[0]!r} is among them.")

    def resolved(self, *, coded: bool) -> Distil:
        """The settings without "auto"."""
        tuning, augmentation = self.finetune, self.augmentation
        largest = self.n_neurons if isinstance(self.largest, str) else self.largest
        if isinstance(tuning, str):
            single = largest == self.n_neurons and not len(self.sizes)
            steps = _STEPS_OF_ONE if single else _STEPS_OF_EACH
            tuning = MiniBatch(steps, max_epochs=steps, learning_rate=2e-3) if coded else LBFGS(300)
        if isinstance(augmentation, str):
            augmentation = 1.0 if coded else 0.0
        return replace(self, largest=largest, finetune=tuning, augmentation=augmentation)

    def path(self, n_neurons: int) -> list[int]:
        """Sizes below a number of neurons, falling: the path's and those asked for.

        The path's first is at least half a step below it; its last is the smallest size.
        """
        found, size = {int(one) for one in self.sizes}, float(self.largest)
        while round(size) >= self.n_neurons:
            if round(size) * self.ratio**0.5 <= n_neurons:
                found.add(round(size))
            size /= self.ratio
        found.add(self.n_neurons)
        return sorted((one for one in found if one < n_neurons), reverse=True)

    def distil(self, network: ReluNetwork, first: FoldFit, data: Inputs, run: Run) -> ReluNetwork:
        """A network of at most `n_neurons`, distilled from the full one.

        Parameters
        ----------
        first : a fold, whose validation rows its own network has not seen
        """
        if network.n_neurons <= self.n_neurons:
            return network
        fold, smallest = first.fold, network
        own = None if fold.refits or fold.validation is None else first.network
        if run.deadline.left >= _LEAST_SECONDS:
            frontier = follow_path(
                data.problem,
                network,
                self,
                fold,
                own,
                data.together,
                deadline=run.deadline,
                interactions=data.interactions,
            )
            smallest = frontier.networks[-1]
        if smallest.n_neurons > self.n_neurons:
            warnings.warn(
                f"The time limit was reached before {self.n_neurons} neurons were distilled; they "
                "were refined for few steps only. Give more time, or take a preset without "
                "compression.",
                stacklevel=2,
            )
            smallest = self._in_a_hurry(data, network, smallest)
        run.report(f"{smallest.n_neurons} neurons distilled from {network.n_neurons}", 1, 1)
        return smallest

    def _in_a_hurry(self, data: Inputs, teacher: ReluNetwork, network: ReluNetwork) -> ReluNetwork:
        """A network cut to `n_neurons` at once, and refined for the fewest steps."""
        settings = self.resolved(coded=data.groups is not None)
        tuning = settings.finetune
        if isinstance(tuning, MiniBatch):
            settings = replace(settings, finetune=replace(tuning, n_steps=_FEWEST_STEPS))
        elif isinstance(tuning, LBFGS):
            settings = replace(settings, finetune=replace(tuning, max_iter=_FEWEST_ITERATIONS))
        with one_blas_thread():
            some = some_rows(data.problem, _HURRIED_ROWS)
            rows = hold(some.rows)
            share = np.full(rows.n_rows, self.soft_share)
            soft = soft_targets(replace(some, rows=rows), teacher, share)
            fewer = select_neurons(soft, network, self.n_neurons, _HURRIED_NEURONS)
            return settings.refine(soft, fewer, NEVER, interactions=data.interactions)

    def refine(
        self,
        problem: Problem,
        network: ReluNetwork,
        deadline: Deadline,
        shortened: int = 1,
        smoothing: Smoothing | None = None,
        interactions: Interactions | None = None,
    ) -> ReluNetwork:
        """A network fine-tuned to soft targets, in a fraction of its time.

        All weights may move, or those on the columns that a neuron reads where some may not act
        together.
        """
        tuning, network = self.finetune, network.dense()
        some: dict[str, Any] = {}
        if interactions is not None:
            some["movable"] = interactions.movable(network.weights)
        if isinstance(tuning, LBFGS):
            most = _fewer(network.n_neurons, tuning.max_iter, _FEWEST_ITERATIONS, shortened)
            fewer = replace(tuning, max_iter=most)
            found = fewer.refine(problem, network, deadline=deadline, smoothing=smoothing, **some)
            return found.network
        if isinstance(tuning, MiniBatch):
            tuning = tuning.resolved(problem.loss)
            n_steps = _fewer(network.n_neurons, int(tuning.n_steps), _FEWEST_STEPS, shortened)
            # What is nearly right already must not be shaken as much.
            rate = float(tuning.learning_rate) / shortened
            tuning = replace(tuning, n_steps=n_steps, learning_rate=rate)
        refined: ReluNetwork = tuning.refine(
            problem,
            network,
            validation=some_rows(problem, _VALIDATION_ROWS),
            seed=np.random.SeedSequence(0),
            deadline=deadline,
            smoothing=smoothing,
            **some,
        ).network
        return refined


def follow_path(
    problem: Problem,
    network: ReluNetwork,
    settings: Distil,
    fold: Fold | None = None,
    own: ReluNetwork | None = None,
    groups: Sequence[Integers] | None = None,
    saved: Floats | None = None,
    deadline: Deadline = NEVER,
    interactions: Interactions | None = None,
) -> Frontier:
    """Fewer and fewer neurons, and how much the error of each number increases.

    Each size starts from the one before. With validation rows the path is fitted to the training
    rows only and measured on the others; each size's network is then fine-tuned on all rows,
    towards `network`. Deterministic.

    Parameters
    ----------
    problem : all rows, in the units of the network
    network : the full network, fitted to all rows; a linear part becomes a neuron for each output,
        or for each input where columns may not act together
    fold : training and validation rows; without any, all rows are both
    own : the full network fitted to the training rows only, where there is one: `network` itself
        has seen the validation rows, so that its error on them is too low
    groups : inputs that belong together, which swapped rows have from the same row; each alone by
        default
    saved : how much lower the loss of each validation row is by `network` than by `own`, as far as
        is known, (n_validation,); at most half of it all counts
    deadline : sizes that are not done by then are left out
    interactions : which columns a neuron may read together; None for all

    Returns
    -------
    Frontier, in the units of the rows
    """
    settings = settings.resolved(coded=groups is not None)
    settings.check()
    apart = fold if fold is not None and fold.validation is not None else None
    start = network if own is None or apart is None else own
    _check(problem, network, "network")
    _check(problem, start, "own")
    with one_blas_thread():
        full, begin = (
            neurons_for_linear(one, problem.rows, apart=interactions is not None)
            for one in (network, start)
        )
        path = _Path(settings, problem, apart, full, begin, deadline, groups, saved, interactions)
        return path.frontier()


def _check(problem: Problem, network: ReluNetwork, name: str) -> None:
    expected = (problem.rows.n_features, problem.loss.n_outputs)
    found = (network.n_features, network.n_outputs)
    if found != expected:
        raise ValueError(
            f"{name} has (n_features, n_outputs) = {found}; the problem has {expected}."
        )


@dataclass
class _Path:
    """One pruning path."""

    settings: Distil
    problem: Problem
    fold: Fold | None
    network: ReluNetwork
    start: ReluNetwork
    deadline: Deadline
    groups: Sequence[Integers] | None
    saved: Floats | None
    interactions: Interactions | None
    networks: list[ReluNetwork] = field(default_factory=list)
    measured: list[Floats] = field(default_factory=list)

    def frontier(self) -> Frontier:
        """Follow the path, and say what was found."""
        validation = train = self.problem
        if self.fold is not None and self.fold.validation is not None:
            validation, train = self.fold.validation, self.fold.train
        self._note(self._full(validation), self.network)
        current, merged = self.start.merge_parallel(), self.network.merge_parallel()
        if merged.n_neurons < self.network.n_neurons:  # the same function
            self._note(self.measured[0], merged)
        soft = self._soft(train, self.start)
        for_all = None if self.fold is None else self._soft(self.problem, self.network)
        complete = True
        for size in self.settings.path(merged.n_neurons):
            if size >= min(current.n_neurons, self.networks[-1].n_neurons):
                continue
            current, final = self._step(soft, for_all, current, size)
            if self.deadline.passed:
                complete = False
                break
            self._note(row_losses(validation, current), final)
        return self._result(validation, complete)

    def _soft(self, problem: Problem, teacher: ReluNetwork) -> Problem:
        """The problem with soft targets, and rows with swapped columns where they are asked for."""
        problem = some_rows(problem, _MOST_ROWS)
        rows, settings = hold(problem.rows), self.settings
        share = np.full(rows.n_rows, settings.soft_share)
        if float(settings.augmentation) > 0:
            alone = list(np.arange(rows.n_features)[:, None])
            rows = swap_columns(rows, self.groups or alone, float(settings.augmentation))
            share = np.append(share, np.ones(rows.n_rows - len(share)))
        return soft_targets(replace(problem, rows=rows), teacher, share)

    def _step(
        self, soft: Problem, for_all: Problem | None, current: ReluNetwork, size: int
    ) -> tuple[ReluNetwork, ReluNetwork]:
        """The next size, of the training rows and of all rows."""
        fewer = select_neurons(soft, current, size)
        fewer = self._refine(soft, fewer, 1)
        return fewer, (fewer if for_all is None else self._refine(for_all, fewer, _AGAIN))

    def _refine(self, problem: Problem, network: ReluNetwork, shortened: int) -> ReluNetwork:
        smoothing = None if self.fold is None else self.fold.smoothing
        if smoothing is not None:
            smoothing = replace(smoothing, factor=_SMOOTH * smoothing.factor)
        return self.settings.refine(
            problem, network, self.deadline, shortened, smoothing, self.interactions
        )

    def _full(self, validation: Problem) -> Floats:
        """Losses of the full network, as if it had not seen the validation rows."""
        losses = row_losses(validation, self.start)
        if self.saved is None:
            return losses
        weight = validation.rows.weight
        most = _MOST_SAVED * float(weight @ losses)
        return losses - self.saved * most / max(float(weight @ self.saved), most, _TINY)

    def _note(self, losses: Floats, final: ReluNetwork) -> None:
        self.networks.append(final)
        self.measured.append(losses)

    def _result(self, validation: Problem, complete: bool) -> Frontier:
        weight, total = validation.rows.weight, validation.rows.total_weight
        straight = _straightness(validation, self.networks)
        full = self.measured[0]
        losses = [float(weight @ values) / total for values in self.measured]
        errors = [standard_error(values - full, weight) for values in self.measured]
        return Frontier(
            sizes=tuple(network.n_neurons for network in self.networks),
            networks=tuple(self.networks),
            losses=tuple(losses),
            standard_errors=tuple(errors),
            loss=validation.loss,
            n_rows=total,
            held_out=self.fold is not None,
            complete=complete,
            fidelities=straight,
        )


def _straightness(problem: Problem, networks: Sequence[ReluNetwork]) -> tuple[float, ...]:
    """Share of what each network does near the rows that straight lines explain; NaN where none."""
    nothing = (float("nan"),) * len(networks)
    if not problem.rows.n_features:
        return nothing
    moves = Moves.draw(problem.rows, _MOVES, _REACH, np.random.default_rng(0))
    if moves is None:
        return nothing
    asked, found = replace(problem, rows=moves.rows), []
    for network in networks:
        scores = scores_of(asked, network).T
        bends, changes = np.square(moves.bends(scores)), moves.changes(scores)
        left, total = (float((one @ moves.weight).sum()) for one in (bends, changes))
        # Of two changes a line leaves half a bend's square each, and one of two degrees of freedom.
        found.append(1.0 - left / total if total > 0 else float("nan"))
    return tuple(found)


def _fewer(n_neurons: int, most: int, fewest: int, shortened: int) -> int:
    """Iterations of a size, where `most` are for the small ones."""
    share = min(1.0, _ALL_ITERATIONS / max(n_neurons, 1))
    return max(max(round(share * most), min(fewest, most)) // shortened, 1)
