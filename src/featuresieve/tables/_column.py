"""One column of a table as an array of one kind: number, boolean, date or category."""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import narwhals as nw
import numpy as np
import numpy.typing as npt

from featuresieve.errors import infinity_error

BoolArray = npt.NDArray[np.bool_]
Kind = Literal["number", "boolean", "date", "category"]
Level = str | bool | int | float
Convert = Callable[[Any], Any]

# Cells looked at in one go for infinite and missing values.
_BLOCK_CELLS = 1 << 20
_ALLOWED = (
    "a cell of this argument must be a string, a number, a boolean, a date, a time, "
    "a duration or missing (None, NaN), and the cells of one column of one such kind"
)
_WAY_OUT = "never_keep leaves a column out, whatever it holds."
# What makes a column readable, by the type of its cells; "" is a mixture.
_REMEDIES = {
    "Period": "make dates of it, such as {}.dt.to_timestamp()",
    "Interval": "make text of it, such as {}.astype(str)",
    "bytes": "make text of it, such as {}.str.decode('utf-8')",
    "list": "give each entry a column of its own",
    "ndarray": "give each entry a column of its own",
    "": "make all of it of one kind, such as {}.astype(str)",
}
# What a Python object counts as; a type is looked up by its first match.
_GROUPS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("missing", (type(None),)),
    ("boolean", (bool, np.bool_)),
    ("complex", (complex, np.complexfloating)),
    # Before numbers: numpy counts its durations among the integers.
    ("duration", (datetime.timedelta, np.timedelta64)),
    ("number", (int, float, np.integer, np.floating, Decimal, Fraction)),
    ("text", (str,)),
    ("date", (datetime.date, np.datetime64)),
    ("time", (datetime.time,)),
)
_NESTED = (nw.List, nw.Struct, nw.Array, nw.Binary)
# The missing values of pandas, known by name: pandas need not be installed.
MISSING_NAMES = ("NAType", "NaTType")


@dataclass(frozen=True, eq=False)
class Column:
    """The values of one column."""

    kind: Kind
    # Numbers: any integer or float dtype, NaN where missing. Booleans: bool, False
    # where missing. Dates: datetime64[us] in the clock time of their zone, NaT where
    # missing. Categories: positions in `levels`, -1 where missing.
    values: npt.NDArray[Any]
    is_missing: BoolArray | None = None  # None where no value is missing
    # Of a category column; in no particular order, some perhaps without rows.
    levels: Sequence[Level] = ()

    def __post_init__(self) -> None:
        if self.is_missing is not None and not self.is_missing.any():
            object.__setattr__(self, "is_missing", None)

    @property
    def is_empty(self) -> bool:
        """Tell whether every value is missing."""
        return self.is_missing is not None and bool(self.is_missing.all())

    def take(self, rows: npt.NDArray[np.intp]) -> "Column":
        """Return some of the rows."""
        missing = None if self.is_missing is None else self.is_missing[rows]
        return Column(self.kind, self.values[rows], missing, self.levels)


def column_of_array(values: npt.NDArray[Any], label: str) -> Column:
    """Read a one-dimensional numpy array; `label` names it in errors."""
    match values.dtype.kind:
        case "b":
            return Column("boolean", values)
        case "i" | "u":
            return Column("number", values)
        case "f":
            return column_of_floats(values, label)
        case "M":
            return column_of_dates(values)
        case "m":
            seconds = values / np.timedelta64(1, "s")
            return column_of_floats(seconds, label)
        case "c":
            raise complex_error(label)
        case "O" | "U" | "T":
            return column_of_objects(values.tolist(), label)
    raise TypeError(f"{label} of X has dtype {values.dtype}; {_ALLOWED}.")


def column_of_floats(values: npt.NDArray[Any], label: str) -> Column:
    """Read floats, of which NaN are missing and none may be infinite."""
    if np.isfinite(values).all():
        return Column("number", values)
    is_infinite = np.isinf(values)
    if is_infinite.any():
        row = int(is_infinite.argmax())
        raise infinity_error(label, row, values[row])
    return Column("number", values, np.isnan(values))


