"""One self-describing record a cell, in a folder: written whole or not at all."""

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from glob import escape
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Literal, get_args

from featuresieve.files import draft_prefix, write_atomically
from sievebench.environment import describe_environment
from sievebench.run_spec import RunSpec, built

Status = Literal["done", "failed", "timeout", "skipped"]
STATUSES: tuple[Status, ...] = get_args(Status)

VERSION = 1

# A list of whole numbers over several lines. There are no such lines inside of strings.
_NUMBERS = re.compile(r"\[\n\s*(-?\d+(?:,\n\s*-?\d+)*)\n\s*\]")


@dataclass(frozen=True)
class Removal:
    """What a run scores without one of its columns."""

    column: int  # of those the selector saw
    retrained: float  # score of a predictor trained without it
    # Score of the predictor of the run, with the column replaced by its mean.
    imputed: float


@dataclass(frozen=True)
class RunResult:
    """One run of a cell."""

    seed: int
    # On the test part, larger = better; None where nothing is predicted.
    score: float | None
    validation_score: float | None
    kept: tuple[int, ...]  # the columns the selector kept
    n_added_kept: int  # how many of them the scenario had added
    selector_seconds: float
    downstream_seconds: float
    # In the removal experiment; left out of the JSON where there are none.
    removals: tuple[Removal, ...] = ()
    # Where there are several predictors, whose mean the score is, that of each; left
    # out of the JSON where there is one.
    predictor_scores: tuple[float, ...] = ()
    # How the selector chose; left out of the JSON where it says nothing.
    decision: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as JSON has them."""
        values = asdict(self)
        for name in ("removals", "predictor_scores", "decision"):
            if not values[name]:
                del values[name]
        return values


@dataclass(frozen=True)
class DatasetFacts:
    """What a record says of its table."""

    # Rows at hand; columns before the scenario and after it.
    n_rows: int
    n_original: int
    n_features: int
    metric: str
    is_sample: bool
    checksum: str


@dataclass(frozen=True)
class RunRecord:
    """How a cell ended."""

    spec: RunSpec
    status: Status
    reason: str = ""  # why it is not done
    details: str = ""  # the traceback of a failure
    facts: DatasetFacts | None = None  # None if the table could not be loaded
    runs: tuple[RunResult, ...] = ()  # one a seed, if it is done
    # Best settings, their validation score, seconds; empty if nothing was tuned.
    tuning: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0  # of the whole cell
    finished: str = field(  # in UTC
        default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds")
    )
    environment: Mapping[str, Any] = field(default_factory=describe_environment)

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"status must be one of {STATUSES}, got {self.status!r}.")
        seeds = {run.seed for run in self.runs}
        if self.status == "done" and seeds != set(self.spec.seeds):
            raise ValueError("a record that is done needs one run for each seed.")
        if self.status != "done" and not self.reason:
            raise ValueError(f"a record that is {self.status} needs a reason.")

    def to_json(self) -> str:
        """Return the record as text, one value a line where that helps reading."""
        values = {
            "version": VERSION,
            "key": self.spec.key,
            **asdict(self),
            "spec": self.spec.as_dict(),
            "runs": [run.as_dict() for run in self.runs],
        }
        text = json.dumps(values, indent=1, ensure_ascii=False)
        return _NUMBERS.sub(_on_one_line, text) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "RunRecord":
        """Return the record that `to_json` wrote."""
        try:
            values = json.loads(text)
        except RecursionError as error:
            raise ValueError("it is nested too deeply.") from error
        if not isinstance(values, dict) or values.get("version") != VERSION:
            raise ValueError(f"not a record of version {VERSION}.")
        del values["version"], values["key"]
        record: RunRecord = built(cls, values)
        return record


def _on_one_line(found: re.Match[str]) -> str:
    """Return a list that was written one number a line, as hundreds of columns are."""
    return f"[{', '.join(found[1].replace(',', ' ').split())}]"


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

    def records(self) -> Iterator[RunRecord]:
        """Yield all records, by name."""
        for path in sorted(self.folder.glob("records/*.json")):
            yield _read(path)


def find_stores(folder: Path) -> list[Store]:
    """Return the records of an experiment, or of all experiments below a folder.

    That is ``OUT/NAME`` or ``OUT`` of ``sievebench run``.
    """
    folders = [folder, *sorted(folder.iterdir())] if folder.is_dir() else []
    stores = [Store(path) for path in folders if any(path.glob("records/*.json"))]
    if not stores:
        raise ValueError(
            f"{folder} holds no records: name OUT of sievebench run, or OUT/NAME."
        )
    return stores


def _read(path: Path) -> RunRecord:
    """Return a record, or say which file is none."""
    try:
        return RunRecord.from_json(path.read_text(encoding="utf-8"))
    except KeyError as error:
        raise ValueError(f"{path} is no record: it has no {error}.") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is no record: {error}") from error
