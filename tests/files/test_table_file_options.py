"""Table files are read as the user says: marks, types, lines before the header."""

import datetime

import pyarrow as pa
import pytest
from pyarrow import parquet

from featuresieve.files import (
    AtomicFiles,
    TableFileError,
    find_column,
    read_file,
    write_columns,
)


def columns_of(path, **arguments):
    with read_file(str(path), **arguments) as file:
        return file.table.to_pydict()


def copy_of(path, places, out, **arguments):
    with read_file(str(path), **arguments) as file, AtomicFiles() as drafts:
        write_columns(file, places, str(out), drafts)
    return out.read_text()


def refusal(path, **arguments):
    with pytest.raises(TableFileError) as caught:
        columns_of(path, **arguments)
    return str(caught.value)


@pytest.mark.parametrize("mark", ["k.A.", " k.A. ", '"k.A."'])
def test_asked_marks_are_missing_in_numbers_text_and_dates(put, mark):
    path = put(
        f"n,w,t,d\n1,1.5,x,2020-01-31\n{mark},{mark},{mark},{mark}\n3,2.5,y,NA\n"
    )
    with read_file(str(path), missing=["k.A."]) as file:
        found = file.table
    assert found.select(["n", "w", "t"]).to_pydict() == {
        "n": [1, None, 3],
        "w": [1.5, None, 2.5],
        "t": ["x", None, "y"],
    }
    assert found.column("n").type in (pa.int64(), pa.float64())
    assert pa.types.is_temporal(found.column("d").type)


def test_asked_marks_are_missing_beside_plus_and_in_text_of_typed_files(put, tmp_path):
    path = put("a,b\n+,1\n-,2\n")
    assert columns_of(path, missing=["-"])["a"] == ["+", None]
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": ["x", "k.A.", "NA"], "b": [1, 2, 3]}), path)
    assert columns_of(path, missing=["k.A."])["a"] == ["x", None, "NA"]


DAYS = [datetime.datetime(2020, 1, 31), datetime.datetime(2021, 2, 1)]


@pytest.mark.parametrize(
    ("text", "types", "expected"),
    [
        *(
            ("a,b\n+10,1\n20,2\nNA,3\n", {"a": asked}, {"a": ["+10", "20", None]})
            for asked in ("category", "text")
        ),
        (
            'zip,price\n007,"$1,200"\n010,5\n',
            {"zip": "number", "price": "number"},
            {"zip": [7, 10], "price": [1200, 5]},
        ),
        ("rooms\n1\n2\n4+\n", {"rooms": "number"}, {"rooms": [1, 2, None]}),
        *(
            (f"day\n{first}\n{second}", {"day": "date"}, {"day": DAYS})
            for first, second in (
                *(("20200131", "20210201"), ("2020-1-31", "2021-2-1")),
                ("31.1.2020", "1.2.2021"),
            )
        ),
        (
            "zip a,zip b,c\n1,2,3\n",
            {"zip *": "category"},
            {"zip a": ["1"], "zip b": ["2"], "c": [3]},
        ),
    ],
)
def test_columns_are_of_the_asked_type(put, text, types, expected):
    found = columns_of(put(text), types=types, missing=["4+"])
    assert found.items() >= expected.items()


@pytest.mark.parametrize(
    ("cells", "asked", "value", "row"),
    [
        (["1", "2", "forty"], "number", "'forty'", 4),
        (["1", "?", " x"], "number", "'x'", 4),
        (["true", "false"], "number", "'true'", 2),
        (["2020-01-01", "2020-01-02"], "number", "'2020-01-01'", 2),
        (["2020-01-01", "NA", "soon"], "date", "'soon'", 4),
        (["soon", "1.2.2020", "3.2.2020"], "date", "'soon'", 2),
        (["20200131", "20201301"], "date", "'20201301'", 3),
        (["1.5", "2.5"], "date", "'1.5'", 2),
    ],
)
def test_value_that_is_not_of_the_asked_type_is_named(put, cells, asked, value, row):
    path = put("a column,b\n" + "\n".join(f"{cell},1" for cell in cells))
    message = refusal(path, types={"a column": asked})
    assert f"--type a column={asked}: {value} in row {row} is no {asked}" in message
    assert f"--missing {value}" in message


