"""An experiment file: lists of names whose product are the cells, and a budget."""

import math
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from featuresieve.errors import LARGEST_INTEGER
from sievebench.run_spec import (
    COUNTS_BY_NAME,
    PURPOSES,
    EarlierResults,
    Group,
    RunSpec,
    Stream,
)
from sievebench.toml_keys import (
    Flag,
    Key,
    check_fields,
    is_int,
    is_list_of,
    is_text,
    keys_of,
    one_of,
    whole,
)

# How much work a cell is worth.
_BUDGET = (
    *("n_trials", "n_seeds", "time_limit_seconds", "trials_at_once", "tuning_seconds"),
)
PROFILES: dict[str, dict[str, Any]] = {
    name: dict(zip(_BUDGET, values, strict=True))
    for name, values in {
        "smoke": (2, 1, 60.0, 1, None),
        # An int, as in the records: it is part of the keys of their cells.
        "quick": (15, 3, 3600.0, 5, 180),
        # 50 trials as in the paper; seeds as in the benchmark it extends.
        "paper": (50, 10, 48 * 3600.0, 5, None),
    }.items()
}
# What may be taken over from another experiment.
_REUSED = ("columns", "settings")
# These purposes make nothing of themselves, only of what another experiment found.
_SOURCES = {"matched": "match", "shared": "reuse"}
# What every cell has as the experiment says it.
_OF_EVERY_CELL = (
    *("noise_fraction", "stream", "downstream_settings", "n_trials", "n_removed"),
    *("trials_at_once", "tuning_seconds", "splits_anew"),
)


class ExperimentError(ValueError):
    """An experiment file does not say what it should."""


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return is_int(value, -LARGEST_INTEGER)


def _are_names(value: Any) -> bool:
    return is_list_of(value, is_text) and 0 < len(value) == len(set(value))


def _is_plain(value: Any) -> bool:
    """Tell whether a value can be written into a record; dates cannot."""
    if isinstance(value, dict | list):
        return all(map(_is_plain, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str | bool) or _is_number(value)


def _is_variation(value: Any) -> bool:
    return isinstance(value, dict) and all(
        items and is_list_of(items, _is_plain) for items in value.values()
    )


def _is_match(value: Any) -> bool:
    names = {"experiment", "selector"}
    is_table = isinstance(value, dict) and set(value) == names
    return is_table and all(map(is_text, value.values()))


def _is_reuse(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) - {"not_from"} == {"experiment", "what", "n_predictors"}
        and ("not_from" not in value or _are_names(value["not_from"]))
        and is_text(value["experiment"])
        and value["what"] in _REUSED
        and is_int(value["n_predictors"], 1)
    )


_Names = Annotated[
    tuple[str, ...], Key("a list of different names, at least one", _are_names)
]
_Settings = Annotated[
    Mapping[str, Any],
    Key(
        "a table of numbers, texts, true, false and lists of them",
        lambda value: isinstance(value, dict) and _is_plain(value),
    ),
]
_SECONDS = Key("a number > 0", lambda value: _is_number(value) and value > 0)
_COUNT = Key(
    f"one of {', '.join(COUNTS_BY_NAME)}, or an int >= 1",
    lambda value: value in COUNTS_BY_NAME or is_int(value, 1),
)
_VARIATION = Key("a table of lists of values, at least one each", _is_variation)
_ROWS = Key(
    "a list of names and tables, at least one",
    lambda value: isinstance(value, list) and bool(value),
)
_FRACTION = Key(
    "a number >= 0 and below 1", lambda value: _is_number(value) and 0 <= value < 1
)
_MATCH = Key("a table with the names experiment and selector", _is_match)
_REUSE = Key(
    f"a table with experiment (a name), what (one of {', '.join(_REUSED)}) and "
    "n_predictors (an int >= 1), and perhaps not_from (names of selectors)",
    _is_reuse,
)


