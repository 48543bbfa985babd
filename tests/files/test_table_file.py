"""Table files are read as they were meant, and copied letter by letter."""

import bz2
import csv
import datetime
import gzip
import io
import lzma
import tempfile
import zipfile

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, ipc, parquet

from featuresieve.files import (
    AtomicFiles,
    TableFileError,
    read_file,
    write_columns,
    write_table,
)
from featuresieve.files._dialect import Dialect
from featuresieve.files._source import Source
from featuresieve.files._text_copy import copy_columns


def read(path, **arguments):
    with read_file(str(path), **arguments) as file:
        return file


def columns_of(path, **arguments):
    return read(path, **arguments).table.to_pydict()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_found(put, delimiter):
    text = "a,b,c\n1,x y,2.5\n2,z,3.5\n".replace(",", delimiter)
    assert columns_of(put(text)) == {"a": [1, 2], "b": ["x y", "z"], "c": [2.5, 3.5]}


MEANT = {
    "delimiter inside quotes": (
        'a;b\n"1, 2, 3";4\n"5, 6, 7";8\n',
        {"a": ["1, 2, 3", "5, 6, 7"], "b": [4, 8]},
    ),
    "delimiter that Excel announces": ("sep=|\na|b\n1|2\n", {"a": [1], "b": [2]}),
    "single quotes": ("a,b\n'x, y',1\n'z',2\n", {"a": ["x, y", "z"], "b": [1, 2]}),
    "decimal comma": ("a;b\n1,5;x\n-2,25;y\n", {"a": [1.5, -2.25], "b": ["x", "y"]}),
    "decimal comma in amounts": (
        "a;b\n1.200,50 €;x\n3,50 €;y\n",
        {"a": [1200.5, 3.5], "b": ["x", "y"]},
    ),
    "spellings of missing": (
        "a,b\n1,x\nNA,?\n-,n/a\n ?, NaN\n,\n2.5,y\n",
        {"a": [1, *[None] * 4, 2.5], "b": ["x", *[None] * 4, "y"]},
    ),
    "minus beside plus": ("a,b\n1,+\n2,-\n", {"a": [1, 2], "b": ["+", "-"]}),
    "leading zeros": (
        "zip,n\n01234,10\n98765,0\n",
        {"zip": ["01234", "98765"], "n": [10, 0]},
    ),
    "beyond integers": (
        f"id,size\n{'1' * 25},1e30\n{'1' * 24}2,2.5e31\n",
        {"id": ["1" * 25, "1" * 24 + "2"], "size": [1e30, 2.5e31]},
    ),
    "thousands, currencies, percent": (
        'price,share\n"$1,200.50",5%\n$30,12.5%\n-$\t2.5,+3 %\n',
        {"price": [1200.5, 30, -2.5], "share": [5, 12.5, 3]},
    ),
    "codes in brackets": (
        "a,b\n(01),1\n(02),2\n",
        {"a": ["(01)", "(02)"], "b": [1, 2]},
    ),
    "remarks in brackets": ("a\n(1)\nsee (2)\n(x)\n", {"a": ["(1)", "see (2)", "(x)"]}),
    "header in brackets, as of JSON": ("[id],[b]\n1,x\n", {"[id]": [1], "[b]": ["x"]}),
    "line breaks in cells and names": (
        '"a\nb",c\n"x\ny",1\nz,2\n',
        {"a\nb": ["x\ny", "z"], "c": [1, 2]},
    ),
    "line ends of old": ("a,b\r1,2\r3,4\r", {"a": [1, 3], "b": [2, 4]}),
    "line ends of Windows": ("a,b\r\n1,2\r\n3,4\r\n", {"a": [1, 3], "b": [2, 4]}),
    "empty lines": ("a,b\n\n1,2\n\n3,4\n\n", {"a": [1, 3], "b": [2, 4]}),
}


