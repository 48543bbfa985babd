"""How a text file is written: encoding, delimiter, quotes, decimal mark, header."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from featuresieve.errors import TableFileError
from featuresieve.files._source import Source

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_BYTES = 1 << 18
_MOST_SAMPLE_BYTES = 1 << 28
# Lines that tell how a table is written: a header and some rows.
_FEWEST_LINES = 4
_MOST_ROWS = 200
# Renamed columns that are told one by one.
_MOST_NOTES = 5
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BEFORE, _AFTER = r"\s*\(?[+-]?[$€£]?\s?[+-]?", r"\s?[%$€£]?\)?\s*"
_DECIMAL_COMMA = re.compile(rf"{_BEFORE}(\d*|\d{{1,3}}(\.\d{{3}})+),\d+{_AFTER}")
_DECIMAL_POINT = re.compile(
    rf"{_BEFORE}(\d*|\d{{1,3}}(,\d{{3}})+)\.\d+([eE][+-]?\d+)?{_AFTER}"
)


@dataclass(frozen=True)
class Dialect:
    """How the table is written."""

    encoding: str  # as Python names it
    delimiter: str
    quote: str
    decimal: str
    headings: tuple[str, ...]  # without quotes and outer spaces
    n_header_lines: int  # lines to the first row
    n_lines_before: int = 0  # those of them before the header
    # Whether rows begin with a cell for which the header has none: its heading is "".
    has_row_names: bool = False


def find_dialect(
    source: Source,
    encoding: str | None = None,
    delimiter: str | None = None,
    skip: int = 0,
) -> Dialect:
    """Find out how a text file is written, from its first 256 KiB or four lines."""
    text, encoding, is_cut = _first_text(source, encoding, skip)
    announced = re.match(r"sep=(.)\r?\n", text)  # as Excel writes it
    if announced:
        skip, delimiter = max(skip, 1), delimiter or announced[1]
    file = io.StringIO(text, newline="")
    for _ in range(skip):
        file.readline()
    text = file.read()
    quote = _find_quote(text)
    if delimiter is None:
        delimiter = _find_delimiter(text, quote, is_cut)
    rows, ends = _rows(text, delimiter, quote, is_cut)
    if not rows:
        raise no_header(source, skip)
    decimal = "." if delimiter == "," else _find_decimal(rows[1:])
    headings = [cell.strip() for cell in rows[0]]
    has_row_names = _has_row_names(rows)
    return Dialect(
        *(encoding, delimiter, quote, decimal),
        headings=("", *headings) if has_row_names else tuple(headings),
        n_header_lines=ends[0] + skip,
        n_lines_before=skip,
        has_row_names=has_row_names,
    )


def no_header(source: Source, skip: int) -> TableFileError:
    """Build the error for a table that has no row at all."""
    after = f" after the {skip} lines that are skipped" if skip else ""
    return TableFileError(f"{source.name} has no header{after}.")


def skip_hint(source: Source, dialect: Dialect) -> str:
    """Return a hint to the option --skip, if there seem to be lines before the table.

    A table begins with the first row that has as many cells as most rows have, and
    most of them not empty.
    """
    text, _, is_cut = _first_text(source, dialect.encoding, dialect.n_header_lines)
    quote = _find_quote(text)
    best, n_before = (1, 0), 0
    for delimiter in _DELIMITERS:
        rows, ends = _rows(text, delimiter, quote, is_cut)
        widths = Counter(len(row) for row in rows if len(row) > 1)
        merit = max(((n, width) for width, n in widths.items()), default=(0, 0))
        if merit > best:
            is_start = [
                len(row) == merit[1] and sum(map(bool, row)) > len(row) / 2
                for row in rows
            ]
            if any(is_start):
                best, n_before = merit, ends[is_start.index(True)] - 1
    if n_before < dialect.n_header_lines:
        return ""
    return f" If the table begins in line {n_before + 1}: --skip {n_before}."


def _first_text(
    source: Source, encoding: str | None, n_lines_before: int
) -> tuple[str, str, bool]:
    """Return the start of a text file, its encoding, and whether more follows."""
    n_bytes, n_lines = _SAMPLE_BYTES, n_lines_before + _FEWEST_LINES
    sample = source.first_bytes(n_bytes)
    while (
        len(sample) == n_bytes < _MOST_SAMPLE_BYTES
        and sample.count(b"\n") + sample.count(b"\r") < n_lines
    ):
        n_bytes *= 4
        sample = source.first_bytes(n_bytes)
    encoding = encoding or find_encoding(sample)
    text = _decoded(sample, encoding, source.name)
    if "\0" in text:
        raise TableFileError(f"{source.name} is not a text file.")
    return text, encoding, len(sample) == n_bytes


def _has_row_names(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether all rows have one cell more than the header, the first (as of R)."""
    n_cells = len(rows[0]) + 1
    return (
        len(rows[0]) > 1
        and len(rows) > 1
        and all(len(row) == n_cells for row in rows[1:])
        and any(row[-1].strip() for row in rows[1:])
    )


