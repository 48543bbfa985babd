"""A made problem whose two informative columns say nothing one at a time."""

import numpy as np

XOR_COLUMNS = (1, 4)


def balanced_xor(task, n_quarter=150, n_columns=8, seed=0):
    """Return X and y: whether two columns have the same sign, or their product.

    The table holds every pair of absolute values with all four pairs of signs, so that
    within the table, exactly, either column alone tells nothing of y.
    """
    rng = np.random.default_rng(seed)
    signs = np.repeat([(1, 1), (1, -1), (-1, 1), (-1, -1)], n_quarter, axis=0)
    X = rng.normal(size=(4 * n_quarter, n_columns))
    pair = np.tile(0.5 + rng.random((n_quarter, 2)), (4, 1)) * signs
    X[:, XOR_COLUMNS] = pair
    product = pair.prod(axis=1)
    return X, product > 0 if task == "classification" else product
