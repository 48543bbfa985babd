"""Selectors on several draws, in fields that differ in who says how many columns.

From the records of ``benchmarks/fields.py``, one a table, scenario and draw: what each
selector scores with its best k columns, for several k.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sievebench.analysis.cells import ordered
from sievebench.analysis.comparisons import compare_differences
from sievebench.analysis.ranks import rank_scores
from sievebench.labels import SELECTOR_LABELS

# What each field is: how many columns AutoNFS keeps, and the others.
FIELDS = {
    "paper": "AutoNFS its own number, the others D",
    "told": "all D, as many as there were before columns were added",
    "matched": "AutoNFS its own number, the others the same",
    "free": "AutoNFS its own number, the others the best of several on validation rows",
    "validated": "all the best of several on validation rows",
}
_OF_AUTONFS = {"paper": "own", "told": "1", "matched": "own", "free": "own"}
_OF_OTHERS = {"paper": "1", "told": "1", "matched": "matched"}
OURS = "autonfs"
# Differences of a mean score that are of no use to anybody.
EQUIVALENCE = 0.005
_N_RESAMPLES = 4_000


def field_scores(records: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return a row for each table, scenario, draw, selector and field.

    Columns besides: score, count (columns kept), added_share (of them), kept_share (of
    the columns before the scenario). Variants of AutoNFS are in the field "paper" only.
    """
    rows, place = [], ("scenario", "table", "draw")
    for record in records:
        for selector, entry in record["selectors"].items():
            for field in ("paper",) if _is_variant(selector) else FIELDS:
                chosen = _chosen(selector, entry["sets"], field)
                rows.append(
                    {
                        **{name: record[name] for name in place},
                        "selector": selector,
                        "field": field,
                        "score": chosen["score"],
                        "count": chosen["count"],
                        "added_share": chosen["added"] / chosen["count"],
                        "kept_share": chosen["count"] / record["n_original"],
                    }
                )
    return pd.DataFrame(rows)


