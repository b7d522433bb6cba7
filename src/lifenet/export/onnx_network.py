"""A network of codes in ONNX operators: codes, neurons, scores, contributions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers
    from lifenet.export.formula import Code, Formula
    from lifenet.export.onnx_graph import Graph

__all__ = ["NetworkNodes"]


@dataclass(frozen=True, eq=False)
class _Ramps:
    """Lines from 0 to 1 between neighbouring knots, of which all codes with knots are made.

    Attributes
    ----------
    column, left, right : (m,)
    end : (m,), the smallest value at which a ramp does not rise any more; a column's last knot
        belongs to the ramp below it
    number : of a ramp, by its column and its left knot
    """

    column: Integers
    left: Floats
    right: Floats
    end: Floats
    number: dict[tuple[int, float], int]

    @classmethod
    def of(cls, formula: Formula) -> _Ramps:
        """Those that the codes of a formula are made of; one of no use where there are none."""
        pairs = sorted(
            {
                (code.column, left, right)
                for code in formula.codes
                for left, right in zip(code.knots[:-1], code.knots[1:], strict=True)
            }
        ) or [(0, 0.0, 1.0)]
        column = np.array([one for one, _, _ in pairs], dtype=np.int64)
        left = np.array([one for _, one, _ in pairs], dtype=np.float64)
        right = np.array([one for _, _, one in pairs], dtype=np.float64)
        ends = [knots[-1] if len(knots) else np.inf for knots in formula.knots]
        last = np.array(ends, dtype=np.float64)[column]
        end = np.where(right == last, np.nextafter(right, np.inf), right)
        number = {(one, start): at for at, (one, start, _) in enumerate(pairs)}
        return cls(column, left, right, end, number)

    def rises(self, codes: list[Code]) -> tuple[Integers, Floats]:
        """Of which ramps other codes are made: entries of a matrix (m, n_codes)."""
        index, values = [], []
        for number, code in enumerate(codes):
            for left, low, high in zip(code.knots, code.values, code.values[1:], strict=False):
                if low != high:
                    index.append(self.number[code.column, left] * len(codes) + number)
                    values.append(high - low)
        return np.array(index, dtype=np.int64), np.array(values, dtype=np.float64)


class NetworkNodes:
    """Nodes of a network, whose input are the columns of numbers.

    Codes stand in another order than in the formula: ramps first, then those with other values at
    their knots, then columns unchanged.
    """

    def __init__(self, graph: Graph, formula: Formula, columns: str) -> None:
        self.graph, self.formula, self.columns = graph, formula, columns
        codes = formula.codes
        kind = np.array([0 if one.is_ramp else 1 if one.knots else 2 for one in codes])
        self.order = np.argsort(kind, kind="stable")
        self.ramped, self.tabled, self.bare = (
            [codes[place] for place in np.flatnonzero(kind == one)] for one in range(3)
        )
        self.ramps = _Ramps.of(formula)

    # ------------------------------------------------------------------ codes

    @cached_property
    def _located(self) -> str:
        """The column of each ramp, (rows, m)."""
        return self.graph.columns(self.columns, self.ramps.column)

    def _of_ramps(self, ramps: str, bare: str, start: Floats | None) -> str:
        """Codes, or their slopes, of those of the ramps and of unchanged columns."""
        graph, parts = self.graph, []
        if self.ramped:
            places = [self.ramps.number[one.column, one.knots[0]] for one in self.ramped]
            parts.append(graph.columns(ramps, places))
        if self.tabled:
            made = graph.add("MatMul", ramps, self._rises)
            if start is not None:
                made = graph.add("Add", made, graph.constant(start))
            parts.append(made)
        if self.bare:
            parts.append(bare)
        return graph.add("Concat", *parts, axis=1)

    @cached_property
    def _rises(self) -> str:
        shape = (len(self.ramps.left), len(self.tabled))
        return self.graph.sparse(shape, *self.ramps.rises(self.tabled))

    @cached_property
    def _bare(self) -> str:
        """Unchanged columns."""
        return self.graph.columns(self.columns, [one.column for one in self.bare])

    @cached_property
    def codes(self) -> str:
        """(rows, n_codes)."""
        graph, ramps = self.graph, self.ramps
        moved = graph.add("Sub", self._located, graph.constant(ramps.left))
        share = graph.add("Div", moved, graph.constant(ramps.right - ramps.left))
        clipped = graph.add("Clip", share, graph.number(0.0), graph.number(1.0))
        start = np.array([one.values[0] for one in self.tabled], dtype=np.float64)
        return self._of_ramps(clipped, self._bare if self.bare else "", start)

    @cached_property
    def slopes(self) -> str:
        """Derivatives of the codes in their columns, (rows, n_codes)."""
        graph, ramps = self.graph, self.ramps
        above = graph.add("GreaterOrEqual", self._located, graph.constant(ramps.left))
        below = graph.add("Less", self._located, graph.constant(ramps.end))
        inside = graph.double(graph.add("And", above, below))
        rates = graph.add("Div", inside, graph.constant(ramps.right - ramps.left))
        ones = ""
        if self.bare:
            zeros = graph.add("Mul", self._bare, graph.number(0.0))
            ones = graph.add("Add", zeros, graph.number(1.0))
        return self._of_ramps(rates, ones, None)

    # ------------------------------------------------------------------ neurons

    @cached_property
    def weights(self) -> str:
        """(n_neurons, n_codes)."""
        held: Any = self.formula.weights[:, self.order].tocoo()
        row, column = (one.astype(np.int64) for one in (held.row, held.col))
        return self.graph.sparse(held.shape, row * held.shape[1] + column, held.data)

    @cached_property
    def heights(self) -> str:
        """What each neuron cuts at zero, (rows, n_neurons)."""
        bias = self.graph.constant(self.formula.bias)
        return self.graph.add("Gemm", self.codes, self.weights, bias, transB=1)

    def scores(self) -> str:
        """(rows, n_outputs)."""
        graph, formula = self.graph, self.formula
        intercept = graph.constant(formula.intercept)
        linear = graph.constant(formula.linear[self.order])
        straight = graph.add("Gemm", self.codes, linear, intercept)
        if not formula.n_neurons:
            return straight
        hidden = graph.add("Relu", self.heights)
        bent = graph.add("MatMul", hidden, graph.constant(formula.beta))
        return graph.add("Add", straight, bent)

    def contributions(self, scores: str) -> tuple[str, str]:
        """Of every feature, (rows, n_features, n_outputs), and local intercepts."""
        graph, formula = self.graph, self.formula
        column = np.array([one.column for one in formula.codes])[self.order]
        moved = graph.add("Mul", self.slopes, graph.columns(self.columns, column))
        feature_of = {
            own: number for number, (_, owned) in enumerate(formula.features) for own in owned
        }
        feature = np.array([feature_of[one] for one in column.tolist()])
        shape = (len(column), len(formula.features))
        index = np.arange(len(column)) * shape[1] + feature
        by_feature = graph.sparse(shape, index, np.ones(len(column)))
        parts = []
        for output in range(formula.n_outputs):
            total = graph.constant(formula.linear[self.order, output])
            if formula.n_neurons:
                pulled = graph.add("Mul", self._active, graph.constant(formula.beta[:, output]))
                total = graph.add("Add", graph.add("MatMul", pulled, self.weights), total)
            own = graph.add("MatMul", graph.add("Mul", total, moved), by_feature)
            parts.append(graph.add("Unsqueeze", own, graph.constant(np.array([2]))))
        found = graph.add("Concat", *parts, axis=2)
        summed = graph.add("ReduceSum", found, graph.constant(np.array([1])), keepdims=0)
        return found, graph.add("Sub", scores, summed)

    @cached_property
    def _active(self) -> str:
        """1 for neurons beyond their kink, else 0, (rows, n_neurons)."""
        zero = self.graph.constant(self.formula.zero)
        return self.graph.double(self.graph.add("Greater", self.heights, zero))
