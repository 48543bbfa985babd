import numpy as np
import pandas as pd
import pytest
from made_runs import RUN, failed, run, table

from sievebench.analysis import COLUMNS, RunTableError, check_runs


def test_checked_runs_have_every_column_in_order():
    checked = check_runs(table(run()))
    assert list(checked.columns) == [column.name for column in COLUMNS]
    assert checked.loc[0, "removed"] == ""
    assert np.isnan(checked.loc[0, "balance"])


def test_check_leaves_out_columns_nobody_agreed_on():
    assert "colour" not in check_runs(table(run(colour="red"))).columns


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


def test_check_refuses_a_run_twice():
    with pytest.raises(RunTableError, match="twice: experiment=benchmark, dataset=eye"):
        check_runs(table(run(), run(score=0.6)))


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


def test_check_takes_variants_and_failures():
    runs = table(run(selector="autonfs:auto"), failed("out of memory"))
    assert list(check_runs(runs)["reason"]) == ["", "out of memory"]


def test_check_takes_a_scaling_run_without_score():
    runs = check_runs(table(run(experiment="scaling", score=None)))
    assert np.isnan(runs.loc[0, "score"])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_check_gives_the_same_after_a_file(tmp_path, suffix):
    runs = table(run(), failed("out of memory", seed=1, is_sample=True))
    path = tmp_path / f"runs.{suffix}"
    runs.to_csv(path, index=False) if suffix == "csv" else runs.to_parquet(path)
    read = getattr(pd, f"read_{suffix}")(path)
    pd.testing.assert_frame_equal(check_runs(read), check_runs(runs))


def test_check_takes_an_empty_table():
    assert len(check_runs(pd.DataFrame(columns=list(RUN)))) == 0
