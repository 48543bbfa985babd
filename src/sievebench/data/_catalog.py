"""The catalogue: what is known of each data set, read from ``catalog.toml``.

That of the package, and one in the data folder, for data sets of one's own.
"""

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal

from sievebench.data._exceptions import CatalogError, UnknownDatasetError
from sievebench.data._folders import data_folder

Task = Literal["classification", "regression"]
Metric = Literal["accuracy", "balanced_accuracy", "roc_auc", "negative_rmse"]
Scaler = Literal["standard", "quantile"]

_ALLOWED = {
    "task": ("classification", "regression"),
    "metric": ("accuracy", "balanced_accuracy", "roc_auc", "negative_rmse"),
    "scaler": ("standard", "quantile"),
    "group": ("tabular", "metagenomics", "images", "wide", "bundled"),
}


@dataclass(frozen=True)
class Sample:
    """A part of the rows of a data set that may be at hand instead of all.

    Attributes
    ----------
    file : str
        Path under the data folder.
    rows : int
    md5 : str
    """

    file: str
    rows: int
    md5: str


@dataclass(frozen=True)
class CatalogEntry:
    """One row of the catalogue.

    Attributes
    ----------
    name : str
    title : str
        What people call it.
    group : {"tabular", "metagenomics", "images", "wide", "bundled"}
    task : {"classification", "regression"}
    metric : {"accuracy", "balanced_accuracy", "roc_auc", "negative_rmse"}
    scaler : {"standard", "quantile"}
    n_rows, n_columns, n_classes : int
        Of the whole data set; 0 classes for regression.
    source : mapping
        Where it comes from; `kind` decides how it is read.
    file : str
        Path under the data folder; nothing for what scikit-learn brings along.
    md5 : str
        Of that file; nothing if no copy of it was ever prepared.
    sample : Sample or None
    subsample_rows : int or None
        How many rows the benchmark draws from the whole.
    relevant : tuple of int
        Columns known to matter.
    """

    name: str
    title: str
    group: str
    task: Task
    metric: Metric
    scaler: Scaler
    n_rows: int
    n_columns: int
    n_classes: int
    source: Mapping[str, Any]
    file: str = ""
    md5: str = ""
    sample: Sample | None = None
    subsample_rows: int | None = None
    relevant: tuple[int, ...] = field(default=())


def read_catalog(path: Path) -> dict[str, CatalogEntry]:
    """Return the rows of a catalogue file by name.

    Parameters
    ----------
    path : Path
        A TOML file.

    Returns
    -------
    dict of str to CatalogEntry

    Raises
    ------
    CatalogError
        If a row has an unknown key, lacks one, or holds a value that is not allowed.
    """
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(f"{path} is no TOML: {error}.") from error
    return {name: _entry(name, row) for name, row in rows.items()}


def catalog() -> dict[str, CatalogEntry]:
    """Return the catalogue of the package, and the rows of the data folder's own.

    Returns
    -------
    dict of str to CatalogEntry

    Raises
    ------
    CatalogError
        If the folder's catalogue has a mistake, or a name of the package's.
    """
    ours = _known(Path(__file__).with_name("catalog.toml"))
    folder = data_folder()
    path = None if folder is None else folder / "catalog.toml"
    if path is None or not path.is_file():
        return dict(ours)
    own = _known(path, path.stat().st_mtime_ns)
    twice = sorted(set(ours) & set(own))
    if twice:
        raise CatalogError(f"{path}: the name {twice[0]!r} is taken.")
    return {**ours, **own}


@cache
def _known(path: Path, changed: int = 0) -> dict[str, CatalogEntry]:  # noqa: ARG001
    """Read a catalogue once, and again if its file has changed."""
    return read_catalog(path)


def find_entry(name: str) -> CatalogEntry:
    """Return the row of a data set.

    Parameters
    ----------
    name : str

    Returns
    -------
    CatalogEntry

    Raises
    ------
    UnknownDatasetError
        If there is none; the message names the nearest.
    """
    known = catalog()
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else "see `sievebench data list`."
    raise UnknownDatasetError(f"there is no data set {name!r}; {hint}")


def _entry(name: str, row: dict[str, Any]) -> CatalogEntry:
    """Return one row, checked."""
    known = {item.name for item in fields(CatalogEntry)}
    unknown = sorted(set(row) - known)
    if unknown:
        raise CatalogError(f"catalogue row {name!r}: unknown key {unknown[0]!r}.")
    for key, allowed in _ALLOWED.items():
        if row.get(key) not in allowed:
            raise CatalogError(
                f"catalogue row {name!r}: {key} must be one of {allowed}, "
                f"got {row.get(key)!r}."
            )
    values = {**row, "name": name, "relevant": tuple(row.get("relevant", ()))}
    if "sample" in row:
        values["sample"] = Sample(**row["sample"])
    try:
        return CatalogEntry(**values)
    except TypeError as error:
        raise CatalogError(f"catalogue row {name!r}: {error}.") from error
