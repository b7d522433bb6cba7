"""Archives with random damage: every input is loaded, or refused by a named error.

`python -m benchmarks.files.fuzz_archive 100000` prints what became of the inputs. Damage is done to
the bytes of the file, and, with checksums put right again so that deeper checks are reached, to the
header's text, its values, the arrays and the headers of the arrays.
"""

from __future__ import annotations

import copy
import io
import json
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import lifenet
from lifenet.archive import ArchiveError

#: Bytes that arrays of an input may take.
MAX_BYTES = 2**26
#: Values that are put where others stood.
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 255, 2**31, 2**62, -(2**63), 2**64, 10**30, 0.5, -0.0),
    *(1e308, "", "a", "nan", "inf", "../x", "small-f8", "number", "time", "LLA", "LIFERegressor"),
    *([], [[]], {}, [0, 1], {"a": 1}, {"new": None}, {"same": 0}, {"same": 10**6}),
    *({"array": "small-f8", "start": 0, "shape": [1]}, {"settings": ["LLA", {}]}),
    *({"array": "small-f8", "start": 0, "shape": [0, 2**31 - 1]}, {"float": "nan"}),
)
DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8", "|O", "<U3")

Parts = dict[str, bytes]


def tables() -> tuple[Any, Any, Any]:
    """A small table of numbers, one with categories, dates and gaps, and their targets."""
    generator = np.random.default_rng(0)
    numbers = np.round(generator.normal(size=(60, 2)), 2)
    mixed = np.empty((60, 4), dtype=object)
    mixed[:, 0] = numbers[:, 0]
    mixed[:, 1] = generator.choice(["red", "green", "blue"], 60)
    mixed[:, 2] = [np.datetime64("2020-01-01") + int(one) for one in generator.integers(0, 99, 60)]
    mixed[:, 3] = [f"level {one}" for one in generator.integers(0, 15, 60)]
    mixed[::9, 0] = None
    return numbers, mixed, numbers[:, 0] + np.abs(numbers[:, 1])


def models() -> list[tuple[Any, Any]]:
    """Small fitted estimators, and rows for each."""
    numbers, mixed, y = tables()
    three = np.digitize(y, [0.3, 1.0])
    paper = lifenet.NeuronProjection(levels=(2,)), lifenet.LLA(2, max_iter=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            (lifenet.LLARegressor(2, max_iter=3, random_state=0).fit(numbers, y), numbers[:5]),
            (lifenet.LLAClassifier(2, max_iter=3, random_state=0).fit(mixed, three), mixed[:5]),
            (lifenet.LIFERegressor(*paper, coding="full", random_state=0).fit(mixed, y), mixed[:5]),
            (_crossfitted().fit(mixed, three > 0), mixed[:5]),
        ]


def _crossfitted() -> Any:
    recipe = lifenet.preset("fast").set_params(
        neurons=(lifenet.Leaves(2, max_leaf_nodes=3),),
        finetune=lifenet.MiniBatch(2),
        resampling=lifenet.CrossFit(2, min_rows=4),
        codes=lifenet.QuantileCoding("full", max_bins=4),
        smoothness=0.0,
    )
    return lifenet.LIFEClassifier(preset=recipe, random_state=0)


def parts_of(path: Path) -> Parts:
    """Members of an archive by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts: Parts) -> bytes:
    """A zip of members, with the checksums of zip files right."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


def with_header(parts: Parts, header: Any) -> Parts:
    """The same archive with another header."""
    return {**parts, "header.json": json.dumps(header).encode()}


def with_digests(parts: Parts) -> Parts:
    """The same archive, whose header has the digests of its arrays as they are."""
    header = json.loads(parts["header.json"])
    for name, known in header["arrays"].items():
        content = parts[f"arrays/{name}.npy"]
        start = 10 + int.from_bytes(content[8:10], "little")
        known["sha256"] = sha256(content[start:]).hexdigest()
    return with_header(parts, header)


