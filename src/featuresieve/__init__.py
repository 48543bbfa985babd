"""featuresieve: AutoNFS, automatic neural feature selection, for scikit-learn."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from featuresieve.errors import (
    CheckpointError,
    CheckpointWarning,
    DoubtfulSelectionWarning,
    FeatureSieveError,
    FeatureSieveWarning,
    FileFormatError,
    OutOfDeviceMemoryError,
    RankError,
    SelectionCollapseWarning,
    TimeBudgetWarning,
    TrainingDivergedError,
    UninformativeTargetWarning,
)

if TYPE_CHECKING:
    from featuresieve.estimators import (
        AutoNFSClassifier,
        AutoNFSRegressor,
        Stream,
        Training,
        load,
        register_onnx_converters,
    )

__version__ = "0.1.0"

# What skops, and mlflow with it, has to be told to trust: the estimators themselves.
TRUSTED_TYPES = ["featuresieve.AutoNFSClassifier", "featuresieve.AutoNFSRegressor"]

__all__ = [
    "TRUSTED_TYPES",
    "AutoNFSClassifier",
    "AutoNFSRegressor",
    "CheckpointError",
    "CheckpointWarning",
    "DoubtfulSelectionWarning",
    "FeatureSieveError",
    "FeatureSieveWarning",
    "FileFormatError",
    "OutOfDeviceMemoryError",
    "RankError",
    "SelectionCollapseWarning",
    "Stream",
    "TimeBudgetWarning",
    "Training",
    "TrainingDivergedError",
    "UninformativeTargetWarning",
    "__version__",
    "load",
    "register_onnx_converters",
]

if not TYPE_CHECKING:  # a type checker shall still find misspelt names

    def __getattr__(name: str) -> Any:
        """Import a public name where it lives: --help is answered without torch."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module("featuresieve.estimators"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Return the public names, also those not imported yet."""
    return __all__
