"""The decision without each of its constants, or with another one."""

from collections.abc import Callable
from typing import Any

from featuresieve.search._price import price_of_feature

_SEARCH = "featuresieve.search"


def _priced(factor: float) -> Callable[[Any, Any], float]:
    """Return the price of a feature times a factor."""
    return lambda problem, settings: factor * price_of_feature(problem, settings)


def _akaike_price(problem: Any, settings: Any) -> float:
    """Return a price that falls like one over the rows, the same at a thousand."""
    factor = (1000 / problem.n_groups) ** (1 / 3)
    return factor * price_of_feature(problem, settings)


# What is patched, by name.
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "half the price": {f"{_SEARCH}._price.price_of_feature": _priced(0.5)},
    "twice the price": {f"{_SEARCH}._price.price_of_feature": _priced(2.0)},
    "price of rows^-0.65": {f"{_SEARCH}._price._EXPONENT": -0.65},
    "price as 1 / rows": {f"{_SEARCH}._price.price_of_feature": _akaike_price},
    "5 % of the votes": {f"{_SEARCH}._votes.VOTE_SHARE": 0.05},
    "20 % of the votes": {f"{_SEARCH}._votes.VOTE_SHARE": 0.2},
    "50 members": {f"{_SEARCH}._screen.N_MEMBERS": 50},
    "three parts": {f"{_SEARCH}._vote_search._N_PARTS": 3},
    "ten parts": {f"{_SEARCH}._vote_search._N_PARTS": 10},
    "classes as they are": {
        "featuresieve.problem.Problem.with_balanced_classes": lambda self: self
    },
    "twice the steps": {f"{_SEARCH}._settings._STEPS_PER_ROOT_ROW": 15},
    "no ceiling": {f"{_SEARCH}._price._LARGEST_SHARE": 1.0},
    "test at 1 %": {f"{_SEARCH}._screen.FALSE_ALARM": 0.01},
    "found at the whole price": {f"{_SEARCH}._vote_search.SCREENED_PRICE": 1.0},
    "test at the ceiling alone": {f"{_SEARCH}._price._HIGH_SHARE": 1.0},
    "no test": {f"{_SEARCH}._vote_search.screen_of": lambda *_: None},
}
