"""Fit, transform, predict: what scikit-learn sees.

Comes in: what a user passes to `fit`.
Goes out: learned attributes, selected columns, predictions, files.
May import: every room but plotting and cli.
"""

from featuresieve.engine import Training
from featuresieve.estimators._classifier_regressor import (
    AutoNFSClassifier,
    AutoNFSRegressor,
    load,
)
from featuresieve.estimators._onnx_converters import register_onnx_converters
from featuresieve.files import Stream
