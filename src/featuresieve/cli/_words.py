"""Words of a command line as what they stand for: numbers, names, types."""

import argparse
import math
import re
from collections.abc import Callable
from typing import Any

from featuresieve.errors import LARGEST_INTEGER
from featuresieve.files import TYPES, as_bytes

LARGEST_SEED = 2**32 - 1
# Python also reads nan, inf, 1_000, digits of other scripts, and blanks around them.
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def _refused(what: str, text: str) -> argparse.ArgumentTypeError:
    """Build the error for a word that does not fit."""
    return argparse.ArgumentTypeError(f"must be {what}, got {text!r}")


def plain_number(text: str) -> float:
    """Return a number of digits, NaN for anything else that Python would read."""
    return float(text) if _NUMBER.fullmatch(text) else math.nan


def number(
    what: str, is_allowed: Callable[[float], bool], kind: type[float] = float
) -> Callable[[str], Any]:
    """Return a reader of numbers, which `what` describes; an int is one that is whole.

    NaN is never allowed, nor is infinity, which 1e400 would be.
    """

    def read(text: str) -> float:
        value = plain_number(text)
        if not (is_allowed(value) and math.isfinite(value)) or value != kind(value):
            raise _refused(what, text)
        return kind(value)

    return read


def whole_number(least: int, most: int = LARGEST_INTEGER) -> Callable[[str], Any]:
    """Return a reader of whole numbers within bounds."""

    def read(text: str) -> int:
        what = f"a whole number >= {least}"
        if most == LARGEST_SEED:
            what += " and below 2**32"
        elif plain_number(text) > most:
            what = f"a whole number <= {most}"
        return int(number(what, lambda value: least <= value <= most, int)(text))

    return read


as_count = whole_number(1)
as_lines = whole_number(0)
as_seed = whole_number(0, LARGEST_SEED)
as_seconds = number("a number of seconds above 0", lambda value: value > 0)
as_fraction = number("a number from 0 to 0.5", lambda value: 0 <= value <= 0.5)
_weight = number("auto, price or a number >= 0", lambda value: value >= 0)


def as_jobs(text: str) -> int:
    """Return a number of threads, or -1 for all cores."""
    return -1 if text == "-1" else int(as_count(text))


def as_memory(text: str) -> str:
    """Return a size in bytes, as it is written."""
    try:
        as_bytes("--memory", text)
    except ValueError:
        raise _refused("a size such as 4GiB or 500MB", text) from None
    return text


def as_balance(text: str) -> str | float:
    """Return a balance."""
    return text if text in ("auto", "price") else _weight(text)


def as_delimiter(text: str) -> str:
    """Return one character."""
    named = {"tab": "\t", "\\t": "\t", "space": " "}
    text = named.get(text, text)
    if len(text) != 1 or text in '"\n\r' or not text.isascii():
        raise _refused("one character, tab or space", text)
    return text


def as_encoding(text: str) -> str:
    """Return the name of an encoding."""
    try:
        "a".encode(text)  # not codecs.lookup: that also knows hex, zip and rot13
    except (LookupError, ValueError):
        message = f"there is no encoding {text!r}"
        raise argparse.ArgumentTypeError(message) from None
    return text


def as_device(text: str) -> str:
    """Return the name of a device."""
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", text):
        raise _refused("auto, cpu, cuda, cuda:0 (and so on) or mps", text)
    return text


def as_typed(text: str) -> tuple[str, str]:
    """Return a name and its type."""
    name, _, kind = text.rpartition("=")
    if not name or kind not in TYPES:
        raise _refused(f"NAME=TYPE with a type of {', '.join(TYPES)}", text)
    return name, kind


def as_priced(text: str) -> tuple[str, float]:
    """Return a name and its number."""
    name, mark, amount = text.rpartition("=")
    value = plain_number(amount)
    if not mark or not name or not 0 <= value < math.inf:
        raise _refused("NAME=NUMBER with a number >= 0", text)
    return name, value


def as_class_weight(text: str) -> tuple[str, float]:
    """Return a label and its weight, or the word balanced."""
    return ("balanced", 1.0) if text == "balanced" else as_priced(text)
