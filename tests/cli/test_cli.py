"""`featuresieve select` from the words of a shell to files and exit status."""

import csv
import html
import io
import json
import re
import shlex
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from scipy.stats import hypergeom

import featuresieve
from featuresieve.cli import main
from featuresieve.cli._options import SelectOptions
from featuresieve.cli._parser import build_parser
from made_files import MESSY_HEADINGS, messy_text, plain_columns, plain_text

# A short search: what the command does with it is tested, not how well it selects.
QUICK = ("--balance", "price", "--epochs", "3")


def select(*words, file="plain.csv", target="label", quick=QUICK):
    return main(["select", file, "--target", target, *quick, *words])


def selected(*words, **arguments):
    """Return the JSON of a selection that succeeds."""
    assert select(*words, "--json", "result.json", **arguments) == 0
    return json.loads(Path("result.json").read_text(encoding="utf-8"))


def header(name):
    with Path(name).open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file))


def features_of(result):
    return [feature["name"] for feature in result["selection"]["features"]]


@pytest.fixture
def fits(monkeypatch):
    """Return a list that every fit of the command adds to: arguments, X, the rest."""
    seen, fit = [], featuresieve.AutoNFSClassifier.fit

    def spy(self, X, y, **named):
        seen.append((self.get_params(), X, named))
        return fit(self, X, y, **named)

    monkeypatch.setattr(featuresieve.AutoNFSClassifier, "fit", spy)
    return seen


def test_select_prints_task_kept_columns_and_scores(capsys):
    assert select(quick=()) == 0
    text = capsys.readouterr().out
    assert "plain.csv: 120 rows, 4 columns to select from, target 'label'" in text
    assert "task: classification (it holds text)" in text
    assert "kept 2 of 4 columns, balance chosen" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["column", "frequency", "rank"] in lines
    assert {line[0] for line in lines if line[2:] in (["1"], ["2"])} == {"a", "b"}
    assert "on 24 rows that the selection has not seen" in text


@pytest.mark.parametrize("arguments", [{}, {"goal": "all_relevant", "judge": "trees"}])
def test_select_agrees_with_the_estimator(arguments):
    words = [word for name, value in arguments.items() for word in (f"--{name}", value)]
    result = selected("--test", "0", *words, quick=())
    columns = plain_columns()
    label = columns.pop("label")
    selector = featuresieve.AutoNFSClassifier(random_state=0, **arguments)
    selector.fit(pa.table(columns), label)
    kept = [
        name
        for name, is_kept in zip(columns, selector.support_, strict=True)
        if is_kept
    ]
    assert result["kept"] == kept
    assert result["selection"] == json.loads(selector.to_json())
    assert result["score"] is None


def test_messy_file_goes_through_without_a_surprise(capsys):
    Path("messy.csv").write_text(messy_text(), encoding="utf-8")
    words = ("--out", "small.csv", "--verbose")
    result = selected(*words, file="messy.csv", target="churned?", quick=())
    text = capsys.readouterr().out
    for said in (
        "unnamed column 2 is called 'column 2'",
        "cells hold no number ('unknown'), taken as missing",
        "'mixed' mixes numbers and text ('a')",
        "empty: 'nothing'",
        "the same value in every row: 'currency'",
        "to leave out: --drop 'customer id'",
        "names of rows left out: 'column 2'",
        "rows without a value of 'churned?' left out",
    ):
        assert said in text
    assert {"Größe (cm)", "city"} <= set(result["kept"])
    assert not {"customer id", "currency", "nothing"} & set(result["kept"])
    assert result["n_rows_without_target"] > 0
    assert result["score"]["kept_columns"] > 0.7
    names = [h for h in MESSY_HEADINGS if h.strip() in [*result["kept"], "churned?"]]
    assert header("small.csv") == names


def test_reduced_file_is_the_original_with_fewer_columns():
    Path("messy.csv").write_text(messy_text(), encoding="utf-8")
    words = ("--keep", "zip", "income", "--out", "small.csv")
    assert select(*words, file="messy.csv", target="churned?") == 0
    with (
        Path("messy.csv").open(newline="") as original,
        Path("small.csv").open(newline="") as copy,
    ):
        wanted = list(csv.reader(original))
        found = list(csv.reader(copy))
    places = [wanted[0].index(name) for name in found[0]]
    assert places == sorted(places)
    assert found == [[row[place] for place in places] for row in wanted]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv.gz", "t.parquet", "t.feather"])
def test_all_formats_give_the_same_selection_and_are_written(name):
    Path("small.csv").unlink(missing_ok=True)
    result = selected("--out", name)
    again = selected(
        file=name, quick=("--n-features", str(len(result["kept"])), *QUICK)
    )
    assert again["kept"] == result["kept"]
    assert again["n_rows"] == 120


