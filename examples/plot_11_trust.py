"""
Can I trust it?
===============

Three questions that a selection should stand: does another seed keep the same, do other
rows, and what happens if the target has nothing to do with the table?
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold

from featuresieve import AutoNFSClassifier, UninformativeTargetWarning

X, y = load_breast_cancer(return_X_y=True, as_frame=True)


def overlap(supports):
    """Return the mean Jaccard index of all pairs."""
    pairs = [(a, b) for i, a in enumerate(supports) for b in supports[:i]]
    return np.mean([(a & b).sum() / (a | b).sum() for a, b in pairs])


seeds = [AutoNFSClassifier(random_state=s).fit(X, y).support_ for s in range(3)]
folds = [
    AutoNFSClassifier(random_state=0).fit(X.iloc[rows], y.iloc[rows]).support_
    for rows, _ in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)
]
print(f"overlap of two seeds: {overlap(seeds):.2f}, of two folds: {overlap(folds):.2f}")

# %%
# A column that every run keeps owes nothing to luck. One that comes and goes usually
# has a neighbour that says the same: here radius, perimeter and area are nearly one.

runs = np.array(seeds + folds)
order = np.argsort(-runs.sum(axis=0), kind="stable")[:18]
figure, ax = plt.subplots(figsize=(9, 4.6), layout="constrained")
ax.imshow(runs[:, order].T, cmap="Blues", aspect="auto", vmax=1.3)
ax.set_yticks(np.arange(len(order)), X.columns[order])
ax.set_xticks(np.arange(6), [f"seed {s}" for s in range(3)] + list("ABC"))
ax.set(xlabel="three seeds on all rows, then three folds (A to C)")
ax.axvline(2.5, color="#262626", linewidth=1)

# %%
# A target of coin tosses
# -----------------------
#
# Nothing predicts it, and the library says so instead of telling a story.

coins = np.random.default_rng(0).integers(0, 2, len(X))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    selector = AutoNFSClassifier(random_state=0).fit(X, coins)
for warning in caught:
    if issubclass(warning.category, UninformativeTargetWarning):
        print(warning.message)
print("kept:", selector.n_features_selected_)
