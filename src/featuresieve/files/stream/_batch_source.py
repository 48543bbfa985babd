"""What is read batch by batch: files, data sets, readers, relations, iterables."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import pyarrow as pa
from pyarrow import dataset

from featuresieve.errors import TableFileError, listed
from featuresieve.files.stream._costs import cell_bytes
from featuresieve.files.stream._parquet_files import (
    check_names,
    checked,
    find_files,
)
from featuresieve.files.stream._stream import is_of

_BATCH_BYTES = 1 << 24
_MOST_BATCH_ROWS = 1 << 16


@dataclass(frozen=True)
class BatchSource:
    """A table that comes in batches.

    `open` gives them from the start, with the named columns and about so many rows.
    """

    name: str  # how messages call it
    schema: pa.Schema
    open: Callable[[Sequence[str], int], Iterator[pa.RecordBatch]]
    is_read_ahead: bool = True  # False: the code of a user, which stays on its thread
    # Every so manieth piece and its first row, given which and of how many; None: it
    # cannot be read in pieces.
    part: Callable[[int, int], "list[tuple[int, BatchSource]]"] | None = None

    def take(self, names: Sequence[str], argument: str = "") -> "BatchSource":
        """Return the same source with some of its columns, for an argument."""
        check_names(f"{argument}{self.name}", names, self.schema)
        schema = pa.schema([self.schema.field(name) for name in names])
        return replace(self, schema=schema)

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield batches of some columns, read by a thread of their own."""
        width = sum(cell_bytes(self.schema.field(name).type) for name in names)
        n_rows = min(_MOST_BATCH_ROWS, max(256, int(_BATCH_BYTES / max(width, 1))))
        batches = self.open(names, n_rows)
        return read_ahead(batches) if self.is_read_ahead else batches


def batch_source(
    source: Any, filesystem: Any = None, columns: Sequence[str] | None = None
) -> BatchSource:
    """Return what reads a source, or raise a TypeError if it is none.

    `columns` are all that are to be looked at.
    """
    paths = [source] if isinstance(source, str | os.PathLike) else source
    if is_list_of(paths, (str, os.PathLike)):
        name = os.fspath(paths[0]) + (" …" if len(paths) > 1 else "")
        return source_of_files(name, find_files(paths, filesystem, columns))
    if isinstance(source, dataset.Dataset):
        return _of_dataset(source, columns)
    if is_of(source, "duckdb", "DuckDBPyRelation"):
        return _of_relation(source)
    is_reader = isinstance(source, pa.RecordBatchReader | Iterator)
    if is_reader or is_list_of(source, pa.RecordBatch):
        return _of_batches(source)
    raise TypeError(
        "a stream must be the path of Parquet files, a dataset, a reader or batches of "
        f"pyarrow, a relation of duckdb or a numpy.memmap, got a {type(source)}."
    )


def is_list_of(source: Any, kind: Any) -> bool:
    """Tell whether something is a list of such things, not an empty one."""
    is_list = isinstance(source, list | tuple) and bool(source)
    return is_list and all(isinstance(each, kind) for each in source)


def source_of_files(name: str, files: Any) -> BatchSource:
    """Return the source for Parquet files."""

    def part(number: int, size: int) -> list[tuple[int, BatchSource]]:
        pieces = files.part(number, size)
        return [(first, source_of_files(name, piece)) for first, piece in pieces]

    return BatchSource(name, files.schema, files.batches, part=part)


def _of_dataset(data: Any, columns: Sequence[str] | None) -> BatchSource:
    """Return the source for a data set of pyarrow."""
    try:
        fragments = list(data.get_fragments())
    except ValueError:  # it is filtered
        fragments = []
    is_parquet = fragments and all(
        isinstance(each, dataset.ParquetFileFragment) for each in fragments
    )
    if is_parquet:
        return source_of_files("the dataset", checked(fragments, data.schema, columns))

    def batches(names: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        yield from data.to_batches(
            columns=list(names),
            batch_size=n_rows,
            batch_readahead=2,
            fragment_readahead=1,
        )

    return BatchSource("the dataset", data.schema, batches)


def _of_relation(relation: Any) -> BatchSource:
    """Return the source for a relation of duckdb, which is asked each time."""

    def batches(names: Sequence[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        quoted = ['"{}"'.format(name.replace('"', '""')) for name in names]
        asked = relation.select(*quoted)
        yield from asked.to_arrow_reader(n_rows)

    schema = relation.limit(0).to_arrow_table().schema
    return BatchSource("the relation", schema, batches)


_READ_BEFORE = (
    "holds no rows: it may have been read before, and can be read only once. Make it "
    "anew, or pass what can be read again, such as a dataset."
)


def _of_batches(batches: Any) -> BatchSource:
    """Return the source for batches: a list, or what can be read only once."""
    is_list = isinstance(batches, list | tuple)
    if is_list:
        name, schema = "the list of batches", batches[0].schema
    elif isinstance(batches, pa.RecordBatchReader):
        name, schema = "the reader", batches.schema
    else:
        name, first = "the iterator", next(batches, None)
        if first is None:
            raise TableFileError(f"{name} {_READ_BEFORE}")
        schema = _checked(first, getattr(first, "schema", None)).schema
        batches = chain([first], batches)

    def opened(names: Sequence[str], _: int) -> Iterator[pa.RecordBatch]:
        n_rows = 0
        try:
            for found in batches:
                batch = _checked(found, schema)
                n_rows += batch.num_rows
                yield batch.select(list(names))
        except pa.ArrowInvalid as error:
            if "closed" not in str(error):
                raise
            raise TableFileError(f"{name} {_READ_BEFORE}") from error
        if n_rows == 0 and not is_list:
            raise TableFileError(f"{name} {_READ_BEFORE}")

    return BatchSource(name, schema, opened, is_read_ahead=False)


def _checked(batch: Any, schema: Any) -> pa.RecordBatch:
    """Return a batch that is like the first one."""
    if not isinstance(batch, pa.RecordBatch):
        raise TypeError(
            "a stream must yield batches, pyarrow.RecordBatch, got a "
            f"{type(batch).__name__}: of a data frame, pyarrow.RecordBatch.from_pandas "
            "makes one."
        )
    if batch.schema.equals(schema):
        return batch
    if batch.schema.names != schema.names:
        raise TableFileError(
            f"a batch has the columns {listed(batch.schema.names)}, and the first one "
            f"{listed(schema.names)}: they must be the same."
        )
    try:
        columns = [
            column.cast(field.type)
            for column, field in zip(batch.columns, schema, strict=True)
        ]
    except pa.ArrowException as error:
        raise TableFileError(
            f"a batch has other types than the first one: {error}"
        ) from error
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def read_ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield what a thread reads meanwhile, one batch ahead; raise its errors."""
    with ThreadPoolExecutor(1, "featuresieve-reader") as reader:
        coming = reader.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = reader.submit(next, batches, None)
            yield batch
