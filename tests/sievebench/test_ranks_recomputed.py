"""The ranks of the report again, from the raw records: pandas only, no code of ours."""

import json
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
FRESH = ROOT / "benchmarks" / "results"


def raw_scores(experiment):
    """Return the mean score over the seeds of each cell, NaN if it was skipped."""
    rows = []
    for path in (RESULTS / experiment / "records").glob("*.json"):
        record = json.loads(path.read_text())
        scores = [run["score"] for run in record["runs"]]
        where = [record["spec"][key] for key in ("scenario", "selector", "dataset")]
        rows.append((*where, sum(scores) / len(scores) if scores else None))
    table = pd.DataFrame(rows, columns=["scenario", "selector", "dataset", "score"])
    return table.set_index(["scenario", "selector", "dataset"])["score"].unstack()


def mean_ranks(scores):
    """Rank what three decimals say; ties share, a missing score is last."""
    printed = scores.astype(float).map("{:.3f}".format).astype(float)
    return printed.rank(ascending=False).fillna(len(printed)).mean(axis=1)


@pytest.mark.parametrize(
    ("experiment", "name", "column"),
    [
        ("quick", "ranks", "{}: ours"),
        ("quick", "ranks-variants", "{}"),
        ("shared", "ranks-shared", "{}: same predictors"),
        ("shared", "ranks-shared-variants", "{}"),
    ],
)
def test_ranks_of_the_report_follow_from_the_raw_records(experiment, name, column):
    report = pd.read_csv(RESULTS / "report" / "tables" / f"{name}.csv", index_col=0)
    scores = raw_scores(experiment)
    for scenario in ("random", "corrupted", "second_order"):
        field = scores.loc[scenario]
        for selector, stated in report[column.format(scenario)].items():
            own = field.index.str.startswith("autonfs") & (field.index != selector)
            rivals = field[~own] if name.endswith("variants") else field
            expected = mean_ranks(rivals)[selector]
            assert stated == pytest.approx(expected, abs=1e-5), (scenario, selector)


def set_that_counts(selector, sets, field):
    """Return the set of a selector in a field of fresh draws."""
    by_name = {one["what"]: one for one in sets}
    if selector == "none" or selector.startswith("autonfs"):
        return by_name["own"]
    if field in ("paper", "matched"):
        return by_name["1" if field == "paper" else "matched"]
    tried = pd.DataFrame(sets).query("what != 'matched'")
    order = tried.sort_values(["validation", "count"], ascending=[False, True])
    return order.iloc[0]


@pytest.mark.parametrize("suite", ["paper", "breadth"])
@pytest.mark.parametrize(
    ("name", "ours"),
    [
        *((field, "autonfs") for field in ("paper", "matched", "free")),
        *((row, f"autonfs:{row}") for row in ("literal", "target")),
    ],
)
def test_ranks_of_fresh_draws_follow_from_the_raw_records(name, ours, suite):
    table = RESULTS / "report" / "tables" / f"fields-{suite}-{name}.csv"
    report = pd.read_csv(table).set_index(["scenario", "selector"])["rank"]
    field = name if ours == "autonfs" else "paper"
    records = json.loads((FRESH / f"fields_{suite}.json").read_text())["records"]
    rows = [
        (
            *(record["scenario"], record["table"], record["draw"], selector),
            set_that_counts(selector, entry["sets"], field)["score"],
        )
        for record in records
        for selector, entry in record["selectors"].items()
        if selector == ours or not selector.startswith("autonfs")
    ]
    names = ["scenario", "table", "draw", "selector", "score"]
    scores = pd.DataFrame(rows, columns=names)
    for scenario, part in scores.groupby("scenario"):
        wide = part.pivot(index="selector", columns=["draw", "table"], values="score")
        whole = [draw for draw in wide.columns.levels[0] if draw in wide.columns]
        tables = set(wide.columns.get_level_values("table"))
        draws = [draw for draw in whole if set(wide[draw].columns) == tables]
        ranks = mean_ranks(wide[draws])
        for selector, rank in ranks.items():
            assert report[scenario, selector] == pytest.approx(rank, abs=1e-5)