@pytest.mark.parametrize(("text", "columns"), MEANT.values(), ids=MEANT)
def test_text_is_read_as_it_was_meant(put, text, columns):
    assert columns_of(put(text)) == columns


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_encoding_is_found(put, encoding):
    path = put("Größe,Ort\n1,Köln\n2,Orléans\n", encoding=encoding)
    assert columns_of(path) == {"Größe": [1, 2], "Ort": ["Köln", "Orléans"]}


def test_encoding_is_found_when_only_the_end_of_a_long_file_tells_it(put):
    lines = ["a,b", *(f"{row},{'x' * 40}" for row in range(20_000)), "0,é"]
    path = put("\n".join(lines), encoding="cp1252")
    assert columns_of(path)["b"][-1] == "é"


def test_encoding_can_be_named(put):
    path = put("имя\nжи\n", encoding="cp1251")
    assert columns_of(path, encoding="cp1251") == {"имя": ["жи"]}


def test_kinds_of_columns_are_told_apart(put):
    path = put(
        "day,at,is,ago,number,text\n"
        "2020-02-01,08:30,true,2020-02-01 10:00:00,1e3,x\n"
        "2021-03-04,23:59,False,2021-01-01 00:00:00,7,y\n"
    )
    types = read(path).table.schema.types
    moment = pa.timestamp("s")
    assert types == [
        *(pa.date32(), pa.time32("s"), pa.bool_(), moment),
        *(pa.float64(), pa.string()),
    ]


@pytest.mark.parametrize(
    "texts",
    [
        ["24.12.2020", "1.2.2021"],
        ["24/12/2020", "01/02/2021"],
        ["12/24/2020", "02/01/2021"],
    ],
)
def test_dates_written_by_hand_are_dates(put, texts):
    (dates,) = columns_of(put("day\n" + "\n".join(texts))).values()
    assert dates == [datetime.datetime(2020, 12, 24), datetime.datetime(2021, 2, 1)]


def test_ambiguous_dates_are_noted(put):
    file = read(put("day\n01/02/2020\n03/04/2020\n"))
    assert file.notes == ("'day': dates taken as day/month/year.",)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ('a,b\n"(1,017)",x\n"1,200",y\n', [-1017, 1200]),
        ("a;b\n(1.017,50 €);x\n3,50;y\n", [-1017.5, 3.5]),
        ("a,b\n($5.50),x\n$(7),y\n(12) %,z\nNA,\n", [-5.5, -7, -12, None]),
    ],
)
def test_numbers_in_brackets_are_negative_and_noted(put, text, numbers):
    file = read(put(text))
    assert file.table.to_pydict()["a"] == numbers
    assert "numbers in brackets, such as (" in file.notes[0]


def test_few_words_among_many_numbers_are_missing_and_noted(put):
    cells = [*map(str, range(100)), "unknown"]
    file = read(put("age\n" + "\n".join(cells)))
    assert file.table.to_pydict()["age"] == [*range(100), None]
    assert "1 cell holds no number ('unknown')" in file.notes[0]


def test_numbers_and_words_that_are_levels_stay_categories_and_are_noted(put):
    file = read(put("rooms\n" + "\n".join(["1", "2", "3", "4+"] * 10)))
    assert set(file.table.to_pydict()["rooms"]) == {"1", "2", "3", "4+"}
    assert "mixes numbers and text ('4+')" in file.notes[0]


def test_infinite_numbers_are_missing_and_noted(put):
    file = read(put("a,b\n1.5,1\ninf,2\n"))
    assert file.table.to_pydict()["a"] == [1.5, None]
    assert "1 cell holds an infinite number" in file.notes[0]


def test_names_are_trimmed_made_unique_and_noted(put):
    file = read(put('"a ""x""", b ,,b\n1,2,3,4\n'))
    assert file.table.column_names == ['a "x"', "b", "column 3", "b (2)"]
    assert len(file.notes) == 2


