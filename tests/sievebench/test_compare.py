"""A comparison: figures, folds, failures, limits, and targets as people have them."""

import csv
import io
import json
import multiprocessing
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from compared_table import table_of
from scipy import stats

from featuresieve.files import TableFileError
from headless_browser import use_page
from made_tables import class_table, value_table
from sievebench.compare import (
    CompareError,
    Comparison,
    FoldScore,
    Plan,
    SelectorResult,
    against_best,
    agreement_matrix,
    csv_text,
    folds_of,
    html_page,
    rows_of,
    run_comparison,
    screen_text,
)
from sievebench.compare._figures import clustered_order, score_scale, spread_labels
from sievebench.compare._page import _within_bounds

QUICK = ("none", "univariate", "lasso")


def table(make=class_table, **arguments):
    X, y = make(**arguments)
    frame = pd.DataFrame(X, columns=[f"c {j}" for j in range(X.shape[1])])
    return table_of(frame.assign(target=y), "target")


def labelled(target, task="auto", n_columns=3):
    """Return normal columns with this target."""
    X = np.random.default_rng(0).normal(size=(len(target), n_columns))
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(n_columns)])
    return table_of(frame.assign(target=target), "target", task=task)


def made_comparison():
    """Return a comparison with known figures: two selectors, one failed, "none"."""
    supports = [[(1, 1, 0, 0), (1, 1, 0, 0)], [(1, 0, 1, 0), (1, 1, 0, 0)]]
    lasso, forest = (
        tuple(
            FoldScore(score, tuple(map(bool, support)), 2.0)
            for score, support in zip((0.5, 0.7), pair, strict=True)
        )
        for pair in supports
    )
    results = (
        SelectorResult("none", (FoldScore(0.9, (True,) * 4, 0.0),) * 2),
        SelectorResult("lasso", lasso),
        SelectorResult("forest", forest),
        SelectorResult("stg", lasso[:1], "out of time: a fit took more than 9 s"),
    )
    X = pd.DataFrame(np.eye(12)[:, :4], columns=["<a>", "b", "c", "d"])
    made = table_of(X.assign(target=["u", "v"] * 6), "target")
    plan = Plan(("none", "lasso", "forest", "stg"), task="classification", n_folds=2)
    return Comparison(made, plan, results, is_interrupted=False)


def test_rows_hold_means_errors_and_similarities():
    rows = {row.selector: row for row in rows_of(made_comparison()).itertuples()}
    lasso = rows["lasso"]
    assert lasso.score == pytest.approx(0.6)
    assert lasso.score_error == pytest.approx(0.1)  # half the difference of two
    assert (lasso.n_kept, lasso.seconds) == (2.0, 2.0)
    assert lasso.agreement == pytest.approx((1 / 3 + 1) / 2)
    assert lasso.stability == 1.0
    assert rows["forest"].stability == pytest.approx(1 / 3)
    assert lasso.columns == ("<a>", "b")
    assert rows["forest"].columns == ("<a>",)
    assert np.isnan(rows["none"].agreement)
    assert rows["stg"].reason.endswith("(1 of 2 folds done)")


def test_difference_from_the_best_is_the_corrected_paired_t_test():
    rng = np.random.default_rng(0)
    scores = pd.DataFrame(rng.normal([[0.0], [1.0]], size=(2, 6)), ["a", "best"])
    (found,) = against_best(scores).loc[["a"]].itertuples()
    plain = stats.ttest_rel(*scores.to_numpy())
    factor = np.sqrt(1 + 6 / 5)  # of the error of the mean: 1/6 becomes 1/6 + 1/5
    assert found.p == pytest.approx(2 * stats.t.sf(-plain.statistic / factor, 5))
    reach = plain.confidence_interval().high - found.difference
    assert found.high - found.difference == pytest.approx(factor * reach)


