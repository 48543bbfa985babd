"""
Pixels of digits
================

Which pixels does it take to read a digit? The paper asks this of MNIST. Here it is
scikit-learn's small relative of it, 1,797 digits of 8 × 8 pixels, which needs no
download.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from featuresieve import AutoNFSClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
selector = AutoNFSClassifier(random_state=0).fit(X_train, y_train)
print(f"kept {selector.n_features_selected_} of 64 pixels")
print(f"accuracy on unseen digits: {selector.score(X_test, y_test):.3f}")

# %%
# `with_size` gives other answers of the same fit: the best ranked pixels, with a
# network refitted on them.

sizes = [24, 16, 8]
smaller = [selector.with_size(size) for size in sizes]
for size, other in zip(sizes, smaller, strict=True):
    print(f"{size:2} pixels: {other.score(X_test, y_test):.3f}")

# %%
# The votes for each pixel, and an unseen digit as each selection sees it:

digit = X_test[3].reshape(8, 8)
figure, axes = plt.subplots(1, 5, figsize=(11, 2.7), layout="constrained")
votes = axes[0].imshow(selector.selection_frequency_.reshape(8, 8), cmap="Blues")
figure.colorbar(votes, ax=axes[0], shrink=0.7)
axes[0].set_title("votes")
for ax, one in zip(axes[1:], [selector, *smaller], strict=True):
    mask = one.support_.reshape(8, 8)
    ax.imshow(np.where(mask, digit, np.nan), cmap="gray_r")
    ax.set_title(f"{one.n_features_selected_} pixels")
for ax in axes:
    ax.set(xticks=[], yticks=[], facecolor="#F6DFD0")
