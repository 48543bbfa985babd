"""A table becomes one float32 matrix in which a feature owns one or more columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from featuresieve.tables._column import Column
from featuresieve.tables._feature_encoder import (
    CategoryEncoder,
    FeatureEncoder,
    NumberEncoder,
    kind_of,
    overflow_named,
)
from featuresieve.tables._number_blocks import (
    FeatureEncoders,
    NumberBlock,
    blocks_of,
)
from featuresieve.tables._scaling import (
    FloatArray,
    IndexArray,
    Scaling,
    root_mean_squares,
)
from featuresieve.tables._table import Table
from featuresieve.tables._threads import Result, on_threads

# Kinds of which a matrix of floats can hold every value.
NUMERIC_KINDS = frozenset({"number", "boolean", "empty"})
# Those of columns that are encoded many at a time.
_PLAIN_KINDS = ("number", "boolean")


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
    features: Sequence[FeatureEncoder]  # empty for sparse tables
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
        n_threads: int = 1,
    ) -> tuple["TableEncoder", Any]:
        """Learn the encoding of a table, and return the table encoded too.

        A row of weight k counts as k copies, one of weight 0 is not there. The
        `max_categories` most frequent levels have a column of their own. Numbers are
        read and encoded many columns at a time, on several threads.
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
        widths = _known_widths(table, rows, n_threads)
        odd: dict[int, FeatureEncoder] = {}
        for j in np.flatnonzero(widths == 0).tolist():
            column = table.column(j)
            seen = column if rows is None else column.take(rows)
            learnt = _learnt(seen, weights, scaling, max_categories)
            name = None if table.names is None else table.names[j]
            odd[j] = FeatureEncoder(j, name, kind_of(seen), learnt)
            widths[j] = learnt.n_columns
        edges = np.cumsum([0, *widths.tolist()])
        # By columns, as they are written: by rows, wide tables took twice as long.
        encoded = np.empty((table.n_rows, edges[-1]), dtype=np.float32, order="F")
        for j, feature in odd.items():
            feature.transform_into_(
                encoded[:, edges[j] : edges[j + 1]], table.column(j)
            )

        def encode(columns: IndexArray) -> tuple[IndexArray, NumberBlock]:
            values = table.numbers(columns)
            block, scaled = NumberBlock.fit_transform(values, scaling, weights, rows)
            block.write_(encoded, scaled, edges[columns])
            return columns, block

        some = np.setdiff1d(np.arange(table.n_features), [*odd])
        blocks = _by_blocks(encode, some, table, n_threads)
        kinds = table.number_kinds()
        features = FeatureEncoders(table.names, blocks, kinds, odd)
        is_numeric = NUMERIC_KINDS.issuperset(features.kinds)
        own = () if is_numeric else tuple(map(str, features.kinds))
        return cls(len(features), features, None, np.ones(0), own), encoded

    @property
    def is_sparse(self) -> bool:
        """Tell whether the encoded matrix is sparse."""
        return self.sparse_features is not None

    @property
    def feature_of_column(self) -> IndexArray:
        """Return for each encoded column the feature it belongs to."""
        if self.sparse_features is not None:
            return self.sparse_features
        if isinstance(self.features, FeatureEncoders):
            return np.repeat(np.arange(len(self.features)), self.features.widths)
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
        features = list(self.features)
        widths = [feature.encoder.n_columns for feature in features]
        edges = np.cumsum([0, *widths])
        encoded = np.empty((table.n_rows, edges[-1]), dtype=np.float32, order="F")
        is_read = table.number_kinds() != ""
        index_of: dict[int, int] = {}
        plain: dict[int, NumberEncoder] = {}
        for index, feature in enumerate(features):
            encoder = feature.encoder
            is_plain = is_read[feature.feature] and feature.kind in _PLAIN_KINDS
            if is_plain and isinstance(encoder, NumberEncoder):
                index_of[feature.feature] = index
                plain[feature.feature] = encoder
                continue
            out = encoded[:, edges[index] : edges[index + 1]]
            feature.transform_into_(out, table.column(feature.feature))

        def encode(columns: IndexArray) -> None:
            block = NumberBlock.of([plain[j] for j in columns.tolist()])
            scaled = block.scaler.transform_(table.numbers(columns))
            block.write_(
                encoded, scaled, edges[[index_of[j] for j in columns.tolist()]]
            )

        _by_blocks(encode, np.array(sorted(plain), dtype=np.intp), table, 1)
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
            if isinstance(self.features, FeatureEncoders):
                return replace(self, features=tuple(self.features[j] for j in features))
            own = {feature.feature: feature for feature in self.features}
            return replace(self, features=tuple(own[int(j)] for j in features))
        order = np.argsort(self.sparse_features)
        taken = order[np.searchsorted(self.sparse_features, features, sorter=order)]
        return replace(
            self,
            sparse_features=self.sparse_features[taken],
            sparse_spreads=self.sparse_spreads[taken],
        )


def _by_blocks(
    encode: Callable[[IndexArray], Result],
    columns: IndexArray,
    table: Table,
    n_threads: int,
) -> list[Result]:
    """Encode columns block by block; a value too large for float32 is named."""

    def checked(some: IndexArray) -> Result:
        try:
            with np.errstate(over="raise"):
                return encode(some)
        except FloatingPointError:
            for j in some:
                with overflow_named(table.label(j)):
                    encode(np.array([j]))
            raise

    return list(on_threads(checked, blocks_of(columns, table.n_rows), n_threads))


def _known_widths(table: Table, rows: IndexArray | None, n_threads: int) -> IndexArray:
    """Return how many encoded columns each column of numbers has, 0 for all others.

    One, and one more where values are missing; those without any value are others.
    """
    widths = np.zeros(table.n_features, dtype=np.intp)
    widths[table.number_kinds() != ""] = 1

    def look(columns: IndexArray) -> None:
        values = table.numbers(columns)
        is_missing = np.isnan(values if rows is None else values[:, rows])
        widths[columns] += is_missing.any(axis=1)
        widths[columns[is_missing.all(axis=1)]] = 0

    some = np.flatnonzero((widths > 0) & table.may_miss())
    list(on_threads(look, blocks_of(some, table.n_rows), n_threads))
    return widths


def _learnt(
    column: Column, weights: FloatArray | None, scaling: Scaling, max_categories: int
) -> NumberEncoder | CategoryEncoder:
    """Return the encoder of a column."""
    if column.kind == "category" and not column.is_empty:
        return CategoryEncoder.fit(column, weights, max_categories)
    return NumberEncoder.fit(column, weights, scaling)
