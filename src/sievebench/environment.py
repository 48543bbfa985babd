"""Where a number comes from: commit, versions, machine."""

import os
import platform
import subprocess
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = (
    *("featuresieve", "torch", "numpy", "scikit-learn", "scipy", "pandas"),
    *("optuna", "boruta", "lassonet", "scikit-lego", "xgboost", "xgboost-cpu"),
    "autonfs",
)


@cache
def describe_environment() -> dict[str, Any]:
    """Return commit, versions and device (the GPU if torch sees one)."""
    import torch  # slow to import, and not needed to read records

    has_cuda = torch.cuda.is_available()
    return {
        "commit": _commit(),
        "python": platform.python_version(),
        "versions": _versions(),
        "device": torch.cuda.get_device_name() if has_cuda else "cpu",
        "processor": platform.machine(),
        "n_cpus": os.cpu_count(),
        "system": platform.system(),
    }


def _versions() -> dict[str, str]:
    versions = {}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


def _commit() -> str:
    """Return the commit of the code, with "+changes" if tracked files differ."""
    if "FEATURESIEVE_COMMIT" in os.environ:  # the code is a copy without its history
        return os.environ["FEATURESIEVE_COMMIT"]
    folder = Path(__file__).parent
    head = _git(folder, "rev-parse", "--short=12", "HEAD")
    if not head:
        return ""
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", ".")
    return f"{head}+changes" if changes else head


def _git(folder: Path, *words: str) -> str:
    """Return what git says, nothing if it cannot."""
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), *words],
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip()
