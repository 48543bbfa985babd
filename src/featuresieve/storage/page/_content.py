"""What the page says: the answer, how sure it is, what it is worth, every column."""

import math
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from featuresieve import __version__
from featuresieve.storage.page._charts import heat_map
from featuresieve.storage.page._distribution import distribution
from featuresieve.storage.page._fit_data import FitData
from featuresieve.storage.page._worth import (
    held_out_gain,
    how_sure,
    path,
    votes,
    warned_codes,
    worth,
)

Content = dict[str, Any]

# Rows of the table of columns, pictures, and rows of the table of correlations.
_MOST_ROWS, _MOST_CARDS, _MOST_CORRELATED = 1000, 12, 14
_LONGEST_NAME = 200
# Letters by which notes are told apart.
_BEGINNING = 20
_PACKAGES = ("numpy", "scipy", "scikit-learn", "torch")
# Arguments that an answer does not depend on.
_SILENT = ("checkpoint", "verbose")
# What a verdict means, where no other column stands for this one.
_REASONS = {
    "forced": "was to be kept in any case",
    "weak": "tells something, but too little",
    "no signal": "nothing shows that it matters",
    "constant": "has one value, or none that repeats",
    "excluded": "was to be left out",
}
# Dropped columns are named beside the kept ones from this correlation on.
_LEAST_CORRELATION = 0.3


def page_content(
    estimator: Any, data: FitData | None, facts: Mapping[str, Any]
) -> Content:
    """Return what the template shows; `facts` are those of `report`.

    `data` are rows of the fit: without them there are no distributions.
    """
    rows = feature_rows(estimator)
    target = str(facts.get("target") or "the target")
    gain = held_out_gain(estimator)
    shown = rows[:_MOST_ROWS]
    if data is not None:
        for row in shown:
            if row["feature"] in data:
                row["picture"] = distribution(data.column(row["feature"]), data.target)
    return {
        **answer(estimator, rows, target),
        "target": target,
        "file": facts.get("file"),
        "title": facts.get("title"),
        "sure": how_sure(estimator, rows, gain),
        "votes": votes(estimator, rows),
        "worth": worth(estimator, gain, facts.get("score")),
        "path": path(gain),
        "rows": shown,
        "has_importance": any(row["importance"] is not None for row in shown),
        "n_left_out": len(rows) - len(shown),
        "cards": [r for r in rows if r["kept"] and r["picture"]][:_MOST_CARDS],
        "legend": () if data is None else data.target.classes,
        "n_classes": 0 if data is None else data.target.n_classes,
        "has_values": data is not None and data.target.values is not None,
        "n_rows": None if data is None else data.n_rows,
        "notes": [*notes_of(estimator, facts), *_about_missing(shown)],
        "correlations": None if data is None else _correlations(shown, data),
        "reproduce": _reproduce(estimator, facts),
    }


def feature_rows(estimator: Any) -> list[Content]:
    """Return the rows of the feature table, best ranked first, as plain values."""
    table = estimator.feature_table()
    fields = list(table.columns if hasattr(table, "columns") else table.dtype.names)
    rows = [
        dict(zip(fields, values, strict=True))
        for values in zip(*(table[name].tolist() for name in fields), strict=True)
    ]
    for row, feature in zip(rows, estimator.order_.tolist(), strict=True):
        row["name"] = _name(row["name"])
        row["feature"], row["picture"] = feature, None
        for field in ("importance", "importance_error", "represented_by"):
            if isinstance(row[field], float) and math.isnan(row[field]):
                row[field] = None
        row["why"] = _REASONS.get(row["verdict"], "")
        if row["represented_by"] is not None:
            words = "a copy, " * (row["verdict"] == "duplicate") + "represented by"
            row["why"] = f"{words} {_name(row['represented_by'])}"
    return rows


