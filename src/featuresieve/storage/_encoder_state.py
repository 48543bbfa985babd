"""A fitted encoding as a description for JSON and a few arrays, and back.

What is read may come from anyone: nothing in it is believed before it is checked.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve.errors import FileFormatError
from featuresieve.storage._file_checks import Fields, State, require
from featuresieve.tables import (
    DATE_PARTS,
    NUMBER_PARTS,
    CategoryEncoder,
    ColumnScaler,
    FeatureEncoder,
    FloatArray,
    NumberEncoder,
    TableEncoder,
)

_KINDS = ("number", "boolean", "date", "category", "empty")
# The numbers of all encoders, one after the other.
_ARRAYS = ("means", "spreads", "knots", "scores", "n_knots", "shares")
_INTEGER_ARRAYS = ("n_knots", "sparse_features")


def encoder_state(encoder: TableEncoder) -> State:
    """Return what `encoder_from_state` needs: a description for JSON, and arrays."""
    numbers: dict[str, list[Any]] = {key: [np.zeros(0)] for key in _ARRAYS}
    described = []
    for feature in encoder.features:
        entry = {"feature": feature.feature, "kind": feature.kind}
        if feature.name is not None:
            entry["name"] = feature.name
        described.append(entry | _described(feature.encoder, numbers))
    description = {
        "version": 1,
        "n_features_in": encoder.n_features_in,
        "is_sparse": encoder.is_sparse,
        "features": described,
    }
    if encoder.kinds:
        description["kinds"] = list(encoder.kinds)
    arrays = {key: np.concatenate(parts) for key, parts in numbers.items()}
    arrays["n_knots"] = arrays["n_knots"].astype(np.int64)
    if encoder.sparse_features is not None:
        arrays = {
            "sparse_features": encoder.sparse_features.astype(np.int64),
            "sparse_spreads": encoder.sparse_spreads,
        }
    return description, arrays


def _described(
    encoder: NumberEncoder | CategoryEncoder, numbers: dict[str, list[Any]]
) -> dict[str, Any]:
    """Add the numbers of an encoder to those of the others, and return the rest."""
    if isinstance(encoder, CategoryEncoder):
        numbers["shares"].append(encoder.shares)
        return {
            "levels": list(encoder.levels),
            "has_other": encoder.has_other,
            "has_missing": encoder.has_missing,
        }
    scaler, share = encoder.scaler, encoder.missing_share
    numbers["means"].append(scaler.means)
    numbers["spreads"].append(scaler.spreads)
    numbers["knots"] += scaler.knots
    numbers["scores"] += scaler.scores
    numbers["n_knots"].append(
        [len(k) for k in scaler.knots] or [0] * len(encoder.parts)
    )
    if share is not None:
        numbers["shares"].append([share])
    return {"parts": list(encoder.parts), "has_missing": share is not None}


def encoder_from_state(
    description: dict[str, Any], arrays: dict[str, Any]
) -> TableEncoder:
    """Build an encoder from what `encoder_state` returned; else a ValueError."""
    try:
        require(isinstance(arrays, dict), "its arrays have no names.")
        return _encoder(Fields(description, "its description"), arrays)
    except FileFormatError as error:
        raise ValueError(f"this is not the state of an encoder: {error}") from None


def _encoder(fields: Fields, arrays: dict[str, Any]) -> TableEncoder:
    """Build an encoder for a sparse table, or for one of columns."""
    fields.count("version", 1, 1)
    n_features_in = fields.count("n_features_in", least=1)
    if fields.flag("is_sparse"):
        positions = _array(arrays, "sparse_features")
        spreads = _array(arrays, "sparse_spreads")
        require(len(positions) == len(spreads), "a feature has no scale, or two.")
        is_inside = (positions >= 0) & (positions < n_features_in)
        require(is_inside.all(), "a feature is not in the table.")
        require((spreads > 0).all(), "its scales are not positive.")
        return TableEncoder(n_features_in, (), positions.astype(np.intp), spreads)
    numbers = _Numbers(arrays)
    features = tuple(
        _feature(Fields(entry, "a feature"), n_features_in, numbers)
        for entry in fields.listed("features")
    )
    numbers.finish()
    kinds = fields.listed("kinds", str) if "kinds" in fields else []
    require(len(kinds) in (0, n_features_in), "not every feature has a kind.")
    require(all(kind in _KINDS for kind in kinds), "it has unknown kinds.")
    is_same = all(kinds[f.feature] == f.kind for f in features if kinds)
    require(is_same, "a kept feature is of another kind than that feature.")
    return TableEncoder(n_features_in, features, None, np.ones(0), tuple(kinds))


def _array(arrays: dict[str, Any], key: str) -> npt.NDArray[Any]:
    """Return an array of the right dtype, one-dimensional and finite."""
    array: Any = arrays.get(key)
    dtype = np.int64 if key in _INTEGER_ARRAYS else np.float64
    is_array = isinstance(array, np.ndarray) and array.dtype == dtype
    require(is_array and array.ndim == 1, f"{key} is no array of {dtype.__name__}.")
    require(np.isfinite(array).all(), f"{key} is not finite.")
    return np.asarray(array)


class _Numbers:
    """The arrays of a state, from which the encoders take their numbers in turn."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self._left = {key: _array(arrays, key) for key in _ARRAYS}

    def take(self, key: str, size: int) -> npt.NDArray[Any]:
        """Return the next numbers of an array."""
        left = self._left[key]
        require(size <= len(left), f"{key} is too short.")
        self._left[key] = left[size:]
        return left[:size]

    def shares(self, size: int) -> FloatArray:
        """Return the next shares of rows."""
        shares = self.take("shares", size)
        is_share = (shares >= 0) & (shares <= 1)
        require(is_share.all(), "its shares are not in [0, 1].")
        return shares

    def finish(self) -> None:
        """Refuse numbers that belong to no feature."""
        for key, left in self._left.items():
            require(len(left) == 0, f"{key} is too long.")


