"""The catalogue: what is known of each data set, read from ``catalog.toml``.

That of the package, and one in the data folder, for data sets of one's own.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from featuresieve.errors import did_you_mean
from sievebench.toml_keys import (
    TEXT,
    Key,
    check_fields,
    check_keys,
    is_int,
    is_list_of,
    is_text,
    one_of,
    whole,
)


class DataError(Exception):
    """Anything that keeps a data set from being loaded."""


class CatalogError(DataError, ValueError):
    """A catalogue has a mistake."""


class UnknownDatasetError(DataError, ValueError):
    """The catalogue has no row of this name."""


class MissingDataError(DataError):
    """The data set is not at hand, and the message says how to get it."""


class OfflineError(MissingDataError):
    """The source did not answer."""


class CorruptDataError(DataError):
    """A file differs from what the catalogue or its source says."""


class SmallDataError(DataError, ValueError):
    """The rows are too few, in all or of a class, for three parts."""


Task = Literal["classification", "regression"]
Metric = Literal["accuracy", "balanced_accuracy", "roc_auc", "negative_rmse"]
Scaler = Literal["standard", "quantile"]


# Tables that are made, of any size. So many columns, the first ones, decide the class.
N_RELEVANT = 10
_MADE = re.compile(r"made:(\d+)x(\d+)")
_FEWEST_ROWS = 20


def _digits(name: str, n_digits: int) -> Key:
    fits = re.compile(f"[0-9a-f]{{{n_digits}}}").fullmatch
    allowed = f"{name}, {n_digits} digits 0-9 and a-f"
    return Key(allowed, lambda value: is_text(value) and bool(fits(value)))


_TABLE = Key("a table of keys", lambda value: isinstance(value, dict))
_FILE = Key(
    "a path that ends in .parquet or .npz",
    lambda value: is_text(value) and value.endswith((".parquet", ".npz")),
)
_GROUP = one_of(("tabular", "metagenomics", "images", "wide", "bundled", "breadth"))
_INDICES = Key(
    "a list of indices of columns, from 0",
    lambda value: is_list_of(value, lambda index: is_int(index, 0)),
)
_CASE = Key(
    "a text or a list of texts",
    lambda value: is_text(value) or is_list_of(value, is_text),
)
_File = Annotated[str, _FILE]
_MD5 = Annotated[str, _digits("an md5", 32)]
_Text = Annotated[str, TEXT]
_Count = Annotated[int, whole(1)]
_Columns = Annotated[tuple[int, ...], _INDICES]

# Kind of a source -> what it must tell.
SOURCE_KEYS: dict[str, dict[str, Key]] = {
    "bundled": {},
    "manual": {"url": TEXT, "why": TEXT},
    "openml": {"id": whole(1)},
    "statlib": {"url": TEXT, "sha256": _digits("a sha256", 64)},
    "uci": {"url": TEXT},
    "matlab": {"url": TEXT},
    "mice": {"url": TEXT},
    "cohort": {"url": TEXT, "study": TEXT, "case": _CASE},
}
# What it may tell.
_FURTHER_SOURCE_KEYS = {"openml": {"drop": TEXT, "url": TEXT}}
_KIND = {"kind": one_of(SOURCE_KEYS)}


@dataclass(frozen=True)
class Sample:
    """A part of the rows of a data set that may be at hand instead of all."""

    file: _File  # path under the data folder
    rows: _Count
    md5: _MD5


@dataclass(frozen=True, kw_only=True)
class CatalogEntry:
    """One row of the catalogue."""

    name: str
    title: _Text  # what people call it
    group: Annotated[str, _GROUP]
    task: Task
    metric: Metric
    scaler: Scaler
    # Of the whole data set; 0 classes for regression.
    n_rows: _Count
    n_columns: _Count
    n_classes: Annotated[int, whole(0)]
    # Where it comes from; `kind` decides how it is read.
    source: Annotated[Mapping[str, Any], _TABLE]
    file: _File = ""  # path under the data folder; nothing for what needs no file
    md5: _MD5 = ""  # of that file; nothing if no copy of it was ever prepared
    sample: Annotated[Sample | None, _TABLE] = None
    # Rows that the benchmark draws from the whole.
    subsample_rows: Annotated[int | None, whole(1)] = None
    relevant: _Columns = ()  # columns known to matter
    # Columns whose values together name the group of a row, such as its query.
    group_columns: _Columns = ()
    licence: _Text = ""  # as far as known

    @property
    def needs_file(self) -> bool:
        """Whether it lies in a file, and does not come with scikit-learn or is made."""
        return self.source["kind"] not in ("bundled", "made")


def read_catalog(path: Path) -> dict[str, CatalogEntry]:
    """Return the rows of a catalogue file by name."""
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogError(f"{path} is no TOML: {error}.") from error
    entries = {}
    for name, row in rows.items():
        try:
            entries[name] = _entry(name, row)
        except ValueError as error:
            raise CatalogError(f"{path}, row {name!r}: {error}") from error
    return entries


def catalog() -> dict[str, CatalogEntry]:
    """Return the catalogue of the package, and the rows of the data folder's own."""
    ours = _known(Path(__file__).with_name("catalog.toml"))
    folder = data_folder()
    path = None if folder is None else folder / "catalog.toml"
    if path is None or not path.is_file():
        return dict(ours)
    own = _known(path, path.stat().st_mtime_ns)
    if twice := sorted(set(ours) & set(own)):
        raise CatalogError(f"{path}: the name {twice[0]!r} is taken.")
    return {**ours, **own}


