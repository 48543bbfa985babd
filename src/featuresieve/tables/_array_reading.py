"""What is no data frame becomes a two-dimensional array of numpy."""

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from featuresieve.tables._refused_forms import form_error, refuse_containers


def is_tensor(X: Any) -> bool:
    """Tell whether X is a tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)


def _tensor_values(tensor: Any) -> Any:
    """Return a tensor's values as an array in main memory."""
    if tensor.layout != sys.modules["torch"].strided:
        raise TypeError(
            f"X is a tensor of layout {tensor.layout}: pass X.to_dense() or a scipy "
            "sparse array."
        )
    tensor = tensor.detach().cpu()
    if tensor.is_floating_point() and not hasattr(np, str(tensor.dtype)[6:]):
        tensor = tensor.float()  # numpy has no bfloat16
    return tensor.resolve_conj().resolve_neg().numpy()


def as_array(X: Any) -> npt.NDArray[Any]:
    """Return what is no data frame as a two-dimensional array."""
    refuse_containers(X)
    values = _tensor_values(X) if is_tensor(X) else X
    if not isinstance(values, np.ndarray):
        values = _list_values(values)
    if isinstance(values, np.ma.MaskedArray):
        values = _unmasked(values)
    if isinstance(values, np.ndarray) and values.dtype.names is not None:
        raise TypeError(
            f"X is a structured array with the fields {', '.join(values.dtype.names)}: "
            "pass a data frame, or a two-dimensional array."
        )
    array: npt.NDArray[Any] = check_array(
        values, dtype=None, ensure_all_finite=False, input_name="X"
    )
    if array.dtype == np.longdouble:
        array = array.astype(np.float64)
    return array


def _list_values(values: Any) -> Any:
    """Return nested lists, in which numbers and text stay what they are, as an array.

    Or what another object holds, if it holds an array.
    """
    is_rows = isinstance(values, (list, tuple))
    try:
        array = np.asarray(values)
    except ValueError as error:
        if not is_rows:
            raise form_error(values, "a data frame or an array") from error
        raise ValueError(
            f"the rows of X must have equal lengths and hold single values: {error}"
        ) from None
    if is_rows:  # numpy turns the numbers of [[1, "a"]] into text
        return np.array(values, dtype=object) if array.dtype.kind in "USV" else array
    if array.ndim == 0 and array.dtype == object:
        raise form_error(values, "a data frame, an array or a list of rows")
    return array


def _unmasked(values: Any) -> npt.NDArray[Any]:
    """Return a masked array with missing values where it is masked."""
    if values.dtype.kind in "biuf":
        return np.asarray(values.astype(np.float64).filled(np.nan))
    if values.dtype.kind in "mM":
        return np.asarray(values.filled(np.array("NaT", dtype=values.dtype)))
    # filled(None) would fill in numpy's own "?".
    objects: npt.NDArray[Any] = values.data.astype(object)
    objects[np.ma.getmaskarray(values)] = None
    return objects
