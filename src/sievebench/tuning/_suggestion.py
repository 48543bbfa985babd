"""Draw settings from search spaces, with Optuna's trials as the source."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sievebench.search_space import (
    Choice,
    Distribution,
    HiddenSizes,
    Integer,
    LogUniform,
    SearchSpace,
    Uniform,
    ZeroOr,
)

if TYPE_CHECKING:  # an extra, and slow to import
    from optuna import Trial

_PLAIN = (str, int, float, bool, type(None))


def suggest_settings(
    trial: "Trial", spaces: Mapping[str, SearchSpace]
) -> dict[str, dict[str, Any]]:
    """Draw all settings of a trial."""
    return {
        part: {
            name: _suggest(trial, f"{part}.{name}", distribution)
            for name, distribution in space.items()
        }
        for part, space in spaces.items()
    }


def _suggest(trial: "Trial", name: str, distribution: Distribution) -> Any:
    match distribution:
        case Uniform(low, high):
            return trial.suggest_float(name, low, high)
        case LogUniform(low, high):
            return trial.suggest_float(name, low, high, log=True)
        case Integer(low, high, step):
            return trial.suggest_int(name, low, high, step=step)
        case Choice(values):
            return _choose(trial, name, values)
        case ZeroOr(inner):
            is_zero = trial.suggest_categorical(f"{name}.is_zero", (True, False))
            return 0.0 if is_zero else _suggest(trial, name, inner)
        case HiddenSizes(n_layers, size):
            return _hidden_sizes(trial, name, n_layers, size)


def _choose(trial: "Trial", name: str, values: tuple[Any, ...]) -> Any:
    """Draw a value; what Optuna cannot store is drawn by its index."""
    if all(isinstance(value, _PLAIN) for value in values):
        return trial.suggest_categorical(name, values)
    return values[trial.suggest_categorical(name, tuple(range(len(values))))]


def _hidden_sizes(
    trial: "Trial", name: str, n_layers: Integer, size: Integer
) -> tuple[int, ...]:
    """Draw sizes of hidden layers: first, middle (all the same) and last."""
    count = trial.suggest_int(f"{name}.n_layers", n_layers.low, n_layers.high)

    def draw(which: str) -> int:
        return trial.suggest_int(f"{name}.{which}", size.low, size.high)

    sizes = [draw("first")]
    if count > 2:
        sizes += [draw("middle")] * (count - 2)
    if count > 1:
        sizes.append(draw("last"))
    return tuple(sizes)
