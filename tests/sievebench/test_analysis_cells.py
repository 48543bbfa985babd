"""From checked runs to cells, studies and exponents."""

import numpy as np
import pytest
from made_runs import benchmark, failed, run, table
from scipy import stats

from sievebench.analysis import (
    balance_influence,
    check_runs,
    cohort_summary,
    cohort_table,
    matched_comparison,
    matched_summary,
    misselection,
    overview,
    predictive_power,
    ranked_tables,
    scaling_exponents,
    scaling_times,
    score_table,
    summarize_cells,
)


def checked(*runs):
    return check_runs(table(*runs))


def test_cell_is_mean_and_sample_deviation_over_finished_seeds():
    scores = [0.5, 0.6, 0.8]
    runs = [run(seed=s, score=score) for s, score in enumerate(scores)]
    cell = summarize_cells(checked(*runs, failed(seed=3))).iloc[0]
    assert cell["score_mean"] == pytest.approx(np.mean(scores))
    assert cell["score_std"] == pytest.approx(np.std(scores, ddof=1))
    assert (cell["n_runs"], cell["n_done"], cell["why_missing"]) == (4, 3, "")
    assert np.isnan(summarize_cells(checked(run())).loc[0, "score_std"])


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"reason": "out of memory"}, "out of memory"),
        ({"status": "timeout"}, "timeout"),
    ],
)
def test_cell_without_a_finished_run_says_why(fields, why):
    cell = summarize_cells(checked(failed(**fields))).iloc[0]
    assert cell["why_missing"] == why
    assert np.isnan(cell["score_mean"])


def test_cells_mark_samples_and_keep_experiments_apart():
    runs = checked(run(is_sample=True), run(dataset="otto"))
    assert list(summarize_cells(runs)["is_sample"]) == [True, False]
    runs = checked(run(), run(experiment="matched", score=0.1))
    assert summarize_cells(runs).loc[0, "score_mean"] == 0.5


def test_score_table_is_in_the_order_of_the_paper():
    scores = {"autonfs": {"otto": 0.8, "eye": 0.6}, "none": {"eye": 0.5}}
    cells = summarize_cells(checked(*benchmark(scores)))
    wide = score_table(cells, "random", "mlp")
    assert list(wide.index) == ["none", "autonfs"]
    assert list(wide.columns) == ["eye", "otto"]
    assert np.isnan(wide.loc["none", "otto"])


def test_misselection_is_the_mean_over_tables_of_the_mean_over_seeds():
    counts = [("eye", 0, 10, 5), ("eye", 1, 10, 0), ("otto", 0, 4, 1)]
    # Empty selections are left out, and counted.
    counts += [("otto", 1, 0, 0), ("eye", 2, 0, 0)]
    runs = [
        run(dataset=dataset, seed=seed, n_kept=kept, n_added_kept=added)
        for dataset, seed, kept, added in counts
    ]
    runs.append(run(n_kept=4, n_added_kept=3, downstream="forest"))
    row = misselection(checked(*runs), "mlp").iloc[0]
    assert row["share"] == pytest.approx(((0.5 + 0.0) / 2 + 0.25) / 2)
    assert (row["n_datasets"], row["n_empty"]) == (2, 2)
    # Of the predictor that the columns were tuned with.
    assert misselection(checked(*runs), "forest").loc[0, "share"] == 0.75


def test_tables_without_any_score_are_not_ranked():
    runs = [
        run(selector="lasso", score=0.6),
        run(selector="forest", score=0.7),
        failed(selector="lasso", dataset="otto"),
        failed(selector="forest", dataset="otto"),
        run(selector="lasso", score=0.6, dataset="jannis"),
    ]
    cells = summarize_cells(checked(*runs))
    assert list(ranked_tables(cells, "random", "mlp").columns) == ["eye"]
    figures = overview(checked(*runs), "mlp").set_index("selector")
    assert figures["rank"].to_dict() == {"lasso": 2.0, "forest": 1.0}
    assert figures["n_datasets"].to_list() == [1, 1]


