"""Train stacks of small networks, and predict with them.

Comes in: tensors, a loss, a schedule, a `Monitor`.
Goes out: trained networks, their history, a `Predictor`; device, torch's settings,
optimiser and graph recorder, which the laboratory uses too: a stable inner interface.
May import: errors.
"""

from featuresieve.engine._cuda_graph import record_graph
from featuresieve.engine._device import (
    explain_out_of_memory,
    resolve_device,
    resolve_threads,
    torch_defaults,
)
from featuresieve.engine._losses import LOSSES, SelectionPenalty
from featuresieve.engine._masking import (
    CLOSED,
    MaskingNetwork,
    threshold_mask,
    vote_mask,
)
from featuresieve.engine._module_network import ModuleStack
from featuresieve.engine._optimizer import OptimizerName, StackOptimizer
from featuresieve.engine._predictor import Predictor
from featuresieve.engine._ranks import BEAT, Ranks, joined_ranks
from featuresieve.engine._schedule import Schedule
from featuresieve.engine._slices import on_ranks, on_threads
from featuresieve.engine._state import (
    RUNNING,
    History,
    Monitor,
    Resumable,
    State,
    array_of,
    number_array,
    number_of,
    with_prefix,
    without_prefix,
)
from featuresieve.engine._task_network import StackedMLP
from featuresieve.engine._task_stack import TaskStack, stack_outputs
from featuresieve.engine._trainer import StackTrainer
from featuresieve.engine._training import Training
from featuresieve.engine._training_data import GateTensors, SparseRows, TrainingData
