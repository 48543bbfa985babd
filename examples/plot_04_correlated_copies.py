"""
Columns that stand for each other
=================================

One measurement, and three noisy copies of it: any of the four would do. What is kept,
and what is to be done if all of them, or the best of them, is wanted?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from featuresieve import AutoNFSRegressor
from featuresieve.plotting import StabilityDisplay

rng = np.random.default_rng(0)
signal, other = rng.standard_normal((2, 1000))
X = pd.DataFrame({"signal": signal, "other": other})
for number, error in enumerate([0.1, 0.3, 1.0], start=1):
    X[f"copy {number}"] = signal + error * rng.standard_normal(1000)
for number in range(10):
    X[f"noise {number}"] = rng.standard_normal(1000)
y = signal + 0.7 * other + 0.3 * rng.standard_normal(1000)

plain = AutoNFSRegressor(random_state=0).fit(X, y)
print("as it is:     ", list(plain.get_feature_names_out()))

# %%
# As a group they are kept or dropped together, and cost as many columns as they are.
# A cost makes the original dearer than a copy that is easy to measure.

copies = ["signal", "copy 1", "copy 2", "copy 3"]
grouped = AutoNFSRegressor(feature_groups=[copies], random_state=0).fit(X, y)
print("as a group:   ", list(grouped.get_feature_names_out()))
dear = AutoNFSRegressor(feature_costs={"signal": 10.0}, random_state=0).fit(X, y)
print("signal is dear:", list(dear.get_feature_names_out()))

# %%
# The votes of the networks, without and with the cost:

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
StabilityDisplay.from_estimator(plain, ax=left)
StabilityDisplay.from_estimator(dear, ax=right)
left.set_title("all cost the same")
right.set_title("signal costs ten times as much")
