"""Tables of the other studies: what is kept, at equal counts, seconds, λ, cohorts."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd

from sievebench import analysis
from sievebench.labels import DOWNSTREAM_LABELS, SCENARIO_LABELS, selector_label
from sievebench.report.paper import (
    paper_cohort_averages,
    paper_cohorts,
    paper_statement,
)
from sievebench.report.rank_tables import TESTS_NOTE, VERSUS, power_note
from sievebench.report.report_data import ReportData
from sievebench.report.tables import (
    Cell,
    Columns,
    Table,
    interval,
    mean_and_std,
    number,
    signed,
    tables_of,
)

_POWER: Columns = {
    "scenario": "{scenario:scenario}",
    "selector": "{selector:selector}",
    "downstream": "{downstream:downstream}",
    "predictor": "{removal}",
    "loss": mean_and_std("drop", "drop_std", 3),
    "paper": lambda row: _stated(row, f"predictive power, {row['scenario']}", 3),
    "tables": "{n_datasets}",
    "columns": "{n_columns}",
}
_SCALING: Columns = {
    "selector": "{selector:selector}",
    "exponent": mean_and_std("exponent", "error", 3),
    "95 % interval": "{low:.3} to {high:.3}",
    "paper": lambda row: number(
        paper_statement(f"exponent, {row['selector'].partition(':')[0]}"), 2, ""
    ),
    "less overhead": interval("exponent_less_overhead", 2, "less_low", "less_high"),
    "overhead, seconds": "{overhead_seconds:.3}",
    "columns": "{n_features_min:.0f} to {n_features_max:.0f}",
    "runs": "{n_runs}",
}


def _stated(row: pd.Series, what: str, n_decimals: int) -> str:
    """Return what the text of the paper says about AutoNFS; nothing of others."""
    is_own = row["selector"].partition(":")[0] == "autonfs"
    return number(paper_statement(what), n_decimals, "") if is_own else ""


def misselection_tables(results: ReportData) -> Iterator[Table]:
    """Yield the share of added columns among the kept ones."""
    data = analysis.misselection(results.runs, results.downstream)
    data = data[data["selector"] != "none"]
    lines = data.pivot(index="selector", columns="scenario", values="share")
    columns: dict[str, Cell] = {"selector": "{selector:selector}"}
    for scenario in analysis.ordered(data["scenario"], SCENARIO_LABELS):
        label, what = SCENARIO_LABELS[scenario], f"misselection, {scenario}"
        columns[f"{label}: ours"] = f"{{{scenario}:.3}}"
        columns[f"{label}: paper"] = partial(_stated, what=what, n_decimals=2)
    n_empty = data.groupby("selector")["n_empty"].sum()
    yield from tables_of(
        lines.assign(n_empty=n_empty).loc[data["selector"].unique()].reset_index(),
        {**columns, "empty runs": "{n_empty}"},
        name="misselection",
        title="Added columns among the kept ones",
        data=data,
        notes=(
            "A share: the mean over the tables of the mean over the seeds; runs "
            "that keep nothing are left out and counted. The paper prints "
            "AutoNFS's only.",
        ),
    )


def matched_tables(results: ReportData) -> Iterator[Table]:
    """Yield AutoNFS against the others at its own number of columns."""
    for reference in results.own_selectors:
        comparison = analysis.matched_comparison(results.runs, reference)
        comparison = comparison[comparison["downstream"] == results.downstream]
        known = comparison[comparison["n_kept"].notna()]
        # The counts of a variant that was not matched may agree here and there.
        if known.empty or known["is_matched"].mean() < 0.5:
            continue
        label = selector_label(reference)
        summary = analysis.matched_summary(comparison)
        yield from tables_of(
            summary,
            {**VERSUS, "missing": "{n_missing}", "other count": "{n_unmatched}"},
            name=f"matched-{reference.replace(':', '-')}",
            title=f"{label} against selectors given its number of columns",
            data=comparison,
            n_text_columns=2,
            notes=(
                f"Tables on which {label} is better, equal or worse by the score "
                "with three decimals; other count: tables left out because the "
                "numbers of columns differ.",
                TESTS_NOTE,
                power_note(summary),
                _whose_predictors(results, reference),
            ),
        )


def _whose_predictors(results: ReportData, reference: str) -> str:
    """Return what predicts from the columns of the reference."""
    runs = results.runs[results.runs["downstream"] == results.downstream]
    shared = runs[(runs["experiment"] == "shared") & (runs["selector"] == reference)]
    if shared.empty:
        return (
            f"{selector_label(reference)} is of the benchmark, with the predictor that "
            "was found for it; with the runs of the shared experiment, all have the "
            "same."
        )
    both = pd.concat([shared, runs[runs["experiment"] == "matched"]])
    n_different = both.groupby(["dataset", "scenario"])["predictors"].nunique()
    if (n_different <= 1).all():
        return "All have the predictors of the shared experiment."
    return (
        f"{selector_label(reference)} is of the shared experiment, and on "
        f"{int((n_different > 1).sum())} tables not all have the same predictors: "
        "let both experiments reuse the same ones."
    )


def power_tables(results: ReportData) -> Iterator[Table]:
    """Yield what the score loses without one of the kept columns."""
    yield from tables_of(
        analysis.predictive_power(results.runs),
        _POWER,
        name="power",
        title="Score lost without one kept column, percentage points",
        n_text_columns=4,
        notes=(
            "Mean over the columns of a seed, then seeds, then tables, ± standard "
            "deviation over the tables. retrained: a new predictor without the column; "
            "imputed: the column replaced by its mean. columns: those left out, in "
            "all seeds and tables. The paper gives no unit.",
        ),
    )


def scaling_tables(results: ReportData) -> Iterator[Table]:
    """Yield how seconds grow with the number of columns."""
    yield from tables_of(
        results.exponents,
        _SCALING,
        name="scaling",
        title="Seconds against columns: the exponent",
        notes=(
            "Slope of ln seconds on ln columns ± its standard error; less "
            "overhead: the exponent of seconds = overhead + a × columns^exponent. "
            "The paper's values are from a passage that it does not print.",
        ),
    )


def balance_tables(results: ReportData) -> Iterator[Table]:
    """Yield score and columns at each balance."""
    columns: Columns = {
        "scenario": "{scenario:scenario}",
        "table": lambda row: results.dataset_label(row["dataset"]),
        "selector": "{selector:selector}",
        "λ": "{balance:g}",
        "score": mean_and_std("score_mean", "score_std", 3),
        "columns": mean_and_std("n_kept_mean", "n_kept_std", 1),
        "added": "{n_added_kept_mean:.1}",
        "empty": "{n_empty} of {n_done}",
    }
    yield from tables_of(
        analysis.balance_influence(results.runs),
        columns,
        name="balance",
        title="Influence of the balance λ",
        n_text_columns=3,
        notes=(
            "Mean ± standard deviation over seeds; empty: nothing is kept, and the "
            "score is that of a constant answer.",
        ),
    )


def cohort_tables(results: ReportData) -> Iterator[Table]:
    """Yield the metagenomic study for each selector, ours and the paper's."""
    chosen = results.runs[results.runs["experiment"] == "cohorts"]
    for selector in dict.fromkeys(chosen["selector"]):
        if selector != "none":
            yield _cohorts(analysis.cohort_table(results.runs, selector), selector)


