"""Tables that are made, of any size: ``made:ROWSxCOLUMNS``."""

import numpy as np

from sievebench.data._dataset import Dataset
from sievebench.data._made_names import N_RELEVANT, made_sizes

_SEED = 0


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
