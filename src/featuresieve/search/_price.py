"""What a feature may cost: the balance of a stack whose members vote."""

from featuresieve.problem import Problem
from featuresieve.search._settings import Settings

# The price falls with the rows to this power.
_EXPONENT = -2 / 3
# The most that a feature costs, as a share of what a perfect prediction is worth.
_LARGEST_SHARE = 1 / 24


def price_of_feature(problem: Problem, settings: Settings) -> float:
    """Return what a kept feature costs, in the units of the loss.

    What a column of chance gains falls like one over the rows (Akaike), and this price
    falls slower, as many rows make worthless columns by the dozen look worth a little.
    Copies of a row count once.
    """
    price = min(_usual_price(problem), _ceiling(problem))
    if settings.training.reduction == "sum":  # the task loss is that of a whole batch
        price *= settings.schedule(problem.n_rows, problem.n_columns, 1).batch_size
    return price


def is_at_ceiling(problem: Problem) -> bool:
    """Tell whether there are too few rows for a price that keeps chance out."""
    return _usual_price(problem) > _ceiling(problem)


def _usual_price(problem: Problem) -> float:
    """Return what a feature costs, however much that is."""
    return float(problem.n_groups**_EXPONENT)


def _ceiling(problem: Problem) -> float:
    """Return the most that a feature may cost."""
    return _LARGEST_SHARE * max(problem.null_loss(), 1e-6)


def balance_at_price(problem: Problem, settings: Settings) -> float:
    """Return the balance λ: the price of a feature times the number of features."""
    return problem.n_features * price_of_feature(problem, settings)
