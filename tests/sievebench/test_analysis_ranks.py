"""Ranks and their tests, and what a table of runs must hold."""

import itertools

import numpy as np
import pandas as pd
import pytest
from made_runs import RUN, failed, run, table
from scipy import stats

from sievebench.analysis import (
    COLUMNS,
    RunTableError,
    check_runs,
    compare_differences,
    compare_with,
    complete_datasets,
    complete_selectors,
    critical_difference,
    friedman_test,
    groups_alike,
    interval_of_mean,
    mean_ranks,
    rank_margin,
    rank_scores,
    without_sisters,
)
from sievebench.analysis.comparisons import holm
from sievebench.report.paper import paper_ranks, paper_scores, printed_scores

SCENARIOS = ("random", "corrupted", "second_order")

# Table 6 of Demšar (2006): ranks of C4.5, C4.5+m, C4.5+cf, C4.5+m+cf on 14 tables.
DEMSAR = pd.DataFrame(
    [
        [4, 1, 4, 4, 4, 1, 3, 2.5, 4, 2.5, 4, 3, 4, 3],
        [3, 2, 1, 1, 2, 2.5, 2, 2.5, 3, 2.5, 2.5, 2, 1, 1],
        [2, 3, 2, 3, 3, 4, 4, 4, 2, 2.5, 1, 4, 2, 4],
        [1, 4, 3, 2, 1, 2.5, 1, 1, 1, 2.5, 2.5, 1, 3, 2],
    ],
    index=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"],
)


def frame(rows):
    return pd.DataFrame(rows, index=["a", "b", "c", "d"][: len(rows)])


@pytest.mark.parametrize(
    ("scenario", "n_best"), [*zip(SCENARIOS, (5, 7, 4), strict=True)]
)
def test_ranks_of_the_paper_follow_from_its_scores(scenario, n_best):
    ranks = mean_ranks(paper_scores(scenario))
    printed = printed_scores(scenario)["rank"]
    assert ranks["rank"].map("{:.1f}".format).to_dict() == printed.to_dict()
    assert ranks.loc["autonfs", "n_best"] == n_best
    assert paper_ranks().notna().sum().sum() == 42


@pytest.mark.parametrize(
    ("scenario", "stg", "protogate"),
    [("random", 12.7, 8.2), ("corrupted", 11.1, 11.6), ("second_order", 7.6, 9.9)],
)
def test_ranks_would_differ_if_missing_scores_were_skipped(scenario, stg, protogate):
    ranks = rank_scores(paper_scores(scenario)).where(paper_scores(scenario).notna())
    means = ranks.mean(axis=1).round(1)
    assert (means["stg"], means["protogate"]) == (stg, protogate)


@pytest.mark.parametrize(
    ("scores", "ranks"),
    [
        ([0.8001, 0.7996, 0.9, 0.1], [2.5, 2.5, 1, 4]),  # as printed; ties share
        ([0.8, np.nan, np.nan, 0.9], [2, 4, 4, 1]),  # missing: as many as selectors
    ],
)
def test_ranks_are_of_printed_scores_and_missing_ones_are_last(scores, ranks):
    assert rank_scores(frame([[score] for score in scores]))[0].to_list() == ranks


def test_rank_over_complete_cases_leaves_tables_with_gaps_out():
    scores = frame([[0.8, 0.2], [np.nan, 0.3]])
    ranks = mean_ranks(scores)
    assert ranks["rank"].to_list() == [1.5, 1.5]
    assert ranks["rank_complete"].to_list() == [2, 1]
    assert ranks["n_missing"].to_list() == [0, 1]
    assert set(ranks["n_complete"]) == {1}


def test_complete_cases_are_tables_or_selectors_with_any_score():
    scores = frame([[0.8, 0.2], [np.nan, 0.3], [0.1, 0.1]])
    assert list(complete_datasets(scores).columns) == [1]
    assert list(complete_selectors(scores).index) == ["a", "c"]
    scores = frame([[0.8, 0.2], [np.nan, np.nan], [0.1, 0.3]]).loc[["c", "b", "a"]]
    assert complete_datasets(scores).shape == (2, 2)
    ranks = mean_ranks(scores)["rank_complete"]
    assert list(ranks.index) == ["c", "b", "a"]
    assert ranks.to_list()[::2] == [1.5, 1.5]
    assert np.isnan(ranks["b"])


