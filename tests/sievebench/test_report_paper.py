"""The paper's numbers: how many there are, what they add up to, and the source."""

import math
import re

import pandas as pd
import pytest
from made_runs import benchmark, table, whole_study

from sievebench.analysis import cohort_summary
from sievebench.labels import DATASET_LABELS, SELECTOR_LABELS
from sievebench.report import agreement, all_tables, compare_scores, gather
from sievebench.report.paper import (
    paper_cohort_averages,
    paper_cohorts,
    paper_counts,
    paper_datasets,
    paper_notes,
    paper_scores,
    paper_statement,
    paper_values,
    printed_scores,
)

SCENARIOS = ("random", "corrupted", "second_order")
SOURCE_NAMES = {label: name for name, label in SELECTOR_LABELS.items()}
SOURCE_NAMES |= {"LSpin": "lspin"}


@pytest.fixture(scope="module")
def comparison():
    return compare_scores(gather(whole_study()))


@pytest.mark.parametrize(
    ("scenario", "n_marks"), [("random", 0), ("corrupted", 8), ("second_order", 10)]
)
def test_scores_are_14_selectors_by_11_tables(scenario, n_marks):
    printed = printed_scores(scenario).drop(columns="rank")
    scores = paper_scores(scenario)
    assert list(scores.index) == list(SELECTOR_LABELS)[:14]
    assert list(scores.columns) == list(DATASET_LABELS)
    assert (printed == "OOM").sum().sum() == 2
    assert (printed == "N/A").sum().sum() == 4
    assert scores.isna().sum().sum() == 6
    assert printed.map(lambda cell: cell.endswith("*")).sum().sum() == n_marks
    regression = ["california", "house", "microsoft", "year"]
    assert not (scores[regression] > 0).any(axis=None)
    assert not (scores.drop(columns=regression) < 0).any(axis=None)


def test_counts_are_of_11_tables_of_which_4_regression_half_of_the_columns():
    counts, datasets = paper_counts(), paper_datasets()
    assert (counts.shape, datasets.shape) == ((11, 3), (11, 3))
    shares = counts.div(datasets["n_features"], axis=0).mean().round(2)
    assert shares.to_list() == [0.52, 0.50, 0.50]
    assert datasets["n_classes"].isna().sum() == 4
    assert datasets.loc["microsoft", "n_rows"] == 1_200_192
    assert datasets["n_features"].sum() == 638


def test_cohorts_average_and_count_as_printed():
    cohorts, withdrawn = paper_cohorts(), paper_cohorts(is_withdrawn=True)
    assert (len(cohorts), len(withdrawn)) == (18, 6)
    # Scores are printed to 0.1, so their mean is known to 0.05 at worst; 0.01 is seen.
    difference = (cohorts.mean() - paper_cohort_averages()).abs()
    assert difference.max() < 0.065
    assert difference.drop("reduction").max() < 0.01
    summary = cohort_summary(cohorts)
    counts = summary[["n_better", "n_equal", "n_worse"]]
    assert counts.loc["mlp"].to_list() == [11, 1, 6]
    assert counts.loc["forest"].to_list() == [12, 2, 4]
    # The gain shrinks with those that were withdrawn.
    assert summary["gain"].round(2).to_list() == [1.55, 2.06]
    every = cohort_summary(pd.concat([cohorts, withdrawn]))["gain"]
    assert every.round(2).to_list() == [0.76, 1.18]


def test_statements_give_numbers_by_unique_keys_and_notes_the_true_metrics():
    assert paper_statement("misselection, random") == 0
    assert paper_statement("predictive power, random") == 0.313
    assert paper_statement("rank, corrupted") == 2.1
    assert math.isnan(paper_statement("what nobody said"))
    keys = [statement["key"] for statement in paper_values()["statements"]]
    assert len(keys) == len(set(keys)) == 22
    notes = " ".join(paper_notes("scores"))
    assert "-RMSE" in notes
    assert "ROC-AUC" in notes


def test_comparison_has_every_cell_and_marks_samples_and_gaps(comparison):
    # 13 selectors of the paper and two variants, 11 tables, three scenarios.
    assert len(comparison) == 15 * 11 * 3
    theirs = paper_scores("random").loc["autonfs", "eye"]
    place = "scenario == 'random' and dataset == 'eye' and selector == 'autonfs:auto'"
    (cell,) = comparison.query(place).to_dict("records")
    assert cell["theirs"] == theirs
    assert cell["difference"] == pytest.approx(0.6105 - theirs)
    assert set(comparison.loc[comparison["is_sample"], "dataset"]) == {"jannis"}
    not_run = comparison[comparison["why_missing"] == "not run"]
    assert not_run["ours"].isna().all()
    gap = comparison[comparison["why_missing"] == "classification only"]
    assert set(gap["dataset"]) == {"california"}
    (row,) = (
        agreement(comparison)
        .query("selector == 'lasso' and scenario == 'random'")[
            ["n_cells", "n_samples", "n_missing"]
        ]
        .itertuples(index=False)
    )
    assert tuple(row) == (2, 1, 8)


