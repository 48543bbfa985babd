"""What a user may say of a column of a table file, and what is known of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

ColumnType = Literal["number", "category", "date", "text"]
TYPES: tuple[ColumnType, ...] = get_args(ColumnType)
# Words beside numbers are labels; all is text; what is no number is missing; eight
# digits are a date.
ColumnHint = Literal["label", "text", "number", "date"]
# A column, and notes on it.
Noted = tuple[Any, list[str]]


@dataclass(frozen=True)
class Known:
    """What is known of columns before they are read."""

    meanings: Mapping[str, ColumnHint]
    types: Mapping[str, ColumnType]  # what they must be read as
    missing: Sequence[str]  # texts that count as missing, beside the usual ones
    decimal: str = "."
    n_lines_before: int = 0  # the first row
