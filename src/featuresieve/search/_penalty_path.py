"""What a feature may cost: the balances of the path, and that of a single run."""

import numpy as np

from featuresieve.problem import FloatArray, Problem
from featuresieve.search._settings import Settings

# Prices of a feature along the path, relative to hidden units / rows.
PRICE_FACTORS = (2.0**-6.25, 2.0**-4.5, 2.0**-2.75, 2.0**-1)
# The price at which a single run does best, relative to the same unit.
SINGLE_PRICE_FACTOR = 2.0**-3


def price_unit(problem: Problem, settings: Settings) -> float:
    """Return the natural price of a feature: first-layer weights over rows.

    A kept feature brings one weight per hidden unit, and about one over the number of
    rows is what a weight costs in nats per row (Akaike). Copies of a row count once.
    """
    hidden_sizes = settings.training.hidden_sizes
    n_hidden = hidden_sizes[0] if hidden_sizes else 1
    price = n_hidden / problem.n_groups
    if settings.training.reduction == "sum":  # the task loss is that of a whole batch
        price *= settings.schedule(problem.n_rows, problem.n_columns, 1).batch_size
    return price


def path_balances(problem: Problem, settings: Settings) -> FloatArray:
    """Return the balances of the path, smallest first.

    A balance is a price times the number of features. The path is moved down if its
    largest price exceeds a twelfth of what predicting the target perfectly is worth.
    """
    prices = price_unit(problem, settings) * np.array(PRICE_FACTORS)
    ceiling = max(problem.null_loss(), 1e-6) / 12
    scale = problem.n_features * min(1.0, ceiling / float(prices[-1]))
    return np.asarray(scale * prices)


def balance_at_price(problem: Problem, settings: Settings) -> float:
    """Return the balance for a single run at the closed-form price."""
    price = price_unit(problem, settings) * SINGLE_PRICE_FACTOR
    return problem.n_features * min(price, max(problem.null_loss(), 1e-6) / 48)
