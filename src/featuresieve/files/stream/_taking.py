"""One pass over a stream: its facts, and the rows that are learnt from."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featuresieve.errors import TableFileError, listed
from featuresieve.files.stream._batch_source import BatchSource
from featuresieve.files.stream._column_facts import ColumnFacts
from featuresieve.files.stream._costs import TEXT_COPIES, check_memory, row_cost
from featuresieve.files.stream._row_sample import RowSample, SampledRows
from featuresieve.files.stream._stream import Stream


@dataclass(frozen=True)
class TakenRows:
    """What a stream gives to a fit."""

    features: pa.Table
    target: Any  # a column, without missing values
    weights: npt.NDArray[np.float64] | None
    groups: Any  # a column, or None
    sample: SampledRows
    facts: ColumnFacts
    n_left_out: int  # rows without a target

    @property
    def hidden(self) -> list[str]:
        """Name the columns of one value in these rows, and of others elsewhere."""
        if self.sample.is_whole:
            return []
        return [
            name
            for name in self.facts.varying
            if name in self.features.column_names
            and _is_constant(self.features.column(name))
        ]


def take_rows(
    stream: Stream,
    target: str,
    *,
    weight: str | None = None,
    groups: str | None = None,
    seed: int,
    has_classes: bool,
    max_categories: int,
    is_lenient: bool = False,
    say: Callable[[int, int | None], None] | None = None,
) -> TakenRows:
    """Read a stream once, and keep as many of its rows as its memory allows.

    With classes, as many of each. Missing targets and infinite numbers are errors,
    unless it is lenient: then rows without a target are left out. `say` is told how
    many rows have been read, and of how many.
    """
    source = stream.open()
    names = [*source.schema.names] if stream.columns is None else [*stream.columns]
    special = {"y": target, "sample_weight": weight, "groups": groups}
    for argument, name in special.items():
        _check_there(argument, name, names, source)
    schema = pa.schema([source.schema.field(name) for name in names])
    cost = row_cost(schema, max_categories)
    check_memory(stream, cost)
    sample = RowSample(
        seed=seed,
        budget=stream.n_bytes,
        row_cost=cost,
        byte_cost=TEXT_COPIES,
        class_column=target if has_classes else None,
    )
    facts, first_row, n_left_out = ColumnFacts(), 0, 0
    for batch in source.batches(names):
        if is_lenient:
            n_all = batch.num_rows
            batch = batch.filter(pc.is_valid(_without_nan(batch.column(target))))
            n_left_out += n_all - batch.num_rows
        else:
            _check_target(target, batch.column(target), first_row)
            facts.add(batch, first_row)
        sample.add(batch, first_row)
        first_row += batch.num_rows
        if say is not None:
            say(first_row, source.n_rows)
    if first_row == 0:
        rows = f"{n_left_out} rows, none with a value of {target!r}"
        raise TableFileError(f"{source.name} has {rows if n_left_out else 'no rows'}.")
    sampled = sample.take()
    others = {name for name in special.values() if name is not None}
    table = sampled.table
    return TakenRows(
        table.select([name for name in names if name not in others]),
        table.column(target),
        _weights(table, weight, sampled, stream.n_bytes / cost),
        None if groups is None else table.column(groups),
        sampled,
        facts,
        n_left_out,
    )


def _check_there(
    argument: str, name: str | None, names: Sequence[str], source: BatchSource
) -> None:
    """Refuse the name of a column that is not read."""
    if name is not None and name not in names:
        raise TableFileError(
            f"{argument}: {source.name} has no column {name!r}; there are "
            f"{listed(names)}."
        )


def _without_nan(column: Any) -> Any:
    """Return a column with NaN as missing values."""
    if not pa.types.is_floating(column.type):
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)


def _check_target(name: str, column: Any, first_row: int) -> None:
    """Refuse rows without a target."""
    known = _without_nan(column)
    if known.null_count:
        row = first_row + pc.index(pc.is_null(known), True).as_py()
        raise ValueError(
            f"Input y contains NaN or missing values: {name!r} has none in row {row} "
            "of the stream. Leave such rows out before, for instance with "
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
    if sampled.is_whole and not float(weights.sum()) > n_affordable:
        return weights
    if sampled.weights is not None:
        weights = weights * sampled.weights
    mean = float(weights.mean())
    return np.asarray(weights / mean) if np.isfinite(mean) and mean > 0 else weights


def _is_constant(column: Any) -> bool:
    """Tell whether a column has one value, and no gap beside it."""
    return len(pc.unique(column)) == 1


def kept_batches(stream: Stream, names: Sequence[str]) -> tuple[Any, Iterator[Any]]:
    """Return the schema of some columns, and their batches."""
    source = stream.open()
    for name in names:
        _check_there("X", name, source.schema.names, source)
    schema = pa.schema([source.schema.field(name) for name in names])
    return schema, source.batches(names)
