"""Selected columns come back as the type that came in."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from featuresieve._table import read_table, take_columns
from many_tables import ARRAYS, FORMATS, MATRIX, frames


@given(frames(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
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
def test_taken_columns_of_a_sparse_matrix_keep_its_format(form, container):
    kind = getattr(sparse, f"{form}_{container}")
    taken = take_columns(kind(np.array(MATRIX, dtype=np.float32)), np.array([1]))
    assert isinstance(taken, kind)
    assert taken.dtype == np.float32
    np.testing.assert_array_equal(taken.toarray(), np.array(MATRIX)[:, [1]])


@pytest.mark.parametrize("case", [c for c in ARRAYS if c not in ("list", "tuples")])
def test_taken_columns_of_an_array_keep_type_and_dtype(case):
    X = ARRAYS[case]
    taken = take_columns(X, np.array([1, 0]))
    assert type(taken) is type(X)
    assert taken.dtype == X.dtype
    assert taken.tolist() == [[b, a] for a, b in MATRIX]


def test_taken_columns_of_a_list_are_an_array():
    taken = take_columns([[1, "a"], [2, "b"]], np.array([1]))
    assert isinstance(taken, np.ndarray)
    assert taken.tolist() == [["a"], ["b"]]


def test_taken_columns_of_a_narwhals_frame_are_one():
    X = nw.from_native(pl.DataFrame({"a": [1], "b": [2]}))
    assert isinstance(take_columns(X, np.array([1])), nw.DataFrame)


@pytest.mark.gpu
def test_a_tensor_on_the_gpu_is_read_and_taken_there():
    X = torch.tensor(MATRIX, dtype=torch.float32, device="cuda")
    np.testing.assert_array_equal(read_table(X).matrix(), MATRIX)
    assert take_columns(X, np.array([1])).device == X.device
