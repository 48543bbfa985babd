"""What the stored results of fields.py say."""

import json
from typing import Any

import stamp


def stored(suite: str) -> list[dict[str, Any]]:
    """Return the jobs of a suite that are stored."""
    path = stamp.RESULTS / f"fields_{suite}.json"
    return json.loads(path.read_text())["records"] if path.exists() else []


def print_tables(suite: str) -> None:
    """Print what is stored of a suite."""
    print(len(stored(suite)), "jobs")
