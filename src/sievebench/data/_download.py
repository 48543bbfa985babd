"""Fetch one file: in pieces, with retries, a checksum and a bar."""

import hashlib
import http.client
import logging
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from featuresieve.files import AtomicFiles
from sievebench.data._catalog import CorruptDataError, OfflineError

# Called with the bytes at hand and the bytes to come (None if the server is silent).
Progress = Callable[[int, int | None], None]

_LOGGER = logging.getLogger(__name__)
_CHUNK_BYTES = 1 << 16
_TIMEOUT_SECONDS = 30.0
# The source answered, and the answer will not change.
_FINAL_STATUS = (400, 401, 403, 404, 410)


def download(
    url: str,
    path: Path,
    *,
    checksum: str = "",
    progress: Progress | None = None,
    n_attempts: int = 4,
    wait_seconds: float = 1.0,
) -> None:
    """Put the file behind `url` at `path`, whole or not at all.

    `checksum` is an md5 (32 digits), a sha256 (64 digits), or nothing. Each wait is
    twice as long as the one before.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    problem: Exception | None = None
    for attempt in range(n_attempts):
        if attempt > 0:
            pause = wait_seconds * 2 ** (attempt - 1)
            _LOGGER.info(
                "%s: %s; attempt %d of %d in %g s",
                *(url, _said(problem), attempt + 1, n_attempts, pause),
            )
            time.sleep(pause)
        try:
            with AtomicFiles() as files:
                _fetch(url, files.path(str(path)), checksum, progress)
            return
        except urllib.error.HTTPError as error:
            error.close()
            problem = error
            if error.code in _FINAL_STATUS:
                break
        except (OSError, http.client.HTTPException, CorruptDataError) as error:
            problem = error
    if isinstance(problem, CorruptDataError):
        raise problem
    raise OfflineError(f"{url} cannot be reached ({_said(problem)}).") from problem


def _said(problem: Exception | None) -> str:
    """Return what went wrong, without the wrapping of urllib."""
    if isinstance(problem, urllib.error.HTTPError):
        return f"the server answers {problem.code}, {problem.reason}"
    if isinstance(problem, urllib.error.URLError):
        return str(getattr(problem.reason, "strerror", None) or problem.reason)
    return str(problem)


def _fetch(url: str, part: Path, checksum: str, progress: Progress | None) -> None:
    """Write what the source sends; raise if it is cut short or not as it should be."""
    algorithm = "sha256" if len(checksum) == 64 else "md5"
    digest = hashlib.new(algorithm, usedforsecurity=False)
    n_bytes = 0
    request = urllib.request.Request(url, headers={"User-Agent": "sievebench"})
    with (
        urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer,
        part.open("wb") as stream,
    ):
        length = answer.headers.get("Content-Length")
        n_expected = int(length) if length else None
        while chunk := answer.read(_CHUNK_BYTES):
            stream.write(chunk)
            digest.update(chunk)
            n_bytes += len(chunk)
            if progress is not None:
                progress(n_bytes, n_expected)
    if n_expected is not None and n_bytes != n_expected:
        raise ConnectionError(f"{n_bytes} of {n_expected} bytes came")
    if checksum and digest.hexdigest() != checksum:
        raise CorruptDataError(
            f"{url} has the {algorithm} {digest.hexdigest()}, and {checksum} was "
            "expected: the file changed at its source, or was damaged on the way."
        )
