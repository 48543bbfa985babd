"""Arrays and frames in many forms, for the tests of tables."""

import datetime as dt

import numpy as np
import polars as pl
import torch
from hypothesis import strategies as st

FORMATS = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")

MATRIX = [[1, 0], [0, 2], [3, 1]]
ARRAYS = {
    "float64": np.array(MATRIX, dtype=np.float64),
    "float32": np.array(MATRIX, dtype=np.float32),
    "float16": np.array(MATRIX, dtype=np.float16),
    "longdouble": np.array(MATRIX, dtype=np.longdouble),
    "int64": np.array(MATRIX),
    "uint8": np.array(MATRIX, dtype=np.uint8),
    "swapped bytes": np.array(MATRIX, dtype=">f8"),
    "Fortran": np.asfortranarray(np.array(MATRIX, dtype=float)),
    "strided": np.repeat(np.array(MATRIX, dtype=float), 2, axis=1)[:, ::2],
    "list": MATRIX,
    "tuples": tuple(map(tuple, MATRIX)),
    "tensor": torch.tensor(MATRIX),
    "tensor with gradient": torch.tensor(
        MATRIX, dtype=torch.float32, requires_grad=True
    ),
    "bfloat16": torch.tensor(MATRIX, dtype=torch.bfloat16),
    "tensor view": torch.tensor(MATRIX, dtype=torch.float64).T.contiguous().T,
}


SERIES = {
    "float": st.floats(width=32, allow_infinity=False),
    "int": st.integers(-(2**40), 2**40),
    "bool": st.booleans(),
    "text": st.text(max_size=3),
    "date": st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)),
}


DTYPES = {"float": pl.Float32, "int": pl.Int64, "bool": pl.Boolean}
DTYPES |= {"text": pl.String, "date": pl.Datetime("us")}


@st.composite
def frames(draw, cells=SERIES, most_rows=5):
    """Draw a polars frame of random kinds, with holes."""
    kinds = draw(st.lists(st.sampled_from(sorted(cells)), min_size=1, max_size=5))
    n_rows = draw(st.integers(1, most_rows))
    columns = {}
    for place, kind in enumerate(kinds):
        values = st.none() | cells[kind]
        drawn = draw(st.lists(values, min_size=n_rows, max_size=n_rows))
        columns[f"{kind} {place}"] = pl.Series(drawn, dtype=DTYPES[kind])
    return pl.DataFrame(columns)
