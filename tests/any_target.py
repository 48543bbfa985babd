"""Targets and weights of every form, good and bad, for `any_table`.

Each strategy draws (what to pass, its name, whether a fit may take it).
"""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import torch
from hypothesis import strategies as st
from scipy import sparse

LABELS = {
    "text": ["b", "", "ä"],
    "integers": [-1, 0, 7],
    "floats": [1.0, 0.0, 2.0],
    "truths": [True, False, True],
    "large": [2**62, -(2**62), 0],
}


def nullable(values):
    """Return a Series of the type that pandas finds; an older one warns on the way."""
    with np.errstate(invalid="ignore"):
        return pd.Series(values).convert_dtypes()


CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "objects": lambda values: np.array(values, dtype=object),
    "column": lambda values: np.array(values).reshape(-1, 1),
    "pandas": lambda values: pd.Series(values, index=np.arange(len(values)) * 2),
    "nullable": nullable,
    "frame": lambda values: pd.DataFrame({"y": values}),
    "polars": pl.Series,
    "polars frame": lambda values: pl.DataFrame({"y": values}),
    "arrow": pa.array,
    "chunked": lambda values: pa.chunked_array([pa.array(values)]),
}
BAD_LABELS = {
    "one class": ["a", "a", "a"],
    "missing": [None, "a", "b"],
    "NaN": [float("nan"), 1.0, 2.0],
    "dates": [dt.date(2020, 1, 1), dt.date(2021, 1, 1), dt.date(2022, 1, 1)],
    "mixed": ["a", 1, 2],
    "complex": [1j, 2j, 3j],
    "fractions": [0.5, 1.5, 2.25],
    "lists": [[1], [1, 2], [3]],
    "infinite": [float("inf"), 1.0, 2.0],
}


@st.composite
def class_targets(draw, n_rows, rng):
    is_good = draw(st.integers(0, 14)) < 14
    codes = rng.integers(0, draw(st.integers(2, 3)), n_rows)
    codes[:2] = np.arange(n_rows)[:2]  # two classes at least
    if not is_good:
        kind = draw(st.sampled_from(sorted(BAD_LABELS)))
        return [BAD_LABELS[kind][code] for code in codes], kind, False
    if draw(st.integers(0, 5)) == 5:
        return draw(label_matrices(n_rows, rng))
    kind = draw(st.sampled_from(sorted(LABELS)))
    values = [LABELS[kind][code] for code in codes]
    form = draw(st.sampled_from([*sorted(CONTAINERS), "categories", "tensor"]))
    if form == "categories":
        return pd.Series(values).astype("category"), [kind, form], True
    if form == "tensor":
        return torch.tensor(codes), [form], True
    return CONTAINERS[form](values), [kind, form], True


@st.composite
def label_matrices(draw, n_rows, rng):
    values = rng.integers(0, 2, (n_rows, 3))
    values[:2] = np.eye(3, dtype=int)[: min(n_rows, 2)]  # two kinds of rows at least
    form = draw(st.sampled_from(["ints", "floats", "truths", "frame", "sparse"]))
    make = {"ints": np.asarray, "floats": lambda y: y.astype(float)}
    make |= {
        "truths": lambda y: y > 0,
        "frame": pd.DataFrame,
        "sparse": sparse.csr_array,
    }
    return make[form](values), ["labels", form], True


VALUES = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "counts": lambda rng, n: rng.integers(-5, 5, n),
    "truths": lambda rng, n: rng.random(n) < 0.5,
    "constant": lambda _, n: np.full(n, 3.0),
    "huge": lambda rng, n: rng.standard_normal(n) * 1e298,
    "tiny": lambda rng, n: rng.standard_normal(n) * 1e-310,
    "one far out": lambda _, n: np.where(np.arange(n) == 0, 1e100, 1.0),
    "heavy": lambda rng, n: np.exp(30 * rng.standard_normal(n)),
}
DTYPES = ("float32", "float16", "longdouble", ">f8")
BAD_VALUES = {
    "NaN": float("nan"),
    "infinite": float("-inf"),
    "largest": 1.7e308,
    "missing": None,
    "text": "a",
    "date": dt.date(2020, 1, 1),
    "span": dt.timedelta(1),
    "complex": 1j,
    "list": [1],
}


@st.composite
def value_targets(draw, n_rows, rng):
    if draw(st.integers(0, 14)) == 14 and n_rows:
        kind = draw(st.sampled_from(sorted(BAD_VALUES)))
        return [BAD_VALUES[kind], *range(n_rows - 1)], kind, False
    kind = draw(st.sampled_from(sorted(VALUES)))
    values = VALUES[kind](rng, n_rows)
    form = draw(
        st.sampled_from([*sorted(CONTAINERS), *DTYPES, "two", "tensor", "exact"])
    )
    if form == "two":
        return np.column_stack([values, values[::-1]]), [kind, form], True
    if form == "tensor":
        return torch.tensor(np.array(values)), [kind, form], True
    if form == "exact":
        return [Decimal(float(value)) for value in values], [kind, form], True
    if form in DTYPES:
        return rng.standard_normal(n_rows).astype(form), [form], True
    return CONTAINERS[form](values.tolist()), [kind, form], True


# The first two rows are of two classes: neither may weigh nothing.
WEIGHTS = {
    "ones": lambda _, n: np.ones(n),
    "copies": lambda rng, n: rng.integers(1, 4, n),
    "zeros": lambda rng, n: np.where(np.arange(n) < 2, 2.0, rng.integers(0, 2, n)),
    "any": lambda rng, n: np.exp(5 * rng.standard_normal(n)),
    "tiny": lambda rng, n: rng.random(n) * 1e-300 + 1e-300,
    "huge": lambda rng, n: rng.random(n) * 1e199 + 1,
    "list": lambda _, n: [0.5] * n,
    "series": lambda rng, n: pd.Series(rng.random(n) + 0.1, index=range(n, 0, -1)),
    "tensor": lambda rng, n: torch.tensor(rng.random(n) + 0.1),
    "polars": lambda rng, n: pl.Series(rng.random(n) + 0.1),
}
BAD_WEIGHTS = {
    "negative": lambda _, n: -np.ones(n),
    "NaN": lambda _, n: np.full(n, np.nan),
    "infinite": lambda _, n: np.full(n, np.inf),
    "no weight": lambda _, n: np.zeros(n),
    "text": lambda _, n: ["a"] * n,
    "too many": lambda _, n: np.ones(n + 1),
    "matrix": lambda _, n: np.ones((n, 2)),
    "complex": lambda _, n: np.ones(n) * 1j,
    "missing": lambda _, n: [None] * n,
}


@st.composite
def weights_of(draw, n_rows, rng):
    """Draw weights, most often none."""
    which = draw(st.integers(0, 20))
    if which < 12 or n_rows == 0:
        return None, None, True
    makers = BAD_WEIGHTS if which == 20 else WEIGHTS
    kind = draw(st.sampled_from(sorted(makers)))
    return makers[kind](rng, n_rows), kind, which < 20
