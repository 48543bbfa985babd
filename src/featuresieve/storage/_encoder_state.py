"""A fitted encoding as a description for JSON and a few arrays, and back.

What is read may come from anyone: nothing in it is believed before it is checked.
"""

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from featuresieve.tables import (
    DATE_PARTS,
    NUMBER_PARTS,
    CategoryEncoder,
    ColumnScaler,
    FeatureEncoder,
    FloatArray,
    IndexArray,
    Level,
    NumberEncoder,
    TableEncoder,
)

_KINDS = ("number", "boolean", "date", "category", "empty")


def encoder_state(encoder: TableEncoder) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what `encoder_from_state` needs: a description for JSON, and arrays."""
    writer = _StateWriter()
    described = []
    for feature in encoder.features:
        entry = {"feature": feature.feature, "kind": feature.kind}
        if feature.name is not None:
            entry["name"] = feature.name
        described.append(entry | writer.add(feature.encoder))
    description = {
        "version": 1,
        "n_features_in": encoder.n_features_in,
        "is_sparse": encoder.is_sparse,
        "features": described,
    }
    if encoder.kinds:
        description["kinds"] = list(encoder.kinds)
    arrays = writer.arrays()
    if encoder.sparse_features is not None:
        arrays = {
            "sparse_features": encoder.sparse_features.astype(np.int64),
            "sparse_spreads": encoder.sparse_spreads,
        }
    return description, arrays


def encoder_from_state(
    description: dict[str, Any], arrays: dict[str, Any]
) -> TableEncoder:
    """Build an encoder from what `encoder_state` returned; else a ValueError."""
    reader = _StateReader(description, arrays)
    if reader.is_sparse:
        positions, spreads = reader.sparse()
        return TableEncoder(reader.n_features_in, (), positions, spreads)
    features = tuple(reader.features())
    kinds = reader.kinds()
    return TableEncoder(reader.n_features_in, features, None, np.ones(0), kinds)


class _StateWriter:
    """Collects the numbers of encoders, one after the other."""

    def __init__(self) -> None:
        self._means: list[FloatArray] = []
        self._spreads: list[FloatArray] = []
        self._knots: list[FloatArray] = []
        self._scores: list[FloatArray] = []
        self._n_knots: list[int] = []
        self._shares: list[FloatArray] = []

    def add(self, encoder: NumberEncoder | CategoryEncoder) -> dict[str, Any]:
        """Take the numbers of an encoder, and return the rest of it."""
        if isinstance(encoder, CategoryEncoder):
            self._shares.append(encoder.shares)
            return {
                "levels": list(encoder.levels),
                "has_other": encoder.has_other,
                "has_missing": encoder.has_missing,
            }
        scaler = encoder.scaler
        self._means.append(scaler.means)
        self._spreads.append(scaler.spreads)
        self._knots += scaler.knots
        self._scores += scaler.scores
        self._n_knots += [len(k) for k in scaler.knots] or [0] * len(encoder.parts)
        if encoder.missing_share is not None:
            self._shares.append(np.array([encoder.missing_share]))
        return {
            "parts": list(encoder.parts),
            "has_missing": encoder.missing_share is not None,
        }

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return all numbers."""
        nothing = [np.zeros(0)]
        return {
            "means": np.concatenate(nothing + self._means),
            "spreads": np.concatenate(nothing + self._spreads),
            "knots": np.concatenate(nothing + self._knots),
            "scores": np.concatenate(nothing + self._scores),
            "n_knots": np.array(self._n_knots, dtype=np.int64),
            "shares": np.concatenate(nothing + self._shares),
        }


