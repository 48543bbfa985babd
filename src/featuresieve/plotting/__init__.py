"""Pictures of a fitted selector, in scikit-learn's Display manner.

``SomeDisplay.from_estimator(selector)`` draws and returns the display; its ``ax_`` and
``figure_`` are there to be adjusted, its ``plot`` draws again, on other axes. Needs
matplotlib, the extra ``featuresieve[plot]``.

Comes in: a fitted estimator.
Goes out: a display; the colours, which the laboratory uses too.
May import: errors, and the public names.
"""

from featuresieve.plotting._balance_path_display import BalancePathDisplay
from featuresieve.plotting._canvas import FAINT, INK, PALE_INK, PALETTE
from featuresieve.plotting._mask_evolution_display import MaskEvolutionDisplay
from featuresieve.plotting._stability_display import StabilityDisplay

__all__ = [
    "FAINT",
    "INK",
    "PALETTE",
    "PALE_INK",
    "BalancePathDisplay",
    "MaskEvolutionDisplay",
    "StabilityDisplay",
]