def test_matched_comparison_takes_the_reference_from_the_benchmark():
    runs = [
        run(selector="autonfs", n_kept=5, score=0.61),
        run(selector="lasso", n_kept=10, score=0.99),
        run(selector="lasso", n_kept=5, score=0.6, experiment="matched"),
        run(selector="agl", n_kept=5, score=0.6096, experiment="matched"),
        run(selector="forest", n_kept=7, score=0.6, experiment="matched"),
        failed(selector="stg", experiment="matched"),
    ]
    rows = matched_comparison(checked(*runs), "autonfs").set_index("selector")
    assert rows.loc["lasso", "difference"] == pytest.approx(0.01)
    assert list(rows.index[rows["is_matched"]]) == ["lasso", "agl"]
    summary = matched_summary(rows.reset_index()).set_index("selector")
    names = ["n_better", "n_equal", "n_missing", "n_unmatched"]
    figures = summary[names].apply(list, axis=1).to_dict()
    assert figures == {
        **{"lasso": [1, 0, 0, 0], "agl": [0, 1, 0, 0]},  # scores as printed
        **{"forest": [0, 0, 0, 1], "stg": [0, 0, 1, 0]},
    }


def test_matched_comparison_prefers_a_reference_with_the_same_predictors():
    runs = [
        run(selector="autonfs", score=0.9),
        run(selector="autonfs", score=0.7, experiment="shared"),
        run(score=0.6, experiment="matched"),
        run(score=0.6, experiment="matched", dataset="jannis"),
        run(selector="autonfs", score=0.9, dataset="jannis"),
    ]
    rows = matched_comparison(checked(*runs), "autonfs").set_index("dataset")
    assert rows.loc["eye", "difference"] == pytest.approx(0.1)
    assert np.isnan(rows.loc["jannis", "difference"])  # no mixture of both


def test_matched_counts_cells_without_a_record_as_missing():
    places = [
        {"dataset": d, "scenario": s}
        for d in ("eye", "jannis")
        for s in ("random", "corrupted")
    ]
    runs = [run(selector="autonfs", score=0.7, **place) for place in places]
    runs += [run(score=0.6, experiment="matched", **place) for place in places]
    runs += [run(selector="stg", score=0.6, experiment="matched", **places[0])]
    summary = matched_summary(matched_comparison(checked(*runs), "autonfs"))
    stg = summary[summary["selector"] == "stg"].set_index("scenario")
    assert stg["n_missing"].to_dict() == {"random": 1, "corrupted": 2}
    assert stg["n_better"].to_dict() == {"random": 1, "corrupted": 0}
    assert (summary.loc[summary["selector"] != "stg", "n_missing"] == 0).all()


def test_predictive_power_averages_columns_then_seeds_then_tables():
    removal = {"experiment": "removal"}

    def without(column, score, **fields):
        left_out = {"removed": column, "removal": "retrained"}
        return run(score=score, **removal, **left_out, **fields)

    runs = [
        run(score=0.60, **removal),
        run(score=0.70, seed=1, **removal),
        without("a", 0.50),  # drops of the first seed: 10 and 0 points
        without("b", 0.60),
        without("a", 0.50, seed=1),  # of the second: 20 points
        run(score=0.80, dataset="otto", **removal),
        without("c", 0.81, dataset="otto"),  # -1 point
    ]
    row = predictive_power(checked(*runs)).iloc[0]
    assert row["drop"] == pytest.approx(((5 + 20) / 2 - 1) / 2)
    assert (row["n_datasets"], row["n_columns"]) == (2, 4)


def test_balance_influence_is_mean_and_deviation_at_each_balance():
    runs = [
        run(experiment="balance", balance=b, seed=s, n_kept=k, score=k / 100)
        for b, s, k in [(1.0, 0, 0), (1.0, 1, 4), (0.1, 0, 8), (0.1, 1, 8)]
    ]
    rows = balance_influence(checked(*runs))
    assert list(rows["balance"]) == [0.1, 1.0]
    assert list(rows["n_kept_mean"]) == [8, 2]
    assert rows["n_kept_std"].to_list() == pytest.approx([0, np.std([0, 4], ddof=1)])
    assert list(rows["n_empty"]) == [0, 1]


def test_cohort_table_is_in_percent_with_reduction():
    cohort = {"experiment": "cohorts", "dataset": "QinN_2014", "scenario": "none"}
    whole = {"n_kept": 500, "n_original": 500, "n_features": 500, **cohort}
    runs = [
        run(selector="none", score=0.7, **whole),
        run(selector="autonfs", score=0.75, **{**whole, "n_kept": 40}),
        run(selector="none", score=0.8, downstream="forest", **whole),
    ]
    row = cohort_table(checked(*runs), "autonfs").loc["QinN_2014"]
    assert row[["mlp_full", "mlp_kept", "forest_full"]].to_list() == [70, 75, 80]
    assert np.isnan(row["forest_kept"])
    assert row["reduction"] == pytest.approx(92)
    summary = cohort_summary(cohort_table(checked(*runs), "autonfs"))
    assert summary.loc["mlp", ["n_better", "n_missing"]].to_list() == [1, 0]
    assert summary.loc["forest", ["n_better", "n_missing"]].to_list() == [0, 1]


