"""Numbers, booleans and dates become scaled columns and an indicator of the missing."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve.tables._column import Column
from featuresieve.tables._scaling import (
    ColumnScaler,
    Float32Array,
    FloatArray,
    Scaling,
    scaled_indicator,
)

DATE_PARTS = ("timestamp", "month", "weekday", "hour")
NUMBER_PARTS = ("value",)


@dataclass(frozen=True, eq=False)
class NumberEncoder:
    """Scaled parts of one column, and whether it is missing."""

    # "value" of a number or boolean; of a date, those of "timestamp" (seconds since
    # 1970), "month", "weekday" and "hour" that varied. None if all was missing: the
    # feature is then one column of zeros.
    parts: tuple[str, ...]
    scaler: ColumnScaler  # with one column for each part
    missing_share: float | None  # None, and no indicator, if no value was missing

    @classmethod
    def fit(
        cls, column: Column, weights: FloatArray | None, scaling: Scaling
    ) -> "NumberEncoder":
        """Learn the scaling of what is not missing."""
        return cls._fit(column, weights, scaling)[0]

    @classmethod
    def fit_into_(
        cls,
        out: Float32Array,
        column: Column,
        weights: FloatArray | None,
        scaling: Scaling,
    ) -> "NumberEncoder":
        """Learn the scaling, and write the encoded columns too: scaled once only."""
        encoder, parts = cls._fit(column, weights, scaling)
        if column.is_missing is not None:
            known, parts = parts, np.zeros((len(parts), len(out)))
            parts[:, ~column.is_missing] = known
        encoder._write_(out, parts, column.is_missing)
        return encoder

    @classmethod
    def _fit(
        cls, column: Column, weights: FloatArray | None, scaling: Scaling
    ) -> tuple["NumberEncoder", FloatArray]:
        """Return an encoder, and the scaled parts of what is not missing."""
        if column.is_empty:
            scaler, scaled = ColumnScaler.fit_transform(np.empty((0, 0)), "none")
            return cls((), scaler, None), scaled
        share = None
        values = column.values
        if column.is_missing is not None:
            share = float(np.average(column.is_missing, weights=weights))
            values = values[~column.is_missing]
            weights = None if weights is None else weights[~column.is_missing]
        names: tuple[str, ...] = NUMBER_PARTS
        if column.kind != "date":
            block = values[None].astype(np.float64)
        else:
            # Seconds since 1970 are nobody's scale.
            scaling = "standard" if scaling == "none" else scaling
            parts = {name: date_part(values, name) for name in DATE_PARTS}
            varying = [name for name in DATE_PARTS[1:] if np.ptp(parts[name]) > 0]
            names = ("timestamp", *varying)
            block = np.stack([parts[name] for name in names])
        scaler, scaled = ColumnScaler.fit_transform(block, scaling, weights)
        return cls(names, scaler, share), scaled

    @property
    def n_columns(self) -> int:
        """Return the number of encoded columns."""
        return max(len(self.parts), 1) + (self.missing_share is not None)

    def transform_into_(self, out: Float32Array, column: Column) -> None:
        """Write the encoded columns into `out`, (rows, n_columns)."""
        parts = []
        for index, part in enumerate(() if column.is_empty else self.parts):
            values = column.values
            if column.kind == "date":
                values = date_part(values, part)
            scaled = self.scaler.scaled_column(index, values)
            if column.is_missing is not None:
                scaled[column.is_missing] = 0.0
            parts.append(scaled)
        self._write_(out, parts, column.is_missing)

    def _write_(
        self,
        out: Float32Array,
        parts: FloatArray | list[FloatArray],
        is_missing: npt.NDArray[np.bool_] | None,
    ) -> None:
        """Write scaled parts, or zeros for none, and the indicator of the missing."""
        if not len(parts):
            out[:] = 0.0
        for index, scaled in enumerate(parts):
            out[:, index] = scaled
        if self.missing_share is not None:
            no, yes = scaled_indicator(self.missing_share)
            out[:, -1] = no
            if is_missing is not None:
                out[is_missing, -1] = yes


def date_part(dates: npt.NDArray[Any], part: str) -> FloatArray:
    """Return a part of datetime64[us] as numbers: January, Monday and midnight are 0.

    What it returns for NaT is no date.
    """
    if part == "timestamp":
        return dates.astype(np.int64) / 1e6
    if part == "month":
        count, cycle = dates.astype("datetime64[M]").astype(np.int64), 12
    elif part == "weekday":  # the first of January 1970 was a Thursday
        count, cycle = dates.astype("datetime64[D]").astype(np.int64) + 3, 7
    else:
        count, cycle = dates.astype("datetime64[h]").astype(np.int64), 24
    return (count % cycle).astype(np.float64)
