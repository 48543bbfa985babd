"""How the columns of a table go into a graph of ONNX: as one matrix, or one by one."""

from typing import Any

import numpy as np

from featuresieve.storage.onnx._graph import Graph, Tensor, TensorType
from featuresieve.tables import (
    NUMERIC_KINDS,
    CategoryEncoder,
    FeatureEncoder,
    TableEncoder,
)

# What stands for a missing value where a tensor has none: NaT of numpy, and no text.
MISSING_INTEGER = -(2**63)
MISSING_TEXT = ""


class Columns:
    """Columns of a table, by their positions: of one matrix, or inputs (rows, 1)."""

    def __init__(self, graph: Graph, names: str | dict[int, str]) -> None:
        self._graph, self._names = graph, names  # of the matrix, or of each column

    def block(self, features: list[int], to: TensorType) -> Tensor:
        """Return columns as another type, side by side."""
        if isinstance(self._names, str):
            return self._graph.columns(self._names, features).cast(to)
        return self._graph.side_by_side([self.column(j).cast(to) for j in features])

    def column(self, feature: int) -> Tensor:
        """Return one column as it came in."""
        if isinstance(self._names, str):
            return self._graph.columns(self._names, [feature])
        return Tensor(self._graph, self._names[feature])


def is_numeric(encoder: TableEncoder) -> bool:
    """Tell whether every column of the table in fit was of numbers or booleans."""
    kinds = encoder.kinds or [feature.kind for feature in encoder.features]
    return NUMERIC_KINDS.issuperset(kinds)


def tensor_type(feature: FeatureEncoder, numbers: TensorType) -> TensorType:
    """Return how the values of a feature go into a model.

    Numbers, booleans and levels of floats are of the type `numbers`, dates microseconds
    since 1970. A TypeError or ValueError for levels that no tensor can hold.
    """
    encoder = feature.encoder
    if not isinstance(encoder, CategoryEncoder):
        return tensor_type_of_kind(feature.kind, numbers)
    levels = encoder.levels
    if all(isinstance(level, str) for level in levels):
        _check_texts(feature, levels, encoder.has_missing)
        return TensorType.STRING
    problem = None
    if any(isinstance(level, str) for level in levels):
        problem = (
            "levels that are text and levels that are not; a tensor holds one type. "
            "Make all of them text"
        )
    elif any(isinstance(level, float) for level in levels):
        if len(set(np.array(levels, dtype=np.float32).tolist())) == len(levels):
            return numbers
        problem = "levels that are the same number in float32. Make the levels text"
    elif any(not MISSING_INTEGER < level < 2**63 for level in levels):  # type: ignore[operator]
        problem = "a level that int64 cannot hold. Make the levels text"
    if problem is not None:
        raise TypeError(f"to_onnx: {feature.label} has {problem} before fit.")
    return TensorType.INT64


def tensor_type_of_kind(kind: str, numbers: TensorType) -> TensorType:
    """Return how the values of a feature go in of which only the kind is known."""
    if kind in NUMERIC_KINDS:
        return numbers
    return TensorType.INT64 if kind == "date" else TensorType.STRING


def _check_texts(
    feature: FeatureEncoder, levels: tuple[Any, ...], has_missing: bool
) -> None:
    """Raise unless a tensor can hold the levels, and tell them from missing values."""
    try:
        for level in levels:
            level.encode()
    except UnicodeEncodeError:
        raise TypeError(
            f"to_onnx: {feature.label} has a level that is no valid Unicode: "
            f"{level!r}. Replace it before fit."
        ) from None
    if has_missing and MISSING_TEXT in levels:
        raise ValueError(
            f"to_onnx: {feature.label} has both empty texts and missing values, and in "
            "ONNX the empty text is the missing value. Replace one of them before fit."
        )
