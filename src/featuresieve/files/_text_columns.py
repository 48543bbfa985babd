"""What columns of text hold: missing values, numbers written oddly, dates, labels."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from featuresieve.files._column_types import ColumnHint, Noted

# What pandas takes for missing, and what statistics programs write.
MISSING_MARKS = (
    *("", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NaN", "nan"),
    *("-NaN", "-nan", "NULL", "null", "None", "1.#IND", "-1.#IND", "1.#QNAN"),
    *("-1.#QNAN", "?", "-", "."),
)
# A column is of numbers, a few words in it apart, if it has more numbers than a
# category has levels, and if so many of its cells are numbers.
_LEAST_NUMBERS = 32
_NUMBER_SHARE = 0.9
_MOST_WORDS = 10
# Below this share of numbers a column is plain text, of which nothing is said.
_MIXED_SHARE = 0.5
# Numbers that are codes have a leading zero, or are very long.
_CODE = r"^[+-]?\(?(0\d+|\d{20,})\)?$"
_DAYS = (
    (r"^\d{1,2}\.\d{1,2}\.\d{4}", "%d.%m.%Y"),
    (r"^\d{1,2}/\d{1,2}/\d{4}", "%d/%m/%Y"),
    (r"^\d{1,2}/\d{1,2}/\d{4}", "%m/%d/%Y"),
    (r"^\d{1,2}-\d{1,2}-\d{4}", "%d-%m-%Y"),
    (r"^\d{4}/\d{1,2}/\d{1,2}", "%Y/%m/%d"),
    (r"^\d{4}\.\d{1,2}\.\d{1,2}", "%Y.%m.%d"),
    (r"^\d{4}-\d{1,2}-\d{1,2}", "%Y-%m-%d"),
    (r"^\d{8}", "%Y%m%d"),  # a date only where it is known to be one
)
_CLOCKS = (
    (r"$", ""),
    (r"[ T]\d{1,2}:\d{2}$", "%H:%M"),
    (r"[ T]\d{1,2}:\d{2}:\d{2}Z?$", "%H:%M:%S"),
)
# What dates look like, and how they are parsed.
_DATES = [
    (shape + clock_shape, f"{day} {clock}".strip())
    for (shape, day), (clock_shape, clock) in product(_DAYS, _CLOCKS)
]


def refined(
    name: str, column: Any, decimal: str, meaning: ColumnHint | None = None
) -> Noted:
    """Turn a column as read into the column that was meant, and return notes on it.

    What may be known of it: words beside numbers are labels; all of it is text; what is
    no number is missing; eight digits are a date.
    """
    if pa.types.is_floating(column.type):
        return _finite(name, column)
    if meaning == "date" and pa.types.is_integer(column.type):
        column = pc.cast(column, pa.string())
    if column.type != pa.string() or meaning == "text":
        return column, []
    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column))]), []
    found = None
    if meaning != "date":
        found = _as_numbers(name, column, decimal, meaning)
    found = found or _as_dates(name, column, meaning)
    return found or (column, _date_notes(name, column))


def _finite(name: str, column: Any) -> Noted:
    """Turn infinite numbers into missing ones."""
    is_infinite = pc.is_inf(column)
    count = pc.sum(is_infinite).as_py() or 0
    if count == 0:
        return column, []
    column = pc.if_else(is_infinite, pa.scalar(None, column.type), column)
    return column, [f"{name!r}: {_cells(count)} an infinite number, taken as missing."]


def without_marks(column: Any, missing: Sequence[str]) -> Any:
    """Return trimmed text, missing where only a mark for that is left."""
    if column.type != pa.string() or column.num_chunks == 0:
        return column
    trimmed = pc.utf8_trim_whitespace(column)
    has_plus = any_is(pc.equal(trimmed, "+"))  # then minus is a label
    known = [m for m in MISSING_MARKS if not (has_plus and m == "-")]
    marks = pa.array([*known, *missing], pa.string())
    is_mark = pc.is_in(trimmed, value_set=marks)
    return pc.if_else(is_mark, pa.scalar(None, pa.string()), trimmed)


def _as_numbers(
    name: str, column: Any, decimal: str, meaning: ColumnHint | None
) -> Noted | None:
    """Return the numbers in text, if it is meant as numbers, and a note."""
    is_number = pc.match_substring_regex(column, _number_pattern(decimal))
    n_numbers = pc.sum(is_number).as_py() or 0
    n_cells = len(column) - column.null_count
    is_sure = meaning == "number"
    is_few = n_numbers < _MIXED_SHARE * n_cells
    if not is_sure and (is_few or any_is(pc.match_substring_regex(column, _CODE))):
        return None
    notes = _bracket_notes(name, column.filter(is_number))
    if n_numbers == n_cells:
        return _parsed(column, decimal), notes
    words = pc.unique(column.filter(pc.invert(is_number))).drop_null().to_pylist()
    shown = ", ".join(map(repr, sorted(words)[:3])) + (", …" if len(words) > 3 else "")
    n_words = n_cells - n_numbers
    known = column.filter(is_number)
    is_numeric = is_sure or (
        n_numbers >= _NUMBER_SHARE * n_cells
        and len(words) <= _MOST_WORDS
        and len(pc.unique(known)) > _LEAST_NUMBERS
        and meaning is None
    )
    if not is_numeric:
        note = f"{name!r} mixes numbers and text ({shown}): taken as categories."
        return column, [note]
    blank = pc.if_else(is_number, column, pa.scalar(None, pa.string()))
    note = f"{name!r}: {_cells(n_words)} no number ({shown}), taken as missing."
    return _parsed(blank, decimal), [note, *notes]


def _bracket_notes(name: str, numbers: Any) -> list[str]:
    """Note that numbers in brackets are negative."""
    first = pc.index(pc.match_substring(numbers, "("), True).as_py()
    if first < 0:
        return []
    shown = numbers[first].as_py()
    return [f"{name!r}: numbers in brackets, such as {shown}, taken as negative."]


def _number_pattern(decimal: str) -> str:
    """Return what a number looks like; thousands, a currency, percent are allowed.

    Accountants write a negative one in brackets.
    """
    mark, thousands = (r"\.", ",") if decimal == "." else (",", r"\.")
    whole = rf"(\d+|\d{{1,3}}([{thousands}' \x{{a0}}]\d{{3}})+)"
    number = rf"({whole}({mark}\d*)?|{mark}\d+)([eE][+-]?\d+)?\s?[%$€£]?"
    signed = rf"([+-]?[$€£]?|[$€£]\s?[+-])\s?{number}"
    return rf"^({signed}|[$€£]?\s?\([$€£]?\s?{number}\)\s?[%$€£]?)$"


def any_is(condition: Any) -> bool:
    """Tell whether something holds anywhere."""
    return bool(pc.any(condition).as_py())


def _parsed(column: Any, decimal: str) -> Any:
    """Return text of numbers as numbers."""
    thousands = "," if decimal == "." else r"\."
    plain = pc.replace_substring_regex(column, rf"[{thousands}'\s\x{{a0}}$€£%]", "")
    plain = pc.replace_substring_regex(plain, r"^\((.*)\)$", r"-\1")
    if decimal == ",":
        plain = pc.replace_substring(plain, ",", ".")
    return pc.cast(plain, pa.float64())


def _as_dates(name: str, column: Any, meaning: ColumnHint | None) -> Noted | None:
    """Return text as dates, if all of it is, and a note where they are ambiguous."""
    first = column.drop_null().slice(0, 1)
    for pattern, layout in _DATES:
        if layout.startswith("%Y%m%d") and meaning != "date":
            continue
        if not all(
            pc.all(pc.match_substring_regex(c, pattern)).as_py()
            for c in (first, column)
        ):
            continue
        dates = _moments(column, layout)
        if dates.null_count > column.null_count:
            continue
        is_ambiguous = (
            layout.startswith("%d/%m")
            and _moments(column, layout.replace("%d/%m", "%m/%d")).null_count
            == column.null_count
        )
        note = f"{name!r}: dates taken as day/month/year."
        return dates, [note] if is_ambiguous else []
    return None


def _date_notes(name: str, column: Any) -> list[str]:
    """Note that text is mostly dates, but not all of one form."""
    first = column.drop_null().slice(0, 1)
    if not any(any_is(pc.match_substring_regex(first, shape)) for shape, _ in _DATES):
        return []
    is_other = unreadable_dates(column)
    if 2 * (pc.sum(is_other).as_py() or 0) > len(column) - column.null_count:
        return []
    other = column[pc.index(is_other, True).as_py()].as_py()
    return [f"{name!r}: most cells are dates, but not {other!r}: taken as categories."]


def unreadable_dates(column: Any) -> Any:
    """Tell which cells are no dates in the format that most cells have."""
    is_text = pc.is_valid(column)
    fewest = is_text
    for pattern, layout in _DATES:
        is_shaped = pc.fill_null(pc.match_substring_regex(column, pattern), False)
        is_date = pc.and_(is_shaped, pc.is_valid(_moments(column, layout)))
        is_other = pc.and_(is_text, pc.invert(is_date))
        if pc.sum(is_other).as_py() < pc.sum(fewest).as_py():
            fewest = is_other
    return fewest


def _moments(column: Any, layout: str) -> Any:
    """Return text as moments, missing where it does not have the layout."""
    plain = pc.replace_substring_regex(column, r"[TZ]", " ")
    text = pc.utf8_trim_whitespace(plain)
    return pc.strptime(text, layout, unit="s", error_is_null=True)


def _cells(count: int) -> str:
    """Return a number of cells with its verb."""
    return f"{count} cell holds" if count == 1 else f"{count} cells hold"
