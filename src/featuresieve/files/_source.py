"""Where the bytes of a table come from: a file or standard input, perhaps compressed.

What a file is, is told by its first bytes, not by its name.
"""

import bz2
import codecs
import gzip
import lzma
import os
import re
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal, cast

import pyarrow as pa

from featuresieve.errors import TableFileError, did_you_mean, one_line

Compression = Literal["gz", "bz2", "xz", "zip", "zst"]
Format = Literal["text", "parquet", "arrow", "JSON lines", "JSON", "spreadsheet"]

_COMPRESSIONS: tuple[tuple[bytes, Compression], ...] = (
    (b"\x1f\x8b", "gz"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"PK\x03\x04", "zip"),
    (b"\x28\xb5\x2f\xfd", "zst"),
)
_FORMATS: tuple[tuple[bytes, Format], ...] = (
    (b"\xd0\xcf\x11\xe0", "spreadsheet"),  # of an older Excel
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"FEA1", "arrow"),
    (b"\xff\xff\xff\xff", "arrow"),  # a stream of Arrow, not a file of it
)
# What people have beside tables in files, and what to do with it.
_FOREIGN = (
    (b"SQLite format 3", "an SQLite database", "export the table as CSV first"),
    (b"%PDF", "a PDF", "copy its table into a CSV file first"),
    (b"\x89HDF", "HDF5", "convert it to CSV or Parquet first"),
    (b"\x80\x04\x95", "a pickle", "convert it to CSV or Parquet first"),
    (b"\x80\x05\x95", "a pickle", "convert it to CSV or Parquet first"),
    (b"<!", "a web page", "download the table itself"),
    (b"<html", "a web page", "download the table itself"),
    (b"<?xml", "XML", "convert it to CSV or Parquet first"),
)
# A header may begin with a bracket too, [name] say, but not with what JSON has there.
_JSON = re.compile(rb'\s*(\{\s*["}]|\[\s*([\[{"\d-]|null|true|false))')
_JSON_ENDINGS = (".json", ".jsonl", ".ndjson", ".geojson")
# What archives of the programs that write spreadsheets hold.
_OF_SPREADSHEETS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_READERS: dict[str, Callable[[IO[bytes]], Any]] = {
    "gz": gzip.open,
    "bz2": bz2.open,
    "xz": lzma.open,
    "zst": lambda raw: pa.CompressedInputStream(raw, "zstd"),
}
_WRITERS: dict[str, Callable[[IO[bytes]], Any]] = {
    "bz2": partial(bz2.open, mode="wb"),
    "xz": partial(lzma.open, mode="wb"),
    "zst": lambda raw: pa.CompressedOutputStream(raw, "zstd"),
}
# What the openers of damaged archives raise, and of those packed in a rare way.
DAMAGED = (
    *(OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile),
    NotImplementedError,
)


