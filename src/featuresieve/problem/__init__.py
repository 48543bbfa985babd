"""Table, target and weights become the problem that is searched.

Comes in: a `Table`, y, sample and class weights, what the user knows of the features.
Goes out: a `Problem` (numpy arrays in an order of its own) and which gate opens which
features.
May import: errors, tables. No torch.
"""

from featuresieve.problem._building import Prepared, prepare
from featuresieve.problem._constraints import Bounds, nearest_count, wishes_from
from featuresieve.problem._gates import BoolArray, FloatArray, Gates, IndexArray
from featuresieve.problem._problem import Problem
from featuresieve.problem._sample_weights import RowWeights, row_weights
from featuresieve.problem._targets import (
    ClassCode,
    Target,
    ValueCode,
    class_target,
    value_target,
)

__all__ = [
    "BoolArray",
    "Bounds",
    "ClassCode",
    "FloatArray",
    "Gates",
    "IndexArray",
    "Prepared",
    "Problem",
    "RowWeights",
    "Target",
    "ValueCode",
    "class_target",
    "nearest_count",
    "prepare",
    "row_weights",
    "value_target",
    "wishes_from",
]
