"""What cannot be read as a table ends in an error that names it."""

import datetime as dt

import dask.dataframe
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as arrow_dataset
import pytest
import torch
from scipy import sparse
from torch.utils.data import DataLoader, Subset, TensorDataset

from featuresieve.tables import read_table

NAN = float("nan")


def ends(value):
    """Return a hundred and one rows of which only the last is odd."""
    return pd.DataFrame({"a": pd.Series(["x"] * 100 + [value], dtype=object)})


def spoiled(value, dtype=object):
    X = np.array([[1.0, 2.0], [3.0, 4.0]], dtype=dtype)
    X[1, 0] = value
    return X


BAD = {
    "one dimension": ([1.0, 2.0], ValueError, "Expected 2D array, got 1D array"),
    "a tensor of one": (torch.ones(3), ValueError, "Reshape your data"),
    "a series": (pl.Series([1.0]), ValueError, "Expected 2D array, got 1D array"),
    "a number": (3.0, ValueError, "Expected 2D array, got scalar array"),
    "three dimensions": (np.ones((2, 2, 2)), ValueError, "dim 3"),
    "no rows": (np.ones((0, 2)), ValueError, r"0 sample\(s\)"),
    "no columns": (
        *(np.ones((2, 0)), ValueError),
        r"0 feature\(s\) \(shape=\(2, 0\)\) while a minimum of 1 is required",
    ),
    "a frame without rows": (
        *(pd.DataFrame({"a": []}), ValueError),
        r"0 sample\(s\) \(shape=\(0, 1\)\)",
    ),
    "a frame without columns": (
        *(pd.DataFrame(index=[0, 1]), ValueError),
        r"0 feature\(s\) \(shape=\(2, 0\)\) while a minimum of 1 is required",
    ),
    "sparse without rows": (sparse.csr_array((0, 2)), ValueError, r"0 sample\(s\)"),
    "ragged lists": ([[1, 2], [3]], ValueError, "equal lengths"),
    "lazy": (
        *(pl.LazyFrame({"a": [1]}), TypeError),
        r"X is a polars.*LazyFrame, which is not read as a table: pass X\.collect\(\)",
    ),
    "lazy narwhals": (
        *(nw.from_native(pl.LazyFrame({"a": [1]})), TypeError),
        r"pass X\.collect\(\)",
    ),
    "lazy dask": (
        *(dask.dataframe.from_pandas(pd.DataFrame({"a": [1]})), TypeError),
        r"pass X\.compute\(\)",
    ),
    "a stream": (
        *(pa.table({"a": [1]}).to_reader(), TypeError),
        r"pass X\.read_all\(\)",
    ),
    "a dataset": (
        *(arrow_dataset.dataset(pa.table({"a": [1]})), TypeError),
        r"pass X\.to_table\(\)",
    ),
    "a scanner": (
        *(arrow_dataset.dataset(pa.table({"a": [1]})).scanner(), TypeError),
        r"pass X\.to_table\(\)",
    ),
    "a dataset of torch": (
        *(TensorDataset(torch.ones(2, 2)), TypeError),
        r"TensorDataset.*pass the tensor.* X\.tensors\[0\]",
    ),
    "a subset of torch": (
        *(Subset(TensorDataset(torch.ones(2, 2)), [0]), TypeError),
        "pass the features of all rows as one tensor",
    ),
    "a loader": (
        *(DataLoader(TensorDataset(torch.ones(2, 2))), TypeError),
        "pass the features of all rows as one tensor",
    ),
    "a generator": (([i, 1] for i in range(3)), TypeError, r"generator.* list\(X\)"),
    "zipped columns": (zip([1, 2], [3, 4], strict=True), TypeError, r"list\(X\)"),
    "a dict": ({"a": [1, 2]}, TypeError, r"X is a dict.* pandas\.DataFrame\(X\)"),
    "records": ([{"a": 1}, {"a": 2}], TypeError, r"pandas\.DataFrame\(X\)"),
    "a set": ({(1, 2), (3, 4)}, TypeError, "X is a set.* a list of rows"),
    "a path": ("table.csv", TypeError, r"X is a str.* pandas\.read_csv\(X\)"),
    "nothing": (None, TypeError, "X is a NoneType.*a data frame, an array or a list"),
    "groups of rows": (
        *(pd.DataFrame({"a": [1, 1, 2]}).groupby("a"), TypeError),
        "GroupBy, which is not read as a table: pass a data frame",
    ),
    "structured": (np.ones(2, dtype=[("a", float)]), TypeError, "fields a"),
    "np.matrix": (np.matrix("1 2"), TypeError, "np.matrix is not supported"),
    "bytes": (np.array([[b"a"]]), TypeError, "column 0 of X has dtype"),
    "complex": (np.ones((2, 2)) * 1j, ValueError, "Complex data not supported"),
    "complex tensor": (
        *(torch.ones(2, 2) * 1j, ValueError),
        "Complex data not supported",
    ),
    "complex sparse": (
        *(sparse.csr_array(np.eye(2) * 1j), ValueError),
        "Complex data not supported",
    ),
    "complex column": (
        *(pd.DataFrame({"a": [1j]}), ValueError),
        "Complex data not supported: column 'a' .* never_keep leaves",
    ),
    "complex object": (spoiled(1j), ValueError, "Complex data not supported: column 0"),
    "infinite": (
        *(spoiled(-np.inf, float), ValueError),
        "Input X contains infinity or a value too large.*column 0 holds -inf in row 1",
    ),
    "infinite float16": (spoiled(np.inf, np.float16), ValueError, "inf in row 1"),
    "infinite object": (spoiled(np.inf), ValueError, "column 0 holds inf in row 1"),
    "infinite tensor": (
        *(torch.tensor([[np.inf]]), ValueError),
        "column 0 holds inf in row 0",
    ),
    "infinite column": (
        *(pl.DataFrame({"age": [1.0, None, np.inf]}), ValueError),
        "column 'age' holds inf in row 2",
    ),
    "infinite sparse": (
        *(sparse.coo_array(np.diag([1, np.inf])), ValueError),
        "column 1 holds inf in row 1",
    ),
    "missing sparse": (
        *(sparse.csr_array(np.diag([1, NAN])), ValueError),
        "column 1 of X holds NaN in row 1: a sparse matrix may not",
    ),
    "huge integer": (spoiled(10**400), ValueError, "infinity.*column 0.*row 1"),
    "number among text": (
        *(ends(7), TypeError),
        "column 'a' of X mixes kinds: the str 'x' in row 0 and the int 7 in row 100",
    ),
    "text among numbers": (
        *(spoiled("x"), TypeError),
        "column 0 of X mixes kinds: the float 1.0 in row 0 and the str 'x' in row 1",
    ),
    "date among text": (ends(dt.date(2021, 3, 4)), TypeError, "mixes kinds"),
    "dict": (
        *(spoiled({"foo": "bar"}), TypeError),
        # scikit-learn's checks look for the words in the middle.
        r"column 0 of X holds the dict \{'foo': 'bar'\} in row 1.*"
        "argument must be .* string.* number",
    ),
    "dict among text": (ends({"k": 1}), TypeError, "the dict .* in row 100"),
    "list cells": (
        *(pl.DataFrame({"a": [None, [1, 2]]}), TypeError),
        r"column 'a' of X holds the list \[1, 2\] in row 1; a cell .* must be .* "
        "never_keep leaves a column out",
    ),
    "struct cells": (pl.DataFrame({"a": [{"b": 1}]}), TypeError, "the dict"),
    "bytes cells": (pa.table({"a": [b"x"]}), TypeError, "the bytes b'x' in row 0"),
    "a long cell": (ends([0] * 1000), TypeError, r"the list \[0, .*\.\.\. in row 100"),
    "periods": (
        *(pd.DataFrame({"a": pd.period_range("2021", periods=1, freq="M")}), TypeError),
        "the Period",
    ),
    "repeated names": (
        *(pd.DataFrame([[1, 2, 3, 4]], columns=["a", "b", "a", "b"]), ValueError),
        "column names of X must differ, got a, b more than once",
    ),
    "repeated arrow names": (
        *(pa.table([[1], [2]], names=["a", "a"]), ValueError),
        "must differ, got a more than once",
    ),
    "sparse tensor": (torch.eye(2).to_sparse(), TypeError, r"X\.to_dense\(\)"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case):
    X, error, message = BAD[case]
    with pytest.raises(error, match=f"(?s){message}"):
        read_table(X).column(0 if "sparse" not in case else 1)


def test_other_forms_are_known_by_the_names_of_their_classes():
    # Libraries that are not installed here: a class of the name is enough.
    for library, name, advice in (
        ("ibis.expr.types", "Table", r"X\.to_pandas\(\)"),
        ("pyspark.sql.classic.dataframe", "DataFrame", r"X\.toPandas\(\)"),
        ("_duckdb", "DuckDBPyRelation", r"X\.df\(\)"),
    ):
        kind = type("Derived", (type(name, (), {"__module__": library}),), {})
        with pytest.raises(TypeError, match=advice):
            read_table(kind())


def test_only_a_numeric_array_has_a_matrix():
    with pytest.raises(TypeError, match="numeric array"):
        read_table(pd.DataFrame({"a": [1]})).matrix()


def test_names_that_repeat_in_a_record_batch_are_named():
    batch = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(ValueError, match="names of X must differ, got a more than"):
        read_table(batch)
