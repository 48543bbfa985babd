"""
In a pipeline, in a grid search
===============================

The selector is a step like any other: it sees the training rows of each fold alone, and
its arguments can be searched. The default needs no search; what may be worth one is how
much a smaller set may cost (`tolerance`), or a count you have in mind.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from featuresieve import AutoNFSClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
pipeline = Pipeline(
    [
        ("select", AutoNFSClassifier(random_state=0)),
        ("scale", StandardScaler()),
        ("model", LogisticRegression()),
    ]
)
pipeline

# %%
# Two tolerances, one count:

grid = [
    {"select__tolerance": [0.0, 0.1]},
    {"select__n_features_to_select": [3]},
]
search = GridSearchCV(pipeline, grid, cv=3, scoring="balanced_accuracy").fit(X, y)
print("best:", search.best_params_)
print("kept:", ", ".join(search.best_estimator_["select"].get_feature_names_out()))

# %%
# Differences within the errors mean little; then the smaller set is the better buy.

results = pd.DataFrame(search.cv_results_)
names = [
    ", ".join(f"{key.removeprefix('select__')} {value:g}" for key, value in row.items())
    for row in results["params"]
]
figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
ax.errorbar(
    results["mean_test_score"],
    names,
    xerr=results["std_test_score"] / 3**0.5,
    fmt="o",
    color="#0072B2",
)
ax.invert_yaxis()
ax.set(xlabel="balanced accuracy, three folds, ± standard error")
