"""What holds of a column in all rows of a stream, also of those that are let go."""

from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from featuresieve.errors import TableFileError
from featuresieve.files._typed_columns import is_number

_INFINITE = (float("inf"), float("-inf"))


class ColumnFacts:
    """Numbers of missing values, smallest and largest values of columns of numbers."""

    def __init__(self) -> None:
        self.n_rows = 0
        self.n_missing: dict[str, int] = {}
        self.ranges: dict[str, tuple[Any, Any]] = {}

    @property
    def varying(self) -> list[str]:
        """Name the columns of numbers that hold more than one value, or gaps too."""
        return [
            name
            for name, (least, most) in self.ranges.items()
            if least != most or 0 < self.n_missing[name] < self.n_rows
        ]

    def add(self, batch: pa.RecordBatch, first_row: int) -> None:
        """Look at the rows of a batch; infinite numbers are an error."""
        self.n_rows += batch.num_rows
        for field, column in zip(batch.schema, batch.columns, strict=True):
            if not is_number(field.type):
                continue
            found = pc.min_max(column)
            least, most = found["min"].as_py(), found["max"].as_py()
            if least in _INFINITE or most in _INFINITE:
                place = pc.index(pc.is_inf(column), True).as_py()
                raise TableFileError(
                    "Input X contains infinity or a value too large for "
                    f"dtype('float64'): column {field.name!r} holds "
                    f"{column[place].as_py()} in row {first_row + place} of the "
                    "stream. Allowed are finite numbers, and NaN or null for missing "
                    "ones."
                )
            n_missing = column.null_count
            if pa.types.is_floating(field.type) and least != least:
                n_missing, least, most = len(column), None, None  # all are NaN
            self._add(field.name, n_missing, (least, most))

    def merge(self, other: Self) -> None:
        """Take in what another part of the same stream holds."""
        self.n_rows += other.n_rows
        for name, n_missing in other.n_missing.items():
            self._add(name, n_missing, other.ranges[name])

    def _add(self, name: str, n_missing: int, values: tuple[Any, Any]) -> None:
        """Take in facts about some rows of a column."""
        self.n_missing[name] = self.n_missing.get(name, 0) + n_missing
        pairs = [values, self.ranges.get(name, (None, None))]
        known = [pair for pair in pairs if pair[0] is not None]
        least = min((low for low, _ in known), default=None)
        most = max((high for _, high in known), default=None)
        self.ranges[name] = (least, most)
