"""What a cell of an experiment is, its seeds, and what it takes over from others."""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Stage = Literal["corruption", "split", "selector", "downstream", "tuning", "removal"]
CountByName = Literal["default", "original", "own", "all"]
Keep = CountByName | int
Stream = Literal["legacy", "own", "fresh"]
COUNTS_BY_NAME: tuple[CountByName, ...] = get_args(CountByName)
STREAMS: tuple[Stream, ...] = get_args(Stream)
# What runs may be for, the `experiment` of a cell.
PURPOSES = (
    *("benchmark", "shared", "matched", "removal", "scaling", "balance", "cohorts"),
)

# What the randomness of a stage may depend on. All selectors thus see one table and
# one order of predictors' seeds, and a new selector changes no other number.
DEPENDS_ON: dict[Stage, tuple[str, ...]] = {
    "corruption": ("dataset", "scenario"),
    "split": (),
    "selector": ("dataset", "scenario", "noise_fraction", "selector"),
    "downstream": ("dataset", "scenario", "noise_fraction", "downstream"),
    "tuning": ("dataset", "scenario", "noise_fraction", "selector", "downstream"),
    "removal": ("dataset", "scenario", "noise_fraction"),
}
# The benchmark's data seed is always 0.
_SPLIT_SEED = 0
# The `downstream` of the scaling experiment.
NO_PREDICTOR = "none"
# Fields that came after the first records: with their default they are left out of
# JSON and key, so that old records keep theirs.
_LATER = ("n_removed", "given", "predictors")
# The fields that the name of a record's file begins with; file systems end names at 255
# bytes, and the hash, the suffix and what marks an unfinished file come on top.
_READABLE = ("experiment", "dataset", "scenario", "selector", "downstream")
_MOST_BYTES = 200


def is_file_name(name: Any) -> bool:
    """Tell whether a name can be part of the name of a file."""
    is_text = isinstance(name, str) and name != "" and name.isprintable()
    return is_text and not set(name) & set("/\\")