@dataclass(frozen=True)
class Source:
    """A table that has not been read yet."""

    name: str  # how messages call it
    path: Path | None  # None for standard input and pipes, which are held in `spool`
    compression: Compression | None = None
    format: Format = "text"
    spool: IO[bytes] | None = None  # has no name in the file system

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Give the bytes of the table, not compressed, from the start."""
        if self.path is not None:
            raw: IO[bytes] = self.path.open("rb")
        else:
            assert self.spool is not None
            self.spool.seek(0)
            # A copy of the handle: readers close what they are given.
            raw = os.fdopen(os.dup(self.spool.fileno()), "rb")
        with raw, _unpacked(raw, self.compression, self.name) as file:
            yield file

    def first_bytes(self, n_bytes: int) -> bytes:
        """Return the first bytes of the table, not compressed."""
        try:
            with self.open() as file:
                return file.read(n_bytes)
        except DAMAGED as error:
            raise self.unreadable(error) from error

    def unreadable(self, error: BaseException) -> TableFileError:
        """Build the error for a file that cannot be read."""
        return TableFileError(f"{self.name} cannot be read: {one_line(error)}")


@contextmanager
def open_source(name: str) -> Iterator[Source]:
    """Find out what a file is.

    What can be read only once is copied first: "-", standard input, and pipes.
    """
    path = None if name == "-" else _existing(name)
    if path is not None and path.is_file():
        yield _identified(Source(name, path))
        return
    with tempfile.TemporaryFile(prefix="featuresieve-") as spool:
        with nullcontext(sys.stdin.buffer) if path is None else path.open("rb") as pipe:
            shutil.copyfileobj(pipe, spool, 1 << 20)
        shown = "standard input" if path is None else name
        yield _identified(Source(shown, None, spool=spool))


def _existing(name: str) -> Path:
    """Return the path of a file that can be opened."""
    if _ADDRESS.match(name):
        raise TableFileError(
            f"{name} is an address, and only files are read: download it first."
        )
    path = Path(name).expanduser()
    if path.is_dir():
        raise TableFileError(f"{name} is a folder, not a file.")
    if not path.exists():
        beside = path.parent.iterdir() if path.parent.is_dir() else ()
        names = [other.name for other in beside if other.is_file()]
        hint = did_you_mean(path.name, names, ".")
        raise TableFileError(f"there is no file {name}{hint}")
    if not os.access(path, os.R_OK):
        raise TableFileError(f"{name} may not be read: permission denied.")
    return path


def _identified(source: Source) -> Source:
    """Return the source with what its first bytes tell."""
    first = source.first_bytes(64)
    if not first:
        raise TableFileError(f"{source.name} is empty.")
    for mark, compression in _COMPRESSIONS:
        if first.startswith(mark):
            if compression == "zip" and _is_spreadsheet(source):
                return replace(source, format="spreadsheet")
            source = replace(source, compression=compression)
            first = source.first_bytes(64)
            break
    for mark, kind in _FORMATS:
        if first.startswith(mark):
            return replace(source, format=kind)
    start = first.removeprefix(codecs.BOM_UTF8).lstrip()
    for mark, what, advice in _FOREIGN:
        if start[: len(mark)].lower() == mark.lower():
            message = f"{source.name} is {what}, not CSV or Parquet: {advice}."
            raise TableFileError(message)
    has_ending = any(ending in source.name.lower() for ending in _JSON_ENDINGS)
    if _JSON.match(start) or (has_ending and start.startswith((b"{", b"["))):
        is_list = start.startswith(b"[")
        return replace(source, format="JSON" if is_list else "JSON lines")
    return source


def _is_spreadsheet(source: Source) -> bool:
    """Tell whether an archive is a workbook."""
    try:
        with source.open() as raw, zipfile.ZipFile(raw) as archive:
            return not {*_OF_SPREADSHEETS}.isdisjoint(archive.namelist())
    except DAMAGED:
        return False


@contextmanager
def _unpacked(
    raw: IO[bytes], compression: Compression | None, name: str
) -> Iterator[IO[bytes]]:
    """Give what a compressed file holds."""
    if compression is None:
        yield raw
    elif compression == "zip":
        with (
            zipfile.ZipFile(raw) as archive,
            archive.open(_only_member(archive, name)) as file,
        ):
            yield file
    else:
        with _READERS[compression](raw) as file:
            yield file


def _only_member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """Return the one file in an archive."""
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        raise TableFileError(f"{name} must hold one file, got {len(members)}.")
    if members[0].flag_bits & 1:
        raise TableFileError(f"{name} is encrypted.")
    return members[0]


@contextmanager
def packed(
    raw: IO[bytes], compression: Compression | None, member: str
) -> Iterator[IO[bytes]]:
    """Give a file to write into, which compresses; an archive holds `member`."""
    if compression is None:
        yield raw
    elif compression == "zip":
        with (
            zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive,
            archive.open(member, "w", force_zip64=True) as file,
        ):
            yield file
    elif compression == "gz":  # without the time: the same table, the same bytes
        with gzip.GzipFile(member, "wb", fileobj=raw, mtime=0) as file:
            yield cast("IO[bytes]", file)
    else:
        with _WRITERS[compression](raw) as file:
            yield file
