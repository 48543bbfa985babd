import io
import re

import numpy as np
import pandas as pd
import pytest
from made_runs import benchmark, failed, run, table, whole_study
from scipy.stats import spearmanr

from sievebench.report import (
    PAPER_TABLES,
    Table,
    all_tables,
    csv,
    gather,
    latex,
    markdown,
    read_runs,
)
from sievebench.report.against_paper import comparison_tables
from sievebench.report.rank_tables import rank_tables
from sievebench.report.score_tables import count_tables, missing_tables, score_tables
from sievebench.report.study_tables import matched_tables
from sievebench.report.tables import best_cells, number, signed, with_deviation

SMALL = Table(
    name="small",
    title="A small one",
    data=pd.DataFrame({"selector": ["a", "b"], "score": [1 / 3, np.nan]}),
    header=("selector", "score_%"),
    rows=(("a|b", "-0.333 ± 0.001"), ("AutoNFS", "missing")),
    notes=("One note.",),
    bold=frozenset({(0, 1)}),
)


@pytest.fixture(scope="module")
def results():
    return gather(whole_study())


@pytest.fixture(scope="module")
def tables(results):
    return {t.name: t for _, section in all_tables(results) for t in section}


def rows_of(tables, name):
    """Return the printed rows of a table by their first cells."""
    n = tables[name].n_text_columns
    return {" ".join(row[:n]): row[n:] for row in tables[name].rows}


def test_table_is_written_as_markdown_latex_and_csv():
    lines = markdown(SMALL).splitlines()
    assert lines[0] == "## A small one"
    assert lines[2] == r"| selector |           score\_% |"
    assert lines[3] == "| :------- | -----------------: |"
    assert lines[4] == r"| a\|b     | **-0.333 ± 0.001** |"
    assert lines[5] == "| AutoNFS  |            missing |"
    assert lines[7] == "- One note."
    text = latex(SMALL)
    assert r"selector & score\_\% \\" in text
    assert r"a\textbar{}b & \textbf{$-$0.333 $\pm$ 0.001} \\" in text
    assert text.startswith("% A small one\n% One note.\n\\begin{tabular}{lr}\n")
    assert text.endswith("\\bottomrule\n\\end{tabular}\n")
    assert csv(SMALL) == "selector,score\na,0.333333\nb,\n"
    with pytest.raises(ValueError, match="as long as its header"):
        Table("x", "x", pd.DataFrame(), ("a", "b"), (("1",),))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (number(np.nan, 2), "missing"),
        (number(-0.0004, 3), "0.000"),
        (signed(0.0316, 2), "+0.03"),
        (signed(-0.0316, 2), "-0.03"),
        (signed(0.0, 2), "0.00"),
        (with_deviation(0.5, np.nan, 2), "0.50"),
        (with_deviation(np.nan, 0.1, 2), "missing"),
        (with_deviation(0.5, 0.1, 2), "0.50 ± 0.10"),
    ],
)
def test_numbers_are_printed_so(text, expected):
    assert text == expected


def test_best_are_those_that_print_as_the_largest():
    wide = pd.DataFrame({"a": [0.5004, 0.5001, np.nan, 0.1], "b": [np.nan] * 4})
    assert best_cells(wide, 3) == {(0, 1), (1, 1)}


def test_every_section_has_a_table_if_there_is_something_to_report(results):
    empty = {heading for heading, section in all_tables(results) if not section}
    assert empty <= {"Fresh draws"}  # records of a benchmark, not of an experiment
    nothing = whole_study().iloc[:0]
    assert [t for _, section in all_tables(gather(nothing)) for t in section] == []


