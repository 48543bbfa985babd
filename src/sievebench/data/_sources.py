"""Sources: fetch a data set where it is published, and bring it into our form."""

import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.io
import sklearn.datasets
from scipy.io import arff

from sievebench.data._catalog import (
    N_RELEVANT,
    CatalogEntry,
    CatalogError,
    MissingDataError,
)
from sievebench.data._table_files import RawTable, numbered_names

# Called with an address, a file name and a checksum; returns where the file now lies.
Fetch = Callable[[str, str, str], Path]

OPENML = "https://www.openml.org/api/v1/json/data"
_MADE_SEED = 0


def where_to_put(entry: CatalogEntry) -> str:
    """Say what a user does who has a data set that is not at hand."""
    what = (
        "arrays X and target"
        if entry.file.endswith(".npz")
        else "every column but 'target' a feature"
    )
    return (
        f"If you have it, put it as {entry.file} ({what}) into the folder that "
        "FEATURESIEVE_DATA names."
    )


def bundled_table(entry: CatalogEntry) -> RawTable:
    """Return a data set that scikit-learn brings along."""
    load: Any = getattr(sklearn.datasets, f"load_{entry.name}", None)
    if load is None:
        raise CatalogError(f"scikit-learn brings no data set {entry.name!r}.")
    bunch = load()
    names = tuple(str(name) for name in bunch.feature_names)
    return RawTable(bunch.data, bunch.target, names)


def made_table(entry: CatalogEntry) -> RawTable:
    """Return a table of standard normal columns and two classes.

    The class is the sign of ``x_0 - x_1 + x_2 - … - x_9 + 2 e``, with e standard normal
    too. Tables with as many rows have the same classes, and a wider one begins with the
    columns of a narrower one: it is the same problem among more noise.
    """
    n_rows, n_columns = entry.n_rows, entry.n_columns
    columns, errors = np.random.default_rng([_MADE_SEED, n_rows]).spawn(2)
    X = np.ascontiguousarray(columns.standard_normal((n_columns, n_rows)).T)
    signs = (-1.0) ** np.arange(N_RELEVANT)
    signal = X[:, :N_RELEVANT] @ signs + 2 * errors.standard_normal(n_rows)
    return RawTable(X, (signal > 0).astype(np.int64), numbered_names(n_columns))


def openml_table(entry: CatalogEntry, fetch: Fetch) -> RawTable:
    """Read the ARFF file of an OpenML data set; OpenML tells its md5."""
    number = entry.source["id"]
    address = f"{entry.source.get('url', OPENML)}/{number}"
    text = fetch(address, f"openml-{number}.json", "").read_text(encoding="utf-8")
    facts = json.loads(text)["data_set_description"]
    path = fetch(facts["url"], f"openml-{number}.arff", facts.get("md5_checksum", ""))
    with path.open(encoding="utf-8") as stream:
        rows, _ = arff.loadarff(stream)
    frame = pd.DataFrame(rows)
    y = frame.pop(str(facts["default_target_attribute"]))
    # An older OpenML convention lists columns that are row numbers or the like.
    ignored = [entry.source.get("drop"), facts.get("row_id_attribute")]
    frame = frame.drop(columns=[name for name in ignored if name in frame.columns])
    is_regression = entry.task == "regression"
    target = y.to_numpy(dtype=np.float64) if is_regression else _codes(y)
    return RawTable(_numbers(frame), target, tuple(frame.columns))


def statlib_table(entry: CatalogEntry, fetch: Fetch) -> RawTable:
    """Read California housing as scikit-learn does: averages divide by households."""
    path = fetch(entry.source["url"], "cal_housing.tgz", entry.source["sha256"])
    with tarfile.open(path) as archive:
        member = archive.extractfile("CaliforniaHousing/cal_housing.data")
        assert member is not None
        raw = np.loadtxt(io.BytesIO(member.read()), delimiter=",")
    raw[:, [3, 4]] /= raw[:, [6]]  # rooms and bedrooms by households
    raw[:, 6] = raw[:, 5] / raw[:, 6]  # people too
    names = (
        *("MedInc", "HouseAge", "AveRooms", "AveBedrms", "Population", "AveOccup"),
        *("Latitude", "Longitude"),
    )
    return RawTable(raw[:, [7, 2, 3, 4, 5, 6, 1, 0]], raw[:, 8] / 1e5, names)


