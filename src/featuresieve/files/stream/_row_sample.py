"""A random sample of rows that come in batches, the same however they come.

Every row has a pseudo-random number, a hash of the seed and of its place in the stream.
Of each class the rows of the smallest ones are kept, as many of every class as the
budget allows. The more rows have been seen, the fewer of a class can stay: what was let
go is never wanted again, and the sample depends neither on batches nor on who saw what.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featuresieve.errors import TableFileError, shown
from featuresieve.files._typed_columns import is_text
from featuresieve.files.stream._row_choice import (
    MOST_ROWS,
    IndexArray,
    affordable_rows,
    class_weights,
    row_hashes,
)

# What is kept may grow by this factor before it is thinned again.
_SLACK = 1.5
# Tells the others a value, and returns what each of them tells.
Gather = Callable[[Any], list[Any]]
_MOST_CLASSES = 1000
_NO_LIMIT = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class SampledRows:
    """What a sample holds, in the order of the stream."""

    table: pa.Table
    rows: IndexArray  # places in the stream
    # What each row stands for, mean one; None: all for the same number of rows.
    weights: npt.NDArray[np.float64] | None
    n_rows: int  # of the stream

    @property
    def is_whole(self) -> bool:
        """Tell whether all rows of the stream are here."""
        return len(self.rows) == self.n_rows


class RowSample:
    """A uniform sample of the rows of each class.

    `seed` decides, with their places in the stream, which rows are kept; they may cost
    `budget` together, each `row_cost` and `byte_cost` for a byte of text, and be
    `most_rows`. Without a `class_column` all rows are of one kind.
    """

    def __init__(
        self,
        *,
        seed: int,
        budget: float,
        row_cost: int,
        byte_cost: int = 0,
        class_column: str | None = None,
        most_rows: int | None = MOST_ROWS,
    ) -> None:
        self._seed, self._budget = seed, budget
        self._row_cost, self._byte_cost = row_cost, byte_cost
        self._class_column, self._most_rows = class_column, most_rows
        # Batches, and of their rows the places, the codes of classes and the costs.
        self._parts: list[tuple[pa.RecordBatch, IndexArray]] = []
        self._code_of: dict[Any, int] = {} if class_column else {None: 0}
        self._limits = np.full(len(self._code_of), _NO_LIMIT)  # of hashes, by class
        self._counts = np.zeros(len(self._code_of), dtype=np.int64)
        self._spent = self._n_kept = 0

    def add(self, batch: pa.RecordBatch, first_row: int) -> None:
        """Look at the rows of a batch, of which the first has this place."""
        codes = self._class_codes(batch)
        self._counts += np.bincount(codes, minlength=len(self._counts))
        rows = np.arange(first_row, first_row + batch.num_rows, dtype=np.int64)
        is_low = row_hashes(self._seed, rows) <= self._limits[codes]
        batch = _some(batch, is_low)
        costs = np.full(batch.num_rows, self._row_cost, dtype=np.int64)
        for column in filter(lambda c: is_text(c.type), batch.columns):
            lengths = pc.fill_null(pc.binary_length(column), 0)
            costs += self._byte_cost * lengths.to_numpy(zero_copy_only=False)
        self._append(batch, np.stack([rows[is_low], codes[is_low], costs]))

    def gathered(self, gather: Gather) -> Self:
        """Return the sample of all parts, each of which another process has read.

        They tell first what their rows cost, so that none are sent that have to go.
        """
        told = gather((list(self._code_of), self._known()))
        parts = []
        for labels, (rows, own, costs) in told:
            codes = np.array([self._code(label) for label in labels], np.int64)
            parts.append(np.stack([rows, codes[own], costs]))
        everyones = np.concatenate(parts, axis=1)
        is_kept = self._affordable(everyones)
        self._keep_(np.isin(self._known()[0], everyones[0, is_kept]))
        first, *others = gather(self)
        for other in others:
            first.merge(other)
        return first  # type: ignore[no-any-return]

    def merge(self, other: Self) -> None:
        """Take in the sample of another part of the same stream."""
        codes = np.array([self._code(label) for label in other._code_of], np.int64)
        self._counts[codes] += other._counts
        self._limits[codes] = np.minimum(self._limits[codes], other._limits)
        for batch, (rows, own, costs) in other._parts:
            self._append(batch, np.stack([rows, codes[own], costs]))

    def take(self) -> SampledRows:
        """Return the sample of what has been seen."""
        self._thin_()
        if not self._parts:
            raise TableFileError("there are no rows.")
        rows, codes, _ = self._known()
        if not len(rows):
            raise TableFileError(
                f"memory: {self._budget:.0f} bytes hold no row of each class; "
                f"{self._row_cost * len(self._counts)} would hold one."
            )
        batches = [batch for batch, _ in self._parts]
        table = pa.Table.from_batches(batches).unify_dictionaries()
        order = np.argsort(rows)
        if (order[1:] < order[:-1]).any():  # of ranks that were merged
            table = table.take(pa.array(order))
        weights = class_weights(codes[order], self._counts)
        return SampledRows(table, rows[order], weights, int(self._counts.sum()))

    def _append(self, batch: pa.RecordBatch, known: IndexArray) -> None:
        """Keep rows for now."""
        self._parts.append((batch, known))
        self._spent += int(known[2].sum())
        self._n_kept += batch.num_rows
        most = np.inf if self._most_rows is None else self._most_rows
        if self._spent > _SLACK * self._budget or self._n_kept > _SLACK * most:
            self._thin_()

    def _known(self) -> IndexArray:
        """Return places, classes and costs of the rows that are kept for now."""
        none = np.zeros((3, 0), dtype=np.int64)
        return np.concatenate([none, *(known for _, known in self._parts)], axis=1)

    def _thin_(self) -> None:
        """Let go of the rows that the budget has no room for."""
        self._keep_(self._affordable(self._known()))

    def _affordable(self, known: IndexArray) -> npt.NDArray[np.bool_]:
        """Tell which rows the budget has room for; others like the rest never come."""
        rows, codes, costs = known
        hashes = row_hashes(self._seed, rows)
        is_kept = affordable_rows(hashes, codes, costs, self._budget, self._most_rows)
        for code in np.unique(codes[~is_kept]).tolist():
            own = hashes[is_kept & (codes == code)]
            self._limits[code] = own.max() if len(own) else 0
        return is_kept

    def _keep_(self, is_kept: npt.NDArray[np.bool_]) -> None:
        """Keep these of the rows."""
        if is_kept.all():
            return
        edges = np.cumsum([batch.num_rows for batch, _ in self._parts])[:-1]
        parts, self._parts = self._parts, []
        self._spent = self._n_kept = 0
        for (batch, known), mask in zip(parts, np.split(is_kept, edges), strict=True):
            self._append(_some(batch, mask), known[:, mask])

    def _class_codes(self, batch: pa.RecordBatch) -> IndexArray:
        """Return the number of the class of each row."""
        if self._class_column is None:
            return np.zeros(batch.num_rows, dtype=np.int64)
        labels = batch.column(self._class_column)
        if not pa.types.is_dictionary(labels.type):
            labels = pc.dictionary_encode(labels)
        known = [self._code(label) for label in labels.dictionary.to_pylist()]
        places = labels.indices.to_numpy(zero_copy_only=False)
        return np.asarray(np.array(known, np.int64)[places])

    def _code(self, label: Any) -> int:
        """Return the number of a class, which may be new."""
        if label not in self._code_of:
            if len(self._code_of) == _MOST_CLASSES:
                raise TableFileError(
                    f"{self._class_column!r} has more than {_MOST_CLASSES} different "
                    f"values, such as {shown(label)}: too many classes for a sample of "
                    "a stream. For numbers, use AutoNFSRegressor."
                )
            self._code_of[label] = len(self._code_of)
            self._limits = np.append(self._limits, _NO_LIMIT)
            self._counts = np.append(self._counts, 0)
        return self._code_of[label]


def _some(batch: pa.RecordBatch, is_kept: npt.NDArray[np.bool_]) -> pa.RecordBatch:
    """Return some rows of a batch."""
    if is_kept.all():
        return batch
    return batch.take(pa.array(np.flatnonzero(is_kept)))
