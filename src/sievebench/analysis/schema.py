"""The table of runs that every analysis starts from: one row a run, flat columns.

`COLUMNS` is the whole agreement with whoever collects the runs. A selector is named as
in `sievebench.labels`, and several variants of one as ``autonfs:published``,
``autonfs:auto``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from sievebench.labels import SCENARIO_LABELS, SELECTOR_LABELS
from sievebench.run_spec import PURPOSES, is_file_name

Kind = Literal["text", "number", "flag"]


class RunTableError(ValueError):
    """A table of runs does not have the agreed columns or values."""


@dataclass(frozen=True)
class Column:
    """One column of the table of runs."""

    name: str  # as in the header
    kind: Kind  # what its cells are
    meaning: str  # one line
    # what a table without this column gets; None if every table must have it
    default: str | float | bool | None = None
    allowed: tuple[str, ...] = ()  # the texts it may hold, empty if any
    is_known: bool = True  # whether a finished run must have a value


STATUSES = ("done", "failed", "timeout", "skipped")

COLUMNS = (
    Column("dataset", "text", "name of the table"),
    Column("scenario", "text", "which columns were added", allowed=(*SCENARIO_LABELS,)),
    Column("selector", "text", "short name, a variant after a colon"),
    Column("downstream", "text", "what predicts from the kept columns"),
    Column("seed", "number", "of selector and downstream"),
    Column("status", "text", "how the run ended", allowed=STATUSES),
    Column("score", "number", "on the test rows, larger is better", is_known=False),
    Column("n_kept", "number", "columns kept"),
    Column("n_added_kept", "number", "of these, columns that the scenario added"),
    Column("n_original", "number", "columns before the scenario"),
    Column("n_features", "number", "columns the selector saw"),
    Column("seconds", "number", "of the selector, without tuning"),
    Column("is_sample", "flag", "not all rows of the table were at hand"),
    Column("experiment", "text", "what the run is for", "benchmark", PURPOSES),
    Column("metric", "text", "what the score is", ""),
    Column("reason", "text", "why there is no score", ""),
    Column("predictors", "text", "which predictors of another experiment judge", ""),
    Column("rule", "text", "by which rule it chose, as its record says", ""),
    Column("balance", "number", "λ, in the balance experiment", np.nan, is_known=False),
    Column("removed", "text", "the column left out, in the removal experiment", ""),
    Column("removal", "text", "how it was left out", "", ("", "retrained", "imputed")),
)

_MOST_RECORDS = 2  # named in a message

# A run is one of these; twice the same is a mistake of whoever collected them.
KEY = [
    *("experiment", "dataset", "scenario", "selector", "downstream", "seed"),
    *("balance", "removed", "removal"),
]


def check_runs(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table of runs with the columns of `COLUMNS`, or say what is wrong.

    Text is str, numbers are float, flags bool; other columns are left out. Rows are
    sorted by what makes them a run. Raises RunTableError if a column is missing or
    holds something else than agreed, or if a run is there twice.
    """
    needed = [column.name for column in COLUMNS if column.default is None]
    if missing := [name for name in needed if name not in table.columns]:
        raise RunTableError(f"the table of runs has no column {_names(missing)}.")
    checked = pd.DataFrame(
        {column.name: _cells(table, column) for column in COLUMNS}, index=table.index
    )
    _check_names(checked, table)
    _check_finished(checked, table)
    # Made tables of one name may have several widths.
    is_made = checked["experiment"] == "scaling"
    wide = checked.assign(width=checked["n_features"].where(is_made))[[*KEY, "width"]]
    if wide.duplicated().any():
        first = wide[wide.duplicated()].iloc[0]
        run = ", ".join(f"{name}={first[name]}" for name in KEY[:5])
        alike = ((wide == first) | (wide.isna() & first.isna())).all(axis=1)
        raise RunTableError(
            f"a run is in the table twice: {run}, seed={first['seed']:g}"
            f"{_records(table, alike)}; take away what is not wanted, or name settings "
            "that differ, as in forest:deep."
        )
    # Sums of floats depend on their order: it must not be that of the file.
    return checked.sort_values([*KEY, "n_features"], ignore_index=True)


