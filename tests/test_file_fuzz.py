"""No file makes `load` do anything but load it or raise a FileFormatError.

Damaged bytes are found by the checksum. Files of an adversary have a right one: here
they are sealed again after they were changed.
"""

import hashlib
import io
import json
import os
import struct
import threading
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import featuresieve
from featuresieve import FileFormatError
from featuresieve._container import MAX_FILE_BYTES, MAX_HEADER_BYTES, pack, unpack
from featuresieve._file_checks import MAX_JSON_VALUES
from saved_tables import DATA

CLASSIFIER = DATA / "classifier-1.safetensors"
REGRESSOR = DATA / "regressor-1.safetensors"
SEAL = b'{\\"sha256\\":\\"'


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Return where to write what is to be loaded."""
    return tmp_path_factory.mktemp("fuzz") / "selector.safetensors"


def load_bytes(file, data):
    file.write_bytes(data)
    return featuresieve.load(file)


def assert_refused(file, data, match=None):
    with pytest.raises(FileFormatError, match=match):
        load_bytes(file, data)


def sealed(data):
    """Return the bytes with the checksum that they should have."""
    start = data.find(SEAL) + len(SEAL)
    data = data[:start] + b"0" * 64 + data[start + 64 :]
    digest = hashlib.sha256(data).hexdigest().encode()
    return data[:start] + digest + data[start + 64 :]


def parts(path=CLASSIFIER):
    """Return the outer header of a file as an object, and what follows it."""
    data = path.read_bytes()
    end = 8 + struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8:end]), data[end:]


def joined(outer, data):
    """Return a sealed file with an outer header of bytes or an object."""
    if not isinstance(outer, bytes):
        outer = json.dumps(outer, separators=(",", ":")).encode()
    return sealed(struct.pack("<Q", len(outer)) + outer + data)


def with_text(text):
    """Return a sealed file with another inner header, a text."""
    outer, data = parts()
    outer["__metadata__"]["featuresieve"] = '{"sha256":"' + "0" * 64 + '",' + text
    return joined(outer, data)


def inner_text():
    header, _ = unpack(CLASSIFIER)
    return json.dumps(header)[1:]


# --- damage


@pytest.mark.parametrize("path", [CLASSIFIER, REGRESSOR], ids=lambda path: path.stem)
def test_fuzz_truncated_files_are_refused(path, file):
    data = path.read_bytes()
    for length in [*range(20), *range(20, len(data), 37), len(data) - 1]:
        assert_refused(file, data[:length])


def test_fuzz_lengthened_files_are_refused(file):
    data = CLASSIFIER.read_bytes()
    for more in (b"\0", b" ", b"\0" * 8, data):
        assert_refused(file, data + more, "checksum")


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
    started = time.perf_counter()
    with pytest.raises(FileFormatError, match="4,294,967,297 bytes"):
        featuresieve.load(file)
    assert time.perf_counter() - started < 1
    file.unlink()


# --- sealed by an adversary: the container


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


def many_arrays(outer):
    entry = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    outer |= {f"array {k}": entry for k in range(10_001)}


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
    "empty array": lambda outer: outer.update(
        more={"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    ),
    "array no object": lambda outer: outer.update(support=None),
    "other metadata": lambda outer: outer["__metadata__"].update(format="pt"),
    "many arrays": many_arrays,
}


@pytest.mark.parametrize("case", OUTER)
def test_fuzz_hostile_containers_are_refused(case, file):
    outer, data = parts()
    OUTER[case](outer)
    assert_refused(file, joined(outer, data))


def test_array_named_twice_is_refused(file):
    outer, data = parts()
    text = json.dumps(outer, separators=(",", ":"))
    entry = json.dumps(outer["support"], separators=(",", ":"))
    twice = text[:-1] + ',"support":' + entry + "}"
    assert_refused(file, joined(twice.encode(), data), "a key twice")


def test_header_that_is_no_text_is_refused(file):
    outer, data = parts()
    text = json.dumps(outer, separators=(",", ":")).encode()
    assert_refused(file, joined(text + b"\xff", data), "not JSON")


def test_truth_value_of_two_is_refused(file):
    outer, data = parts()
    place = outer["support"]["data_offsets"][0]
    data = data[:place] + b"\x02" + data[place + 1 :]
    assert_refused(file, joined(outer, data), "'support' holds more than zeros")


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, MAX_HEADER_BYTES + 1, 10**6])
def test_header_length_is_not_believed(length, file):
    data = CLASSIFIER.read_bytes()
    assert_refused(file, struct.pack("<Q", length) + data[8:], "header")


# --- sealed by an adversary: the header


TEXTS = {
    "key twice": ('"schema":"x",', "a key twice"),
    "NaN": ('"more":NaN,', "NaN, no finite"),
    "infinity": ('"more":-Infinity,', "no finite"),
    "overflow": ('"more":1e999,', "no finite"),
    "digits": ('"more":' + "9" * 10_000 + ",", "not JSON"),
    "deep lists": ('"more":' + "[" * 10**5 + "]" * 10**5 + ",", "nested too deeply"),
    "deep objects": ('"more":' + '{"a":' * 10**5 + "1" + "}" * 10**5 + ",", "deeply"),
    "unfinished": ('"more":', "not JSON"),
    "unknown": ('"more":1,', "unknown fields: 'more'"),
    "many values": ('"more":[' + "0," * MAX_JSON_VALUES + "0],", "values"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_fuzz_hostile_header_texts_are_refused(case, file):
    text, match = TEXTS[case]
    assert_refused(file, with_text(text + inner_text()), match)


def test_unicode_escape_of_half_a_character_is_no_other_error(file):
    assert_refused(file, with_text('"\\ud800":"\\udfff",' + inner_text()))


def put(*path, value):
    def change(header, arrays):
        place = {"header": header, "arrays": arrays}
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


def on(name, function):
    def change(_, arrays):
        arrays[name] = function(arrays[name])

    return change


def with_first(value):
    """Return a function that puts a value into the first place of an array."""

    def change(array):
        array = array.copy()
        array.flat[0] = value
        return array

    return change


HEADER = {
    "schema": (put("header", "schema", value="other"), "its schema is 'other'"),
    "newer": (put("header", "schema_version", value=2), "install a newer release"),
    "version zero": (put("header", "schema_version", value=0), "schema_version"),
    "version true": (put("header", "schema_version", value=True), "schema_version"),
    "class": (put("header", "class", value="os.system"), "class is not one of"),
    "other class": (put("header", "class", value="AutoNFSRegressor"), "its target"),
    "parameter": (put("header", "parameters", "x", value=1), "'x' is no argument"),
    "checkpoint": (
        put("header", "parameters", "checkpoint", value="/etc/passwd"),
        "'checkpoint', a path",
    ),
    "parameters": (put("header", "parameters", value=[]), "not an object"),
    "tag": (put("header", "parameters", "noise", value={"eval": []}), "no known kind"),
    "tags": (
        put("header", "parameters", "noise", value={"set": [], "tuple": []}),
        "no known kind",
    ),
    "set of lists": (
        put("header", "parameters", "noise", value={"set": [[1]]}),
        "not single values",
    ),
    "dict of lists": (
        put("header", "parameters", "noise", value={"dict": [[[1], 2]]}),
        "not single values",
    ),
    "no pairs": (
        put("header", "parameters", "noise", value={"dict": [[1, 2, 3]]}),
        "no pairs",
    ),
    "array overflow": (
        put("header", "parameters", "noise", value={"array": [300], "dtype": "uint8"}),
        "not of dtype uint8",
    ),
    "array dtype": (
        put("header", "parameters", "noise", value={"array": [1], "dtype": "V8"}),
        "dtype is not one of",
    ),
    "array of long texts": (
        put(
            *("header", "parameters", "noise"),
            value={"array": ["a" * 10_000, *[""] * 10_000], "dtype": "str"},
        ),
        "too long",
    ),
    "output": (put("header", "output", value="os"), "output"),
    "output no text": (put("header", "output", value={}), "output"),
    "no features": (put("header", "n_features_in", value=0), "n_features_in"),
    "more features": (put("header", "n_features_in", value=7), "shape"),
    "huge features": (put("header", "n_features_in", value=2**31 - 1), "shape"),
    "names": (put("header", "feature_names", value=["a"]), "6 feature names"),
    "names no text": (put("header", "feature_names", value=[1] * 6), "not text"),
    "names equal": (put("header", "feature_names", value=["a"] * 6), "distinct"),
    "balance": (put("header", "findings", "balance", value=-1.0), "balance"),
    "records": (put("header", "findings", "n_records", value=2**31 - 1), "shape"),
    "members": (put("header", "findings", "n_members", value=-1), "n_members"),
    "no path": (put("header", "findings", "n_path", value=0), "n_path"),
    "networks": (put("header", "predictor", "n_members", value=10**9), "n_members"),
    "one network more": (put("header", "predictor", "n_members", value=3), "no array"),
    "one network less": (put("header", "predictor", "n_members", value=1), "unknown"),
    "sizes": (put("header", "predictor", "sizes", 0, value=9), "10 columns"),
    "huge sizes": (put("header", "predictor", "sizes", 1, value=2**62), "shape"),
    "sizes no list": (put("header", "predictor", "sizes", value="abc"), "a list"),
    "no sizes": (put("header", "predictor", "sizes", value=[]), "0 sizes"),
    "target": (put("header", "target", "kind", value="code"), "kind is not one of"),
    "huge target": (
        put("header", "target", value={"kind": "labels", "n": 2**31 - 1}),
        "2 outputs",
    ),
    "classes": (put("header", "target", "classes", value=["a", "a"]), "distinct"),
    "three classes": (
        put("header", "target", "classes", value=["a", "b", "c"]),
        "2 class labels",
    ),
    "classes no text": (put("header", "target", "classes", value=[1, 2]), "of str"),
    "width": (
        put("header", "target", value={
            "kind": "classes", "n": 2, "dtype": "U", "width": 1, "classes": ["aa", "b"]
        }),
        "cut off",
    ),
    "huge width": (
        put("header", "target", value={
            "kind": "classes", "n": 2, "dtype": "U", "width": 2**30, "classes": ["a"]
        }),
        "width",
    ),
    "encoder": (put("header", "encoder", value=None), "encoder"),
    "encoder of others": (
        put("header", "encoder", "features", 0, "feature", value=5),
        "kept",
    ),
    "encoder of a wider table": (
        put("header", "encoder", "n_features_in", value=2**30),
        "kept",
    ),
    "NaN weights": (on("predictor.0.weight0", with_first(np.nan)), "NaN or infinity"),
    "infinite weights": (on("predictor.1.bias0", with_first(np.inf)), "NaN"),
    "NaN logits": (on("logits", with_first(np.nan)), "NaN"),
    "NaN scales": (on("encoder.means", with_first(np.nan)), "encoder"),
    "NaN history": (on("history.gates", with_first(np.nan)), "NaN"),
    "infinite path": (on("path.loss", with_first(np.inf)), "infinite loss"),
    "frequency": (on("selection_frequency", with_first(1.5)), r"\[0, 1\]"),
    "ranking": (on("ranking", with_first(2)), "ranking"),
    "nothing kept": (on("support", np.zeros_like), "keeps no feature"),
    "all kept": (on("support", np.ones_like), "encoder is not of the kept"),
    "two choices": (on("path.is_chosen", np.zeros_like), "one choice"),
    "path counts": (on("path.n_kept", with_first(7)), "more features"),
    "float64 weights": (
        on("predictor.0.weight0", lambda a: a.astype(np.float64)),
        "float64",
    ),
    "integer weights": (on("predictor.0.weight0", lambda a: a.astype(int)), "int64"),
    "transposed": (on("predictor.0.weight0", lambda a: a.T.copy()), "shape"),
    "flat": (on("predictor.0.weight0", lambda a: a.reshape(-1)), "shape"),
    "short": (on("logits", lambda a: a[1:]), "shape"),
    "another array": (put("arrays", "more", value=np.ones(3)), "unknown arrays"),
}  # fmt: skip


@pytest.mark.parametrize("case", HEADER)
def test_fuzz_hostile_headers_are_refused_and_cost_little(case, file):
    change, match = HEADER[case]
    header, arrays = unpack(CLASSIFIER)
    change(header, arrays)
    data = pack(header, arrays)
    tracemalloc.start()
    started = time.perf_counter()
    assert_refused(file, data, match)
    seconds = time.perf_counter() - started
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The file itself has ten kilobytes, or a hundred.
    assert peak < 4 * 2**20
    assert seconds < 5


TARGET = {
    "spreads": (on("target.spreads", np.zeros_like), "spreads below zero"),
    "widths": (on("target.widths", lambda a: a - 1), "widths below zero"),
    "NaN": (on("target.means", lambda a: a * np.nan), "NaN"),
    "outputs": (put("header", "target", "n", value=2), "1 outputs, its target 2"),
    "flat": (put("header", "target", "is_flat", value=1), "true or false"),
}


@pytest.mark.parametrize("case", TARGET)
def test_fuzz_hostile_targets_are_refused(case, file):
    change, match = TARGET[case]
    header, arrays = unpack(REGRESSOR)
    change(header, arrays)
    assert_refused(file, pack(header, arrays), match)


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
