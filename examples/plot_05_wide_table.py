"""
More columns than rows
======================

A table like those of genomics: 120 samples, 1,000 columns, ten of which differ between
cases and controls. The table is made, so that we know which.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from featuresieve import AutoNFSClassifier

rng = np.random.default_rng(0)
n_rows, n_columns, n_real = 120, 1000, 10
is_case = rng.random(n_rows) < 0.5
X = rng.lognormal(size=(n_rows, n_columns))
X[:, :n_real] *= np.exp(0.9 * is_case)[:, None]

selector = AutoNFSClassifier(random_state=0).fit(X, is_case)
print(f"kept {selector.n_features_selected_} of {n_columns} columns,")
print(f"{selector.support_[:n_real].sum()} of the {n_real} that differ")

# %%
# With so few rows some columns differ by chance. Where columns are more than rows, a
# test of each comes first, and the networks vote on what it finds (a note says so):

print(next(note["text"] for note in selector.notes_ if note["code"] == "screened"))

order = selector.order_[:40]
colours = np.where(order < n_real, "#0072B2", "#C4C4C4")
figure, ax = plt.subplots(figsize=(9, 3.6), layout="constrained")
ax.bar(np.arange(len(order)), selector.selection_frequency_[order], color=colours)
ax.axhline(0.1, linestyle="--", color="#6E6E6E", linewidth=1)
ax.set(
    xlabel="place in the ranking (blue: one of the ten)",
    ylabel="share of the networks",
)

# %%
# Judge it in a pipeline. Selecting on all rows first and cross-validating afterwards
# would be the classical leak, and on such a table a large one:

model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
honest = make_pipeline(AutoNFSClassifier(random_state=0), model)
print(f"all columns:  {cross_val_score(model, X, is_case, cv=3).mean():.2f}")
print(f"kept columns: {cross_val_score(honest, X, is_case, cv=3).mean():.2f}")
leak = cross_val_score(model, selector.transform(X), is_case, cv=3).mean()
print(f"with the leak: {leak:.2f}")
