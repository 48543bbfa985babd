"""What a user passes where a table does not fit into memory."""

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from featuresieve.errors import shown
from featuresieve.files.stream._memory import as_bytes

DEFAULT_MEMORY = "2 GiB"


class Stream:
    """A table that is read batch by batch, within a stated memory.

    The paths, datasets, readers and so on that it takes may also be passed to the
    estimators as they are; it is there to say more of them.

    Parameters
    ----------
    source : path, list of paths, dataset, reader, batches, relation or ndarray
        The path of Parquet: a file, a folder (with partitions such as ``year=2024``)
        or a pattern with ``*``; a `pyarrow.dataset.Dataset`; a
        `pyarrow.RecordBatchReader` or another iterable of `pyarrow.RecordBatch`, which
        is read once; a relation of duckdb; an array, such as a `numpy.memmap`.
    memory : int or str, default="2 GiB"
        What reading, encoding and training may take beside what is loaded already: a
        number of bytes or a text such as "500 MB". It decides how many rows are kept;
        more than 1,048,576 never are. The answer depends on it if not all are.
    filesystem : pyarrow.fs.FileSystem, fsspec file system or None, default=None
        Where paths lead; None is this machine, or what an address such as ``s3://``
        names.
    columns : list of str or None, default=None
        The columns to look at, the target among them; None is all.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> import pyarrow.parquet
    >>> from sklearn.datasets import load_iris
    >>> from featuresieve import AutoNFSClassifier, Stream
    >>> iris = pa.Table.from_pandas(load_iris(as_frame=True).frame)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pa.parquet.write_table(iris, Path(folder) / "iris.parquet")
    ...     stream = Stream(folder, memory="100 MB")
    ...     selector = AutoNFSClassifier("price", random_state=0).fit(stream, "target")
    >>> selector.n_features_in_
    4
    """

    # Users find it there.
    __module__ = "featuresieve"

    def __init__(
        self,
        source: Any,
        *,
        memory: int | str = DEFAULT_MEMORY,
        filesystem: Any = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        self.source, self.memory = source, memory
        self.filesystem, self.columns = filesystem, columns
        self.n_bytes = as_bytes("memory", memory)
        if columns is not None and (
            isinstance(columns, str) or not all(isinstance(n, str) for n in columns)
        ):
            raise TypeError(f"columns must be a list of names, got {shown(columns)}.")

    def __repr__(self) -> str:
        return f"Stream({shown(self.source)}, memory={self.memory!r})"

    @property
    def is_array(self) -> bool:
        """Tell whether the source is an array, whose target is another one."""
        return isinstance(self.source, np.ndarray)

    @property
    def is_read_once(self) -> bool:
        """Tell whether the source is gone when it has been read."""
        is_reader = is_of(self.source, "pyarrow", "RecordBatchReader")
        return is_reader or isinstance(self.source, Iterator)

    def open(self) -> Any:
        """Return the source as one of batches; files are checked, no row is read."""
        from featuresieve.files.stream._batch_source import batch_source

        source = batch_source(self.source, self.filesystem, self.columns)
        names, columns = source.schema.names, self.columns
        if columns is None:  # row names without a name of their own are no column
            columns = [n for n in names if not n.startswith("__index_level_")]
        return source if columns == names else source.take(columns)


def as_stream(X: Any, *, is_named: bool = False) -> Stream | None:
    """Return X as a stream, or None if it is a table in memory.

    An iterator is a stream of batches only where the target `is_named`, and a
    `numpy.memmap` is read like an array where it fits.
    """
    if isinstance(X, Stream):
        return X
    is_stream = (
        isinstance(X, str | os.PathLike)
        or (isinstance(X, np.memmap) and X.ndim == 2)
        or (isinstance(X, Iterator) and is_named)
        or is_of(X, "pyarrow.dataset", "Dataset")
        or is_of(X, "pyarrow", "RecordBatchReader")
        or is_of(X, "duckdb", "DuckDBPyRelation")
    )
    if isinstance(X, list | tuple) and X:
        are_paths = all(isinstance(each, str | os.PathLike) for each in X)
        is_stream = are_paths or all(is_of(e, "pyarrow", "RecordBatch") for e in X)
    return Stream(X) if is_stream else None


def is_of(X: Any, module: str, name: str) -> bool:
    """Tell whether X is of a class, without importing its module."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(X, kind)