def test_best_counts_ties_and_no_missing_score():
    scores = frame([[0.8001, np.nan], [0.7999, 0.3]])  # as printed, equal
    assert mean_ranks(scores)["n_best"].to_list() == [1, 2]


def test_variants_are_ranked_without_their_sisters():
    scores = pd.DataFrame(
        {"eye": [0.5, 0.9, 0.8]}, index=["lasso", "autonfs:auto", "autonfs:published"]
    )
    for variant in scores.index[1:]:
        ranks = rank_scores(without_sisters(scores, variant))["eye"]
        assert ranks.to_dict() == {"lasso": 2, variant: 1}
    assert len(without_sisters(scores.iloc[:2], "autonfs:auto")) == 2


def test_friedman_agrees_with_demsars_example():
    assert DEMSAR.mean(axis=1).round(3).to_list() == [3.143, 2.0, 2.893, 1.964]
    row = friedman_test(DEMSAR, is_tie_corrected=False).iloc[0]
    # Printed: 9.28 and 3.69, with F(3, 39) of 2.85 critical at 0.05.
    assert row["chi_square"] == pytest.approx(9.28, abs=0.005)
    assert row["f_statistic"] == pytest.approx(3.69, abs=0.005)
    assert row["f_p_value"] < 0.05


@pytest.mark.parametrize("seed", range(5))
def test_friedman_agrees_with_scipy_with_and_without_ties(seed):
    generator = np.random.default_rng(seed)
    scores = pd.DataFrame(generator.random((5, 8))).round(1 if seed % 2 else 6)
    ranks = rank_scores(scores, n_decimals=6)
    expected = stats.friedmanchisquare(*scores.to_numpy())
    row = friedman_test(ranks).iloc[0]
    assert row["chi_square"] == pytest.approx(expected.statistic)
    assert row["p_value"] == pytest.approx(expected.pvalue)


def test_friedman_of_no_difference_and_of_perfect_agreement():
    alike, perfect = (
        friedman_test(rank_scores(frame(scores))).iloc[0]
        for scores in ([[0.5] * 3] * 3, [[0.9] * 4, [0.5] * 4])
    )
    assert np.isnan(alike["p_value"])
    assert (perfect["f_statistic"], perfect["f_p_value"]) == (np.inf, 0)


@pytest.mark.parametrize("ranks", [frame([[1, 1]]), frame([[1], [2]])])
def test_friedman_refuses_too_little(ranks):
    with pytest.raises(ValueError, match="at least 2 selectors × 2 datasets"):
        friedman_test(ranks)


# Table 5 (a) of Demšar (2006).
NEMENYI = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031}
NEMENYI |= {9: 3.102, 10: 3.164}


@pytest.mark.parametrize(("n_selectors", "quantile"), NEMENYI.items())
def test_critical_difference_agrees_with_demsars_table(n_selectors, quantile):
    scale = np.sqrt(n_selectors * (n_selectors + 1) / (6 * 30))
    # The table has three decimals, and its last one is off by one in places.
    assert critical_difference(n_selectors, 30) / scale == pytest.approx(
        quantile, abs=0.0015
    )


@pytest.mark.parametrize(("significance", "expected"), [(0.05, 1.25), (0.10, 1.12)])
def test_critical_difference_agrees_with_demsars_example(significance, expected):
    assert critical_difference(4, 14, significance) == pytest.approx(expected, abs=5e-3)


def test_groups_alike_agree_with_demsars_example():
    # At 0.10, C4.5 is worse than C4.5+m and C4.5+m+cf, and nothing else is certain.
    means = DEMSAR.mean(axis=1)
    assert groups_alike(means, critical_difference(4, 14, 0.10)) == [
        ["C4.5+m+cf", "C4.5+m", "C4.5+cf"],
        ["C4.5+cf", "C4.5"],
    ]