@dataclass(frozen=True)
class RunSpec:
    """One cell: a table, a scenario, a selector and a predictor, for some seeds."""

    dataset: str
    scenario: str
    selector: str  # short name, a variant after a colon
    downstream: str = "mlp"  # who predicts; "none" in the scaling experiment
    seeds: tuple[int, ...] = (0,)  # one run each, once the settings are tuned
    noise_fraction: float = 0.5  # share of added columns among all
    # The benchmark's own added columns, or those of a seed derived by name. "fresh" has
    # such a seed for each repetition, and one for its split, which keeps together the
    # rows that the catalogue says belong together: draws that no development saw.
    stream: Stream = "legacy"
    # Columns to keep: as many as before the scenario, the selector's own choice, all of
    # them, or a count. "default" is "all" for no selection, "own" for AutoNFS and
    # "original" for the others.
    keep: Keep = "default"
    # What differs from the defaults; what is given here is not tuned.
    selector_settings: Mapping[str, Any] = field(default_factory=dict)
    downstream_settings: Mapping[str, Any] = field(default_factory=dict)
    n_trials: int = 0  # of tuning; 0 tunes nothing
    # Settings that are drawn, and on a GPU trained, together: the search learns from
    # them once all have a score.
    trials_at_once: int = 1
    # No new trials after so many seconds, as a slow selector would take days for what a
    # fast one does in seconds. None waits for all.
    tuning_seconds: float | None = None
    # Whether the selector is tuned together with the predictor.
    tunes_selector: bool = True
    # Whether each seed has a split of its own, for tables so small that one test part
    # says little; nothing can be tuned then. The benchmark has one split.
    splits_anew: bool = False
    # What the runs are for: "benchmark", "matched", … In "balance" the setting
    # `balance` of the selector is the λ of its tables; in "scaling" selections are
    # timed, one after the other, and nothing is predicted; in "removal" the predictor
    # also has to do without one column.
    experiment: str = "benchmark"
    device: str = "auto"  # "auto", "cpu" or "cuda"
    # Columns that are left out one at a time in the removal experiment, drawn at random
    # from the kept ones; None is all of them.
    n_removed: int | None = None
    # Columns that were kept elsewhere, one set for each seed; nothing is selected then.
    # Empty has the selector decide.
    given: tuple[tuple[int, ...], ...] = ()
    # Settings of several predictors that are all trained, in place of
    # `downstream_settings`; the score of a run is the mean of theirs.
    predictors: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        for name in _READABLE:
            if not is_file_name(value := getattr(self, name)):
                raise ValueError(
                    f"{name} must be a name that can be part of a file's, without / "
                    f"and \\, got {value!r}."
                )
        for rules in (self._own_rules(), self._rules_together()):
            for said, is_broken in rules.items():
                if is_broken:
                    raise ValueError(f"{said}.")

    def _own_rules(self) -> dict[str, bool]:
        """Return what each field must be, and whether it is not."""
        names = {name: getattr(self, name) for name in _READABLE}
        n_bytes = len("".join(names.values()).encode())
        longest = max(names, key=lambda name: len(names[name]))
        balance = self.selector_settings.get("balance")
        is_number = isinstance(balance, int | float) and not isinstance(balance, bool)
        is_count = isinstance(self.keep, int) and self.keep >= 1
        return {
            f"{longest} is too long: the names of a cell may have {_MOST_BYTES} bytes "
            f"in all, got {n_bytes}": n_bytes > _MOST_BYTES,
            f"seeds must be distinct numbers, got {self.seeds!r}": (
                not self.seeds or len(set(self.seeds)) != len(self.seeds)
            ),
            f"n_trials must be an int >= 0, got {self.n_trials!r}": self.n_trials < 0,
            f"trials_at_once must be an int >= 1, got {self.trials_at_once!r}": (
                self.trials_at_once < 1
            ),
            f"stream must be one of {', '.join(STREAMS)}, got {self.stream!r}": (
                self.stream not in STREAMS
            ),
            "keep must be 'default', 'original', 'own', 'all' or an int >= 1, got "
            f"{self.keep!r}": self.keep not in COUNTS_BY_NAME and not is_count,
            "selector_settings must have a number as balance in the balance "
            f"experiment, got {balance!r}": (
                self.experiment == "balance" and not is_number
            ),
            "n_removed must be an int >= 1 in the removal experiment, None in others, "
            f"got {self.n_removed!r} in {self.experiment!r}": (
                self.n_removed is not None
                and (self.experiment != "removal" or self.n_removed < 1)
            ),
        }

    def _rules_together(self) -> dict[str, bool]:
        """Return which fields do not go with each other, and whether they are there."""
        is_timed, is_tuned = self.experiment == "scaling", self.n_trials > 0
        n_given, n_seeds = len(self.given), len(self.seeds)
        settled = [name for name in ("given", "predictors") if getattr(self, name)]
        return {
            "n_trials must be 0 with splits_anew and with fresh draws: the rows that "
            "judge settings in one split would be test rows in another": (
                self.has_draws and is_tuned
            ),
            f"downstream must be {NO_PREDICTOR!r} in the scaling experiment, and in no "
            f"other, got {self.downstream!r} in {self.experiment!r}": (
                is_timed != (self.downstream == NO_PREDICTOR)
            ),
            "n_trials must be 0 in the scaling experiment, where there is no score to "
            f"tune by, got {self.n_trials!r}": is_timed and is_tuned,
            f"given must have one set of columns for each of the {n_seeds} seeds, got "
            f"{n_given}": n_given > 0 and n_given != n_seeds,
            "splits_anew must be False and no draw fresh with given: the columns are "
            "of one split": n_given > 0 and self.has_draws,
            **{
                f"n_trials must be 0 with {name}: they are settled, got "
                f"{self.n_trials!r}": is_tuned
                for name in settled
            },
            **{
                f"{name} must be empty in the scaling experiment": is_timed
                for name in settled
            },
            "predictors must be one at most in the removal experiment, got "
            f"{len(self.predictors)}": (
                self.experiment == "removal" and len(self.predictors) > 1
            ),
            "downstream_settings must be empty with predictors, which have their own, "
            f"got {dict(self.downstream_settings)!r}": bool(
                self.predictors and self.downstream_settings
            ),
        }

    @property
    def group(self) -> "Group":
        """Dataset, scenario and downstream."""
        return (self.dataset, self.scenario, self.downstream)

    @property
    def cell(self) -> "Cell":
        """The same, and the selector with its variant."""
        return (*self.group, self.selector)

    @property
    def has_draws(self) -> bool:
        """Whether each repetition has a table of its own."""
        return self.splits_anew or self.stream == "fresh"

    @property
    def selector_name(self) -> str:
        """Short name of the selector, without the variant."""
        return self.selector.partition(":")[0]

    @property
    def column_source(self) -> dict[str, Any]:
        """What numbers of kept columns go with, by the keys of an experiment file."""
        return {
            "noise_fraction": self.noise_fraction,
            "stream": self.stream,
            "n_seeds": len(self.seeds),
        }

    def seed(self, stage: Stage, repetition: int = 0) -> int | None:
        """Return the seed of a stage, below 2**31; None for the benchmark's own."""
        is_fresh = self.stream == "fresh"
        if stage == "corruption":
            if self.stream == "legacy":
                return None
            repetition = repetition if is_fresh else 0
        if stage == "split" and not is_fresh:
            return repetition if self.splits_anew else _SPLIT_SEED
        values = [getattr(self, name) for name in DEPENDS_ON[stage]]
        text = json.dumps([stage, *values, repetition])
        digest = hashlib.sha256(text.encode()).digest()
        return int.from_bytes(digest[:4]) % 2**31

    @property
    def key(self) -> str:
        """Name of the record: readable fields, and a hash of all that decides it.

        The device is left out: a cell is the same cell on any machine.
        """
        values = self.as_dict()
        del values["device"]
        text = json.dumps(values, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:10]
        words = [str(values[name]).replace(":", "+") for name in _READABLE]
        return "--".join([*words, digest])

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as JSON has them."""
        values: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        usual = {item.name: item.default for item in fields(self)}
        for name in _LATER:
            if getattr(self, name) == usual[name]:
                del values[name]
        return values

    @classmethod
    def from_dict(cls, values: Any) -> "RunSpec":
        """Return the spec that `as_dict` was called on."""
        spec: RunSpec = built(cls, values)
        return spec


# Dataset, scenario, downstream of a cell.
Group = tuple[str, str, str]
# The same, and a selector.
Cell = tuple[str, str, str, str]


@dataclass(frozen=True)
class EarlierResults:
    """What was found in an earlier experiment."""

    # Columns that were kept, by each seed. Only finished cells are here.
    columns: Mapping[Cell, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    # Of the selector, tuned and given.
    settings: Mapping[Cell, Mapping[str, Any]] = field(default_factory=dict)
    # Settings of the predictors that did best on the validation part, best first.
    predictors: Mapping[Group, tuple[Mapping[str, Any], ...]] = field(
        default_factory=dict
    )
    # The `column_source` of the cell that kept the columns.
    sources: Mapping[Cell, Mapping[str, Any]] = field(default_factory=dict)
    # Cells whose table was there, but not for their selector to run on.
    unfit: frozenset[Cell] = frozenset()


def built(hint: Any, value: Any) -> Any:
    """Return a value of JSON as what an annotation says, or raise TypeError."""
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType):
        for each in inner:
            with suppress(TypeError):
                return built(each, value)
    elif kind is tuple and isinstance(value, list | tuple):  # of any length, one kind
        return tuple(built(inner[0], each) for each in value)
    elif isinstance(kind, type) and is_dataclass(kind) and isinstance(value, Mapping):
        hints = get_type_hints(kind)
        if unknown := sorted(set(value) - set(hints)):
            raise ValueError(f"a {kind.__name__} has no field {unknown[0]!r}.")
        return kind(**{name: built(hints[name], each) for name, each in value.items()})
    elif _fits(kind, inner, value):
        return value
    raise TypeError(f"{value!r:.80} is no {getattr(hint, '__name__', hint)}.")


def _fits(kind: Any, allowed: tuple[Any, ...], value: Any) -> bool:
    """Tell whether a plain value is of a kind; true and false are no numbers."""
    if kind is Literal:
        return value in allowed
    if kind in (int, float):
        return isinstance(value, int | kind) and not isinstance(value, bool)
    return kind is not tuple and isinstance(value, kind)
