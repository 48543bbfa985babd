"""1L Lasso: an MLP with a group lasso on its first layer."""

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from sievebench.selectors._neural_selector import (
    PUBLISHED_MLP,
    NeuralProblem,
    PenalizedMLPSelector,
)
from sievebench.stack.mlp import StackedMLP


class FirstLayerLasso(PenalizedMLPSelector):
    """Score columns by the first-layer weights of an MLP with a group lasso on them.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norms of the first-layer weights.

    Notes
    -----
    Minimises ``(1 - l) L + l sum_j sqrt(sum_h W_hj² + 1e-8)``, W the weights of the
    first layer; the score of column j is the norm of ``W_:j`` at the epoch that is best
    on the validation rows.

    References
    ----------
    Cherepanova et al., "A performance-driven benchmark for feature selection in tabular
    deep learning", NeurIPS 2023.
    """

    published: ClassVar[Mapping[str, Any]] = {**PUBLISHED_MLP, "penalty": 0.1}

    @staticmethod
    def _penalty(losses: Tensor, network: StackedMLP) -> Tensor:  # noqa: ARG004
        """Return the group lasso, (members,)."""
        return smooth_group_norm(network.first_weight)

    def _importances(self, network: StackedMLP, problem: NeuralProblem) -> Tensor:  # noqa: ARG002
        """Return the norms of the columns' first-layer weights."""
        return column_norms(network.first_weight)


def smooth_group_norm(weight: Tensor) -> Tensor:
    """Return the sum over columns of sqrt(|w_j|² + 1e-8), (members,)."""
    # Inside the square root, so that the norm has a gradient at zero.
    return weight.square().sum(dim=-1).add(1e-8).sqrt().sum(dim=-1)


def column_norms(weight: Tensor) -> Tensor:
    """Return the norm of each column's (members, columns, hidden) weights."""
    norms: Tensor = torch.linalg.vector_norm(weight, dim=-1)
    return norms