@pytest.mark.parametrize("seed", range(20))
def test_groups_alike_are_the_maximal_ones(seed):
    generator = np.random.default_rng(seed)
    means = pd.Series(generator.random(7), index=list("abcdefg"))
    groups = [set(group) for group in groups_alike(means, 0.25)]
    # Brute force: every interval of ranks, of these the ones no other contains.
    intervals = [set(means.index[means.between(low, low + 0.25)]) for low in means]
    largest = [
        s for s in intervals if len(s) > 1 and not any(s < other for other in intervals)
    ]
    assert set(map(frozenset, groups)) == set(map(frozenset, largest))
    assert len(groups) == len(set(map(frozenset, groups)))


def test_interval_is_scipys_percentile_bootstrap():
    values = np.random.default_rng(3).normal(size=8)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=40_000, method="percentile", random_state=1
    ).confidence_interval
    # Quantiles of 10,000 draws of the mean: two percent of its deviation.
    assert interval_of_mean(values) == pytest.approx(expected, abs=0.02)
    assert np.isnan(interval_of_mean(values[:2])).all()


def test_margin_is_to_the_best_other_of_each_draw():
    # a is first twice and second once; b and c are second and third in turn.
    scores = frame([[0.9, 0.9, 0.9, 0.5], [0.8, 0.7, 0.8, 0.9], [0.7, 0.8, 0.7, 0.1]])
    found = rank_margin(scores, "a")
    assert (found["rank"], found["best_other"], found["margin"]) == (1.25, "b", 0.75)
    # Brute force: every one of the 4**4 draws of tables is as likely.
    ranks = rank_scores(scores).to_numpy()
    draws = np.array(list(itertools.product(range(4), repeat=4)))
    means = ranks[:, draws].mean(axis=2)
    margins = means[1:].min(axis=0) - means[0]
    ends = np.percentile(margins, [2.5, 97.5])
    assert [found["margin_low"], found["margin_high"]] == pytest.approx(ends)
    assert found["low"] == 1


@pytest.mark.parametrize("n", [5, 8, 10])
def test_signed_ranks_agree_with_scipys_exact_test(n):
    differences = np.random.default_rng(n).normal(0.5, size=n)
    row = compare_differences(frame([differences])).iloc[0]
    assert row["p"] == pytest.approx(stats.wilcoxon(differences).pvalue)


def test_holm_is_the_closure_of_bonferroni():
    p_values = pd.Series([0.012, 0.03, np.nan, 0.02, 0.4], index=list("abcde"))
    corrected = holm(p_values)
    known = p_values.dropna()
    for name in known.index:
        # Rejected only if every set of hypotheses with it is, by Bonferroni.
        sets = [
            known[list(chosen)]
            for size in range(1, len(known) + 1)
            for chosen in itertools.combinations(known.index, size)
            if name in chosen
        ]
        worst = max(min(1.0, len(chosen) * chosen.min()) for chosen in sets)
        assert corrected[name] == pytest.approx(worst)
    assert np.isnan(corrected["c"])


def test_selectors_are_told_apart_only_where_the_test_does():
    better = np.linspace(0.01, 0.02, 10)
    mixed = better * np.tile([1, -1], 5)
    table = compare_differences(frame([better, mixed, -better, better[:2].repeat(5)]))
    assert table["verdict"].to_list() == [
        *("better", "cannot be told apart", "worse", "better")
    ]
    few = compare_differences(frame([[0.1, 0.2, np.nan, 0.0]])).iloc[0]
    assert few[["n_better", "n_equal", "n_worse"]].to_list() == [2, 1, 0]
    assert np.isnan(few["p"])
    assert few["verdict"] == "cannot be told apart"


