"""Numbers of any type that a user passes."""

import math
from typing import Any

# A larger count or size is a mistake, and overflows further in.
LARGEST_INTEGER = 2**31 - 1
_LONGEST = 100


def as_float(value: Any) -> float:
    """Return a number as a float, infinite if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def shown(value: Any) -> str:
    """Return a value for an error message, not too long."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write integers of 4300 digits
        text = f"a very large {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
