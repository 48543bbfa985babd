"""One selection: a selector by name, on the train part of a split."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sievebench.data import Split
from sievebench.selectors._registry import SELECTORS
from sievebench.selectors._scored_selector import Scores, Support


@dataclass(frozen=True)
class Selection:
    """What a selector says of the columns of a table.

    Attributes
    ----------
    support : ndarray of shape (n_columns,)
        Whether each column is kept.
    scores : ndarray of shape (n_columns,)
        Larger = keep.
    seconds : float
        Of the fit.
    """

    support: Support
    scores: Scores
    seconds: float


def select(
    name: str,
    split: Split,
    *,
    keep: int | float | str | None,
    seed: int | None,
    settings: Mapping[str, Any] | None = None,
    device: str = "auto",
) -> Selection:
    """Fit a selector on the train part.

    Parameters
    ----------
    name : str
        Short name.
    split : Split
        Scaled.
    keep : int, float, "auto" or None
        The selector's `n_features_to_select`; None leaves its default.
    seed : int or None
        Becomes its `random_state`.
    settings : mapping or None, default=None
        Arguments of the selector.
    device : str, default="auto"
        For selectors that train networks.

    Returns
    -------
    Selection
    """
    kind = SELECTORS[name]
    arguments: dict[str, Any] = {
        "task": split.task,
        "random_state": seed,
        **(settings or {}),
    }
    if keep is not None:
        arguments["n_features_to_select"] = keep
    if "device" in kind().get_params():
        arguments["device"] = device
    selector = kind(**arguments)
    with kind.turn:
        started = time.perf_counter()
        selector.fit(split.train.X, split.train.y)
        seconds = time.perf_counter() - started
    return Selection(selector.get_support(), selector.scores_, seconds)
