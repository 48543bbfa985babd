"""What is no table is called by its name, with what to do about it."""

import pytest

from featuresieve.files import TableFileError, read_file


def refusal(name):
    with pytest.raises(TableFileError) as caught, read_file(str(name)):
        pass
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "address",
    ["http://a.org/t.csv", "https://a.org/t.csv?x=1", "s3://bucket/t.parquet"],
)
def test_address_is_to_be_downloaded_first(address):
    assert refusal(address) == (
        f"{address} is an address, and only files are read: download it first."
    )


@pytest.mark.parametrize(
    ("content", "what", "advice"),
    [
        (b"SQLite format 3\x00", "an SQLite database", "export the table as CSV"),
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
