"""Files that hold tables: reading them as they are, writing some of their columns.

Needs pyarrow, the extra ``featuresieve[cli]``.
"""

from featuresieve._tablefile._errors import TableFileError, one_line
from featuresieve._tablefile._naming import find_column, find_columns, listed
from featuresieve._tablefile._reading import TableFile, read_file
from featuresieve._tablefile._text_columns import Meaning
from featuresieve._tablefile._writing import (
    Drafts,
    check_output,
    check_table_output,
    write_columns,
    write_table,
)

__all__ = [
    "Drafts",
    "Meaning",
    "TableFile",
    "TableFileError",
    "check_output",
    "check_table_output",
    "find_column",
    "find_columns",
    "listed",
    "one_line",
    "read_file",
    "write_columns",
    "write_table",
]
