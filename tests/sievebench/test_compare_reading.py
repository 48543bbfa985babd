"""Tables of `sievebench compare`: read as `featuresieve select` reads them."""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from compared_table import table_of

from featuresieve.cli import main as featuresieve
from featuresieve.files import TableFileError, read_file, read_inputs
from featuresieve.tables import read_table as read_columns
from made_files import messy_text
from sievebench.cli import main as sievebench
from sievebench.compare import CompareError, encoder_of, read_table


def frame(n_rows=60):
    """Return columns of many types; the target is one of three whole numbers."""
    rng = np.random.default_rng(0)
    days = pd.date_range("2020-01-01", periods=n_rows, tz="Europe/Kyiv")
    return pd.DataFrame(
        {
            "Größe, cm": rng.normal(170, 10, n_rows).round(2),
            "город": rng.choice(["Київ", "Kraków", None], n_rows),
            "whole": rng.integers(0, 9, n_rows),
            "infinite": np.r_[0.5, np.inf, np.arange(2, n_rows)],
            "flag": rng.choice([True, False, None], n_rows),
            "day": days,
            "time": [moment.time() for moment in days + pd.Timedelta("1h")],
            "kind": pd.Categorical(rng.choice(["a", "b"], n_rows)),
            "nothing": [None] * n_rows,
            "y": rng.integers(0, 3, n_rows),
        }
    )


def report(path):
    """Write a report: a preamble, currencies, percent, dates, times, k.A."""
    rows = [
        f"{i};{10115 + i % 3};1.{i:03d},50 €;{i} %;{i % 28 + 1:02d}.03.2020;08:{i:02d};"
        f"{'k.A.' if i == 3 else i / 4};{i % 30}"
        for i in range(60)
    ]
    head = "Bericht 2023\n\nid;PLZ;Preis;Anteil;Tag;Uhrzeit;Wert;y\n"
    path.write_text(head + "\n".join(rows), encoding="cp1252")


def row_names(path):
    lines = ["a,b,y"] + [f"row {i},{i % 7},x{i % 5},{i / 8}" for i in range(40)]
    path.write_text("\n".join(lines))


def repeated_names(path):
    lines = ["dup,,dup, dup,y"] + [f"{i % 4},{i},{i % 3},z,{i % 2}" for i in range(40)]
    path.write_text("\n".join(lines))


def gaps(path):
    marks = ["", "NA", "?", "1", "2.5"]
    lines = ["a\tb\ty"]
    lines += [f"{marks[i % 5]}\t{marks[i % 3]}\t{['', 'no'][i % 2]}" for i in range(40)]
    path.write_text("\n".join([*lines, "1\t2\tyes", "1\t3\tyes"]))


def truth_values(path):
    lines = ["a;b;y"] + [f"{i % 9},5;{i % 4};{i % 3 == 0}" for i in range(40)]
    path.write_text("\n".join(lines), encoding="utf-16")


READING = {"skip": 2, "missing": ["k.A."], "types": {"PLZ": "category"}}
FILES = {  # name -> how to write it, the target, how to read it
    "messy.csv": (lambda path: path.write_text(messy_text()), "churned?", {}),
    "messy.csv.gz": (
        lambda path: path.write_bytes(gzip.compress(messy_text().encode())),
        *("income", {"missing": ["yes"]}),
    ),
    "typed.parquet": (lambda path: frame().to_parquet(path), "y", {}),
    "index.parquet": (
        lambda path: frame().iloc[np.r_[0:9, 11:60]].to_parquet(path),
        *("whole", {}),
    ),
    "index.csv": (lambda path: frame().to_csv(path), "город", {}),
    "report.csv": (report, "y", READING),
    "row_names.csv": (row_names, "y", {}),
    "repeated.csv": (repeated_names, "y", {}),
    "gaps.tsv": (gaps, "y", {}),
    "truth.txt": (truth_values, "y", {}),
}


