"""Tables to encode, and short ways to do it."""

import json

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

from featuresieve.storage._encoder_state import encoder_from_state, encoder_state
from featuresieve.tables import ColumnScaler, TableEncoder, read_table

# The encoded matrix is float32: half a unit in the last place of numbers up to 8.
FLOAT32 = {"rtol": 0.0, "atol": 1e-6}


SCALINGS = ("normal_scores", "standard", "none")


def fitted(X, scaling="standard", **options):
    return TableEncoder.fit_transform(read_table(X), scaling=scaling, **options)[0]


def encoded(X, scaling="standard", **options):
    return fitted(X, scaling, **options).transform(read_table(X))


def frame(**columns):
    return pl.DataFrame(columns)


def standardised(values):
    values = np.asarray(values, dtype=float)
    return (values - values.mean()) / values.std()


def mixed_frame(n_rows=60, seed=0):
    """Return a frame with a column of every kind, some with missing values."""
    rng = np.random.default_rng(seed)
    hours = rng.integers(20_000, size=n_rows).astype("timedelta64[h]")
    holes = rng.random(n_rows) < 0.3
    numbers = rng.standard_normal(n_rows)
    return pd.DataFrame(
        {
            "number": numbers,
            "holes": np.where(holes, np.nan, numbers**3),
            "text": rng.choice(["x", "y", "z"], size=n_rows, p=[0.6, 0.3, 0.1]),
            "text with holes": np.where(holes, None, rng.choice(["u", "v"], n_rows)),
            "truth": rng.random(n_rows) < 0.3,
            "date": np.datetime64("2021-01-01T00:00:00.000000") + hours,
            "many": [f"level {k}" for k in rng.integers(40, size=n_rows)],
            "constant": 7,
            "nothing": None,
        }
    )


def sparse_table(seed=0):
    rng = np.random.default_rng(seed)
    return sparse.coo_array(rng.random((40, 6)) * (rng.random((40, 6)) < 0.3))


def through_json(encoder):
    description, arrays = encoder_state(encoder)
    return encoder_from_state(json.loads(json.dumps(description)), arrays)


def scaler_of(X, scaling, weights=None):
    block = np.array(X.T, dtype=np.float64, order="C")
    return ColumnScaler.fit_transform(block, scaling, weights)[0]


def transformed(scaler, X):
    """Return the scaled columns of a matrix as float32."""
    block = np.array(X.T, dtype=np.float64, order="C")
    return scaler.transform_(block).T.astype(np.float32)
