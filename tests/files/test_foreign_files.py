"""What is no table is called by its name, with what to do about it."""

import gzip
import io
import zipfile

import pytest

from featuresieve.files import TableFileError, read_file


def refusal(name):
    with pytest.raises(TableFileError) as caught, read_file(str(name)):
        pass
    message = str(caught.value)
    assert "\n" not in message
    return message


def zipped(*names):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, "<x/>")
    return out.getvalue()


@pytest.mark.parametrize(
    "address",
    ["http://a.org/t.csv", "https://a.org/t.csv?x=1", "s3://bucket/t.parquet"],
)
def test_address_is_to_be_downloaded_first(address):
    assert refusal(address) == (
        f"{address} is an address, and only files are read: download it first."
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.json", b'{"a": [1, 2]}'),
        ("t.json", b'\xef\xbb\xbf[\n  {"a": 1}\n]'),
        ("t.json.gz", gzip.compress(b"[null]", mtime=0)),
        ("t.jsonl", b'{"a": 1}\n{"a": 2}\n'),
        ("t.ndjson", b"{}\n"),
        ("t.json", b"[\n"),
        ("t.csv", b'[{"a": 1}]'),
        ("t.csv", b"[[1, 2], [3, 4]]"),
    ],
)
def test_json_is_to_be_converted_first(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert refusal(tmp_path / name).endswith(
        f"{name} is JSON: convert it to CSV or Parquet first."
    )


@pytest.mark.parametrize(
    ("content", "what", "advice"),
    [
        (b"SQLite format 3\x00", "an SQLite database", "export the table as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "a spreadsheet of Excel", "its sheet as CSV"),
        (zipped("xl/workbook.xml", "x"), "a spreadsheet", "save its sheet as CSV"),
        (zipped("mimetype", "content.xml"), "a spreadsheet", "its sheet as CSV"),
        (b"<!doctype html><p>Not found", "a web page", "download the table itself"),
        (b"<HTML><table>", "a web page", "download the table itself"),
        (b"<?xml version='1.0'?>", "XML", "convert it to CSV or Parquet"),
    ],
)
def test_other_files_are_named_with_what_to_do(tmp_path, content, what, advice):
    (tmp_path / "t.csv").write_bytes(content)
    message = refusal(tmp_path / "t.csv")
    assert f"t.csv is {what}" in message
    assert advice in message


def test_header_in_brackets_is_no_json(tmp_path):
    (tmp_path / "t.csv").write_text("[id],[name]\n1,x\n")
    with read_file(str(tmp_path / "t.csv")) as file:
        assert file.table.column_names == ["[id]", "[name]"]
