"""Table, target and weights become the problem that is searched.

Comes in: a `Table`, y, sample and class weights, what the user knows of the features.
Goes out: a `Problem` (numpy arrays in an order of its own) and which gate opens which
features.
May import: errors, tables. No torch.
"""

from featuresieve.problem._association import (
    FALSE_ALARM,
    chance_of_gates,
    nearest_gates,
    related_gates,
)
from featuresieve.problem._building import EncodedProblem, encode_problem
from featuresieve.problem._constraints import (
    CountLimits,
    constraints_from,
    nearest_count,
)
from featuresieve.problem._problem import BoolArray, Gates, Problem
from featuresieve.problem._sample_weights import (
    SampleWeights,
    row_group_codes,
    row_weights,
)
from featuresieve.problem._targets import (
    ClassEncoder,
    Target,
    ValueScaler,
    class_target,
    value_target,
)
from featuresieve.tables import FloatArray, IndexArray
