"""Neurons by the few places at which what they read of a column bends.

A leaf reads few columns, and of each a run of bins: along a segment its height is linear but at
the knots where its own slope changes. `Bends` holds these places and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats, Integers
    from lifenet.network.tables import ColumnTables

__all__ = ["Bends", "bends_of", "count_bends"]


class Bends(NamedTuple):
    """What neurons read of columns: functions that are linear between bends.

    Function `f` has one piece more than bends. On piece `g` it is
    ``value_g + slope_g (x - place_g)``; `place_g` is the bend at which the piece begins, of the
    first piece the one at which it ends.

    Attributes
    ----------
    neurons : (m,), those that are held, ascending
    bias : (m,), with the functions that are constant
    first : (m + 1,), the first function of each neuron; each has at least one
    owner : (n_functions,), which of the `m` neurons a function belongs to, ascending
    column : (n_functions,), which column it reads
    low, high : (n_functions,), its least and greatest value at a bend; infinities without bends
    bins : (n_functions,), where the bins of its column begin in `in_bin`
    in_bin : (bins of all functions,), the piece on which a function is in each bin
    place, value, slope : (n_pieces,)
    """

    neurons: Integers
    bias: Floats
    first: Integers
    owner: Integers
    column: Integers
    low: Floats
    high: Floats
    bins: Integers
    in_bin: Integers
    place: Floats
    value: Floats
    slope: Floats


class _Functions(NamedTuple):
    """Functions of one column, and their pieces one after the other."""

    neuron: Integers
    column: Integers
    n_pieces: Integers
    widths: Integers  # numbers of bins
    low: Floats
    high: Floats
    below: Integers  # bends below each bin, one function after the other
    place: Floats
    value: Floats
    slope: Floats


def count_bends(tables: ColumnTables, among: Bools) -> tuple[Integers, Integers]:
    """Columns that neurons read, and bends in all of them together, (n_neurons,) each.

    Zero for neurons that are not `among` those asked for.
    """
    columns = np.zeros(tables.n_neurons, dtype=np.intp)
    bends = np.zeros(tables.n_neurons, dtype=np.intp)
    for column in range(tables.coding.n_features):
        neurons, weights = tables._weights_on(column, among)
        rates = tables.rates_of(column, weights)
        columns[neurons] += rates.any(axis=0)
        bends[neurons] += (np.diff(rates, axis=0) != 0).sum(axis=0)
    return columns, bends


def bends_of(tables: ColumnTables, among: Bools) -> Bends:
    """The bends of some neurons; of those that read nothing that varies there is nothing."""
    n_columns = tables.coding.n_features
    bias = tables.bias.astype(np.float64)
    parts = [_functions(tables, column, among, bias) for column in range(n_columns)]
    joined = _Functions(*(np.concatenate(one) for one in zip(*parts, strict=True)))
    order = np.argsort(joined.neuron, kind="stable")
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    pieces, bins = (
        np.argsort(np.repeat(rank, counts), kind="stable")
        for counts in (joined.n_pieces, joined.widths)
    )
    n_pieces, widths = joined.n_pieces[order], joined.widths[order]
    begin = np.repeat(np.cumsum(n_pieces) - n_pieces, widths)
    neurons, first, owner = np.unique(joined.neuron[order], return_index=True, return_inverse=True)
    return Bends(
        neurons,
        bias[neurons],
        np.append(first, len(order)),
        owner.ravel(),
        joined.column[order],
        joined.low[order],
        joined.high[order],
        np.cumsum(widths) - widths,
        begin + joined.below[bins],
        joined.place[pieces],
        joined.value[pieces],
        joined.slope[pieces],
    )


def _functions(tables: ColumnTables, column: int, among: Bools, bias: Floats) -> _Functions:
    """What some neurons read of a column; constants are added to the bias instead."""
    neurons, weights = tables._weights_on(column, among)
    at_knots, rates = tables.at_knots(column, weights).T, tables.rates_of(column, weights).T
    varies = rates.any(axis=1)
    bias[neurons[~varies]] += at_knots[~varies, 0]
    neurons, at_knots, rates = neurons[varies], at_knots[varies], rates[varies]
    knots = tables.coding.knots[column]
    bends = np.diff(rates, axis=1) != 0
    below = np.zeros(rates.shape, dtype=np.intp)
    np.cumsum(bends, axis=1, out=below[:, 1:])
    place, value, slope = _pieces(knots, at_knots, rates, bends)
    return _Functions(
        neurons,
        np.full(len(neurons), column),
        1 + bends.sum(axis=1),
        np.full(len(neurons), rates.shape[1]),
        np.where(bends, at_knots[:, : len(knots)], np.inf).min(axis=1, initial=np.inf),
        np.where(bends, at_knots[:, : len(knots)], -np.inf).max(axis=1, initial=-np.inf),
        below.ravel(),
        place,
        value,
        slope,
    )


def _pieces(
    knots: Floats, at_knots: Floats, rates: Floats, bends: Bools
) -> tuple[Floats, Floats, Floats]:
    """Place, value and slope of all pieces of functions, one function after the other."""
    if not len(knots):  # the value itself, from zero on
        return np.zeros(len(rates)), at_knots[:, 0], rates[:, 0]
    # The first bend counts twice: it ends the first piece, which is flat, and begins another.
    function, knot = np.nonzero(bends)
    firsts = np.flatnonzero(np.diff(function, prepend=-1))
    place = np.insert(knots[knot], firsts, knots[knot[firsts]])
    at_bends = at_knots[function, knot]
    value = np.insert(at_bends, firsts, at_bends[firsts])
    return place, value, np.insert(rates[function, knot + 1], firsts, 0.0)
