"""What a user may say of a column of a table file, and what is known of it."""

from typing import Literal, get_args

ColumnType = Literal["number", "category", "date", "text"]
TYPES: tuple[ColumnType, ...] = get_args(ColumnType)
# Words beside numbers are labels; all is text; what is no number is missing; eight
# digits are a date.
ColumnHint = Literal["label", "text", "number", "date"]
