import datetime as dt
import subprocess
import sys
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from scipy import sparse

from featuresieve.tables import read_table
from many_tables import ARRAYS, FORMATS, MATRIX, frames

NAN = float("nan")
BIG = 2**60 + 1  # no float64
DAYS = [dt.date(2021, 3, 4), None, dt.date(1969, 12, 31)]
MOMENTS = [dt.datetime(2021, 3, 4, 5, 6, 7, 8), None, dt.datetime(1901, 1, 1)]
DURATIONS = [dt.timedelta(days=1), None, dt.timedelta(milliseconds=-5)]
BERLIN = "Europe/Berlin"
ARROW = pd.ArrowDtype


def values_of(column):
    """Return a column as a list of Python values, None where missing."""
    missing = column.is_missing
    if missing is None:
        missing = np.zeros(len(column.values), dtype=bool)
    if column.kind == "category":
        levels = [*column.levels, None]
        values = [levels[code] for code in column.values]
    else:
        values = column.values.tolist()
    return [None if m else v for v, m in zip(values, missing, strict=True)]


# name: (kind, expected values, a column of each library that holds them)
NUMBERS = [1.5, None, -2.0]
COUNTS = [3.0, None, float(BIG)]
TEXTS = ["b", None, "ä b"]
TRUTHS = [True, None, False]
SECONDS = [86400.0, None, -0.005]
SAME = [1.0, 0.0, 1.0]
FRAME_COLUMNS = {
    "pd float": ("number", NUMBERS, pd.Series([1.5, NAN, -2])),
    "pd float32": ("number", NUMBERS, pd.Series([1.5, NAN, -2], dtype="float32")),
    "pd float16": ("number", NUMBERS, pd.Series([1.5, NAN, -2], dtype="float16")),
    "pd Float64": ("number", NUMBERS, pd.Series([1.5, None, -2], dtype="Float64")),
    "pd Int64": ("number", COUNTS, pd.Series([3, None, BIG], dtype="Int64")),
    "pd int arrow": (
        *("number", COUNTS),
        pd.Series([3, None, BIG], dtype="int64[pyarrow]"),
    ),
    "pd objects": ("number", NUMBERS, pd.Series([1.5, None, -2], dtype=object)),
    "pd NA": ("number", NUMBERS, pd.Series([1.5, pd.NA, -2], dtype=object)),
    "pd decimals": (
        *("number", NUMBERS),
        pd.Series([Decimal("1.5"), None, -2], dtype=object),
    ),
    "pd sparse": (
        *("number", SAME),
        pd.Series(pd.arrays.SparseArray([1.0, 0.0, 1.0])),
    ),
    "pd bool": ("boolean", [True, False, True], pd.Series([True, False, True])),
    "pd boolean": ("boolean", TRUTHS, pd.Series(TRUTHS, dtype="boolean")),
    "pd bool arrow": ("boolean", TRUTHS, pd.Series(TRUTHS, dtype="bool[pyarrow]")),
    "pd bool objects": ("boolean", TRUTHS, pd.Series(TRUTHS, dtype=object)),
    "pd text": ("category", TEXTS, pd.Series(TEXTS)),
    "pd string": ("category", TEXTS, pd.Series(TEXTS, dtype="string")),
    "pd text objects": ("category", TEXTS, pd.Series(TEXTS, dtype=object)),
    "pd text, NaN": ("category", TEXTS, pd.Series(["b", NAN, "ä b"], dtype=object)),
    "pd text, NA": ("category", TEXTS, pd.Series(["b", pd.NA, "ä b"], dtype=object)),
    "pd text arrow": (
        *("category", TEXTS),
        pd.Series(TEXTS, dtype=ARROW(pa.string())),
    ),
    "pd category": ("category", TEXTS, pd.Series(TEXTS, dtype="category")),
    "pd int category": (
        "category",
        [7, None, 5],
        pd.Series([7, None, 5], dtype="Int64").astype("category"),
    ),
    "pd float category": (
        "category",
        [0.5, None, 2.0],
        pd.Series([0.5, None, 2.0]).astype("category"),
    ),
    "pd bool category": (
        "category",
        [True, False, True],
        pd.Series([True, False, True]).astype("category"),
    ),
    "pd interval category": (
        *("category", ["(0, 1]", "(1, 2]", "(0, 1]"]),
        pd.cut(pd.Series([0.5, 1.5, 0.7]), [0, 1, 2]),
    ),
    "pd datetime": ("date", MOMENTS, pd.Series(pd.to_datetime(MOMENTS))),
    "pd zoned": (
        *("date", MOMENTS),
        pd.Series(pd.to_datetime(MOMENTS)).dt.tz_localize(BERLIN),
    ),
    "pd date objects": ("date", MOMENTS, pd.Series(MOMENTS, dtype=object)),
    "pd NaT": (
        *("date", MOMENTS),
        pd.Series([MOMENTS[0], pd.NaT, MOMENTS[2]], dtype=object),
    ),
    "pd date arrow": ("date", DAYS, pd.Series(DAYS, dtype=ARROW(pa.date32()))),
    "pd timedelta": ("number", SECONDS, pd.Series(pd.to_timedelta(DURATIONS))),
    "pd timedelta objects": ("number", SECONDS, pd.Series(DURATIONS, dtype=object)),
    "pd times": ("number", [3661.5], pd.Series([dt.time(1, 1, 1, 500_000)])),
    "pl float": ("number", NUMBERS, pl.Series([1.5, None, -2.0])),
    "pl NaN": ("number", NUMBERS, pl.Series([1.5, NAN, -2.0])),
    "pl float32": ("number", NUMBERS, pl.Series([1.5, None, -2.0], dtype=pl.Float32)),
    "pl int": ("number", COUNTS, pl.Series([3, None, BIG])),
    "pl uint8": ("number", [200.0, None], pl.Series([200, None], dtype=pl.UInt8)),
    "pl int128": ("number", COUNTS, pl.Series([3, None, BIG], dtype=pl.Int128)),
    "pl decimal": ("number", NUMBERS, pl.Series([Decimal("1.5"), None, Decimal(-2)])),
    "pl boolean": ("boolean", TRUTHS, pl.Series(TRUTHS)),
    "pl text": ("category", TEXTS, pl.Series(TEXTS)),
    "pl categorical": ("category", TEXTS, pl.Series(TEXTS, dtype=pl.Categorical)),
    "pl enum": ("category", TEXTS, pl.Series(TEXTS, dtype=pl.Enum(["ä b", "b", "c"]))),
    "pl date": ("date", DAYS, pl.Series(DAYS)),
    "pl datetime": ("date", MOMENTS, pl.Series(MOMENTS)),
    "pl zoned": (
        *("date", MOMENTS),
        pl.Series(MOMENTS).dt.replace_time_zone(BERLIN),
    ),
    "pl duration": ("number", SECONDS, pl.Series(DURATIONS)),
    "pl time": ("number", [3661.5, None], pl.Series([dt.time(1, 1, 1, 500_000), None])),
    "pl null": ("number", [None, None], pl.Series([None, None])),
    "pa int": ("number", COUNTS, pa.array([3, None, BIG])),
    "pa decimal": ("number", NUMBERS, pa.array([Decimal("1.5"), None, Decimal(-2)])),
    "pa boolean": ("boolean", TRUTHS, pa.array(TRUTHS)),
    "pa text": ("category", TEXTS, pa.array(TEXTS)),
    "pa dictionary": ("category", TEXTS, pa.array(TEXTS).dictionary_encode()),
    "pa empty text": ("category", [None, None], pa.array([None, None], pa.string())),
    "pa date": ("date", DAYS, pa.array(DAYS)),
    "pa zoned": (
        *("date", [dt.datetime(2021, 7, 1, 14), None]),
        pa.array([dt.datetime(2021, 7, 1, 12), None], pa.timestamp("ns", BERLIN)),
    ),
    "pa duration": ("number", SECONDS, pa.array(DURATIONS)),
    "pa null": ("number", [None, None], pa.nulls(2)),
}
if hasattr(pa, "string_view"):  # pyarrow 16
    view = pa.array(TEXTS, pa.string_view())
    FRAME_COLUMNS["pa text view"] = ("category", TEXTS, view)


