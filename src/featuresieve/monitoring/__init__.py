"""Follow a fit: progress, callbacks, checkpoints.

Comes in: the arguments of an estimator, its `Problem`, seed and start.
Goes out: a `FitRun` with seed, deadline and the monitor of each stage.
May import: errors, process, problem, engine, storage, files.
"""

from featuresieve.monitoring._callbacks import CallbackSupportMixin, with_callbacks
from featuresieve.monitoring._fit_run import FitRun
