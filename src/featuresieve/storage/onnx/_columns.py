"""How the columns of a table go into a graph of ONNX: as one matrix, or one by one."""

from typing import Any, Protocol

import numpy as np

from featuresieve.storage.onnx._graph import Graph, TensorType
from featuresieve.tables import (
    NUMERIC_KINDS,
    CategoryEncoder,
    FeatureEncoder,
    TableEncoder,
)

# What stands for a missing value where a tensor has none: NaT of numpy, and no text.
MISSING_INTEGER = -(2**63)
MISSING_TEXT = ""


class Columns(Protocol):
    """Columns of a table inside a graph; features are positions in the table."""

    def numbers(self, features: list[int]) -> str:
        """Return columns of numbers as float64, (rows, features)."""
        ...

    def integers(self, features: list[int]) -> str:
        """Return columns of int64, (rows, features)."""
        ...

    def column(self, feature: int) -> str:
        """Return one column as it came in, (rows, 1)."""
        ...


class MatrixColumns:
    """The columns of one numeric matrix."""

    def __init__(self, graph: Graph, matrix: str) -> None:
        self._graph, self._matrix = graph, matrix

    def numbers(self, features: list[int]) -> str:
        """Return columns as float64."""
        return self._graph.cast(self.column_block(features), TensorType.DOUBLE)

    def integers(self, features: list[int]) -> str:
        """Return columns as int64."""
        return self._graph.cast(self.column_block(features), TensorType.INT64)

    def column(self, feature: int) -> str:
        """Return one column."""
        return self.column_block([feature])

    def column_block(self, features: list[int]) -> str:
        """Return columns as they came in."""
        return self._graph.columns(self._matrix, features)


class SingleColumns:
    """Columns that are inputs of their own, each of shape (rows, 1)."""

    def __init__(self, graph: Graph, names: dict[int, str]) -> None:
        self._graph, self._names = graph, names

    def numbers(self, features: list[int]) -> str:
        """Return columns as float64."""
        return self._together(features, TensorType.DOUBLE)

    def integers(self, features: list[int]) -> str:
        """Return columns as int64."""
        return self._together(features, TensorType.INT64)

    def column(self, feature: int) -> str:
        """Return one column."""
        return self._names[feature]

    def _together(self, features: list[int], to: TensorType) -> str:
        """Return columns side by side."""
        cast = [self._graph.cast(self._names[feature], to) for feature in features]
        return self._graph.side_by_side(cast)


def is_numeric(encoder: TableEncoder) -> bool:
    """Tell whether every column of the table in fit was of numbers or booleans."""
    kinds = encoder.kinds or [feature.kind for feature in encoder.features]
    return NUMERIC_KINDS.issuperset(kinds)


def tensor_type(feature: FeatureEncoder, numbers: TensorType) -> TensorType:
    """Return how the values of a feature go into a model.

    Numbers, booleans and levels of floats are of the type `numbers`, dates microseconds
    since 1970. A TypeError or ValueError for levels that no tensor can hold.
    """
    if not isinstance(feature.encoder, CategoryEncoder):
        return TensorType.INT64 if feature.kind == "date" else numbers
    levels = feature.encoder.levels
    if all(isinstance(level, str) for level in levels):
        _check_texts(feature, levels)
        return TensorType.STRING
    if any(isinstance(level, str) for level in levels):
        raise TypeError(
            f"to_onnx: {feature.label} has levels that are text and levels that are "
            "not; a tensor holds one type. Make all of them text before fit."
        )
    if any(isinstance(level, float) for level in levels):
        _check_floats(feature, levels)
        return numbers
    if any(not MISSING_INTEGER < level < 2**63 for level in levels):  # type: ignore[operator]
        raise TypeError(
            f"to_onnx: {feature.label} has a level that int64 cannot hold. Make the "
            "levels text before fit."
        )
    return TensorType.INT64


def tensor_type_of_kind(kind: str, numbers: TensorType) -> TensorType:
    """Return how the values of a feature go in of which only the kind is known."""
    if kind in NUMERIC_KINDS:
        return numbers
    return TensorType.INT64 if kind == "date" else TensorType.STRING


def _check_floats(feature: FeatureEncoder, levels: tuple[Any, ...]) -> None:
    """Raise unless float32 can tell the levels apart."""
    if len(set(np.array(levels, dtype=np.float32).tolist())) < len(levels):
        raise TypeError(
            f"to_onnx: {feature.label} has levels that are the same number in float32. "
            "Make the levels text before fit."
        )


def _check_texts(feature: FeatureEncoder, levels: tuple[Any, ...]) -> None:
    """Raise unless a tensor can hold the levels, and tell them from missing values."""
    try:
        for level in levels:
            level.encode()
    except UnicodeEncodeError:
        raise TypeError(
            f"to_onnx: {feature.label} has a level that is no valid Unicode: "
            f"{level!r}. Replace it before fit."
        ) from None
    assert isinstance(feature.encoder, CategoryEncoder)
    if feature.encoder.has_missing and MISSING_TEXT in levels:
        raise ValueError(
            f"to_onnx: {feature.label} has both empty texts and missing values, and in "
            "ONNX the empty text is the missing value. Replace one of them before fit."
        )