def test_overview_joins_rank_columns_and_misselection():
    runs = [
        run(selector="autonfs", score=0.7, n_kept=5, seconds=3.0),
        run(selector="lasso", score=0.6, n_kept=10, n_added_kept=4, seconds=1.0),
    ]
    rows = overview(checked(*runs), "mlp").set_index("selector")
    assert rows["rank"].to_dict() == {"lasso": 2.0, "autonfs": 1.0}
    assert rows["kept_share"].to_dict() == {"lasso": 1.0, "autonfs": 0.5}
    assert rows["misselected"].to_dict() == {"lasso": 0.4, "autonfs": 0.0}
    assert rows["n_best"].to_dict() == {"lasso": 0, "autonfs": 1}


WIDTHS = [2**k for k in range(5, 14)]


def timed(seconds, n_repeats=5, noise=0.0):
    generator = np.random.default_rng(0)
    runs = [
        run(
            **{"experiment": "scaling", "score": None, "n_kept": 1, "seed": seed},
            **{"n_original": width, "n_features": width},
            seconds=seconds(width) * np.exp(noise * generator.normal()),
        )
        for width in WIDTHS
        for seed in range(n_repeats)
    ]
    return check_runs(table(*runs))


def test_exponent_of_a_power_law_is_its_power_and_of_one_width_missing():
    runs = timed(lambda width: 0.01 * width**1.41)
    row = scaling_exponents(runs).iloc[0]
    assert row["exponent"] == pytest.approx(1.41)
    assert row["exponent_less_overhead"] == pytest.approx(1.41, abs=1e-3)
    assert (row["n_features_min"], row["n_features_max"]) == (32, 8192)
    row = scaling_exponents(runs[runs["n_features"] == 32]).iloc[0]
    assert row[["exponent", "error", "exponent_less_overhead"]].isna().all()


def test_exponent_has_the_error_of_the_regression():
    runs = timed(lambda width: 0.01 * width**0.5, noise=0.1)
    row = scaling_exponents(runs).iloc[0]
    fit = stats.linregress(np.log(runs["n_features"]), np.log(runs["seconds"]))
    assert row["error"] == pytest.approx(fit.stderr)
    assert row["low"] < 0.5 < row["high"]


def test_interval_covers_the_exponent_as_often_as_it_says():
    generator = np.random.default_rng(1)
    runs = [
        run(
            **{"selector": f"lasso:{k}", "experiment": "scaling", "seed": seed},
            **{"n_features": width},
            seconds=width**0.5 * np.exp(0.3 * generator.normal()),
        )
        for k in range(200)
        for width in (100, 1000, 10_000)
        for seed in (0, 1)
    ]
    rows = scaling_exponents(check_runs(table(*runs)))
    covered = ((rows["low"] < 0.5) & (rows["high"] > 0.5)).sum()
    # 95 % of 200, and three binomial deviations of 3.1 to each side.
    assert 181 <= covered <= 199


def test_interval_less_overhead_covers_the_exponent_as_often_as_it_says():
    generator = np.random.default_rng(2)
    runs = [
        run(
            **{"selector": f"lasso:{k}", "experiment": "scaling", "seed": seed},
            **{"n_features": width},
            seconds=(1 + 1e-3 * width) * np.exp(0.05 * generator.normal()),
        )
        for k in range(100)
        for width in WIDTHS
        for seed in (0, 1)
    ]
    rows = scaling_exponents(check_runs(table(*runs)))
    covered = ((rows["less_low"] < 1) & (rows["less_high"] > 1)).sum()
    # 95 % of 100, and three binomial deviations of 2.2.
    assert covered >= 88
    assert (rows["less_high"] - rows["less_low"]).median() < 0.3


def test_overhead_hides_the_growth_and_the_second_fit_finds_it():
    runs = timed(lambda width: 2.0 + 1e-4 * width)
    row = scaling_exponents(runs).iloc[0]
    assert row["exponent"] < 0.1
    assert row["exponent_less_overhead"] == pytest.approx(1, abs=0.01)
    assert row["overhead_seconds"] == pytest.approx(2, rel=0.01)


def test_times_are_mean_and_deviation_over_runs():
    rows = scaling_times(timed(lambda width: width / 100, n_repeats=3))
    assert rows["n_features"].to_list() == WIDTHS
    assert rows["seconds_mean"].to_list() == pytest.approx([w / 100 for w in WIDTHS])
    assert set(rows["n_runs"]) == {3}
