"""The paper's own numbers as tables, and what follows from them."""

from collections.abc import Callable, Iterable, Iterator

import pandas as pd

from sievebench.analysis import mean_ranks
from sievebench.labels import DATASET_LABELS, SCENARIO_LABELS, selector_label
from sievebench.report.material import PAPER_SCENARIOS
from sievebench.report.paper import (
    paper_notes,
    paper_scores,
    paper_values,
    printed_scores,
)
from sievebench.report.tables import Table


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
    """Yield the three score tables as printed."""
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
    """Return printed cells, the selector first."""
    return tuple(
        (selector_label(str(name)), *row)
        for name, row in zip(wide.index, wide.to_numpy(), strict=True)
    )


def _section(name: str, title: str, first: str) -> Table:
    """Return one section of the file as printed."""
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
