"""Every comparison selector of the paper, behind one scikit-learn interface.

`SELECTORS` holds them by the short names of the command line, in the paper's order;
`sievebench.labels` has the names the paper prints.
"""

from sievebench.selectors._registry import SELECTORS, Selection, select
from sievebench.selectors._scored_selector import ScoredSelector
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

__all__ = [
    "LSPIN",
    "MRMR",
    "SELECTORS",
    "AdaptiveGroupLasso",
    "AttentionMap",
    "AutoNFS",
    "Boruta",
    "DeepLasso",
    "FirstLayerLasso",
    "Lasso",
    "LassoNet",
    "LinearSVCElimination",
    "MutualInformation",
    "NoSelection",
    "PermutationImportance",
    "ProtoGate",
    "RandomForest",
    "ScoredSelector",
    "Selection",
    "StochasticGates",
    "Univariate",
    "XGBoost",
    "select",
]
