"""Parquet that is too large for the command to read at once, or in several files."""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from featuresieve.errors import TableFileError
from featuresieve.files._column_types import ColumnHint, ColumnType, Known
from featuresieve.files._reading import TableFile, Whole, as_known
from featuresieve.files._source import Source
from featuresieve.files._task import MOST_CLASSES
from featuresieve.files._typed_columns import is_number, is_text
from featuresieve.files.stream._batch_source import source_of_files
from featuresieve.files.stream._costs import TEXT_COPIES, row_cost
from featuresieve.files.stream._memory import as_bytes, memory_of_process, size_text
from featuresieve.files.stream._parquet_files import find_files, is_address, is_pattern
from featuresieve.files.stream._row_choice import MOST_ROWS
from featuresieve.files.stream._stream import DEFAULT_MEMORY
from featuresieve.files.stream._taking import take_rows

_MAX_CATEGORIES = 32


@dataclass(frozen=True)
class LargeFiles:
    """Parquet files, and in how much memory they are to be read."""

    name: str
    files: Any
    memory: float  # infinite where all rows fit

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield batches of some columns, read ahead."""
        return source_of_files(self.name, self.files).batches(names)

    def part(
        self,
        table: pa.Table | pa.RecordBatch | None,
        meanings: Mapping[str, ColumnHint],
        missing: Sequence[str] = (),
        types: Mapping[str, ColumnType] | None = None,
    ) -> TableFile:
        """Return some rows as a table of their own; None is one without rows."""
        if table is None:
            table = self.files.schema.empty_table()
        elif isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        source = Source(self.name, None, None, "parquet")
        known = Known(meanings, types or {}, [text.strip() for text in missing])
        return as_known(source, table.column_names, table.columns, known)

    def check(self, reading: Mapping[str, Any], outputs: Sequence[str | None]) -> None:
        """Refuse options that say how text is written, and to write what is read."""
        for name, value in reading.items():
            if value and name != "missing":
                raise TableFileError(
                    f"--{name} is for text and spreadsheets, and {self.name} is "
                    "Parquet."
                )
        read = {os.path.realpath(each.path) for each in self.files.fragments}
        for output in outputs:
            if output is not None and os.path.realpath(output) in read:
                raise TableFileError(f"{output} is read, and must not be written.")


def find_large(name: str, memory: str | None = None) -> LargeFiles | None:
    """Return what a name stands for if it is read in parts, else None.

    That is a folder, a pattern, and a file of Parquet that is too large: for `memory`,
    or for half of what this process may use.
    """
    path = Path(name).expanduser()
    is_many = path.is_dir() or (is_pattern(name) and not path.exists())
    if name == "-" or is_address(name) or not (is_many or _is_parquet(path)):
        return None
    files = find_files([name])
    most = memory_of_process() / 2
    if memory is not None:
        most = as_bytes("--memory", memory)
    text = sum(
        group.total_byte_size for each in files.fragments for group in each.row_groups
    )
    has_text = any(map(is_text, files.schema.types))
    needed = files.n_rows * row_cost(files.schema, _MAX_CATEGORIES)
    needed += TEXT_COPIES * text if has_text else 0
    if needed <= most:
        return LargeFiles(name, files, math.inf) if is_many else None
    if memory is None:
        most = min(most, as_bytes("--memory", DEFAULT_MEMORY))
    return LargeFiles(name, files, most)


def _is_parquet(path: Path) -> bool:
    """Tell whether a file begins as Parquet does."""
    if not path.is_file() or not os.access(path, os.R_OK):
        return False
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def read_sample(
    large: LargeFiles,
    target: str,
    *,
    task: str = "auto",
    seed: int = 0,
    meanings: Mapping[str, ColumnHint] | None = None,
    types: Mapping[str, ColumnType] | None = None,
    missing: Sequence[str] = (),
    say: Callable[[str], None] = lambda _: None,
) -> TableFile:
    """Read as many rows as fit into memory, from one pass over all that have a target.

    Parameters are those of `read_file` and `read_inputs`, and `say`, which is told how
    far it is.
    """
    files, meanings = large.files, meanings or {}
    if target not in files.schema.names:  # which is said as for other files
        return large.part(None, meanings, missing, types)
    is_whole = math.isinf(large.memory)
    taken = take_rows(
        source_of_files(large.name, files),
        target,
        memory=large.memory,
        seed=seed,
        has_classes=not is_whole and _has_classes(large, target, task),
        max_categories=_MAX_CATEGORIES,
        most_rows=None if is_whole else MOST_ROWS,
        is_lenient=True,
        say=lambda n_rows: say(f"reading … {n_rows / files.n_rows:.0%}"),
    )
    sample = taken.sample
    file = large.part(sample.table, meanings, missing, types)
    about = large.batches, files.schema, files.n_rows
    whole = Whole(*about, taken.n_left_out, sample.weights)
    notes = file.notes
    if not sample.is_whole:
        note = (
            f"{files.n_rows:,} rows are more than fit into the memory for them "
            f"({size_text(large.memory)}; --memory): a random sample of "
            f"{len(sample.rows):,} is selected from and scored."
        )
        notes = (note, *notes)
    return replace(file, whole=whole, notes=notes)


def _has_classes(large: LargeFiles, target: str, task: str) -> bool:
    """Tell whether a target is taken as classes, by the rule of `infer_task`.

    Whole numbers are looked at in all rows, until there are too many different ones.
    """
    if task != "auto":
        return task == "classification"
    kind = large.files.schema.field(target).type
    if not is_number(kind):
        return not pa.types.is_decimal(kind)
    found: set[float] = set()
    for batch in large.batches([target]):
        values = pc.unique(batch.column(0)).drop_null().to_pylist()
        found |= {value for value in values if value == value}
        is_whole = all(value == value // 1 for value in values if value == value)
        if not is_whole or len(found) > MOST_CLASSES:
            return False
    return True