def _name(value: Any) -> str:
    """Return the name of a column on one line, cut where nobody reads on."""
    letters = (letter if letter.isprintable() else " " for letter in str(value))
    name = " ".join("".join(letters).split()) or "(no name)"
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def answer(estimator: Any, rows: Sequence[Content], target: str) -> Content:
    """Return the answer as a sentence in two parts, the first to be stressed."""
    n_kept, n_all = int(estimator.n_features_selected_), len(rows)
    whole = f"{n_all:,} column{'' if n_all == 1 else 's'}"
    count = f"{n_kept:,} of {whole}"
    if n_kept == n_all:
        count = f"{'All' if n_all > 1 else 'The'} {whole}"
    is_one = n_kept == 1
    if "uninformative" in warned_codes(estimator):
        rest = f"kept, but nothing was shown to predict {target}"
    elif estimator.n_features_to_select is not None:
        rest = f"kept to predict {target}, as many as were asked for"
    elif estimator.goal == "all_relevant":
        rest = f"{'carries' if is_one else 'carry'} information about {target}"
    elif n_kept == n_all:
        rest = f"{'is' if is_one else 'are'} needed to predict {target}"
    else:
        rest = f"{'is' if is_one else 'are'} enough to predict {target}"
    kept = [row["name"] for row in rows if row["kept"]]
    return {"count": count, "rest": rest, "kept": kept, "n_all": n_all}


def notes_of(estimator: Any, facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return warnings, then notes, each with its kind and no sentence twice.

    What is passed may say what the estimator says in other words: with warnings, all of
    its own are, and notes are alike if they begin alike.
    """
    others = [str(text) for text in facts.get("notes") or ()]
    warned = [str(text) for text in facts.get("warnings") or ()]
    own = [note["text"] for note in estimator.notes_ if note["warning"] is not None]
    said = [("warning", text) for text in warned or own]
    for note in estimator.notes_:
        text = note["text"]
        is_new = not any(text[:_BEGINNING] == other[:_BEGINNING] for other in others)
        if note["warning"] is None and is_new:
            said.append(("note", text))
    said += [("note", text) for text in others]
    return [  # with a capital, unless it begins with a name or an argument
        (kind, f"{text[0].upper()}{text[1:]}" if text.split(" ")[0].isalpha() else text)
        for kind, text in said
    ]


def _about_missing(rows: Sequence[Content]) -> list[tuple[str, str]]:
    """Return a note on columns with gaps, those with the most named."""
    gaps = [(r["picture"].missing_share, r["name"]) for r in rows if r["picture"]]
    gaps = sorted((gap for gap in gaps if gap[0] > 0), key=lambda gap: -gap[0])
    if not gaps:
        return []
    named = ", ".join(f"'{name[:60]}' ({share:.0%})" for share, name in gaps[:5])
    more = f" and {len(gaps) - 5:,} more" if len(gaps) > 5 else ""
    return [("note", f"Values are missing in {named}{more}.")]


def _correlations(rows: Sequence[Content], data: FitData) -> Content | None:
    """Return the chart of kept columns against each other and the nearest dropped."""
    there = [row for row in rows if row["feature"] in data]
    kept = [row for row in there if row["kept"]][:_MOST_CORRELATED]
    dropped = [row for row in there if not row["kept"]]
    if not kept:
        return None
    own = [row["feature"] for row in kept]
    others = [row["feature"] for row in dropped]
    with_kept = data.correlations(own, own)
    with_dropped = data.correlations(own, others)
    strongest = np.abs(with_dropped).max(axis=0)
    order = np.argsort(-strongest, kind="stable")[:_MOST_CORRELATED]
    order = order[strongest[order] >= _LEAST_CORRELATION]
    among_kept = np.abs(with_kept - np.eye(len(kept)))
    if not len(order) and among_kept.max() < _LEAST_CORRELATION:
        return None
    names = [row["name"] for row in kept]
    columns = [*names, *(dropped[k]["name"] for k in order)]
    values = np.concatenate([with_kept, with_dropped[:, order]], axis=1)
    return heat_map(names, columns, values, len(names))


def _reproduce(estimator: Any, facts: Mapping[str, Any]) -> Content:
    """Return code, command, versions and seed."""
    name = type(estimator).__name__
    defaults = type(estimator)().get_params(deep=False)
    given = {
        key: value
        for key, value in estimator.get_params(deep=False).items()
        if repr(value) != repr(defaults[key]) and key not in _SILENT
    }
    imported = f"{name}, Training" if given.get("training") else name
    arguments = ", ".join(f"{key}={value!r}" for key, value in given.items())
    code = (
        f"from featuresieve import {imported}\n\n"
        f"selector = {name}({arguments})\nselector.fit(X, y)\n"
        "X_kept = selector.transform(X)"
    )
    versions = {"featuresieve": __version__, "Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:  # installed in some other way
            versions[package] = "?"
    seed = estimator.random_state
    return {
        "code": code[:20_000],
        "command": facts.get("command"),
        "versions": versions,
        "seed": "none was given: another fit may differ a little"
        if seed is None
        else repr(seed),
    }
