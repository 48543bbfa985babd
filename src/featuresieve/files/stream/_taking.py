"""One pass over a stream: its facts, and the rows that are learnt from."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featuresieve.errors import TableFileError
from featuresieve.files.stream._batch_source import BatchSource
from featuresieve.files.stream._column_facts import ColumnFacts
from featuresieve.files.stream._costs import TEXT_COPIES, check_memory, row_cost
from featuresieve.files.stream._row_choice import MOST_ROWS
from featuresieve.files.stream._row_sample import RowSample, SampledRows
from featuresieve.files.stream._stream import Stream


@dataclass(frozen=True)
class TakenRows:
    """What a stream gives to a fit."""

    features: pa.Table
    target: Any  # a column, without missing values
    weights: npt.NDArray[np.float64] | None
    groups: list[Any] | None  # labels of the rows
    sample: SampledRows
    facts: ColumnFacts
    n_left_out: int  # rows without a target

    @property
    def hidden(self) -> list[str]:
        """Name the columns of one value in these rows, and of others elsewhere."""
        if self.sample.is_whole:
            return []
        names = {*self.features.column_names}
        return [
            name
            for name in self.facts.varying
            if name in names and len(pc.unique(self.features.column(name))) == 1
        ]


class Readers(Protocol):
    """Processes that read a source together."""

    number: int
    size: int

    def gather(self, value: Any) -> list[Any]:
        """Return what each of them tells the others."""


class _Reading:
    """What has been seen of a stream."""

    def __init__(
        self,
        sample: RowSample,
        target: str,
        is_lenient: bool,
        say: Callable[[int], None] | None,
    ) -> None:
        self.sample, self.facts, self.n_left_out = sample, ColumnFacts(), 0
        self._target, self._is_lenient, self._say = target, is_lenient, say
        self.n_read = 0

    def read(self, batches: Iterable[pa.RecordBatch], first_row: int) -> None:
        """Look at batches, of which the first row has this place."""
        for batch in batches:
            place = first_row - self.n_left_out  # among those that have a target
            said = None if self._is_lenient else first_row
            known = _with_target(batch, self._target, said)
            if not self._is_lenient:
                self.facts.add(known, place)
            self.sample.add(known, place)
            first_row += batch.num_rows
            self.n_read += batch.num_rows
            self.n_left_out += batch.num_rows - known.num_rows
            if self._say is not None:
                self._say(self.n_read)

    def gather_(self, readers: Readers) -> None:
        """Take in what the others have seen."""
        self.sample = self.sample.gathered(readers.gather)
        first, *others = readers.gather((self.facts, self.n_read))
        self.facts, self.n_read = first
        for facts, n_read in others:
            self.facts.merge(facts)
            self.n_read += n_read


def take_rows(
    source: BatchSource,
    target: str,
    *,
    memory: float,
    weight: str | None = None,
    groups: str | None = None,
    seed: int,
    has_classes: bool,
    max_categories: int,
    most_rows: int | None = MOST_ROWS,
    is_lenient: bool = False,
    say: Callable[[int], None] | None = None,
    readers: Readers | None = None,
) -> TakenRows:
    """Read a source once, and keep as many of its rows as the memory allows.

    With classes, as many of each. Missing targets and infinite numbers are errors,
    unless it is lenient: then rows without a target are left out. `say` is told how
    many rows have been read. Of several `readers` each reads its part, if the source
    has parts; all return the same rows.
    """
    special = {"y": target, "sample_weight": weight, "groups": groups}
    names, cost = source.schema.names, row_cost(source.schema, max_categories)
    for argument, name in special.items():
        source.take([] if name is None else [name], f"{argument}: ")
    check_memory(memory, cost)
    sample = RowSample(
        seed=seed,
        budget=memory,
        row_cost=cost,
        byte_cost=TEXT_COPIES,
        class_column=target if has_classes else None,
        most_rows=most_rows,
    )
    reading = _Reading(sample, target, is_lenient, say)
    pieces, is_shared = [(0, source)], False
    # Rows without a target take no place, which only those before them can tell.
    if readers is not None and source.part is not None and not is_lenient:
        pieces, is_shared = source.part(readers.number, readers.size), True
    for first_row, piece in pieces:
        reading.read(piece.batches(names), first_row)
    if readers is not None and is_shared:
        reading.gather_(readers)
    if reading.n_read == reading.n_left_out:
        rows = f"{reading.n_read} rows, none with a value of {target!r}"
        raise TableFileError(
            f"{source.name} has {rows if reading.n_read else 'no rows'}."
        )
    sampled = reading.sample.take()
    others, table = {*special.values()}, sampled.table
    return TakenRows(
        table.select([name for name in names if name not in others]),
        table.column(target),
        _weights(table, weight, sampled, memory / cost),
        None if groups is None else table.column(groups).to_pylist(),
        sampled,
        reading.facts,
        reading.n_left_out,
    )


def _with_target(
    batch: pa.RecordBatch, name: str, first_row: int | None
) -> pa.RecordBatch:
    """Return the rows that have a target; others are an error if the rows are counted.

    `first_row` is the place of the first, or None.
    """
    column = batch.column(name)
    is_known = pc.is_valid(column)
    if pa.types.is_floating(column.type):
        is_known = pc.is_finite(column).fill_null(False)
    n_known = pc.sum(is_known).as_py() or 0
    if n_known == batch.num_rows:
        return batch
    if first_row is None:
        return batch.filter(is_known)
    row = pc.index(is_known, False).as_py()
    raise ValueError(
        f"Input y contains NaN, infinity or missing values: {name!r} is "
        f"{column[row].as_py()} in row {first_row + row} of the stream. Leave such "
        "rows out before, such as "
        f"dataset.filter(pyarrow.dataset.field({name!r}).is_valid())."
    )


def _weights(
    table: pa.Table, name: str | None, sampled: SampledRows, n_affordable: float
) -> npt.NDArray[np.float64] | None:
    """Return what the rows weigh, by themselves and by what they stand for.

    With a mean of one where whole numbers, taken as copies, would be too many.
    """
    if name is None:
        return sampled.weights
    column = table.column(name)
    if column.null_count:
        raise ValueError(f"sample_weight must be finite, {name!r} has missing values.")
    weights = np.asarray(column.to_numpy())
    if weights.dtype.kind not in "biuf":
        return weights  # refused later, as of a table in memory
    if sampled.is_whole and not float(weights.sum()) > n_affordable:
        return weights
    if sampled.weights is not None:
        weights = weights * sampled.weights
    mean = float(weights.mean())
    return np.asarray(weights / mean) if np.isfinite(mean) and mean > 0 else weights


def kept_batches(stream: Stream, names: Sequence[str]) -> tuple[Any, Iterator[Any]]:
    """Return the schema of some columns, and their batches."""
    source = stream.open().take(names, "X: ")
    return source.schema, source.batches(names)
