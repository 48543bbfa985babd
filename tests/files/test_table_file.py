"""Table files are read as they were meant, and copied letter by letter."""

import bz2
import csv
import datetime
import gzip
import io
import lzma
import tempfile
import zipfile
from pathlib import Path

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
        *("a;b\n1.200,50 €;x\n3,50 €;y\n", {"a": [1200.5, 3.5], "b": ["x", "y"]}),
    ),
    "spellings of missing": (
        "a,b\n1,x\nNA,?\n-,n/a\n ?, NaN\n,\n2.5,y\n",
        {"a": [1, *[None] * 4, 2.5], "b": ["x", *[None] * 4, "y"]},
    ),
    "minus beside plus": ("a,b\n1,+\n2,-\n", {"a": [1, 2], "b": ["+", "-"]}),
    "leading zeros": ("z,n\n012,10\n98765,0\n", {"z": ["012", "98765"], "n": [10, 0]}),
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
    "line breaks in names": ('"a\nb",c\n"x\ny",1\n', {"a\nb": ["x\ny"], "c": [1]}),
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


def test_encoding_is_told_by_the_end_of_a_long_file_or_named(put):
    lines = ["a,b", *(f"{row},{'x' * 40}" for row in range(20_000)), "0,é"]
    path = put("\n".join(lines), encoding="cp1252")
    assert columns_of(path)["b"][-1] == "é"
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


LEVELS = ["1", "2", "3", "4+"] * 10


@pytest.mark.parametrize(
    ("text", "cells", "note"),
    [
        (
            'a,b\n"(1,017)",x\n"1,200",y\n',
            [-1017, 1200],
            "numbers in brackets, such as (",
        ),
        ("a;b\n(1.017,50 €);x\n3,50;y\n", [-1017.5, 3.5], "taken as negative."),
        (
            "a,b\n($5.50),x\n$(7),y\n(12) %,z\nNA,\n",
            *([-5.5, -7, -12, None], "numbers in brackets, such as ("),
        ),
        (
            "\n".join(["a", *map(str, range(100)), "unknown"]),
            *([*range(100), None], "1 cell holds no number ('unknown')"),
        ),
        ("\n".join(["a", *LEVELS]), LEVELS, "mixes numbers and text ('4+')"),
        ("a,b\n1.5,1\ninf,2\n", [1.5, None], "1 cell holds an infinite number"),
        (
            "a\n01/02/2020\n03/04/2020\n",
            [datetime.datetime(2020, 2, 1), datetime.datetime(2020, 4, 3)],
            "'a': dates taken as day/month/year.",
        ),
    ],
)
def test_what_is_not_plain_is_noted(put, text, cells, note):
    file = read(put(text))
    assert file.table.to_pydict()["a"] == cells
    assert note in file.notes[0]


DAYS = ["2020-01-02", "2020-02-03", "4.3.2020"]


@pytest.mark.parametrize(
    ("cells", "other"),
    [
        (DAYS, "4.3.2020"),
        (["24/12/2020", "12/24/2020"], "12/24/2020"),
        (["1.2.2020", "soon", "2.3.2020"], "soon"),
        (["2020-01-02", "soon", "later"], None),  # most are words
        (["soon", "2020-01-02", "2020-01-02"], None),  # and so is the first
    ],
)
def test_dates_of_several_forms_are_text_and_noted(put, cells, other):
    file = read(put("\n".join(["day", *cells])))
    assert file.table.to_pydict()["day"] == cells
    note = f"'day': most cells are dates, but not {other!r}: taken as categories."
    assert file.notes == (() if other is None else (note,))


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


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zip", "zst"])
def test_compressed_text_is_read_whatever_its_name_and_written(put, tmp_path, kind):
    data = packed_in(kind, b"a,b,c\n1,x,2\n")
    out = tmp_path / f"out.csv.{kind}"
    with read_file(str(put(data, "table"))) as file, AtomicFiles() as drafts:
        assert file.table.to_pydict() == {"a": [1], "b": ["x"], "c": [2]}
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


