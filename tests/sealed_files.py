"""Saved files that an adversary changed, with the right checksum all the same."""

import hashlib
import json
import struct

import pytest

import featuresieve
from featuresieve import FileFormatError
from featuresieve.storage import unpack
from saved_tables import DATA

CLASSIFIER = DATA / "classifier-6.safetensors"
REGRESSOR = DATA / "regressor-6.safetensors"
SEAL = b'{\\"sha256\\":\\"'


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


def put(*path, value):
    """Return a change of a header and its arrays: one entry of them."""

    def change(header, arrays):
        *steps, last = path
        place = {"header": header, "arrays": arrays}
        for step in steps:
            place = place[step]
        place[last] = value

    return change


def on(name, function):
    """Return a change of a header and its arrays: a function of one array."""

    def change(_, arrays):
        arrays[name] = function(arrays[name])

    return change
