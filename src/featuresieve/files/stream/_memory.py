"""How much memory there is, and sizes as people write them."""

import math
import os
import re
from contextlib import suppress
from numbers import Real
from pathlib import Path
from typing import Any

from featuresieve.errors import shown

_UNITS = {"": 1, "B": 1} | {
    f"{letter}{end}": base**power
    for power, letter in enumerate("KMGT", start=1)
    for end, base in (("B", 1000), ("iB", 1024))
}
_SIZE = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*([A-Za-z]*)\s*", re.ASCII)
# Where Linux says what a container may use: the newer way, the older one.
_LIMITS = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)


def as_bytes(name: str, value: Any) -> int:
    """Return a size, such as 10**9 or "1.5 GiB", in bytes; `name` begins errors."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    size = float(value) if is_number else math.nan
    if isinstance(value, str) and (found := _SIZE.fullmatch(value)):
        units = {unit.lower(): size for unit, size in _UNITS.items()}
        size = float(found[1]) * units.get(found[2].lower(), math.nan)
    if not 1 <= size < math.inf:
        raise ValueError(
            f"{name} must be a number of bytes, or a text such as '1 GiB' or '500 MB', "
            f"got {shown(value)}."
        )
    return int(size)


def size_text(n_bytes: float) -> str:
    """Return a size for people."""
    for unit in ("bytes", "KiB", "MiB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:.3g} GiB"


def memory_of_process() -> int:
    """Return the memory that this process may use: of the machine, or its container."""
    sizes = []
    with suppress(AttributeError, ValueError, OSError):  # not on Windows
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in _LIMITS:
        try:
            limit = Path(path).read_text().strip()
        except OSError:
            continue
        if limit.isdigit():  # "max" is none
            sizes.append(int(limit))
    return min(sizes, default=8 * 2**30)
