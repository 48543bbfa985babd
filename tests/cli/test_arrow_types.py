"""Columns of Arrow types that pyarrow hardly computes with."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import sievebench.cli
from featuresieve.cli import main

A = np.random.default_rng(0).normal(size=60)
WORDS = np.where(A > 0, "x", "y").tolist()
QUICK = ("--balance", "price", "--epochs", "2", "--test", "0", "--quiet")


def view(name, values):
    """Return an array of a type that older versions of pyarrow lack."""
    if not hasattr(pa, name):
        pytest.skip(f"this pyarrow has no {name}")
    return pa.array(values, getattr(pa, name)())


COLUMNS = {
    "half": lambda: pa.array(A.astype(np.float16)),
    "half with gaps": lambda: pa.array([None, *A[1:].astype(np.float16)], pa.float16()),
    "text view": lambda: view("string_view", WORDS),
    "large text": lambda: pa.array(WORDS, pa.large_string()),
    "halves in a dictionary": lambda: pa.DictionaryArray.from_arrays(
        (A > 0).astype(int), pa.array(np.array([1, 2], np.float16))
    ),
    "runs": lambda: pa.RunEndEncodedArray.from_arrays([30, 60], WORDS[:2]),
}


def write(column, name):
    """Write a table with one column of interest."""
    labels = np.where(A > 0, "in", "out").tolist()
    table = pa.table({"a": A, "b": A[::-1], "column": column, "label": labels})
    if name.endswith("parquet"):
        parquet.write_table(table, name)
        return
    with pa.OSFile(name, "wb") as sink, ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_unusual_column_is_selected_written_and_applied(kind, name):
    if kind == "runs" and name == "t.parquet":
        pytest.skip("Parquet has no such type")
    column = COLUMNS[kind]()
    write(column, name)
    words = ("select", name, "--target", "label", "--keep", "column", "--drop", "b")
    assert main([*words, *QUICK, "--save", "s.sieve", "--out", "o.csv"]) == 0
    assert Path("o.csv").read_text().splitlines()[0].endswith('"column","label"')
    outputs = ("--out", "o.parquet", "--predict", "p.csv")
    if kind != "runs":
        assert main(["apply", "s.sieve", name, *outputs]) == 0
        written = parquet.read_table("o.parquet").column("column")
        assert written.type in (column.type, getattr(column.type, "value_type", None))


@pytest.mark.parametrize("kind", ["binary_view", "binary", "large_binary"])
@pytest.mark.parametrize("command", ["select", "compare"])
def test_bytes_are_refused_by_name(kind, command, capsys):
    write(view(kind, [b"x", b"y"] * 30), "t.arrow")
    run = main if command == "select" else sievebench.cli.main
    assert run([command, "t.arrow", "--target", "label"]) == 2
    error = capsys.readouterr().err
    assert "'column' holds" in error
    assert "--drop" in error


def test_compare_reads_halves():
    write(COLUMNS["half"](), "t.parquet")
    words = ["compare", "t.parquet", "--target", "label", "--folds", "2"]
    assert sievebench.cli.main([*words, "--selectors", "univariate"]) == 0
