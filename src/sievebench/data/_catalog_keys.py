"""What a row of the catalogue may say: keys, their kinds, and what fits together."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from featuresieve.errors import did_you_mean
from sievebench.data._exceptions import CatalogError


class Key(NamedTuple):
    """What one key may hold: in words, as a test, and whether it must be there."""

    said: str
    allows: Callable[[Any], bool]
    is_required: bool = True

    def optional(self) -> "Key":
        """Return the same for a key that may be left out."""
        return self._replace(is_required=False)


def _one_of(*values: str) -> Key:
    """Return the key of a closed set of words."""
    return Key(f"one of {', '.join(values)}", lambda value: value in values)


def _whole(least: int) -> Key:
    """Return the key of a whole number."""
    return Key(f"a whole number >= {least}", lambda value: _is_whole(value, least))


def _is_whole(value: Any, least: int) -> bool:
    """Tell whether a value is a whole number that is large enough."""
    return type(value) is int and value >= least


def _is_list_of(value: Any, allows: Callable[[Any], bool]) -> bool:
    """Tell whether a value is a list of such things."""
    return isinstance(value, list) and all(map(allows, value))


def _is_text(value: Any) -> bool:
    """Tell whether a value is a text that says something."""
    return isinstance(value, str) and bool(value.strip())


def _digits(name: str, n_digits: int) -> Key:
    """Return the key of a checksum."""
    pattern = re.compile(f"[0-9a-f]{{{n_digits}}}")
    said = f"{name}, {n_digits} digits 0-9 and a-f"
    return Key(said, lambda value: _is_text(value) and bool(pattern.fullmatch(value)))


_TEXT = Key("a text", _is_text)
_TABLE = Key("a table of keys", lambda value: isinstance(value, dict))
_FILE = Key(
    "a path that ends in .parquet or .npz",
    lambda value: _is_text(value) and value.endswith((".parquet", ".npz")),
)
_MD5 = _digits("an md5", 32)

ROW_KEYS: dict[str, Key] = {
    "title": _TEXT,
    "group": _one_of("tabular", "metagenomics", "images", "wide", "bundled"),
    "task": _one_of("classification", "regression"),
    "metric": _one_of("accuracy", "balanced_accuracy", "roc_auc", "negative_rmse"),
    "scaler": _one_of("standard", "quantile"),
    "n_rows": _whole(1),
    "n_columns": _whole(1),
    "n_classes": _whole(0),
    "source": _TABLE,
    "file": _FILE.optional(),
    "md5": _MD5.optional(),
    "sample": _TABLE.optional(),
    "subsample_rows": _whole(1).optional(),
    "relevant": Key(
        "a list of places of columns, from 0",
        lambda value: _is_list_of(value, lambda place: _is_whole(place, 0)),
    ).optional(),
}
SAMPLE_KEYS: dict[str, Key] = {"file": _FILE, "rows": _whole(1), "md5": _MD5}
# Kind of a source -> what it must tell.
SOURCE_KEYS: dict[str, dict[str, Key]] = {
    "bundled": {},
    "manual": {"url": _TEXT, "why": _TEXT},
    "openml": {"id": _whole(1), "drop": _TEXT.optional(), "url": _TEXT.optional()},
    "statlib": {"url": _TEXT, "sha256": _digits("a sha256", 64)},
    "uci": {"url": _TEXT},
    "matlab": {"url": _TEXT},
    "mice": {"url": _TEXT},
    "cohort": {
        "url": _TEXT,
        "study": _TEXT,
        "case": Key(
            "a text or a list of texts",
            lambda value: _is_text(value) or _is_list_of(value, _is_text),
        ),
    },
}


def check_row(row: Any) -> None:
    """Refuse a row of the catalogue that does not say what it should.

    Parameters
    ----------
    row : object
        What the TOML file has under the name of a data set.

    Raises
    ------
    CatalogError
        If a key is unknown or missing, a value is not allowed, or two do not fit
        each other.
    """
    if not isinstance(row, dict):
        raise CatalogError(f"must be a table of keys, got {row!r}.")
    _check_keys(row, ROW_KEYS, "")
    kinds = {"kind": _one_of(*SOURCE_KEYS)}
    kind = row["source"].get("kind")
    _check_keys({"kind": kind} if "kind" in row["source"] else {}, kinds, "source.")
    _check_keys(row["source"], {**kinds, **SOURCE_KEYS[kind]}, "source.")
    if "sample" in row:
        _check_keys(row["sample"], SAMPLE_KEYS, "sample.")
    _check_relations(row)


def _check_keys(table: Mapping[str, Any], known: Mapping[str, Key], where: str) -> None:
    """Refuse unknown and missing keys, and values that are not allowed."""
    for name in table:
        if name not in known:
            hint = did_you_mean(name, known)
            raise CatalogError(f"unknown key {where + name!r}{hint}")
    for name, key in known.items():
        if name not in table:
            if key.is_required:
                raise CatalogError(f"{where}{name} is missing: {key.said}.")
        elif not key.allows(table[name]):
            raise CatalogError(
                f"{where}{name} must be {key.said}, got {table[name]!r}."
            )


def _check_relations(row: Mapping[str, Any]) -> None:
    """Refuse values that are allowed, but not together."""
    task, metric, n_classes = row["task"], row["metric"], row["n_classes"]
    is_regression = task == "regression"
    last = max(row.get("relevant", ()), default=0)
    needs_file = row["source"]["kind"] != "bundled"
    rules = {
        f"metric must fit the task {task}, got {metric!r}": (
            (metric == "negative_rmse") == is_regression
        ),
        f"n_classes must be 0 for regression, got {n_classes}": (
            n_classes == 0 or not is_regression
        ),
        f"n_classes must be at least 2 for classification, got {n_classes}": (
            n_classes >= 2 or is_regression
        ),
        f"metric roc_auc is for 2 classes, got n_classes = {n_classes}": (
            metric != "roc_auc" or n_classes == 2
        ),
        f"relevant must be below n_columns = {row['n_columns']}, got {last}": (
            last < row["n_columns"]
        ),
        f"file is missing: {_FILE.said}": "file" in row or not needs_file,
    }
    for said, holds in rules.items():
        if not holds:
            raise CatalogError(f"{said}.")
