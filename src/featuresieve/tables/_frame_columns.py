"""Columns of data frames, read through narwhals."""

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from featuresieve.tables._column import (
    Column,
    as_level,
    cell_error,
    column_of_array,
    column_of_dates,
    column_of_objects,
)

_NESTED = (nw.List, nw.Struct, nw.Array, nw.Binary)


def column_of_series(series: nw.Series[Any], label: str) -> Column:
    """Read a column of a data frame; `label` names it in errors."""
    dtype = series.dtype
    # narwhals judges pandas' object columns by their first hundred values.
    if str(getattr(series.to_native(), "dtype", "")) == "object":
        return column_of_objects(series.to_list(), label)
    if dtype.is_numeric() or dtype == nw.Duration:
        if dtype in (nw.Decimal, nw.Int128, nw.UInt128):
            series = series.cast(nw.Float64)
        return column_of_array(series.to_numpy(), label)
    if dtype == nw.Boolean:
        return _booleans(series)
    if dtype in (nw.Datetime, nw.Date):
        return _dates(series)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _categories(series)
    if isinstance(dtype, _NESTED):
        is_missing = series.is_null().to_list()
        row = is_missing.index(False) if False in is_missing else 0
        raise cell_error(label, row, series.to_list()[row])
    if series.null_count() == len(series):
        return column_of_objects([None] * len(series), label)
    values = series.to_numpy()  # narwhals has no name for it, or numpy knows better
    if values.dtype == object:
        return column_of_objects(series.to_list(), label)
    return column_of_array(values, label)


def _booleans(series: nw.Series[Any]) -> Column:
    """Read booleans, some perhaps missing."""
    is_missing = series.is_null().to_numpy().astype(np.bool_)
    truths = series.fill_null(False) if is_missing.any() else series
    return Column("boolean", truths.to_numpy().astype(np.bool_), is_missing)


def _dates(series: nw.Series[Any]) -> Column:
    """Read dates and moments, the latter as the clock time of their zone."""
    if getattr(series.dtype, "time_zone", None) is not None:
        series = series.dt.replace_time_zone(None)
    # Arrow refuses to cast what has nanoseconds; numpy leaves them out.
    if getattr(series.dtype, "time_unit", None) != "ns":
        series = series.cast(nw.Datetime("us"))
    return column_of_dates(series.to_numpy())


def _categories(series: nw.Series[Any]) -> Column:
    """Read text and categories as codes."""
    native = series.to_native()
    if hasattr(native, "cat") and hasattr(native, "factorize"):  # categories of pandas
        codes = native.cat.codes.to_numpy().astype(np.int64)
        levels = native.cat.categories.tolist()
    elif hasattr(native, "factorize"):  # text of pandas
        codes, uniques = native.factorize()
        levels = uniques.tolist()
    else:
        codes, levels = _factorized(series.cast(nw.String))
    return Column("category", codes, codes < 0, list(map(as_level, levels)))


def _factorized(series: nw.Series[Any]) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return the codes of texts, -1 where missing, and their levels."""
    levels = [level for level in series.unique().to_list() if level is not None]
    if not levels:
        return np.full(len(series), -1), levels
    new = [*range(len(levels)), -1]
    codes = series.replace_strict([*levels, None], new, return_dtype=nw.Int64)
    return codes.to_numpy(), levels
