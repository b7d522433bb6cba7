"""Forms of networks and of the codes that they read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.archive.forms import (
    Array,
    Fields,
    Maybe,
    OneOf,
    Shared,
    Texts,
    Whole,
    Wholes,
)
from lifenet.kernels.weights import is_sparse, pack_csr, unpack_csr
from lifenet.network import CodedNetwork, ColumnCoding, PackedCodes, ReluNetwork

if TYPE_CHECKING:
    from lifenet._typing import Weights

__all__ = ["CODING", "NETWORK", "RELU"]

_FLOATS = ("<f4", "<f8")
_INDICES = ("|u1", "<u2", "<u4", "<u8")
# Most numbers that the codes of one column may have at its knots: 4,096 ramps have as many.
_MOST_OF_COLUMN = 2**24


def _parts_of_weights(weights: Weights) -> dict[str, Any]:
    if not is_sparse(weights):
        return dict.fromkeys(("stored", "columns", "lengths", "n_columns")) | {"dense": weights}
    stored, columns, lengths, shape = pack_csr(weights)
    parts = {"stored": stored, "columns": columns, "lengths": lengths, "n_columns": shape[1]}
    return {"dense": None, **parts}


def _weights(dense: Any, stored: Any, columns: Any, lengths: Any, n_columns: int | None) -> Any:
    """Weights, whose numbers of columns are checked: SciPy does not."""
    sparse = (stored, columns, lengths, n_columns)
    if dense is not None and not any(one is not None for one in sparse):
        return dense
    if dense is not None or n_columns is None or any(one is None for one in sparse):
        raise ValueError("weights are an array or sparse")
    ends = np.cumsum(lengths.astype(np.float64))
    if not len(stored) == len(columns) == (ends[-1] if len(ends) else 0):
        raise ValueError("weights and their columns do not match")
    places = columns.astype(np.float64)
    first = np.zeros(len(places), dtype=bool)
    starts = (ends - lengths).astype(np.intp)
    first[starts[lengths > 0]] = True
    ascends = first | (np.diff(places, prepend=-1.0) > 0)
    if n_columns >= 2**31 or (places >= n_columns).any() or not ascends.all():
        raise ValueError("columns of weights must ascend in each row, and be those of the network")
    return unpack_csr((stored, columns, lengths, (len(lengths), n_columns)))


def _parts_of_network(network: ReluNetwork) -> dict[str, Any]:
    rest = {name: getattr(network, name) for name in ("bias", "beta", "intercept", "linear")}
    return _parts_of_weights(network.weights) | rest


def _network(bias: Any, beta: Any, intercept: Any, linear: Any, **weights: Any) -> ReluNetwork:
    return ReluNetwork(_weights(**weights), bias, beta, intercept, linear)


#: A network of columns or codes, whose weights are an array or sparse.
RELU = Shared(
    Fields(
        ReluNetwork,
        {
            "dense": Maybe(Array(2, _FLOATS)),
            "stored": Maybe(Array(1, _FLOATS)),
            "columns": Maybe(Array(1, _INDICES)),
            "lengths": Maybe(Array(1, _INDICES)),
            "n_columns": Maybe(Whole(1)),
            "bias": Array(1, _FLOATS),
            "beta": Array(2, _FLOATS),
            "intercept": Array(1, _FLOATS),
            "linear": Array(2, _FLOATS),
        },
        _parts_of_network,
        _network,
    )
)


def _parts_of_coding(coding: ColumnCoding) -> dict[str, Any]:
    columns, names = coding.packed
    nothing: list[Any] = [np.zeros(0)]
    no_codes: list[Any] = [np.zeros(0, dtype=np.int32)]
    return {
        "names": names,
        "n_knots": tuple(len(one.knots) for one in columns),
        "n_codes": tuple(len(one.rises) for one in columns),
        "knots": np.concatenate(nothing + [one.knots for one in columns]),
        "rises": np.concatenate(no_codes + [one.rises for one in columns]),
        "plain": np.concatenate(nothing + [one.plain.ravel() for one in columns]),
    }


def _coding(
    names: Any, n_knots: Any, n_codes: Any, knots: Any, rises: Any, plain: Any
) -> ColumnCoding:
    """Codes of columns whose numbers follow one another."""
    fits = len(names) == len(n_knots) == len(n_codes)
    fits = fits and min(n_knots, default=0) >= 0 and min(n_codes, default=1) >= 1
    if not fits or sum(n_knots) != len(knots) or sum(n_codes) != len(rises):
        raise ValueError("knots, codes and names of columns do not match")
    columns, used = [], 0
    knots_of = np.split(knots, np.cumsum(n_knots)[:-1])
    rises_of = np.split(rises, np.cumsum(n_codes)[:-1])
    for places, rising in zip(knots_of, rises_of, strict=True):
        r, n_plain = len(places), int((rising < 0).sum())
        if r * len(rising) > _MOST_OF_COLUMN or (rising < -1).any() or (rising >= r).any():
            raise ValueError("a code rises from no knot, or there are too many of one column")
        own = plain[used : used + r * n_plain]
        used += len(own)
        if not r and len(rising) != 1:
            raise ValueError("a column without knots has one code")
        columns.append(PackedCodes(places, own.reshape(r, n_plain), rising))
    if used != len(plain):
        raise ValueError("there are more values of codes than codes")
    return ColumnCoding.unpacked(columns, names)


#: Codes of columns.
CODING = Shared(
    Fields(
        ColumnCoding,
        {
            "names": Texts(),
            "n_knots": Wholes,
            "n_codes": Wholes,
            "knots": Array(1),
            "rises": Array(1, ("<i4",)),
            "plain": Array(1),
        },
        _parts_of_coding,
        _coding,
    )
)

#: A network that reads columns, or codes of them.
NETWORK = OneOf(
    {
        "columns": (ReluNetwork, RELU),
        "codes": (CodedNetwork, Fields(CodedNetwork, {"coding": CODING, "network": RELU})),
    }
)
