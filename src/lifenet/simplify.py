"""Fewer neurons at a known price: the frontier of accuracy against size.

From the full network, neurons that repeat each other are made one, and then a ladder of sizes is
walked down. At each size the neurons that the fit misses least go, one by one, the others refitted
(`eliminate_backward`), and all that is left is polished. What is fitted is not the target but the
full network's expectation of it: it carries no noise of its own, so that a small network cannot
learn any by heart, and many neurons may be polished without rows to stop them. It can be asked of
any row: rows crossed from two others are worth learning from where neurons have many weights. There
mini-batches are better than full ones, too, and several times as fast.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from lifenet._settings import Settings
from lifenet._threads import one_blas_thread
from lifenet.blocks import HeldRows
from lifenet.frontier import Frontier
from lifenet.kernels.elimination import eliminate_backward
from lifenet.losses import SquaredError
from lifenet.readouts.moments import Moments
from lifenet.solvers.base import Problem
from lifenet.solvers.descent import Descent
from lifenet.solvers.features import Activations
from lifenet.solvers.polish import Polish, working_type
from lifenet.solvers.readout import spreads
from lifenet.solvers.teaching import taught_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats, Integers
    from lifenet.blocks import Block, Rows
    from lifenet.network import ReluNetwork
    from lifenet.readouts.design import HeldOut

__all__ = ["Simplify", "select_neurons", "walk_frontier"]

# Neurons among which those missed least are looked for; of more, the largest take part.
_MOST_NEURONS = 2_000

# Penalty of the fit that says which neuron is missed least, in units of their deviations.
_PENALTY = 1e-3
# Up to this size a network is polished for all iterations; above it for fewer, so that no size
# takes longer, but never for less than so many, or so many steps.
_ALL_ITERATIONS, _FEWEST_ITERATIONS, _FEWEST_STEPS = 64, 20, 100
# Rows that judge the steps on the way, and are learnt from, too: what is taught has no noise.
_JUDGING = 4_000
# What was learnt on the rows to learn from needs so much less to suit all rows.
_AGAIN = 4
_LEAST_CURVATURE = 1e-6
# Share of a network's loss that another may be known to save.
_MOST_SAVED, _TINY = 0.5, 1e-300
# Of rows crossed from two: the share of their columns that is the second one's, how many there are
# at least, and how much they all count beside the rows themselves.
_SWAPPED, _FEWEST_CROSSED, _CROSSED_WEIGHT = 0.2, 4_000, 0.5
_BLOCK_CELLS = 1 << 22
# Rows beyond what is held in double precision are held in single precision, up to so many bytes.
_DOUBLE_BYTES, _SINGLE_BYTES = 1 << 26, 1 << 29


@dataclass(repr=False)
class Simplify(Settings):
    """How the frontier of accuracy against neurons is walked.

    Parameters
    ----------
    largest : int, default=512
        First size of the ladder; those not below the full network's are left out.
    smallest : int, default=4
        No size of the ladder is below it.
    ratio : float, default=2.0
        From each size of the ladder to the next.
    sizes : sequence of int, default=()
        Sizes wanted beside the ladder's.
    max_iter : int, default=100
        Most iterations of the polish of each size; above 64 neurons fewer in proportion.
    decay : float, default=1e-5
        Penalty of the polish, as in `Polish`.
    teaching : float, default=1.0
        Share of the full network's expectation in what the small ones are fitted to; the rest is
        the target itself. 1 is safe; below it noise is learnt, and two classes that many neurons
        can tell apart drive scores to extremes.
    crossed : float, default=0.0
        Rows crossed from two, for each row (a few thousand at least), on which the small networks
        learn what the full one says. With them integer weights equal repeated rows only nearly.
    descent : Descent or None, default=None
        Polish by mini-batches instead, its steps as many as `max_iter` says of iterations: better
        and faster where inputs are many. None polishes by full batches, for which integer weights
        equal repeated rows.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "largest": [Interval(Integral, 1, None, closed="left")],
        "smallest": [Interval(Integral, 1, None, closed="left")],
        "ratio": [Interval(Real, 1, None, closed="neither")],
        "sizes": ["array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "decay": [Interval(Real, 0, None, closed="left")],
        "teaching": [Interval(Real, 0, 1, closed="both")],
        "crossed": [Interval(Real, 0, None, closed="left")],
        "descent": [Descent, None],
    }

    largest: int = 512
    smallest: int = 4
    ratio: float = 2.0
    sizes: Sequence[int] = field(default_factory=tuple)
    max_iter: int = 100
    decay: float = 1e-5
    teaching: float = 1.0
    crossed: float = 0.0
    descent: Descent | None = None

    def check(self) -> None:
        """Refuse settings out of their range."""
        super().check()
        if self.descent is not None:
            self.descent.check()
        given: Sequence[object] = self.sizes
        wrong = [one for one in given if not isinstance(one, int | np.integer) or one < 1]
        if wrong:
            raise ValueError(f"sizes must be positive integers; {wrong[0]!r} is among them.")

    def ladder(self, n_neurons: int) -> list[int]:
        """Sizes below a number of neurons, falling: the ladder's and those asked for.

        The ladder's first is at least half a step below it.
        """
        found, size = {int(one) for one in self.sizes}, float(self.largest)
        while round(size) >= self.smallest:
            if round(size) * self.ratio**0.5 <= n_neurons:
                found.add(round(size))
            size /= self.ratio
        return sorted((one for one in found if one < n_neurons), reverse=True)

    def refine(
        self,
        taught: Problem,
        network: ReluNetwork,
        deadline: float | None = None,
        shortened: int = 1,
    ) -> ReluNetwork:
        """A network polished on rows that were taught, in a fraction of its time."""
        if self.descent is None:
            polish = self.polish(network.n_neurons, shortened)
            return polish.refine(taught, network, deadline=deadline).network
        n_steps = self._fewer(network.n_neurons, self.descent.n_steps, _FEWEST_STEPS, shortened)
        # What is nearly right already must not be shaken as much.
        rate = self.descent.learning_rate / shortened
        descent = replace(self.descent, n_steps=n_steps, learning_rate=rate)
        free = np.ones(network.weights.shape, dtype=bool)
        seed = np.random.SeedSequence(0)
        return descent.refine(taught, _some_of(taught), network, free, seed, deadline).network

    def polish(self, n_neurons: int, shortened: int = 1) -> Polish:
        """The polish of a size by full batches."""
        most = self._fewer(n_neurons, self.max_iter, _FEWEST_ITERATIONS, shortened)
        return Polish(max_iter=most, decay=self.decay)

    @staticmethod
    def _fewer(n_neurons: int, most: int, fewest: int, shortened: int) -> int:
        """Iterations of a size, where so many are for the small ones."""
        share = min(1.0, _ALL_ITERATIONS / max(n_neurons, 1))
        return max(max(round(share * most), min(fewest, most)) // shortened, 1)


def walk_frontier(
    problem: Problem,
    network: ReluNetwork,
    held_out: HeldOut | None = None,
    settings: Simplify | None = None,
    deadline: float | None = None,
    rehearsed: ReluNetwork | None = None,
    groups: Sequence[Integers] | None = None,
    saved: Floats | None = None,
) -> Frontier:
    """Fewer and fewer neurons, and what each number costs.

    Each size starts from the one before. With rows held out the walk learns from the others only
    and is judged on them; each size's network is then polished on all rows, towards `network`.
    Deterministic, and integer weights equal repeated rows.

    Parameters
    ----------
    problem : all rows, in the units of the network
    network : the full network, fitted to all rows, without a linear part
    held_out : rows to learn from and rows to judge by; without any, all rows do both
    settings : `Simplify()` by default
    deadline : on the monotonic clock; sizes that are not done by then are left out
    rehearsed : the full network as it was fitted to the rows to learn from only, where there is
        one: `network` itself has seen the rows that judge, so that its error on them is too low
    groups : inputs that belong together, which crossed rows have from the same row; each alone by
        default
    saved : how much lower the loss of each row that judges is by `network` than by `rehearsed`, as
        far as is known, (n_judging,); at most half of it all counts

    Returns
    -------
    Frontier, in the units of the rows
    """
    settings = Simplify() if settings is None else settings
    settings.check()
    start = network if rehearsed is None or held_out is None else rehearsed
    _check(problem, network, "network")
    _check(problem, start, "rehearsed")
    with one_blas_thread():
        return _Walk(
            settings, problem, held_out, network, start, deadline, groups, saved
        ).frontier()


def _check(problem: Problem, network: ReluNetwork, name: str) -> None:
    expected = (problem.rows.n_features, problem.loss.n_outputs)
    found = (network.n_features, network.n_outputs)
    if found != expected:
        raise ValueError(
            f"{name} has (n_features, n_outputs) = {found}; the problem has {expected}."
        )
    if np.any(network.linear):
        raise ValueError(f"{name} has a linear part, which is not polished; expected none.")


@dataclass
class _Walk:
    """One walk down the ladder."""

    settings: Simplify
    problem: Problem
    held_out: HeldOut | None
    network: ReluNetwork
    start: ReluNetwork
    deadline: float | None
    groups: Sequence[Integers] | None = None
    saved: Floats | None = None
    networks: list[ReluNetwork] = field(default_factory=list)
    judged: list[Floats] = field(default_factory=list)

    def frontier(self) -> Frontier:
        """Walk, and say what was found."""
        judge = self.problem if self.held_out is None else self.held_out.judge
        learn = self.problem if self.held_out is None else self.held_out.learn
        self._note(self._full(judge), self.network)
        current, merged = self.start.merge_parallel(), self.network.merge_parallel()
        if merged.n_neurons < self.network.n_neurons:  # the same function
            self._note(self.judged[0], merged)
        taught = self._taught(learn, self.start)
        for_all = None if self.held_out is None else self._taught(self.problem, self.network)
        complete = True
        for size in self.settings.ladder(merged.n_neurons):
            if size >= min(current.n_neurons, self.networks[-1].n_neurons):
                continue
            current, final = self._step(taught, for_all, current, size)
            if self._late():
                complete = False
                break
            self._note(_row_losses(judge, current), final)
        return self._result(judge, complete)

    def _taught(self, problem: Problem, teacher: ReluNetwork) -> Problem:
        rows, settings = _held(problem.rows), self.settings
        share = np.full(rows.n_rows, settings.teaching)
        if settings.crossed > 0:
            alone = list(np.arange(rows.n_features)[:, None])
            rows = _with_crossed(rows, self.groups or alone, settings.crossed)
            share = np.append(share, np.ones(rows.n_rows - len(share)))
        return taught_by(replace(problem, rows=rows), teacher, share)

    def _step(
        self, taught: Problem, for_all: Problem | None, current: ReluNetwork, size: int
    ) -> tuple[ReluNetwork, ReluNetwork]:
        """The next size, of the rows to learn from and of all rows."""
        fewer = select_neurons(taught, current, size)
        fewer = self.settings.refine(taught, fewer, self.deadline)
        if for_all is None:
            return fewer, fewer
        return fewer, self.settings.refine(for_all, fewer, self.deadline, _AGAIN)

    def _full(self, judge: Problem) -> Floats:
        """Losses of the full network, as if it had not seen the rows that judge."""
        losses = _row_losses(judge, self.start)
        if self.saved is None:
            return losses
        weight = judge.rows.weight
        most = _MOST_SAVED * float(weight @ losses)
        return losses - self.saved * min(1.0, most / max(float(weight @ self.saved), most, _TINY))

    def _note(self, losses: Floats, final: ReluNetwork) -> None:
        self.networks.append(final)
        self.judged.append(losses)

    def _late(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def _result(self, judge: Problem, complete: bool) -> Frontier:
        weight, total = judge.rows.weight, judge.rows.total_weight
        full = self.judged[0]
        losses = [float(weight @ values) / total for values in self.judged]
        noises = [_standard_error(values - full, weight) for values in self.judged]
        return Frontier(
            sizes=tuple(network.n_neurons for network in self.networks),
            networks=tuple(self.networks),
            losses=tuple(losses),
            noises=tuple(noises),
            squared=isinstance(judge.loss, SquaredError),
            n_rows=total,
            held_out=self.held_out is not None,
            complete=complete,
        )


def select_neurons(problem: Problem, network: ReluNetwork, n_neurons: int) -> ReluNetwork:
    """Those neurons that the fit misses most, read out anew.

    By the quadratic that the loss looks like at the network's scores f: with curvature h (the mean
    of the outputs') and gradient g, ``sum_i h_i (f_i - g_i / h_i - score_i)²``.
    """
    network = _largest(problem, network, max(_MOST_NEURONS, 2 * n_neurons))
    moments = _quadratic(problem, network)
    covariance, cross, _ = moments.centred()
    kept, beta = eliminate_backward(covariance, cross, n_neurons, _PENALTY)
    means = moments.means
    intercept = means[moments.n_features :] - means[kept] @ beta
    return network.select(kept).with_readout(beta, intercept)


def _largest(problem: Problem, network: ReluNetwork, most: int) -> ReluNetwork:
    """The neurons whose part of the score varies most, where there are more than so many."""
    if network.n_neurons <= most:
        return network
    theta = np.column_stack([network.weights, network.bias])
    size = spreads(problem, Activations(theta)) * np.linalg.norm(network.beta, axis=1)
    return network.select(np.sort(np.argsort(-size, kind="stable")[:most]))


def _quadratic(problem: Problem, network: ReluNetwork) -> Moments:
    """Moments of the neurons and of the responses that a step of Newton's method aims at."""
    loss, rows, m, k = problem.loss, problem.rows, network.n_neurons, network.n_outputs
    kind = working_type(rows)
    theta = np.column_stack([network.weights, network.bias]).astype(kind)

    def sums(block: Block) -> tuple[Floats]:
        columns = np.ones((m + 1 + k, len(block.target)), dtype=kind)
        hidden = theta @ block.inputs.astype(kind, copy=False)
        np.maximum(hidden, 0, out=columns[:m])
        score = columns[:m].T @ network.beta + network.intercept
        shaped = score[:, 0] if k == 1 else score
        curvature = loss.curvature(block.target, shaped).reshape(score.shape).mean(axis=1)
        curvature = np.maximum(curvature, _LEAST_CURVATURE)
        slopes = loss.gradient(block.target, shaped).reshape(score.shape)
        columns[m + 1 :] = (score - slopes / curvature[:, None]).T
        columns *= np.sqrt(block.weight * curvature)
        return ((columns @ columns.T).astype(np.float64, copy=False),)

    (products,) = rows.sum(sums, max(256, _BLOCK_CELLS // (m + 1 + k)))
    return Moments(products, m, rows.total_weight)


def _with_crossed(rows: Rows, groups: Sequence[Integers], times: float) -> Rows:
    """The rows, and others that have each group of inputs from one of two of them.

    The target of these is none: they are taught.
    """
    size = max(round(times * rows.n_rows), _FEWEST_CROSSED)
    generator = np.random.default_rng(0)
    odds = rows.weight / rows.total_weight
    one, other = generator.choice(rows.n_rows, (2, size), p=odds)
    swapped = generator.random((len(groups), size)) < _SWAPPED
    inputs = rows.collect(lambda block: block.inputs.copy())
    crossed = inputs[:, one]
    for group, places in zip(groups, swapped, strict=True):
        crossed[np.ix_(group, places)] = inputs[np.ix_(group, other[places])]
    weight = np.full(size, _CROSSED_WEIGHT * rows.total_weight / size)
    return HeldRows(
        np.hstack([inputs, crossed]),
        np.append(rows.target, np.zeros(size)),
        np.append(rows.weight, weight),
    )


def _some_of(problem: Problem) -> Problem:
    """Rows at even distances, where there are many."""
    n_rows = problem.rows.n_rows
    if n_rows <= _JUDGING:
        return problem
    places = np.linspace(0, n_rows - 1, _JUDGING).astype(np.intp)
    return Problem(problem.rows.take(places), problem.loss)


def _held(rows: Rows) -> Rows:
    """Rows laid out once for many passes: those of large tables in single precision."""
    cells = rows.n_rows * (rows.n_features + 1)
    if not _DOUBLE_BYTES < 8 * cells <= 2 * _SINGLE_BYTES:
        return rows.held()
    inputs = rows.collect(lambda block: block.inputs.astype(np.float32))
    return HeldRows(inputs, rows.target, rows.weight)


def _row_losses(problem: Problem, network: ReluNetwork) -> Floats:
    """Loss of each row, (n_rows,)."""

    def losses(block: Block) -> Floats:
        score = network.score(block.inputs[:-1].T)
        shaped = score[:, 0] if network.n_outputs == 1 else score
        return problem.loss.value(block.target, shaped)

    return problem.rows.collect(losses)


def _standard_error(difference: Floats, weight: Floats) -> float:
    """Standard error of the weighted mean of rows' differences; their weights count rows."""
    total = float(weight.sum())
    centred = difference - weight @ difference / total
    return float(np.sqrt(weight @ np.square(centred))) / total