def frame_of(**columns):
    first = next(iter(columns.values()))
    if isinstance(first, pa.Array):
        return pa.table(columns)
    kind = pl.DataFrame if isinstance(first, pl.Series) else pd.DataFrame
    return kind(columns)


@pytest.mark.parametrize("case", FRAME_COLUMNS)
def test_a_column_of_a_frame_is_read_as_its_values(case):
    kind, expected, column = FRAME_COLUMNS[case]
    table = read_table(frame_of(a=column))
    found = table.column(0)
    assert (table.n_rows, table.n_features, table.names) == (len(column), 1, ["a"])
    assert not (table.is_numeric_matrix or table.is_sparse)
    assert found.kind == kind
    if kind == "date":  # a date is midnight
        expected = [
            day and dt.datetime.combine(day, getattr(day, "time", dt.time)())
            for day in expected
        ]
    assert values_of(found) == expected


@pytest.mark.parametrize("case", ARRAYS)
def test_a_numeric_array_is_one_matrix(case):
    table = read_table(ARRAYS[case])
    assert table.is_numeric_matrix
    assert (table.n_rows, table.n_features, table.names) == (3, 2, None)
    assert table.matrix().dtype in (np.float32, np.float64)
    np.testing.assert_array_equal(table.matrix(), MATRIX)
    assert values_of(table.column(1)) == [0, 2, 1]


