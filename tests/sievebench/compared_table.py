"""Tables of a comparison, from data frames."""

from pathlib import Path
from tempfile import TemporaryDirectory

from sievebench.compare import read_table


def table_of(frame, target, **words):
    """Return a data frame as `sievebench compare` reads it from a file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        frame.to_parquet(path, index=False)
        return read_table(path, target, **words)
