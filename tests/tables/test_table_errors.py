import datetime as dt
import warnings

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


with warnings.catch_warnings():
    warnings.simplefilter("ignore", PendingDeprecationWarning)
    NUMPY_MATRIX = np.matrix("1 2")
# What is said of tables, and these.
REFUSED_VALUES = {
    "Expected 2D array, got 1D array": ([1.0, 2.0], pl.Series([1.0])),
    "Reshape your data": (torch.ones(3),),
    "Expected 2D array, got scalar array": (3.0,),
    "dim 3": (np.ones((2, 2, 2)),),
    r"0 sample\(s\)": (np.ones((0, 2)), sparse.csr_array((0, 2))),
    r"0 sample\(s\) \(shape=\(0, 1\)\)": (pd.DataFrame({"a": []}),),
    r"0 feature\(s\) \(shape=\(2, 0\)\) while a minimum of 1 is required": (
        *(np.ones((2, 0)), pd.DataFrame(index=[0, 1])),
    ),
    "equal lengths": ([[1, 2], [3]],),
    "Complex data not supported": (
        *(np.ones((2, 2)) * 1j, torch.ones(2, 2) * 1j),
        sparse.csr_array(np.eye(2) * 1j),
    ),
    "Complex data not supported: column 'a' .* never_keep leaves": (
        pd.DataFrame({"a": [1j]}),
    ),
    "Complex data not supported: column 0": (spoiled(1j),),
    "Input X contains infinity or a value too large.*column 0 holds -inf in row 1": (
        spoiled(-np.inf, float),
    ),
    "column 0 holds inf in row 1": (spoiled(np.inf, np.float16), spoiled(np.inf)),
    "column 0 holds inf in row 0": (torch.tensor([[np.inf]]),),
    "column 'age' holds inf in row 2": (pl.DataFrame({"age": [1.0, None, np.inf]}),),
    "column 1 holds inf in row 1": (sparse.coo_array(np.diag([1, np.inf])),),
    "column 1 of X holds NaN in row 1: a sparse matrix may not": (
        sparse.csr_array(np.diag([1, NAN])),
    ),
    "infinity.*column 0.*row 1": (spoiled(10**400),),
    "column names of X must differ, got a, b more than once": (
        pd.DataFrame([[1, 2, 3, 4]], columns=["a", "b", "a", "b"]),
    ),
    "names of X must differ, got a more than once": (
        pa.table([[1], [2]], names=["a", "a"]),
        pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]),
    ),
}
LAZY = pl.LazyFrame({"a": [1]})
ONE = pd.DataFrame({"a": [1]})
ARROW = pa.table({"a": [1]})
ROWS = TensorDataset(torch.ones(2, 2))
REFUSED_TYPES = {
    r"X is a polars.*LazyFrame, which is not read as a table: pass X\.collect\(\)": (
        LAZY,
    ),
    r"pass X\.collect\(\)": (nw.from_native(LAZY),),
    r"pass X\.compute\(\)": (dask.dataframe.from_pandas(ONE),),
    r"pass X\.read_all\(\)": (ARROW.to_reader(),),
    r"pass X\.to_table\(\)": (
        *(arrow_dataset.dataset(ARROW), arrow_dataset.dataset(ARROW).scanner()),
    ),
    r"TensorDataset.*pass the tensor.* X\.tensors\[0\]": (ROWS,),
    "pass the features of all rows as one tensor": (
        *(Subset(ROWS, [0]), DataLoader(ROWS)),
    ),
    r"generator.* list\(X\)": (([i, 1] for i in range(3)),),
    r"list\(X\)": (zip([1, 2], [3, 4], strict=True),),
    r"X is a dict.* pandas\.DataFrame\(X\)": ({"a": [1, 2]},),
    r"X is a dict.* pandas\.DataFrame\(\[X\]\)": ({"a": 1, "b": "x"},),
    r"pandas\.DataFrame\(X\)": ([{"a": 1}, {"a": 2}],),
    "X is a set.* a list of rows": ({(1, 2), (3, 4)},),
    r"X is a str.* pandas\.read_csv\(X\)": ("table.csv",),
    "X is a NoneType.*a data frame, an array or a list": (None,),
    "GroupBy, which is not read as a table: pass a data frame": (ONE.groupby("a"),),
    "fields a": (np.ones(2, dtype=[("a", float)]),),
    "np.matrix is not supported": (NUMPY_MATRIX,),
    "column 0 of X has dtype": (np.array([[b"a"]]),),
    "column 'a' of X mixes kinds: the str 'x' in row 0 and the int 7 in row 100": (
        ends(7),
    ),
    "column 0 of X mixes kinds: the float 1.0 in row 0 and the str 'x' in row 1": (
        spoiled("x"),
    ),
    "mixes kinds": (ends(dt.date(2021, 3, 4)),),
    # scikit-learn's checks look for the words in the middle.
    r"column 0 of X holds the dict \{'foo': 'bar'\} in row 1.*"
    "argument must be .* string.* number": (spoiled({"foo": "bar"}),),
    "the dict .* in row 100": (ends({"k": 1}),),
    r"column 'a' of X holds the list \[1, 2\] in row 1; a cell .* must be .* "
    "never_keep leaves a column out": (pl.DataFrame({"a": [None, [1, 2]]}),),
    "the dict": (pl.DataFrame({"a": [{"b": 1}]}),),
    "the bytes b'x' in row 0": (pa.table({"a": [b"x"]}),),
    r"the list \[0, .*\.\.\. in row 100": (ends([0] * 1000),),
    r"the Period.* dates of it, such as X\['a'\]\.dt\.to_timestamp\(\); never_keep": (
        pd.DataFrame({"a": pd.period_range("2021", periods=1, freq="M")}),
    ),
    r"the Interval.* text of it, such as X\['a'\]\.astype\(str\); never_keep": (
        pd.DataFrame({"a": pd.interval_range(0, periods=2)}),
    ),
    r"row 1; .* one kind, such as X\[:, 0\]\.astype\(str\); never_keep": (
        spoiled("x"),
    ),
    r"X\.to_dense\(\)": (torch.eye(2).to_sparse(),),
}
CASES = [
    (error, message, X)
    for error, refused in ((ValueError, REFUSED_VALUES), (TypeError, REFUSED_TYPES))
    for message, tables in refused.items()
    for X in tables
]


@pytest.mark.parametrize(("error", "message", "X"), CASES)
def test_bad_input_is_named(error, message, X):
    with pytest.raises(error, match=f"(?s){message}"):
        read_table(X).column(1 if sparse.issparse(X) else 0)


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
    with pytest.raises(TypeError, match="numeric array"):
        read_table(pd.DataFrame({"a": [1]})).matrix()