def test_comparison_with_the_paper_itself_has_no_difference():
    runs = []
    for scenario in SCENARIOS:
        scores = paper_scores(scenario).astype(object)
        scores = scores.where(scores.notna(), None)
        rows = {s: scores.loc[s].to_dict() for s in scores.index}
        runs += benchmark(rows, scenario)
    results = gather(table(*runs))
    comparison = compare_scores(results)
    assert len(comparison) == 14 * 11 * 3
    assert comparison["difference"].abs().max() == 0
    assert comparison["difference"].isna().sum() == 18
    tables = {t.name: t for _, section in all_tables(results) for t in section}
    ranks = [row[1:] for row in tables["ranks"].rows]
    assert all(row[0::4] == row[2::4] == row[3::4] for row in ranks)


# --- against the LaTeX source, which is not ours to commit -------------------------


@pytest.fixture(scope="session")
def source(data_folder):
    """Return the LaTeX source, from the folder `paper` beside the data folder."""
    path = data_folder.parent / "paper" / "autonfs.tex"
    if not path.is_file():
        pytest.skip("there is no paper/autonfs.tex beside the data folder")
    return path.read_text(encoding="utf-8")


def rows_in_source(source, label):
    """Return the rows of the tabular before a label: (is commented out, cells)."""
    before = source[: source.index(rf"\label{{{label}}}")]
    _, _, body = before[before.rindex(r"\begin{tabular}") :].partition(r"\midrule")
    rows = []
    for line in body.splitlines():
        if not line.rstrip().endswith(r"\\"):
            continue
        cells = [plain(cell) for cell in line.rstrip()[:-2].split("&")]
        is_commented = cells[0].startswith("%")
        rows.append((is_commented, [cells[0].lstrip("% "), *cells[1:]]))
    return rows


def plain(cell):
    """Return a cell without its LaTeX."""
    cell = re.sub(r"\\textbf\{(.*?)\}", r"\1", cell).replace(r"\ours{}", "AutoNFS")
    for old, new in (("$^*$", "*"), (r"\_", "_"), (r"\%", "%")):
        cell = cell.replace(old, new)
    return cell.strip()


def first_word(cell):
    return cell.split()[0]


@pytest.mark.data
@pytest.mark.parametrize(
    ("names", "is_withdrawn", "label"),
    [
        *((("scores", scenario), False, SOURCE_NAMES.get) for scenario in SCENARIOS),
        *(((name,), False, first_word) for name in ("counts", "datasets")),
        (("cohorts",), False, str),
        (("withdrawn_cohorts",), True, str),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_source_has_every_row(source, names, is_withdrawn, label):
    section = paper_values()
    for name in names:
        section = section[name]
    rows = {
        label(cells[0]): cells[1:]
        for is_commented, cells in rows_in_source(source, section["table"])
        if is_commented == is_withdrawn
    }
    assert rows == section["rows"]


@pytest.mark.data
def test_source_has_every_statement(source):
    for statement in paper_values()["statements"]:
        quote, value = statement["quote"], statement["value"]
        lines = [
            line
            for line in source.replace(r"\ours{}", "AutoNFS").splitlines()
            if quote in line
        ]
        assert lines, quote
        assert value in quote or value == "zero"
        # The commented part of a line: from its first % that is not escaped.
        comments = [re.search(r"(?<!\\)%", line) for line in lines]
        is_withdrawn = all(
            mark is not None and mark.start() < line.index(quote)
            for mark, line in zip(comments, lines, strict=True)
        )
        assert is_withdrawn == statement.get("is_withdrawn", False), quote


@pytest.mark.data
def test_source_has_every_figure_and_no_other_table(source):
    values = paper_values()
    for figure in values["figures"]:
        assert rf"\label{{{figure['figure']}}}" in source
    labels = set(re.findall(r"\\label\{(tab:\w+)\}", source))
    known = {section["table"] for section in values["scores"].values()}
    known |= {values[name]["table"] for name in ("counts", "datasets", "cohorts")}
    assert labels == known
