"""The laboratory: the paper's benchmark, with every comparison selector.

`sievebench.selectors` holds the selectors, and `sievebench compare` judges them on a
table of the user's own. To come: the paper's benchmark, which takes a data set, adds
irrelevant columns to it, runs a selector, trains a predictor on the kept columns and
stores one record per run, from which tables and figures are made. The laboratory uses
the public names of `featuresieve` only, and `featuresieve` knows nothing of it.
"""

__all__: list[str] = []
