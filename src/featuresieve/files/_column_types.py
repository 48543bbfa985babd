"""What a user may say of a column of a table file."""

from typing import Literal, get_args

ColumnType = Literal["number", "category", "date", "text"]
TYPES: tuple[ColumnType, ...] = get_args(ColumnType)
