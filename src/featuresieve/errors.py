"""What is said when something is wrong: errors, warnings, checks, words.

::

    FeatureSieveError
    ├── TrainingDivergedError      (also an ArithmeticError)
    ├── OutOfDeviceMemoryError     (also a MemoryError)
    ├── CheckpointError            the file at `checkpoint` is of no use
    ├── RankError                  processes that train together are not alike, or gone
    ├── FileFormatError            (also a ValueError)
    └── TableFileError             (also a ValueError)

    FeatureSieveWarning            (a UserWarning)
    ├── SelectionCollapseWarning   nothing cleared the threshold
    ├── UninformativeTargetWarning the columns do not predict the target
    ├── DoubtfulSelectionWarning   a leak, or too few columns, is likely
    ├── TimeBudgetWarning          max_time ended the search early
    └── CheckpointWarning          a checkpoint could not be kept up to date
"""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import wraps
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar

_Arguments = ParamSpec("_Arguments")
_Returned = TypeVar("_Returned")
# A larger count or size is a mistake, and overflows further in.
LARGEST_INTEGER = 2**31 - 1
_LONGEST = 100
_LONGEST_LINE = 300


class FeatureSieveError(Exception):
    """Root of the errors this library raises on its own account."""


class TrainingDivergedError(FeatureSieveError, ArithmeticError):
    """Training produced a loss that is not finite."""


class OutOfDeviceMemoryError(FeatureSieveError, MemoryError):
    """The device that trains has no memory left."""


class CheckpointError(FeatureSieveError):
    """A checkpoint is damaged, of another fit, or cannot be written."""


class RankError(FeatureSieveError):
    """Processes that train together have lost one another, or have different fits."""


class FileFormatError(FeatureSieveError, ValueError):
    """A file is not what `save` writes, or not whole."""


class TableFileError(FeatureSieveError, ValueError):
    """A file, a column or an option that the command cannot work with."""


class FeatureSieveWarning(UserWarning):
    """Root of the warnings this library emits."""


class SelectionCollapseWarning(FeatureSieveWarning):
    """No feature cleared the threshold; the best ranked ones were kept instead."""


class UninformativeTargetWarning(FeatureSieveWarning):
    """No set of columns was shown to predict y better than a constant does."""


class DoubtfulSelectionWarning(FeatureSieveWarning):
    """One column alone nearly suffices, or the kept ones are worse than all."""


class TimeBudgetWarning(FeatureSieveWarning):
    """The time limit ended the search before its usual length."""


class CheckpointWarning(FeatureSieveWarning):
    """A checkpoint could not be written any more, or not be deleted."""


def as_float(value: Any) -> float:
    """Return a number as a float, infinite if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def shown(value: Any) -> str:
    """Return a value for an error message: one line, not too long."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write integers of 4300 digits
        text = f"a very large {type(value).__name__}"
    if "\n" in text:  # an array, a table: of a string it would be escaped
        text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def check_integer(name: str, value: Any, *, least: int) -> None:
    """Refuse what is not an integer of at least `least`, or far too large."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_integer or value < least:
        raise _error(value, f"{name} must be an int >= {least}", is_integer)
    if value > LARGEST_INTEGER:
        raise _error(value, f"{name} must be an int <= {LARGEST_INTEGER}", True)


def check_real(
    name: str,
    value: Any,
    *,
    least: float,
    most: float = float("inf"),
    is_least_allowed: bool = True,
) -> None:
    """Refuse what is not a finite number between two bounds."""
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    bounds = f"{'>=' if is_least_allowed else '>'} {least:g}"
    if most < float("inf"):
        bounds += f" and <= {most:g}"
    number = as_float(value) if is_real else float("nan")
    is_above = number >= least if is_least_allowed else number > least
    if not is_above or number > most or number == float("inf"):
        raise _error(value, f"{name} must be a finite number {bounds}", is_real)


def check_count_or_share(name: str, value: Any) -> None:
    """Refuse what is neither an integer of at least 1 nor a fraction up to 1.0."""
    is_share = isinstance(value, Real) and not isinstance(value, Integral)
    if is_share and 0 < as_float(value) <= 1:
        return
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_integer or not 1 <= value <= LARGEST_INTEGER:
        raise _error(
            value,
            f"{name} must be an int >= 1, or a float > 0 and <= 1.0 for a share of "
            "the features",
            is_share or is_integer,
        )


def check_choice(name: str, value: Any, allowed: Sequence[str]) -> None:
    """Refuse what is not one of the allowed values."""
    if not isinstance(value, str) or value not in allowed:
        names = ", ".join(repr(choice) for choice in allowed)
        raise ValueError(f"{name} must be one of {names}, got {shown(value)}.")


def check_flag(name: str, value: Any) -> None:
    """Refuse what is not a bool."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {shown(value)}.")