@pytest.mark.parametrize(
    ("name", "row", "start", "expected"),
    [
        # Seeds 0 and 1 differ by 0.001: deviation 0.0007.
        ("scores-random", "AutoNFS, auto", 0, ["-0.440 ± 0.001", "0.611 ± 0.001"]),
        ("scores-random", "ProtoGate", 0, ["missing"]),
        # Of five: last on california, where it is missing, and third of the others.
        ("ranks", "ProtoGate", 0, ["3.7", "3.0"]),
        ("ranks", "ProtoGate", 3, ["10.3"]),
        # Second of four on california, where ProtoGate is missing, then third twice.
        # Lasso is better than AutoNFS as published, and second where `auto` is there.
        (
            "ranks-variants",
            "AutoNFS, published",
            0,
            ["2.67 [2.00, 3.00]", "Lasso 1.00"],
        ),
        ("ranks-variants", "AutoNFS, auto", 0, ["1.00 [1.00, 1.00]", "Lasso 2.00"]),
        ("counts", "EY", 0, ["10", "5.0 ± 0.0", "5.0 ± 0.0", "8"]),
        ("misselection", "Lasso", 0, ["0.300", ""]),
        ("misselection", "AutoNFS, auto", 4, ["0.000", "0.17"]),
        (
            "matched-autonfs-auto",
            "Random Lasso",
            0,
            ["3", "0", "0", "+0.020 [+0.020, +0.020]", "–"],
        ),
        # In the benchmark AutoNFS is better than Lasso, with the same predictors not.
        ("ranks-shared", "Lasso", 0, ["1.0", "2.0"]),
        ("ranks-shared", "AutoNFS, auto", 0, ["2.0", "1.0"]),
        # Losses of 0, 1, 2, 3 and 4 percentage points.
        ("power", "Random AutoNFS, auto MLP retrained", 0, ["2.000", "0.313"]),
        ("scaling", "Univariate", 0, ["1.000 ± 0.000"]),
        ("scaling", "AutoNFS, auto", 2, ["0.08"]),
        ("cohorts-autonfs-auto", "QinN_2014", 0, ["70.0", "74.6", "72.0", "81.5"]),
        ("cohorts-autonfs-auto", "QinN_2014", -2, ["90", "94"]),
        ("paper-random", "No FS ours", 0, ["missing"]),
        ("paper-random", "No FS paper", 0, ["0.941"]),
        ("paper-random", "No FS difference", 0, [""]),
        ("paper-random", "ProtoGate paper", 1, ["N/A"]),
    ],
)
def test_row_is_printed_so(tables, name, row, start, expected):
    cells = rows_of(tables, name)[row]
    assert list(cells[start:][: len(expected)]) == expected


def test_scores_name_samples_and_metrics_and_mark_the_best(tables):
    found = tables["scores-random"]
    assert found.header == ("selector", "CH", "EY", "JA (sample)", "rank")
    assert "accuracy (EY, JA (sample))" in found.notes[0]
    assert "-RMSE of the standardised target (CH)" in found.notes[0]
    place = [row[0] for row in found.rows].index("AutoNFS, auto")
    assert found.bold == {(place, column) for column in range(1, 5)}
    assert "No FS" not in rows_of(tables, "misselection")


def test_order_of_the_selectors_is_compared_with_the_papers(tables):
    data = tables["ranks"].data.set_index("selector")
    alone = data[[":" not in name for name in data.index]]
    expected = spearmanr(alone["random: ours"], alone["random: paper, same tables"])
    note = next(n for n in tables["ranks"].notes if "Spearman" in n)
    assert f"Random {expected.statistic:.2f}" in note


def test_same_predictors_give_scores_of_their_own_and_need_no_benchmark(tables):
    data = tables["scores-shared-random"].data.set_index(["dataset", "selector"])
    assert data.loc[("california", "lasso"), "score_mean"] == pytest.approx(-0.4295)
    runs = [run(selector=name, experiment="shared") for name in ("lasso", "stg")]
    alone = {t.name: t for _, part in all_tables(gather(table(*runs))) for t in part}
    assert alone["ranks-shared"].header == ("selector", "Random: same predictors")


def test_empty_selections_cohorts_and_missing_cells_are_counted(tables):
    last = tables["balance"].rows[-1]
    assert (last[3], last[-1]) == ("10", "2 of 2")
    assert "better, equal, worse on 2, 0, 0" in tables["cohorts-autonfs-auto"].notes[0]
    where = ("benchmark", "Random", "CH", "ProtoGate", "mlp")
    why = "skipped: classification only"
    assert tables["missing"].rows[0] == (*where, why, "0 of 2")


def test_best_rank_is_marked_where_a_selector_has_no_score():
    scores = {
        "xgboost": {"eye": 0.1, "otto": 0.2},
        "protogate": {"eye": None, "otto": None},
        "lasso": {"eye": 0.3, "otto": 0.4},
        "none": {"eye": 0.2, "otto": 0.3},
    }
    (found,) = score_tables(gather(table(*benchmark(scores))))
    assert [row[-1] for row in found.rows] == ["2.0", "1.0", "3.0", "4.0"]
    assert {place for place in found.bold if place[1] == 3} == {(1, 3)}


def test_table_that_is_not_run_everywhere_is_not_ranked():
    scores = {
        "none": {"eye": 0.2, "otto": 0.5},
        "lasso": {"eye": 0.3},
        "forest": {"eye": 0.1},
    }
    results = gather(table(*benchmark(scores)))
    (found,) = score_tables(results)
    # By the rule for missing scores "none" would be first: 2 and 1, 1 and 3, 3 and 3.
    assert [row[-1] for row in found.rows] == ["2.0", "1.0", "3.0"]
    assert [row[2] for row in found.rows] == ["0.500", "missing", "missing"]
    assert found.notes[-1].endswith("not been run there: random OT.")
    (ranks,) = rank_tables(results)
    assert [row[1] for row in ranks.rows] == ["2.0", "1.0", "3.0"]
    (missing,) = missing_tables(results)
    assert missing.rows == tuple(
        ("benchmark", "Random", "OT", name, "mlp", "no record", "0")
        for name in ("Lasso", "RF")
    )
    assert missing.data["dataset"].to_list() == ["otto", "otto"]
    apart = {"none": {"eye": 0.2}, "lasso": {"otto": 0.3}}
    (found,) = score_tables(gather(table(*benchmark(apart))))
    assert [row[-1] for row in found.rows] == ["missing", "missing"]