def test_rows_are_counted_as_lines_and_unknown_columns_named(put):
    path = put("a report\n\na,b\n1,2\nx,3\n")
    assert "'x' in row 5" in refusal(path, types={"a": "number"}, skip=2)
    message = refusal(put("code,b\n1,2\n"), types={"cod": "text"})
    assert message == "--type: there is no column 'cod'; did you mean 'code'?"


def test_types_are_asked_of_typed_files_too(tmp_path):
    path = tmp_path / "t.parquet"
    table = {"code": [1, 2], "day": [20200131, 20210201], "n": ["1.5", "NA"]}
    parquet.write_table(pa.table(table), path)
    types = {"code": "category", "day": "date", "n": "number"}
    assert columns_of(path, types=types) == {
        "code": ["1", "2"],
        "day": [datetime.datetime(2020, 1, 31), datetime.datetime(2021, 2, 1)],
        "n": [1.5, None],
    }
    parquet.write_table(pa.table({"n": ["1.5", "x"]}), path)
    assert "'x' in row 2 is no number" in refusal(path, types={"n": "number"})


PREAMBLE = 'Bericht "2023";\r\nerstellt von: Müller, 3 Seiten\r\n\r\n'


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_lines_before_the_header_are_skipped(put, encoding):
    path = put(f"{PREAMBLE}größe;b\r\n1,5;x\r\n2,5;y\r\n", encoding=encoding)
    assert columns_of(path, skip=3) == {"größe": [1.5, 2.5], "b": ["x", "y"]}
    path = put("sep=|\nReport\na|b\n1|2\n")  # that of Excel counts as a line
    assert columns_of(path, skip=2) == {"a": [1], "b": [2]}


@pytest.mark.parametrize(("name", "delimiter"), [("o.csv", ";"), ("o.tsv", "\t")])
def test_copy_begins_with_the_header(put, tmp_path, name, delimiter):
    path = put(f"{PREAMBLE}a;b;c\n1;2;3\n")
    assert copy_of(path, [0, 2], tmp_path / name, skip=3).splitlines() == [
        f"a{delimiter}c",
        f"1{delimiter}3",
    ]


@pytest.mark.parametrize(
    ("text", "n_lines"),
    [
        ("Report\nof 2023\na,b,c\n1,2,3\n4,5,6\n", 2),
        ("Report\n\n\na;b;c\n1,5;2;3\n4;5;6\n", 3),
        ("Report, final\nof, 2023\na,b,c\n1,2,3\n4,5,6\n", 2),
        ("Report,,\n,,\na,b,c\n1,2,3\n4,,6\n", 2),  # as spreadsheets write it
    ],
)
def test_hint_names_the_lines_to_skip(put, text, n_lines):
    with pytest.raises(TableFileError) as caught, read_file(str(put(text))) as file:
        find_column("--target", "c", file)
    hint = f"If the table begins in line {n_lines + 1}: --skip {n_lines}."
    assert str(caught.value).endswith(hint)
    assert list(columns_of(put(text), skip=n_lines)) == ["a", "b", "c"]


def test_skipping_what_cannot_be_skipped_is_refused(put, tmp_path):
    assert "--skip" not in refusal(put("\na,b\n1,2\n3,4,5\n"))  # it begins at once
    message = refusal(put("a,b\n1,2\n"), skip=9)
    assert message.endswith("has no header after the 9 lines that are skipped.")
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": [1]}), path)
    assert refusal(path, skip=1).startswith("--skip is for text")


def test_first_cells_without_a_heading_are_a_column_without_a_name(put, tmp_path):
    path = put("a,b\nrow 1,1,2\nrow 2,3,4\n")  # as R writes row names
    found = {"column 1": ["row 1", "row 2"], "a": [1, 3], "b": [2, 4]}
    assert columns_of(path) == found
    assert copy_of(path, [1, 2], tmp_path / "o.csv") == "a,b\n1,2\n3,4\n"
    assert copy_of(path, [0, 2], tmp_path / "o.tsv") == "\tb\nrow 1\t2\nrow 2\t4\n"
    # A delimiter at the end of rows only makes none.
    assert "row 2 has 3 cells" in refusal(put("a,b\n1,2,\n3,4,\n"))
