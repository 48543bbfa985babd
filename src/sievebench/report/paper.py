"""What the paper printed, from paper_values.toml."""

import tomllib
from functools import cache
from importlib import resources
from typing import Any

import pandas as pd

from sievebench.labels import DATASET_LABELS

_NAMES = {label: name for name, label in DATASET_LABELS.items()}


@cache
def paper_values() -> dict[str, Any]:
    """Return the whole file; cells are text."""
    file = resources.files("sievebench.report").joinpath("paper_values.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def printed_scores(scenario: str) -> pd.DataFrame:
    """Return the text of a score table: selectors × tables, and rank."""
    return _printed(paper_values()["scores"][scenario], "selector").rename(
        columns=_NAMES
    )


def paper_scores(scenario: str) -> pd.DataFrame:
    """Return the scores of a scenario, (14, 11); NaN for OOM and N/A."""
    return _numbers(printed_scores(scenario).drop(columns="rank"))


def paper_ranks() -> pd.DataFrame:
    """Return the printed mean ranks, selectors × scenarios."""
    ranks = {s: printed_scores(s)["rank"] for s in paper_values()["scores"]}
    return pd.DataFrame(ranks).astype(float)


def paper_counts() -> pd.DataFrame:
    """Return how many columns AutoNFS kept, tables × scenarios."""
    return _numbers(_printed(paper_values()["counts"], "dataset")).rename(index=_NAMES)


def paper_datasets() -> pd.DataFrame:
    """Return rows, columns and classes of the tables; NaN classes for regression."""
    cells = _printed(paper_values()["datasets"], "dataset").rename(index=_NAMES)
    return _numbers(cells.map(lambda cell: cell.replace(" ", "")))


def paper_cohorts(is_withdrawn: bool = False) -> pd.DataFrame:
    """Return the metagenomic study in percent, without the row of averages.

    The six cohorts that are commented out have n_features and n_kept, not reduction.
    """
    section = "withdrawn_cohorts" if is_withdrawn else "cohorts"
    cells = _printed(paper_values()[section], "dataset")
    return _numbers(cells.drop(index="average", errors="ignore"))


def paper_cohort_averages() -> pd.Series:
    """Return the printed row of averages of the metagenomic study."""
    return _numbers(_printed(paper_values()["cohorts"], "dataset")).loc["average"]


def paper_statement(key: str) -> float:
    """Return a number of the running text, by its key; NaN if there is none."""
    for statement in paper_values()["statements"]:
        if statement["key"] == key:
            text = statement["value"]
            return 0.0 if text == "zero" else float(text)
    return float("nan")


def paper_notes(about: str) -> tuple[str, ...]:
    """Return what one has to know about a section of the file."""
    notes = paper_values()["notes"]
    return tuple(note["text"] for note in notes if note["about"] == about)


def _printed(section: dict[str, Any], index: str) -> pd.DataFrame:
    """Return the cells of a section as text."""
    table = pd.DataFrame.from_dict(
        section["rows"], orient="index", columns=section["columns"], dtype=str
    )
    return table.rename_axis(index)


def _numbers(cells: pd.DataFrame) -> pd.DataFrame:
    """Return printed cells as numbers, without marks; NaN where there is none."""
    bare = cells.map(lambda cell: cell.rstrip("*%"))
    return bare.apply(pd.to_numeric, errors="coerce").astype(float)
