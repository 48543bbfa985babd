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


def test_minus_that_is_asked_for_is_missing_even_beside_plus(put):
    path = put("a,b\n+,1\n-,2\n")
    assert columns_of(path, missing=["-"])["a"] == ["+", None]


def test_asked_marks_are_missing_in_text_of_typed_files(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": ["x", "k.A.", "NA"], "b": [1, 2, 3]}), path)
    assert columns_of(path, missing=["k.A."])["a"] == ["x", None, "NA"]


@pytest.mark.parametrize("asked", ["category", "text"])
def test_numbers_asked_to_be_text_keep_their_digits(put, asked):
    path = put("code,b\n+10,1\n20,2\nNA,3\n")
    assert columns_of(path, types={"code": asked})["code"] == ["+10", "20", None]


def test_codes_asked_to_be_numbers_are_numbers(put):
    path = put('zip,price\n007,"$1,200"\n010,5\n')
    found = columns_of(path, types={"zip": "number", "price": "number"})
    assert found == {"zip": [7, 10], "price": [1200, 5]}


def test_words_among_categories_become_missing_numbers_if_both_is_asked(put):
    path = put("rooms\n1\n2\n4+\n")
    found = columns_of(path, types={"rooms": "number"}, missing=["4+"])
    assert found == {"rooms": [1, 2, None]}


@pytest.mark.parametrize(
    "texts",
    [["20200131", "20210201"], ["2020-1-31", "2021-2-1"], ["31.1.2020", "1.2.2021"]],
)
def test_dates_are_read_if_asked(put, texts):
    path = put("day\n" + "\n".join(texts))
    days = [datetime.datetime(2020, 1, 31), datetime.datetime(2021, 2, 1)]
    assert columns_of(path, types={"day": "date"}) == {"day": days}


def test_type_may_be_asked_for_by_a_pattern(put):
    path = put("zip a,zip b,c\n1,2,3\n")
    found = columns_of(path, types={"zip *": "category"})
    assert found == {"zip a": ["1"], "zip b": ["2"], "c": [3]}


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


def test_rows_are_counted_as_lines_of_the_file(put):
    path = put("a report\n\na,b\n1,2\nx,3\n")
    assert "'x' in row 5" in refusal(path, types={"a": "number"}, skip=2)


def test_unknown_column_of_a_type_is_named(put):
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


def test_line_in_which_excel_names_the_delimiter_counts_as_a_line(put):
    assert columns_of(put("sep=|\nReport\na|b\n1|2\n"), skip=2) == {"a": [1], "b": [2]}


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


def test_no_hint_where_the_table_begins_at_once(put):
    assert "--skip" not in refusal(put("\na,b\n1,2\n3,4,5\n"))


def test_skipping_all_lines_is_refused(put):
    message = refusal(put("a,b\n1,2\n"), skip=9)
    assert message.endswith("has no header after the 9 lines that are skipped.")


def test_skipping_lines_of_a_typed_file_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": [1]}), path)
    assert refusal(path, skip=1).startswith("--skip is for text")


def test_first_cells_without_a_heading_are_a_column_without_a_name(put, tmp_path):
    path = put("a,b\nrow 1,1,2\nrow 2,3,4\n")  # as R writes row names
    found = {"column 1": ["row 1", "row 2"], "a": [1, 3], "b": [2, 4]}
    assert columns_of(path) == found
    assert copy_of(path, [1, 2], tmp_path / "o.csv") == "a,b\n1,2\n3,4\n"
    assert copy_of(path, [0, 2], tmp_path / "o.tsv") == "\tb\nrow 1\t2\nrow 2\t4\n"


def test_delimiter_at_the_end_of_rows_only_is_no_row_name(put):
    assert "row 2 has 3 cells" in refusal(put("a,b\n1,2,\n3,4,\n"))
