import datetime as dt
import subprocess
import sys
from zoneinfo import ZoneInfo

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from scipy import sparse

from any_columns import INTEGERS, TAKEN, ZONE, cells
from featuresieve.tables import read_table
from many_tables import ARRAYS, FORMATS, MATRIX, frames

NAN = float("nan")
BIG = 2**60 + 1  # no float64
MOMENTS = [dt.datetime(2021, 3, 4, 5, 6, 7, 8), None, dt.datetime(1901, 1, 1)]
DURATIONS = [dt.timedelta(days=1), None, dt.timedelta(milliseconds=-5)]
INDIA = dt.timezone(dt.timedelta(hours=5, minutes=30))


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


# name: (kind, expected values, a column that holds them)
SECONDS = [86400.0, None, -0.005]
COUNTS = [3.0, None, float(BIG)]
ODD_COLUMNS = {
    "pd large": ("number", COUNTS, pd.Series([3, None, BIG], dtype="Int64")),
    "pl large": ("number", COUNTS, pl.Series([3, None, BIG])),
    "pa large": ("number", COUNTS, pa.array([3, None, BIG])),
    "pl NaN": ("number", [1.5, None, -2.0], pl.Series([1.5, NAN, -2.0])),
    "pd interval category": (
        *("category", ["(0, 1]", "(1, 2]", "(0, 1]"]),
        pd.cut(pd.Series([0.5, 1.5, 0.7]), [0, 1, 2]),
    ),
    "pd microseconds": ("date", MOMENTS, pd.Series(pd.to_datetime(MOMENTS))),
    "pl microseconds": ("date", MOMENTS, pl.Series(MOMENTS)),
    "pd milliseconds": ("number", SECONDS, pd.Series(pd.to_timedelta(DURATIONS))),
    "pl milliseconds": ("number", SECONDS, pl.Series(DURATIONS)),
    "pl time": ("number", [3661.5, None], pl.Series([dt.time(1, 1, 1, 500_000), None])),
    "pa empty text": ("category", [None, None], pa.array([None, None], pa.string())),
}


def frame_of(**columns):
    first = next(iter(columns.values()))
    if isinstance(first, pa.Array):
        return pa.table(columns)
    kind = pl.DataFrame if isinstance(first, pl.Series) else pd.DataFrame
    return kind(columns)


def assert_read(column, kind, values):
    table = read_table(frame_of(a=column))
    found = table.column(0)
    assert (table.n_rows, table.n_features, table.names) == (len(column), 1, ["a"])
    assert not (table.is_numeric_matrix or table.is_sparse)
    assert found.kind == kind
    assert values_of(found) == values


@pytest.mark.parametrize("case", ODD_COLUMNS)
def test_an_odd_column_of_a_frame_is_read_as_its_values(case):
    kind, expected, column = ODD_COLUMNS[case]
    assert_read(column, kind, expected)


KINDS = {"truth": "boolean", "text": "category", "day": "date", "moment": "date"}
READ_AS = {
    **dict.fromkeys(("truth", "text", "moment"), lambda value: value),
    "day": lambda day: dt.datetime.combine(day, dt.time()),
    "span": dt.timedelta.total_seconds,
    "clock": lambda time: 3600.0 * time.hour + 60 * time.minute,
    "decimal": lambda value: pytest.approx(float(value)),
}
IS_OLD_PANDAS = pd.__version__ < "3"  # takes a zone off by going to UTC


def reading_of(name, kind, values):
    """Return the kind and the values that a column of a dtype is read as."""
    read_as = READ_AS.get(kind, float)
    if "categories" in name or "number dictionary" in name:
        read_as = str if kind == "moment" or name.startswith("pyarrow") else read_as
        kind = "text"
    elif "offset" in name or "arrow zoned" in name:  # whose moments are of UTC
        zone = INDIA if "offset" in name else ZoneInfo(ZONE)
        zone = dt.UTC if name.startswith("pandas") and IS_OLD_PANDAS else zone

        def read_as(moment):
            there = moment.replace(tzinfo=dt.UTC).astimezone(zone)
            return there.replace(tzinfo=None)

    read = [None if value is None else read_as(value) for value in values]
    return KINDS.get(kind, "number"), read


@pytest.mark.parametrize(("library", "name"), [(k, n) for k in TAKEN for n in TAKEN[k]])
def test_a_column_of_any_dtype_is_read_as_its_values(library, name):
    kind, make = TAKEN[library][name]
    values = cells(kind, "none", 9, np.random.default_rng(1))
    if name not in ("bool", *INTEGERS) and "sparse" not in name:
        values[3] = None
    if library == "pandas" and IS_OLD_PANDAS:  # whose categories take NUL for ""
        values = ["nul" if value == "\0" else value for value in values]
    column = make(values)
    if name.lower() == "null":
        values, kind = [None] * 9, "number"
    assert_read(column, *reading_of(f"{library} {name}", kind, values))


@pytest.mark.parametrize("case", ARRAYS)
def test_a_numeric_array_is_one_matrix(case):
    table = read_table(ARRAYS[case])
    assert table.is_numeric_matrix
    assert (table.n_rows, table.n_features, table.names) == (3, 2, None)
    assert table.matrix().dtype in (np.float32, np.float64)
    np.testing.assert_array_equal(table.matrix(), MATRIX)
    assert values_of(table.column(1)) == [0, 2, 1]


def test_arrays_of_truths_gaps_and_large_integers_are_read():
    table = read_table(np.array(MATRIX) > 0)
    assert table.is_numeric_matrix
    assert table.column(0).kind == "boolean"
    np.testing.assert_array_equal(table.matrix(), np.array(MATRIX) > 0)
    table = read_table(np.array([[1, NAN], [2, 3]]))  # a gap in one column alone
    assert table.column(0).is_missing is None
    assert values_of(table.column(1)) == [None, 3.0]
    masked = np.ma.masked_equal(np.array(MATRIX), 0)
    assert values_of(read_table(masked).column(0)) == [1, None, 3]
    table = read_table(np.array([[BIG], [1]]))  # the nearest float64
    assert table.matrix().tolist() == [[float(BIG)], [1.0]]


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


ZONES = [None] if IS_OLD_PANDAS else [None, "Europe/Berlin"]


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
