"""Some rows of the table of a fit, back in the units of the user."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from featuresieve.problem import BoolArray, ClassEncoder, EncodedProblem, ValueScaler
from featuresieve.tables import (
    CategoryEncoder,
    FloatArray,
    IndexArray,
    NumberEncoder,
)

_MOST_ROWS = 4000
# Classes that are told apart by colour, the most frequent ones.
_MOST_CLASSES = 4


@dataclass(frozen=True)
class TargetValues:
    """The target of the rows: classes, or values; neither if it has several parts."""

    codes: IndexArray | None = None  # -1 for classes without a colour
    classes: tuple[str, ...] = ()  # those with a colour
    n_classes: int = 0
    values: FloatArray | None = None


@dataclass(frozen=True)
class ColumnValues:
    """One column of the rows."""

    kind: str  # number, boolean, date, category or empty
    values: FloatArray  # of a category positions in `levels`; NaN where missing
    levels: tuple[str, ...] = ()

    @property
    def missing_share(self) -> float:
        """Return the share of the rows in which nothing is known."""
        return float(np.isnan(self.values).mean())


class FitData:
    """Rows that a fit saw, at most some thousands of them, drawn at random."""

    def __init__(
        self, prepared: EncodedProblem, code: ClassEncoder | ValueScaler
    ) -> None:
        problem = prepared.problem
        self.n_rows = min(problem.n_rows, _MOST_ROWS)
        draw = np.random.default_rng(0).permutation(problem.n_rows)
        rows = np.sort(draw[: self.n_rows])
        features = problem.features[rows]
        self._features = features.tocsc() if issparse(features) else features
        self._encoder = prepared.encoder
        self._spans = _spans(prepared)
        self.target = _target(problem.targets[rows], code)

    def __contains__(self, feature: int) -> bool:
        return feature in self._spans

    def column(self, feature: int) -> ColumnValues:
        """Return the values of a feature."""
        encoded = self._encoded(self._spans[feature])
        if self._encoder.is_sparse:
            positions = self._encoder.sparse_features
            assert positions is not None
            spread = self._encoder.sparse_spreads[np.searchsorted(positions, feature)]
            return ColumnValues("number", encoded[:, 0] * spread)
        own = self._encoder.features[feature]
        if isinstance(own.encoder, CategoryEncoder):
            return _category(own.encoder, encoded)
        return _number(str(own.kind), own.encoder, encoded)

    def correlations(
        self, first: Sequence[int], second: Sequence[int]
    ) -> npt.NDArray[np.float64]:
        """Return the correlation of each of the first features with each of the second.

        Of what the networks see: with normal scores it is nearly that of ranks. Of
        features of several encoded columns, the strongest of any two of these.
        """
        if not len(first) or not len(second):
            return np.zeros((len(first), len(second)))
        left, right = self._standardised(first), self._standardised(second)
        products = left[0].T @ right[0] / self.n_rows
        products = _strongest(products, left[1])
        return _strongest(products.T, right[1]).T

    def _encoded(self, span: slice) -> FloatArray:
        """Return encoded columns as a dense array."""
        part = self._features[:, span]
        return np.asarray(part.toarray() if issparse(part) else part, dtype=np.float64)

    def _standardised(self, features: Sequence[int]) -> tuple[FloatArray, IndexArray]:
        """Return encoded columns with mean 0 and variance 1, and where each begins."""
        parts = [self._encoded(self._spans[feature]) for feature in features]
        block = np.concatenate(parts, axis=1)
        block -= block.mean(axis=0)
        spread = block.std(axis=0)
        block /= np.where(spread > 0, spread, 1.0)
        return block, np.cumsum([0, *(part.shape[1] for part in parts[:-1])])


def _strongest(products: FloatArray, starts: IndexArray) -> FloatArray:
    """Return of each run of rows the value that is farthest from zero."""
    most = np.maximum.reduceat(products, starts, axis=0)
    least = np.minimum.reduceat(products, starts, axis=0)
    return np.where(most >= -least, most, least)


def _spans(prepared: EncodedProblem) -> dict[int, slice]:
    """Return where the encoded columns of each feature are in the problem."""
    features = prepared.units.features
    widths = np.bincount(
        prepared.encoder.feature_of_column, minlength=prepared.n_features
    )
    edges = np.cumsum([0, *widths[features]])
    return {
        int(feature): slice(int(start), int(stop))
        for feature, start, stop in zip(features, edges, edges[1:], strict=False)
    }


def _target(targets: npt.NDArray[Any], code: ClassEncoder | ValueScaler) -> Any:
    """Return the target in the units of the user."""
    if targets.ndim == 1:
        assert isinstance(code, ClassEncoder)
        counts = np.bincount(targets, minlength=len(code.classes))
        frequent = np.sort(np.argsort(-counts, kind="stable")[:_MOST_CLASSES])
        place = np.full(len(code.classes), -1)
        place[frequent] = np.arange(len(frequent))
        names = tuple(str(code.classes[k]) for k in frequent)
        return TargetValues(place[targets], names, len(code.classes))
    if targets.shape[1] > 1 or isinstance(code, ClassEncoder):
        return TargetValues()
    return TargetValues(values=code.decode(targets.astype(np.float64)).reshape(-1))


def _number(kind: str, encoder: NumberEncoder, encoded: FloatArray) -> ColumnValues:
    """Undo the scaling of a number, or of the moment of a date."""
    if not encoder.parts:
        return ColumnValues("empty", np.full(len(encoded), np.nan))
    scaler = encoder.scaler
    values = encoded[:, 0] * scaler.spreads[0] + scaler.means[0]
    if scaler.knots:
        values = np.interp(values, scaler.scores[0], scaler.knots[0])
    if encoder.missing_share is not None:
        values[_is_yes(encoded[:, -1])] = np.nan
    if kind == "boolean":
        return ColumnValues(kind, np.round(values), ("False", "True"))
    return ColumnValues(kind, values)


def _category(encoder: CategoryEncoder, encoded: FloatArray) -> ColumnValues:
    """Return the states that indicators stand for."""
    n_states = len(encoder.shares)
    if n_states > 2:
        states = encoded.argmax(axis=1)
    else:
        states = _is_yes(encoded[:, 0]).astype(np.intp)
    values = states.astype(np.float64)
    if encoder.has_missing:
        values[states == encoder.missing_state] = np.nan
    levels = [str(level) for level in encoder.levels]
    return ColumnValues(
        "category", values, (*levels, *(["other values"] * encoder.has_other))
    )


def _is_yes(indicator: FloatArray) -> BoolArray:
    """Tell where a scaled indicator says yes: its mean is zero."""
    return np.asarray(indicator > 0)
