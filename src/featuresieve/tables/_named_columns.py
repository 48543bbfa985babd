"""The names of columns, in a form that each scikit-learn understands."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import sklearn

from featuresieve.tables._table import as_frame

# From 1.9 on, scikit-learn reads data frames as we do, with narwhals.
_READS_EVERY_FRAME = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)


class _Header:
    """Names of columns, told by the protocol of interchange; there are no values."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.shape = frame.shape
        self._names = frame.columns

    def __dataframe__(self) -> "_Header":
        return self

    def column_names(self) -> list[str]:
        """Return the names, in the order of the columns."""
        return self._names


def with_known_names(X: Any) -> Any:
    """Return X, or its header where scikit-learn would not see the names.

    It does not look into frames of narwhals, nor into those of libraries that only
    speak a protocol. Before 1.9 it asks all but pandas by the protocol of interchange,
    which polars has given up in version 2.
    """
    if isinstance(X, nw.DataFrame) or not nw.dependencies.is_into_dataframe(X):
        frame = as_frame(X)
        if frame is None:
            return X
        X = frame.to_native()
    if _READS_EVERY_FRAME or hasattr(X, "__dataframe__"):
        return X
    return _Header(nw.from_native(X, eager_only=True))


def are_same_labels(first: Sequence[Any] | None, second: Sequence[Any] | None) -> bool:
    """Tell whether labels are equal, NaN too; those of one table may be unknown."""
    if first is None or second is None:
        return True
    pairs = zip(first, second, strict=True)
    return all(repr(one) == repr(other) or one == other for one, other in pairs)
