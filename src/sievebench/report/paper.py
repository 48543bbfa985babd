"""What the paper printed, from paper_values.toml, and as tables."""

import tomllib
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

import pandas as pd

from sievebench.analysis import mean_ranks
from sievebench.labels import DATASET_LABELS, SCENARIO_LABELS, selector_label
from sievebench.report.tables import Table

PAPER_SCENARIOS = ("random", "corrupted", "second_order")
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
    ranks = {s: printed_scores(s)["rank"] for s in PAPER_SCENARIOS}
    return pd.DataFrame(ranks).astype(float)


def paper_counts() -> pd.DataFrame:
    """Return how many columns AutoNFS kept, tables × scenarios."""
    return _numbers(_section("counts")).rename(index=_NAMES)


def paper_datasets() -> pd.DataFrame:
    """Return rows, columns and classes of the tables; NaN classes for regression."""
    cells = _section("datasets").rename(index=_NAMES)
    return _numbers(cells.map(lambda cell: cell.replace(" ", "")))


def paper_cohorts(is_withdrawn: bool = False) -> pd.DataFrame:
    """Return the metagenomic study in percent, without the row of averages.

    The six cohorts that are commented out have n_features and n_kept, not reduction.
    """
    cells = _section("withdrawn_cohorts" if is_withdrawn else "cohorts")
    return _numbers(cells.drop(index="average", errors="ignore"))


def paper_cohort_averages() -> pd.Series:
    """Return the printed row of averages of the metagenomic study."""
    return _numbers(_section("cohorts")).loc["average"]


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


def _section(name: str, index: str = "dataset") -> pd.DataFrame:
    return _printed(paper_values()[name], index)


def _printed(section: dict[str, Any], index: str) -> pd.DataFrame:
    table = pd.DataFrame.from_dict(
        section["rows"], orient="index", columns=section["columns"], dtype=str
    )
    return table.rename_axis(index)


def _numbers(cells: pd.DataFrame) -> pd.DataFrame:
    """Return printed cells as numbers, without marks; NaN where there is none."""
    bare = cells.map(lambda cell: cell.rstrip("*%"))
    return bare.apply(pd.to_numeric, errors="coerce").astype(float)


def _table(name: str, title: str, cells: pd.DataFrame, **about: Any) -> Table:
    """Return printed cells as a table; the first column is their index."""
    data = cells.reset_index()
    label = selector_label if data.columns[0] == "selector" else str
    return Table(
        name=f"paper-{name.replace('_', '-')}",
        title=title,
        data=data,
        header=tuple(DATASET_LABELS.get(column, column) for column in data.columns),
        rows=tuple((label(first), *others) for first, *others in data.to_numpy()),
        **about,
    )


def _table_of_section(name: str, title: str, first: str) -> Table:
    return _table(name, title, _section(name, first), notes=paper_notes(name))


def _ranks() -> Table:
    """Return the printed ranks, recomputed and over complete cases."""
    columns = {}
    for scenario in PAPER_SCENARIOS:
        ranks = mean_ranks(paper_scores(scenario))
        label = SCENARIO_LABELS[scenario]
        columns[f"{label}: printed"] = printed_scores(scenario)["rank"]
        columns[f"{label}: recomputed"] = ranks["rank"].map("{:.1f}".format)
        columns[f"{label}: complete"] = ranks["rank_complete"].map("{:.1f}".format)
    note = (
        "recomputed: from the printed scores, ties share the mean, a missing score "
        "gets rank 14. complete: only the seven tables on which all 14 have a score."
    )
    cells = pd.DataFrame(columns)
    return _table("ranks", "Mean ranks of the paper", cells, notes=(note,))


def _scores(scenario: str) -> Table:
    title = f"Scores of the paper, {SCENARIO_LABELS[scenario].lower()}"
    cells, notes = printed_scores(scenario), paper_notes("scores")
    return _table(f"scores-{scenario}", title, cells, notes=notes)


def _statements() -> Table:
    """Return the numbers of captions and running text."""
    found = pd.DataFrame(paper_values()["statements"]).set_index("key")
    is_withdrawn = found["is_withdrawn"].eq(True)
    cells = pd.DataFrame(
        {
            "value": found["value"],
            "in the paper": is_withdrawn.map({True: "withdrawn", False: "printed"}),
            "meaning": found["text"],
        }
    ).rename_axis("what")
    notes = tuple(
        f"Only a figure ({figure['figure']}): {figure['text']}"
        for figure in paper_values()["figures"]
    )
    title = "Numbers of the paper's text"
    return _table("statements", title, cells, n_text_columns=4, notes=notes)


PAPER_TABLES: dict[str, Callable[[], list[Table]]] = {
    "ranks": lambda: [_ranks()],
    "scores": lambda: [_scores(scenario) for scenario in PAPER_SCENARIOS],
    "counts": lambda: [
        _table_of_section("counts", "Columns AutoNFS kept in the paper", "table")
    ],
    "datasets": lambda: [_table_of_section("datasets", "Tables of the paper", "table")],
    "cohorts": lambda: [
        _table_of_section(*about, "cohort")
        for about in (
            ("cohorts", "Metagenomic cohorts of the paper, percent"),
            ("withdrawn_cohorts", "Cohorts commented out of it"),
        )
    ],
    "statements": lambda: [_statements()],
}
