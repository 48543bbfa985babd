"""The state of a fit in a file, from which a later fit goes on.

The file is a container as `save` writes it: safetensors and a JSON header, sealed with
a checksum. Reading one runs no code.
"""

import os
import re
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from featuresieve.engine import (
    RUNNING,
    Ranks,
    Resumable,
    State,
    with_prefix,
    without_prefix,
)
from featuresieve.errors import (
    CheckpointError,
    CheckpointWarning,
    FileFormatError,
    differing,
)
from featuresieve.files import draft_prefix, write_atomically
from featuresieve.storage import Fields, pack, unpack

# Seconds between two writings.
INTERVAL_SECONDS = 5.0
# Share of the time that writing may take; large states are written less often.
LARGEST_SHARE = 0.05

_KIND = "checkpoint"
_DRAFT = ".checkpoint.part"
# To be raised whenever the meaning of a state changes.
_VERSION = 1


class Checkpoint:
    """Where a fit stands: its stages so far, each with the state of its parts.

    A file that is there already is resumed from if its fingerprint is the same; it
    decides the seed if the user left that open. `started` is a `time.monotonic`, as if
    the fit had gone on without a pause. Of several ranks only the first reads and
    writes; the file holds what all have learnt, whatever their number.
    """

    def __init__(
        self,
        path: Path,
        fingerprint: Mapping[str, Any],
        *,
        seed: int,
        is_seed_free: bool,
        started: float,
        ranks: Ranks | None = None,
    ) -> None:
        self._path, self._fingerprint = path, dict(fingerprint)
        self._ranks = ranks or Ranks()
        self.seed, self.started = seed, started
        self._stage = 0
        self._state: State = {}
        self._found: State = {}
        self._due = time.monotonic() + INTERVAL_SECONDS
        self._is_written = self._has_failed = False
        found = self._ranks.from_first(self._read)
        if found is not None:
            self.seed, spent, self._found = found
            if not is_seed_free and self.seed != seed:
                raise self._error("was written by a fit with another random_state.")
            self.started -= spent
            self._is_written = True

    def _read(self) -> tuple[int, float, State] | None:
        """Return seed, seconds spent and state of the file, if there is one."""
        if not self._path.exists():
            return None
        try:
            header, state = unpack(self._path)
            fields = Fields(header, "the header")
            fields.text("kind", (_KIND,))
            fields.count("version", _VERSION, _VERSION)
            fingerprint = fields.fields("fingerprint").left()
            seed, spent = fields.count("seed"), fields.number("spent_seconds")
            fields.finish()
        except FileFormatError as error:
            raise self._error(f"cannot be used: {error}") from error
        if fingerprint != self._fingerprint:
            told = differing(fingerprint, self._fingerprint, "there", "here")
            raise self._error(f"was written by another fit: {told}.")
        return seed, spent, state

    def _error(self, problem: str) -> CheckpointError:
        """Return the error, with advice."""
        return CheckpointError(
            f"checkpoint={str(self._path)!r} {problem} Delete the file to start anew, "
            "or give another path."
        )

    def resume_(self, stage: int, parts: Mapping[str, Resumable]) -> None:
        """Put back into the parts of a stage what the file knows of them.

        The first stage is written at once if there is no file: a path that cannot be
        written shall not come to light after hours.
        """
        self._stage = stage
        found = without_prefix(f"{stage}.", self._found)
        try:
            for name, part in parts.items() if found else ():
                part.load_state_dict(without_prefix(f"{name}.", found))
        except (ValueError, RuntimeError) as error:
            raise self._error(f"cannot be used: in stage {stage}, {error}") from error
        if not self._is_written:
            self.write(parts)

    def is_due(self) -> bool:
        """Tell whether it is time to write, by the clock of the first rank."""
        return self._ranks.is_first and time.monotonic() >= self._due

    def write(self, parts: Mapping[str, Resumable]) -> None:
        """Write the stages before, and the parts of the present one."""
        state = self._state | _stage_state(self._stage, parts)
        self._ranks.from_first(lambda: self._write(state))
        self._is_written = True

    def _write(self, state: State) -> None:
        """Write a state into the file."""
        began = time.monotonic()
        header = {
            "kind": _KIND,
            "version": _VERSION,
            "fingerprint": self._fingerprint,
            "seed": self.seed,
            "spent_seconds": max(0.0, began - self.started),
        }
        try:
            data = pack(header, state)
            write_atomically(self._path, data, draft_suffix=_DRAFT)
        except (OSError, ValueError) as error:
            if not self._is_written:
                raise CheckpointError(
                    f"checkpoint={str(self._path)!r} cannot be written: {error}"
                ) from error
            if not self._has_failed:  # said once: the fit is worth more than the file
                self._warn(
                    f"cannot be written any more ({error}); the fit goes on, and the "
                    "file is older than it."
                )
            self._has_failed = True
        now = time.monotonic()
        pause = max(INTERVAL_SECONDS, (now - began) * (1 / LARGEST_SHARE - 1))
        self._due = now + pause

    def _warn(self, problem: str) -> None:
        """Warn of what is no reason to end a fit."""
        message = f"checkpoint={str(self._path)!r} {problem}"
        warnings.warn(message, CheckpointWarning, stacklevel=3)

    def finish_stage(self, parts: Mapping[str, Resumable]) -> None:
        """Keep what the stages after this one need of it."""
        self._state |= _stage_state(self._stage, parts, is_finished=True)

    def remove(self) -> None:
        """Delete the file, and what a killed process left half-written."""
        if not self._ranks.is_first:
            return
        real = Path(os.path.realpath(self._path))  # a link stays
        prefix = re.escape(draft_prefix(real))
        # Exactly the drafts of this file: "run" must not take those of "run.2".
        is_draft = re.compile(rf"{prefix}[^.]{{8}}{re.escape(_DRAFT)}").fullmatch
        try:
            real.unlink(missing_ok=True)
            for rest in real.parent.iterdir():
                if is_draft(rest.name):
                    rest.unlink(missing_ok=True)
        except OSError as error:
            self._warn(f"cannot be deleted ({error}).")


def _stage_state(
    stage: int, parts: Mapping[str, Resumable], *, is_finished: bool = False
) -> State:
    """Return the state of the parts of a stage, or what a finished one leaves."""
    state: State = {}
    for name, part in parts.items():
        own = part.state()
        if is_finished:
            own = {key: own[key] for key in own if not key.startswith(RUNNING)}
        state |= with_prefix(f"{stage}.{name}.", own)
    return state
