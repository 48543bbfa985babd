"""Numbers from a table: codes for text, medians for what is missing."""

from typing import Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OrdinalEncoder

_MISSING_CODE, _UNKNOWN_CODE = -1, -2


class TableEncoder:
    """Turn the columns of a table into numbers, one for one.

    Text becomes the number of its label, in alphabetical order; missing text is -1, and
    labels not seen in `fit` are -2. Missing numbers become the median of the column. A
    column of the table stays one column, so that keeping it means something.
    """

    def fit(self, features: pd.DataFrame) -> Self:
        """Learn labels and medians."""
        self.is_text_ = np.array([dtype.kind == "O" for dtype in features.dtypes])
        self._imputer = SimpleImputer(strategy="median", keep_empty_features=True)
        self._coder = OrdinalEncoder(
            handle_unknown="use_encoded_value",
            unknown_value=_UNKNOWN_CODE,
            encoded_missing_value=_MISSING_CODE,
        )
        numbers, text = self._parts(features)
        if numbers.shape[1]:
            self._imputer.fit(numbers)
        if text.shape[1]:
            self._coder.fit(text)
        return self

    def transform(self, features: pd.DataFrame) -> npt.NDArray[np.float64]:
        """Return the columns as numbers."""
        numbers, text = self._parts(features)
        encoded = np.empty(features.shape)
        if numbers.shape[1]:
            encoded[:, ~self.is_text_] = self._imputer.transform(numbers)
        if text.shape[1]:
            encoded[:, self.is_text_] = self._coder.transform(text)
        return encoded

    def _parts(
        self, features: pd.DataFrame
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.object_]]:
        """Return the number columns and the text columns."""
        numbers = features.loc[:, ~self.is_text_].to_numpy(dtype=np.float64)
        text = features.loc[:, self.is_text_].to_numpy(dtype=object)
        return numbers, np.where(pd.isna(text), np.nan, text)  # not None: no label
