import datetime as dt
from decimal import Decimal
from fractions import Fraction

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from featuresieve.tables import (
    as_library,
    plain_array,
    put_columns,
    read_table,
    take_columns,
)
from many_tables import ARRAYS, FORMATS, MATRIX, frames


@given(frames(), st.randoms(use_true_random=False))
def test_taken_columns_of_frames_are_the_same_columns(frame, random):
    features = random.choices(range(frame.width), k=random.randint(1, frame.width))
    features = list(dict.fromkeys(features))
    names = [frame.columns[j] for j in features]
    polars_taken = take_columns(frame, np.array(features))
    assert polars_taken.equals(frame.select(names))
    assert polars_taken.schema == frame.select(names).schema
    arrow = frame.to_arrow()
    arrow_taken = take_columns(arrow, np.array(features))
    assert arrow_taken.schema == arrow.select(names).schema
    assert pl.from_arrow(arrow_taken).equals(frame.select(names))  # NaN equals NaN
    pandas = frame.to_pandas().set_index(np.arange(frame.height) + 10)
    expected = pandas.iloc[:, features]
    pd.testing.assert_frame_equal(take_columns(pandas, np.array(features)), expected)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("container", ["array", "matrix"])
def test_taken_and_put_columns_of_a_sparse_matrix_keep_its_format(form, container):
    kind = getattr(sparse, f"{form}_{container}")
    X = kind(np.array(MATRIX, dtype=np.float32))
    taken = take_columns(X, np.array([1]))
    wide = put_columns(X, SUPPORT, None)
    for found in (taken, wide):
        assert isinstance(found, kind)
        assert found.dtype == np.float32
    np.testing.assert_array_equal(taken.toarray(), np.array(MATRIX)[:, [1]])
    expected = np.zeros((len(MATRIX), 4))
    expected[:, 1:3] = MATRIX
    np.testing.assert_array_equal(wide.toarray(), expected)


@pytest.mark.parametrize("case", [c for c in ARRAYS if c not in ("list", "tuples")])
def test_taken_columns_of_an_array_keep_type_and_dtype(case):
    X = ARRAYS[case]
    taken = take_columns(X, np.array([1, 0]))
    assert type(taken) is type(X)
    assert taken.dtype == X.dtype
    assert taken.tolist() == [[b, a] for a, b in MATRIX]


def test_taken_columns_of_a_list_are_an_array_and_of_narwhals_a_frame():
    taken = take_columns([[1, "a"], [2, "b"]], np.array([1]))
    assert isinstance(taken, np.ndarray)
    assert taken.tolist() == [["a"], ["b"]]
    X = nw.from_native(pl.DataFrame({"a": [1], "b": [2]}))
    assert isinstance(take_columns(X, np.array([1])), nw.DataFrame)


@pytest.mark.gpu
def test_a_tensor_on_the_gpu_is_read_and_taken_there():
    X = torch.tensor(MATRIX, dtype=torch.float32, device="cuda")
    np.testing.assert_array_equal(read_table(X).matrix(), MATRIX)
    assert take_columns(X, np.array([1])).device == X.device


# All columns again: those that were left out are zero.

SUPPORT = np.array([False, True, True, False])


@given(frames())
def test_put_columns_of_frames_are_those_that_were_taken(frame):
    support = np.append(np.ones(frame.width, dtype=bool), False)
    names = [*frame.columns, "left out"]
    polars_put = put_columns(frame, support, names)
    assert polars_put.select(frame.columns).equals(frame)
    assert polars_put["left out"].to_list() == [0.0] * frame.height
    assert put_columns(frame.to_arrow(), support, names).column_names == names
    pandas = frame.to_pandas().set_index(np.arange(frame.height) + 10)
    expected = pandas.assign(**{"left out": 0.0})
    pd.testing.assert_frame_equal(put_columns(pandas, support, names), expected)


def test_put_columns_of_a_frame_have_the_names_and_the_order_of_fit():
    X = pd.DataFrame({"b": [1.5, None], "c": ["x", None]})
    found = put_columns(X, SUPPORT, ["a", "b", "c", "d"])
    assert list(found.columns) == ["a", "b", "c", "d"]
    pd.testing.assert_frame_equal(found[["b", "c"]], X)
    with pytest.raises(
        ValueError, match="those that transform returns, b, c, got c, b"
    ):
        put_columns(X[["c", "b"]], SUPPORT, ["a", "b", "c", "d"])


