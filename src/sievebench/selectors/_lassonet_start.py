"""Where LassoNet's path begins: the package's search, for many penalties at once.

The package tries one penalty after the other, with up to 10,000 proximal steps each.
"""

import torch
from torch import Tensor

_MOST_STEPS = 10_000
_LEAST_CHANGE = 1e-5  # of a skip weight in a step; below it, a penalty is done
_AT_ONCE = 16


def first_penalty(skip: Tensor, first: Tensor, hierarchy: float) -> float:
    """Return what the package's `lambda_start` returns, to the last bit.

    That is the largest ``2**k * 1e-6`` such that proximal steps with twice as much, and
    with each smaller power, leave no column without a skip weight.

    Parameters
    ----------
    skip : Tensor of shape (outputs, columns)
        Weights of the skip layer.
    first : Tensor of shape (hidden, columns)
        Weights of the first hidden layer.
    hierarchy : float
        How much larger those may be than the skip weights.

    Returns
    -------
    float
    """
    start = 1e-6
    while True:
        starts = [start * 2.0**k for k in range(_AT_ONCE)]
        drops = _drops_columns(skip, first, hierarchy, [2 * it for it in starts])
        if any(drops):
            return starts[drops.index(True)]
        start *= 2.0**_AT_ONCE


def _drops_columns(
    skip: Tensor, first: Tensor, hierarchy: float, penalties: list[float]
) -> list[bool]:
    """Tell for each penalty whether columns lose their skip weights.

    Only up to the first that does: the others are False.
    """
    n_columns, drops = skip.shape[1], [False] * len(penalties)
    left = list(range(len(penalties)))  # those that are not done
    beta = skip.repeat(1, len(left))
    # A step cuts the sizes of the other weights, which leaves them in order.
    sizes = first.abs().sort(dim=0, descending=True).values.repeat(1, len(left))
    penalty = torch.tensor(penalties).to(skip).repeat_interleave(n_columns)
    for step in range(1, _MOST_STEPS + 1):
        new_beta, sizes = _proximal_step(beta, sizes, penalty, hierarchy)
        changes = (beta - new_beta).abs().amax(dim=0).view(-1, n_columns).amax(dim=1)
        is_done = changes < _LEAST_CHANGE
        # A step that changes so little is not taken.
        beta = torch.where(is_done.repeat_interleave(n_columns), beta, new_beta)
        is_done |= step == _MOST_STEPS
        if is_done.any():
            is_zero = torch.linalg.vector_norm(beta, dim=0) == 0
            has_dropped = is_zero.view(-1, n_columns).any(dim=1)
            for k, dropped in zip(left, (is_done & has_dropped).tolist(), strict=True):
                drops[k] = dropped
            most = drops.index(True) if any(drops) else len(penalties)
            is_left = ~is_done & (torch.tensor(left, device=beta.device) < most)
            left = [k for k, kept in zip(left, is_left.tolist(), strict=True) if kept]
            if not left:
                break
            kept = is_left.repeat_interleave(n_columns)
            beta, sizes, penalty = beta[:, kept], sizes[:, kept], penalty[kept]
    return drops


def _proximal_step(
    beta: Tensor, sizes: Tensor, penalty: Tensor, hierarchy: float
) -> tuple[Tensor, Tensor]:
    """Return the package's `prox` of skip weights, and the new sizes of the others.

    The operations are its own, for each column; `sizes` are in descending order.
    """
    counts = torch.arange(len(sizes) + 1.0).view(-1, 1).to(beta)
    nothing = torch.zeros_like(sizes[:1])
    reach = penalty - hierarchy * torch.cat([nothing, sizes.cumsum(dim=0)])
    norm = torch.linalg.vector_norm(beta, dim=0)
    is_there = norm > 0
    factor = torch.relu(1 - reach / torch.where(is_there, norm, 1.0))
    factor = torch.where(is_there, factor / (1 + counts * hierarchy**2), 0.0)
    bound = hierarchy * factor * norm
    index = torch.sum(torch.cat([sizes, nothing]) > bound, dim=0, keepdim=True)
    return factor.gather(0, index) * beta, torch.minimum(sizes, bound.gather(0, index))