@pytest.fixture(params=FILES)
def table(request, tmp_path, monkeypatch):
    """Write a messy file; return its name, the target, and how to read it."""
    monkeypatch.chdir(tmp_path)
    write, target, reading = FILES[request.param]
    write(Path(request.param))
    return request.param, target, reading


def test_both_read_the_same_columns_types_and_task(table):
    name, target, reading = table
    with read_file(name, meanings={target: "label"}, **reading) as file:
        selected = read_inputs(file, target)
    compared = read_table(name, target, **reading)
    assert list(compared.features) == selected.features.column_names
    columns = read_columns(selected.features)
    for j, column in enumerate(compared.features):
        values = compared.features[column]
        kind = columns.column(j)
        assert (values.dtype == object) == (kind.kind == "category"), column
        is_missing = np.zeros(len(values), bool)
        if kind.is_missing is not None:
            is_missing |= kind.is_missing
        np.testing.assert_array_equal(values.isna(), is_missing, column)
        if kind.kind == "number" and not is_missing.all():
            np.testing.assert_array_equal(values, kind.values, column)
    np.testing.assert_array_equal(compared.target, selected.target.values)
    assert compared.task == selected.target.task
    assert [note.lower() for note in compared.notes] == [
        note.lower() for note in selected.notes
    ]


@pytest.mark.parametrize("table", ["messy.csv", "index.csv", "gaps.tsv"], indirect=True)
def test_both_commands_tell_of_the_same_columns_and_task(table, capsys):
    name, target, _ = table
    words = [name, "--target", target, "--quiet"]
    quick = ["--balance", "price", "--epochs", "2", "--json", "-"]
    assert featuresieve(["select", *words, *quick]) == 0
    selected = json.loads(capsys.readouterr().out)
    quick = ["--selectors", "none", "--folds", "2", "--csv", "compared.csv"]
    assert sievebench(["compare", *words, *quick]) == 0
    shown = capsys.readouterr().out
    with Path("compared.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    names = [feature["name"] for feature in selected["selection"]["features"]]
    assert json.loads(row["columns"]) == names
    assert f"({selected['task']}, " in shown
    for note in selected["notes"]:
        assert note[1:] in shown


def test_rows_without_target_are_left_out_and_columns_that_say_nothing_noted():
    gaps = frame(20)[["whole", "infinite", "nothing"]].assign(y=["yes", "no"] * 10)
    gaps.loc[3, "y"] = None
    table = table_of(gaps, "y")
    assert len(table.target) == 19
    assert table.features["nothing"].dtype == np.float64
    assert table.features["infinite"].isna().sum() == 1
    assert table.notes[-2:] == (
        "Empty: 'nothing'.",
        "1 row without a value of 'y' left out.",
    )
    assert len(table_of(frame(20), "infinite", task="regression").target) == 19


def test_what_cannot_be_read_so_or_is_too_small_is_told(tmp_path):
    report(tmp_path / "report.csv")
    with pytest.raises(TableFileError, match="--drop: there is no column 'nothing'"):
        read_table(tmp_path / "report.csv", "y", **READING, drop=["nothing"])
    with pytest.raises(CompareError, match="at least 10 rows"):
        table_of(frame(5), "y")
    with pytest.raises(CompareError, match="at least 2 columns"):
        table_of(frame()[["whole", "nothing", "y"]], "y")


def test_encoder_learns_medians_and_labels_from_the_rows_it_is_given():
    train = {"x": [1.0, 2.0, 9.0, np.nan], "s": ["b", "a", None, "b"]}
    train, test = (
        pd.DataFrame(columns).astype({"s": object})
        for columns in (train, {"x": [np.nan, 5.0], "s": ["c", "b"]})
    )
    train.loc[2, "s"] = None
    encode = encoder_of(train)
    assert encode(train).tolist() == [[1, 1], [2, 0], [9, -1], [2, 1]]
    assert encode(test).tolist() == [[2, -2], [5, 1]]
