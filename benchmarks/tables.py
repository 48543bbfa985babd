"""Tables for the benchmark scripts: load, add useless columns, split, scale.

The recipe (noise shares, split, scalers) is that of the tabular feature selection
benchmark which the AutoNFS paper extends. Data files are read from the folder named
by FEATURESIEVE_DATA; nothing is downloaded.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import QuantileTransformer, StandardScaler

SCENARIOS = ("random", "corrupted", "second_order")


@dataclass(frozen=True)
class Source:
    """Where a table lies and how it is treated."""

    file: str
    is_regression: bool = False
    scaler: str = "quantile"


TABULAR = {
    "california": Source("tabular/california.parquet", is_regression=True),
    "eye": Source("tabular/eye_movements.parquet", scaler="standard"),
    "gesture": Source("tabular/gesture.parquet"),
    "higgs": Source("tabular/higgs_small_sample.parquet"),
    "house": Source("tabular/house_16H.parquet", is_regression=True),
    "jannis": Source("tabular/jannis_sample.parquet"),
    "mslr": Source("tabular/mslr_sample.parquet", is_regression=True),
    "otto": Source("tabular/otto.parquet"),
}
WIDE = {
    "madelon": Source("highdim/madelon.parquet", scaler="standard"),
    "isolet": Source("highdim/isolet.npz", scaler="standard"),
    "coil20": Source("highdim/coil20.npz", scaler="standard"),
    "mice_protein": Source("highdim/mice_protein.parquet", scaler="standard"),
}
MADELON_RELEVANT = (
    *(28, 48, 64, 105, 128, 153, 241, 281, 318, 336),
    *(338, 378, 433, 442, 451, 453, 455, 472, 475, 493),
)
# The 18 cohorts of the paper's table; the folder holds further ones.
COHORTS = (
    *("NielsenHB_2014", "WirbelJ_2018", "JieZ_2017", "FengQ_2015", "ThomasAM_2019c"),
    *("ZellerG_2014", "ThomasAM_2018b", "HanniganGD_2017", "YachidaS_2019"),
    *("ZhuF_2020", "ThomasAM_2018a", "LeChatelierE_2013", "QinN_2014", "QinJ_2012"),
    *("NagySzakalD_2017", "GuptaA_2019", "VogtmannE_2016", "RubelMA_2020"),
)


@dataclass(frozen=True)
class Split:
    """A scaled table in three parts, with a mark on the original columns."""

    X: dict[str, np.ndarray]
    y: dict[str, np.ndarray]
    is_original: np.ndarray
    is_regression: bool


def data_folder() -> Path:
    """Return the local data folder."""
    folder = os.environ.get("FEATURESIEVE_DATA")
    if not folder:
        raise SystemExit("set FEATURESIEVE_DATA to the folder with the data files")
    return Path(folder)


def load(file: str) -> tuple[np.ndarray, np.ndarray]:
    """Return features and target of one file."""
    path = data_folder() / file
    if path.suffix == ".npz":
        arrays = np.load(path)
        return arrays["X"].astype(np.float64), arrays["target"]
    frame = pd.read_parquet(path)
    features = frame.drop(columns="target").to_numpy(dtype=np.float64)
    return features, frame["target"].to_numpy()


def add_columns(X: np.ndarray, scenario: str, seed: int = 0) -> np.ndarray:
    """Append as many useless columns as there are columns (noise share one half)."""
    generator = np.random.RandomState(seed)
    n_rows, n_columns = X.shape
    if scenario == "random":
        extra = generator.randn(n_rows, n_columns)
    elif scenario == "corrupted":
        chosen = generator.randint(n_columns, size=9 * n_columns)[:n_columns]
        noise = generator.randn(n_rows, n_columns)
        spread = np.nanstd(X, axis=0)[chosen]
        extra = 0.5 * X[:, chosen] + 0.5 * spread * noise
    elif scenario == "second_order":
        first = generator.randint(n_columns, size=9 * n_columns)[:n_columns]
        second = generator.randint(n_columns, size=9 * n_columns)[:n_columns]
        extra = X[:, first] * X[:, second]
    else:
        raise ValueError(f"scenario must be one of {SCENARIOS}, got {scenario!r}.")
    return np.hstack([X, extra])


def split_and_scale(
    X: np.ndarray, y: np.ndarray, source: Source, n_original: int, seed: int = 0
) -> Split:
    """Cut 65 / 15 / 20 %, impute and scale with what the train part shows."""
    stratify = None if source.is_regression else y
    rest, test = train_test_split(
        np.arange(len(y)), test_size=0.2, random_state=seed, stratify=stratify
    )
    stratify = None if source.is_regression else y[rest]
    train, val = train_test_split(
        rest, test_size=0.1875, random_state=seed, stratify=stratify
    )
    means = np.nanmean(X[train], axis=0)
    X = np.where(np.isnan(X), means, X)
    scaler = _scaler(source.scaler, X[train])
    parts = {"train": train, "val": val, "test": test}
    if source.is_regression:
        y = (y - y[train].mean()) / y[train].std()
    else:
        y = np.unique(y, return_inverse=True)[1]
    return Split(
        X={name: scaler.transform(X[rows]) for name, rows in parts.items()},
        y={name: y[rows] for name, rows in parts.items()},
        is_original=np.arange(X.shape[1]) < n_original,
        is_regression=source.is_regression,
    )


def _scaler(kind: str, X: np.ndarray) -> QuantileTransformer | StandardScaler:
    """Fit the scaler; the quantile one on slightly jittered rows, as published."""
    if kind == "standard":
        return StandardScaler().fit(X)
    generator = np.random.RandomState(0)
    jitter = 1e-3 / np.maximum(X.std(axis=0), 1e-3)
    jittered = X + jitter * generator.standard_normal(X.shape)
    return QuantileTransformer(
        output_distribution="normal",
        n_quantiles=max(min(len(X) // 30, 1000), 10),
        subsample=10**9,
        random_state=0,
    ).fit(jittered)


def tabular_cell(name: str, scenario: str) -> Split:
    """Return one of the 24 cells of the tabular benchmark at hand."""
    source = TABULAR[name]
    X, y = load(source.file)
    return split_and_scale(add_columns(X, scenario), y, source, X.shape[1])


def wide_table(name: str, seed: int = 0) -> Split:
    """Return one of the wide tables, no columns added."""
    source = WIDE[name]
    X, y = load(source.file)
    return split_and_scale(X, y, source, X.shape[1], seed)


def cohort(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return species abundances and case labels of one metagenomic study."""
    return load(f"metagenomics/{name}.parquet")
