"""Columns of every dtype of every library, filled at random, for `any_table`.

Each maker takes a list of Python values, None where one is missing. `TAKEN` are columns
that a fit must read; `REFUSED` are those it must refuse, by name.
"""

import datetime as dt
import uuid
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

NAN = float("nan")
TEXTS = ["a", "b", "", "ä b", "{0}", "%s", "nan", "None"]
TEXTS += ["\x00", "\x1b[31m", "\U0001f600"]
DAY = dt.date(2000, 1, 31)
MOMENT = dt.datetime(1999, 12, 31, 23, 59, 59)
ZONE = "Europe/Berlin"

# What a cell of a kind holds, from a generator of numpy.
CELLS = {
    "truth": lambda rng: bool(rng.random() < 0.5),
    "count": lambda rng: int(rng.integers(0, 100)),
    "number": lambda rng: float(np.float16(rng.standard_normal() * 10)),
    "huge": lambda rng: float(rng.standard_normal() * 10.0 ** rng.integers(-305, 305)),
    "long": lambda rng: int(rng.integers(-9, 9)) * 10 ** int(rng.integers(0, 300)),
    "text": lambda rng: TEXTS[rng.integers(len(TEXTS))],
    "day": lambda rng: DAY + dt.timedelta(days=int(rng.integers(-9000, 9000))),
    "moment": lambda rng: (
        MOMENT + dt.timedelta(seconds=int(rng.integers(-(10**9), 10**9)))
    ),
    "span": lambda rng: dt.timedelta(seconds=int(rng.integers(-(10**6), 10**6))),
    "clock": lambda rng: dt.time(int(rng.integers(24)), int(rng.integers(60))),
    "decimal": lambda rng: Decimal(int(rng.integers(-999, 999))) / 100,
    "fraction": lambda rng: Fraction(int(rng.integers(-9, 9)), 7),
    # Of these, no column may hold one.
    "infinity": lambda _: float("inf"),
    "too long": lambda _: 10**400,
    "complex": lambda rng: complex(rng.standard_normal(), 1),
    "bytes": lambda _: b"b",
    "list": lambda rng: [int(rng.integers(9))],
    "struct": lambda rng: {"a": int(rng.integers(9))},
    "identifier": lambda rng: uuid.UUID(int=int(rng.integers(2**60))),
}
READABLE = list(CELLS)[: list(CELLS).index("infinity")]
UNREADABLE = [kind for kind in CELLS if kind not in READABLE]


holes_of = st.sampled_from(["none", "some", "some", "all", "constant"])


def cells(kind, holes, n_rows, rng):
    """Return a column of a kind: with no holes, some, all; of one value; repeated."""
    if holes == "constant":
        return [CELLS[kind](rng)] * n_rows
    if holes == "all" and kind in READABLE:
        return [None] * n_rows
    values = [CELLS[kind](rng) for _ in range(n_rows)]
    if holes == "some":
        # The first stays: a column that must be refused needs a value.
        return [
            v if j == 0 or rng.random() < 0.7 else None for j, v in enumerate(values)
        ]
    return values


def filled(values, filler):
    return [filler if value is None else value for value in values]


def of_pandas(dtype, filler=None):
    return lambda values: pd.Series(filled(values, filler), dtype=dtype)


def of_arrow(dtype):
    def make(values):
        if dtype == pa.float16():  # an older pyarrow takes no other floats for it
            values = [v if v is None else np.float16(v) for v in values]
        if pa.types.is_dictionary(dtype):  # nor large strings for a dictionary
            return pa.array(values, dtype.value_type).dictionary_encode().cast(dtype)
        return pa.array(values, dtype)

    return make


def arrow_in_pandas(dtype):
    return lambda values: pd.Series(
        pd.arrays.ArrowExtensionArray(of_arrow(dtype)(values))
    )


def categories(dtype, ordered=False):
    def make(values):
        levels = pd.Series(values, dtype=dtype)
        kept = pd.Index(levels.dropna().unique()[::-1])
        return pd.Series(pd.Categorical(levels, categories=kept, ordered=ordered))

    return make


