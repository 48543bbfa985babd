"""Table files become columns with types; files are written whole or not at all.

Comes in: a path or standard input, and how to read it; a stream of batches.
Goes out: `TableFile`, `Inputs`, and files written beside and put in place at once.
The laboratory reads and writes with it too: a stable inner interface.
May import: errors. Needs pyarrow, the extra ``featuresieve[cli]``, when it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from featuresieve.errors import TableFileError
from featuresieve.files._atomic import (
    AtomicFiles,
    check_no_nul,
    check_output,
    draft_prefix,
    full_disk_explained,
    write_atomically,
)
from featuresieve.files._column_types import TYPES, ColumnHint, ColumnType

if TYPE_CHECKING:
    from featuresieve.files._inputs import Inputs, TargetColumn, read_inputs
    from featuresieve.files._reading import (
        TableFile,
        find_column,
        find_columns,
        read_file,
    )
    from featuresieve.files._row_labels import LEAST_ROWS, numbers_rows
    from featuresieve.files._task import Task, infer_task
    from featuresieve.files._writing import (
        check_table_output,
        table_writer,
        write_columns,
        write_table,
    )
    from featuresieve.files.stream._array_rows import take_array_rows
    from featuresieve.files.stream._large_files import (
        LargeFiles,
        find_large,
        read_sample,
    )
    from featuresieve.files.stream._memory import as_bytes
    from featuresieve.files.stream._stream import Stream, as_stream
    from featuresieve.files.stream._taking import kept_batches, take_rows

__all__ = [
    "LEAST_ROWS",
    "TYPES",
    "AtomicFiles",
    "ColumnHint",
    "ColumnType",
    "Inputs",
    "LargeFiles",
    "Stream",
    "TableFile",
    "TableFileError",
    "TargetColumn",
    "Task",
    "as_bytes",
    "as_stream",
    "check_no_nul",
    "check_output",
    "check_table_output",
    "draft_prefix",
    "find_column",
    "find_columns",
    "find_large",
    "full_disk_explained",
    "infer_task",
    "kept_batches",
    "numbers_rows",
    "read_file",
    "read_inputs",
    "read_sample",
    "table_writer",
    "take_array_rows",
    "take_rows",
    "write_atomically",
    "write_columns",
    "write_table",
]

# Imported when they are first asked for: they need numpy, and most of them pyarrow.
_MODULE_OF = {
    **dict.fromkeys(("Inputs", "TargetColumn", "read_inputs"), "_inputs"),
    **dict.fromkeys(("TableFile", "find_column", "find_columns"), "_reading"),
    **dict.fromkeys(("Task", "infer_task"), "_task"),
    **dict.fromkeys(("LEAST_ROWS", "numbers_rows"), "_row_labels"),
    **dict.fromkeys(("check_table_output", "table_writer"), "_writing"),
    **dict.fromkeys(("write_columns", "write_table"), "_writing"),
    **dict.fromkeys(("LargeFiles", "find_large", "read_sample"), "stream._large_files"),
    "as_bytes": "stream._memory",
    "read_file": "_reading",
    "take_array_rows": "stream._array_rows",
    **dict.fromkeys(("Stream", "as_stream"), "stream._stream"),
    **dict.fromkeys(("kept_batches", "take_rows"), "stream._taking"),
}


def __getattr__(name: str) -> Any:
    """Import a name where it lives."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value
