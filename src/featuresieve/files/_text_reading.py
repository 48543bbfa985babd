"""Delimited text becomes a table of Arrow: numbers, dates, truth values and text."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from featuresieve.errors import TableFileError
from featuresieve.files._column_types import ColumnHint, Known
from featuresieve.files._dialect import Dialect, skip_hint
from featuresieve.files._source import DAMAGED, Source
from featuresieve.files._text_columns import MISSING_MARKS, any_is
from featuresieve.files._typed_columns import meaning_of

_BLOCK_BYTES = 1 << 22
_MOST_BLOCK_BYTES = 1 << 30


def read_text(
    source: Source, dialect: Dialect, names: list[str], known: Known
) -> tuple[dict[str, Any], Dialect]:
    """Read the columns of a text file by name, and return the dialect too.

    It has another encoding if letters further down asked for it.
    """
    reader = _Reader(source, dialect, names, known.missing)
    table = reader.read()
    columns = {name: table.column(name) for name in names}
    asked = {name: meaning_of(kind) for name, kind in known.types.items()}
    _restore_texts(reader, columns, {**known.meanings, **asked})
    return columns, reader.dialect


def _restore_texts(
    reader: "_Reader", columns: dict[str, Any], meanings: Mapping[str, ColumnHint]
) -> None:
    """Read again, as text, what lost something by being read as something else.

    Whole numbers with leading zeros are codes, and so are those of 20 digits and more;
    a minus is no missing value where there is a plus.
    """

    def restore(
        is_doubtful: Callable[[str, Any], bool],
        is_lost: Callable[[Any], bool] = lambda _: True,
        **options: bool,
    ) -> None:
        names = [name for name, column in columns.items() if is_doubtful(name, column)]
        texts = reader.read(names, **options) if names else {}
        columns.update({n: texts[n] for n in names if is_lost(texts[n])})

    restore(lambda name, _: meanings.get(name) == "text")
    restore(
        lambda name, column: (
            column.type == pa.int64() and meanings.get(name) != "number"
        ),
        lambda text: any_is(pc.match_substring_regex(text, r"^\s*[+-]?0\d")),
    )
    restore(
        # All numbers are larger than any integer of 64 bits.
        lambda _, column: (
            column.type == pa.float64()
            and column.null_count < len(column)
            and pc.min(pc.abs(column)).as_py() >= 2.0**63
        ),
        lambda text: not any_is(pc.match_substring_regex(text, r"[^\d\s]")),
    )
    restore(
        lambda _, column: (
            column.type == pa.string()
            and column.null_count > 0
            and any_is(pc.equal(pc.utf8_trim_whitespace(column), "+"))
        ),
        is_minus_missing=False,
    )


class _Reader:
    """Read some or all columns, with the encoding and the block size that work."""

    def __init__(
        self, source: Source, dialect: Dialect, names: list[str], missing: Sequence[str]
    ) -> None:
        self.source, self.dialect, self.names = source, dialect, names
        self.missing = missing
        self.block_bytes = max(_BLOCK_BYTES, 64 * sum(map(len, names)))

    def read(
        self, as_text: Sequence[str] = (), *, is_minus_missing: bool = True
    ) -> pa.Table:
        """Return all columns, or some as text, or say what is wrong with the file."""
        marks = [mark for mark in MISSING_MARKS if is_minus_missing or mark != "-"]
        options = csv.ConvertOptions(
            null_values=[*marks, *self.missing],
            strings_can_be_null=True,
            decimal_point=self.dialect.decimal,
            include_columns=list(as_text or self.names),
            column_types=dict.fromkeys(as_text, pa.string()),
        )
        while True:
            try:
                table = self._read_once(options, use_threads=True)
            except (pa.ArrowInvalid, UnicodeDecodeError) as error:
                self._adapt(error, options)
                continue
            except DAMAGED as error:
                raise self.source.unreadable(error) from error
            if pa.binary() not in table.schema.types:
                return table
            self._adapt(pa.ArrowInvalid("invalid UTF8 data"), options)

    def _read_once(self, options: Any, *, use_threads: bool) -> pa.Table:
        """Read with the present encoding and block size."""
        dialect = self.dialect
        encoding = "utf8" if dialect.encoding == "utf-8-sig" else dialect.encoding
        with self.source.open() as file:
            return csv.read_csv(
                file,
                read_options=csv.ReadOptions(
                    use_threads=use_threads,
                    block_size=self.block_bytes,
                    column_names=self.names,
                    skip_rows=dialect.n_header_lines,
                    encoding=encoding,
                ),
                parse_options=csv.ParseOptions(
                    delimiter=dialect.delimiter,
                    quote_char=dialect.quote,
                    newlines_in_values=True,
                ),
                convert_options=options,
            )

    def _adapt(self, error: Exception, options: Any) -> None:
        """Change what an error asks to change, or explain it."""
        text = str(error)
        encodings = {"utf-8": "cp1252", "cp1252": "latin-1"}
        if "straddling" in text and self.block_bytes < _MOST_BLOCK_BYTES:
            self.block_bytes *= 8
        elif (
            "UTF8" in text or isinstance(error, UnicodeDecodeError)
        ) and self.dialect.encoding in encodings:
            encoding = encodings[self.dialect.encoding]
            self.dialect = replace(self.dialect, encoding=encoding)
        else:
            raise self._explained(error, options) from error

    def _explained(self, error: Exception, options: Any) -> TableFileError:
        """Build the error for rows that cannot be read, with the row if it is found."""
        if "CSV parse error: Expected" in str(error):
            try:  # one thread counts the rows
                self._read_once(options, use_threads=False)
            except pa.ArrowInvalid as counted:
                error = counted
        name = self.source.name
        if "Could not skip initial" in str(error):
            return TableFileError(f"{name} has a header but no rows.")
        ragged = re.search(
            r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)", str(error)
        )
        if ragged is None:
            return self.source.unreadable(error)
        row = f"row {ragged[1]}" if ragged[1] else "a row"
        cells = "cell" if ragged[3] == "1" else "cells"
        return TableFileError(
            f"{name}: {row} has {ragged[3]} {cells}, the header has {ragged[2]} "
            f"(delimiter {self.dialect.delimiter!r}, quote {self.dialect.quote})."
            f"{skip_hint(self.source, self.dialect)}"
        )
