"""Small made tables whose informative columns are known."""

import numpy as np

INFORMATIVE = (2, 5)


def class_table(n_rows=200, n_columns=8, seed=0):
    """Return X and a boolean y that says whether columns 2 and 5 add up above zero."""
    X = np.random.default_rng(seed).normal(size=(n_rows, n_columns))
    return X, X[:, INFORMATIVE].sum(axis=1) > 0


def value_table(n_rows=200, n_columns=8, seed=0):
    """Return X and y = 3 x2 - 2 x5 plus a little noise, away from zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = 100 + X[:, INFORMATIVE] @ [3, -2] + 0.2 * rng.normal(size=n_rows)
    return X, y
