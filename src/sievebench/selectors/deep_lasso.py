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
    penalty : float or sequence of float, default=(0.01, 0.03, 0.1, 0.3)
        The l below, in [0, 1). Several strengths are trained together, and the one with
        the best validation score decides.
    hidden_sizes, dropout, learning_rate, weight_decay, batch_size : various
        The network and how AdamW trains it: see the base class `PenalizedMLPSelector`.
    n_features_to_select, max_epochs, patience, monitor, validation_fraction, \
n_networks, task, random_state, device : various
        As there.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norms of the input gradients on the validation rows.
    support_, network_scores_, penalty_ : various
        As in every neural selector.

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