def test_categories_that_differ_between_chunks_are_written(tmp_path):
    parts = [pa.array(texts).dictionary_encode() for texts in (["x", "y"], ["z", "x"])]
    path = tmp_path / "t.feather"
    with AtomicFiles() as drafts:
        write_table(pa.table({"a": pa.chunked_array(parts)}), str(path), drafts)
    assert feather.read_table(path).column("a").to_pylist() == ["x", "y", "z", "x"]


@pytest.mark.filterwarnings("ignore:Feather V1")
def test_streams_old_feather_and_repeated_names_are_read(tmp_path):
    path = tmp_path / "table"
    with ipc.new_stream(path, TYPED.schema) as writer:
        writer.write_table(TYPED)
    assert read(path).table.equals(TYPED)
    feather.write_feather(pa.table({"a": [1, 2]}), str(path), version=1)
    assert columns_of(path) == {"a": [1, 2]}
    parquet.write_table(pa.table([[1], [2]], names=["a", "a"]), path)
    assert columns_of(path) == {"a": [1], "a (2)": [2]}


def copied(path, places, out, **arguments):
    with read_file(str(path), **arguments) as file, AtomicFiles() as drafts:
        write_columns(file, places, str(out), drafts)
    return out.read_bytes()


def test_copy_keeps_text_quotes_order_and_line_ends(put, tmp_path):
    text = 'a;"b ""x""";c;d\r\n01,50;"1;2";x;"y"\r\n-;"line\r\nbreak";;\'z\'\r\n'
    path = put(text, encoding="cp1252")
    expected = 'a;"b ""x""";d\r\n01,50;"1;2";"y"\r\n-;"line\r\nbreak";\'z\'\r\n'
    found = copied(path, [0, 1, 3], tmp_path / "out.csv", delimiter=";")
    assert found == expected.encode("cp1252")
    # Another delimiter: quotes where they are needed.
    path = put('a\tb\tc\nx, y\t"q ""r"""\t007\n', "t.tsv")
    found = copied(path, [0, 1, 2], tmp_path / "out.csv")
    assert found == b'a,b,c\n"x, y","q ""r""",007\n'


def test_text_becomes_parquet_and_back(put, tmp_path):
    copied(put("a,b\n1,x\n2,y\n"), [0, 1], tmp_path / "o.parquet")
    copied(tmp_path / "o.parquet", [0, 1], tmp_path / "o.tsv")
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


def test_drafts_keep_the_mode_and_follow_links_and_devices_stay(tmp_path):
    old, link = tmp_path / "old.txt", tmp_path / "link.txt"
    old.write_text("before")
    old.chmod(0o640)
    link.symlink_to(old)
    with AtomicFiles() as drafts, drafts.open(str(link)) as file:
        file.write(b"after")
    assert old.read_text() == "after"
    assert old.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()
    with AtomicFiles() as drafts, drafts.open("/dev/null") as file:
        file.write(b"x")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "has no header"),
        *((header, "has a header but no rows") for header in (b"a,b\n", b"a,b")),
        (b"a,b\n1,2\n1,2,3\n", "row 3 has 3 cells, the header has 2"),
        (b"a,b\n1\x00,2\n", "not a text file"),
        (gzip.compress(b"a,b\n1,2\n" * 9999, mtime=0)[:50], "cannot be read"),
        *(
            (start + b"garbage", "cannot be read")
            for start in (b"\x1f\x8b", b"PAR1", b"ARROW1\x00\x00", b"PK\x03\x04")
        ),
        (b"SQLite format 3\x00", "an SQLite database.*export the table as CSV"),
        (b"<!doctype html><p>Not found", "a web page.*download the table itself"),
        (b"<HTML><table>", "a web page.*download the table itself"),
        (b"<?xml version='1.0'?>", "XML.*convert it to CSV or Parquet"),
    ],
)
def test_unreadable_file_is_refused_in_one_line(put, content, message):
    path = put(content)
    with pytest.raises(TableFileError, match=message) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(TableFileError, match=r"did you mean .*table\.csv"):
        read(path.with_name("tabel.csv"))


def test_nested_columns_are_refused_where_they_are_used(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": [[1, 2], [3]], "b": [1, 2]}), path)
    file = read(path)
    file.check_columns(["b"])
    with pytest.raises(TableFileError, match=r"'a' holds lists or .* --drop a, or "):
        file.check_columns(["a", "b"])


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
