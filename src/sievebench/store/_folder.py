"""A folder of records: written whole or not at all, read back in any order."""

import os
import time
from collections.abc import Iterator
from glob import escape
from pathlib import Path
from tempfile import TemporaryFile

from featuresieve.files import draft_prefix, write_atomically
from sievebench.run_spec import RunSpec
from sievebench.store._record import RunRecord

# A record is written in much less time.
_OLD_SECONDS = 3600.0


class Store:
    """Records of one experiment, one file a cell."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path_of(self, spec: RunSpec) -> Path:
        """Return where the record of a cell lies, or will lie."""
        return self.folder / "records" / f"{spec.key}.json"

    def journal_of(self, spec: RunSpec) -> Path:
        """Return where the trials of a cell's tuning lie, or will lie."""
        return self.folder / "trials" / f"{spec.key}.log"

    def write(self, record: RunRecord) -> Path:
        """Write a record, whole or not at all.

        Whoever is killed in between leaves the old record, or none, and a draft.
        """
        path = self.path_of(record.spec)
        path.parent.mkdir(parents=True, exist_ok=True)
        data = record.to_json().encode()
        write_atomically(path, data, draft_suffix=f".part-{os.getpid()}")
        return path

    def forget_part(self, spec: RunSpec, pid: int) -> None:
        """Remove what a process that was killed had written of a record."""
        path = self.path_of(spec)
        for part in path.parent.glob(f"{escape(draft_prefix(path))}*.part-{pid}"):
            part.unlink(missing_ok=True)

    def read(self, spec: RunSpec) -> RunRecord | None:
        """Return the record of a cell, None if there is none."""
        path = self.path_of(spec)
        return _read(path) if path.is_file() else None

    def make(self) -> None:
        """Make the folder of the records, or raise OSError if none can be written.

        What processes that were killed long ago had half written is removed.
        """
        folder = self.folder / "records"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=folder).close()
            for part in folder.glob("*.part-*"):
                # By age, not by process: another machine may share the folder.
                if time.time() - part.stat().st_mtime > _OLD_SECONDS:
                    part.unlink(missing_ok=True)
        except OSError as error:
            raise type(error)(
                f"no record can be written into {folder}: {error.strerror}."
            ) from error

    def has_records(self) -> bool:
        """Tell whether there is any record."""
        return any((self.folder / "records").glob("*.json"))

    def records(self) -> Iterator[RunRecord]:
        """Yield all records, by name."""
        for path in sorted((self.folder / "records").glob("*.json")):
            yield _read(path)


def find_stores(folder: Path) -> list[Store]:
    """Return the records of an experiment, or of all experiments below a folder.

    That is ``OUT/NAME`` or ``OUT`` of ``sievebench run``.
    """
    folders = [folder, *sorted(folder.iterdir())] if folder.is_dir() else []
    stores = [store for path in folders if (store := Store(path)).has_records()]
    if not stores:
        raise ValueError(f"{folder} holds no records.")
    return stores


def _read(path: Path) -> RunRecord:
    """Return a record, or say which file is none."""
    try:
        return RunRecord.from_json(path.read_text(encoding="utf-8"))
    except KeyError as error:
        raise ValueError(f"{path} is no record: it has no {error}.") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is no record: {error}") from error
