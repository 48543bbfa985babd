"""How predictions become labels or values, as a description and arrays, and back."""

from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve.problem import ClassEncoder, ValueScaler
from featuresieve.storage._file_checks import Arrays, Fields, State, require
from featuresieve.storage._json_values import fits_array

_VALUE_ARRAYS = ("means", "spreads", "centres", "widths")
_KINDS = ("classes", "labels", "values")


def target_state(code: ClassEncoder | ValueScaler) -> State:
    """Return what `target_from_state` needs: a description for JSON, and arrays."""
    if isinstance(code, ValueScaler):
        n_outputs = len(code.means)
        description = {"kind": "values", "n": n_outputs, "is_flat": code.is_flat}
        return description, {f"target.{k}": getattr(code, k) for k in _VALUE_ARRAYS}
    classes = code.classes
    if code.is_multilabel:
        return {"kind": "labels", "n": len(classes)}, {}
    description = {"kind": "classes", "n": len(classes)}
    if classes.dtype.kind in "biuf" and classes.dtype.itemsize <= 8:
        native = classes.astype(classes.dtype.newbyteorder("="), copy=False)
        return description | {"dtype": "number"}, {"target.classes": native}
    texts = classes.tolist()
    if classes.dtype.kind not in "UO" or not all(isinstance(t, str) for t in texts):
        raise TypeError(
            "a saved file holds class labels that are text, booleans, integers or "
            f"floats, got labels like {texts[0]!r} of dtype {classes.dtype}. Use "
            "pickle or joblib, or fit with other labels."
        )
    width = 0
    if classes.dtype.kind == "U":
        width = classes.dtype.itemsize // 4  # bytes of a letter
        if not fits_array(texts, width):
            raise TypeError(
                f"{len(texts)} class labels of up to {width} characters are too long "
                "for a saved file. Use pickle or joblib."
            )
    dtype = {"dtype": classes.dtype.kind, "width": width}
    return description | dtype | {"classes": [str(text) for text in texts]}, {}


def target_from_state(
    fields: Fields, arrays: Arrays, n_outputs: int
) -> ClassEncoder | ValueScaler:
    """Build the code from what `target_state` returned, as wide as the networks are."""
    kind = fields.text("kind", _KINDS)
    n = fields.count("n", least=1 if kind == "values" else 2)
    require(n == n_outputs, f"its networks have {n_outputs} outputs, its target {n}.")
    code: ClassEncoder | ValueScaler
    if kind == "values":
        found = {k: arrays.take(f"target.{k}", np.float64, (n,)) for k in _VALUE_ARRAYS}
        code = ValueScaler(**found, is_flat=fields.flag("is_flat"))
        require((code.spreads > 0).all(), "its target has spreads below zero.")
        require((code.widths >= 0).all(), "its target has widths below zero.")
        require(n == 1 or not code.is_flat, f"its target is flat, and has {n} outputs.")
    elif kind == "labels":
        code = ClassEncoder(np.arange(n), True)
    else:
        code = ClassEncoder(_classes(fields, arrays, n), False)
    fields.finish()
    return code


def _classes(fields: Fields, arrays: Arrays, n: int) -> npt.NDArray[Any]:
    """Return the class labels."""
    dtype = fields.text("dtype", ("number", "U", "O"))
    classes: npt.NDArray[Any]
    if dtype == "number":
        classes = arrays.any("target.classes")
        is_sound = classes.dtype.kind != "f" or bool(np.isfinite(classes).all())
        require(is_sound, "its class labels are not finite.")
    else:
        texts = fields.listed("classes", str)
        width = fields.count("width", most=2**20)
        is_sound = fits_array(texts, width) and (dtype == "O") == (width == 0)
        require(is_sound, "its class labels are too long.")
        longest = max(map(len, texts), default=0)
        require(dtype == "O" or longest <= width, "its class labels are cut off.")
        classes = np.array(texts, dtype=f"<U{width}" if width else object)
    require(classes.shape == (n,), f"it does not have {n} class labels.")
    require(len(np.unique(classes)) == n, "its class labels are not distinct.")
    return classes
