"""`featuresieve apply`: a saved selection and another file."""

import csv
import io
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import featuresieve
from featuresieve.cli import main
from made_files import plain_columns, plain_text

QUICK = ("--balance", "price", "--epochs", "3", "--n-features", "2", "--quiet")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return the file of the selector of a and b of plain.csv."""
    folder = tmp_path_factory.mktemp("saved")
    table, path = folder / "plain.csv", folder / "plain.sieve"
    table.write_text(plain_text())
    words = ["select", str(table), "--target", "label", "--drop", "c", "--keep", "a"]
    assert main([*words, "b", *QUICK, "--save", str(path)]) == 0
    return path


@pytest.fixture(autouse=True)
def copies(folder, saved):
    """Put a copy of the selector beside the table."""
    shutil.copy(saved, folder)


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def test_kept_columns_go_to_standard_output_or_a_file_with_others(capsys):
    assert main(["apply", "plain.sieve", "plain.csv"]) == 0
    captured = capsys.readouterr()
    rows = rows_of(captured.out)
    assert rows[0] == ["a", "b"]
    assert len(rows) == 121
    assert "kept 2 of 3 columns" in captured.err
    words = ["apply", "plain.sieve", "plain.csv", "--out", "o.parquet"]
    assert main([*words, "--also", "label"]) == 0
    assert parquet.read_table("o.parquet").column_names == ["a", "b", "label"]


def test_predictions_are_those_of_the_estimator():
    assert main(["apply", "plain.sieve", "plain.csv", "--predict", "p.parquet"]) == 0
    found = parquet.read_table("p.parquet").to_pydict()
    selector = featuresieve.load("plain.sieve")
    columns = plain_columns()
    table = pa.table({name: columns[name] for name in ("a", "b", "d")})
    assert found["prediction"] == selector.predict(table).tolist()
    shares = np.column_stack([found["probability of no"], found["probability of yes"]])
    np.testing.assert_array_equal(shares, selector.predict_proba(table))


def test_dropped_columns_need_not_be_there_and_order_does_not_matter(capsys):
    assert main(["apply", "plain.sieve", "plain.csv", "--predict", "1.csv"]) == 0
    columns = plain_columns()
    new = {"new": ["x"] * 120, "b": columns["b"], "a": columns["a"]}
    parquet.write_table(pa.table(new), "t.parquet")
    assert main(["apply", "plain.sieve", "t.parquet", "--predict", "2.csv"]) == 0
    assert Path("1.csv").read_text() == Path("2.csv").read_text()
    Path("t.csv").write_text("a,d\n1,2\n")
    assert main(["apply", "plain.sieve", "t.csv"]) == 2
    assert "there is no column 'b'" in capsys.readouterr().err


def test_columns_are_read_as_they_were_when_selected():
    rng = np.random.default_rng(0)
    code = rng.choice(["007", "012", "120"], 120)
    amount = rng.normal(size=120).round(2)
    label = np.where((code == "007") ^ (amount > 0), "p", "q")
    rows = zip(code, amount, label, strict=True)
    lines = ["code,amount,label", *(f"{c},{a},{y}" for c, a, y in rows)]
    Path("t.csv").write_text("\n".join(lines))
    words = ["select", "t.csv", "--target", "label", *QUICK, "--save", "t.sieve"]
    assert main(words) == 0
    # Alone, these codes look like numbers, and this amount like text.
    Path("new.csv").write_text("code,amount\n120,1.5\n120,none\n")
    assert main(["apply", "t.sieve", "new.csv", "--predict", "p.csv"]) == 0
    assert len(rows_of(Path("p.csv").read_text())) == 3


def test_regression_predicts_numbers():
    columns = plain_columns()
    columns["label"] = columns["a"] * 2.5 + 100.25
    parquet.write_table(pa.table(columns), "t.parquet")
    words = ["select", "t.parquet", "--target", "label", *QUICK, "--save", "t.sieve"]
    assert main(words) == 0
    assert main(["apply", "t.sieve", "t.parquet", "--predict", "p.parquet"]) == 0
    found = parquet.read_table("p.parquet")
    assert found.column_names == ["prediction"]
    assert found.schema.types == [pa.float64()]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--out", "plain.csv"), "plain.csv is read, and must not be written"),
        (("--out", "plain.sieve"), "--out: plain.sieve must end in"),
        (("--out", "-", "--predict", "-"), "must be two files"),
        (("--out", "o.csv", "--also", "lable"), "did you mean 'label'?"),
    ],
)
def test_wrong_words_are_refused_and_nothing_is_written(capsys, words, message):
    assert main(["apply", "plain.sieve", "plain.csv", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert sorted(path.name for path in Path().iterdir()) == [
        "plain.csv",
        "plain.sieve",
    ]


def test_column_that_is_dropped_may_hold_anything(capsys):
    rows = {"a": [*range(40)], "y": [j // 20 for j in range(40)], "l": [[1, 2]] * 40}
    parquet.write_table(pa.table(rows), "nested.parquet")
    words = ["select", "nested.parquet", "--target", "y", "--epochs", "2", "--quiet"]
    assert main(words) == 2
    assert "'l' holds lists or objects" in capsys.readouterr().err
    assert main([*words, "--drop", "l", "--save", "saved"]) == 0
    assert main(["apply", "saved", "nested.parquet", "--out", "kept.csv"]) == 0
    assert Path("kept.csv").read_text().splitlines()[:2] == ['"a"', "0"]


def test_cells_that_predictions_do_without_are_noted(folder, capsys):
    header, *lines = plain_text().splitlines()
    broken = [f"abc{line[line.index(',') :]}" for line in lines]
    (folder / "broken.csv").write_text("\n".join([header, *broken]))
    words = ["apply", "plain.sieve", "broken.csv"]
    assert main([*words, "--predict", "p.csv"]) == 0
    note = "note: 'a': 120 cells hold no number ('abc'), taken as missing."
    assert note in capsys.readouterr().err.splitlines()
    assert main([*words, "--out", "o.csv"]) == 0  # cells are copied as they are
    assert "note:" not in capsys.readouterr().err
    (folder / "other.csv").write_text(plain_text().replace(",c,", ",a,", 1))
    assert main(["apply", "plain.sieve", "other.csv", "--predict", "p.csv"]) == 0
    assert "a second column 'a' is called" in capsys.readouterr().err


def test_cells_of_many_files_that_predictions_do_without_are_noted(folder, capsys):
    columns = plain_columns()
    columns["a"] = ["abc", *map(str, columns["a"][1:])]
    for part in range(3):
        parquet.write_table(pa.table(columns), folder / f"{part}.parquet")
    words = ["apply", "plain.sieve", "*.parquet", "--memory", "20KB"]
    assert main([*words, "--predict", "p.csv"]) == 0
    notes = [n for n in capsys.readouterr().err.splitlines() if n.startswith("note:")]
    assert notes == [
        "note: in a part of the rows 'a': 1 cell holds no number ('abc'), taken as "
        "missing."
    ]


def test_one_row_is_counted_as_one(folder, capsys):
    lines = plain_text().splitlines()
    (folder / "one.csv").write_text("\n".join(lines[:2]))
    assert main(["apply", "plain.sieve", "one.csv"]) == 0
    assert capsys.readouterr().err.splitlines()[0] == "one.csv: 1 row"
