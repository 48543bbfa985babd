"""Load whichever estimator a file holds."""

import os

from featuresieve.estimators._classifier_regressor import (
    AutoNFSClassifier,
    AutoNFSRegressor,
)
from featuresieve.estimators._persistence import restored
from featuresieve.storage import read_estimator

_CLASSES = {cls.__name__: cls for cls in (AutoNFSClassifier, AutoNFSRegressor)}


def load(path: str | os.PathLike[str]) -> AutoNFSClassifier | AutoNFSRegressor:
    """Read a fitted estimator from a file that its `save` wrote; nothing in it is run.

    Parameters
    ----------
    path : str or path-like
        A file of this or an earlier version of the library.

    Returns
    -------
    AutoNFSClassifier or AutoNFSRegressor
        Fitted, and equal to the one that was saved.

    Raises
    ------
    FileFormatError
        If the file is truncated, damaged, of a newer schema version, or not written
        by `save` at all.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> import featuresieve
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = featuresieve.AutoNFSClassifier(0.1, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "selector.safetensors"
    ...     selector.save(path)
    ...     again = featuresieve.load(path)
    >>> bool((again.predict(X) == selector.predict(X)).all())
    True
    """
    saved = read_estimator(path)
    estimator: AutoNFSClassifier | AutoNFSRegressor = restored(
        _CLASSES[saved.class_name], saved, path
    )
    return estimator
