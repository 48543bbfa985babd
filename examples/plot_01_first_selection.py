"""
A first selection
=================

Which of thirty measurements of a tumour tell whether it is malignant? Nothing is
tuned; the seed only makes the run repeatable.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from featuresieve import AutoNFSClassifier
from featuresieve.plotting import BalancePathDisplay, StabilityDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

selector = AutoNFSClassifier(random_state=0).fit(X_train, y_train)
print(f"kept {selector.n_features_selected_} of {selector.n_features_in_} columns")
print(f"its own network on unseen rows: {selector.score(X_test, y_test):.3f}")

# %%
# How sure it is
# --------------
#
# A hundred small networks vote, each trained on rows of its own. A column is kept if a
# tenth of them keep it.

StabilityDisplay.from_estimator(selector, max_features=20)

# %%
# What another number would cost
# ------------------------------
#
# Sets of the best ranked columns are refitted and judged on rows that the networks
# which ranked them have not seen. A flat curve says that neighbours are as good.

BalancePathDisplay.from_estimator(selector)

# %%
# All columns as a table, best first:

selector.feature_table().head(12)