def check_sizes(name: str, value: Any) -> None:
    """Refuse what is not a sequence of positive integers."""
    if not isinstance(value, list | tuple):
        raise TypeError(f"{name} must be a tuple of ints >= 1, got {shown(value)}.")
    for size in value:
        check_integer(f"every entry of {name}", size, least=1)


def _error(value: Any, statement: str, is_right_type: bool) -> Exception:
    """Return a ValueError for a wrong value, a TypeError for a wrong type."""
    kind = ValueError if is_right_type else TypeError
    return kind(f"{statement}, got {shown(value)}.")


def infinity_error(label: str, row: int, value: Any) -> ValueError:
    """Build the error for infinite values, with scikit-learn's words."""
    return ValueError(
        "Input X contains infinity or a value too large for dtype('float64'): "
        f"{label} holds {value} in row {row}. Allowed are finite numbers and NaN "
        "for missing ones."
    )


def one_line(
    error: BaseException, *, has_kind: bool = False, longest: int | None = _LONGEST_LINE
) -> str:
    """Return the message of an error on one line of at most `longest` letters.

    With `has_kind`, it begins with the kind of the error.
    """
    text, kind = " ".join(str(error).split()), type(error).__name__
    line = f"{kind}: {text or 'no message'}" if has_kind else text or kind
    if longest is None or len(line) <= longest:
        return line
    return f"{line[: longest - 3]}..."


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return names with commas, the first ones if there are many."""
    shown = ", ".join(map(repr, names[:most]))
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def did_you_mean(
    name: str, known: Iterable[str], otherwise: str | None = None, *, most: int = 1
) -> str:
    """Return the end of a sentence on an unknown name: the nearest, or `otherwise`.

    Without `otherwise`, names that are there are listed.

    >>> did_you_mean("Forrest", ["forest", "lasso"])
    "; did you mean 'forest'?"
    >>> did_you_mean("magic", ["forest", "lasso"])
    "; there are 'forest', 'lasso'."
    """
    names = list(known)
    lowered = {each.lower(): each for each in names}
    near = get_close_matches(name.strip().lower(), lowered, n=most)
    if near:
        return f"; did you mean {' or '.join(repr(lowered[each]) for each in near)}?"
    return f"; there are {listed(names)}." if otherwise is None else otherwise


def as_called(
    elsewhere: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[Callable[_Arguments, _Returned]], Callable[_Arguments, _Returned]]:
    """Let errors about the arguments of a method name the class that was called.

    Python names the class that the method is inherited from. The nearest name is told,
    also of what is said in another way, which `elsewhere` knows.
    """

    def decorated(
        method: Callable[_Arguments, _Returned],
    ) -> Callable[_Arguments, _Returned]:
        signature = inspect.signature(method)

        @wraps(method)
        def called(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Returned:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                name = f"{type(args[0]).__qualname__}.{method.__name__}()"
                hint = _argument_hint(str(error), signature, kwargs, elsewhere)
                raise TypeError(f"{name} {error}{hint}") from None
            return method(*args, **kwargs)

        return called

    return decorated


def _argument_hint(
    message: str,
    signature: inspect.Signature,
    given: Mapping[str, Any],
    elsewhere: Mapping[str, str],
) -> str:
    """Return what was meant by an argument that is none, if anything."""
    _, *known = signature.parameters.values()
    names = [each.name for each in known]
    if "too many positional" in message:
        named = [each.name for each in known if each.kind is each.KEYWORD_ONLY]
        (first,) = named[:1] or [""]
        return first and f"; name those from {first} on, such as {first}=..."
    wrong = next((name for name in given if name not in names), "")
    wrong = wrong.removeprefix("training__")  # as set_params has it
    hint = did_you_mean(wrong, [*names, *elsewhere], "")
    for name, said in elsewhere.items():
        hint = hint.replace(f"mean {name!r}", f"mean {said}")
    return hint


def differing(
    first: Mapping[str, Any], second: Mapping[str, Any], there: str, here: str
) -> str:
    """Return what differs between the facts of two fits, `data` in words.

    >>> differing({"seed": 1, "data": "ab"}, {"seed": 2, "data": "ab"}, "there", "here")
    'seed is 1 there and 2 here'
    """
    told = [
        f"{name} is {first.get(name)!r:.80} {there} and {second.get(name)!r:.80} {here}"
        for name in sorted({*first, *second} - {"data"})
        if first.get(name) != second.get(name)
    ]
    if first.get("data") != second.get("data"):
        told.append("the data, or their weights, groups or encoding, are others")
    return "; ".join(told)


def draw_seed(random_state: Any) -> int:
    """Return the seed of a fit, below 2**31 - 1, drawn from the user's random_state."""
    # Here: whoever only wants the errors need not wait for scikit-learn.
    from sklearn.utils import check_random_state

    try:
        generator = check_random_state(random_state)
    except (ValueError, TypeError) as error:
        raise ValueError(
            "random_state must be None, an int between 0 and 2**32 - 1, or a "
            f"numpy.random.RandomState, got {random_state!r}."
        ) from error
    return int(generator.randint(LARGEST_INTEGER))