# ---------------------------------------------------------------------- damage


def damage_bytes(content: bytes, generator: np.random.Generator) -> bytes:
    """Bytes flipped, cut off, doubled, put in or overwritten."""
    found = bytearray(content)
    for _ in range(int(generator.integers(1, 4))):
        at = int(generator.integers(len(found) + 1))
        kind = generator.integers(6)
        if kind == 0 and at < len(found):
            found[at] ^= 1 << int(generator.integers(8))
        elif kind == 1:
            del found[at : at + int(generator.integers(1, 64))]
        elif kind == 2:
            found[at:at] = generator.bytes(int(generator.integers(1, 16)))
        elif kind == 3:
            found[at:at] = found[max(at - int(generator.integers(1, 64)), 0) : at]
        elif kind == 4:
            odd = generator.choice([b"\0" * 4, b"\xff" * 4, b"\xff\xff\xff\x7f", b"PK\1\2"])
            found[at : at + len(odd)] = odd
        else:
            del found[at:]
        if not found:
            break
    return bytes(found)


def damage_values(header: Any, generator: np.random.Generator) -> Any:
    """A header of which some values are others, missing, doubled, or moved."""
    header = copy.deepcopy(header)
    for _ in range(int(generator.integers(1, 3))):
        holder, key = _somewhere(header, generator)
        if holder is None:
            break
        kind = generator.integers(6)
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        elif kind == 1:
            holder[f"{key}2"] = holder[key]
        elif kind == 2:
            other, place = _somewhere(header, generator)
            holder[key] = copy.deepcopy(other[place]) if other is not None else None
        elif kind == 3 and type(holder[key]) in (int, float):
            holder[key] += generator.choice([1, -1, 2, 1000, -1000]).item()
        else:
            holder[key] = copy.deepcopy(ODD[int(generator.integers(len(ODD)))])
    return header


def _somewhere(header: Any, generator: np.random.Generator) -> tuple[Any, Any]:
    """A list or dict in a header, and an index of it."""
    holder, key = header, None
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            return None, None
        key = keys[int(generator.integers(len(keys)))]
        inner = holder[key]
        if not isinstance(inner, dict | list) or not inner or generator.random() < 0.1:
            return holder, key
        holder = inner


def damage_array(parts: Parts, generator: np.random.Generator) -> Parts:
    """Numbers, length or dtype of an array are others; digests are right."""
    header = json.loads(parts["header.json"])
    name = generator.choice(list(header["arrays"]))
    array = np.load(io.BytesIO(parts[f"arrays/{name}.npy"]))
    kind = generator.integers(4)
    if kind == 0:
        array = array[: int(generator.integers(len(array) + 1))]
    elif kind == 1:
        dtype = generator.choice([one for one in DTYPES if one not in ("|O", "<U3")])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array = array.astype(dtype)
    elif len(array):
        array = array.copy()
        raw = array.view("u1")
        at = int(generator.integers(len(array))) * array.itemsize
        odd = [0, 1, -1, 2, 10**3, 2**15, 2**31 - 1, np.nan, np.inf, -np.inf, 1e300, -5]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = np.array(odd[int(generator.integers(len(odd)))]).astype(array.dtype)
        raw[at : at + array.itemsize] = np.frombuffer(value.tobytes(), "u1")
    file = io.BytesIO()
    np.save(file, array)
    header["arrays"][name].update(dtype=array.dtype.str, length=len(array))
    return with_digests(with_header({**parts, f"arrays/{name}.npy": file.getvalue()}, header))