def uci_table(entry: CatalogEntry, fetch: Fetch) -> RawTable:
    """Read a zipped text file without a header whose first column is the target."""
    path = fetch(entry.source["url"], f"{entry.name}.zip", "")
    with zipfile.ZipFile(path) as archive:
        largest = max(archive.infolist(), key=lambda member: member.file_size)
        with archive.open(largest) as stream:
            values = pd.read_csv(stream, header=None).to_numpy(dtype=np.float64)
    return RawTable(values[:, 1:], values[:, 0], numbered_names(values.shape[1] - 1))


def matlab_table(entry: CatalogEntry, fetch: Fetch) -> RawTable:
    """Read arrays X and Y of a MATLAB file."""
    path = fetch(entry.source["url"], f"{entry.name}.mat", "")
    arrays = scipy.io.loadmat(path)
    X = np.asarray(arrays["X"], dtype=np.float64)
    return RawTable(X, np.asarray(arrays["Y"]).reshape(-1), numbered_names(X.shape[1]))


def mice_table(entry: CatalogEntry, fetch: Fetch) -> RawTable:
    """Read the mice proteins; what describes the mouse is left out."""
    frame = pd.read_csv(fetch(entry.source["url"], f"{entry.name}.csv", ""))
    y = frame.pop("class")
    frame = frame.drop(columns=["MouseID", "Genotype", "Treatment", "Behavior"])
    return RawTable(_numbers(frame), _codes(y), tuple(frame.columns))


def cohort_table(entry: CatalogEntry, fetch: Fetch) -> RawTable:
    """Read a metagenomic study: abundances by species and sample, cases and controls.

    Samples that are neither are left out. `case` is a disease or several that count as
    one; "bmi" stands for obese (30 or more) against lean (25 or less).
    """
    study, case = entry.source["study"], entry.source["case"]
    address = f"{entry.source['url']}/{study}"
    species = pd.read_csv(
        fetch(f"{address}/sgb_table.tsv", f"{study}-species.tsv", ""),
        sep="\t",
        index_col=0,
    )
    samples = pd.read_csv(
        fetch(f"{address}/sample_metadata.tsv", f"{study}-samples.tsv", ""),
        sep="\t",
        index_col="sample_id",
    )
    if case == "bmi":
        is_case, is_control = samples["bmi"] >= 30, samples["bmi"] <= 25
    else:
        is_case = samples["disease"].isin([case] if isinstance(case, str) else case)
        is_control = samples["disease"] == "control"
    kept = samples.index[is_case | is_control]
    names = tuple(str(name).split("s__")[-1] for name in species.index)
    X = species[kept].to_numpy(dtype=np.float64).T
    return RawTable(X, is_case[kept].to_numpy(dtype=np.int64), names)


def manual_table(entry: CatalogEntry, fetch: Fetch) -> RawTable:  # noqa: ARG001
    """Say that nobody but the user can fetch this one."""
    raise MissingDataError(
        f"{entry.name} cannot be downloaded by a program: {entry.source['why']}. It "
        f"comes from {entry.source['url']}. {where_to_put(entry)}"
    )


SOURCES: dict[str, Callable[[CatalogEntry, Fetch], RawTable]] = {
    "openml": openml_table,
    "statlib": statlib_table,
    "uci": uci_table,
    "matlab": matlab_table,
    "mice": mice_table,
    "cohort": cohort_table,
    "manual": manual_table,
}


def _numbers(frame: pd.DataFrame) -> Any:
    """Return the columns as numbers; labels become their codes."""
    columns = [
        column if column.dtype.kind in "iufb" else _codes(column)
        for _, column in frame.items()
    ]
    return np.column_stack(columns).astype(np.float64)


def _codes(labels: pd.Series) -> Any:
    """Return the index of each label among the sorted ones; bytes are read as text."""
    texts = [label.decode() if isinstance(label, bytes) else label for label in labels]
    return np.unique(np.asarray(texts), return_inverse=True)[1]
