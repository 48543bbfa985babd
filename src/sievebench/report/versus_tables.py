"""AutoNFS beside each other selector: wins, mean differences, tests."""

from collections.abc import Iterator

import pandas as pd

from sievebench import analysis
from sievebench.labels import selector_label
from sievebench.report.report_data import ReportData
from sievebench.report.tables import Columns, Table, interval, number, table_of

VERSUS: Columns = {
    "scenario": "{scenario:scenario}",
    "selector": "{selector:selector}",
    "better": "{n_better}",
    "equal": "{n_equal}",
    "worse": "{n_worse}",
    "mean difference": interval("mean_difference", 3, is_signed=True),
    "p": "{p:p?–}",
    "p, Holm": "{p_holm:p?–}",
    "by the test": "{verdict}",
}
TESTS_NOTE = (
    "mean difference over the tables with its 95 % interval (bootstrap over the "
    "tables, not corrected for the number of selectors; none for fewer than three "
    "tables); p: Wilcoxon's signed ranks, all signs tried, none for fewer than five "
    "differences; Holm: corrected for the selectors of a scenario; by the test: at "
    "0.05."
)


def versus_tables(results: ReportData) -> Iterator[Table]:
    """Yield AutoNFS beside each other selector: wins, differences, tests."""
    for kind, about, field in (
        ("", "each with its own search", results),
        ("shared-", "same predictors", results.shared),
    ):
        for reference in field.own_selectors:
            data = beside_others(field, reference)
            if data.empty:
                continue
            label = selector_label(reference)
            yield table_of(
                data,
                VERSUS,
                name=f"versus-{kind}{reference.replace(':', '-')}",
                title=f"{label} beside each other selector, {about}",
                n_text_columns=2,
                notes=(
                    f"Tables on which {label} is better, equal or worse by the score "
                    "with three decimals, without its sisters.",
                    TESTS_NOTE,
                    power_note(data),
                ),
            )


def beside_others(field: ReportData, reference: str) -> pd.DataFrame:
    """Return what `compare_with` says in each scenario; empty if it says nothing."""
    parts = []
    for scenario in field.scenarios:
        scores = field.ranked(scenario)
        rivals = analysis.without_sisters(scores, reference)
        if reference in scores.index and len(rivals) > 1 and scores.shape[1]:
            part = analysis.compare_with(scores, reference).reset_index()
            parts.append(part.assign(scenario=scenario))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def power_note(compared: pd.DataFrame) -> str:
    """Say what the test can tell at best, with so many tables and selectors."""
    wins = compared[["n_better", "n_equal", "n_worse"]].sum(axis=1)
    n_tables = int(wins.max())
    n_others = compared["selector"].nunique()
    least = min(1.0, n_others * 2.0 ** (1 - n_tables))
    return (
        f"With {n_tables} tables and {n_others} others the least corrected p there "
        f"can be is {number(least, 3)}"
        + (": the test can tell nothing apart." if least > 0.05 else ".")
    )
