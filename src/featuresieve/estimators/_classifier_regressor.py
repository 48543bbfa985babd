"""The two estimators, and loading whichever a file holds."""

import os
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags

from featuresieve.estimators._autonfs import AutoNFS
from featuresieve.estimators._docs import documented
from featuresieve.estimators._persistence import restored
from featuresieve.estimators._streams import Predicts, by_batches
from featuresieve.problem import ClassEncoder
from featuresieve.storage import read_estimator


@documented
class AutoNFSClassifier(Predicts, ClassifierMixin, AutoNFS):
    """Select the features a classification needs, and classify with them.

    @PARAMETERS@

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen during fit.
    @ATTRIBUTES@

    @NOTES@

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featuresieve import AutoNFSClassifier
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = AutoNFSClassifier(random_state=0).fit(X, y)
    >>> 1 <= selector.n_features_selected_ < 13
    True
    >>> selector.transform(X).shape[1] == selector.n_features_selected_
    True
    >>> selector.score(X, y) > 0.9
    True
    """

    # Pickles name the class by where users find it: files may move.
    __module__ = "featuresieve"

    @by_batches
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the probability of each class, or of each label.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            As for `transform`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples, n_labels)
        """
        assert isinstance(self._target_code, ClassEncoder)
        return self._target_code.probabilities(self._network_outputs(X))

    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the logarithm of the probability of each class, or of each label.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            As for `transform`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples, n_labels)
            Minus infinity where a probability is zero in float64.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def __sklearn_tags__(self) -> Tags:
        """Say what targets the classifier takes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = False
        return tags


@documented
class AutoNFSRegressor(Predicts, RegressorMixin, AutoNFS):
    """Select the features a regression needs, and predict with them.

    @PARAMETERS@

    Attributes
    ----------
    @ATTRIBUTES@

    @NOTES@

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from featuresieve import AutoNFSRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> selector = AutoNFSRegressor(random_state=0).fit(X, y)
    >>> bool(selector.support_[X.columns.get_loc("bmi")])
    True
    """

    __module__ = "featuresieve"


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
