"""What is no table in memory is refused, with the form to pass instead."""

from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np

_OR_A_STREAM = "; fit reads what does not fit into memory from Parquet, by its path: "
# What to pass instead of what is lazy, or can be read only once, by library and class.
_INSTEAD = {
    ("dask", "DataFrame"): f"X.compute(){_OR_A_STREAM}X.to_parquet(path)",
    ("duckdb", "DuckDBPyRelation"): "X.df() or X.pl()",
    ("duckdb", "DuckDBPyConnection"): "a relation, such as X.table(name)",
    ("ibis", "Table"): (
        f"X.to_pandas() or X.to_polars(){_OR_A_STREAM}X.to_parquet(path)"
    ),
    ("narwhals", "LazyFrame"): f"X.collect(){_OR_A_STREAM}X.sink_parquet(path)",
    ("polars", "LazyFrame"): f"X.collect(){_OR_A_STREAM}X.sink_parquet(path)",
    ("pyarrow", "Dataset"): "X.to_table()",
    ("pyarrow", "RecordBatchReader"): "X.read_all()",
    ("pyarrow", "Scanner"): "X.to_table(), or to fit X.to_reader()",
    ("pyspark", "DataFrame"): f"X.toPandas(){_OR_A_STREAM}X.write.parquet(path)",
    ("sqlframe", "BaseDataFrame"): "X.toPandas()",
    ("torch", "DataLoader"): "the features of all rows as one tensor of two dimensions",
    ("torch", "Dataset"): "the features of all rows as one tensor of two dimensions",
    ("torch", "TensorDataset"): "the tensor that holds the features, X.tensors[0]",
    ("xarray", "Dataset"): "X.to_dataframe()",
}


def form_error(X: Any, instead: str) -> TypeError:
    """Build the error for what holds no table."""
    name = f"{type(X).__module__}.{type(X).__name__}".removeprefix("builtins.")
    return TypeError(f"X is a {name}, which is not read as a table: pass {instead}.")


def refuse_other_forms(X: Any) -> None:
    """Say what to pass instead of objects that other libraries make of tables."""
    for base in type(X).__mro__:
        library = base.__module__.split(".")[0].removeprefix("_")
        instead = _INSTEAD.get((library, base.__name__))
        if instead is not None:
            raise form_error(X, instead)


def refuse_containers(X: Any) -> None:
    """Say what to pass instead of containers of Python that are no list of rows."""
    if isinstance(X, Iterator):
        raise form_error(X, "a list of its rows, such as list(X)")
    is_records = isinstance(X, list | tuple) and X and isinstance(X[0], Mapping)
    if isinstance(X, Mapping) or is_records:
        is_row = not is_records and all(np.ndim(value) == 0 for value in X.values())
        rows = "[X]" if is_row else "X"
        raise form_error(X, f"a data frame, such as pandas.DataFrame({rows})")
    if isinstance(X, Set):
        raise form_error(X, "a list of rows, which have an order")
    if isinstance(X, str | bytes):
        raise form_error(X, "what the file holds, such as pandas.read_csv(X)")
