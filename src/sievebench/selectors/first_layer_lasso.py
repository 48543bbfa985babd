"""1L Lasso: an MLP with a group lasso on its first layer."""

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor

from sievebench.selectors._group_lasso import FirstLayerPenalty, column_norms
from sievebench.selectors._mlp_selector import PUBLISHED_MLP, PenalizedMLPSelector
from sievebench.selectors._neural_selector import NeuralProblem
from sievebench.stack.mlp import StackedMLP


class FirstLayerLasso(PenalizedMLPSelector):
    """Score columns by the first-layer weights of an MLP with a group lasso on them.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to keep: a count, or a fraction of the columns.
    penalty : float or sequence of float, default=(0.01, 0.03, 0.1, 0.3)
        The l below, in [0, 1). Several strengths are trained together, and the one with
        the best validation score decides.
    hidden_sizes : sequence of int, default=(100, 100)
        Width of each hidden layer.
    dropout : float, default=0.1
        Fraction of hidden units left out in a training step.
    learning_rate : float, default=3e-3
        Of AdamW; warmed up over 5 epochs, a tenth from epoch 40 and again from 80.
    weight_decay : float, default=2e-4
        Of AdamW.
    batch_size : int or "auto", default="auto"
        Rows of a training step; "auto" aims at 16 steps an epoch, from 32 to 512 rows.
    max_epochs : int, default=200
        Longest training.
    patience : int, default=20
        Epochs without a better validation score after which a network stops.
    monitor : {"loss", "score"}, default="loss"
        What validation rows measure: the loss, or accuracy (several classes), area
        under the ROC curve (two) and root mean squared error (regression).
    validation_fraction : float, default=0.2
        Part of the rows that is held out for early stopping.
    n_networks : int, default=1
        Networks trained together with seeds of their own; scores are averaged.
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is.
    random_state : int, RandomState instance or None, default=None
        Decides everything that is random.
    device : str, default="auto"
        "cpu", "cuda", or "auto" for CUDA where it is.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norms of the first-layer weights.
    support_ : ndarray of shape (n_features,)
        Whether each column is kept.
    network_scores_ : ndarray of shape (n_networks, n_features)
        The scores of each network.
    penalty_ : float
        The strength in use.

    Notes
    -----
    Minimises ``(1 - l) L + l sum_j sqrt(sum_h W_hj² + 1e-8)``, W the weights of the
    first layer; the score of column j is the norm of W_:j at the epoch that is best on
    the validation rows. Columns and a regression target are standardised first.
    `as_published` has the benchmark's untuned settings: learning rate 1e-3, batches of
    512, epochs judged by the score.

    References
    ----------
    Cherepanova et al., "A performance-driven benchmark for feature selection in tabular
    deep learning", NeurIPS 2023.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sievebench.selectors.first_layer_lasso import FirstLayerLasso
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = FirstLayerLasso(n_features_to_select=4, random_state=0)
    >>> selector.fit_transform(X, y).shape
    (178, 4)
    """

    published: ClassVar[Mapping[str, Any]] = {**PUBLISHED_MLP, "penalty": 0.1}

    def _penalty(self, strengths: Tensor) -> FirstLayerPenalty:
        """Return the group lasso."""
        return FirstLayerPenalty(strengths)

    def _importances(self, network: StackedMLP, problem: NeuralProblem) -> Tensor:  # noqa: ARG002
        """Return the norms of the columns' first-layer weights."""
        return column_norms(network.first_weight)
