"""
Columns that act only together
==============================

The class is the sign of a product (an XOR), so neither factor tells anything by
itself. Tests of one column at a time cannot find them; networks can.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import f_classif, mutual_info_classif

from featuresieve import AutoNFSClassifier

rng = np.random.default_rng(0)
X = rng.standard_normal((1500, 12))
y = X[:, 3] * X[:, 7] > 0

selector = AutoNFSClassifier(random_state=0).fit(X, y)
print("kept:", np.flatnonzero(selector.support_))

# %%
# Columns 3 and 7 are marked. The F test and mutual information see nothing in them.

scores = {
    "F test, −log10 p": -np.log10(f_classif(X, y)[1]),
    "mutual information": mutual_info_classif(X, y, random_state=0),
    "share of the networks": selector.selection_frequency_,
}
figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
colours = np.where(np.isin(np.arange(12), [3, 7]), "#0072B2", "#C4C4C4")
for ax, (name, values) in zip(axes, scores.items(), strict=True):
    ax.bar(np.arange(12), values, color=colours)
    ax.set(title=name, xlabel="column")
