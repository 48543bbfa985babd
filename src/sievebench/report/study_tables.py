"""Tables of the other studies: what is kept, at equal counts, seconds, λ, cohorts."""

import numpy as np
import pandas as pd

from sievebench.analysis import (
    balance_influence,
    cohort_summary,
    cohort_table,
    matched_comparison,
    matched_summary,
    misselection,
    predictive_power,
    scaling_exponents,
)
from sievebench.labels import DOWNSTREAM_LABELS, SCENARIO_LABELS, selector_label
from sievebench.report.material import ReportData
from sievebench.report.paper import (
    paper_cohort_averages,
    paper_cohorts,
    paper_statement,
)
from sievebench.report.tables import Table, number, signed, with_deviation


def _stated(selector: str, what: str) -> float:
    """Return what the text of the paper says about a selector; NaN if nothing."""
    is_own = selector.partition(":")[0] == "autonfs"
    return paper_statement(what) if is_own else float("nan")


def misselection_tables(material: ReportData) -> list[Table]:
    """Return the share of added columns among the kept ones."""
    data = misselection(material.runs, material.downstream)
    data = data[data["selector"] != "none"]
    if data.empty:
        return []
    scenarios = [s for s in SCENARIO_LABELS if s in set(data["scenario"])]
    rows = []
    for selector in dict.fromkeys(data["selector"]):
        part = data[data["selector"] == selector].set_index("scenario")
        cells = [selector_label(selector)]
        for scenario in scenarios:
            share = part["share"].get(scenario, np.nan)
            cells.append(number(share, 3))
            stated = _stated(selector, f"misselection, {scenario}")
            cells.append("" if np.isnan(stated) else number(stated, 2))
        rows.append((*cells, str(part["n_empty"].sum())))
    names = [f"{SCENARIO_LABELS[s]}: {w}" for s in scenarios for w in ("ours", "paper")]
    return [
        Table(
            name="misselection",
            title="Added columns among the kept ones",
            data=data,
            header=("selector", *names, "empty runs"),
            rows=tuple(rows),
            notes=(
                "A share: the mean over the tables of the mean over the seeds; runs "
                "that keep nothing are left out and counted. The paper prints "
                "AutoNFS's only.",
            ),
        )
    ]


def matched_tables(material: ReportData) -> list[Table]:
    """Return AutoNFS against the others at its own number of columns."""
    tables = []
    for reference in material.own_selectors:
        comparison = matched_comparison(material.runs, reference)
        is_chosen = comparison["downstream"] == material.downstream
        comparison = comparison[is_chosen]
        known = comparison[comparison["n_kept"].notna()]
        # The counts of a variant that was not matched may agree here and there.
        if known.empty or known["is_matched"].mean() < 0.5:
            continue
        summary = matched_summary(comparison)
        rows = [
            (
                SCENARIO_LABELS[row["scenario"]],
                selector_label(row["selector"]),
                *(str(row[n]) for n in ("n_better", "n_equal", "n_worse")),
                signed(row["mean_difference"], 3),
                str(row["n_missing"]),
                str(row["n_unmatched"]),
            )
            for _, row in summary.iterrows()
        ]
        header = ("scenario", "selector", "better", "equal", "worse", "mean difference")
        label = selector_label(reference)
        tables.append(
            Table(
                name=f"matched-{reference.replace(':', '-')}",
                title=f"{label} against selectors given its number of columns",
                data=comparison,
                header=(*header, "missing", "other count"),
                rows=tuple(rows),
                n_text_columns=2,
                notes=(
                    f"Tables on which {label} is better, equal or worse by the score "
                    "with three decimals; other count: tables left out because the "
                    "numbers of columns differ.",
                    _whose_predictors(material, reference),
                ),
            )
        )
    return tables


def _whose_predictors(material: ReportData, reference: str) -> str:
    """Return what predicts from the columns of the reference."""
    runs = material.runs[material.runs["downstream"] == material.downstream]
    shared = runs[(runs["experiment"] == "shared") & (runs["selector"] == reference)]
    if len(shared):
        both = pd.concat([shared, runs[runs["experiment"] == "matched"]])
        n_different = both.groupby(["dataset", "scenario"])["predictors"].nunique()
        if (n_different <= 1).all():
            return "All have the predictors of the shared experiment."
        return (
            f"{selector_label(reference)} is of the shared experiment, and on "
            f"{int((n_different > 1).sum())} tables not all have the same predictors: "
            "let both experiments reuse the same ones."
        )
    return (
        f"{selector_label(reference)} is of the benchmark, with the predictor that was "
        "found for it; with the runs of the shared experiment, all have the same."
    )


def power_tables(material: ReportData) -> list[Table]:
    """Return what the score loses without one of the kept columns."""
    data = predictive_power(material.runs)
    if data.empty:
        return []
    rows = []
    for _, row in data.iterrows():
        stated = _stated(row["selector"], f"predictive power, {row['scenario']}")
        rows.append(
            (
                SCENARIO_LABELS[row["scenario"]],
                selector_label(row["selector"]),
                DOWNSTREAM_LABELS.get(row["downstream"], row["downstream"]),
                row["removal"],
                with_deviation(row["drop"], row["drop_std"], 3),
                "" if np.isnan(stated) else number(stated, 3),
                str(row["n_datasets"]),
                str(row["n_columns"]),
            )
        )
    header = ("scenario", "selector", "downstream", "predictor", "loss", "paper")
    return [
        Table(
            name="power",
            title="Score lost without one kept column, percentage points",
            data=data,
            header=(*header, "tables", "columns"),
            rows=tuple(rows),
            n_text_columns=4,
            notes=(
                "Mean over seeds, then kept columns, then tables, ± standard deviation "
                "over the tables. retrained: a new predictor without the column; "
                "imputed: the column replaced by its mean. columns: those left out, in "
                "all tables. The paper gives no unit.",
            ),
        )
    ]


