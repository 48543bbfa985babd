"""What an experiment is: lists of names whose product are its cells, and a budget."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from typing import Any

from sievebench.run_spec import EarlierResults, Group, RunSpec

# What may be taken over from another experiment.
REUSED = ("columns", "settings")


class ExperimentError(ValueError):
    """An experiment file does not say what it should."""


@dataclass(frozen=True)
class Profile:
    """How much work a cell is worth."""

    n_trials: int  # of tuning
    n_seeds: int  # runs with the best settings
    time_limit_seconds: float  # of a cell
    # As in `RunSpec`.
    trials_at_once: int = 1
    tuning_seconds: float | None = None


PROFILES = {
    "smoke": Profile(n_trials=2, n_seeds=1, time_limit_seconds=60.0),
    "quick": Profile(
        15, n_seeds=3, time_limit_seconds=3600, trials_at_once=5, tuning_seconds=180
    ),
    # 50 trials as in the paper; seeds as in the benchmark it extends.
    "paper": Profile(50, n_seeds=10, time_limit_seconds=48 * 3600.0, trials_at_once=5),
}


@dataclass(frozen=True)
class SelectorRow:
    """One row of the experiment's tables."""

    name: str  # short name, a variant after a colon
    # Of the selector; what is given here is not tuned.
    settings: Mapping[str, Any] = field(default_factory=dict)
    is_tuned: bool = True  # whether the selector is tuned together with the predictor
    keep: Any = "default"  # as in `RunSpec`
    # One cell for each combination of these values, beside `settings`; it is a variant
    # of its own, except in the balance experiment.
    vary: Mapping[str, Sequence[Any]] = field(default_factory=dict)

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


@dataclass(frozen=True)
class Experiment:
    """The contents of an experiment file."""

    name: str  # of the file, and of the folder of its records
    profile: str
    datasets: tuple[str, ...]
    scenarios: tuple[str, ...]
    selectors: tuple[SelectorRow, ...]
    downstream: tuple[str, ...] = ("mlp",)
    about: str = ""  # what it is for, one sentence
    purpose: str = "benchmark"  # the `experiment` of its runs
    noise_fraction: float = 0.5
    stream: Any = "legacy"
    downstream_settings: Mapping[str, Any] = field(default_factory=dict)
    # What differs from the profile.
    n_trials: int | None = None
    n_seeds: int | None = None
    time_limit_seconds: float | None = None
    trials_at_once: int | None = None
    tuning_seconds: float | None = None
    splits_anew: bool = False  # as in `RunSpec`
    n_removed: int | None = None  # as in `RunSpec`
    # `experiment` and `selector`: keep as many columns as that selector kept there, on
    # the average of its seeds. Cells it has no record for are left out.
    match: Mapping[str, str] = field(default_factory=dict)
    # `experiment`, `what` and `n_predictors`: take over the columns that each selector
    # kept there, or its tuned settings, and predict with the settings of the
    # `n_predictors` best searches of the same table, but for those of the selectors
    # that `not_from` names. Cells without a finished record there are left out.
    reuse: Mapping[str, Any] = field(default_factory=dict)

    @property
    def budget(self) -> Profile:
        """The profile, with what the file changes."""
        profile = PROFILES[self.profile]
        own = {item.name: getattr(self, item.name) for item in fields(Profile)}
        given = {name: value for name, value in own.items() if value is not None}
        return Profile(**{**vars(profile), **given})

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
                replace(spec, keep=known[group])
                for spec in cells
                if (group := (spec.dataset, spec.scenario, spec.downstream)) in known
            ]
        self._check_names(cells)
        return cells

    def _check_names(self, cells: list[RunSpec]) -> None:
        """Raise ExperimentError for cells that no report could tell apart."""
        is_by_balance = self.purpose == "balance"
        named = Counter(
            (
                *(spec.selector, spec.dataset, spec.scenario, spec.downstream),
                spec.selector_settings.get("balance") if is_by_balance else None,
            )
            for spec in cells
        )
        for (selector, dataset, *_), n_cells in named.items():
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
            group = (spec.dataset, spec.scenario, spec.downstream)
            cell = (*group, spec.selector)
            if group not in earlier.predictors:
                continue
            taken: dict[str, Any] = {"predictors": earlier.predictors[group]}
            if cell in earlier.unfit:  # will be skipped again, and say why
                pass
            elif cell not in earlier.columns:
                continue
            elif self.reuse["what"] == "columns":
                self._check_source(spec, earlier.sources[cell])
                taken["given"] = earlier.columns[cell]
            else:
                own = spec.selector_settings
                taken["selector_settings"] = {**earlier.settings[cell], **own}
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

    def _all_cells(self, device: str) -> list[RunSpec]:
        budget = self.budget
        return [
            RunSpec(
                dataset=dataset,
                scenario=scenario,
                # A λ is a column of its own in every table of runs.
                selector=row.name if self.purpose == "balance" else name,
                downstream=downstream,
                seeds=tuple(range(budget.n_seeds)),
                noise_fraction=self.noise_fraction,
                stream=self.stream,
                keep=row.keep,
                selector_settings=settings,
                downstream_settings=self.downstream_settings,
                n_trials=budget.n_trials,
                trials_at_once=budget.trials_at_once,
                tuning_seconds=budget.tuning_seconds,
                tunes_selector=row.is_tuned,
                splits_anew=self.splits_anew,
                experiment=self.purpose,
                device=device,
                n_removed=self.n_removed,
            )
            for dataset in self.datasets
            for scenario in self.scenarios
            for row in self.selectors
            for name, settings in row.variants()
            for downstream in self.downstream
        ]