def _feature(fields: Fields, n_features_in: int, numbers: _Numbers) -> FeatureEncoder:
    """Read the encoder of a feature."""
    feature = fields.count("feature", most=n_features_in - 1)
    name = fields.text("name") if "name" in fields else None
    kind = fields.text("kind", _KINDS)
    is_category = kind == "category"
    own = _category(fields, numbers) if is_category else _number(kind, fields, numbers)
    return FeatureEncoder(feature, name, kind, own)


def _category(fields: Fields, numbers: _Numbers) -> CategoryEncoder:
    """Read an encoder of categories."""
    levels = tuple(fields.listed("levels"))
    is_sound = all(
        isinstance(level, str | int)
        or (isinstance(level, float) and math.isfinite(level))
        for level in levels
    )
    require(is_sound, "its levels are not text or finite numbers.")
    require(len(set(levels)) == len(levels), "it has a level twice.")
    has_other, has_missing = fields.flag("has_other"), fields.flag("has_missing")
    n_states = len(levels) + has_other + has_missing
    require(n_states > 0, "a category has no states.")
    return CategoryEncoder(levels, has_other, has_missing, numbers.shares(n_states))


def _number(kind: str, fields: Fields, numbers: _Numbers) -> NumberEncoder:
    """Read an encoder of numbers or dates."""
    parts = tuple(fields.listed("parts"))
    expected: tuple[str, ...] = () if kind == "empty" else NUMBER_PARTS
    if kind == "date":  # some, the first among them
        expected = tuple(p for p in DATE_PARTS if p in parts or p == DATE_PARTS[0])
    require(parts == expected, f"a feature has not the parts of a {kind}.")
    means, spreads, sizes = (
        numbers.take(key, len(parts)) for key in ("means", "spreads", "n_knots")
    )
    require((spreads > 0).all(), "its scales are not positive.")
    require((sizes >= 0).all(), "a number of knots is negative.")
    is_all_or_none = bool((sizes > 0).all() or not sizes.any())
    require(is_all_or_none, "some parts have knots, and others none.")
    knots = [numbers.take("knots", int(size)) for size in sizes if size > 0]
    scores = [numbers.take("scores", int(size)) for size in sizes if size > 0]
    for known, score in zip(knots, scores, strict=True):
        require((known[1:] > known[:-1]).all(), "its knots do not increase.")
        require((score[1:] >= score[:-1]).all(), "its scores decrease.")
    share = float(numbers.shares(1)[0]) if fields.flag("has_missing") else None
    return NumberEncoder(parts, ColumnScaler(knots, scores, means, spreads), share)
