"""Files that are damaged, or made to do harm, get an error of their own name."""

import contextlib
import io
import json
import os
import pickle
import struct
import time
import tracemalloc
import warnings
import zipfile
import zlib
from hashlib import sha256

import numpy as np
import pytest
from benchmarks.files.fuzz_archive import fuzz, packed, parts_of, with_digests, with_header
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lifenet
from archived import fitted
from lifenet.archive import (
    ArchiveError,
    DamagedArchiveError,
    NotAnArchiveError,
    TooLargeError,
    UnknownFormatError,
    describe,
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An archive's bytes."""
    path = tmp_path_factory.mktemp("archive") / "m.life"
    fitted("quick-frame").save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def parts(whole, tmp_path_factory):
    path = tmp_path_factory.mktemp("parts") / "m.life"
    path.write_bytes(whole)
    return parts_of(path)


@pytest.fixture
def refused(tmp_path):
    """Loads bytes, and gives the text of the error of a certain name."""

    def check(content, error, match=None, **options):
        path = tmp_path / "hostile.life"
        path.write_bytes(content)
        with pytest.raises(error, match=match) as found:
            lifenet.load(path, **options)
        assert type(found.value) is error
        assert "hostile.life" in str(found.value), "the error names the file"
        assert str(found.value).endswith("."), "the error ends with the remedy"
        return str(found.value)

    return check


def changed(parts, change):
    """An archive whose header a function has changed."""
    header = json.loads(parts["header.json"])
    change(header)
    return packed(with_header(parts, header))


def npy(descr="<f8", shape="(3,)", fortran="False", data=bytes(24), version=b"\1\0"):
    """An `.npy` file by hand."""
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    text = text.ljust(117) + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + data


def test_the_parts_put_together_again_are_an_archive(parts, tmp_path):
    (tmp_path / "m.life").write_bytes(packed(parts))
    assert lifenet.load(tmp_path / "m.life").network_ == fitted("quick-frame").network_


# ---------------------------------------------------------------------- not an archive


def test_other_files_are_no_archives(refused):
    other = {"a": b"1"}
    for content in (b"", b"x", b"{}", pickle.dumps(fitted("lla")), b"\x89PNG" * 99):
        refused(content, NotAnArchiveError, "no zip file")
    refused(packed(other), NotAnArchiveError, r"no header\.json")
    refused(packed({"header.json": b"{}"}), NotAnArchiveError, "no model of lifenet")


def test_folders_are_an_error_of_the_system(tmp_path):
    with pytest.raises(OSError, match="directory"):
        lifenet.load(tmp_path)


def test_later_formats_are_told_from_damage(parts, refused):
    def later(header):
        header.update(format=2, lifenet="9.0")

    text = refused(changed(parts, later), UnknownFormatError, r"format 2, written by lifenet 9\.0")
    assert "later one" in text
    unknown = changed(parts, lambda header: header.update(estimator="os.system"))
    refused(unknown, UnknownFormatError, "no estimator")


# ---------------------------------------------------------------------- damage


def test_every_cut_is_found(whole, refused):
    for end in [*range(0, 200, 7), *range(200, len(whole), len(whole) // 60), len(whole) - 1]:
        refused(whole[:end], DamagedArchiveError if end > 1 else NotAnArchiveError)


def test_changed_numbers_are_found_by_their_digest(parts, refused):
    name = "arrays/small-f8.npy"
    content = bytearray(parts[name])
    content[-9] ^= 1
    refused(packed({**parts, name: bytes(content)}), DamagedArchiveError, f"{name}.*SHA-256")


def test_changed_bytes_are_found_by_the_checksum_of_the_zip(whole, refused):
    at = whole.index(b"header.json") + 400
    refused(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :], DamagedArchiveError)


def test_members_must_be_those_of_the_header(parts, refused):
    name = "arrays/small-f8.npy"
    rest = {one: content for one, content in parts.items() if one != name}
    refused(packed(rest), DamagedArchiveError, "header and members differ.*small-f8")
    extra = {**parts, "arrays/more.npy": parts[name]}
    refused(packed(extra), DamagedArchiveError, "header and members differ.*more")


@pytest.mark.parametrize(
    "name", ["../evil.npy", "/etc/passwd", "arrays/../x.npy", "arrays/a/b.npy", "code.py", "a\\b"]
)
def test_members_have_no_paths(parts, refused, name):
    refused(packed({**parts, name: b"x"}), DamagedArchiveError, "does not belong there")


def test_members_come_once(parts, refused):
    file = io.BytesIO(packed(parts))
    with zipfile.ZipFile(file, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("arrays/small-f8.npy", b"other")
    refused(file.getvalue(), DamagedArchiveError, "comes twice")


def test_encrypted_and_oddly_packed_members_are_refused(parts, refused):
    content = packed(parts)
    flagged = content.replace(b"PK\1\2\x14\x03\x14\0\0\0", b"PK\1\2\x14\x03\x14\0\1\0", 1)
    assert flagged != content
    refused(flagged, DamagedArchiveError, "encrypted or oddly packed")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        for name, one in parts.items():
            archive.writestr(name, one)
    refused(file.getvalue(), DamagedArchiveError, "encrypted or oddly packed")


# ---------------------------------------------------------------------- too large


def test_bombs_are_refused_before_they_are_unpacked(parts, refused):
    """A gigabyte of zeros packs into a megabyte; it is refused for what it claims to be."""
    header = json.loads(parts["header.json"])
    length = 2**27
    header["arrays"]["bomb"] = {"dtype": "<f8", "length": length, "sha256": "0" * 64}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, one in with_header(parts, header).items():
            archive.writestr(name, one)
        with archive.open("arrays/bomb.npy", "w", force_zip64=True) as member:
            member.write(npy(shape=f"({length},)", data=b""))
            for _ in range(length // 2**17):
                member.write(bytes(2**20))
    tracemalloc.start()
    begun = time.perf_counter()
    refused(file.getvalue(), TooLargeError, "max_bytes is 67,108,864", max_bytes=2**26)
    assert time.perf_counter() - begun < 5
    assert tracemalloc.get_traced_memory()[1] < 2**25
    tracemalloc.stop()


def test_sizes_that_are_only_claimed_take_no_memory(parts, refused):
    """Members that claim a gigabyte and have a few bytes."""
    header = json.loads(parts["header.json"])
    header["arrays"]["claim"] = {"dtype": "<f8", "length": 2**27, "sha256": "0" * 64}
    hostile = with_header({**parts, "arrays/claim.npy": npy(shape=f"({2**27},)")}, header)
    refused(packed(hostile), DamagedArchiveError, "has .* bytes, which are not")
    content = packed(hostile)
    size = struct.pack("<I", len(npy()))
    forged = content.replace(size, struct.pack("<I", 2**30 + 128))
    tracemalloc.start()
    refused(forged, DamagedArchiveError)
    assert tracemalloc.get_traced_memory()[1] < 2**25
    tracemalloc.stop()


def test_headers_are_bounded(parts, refused):
    many = b"[" + b"[]," * 1_000_000 + b"[]]"
    refused(packed({**parts, "header.json": many}), TooLargeError, "2,000,000 values")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.json", b" " * (2**25 + 1))
    refused(file.getvalue(), TooLargeError, r"header\.json has 33,554,433 bytes")


def test_files_larger_than_is_allowed_are_refused(whole, refused):
    refused(whole, TooLargeError, "the file has", max_bytes=1_000)


def test_numbers_are_used_once(parts, refused):
    """References to one array over and over would multiply the memory."""

    def repeat(header):
        known = header["arrays"]["small-f8"]["length"]
        node = {"numbers": {"array": "small-f8", "start": 0, "shape": [known]}}
        header["parameters"]["sampler"] = {"list": [node] * 10}

    refused(changed(parts, repeat), DamagedArchiveError, "more numbers than")


def test_codes_of_columns_are_bounded(parts, refused):
    """A million ramps on a million knots would be a table of eight terabytes."""
    header, n = json.loads(parts["header.json"]), 10**6
    arrays = {"knots": np.arange(float(n)), "rises": np.zeros(n, dtype="<i4")}
    members = dict(parts)
    for name, array in arrays.items():
        file = io.BytesIO()
        np.save(file, array)
        members[f"arrays/{name}.npy"] = file.getvalue()
        digest = sha256(array.tobytes()).hexdigest()
        header["arrays"][name] = {"dtype": array.dtype.str, "length": n, "sha256": digest}
    coding = header["fitted"]["coding_"]["new"]
    coding.update(names=["a"], n_knots=[n], n_codes=[n])
    for name in arrays:
        coding[name] = {"array": name, "start": 0, "shape": [n]}
    coding["plain"]["shape"] = [0]
    refused(packed(with_header(members, header)), DamagedArchiveError, "too many of one column")


# ---------------------------------------------------------------------- arrays


@pytest.mark.parametrize(
    "content",
    [
        npy("|O", data=b"\x80\x04K\x05."),
        npy("<U3"),
        npy("<c16"),
        npy("<f8", shape="(-3,)"),
        npy("<f8", shape="(3, 1)"),
        npy("<f8", shape="()"),
        npy("<f8", fortran="True"),
        npy("<f8", shape="(10**9,)"),
        npy("<f8", shape="(__import__('os').getpid(),)"),
        npy("<f8", version=b"\2\0"),
        npy("<f8", shape="(4,)"),
        npy("<f4"),
        b"\x93NUMPY\1\0\xff\xff",
        b"PK\3\4",
        b"",
    ],
    ids=lambda content: content[10:70].decode(errors="replace").strip("\0"),
)
def test_arrays_are_what_the_header_says(parts, refused, content):
    header = json.loads(parts["header.json"])
    header["arrays"]["odd"] = {"dtype": "<f8", "length": 3, "sha256": "0" * 64}
    hostile = with_header({**parts, "arrays/odd.npy": content}, header)
    refused(packed(hostile), DamagedArchiveError)


@pytest.mark.parametrize(
    "known",
    [
        {"dtype": "|O", "length": 3, "sha256": "0" * 64},
        {"dtype": "<f8", "length": -3, "sha256": "0" * 64},
        {"dtype": "<f8", "length": 2**60, "sha256": "0" * 64},
        {"dtype": "<f8", "length": True, "sha256": "0" * 64},
        {"dtype": "<f8", "length": 3, "sha256": "x"},
        {"dtype": ["<f8"], "length": 3, "sha256": "0" * 64},
        {"dtype": "<f8", "length": 3},
        None,
    ],
    ids=lambda one: type(one).__name__,
)
def test_what_is_said_of_arrays_is_checked(parts, refused, known):
    def change(header):
        header["arrays"]["small-f8"] = known

    refused(changed(parts, change), DamagedArchiveError, "wrong about the array")


def test_columns_of_sparse_weights_are_checked(parts, refused):
    """SciPy reads beyond its memory where they are out of range."""
    name = "arrays/small-u1.npy"
    names = [one for one in parts if one.endswith((".npy",)) and "columns" in one]
    name = names[0] if names else next(one for one in parts if one.endswith("-u1.npy"))
    content = bytearray(parts[name])
    content[-40:] = b"\xff" * 40
    hostile = with_digests({**parts, name: bytes(content)})
    refused(packed(hostile), DamagedArchiveError, "do not fit together")


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 1e308])
def test_numbers_of_a_network_are_finite(tmp_path, refused, odd):
    fitted("lla").save(tmp_path / "m.life")
    small = parts_of(tmp_path / "m.life")
    header = json.loads(small["header.json"])
    start = header["fitted"]["network_"]["columns"]["new"]["bias"]["start"]
    content = bytearray(small["arrays/small-f8.npy"])
    content[128 + 8 * start :][:8] = struct.pack("<d", odd)
    content = (
        bytes(content[: 128 + 8 * start])
        + struct.pack("<d", odd)
        + bytes(content[136 + 8 * start :])
    )
    hostile = packed(with_digests({**small, "arrays/small-f8.npy": content}))
    if np.isfinite(odd):
        (tmp_path / "h.life").write_bytes(hostile)
        assert lifenet.load(tmp_path / "h.life").network_.bias[0] == odd
    else:
        refused(hostile, DamagedArchiveError, "bias must be finite")


# ---------------------------------------------------------------------- the header


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{",
        b"\xff\xfe",
        b'{"kind": NaN}',
        b'{"kind": "lifenet model", "kind": "lifenet model"}',
        b"[" * 100_000,
        b'{"kind": "lifenet model", "format": ' + b"9" * 100_000 + b"}",
    ],
    ids=lambda text: text[:20].decode(errors="replace"),
)
def test_headers_are_json_of_an_archive(parts, refused, text):
    refused(packed({**parts, "header.json": text}), DamagedArchiveError)


HOSTILE = {
    "a class by its path": ("parameters", "solver", {"settings": ["os.system", {"x": "ls"}]}),
    "an unknown tag": ("parameters", "solver", {"pickle": "gASV"}),
    "a class of Python": ("parameters", "solver", {"settings": ["dict", {}]}),
    "unknown settings": ("parameters", "solver", {"settings": ["LLA", {"evil": 1}]}),
    "an unknown parameter": ("parameters", "evil", 1),
    "a private attribute": ("fitted", "__class__", "str"),
    "a method": ("fitted", "predict", "x"),
    "a class in place of a number": ("fitted", "n_iter_", {"settings": ["LLA", {}]}),
    "a recipe that is none": ("fitted", "recipe_", {"settings": ["LLA", {}]}),
    "a recipe of texts": ("fitted", "recipe_", {"settings": ["Recipe", {"output": "ridge"}]}),
    "a negative number": ("fitted", "n_features_in_", -1),
    "a truth value": ("fitted", "n_iter_", True),
    "another number of columns": ("fitted", "n_features_in_", 2),
    "a huge number": ("fitted", "n_iter_", 10**30),
    "no network": ("fitted", "network_", None),
    "a value before": ("fitted", "coding_", {"same": 0}),
    "a value not there": ("fitted", "coding_", {"same": 99}),
    "a splitter that is none": ("parameters", "validation", {"splitter": ["os", {}]}),
    "a splitter out of range": (
        "parameters",
        "validation",
        {"splitter": ["KFold", {"n_splits": 0}]},
    ),
    "keys that are none": ("parameters", "solver", {"dict": [[{"list": []}, 1]]}),
    "deep values": ("parameters", "solver", None),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_headers_are_refused(parts, refused, name):
    section, key, value = HOSTILE[name]
    if name == "deep values":
        value = 1
        for _ in range(200):
            value = {"list": [value]}
    content = changed(parts, lambda header: header[section].update({key: value}))
    refused(content, DamagedArchiveError)


def test_fields_that_are_not_known_are_refused(parts, refused):
    refused(changed(parts, lambda header: header.update(more=1)), DamagedArchiveError, "the top")
    refused(
        changed(parts, lambda header: header["fitted"]["table_"]["new"].update(more=1)),
        DamagedArchiveError,
        "table_",
    )


def test_parts_must_fit_together(parts, refused):
    def fewer(header):
        header["fitted"]["feature_names_in_"]["objects"]["texts"][0] = "other"

    refused(changed(parts, fewer), DamagedArchiveError, "names of the columns are others")


def test_numbers_that_nothing_refers_to_are_refused(parts, refused):
    header = json.loads(parts["header.json"])
    zeros = sha256(bytes(24)).hexdigest()
    header["arrays"]["odd"] = {"dtype": "<f8", "length": 3, "sha256": zeros}
    hostile = with_header({**parts, "arrays/odd.npy": npy()}, header)
    refused(packed(hostile), DamagedArchiveError, "nothing refers to")


def test_reading_the_header_alone_is_as_careful(parts, tmp_path):
    path = tmp_path / "m.life"
    path.write_bytes(packed({**parts, "header.json": b"{"}))
    with pytest.raises(DamagedArchiveError, match=r"m\.life"):
        describe(path)


# ---------------------------------------------------------------------- any bytes


@given(st.data())
@settings(
    max_examples=300, deadline=10_000, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_change_of_bytes_loads_or_is_refused(whole, tmp_path, data):
    content = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content)))
        if data.draw(st.booleans()):
            content[at:at] = data.draw(st.binary(max_size=30))
        else:
            piece = data.draw(st.binary(max_size=30))
            content[at : at + len(piece)] = piece
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content))) :]
    path = tmp_path / "m.life"
    path.write_bytes(content)
    with contextlib.suppress(ArchiveError):
        lifenet.load(path, max_bytes=2**26)


@given(st.binary(max_size=400))
@settings(deadline=10_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_header_is_refused(parts, tmp_path, text):
    path = tmp_path / "m.life"
    path.write_bytes(packed({**parts, "header.json": text}))
    with pytest.raises(ArchiveError):
        lifenet.load(path)


def test_random_damage_with_right_checksums_loads_or_is_refused():
    """More of it: `python -m benchmarks.files.fuzz_archive 100000`."""
    found = fuzz(1_500, seed=int(zlib.crc32(os.urandom(4))))
    assert found["others"] == {}
    assert found["loaded"] + found["DamagedArchiveError"] > 1_000
    assert found["slowest"] < 10