def test_parquet_of_pandas_keeps_names_that_are_numbers_and_the_index():
    frame = pd.DataFrame(plain_columns())
    frame.columns = range(5)
    names = pd.Index([f"row {row}" for row in range(120)])
    for index, kept in ((names[::-1], "__index_level_0__"), (range(9, 129), "1")):
        frame.set_axis(index).to_parquet("t.parquet")
        words = ("--keep", "1", kept, "--out", "o.parquet")
        selected(*words, file="t.parquet", target="4")
        found = pd.read_parquet("o.parquet")
        assert {1, 4} <= {*found.columns} <= {*range(5)}
        pd.testing.assert_series_equal(found[1], frame[1].set_axis(index))


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
def test_standard_input_is_read(monkeypatch, kind):
    data = io.BytesIO()
    table = pa.table(plain_columns())
    if kind == "parquet":
        parquet.write_table(table, data)
    elif kind == "feather":
        feather.write_feather(table, data)
    else:
        data.write(plain_text().encode())
    data.seek(0)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
    result = selected("--out", "small.csv", file="-")
    assert result["file"] == "standard input"
    assert header("small.csv") == [*result["kept"], "label"]


def test_what_goes_to_standard_output_is_alone_there(capsys):
    assert select("--json", "-", "--max-features", "1") == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert (result["target"], len(result["kept"])) == ("label", 1)
    assert "kept" in captured.err
    assert select("--out", "-", "--quiet", "--n-features", "2") == 0
    captured = capsys.readouterr()
    rows = list(csv.reader(io.StringIO(captured.out)))
    assert (len(rows), len(rows[0]), captured.err) == (121, 3, "")


def test_quiet_prints_the_result_only_and_verbose_all_columns(capsys):
    assert select("--quiet") == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("kept ")
    assert captured.err == ""
    assert select("--verbose", quick=("--epochs", "3")) == 0
    text = capsys.readouterr().out
    for said in ("frequency  rank  kept", "candidate sets:", "chosen"):
        assert said in text


def test_keep_drop_patterns_and_groups_are_obeyed():
    result = selected("--keep", "c", "--drop", "a", "d*")
    assert "c" in result["kept"]
    assert features_of(result) == ["b", "c"]
    result = selected("--group", "a", "c", "--group", "b", "d", "--n-features", "2")
    assert result["kept"] in (["a", "c"], ["b", "d"])


def test_costs_reach_the_selector(fits):
    words = ("--cost", "a=2", "c=0.5", "--cost", "d=3", "--max-time", "50")
    words += ("--seed", "7", "--device", "cpu", "--jobs", "-1", "--members", "5")
    assert select(*words) == 0
    ((seen, _, _), *_) = fits
    assert seen["feature_costs"] == {"a": 2, "c": 0.5, "d": 3}
    assert (seen["max_time"], seen["random_state"], seen["n_jobs"]) == (50, 7, -1)
    assert (seen["device"], seen["balance"]) == ("cpu", "price")
    assert (seen["training__n_members"], seen["training__n_epochs"]) == (5, 3)


def test_weights_and_rows_of_a_group_are_no_feature_and_stay_together(fits):
    columns = plain_columns() | {"w": np.arange(120) % 3}
    columns["patient"] = [f"p{row // 6}" for row in range(120)]
    feather.write_feather(pa.table(columns), "t.feather")
    words = ("--weight", "w", "--row-group", "patient")
    assert features_of(selected(*words, file="t.feather")) == ["a", "b", "c", "d"]
    ((_, _, named),) = fits
    # Four of twenty patients are set apart, whole.
    assert set(np.bincount(named["groups"], minlength=20)) == {0, 6}
    assert len(named["groups"]) == len(named["sample_weight"]) == 96


@pytest.mark.parametrize(
    ("unit", "n_moments", "n_folds"), [("D", 120, 5), ("D", 24, 5), (None, 3, 1)]
)
def test_time_is_no_feature_and_later_rows_judge(unit, n_moments, n_folds, fits):
    moment = np.random.default_rng(0).permutation(120) % n_moments
    start = 2020 if unit is None else np.datetime64("2020-01-01", unit)
    columns = plain_columns() | {"when": start + moment}
    columns["a"] += np.arange(120) * 1e-6  # by which rows are known
    table = pa.table(columns)
    feather.write_feather(table, "t.feather")
    result = selected("--time", "when", "--save", "t.sieve", file="t.feather")
    assert features_of(result) == ["a", "b", "c", "d"]
    ((arguments, X, _),) = fits
    folds = arguments["cv"]
    moment_of = dict(zip(table["a"].to_pylist(), moment, strict=True))
    learnt = np.array([moment_of[value] for value in X["a"].to_pylist()])
    assert set(learnt) == set(range(learnt.max() + 1)) < set(moment)
    assert len(folds) == n_folds
    for train, test in folds:
        assert learnt[train].max() < learnt[test].min()
    held_out = np.concatenate([test for _, test in folds])
    assert len(np.unique(held_out)) == len(held_out)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([1] * 120, "--time: 'when' has one value in all rows"),
        (["May", "June"] * 60, "--time: 'when' must hold numbers or dates, got values"),
        ([None, *range(119)], "--time: 'when' must hold a value in every row"),
    ],
)
def test_times_that_order_no_rows_are_refused(times, message, capsys):
    feather.write_feather(pa.table(plain_columns() | {"when": times}), "t.feather")
    assert select("--time", "when", file="t.feather") == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_picture_is_drawn(ending, start):
    # No font has the second sign of this name.
    columns = plain_columns() | {"größe 🎈": np.arange(120.0)}
    feather.write_feather(pa.table(columns), "t.feather")
    assert select("--plot", f"picture.{ending}", file="t.feather") == 0
    assert Path(f"picture.{ending}").read_bytes().startswith(start)