def objects(*holes):
    """Return a maker of object columns in which several objects stand for missing."""

    def make(values):
        column = np.empty(len(values), dtype=object)
        for row, value in enumerate(values):
            column[row] = holes[row % len(holes)] if value is None else value
        return pd.Series(column, dtype=object)

    return make


def sparse_column(dtype):
    return lambda values: pd.Series(
        pd.arrays.SparseArray(np.array(filled(values, 0), dtype=dtype))
    )


def zoned(zone):
    return lambda values: pd.Series(values, dtype="datetime64[us]").dt.tz_localize(
        zone, ambiguous="NaT", nonexistent="NaT"
    )


INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
NULLABLE = [name.replace("int", "Int").replace("u", "U") for name in INTEGERS]
UNITS = ("s", "ms", "us", "ns")

ARROW_TAKEN = {
    **{name: ("count", getattr(pa, name)()) for name in INTEGERS},
    "half float": ("number", pa.float16()),
    "float32": ("number", pa.float32()),
    "float64": ("huge", pa.float64()),
    "bool": ("truth", pa.bool_()),
    "string": ("text", pa.string()),
    "large_string": ("text", pa.large_string()),
    "dictionary": ("text", pa.dictionary(pa.int8(), pa.string())),
    "large dictionary": ("text", pa.dictionary(pa.int64(), pa.large_string())),
    "number dictionary": ("count", pa.dictionary(pa.int32(), pa.int64())),
    "decimal128": ("decimal", pa.decimal128(10, 2)),
    "decimal256": ("decimal", pa.decimal256(50, 2)),
    "date32": ("day", pa.date32()),
    "date64": ("day", pa.date64()),
    "time32": ("clock", pa.time32("s")),
    "time64": ("clock", pa.time64("us")),
    **{f"timestamp {unit}": ("moment", pa.timestamp(unit)) for unit in UNITS},
    **{f"zoned {unit}": ("moment", pa.timestamp(unit, ZONE)) for unit in UNITS},
    "offset": ("moment", pa.timestamp("us", "+05:30")),
    **{f"duration {unit}": ("span", pa.duration(unit)) for unit in UNITS},
}
if hasattr(pa, "string_view"):  # pyarrow 16
    ARROW_TAKEN["string view"] = ("text", pa.string_view())
ARROW_REFUSED = {
    "infinity": ("infinity", pa.float64()),
    "binary": ("bytes", pa.binary()),
    "large_binary": ("bytes", pa.large_binary()),
    "list": ("list", pa.list_(pa.int64())),
    "fixed list": ("list", pa.list_(pa.int64(), 1)),
    "struct": ("struct", pa.struct({"a": pa.int64()})),
}