def packed_in(kind, data):
    match kind:
        case "gz":
            return gzip.compress(data, mtime=0)
        case "bz2":
            return bz2.compress(data)
        case "xz":
            return lzma.compress(data)
        case "zst":
            out = pa.BufferOutputStream()
            with pa.CompressedOutputStream(out, "zstd") as stream:
                stream.write(data)
            return out.getvalue().to_pybytes()
        case "zip":
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w") as archive:
                archive.writestr("inner.csv", data)
            return out.getvalue()
    return data


KINDS = ["gz", "bz2", "xz", "zip", "zst"]


@pytest.mark.parametrize("kind", KINDS)
def test_compressed_text_is_read_whatever_its_name(put, kind):
    data = packed_in(kind, b"a,b\n1,x\n")
    assert columns_of(put(data, "table")) == {"a": [1], "b": ["x"]}


@pytest.mark.parametrize("kind", KINDS)
def test_compressed_text_is_written(put, tmp_path, kind):
    out = tmp_path / f"out.csv.{kind}"
    with read_file(str(put("a,b,c\n1,x,2\n"))) as file, AtomicFiles() as drafts:
        write_columns(file, [1, 2], str(out), drafts)
    assert columns_of(out) == {"b": ["x"], "c": [2]}


TYPED = pa.table(
    {
        "a": pa.array([1, None], pa.int8()),
        "b": pa.array(["x", "y"]).dictionary_encode(),
        "c": pa.array([1.5, 2.5], pa.float32()),
    }
)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrow"])
def test_typed_files_keep_their_types_through_reading_and_writing(tmp_path, name):
    first, second = tmp_path / f"1{name}", tmp_path / f"2{name}"
    with AtomicFiles() as drafts:
        write_table(TYPED, str(first), drafts)
    with read_file(str(first)) as file, AtomicFiles() as drafts:
        assert file.table.equals(TYPED)
        write_columns(file, [1, 2], str(second), drafts)
    assert read(second).table.equals(TYPED.select([1, 2]))


def test_arrow_stream_is_read(tmp_path):
    path = tmp_path / "stream"
    with ipc.new_stream(path, TYPED.schema) as writer:
        writer.write_table(TYPED)
    assert read(path).table.equals(TYPED)


@pytest.mark.filterwarnings("ignore:Feather V1")
def test_old_feather_is_read(tmp_path):
    path = tmp_path / "old.feather"
    feather.write_feather(pa.table({"a": [1, 2]}), str(path), version=1)
    assert columns_of(path) == {"a": [1, 2]}


def test_parquet_with_repeated_names_is_read(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table([[1], [2]], names=["a", "a"]), path)
    assert columns_of(path) == {"a": [1], "a (2)": [2]}


def test_copy_keeps_text_quotes_order_and_line_ends(put, tmp_path):
    text = 'a;"b ""x""";c;d\r\n01,50;"1;2";x;"y"\r\n-;"line\r\nbreak";;\'z\'\r\n'
    out = tmp_path / "out.csv"
    with (
        read_file(str(put(text, encoding="cp1252")), delimiter=";") as file,
        AtomicFiles() as drafts,
    ):
        write_columns(file, [0, 1, 3], str(out), drafts)
    expected = 'a;"b ""x""";d\r\n01,50;"1;2";"y"\r\n-;"line\r\nbreak";\'z\'\r\n'
    assert out.read_bytes() == expected.encode("cp1252")


def test_copy_with_another_delimiter_puts_quotes_where_needed(put, tmp_path):
    out = tmp_path / "out.csv"
    with (
        read_file(str(put('a\tb\tc\nx, y\t"q ""r"""\t007\n', "t.tsv"))) as file,
        AtomicFiles() as drafts,
    ):
        write_columns(file, [0, 1, 2], str(out), drafts)
    assert out.read_text() == 'a,b,c\n"x, y","q ""r""",007\n'


