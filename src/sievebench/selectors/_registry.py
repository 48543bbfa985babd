"""Every selector by its short name: a literal dict, in the paper's order."""

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
