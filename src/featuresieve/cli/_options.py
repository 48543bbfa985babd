"""What the commands can be told, by words or by a TOML file."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

from featuresieve.errors import FeatureSieveError, as_float, did_you_mean, shown
from featuresieve.files import TYPES, ColumnType

# Options that only a command line makes sense of.
_NOT_IN_FILES = ("file", "config")
_LISTS = ("keep", "drop", "group", "cost", "class_weight", "missing", "type")


class UsageError(FeatureSieveError, ValueError):
    """Words of a command line, or lines of its configuration, that do not fit."""


@dataclass(frozen=True, kw_only=True)
class _Reading:
    """How a file is written, as `read_file` takes it."""

    encoding: str | None = None
    delimiter: str | None = None
    missing: Sequence[str] = ()
    skip: int = 0
    sheet: str | None = None

    @property
    def reading(self) -> dict[str, Any]:
        """These options by name."""
        return {item.name: getattr(self, item.name) for item in fields(_Reading)}


@dataclass(frozen=True)
class SelectOptions(_Reading):
    """The options of `featuresieve select`; None leaves a choice to the library."""

    file: str
    target: str
    task: str = "auto"
    balance: str | float = "auto"
    goal: str = "minimal"
    judge: str = "networks"
    keep: Sequence[str] = ()
    drop: Sequence[str] = ()
    group: Sequence[Sequence[str]] = ()
    cost: Mapping[str, float] = field(default_factory=dict)
    class_weight: Mapping[str, float] = field(default_factory=dict)
    max_features: int | None = None
    n_features: int | None = None
    weight: str | None = None
    row_group: str | None = None
    time: str | None = None
    test: float = 0.2
    seed: int = 0
    device: str = "auto"
    jobs: int | None = None
    memory: str | None = None
    max_time: float | None = None
    members: int | None = None
    epochs: int | None = None
    type: Mapping[str, ColumnType] = field(default_factory=dict)
    out: str | None = None
    json: str | None = None
    save: str | None = None
    plot: str | None = None
    report: str | None = None
    quiet: bool = False
    verbose: bool = False

    @property
    def outputs(self) -> tuple[str | None, ...]:
        """The files to write."""
        return self.out, self.json, self.save, self.plot, self.report

    def silenced(self) -> Self:
        """Return the same options, nothing to be said or written."""
        return replace(
            self, quiet=True, out=None, json=None, save=None, plot=None, report=None
        )


@dataclass(frozen=True)
class ApplyOptions(_Reading):
    """The options of `featuresieve apply`."""

    saved: str  # what `select --save` wrote
    file: str
    out: str | None = None
    predict: str | None = None
    memory: str | None = None
    also: Sequence[str] = ()  # further columns to copy


def check_options(options: SelectOptions) -> None:
    """Refuse options that contradict each other, which no file can fix."""
    if options.quiet and options.verbose:
        raise UsageError("--quiet and --verbose exclude each other.")
    both = set(options.keep) & set(options.drop)
    if both:
        raise UsageError(f"--keep and --drop contradict each other: {min(both)!r}.")
    named = {
        "--weight": options.weight,
        "--row-group": options.row_group,
        "--time": options.time,
    }
    for option, name in named.items():
        if name == options.target:
            raise UsageError(f"{option} and --target are both {name!r}.")
    if options.time is not None and options.row_group is not None:
        raise UsageError(
            "--time and --row-group exclude each other: rows of a group may be of "
            "several times."
        )
    if options.task == "regression" and options.class_weight:
        raise UsageError("--class-weight is for classification.")
    exactly, most = options.n_features, options.max_features
    if exactly is not None and most is not None and exactly > most:
        raise UsageError(
            f"--n-features must be at most --max-features, {most}, got {exactly}."
        )
    n_kept = len({name for name in options.keep if not set(name) & set("*?")})
    for option, count in (("--n-features", exactly), ("--max-features", most)):
        if count is not None and count < n_kept:
            raise UsageError(
                f"{option} must be at least the number of columns that --keep names, "
                f"{n_kept}, got {count}."
            )


def read_config(path: str) -> dict[str, Any]:
    """Read options from a TOML file, whose keys are their names.

    Scalars are returned as text, to be read as words are.
    """
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--config: {path}: {error.strerror}.") from error
    except ValueError as error:  # also a number of 4300 digits
        raise UsageError(f"--config: {path} is not TOML: {error}") from error
    known = [item.name for item in fields(SelectOptions)]
    options = {}
    for key, value in content.items():
        name = key.replace("-", "_")
        if name not in known or name in _NOT_IN_FILES:
            hint = did_you_mean(key, [each.replace("_", "-") for each in known], ".")
            raise UsageError(f"--config: {path}: there is no option {key!r}{hint}")
        options[name] = _from_toml(f"--config: {path}: {key}", name, value)
    return options


def _from_toml(label: str, name: str, value: Any) -> Any:
    """Return a value of a configuration as the command line would give it."""
    if name in ("quiet", "verbose"):
        _check(isinstance(value, bool), label, "true or false", value)
        return value or None
    if name not in _LISTS:
        is_scalar = isinstance(value, str | int | float) and not isinstance(value, bool)
        _check(is_scalar, label, "a text or a number", value)
        return str(value)
    if name in ("cost", "class_weight"):
        if name == "class_weight" and value == "balanced":
            return {"balanced": 1.0}
        is_table = isinstance(value, dict) and all(
            type(number) in (int, float) and 0 <= as_float(number) < float("inf")
            for number in value.values()
        )
        _check(is_table, label, "a table of numbers, finite and >= 0", value)
        return {key: float(number) for key, number in value.items()}
    if name == "type":
        is_table = isinstance(value, dict) and all(v in TYPES for v in value.values())
        _check(is_table, label, f"a table of {', '.join(TYPES)}", value)
        return value
    if name == "group":
        _check(isinstance(value, list), label, "a list of lists of names", value)
        return [_names(label, members) for members in value]
    return _names(label, value)


def _check(is_met: bool, label: str, what: str, value: Any) -> None:
    """Refuse a value of a configuration that is not what is expected."""
    if not is_met:
        raise UsageError(f"{label} must be {what}, got {shown(value)}.")


def _names(label: str, value: Any) -> list[str]:
    """Return a list of names."""
    names = [value] if isinstance(value, str) else value
    are_names = isinstance(names, list) and all(isinstance(n, str) for n in names)
    _check(are_names, label, "a list of names", value)
    return list(names)
