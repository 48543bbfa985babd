"""How a text file is written: encoding, delimiter, quotes, decimal mark, header."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from featuresieve._tablefile._errors import TableFileError
from featuresieve._tablefile._source import Source

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_BYTES = 1 << 18
_MOST_ROWS = 200
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")
_DECIMAL_POINT = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")


@dataclass(frozen=True)
class Dialect:
    """How the table is written.

    Attributes
    ----------
    encoding : str
        As Python names it.
    delimiter, quote, decimal : str
        One character each.
    headings : tuple of str
        The cells of the header, as written but for quotes and outer spaces.
    n_header_lines : int
        Lines to the first row.
    """

    encoding: str
    delimiter: str
    quote: str
    decimal: str
    headings: tuple[str, ...]
    n_header_lines: int


def find_dialect(
    source: Source, encoding: str | None = None, delimiter: str | None = None
) -> Dialect:
    """Find out how a text file is written, from its first 256 KiB.

    Parameters
    ----------
    source : Source
        A text file.
    encoding, delimiter : str or None
        What is known.

    Returns
    -------
    Dialect

    Raises
    ------
    TableFileError
        If the file is not text, or has no header.
    """
    sample = source.first_bytes(_SAMPLE_BYTES)
    is_cut = len(sample) == _SAMPLE_BYTES
    encoding = encoding or find_encoding(sample)
    text = _decoded(sample, encoding, source.name)
    if "\0" in text:
        raise TableFileError(f"{source.name} is not a text file.")
    n_skipped = 0
    announced = re.match(r"sep=(.)\r?\n", text)  # as Excel writes it
    if announced:
        n_skipped, delimiter = 1, delimiter or announced[1]
        text = text[announced.end() :]
    quote = _find_quote(text)
    if delimiter is None:
        delimiter = _find_delimiter(text, quote, is_cut)
    rows, n_header_lines = _rows(text, delimiter, quote, is_cut)
    if not rows:
        raise TableFileError(f"{source.name} has no header.")
    decimal = "." if delimiter == "," else _find_decimal(rows[1:])
    headings = tuple(cell.strip() for cell in rows[0])
    n_header_lines += n_skipped
    return Dialect(encoding, delimiter, quote, decimal, headings, n_header_lines)


def find_encoding(sample: bytes) -> str:
    """Return the encoding that the first bytes of a text point to.

    UTF-8 unless they are not: then Windows-1252, which is Latin-1 with more signs.

    Parameters
    ----------
    sample : bytes
        The start of the file, perhaps cut in the middle of a letter.

    Returns
    -------
    str
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
    """Give every column a name of its own.

    Parameters
    ----------
    headings : sequence of str
        What the file calls its columns.

    Returns
    -------
    names : list of str
        The headings; a repeated one gets a number, and an empty one is "column" with
        its place.
    notes : list of str
        What was changed, one sentence each.
    """
    taken, names, notes = set(headings), [], []
    seen: Counter[str] = Counter()
    for place, heading in enumerate(headings, start=1):
        seen[heading] += 1
        if heading and seen[heading] == 1:
            names.append(heading)
            continue
        stem, number = (f"{heading} ({{}})", 2) if heading else ("column {}", place)
        while stem.format(number) in taken:
            number += 1
        names.append(stem.format(number))
        taken.add(names[-1])
        what = f"a second column {heading!r}" if heading else f"unnamed column {place}"
        notes.append(f"{what} is called {names[-1]!r} here.")
    return names, notes


def _decoded(sample: bytes, encoding: str, name: str) -> str:
    """Return the sample as text, without a letter that is cut at its end."""
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError:
        raise TableFileError(f"there is no encoding {encoding!r}.") from None
    try:
        return decoder.decode(sample)
    except UnicodeDecodeError:
        if encoding == "cp1252":  # which leaves five bytes without a meaning
            return sample.decode("latin-1")
        raise TableFileError(f"{name} is not written in {encoding}.") from None


def _rows(
    text: str, delimiter: str, quote: str, is_cut: bool
) -> tuple[list[list[str]], int]:
    """Return the first rows that hold anything, and the lines the first takes."""
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote
    )
    rows: list[list[str]] = []
    n_header_lines = 0
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            n_header_lines = n_header_lines or reader.line_num
            rows.append(row)
            if len(rows) > _MOST_ROWS:
                break
    except csv.Error:  # a cell that is too long: what came before will do
        pass
    if is_cut and 1 < len(rows) <= _MOST_ROWS:
        rows.pop()
    return rows, n_header_lines


def _find_delimiter(text: str, quote: str, is_cut: bool) -> str:
    """Return the delimiter that cuts most rows as it cuts the header."""
    found, best = ",", (0.0, 1)
    for delimiter in _DELIMITERS:
        rows, _ = _rows(text, delimiter, quote, is_cut)
        if not rows or len(rows[0]) < 2:
            continue
        n_alike = sum(len(row) == len(rows[0]) for row in rows)
        merit = (round(n_alike / len(rows), 2), len(rows[0]))
        if merit > best:
            found, best = delimiter, merit
    return found


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
