"""No file makes `load` do anything but load it or raise a FileFormatError.

Damaged bytes are found by the checksum. Files of an adversary have a right one: here
and in the files beside this one they are sealed again after they were changed.
"""

import io
import os
import threading
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import featuresieve
from featuresieve import FileFormatError
from featuresieve.storage import pack, unpack
from featuresieve.storage._container import MAX_FILE_BYTES
from sealed_files import (
    CLASSIFIER,
    REGRESSOR,
    assert_refused,
    load_bytes,
    sealed,
)

# --- damage


@pytest.mark.parametrize("path", [CLASSIFIER, REGRESSOR], ids=lambda path: path.stem)
def test_fuzz_truncated_files_are_refused(path, file):
    data = path.read_bytes()
    for length in [*range(20), *range(20, len(data), 37), len(data) - 1]:
        assert_refused(file, data[:length])


def test_fuzz_lengthened_files_are_refused(file):
    data = CLASSIFIER.read_bytes()
    for more in (b"\0", b" ", b"\0" * 8, data):
        assert_refused(file, data + more, "not that of its arrays")


def test_fuzz_flipped_bytes_are_refused(file):
    data = CLASSIFIER.read_bytes()
    rng = np.random.default_rng(0)
    for place in [*range(80), *range(80, len(data), 23)]:
        flipped = bytearray(data)
        flipped[place] ^= int(rng.integers(1, 256))
        assert_refused(file, bytes(flipped))


@given(data=st.binary(max_size=300))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_fuzz_bytes_of_any_kind_are_refused(file, data):
    assert_refused(file, data)


@given(
    start=st.integers(0, 9000),
    length=st.integers(0, 2000),
    other=st.binary(max_size=50),
)
@settings(deadline=None)
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


def test_safetensors_of_another_kind_are_refused(file):
    from safetensors.numpy import save

    for metadata in (None, {"format": "pt"}, {"featuresieve": "{}"}):
        assert_refused(file, save({"a": np.ones(3)}, metadata), "not written by `save`")


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
        sparse_file.truncate(MAX_FILE_BYTES + 1)
    tracemalloc.start()
    with pytest.raises(FileFormatError, match="4,294,967,297 bytes"):
        featuresieve.load(file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20
    file.unlink()


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


def places(value, path=()):
    """Yield the path of every entry of nested lists and objects."""
    keys = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield (*path, key)
        if isinstance(value[key], dict | list):
            yield from places(value[key], (*path, key))


@given(choices=st.data(), path=st.sampled_from([CLASSIFIER, REGRESSOR]))
@settings(deadline=None)
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
    try:
        load_bytes(file, pack(header, arrays))
    except FileFormatError as error:
        assert "cannot be loaded" in str(error)


DTYPES = ["bool", "int8", "int64", "uint64", "float16", "float32", "float64"]


@given(choices=st.data(), path=st.sampled_from([CLASSIFIER, REGRESSOR]))
@settings(deadline=None)
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
    try:
        load_bytes(file, pack(header, arrays))
    except FileFormatError as error:
        assert "cannot be loaded" in str(error)


@given(choices=st.data())
@settings(deadline=None)
def test_fuzz_sealed_bytes_load_or_are_refused(file, choices):
    data = bytearray(CLASSIFIER.read_bytes())
    for _ in range(choices.draw(st.integers(1, 3))):
        place = choices.draw(st.integers(0, len(data) - 1))
        data[place] = choices.draw(st.integers(0, 255))
    try:
        load_bytes(file, sealed(bytes(data)))
    except FileFormatError as error:
        assert "cannot be loaded" in str(error)
