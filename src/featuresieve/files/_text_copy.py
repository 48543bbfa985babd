"""Copying some columns of a text file, letter by letter."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from featuresieve.files._dialect import Dialect
from featuresieve.files._source import Source


def copy_columns(
    source: Source,
    dialect: Dialect,
    indices: Sequence[int],
    out: IO[bytes],
    delimiter: str | None = None,
) -> None:
    """Write some columns of a text file.

    Cells keep their text and their quotes, rows their order and their line ends. With
    another delimiter, quotes are put where they are needed.
    """
    with source.open() as raw:
        file = io.TextIOWrapper(raw, encoding=dialect.encoding, newline="")
        writer = io.TextIOWrapper(out, encoding=dialect.encoding, newline="")
        try:
            for _ in range(dialect.n_lines_before):
                file.readline()
            if delimiter in (None, dialect.delimiter):
                rows = _with_all_headings(_records(file, dialect), dialect)
                writer.writelines(
                    dialect.delimiter.join([row[i] for i in indices]) + row[-1]
                    for row in rows
                )
            else:
                reader = csv.reader(
                    file, delimiter=dialect.delimiter, quotechar=dialect.quote
                )
                rows = _with_all_headings((row for row in reader if row), dialect)
                copy = csv.writer(writer, delimiter=delimiter, lineterminator="\n")
                copy.writerows([row[i] for i in indices] for row in rows)
            writer.flush()
        finally:
            writer.detach()  # who opened it closes it
            file.detach()


def _with_all_headings(
    rows: Iterable[list[str]], dialect: Dialect
) -> Iterator[list[str]]:
    """Yield the rows, the header with a cell for row names that it does not name."""
    for number, row in enumerate(rows):
        if number == 0 and dialect.has_row_names:
            row.insert(0, "")
        yield row


def _records(file: Iterable[str], dialect: Dialect) -> Iterator[list[str]]:
    """Yield the cells of each row as written, the line end as the last."""
    delimiter, quote = re.escape(dialect.delimiter), dialect.quote
    cell = re.compile(
        rf"({quote}(?:[^{quote}]|{quote}{quote})*{quote}(?!{quote})[^{delimiter}\r\n]*"
        rf"|(?!{quote})[^{delimiter}\r\n]*)({delimiter}|\r?\n|\r|$)"
    )
    pending = ""
    for line in file:
        record = pending + line
        if not record.strip():
            continue
        body = record.rstrip("\r\n")
        cells: list[str] | None
        if quote not in body:
            cells = [*body.split(dialect.delimiter), record[len(body) :]]
        else:
            cells = _cells(record, cell, dialect.delimiter)
        pending = record if cells is None else ""
        if cells is not None:
            yield cells
    if pending:  # a quote that is never closed
        yield [pending, ""]


def _cells(record: str, cell: re.Pattern[str], delimiter: str) -> list[str] | None:
    """Return the cells of a row and its line end, or None if a quote is still open."""
    cells: list[str] = []
    start = 0
    while match := cell.match(record, start):
        cells.append(match[1])
        start = match.end()
        if match[2] != delimiter:
            return [*cells, match[2]]
    return None
