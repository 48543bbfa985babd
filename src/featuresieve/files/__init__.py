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
    from featuresieve.files._inputs import (
        Inputs,
        TargetColumn,
        check_not_special,
        read_inputs,
    )
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

# Imported when they are first asked for: they need numpy, and most of them pyarrow.
_NAMES_OF = {
    "_inputs": ("Inputs", "TargetColumn", "check_not_special", "read_inputs"),
    "_reading": ("TableFile", "find_column", "find_columns", "read_file"),
    "_row_labels": ("LEAST_ROWS", "numbers_rows"),
    "_task": ("Task", "infer_task"),
    "_writing": ("check_table_output", "table_writer", "write_columns", "write_table"),
    "stream._array_rows": ("take_array_rows",),
    "stream._large_files": ("LargeFiles", "find_large", "read_sample"),
    "stream._memory": ("as_bytes",),
    "stream._stream": ("Stream", "as_stream"),
    "stream._taking": ("kept_batches", "take_rows"),
}
_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a name where it lives."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name != "pyarrow":
            raise
        advice = "this needs pyarrow: pip install 'featuresieve[cli]'"
        raise ImportError(advice) from error
    globals()[name] = value
    return value
