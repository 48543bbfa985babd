"""Methods of the estimators that return columns, or say which they are."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from featuresieve.estimators._attributes import array_of_labels, feature_table
from featuresieve.tables import as_library, plain_array, put_columns, take_columns


class KeptColumns:
    """What an estimator inherits to return columns as they came.

    No subclass of scikit-learn's mixins, which would put names that are no strings
    into a frame of their own making.
    """

    def fit_transform(self: Any, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and return the kept columns of X.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            As for `fit`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            As for `fit`.
        **fit_params
            ``sample_weight`` and ``groups``, as for `fit`.

        Returns
        -------
        table of shape (n_samples, n_features_selected_)
            As from `transform`.
        """
        return self.fit(X, y, **fit_params).transform(X)

    def transform(self: Any, X: Any) -> Any:
        """Return the kept columns of X.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            With all columns that `fit` saw.

        Returns
        -------
        table of shape (n_samples, n_features_selected_)
            What came in: a data frame of the same library with the same names, dtypes
            and index, an array, a sparse matrix, a tensor. `set_output` asks for
            something else: "default" for an array, as scikit-learn gives it.
        """
        self._read(X)
        kept = take_columns(X, np.flatnonzero(self.support_))
        asked = vars(self).get("_sklearn_output_config", {}).get("transform")
        if asked == "default":
            return plain_array(kept)
        library = asked or get_config()["transform_output"]
        if library == "default":
            return kept
        return as_library(library, kept, self.get_feature_names_out())

    def inverse_transform(self: Any, X: Any) -> Any:
        """Return a table with all columns that `fit` saw.

        Parameters
        ----------
        X : table of shape (n_samples, n_features_selected_)
            What `transform` returns; values may be missing.

        Returns
        -------
        table of shape (n_samples, n_features_in_)
            What came in, a data frame with the names of `fit`. Columns that were not
            kept hold zeros; in a data frame those of text and dates are missing.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", self._labels)
        return put_columns(X, self.support_, names, self._encoder.kinds)

    def get_feature_names_out(
        self: Any, input_features: npt.ArrayLike | None = None
    ) -> npt.NDArray[Any]:
        """Return the names of the kept columns.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            As in scikit-learn: names for columns that had none in `fit`.

        Returns
        -------
        ndarray of shape (n_features_selected_,)
            As they were in `fit`: strings, or the numbers, tuples or dates of a data
            frame.
        """
        check_is_fitted(self)
        if self._labels is None or input_features is not None:
            names = super().get_feature_names_out(input_features)  # type: ignore[misc]
            return np.asarray(names)
        return np.asarray(array_of_labels(self._labels)[self.support_])

    def feature_table(self) -> Any:
        """Return one row per feature, best ranked first.

        Returns
        -------
        pandas.DataFrame
            Without pandas, a numpy structured array with the same fields:

            name : str
                Or what the column is called.
            kept : bool
            verdict : str
                ``kept`` or ``forced`` (by `always_keep`). Of the others: ``excluded``
                (by `never_keep`), ``constant``; ``duplicate``, equal to another column,
                or with normal scores of the same order; ``redundant``, it would matter
                alone, but a kept feature represents it; ``weak``, it would matter
                alone a little, and no kept one represents it; ``no signal``.
            rank : int
            frequency : float
                Share of the members that keep the feature.
            importance : float
                What the held-out loss of the elected features rises by when the values
                of this one are shuffled, as a share of the loss of a constant: points
                of R² for regression, of the explained share of the log loss
                (scikit-learn's `d2_log_loss_score`) with classes that count alike for
                classification. The networks are not trained again without it, so what
                others could make up for is not taken off. NaN for what is not kept, or
                was not elected, and without refits.
            importance_error : float
                Its standard error over held-out rows.
            represented_by : str
                The kept feature that stands for a duplicate or redundant one; missing
                for all others.
            logit : float
                Mean logit of the members.
        """
        check_is_fitted(self)
        return feature_table(self)
