"""What a fit of each selector costs: who starts first, and who is fast."""

from collections.abc import Iterable

# About so many CPU seconds a fit on 2,400 rows of 20 columns; what counts is the order.
_SECONDS = {
    "none": 0.0,
    "univariate": 0.0,
    "lasso": 0.0,
    "svc-rfe": 0.0,
    "xgboost": 0.1,
    "mrmr": 0.1,
    "mutual-info": 0.1,
    "forest": 0.9,
    "permutation": 1.4,
    "deep-lasso": 1.8,
    "stg": 1.9,
    "lspin": 2.1,
    "1l-lasso": 2.3,
    "agl": 3.2,
    "protogate": 3.7,
    "autonfs": 4.2,
    "attention": 5.4,
    "lassonet": 10.0,
    "boruta": 28.1,
}
_MOST_SECONDS = 2.0
# What the others are compared with is there too.
FAST = tuple(
    name
    for name, seconds in _SECONDS.items()
    if seconds < _MOST_SECONDS or name == "autonfs"
)


def starting_order(names: Iterable[str]) -> list[str]:
    """Return the fast ones first, then the others with the slowest in front.

    So there is soon something to see, and no slow one is begun when all others are
    done.
    """

    def key(name: str) -> tuple[bool, float]:
        seconds = _SECONDS[name]
        return (name not in FAST, seconds if name in FAST else -seconds)

    return sorted(names, key=key)
