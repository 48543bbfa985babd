"""NeuralSort: a differentiable version of sorting, and the nearest neighbours by it."""

import torch
from torch import Tensor


def distance_sums(scores: Tensor) -> Tensor:
    """Return ``sum_l |s_j - s_l|`` for each j, along the last axis.

    By sorting, so that memory grows with the number of scores and not its square.

    Parameters
    ----------
    scores : Tensor of shape (..., n)

    Returns
    -------
    Tensor of shape (..., n)
    """
    n = scores.shape[-1]
    ordered, order = scores.sort(dim=-1)
    up_to = ordered.cumsum(dim=-1)  # the score itself included
    place = torch.arange(1, n + 1, dtype=scores.dtype, device=scores.device)
    sums = (2 * place - n) * ordered + up_to[..., -1:] - 2 * up_to
    return torch.empty_like(sums).scatter(-1, order, sums)


def first_places(scores: Tensor, n_places: int, temperature: float) -> Tensor:
    """Return the first rows of the relaxed permutation that sorts in descending order.

    Row i is ``softmax(((n + 1 - 2 i) s - sum_l |s - s_l|) / temperature)``: how much
    each item is the i-th largest. Rows sum to one; with a low temperature they are
    the rows of the permutation matrix.

    Parameters
    ----------
    scores : Tensor of shape (..., n)
    n_places : int
        At most n.
    temperature : float

    Returns
    -------
    Tensor of shape (..., n_places, n)
    """
    n = scores.shape[-1]
    place = torch.arange(1, n_places + 1, dtype=scores.dtype, device=scores.device)
    factors = (n + 1 - 2 * place).unsqueeze(-1)  # (n_places, 1)
    raised = factors * scores.unsqueeze(-2) - distance_sums(scores).unsqueeze(-2)
    return torch.softmax(raised / temperature, dim=-1)


def squared_distances(queries: Tensor, items: Tensor) -> Tensor:
    """Return squared distances, (members, queries, items), without a third axis."""
    cross = torch.bmm(queries, items.transpose(1, 2))
    lengths = items.square().sum(dim=-1).unsqueeze(1)
    return queries.square().sum(dim=-1, keepdim=True) + lengths - 2 * cross


def without_diagonal(square: Tensor) -> Tensor:
    """Return (..., n, n - 1): every row of a square matrix without its own entry."""
    n = square.shape[-1]
    row = torch.arange(n, device=square.device).unsqueeze(1)
    column = row[: n - 1].T
    others = column + (column >= row)  # (n, n - 1)
    return square.gather(-1, others.expand(*square.shape[:-1], n - 1))