PANDAS_TAKEN = {
    **{name: ("count", of_pandas(name, 0)) for name in INTEGERS},
    **{name: ("count", of_pandas(name)) for name in NULLABLE},
    "bool": ("truth", of_pandas("bool", False)),
    "float16": ("number", of_pandas("float16")),
    "float32": ("number", of_pandas("float32")),
    "float64": ("huge", of_pandas("float64")),
    "Float32": ("number", of_pandas("Float32")),
    "Float64": ("huge", of_pandas("Float64")),
    "boolean": ("truth", of_pandas("boolean")),
    "str": ("text", of_pandas("str")),
    "string": ("text", of_pandas("string")),
    "string[python]": ("text", of_pandas("string[python]")),
    **{f"objects of {kind}": (kind, objects(None)) for kind in READABLE},
    **{f"any holes of {kind}": (kind, objects(None, pd.NA, NAN)) for kind in READABLE},
    "NaT among dates": ("moment", objects(pd.NaT, None)),
    "categories of text": ("text", categories("str")),
    "categories of objects": ("text", categories(object)),
    "categories of counts": ("count", categories("Int64")),
    "categories of numbers": ("number", categories("float64")),
    "categories of truths": ("truth", categories("boolean")),
    "categories of moments": ("moment", categories("datetime64[us]")),
    "ordered categories": ("text", categories("str", ordered=True)),
    "sparse float": ("number", sparse_column("float64")),
    "sparse int": ("count", sparse_column("int64")),
    "sparse bool": ("truth", sparse_column("bool")),
    **{f"datetime {u}": ("moment", of_pandas(f"datetime64[{u}]")) for u in UNITS},
    **{f"timedelta {u}": ("span", of_pandas(f"timedelta64[{u}]")) for u in UNITS},
    "zoned": ("moment", zoned(ZONE)),
    "UTC": ("moment", zoned("UTC")),
    **{
        f"arrow {name}": (kind, arrow_in_pandas(dtype))
        for name, (kind, dtype) in ARROW_TAKEN.items()
        if name != "string view"  # pandas itself fails on these
    },
}
PANDAS_REFUSED = {
    "period": ("moment", lambda values: pd.Series(pd.PeriodIndex(values, freq="D"))),
    "interval": (
        "count",
        lambda values: pd.Series(
            pd.arrays.IntervalArray.from_arrays(*[filled(values, 0)] * 2)
        ),
    ),
    "infinite nullable": ("infinity", of_pandas("Float64")),
    **{f"objects of {kind}": (kind, objects(None)) for kind in UNREADABLE},
    "complex": ("complex", of_pandas("complex128")),
    **{
        f"arrow {name}": (kind, of_pandas(pd.ArrowDtype(dtype)))
        for name, (kind, dtype) in ARROW_REFUSED.items()
    },
}


def of_polars(dtype):
    return lambda values: pl.Series(values, dtype=dtype)


def zoned_polars(unit):
    return lambda values: pl.Series(
        values, dtype=pl.Datetime(unit)
    ).dt.replace_time_zone(ZONE, ambiguous="null", non_existent="null")


POLARS_TAKEN = {
    **{name: ("count", of_polars(getattr(pl, name))) for name in NULLABLE},
    "Int128": ("count", of_polars(pl.Int128)),
    "Float32": ("number", of_polars(pl.Float32)),
    "Float64": ("huge", of_polars(pl.Float64)),
    "Boolean": ("truth", of_polars(pl.Boolean)),
    "String": ("text", of_polars(pl.String)),
    "Categorical": ("text", of_polars(pl.Categorical)),
    "Enum": ("text", of_polars(pl.Enum(TEXTS))),
    "Decimal": ("decimal", of_polars(pl.Decimal(10, 2))),
    "Date": ("day", of_polars(pl.Date)),
    "Time": ("clock", of_polars(pl.Time)),
    **{f"Datetime {u}": ("moment", of_polars(pl.Datetime(u))) for u in UNITS[1:]},
    **{f"zoned {u}": ("moment", zoned_polars(u)) for u in UNITS[1:]},
    **{f"Duration {u}": ("span", of_polars(pl.Duration(u))) for u in UNITS[1:]},
    "Null": ("count", lambda values: pl.Series([None] * len(values))),
}
POLARS_REFUSED = {
    "infinity": ("infinity", of_polars(pl.Float64)),
    "Binary": ("bytes", of_polars(pl.Binary)),
    "List": ("list", of_polars(pl.List(pl.Int64))),
    "Array": ("list", of_polars(pl.Array(pl.Int64, 1))),
    "Struct": ("struct", of_polars(pl.Struct({"a": pl.Int64}))),
    "Object": ("identifier", of_polars(pl.Object)),
}


ARROW_COLUMNS = {n: (k, of_arrow(d)) for n, (k, d) in ARROW_TAKEN.items()}
ARROW_COLUMNS["null"] = ("count", lambda values: pa.nulls(len(values)))

TAKEN = {"pandas": PANDAS_TAKEN, "polars": POLARS_TAKEN, "pyarrow": ARROW_COLUMNS}
REFUSED = {
    "pandas": PANDAS_REFUSED,
    "polars": POLARS_REFUSED,
    "pyarrow": {n: (k, of_arrow(d)) for n, (k, d) in ARROW_REFUSED.items()},
}