def test_reference_is_compared_without_its_sisters_by_printed_scores():
    scores = pd.DataFrame(
        {"eye": [0.5, 0.9004, 0.8], "otto": [0.4, 0.6, np.nan]},
        index=["lasso", "autonfs:auto", "autonfs:budget"],
    )
    table = compare_with(scores, "autonfs:auto")
    assert list(table.index) == ["lasso"]
    assert table.loc["lasso", "mean_difference"] == pytest.approx(0.3)


def test_checked_runs_have_the_agreed_columns_in_order():
    checked = check_runs(table(run(colour="red")))
    assert list(checked.columns) == [column.name for column in COLUMNS]
    assert checked.loc[0, "removed"] == ""
    assert np.isnan(checked.loc[0, "balance"])


@pytest.mark.parametrize("name", [c.name for c in COLUMNS if c.default is None])
def test_check_names_a_missing_column(name):
    with pytest.raises(RunTableError, match=f"has no column '{name}'"):
        check_runs(table(run()).drop(columns=name))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"scenario": "cursed"}, "'scenario' must be one of 'random', .* got 'cursed'"),
        ({"status": "fine"}, "'status' must be one of"),
        ({"selector": "magic"}, "'selector' has no name .* 'magic'"),
        ({"score": "good"}, "'score' must hold numbers, got 'good'"),
        ({"score": None}, "'score' is empty in a run that is done"),
        ({"seconds": float("nan")}, "'seconds' is empty in a run that is done"),
        ({"n_kept": float("inf")}, "'n_kept' is empty in a run that is done"),
        ({"is_sample": "perhaps"}, "'is_sample' must be true or false, got 'perhaps'"),
        ({"dataset": None}, "'dataset' has an empty cell"),
        ({"n_added_kept": 11}, "'n_added_kept' exceeds 'n_kept': 11 of 10 .lasso on"),
        ({"n_kept": 21}, "'n_kept' exceeds 'n_features'"),
    ],
)
def test_check_says_what_is_wrong(fields, message):
    with pytest.raises(RunTableError, match=message):
        check_runs(table(run(seed=1), run(**fields)))


def test_share_of_noise_makes_no_other_run_of_it():
    with pytest.raises(RunTableError, match="twice: experiment=benchmark, dataset=eye"):
        check_runs(table(run(), run(n_features=15)))
    widths = [run(experiment="scaling", n_features=width) for width in (15, 20)]
    assert len(check_runs(table(*widths))) == 2


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [run(key="a"), run(seed=1, key="c"), run(score=0.6, key="b")],
            r"twice: .* seed=0 \(in a\.json, b\.json\); take away",
        ),
        ([run(key="a"), run(key="a")], r"seed=0 \(in a\.json\)"),
        (
            [run(key="a"), failed("no such", seed=1, selector="forrest", key="b")],
            r"labels in 'forrest' \(in b\.json\); take away",
        ),
        (
            [run(selector="lost", seed=n, key=str(n)) for n in range(3)],
            r"labels in 'lost' \(in 0\.json, 1\.json, \.\.\.\)",
        ),
        (
            [run(key="a"), failed("no such", seed=1, scenario="randm", key="b")],
            r"got 'randm' \(in b\.json\)",
        ),
        (
            [run(key="a", folder="x/q"), run(key="a", folder="y/q")],
            r"seed=0 \(in x/q/a\.json, y/q/a\.json\)",
        ),
        ([run(key="a"), run(seed=1, key="b", score="abc")], r"'abc' \(in b\.json\)"),
        ([run(key="a"), run(seed=1, key="b", score=None)], r"done \(in b\.json\)"),
    ],
)
def test_check_names_the_records_if_the_table_does(rows, message):
    with pytest.raises(RunTableError, match=message):
        check_runs(table(*rows))


def test_check_takes_variants_failures_times_alone_and_nothing():
    runs = table(run(selector="autonfs:auto"), failed("out of memory"))
    assert list(check_runs(runs)["reason"]) == ["", "out of memory"]
    runs = check_runs(table(run(experiment="scaling", score=None)))
    assert np.isnan(runs.loc[0, "score"])
    assert len(check_runs(pd.DataFrame(columns=list(RUN)))) == 0
