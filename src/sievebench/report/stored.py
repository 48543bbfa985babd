"""What the scripts in benchmarks/ stored: one JSON file each, beside the records."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from sievebench.report.material import ReportData


def stored(material: ReportData, name: str) -> dict[str, Any]:
    """Return a file of the folder of benchmarks; empty if it is not there."""
    return _stored_in(material.benchmarks, name)


def records_of(material: ReportData, name: str) -> list[dict[str, Any]]:
    """Return the records, or cells, of such a file; none if it is not there."""
    return records_in(material.benchmarks, name)


def records_in(folder: Path | None, name: str) -> list[dict[str, Any]]:
    """Return the same of a folder."""
    content = _stored_in(folder, name)
    found: list[dict[str, Any]] = content.get("records") or content.get("cells") or []
    return found


def _stored_in(folder: Path | None, name: str) -> dict[str, Any]:
    return {} if folder is None else _read(folder / f"{name}.json")


@cache
def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} must hold an object, got {type(content).__name__}.")
    return content
