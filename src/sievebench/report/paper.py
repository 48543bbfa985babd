"""What the paper printed, from paper_values.toml, and as tables."""

import tomllib
from collections.abc import Callable, Iterable, Iterator
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
    table = pd.DataFrame.from_dict(
        section["rows"], orient="index", columns=section["columns"], dtype=str
    )
    return table.rename_axis(index)


def _numbers(cells: pd.DataFrame) -> pd.DataFrame:
    """Return printed cells as numbers, without marks; NaN where there is none."""
    bare = cells.map(lambda cell: cell.rstrip("*%"))
    return bare.apply(pd.to_numeric, errors="coerce").astype(float)


def _ranks() -> Iterator[Table]:
    """Yield the printed ranks, recomputed and over complete cases."""
    columns = {}
    for scenario in PAPER_SCENARIOS:
        ranks = mean_ranks(paper_scores(scenario))
        label = SCENARIO_LABELS[scenario]
        columns[f"{label}: printed"] = printed_scores(scenario)["rank"]
        columns[f"{label}: recomputed"] = ranks["rank"].map("{:.1f}".format)
        columns[f"{label}: complete"] = ranks["rank_complete"].map("{:.1f}".format)
    wide = pd.DataFrame(columns)
    yield Table(
        name="paper-ranks",
        title="Mean ranks of the paper",
        data=wide.reset_index(),
        header=("selector", *wide.columns),
        rows=_rows(wide),
        notes=(
            "recomputed: from the printed scores, ties share the mean, a missing "
            "score gets rank 14. complete: only the seven tables on which all 14 "
            "have a score.",
        ),
    )


def _scores() -> Iterator[Table]:
    for scenario in PAPER_SCENARIOS:
        printed = printed_scores(scenario)
        labels = [DATASET_LABELS.get(name, name) for name in printed.columns]
        yield Table(
            name=f"paper-scores-{scenario}",
            title=f"Scores of the paper, {SCENARIO_LABELS[scenario].lower()}",
            data=printed.reset_index(),
            header=("selector", *labels),
            rows=_rows(printed),
            notes=paper_notes("scores"),
        )


def _rows(wide: pd.DataFrame) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (selector_label(str(name)), *row)
        for name, row in zip(wide.index, wide.to_numpy(), strict=True)
    )


def _section(name: str, title: str, first: str) -> Table:
    section = paper_values()[name]
    header = (first, *section["columns"])
    rows = tuple((key, *cells) for key, cells in section["rows"].items())
    return Table(
        name=f"paper-{name.replace('_', '-')}",
        title=title,
        data=pd.DataFrame(rows, columns=header),
        header=header,
        rows=rows,
        notes=paper_notes(name),
    )


def _statements() -> Iterator[Table]:
    """Yield the numbers of captions and running text."""
    header = ("what", "value", "in the paper", "meaning")
    rows = tuple(
        (
            statement["key"],
            statement["value"],
            "withdrawn" if statement.get("is_withdrawn") else "printed",
            statement["text"],
        )
        for statement in paper_values()["statements"]
    )
    yield Table(
        name="paper-statements",
        title="Numbers of the paper's text",
        data=pd.DataFrame(rows, columns=header),
        header=header,
        rows=rows,
        n_text_columns=4,
        notes=tuple(
            f"Only a figure ({figure['figure']}): {figure['text']}"
            for figure in paper_values()["figures"]
        ),
    )


PAPER_TABLES: dict[str, Callable[[], Iterable[Table]]] = {
    "ranks": _ranks,
    "scores": _scores,
    "counts": lambda: [
        _section("counts", "Columns AutoNFS kept in the paper", "table")
    ],
    "datasets": lambda: [_section("datasets", "Tables of the paper", "table")],
    "cohorts": lambda: [
        _section("cohorts", "Metagenomic cohorts of the paper, percent", "cohort"),
        _section("withdrawn_cohorts", "Cohorts commented out of it", "cohort"),
    ],
    "statements": _statements,
}
