"""
A rare class
============

One row in thirty is of interest. In the vote all classes count alike, so a column that
tells the rare ones is kept although it hardly moves the accuracy. Scores should count
them alike too: balanced accuracy, or average precision.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import PrecisionRecallDisplay
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from featuresieve import AutoNFSClassifier
from featuresieve.plotting import StabilityDisplay

rng = np.random.default_rng(0)
X = rng.standard_normal((4000, 40))
is_rare = X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(4000) > 2.75
X_train, X_test, y_train, y_test = train_test_split(
    X, is_rare, stratify=is_rare, random_state=0
)
print(f"{y_train.sum()} of {len(y_train)} training rows are of the rare class")

selector = AutoNFSClassifier(random_state=0).fit(X_train, y_train)
print("kept:", np.flatnonzero(selector.support_))

# %%
# Columns 0 and 1 are the ones that matter. With a hundred rows of a class chance is
# strong, and some noise gets past a tenth of the votes; how far above that line a
# column is says how much to trust it. The curves are of a logistic regression.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
StabilityDisplay.from_estimator(selector, ax=left, max_features=12)
model = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced"))
for name, columns, colour in [
    ("all columns", np.ones(40, dtype=bool), "#8C8C8C"),
    ("kept columns", selector.support_, "#0072B2"),
]:
    model.fit(X_train[:, columns], y_train)
    PrecisionRecallDisplay.from_estimator(
        model,
        X_test[:, columns],
        y_test,
        name=name,
        ax=right,
        curve_kwargs={"c": colour},
    )
right.legend(loc="lower left")