def _cohorts(ours: pd.DataFrame, selector: str) -> Table:
    printed = pd.concat([paper_cohorts(), paper_cohorts(is_withdrawn=True)])
    theirs = printed.reindex(ours.index)
    rows = [_cohort_row(c, ours.loc[c], theirs.loc[c], 1) for c in ours.index]
    rows.append(_cohort_row("average", ours.mean(), paper_cohort_averages(), 2))
    titles = ("MLP, all", "MLP, kept", "RF, all", "RF, kept", "% left out")
    gains = [
        f"{DOWNSTREAM_LABELS[str(downstream)]}: better, equal, worse on "
        f"{row['n_better']:.0f}, {row['n_equal']:.0f}, {row['n_worse']:.0f} cohorts, "
        f"gain {signed(row['gain'], 2)} points."
        for downstream, row in analysis.cohort_summary(ours).iterrows()
    ]
    return Table(
        name=f"cohorts-{selector.replace(':', '-')}",
        title=f"Metagenomic cohorts, columns of {selector_label(selector)}",
        data=ours.reset_index(),
        header=("cohort", *(f"{t}: {w}" for t in titles for w in ("ours", "paper"))),
        rows=tuple(rows),
        notes=(
            *gains,
            "Scores in percent. The paper's averages are over the 18 cohorts it "
            "prints; its values of the other cohorts are in its source, commented out.",
        ),
        is_sortable=False,
    )


def _cohort_row(label: str, ours: Any, theirs: Any, n_decimals: int) -> tuple[str, ...]:
    """Return ours and theirs of one line; whole percents of the columns left out."""
    cells = [label]
    for name in ("mlp_full", "mlp_kept", "forest_full", "forest_kept", "reduction"):
        n_shown = 0 if name == "reduction" else n_decimals
        cells += [number(ours[name], n_shown), number(theirs[name], n_shown, "")]
    return tuple(cells)
