"""Errors and warnings a caller may want to catch.

::

    FeatureSieveError
    └── TrainingDivergedError      (also an ArithmeticError)

    FeatureSieveWarning            (a UserWarning)
    ├── SelectionCollapseWarning   nothing cleared the threshold
    ├── UninformativeTargetWarning the columns do not predict the target
    └── TimeBudgetWarning          max_time ended the search early
"""


class FeatureSieveError(Exception):
    """Root of the errors this library raises on its own account."""


class TrainingDivergedError(FeatureSieveError, ArithmeticError):
    """Training produced a loss that is not finite."""


class FeatureSieveWarning(UserWarning):
    """Root of the warnings this library emits."""


class SelectionCollapseWarning(FeatureSieveWarning):
    """No feature cleared the threshold; the best ranked ones were kept instead."""


class UninformativeTargetWarning(FeatureSieveWarning):
    """No set of columns predicted held-out targets better than a constant."""


class TimeBudgetWarning(FeatureSieveWarning):
    """The time limit ended the search before its usual length."""
