"""How seconds grow with the number of columns."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize, stats

from sievebench.analysis.cells import in_order


def scaling_times(runs: pd.DataFrame) -> pd.DataFrame:
    """Return mean and standard deviation of the seconds, by number of columns.

    Parameters
    ----------
    runs : DataFrame
        As `check_runs` returns it; the scaling experiment counts.

    Returns
    -------
    DataFrame
        Columns selector, n_features, seconds_mean, seconds_std, n_runs.
    """
    chosen = _timed(runs)
    groups = chosen.groupby(["selector", "n_features"])["seconds"]
    table = groups.agg(
        seconds_mean="mean", seconds_std="std", n_runs="size"
    ).reset_index()
    return in_order(table)


def scaling_exponents(runs: pd.DataFrame, confidence: float = 0.95) -> pd.DataFrame:
    """Fit seconds = a · columns^exponent, and the same with a fixed overhead.

    The exponent is the slope of ln seconds on ln columns, least squares over the runs,
    with the error and interval of the regression. On small tables seconds are mostly
    overhead, and the slope is flat for that reason: the second fit, seconds = c + a ·
    columns^exponent in logarithms, says what is left without it.

    Parameters
    ----------
    runs : DataFrame
        As `check_runs` returns it; the scaling experiment counts.
    confidence : float, default=0.95
        Of the interval.

    Returns
    -------
    DataFrame
        Columns selector, exponent, error, low, high, overhead_seconds,
        exponent_less_overhead, n_runs, n_features_min, n_features_max. NaN where there
        are too few different numbers of columns: two for the first fit and three runs,
        four for the second.
    """
    rows = []
    for selector, group in _timed(runs).groupby("selector", sort=False):
        columns = group["n_features"].to_numpy(float)
        seconds = group["seconds"].to_numpy(float)
        overhead, power = _overhead_fit(columns, seconds)
        rows.append(
            {
                "selector": selector,
                **_log_slope(columns, seconds, confidence),
                "overhead_seconds": overhead,
                "exponent_less_overhead": power,
                "n_runs": len(group),
                "n_features_min": columns.min(),
                "n_features_max": columns.max(),
            }
        )
    names = [
        *("selector", "exponent", "error", "low", "high", "overhead_seconds"),
        *("exponent_less_overhead", "n_runs", "n_features_min", "n_features_max"),
    ]
    return in_order(pd.DataFrame(rows, columns=names))


def _timed(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the finished runs of the scaling experiment."""
    is_timed = (runs["experiment"] == "scaling") & (runs["status"] == "done")
    return runs[is_timed & (runs["seconds"] > 0) & (runs["n_features"] > 0)]


def _log_slope(columns: Any, seconds: Any, confidence: float) -> dict[str, float]:
    """Return the slope in logarithms, its error and its interval."""
    if len(set(columns)) < 2 or len(columns) < 3:
        return dict.fromkeys(("exponent", "error", "low", "high"), float("nan"))
    fit = stats.linregress(np.log(columns), np.log(seconds))
    width = stats.t.ppf((1 + confidence) / 2, len(columns) - 2) * fit.stderr
    return {
        "exponent": fit.slope,
        "error": fit.stderr,
        "low": fit.slope - width,
        "high": fit.slope + width,
    }


def _overhead_fit(columns: Any, seconds: Any) -> tuple[float, float]:
    """Return overhead and exponent of seconds = overhead + a · columns^exponent."""
    if len(set(columns)) < 4:
        return float("nan"), float("nan")
    times = np.log(seconds)
    # Columns in units of the widest table: a is then the seconds that it adds.
    widths = np.log(columns / columns.max())

    def residuals(parameters: Any) -> Any:
        log_overhead, log_a, exponent = parameters
        return np.logaddexp(log_overhead, log_a + exponent * widths) - times

    low, high = times.min(), times.max()
    bounds = ([low - 20, low - 20, 0.0], [high + 1, high + 1, 5.0])
    # From little overhead and from nearly all of it: there are two valleys.
    starts = [(low - 16, high, 1.0), (low - 1, high, 0.5), (low - 1, high, 1.5)]
    fits = [
        optimize.least_squares(residuals, start, bounds=bounds, max_nfev=300)
        for start in starts
    ]
    best = min(fits, key=lambda fit: fit.cost)
    return float(np.exp(best.x[0])), float(best.x[2])