def test_missing_cells_of_other_experiments_are_told():
    gaps = [
        failed("planted", experiment=experiment, dataset=dataset)
        for experiment, dataset in (("cohorts", "LiJ_2014"), ("matched", "eye"))
    ]
    (found,) = missing_tables(gather(table(*gaps)))
    assert [row[0] for row in found.rows] == ["matched", "cohorts"]
    assert [row[5] for row in found.rows] == ["failed: planted"] * 2
    (found,) = missing_tables(gather(table(failed("why " * 100))))
    assert found.rows[0][5].endswith(" why wh …")
    assert len(found.rows[0][5]) == 240


def test_paper_has_no_number_for_tables_of_ours():
    runs = [run(selector="autonfs:auto", dataset=name) for name in ("eye", "wine")]
    results = gather(table(*runs))
    (counts,) = count_tables(results)
    eye, wine = counts.rows
    assert (eye[-1], wine[-1]) == ("8", "")
    assert not list(comparison_tables(gather(table(runs[1]))))
    selectors = [run(selector=name) for name in ("lasso", "boruta")]
    *_, far = comparison_tables(gather(table(*selectors)))
    assert "Boruta" not in {row[1] for row in far.rows}


def test_downstream_may_be_chosen():
    runs = table(run(), run(downstream="forest", score=0.9))
    assert gather(runs).downstream == "mlp"
    scores = gather(runs, "forest").wide("random")
    assert scores.loc["lasso", "eye"] == 0.9
    runs = table(run(experiment="cohorts", downstream="forest"))
    assert gather(runs, "forest").downstream == "forest"
    with pytest.raises(ValueError, match="must be one of forest, got 'mlp'"):
        gather(runs, "mlp")


def test_runs_are_read_from_a_file(tmp_path):
    runs = whole_study()
    runs.to_csv(tmp_path / "runs.csv", index=False)
    runs.to_parquet(tmp_path / "runs.parquet")
    expected = gather(runs).runs
    for ending in ("csv", "parquet"):
        found = gather(read_runs(tmp_path / f"runs.{ending}")).runs
        pd.testing.assert_frame_equal(found, expected)
    with pytest.raises(ValueError, match=r"runs\.json must be a folder of records"):
        read_runs(tmp_path / "runs.json")


@pytest.mark.parametrize("name", PAPER_TABLES)
def test_paper_tables_can_be_written(name):
    for found in PAPER_TABLES[name]():
        assert found.title in markdown(found)
        assert latex(found).count(r"\\") == len(found.rows) + 1
        read = pd.read_csv(io.StringIO(csv(found)), dtype=str)
        assert len(read) == len(found.rows)


def test_no_cell_says_nan(tables):
    texts = [markdown(t) + latex(t) for t in tables.values()]
    assert not any(re.search(r"\bnan\b", text, re.IGNORECASE) for text in texts)


def test_matched_says_whose_predictors_the_reference_has():
    runs = whole_study()
    is_other = (runs["experiment"] == "matched") & (runs["dataset"] == "eye")
    mixed = runs.assign(predictors=is_other.map({True: "b", False: "a"}))
    alone = runs[runs["experiment"] != "shared"]
    shared, different, benchmark = (
        next(matched_tables(gather(each))).notes[-1] for each in (runs, mixed, alone)
    )
    assert shared == "All have the predictors of the shared experiment."
    assert "tables not all have the same predictors" in different
    assert "of the benchmark, with the predictor that was found for it" in benchmark


def test_matched_leaves_out_a_variant_whose_count_agrees_by_chance():
    where = [{"dataset": name} for name in ("eye", "jannis", "otto")]
    runs = [
        run(selector=name, n_kept=kept, **place)
        for place, published in zip(where, (5, 9, 9), strict=True)
        for name, kept in (("autonfs:auto", 5), ("autonfs:published", published))
    ]
    runs += [run(experiment="matched", n_kept=5, **place) for place in where]
    found = [t.name for t in matched_tables(gather(table(*runs)))]
    assert found == ["matched-autonfs-auto"]


def test_runs_without_a_common_table_give_no_best_of_a_field():
    runs = [
        run(selector=name, dataset="eye", experiment="benchmark")
        for name in ("none", "autonfs:auto", "autonfs:published")
    ]
    runs.append(run(selector="univariate", dataset="gesture", experiment="benchmark"))
    _, variants = rank_tables(gather(table(*runs)))
    assert variants.name == "ranks-variants"
    assert variants.rows[0] == ("AutoNFS, auto", *["missing"] * 3)
