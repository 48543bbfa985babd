"""
Columns that cost something
===========================

Some columns are in a file already, others need a laboratory. `feature_costs` says what
a column costs in the penalty, one if nothing is said: a dear column has to help more
than a cheap one.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from featuresieve import AutoNFSRegressor, DoubtfulSelectionWarning

X, y = load_diabetes(return_X_y=True, as_frame=True)
blood = ["s1", "s2", "s3", "s4", "s5", "s6"]  # the six serum measurements

# At ten times the price fits warn that all columns do better, which is the bargain.
warnings.filterwarnings("ignore", category=DoubtfulSelectionWarning)
prices = [1.0, 3.0, 10.0]
n_blood, n_other, scores = [], [], []
for price in prices:
    selector = AutoNFSRegressor(
        feature_costs=dict.fromkeys(blood, price), random_state=0
    ).fit(X, y)
    kept = set(selector.get_feature_names_out())
    n_blood.append(len(kept & set(blood)))
    n_other.append(len(kept - set(blood)))
    pipeline = make_pipeline(selector, LinearRegression())
    scores.append(cross_val_score(pipeline, X, y, cv=3, scoring="r2").mean())
    print(f"blood costs {price:4}: {sorted(kept)}, R² {scores[-1]:.2f}")

# %%
# What must be there, or must not, is `always_keep` and `never_keep`.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
places = np.arange(len(prices))
left.bar(places, n_other, color="#0072B2", label="age, sex, bmi, bp")
left.bar(places, n_blood, bottom=n_other, color="#D55E00", label="blood")
left.set(xlabel="cost of a blood value", ylabel="columns kept")
left.set_xticks(places, [f"{price:g}" for price in prices])
left.set_ylim(0, max(np.add(n_blood, n_other)) + 2)
left.legend(loc="upper right")
right.plot(places, scores, "o-", color="#0072B2")
right.set(xlabel="cost of a blood value", ylabel="R², three folds", ylim=(0, 0.6))
right.set_xticks(places, [f"{price:g}" for price in prices])
