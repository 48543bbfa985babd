"""
Noise columns
=============

Thirteen measurements of wine, and more and more columns of random numbers beside them.
How many of these are kept, and what do they cost a model that keeps everything?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from featuresieve import AutoNFSClassifier

X, y = load_wine(return_X_y=True)
rng = np.random.default_rng(0)
counts = [0, 20, 100]
neighbours = make_pipeline(StandardScaler(), KNeighborsClassifier())
kept_real, kept_noise, with_all, with_kept = [], [], [], []
for n_noise in counts:
    table = np.hstack([X, rng.standard_normal((len(X), n_noise))])
    selector = AutoNFSClassifier(random_state=0)
    support = selector.fit(table, y).support_
    kept_real.append(support[:13].sum())
    kept_noise.append(support[13:].sum())
    # In a pipeline each fold selects from its own training rows: no leak.
    pipeline = make_pipeline(selector, neighbours)
    with_all.append(cross_val_score(neighbours, table, y, cv=3).mean())
    with_kept.append(cross_val_score(pipeline, table, y, cv=3).mean())
    print(f"{n_noise:3} noise columns: {kept_real[-1]} real and {kept_noise[-1]} kept")

# %%
# Neighbours are the model that noise hurts most: every column counts in a distance.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
places = np.arange(len(counts))
left.bar(places, kept_real, color="#0072B2", label="measurements")
left.bar(places, kept_noise, bottom=kept_real, color="#D55E00", label="noise")
left.set(ylabel="columns kept", xlabel="noise columns added")
left.set_xticks(places, counts)
left.set_ylim(0, 1.35 * max(np.add(kept_real, kept_noise)))
left.legend(loc="upper right", ncols=2)
right.plot(places, with_all, "o-", color="#8C8C8C", label="all columns")
right.plot(places, with_kept, "o-", color="#0072B2", label="kept columns")
right.set(ylabel="accuracy of 5 neighbours", xlabel="noise columns added")
right.set_xticks(places, counts)
right.legend()
