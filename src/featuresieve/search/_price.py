"""What a feature may cost: the balance of a stack whose members vote."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import issparse

from featuresieve.problem import BoolArray, IndexArray, Problem
from featuresieve.search._settings import Settings

# The price falls with the rows to this power, and is at least this over the rows that
# do not have the most common target.
_EXPONENT, _RARE = -2 / 3, 1.5
# The most that a feature costs, as a share of what a perfect prediction is worth.
_LARGEST_SHARE = 1 / 24
# Of this much, from which a price is high.
_HIGH_SHARE = 1 / 2


def price_of_feature(problem: Problem, settings: Settings) -> float:
    """Return what a kept feature costs, in the units of the loss.

    What a column of chance gains falls like one over the rows (Akaike), and this price
    falls slower, as many rows make worthless columns by the dozen look worth a little.
    Copies of a row count once. A rare class weighs as much as others, and few rows tell
    what is chance in it.
    """
    price = min(_usual_price(problem), _ceiling(problem))
    if settings.training.reduction == "sum":  # the task loss is that of a whole batch
        price *= settings.schedule(problem.n_rows, problem.n_columns, 1).batch_size
    return price


def is_price_high(problem: Problem) -> bool:
    """Tell whether there are so few rows that columns have to be worth much."""
    return _usual_price(problem) > _HIGH_SHARE * _ceiling(problem)


def _usual_price(problem: Problem) -> float:
    """Return what a feature costs, however much that is."""
    n_uncommon = max(problem.n_uncommon(np.arange(problem.n_rows)), 1)
    return float(max(problem.n_groups**_EXPONENT, _RARE / n_uncommon))


def _ceiling(problem: Problem) -> float:
    """Return the most that a feature may cost."""
    return _LARGEST_SHARE * max(problem.null_loss(), 1e-6)


def balance_at_price(problem: Problem, settings: Settings) -> float:
    """Return the balance λ: the price of a feature times the number of features."""
    return problem.n_features * price_of_feature(problem, settings)


def cannot_pay(
    problem: Problem, balance: float, gate_rows: Sequence[IndexArray]
) -> BoolArray:
    """Tell which gates of a sparse table cost more than they could ever gain.

    A column that is zero but for a few rows changes nothing elsewhere, and saves at
    most the whole loss of a constant in those few, of which a member that judges by its
    own `gate_rows` may see all. No gate of a dense table is told so.
    """
    gates = problem.gates
    if not issparse(problem.features):
        return np.zeros(len(gates), dtype=bool)
    rows = np.arange(problem.n_rows)
    weights = problem.weights_of(rows)
    losses = problem.constant_losses(rows, rows) * weights
    by_cell = np.repeat(losses, np.diff(problem.features.indptr))
    by_column = np.bincount(problem.features.indices, by_cell, problem.n_columns)
    by_gate = np.bincount(gates.gate_of_column, by_column, len(gates))
    gains = by_gate / min(weights[own].sum() for own in gate_rows)
    prices = balance * gates.costs / gates.n_features_total
    return np.asarray((gains < prices) & ~gates.is_forced)
