"""Errors and warnings a caller may want to catch.

::

    FeatureSieveError
    ├── TrainingDivergedError      (also an ArithmeticError)
    ├── OutOfDeviceMemoryError     (also a MemoryError)
    ├── CheckpointError            the file at `checkpoint` is of no use
    └── FileFormatError            (also a ValueError)

    FeatureSieveWarning            (a UserWarning)
    ├── SelectionCollapseWarning   nothing cleared the threshold
    ├── UninformativeTargetWarning the columns do not predict the target
    ├── TimeBudgetWarning          max_time ended the search early
    └── CheckpointWarning          a checkpoint could not be kept up to date
"""

import math
from typing import Any

# A larger count or size is a mistake, and overflows further in.
LARGEST_INTEGER = 2**31 - 1
_LONGEST = 100


class FeatureSieveError(Exception):
    """Root of the errors this library raises on its own account."""


class TrainingDivergedError(FeatureSieveError, ArithmeticError):
    """Training produced a loss that is not finite."""


class OutOfDeviceMemoryError(FeatureSieveError, MemoryError):
    """The device that trains has no memory left."""


class CheckpointError(FeatureSieveError):
    """A checkpoint is damaged, of another fit, or cannot be written."""


class FileFormatError(FeatureSieveError, ValueError):
    """A file is not what `save` writes, or not whole."""


class FeatureSieveWarning(UserWarning):
    """Root of the warnings this library emits."""


class SelectionCollapseWarning(FeatureSieveWarning):
    """No feature cleared the threshold; the best ranked ones were kept instead."""


class UninformativeTargetWarning(FeatureSieveWarning):
    """No set of columns was shown to predict y better than a constant does."""


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
    """Return a value for an error message, not too long."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write integers of 4300 digits
        text = f"a very large {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def draw_seed(random_state: Any) -> int:
    """Return the seed of a fit, drawn from what the user passed as random_state.

    Parameters
    ----------
    random_state : int, RandomState instance or None
        What the user passed.

    Returns
    -------
    int
        Between 0 and 2**31 - 2.
    """
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