def column_of_dates(values: npt.NDArray[Any]) -> Column:
    """Read datetime64 of any unit, NaT where missing."""
    dates = values.astype("datetime64[us]")
    return Column("date", dates, np.isnat(dates))


def column_of_objects(values: list[Any], label: str) -> Column:
    """Find the kind of a column of Python objects, and read it."""
    types = _types_by_group(values)
    missing = types.pop("missing", set())
    if len(types) > 1 and "number" in types and not types.keys() <= _NUMERIC:
        # NaN among text or dates stands for a missing value.
        numbers = tuple(types["number"])
        if all(v != v for v in values if isinstance(v, numbers)):
            missing |= types.pop("number")
    if "complex" in types:
        raise complex_error(label)
    if not types:
        return column_of_floats(np.full(len(values), np.nan), label)
    group = "number" if types.keys() == _NUMERIC else next(iter(types))
    if group not in _READERS or not (len(types) == 1 or types.keys() == _NUMERIC):
        raise _mixture_error(values, types, label)
    is_missing = np.array([type(value) in missing for value in values], dtype=bool)
    return _READERS[group](values, is_missing, label)


_NUMERIC = {"number", "boolean"}


def _types_by_group(values: list[Any]) -> dict[str, set[type]]:
    """Return the types of the values, by what they count as."""
    found: dict[str, set[type]] = {}
    for kind in set(map(type, values)):
        if kind.__name__ in MISSING_NAMES:
            group = "missing"
        else:
            names = (name for name, members in _GROUPS if issubclass(kind, members))
            group = next(names, "other")
        found.setdefault(group, set()).add(kind)
    return found


def _read_floats(
    values: list[Any], is_missing: BoolArray, label: str, *, as_number: Convert
) -> Column:
    """Read what stands for numbers."""
    present = np.flatnonzero(~is_missing)
    numbers = np.full(len(values), np.nan)
    try:
        numbers[present] = [as_number(values[row]) for row in present]
    except OverflowError:
        row = max(present.tolist(), key=lambda row: abs(values[row]))
        raise infinity_error(label, row, "an integer beyond 1.8e308") from None
    return column_of_floats(numbers, label)


def _duration_seconds(value: Any) -> Any:
    """Return a duration in seconds."""
    if isinstance(value, np.timedelta64):
        return value / np.timedelta64(1, "s")
    return value.total_seconds()


def _seconds_of_day(time: Any) -> Any:
    """Return a time of day as seconds since midnight."""
    seconds = time.hour * 3600 + time.minute * 60 + time.second
    return seconds + time.microsecond / 1e6


def _read_booleans(values: list[Any], is_missing: BoolArray, _: str) -> Column:
    """Read booleans and missing values."""
    cells = zip(values, is_missing, strict=True)
    truths = np.array([not hole and bool(value) for value, hole in cells])
    return Column("boolean", truths, is_missing)


def _read_dates(values: list[Any], is_missing: BoolArray, _: str) -> Column:
    """Read dates and moments; a zone is left out, its clock time kept."""
    dates = np.full(len(values), "NaT", dtype="datetime64[us]")
    for row in np.flatnonzero(~is_missing):
        value = values[row]
        if isinstance(value, datetime.datetime):
            # Rebuilt, because pandas' moments may have nanoseconds and a zone.
            value = datetime.datetime.combine(value.date(), value.time())
        dates[row] = value
    return column_of_dates(dates)


def _read_texts(values: list[Any], is_missing: BoolArray, _: str) -> Column:
    """Read text as categories."""
    levels = {level for level in set(values) if isinstance(level, str)}
    code_of = {level: code for code, level in enumerate(levels)}
    codes = np.array([code_of.get(value, -1) for value in values], dtype=np.int64)
    return Column("category", codes, is_missing, list(map(str, code_of)))


