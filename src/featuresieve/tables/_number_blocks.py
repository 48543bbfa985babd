"""Columns of numbers, many at a time: learnt, encoded, and looked up one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from featuresieve.tables._feature_encoder import (
    NUMBER_PARTS,
    FeatureEncoder,
    NumberEncoder,
)
from featuresieve.tables._normal_scores import has_missing
from featuresieve.tables._scaling import (
    ColumnScaler,
    Float32Array,
    FloatArray,
    IndexArray,
    Scaling,
    scaled_indicator,
)

# Cells that are read and encoded at once: they stay in the processor's cache.
_CELLS_AT_ONCE = 1 << 18


def blocks_of(columns: IndexArray, n_rows: int) -> list[IndexArray]:
    """Cut columns into blocks of some cells each."""
    width = max(1, _CELLS_AT_ONCE // max(1, n_rows))
    return [columns[start : start + width] for start in range(0, len(columns), width)]


@dataclass(frozen=True, eq=False)
class NumberBlock:
    """How some columns of numbers, one of each feature, are encoded."""

    scaler: ColumnScaler
    # Of missing values in fit: NaN, and no indicator, where there were none.
    missing_shares: FloatArray

    @classmethod
    def fit_transform(
        cls,
        values: FloatArray,
        scaling: Scaling,
        weights: FloatArray | None,
        rows: IndexArray | None,
    ) -> tuple["NumberBlock", FloatArray]:
        """Learn from the rows that count, and return all of them scaled."""
        seen = values if rows is None else values[:, rows]
        shares = np.full(len(values), np.nan)
        if has_missing(seen):
            is_missing = np.isnan(seen)
            some = is_missing.any(axis=1)
            shares[some] = np.average(is_missing[some], axis=1, weights=weights)
        scaler, scaled = ColumnScaler.fit_transform(seen, scaling, weights)
        if rows is not None:
            scaled = scaler.transform_(values)
        return cls(scaler, shares), scaled

    @classmethod
    def of(cls, encoders: Sequence[NumberEncoder]) -> "NumberBlock":
        """Put the encoders of single numbers together."""
        shares = [e.missing_share for e in encoders]
        scaler = ColumnScaler.joined([e.scaler for e in encoders])
        return cls(scaler, np.array(shares, dtype=np.float64))

    def encoder(self, index: int) -> NumberEncoder:
        """Return how one of the features is encoded."""
        share = float(self.missing_shares[index])
        own = self.scaler.take(slice(index, index + 1))
        return NumberEncoder(NUMBER_PARTS, own, None if np.isnan(share) else share)

    @property
    def widths(self) -> IndexArray:
        """Return how many encoded columns each feature has."""
        return 2 - np.isnan(self.missing_shares).astype(np.intp)

    def write_(self, out: Float32Array, scaled: FloatArray, starts: IndexArray) -> None:
        """Write scaled values, NaN where missing, into columns of `out`.

        Those of a feature begin at its entry of `starts`. A value that does not fit
        into float32 raises FloatingPointError.
        """
        is_missing = np.isnan(scaled) if has_missing(scaled) else None
        if is_missing is not None:
            scaled = np.where(is_missing, 0.0, scaled)
        with np.errstate(over="raise"):
            by_columns = out.T
            if (np.diff(starts) == 1).all():  # a slice is written faster
                by_columns[starts[0] : starts[0] + len(starts)] = scaled
            else:
                by_columns[starts] = scaled
        own = np.flatnonzero(self.widths == 2)
        if len(own):
            shares = self.missing_shares[own].tolist()
            states = np.array([scaled_indicator(share) for share in shares])
            which = False if is_missing is None else is_missing[own]
            indicators = np.where(which, states[:, 1:], states[:, :1])
            by_columns[starts[own] + 1] = indicators


class FeatureEncoders(Sequence[FeatureEncoder]):
    """The encoders of all features of a table, made when one is asked for."""

    def __init__(
        self,
        names: Sequence[str] | None,
        blocks: Sequence[tuple[IndexArray, NumberBlock]],
        kinds: npt.NDArray[np.str_],
        odd: Mapping[int, FeatureEncoder],
    ) -> None:
        self._names, self._odd = names, odd
        self._blocks = [block for _, block in blocks]
        self.kinds = kinds.astype(object)
        self.widths = np.ones(len(kinds), dtype=np.intp)
        self._position = np.zeros((len(kinds), 2), dtype=np.intp)
        for number, (features, block) in enumerate(blocks):
            self.widths[features] = block.widths
            self._position[features, 0] = number
            self._position[features, 1] = np.arange(len(features))
        for feature, encoder in odd.items():
            self.kinds[feature] = encoder.kind
            self.widths[feature] = encoder.encoder.n_columns

    def __len__(self) -> int:
        return len(self.kinds)

    def __getitem__(self, feature: int) -> FeatureEncoder:  # type: ignore[override]
        if feature in self._odd:
            return self._odd[feature]
        block, index = self._position[feature].tolist()  # or an IndexError
        name = None if self._names is None else self._names[feature]
        encoder = self._blocks[block].encoder(index)
        return FeatureEncoder(int(feature), name, self.kinds[feature], encoder)
