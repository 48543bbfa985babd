"""Tables without names, drawn at random for `any_table`: arrays, lists, tensors.

Each function returns the table, its faults as a whole, its bad columns, the labels of
its columns, and what it was made of.
"""

import numpy as np
import torch
from hypothesis import strategies as st
from scipy import sparse

from any_columns import INTEGERS, READABLE, UNREADABLE, cells, holes_of
from many_tables import FORMATS

FLOATS = ("float16", "float32", "float64", "longdouble", ">f8", "<f4")
DATES = [
    f"{kind}8[{unit}]" for kind in "Mm" for unit in ("D", "h", *("s", "ms", "us", "ns"))
]
DTYPES = (*INTEGERS, "bool", ">i4", *FLOATS, *DATES, "U3", "M8[Y]", "string")
COMPLEX = ("complex64", "complex128")
BAD_DTYPES = ("S3", "V4", *COMPLEX, "clongdouble", "infinite", "fields")


def numbers(rng, n_rows, n_columns):
    """Return a matrix of small whole numbers, some columns of it constant or equal."""
    values = rng.integers(0, rng.integers(1, 100) + 1, (n_rows, n_columns))
    if n_columns > 1 and rng.random() < 0.3:
        values[:, 0] = values[:, -1]
    if n_rows > 1 and rng.random() < 0.3:
        values[0] = values[-1]
    return values


def arrays(draw, _, n_rows, n_columns, rng):
    """Draw an array of one dtype, perhaps masked, in any layout of memory."""
    is_good = draw(st.integers(0, 9)) < 9
    dtype = draw(st.sampled_from(DTYPES if is_good else BAD_DTYPES))
    values = numbers(rng, n_rows, n_columns)
    if dtype == "string":  # numpy has it since version 2
        kind = getattr(np.dtypes, "StringDType", None)
        values = values.astype(object if kind is None else kind())
    elif dtype == "infinite":
        values = np.where(values >= 0, np.inf, 0.0)
    elif dtype == "fields":
        values = np.zeros(n_rows, dtype=[(f"x{j}", float) for j in range(n_columns)])
    elif dtype == "V4":
        values = values.astype("i4").view("V4")
    else:
        values = values.astype(dtype)
    if values.dtype.kind in "fmM" and is_good:
        holes = rng.random(values.shape) < draw(st.sampled_from([0, 0.2, 1]))
        values[holes] = "NaT" if values.dtype.kind in "mM" else np.nan
    if dtype in ("float64", ">f8", "longdouble"):
        values = values * 10.0 ** draw(st.sampled_from([0, 0, 300, -300, -320]))
    layout = draw(
        st.sampled_from(["C", "F", "strided", "backwards", "read-only", "masked"])
    )
    values = laid_out(values, layout, rng)
    faults = [] if is_good else [f"dtype {dtype}"]
    return values, faults, [], list(range(n_columns)), [dtype, layout]


def laid_out(values, layout, rng):
    if layout == "F":
        return np.asfortranarray(values)
    if layout == "strided":
        return np.repeat(values, 2, axis=0)[::2]
    if layout == "backwards":
        return values[::-1].copy()[::-1]
    if layout == "masked" and values.dtype.kind in "biufmMU":
        return np.ma.array(values, mask=rng.random(values.shape) < 0.2)
    values.flags.writeable = layout != "read-only"
    return values


def object_tables(draw, _, n_rows, n_columns, rng):
    """Draw nested lists, tuples or an array of objects: each column of one kind."""
    columns, bad, kinds = [], [], []
    for j in range(n_columns):
        is_good = draw(st.integers(0, 14)) < 14
        kind = draw(st.sampled_from(READABLE if is_good else [*UNREADABLE, "mixed"]))
        holes = draw(holes_of)
        kinds.append((kind, holes))
        if kind == "mixed":
            columns.append((["a", 1.5] * n_rows)[: max(n_rows, 2)])
        else:
            columns.append(cells(kind, holes, n_rows, rng))
        if not is_good:
            bad.append(j)
    X = np.empty((n_rows, n_columns), dtype=object)
    for j, column in enumerate(columns):
        for row in range(n_rows):
            X[row, j] = column[row]
    form = draw(st.sampled_from(["array", "lists", "tuples"]))
    faults = []
    if form != "array" and any(kind == "list" for kind, _ in kinds):
        faults, bad = ["lists in cells"], []  # numpy no longer knows where
    if form == "lists":
        X = X.tolist()
    elif form == "tuples":
        X = tuple(map(tuple, X.tolist()))
    return X, faults, bad, list(range(n_columns)), [form, kinds]


def sparse_matrices(draw, _, n_rows, n_columns, rng):
    is_good = draw(st.integers(0, 9)) < 9
    good = ("bool", *INTEGERS, "float32", "float64", "longdouble")
    dtype = draw(st.sampled_from(good if is_good else ("complex128", "inf", "nan")))
    values = numbers(rng, n_rows, n_columns) * (rng.random((n_rows, n_columns)) < 0.4)
    if dtype in ("inf", "nan"):
        values = np.where(np.arange(n_columns) == 0, float(dtype), values)
    else:
        values = values.astype(dtype)
    name = draw(st.sampled_from(FORMATS)) + draw(st.sampled_from(["_array", "_matrix"]))
    X = getattr(sparse, name)(values)
    if name.startswith("coo") and X.nnz and draw(st.booleans()):  # one cell twice
        twice = (
            np.r_[X.data, X.data[:1]],
            (np.r_[X.row, X.row[:1]], np.r_[X.col, X.col[:1]]),
        )
        X = type(X)(twice, shape=X.shape)
    faults = [] if is_good else [f"dtype {dtype}"]
    return X, faults, [], list(range(n_columns)), [name, dtype]


TENSORS = [*INTEGERS, "bool", "float16", "bfloat16", "float32", "float64"]
TENSORS += ["float8_e5m2"]


def tensors(draw, _, n_rows, n_columns, rng):
    is_good = draw(st.integers(0, 9)) < 9
    bad = (*COMPLEX, "infinite", "sparse", "one dimension")
    dtype = draw(st.sampled_from(TENSORS if is_good else bad))
    X = torch.tensor(numbers(rng, n_rows, n_columns))
    if dtype in TENSORS or dtype.startswith("complex"):
        X = X.to(getattr(torch, dtype))
    elif dtype == "infinite":
        X = torch.full((n_rows, n_columns), -torch.inf)
    else:
        X = X.to_sparse() if dtype == "sparse" else X[:, 0]
    layout = draw(st.sampled_from(["plain", "transposed", "gradient"]))
    if layout == "transposed" and X.ndim == 2 and dtype != "sparse":
        X = X.T.contiguous().T
    if layout == "gradient" and X.dtype in (torch.float32, torch.float64):
        X.requires_grad_()
    faults = [] if is_good else [f"dtype {dtype}"]
    return X, faults, [], list(range(n_columns)), [dtype, layout]