@dataclass(frozen=True)
class SelectorRow:
    """One row of the experiment's tables."""

    name: Annotated[str, Key("a name", is_text)]  # short, a variant after a colon
    # Of the selector; what is given here is not tuned.
    settings: _Settings = field(default_factory=dict)
    is_tuned: Flag = True  # whether the selector is tuned together with the predictor
    keep: Annotated[Any, _COUNT] = "default"  # as in `RunSpec`
    # One cell for each combination of these values, beside `settings`; it is a variant
    # of its own, except in the balance experiment.
    vary: Annotated[Mapping[str, Sequence[Any]], _VARIATION] = field(
        default_factory=dict
    )

    def variants(self) -> list[tuple[str, dict[str, Any]]]:
        """Return a name and the settings of each cell."""
        found = []
        for values in product(*self.vary.values()):
            varied = dict(zip(self.vary, values, strict=True))
            words = [f"{name}={value}" for name, value in varied.items()]
            selector, _, variant = self.name.partition(":")
            variant = ",".join([variant, *words] if variant else words)
            name = f"{selector}:{variant}" if variant else selector
            found.append((name, {**self.settings, **varied}))
        return found


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """The contents of an experiment file; what is not explained is as in `RunSpec`."""

    name: str  # of the file, and of the folder of its records
    about: Annotated[str, Key("a text", lambda value: isinstance(value, str))] = ""
    # Sets what the file does not, from n_trials to tuning_seconds.
    profile: Annotated[str, one_of(PROFILES)]
    purpose: Annotated[str, one_of(PURPOSES)] = "benchmark"  # `experiment` of its runs
    datasets: _Names
    scenarios: _Names
    selectors: Annotated[tuple[SelectorRow, ...], _ROWS]
    downstream: _Names = ("mlp",)
    noise_fraction: Annotated[float, _FRACTION] = 0.5
    stream: Stream = "legacy"
    downstream_settings: _Settings = field(default_factory=dict)
    n_trials: Annotated[int, whole(0)] = 0
    n_seeds: Annotated[int, whole(1)] = 1
    time_limit_seconds: Annotated[float, _SECONDS] = math.inf  # of a cell
    trials_at_once: Annotated[int, whole(1)] = 1
    tuning_seconds: Annotated[float | None, _SECONDS] = None
    splits_anew: Flag = False
    n_removed: Annotated[int | None, whole(1)] = None
    # `experiment` and `selector`: keep as many columns as that selector kept there, on
    # the average of its seeds. Cells it has no record for are left out.
    match: Annotated[Mapping[str, str], _MATCH] = field(default_factory=dict)
    # `experiment`, `what` and `n_predictors`: take over the columns that each selector
    # kept there, or its tuned settings, and predict with the settings of the
    # `n_predictors` best searches of the same table, but for those of the selectors
    # that `not_from` names. Cells without a finished record there are left out.
    reuse: Annotated[Mapping[str, Any], _REUSE] = field(default_factory=dict)

    def cells(
        self,
        device: str = "auto",
        counts: Mapping[Group, int] | None = None,
        earlier: EarlierResults | None = None,
    ) -> list[RunSpec]:
        """Return every cell, those of one table together."""
        try:
            cells = self._all_cells(device)
            if self.reuse:
                cells = self._taking_over(cells, earlier or EarlierResults())
        except ValueError as error:
            raise ExperimentError(f"{self.name}: {error}") from error
        if self.match:
            known = counts or {}
            cells = [
                replace(spec, keep=known[spec.group])
                for spec in cells
                if spec.group in known
            ]
        self._check_names(cells)
        return cells

    def _all_cells(self, device: str) -> list[RunSpec]:
        return [
            RunSpec(
                dataset=dataset,
                scenario=scenario,
                # A λ is a column of its own in every table of runs.
                selector=row.name if self.purpose == "balance" else name,
                downstream=downstream,
                seeds=tuple(range(self.n_seeds)),
                keep=row.keep,
                selector_settings=settings,
                tunes_selector=row.is_tuned,
                experiment=self.purpose,
                device=device,
                **{name: getattr(self, name) for name in _OF_EVERY_CELL},
            )
            for dataset in self.datasets
            for scenario in self.scenarios
            for row in self.selectors
            for name, settings in row.variants()
            for downstream in self.downstream
        ]

    def _check_names(self, cells: list[RunSpec]) -> None:
        """Raise ExperimentError for cells that no report could tell apart."""
        is_by_balance = self.purpose == "balance"
        named = Counter(
            (spec.cell, is_by_balance and spec.selector_settings.get("balance"))
            for spec in cells
        )
        for ((dataset, *_, selector), _balance), n_cells in named.items():
            if n_cells > 1:
                raise ExperimentError(
                    f"{self.name}: {n_cells} cells are all {selector} on {dataset}, "
                    "and no report could tell them apart: name settings that differ, "
                    f"as in {selector.partition(':')[0]}:other."
                )

    def _taking_over(
        self, cells: list[RunSpec], earlier: EarlierResults
    ) -> list[RunSpec]:
        """Return the cells for which there is something to take over, with it."""
        found = []
        for spec in cells:
            if spec.group not in earlier.predictors:
                continue
            taken: dict[str, Any] = {"predictors": earlier.predictors[spec.group]}
            if spec.cell in earlier.unfit:  # will be skipped again, and say why
                pass
            elif spec.cell not in earlier.columns:
                continue
            elif self.reuse["what"] == "columns":
                self._check_source(spec, earlier.sources[spec.cell])
                taken["given"] = earlier.columns[spec.cell]
            else:
                own = spec.selector_settings
                taken["selector_settings"] = {**earlier.settings[spec.cell], **own}
            found.append(replace(spec, **taken))
        return found

    def _check_source(self, spec: RunSpec, earlier: Mapping[str, Any]) -> None:
        """Raise ValueError if column numbers would be those of another table."""
        for name, own in spec.column_source.items():
            if own != earlier[name]:
                raise ValueError(
                    f"{name} must be {earlier[name]!r}, as in "
                    f"{self.reuse['experiment']!r}, whose columns are taken over, got "
                    f"{own!r}."
                )


EXPERIMENT_KEYS, SELECTOR_KEYS = keys_of(Experiment), keys_of(SelectorRow)


def read_experiment(path: Path) -> Experiment:
    """Read an experiment file; its name without the suffix is the experiment's."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ExperimentError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # also a number of 4300 digits
        raise ExperimentError(f"{path} is no TOML: {error}.") from error
    try:
        return _experiment(path.stem, values)
    except ValueError as error:
        raise ExperimentError(f"{path}: {error}") from error


def _experiment(name: str, values: Mapping[str, Any]) -> Experiment:
    check_fields(values, Experiment)
    for purpose, key in _SOURCES.items():
        if values.get("purpose") == purpose and not values.get(key):
            raise ValueError(
                f"{key} is missing, which purpose = {purpose!r} needs: "
                f"{EXPERIMENT_KEYS[key].allowed}."
            )
    lists = {
        key: tuple(value) for key, value in values.items() if isinstance(value, list)
    }
    rows = (_row(number, row) for number, row in enumerate(lists["selectors"], 1))
    lists["selectors"] = tuple(rows)
    return Experiment(name=name, **{**PROFILES[values["profile"]], **values, **lists})


def _row(number: int, row: Any) -> SelectorRow:
    values = {"name": row} if isinstance(row, str) else row
    where = f"selector {number}: "
    if not isinstance(values, dict):
        raise ValueError(f"{where}it must be a name or a table, got {row!r}.")
    check_fields(values, SelectorRow, where)
    return SelectorRow(**values)
