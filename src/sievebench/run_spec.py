"""What one cell of an experiment is, and which seeds follow from that."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

Stage = Literal["corruption", "split", "selector", "downstream", "tuning", "removal"]
CountByName = Literal["default", "original", "own", "all"]
Keep = CountByName | int
Stream = Literal["legacy", "own"]
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
_SEPARATORS = frozenset("/\\")
_MOST_BYTES = 200


def is_file_name(name: Any) -> bool:
    """Tell whether a name can be part of the name of a file."""
    is_text = isinstance(name, str) and name != "" and name.isprintable()
    return is_text and not set(name) & _SEPARATORS


@dataclass(frozen=True)
class RunSpec:
    """One cell: a table, a scenario, a selector and a predictor, for some seeds."""

    dataset: str
    scenario: str
    selector: str  # short name, a variant after a colon
    downstream: str = "mlp"  # who predicts; "none" in the scaling experiment
    seeds: tuple[int, ...] = (0,)  # one run each, once the settings are tuned
    noise_fraction: float = 0.5  # share of added columns among all
    # The benchmark's own added columns, or those of a seed derived by name.
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
        self._check_names()
        if not self.seeds or len(set(self.seeds)) != len(self.seeds):
            raise ValueError(f"seeds must be distinct numbers, got {self.seeds!r}.")
        if self.n_trials < 0:
            raise ValueError(f"n_trials must be an int >= 0, got {self.n_trials!r}.")
        if self.trials_at_once < 1:
            raise ValueError(
                f"trials_at_once must be an int >= 1, got {self.trials_at_once!r}."
            )
        if self.splits_anew and self.n_trials:
            raise ValueError(
                "n_trials must be 0 with splits_anew: the rows that judge settings in "
                "one split would be test rows in another."
            )
        if self.stream not in STREAMS:
            raise ValueError(f"stream must be 'legacy' or 'own', got {self.stream!r}.")
        is_count = isinstance(self.keep, int) and self.keep >= 1
        if self.keep not in COUNTS_BY_NAME and not is_count:
            raise ValueError(
                "keep must be 'default', 'original', 'own', 'all' or an int >= 1, "
                f"got {self.keep!r}."
            )
        self._check_experiment()
        self._check_taken_over()

    def _check_names(self) -> None:
        """Raise ValueError if a name cannot be part of the name of a file."""
        names = {name: getattr(self, name) for name in _READABLE}
        for field_name, name in names.items():
            if not is_file_name(name):
                raise ValueError(
                    f"{field_name} must be a name that can be part of a file's, "
                    f"without / and \\, got {name!r}."
                )
        n_bytes = len("".join(names.values()).encode())
        if n_bytes > _MOST_BYTES:
            longest = max(names, key=lambda field_name: len(names[field_name]))
            raise ValueError(
                f"{longest} is too long: the names of a cell may have {_MOST_BYTES} "
                f"bytes in all, got {n_bytes}."
            )

    def _check_experiment(self) -> None:
        """Raise ValueError if a field does not go with what the runs are for."""
        balance = self.selector_settings.get("balance")
        is_number = isinstance(balance, int | float) and not isinstance(balance, bool)
        if self.experiment == "balance" and not is_number:
            raise ValueError(
                "selector_settings must have a number as balance in the balance "
                f"experiment, got {balance!r}."
            )
        if self.n_removed is not None and (
            self.experiment != "removal" or self.n_removed < 1
        ):
            raise ValueError(
                "n_removed must be an int >= 1 in the removal experiment, None in "
                f"others, got {self.n_removed!r} in {self.experiment!r}."
            )
        is_timed = self.experiment == "scaling"
        if is_timed != (self.downstream == NO_PREDICTOR):
            raise ValueError(
                f"downstream must be {NO_PREDICTOR!r} in the scaling experiment, and "
                f"in no other, got {self.downstream!r} in {self.experiment!r}."
            )
        if is_timed and self.n_trials:
            raise ValueError(
                "n_trials must be 0 in the scaling experiment, where there is no score "
                f"to tune by, got {self.n_trials!r}."
            )

    def _check_taken_over(self) -> None:
        """Raise ValueError if what comes from elsewhere does not go with the rest."""
        if self.given and len(self.given) != len(self.seeds):
            raise ValueError(
                f"given must have one set of columns for each of the {len(self.seeds)} "
                f"seeds, got {len(self.given)}."
            )
        if self.given and self.splits_anew:
            raise ValueError(
                "splits_anew must be False with given: the columns are of one split."
            )
        for name in ("given", "predictors"):
            if not getattr(self, name):
                continue
            if self.n_trials:
                raise ValueError(
                    f"n_trials must be 0 with {name}: they are settled, got "
                    f"{self.n_trials!r}."
                )
            if self.experiment == "scaling":
                raise ValueError(f"{name} must be empty in the scaling experiment.")
        if self.experiment == "removal" and len(self.predictors) > 1:
            raise ValueError(
                "predictors must be one at most in the removal experiment, got "
                f"{len(self.predictors)}."
            )
        if self.predictors and self.downstream_settings:
            raise ValueError(
                "downstream_settings must be empty with predictors, which have their "
                f"own, got {dict(self.downstream_settings)!r}."
            )

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
        if stage == "corruption" and self.stream == "legacy":
            return None
        if stage == "split":
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
    def from_dict(cls, values: Mapping[str, Any]) -> "RunSpec":
        """Return the spec that `as_dict` was called on."""
        known = {item.name for item in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise ValueError(f"a run has no field {unknown[0]!r}.")
        lists = {
            "seeds": tuple(values["seeds"]),
            "given": tuple(map(tuple, values.get("given", ()))),
            "predictors": tuple(values.get("predictors", ())),
        }
        return cls(**{**values, **lists})
