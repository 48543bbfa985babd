"""Table files become columns with types; files are written whole or not at all.

Comes in: a path or standard input, and how to read it.
Goes out: `TableFile`, `Inputs`, and files written beside and put in place at once.
The laboratory reads and writes with it too: a stable inner interface.
May import: errors. Needs pyarrow, the extra ``featuresieve[cli]``, when it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from featuresieve.files._atomic import (
        AtomicFiles,
        check_no_nul,
        check_output,
        draft_prefix,
        write_atomically,
    )
    from featuresieve.files._column_types import TYPES, ColumnType
    from featuresieve.files._errors import TableFileError
    from featuresieve.files._inputs import Inputs, read_inputs
    from featuresieve.files._naming import find_column, find_columns
    from featuresieve.files._reading import TableFile, read_file
    from featuresieve.files._target import TargetColumn
    from featuresieve.files._task import Task, infer_task
    from featuresieve.files._text_columns import ColumnHint
    from featuresieve.files._writing import (
        check_table_output,
        write_columns,
        write_table,
    )

__all__ = [
    "TYPES",
    "AtomicFiles",
    "ColumnHint",
    "ColumnType",
    "Inputs",
    "TableFile",
    "TableFileError",
    "TargetColumn",
    "Task",
    "check_no_nul",
    "check_output",
    "check_table_output",
    "draft_prefix",
    "find_column",
    "find_columns",
    "infer_task",
    "read_file",
    "read_inputs",
    "write_atomically",
    "write_columns",
    "write_table",
]

# Imported when they are first asked for: most of them need pyarrow.
_MODULE_OF = {
    "ColumnType": "featuresieve.files._column_types",
    "AtomicFiles": "featuresieve.files._atomic",
    "Inputs": "featuresieve.files._inputs",
    "ColumnHint": "featuresieve.files._text_columns",
    "TYPES": "featuresieve.files._column_types",
    "TableFile": "featuresieve.files._reading",
    "TableFileError": "featuresieve.files._errors",
    "TargetColumn": "featuresieve.files._target",
    "Task": "featuresieve.files._task",
    "check_no_nul": "featuresieve.files._atomic",
    "check_output": "featuresieve.files._atomic",
    "check_table_output": "featuresieve.files._writing",
    "draft_prefix": "featuresieve.files._atomic",
    "find_column": "featuresieve.files._naming",
    "find_columns": "featuresieve.files._naming",
    "infer_task": "featuresieve.files._task",
    "read_file": "featuresieve.files._reading",
    "read_inputs": "featuresieve.files._inputs",
    "write_atomically": "featuresieve.files._atomic",
    "write_columns": "featuresieve.files._writing",
    "write_table": "featuresieve.files._writing",
}


def __getattr__(name: str) -> Any:
    """Import a name where it lives."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value
