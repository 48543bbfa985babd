"""The two estimators: AutoNFSClassifier and AutoNFSRegressor."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets

from featuresieve._autonfs import AutoNFS
from featuresieve._columns import Float32Array, mean_and_spread
from featuresieve._docs import documented


@documented
class AutoNFSClassifier(ClassifierMixin, AutoNFS):
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

    def _encode_target(
        self, y: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[np.int64], int, dict[str, Any]]:
        """Return class codes and the number of classes."""
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y must have at least 2 classes, got 1 class: {classes[0]!r}."
            )
        codes = codes.reshape(-1).astype(np.int64)
        return codes, len(classes), {"classes_": classes}

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            With all columns that `fit` saw.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        outputs = self._network_outputs(X)
        exponentials = np.exp(outputs - outputs.max(axis=-1, keepdims=True))
        probabilities = exponentials / exponentials.sum(axis=-1, keepdims=True)
        return np.asarray(probabilities.mean(axis=0))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the most probable class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            With all columns that `fit` saw.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        codes = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[codes])


@documented
class AutoNFSRegressor(RegressorMixin, AutoNFS):
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

    def _encode_target(
        self, y: npt.NDArray[Any]
    ) -> tuple[Float32Array, int, dict[str, Any]]:
        """Return the standardised target."""
        values = np.asarray(y, dtype=np.float64)
        mean, spread = mean_and_spread(values)
        scaled = (values / spread - mean / spread).astype(np.float32)
        learned = {"_target_mean": mean, "_target_spread": spread}
        return scaled.reshape(-1, 1), 1, learned

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the predicted values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            With all columns that `fit` saw.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        outputs = self._network_outputs(X).mean(axis=0)[:, 0]
        return np.asarray(outputs * self._target_spread + self._target_mean)