def find_encoding(sample: bytes) -> str:
    """Return the encoding that the first bytes of a text point to.

    UTF-8 unless they are not: then Windows-1252, which is Latin-1 with more signs.
    """
    for mark, name in _BYTE_ORDER_MARKS:
        if sample.startswith(mark):
            return name
    n_even, n_odd = sample[::2].count(0), sample[1::2].count(0)
    if max(n_even, n_odd) > len(sample) // 5 and min(n_even, n_odd) == 0:
        return "utf-16-le" if n_odd else "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def unique_names(headings: Sequence[str]) -> tuple[list[str], list[str]]:
    """Give every column a name of its own, and return notes on those that changed.

    A repeated heading gets a number, an empty one is "column" with its position.
    """
    taken, names, notes = set(headings), [], []
    # The number at which to go on looking, so that many equal names cost no more.
    next_number: dict[str, int] = {}
    for index, heading in enumerate(headings, start=1):
        if heading and heading not in next_number:
            next_number[heading] = 2
            names.append(heading)
            continue
        number = next_number.get(heading, 0) if heading else index
        form = "{heading} ({number})" if heading else "column {number}"
        while (name := form.format(heading=heading, number=number)) in taken:
            number += 1
        next_number[heading] = number + 1
        names.append(name)
        taken.add(name)
        what = f"a second column {heading!r}" if heading else f"unnamed column {index}"
        notes.append(f"{what} is called {name!r} here.")
    if len(notes) > _MOST_NOTES:
        n_more = len(notes) - _MOST_NOTES
        notes[_MOST_NOTES:] = [f"{n_more} more columns are called so, with a number."]
    return names, notes


def _decoded(sample: bytes, encoding: str, name: str) -> str:
    """Return the sample as text, without a letter that is cut at its end."""
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError:
        raise TableFileError(f"there is no encoding {encoding!r}.") from None
    try:
        return decoder.decode(sample)
    except UnicodeError:  # of UTF-16 without its mark, no UnicodeDecodeError
        if encoding == "cp1252":  # which leaves five bytes without a meaning
            return sample.decode("latin-1")
        raise TableFileError(f"{name} is not written in {encoding}.") from None


def _rows(
    text: str, delimiter: str, quote: str, is_cut: bool
) -> tuple[list[list[str]], list[int]]:
    """Return the first rows that hold anything, and the lines to the end of each."""
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote
    )
    rows: list[list[str]] = []
    ends: list[int] = []
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            rows.append(row)
            ends.append(reader.line_num)
            if len(rows) > _MOST_ROWS:
                break
    except csv.Error:  # a cell that is too long: what came before will do
        pass
    if is_cut and 1 < len(rows) <= _MOST_ROWS:
        rows.pop()
    return rows, ends


def _find_delimiter(text: str, quote: str, is_cut: bool) -> str:
    """Return the delimiter that cuts most rows as it cuts the header."""

    def merit(delimiter: str) -> tuple[float, int]:
        rows, _ = _rows(text, delimiter, quote, is_cut)
        if not rows or len(rows[0]) < 2:
            return 0.0, 1
        n_alike = sum(len(row) == len(rows[0]) for row in rows)
        return round(n_alike / len(rows), 2), len(rows[0])

    return max(_DELIMITERS, key=merit)


def _find_quote(text: str) -> str:
    """Return the quote: the double one, unless only single ones enclose cells."""
    enclosed = r"(?m)(?:^|[,;\t|])\s*{0}[^{0}\n]*{0}\s*(?=[,;\t|\r\n]|$)"
    if re.search(enclosed.format('"'), text):
        return '"'
    return "'" if len(re.findall(enclosed.format("'"), text)) > 1 else '"'


def _find_decimal(rows: Sequence[Sequence[str]]) -> str:
    """Return the decimal mark that more cells have."""
    cells = [cell for row in rows for cell in row]
    n_commas = sum(_DECIMAL_COMMA.fullmatch(cell) is not None for cell in cells)
    n_points = sum(_DECIMAL_POINT.fullmatch(cell) is not None for cell in cells)
    return "," if n_commas > n_points else "."