def test_text_becomes_parquet_and_back(put, tmp_path):
    with read_file(str(put("a,b\n1,x\n2,y\n"))) as file, AtomicFiles() as drafts:
        write_columns(file, [0, 1], str(tmp_path / "o.parquet"), drafts)
    with read_file(str(tmp_path / "o.parquet")) as file, AtomicFiles() as drafts:
        write_columns(file, [0, 1], str(tmp_path / "o.tsv"), drafts)
    assert columns_of(tmp_path / "o.tsv") == {"a": [1, 2], "b": ["x", "y"]}


def test_drafts_leave_nothing_after_an_error(tmp_path):
    old = tmp_path / "old.txt"
    old.write_text("before")
    with pytest.raises(KeyboardInterrupt), AtomicFiles() as drafts:
        with drafts.open(str(old)) as file:
            file.write(b"half")
        with drafts.open(str(tmp_path / "new.txt")) as file:
            file.write(b"half")
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["old.txt"]
    assert old.read_text() == "before"


def test_drafts_keep_the_mode_and_follow_links(tmp_path):
    old, link = tmp_path / "old.txt", tmp_path / "link.txt"
    old.write_text("before")
    old.chmod(0o640)
    link.symlink_to(old)
    with AtomicFiles() as drafts, drafts.open(str(link)) as file:
        file.write(b"after")
    assert old.read_text() == "after"
    assert old.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()


def test_devices_are_written_and_stay_devices():
    with AtomicFiles() as drafts, drafts.open("/dev/null") as file:
        file.write(b"x")
        assert drafts._renamings == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "has no header"),
        (b"a,b\n", "has a header but no rows"),
        (b"a,b", "has a header but no rows"),
        (b"a,b\n1,2\n1,2,3\n", "row 3 has 3 cells, the header has 2"),
        (b"a,b\n1\x00,2\n", "not a text file"),
        (b"\x1f\x8bgarbage", "cannot be read"),
        (gzip.compress(b"a,b\n1,2\n" * 9999, mtime=0)[:50], "cannot be read"),
        (b"PAR1garbage", "cannot be read"),
        (b"ARROW1\x00\x00garbage", "cannot be read"),
        (b"PK\x03\x04garbage", "cannot be read"),
        (b"SQLite format 3\x00", "an SQLite database.*export the table as CSV"),
        (b"<!doctype html><p>Not found", "a web page.*download the table itself"),
        (b"<HTML><table>", "a web page.*download the table itself"),
        (b"<?xml version='1.0'?>", "XML.*convert it to CSV or Parquet"),
    ],
)
def test_unreadable_file_is_refused_in_one_line(put, content, message):
    with pytest.raises(TableFileError, match=message) as caught:
        read(put(content))
    assert "\n" not in str(caught.value)


def test_nested_columns_are_refused_where_they_are_used(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": [[1, 2], [3]], "b": [1, 2]}), path)
    file = read(path)
    file.check_columns(["b"])
    with pytest.raises(TableFileError, match=r"'a' holds list.*leave it out: --drop"):
        file.check_columns(["a", "b"])


def test_missing_file_suggests_a_near_one(put):
    path = put("a\n1\n", "customers.csv")
    with pytest.raises(TableFileError, match=r"did you mean .*customers\.csv"):
        read(path.with_name("customer.csv"))


@given(
    rows=st.lists(
        st.lists(st.text('ab",;\n\r ', max_size=5), min_size=3, max_size=3),
        min_size=1,
        max_size=6,
    ),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_copy_of_any_cells_reads_back_as_these_cells(rows, quoting):
    text = io.StringIO(newline="")
    csv.writer(text, quoting=quoting, lineterminator="\r\n").writerows(rows)
    dialect = Dialect("utf-8", ",", '"', ".", ("x", "y", "z"), 1)
    with tempfile.TemporaryFile() as spool:
        spool.write(text.getvalue().encode())
        out = io.BytesIO()
        copy_columns(Source("test", None, spool=spool), dialect, [0, 2], out)
    found = list(csv.reader(io.StringIO(out.getvalue().decode(), newline="")))
    expected = [[row[0], row[2]] for row in rows]
    assert found == expected
