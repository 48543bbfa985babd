"""`featuresieve select` and `sievebench compare` see the same in a file."""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from featuresieve.cli import main as featuresieve
from featuresieve.files import infer_task, read_file, read_inputs
from featuresieve.tables import read_table as read_columns
from made_files import messy_text
from sievebench.cli import main as sievebench
from sievebench.compare import read_table


def frame(n_rows=60):
    """Return columns of many types; the target is one of three whole numbers."""
    rng = np.random.default_rng(0)
    days = pd.date_range("2020-01-01", periods=n_rows, tz="Europe/Kyiv")
    return pd.DataFrame(
        {
            "Größe, cm": rng.normal(170, 10, n_rows).round(2),
            "город": rng.choice(["Київ", "Kraków", None], n_rows),
            "whole": rng.integers(0, 9, n_rows),
            "flag": rng.choice([True, False, None], n_rows),
            "day": days,
            "time": [moment.time() for moment in days + pd.Timedelta("1h")],
            "kind": pd.Categorical(rng.choice(["a", "b"], n_rows)),
            "nothing": [None] * n_rows,
            "y": rng.integers(0, 3, n_rows),
        }
    )


def report(path):
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
    "report.csv": (
        *(report, "y"),
        {"skip": 2, "missing": ["k.A."], "types": {"PLZ": "category"}},
    ),
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


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (np.array(["a", "b"]), "classification"),
        (np.array([True, False]), "classification"),
        (np.array(["a", 1], dtype=object), "classification"),
        (np.arange(20), "regression"),
        (np.repeat(np.arange(20), 3), "classification"),
        (np.repeat(np.arange(21.0), 30), "regression"),
        (np.array([0.0, 1.0, 1.0]), "classification"),
        (np.array([0.5, 1.0]), "regression"),
    ],
)
def test_task_is_read_off_the_target(y, task):
    assert infer_task(y)[0] == task
