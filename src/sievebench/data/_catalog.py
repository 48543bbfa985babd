"""The catalogue: what is known of each data set, read from ``catalog.toml``."""

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal

from sievebench.data._exceptions import UnknownDatasetError

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
    ValueError
        If a row has an unknown key, lacks one, or holds a value that is not allowed.
    """
    rows = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: _entry(name, row) for name, row in rows.items()}


@cache
def catalog() -> dict[str, CatalogEntry]:
    """Return the catalogue that comes with the package."""
    return read_catalog(Path(__file__).with_name("catalog.toml"))


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
    try:
        return catalog()[name]
    except KeyError:
        near = difflib.get_close_matches(name, catalog(), cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else "see `sievebench data list`."
        raise UnknownDatasetError(f"there is no data set {name!r}; {hint}") from None


def _entry(name: str, row: dict[str, Any]) -> CatalogEntry:
    """Return one row, checked."""
    known = {item.name for item in fields(CatalogEntry)}
    unknown = sorted(set(row) - known)
    if unknown:
        raise ValueError(f"catalogue row {name!r}: unknown key {unknown[0]!r}.")
    for key, allowed in _ALLOWED.items():
        if row.get(key) not in allowed:
            raise ValueError(
                f"catalogue row {name!r}: {key} must be one of {allowed}, "
                f"got {row.get(key)!r}."
            )
    values = {**row, "name": name, "relevant": tuple(row.get("relevant", ()))}
    if "sample" in row:
        values["sample"] = Sample(**row["sample"])
    try:
        return CatalogEntry(**values)
    except TypeError as error:
        raise ValueError(f"catalogue row {name!r}: {error}.") from error
