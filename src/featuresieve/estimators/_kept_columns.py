"""Methods of the estimators that return columns, or say which they are."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted, validate_data

from featuresieve.estimators._attributes import array_of_labels, feature_table
from featuresieve.estimators._streams import kept_columns
from featuresieve.files import as_stream
from featuresieve.tables import (
    PartialTable,
    Table,
    are_same_labels,
    as_library,
    plain_array,
    put_columns,
    read_table,
    shortened,
    take_columns,
    with_known_names,
)


class KeptColumns:
    """What an estimator inherits to return columns as they came.

    No subclass of scikit-learn's mixins, which would put names that are no strings
    into a frame of their own making.
    """

    def _read(self: Any, X: Any) -> Table:
        """Return a view of X, which has the columns of `fit` or the kept ones alone."""
        check_is_fitted(self)
        table = read_table(X)
        names = table.names or table.labels
        known = getattr(self, "feature_names_in_", self._labels)
        kept = np.flatnonzero(self.support_)
        if (
            names is not None
            and known is not None
            and len(names) == len(kept) < len(known)
            and are_same_labels([known[j] for j in kept], names)
        ):
            return PartialTable(table, kept, len(known))
        self._check_columns(X, table)
        return table

    def _check_columns(self: Any, X: Any, table: Table) -> None:
        """Compare the columns of X, of which `table` is a view, with those of `fit`."""
        validate_data(self, with_known_names(X), reset=False, skip_check_array=True)
        if not are_same_labels(self._labels, table.labels):
            raise ValueError(
                "The feature names should match those that were passed during fit: "
                f"{shortened(self._labels)}, got {shortened(table.labels)}."
            )

    def _get_support_mask(self: Any) -> npt.NDArray[np.bool_]:
        """Return the mask `SelectorMixin` works with."""
        check_is_fitted(self)
        return np.asarray(self.support_)

    @property
    def n_features_(self: Any) -> int:
        """Return how many features are kept, under scikit-learn's name."""
        return int(self.n_features_selected_)

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
        stream = as_stream(X, is_named=isinstance(y, str))
        if stream is not None and stream.is_read_once:
            raise ValueError(
                "fit_transform reads X twice, and a reader can be read once: call fit, "
                "and transform with another reader."
            )
        return self.fit(X, y, **fit_params).transform(X)

    def transform(self: Any, X: Any) -> Any:
        """Return the kept columns of X.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            With all columns that `fit` saw, or a data frame with the kept ones alone,
            in their order and under their names.

        Returns
        -------
        table of shape (n_samples, n_features_selected_)
            What came in: a data frame of the same library with the same names, dtypes
            and index, an array, a sparse matrix, a tensor. `set_output` asks for
            something else: "default" for an array, as scikit-learn gives it. Of a
            stream, a `pyarrow.RecordBatchReader`, which reads when it is asked.
        """
        stream = kept_columns(self, X)
        if stream is not None:
            return stream
        is_reduced = isinstance(self._read(X), PartialTable)
        own = range(self.n_features_) if is_reduced else np.flatnonzero(self.support_)
        kept = take_columns(X, np.asarray(own))
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

            - ``name``, as the column is called; ``kept``; ``rank``, 1 for the best.
            - ``verdict``: ``kept`` or ``forced`` (by `always_keep`). Of the others:
              ``excluded`` (by `never_keep`), ``constant``; ``duplicate``, equal to
              another column, or with normal scores of the same order; ``redundant``, it
              would matter alone, but a kept feature represents it; ``weak``, it would
              matter alone a little, and no kept one represents it; ``no signal``.
            - ``frequency``: share of the members that keep the feature.
            - ``importance``: what the held-out loss of the elected features rises by
              when the values of this one are shuffled, as a share of the loss of a
              constant: points of R² for regression, of the explained share of the log
              loss (scikit-learn's `d2_log_loss_score`) with classes that count alike
              for classification. The networks are not trained again without it, so what
              others could make up for is not taken off. NaN for what is not kept, or
              was not elected, and without refits.
            - ``importance_error``: its standard error over held-out rows.
            - ``represented_by``: the kept feature that stands for a duplicate or
              redundant one; missing for all others.
            - ``logit``: mean logit of the members.
        """
        check_is_fitted(self)
        return feature_table(self)
