"""
Comparing selectors
===================

Selectors of scikit-learn and of `sievebench.selectors` beside the default of this
library, on one table: 30 measurements and 30 columns of noise. Most have to be told how
many columns to keep; they keep half. On a table of your own the command ``sievebench
compare`` does the same with nineteen of them.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import RFECV, SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline

from featuresieve import AutoNFSClassifier
from sievebench.selectors import SELECTORS

X, y = load_breast_cancer(return_X_y=True)
rng = np.random.default_rng(0)
X = np.hstack([X, rng.standard_normal(X.shape)])

forest = RandomForestClassifier(n_estimators=50, random_state=0)
selectors = {
    "AutoNFS": AutoNFSClassifier(random_state=0),
    "F test, half": SELECTORS["univariate"](),
    "mutual information, half": SELECTORS["mutual-info"](random_state=0),
    "lasso, half": SELECTORS["lasso"](random_state=0),
    "forest, above its mean": SelectFromModel(forest),
    "RFECV, logistic": RFECV(
        make_pipeline(SELECTORS["none"](), LogisticRegression(max_iter=5000)),
        importance_getter="named_steps.logisticregression.coef_",
        step=4,
        cv=3,
    ),
}

# %%
# Three folds each, the same ones; each fold selects from its own training rows.

rows = []
for name, selector in selectors.items():
    started = time.perf_counter()
    pipeline = make_pipeline(selector, HistGradientBoostingClassifier(random_state=0))
    runs = cross_validate(
        pipeline, X, y, cv=3, scoring="balanced_accuracy", return_estimator=True
    )
    supports = np.array([fitted[0].get_support() for fitted in runs["estimator"]])
    rows.append(
        {
            "selector": name,
            "score": runs["test_score"].mean(),
            "kept": supports.sum(axis=1).mean(),
            "noise": supports[:, 30:].sum(axis=1).mean(),
            "seconds": (time.perf_counter() - started) / 3,
        }
    )
results = pd.DataFrame(rows).set_index("selector")
results.round(3)

# %%
# Boosted trees bear noise well, so the scores are close; what is kept is not.

figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.barh(results.index, results["kept"] - results["noise"], color="#0072B2")
ax.barh(
    results.index,
    results["noise"],
    left=results["kept"] - results["noise"],
    color="#D55E00",
)
ax.invert_yaxis()
ax.set(xlabel="columns kept, mean of three folds (orange: noise)")
