"""Tables that are made, of any size: ``made:ROWSxCOLUMNS``."""

import re

import numpy as np

from sievebench.data._dataset import Dataset
from sievebench.data._exceptions import UnknownDatasetError

PREFIX = "made:"
# So many columns, the first ones, decide the class; the others are noise.
N_RELEVANT = 10

_NAME = re.compile(r"made:(\d+)x(\d+)")
_FEWEST_ROWS = 20
_SEED = 0


def made_sizes(name: str) -> tuple[int, int]:
    """Return the rows and columns that the name of a made table stands for.

    Parameters
    ----------
    name : str
        Such as "made:2000x512".

    Returns
    -------
    int, int

    Raises
    ------
    UnknownDatasetError
        If the name has another form, or the table would be too small.
    """
    found = _NAME.fullmatch(name)
    if found is not None:
        n_rows, n_columns = int(found[1]), int(found[2])
        if n_rows >= _FEWEST_ROWS and n_columns >= N_RELEVANT:
            return n_rows, n_columns
    raise UnknownDatasetError(
        f"a made table must be 'made:ROWSxCOLUMNS' with at least {_FEWEST_ROWS} rows "
        f"and {N_RELEVANT} columns, got {name!r}."
    )


def make_dataset(name: str) -> Dataset:
    """Return a table of standard normal columns and two classes.

    The class is the sign of ``x_0 - x_1 + x_2 - … - x_9 + 2 e``, with e standard normal
    too. Tables with as many rows have the same classes, and a wider one begins with the
    columns of a narrower one: it is the same problem among more noise. Columns that do
    not matter are marked as added.

    Parameters
    ----------
    name : str
        "made:ROWSxCOLUMNS".

    Returns
    -------
    Dataset

    Raises
    ------
    UnknownDatasetError
        If the name has another form.
    """
    n_rows, n_columns = made_sizes(name)
    columns, errors = np.random.default_rng([_SEED, n_rows]).spawn(2)
    X = np.ascontiguousarray(columns.standard_normal((n_columns, n_rows)).T)
    signs = (-1.0) ** np.arange(N_RELEVANT)
    signal = X[:, :N_RELEVANT] @ signs + 2 * errors.standard_normal(n_rows)
    return Dataset(
        name=name,
        X=X,
        y=(signal > 0).astype(np.int64),
        column_names=tuple(f"x{number}" for number in range(n_columns)),
        is_original=np.arange(n_columns) < N_RELEVANT,
        task="classification",
        metric="accuracy",
        scaler="standard",
        n_classes=2,
    )