def test_variance_of_differences_is_pooled_unless_a_selector_has_more():
    rng = np.random.default_rng(1)
    means, spreads = np.array([[0, 1, 1, 2, 9], [1, 1, 1, 1, 4]])[:, :, None]
    names = ["a", "b", "c", "best", "none"]
    scores = pd.DataFrame(rng.normal(means, spreads, size=(5, 6)), names)
    layout = np.array(
        [[*np.eye(5)[i], *np.eye(6)[j]] for i in range(5) for j in range(6)]
    )
    values = scores.to_numpy().ravel()
    effects = np.linalg.lstsq(layout, values, rcond=None)[0]  # of selector, fold
    fitted = layout @ effects
    error = np.square(values - fitted).sum() / 20
    found = against_best(scores)
    for name in ("a", "b", "c", "none"):
        own = np.var(scores.loc[name] - scores.loc["best"], ddof=1)
        assert (own > 2 * error) == (name == "none")
        t = found["difference"][name] / np.sqrt(max(own, 2 * error) * (1 / 6 + 1 / 5))
        p = min(1.0, 4 * 2 * stats.t.sf(abs(t), 20))
        assert found["p"][name] == pytest.approx(p)
    assert found["p"]["best"] == 1.0  # though the reference scores more


def test_equal_selectors_are_rarely_told_apart():
    rng = np.random.default_rng(0)
    smallest = [
        against_best(pd.DataFrame(rng.normal(size=(8, 5))))["p"].min()
        for _ in range(400)
    ]
    # Bonferroni's promise, though the best was chosen by its score; 0.05 ± 3 errors.
    assert np.mean(np.array(smallest) < 0.05) < 0.083


def test_text_has_the_best_first_failures_last_and_a_verdict():
    matrix = agreement_matrix(made_comparison())
    np.testing.assert_allclose(np.diag(matrix)[1:3], 1.0)
    np.testing.assert_array_equal(matrix, matrix.T)
    *_, none, lasso, forest, stg, _, level, smallest, reference, failed = screen_text(
        made_comparison()
    ).splitlines()
    rows = (none, lasso, forest, stg)
    assert [line.split()[0] for line in rows] == ["No", "Lasso", "RF", "STG"]
    assert "out of time" in stg
    assert level.startswith("The two selectors cannot be told apart; the best is Lasso")
    assert smallest.startswith("Each keeps 2.0 of 4 columns; the fastest is Lasso")
    assert reference.startswith("With all 4 columns the score is 0.9000")
    assert failed == "One without a score."


def test_csv_can_be_read_back():
    comparison = made_comparison()
    features = comparison.table.features.rename(columns={"b": 'b; "é", c'})
    comparison = replace(comparison, table=replace(comparison.table, features=features))
    rows = list(csv.DictReader(io.StringIO(csv_text(comparison))))
    assert [row["selector"] for row in rows] == ["none", "lasso", "forest", "stg"]
    assert float(rows[1]["score"]) == pytest.approx(0.6)
    assert json.loads(rows[1]["columns"]) == ["<a>", 'b; "é", c']
    assert rows[3]["score"] == rows[3]["columns"] == ""
    assert rows[3]["reason"].startswith("out of time")


def test_dots_differ_as_the_scores_do_and_the_reference_is_marked():
    comparison = made_comparison()
    scores = {"none": 0.8, "lasso": 0.9, "forest": 0.87, "stg": 0.2}
    results = [
        replace(
            r, reason="", folds=tuple(replace(r.folds[0], score=s) for _ in range(2))
        )
        for r, s in zip(comparison.results, scores.values(), strict=True)
    ]
    page = html_page(replace(comparison, results=tuple(results)))
    dots, _ = page.split("<h2>Score against columns kept")
    found = re.findall(r'<circle class="(\w+)" cx="([\d.]+)%"', dots)
    kinds, places = zip(*found, strict=True)
    assert kinds == ("level", "worse", "reference")  # of the best, RF, No FS
    best, forest, none = map(float, places)
    assert (best - forest) / (best - none) == pytest.approx(0.3, abs=0.001)
    assert best > 80
    assert none < 70
    assert '<svg x="0.0%"><path class="worse"' in dots  # 0.2 is beyond the edge


def test_selectors_at_one_place_share_a_point_that_names_them():
    _, scatter = html_page(made_comparison()).split("<h2>Score against columns kept")
    points = re.findall(r"<circle [^>]*><title>(.*?)</title>", scatter)
    both = "Lasso: 0.6000 with 2.0 columns; RF: 0.6000 with 2.0 columns"
    assert sorted(points) == [both, "No FS: 0.9000 with 4.0 columns"]
    assert re.findall(r'<text class="\w+" x="100%"[^>]*>([^<]+)<', scatter) == [
        *("No FS", "Lasso", "RF")
    ]