def test_score_is_of_rows_that_the_selection_has_not_seen():
    result = selected("--test", "0.25", "--class-weight", "yes=2", "no=1")
    assert result["n_rows_used"] == 90
    assert (result["score"]["n_test"], result["score"]["n_train"]) == (30, 90)


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b"] * 30, "classification"),
        ([True, False] * 30, "classification"),
        ([0, 1, 2] * 20, "classification"),
        ([1.0, 2.0] * 30, "classification"),
        (list(range(60)), "regression"),
        (list(range(20)) * 3, "classification"),
        (list(range(20)) + list(range(20)), "regression"),
        ([0.5, 1.5, 2.5] * 20, "regression"),
    ],
)
def test_task_is_inferred_by_the_documented_rule_unless_overruled(values, task, capsys):
    table = pa.table({"x": np.arange(len(values)) % 7 / 2, "y": values})
    parquet.write_table(table, "t.parquet")
    where = {"file": "t.parquet", "target": "y"}
    assert selected(**where)["task"] == task
    assert f"task: {task} (" in capsys.readouterr().out
    if values == [0, 1, 2] * 20:
        result = selected("--task", "regression", **where)
        assert (result["task"], result["score"]["metric"]) == ("regression", "R²")


def test_configuration_is_read_and_the_command_line_wins():
    Path("c.toml").write_text(
        'target = "label"\nbalance = "price"\nepochs = 3\nmax-features = 3\nseed = 5\n'
        'keep = ["c"]\ngroup = [["a", "b"]]\nquiet = true\ncost = {d = 2.5}\n'
        'json = "result.json"\nclass-weight = "balanced"\n'
    )
    words = ["select", "plain.csv", "--config", "c.toml", "--seed", "6", "--keep", "d"]
    assert main(words) == 0
    result = json.loads(Path("result.json").read_text())
    assert result["seed"] == 6
    assert "d" in result["kept"]
    assert "c" not in result["kept"] or len(result["kept"]) == 2


def test_command_is_installed_and_its_help_names_every_option(capsys):
    project = Path(__file__).parents[2] / "pyproject.toml"
    scripts = tomllib.loads(project.read_text())["project"]["scripts"]
    assert scripts["featuresieve"] == "featuresieve.cli:console"
    assert main(["select", "--help"]) == 0
    text = capsys.readouterr().out
    for item in fields(SelectOptions):
        if item.name != "file":
            assert f"--{item.name.replace('_', '-')}" in text
    assert "examples:" in text


@pytest.mark.slow
def test_demo_finds_the_measurements_among_noise(capsys):
    assert main(["demo", "--quiet"]) == 0
    text = capsys.readouterr().out
    assert "of 60 columns" in text
    n_kept = int(re.search(r"kept (\d+) of 60 columns", text)[1])
    names = [line.split("  ")[0] for line in text.splitlines()]
    assert not any(name.startswith("noise") for name in names)
    # Half of the columns are noise: the chance that none is among as many drawn.
    assert hypergeom.cdf(0, 60, 30, n_kept) < 0.02


def test_report_is_a_page_with_the_score_and_the_command_that_selects_again(capsys):
    words = ["--keep", "a", "--group", "b", "c", "--test", "0.3", "--cost", "a=2"]
    assert select(*words, "--report", "page.html") == 0
    page = html.unescape(Path("page.html").read_text(encoding="utf-8"))
    assert "rows that the selection has not seen" in page
    assert "wrote page.html" in capsys.readouterr().err
    given = re.search(r"<pre>featuresieve (select .*)</pre>", page)[1]
    again = build_parser().parse_args(shlex.split(given))
    asked = build_parser().parse_args(
        ["select", "plain.csv", "--target", "label", *QUICK, *words]
    )
    assert vars(again) == vars(asked)


def test_header_among_the_rows_is_told(folder, capsys):
    names, *rows = plain_text().splitlines()
    (folder / "twice.csv").write_text("\n".join([names, *rows, names, *rows]))
    assert select(file="twice.csv") == 0
    assert "note: 1 row has the target 'label': the header, again?" in (
        capsys.readouterr().out
    )


def test_this_folder_is_called_as_it_was_named(folder, capsys):
    parquet.write_table(pa.table(plain_columns()), folder / "part.parquet")
    (folder / "plain.csv").unlink()
    assert select(file=".") == 0
    assert capsys.readouterr().out.startswith(".: 120 rows, ")
