import numpy as np
import pytest
from made_runs import run, table
from scipy import stats

from sievebench.analysis import check_runs, scaling_exponents, scaling_times

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


def test_exponent_of_a_power_law_is_its_power():
    row = scaling_exponents(timed(lambda width: 0.01 * width**1.41)).iloc[0]
    assert row["exponent"] == pytest.approx(1.41)
    assert row["exponent_less_overhead"] == pytest.approx(1.41, abs=1e-3)
    assert (row["n_features_min"], row["n_features_max"]) == (32, 8192)


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


def test_overhead_hides_the_growth_and_the_second_fit_finds_it():
    runs = timed(lambda width: 2.0 + 1e-4 * width)
    row = scaling_exponents(runs).iloc[0]
    assert row["exponent"] < 0.1
    assert row["exponent_less_overhead"] == pytest.approx(1, abs=0.01)
    assert row["overhead_seconds"] == pytest.approx(2, rel=0.01)


def test_exponent_of_one_width_is_missing():
    runs = timed(float)
    row = scaling_exponents(runs[runs["n_features"] == 32]).iloc[0]
    assert row[["exponent", "error", "exponent_less_overhead"]].isna().all()


def test_times_are_mean_and_deviation_over_runs():
    rows = scaling_times(timed(lambda width: width / 100, n_repeats=3))
    assert rows["n_features"].to_list() == WIDTHS
    assert rows["seconds_mean"].to_list() == pytest.approx([w / 100 for w in WIDTHS])
    assert set(rows["n_runs"]) == {3}