@pytest.mark.parametrize("kept", [("none",), ("stg",), ("lasso",), ()])
def test_page_and_text_of_few_results(kept):
    comparison = made_comparison()
    results = tuple(r for r in comparison.results if r.selector in kept)
    comparison = replace(comparison, results=results or comparison.results[3:])
    said = "No selector has finished." if "lasso" not in kept else "Lasso, with a score"
    assert said in screen_text(comparison)
    assert said in html_page(comparison)


def test_ticks_are_round_and_labels_do_not_overlap():
    wide = score_scale([0.7, 0.6], [(0.5, 0.8), (0.1, 0.81), (0.65, 0.71)])
    assert 0.4 < wide.low < 0.5
    assert 0.8 < wide.high < 0.81 + 0.1
    scale = score_scale([0.701, 0.69, 0.733, 0.6])
    places, texts = zip(*scale.ticks(), strict=True)
    assert texts == ("0.60", "0.65", "0.70")
    np.testing.assert_allclose(places, [scale.at(float(text)) for text in texts])
    heights = [50.0, 1.0, 52.0, 51.0, 99.0, 2.0]
    labels = spread_labels(heights, 16.0, 100.0)
    assert np.diff(np.sort(labels)).min() >= 16.0 - 0.1
    np.testing.assert_array_equal(np.argsort(labels), np.argsort(heights))
    assert labels[3] == 51.0  # the middle one of three stays where it is


@pytest.mark.parametrize(("metric", "most"), [("r2", 1.0), ("neg_log_loss", 0.0)])
def test_intervals_end_where_scores_do(metric, most):
    scores = pd.DataFrame({"score": [most - 0.1, most - 0.3], "difference": [0, -0.2]})
    shown = _within_bounds(scores.assign(high=[0.0, 0.7]), metric)
    np.testing.assert_allclose(shown["high"], [0.0, 0.1])


def test_page_needs_no_other_file_and_similar_selectors_are_side_by_side():
    page = html_page(made_comparison())
    assert not re.search(r"(src|href)=|@import|url\(|<script", page)
    assert "&lt;a&gt;" in page
    assert "<a>" not in page
    groups = np.array([0, 1, 0, 1, 0])
    similarity = np.where(groups[:, None] == groups, 0.8, 0.1)
    np.fill_diagonal(similarity, 1.0)
    ordered = groups[clustered_order(similarity)]
    assert np.count_nonzero(np.diff(ordered)) == 1


@pytest.mark.parametrize("make", [class_table, value_table])
@pytest.mark.parametrize("predictor", ["boosting", "linear"])
def test_comparison_judges_every_selector_in_every_fold(make, predictor):
    plan = Plan(QUICK, n_folds=3, keep=2, predictor=predictor)
    comparison = run_comparison(table(make), plan)
    for result in comparison.results:
        assert result.reason == ""
        assert len(result.folds) == 3
    kept = [sum(fold.support) for fold in comparison.results[1].folds]
    assert kept == [2, 2, 2]
    # Two columns tell all there is: keeping them costs next to nothing.
    scores = rows_of(comparison).set_index("selector")["score"]
    assert scores["univariate"] > scores["none"] - 0.05


def test_selection_inside_the_folds_finds_nothing_in_noise():
    plan = Plan(("univariate",), keep=10, predictor="linear")
    noise = labelled(np.repeat([0, 1], 30), n_columns=400)
    (row,) = rows_of(run_comparison(noise, plan)).itertuples()
    # Chosen on all rows, ten of 400 columns would give an accuracy of about 0.9.
    assert row.score < 0.7


def test_number_of_jobs_changes_nothing_but_seconds():
    plan = Plan(("forest", "autonfs", "protogate"), n_folds=2, seed=3)
    small = labelled(np.arange(40) % 2)
    first, second = (run_comparison(small, plan, n_jobs=n).results for n in (1, 2))

    def timeless(results):
        return [
            replace(r, folds=tuple(replace(f, seconds=0) for f in r.folds))
            for r in results
        ]

    assert timeless(first) == timeless(second)


