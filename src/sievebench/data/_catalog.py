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
from typing import Any, Literal

from featuresieve.errors import did_you_mean
from sievebench.data._catalog_keys import check_row
from sievebench.data._exceptions import CatalogError, UnknownDatasetError

Task = Literal["classification", "regression"]
Metric = Literal["accuracy", "balanced_accuracy", "roc_auc", "negative_rmse"]
Scaler = Literal["standard", "quantile"]

# Tables that are made, of any size. So many columns, the first ones, decide the class.
N_RELEVANT = 10
_MADE = re.compile(r"made:(\d+)x(\d+)")
_FEWEST_ROWS = 20


@dataclass(frozen=True)
class Sample:
    """A part of the rows of a data set that may be at hand instead of all."""

    file: str  # path under the data folder
    rows: int
    md5: str


@dataclass(frozen=True)
class CatalogEntry:
    """One row of the catalogue."""

    name: str
    title: str  # what people call it
    group: str
    task: Task
    metric: Metric
    scaler: Scaler
    # Of the whole data set; 0 classes for regression.
    n_rows: int
    n_columns: int
    n_classes: int
    source: Mapping[str, Any]  # where it comes from; `kind` decides how it is read
    file: str = ""  # path under the data folder; nothing for what needs no file
    md5: str = ""  # of that file; nothing if no copy of it was ever prepared
    sample: Sample | None = None
    subsample_rows: int | None = None  # rows that the benchmark draws from the whole
    relevant: tuple[int, ...] = ()  # columns known to matter
    # Columns whose values together name the group of a row, such as its query.
    group_columns: tuple[int, ...] = ()
    licence: str = ""  # as far as known

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
            check_row(row)
        except ValueError as error:
            raise CatalogError(f"{path}, row {name!r}: {error}") from error
        entries[name] = _entry(name, row)
    return entries


def catalog() -> dict[str, CatalogEntry]:
    """Return the catalogue of the package, and the rows of the data folder's own."""
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


def _entry(name: str, row: Mapping[str, Any]) -> CatalogEntry:
    lists = {key: tuple(row.get(key, ())) for key in ("relevant", "group_columns")}
    values = {**row, "name": name, **lists}
    if "sample" in row:
        values["sample"] = Sample(**row["sample"])
    return CatalogEntry(**values)


def made_sizes(name: str) -> tuple[int, int]:
    """Return the rows and columns that a name such as "made:2000x512" stands for."""
    found = _MADE.fullmatch(name)
    if found is not None:
        n_rows, n_columns = int(found[1]), int(found[2])
        if n_rows >= _FEWEST_ROWS and n_columns >= N_RELEVANT:
            return n_rows, n_columns
    raise UnknownDatasetError(
        f"a made table must be 'made:ROWSxCOLUMNS' with at least {_FEWEST_ROWS} rows "
        f"and {N_RELEVANT} columns, got {name!r}."
    )


def _made_entry(name: str) -> CatalogEntry:
    n_rows, n_columns = made_sizes(name)
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