def _cells(table: pd.DataFrame, column: Column) -> Any:
    """Return the cells of one column in its type."""
    if column.name not in table.columns:
        return pd.Series(column.default, index=table.index)
    about, cells = f"column {column.name!r}", table[column.name]
    if column.kind == "number":
        numbers = pd.to_numeric(cells, errors="coerce").astype(float)
        is_wrong = numbers.isna() & cells.notna()
        _refuse(table, is_wrong, f"{about} must hold numbers", cells)
        return numbers
    if column.kind == "flag":
        words = {"true": True, "false": False, "1": True, "0": False}
        flags = cells.astype(str).str.lower().map(words)
        _refuse(table, flags.isna(), f"{about} must be true or false", cells)
        return flags.astype(bool)
    if column.default is None:
        _refuse(table, cells.isna(), f"{about} has an empty cell")
    texts = cells.where(cells.notna(), "").astype(str)
    if column.allowed:
        wrong = sorted(set(texts) - set(column.allowed))
        said = f"{about} must be one of {_names(column.allowed)}, got {_names(wrong)}"
        _refuse(table, texts.isin(wrong), said)
    return texts


def _check_names(runs: pd.DataFrame, table: pd.DataFrame) -> None:
    """Refuse what cannot be part of a file's name, and selectors nobody has named."""
    for name in ("dataset", "selector", "downstream"):
        wrong = sorted(text for text in set(runs[name]) if not is_file_name(text))
        if wrong:
            raise RunTableError(
                f"column {name!r} must hold names that can be part of a file's, "
                f"without / and \\, got {_names(wrong)}."
            )
    named = set(runs["selector"])
    wrong = sorted(n for n in named if n.partition(":")[0] not in SELECTOR_LABELS)
    said = f"column 'selector' has no name of sievebench.labels in {_names(wrong)}"
    _refuse(
        table,
        runs["selector"].isin(wrong),
        said,
        advice="; take away what was misspelt.",
    )


def _check_finished(runs: pd.DataFrame, table: pd.DataFrame) -> None:
    """Refuse finished runs without the numbers that make them one, and odd counts."""
    is_done = runs["status"] == "done"
    needed = {c.name: is_done for c in COLUMNS if c.kind == "number" and c.is_known}
    needed["score"] = is_done & (runs["experiment"] != "scaling")
    for name, is_needed in needed.items():
        is_wrong = is_needed & ~np.isfinite(runs[name])
        _refuse(table, is_wrong, f"column {name!r} is empty in a run that is done")
    for fewer, more in (("n_added_kept", "n_kept"), ("n_kept", "n_features")):
        for _, row in runs[runs[fewer] > runs[more]].iterrows():
            raise RunTableError(
                f"column {fewer!r} exceeds {more!r}: {row[fewer]:g} of {row[more]:g} "
                f"({row['selector']} on {row['dataset']})."
            )


def _refuse(
    table: pd.DataFrame, is_wrong: Any, said: str, cells: Any = None, advice: str = "."
) -> None:
    """Raise RunTableError if any row is wrong: its cell, and the records it is of."""
    if is_wrong.any():
        got = "" if cells is None else f", got {cells[is_wrong].iloc[0]!r}"
        raise RunTableError(f"{said}{got}{_records(table, is_wrong)}{advice}")


def _records(table: pd.DataFrame, rows: Any) -> str:
    """Say which records some rows come from, nothing if the table does not tell."""
    if "key" not in table.columns:
        return ""
    chosen = table[rows.to_numpy()]
    files = chosen["key"].astype(str) + ".json"
    if "folder" in table.columns:
        files = chosen["folder"].fillna("").astype(str) + "/" + files
    names = list(dict.fromkeys(files))
    more = ["..."] if len(names) > _MOST_RECORDS else []
    return f" (in {', '.join([*names[:_MOST_RECORDS], *more])})"


def _names(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
