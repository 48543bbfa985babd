"""Rows set aside inside a selector, for early stopping or for judging."""

from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve.files import Task


def held_out_rows(
    y: npt.NDArray[Any], task: Task, fraction: float, seed: int
) -> npt.NDArray[np.bool_]:
    """Mark the rows to set aside: every class in proportion, none used up.

    Rows are shuffled, put in the order of their classes, and one is taken after each
    ``1 / fraction``. The only row of a class is never taken; where no row can be
    spared, none is.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Class codes or values.
    task : {"classification", "regression"}
        Which of the two.
    fraction : float
        Fraction of rows to set aside, above 0 and at most 0.5.
    seed : int
        Decides the shuffling.

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(y))
    if task == "classification":
        order = order[np.argsort(y[order], kind="stable")]
    places = np.floor((np.arange(len(y)) + generator.random()) * fraction)
    is_held_out = np.zeros(len(y), dtype=np.bool_)
    is_held_out[order[1:][np.diff(places) > 0]] = True
    if task == "classification":
        is_held_out &= np.bincount(y)[y] > 1
    return is_held_out
