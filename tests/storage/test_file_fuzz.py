"""No file makes `load` do anything but load it or raise a FileFormatError.

Damaged bytes are found by the checksum. Files of an adversary have a right one: here
and in test_file_fuzz_headers.py they are sealed again after they were changed.
"""

import io
import json
import os
import struct
import threading
import tracemalloc

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

import featuresieve
from featuresieve import FileFormatError
from featuresieve.storage import pack, unpack
from sealed_files import (
    CLASSIFIER,
    REGRESSOR,
    assert_refused,
    inner_text,
    joined,
    load_bytes,
    parts,
    sealed,
    with_text,
)

# --- damage


@pytest.mark.parametrize("path", [CLASSIFIER, REGRESSOR], ids=lambda path: path.stem)
def test_fuzz_truncated_lengthened_and_flipped_files_are_refused(path, file):
    data = path.read_bytes()
    for length in [*range(20), *range(20, len(data), 37), len(data) - 1]:
        assert_refused(file, data[:length])
    for more in (b"\0", b" ", b"\0" * 8, data):
        assert_refused(file, data + more, "not that of its arrays")
    rng = np.random.default_rng(0)
    for place in [*range(80), *range(80, len(data), 23)]:
        flipped = bytearray(data)
        flipped[place] ^= int(rng.integers(1, 256))
        assert_refused(file, bytes(flipped))


@given(data=st.binary(max_size=300))
def test_fuzz_bytes_of_any_kind_are_refused(file, data):
    assert_refused(file, data)


@given(
    start=st.integers(0, 9000),
    length=st.integers(0, 2000),
    other=st.binary(max_size=50),
)
def test_fuzz_replaced_pieces_are_refused(file, start, length, other):
    data = CLASSIFIER.read_bytes()
    changed = data[:start] + other + data[start + length :]
    if changed != data:
        assert_refused(file, changed)


def test_other_files_are_refused(file):
    archive = io.BytesIO()
    np.savez(archive, a=np.ones(3))
    for data in (b"", b"\x80\x04]\x94.", archive.getvalue(), b"{}", b"a,b\n1,2\n"):
        assert_refused(file, data, "cannot be loaded: it")
    for metadata in (None, {"format": "pt"}, {"featuresieve": "{}"}):
        data = safetensors.numpy.save({"a": np.ones(3)}, metadata)
        assert_refused(file, data, "not written by `save`")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_pipe_is_refused_without_waiting(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = []

    def attempt():
        with pytest.raises(FileFormatError, match="not a regular file"):
            featuresieve.load(pipe)
        found.append(True)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(10)
    assert found == [True]


def test_file_that_is_too_large_is_refused_unread(file):
    with file.open("wb") as sparse_file:
        sparse_file.truncate(4 * 2**30 + 1)
    tracemalloc.start()
    with pytest.raises(FileFormatError, match="4,294,967,297 bytes"):
        featuresieve.load(file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20
    file.unlink()


# --- containers that are not sound, with the right checksum


def test_files_that_are_only_sealed_again_load(file):
    data = CLASSIFIER.read_bytes()
    assert sealed(data) == data
    load_bytes(file, joined(*parts()))
    load_bytes(file, with_text(inner_text()))
    load_bytes(file, pack(*unpack(CLASSIFIER)))


def changed_entry(**changes):
    def change(outer):
        outer["support"] |= changes

    return change


def remove_support(outer):
    del outer["support"]


EMPTY = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}


def many_arrays(outer):
    outer |= {f"array {k}": EMPTY for k in range(10_001)}


OUTER = {
    "unknown dtype": changed_entry(dtype="F8_E4M3"),
    "dtype no text": changed_entry(dtype=["BOOL"]),
    "complex": changed_entry(dtype="C64"),
    "wider dtype": changed_entry(dtype="F64"),
    "other dtype": changed_entry(dtype="U8"),
    "shape no list": changed_entry(shape=6),
    "shape of floats": changed_entry(shape=[6.0]),
    "shape of booleans": changed_entry(shape=[True] * 6),
    "negative": changed_entry(shape=[-6]),
    "two negatives": changed_entry(shape=[-2, -3]),
    "another shape": changed_entry(shape=[2, 3]),
    "three axes": changed_entry(shape=[1, 2, 3]),
    "huge": changed_entry(shape=[2**62]),
    "huge product": changed_entry(shape=[2**32, 2**32]),
    "empty and huge": changed_entry(shape=[0, 2**63], data_offsets=[0, 0]),
    "no offsets": changed_entry(data_offsets=[]),
    "offsets of text": changed_entry(data_offsets=["0", "6"]),
    "offsets backwards": changed_entry(data_offsets=[6, 0]),
    "offsets beyond": changed_entry(data_offsets=[2**40, 2**40 + 6]),
    "offsets elsewhere": changed_entry(data_offsets=[0, 6]),
    "unknown field": changed_entry(code="import os"),
    "one array less": remove_support,
    "one array more": lambda outer: outer.update(more=outer["support"]),
    "empty array": lambda outer: outer.update(more=EMPTY),
    "array no object": lambda outer: outer.update(support=None),
    "other metadata": lambda outer: outer["__metadata__"].update(format="pt"),
    "many arrays": many_arrays,
}


@pytest.mark.parametrize("case", OUTER)
def test_fuzz_hostile_containers_are_refused(case, file):
    outer, data = parts()
    OUTER[case](outer)
    assert_refused(file, joined(outer, data))


def test_headers_and_arrays_that_say_something_else_are_refused(file):
    outer, data = parts()
    text = json.dumps(outer, separators=(",", ":"))
    entry = json.dumps(outer["support"], separators=(",", ":"))
    twice = text[:-1] + ',"support":' + entry + "}"
    assert_refused(file, joined(twice.encode(), data), "a key twice")
    assert_refused(file, joined(text.encode() + b"\xff", data), "not JSON")
    place = outer["support"]["data_offsets"][0]
    two = data[:place] + b"\x02" + data[place + 1 :]
    assert_refused(file, joined(outer, two), "'support' holds more than zeros")
    for length in (2**63, 2**64 - 1, 64 * 2**20 + 1, 10**6):
        lying = struct.pack("<Q", length) + CLASSIFIER.read_bytes()[8:]
        assert_refused(file, lying, "header")


# --- random changes

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.integers(-2, 8)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=5), inner, max_size=4)
        | st.dictionaries(st.sampled_from(["tuple", "set", "dict", "array"]), inner)
    ),
    max_leaves=6,
)