_READERS: dict[str, Callable[[list[Any], BoolArray, str], Column]] = {
    "number": partial(_read_floats, as_number=float),
    "boolean": _read_booleans,
    "date": _read_dates,
    "duration": partial(_read_floats, as_number=_duration_seconds),
    "time": partial(_read_floats, as_number=_seconds_of_day),
    "text": _read_texts,
}


def as_level(value: Any) -> Level:
    """Return a category level as what JSON can hold; other objects as their text."""
    if isinstance(value, np.generic):
        value = value.item()
    is_finite = isinstance(value, float) and np.isfinite(value)
    return value if is_finite or isinstance(value, str | bool | int) else str(value)


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
        try:
            series = series.dt.replace_time_zone(None)
        except ValueError:  # an older pyarrow knows no zones that are offsets
            moments = [m and m.replace(tzinfo=None) for m in series.to_list()]
            return column_of_dates(np.array(moments, dtype="datetime64[us]"))
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


def conversion_advice(was: str, now: str, column: str) -> str:
    """Return how to make a column of one kind again what it was."""
    if was == "date":
        return f"make dates of it, such as pandas.to_datetime({column})"
    if was == "category":
        return f"make text of it, such as {column}.astype(str)"
    if now == "date":
        return f"count in a unit, as in fit, such as {column}.dt.year"
    return f"make numbers of it, such as pandas.to_numeric({column})"


def complex_error(label: str) -> ValueError:
    """Build the error for complex numbers, with scikit-learn's words."""
    hint = f" {_WAY_OUT}" if label.startswith("column") else ""
    text = f"Complex data not supported: {label} of X holds such numbers.{hint}"
    return ValueError(text)


def cell_error(label: str, row: int, value: Any) -> TypeError:
    """Build the error for a cell of a type that no column may hold."""
    return TypeError(
        f"{label} of X holds the {type(value).__name__} {shortened(value)} in row "
        f"{row}; {_ALLOWED}{_remedy(type(value).__name__, label)}"
    )


def _remedy(kind: str, label: str) -> str:
    """Return the end of an error: what to do about a column."""
    if kind not in _REMEDIES:
        return f". {_WAY_OUT}"
    name = label.removeprefix("column ")
    column = f"X[:, {name}]" if name.isdecimal() else f"X[{name}]"
    return f": {_REMEDIES[kind].format(column)}; {_WAY_OUT}"


def _mixture_error(
    values: list[Any], types: dict[str, set[type]], label: str
) -> TypeError:
    """Build the error for a column of several kinds, or of one that is not allowed."""
    firsts = []
    for group, members in types.items():
        row = next(i for i, value in enumerate(values) if type(value) in members)
        if group == "other":
            return cell_error(label, row, values[row])
        firsts.append((row, values[row]))
    examples = " and ".join(
        f"the {type(value).__name__} {shortened(value)} in row {row}"
        for row, value in sorted(firsts, key=lambda first: first[0])
    )
    remedy = _remedy("", label)
    return TypeError(f"{label} of X mixes kinds: {examples}; {_ALLOWED}{remedy}")


def shortened(value: Any) -> str:
    """Return a value as a short text."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def missing_columns(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which columns of floats have NaN; infinite values are an error."""
    n_rows, n_columns = values.shape
    has_missing = np.zeros(n_columns, dtype=np.bool_)
    if values.dtype.kind == "c":
        raise complex_error("the array")
    if values.dtype.kind != "f":
        return has_missing
    step = max(_BLOCK_CELLS // n_columns, 1)
    for start in range(0, n_rows, step):
        block = values[start : start + step]
        if np.isfinite(block).all():
            continue
        is_infinite = np.isinf(block)
        if is_infinite.any():
            row, column = np.argwhere(is_infinite)[0]
            found = block[row, column]
            raise infinity_error(f"column {column}", int(start + row), found)
        has_missing |= np.isnan(block).any(axis=0)
    return has_missing
