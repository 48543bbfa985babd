"""The laboratory: the paper's benchmark, with every comparison selector.

`sievebench.selectors` holds the selectors, and `sievebench compare` judges them on a
table of the user's own. `sievebench run` is the paper's benchmark: it takes a data set,
adds columns that should not be kept, runs a selector, trains a predictor on the kept
columns and stores one record a cell, from which tables and figures are made. The
laboratory uses the public names of `featuresieve` only, and `featuresieve` knows
nothing of it.
"""

__all__: list[str] = []