def assert_loaded_or_refused(file, data):
    try:
        load_bytes(file, data)
    except FileFormatError as error:
        assert "cannot be loaded" in str(error)


def places(value, path=()):
    """Yield the path of every entry of nested lists and objects."""
    keys = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield (*path, key)
        if isinstance(value[key], dict | list):
            yield from places(value[key], (*path, key))


@given(choices=st.data(), path=st.sampled_from([CLASSIFIER, REGRESSOR]))
def test_fuzz_changed_headers_load_or_are_refused(file, choices, path):
    header, arrays = unpack(path)
    for _ in range(choices.draw(st.integers(1, 2))):
        *steps, last = choices.draw(st.sampled_from(list(places(header))))
        place = header
        for step in steps:
            place = place[step]
        if choices.draw(st.booleans()):
            place[last] = choices.draw(VALUES)
        else:
            del place[last]
    assert_loaded_or_refused(file, pack(header, arrays))


DTYPES = ["bool", "int8", "int64", "uint64", "float16", "float32", "float64"]


@given(choices=st.data(), path=st.sampled_from([CLASSIFIER, REGRESSOR]))
def test_fuzz_changed_arrays_load_or_are_refused(file, choices, path):
    header, arrays = unpack(path)
    name = choices.draw(st.sampled_from(sorted(arrays)))
    if choices.draw(st.booleans()):
        dtype = choices.draw(st.sampled_from(DTYPES))
        length = choices.draw(st.integers(0, 40))
        arrays[name] = np.ones(length, dtype=dtype)
    else:
        raw = bytearray(arrays[name].tobytes())
        if raw:
            place = choices.draw(st.integers(0, len(raw) - 1))
            raw[place] = choices.draw(st.integers(0, 255))
        array = np.frombuffer(bytes(raw), dtype=arrays[name].dtype)
        arrays[name] = array.reshape(arrays[name].shape)
    assert_loaded_or_refused(file, pack(header, arrays))


@given(choices=st.data())
def test_fuzz_sealed_bytes_load_or_are_refused(file, choices):
    data = bytearray(CLASSIFIER.read_bytes())
    for _ in range(choices.draw(st.integers(1, 3))):
        place = choices.draw(st.integers(0, len(data) - 1))
        data[place] = choices.draw(st.integers(0, 255))
    assert_loaded_or_refused(file, sealed(bytes(data)))
