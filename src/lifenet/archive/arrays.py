"""Arrays of an archive: collected when it is written, handed out when it is read.

All members are one-dimensional. Large arrays have a member each; small ones of one dtype share one.
What refers to an array names its member, its first number and its shape.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.archive.errors import DamagedArchiveError, NotStorableError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

__all__ = ["DTYPES", "Sink", "Source"]

#: Dtypes that an archive may hold.
DTYPES = frozenset(
    ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")
)
# Arrays with more numbers have a member of their own. Chosen by hand: one takes about 350 bytes.
_SMALL = 4_096
# Most axes, and longest of an array without numbers.
_MOST_AXES, _LONGEST_AXIS = 3, 2**31


class Sink:
    """Collects the arrays of an archive that is written."""

    def __init__(self) -> None:
        self._large: dict[str, npt.NDArray[Any]] = {}
        self._small: dict[str, list[npt.NDArray[Any]]] = {}
        self._lengths: dict[str, int] = {}
        #: By identity, values that are written once, and their numbers.
        self.seen: dict[int, tuple[int, object]] = {}

    def put(self, array: npt.NDArray[Any], at: str) -> dict[str, Any]:
        """Take an array; what refers to it in the header."""
        dtype = array.dtype.newbyteorder("<")
        if dtype.str not in DTYPES or array.ndim > _MOST_AXES:
            raise NotStorableError(
                f"{at} is an array of dtype {array.dtype} and shape {array.shape}, which an "
                "archive does not hold"
            )
        flat = np.ascontiguousarray(array, dtype=dtype).reshape(-1)
        if flat.size > _SMALL:
            name, start = self._free(at), 0
            self._large[name] = flat
        else:
            name = f"small-{dtype.str[1:]}"
            start = self._lengths.get(name, 0)
            self._lengths[name] = start + flat.size
            self._small.setdefault(name, []).append(flat)
        return {"array": name, "start": start, "shape": list(array.shape)}

    def _free(self, at: str) -> str:
        """A name that no array has yet."""
        base = name = re.sub(r"[^A-Za-z0-9_.]", "_", at)[:100]
        number = 1
        while name in self._large:
            number += 1
            name = f"{base}.{number}"
        return name

    def members(self) -> dict[str, npt.NDArray[Any]]:
        """All members by name."""
        small = {name: np.concatenate(parts) for name, parts in self._small.items()}
        return {**small, **self._large}


class Source:
    """Hands out the arrays of an archive that is read, every number once.

    Parameters
    ----------
    members : one-dimensional arrays by name
    max_bytes : that values made of them may take
    """

    def __init__(self, members: Mapping[str, npt.NDArray[Any]], max_bytes: int) -> None:
        self._members = members
        self._used = dict.fromkeys(members, 0)
        self.max_bytes = max_bytes
        #: Forms and values that were read once, by number.
        self.seen: list[tuple[Any, Any]] = []

    def take(self, node: object, at: str) -> npt.NDArray[Any]:
        """The array that a part of the header refers to, as a copy of its own."""
        if not isinstance(node, dict) or set(node) != {"array", "start", "shape"}:
            raise DamagedArchiveError(f"{at} refers to no array")
        name, start, shape = node["array"], node["start"], node["shape"]
        if not isinstance(name, str) or name not in self._members:
            raise DamagedArchiveError(f"{at} refers to the array {name!r}, which is not there")
        counts = [start, *shape] if isinstance(shape, list) and len(shape) <= _MOST_AXES else [None]
        if not all(type(one) is int and 0 <= one < _LONGEST_AXIS for one in counts):
            raise DamagedArchiveError(f"{at} refers to no part of the array {name!r}")
        member, size = self._members[name], math.prod(shape)
        self._used[name] += size
        if start + size > len(member) or self._used[name] > len(member):
            raise DamagedArchiveError(
                f"{at} refers to more numbers than the array {name!r} has, {len(member)}"
            )
        return member[start : start + size].reshape(shape).copy()

    def check_used(self) -> None:
        """Refuse numbers that nothing refers to."""
        for name, used in self._used.items():
            if used != len(self._members[name]):
                raise DamagedArchiveError(f"the array {name!r} has numbers that nothing refers to")
