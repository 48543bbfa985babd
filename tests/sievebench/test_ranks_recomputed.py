"""The ranks of the report again, from the raw records: pandas only, no code of ours."""

import json
from pathlib import Path

import pandas as pd
import pytest

RESULTS = Path(__file__).parents[2] / "results"


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
