"""Load a data set by name: the data folder first, then the cache, then its source."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sievebench.data._catalog import (
    CatalogEntry,
    CorruptDataError,
    OfflineError,
    cache_folder,
    data_folder,
    find_entry,
)
from sievebench.data._dataset import Dataset
from sievebench.data._download import Progress, download
from sievebench.data._sources import SOURCES, bundled_table, made_table, where_to_put
from sievebench.data._table_files import RawTable, file_md5, read_table, write_table

# The benchmark draws its rows without a seed; here one seed is fixed for good.
_SUBSAMPLE_SEED = 0


@dataclass(frozen=True)
class LocalFile:
    """A file at hand for a data set."""

    path: Path
    md5: str  # what it should be; empty if nobody knows
    is_sample: bool


def load(
    name: str, *, folder: Path | None = None, cache: Path | None = None
) -> Dataset:
    """Load a data set, from its source if it is not at hand, or raise a DataError.

    Its name is as in the catalogue, or "made:ROWSxCOLUMNS". None stands for the folder
    that FEATURESIEVE_DATA names, and for the usual folder of downloads.
    """
    entry = find_entry(name)
    if not entry.needs_file:
        is_made = entry.source["kind"] == "made"
        table = made_table(entry) if is_made else bundled_table(entry)
        return _dataset(entry, table, is_sample=False, checksum="")
    file = find_file(entry, folder=folder, cache=cache)
    if file is None:
        file = fetch(name, cache=cache)
    checksum = file_md5(file.path)
    if file.md5 and checksum != file.md5:
        raise CorruptDataError(
            f"{file.path} has the md5 {checksum}, and {file.md5} was expected. Get the "
            "file again, or take it away so that it is downloaded."
        )
    table = read_table(file.path)
    return _dataset(entry, table, is_sample=file.is_sample, checksum=checksum)


def find_file(
    entry: CatalogEntry, *, folder: Path | None = None, cache: Path | None = None
) -> LocalFile | None:
    """Return the file at hand: all rows, here or in the cache, before a sample."""
    folder = folder or data_folder()
    cached = (cache or cache_folder()) / entry.file
    note = cached.with_name(f"{cached.name}.md5")
    remembered = note.read_text(encoding="utf-8").strip() if note.is_file() else ""
    candidates = [LocalFile(cached, remembered, is_sample=False)]
    if folder is not None:
        candidates.insert(0, LocalFile(folder / entry.file, entry.md5, is_sample=False))
        if entry.sample is not None:
            path = folder / entry.sample.file
            candidates.append(LocalFile(path, entry.sample.md5, is_sample=True))
    return next((file for file in candidates if file.path.is_file()), None)


def fetch(
    name: str, *, cache: Path | None = None, progress: Progress | None = None
) -> LocalFile:
    """Download a data set into the cache, in the form of the data folder."""
    entry = find_entry(name)
    root = cache or cache_folder()
    raw = (root / entry.file).with_suffix(".raw")

    def get(url: str, file: str, checksum: str) -> Path:
        path = raw / file
        if not path.is_file():
            download(url, path, checksum=checksum, progress=progress)
        return path

    try:
        table = SOURCES[entry.source["kind"]](entry, get)
        _check_table(entry, table, entry.n_rows)
    except OfflineError as error:
        raise OfflineError(f"{error} {where_to_put(entry)}") from error
    except (ValueError, KeyError, CorruptDataError) as error:
        shutil.rmtree(raw, ignore_errors=True)  # so that the next attempt starts anew
        raise CorruptDataError(
            f"what {entry.source['kind']} sent for {name} is not the data set of the "
            f"catalogue: {error}"
        ) from error
    path = root / entry.file
    write_table(table, path)
    md5 = file_md5(path)
    path.with_name(f"{path.name}.md5").write_text(f"{md5}\n", encoding="utf-8")
    shutil.rmtree(raw, ignore_errors=True)
    return LocalFile(path, md5, is_sample=False)


def _dataset(
    entry: CatalogEntry, table: RawTable, *, is_sample: bool, checksum: str
) -> Dataset:
    """Return the record, with the rows the benchmark draws and codes for classes."""
    n_rows = entry.sample.rows if is_sample and entry.sample else entry.n_rows
    _check_table(entry, table, n_rows)
    X, y = np.asarray(table.X, dtype=np.float64), table.y
    if entry.subsample_rows is not None and len(y) > entry.subsample_rows:
        drawn = np.random.RandomState(_SUBSAMPLE_SEED).choice(
            len(y), entry.subsample_rows, replace=False
        )
        X, y = X[drawn], y[drawn]
    if entry.task == "regression":
        y = np.asarray(y, dtype=np.float64)
    else:
        y = _codes(entry, y)
    # Of a made table only what matters counts as original, as if noise were added.
    numbers = np.arange(entry.n_columns)
    is_original = np.isin(numbers, entry.relevant if entry.group == "made" else numbers)
    return Dataset(
        name=entry.name,
        X=X,
        y=y,
        column_names=table.names,
        is_original=is_original,
        task=entry.task,
        metric=entry.metric,
        scaler=entry.scaler,
        n_classes=entry.n_classes,
        is_sample=is_sample,
        checksum=checksum,
        group_columns=entry.group_columns,
    )


def _codes(entry: CatalogEntry, y: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return class codes; refuse a class that only one part of a split could have."""
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if counts.min() == 1:
        raise CorruptDataError(
            f"{entry.name} has a single row of class "
            f"{str(classes[counts.argmin()])!r}, and must have two of each."
        )
    return codes.reshape(-1).astype(np.int64)


def _check_table(entry: CatalogEntry, table: RawTable, n_rows: int) -> None:
    """Refuse a table that the catalogue does not describe, or nobody can learn."""
    (n_found, n_columns), y = table.X.shape, table.y
    infinite = np.isinf(table.X).any(axis=0)
    n_missing = int(pd.isna(y).sum())
    is_regression = entry.task == "regression"
    n_classes = 0 if n_missing or is_regression else len(np.unique(y))
    wrong = ""
    if (n_found, n_columns) != (n_rows, entry.n_columns):
        wrong = (
            f"{n_found} rows × {n_columns} columns, and the catalogue says {n_rows} × "
            f"{entry.n_columns}."
        )
    elif infinite.any():
        name = table.names[infinite.argmax()]
        wrong = f"infinite values in column {name!r}; missing ones must be NaN."
    elif n_missing:
        wrong = f"no target in {n_missing} of {n_rows} rows; leave them out."
    elif n_classes != entry.n_classes:
        wrong = f"{n_classes} classes, and the catalogue says {entry.n_classes}."
    elif is_regression and y.dtype.kind not in "iufb":
        wrong = f"a target such as {y[0]!r}, and a regression needs numbers."
    elif is_regression and np.isinf(y).any():
        wrong = "infinite values in its target."
    if wrong:
        raise CorruptDataError(f"{entry.name} has {wrong}")