def test_put_columns_without_names_are_numbered_and_keep_dtype_and_gaps():
    X = nw.from_native(pl.DataFrame({"p": [1], "q": [2]}))
    found = put_columns(X, SUPPORT, None)
    assert isinstance(found, nw.DataFrame)
    assert found.columns == ["x0", "x1", "x2", "x3"]
    X = np.array([[1, np.nan], [2, 3]], dtype=np.float32)
    found = put_columns(X, SUPPORT, None)
    np.testing.assert_array_equal(found, [[0, 1, np.nan, 0], [0, 2, 3, 0]])
    assert found.dtype == np.float32
    tensor = put_columns(torch.tensor(X), SUPPORT, None)
    np.testing.assert_array_equal(tensor.numpy(), found)


@pytest.mark.parametrize(
    "X", [np.ones((2, 3)), torch.ones(2), sparse.eye(3), pd.DataFrame([[1, 2, 3]])]
)
def test_put_columns_refuse_another_width(X):
    with pytest.raises(ValueError, match="must have the 2 columns that transform"):
        put_columns(X, SUPPORT, None)


@pytest.mark.parametrize(
    "X",
    [
        torch.tensor(MATRIX, dtype=torch.uint16),
        torch.tensor(MATRIX, dtype=torch.bfloat16),
        np.array(MATRIX, dtype=np.longdouble),
    ],
    ids=["uint16", "bfloat16", "longdouble"],
)
def test_put_columns_keep_rare_dtypes(X):
    wide = put_columns(X, SUPPORT, None)
    assert wide.dtype == X.dtype
    assert wide[:, np.flatnonzero(SUPPORT).tolist()].tolist() == MATRIX


# The array that scikit-learn makes of a table.


def test_plain_arrays_are_those_of_scikit_learn():
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": ["x", "y"]})
    for X in (frame, pl.DataFrame(frame), nw.from_native(frame)):
        found = plain_array(X)
        assert type(found) is np.ndarray
        assert found[0].tolist() == [1.0, "x"]
    whole = plain_array(pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}))
    np.testing.assert_array_equal(whole, [[1.0], [np.nan]])
    tensor = torch.ones(2, 1, requires_grad=True)
    np.testing.assert_array_equal(plain_array(tensor), [[1.0], [1.0]])
    assert sparse.issparse(plain_array(sparse.csr_array(np.eye(2))))


@pytest.mark.parametrize("n_rows", [0, 3])
def test_columns_of_a_record_batch_are_a_record_batch(n_rows):
    batch = pa.RecordBatch.from_pydict(
        {"a": np.ones(n_rows), "b\0": ["x"] * n_rows, "c": np.ones(n_rows, np.float16)}
    ).replace_schema_metadata({"made": "here"})
    taken = take_columns(batch, np.array([1, 2]))
    assert taken.equals(batch.select([1, 2]))
    assert taken.schema.metadata == batch.schema.metadata
    wide = put_columns(taken, np.array([False, True, True]), ["a", "b\0", "c"])
    assert isinstance(wide, pa.RecordBatch)
    assert wide.schema.names == ["a", "b\0", "c"]


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, nw.from_native, pd.DataFrame])
def test_plain_arrays_of_columns_without_a_common_dtype_hold_objects(make):
    days = [dt.date(2021, 3, 4), None]
    columns = {"when": pl.Series(days), "n": pl.Series([1, 2], dtype=pl.Int128)}
    if make in (pa.table, pd.DataFrame):
        columns = {"when": pd.Series(days, dtype="datetime64[us]"), "n": [1, 2]}
    frame = make(pl.DataFrame(columns) if make is nw.from_native else columns)
    found = plain_array(frame)
    assert (found.shape, found.dtype) == ((2, 2), object)
    assert found[:, 1].tolist() == [1, 2]


# A frame of another library, which `set_output` asks for.


def test_values_that_a_library_has_no_columns_for_are_refused():
    fractions = pd.DataFrame({"a": pd.Series([Fraction(1, 3)], dtype=object)})
    long = pa.table({"a": pa.array([Decimal(1)], pa.decimal256(50, 2))})  # a panic
    days = np.array([[1]], dtype="m8[D]")
    for X in (fractions, long, days):
        with pytest.raises(ValueError, match="do not fit into a frame of polars"):
            as_library("polars", X, np.array(["a"]))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_record_batch_becomes_the_frame_that_is_asked_for(library):
    batch = pa.RecordBatch.from_pydict({"a": [1.0, 2.0], "b": ["x", "y"]})
    frame = as_library(library, batch, np.array(["a", "b"]))
    assert type(frame).__module__.split(".")[0] == library
    assert list(frame["b"]) == ["x", "y"]