class _StateReader:
    """Reads what `_StateWriter` wrote; anything else is a ValueError."""

    def __init__(self, description: Any, arrays: Any) -> None:
        _require(isinstance(description, dict), "the description is an object")
        _require(isinstance(arrays, dict), "the arrays have names")
        version = description.get("version")
        _require(version == 1 and version is not True, "its version is 1")
        self._description = description
        self._arrays = arrays
        self._checked: dict[str, npt.NDArray[Any]] = {}
        self._places: dict[str, int] = {}
        self.n_features_in = _count(description.get("n_features_in"), 1)
        self.is_sparse = _flag(description.get("is_sparse"))

    def sparse(self) -> tuple[IndexArray, FloatArray]:
        """Return the features of a sparse table and their scales."""
        features = self._array("sparse_features", np.int64)
        spreads = self._array("sparse_spreads", np.float64)
        _require(len(features) == len(spreads), "each feature has a scale")
        _require(
            bool(((features >= 0) & (features < self.n_features_in)).all()),
            "the features are positions in the table",
        )
        _require(bool((spreads > 0).all()), "scales are positive")
        return features.astype(np.intp), spreads

    def features(self) -> Iterator[FeatureEncoder]:
        """Yield the features; at the end no number may be left over."""
        features = self._description.get("features")
        _require(isinstance(features, list), "its features are a list")
        for entry in cast(list[Any], features):
            _require(isinstance(entry, dict), "a feature is an object")
            feature = _count(entry.get("feature"), 0)
            _require(feature < self.n_features_in, "a feature is in the table")
            name, kind = entry.get("name"), entry.get("kind")
            _require(name is None or isinstance(name, str), "a name is text")
            _require(isinstance(kind, str) and kind in _KINDS, "its kind is known")
            read = self._category if kind == "category" else self._number
            yield FeatureEncoder(feature, name, kind, read(entry))
        for key in ("means", "spreads", "knots", "scores", "n_knots", "shares"):
            dtype = np.int64 if key == "n_knots" else np.float64
            left = len(self._array(key, dtype)) - self._places.get(key, 0)
            _require(left == 0, f"all of {key} belongs to features")

    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of all features; nothing where none is written."""
        kinds = self._description.get("kinds", [])
        _require(isinstance(kinds, list), "its kinds are a list")
        _require(len(kinds) in (0, self.n_features_in), "every feature has a kind")
        _require(all(kind in _KINDS for kind in kinds), "its kinds are known")
        for entry in self._description["features"]:
            is_same = not kinds or kinds[entry["feature"]] == entry["kind"]
            _require(is_same, "a kept feature is of the kind of that feature")
        return tuple(kinds)

    def _category(self, entry: dict[str, Any]) -> CategoryEncoder:
        """Read an encoder of categories."""
        levels = entry.get("levels")
        _require(isinstance(levels, list), "levels are a list")
        levels = cast(list[Level], levels)
        _require(all(map(_is_level, levels)), "levels are text or finite numbers")
        _require(len(set(levels)) == len(levels), "levels differ")
        has_other = _flag(entry.get("has_other"))
        has_missing = _flag(entry.get("has_missing"))
        n_states = len(levels) + has_other + has_missing
        _require(n_states > 0, "a category has states")
        return CategoryEncoder(
            tuple(levels), has_other, has_missing, self._next_shares(n_states)
        )

    def _number(self, entry: dict[str, Any]) -> NumberEncoder:
        """Read an encoder of numbers or dates."""
        kind, parts = entry["kind"], entry.get("parts")
        _require(isinstance(parts, list), "parts are a list")
        found = tuple(cast(list[Any], parts))
        if kind == "empty":
            _require(found == (), "an empty feature has no parts")
        elif kind == "date":
            known = tuple(part for part in DATE_PARTS if part in found)
            _require(found == known and found[:1] == DATE_PARTS[:1], "parts are known")
        else:
            _require(found == NUMBER_PARTS, "a number is its value")
        scaler = self._next_scaler(len(found))
        has_missing = _flag(entry.get("has_missing"))
        share = float(self._next_shares(1)[0]) if has_missing else None
        return NumberEncoder(found, scaler, share)

    def _next_scaler(self, n_parts: int) -> ColumnScaler:
        """Read the scaling of the next parts."""
        means = self._next("means", n_parts)
        spreads = self._next("spreads", n_parts)
        _require(bool((spreads > 0).all()), "scales are positive")
        sizes = self._next("n_knots", n_parts, np.int64)
        _require(bool((sizes >= 0).all()), "numbers of knots are not negative")
        _require(
            bool((sizes > 0).all() or not sizes.any()), "all parts or none have knots"
        )
        knots = [self._next("knots", int(size)) for size in sizes if size > 0]
        scores = [self._next("scores", int(size)) for size in sizes if size > 0]
        for known, score in zip(knots, scores, strict=True):
            _require(bool((known[1:] > known[:-1]).all()), "knots increase")
            _require(bool((score[1:] >= score[:-1]).all()), "scores do not decrease")
        return ColumnScaler(knots, scores, means, spreads)

    def _next_shares(self, size: int) -> FloatArray:
        """Read the next shares of rows."""
        shares = self._next("shares", size)
        _require(bool(((shares >= 0) & (shares <= 1)).all()), "shares are in [0, 1]")
        return shares

    def _next(
        self, key: str, size: int, dtype: type[np.generic] = np.float64
    ) -> npt.NDArray[Any]:
        """Return the next numbers of an array."""
        place = self._places.get(key, 0)
        numbers = self._array(key, dtype)[place : place + size]
        _require(len(numbers) == size, f"{key} is long enough")
        self._places[key] = place + size
        return numbers

    def _array(self, key: str, dtype: type[np.generic]) -> npt.NDArray[Any]:
        """Return an array of the right dtype, one-dimensional and finite."""
        if key in self._checked:
            return self._checked[key]
        array = self._arrays.get(key)
        _require(
            isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == 1,
            f"{key} is a one-dimensional array of {dtype.__name__}",
        )
        array = cast(npt.NDArray[Any], array)
        _require(bool(np.isfinite(array).all()), f"{key} is finite")
        self._checked[key] = array
        return array


def _require(is_met: bool, rule: str) -> None:
    """Raise unless a rule of the format is met."""
    if not is_met:
        raise ValueError(f"this is not the state of an encoder, in which {rule}.")


def _count(value: Any, smallest: int) -> int:
    """Return a whole number that is at least `smallest`."""
    _require(type(value) is int and value >= smallest, f"counts are >= {smallest}")
    return int(value)


def _flag(value: Any) -> bool:
    """Return a boolean."""
    _require(isinstance(value, bool), "flags are true or false")
    return bool(value)


def _is_level(value: Any) -> bool:
    """Tell whether a value can be the level of a category."""
    if isinstance(value, float):
        return bool(np.isfinite(value))
    return isinstance(value, (str, bool, int))
