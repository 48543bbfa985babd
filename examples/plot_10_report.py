"""
A report of one fit
===================

What to put into a report: the kept columns with their votes, the curve they come from,
what they are worth on unseen rows, and a file another program can read.
"""

import json

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import train_test_split

from featuresieve import AutoNFSRegressor
from featuresieve.plotting import (
    BalancePathDisplay,
    MaskEvolutionDisplay,
    StabilityDisplay,
)

X, y = load_diabetes(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
selector = AutoNFSRegressor(random_state=0).fit(X_train, y_train)

selector.feature_table()

# %%
# Three pictures
# --------------

figure, axes = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
BalancePathDisplay.from_estimator(selector, ax=axes[0])
StabilityDisplay.from_estimator(selector, ax=axes[1])
MaskEvolutionDisplay.from_estimator(selector, ax=axes[2])
for ax, title in zip(axes, ["How many?", "Which?", "How did it learn?"], strict=True):
    ax.set_title(title)

# %%
# On unseen rows
# --------------

forest = RandomForestRegressor(random_state=0)
all_columns = forest.fit(X_train, y_train).score(X_test, y_test)
kept = forest.fit(selector.transform(X_train), y_train)
print(f"R² of a forest, all {X.shape[1]} columns: {all_columns:.2f}")
print(
    f"R² of a forest, {selector.n_features_selected_} kept columns: "
    f"{kept.score(selector.transform(X_test), y_test):.2f}"
)
print(f"R² of the selector's own network: {selector.score(X_test, y_test):.2f}")

# %%
# For other programs
# ------------------

print(json.dumps(json.loads(selector.to_json())["features"][:2], indent=2))
