"""The laboratory: the paper's benchmark, with every comparison selector.

It will take a data set, add irrelevant columns to it, run a selector, train a
predictor on the kept columns and store one record per run, from which tables and
figures are made. It uses the public names of `featuresieve` only, and `featuresieve`
knows nothing of it. For now it is a skeleton without contents.
"""

__all__: list[str] = []