def test_a_boolean_array_has_boolean_columns_and_a_numeric_matrix():
    table = read_table(np.array(MATRIX) > 0)
    assert table.is_numeric_matrix
    assert table.column(0).kind == "boolean"
    np.testing.assert_array_equal(table.matrix(), np.array(MATRIX) > 0)


def test_missing_values_of_an_array_are_marked_in_their_column_alone():
    table = read_table(np.array([[1, NAN], [2, 3]]))
    assert table.column(0).is_missing is None
    assert values_of(table.column(1)) == [None, 3.0]


def test_a_masked_array_is_missing_where_it_is_masked():
    masked = np.ma.masked_equal(np.array(MATRIX), 0)
    assert values_of(read_table(masked).column(0)) == [1, None, 3]


MASKED = {
    "text": (["a", "?"], ["a", None]),
    "dates": (
        np.array(["2021-03-04", "NaT"], "M8[ns]"),
        [dt.datetime(2021, 3, 4), None],
    ),
    "durations": (np.array([2, 3], "m8[h]"), [7200.0, None]),
}


@pytest.mark.parametrize(("values", "expected"), MASKED.values(), ids=MASKED)
def test_masked_text_and_dates_are_missing_too(values, expected):
    masked = np.ma.array(values, mask=[False, True]).reshape(2, 1)
    assert values_of(read_table(masked).column(0)) == expected


def test_large_integers_become_the_nearest_float64():
    table = read_table(np.array([[BIG], [1]]))
    assert table.matrix().tolist() == [[float(BIG)], [1.0]]


LAYOUTS = ["object", "list"]
if hasattr(np.dtypes, "StringDType"):  # numpy 2
    LAYOUTS.append("StringDType")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_array_of_objects_is_read_column_by_column(layout):
    rows = [["b", "x"], ["a", "y"], ["b", "x"]]
    if layout == "StringDType":
        X = np.array(rows, dtype=np.dtypes.StringDType())
    else:
        rows = [
            [text, number, None]
            for (text, _), number in zip(rows, (1, 2.5, 3), strict=True)
        ]
        X = rows if layout == "list" else np.array(rows, dtype=object)
    table = read_table(X)
    assert not table.is_numeric_matrix
    assert values_of(table.column(0)) == ["b", "a", "b"]
    expected = ["x", "y", "x"] if layout == "StringDType" else [1, 2.5, 3]
    assert values_of(table.column(1)) == expected


def test_an_array_of_text_and_one_of_dates_are_read():
    assert values_of(read_table(np.array([["1"], ["a"]])).column(0)) == ["1", "a"]
    days = np.array([["2021-03-04"], ["NaT"]], dtype="datetime64[D]")
    column = read_table(days).column(0)
    assert (column.kind, values_of(column)) == ("date", [dt.datetime(2021, 3, 4), None])
    hours = np.array([[2], ["NaT"]], dtype="timedelta64[h]")
    assert values_of(read_table(hours).column(0)) == [7200.0, None]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("container", ["array", "matrix"])
