"""Tables for the benchmark scripts, as the laboratory loads, splits and scales them.

The recipe (noise shares, split, scalers) is that of the tabular feature selection
benchmark which the AutoNFS paper extends. Data files are read from the folder named
by FEATURESIEVE_DATA.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sievebench import corruption, data
from sievebench.report.paper import paper_cohorts

SCENARIOS = ("random", "corrupted", "second_order")
TABULAR = ("california", "eye", "gesture", "higgs", "house", "jannis", "mslr", "otto")
WIDE = ("madelon", "isolet", "coil20", "mice_protein")
MADELON_RELEVANT = data.find_entry("madelon").relevant
# The 18 cohorts of the paper's table; the folder holds further ones.
COHORTS = tuple(paper_cohorts().index)
_NAMES = {"mslr": "microsoft"}  # of scripts -> of the catalogue


@dataclass(frozen=True)
class Split:
    """A scaled table in three parts, with a mark on the original columns."""

    X: dict[str, np.ndarray]
    y: dict[str, np.ndarray]
    is_original: np.ndarray
    is_regression: bool


def data_folder() -> Path:
    """Return the local data folder."""
    folder = data.data_folder()
    if folder is None:
        raise SystemExit("set FEATURESIEVE_DATA to the folder with the data files")
    return folder


def raw(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return columns and target of a data set of the catalogue as they are."""
    dataset = data.load(name)
    return dataset.X, dataset.y


def tabular_cell(name: str, scenario: str) -> Split:
    """Return one of the 24 cells of the tabular benchmark at hand."""
    dataset = data.load(_NAMES.get(name, name))
    return _split(corruption.apply(dataset, scenario))


def wide_table(name: str, seed: int = 0) -> Split:
    """Return one of the wide tables, no columns added."""
    return _split(data.load(name), seed)


def _split(dataset: data.Dataset, seed: int = 0) -> Split:
    split = data.split(dataset, seed).scaled()
    parts = dict(zip(("train", "val", "test"), split.parts, strict=True))
    return Split(
        X={name: part.X for name, part in parts.items()},
        y={name: part.y for name, part in parts.items()},
        is_original=split.is_original,
        is_regression=split.task == "regression",
    )
