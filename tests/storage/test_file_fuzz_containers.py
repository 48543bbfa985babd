"""Files with the right checksum are refused if their container is not sound."""

import json
import struct

import pytest

from featuresieve.storage import pack, unpack
from featuresieve.storage._container import MAX_HEADER_BYTES
from sealed_files import (
    CLASSIFIER,
    assert_refused,
    inner_text,
    joined,
    load_bytes,
    parts,
    sealed,
    with_text,
)


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
