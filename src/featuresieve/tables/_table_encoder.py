"""A table becomes one float32 matrix in which a feature owns one or more columns."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from featuresieve.tables._column import Column, blocks_of
from featuresieve.tables._feature_encoder import (
    NUMBER_PARTS,
    CategoryEncoder,
    FeatureEncoder,
    NumberEncoder,
    kind_of,
    overflow_named,
)
from featuresieve.tables._scaling import (
    ColumnScaler,
    Float32Array,
    FloatArray,
    IndexArray,
    Scaling,
    root_mean_squares,
)
from featuresieve.tables._table import Table

# Kinds of which a matrix of floats can hold every value.
NUMERIC_KINDS = frozenset({"number", "boolean", "empty"})


@dataclass(frozen=True, eq=False)
class TableEncoder:
    """Encoding of every feature, learnt from a table.

    Numbers and booleans are scaled as `ColumnScaler` does. A missing one becomes 0, the
    middle of the scale; if some were missing in fit, an indicator of that follows.
    Dates become the moment, and month, weekday and hour if these varied. Categories
    become one indicator for each of the most frequent levels, one for all other levels
    and one for missing values, where there were such. Indicators have mean zero and
    variance one; those of rare states have less (see `scaled_indicator`). With
    ``scaling="none"``, numbers and booleans alone are left as they are.

    The columns of a sparse table are divided by their root mean square, and nothing is
    subtracted: zeros stay zeros.
    """

    n_features_in: int
    features: tuple[FeatureEncoder, ...]  # empty for sparse tables
    sparse_features: IndexArray | None  # those encoded; None if the table was dense
    sparse_spreads: FloatArray  # their root mean squares
    # Of every feature of the table, also of those that `take` left out; empty if all
    # are numbers or booleans.
    kinds: tuple[str, ...] = ()

    @classmethod
    def fit_transform(
        cls,
        table: Table,
        *,
        scaling: Scaling,
        weights: FloatArray | None = None,
        max_categories: int = 32,
    ) -> tuple["TableEncoder", Any]:
        """Learn the encoding of a table, and return the table encoded too.

        A row of weight k counts as k copies, one of weight 0 is not there. The
        `max_categories` most frequent levels have a column of their own.
        """
        rows = None
        if weights is not None and not weights.all():
            rows = np.flatnonzero(weights)
            weights = weights[rows]
        if table.is_sparse:
            spreads = root_mean_squares(table.matrix(), scaling, weights, rows)
            every = np.arange(table.n_features, dtype=np.intp)
            encoder = cls(table.n_features, (), every, spreads)
            return encoder, encoder.transform(table)
        # Numbers are learnt while they are written; how wide the rest is, before.
        known: dict[int, FeatureEncoder] = {}
        widths = np.ones(table.n_features, dtype=np.intp)
        is_plain = table.is_plain() & (weights is None)
        for j in np.flatnonzero(~is_plain).tolist():
            column = table.column(j)
            width = _known_width(column) if rows is None else None
            if width is None:
                seen = column if rows is None else column.take(rows)
                learnt = _learnt(seen, weights, scaling, max_categories)
                known[j] = _feature(table, j, kind_of(seen), learnt)
                width = learnt.n_columns
            widths[j] = width
        # By columns, as they are written: by rows, wide tables took twice as long.
        shape = (table.n_rows, int(widths.sum()))
        encoded = np.empty(shape, dtype=np.float32, order="F")
        starts = np.cumsum([0, *widths])
        plain = _encode_plain_(encoded, table, is_plain, starts, scaling)
        for j in range(table.n_features):
            if j in plain:
                known[j] = _feature(table, j, "number", plain[j])
                continue
            column, out = table.column(j), encoded[:, starts[j] : starts[j + 1]]
            if j in known:
                known[j].transform_into_(out, column)
                continue
            with overflow_named(table.label(j)):
                learnt = NumberEncoder.fit(column, weights, scaling, out)
            known[j] = _feature(table, j, kind_of(column), learnt)
        features = tuple(known[j] for j in range(table.n_features))
        kinds = tuple(str(feature.kind) for feature in features)
        kinds = () if NUMERIC_KINDS.issuperset(kinds) else kinds
        return cls(len(features), features, None, np.ones(0), kinds), encoded

    @property
    def is_sparse(self) -> bool:
        """Tell whether the encoded matrix is sparse."""
        return self.sparse_features is not None

    @property
    def feature_of_column(self) -> IndexArray:
        """Return for each encoded column the feature it belongs to."""
        if self.sparse_features is not None:
            return self.sparse_features
        positions = np.array([f.feature for f in self.features], dtype=np.intp)
        widths = [f.encoder.n_columns for f in self.features]
        return np.repeat(positions, widths)

    def transform(self, table: Table) -> Any:
        """Return a table, with all features, encoded: a float32 or CSR array."""
        if table.n_features != self.n_features_in:
            raise ValueError(
                f"X has {table.n_features} features, but {self.n_features_in} features "
                "are expected, as in fit."
            )
        if self.sparse_features is not None:
            return self._transform_sparse(table, self.sparse_features)
        edges = np.cumsum([0, *(f.encoder.n_columns for f in self.features)]).tolist()
        encoded = np.empty((table.n_rows, edges[-1]), dtype=np.float32, order="F")
        for feature, start, stop in zip(self.features, edges, edges[1:], strict=False):
            column = table.column(feature.feature)
            feature.transform_into_(encoded[:, start:stop], column)
        return encoded

    def _transform_sparse(self, table: Table, features: IndexArray) -> Any:
        """Divide the columns of a sparse table, or of an array made sparse."""
        if not (table.is_sparse or table.is_numeric_matrix):
            raise ValueError(
                "X was a sparse matrix in fit; it must be one now, or a numeric array."
            )
        values = sparse.csr_array(table.matrix())
        if np.isnan(values.data).any():
            raise ValueError(
                "X holds NaN: there may be no missing values where X was a sparse "
                "matrix in fit."
            )
        if len(features) < self.n_features_in or (np.diff(features) != 1).any():
            values = values[:, features]
        data = values.data / self.sparse_spreads[values.indices]
        return sparse.csr_array(
            (data.astype(np.float32), values.indices, values.indptr), values.shape
        )

    def take(self, features: IndexArray) -> "TableEncoder":
        """Return the encoder of some features, in this order.

        It still transforms whole tables, and features are positions in these.
        """
        if self.sparse_features is None:
            own = {feature.feature: feature for feature in self.features}
            return replace(self, features=tuple(own[int(j)] for j in features))
        index_of = {int(j): index for index, j in enumerate(self.sparse_features)}
        taken = np.array([index_of[int(j)] for j in features], dtype=np.intp)
        return replace(
            self,
            sparse_features=self.sparse_features[taken],
            sparse_spreads=self.sparse_spreads[taken],
        )


def _encode_plain_(
    encoded: Float32Array,
    table: Table,
    is_plain: npt.NDArray[np.bool_],
    starts: IndexArray,
    scaling: Scaling,
) -> dict[int, NumberEncoder]:
    """Encode runs of plain columns, many at a time; return their encoders.

    Where a value does not fit into float32, the columns are left to be encoded one by
    one, so that the error names the column.
    """
    encoders: dict[int, NumberEncoder] = {}
    for start, stop in blocks_of(is_plain, table.n_rows):
        block = table.numbers(start, stop)
        with suppress(FloatingPointError), np.errstate(over="raise"):
            scaler, scaled = ColumnScaler.fit_transform(block, scaling)
            encoded[:, starts[start] : starts[start] + stop - start] = scaled.T
            for k, j in enumerate(range(start, stop)):
                own = scaler.take(slice(k, k + 1))
                encoders[j] = NumberEncoder(NUMBER_PARTS, own, None)
    return encoders


def _feature(
    table: Table, j: int, kind: str, encoder: NumberEncoder | CategoryEncoder
) -> FeatureEncoder:
    """Return how a feature of a table is encoded."""
    name = None if table.names is None else table.names[j]
    return FeatureEncoder(j, name, kind, encoder)


def _known_width(column: Column) -> int | None:
    """Return how many columns a column becomes, None if that must be learnt."""
    if column.is_empty:
        return 1
    if column.kind in ("date", "category"):
        return None
    return 1 + (column.is_missing is not None)


def _learnt(
    column: Column, weights: FloatArray | None, scaling: Scaling, max_categories: int
) -> NumberEncoder | CategoryEncoder:
    """Return the encoder of a column."""
    if column.kind == "category" and not column.is_empty:
        return CategoryEncoder.fit(column, weights, max_categories)
    return NumberEncoder.fit(column, weights, scaling)
