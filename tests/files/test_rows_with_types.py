"""JSON lines and spreadsheets are tables like the others."""

import bz2
import datetime
import gzip
import io
import json
import sys

import numpy as np
import openpyxl
import pandas as pd
import pytest
from pyarrow import parquet

import sievebench.cli
from featuresieve.cli import main
from featuresieve.files import TableFileError, read_file
from made_files import plain_columns


def columns_of(path, **arguments):
    with read_file(str(path), **arguments) as file:
        return file.table.to_pydict()


def refusal(path, **arguments):
    with pytest.raises(TableFileError) as caught, read_file(str(path), **arguments):
        pass
    return str(caught.value)


def lines(*rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


ROWS = [
    {"n": 1, "x": 0.5, "code": "007", "day": "2020-01-31", "is": True, "price": "$5"},
    {"n": 2, "code": "012", "day": "2021-02-01", "is": None, "price": "NA"},
]
TABLE = {
    "n": [1, 2],
    "x": [0.5, None],
    "code": ["007", "012"],
    "day": [datetime.datetime(2020, 1, 31), datetime.datetime(2021, 2, 1)],
    "is": [True, None],
    "price": [5.0, None],
}


def test_text_that_is_asked_for_knows_missing_values_as_in_csv(put):
    rows = [{"x": "NA"}, {"x": " 007 "}]
    types = {"x": "text"}
    found = columns_of(put(lines(*rows), "t.jsonl"), types=types)
    assert found == columns_of(put("x\nNA\n 007 \n"), types=types)
    assert found == {"x": [None, "007"]}


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("t.jsonl", lambda text: text.encode()),
        ("t.ndjson.gz", lambda text: gzip.compress(text.encode(), mtime=0)),
        ("t.bz2", lambda text: bz2.compress(text.encode())),
        ("t.json", lambda text: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()),
        ("t", lambda text: f"[{text.strip().replace(chr(10), ',')}]".encode()),
    ],
)
def test_json_is_read_row_by_row_whatever_its_name(put, name, pack):
    assert columns_of(put(pack(lines(*ROWS)), name)) == TABLE


def test_long_json_lines_and_columns_of_several_kinds_are_read_as_written(put):
    path = put(lines({"a": "x" * (1 << 23)}, {"a": "y"}))
    assert [len(cell) for cell in columns_of(path)["a"]] == [1 << 23, 1]
    cells = [*range(40), "unknown", 1.5, None]
    path = put(lines(*({"a": cell, "b": row} for row, cell in enumerate(cells))))
    with read_file(str(path)) as file:
        assert file.table.to_pydict()["a"] == [*range(40), None, 1.5, None]
    assert "1 cell holds no number ('unknown')" in file.notes[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": [1, 2]}', "it is a single object"),
        ('{\n  "a": [1,\n  2]\n}', "it is a single object"),
        ('{"a": 1}\n{"a": 2\n', "line 2: "),
        ('{"a": 1}\n[2]\n', "line 2 holds what is no object"),
        ("[[1, 2], [3, 4]]", "its list holds what is no object"),
        ('[{"a": 1}', "its list: "),
        (b'{"a": "\xff"}\n', "cannot be read: "),
        (b'{"\xff": 1}\n', "cannot be read: "),
    ],
)
def test_json_of_another_form_is_to_be_converted_first(put, text, why):
    message = refusal(put(text))
    if "cannot be read" not in why:
        why = f"is JSON, but neither an object a line nor a list of objects ({why}"
        assert message.endswith("convert it to CSV or Parquet first.")
    assert why in message


@pytest.mark.parametrize("cells", [[[1], [2]], [{"k": 1}, 2], [[1], "x"]])
def test_nested_json_may_be_dropped(put, cells):
    path = put(lines(*({"a": cell, "b": 1} for cell in cells)))
    with read_file(str(path)) as file:
        file.check_columns(["b"])
        with pytest.raises(TableFileError, match="'a' holds lists or objects"):
            file.check_columns(["a"])


def book(*sheets):
    """Return the bytes of a workbook: of each sheet a name and rows."""
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for name, rows in sheets:
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    workbook.save(out)
    return out.getvalue()


NOON = datetime.datetime(2021, 2, 1, 12)
SHEET = [
    ["n", "x", "code", "day", "is", "price", 2020, None],
    [1, 0.5, "007", datetime.date(2020, 1, 31), True, "$5", "4+", None],
    [None] * 8,
    [2, "=1/0", "012", NOON, None, "NA", 4, None],
]


def test_first_sheet_that_holds_anything_is_read(put):
    data = book(("Cover", []), ("Data", SHEET), ("More", [["a"], [1]]))
    with read_file(str(put(data, "t.xlsx"))) as file:
        days = [datetime.datetime(2020, 1, 31), NOON]
        assert file.table.to_pydict() == {**TABLE, "day": days, "2020": ["4+", "4"]}
    assert "sheet 'Data' is read; --sheet reads 'Cover', 'More'." in file.notes
    assert columns_of(put(data), sheet="More") == {"a": [1]}


def test_rows_of_a_sheet_are_skipped_and_counted_as_it_counts_them(put):
    data = book(("Data", [["Report"], [], ["a", "b"], [1, 2], ["x", 3]]))
    path = put(data)
    assert columns_of(path, skip=1) == {"a": ["1", "x"], "b": [2, 3]}
    assert "'x' in row 5 is no number" in refusal(path, skip=2, types={"a": "number"})
    assert refusal(path, skip=9).endswith(
        "no header after the 9 lines that are skipped."
    )


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (book(("Data", SHEET)), {"sheet": "Dat"}, "--sheet: there is no sheet 'Dat'; "),
        (book(("Data", [])), {}, "has no header"),
        (b"\xd0\xcf\x11\xe0garbage", {}, "cannot be read"),
        ("a\n1\n", {"sheet": "Data"}, "--sheet is for spreadsheets, and"),
    ],
    ids=("misspelt", "empty", "damaged", "text"),  # the bytes hold the time
)
def test_what_is_no_sheet_is_told(put, content, arguments, message):
    assert message in refusal(put(content), **arguments)


def test_spreadsheet_without_its_reader_names_the_extra(put, monkeypatch, capsys):
    path = str(put(book(("Data", SHEET))))
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    advice = "needs python-calamine: pip install 'featuresieve[excel]', or save its"
    assert advice in refusal(path)
    assert sievebench.cli.main(["compare", path, "--target", "n"]) == 2
    assert advice in capsys.readouterr().err


@pytest.mark.parametrize("name", ["t.jsonl", "t.xlsx"])
def test_both_commands_and_apply_read_them(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(plain_columns())
    if name == "t.xlsx":
        frame.to_excel(name, index=False, engine="openpyxl")
    else:
        frame.to_json(name, orient="records", lines=True, double_precision=15)
    words = ["--balance", "price", "--epochs", "2", "--keep", "a", "--quiet"]
    outputs = ["--save", "s.sieve", "--out", "o.parquet"]
    assert main(["select", name, "--target", "label", *words, *outputs]) == 0
    assert main(["apply", "s.sieve", name, "--out", "a.parquet"]) == 0
    kept = parquet.read_table("o.parquet")
    np.testing.assert_allclose(kept["a"], plain_columns()["a"], rtol=1e-12)
    assert kept.drop(["label"]).equals(parquet.read_table("a.parquet"))
    compare = ["compare", name, "--target", "label", "--folds", "2"]
    assert sievebench.cli.main([*compare, "--selectors", "univariate"]) == 0
