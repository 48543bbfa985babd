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
    places: Sequence[int],
    out: IO[bytes],
    delimiter: str | None = None,
) -> None:
    """Write some columns of a text file.

    Cells keep their text and their quotes, rows their order and their line ends. With
    another delimiter, quotes are put where they are needed.
    """
    is_same = delimiter in (None, dialect.delimiter)
    with source.open() as raw:
        file = io.TextIOWrapper(raw, encoding=dialect.encoding, newline="")
        writer = io.TextIOWrapper(
            out, encoding=dialect.encoding, newline="", write_through=False
        )
        try:
            for _ in range(dialect.n_lines_before):
                file.readline()
            if is_same:
                records = _with_all_headings(_records(file, dialect), dialect)
                writer.writelines(_copied(records, dialect.delimiter, places))
            else:
                assert delimiter is not None
                _convert(file, writer, dialect, places, delimiter)
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
        if _is_simple(body, dialect):
            pending = ""
            yield [*body.split(dialect.delimiter), record[len(body) :]]
            continue
        cells = _cells(record, cell, dialect.delimiter)
        pending = record if cells is None else ""
        if cells is not None:
            yield cells
    if pending:  # a quote that is never closed
        yield [pending, ""]


def _is_simple(body: str, dialect: Dialect) -> bool:
    """Tell whether every delimiter of a line is one, which saves most of the work."""
    quote, delimiter = dialect.quote, dialect.delimiter
    if quote not in body:
        return True
    n_opening = body.count(delimiter + quote) + body.startswith(quote)
    n_closing = body.count(quote + delimiter) + body.endswith(quote)
    is_even = body.count(quote) % 2 == 0
    n_cells = body.count(delimiter) + 1
    return is_even and n_opening == n_closing and n_cells == len(dialect.headings)


def _cells(record: str, cell: re.Pattern[str], delimiter: str) -> list[str] | None:
    """Return the cells of a row and its line end, or None if a quote is still open."""
    cells: list[str] = []
    place = 0
    while True:
        match = cell.match(record, place)
        if match is None:
            return None
        cells.append(match[1])
        place = match.end()
        if match[2] != delimiter:
            return [*cells, match[2]]


def _copied(
    records: Iterable[list[str]], delimiter: str, places: Sequence[int]
) -> Iterator[str]:
    """Yield the lines of the copy."""
    for cells in records:
        yield delimiter.join([cells[place] for place in places]) + cells[-1]


def _convert(
    file: Iterable[str],
    writer: IO[str],
    dialect: Dialect,
    places: Sequence[int],
    delimiter: str,
) -> None:
    """Write the columns with another delimiter."""
    reader = csv.reader(file, delimiter=dialect.delimiter, quotechar=dialect.quote)
    out = csv.writer(writer, delimiter=delimiter, lineterminator="\n")
    rows = _with_all_headings((row for row in reader if row), dialect)
    out.writerows([row[place] for place in places] for row in rows)
