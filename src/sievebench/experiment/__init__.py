"""An experiment file: which cells to run, and with which budget."""

from sievebench.experiment._experiment import (
    PROFILES,
    Experiment,
    ExperimentError,
    Profile,
    SelectorRow,
)
from sievebench.experiment._reading import read_experiment

__all__ = [
    "PROFILES",
    "Experiment",
    "ExperimentError",
    "Profile",
    "SelectorRow",
    "read_experiment",
]