def scaling_tables(material: ReportData) -> list[Table]:
    """Return how seconds grow with the number of columns."""
    data = scaling_exponents(material.runs)
    if data.empty:
        return []
    rows = []
    for _, row in data.iterrows():
        stated = paper_statement(f"exponent, {row['selector'].partition(':')[0]}")
        rows.append(
            (
                selector_label(row["selector"]),
                with_deviation(row["exponent"], row["error"], 3),
                f"{number(row['low'], 3)} to {number(row['high'], 3)}",
                "" if np.isnan(stated) else number(stated, 2),
                number(row["exponent_less_overhead"], 2),
                number(row["overhead_seconds"], 3),
                f"{row['n_features_min']:.0f} to {row['n_features_max']:.0f}",
                str(row["n_runs"]),
            )
        )
    header = ("selector", "exponent", "95 % interval", "paper", "less overhead")
    return [
        Table(
            name="scaling",
            title="Seconds against columns: the exponent",
            data=data,
            header=(*header, "overhead, seconds", "columns", "runs"),
            rows=tuple(rows),
            notes=(
                "Slope of ln seconds on ln columns ± its standard error; less "
                "overhead: the exponent of seconds = overhead + a × columns^exponent. "
                "The paper's values are from a passage that it does not print.",
            ),
        )
    ]


def balance_tables(material: ReportData) -> list[Table]:
    """Return score and columns at each balance."""
    data = balance_influence(material.runs)
    if data.empty:
        return []
    rows = [
        (
            SCENARIO_LABELS[row["scenario"]],
            material.dataset_label(row["dataset"]),
            selector_label(row["selector"]),
            f"{row['balance']:g}",
            with_deviation(row["score_mean"], row["score_std"], 3),
            with_deviation(row["n_kept_mean"], row["n_kept_std"], 1),
            number(row["n_added_kept_mean"], 1),
            f"{row['n_empty']} of {row['n_done']}",
        )
        for _, row in data.iterrows()
    ]
    header = (
        "scenario",
        "table",
        "selector",
        "λ",
        "score",
        "columns",
        "added",
        "empty",
    )
    return [
        Table(
            name="balance",
            title="Influence of the balance λ",
            data=data,
            header=header,
            rows=tuple(rows),
            n_text_columns=3,
            notes=(
                "Mean ± standard deviation over seeds; empty: nothing is kept, and the "
                "score is that of a constant answer.",
            ),
        )
    ]


def cohort_tables(material: ReportData) -> list[Table]:
    """Return the metagenomic study, ours and the paper's."""
    chosen = material.runs[material.runs["experiment"] == "cohorts"]
    names = [s for s in dict.fromkeys(chosen["selector"]) if s != "none"]
    return [_cohorts(material, selector) for selector in names]


def _cohorts(material: ReportData, selector: str) -> Table:
    """Return the cohorts with the columns of one selector."""
    ours = cohort_table(material.runs, selector)
    theirs = pd.concat([paper_cohorts(), paper_cohorts(is_withdrawn=True)])
    figures = ["mlp_full", "mlp_kept", "forest_full", "forest_kept", "reduction"]
    rows = []
    for cohort in ours.index:
        cells = [cohort]
        for name in figures:
            printed = theirs[name].get(cohort, np.nan)
            n_decimals = 0 if name == "reduction" else 1
            cells += [number(ours.loc[cohort, name], n_decimals)]
            cells += ["" if np.isnan(printed) else number(printed, n_decimals)]
        rows.append(tuple(cells))
    averages = paper_cohort_averages()
    last = ["average"]
    for name in figures:
        n_decimals = 0 if name == "reduction" else 2
        last += [number(ours[name].mean(), n_decimals)]
        last += [number(averages[name], n_decimals)]
    rows.append(tuple(last))
    titles = ("MLP, all", "MLP, kept", "RF, all", "RF, kept", "% left out")
    return Table(
        name=f"cohorts-{selector.replace(':', '-')}",
        title=f"Metagenomic cohorts, columns of {selector_label(selector)}",
        data=ours.reset_index(),
        header=("cohort", *(f"{t}: {w}" for t in titles for w in ("ours", "paper"))),
        rows=tuple(rows),
        notes=(
            *_cohort_notes(ours),
            "Scores in percent. The paper's averages are over the 18 cohorts it "
            "prints; its values of the other cohorts are in its source, commented out.",
        ),
        is_sortable=False,
    )


def _cohort_notes(ours: pd.DataFrame) -> list[str]:
    """Return where the kept columns do better."""
    return [
        f"{DOWNSTREAM_LABELS[str(downstream)]}: better, equal, worse on "
        f"{row['n_better']:.0f}, {row['n_equal']:.0f}, {row['n_worse']:.0f} cohorts, "
        f"gain {signed(row['gain'], 2)} points."
        for downstream, row in cohort_summary(ours).iterrows()
    ]