@cache
def _known(path: Path, changed: int = 0) -> dict[str, CatalogEntry]:  # noqa: ARG001
    """Read a catalogue once, and again if its file has changed."""
    return read_catalog(path)


def find_entry(name: str) -> CatalogEntry:
    """Return the row of a data set of the catalogue, or of "made:ROWSxCOLUMNS"."""
    if name.startswith("made:"):
        return _made_entry(name)
    known = catalog()
    if name in known:
        return known[name]
    otherwise = "; see `sievebench data list`."
    raise UnknownDatasetError(
        f"there is no data set {name!r}{did_you_mean(name, known, otherwise)}"
    )


def _entry(name: str, row: Any) -> CatalogEntry:
    """Return a row of the file, or say what is wrong with it."""
    if not isinstance(row, dict):
        raise ValueError(f"must be a table of keys, got {row!r}.")
    check_fields(row, CatalogEntry)
    source = row["source"]
    check_keys({k: source[k] for k in _KIND if k in source}, _KIND, _KIND, "source.")
    required = {**_KIND, **SOURCE_KEYS[source["kind"]]}
    further = _FURTHER_SOURCE_KEYS.get(source["kind"], {})
    check_keys(source, {**required, **further}, required, "source.")
    _check_relations(row)
    values: dict[str, Any] = {
        key: tuple(row.get(key, ())) for key in ("relevant", "group_columns")
    }
    if "sample" in row:
        check_fields(row["sample"], Sample, "sample.")
        values["sample"] = Sample(**row["sample"])
    return CatalogEntry(name=name, **{**row, **values})


def _check_relations(row: Mapping[str, Any]) -> None:
    """Refuse values that are allowed, but not together."""
    task, metric, n_classes = row["task"], row["metric"], row["n_classes"]
    is_regression = task == "regression"
    indices = {key: row.get(key, ()) for key in ("relevant", "group_columns")}
    needs_file = row["source"]["kind"] != "bundled"
    rules = {
        f"metric must fit the task {task}, got {metric!r}": (
            (metric == "negative_rmse") == is_regression
        ),
        f"n_classes must be 0 for regression, got {n_classes}": (
            n_classes == 0 or not is_regression
        ),
        f"n_classes must be at least 2 for classification, got {n_classes}": (
            n_classes >= 2 or is_regression
        ),
        f"metric roc_auc is for 2 classes, got n_classes = {n_classes}": (
            metric != "roc_auc" or n_classes == 2
        ),
        **{
            f"{key} must be below n_columns = {row['n_columns']}, got {max(found)}": (
                max(found) < row["n_columns"]
            )
            for key, found in indices.items()
            if found
        },
        f"file is missing: {_FILE.allowed}": "file" in row or not needs_file,
    }
    for said, holds in rules.items():
        if not holds:
            raise ValueError(f"{said}.")


def _made_entry(name: str) -> CatalogEntry:
    """Return the row that a name such as "made:2000x512" stands for."""
    found = _MADE.fullmatch(name)
    n_rows, n_columns = map(int, found.groups()) if found else (0, 0)
    if n_rows < _FEWEST_ROWS or n_columns < N_RELEVANT:
        raise UnknownDatasetError(
            "a made table must be 'made:ROWSxCOLUMNS' with at least "
            f"{_FEWEST_ROWS} rows and {N_RELEVANT} columns, got {name!r}."
        )
    return CatalogEntry(
        name=name,
        title=f"Made table, {n_rows} × {n_columns}",
        group="made",
        task="classification",
        metric="accuracy",
        scaler="standard",
        n_rows=n_rows,
        n_columns=n_columns,
        n_classes=2,
        source={"kind": "made"},
        relevant=tuple(range(N_RELEVANT)),
    )


def data_folder() -> Path | None:
    """Return the folder that FEATURESIEVE_DATA names, None if it is not set.

    Raises NotADirectoryError if it names something else.
    """
    setting = os.environ.get("FEATURESIEVE_DATA")
    if not setting:
        return None
    folder = Path(setting).expanduser()
    if not folder.is_dir():
        raise NotADirectoryError(
            f"FEATURESIEVE_DATA must name a folder that exists, got {setting!r}."
        )
    return folder


def cache_folder() -> Path:
    """Return the folder that keeps downloads, by the usual rule of the platform."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "featuresieve"
