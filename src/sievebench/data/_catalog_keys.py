"""What a row of the catalogue may say: keys, their values, and what fits together."""

import re
from collections.abc import Mapping
from typing import Any

from sievebench.toml_keys import Key, check_keys, is_int, is_list_of, is_text, one_of


def _whole(least: int) -> Key:
    return Key(f"a whole number >= {least}", lambda value: is_int(value, least))


def _digits(name: str, n_digits: int) -> Key:
    pattern = re.compile(f"[0-9a-f]{{{n_digits}}}")
    allowed = f"{name}, {n_digits} digits 0-9 and a-f"
    return Key(allowed, lambda value: is_text(value) and bool(pattern.fullmatch(value)))


_TEXT = Key("a text", is_text)
_TABLE = Key("a table of keys", lambda value: isinstance(value, dict))
_FILE = Key(
    "a path that ends in .parquet or .npz",
    lambda value: is_text(value) and value.endswith((".parquet", ".npz")),
)
_MD5 = _digits("an md5", 32)

_REQUIRED: dict[str, Key] = {
    "title": _TEXT,
    "group": one_of(
        ("tabular", "metagenomics", "images", "wide", "bundled", "breadth")
    ),
    "task": one_of(("classification", "regression")),
    "metric": one_of(("accuracy", "balanced_accuracy", "roc_auc", "negative_rmse")),
    "scaler": one_of(("standard", "quantile")),
    "n_rows": _whole(1),
    "n_columns": _whole(1),
    "n_classes": _whole(0),
    "source": _TABLE,
}
_INDICES = Key(
    "a list of indices of columns, from 0",
    lambda value: is_list_of(value, lambda index: is_int(index, 0)),
)
_ROW_KEYS: dict[str, Key] = {
    **_REQUIRED,
    "file": _FILE,
    "md5": _MD5,
    "sample": _TABLE,
    "subsample_rows": _whole(1),
    "relevant": _INDICES,
    "group_columns": _INDICES,
    "licence": _TEXT,
}
_SAMPLE_KEYS: dict[str, Key] = {"file": _FILE, "rows": _whole(1), "md5": _MD5}
# Kind of a source -> what it must tell.
SOURCE_KEYS: dict[str, dict[str, Key]] = {
    "bundled": {},
    "manual": {"url": _TEXT, "why": _TEXT},
    "openml": {"id": _whole(1)},
    "statlib": {"url": _TEXT, "sha256": _digits("a sha256", 64)},
    "uci": {"url": _TEXT},
    "matlab": {"url": _TEXT},
    "mice": {"url": _TEXT},
    "cohort": {
        "url": _TEXT,
        "study": _TEXT,
        "case": Key(
            "a text or a list of texts",
            lambda value: is_text(value) or is_list_of(value, is_text),
        ),
    },
}
# What it may tell.
_FURTHER_SOURCE_KEYS = {"openml": {"drop": _TEXT, "url": _TEXT}}
_KIND = {"kind": one_of(SOURCE_KEYS)}


def check_row(row: Any) -> None:
    """Raise ValueError for a row of the catalogue that does not say what it should."""
    if not isinstance(row, dict):
        raise ValueError(f"must be a table of keys, got {row!r}.")
    check_keys(row, _ROW_KEYS, _REQUIRED)
    source = row["source"]
    check_keys({k: source[k] for k in _KIND if k in source}, _KIND, _KIND, "source.")
    required = {**_KIND, **SOURCE_KEYS[source["kind"]]}
    further = _FURTHER_SOURCE_KEYS.get(source["kind"], {})
    check_keys(source, {**required, **further}, required, "source.")
    if "sample" in row:
        check_keys(row["sample"], _SAMPLE_KEYS, _SAMPLE_KEYS, "sample.")
    _check_relations(row)


def _check_relations(row: Mapping[str, Any]) -> None:
    """Refuse values that are allowed, but not together."""
    task, metric, n_classes = row["task"], row["metric"], row["n_classes"]
    is_regression = task == "regression"
    indices = {key: row.get(key, ()) for key in ("relevant", "group_columns")}
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
        **{
            f"{key} must be below n_columns = {row['n_columns']}, got {max(found)}": (
                max(found) < row["n_columns"]
            )
            for key, found in indices.items()
            if found
        },
        f"file is missing: {_FILE.allowed}": "file" in row or not needs_file,
    }
    for said, holds in rules.items():
        if not holds:
            raise ValueError(f"{said}.")
