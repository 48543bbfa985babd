"""Deep Lasso: an MLP whose input gradient is penalised column by column."""

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor

from sievebench.selectors._input_gradients import (
    InputGradientPenalty,
    validation_gradient_norms,
)
from sievebench.selectors._mlp_selector import PUBLISHED_MLP, PenalizedMLPSelector
from sievebench.selectors._neural_selector import NeuralProblem
from sievebench.stack.mlp import StackedMLP


class DeepLasso(PenalizedMLPSelector):
    """Score columns by the gradient of the loss with respect to them.

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
        Part of the rows that is held out for early stopping and for the scores.
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
        Norms of the input gradients on the validation rows.
    support_ : ndarray of shape (n_features,)
        Whether each column is kept.
    network_scores_ : ndarray of shape (n_networks, n_features)
        The scores of each network.
    penalty_ : float
        The strength in use.

    Notes
    -----
    Minimises ``(1 - l) L + l sum_j sqrt(sum_i (dL/dx_ij)² + 1e-8)``, L the mean loss of
    a batch; the score of column j is the norm of dL/dX_:j over the validation rows at
    the epoch that is best on them. Columns and a regression target are standardised
    first. `as_published` has the benchmark's untuned settings: learning rate 1e-3,
    batches of 512, epochs judged by the score.

    References
    ----------
    Cherepanova et al., "A performance-driven benchmark for feature selection in tabular
    deep learning", NeurIPS 2023.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sievebench.selectors.deep_lasso import DeepLasso
    >>> X, y = load_wine(return_X_y=True)
    >>> DeepLasso(n_features_to_select=4, random_state=0).fit_transform(X, y).shape
    (178, 4)
    """

    published: ClassVar[Mapping[str, Any]] = {**PUBLISHED_MLP, "penalty": 0.1}

    def _penalty(self, strengths: Tensor) -> InputGradientPenalty:
        """Return the penalty on the input gradient."""
        return InputGradientPenalty(strengths)

    def _importances(self, network: StackedMLP, problem: NeuralProblem) -> Tensor:
        """Return the norms of the validation loss's gradient by column."""
        return validation_gradient_norms(network, problem.task_loss, problem.rows)
