"""Where a result comes from: commit, versions, device, command."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sievebench.environment import describe_environment

RESULTS = Path(__file__).parent / "results"


def stamp() -> dict[str, Any]:
    """Return the circumstances of a run."""
    return {
        **describe_environment(),
        "command": _command(),
        "commit": _commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def _command() -> str:
    """Return the command, without the folders it writes to."""
    words = ["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]]
    for option in ("--out", "--folder"):
        if option in words:
            place = words.index(option)
            del words[place : place + 2]
    return " ".join(words)


def _commit() -> str:
    """Return the commit, with a mark if tracked files differ from it.

    FEATURESIEVE_COMMIT names it where the code was copied without its history.
    """
    if "FEATURESIEVE_COMMIT" in os.environ:
        return os.environ["FEATURESIEVE_COMMIT"]
    git = ["git", "-C", str(Path(__file__).parent)]
    head = subprocess.run(
        [*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True
    )
    if head.returncode != 0:
        return "unknown"
    changes = subprocess.run(
        [*git, "status", "--porcelain", "--untracked-files=no", "--", "../src", "."],
        capture_output=True,
        text=True,
    ).stdout
    sources = [line for line in changes.splitlines() if "results/" not in line]
    return head.stdout.strip() + (" with changes" if sources else "")


def print_stored(
    folder: Path, printers: dict[str, Callable[[list[dict[str, Any]]], None]]
) -> None:
    """Print each stored result after a line that says where it comes from."""
    for name, printer in printers.items():
        path = folder / f"{name}.json"
        if not path.exists():
            print(f"\n{name}: not run\n")
            continue
        stored = json.loads(path.read_text())
        origin = stored["stamp"]
        print(
            f"\n### {name}\n\n`{origin['command']}`, commit {origin['commit']}, "
            f"{origin['date']}, {origin['device']}, "
            f"torch {origin['versions']['torch']}\n"
        )
        printer(stored["records"])


def parser_of(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser that a script's docstring describes, with the option --out."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser


def in_process(
    *words: str, limit: float | None = None, script: str = "", **variables: str
) -> dict[str, Any]:
    """Run this script, or another, with other words, and read what it prints last.

    What fails, or takes longer than the limit, is a record that says so.
    """
    try:
        done = subprocess.run(
            [sys.executable, script or sys.argv[0], *words],
            capture_output=True,
            text=True,
            timeout=limit,
            env=os.environ | variables,
        )
    except subprocess.TimeoutExpired:
        return {"failure": f"more than {limit} s"}
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()[-1:] or ["no message"]
        return {"failure": reason[0][:200]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def store(
    name: str,
    records: Iterable[dict[str, Any]],
    folder: Path,
    known: Iterable[dict[str, Any]] = (),
) -> None:
    """Print each record, and write it at once, behind those that are `known`."""
    circumstances, found = stamp(), [*known]
    for record in records:
        print(json.dumps(record), flush=True)
        found.append(record)
        write(name, {"stamp": circumstances, "records": found}, folder)


def write(name: str, content: dict[str, Any], folder: Path = RESULTS) -> Path:
    """Write one result file, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps(content, indent=1) + "\n")
    draft.replace(path)
    return path