def field_losses(records: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return what is lost without one column, in points: selectors × (table, draw).

    The mean over the columns that were left out one at a time, of D columns, or of as
    many as AutoNFS kept. Only of jobs that have such sets.
    """
    losses: dict[tuple[str, int], dict[str, float]] = {}
    for record in records:
        for selector, entry in record["selectors"].items():
            if entry.get("removals"):
                whole = _chosen(selector, entry["sets"], "paper")["score"]
                less = np.mean([one["score"] for one in entry["removals"]])
                place = (record["table"], record["draw"])
                losses.setdefault(place, {})[selector] = 100 * float(whole - less)
    places = pd.MultiIndex.from_tuples(losses, names=["table", "draw"])
    return pd.DataFrame(losses, columns=places)


def _is_variant(selector: str) -> bool:
    return selector.startswith(f"{OURS}:")


def _chosen(
    selector: str, sets: list[Mapping[str, Any]], field: str
) -> Mapping[str, Any]:
    """Return the set of a selector that counts in a field."""
    if selector == "none" or _is_variant(selector):
        return sets[0]
    what = (_OF_AUTONFS if selector == OURS else _OF_OTHERS).get(field)
    if what is not None:
        return next(one for one in sets if one["what"] == what)
    tried = [one for one in sets if one["what"] != "matched"]
    return max(tried, key=lambda one: (one["validation"], -one["count"]))


def field_cube(
    scores: pd.DataFrame, scenario: str, field: str
) -> tuple[list[str], list[str], npt.NDArray[np.float64]]:
    """Return selectors, tables and their scores, (tables, draws, selectors).

    Only of draws that all tables have, with a score of every selector.
    """
    chosen = scores[(scores["scenario"] == scenario) & (scores["field"] == field)]
    wide = chosen.pivot(index="selector", columns=["table", "draw"], values="score")
    wide = wide.reindex(ordered(wide.index, SELECTOR_LABELS)).dropna(axis="columns")
    tables = sorted(chosen["table"].unique())
    n_tables = wide.columns.get_level_values("draw").value_counts().sort_index()
    draws = n_tables.index[n_tables == len(tables)]
    flat = wide[pd.MultiIndex.from_product([tables, draws])].to_numpy(np.float64)
    return list(wide.index), tables, flat.T.reshape(len(tables), len(draws), -1)


def redrawn_means(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return means of (tables, draws, ...), tables and their draws drawn anew."""
    n_tables, n_draws = values.shape[:2]
    generator = np.random.default_rng(0)
    tables = generator.integers(n_tables, size=(_N_RESAMPLES, n_tables, 1))
    draws = generator.integers(n_draws, size=(_N_RESAMPLES, n_tables, n_draws))
    drawn: npt.NDArray[np.float64] = values[tables, draws].mean(axis=(1, 2))
    return drawn


def field_summary(
    scores: pd.DataFrame, scenario: str, field: str, ours: str = OURS
) -> pd.DataFrame:
    """Return ranks of all selectors, and AutoNFS beside each, in one field.

    One AutoNFS at a time, `ours`, which may be a variant. Index selector; columns rank,
    rank_low, rank_high (mean over tables and draws, by scores of three decimals),
    n_best (draws of tables where it is best or tied), n_cells, and of AutoNFS beside
    it, its mean over the draws of each table: n_better, n_equal, n_worse (tables),
    mean_difference with low and high (95 %, tables and draws drawn anew), p_holm
    (Wilcoxon's signed ranks over the tables, Holm's correction),
    p_better and p_alike (`signed_rank_posterior`), verdict: which side the interval is
    on, and "cannot be told apart" where it has zero inside.
    """
    is_other = ~scores["selector"].str.match(rf"{OURS}(:|$)")
    fielded = scores[is_other | (scores["selector"] == ours)]
    names, _, cube = field_cube(fielded, scenario, field)
    flat = pd.DataFrame(cube.reshape(-1, len(names)).T, index=names)
    ranks = rank_scores(flat)
    spread = redrawn_means(ranks.T.to_numpy().reshape(cube.shape))
    low, high = np.percentile(spread, [2.5, 97.5], axis=0)
    printed = flat.round(3)
    table = pd.DataFrame(
        {
            "rank": ranks.mean(axis=1),
            "rank_low": low,
            "rank_high": high,
            "n_best": (printed == printed.max()).sum(axis=1),
            "n_cells": flat.shape[1],
        }
    )
    place = names.index(ours)
    gaps = cube[:, :, [place]] - cube
    by_table = pd.DataFrame(gaps.mean(axis=1).T, index=names).drop(index=ours)
    compared = compare_differences(by_table.round(6))
    ends = np.percentile(redrawn_means(gaps), [2.5, 97.5], axis=0)
    compared["low"], compared["high"] = np.delete(ends, place, axis=1)
    posterior = [signed_rank_posterior(row) for row in by_table.to_numpy()]
    compared["p_better"] = [better for _, _, better in posterior]
    compared["p_alike"] = [alike for _, alike, _ in posterior]
    sides = [compared["low"] > 0, compared["high"] < 0]
    compared["verdict"] = np.select(sides, ["better", "worse"], "cannot be told apart")
    return table.join(compared.drop(columns="p")).rename_axis("selector")


def signed_rank_posterior(
    differences: npt.NDArray[np.float64], equivalence: float = EQUIVALENCE
) -> tuple[float, float, float]:
    """Return the probabilities that a new table says worse, alike and better.

    The Bayesian signed-rank test of A. Benavoli and others, Time for a change, Journal
    of Machine Learning Research 18 (2017): weights of the observed differences, and of
    one at 0 with prior strength 1/2, are Dirichlet; each draw of them gives shares of
    the pairwise means below, inside and above ± `equivalence`, and a probability is the
    share of the draws in which its share is the largest.
    """
    values = np.append(0.0, differences)
    strengths = np.append(0.5, np.ones(len(differences)))
    weights = np.random.default_rng(0).dirichlet(strengths, size=_N_RESAMPLES)
    means = (values[:, None] + values) / 2
    regions = np.stack(
        [means < -equivalence, np.abs(means) <= equivalence, means > equivalence]
    )
    shares = np.einsum("bi,rij,bj->br", weights, regions.astype(float), weights)
    counts = np.bincount(shares.argmax(axis=1), minlength=3) / len(weights)
    worse, alike, better = counts.tolist()
    return worse, alike, better
