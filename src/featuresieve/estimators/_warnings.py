"""Warnings about an answer that is doubtful."""

import warnings
from typing import Any

from featuresieve.errors import (
    SelectionCollapseWarning,
    TimeBudgetWarning,
    UninformativeTargetWarning,
)
from featuresieve.search import SearchResult


def warn_about_result(estimator: Any, result: SearchResult, is_cut_short: bool) -> None:
    """Tell the user who called `fit`, which calls this, what is doubtful."""
    n_kept = estimator.n_features_selected_
    if result.is_uninformative:
        warnings.warn(
            "no set of columns was shown to predict held-out targets better than a "
            f"constant: {n_kept} of {len(estimator.support_)} columns were kept, but "
            "there is no evidence that they are related to y.",
            UninformativeTargetWarning,
            stacklevel=3,
        )
    elif result.is_hardly_judged:
        warnings.warn(
            f"the answer rests on {result.n_uncommon} held-out rows: no more have "
            "another target than the most common one, and what seems to predict so few "
            f"may be chance. {n_kept} of {len(estimator.support_)} columns were kept.",
            UninformativeTargetWarning,
            stacklevel=3,
        )
    elif result.is_collapsed and estimator.n_features_to_select is None:
        advice = "" if estimator.balance == "auto" else " Lower balance, or use 'auto'."
        warnings.warn(
            f"no column cleared the threshold at balance={estimator.balance_:g}: the "
            f"{n_kept} best ranked were kept.{advice}",
            SelectionCollapseWarning,
            stacklevel=3,
        )
    if is_cut_short:
        warnings.warn(
            f"max_time={estimator.max_time!r} seconds shortened the training.",
            TimeBudgetWarning,
            stacklevel=3,
        )