def damage_npy(parts: Parts, generator: np.random.Generator) -> Parts:
    """The header of an array is another; the zip is right."""
    names = [name for name in parts if name.endswith(".npy")]
    name = generator.choice(names)
    content = parts[name]
    start = 10 + int.from_bytes(content[8:10], "little")
    head = content[:start]
    if generator.random() < 0.5:
        text = str(
            {
                "descr": str(generator.choice(DTYPES)),
                "fortran_order": bool(generator.integers(2)),
                "shape": tuple(generator.choice([-1, 0, 1, 8, 2**40], generator.integers(3))),
            }
        )
        head = head[:10] + text.replace("np.int64", "").encode().ljust(start - 11)[: start - 11]
        head += b"\n"
    else:
        head = damage_bytes(head, generator)
    return {**parts, name: head + content[start:]}


def damaged(whole: bytes, parts: Parts, generator: np.random.Generator) -> tuple[str, bytes]:
    """An input, and the kind of its damage."""
    kind = str(generator.choice(["bytes", "text", "values", "values", "array", "npy", "members"]))
    if kind == "bytes":
        return kind, damage_bytes(whole, generator)
    if kind == "text":
        text = damage_bytes(parts["header.json"], generator)
        return kind, packed({**parts, "header.json": text})
    if kind == "values":
        header = damage_values(json.loads(parts["header.json"]), generator)
        return kind, packed(with_header(parts, header))
    if kind == "array":
        return kind, packed(damage_array(parts, generator))
    if kind == "npy":
        return kind, packed(damage_npy(parts, generator))
    names = list(parts)
    name = names[int(generator.integers(len(names)))]
    other = str(generator.choice(["../x", "arrays/x.npy", "/etc/x", name + "2", "header.json"]))
    kept = {one: content for one, content in parts.items() if one != name}
    return kind, packed(kept if generator.random() < 0.3 else {**kept, other: parts[name]})


# ---------------------------------------------------------------------- running


def fuzz(n_inputs: int, seed: int = 0) -> dict[str, Any]:
    """What became of random inputs.

    Returns
    -------
    dict
        Numbers of inputs that were loaded, of those that then predicted or refused to, of errors by
        name, and by kind of damage; what else was raised (there must be nothing), with an example;
        the seconds of the slowest input.
    """
    generator = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    others: dict[str, str] = {}
    slowest = 0.0
    with tempfile.TemporaryDirectory(dir=_in_memory()) as folder:
        path, cases = Path(folder, "m.life"), []
        for model, rows in models():
            model.save(path, overwrite=True)
            cases.append((path.read_bytes(), parts_of(path), rows))
        for number in range(n_inputs):
            whole, parts, rows = cases[number % len(cases)]
            kind, content = damaged(whole, parts, generator)
            path.write_bytes(content)
            begun = time.perf_counter()
            found = outcome(path, rows)
            slowest = max(slowest, time.perf_counter() - begun)
            kinds[f"{kind}: {'loaded' if found[0] == 'loaded' else 'refused'}"] += 1
            counts[found[0]] += 1
            if found[1]:
                counts[found[1]] += 1
            if found[2]:
                others.setdefault(found[0] + found[1], f"seed {seed}, input {number}: {found[2]}")
    return {
        **dict(sorted(counts.items())),
        "kinds": dict(sorted(kinds.items())),
        "others": others,
        "slowest": slowest,
    }


def outcome(path: Path, rows: Any) -> tuple[str, str, str]:
    """What loading a file gave, what predicting then gave, and what should not have been raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            model = lifenet.load(path, max_bytes=MAX_BYTES)
        except ArchiveError as error:
            return type(error).__name__, "", ""
        except Exception as error:
            return f"other: {type(error).__name__}", "", f"{error!r:.300}"
        warnings.simplefilter("ignore")
        try:
            model.predict(rows)
        except ValueError:
            return "loaded", "prediction refused", ""
        except Exception as error:
            return "loaded", f"prediction: {type(error).__name__}", f"{error!r:.300}"
    return "loaded", "predicted", ""


def _in_memory() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


if __name__ == "__main__":
    n_inputs = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    start = time.perf_counter()
    print(json.dumps(fuzz(n_inputs), indent=1))
    print(f"{n_inputs:,} inputs in {time.perf_counter() - start:.0f} s")
