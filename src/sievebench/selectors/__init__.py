"""Every comparison selector of the paper, behind one scikit-learn interface.

`SELECTORS` holds them by the short names of the command line, in the paper's order;
`sievebench.labels` has the names the paper prints.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sievebench.data import Split
from sievebench.selectors._docstrings import completed
from sievebench.selectors._scored_selector import ScoredSelector, Scores, Support
from sievebench.selectors.adaptive_group_lasso import AdaptiveGroupLasso
from sievebench.selectors.attention_map import AttentionMap
from sievebench.selectors.autonfs import AutoNFS
from sievebench.selectors.boruta import Boruta
from sievebench.selectors.deep_lasso import DeepLasso
from sievebench.selectors.first_layer_lasso import FirstLayerLasso
from sievebench.selectors.lasso import Lasso
from sievebench.selectors.lassonet import LassoNet
from sievebench.selectors.linear_svc_elimination import LinearSVCElimination
from sievebench.selectors.lspin import LSPIN
from sievebench.selectors.mrmr import MRMR
from sievebench.selectors.mutual_information import MutualInformation
from sievebench.selectors.no_selection import NoSelection
from sievebench.selectors.permutation_importance import PermutationImportance
from sievebench.selectors.proto_gate import ProtoGate
from sievebench.selectors.random_forest import RandomForest
from sievebench.selectors.stochastic_gates import StochasticGates
from sievebench.selectors.univariate import Univariate
from sievebench.selectors.xgboost import XGBoost

SELECTORS: dict[str, type[ScoredSelector]] = {
    "none": NoSelection,
    "univariate": Univariate,
    "lasso": Lasso,
    "1l-lasso": FirstLayerLasso,
    "agl": AdaptiveGroupLasso,
    "lassonet": LassoNet,
    "attention": AttentionMap,
    "forest": RandomForest,
    "xgboost": XGBoost,
    "deep-lasso": DeepLasso,
    "stg": StochasticGates,
    "protogate": ProtoGate,
    "lspin": LSPIN,
    "autonfs": AutoNFS,
    # Not in the paper, expected by users of the field.
    "boruta": Boruta,
    "mrmr": MRMR,
    "mutual-info": MutualInformation,
    "svc-rfe": LinearSVCElimination,
    "permutation": PermutationImportance,
}
__all__ = ["SELECTORS", "ScoredSelector", "Selection", "select"]
__all__ += [kind.__name__ for kind in SELECTORS.values()]
for _kind in SELECTORS.values():
    if _kind.__doc__:  # not where Python leaves docstrings out
        _kind.__doc__ = completed(_kind)


@dataclass(frozen=True)
class Selection:
    """What a selector says of the columns of a table."""

    support: Support  # whether each column is kept
    scores: Scores  # larger = keep
    seconds: float  # of the fit
    # What the selector says of how it chose, as JSON has it; empty if nothing.
    decision: Mapping[str, Any] = field(default_factory=dict)


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
    return Selection(
        selector.get_support(), selector.scores_, seconds, selector.decision()
    )