def test_every_sparse_format_becomes_a_csr_array(form, container):
    X = getattr(sparse, f"{form}_{container}")(np.array(MATRIX, dtype=float))
    table = read_table(X)
    assert table.is_sparse
    assert not table.is_numeric_matrix
    assert isinstance(table.matrix(), sparse.csr_array)
    np.testing.assert_array_equal(table.matrix().toarray(), MATRIX)
    assert values_of(table.column(1)) == [0, 2, 1]


def test_repeated_sparse_cells_are_added_and_the_users_matrix_stays():
    data = (np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 3]))
    X = sparse.csr_array(data, shape=(1, 2))
    np.testing.assert_array_equal(read_table(X).matrix().toarray(), [[4.0, 3.0]])
    assert X.data.tolist() == [1.0, 2.0, 4.0]
    assert X.indices.tolist() == [1, 1, 0]


def test_reading_shares_memory_and_accepts_what_is_read_only():
    X = np.array(MATRIX, dtype=float)
    X.flags.writeable = False
    table = read_table(X)
    assert np.shares_memory(table.matrix(), X)
    assert np.shares_memory(table.column(0).values, X)


def test_a_frame_without_text_for_names_has_none():
    assert read_table(pd.DataFrame(MATRIX)).names is None
    assert read_table(pd.DataFrame(MATRIX, columns=["a", 1])).names is None
    pairs = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])
    table = read_table(pd.DataFrame(MATRIX, columns=pairs))
    assert values_of(table.column(1)) == [0, 2, 1]


class Exchanged:
    """A table of an unknown library that speaks one of the exchange protocols."""

    def __init__(self, frame, protocol):
        setattr(self, protocol, getattr(frame, protocol))


@pytest.mark.parametrize(
    "X",
    [
        Exchanged(pa.table({"a": [1, 2]}), "__arrow_c_stream__"),
        Exchanged(pa.table({"a": [1, 2]}), "__dataframe__"),
        pa.RecordBatch.from_pydict({"a": [1, 2]}),
        nw.from_native(pl.DataFrame({"a": [1, 2]})),
    ],
    ids=["arrow stream", "interchange", "record batch", "narwhals"],
)
def test_other_tables_are_read_through_their_protocol(X):
    table = read_table(X)
    assert table.names == ["a"]
    assert values_of(table.column(0)) == [1, 2]


@given(frames())
def test_three_libraries_hold_the_same_table(frame):
    tables = [read_table(X) for X in (frame, frame.to_pandas(), frame.to_arrow())]
    for j in range(frame.width):
        columns = [table.column(j) for table in tables]
        if all(column.is_missing is not None for column in columns) and all(
            column.is_missing.all() for column in columns
        ):
            continue  # without values pandas forgets the kind
        assert len({column.kind for column in columns}) == 1
        assert values_of(columns[0]) == values_of(columns[1]) == values_of(columns[2])


def test_tables_are_read_and_encoded_without_importing_torch():
    script = """
import sys
import numpy as np
from featuresieve.tables import TableEncoder, read_table, take_columns
table = read_table([[1, "a"], [2, "b"]])
TableEncoder.fit_transform(table, scaling="standard")
take_columns([[1, 2]], np.array([0]))
print("torch" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True
    )
    assert (done.stdout.strip(), done.stderr) == ("False", "")


# pandas 2 takes a zone off an ArrowDtype by going to UTC.
ZONES = [None, "Europe/Berlin"] if pd.__version__ >= "3" else [None]


@pytest.mark.parametrize(
    ("container", "zone"),
    [("table", None), ("table", "Europe/Berlin"), *(("ArrowDtype", z) for z in ZONES)],
)
def test_nanoseconds_of_arrow_are_read_as_those_of_pandas(container, zone):
    moments = pd.DatetimeIndex(["2024-01-01 10:00:00.123456789", "NaT", "2024-07-01"])
    frame = pd.DataFrame({"when": moments.as_unit("ns").tz_localize(zone)})
    arrow = pa.Table.from_pandas(frame)
    if container == "ArrowDtype":
        arrow = arrow.to_pandas(types_mapper=pd.ArrowDtype)
    expected = read_table(frame).column(0)
    found = read_table(arrow).column(0)
    assert found.kind == expected.kind == "date"
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.is_missing, [False, True, False])
