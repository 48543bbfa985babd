"""What is read from a file is believed only after it is checked.

JSON text is parsed strictly; `Fields` and `Arrays` hand out what they hold as the kind
that is expected, and know whether something is left over.
"""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve.errors import FileFormatError

NamedArrays = dict[str, npt.NDArray[Any]]
# A header or description for JSON, and arrays.
State = tuple[dict[str, Any], NamedArrays]
# Commas and brackets of a JSON text, an upper bound of the values in it.
MAX_JSON_VALUES = 4_000_000
MAX_COUNT = 2**31 - 1


def require(is_met: bool | np.bool_, problem: str) -> None:
    """Raise a `FileFormatError` that states the problem, unless the rule is met."""
    if not is_met:
        raise FileFormatError(problem)


def parse_json(text: bytes) -> Any:
    """Parse JSON: no key twice, no NaN or infinity, no excess of values or depth."""
    n_values = sum(text.count(mark) for mark in (b",", b"[", b"{"))
    require(n_values <= MAX_JSON_VALUES, f"its header has {n_values:,} values.")
    try:
        return json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_with_distinct_keys,
            parse_float=_finite,
            parse_constant=_finite,
        )
    except FileFormatError:
        raise
    except RecursionError:
        raise FileFormatError("its header is nested too deeply.") from None
    except ValueError as error:
        raise FileFormatError(f"its header is not JSON: {error}") from None


def _with_distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, unless it names a key twice."""
    entries = dict(pairs)
    require(len(entries) == len(pairs), "its header has a key twice.")
    return entries


def _finite(text: str) -> float:
    """Return a finite number."""
    number = float(text)
    require(math.isfinite(number), f"its header holds {text[:40]}, no finite number.")
    return number


class Fields:
    """The fields of a JSON object, which errors call `label`, each taken once."""

    def __init__(self, value: Any, label: str) -> None:
        require(isinstance(value, dict), f"{label} is not an object.")
        self._left: dict[str, Any] = dict(value)
        self._label = label

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def take(self, key: str) -> Any:
        """Return a field of any kind."""
        require(key in self._left, f"{self._label} has no field {key!r}.")
        return self._left.pop(key)

    def text(self, key: str, allowed: Iterable[str] | None = None) -> str:
        """Return a text, one of those allowed."""
        value = self.take(key)
        self._check(isinstance(value, str), key, "text")
        if allowed is not None:
            names = ", ".join(allowed)
            self._check(value in allowed, key, f"one of {names}")
        return str(value)

    def count(self, key: str, least: int = 0, most: int = MAX_COUNT) -> int:
        """Return a whole number within bounds."""
        value = self.take(key)
        is_inside = type(value) is int and least <= value <= most
        self._check(is_inside, key, f"a whole number from {least} to {most}")
        return int(value)

    def number(self, key: str, least: float = 0.0) -> float:
        """Return a number that is not less than a bound."""
        value = self.take(key)
        self._check(type(value) is float and value >= least, key, f"at least {least}")
        return float(value)

    def flag(self, key: str) -> bool:
        """Return a boolean."""
        value = self.take(key)
        self._check(isinstance(value, bool), key, "true or false")
        return bool(value)

    def listed(self, key: str, kind: type | None = None) -> list[Any]:
        """Return a list, with entries of one type."""
        value = self.take(key)
        self._check(isinstance(value, list), key, "a list")
        if kind is not None:
            is_kind = all(type(entry) is kind for entry in value)
            self._check(is_kind, key, f"a list of {kind.__name__}")
        return list(value)

    def fields(self, key: str) -> "Fields":
        """Return an object."""
        return Fields(self.take(key), f"{self._label}.{key}")

    def left(self) -> dict[str, Any]:
        """Return all fields not taken yet."""
        left, self._left = self._left, {}
        return left

    def finish(self) -> None:
        """Refuse an object with fields that nobody took."""
        names = ", ".join(repr(name)[:80] for name in list(self._left)[:3])
        require(not self._left, f"{self._label} has unknown fields: {names}.")

    def _check(self, is_met: bool, key: str, expected: str) -> None:
        """Refuse a field that is not what is expected."""
        require(is_met, f"{self._label}.{key} is not {expected}.")


class Arrays:
    """The arrays of a file, each taken once."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self._left = dict(arrays)

    def take(
        self,
        name: str,
        dtype: type[np.generic],
        shape: tuple[int, ...],
        *,
        is_finite: bool = True,
    ) -> npt.NDArray[Any]:
        """Return an array of this dtype and shape."""
        array = self.any(name)
        require(
            array.dtype == dtype and array.shape == shape,
            f"the array {name!r} has dtype {array.dtype} and shape {array.shape}, its "
            f"header asks for {np.dtype(dtype)} and {shape}.",
        )
        if is_finite and array.dtype.kind == "f":
            is_sound = bool(np.isfinite(array).all())
            require(is_sound, f"the array {name!r} holds NaN or infinity.")
        return array

    def any(self, name: str) -> npt.NDArray[Any]:
        """Return an array of any dtype and shape."""
        require(name in self._left, f"it has no array {name!r}.")
        return self._left.pop(name)

    def starting_with(self, prefix: str) -> dict[str, npt.NDArray[Any]]:
        """Return all arrays whose names start so, by the rest of their names."""
        names = [name for name in self._left if name.startswith(prefix)]
        return {name[len(prefix) :]: self._left.pop(name) for name in names}

    def finish(self) -> None:
        """Refuse arrays that nobody took."""
        names = ", ".join(repr(name)[:80] for name in list(self._left)[:3])
        require(not self._left, f"it has unknown arrays: {names}.")
