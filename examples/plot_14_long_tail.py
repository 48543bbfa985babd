"""
A target with a long tail
=========================

Claims, incomes, waiting times: a handful of rows holds most of the variance, and a
squared error listens to these alone. Where a hundredth of the rows holds more than half
of the variance the target is compressed (arsinh) while learning; predictions come back
in its own units.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import f_regression

from featuresieve import AutoNFSRegressor

rng = np.random.default_rng(0)
X = rng.standard_normal((2000, 30))
claim = np.exp(2.0 * X[:, 0] + 1.0 * X[:, 1] + 0.7 * X[:, 2] + rng.normal(0, 1, 2000))
largest = np.sort((claim - claim.mean()) ** 2)[-20:].sum()
share = largest / ((claim - claim.mean()) ** 2).sum()
print(f"one row in a hundred holds {share:.0%} of the variance")

selector = AutoNFSRegressor(random_state=0).fit(X, claim)
print("kept:", np.flatnonzero(selector.support_))

# %%
# The F test on the raw target, and the votes. Columns 0, 1 and 2 matter.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
colours = np.where(np.arange(30) < 3, "#0072B2", "#C4C4C4")
left.bar(np.arange(30), -np.log10(f_regression(X, claim)[1]), color=colours)
left.set(title="F test on the raw target", ylabel="−log10 p", xlabel="column")
right.bar(np.arange(30), selector.selection_frequency_, color=colours)
right.set(title="AutoNFS", ylabel="share of the networks", xlabel="column")
