"""An experiment file: which cells to run, and with which budget."""

from sievebench.experiment._experiment import PROFILES as PROFILES
from sievebench.experiment._experiment import Experiment as Experiment
from sievebench.experiment._experiment import ExperimentError as ExperimentError
from sievebench.experiment._experiment import Profile as Profile
from sievebench.experiment._experiment import SelectorRow as SelectorRow
from sievebench.experiment._reading import EXPERIMENT_KEYS as EXPERIMENT_KEYS
from sievebench.experiment._reading import SELECTOR_KEYS as SELECTOR_KEYS
from sievebench.experiment._reading import read_experiment as read_experiment
