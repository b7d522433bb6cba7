"""A linear model beside the network of each fold, in a share that the folds choose.

Where a linear function is all there is, many neurons can only come close to it, and few rows keep
them from doing so. A linear model of the value codes is one neuron that is active everywhere, so
that a network mixed with one is a network as before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet.losses import SquaredError
from lifenet.mixture import FoldNetwork, mean_fold_loss
from lifenet.network import ReluNetwork
from lifenet.readouts.design import Design
from lifenet.readouts.ridge import Ridge
from lifenet.solvers.base import Problem
from lifenet.solvers.features import Inputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats
    from lifenet.rules.columns import CodedColumns

__all__ = ["linear_network", "mix_with_lines"]

# Shares of the linear model that are compared.
_N_SHARES = 20


def mix_with_lines(
    networks: Sequence[FoldNetwork], columns: CodedColumns, min_gain: float
) -> tuple[list[FoldNetwork], float]:
    """The networks, each mixed with a linear model of the same rows, and the share of these.

    The share is the one with the least loss on rows apart. It is zero where it takes off less than
    `min_gain` of the loss, of all folds together or in more than half of them each: a few rows that
    one network is far off on are no reason to make all linear. It is zero without rows apart, too.
    """
    if any(one.fold.judge is None for one in networks):
        return list(networks), 0.0
    folds = [one.fold for one in networks]
    lines = [FoldNetwork.of(fold, linear_network(fold.learn, columns)) for fold in folds]
    pairs = list(zip(networks, lines, strict=True))
    shares = np.arange(_N_SHARES + 1) / _N_SHARES
    losses = [
        mean_fold_loss(folds, [_mixed(one.score, line.score, share) for one, line in pairs])
        for share in shares
    ]
    best = int(np.argmin(losses))
    share = float(shares[best])
    enough = 1.0 - min_gain
    gaining = [
        mean_fold_loss([one.fold], [_mixed(one.score, line.score, share)])
        <= enough * mean_fold_loss([one.fold], [one.score])
        for one, line in pairs
    ]
    if share == 0 or losses[best] > enough * losses[0] or 2 * sum(gaining) <= len(pairs):
        return list(networks), 0.0
    mixed = [
        FoldNetwork(
            one.fold,
            ReluNetwork.concatenate([one.network, line.network], (1.0 - share, share)),
            _mixed(one.score, line.score, share),
        )
        for one, line in pairs
    ]
    return mixed, share


def linear_network(problem: Problem, columns: CodedColumns) -> ReluNetwork:
    """Ridge or logistic regression on the value codes: a neuron for each output.

    A neuron is active on all rows, and beyond them by their range again: codes do not go beyond the
    rows, columns that are taken as they are may.
    """
    rows = problem.rows.with_columns(columns.value)
    n = len(columns.value)
    design = Design.of(Inputs(n), np.ones(n))
    if isinstance(problem.loss, SquaredError):
        # The columns were there before the rows: freedom has its plain price.
        settings = Ridge(inflation=1.0)
    else:
        # As if one row more said that nothing matters: classes that can be told apart ask for less.
        settings = Ridge(penalty=1.0 / rows.total_weight)
    found = settings.fit(Problem(rows, problem.loss), design, None, np.random.default_rng(0))
    slopes, constant = found[:-1].T, found[-1]
    values = rows.collect(lambda block: block.inputs[:-1].copy())
    low, high = values.min(axis=1), values.max(axis=1)
    ends = np.minimum(slopes * low, slopes * high).sum(axis=1)
    bias = np.abs(slopes) @ (high - low) - ends
    weights = np.zeros((len(slopes), columns.n_codes))
    weights[:, columns.value] = slopes
    return ReluNetwork(weights, bias, np.eye(len(slopes)), constant - bias)


def _mixed(network: Floats, line: Floats, share: float) -> Floats:
    return (1.0 - share) * network + share * line
