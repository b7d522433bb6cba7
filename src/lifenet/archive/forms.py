"""Forms: how values are written into the header of an archive, and checked when they are read.

A form turns a value into JSON and the JSON into an equal value. It knows which type belongs where,
so that a file can neither name a type nor put a value where another kind belongs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

from lifenet.archive.errors import DamagedArchiveError, NotStorableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from enum import Enum

    from lifenet.archive.arrays import Sink, Source

__all__ = [
    "Array",
    "Choice",
    "Fields",
    "Form",
    "Many",
    "Maybe",
    "Names",
    "Number",
    "Numbers",
    "OneOf",
    "Row",
    "Rows",
    "Shared",
    "Text",
    "Texts",
    "Truth",
    "Whole",
    "Wholes",
    "damaged",
    "made",
]

#: Tuples up to this length stand in the header, longer ones in arrays.
_FEW = 32
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_LARGEST = 2**63
#: What constructors and checks raise on values that do not fit.
_MISFITS = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError)


class Form(Protocol):
    """How one kind of value is written and read."""

    def write(self, value: Any, sink: Sink, at: str) -> Any:
        """JSON that stands for a value; `at` says where in the model it is."""

    def read(self, node: Any, source: Source, at: str) -> Any:
        """The value that JSON stands for, checked."""


def damaged(at: str, expected: str) -> NoReturn:
    """Refuse what was read."""
    raise DamagedArchiveError(f"the header is wrong at {at}: expected {expected}")


def _not_storable(at: str, value: object, expected: str) -> NoReturn:
    raise NotStorableError(f"{at} is a {type(value).__name__}; an archive holds {expected} there")


def made(at: str, build: Callable[..., Any], *args: Any, **values: Any) -> Any:
    """What a constructor or a check makes of values that were read; errors say where they are."""
    try:
        return build(*args, **values)
    except _MISFITS as error:
        raise DamagedArchiveError(f"the values at {at} do not fit together: {error}") from error


@dataclass(frozen=True)
class Text:
    """A text."""

    def write(self, value: Any, sink: Sink, at: str) -> str:
        """The text itself."""
        return str(value) if isinstance(value, str) else _not_storable(at, value, "a text")

    def read(self, node: Any, source: Source, at: str) -> str:
        """The text itself."""
        return node if isinstance(node, str) else damaged(at, "a text")


@dataclass(frozen=True)
class Choice:
    """One of some texts."""

    options: tuple[str, ...]

    def write(self, value: Any, sink: Sink, at: str) -> str:
        """The text itself."""
        known = isinstance(value, str) and value in self.options
        return str(value) if known else _not_storable(at, value, str(self.options))

    def read(self, node: Any, source: Source, at: str) -> str:
        """The text itself."""
        known = isinstance(node, str) and node in self.options
        return str(node) if known else damaged(at, f"one of {self.options}")


@dataclass(frozen=True)
class Truth:
    """A truth value."""

    def write(self, value: Any, sink: Sink, at: str) -> bool:
        """The value itself."""
        if not isinstance(value, bool | np.bool_):
            _not_storable(at, value, "a truth value")
        return bool(value)

    def read(self, node: Any, source: Source, at: str) -> bool:
        """The value itself."""
        return node if isinstance(node, bool) else damaged(at, "true or false")


@dataclass(frozen=True)
class Whole:
    """A whole number of 64 bits."""

    least: int = -_LARGEST

    def write(self, value: Any, sink: Sink, at: str) -> int:
        """The number itself."""
        if not isinstance(value, Integral) or isinstance(value, bool):
            _not_storable(at, value, "a whole number")
        return int(value)

    def read(self, node: Any, source: Source, at: str) -> int:
        """The number itself."""
        fits = type(node) is int and self.least <= node < _LARGEST
        return int(node) if fits else damaged(at, "a whole number")


@dataclass(frozen=True)
class Number:
    """A number; those that are not finite are texts in the header."""

    def write(self, value: Any, sink: Sink, at: str) -> float | str:
        """The number itself, with all its digits."""
        if not isinstance(value, Real) or isinstance(value, bool):
            _not_storable(at, value, "a number")
        number = float(value)
        return number if math.isfinite(number) else repr(number)

    def read(self, node: Any, source: Source, at: str) -> float:
        """The number itself."""
        if isinstance(node, str) and node in _NOT_FINITE:
            return _NOT_FINITE[node]
        fits = (type(node) in (int, float) and abs(node) < _LARGEST) or isinstance(node, float)
        return float(node) if fits else damaged(at, "a number")


@dataclass(frozen=True)
class Maybe:
    """A value, or None."""

    form: Form

    def write(self, value: Any, sink: Sink, at: str) -> Any:
        """Null for None."""
        return None if value is None else self.form.write(value, sink, at)

    def read(self, node: Any, source: Source, at: str) -> Any:
        """None for null."""
        return None if node is None else self.form.read(node, source, at)


@dataclass(frozen=True)
class Many:
    """A tuple of values of one form."""

    form: Form

    def write(self, value: Any, sink: Sink, at: str) -> list[Any]:
        """A list."""
        pairs = enumerate(value)
        return [self.form.write(one, sink, f"{at}.{number}") for number, one in pairs]

    def read(self, node: Any, source: Source, at: str) -> tuple[Any, ...]:
        """A list."""
        if not isinstance(node, list):
            damaged(at, "a list")
        pairs = enumerate(node)
        return tuple(self.form.read(one, source, f"{at}.{number}") for number, one in pairs)


@dataclass(frozen=True)
class Row:
    """A tuple of as many values as there are forms."""

    forms: tuple[Form, ...]

    def write(self, value: Any, sink: Sink, at: str) -> list[Any]:
        """A list."""
        pairs = enumerate(zip(self.forms, value, strict=True))
        return [form.write(one, sink, f"{at}.{number}") for number, (form, one) in pairs]

    def read(self, node: Any, source: Source, at: str) -> tuple[Any, ...]:
        """A list."""
        if not isinstance(node, list) or len(node) != len(self.forms):
            damaged(at, f"a list of {len(self.forms)}")
        pairs = enumerate(zip(self.forms, node, strict=True))
        return tuple(form.read(one, source, f"{at}.{number}") for number, (form, one) in pairs)


@dataclass(frozen=True)
class Array:
    """An array with a number of axes and one of some dtypes."""

    ndim: int
    dtypes: tuple[str, ...] = ("<f8",)

    def write(self, value: Any, sink: Sink, at: str) -> Any:
        """What refers to it."""
        array = np.asarray(value)
        if array.ndim != self.ndim or array.dtype.newbyteorder("<").str not in self.dtypes:
            _not_storable(at, value, f"an array of {self.ndim} axes and dtype {self.dtypes}")
        return sink.put(array, at)

    def read(self, node: Any, source: Source, at: str) -> Any:
        """The array."""
        array = source.take(node, at)
        if array.ndim != self.ndim or array.dtype.str not in self.dtypes:
            damaged(at, f"an array of {self.ndim} axes and dtype {self.dtypes}")
        return array


@dataclass(frozen=True)
class _Tuple:
    """Tuples of numbers: few stand in the header, many in an array."""

    form: Form
    dtype: str

    def write(self, value: Any, sink: Sink, at: str) -> Any:
        """A list, or what refers to an array."""
        values = tuple(value)
        if len(values) <= _FEW:
            return Many(self.form).write(values, sink, at)
        return sink.put(np.array(values, dtype=self.dtype), at)

    def read(self, node: Any, source: Source, at: str) -> tuple[Any, ...]:
        """A list, or what refers to an array."""
        if isinstance(node, list):
            return Many(self.form).read(node, source, at)
        return tuple(Array(1, (self.dtype,)).read(node, source, at).tolist())


#: Tuples of numbers, and of whole numbers.
Numbers, Wholes = _Tuple(Number(), "<f8"), _Tuple(Whole(), "<i8")


@dataclass(frozen=True)
class Texts:
    """A tuple of texts: few stand in the header, many in arrays of UTF-8 and of lengths."""

    def write(self, value: Any, sink: Sink, at: str) -> Any:
        """A list, or what refers to the arrays."""
        texts = tuple(Text().write(one, sink, at) for one in value)
        if len(texts) <= _FEW:
            return list(texts)
        encoded = [one.encode("utf-8", "surrogatepass") for one in texts]
        lengths = np.array([len(one) for one in encoded], dtype="<u4")
        content = np.frombuffer(b"".join(encoded), dtype="|u1")
        return {
            "utf8": sink.put(content, f"{at}.utf8"),
            "lengths": sink.put(lengths, f"{at}.lengths"),
        }

    def read(self, node: Any, source: Source, at: str) -> tuple[str, ...]:
        """A list, or what refers to the arrays."""
        if isinstance(node, list):
            return Many(Text()).read(node, source, at)
        if not isinstance(node, dict) or set(node) != {"utf8", "lengths"}:
            damaged(at, "texts")
        content = Array(1, ("|u1",)).read(node["utf8"], source, at).tobytes()
        lengths = Array(1, ("<u4",)).read(node["lengths"], source, at)
        ends = np.cumsum(lengths, dtype=np.int64).tolist()
        if (ends[-1] if ends else 0) != len(content):
            damaged(at, "texts as long as their lengths say")
        found, start = [], 0
        for end in ends:
            found.append(made(at, content[start:end].decode, "utf-8", "surrogatepass"))
            start = end
        return tuple(found)


@dataclass(frozen=True)
class Names:
    """A tuple of members of an enumeration, by name."""

    kind: type[Enum]

    def write(self, value: Any, sink: Sink, at: str) -> Any:
        """Their names."""
        return Texts().write(tuple(one.name for one in value), sink, at)

    def read(self, node: Any, source: Source, at: str) -> tuple[Any, ...]:
        """Their names."""
        known = self.kind.__members__
        names = Texts().read(node, source, at)
        if not known.keys() >= set(names):
            damaged(at, f"names of {self.kind.__name__}")
        return tuple(known[name] for name in names)


@dataclass(frozen=True)
class Fields:
    """A value by its fields.

    Attributes
    ----------
    kind : its class
    fields : the form of each field
    parts : the fields of a value, where they are not its attributes
    build : makes the value of its fields; the class itself where there is none
    """

    kind: type
    fields: Mapping[str, Form]
    parts: Callable[[Any], Mapping[str, Any]] | None = None
    build: Callable[..., Any] | None = None

    def write(self, value: Any, sink: Sink, at: str) -> dict[str, Any]:
        """Its fields by name."""
        if type(value) is not self.kind:
            _not_storable(at, value, f"a {self.kind.__name__}")
        parts = {name: getattr(value, name) for name in self.fields} if self.parts is None else {}
        parts = parts if self.parts is None else dict(self.parts(value))
        return {
            name: form.write(parts[name], sink, f"{at}.{name}")
            for name, form in self.fields.items()
        }

    def read(self, node: Any, source: Source, at: str) -> Any:
        """Its fields by name, no others."""
        if not isinstance(node, dict) or set(node) != set(self.fields):
            damaged(at, f"the fields {', '.join(self.fields)}")
        values = {
            name: form.read(node[name], source, f"{at}.{name}")
            for name, form in self.fields.items()
        }
        return made(at, self.build or self.kind, **values)


@dataclass(frozen=True)
class Rows:
    """A tuple of values of one class, by column.

    Attributes
    ----------
    kind : their class
    columns : the form of each column, a tuple
    """

    kind: type
    columns: Mapping[str, Form]

    def write(self, value: Any, sink: Sink, at: str) -> dict[str, Any]:
        """The columns by name."""
        for one in value:
            if type(one) is not self.kind:
                _not_storable(at, one, f"a {self.kind.__name__}")
        return {
            name: form.write(tuple(getattr(one, name) for one in value), sink, f"{at}.{name}")
            for name, form in self.columns.items()
        }

    def read(self, node: Any, source: Source, at: str) -> tuple[Any, ...]:
        """The columns by name, no others."""
        if not isinstance(node, dict) or set(node) != set(self.columns):
            damaged(at, f"the columns {', '.join(self.columns)}")
        columns = {
            name: form.read(node[name], source, f"{at}.{name}")
            for name, form in self.columns.items()
        }
        if len({len(column) for column in columns.values()}) > 1:
            damaged(at, "columns of one length")
        rows = zip(*columns.values(), strict=True)
        return tuple(made(at, self.kind, **dict(zip(columns, row, strict=True))) for row in rows)


@dataclass(frozen=True)
class OneOf:
    """A value of one of some classes, told apart by name.

    Attributes
    ----------
    forms : by the name that stands in the header, each a class and its form
    """

    forms: Mapping[str, tuple[type, Form]]

    def write(self, value: Any, sink: Sink, at: str) -> dict[str, Any]:
        """The name, and what stands for the value."""
        for name, (kind, form) in self.forms.items():
            if type(value) is kind:
                return {name: form.write(value, sink, at)}
        return _not_storable(at, value, f"one of {', '.join(self.forms)}")

    def read(self, node: Any, source: Source, at: str) -> Any:
        """The name, and what stands for the value."""
        if not isinstance(node, dict) or len(node) != 1 or not self.forms.keys() >= set(node):
            damaged(at, f"one of {', '.join(self.forms)}")
        ((name, inner),) = node.items()
        return self.forms[name][1].read(inner, source, at)


@dataclass(frozen=True)
class Shared:
    """A value that is written in full where it comes first; later it is told by its number."""

    form: Form

    def write(self, value: Any, sink: Sink, at: str) -> Any:
        """The value the first time, then its number."""
        if id(value) in sink.seen:
            return {"same": sink.seen[id(value)][0]}
        node = self.form.write(value, sink, at)
        sink.seen[id(value)] = (len(sink.seen), value)
        return {"new": node}

    def read(self, node: Any, source: Source, at: str) -> Any:
        """The value the first time, then its number."""
        if not isinstance(node, dict) or len(node) != 1 or not {"new", "same"} >= set(node):
            damaged(at, "a value, or the number of one before")
        if "new" in node:
            value = self.form.read(node["new"], source, at)
            source.seen.append((self.form, value))
            return value
        number = node["same"]
        if type(number) is not int or not 0 <= number < len(source.seen):
            damaged(at, "the number of a value before")
        form, value = source.seen[number]
        return value if form is self.form else damaged(at, "the number of a value of its kind")