@pytest.mark.parametrize(
    ("name", "make", "reason"),
    [
        ("lassonet", class_table, "out of time"),
        ("protogate", value_table, "ValueError: ProtoGate supports classification"),
        ("boruta", class_table, "its process ended with code -9"),
    ],
)
def test_selector_that_fails_is_a_row_and_the_others_go_on(name, make, reason):
    def kill(started, what, _results):
        if (started, what) == ("boruta", "started"):
            (child,) = multiprocessing.active_children()
            child.kill()

    limit = 1.0 if name == "lassonet" else 100.0
    plan = Plan((name, "none"), n_folds=2, keep=0.5, time_limit_seconds=limit)
    failed, finished = run_comparison(table(make), plan, kill).results
    assert failed.reason.startswith(reason)
    assert finished.reason == ""


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Plan(QUICK, n_folds=1), "number of folds"),
        (Plan(QUICK, keep=99), "cannot keep 99 columns"),
        (Plan(QUICK, metric="r2"), "metric of a classification"),
    ],
)
def test_plan_that_does_not_fit_the_table_is_refused(plan, message):
    with pytest.raises(CompareError, match=message):
        run_comparison(table(), plan)


SMALL = labelled(["u"] * 20 + ["v"] * 18 + ["w"] * 3 + ["x"])


def test_class_of_one_row_is_for_training_in_every_fold_and_noted():
    plan = Plan(("none",), task="classification", n_folds=5)
    folds = folds_of(SMALL, plan)
    for train, held_out in folds:
        assert set(SMALL.target[train]) == {"u", "v", "w", "x"}
        assert not set(train) & set(held_out)
    held_out = np.concatenate([rows for _, rows in folds])
    assert sorted(held_out) == list(range(41))  # all but the last, once each
    comparison = run_comparison(SMALL, plan)
    assert comparison.table.notes == (
        "Classes of one row, for training only: 'x'.",
        "Classes of fewer rows than folds: 'w'.",
    )
    assert comparison.results[0].reason == ""


@pytest.mark.parametrize("metric", ["roc_auc", "neg_log_loss"])
def test_metric_of_probabilities_needs_every_class_in_every_fold(metric):
    with pytest.raises(CompareError, match=f"{metric} needs every class .* 'x' are 1"):
        run_comparison(SMALL, Plan(("none",), metric=metric))
    enough = labelled(["u"] * 9 + ["v"] * 9 + ["w"] * 3)
    plan = Plan(("none",), metric=metric, n_folds=3)
    assert run_comparison(enough, plan).results[0].reason == ""


@pytest.mark.parametrize(
    ("target", "task", "message"),
    [
        ([f"id {i}" for i in range(40)], "auto", "40 different values in 40 rows"),
        ([f"id {i}" for i in range(12)], "auto", "at least 2 classes with 2 rows"),
        (["u"] * 11 + ["v"], "auto", "2 classes with 2 rows or more, got 1"),
        (np.arange(12) / 4, "classification", "fraction such as 0.25, which are no"),
        (["u"] * 12, "auto", "'u' in every row"),
        ([1.5] * 12, "auto", "1.5 in every row"),
        (list("aabbccddeeff"), "auto", "between 2 and 2, the rows of the largest"),
    ],
)
def test_target_that_is_not_of_the_task_is_refused_once(target, task, message):
    with pytest.raises((CompareError, TableFileError), match=message):
        run_comparison(labelled(target, task), Plan(("none",), task=task))


def test_boosting_learns_a_large_table_with_a_class_of_one_row():
    labels = ["perhaps"] + ["yes", "no"] * 10_001  # a half is enough to stop early
    plan = Plan(("none",), n_folds=2)
    assert run_comparison(labelled(labels), plan).results[0].reason == ""


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 360])
def test_page_fits_any_screen_and_asks_nothing_of_the_network(tmp_path, width):
    steps = """(page) => [...page.querySelectorAll("h2")].map((e) => e.textContent)"""
    result = use_page(html_page(made_comparison()), steps, tmp_path, width=width)
    assert (result["errors"], result["requests"]) == ([], [])
    assert result["width"] <= width
    assert result["seen"][0] == "Score of each selector"
