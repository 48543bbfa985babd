"""A header and arrays in one file: the safetensors format, sealed with a checksum.

The header is JSON, held as text in the metadata that safetensors allows. It starts
with the SHA-256 of the whole file, taken with zeros in its own place.
"""

import hashlib
import json
import math
import os
import re
import stat
from pathlib import Path
from typing import IO, Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from featuresieve.files import check_no_nul
from featuresieve.storage._file_checks import (
    MAX_JSON_VALUES,
    Fields,
    NamedArrays,
    State,
    parse_json,
    require,
)

MAX_FILE_BYTES = 4 * 2**30
MAX_HEADER_BYTES = 64 * 2**20
MAX_ARRAYS = 10_000
MAX_AXES = 2

_KEY = "featuresieve"
_LENGTH_BYTES = 8
_SEAL = re.compile(rb'\{\\"sha256\\":\\"([0-9a-f]{64})\\"')
_OPEN = b"0" * 64
_ITEM_BYTES = {
    **{"BOOL": 1, "I8": 1, "U8": 1, "I16": 2, "U16": 2, "F16": 2},
    **{"I32": 4, "U32": 4, "F32": 4, "I64": 8, "U64": 8, "F64": 8},
}


def pack(header: dict[str, Any], arrays: NamedArrays) -> bytes:
    """Return the bytes of a file; a ValueError if `unpack` would find it too large."""
    sealed = {"sha256": _OPEN.decode(), **header}
    text = json.dumps(sealed, allow_nan=False, separators=(",", ":"))
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    data = save(contiguous, {_KEY: text})
    n_header = int.from_bytes(data[:_LENGTH_BYTES], "little")
    n_values = sum(text.count(mark) for mark in ",[{")
    if max(len(data) / MAX_FILE_BYTES, n_header / MAX_HEADER_BYTES) > 1 or (
        n_values > MAX_JSON_VALUES
    ):
        raise ValueError(
            f"the file would have {len(data):,} bytes and a header of {n_header:,} "
            f"bytes, {n_values:,} values; allowed are {MAX_FILE_BYTES:,}, "
            f"{MAX_HEADER_BYTES:,} and {MAX_JSON_VALUES:,}. Use pickle or joblib."
        )
    seal = _SEAL.search(data, 0, _LENGTH_BYTES + n_header)
    assert seal is not None
    digest = hashlib.sha256(data).hexdigest().encode()
    return data[: seal.start(1)] + digest + data[seal.end(1) :]


def unpack(path: str | os.PathLike[str]) -> State:
    """Read header and arrays of a file that `pack` made, or a `FileFormatError`."""
    check_no_nul("path", path)
    mode = Path(path).stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"path must name a file, got the folder {path}.")
    require(stat.S_ISREG(mode), "it is not a regular file.")
    with Path(path).open("rb") as file:
        return unpack_stream(file)


def unpack_stream(file: IO[bytes]) -> State:
    """Read what `pack` made; the arrays only after the header is found to fit them."""
    size = file.seek(0, os.SEEK_END)
    require(
        size <= MAX_FILE_BYTES,
        f"it has {size:,} bytes, and at most {MAX_FILE_BYTES:,} are allowed.",
    )
    file.seek(0)
    head = file.read(_LENGTH_BYTES)
    head += file.read(_header_length(head, size))
    seals = list(_SEAL.finditer(head, _LENGTH_BYTES))
    require(len(seals) == 1, "it has no checksum: it was not written by `save`.")
    header = _header(head, size)
    file.seek(0)
    data = file.read(size)
    require(data.startswith(head) and len(data) == size, "it changes while it is read.")
    start, end = seals[0].span(1)
    digest = hashlib.sha256(data[:start])
    digest.update(_OPEN)
    digest.update(memoryview(data)[end:])
    require(
        digest.hexdigest().encode() == seals[0][1],
        "its checksum does not match: it is truncated, or was changed or damaged "
        "after it was written.",
    )
    return header, _load(data)


def _header_length(start: bytes, size: int) -> int:
    """Return the length of the outer header."""
    require(size > _LENGTH_BYTES, f"it has {size} bytes: it is truncated.")
    n_header = int.from_bytes(start, "little")
    require(
        n_header <= MAX_HEADER_BYTES,
        "its header is none: it was not written by `save`.",
    )
    require(
        n_header <= size - _LENGTH_BYTES,
        f"its header should have {n_header:,} bytes, and {size - 8:,} are there: "
        "it is truncated, or was not written by `save`.",
    )
    return n_header


def _header(head: bytes, size: int) -> dict[str, Any]:
    """Return the inner header; the outer one must describe the rest of the file."""
    fields = Fields(parse_json(head[_LENGTH_BYTES:]), "the outer header")
    metadata = fields.fields("__metadata__")
    text = metadata.text(_KEY)
    metadata.finish()
    _check_arrays(fields.left(), size - len(head))
    # Lone surrogates are not text, and `pack` escapes all but ASCII.
    header = parse_json(text.encode("ascii", errors="replace"))
    require(isinstance(header, dict), "its header is not an object.")
    header.pop("sha256", None)
    return dict(header)


def _check_arrays(entries: dict[str, Any], n_bytes: int) -> None:
    """Check the kinds and sizes of arrays before any of them is made."""
    require(len(entries) <= MAX_ARRAYS, f"it has {len(entries):,} arrays.")
    total = 0
    for name, entry in entries.items():
        label = f"the array {name[:80]!r}"
        fields = Fields(entry, label)
        size = _ITEM_BYTES[fields.text("dtype", _ITEM_BYTES)]
        shape = fields.listed("shape", int)
        require(len(shape) <= MAX_AXES, f"{label} has {len(shape)} axes.")
        # Before any product: an empty array may have one axis of any length.
        is_possible = all(0 <= length <= n_bytes for length in shape)
        require(is_possible, f"{label} has the impossible shape {shape}.")
        offsets = fields.listed("data_offsets", int)
        fields.finish()
        n_own = size * math.prod(shape)
        require(
            len(offsets) == 2 and offsets[1] - offsets[0] == n_own,
            f"{label} of shape {shape} does not have {n_own:,} bytes.",
        )
        total += n_own
    require(
        total == n_bytes,
        "its size is not that of its arrays: it is truncated, or was changed or "
        "damaged after it was written.",
    )


def _load(data: bytes) -> NamedArrays:
    """Return the arrays, which have allowed dtypes and shapes."""
    try:
        arrays: NamedArrays = load(data)
    except SafetensorError as error:
        require(False, f"its arrays cannot be read: {error}")
    for name, array in arrays.items():
        if array.dtype == np.bool_ and array.size:
            is_sound = bool(array.view(np.uint8).max() <= 1)
            require(is_sound, f"the array {name!r} holds more than zeros and ones.")
    return arrays
