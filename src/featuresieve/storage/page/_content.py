"""What the page says: the answer, how sure it is, what it is worth, every column."""

import math
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from featuresieve import __version__
from featuresieve.storage.page._charts import (
    heat_map,
    interval_chart,
    path_chart,
    votes_chart,
)
from featuresieve.storage.page._distribution import distribution
from featuresieve.storage.page._fit_data import FitData

Content = dict[str, Any]

# Rows of the table of columns, pictures, and rows of the table of correlations.
_MOST_ROWS, _MOST_CARDS, _MOST_CORRELATED = 1000, 12, 14
_LONGEST_NAME = 200
_PACKAGES = ("numpy", "scipy", "scikit-learn", "torch")
# Arguments that an answer does not depend on.
_SILENT = ("checkpoint", "verbose")
# Confidence of 95 %, one-sided, in standard errors.
_SHOWN = 1.645
# Half of an interval of 95 %, in standard errors.
_HALF = 1.96
# What a verdict means, where no other column stands for this one.
_REASONS = {
    "forced": "was to be kept in any case",
    "weak": "tells something, but too little",
    "no signal": "nothing shows that it matters",
    "constant": "has one value in all rows",
    "excluded": "was to be left out",
}
# Dropped columns are named beside the kept ones from this correlation on.
_LEAST_CORRELATION = 0.3


def page_content(
    estimator: Any, data: FitData | None, facts: Mapping[str, Any]
) -> Content:
    """Return what the template shows.

    Parameters
    ----------
    estimator : fitted estimator
    data : FitData or None
        Rows of the fit; without them there are no distributions and no correlations.
    facts : mapping
        What the estimator does not know: see `report`.
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
        "votes": _votes(estimator, rows),
        "worth": _worth(estimator, gain, facts.get("score")),
        "path": _path(gain),
        "rows": shown,
        "n_left_out": len(rows) - len(shown),
        "cards": [r for r in rows if r["kept"] and r["picture"]][:_MOST_CARDS],
        "legend": () if data is None else data.target.classes,
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
            row[field] = None if _is_nothing(row[field]) else row[field]
        row["why"] = _why(row)
    return rows


def _why(row: Content) -> str:
    """Return the reason behind a verdict."""
    if row["represented_by"] is not None:
        words = "the same as" if row["verdict"] == "duplicate" else "represented by"
        return f"{words} {_name(row['represented_by'])}"
    return _REASONS.get(row["verdict"], "")


def _is_nothing(value: Any) -> bool:
    """Tell whether a cell is empty: None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _name(value: Any) -> str:
    """Return the name of a column on one line, cut where nobody reads on."""
    letters = (letter if letter.isprintable() else " " for letter in str(value))
    name = " ".join("".join(letters).split()) or "(no name)"
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def answer(estimator: Any, rows: Sequence[Content], target: str) -> Content:
    """Return the answer as a sentence in two parts, the first to be stressed."""
    n_kept, n_all = int(estimator.n_features_selected_), len(rows)
    noun = "column" if n_all == 1 else "columns"
    count = f"{n_kept:,} of {n_all:,} {noun}" if n_kept < n_all else f"all {n_all:,}"
    if n_kept == n_all:
        count = f"{'All ' if n_all > 1 else 'The '}{n_all:,} {noun}"
    is_one = n_kept == 1
    judgement = estimator._judgement
    if judgement is not None and judgement.fewest is not None:
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


def vote_share(estimator: Any) -> float:
    """Return the share of the networks that is needed to be kept."""
    return 0.1 if isinstance(estimator.balance, str) else 0.5


def held_out_gain(estimator: Any) -> Content | None:
    """Return what the refitted sets gain over a constant, as shares of its loss."""
    judgement, path = estimator._judgement, estimator.path_
    if judgement is None or not judgement.null_loss > 0:
        return None
    judged = path[np.isfinite(path["loss"])]
    if not len(judged):
        return None
    chosen = np.flatnonzero(judged["is_chosen"])
    return {
        "sizes": judged["n_kept"].tolist(),
        "gains": 1 - judged["loss"] / judgement.null_loss,
        "errors": np.nan_to_num(judged["loss_error"]) / judgement.null_loss,
        "chosen": int(chosen[0]) if len(chosen) else None,
        "is_variance": hasattr(estimator._target_code, "spreads"),
    }


def how_sure(estimator: Any, rows: Sequence[Content], gain: Content | None) -> Content:
    """Return a word for how sure the answer is, and the sentences behind it."""
    share = vote_share(estimator)
    kept = [row for row in rows if row["kept"]]
    near = [r for r in kept if r["frequency"] < share + 0.1]
    below = [r for r in rows if not r["kept"] and r["frequency"] >= share / 2]
    n_networks = len(estimator.history_["balance"])
    word = "a tenth" if share == 0.1 else "half"
    sentences = [
        f"{n_networks} networks voted, each trained on rows of its own; {word} of them "
        "is enough to keep a column.",
        f"Of {len(kept)} kept, {len(kept) - len(near)} had clearly more votes than that"
        + (f"; close to the line: {_some(near)}." if near else "."),
        f"Dropped, but with votes: {_some(below)}."
        if below
        else "No dropped column came near the line.",
    ]
    word, level = "Mostly clear" if near else "Clear", "good"
    if len(near) * 3 > len(kept):
        word, level = "Partly borderline", "fair"
    if gain is None or gain["chosen"] is None:
        word, level = "Not checked", "fair"
        sentences.append("This set was not compared with others on held-out rows.")
        return {"word": word, "level": level, "sentences": sentences}
    value, error = gain["gains"][gain["chosen"]], gain["errors"][gain["chosen"]]
    what = "variance is explained"
    if not gain["is_variance"]:
        what = "uncertainty (the log loss of a constant guess) is removed"
    sentences.append(
        f"On rows that did not take part in the vote, {value:.0%} ± "
        f"{_HALF * error:.0%} of the target's {what}.".replace("-", "−")
    )
    warned = {note["code"] for note in estimator.notes_ if note["warning"] is not None}
    if warned:
        word, level = "Doubtful", "bad"
    if value < _SHOWN * error or "uninformative" in warned:
        word, level = "No evidence", "bad"
    return {"word": word, "level": level, "sentences": sentences}


def _some(rows: Sequence[Content]) -> str:
    """Return some names with their votes."""
    named = [f"{row['name'][:60]} ({row['frequency']:.0%})" for row in rows[:5]]
    more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
    return ", ".join(named) + more


def _votes(estimator: Any, rows: Sequence[Content]) -> Content:
    """Return the chart of votes."""
    frequency = np.array([row["frequency"] for row in rows])
    is_kept = [row["kept"] for row in rows]
    names = [row["name"] for row in rows]
    return votes_chart(frequency, is_kept, names, vote_share(estimator))


def _worth(
    estimator: Any, gain: Content | None, score: Mapping[str, Any] | None
) -> Content | None:
    """Return scores with their intervals: on rows set apart, or of the refits."""
    n_kept, n_all = estimator.n_features_selected_, len(estimator.support_)
    if score is not None and not _is_nothing(score["kept_columns"]):
        rows = [
            (f"all {n_all:,} columns", score["all_columns"], score["all_error"]),
            (f"{n_kept:,} kept columns", score["kept_columns"], score["kept_error"]),
        ]
        how = (
            "Gradient boosting, trained with all and with the kept columns, on "
            f"{score['n_test']:,} rows that the selection has not seen."
        )
        return _scores(rows, score["metric"], how, ".3f")
    if gain is None or gain["chosen"] is None:
        return None
    rows = _refitted(gain, n_all, getattr(estimator, "_all_columns", None))
    how = (
        "Networks refitted without masks, on rows that did not take part in ranking "
        "the columns."
    )
    if not rows[0][0].startswith("all"):
        how += (
            " All columns together were not refitted: the command's --report has a "
            "score of both."
        )
    return _scores(rows, _unit(gain), how, ".0%")


def _refitted(
    gain: Content, n_all: int, whole: tuple[float, float] | None
) -> list[tuple[str, float, float]]:
    """Return the gains of all columns, or of the largest set, and of the kept ones."""
    chosen, last = gain["chosen"], len(gain["sizes"]) - 1
    rows = [] if whole is None else [(f"all {n_all:,} columns", *whole)]
    for place in (chosen,) if rows else dict.fromkeys((last, chosen)):
        size = gain["sizes"][place]
        word = f"{size:,} kept columns" if place == chosen else f"the {size:,} best"
        word = f"all {n_all:,} columns" if size == n_all and not rows else word
        rows.append((word, float(gain["gains"][place]), float(gain["errors"][place])))
    return rows


def _scores(
    rows: Sequence[tuple[str, float, float]], metric: str, how: str, form: str
) -> Content:
    """Return what is shown of scores, the kept columns last."""
    value, error = rows[-1][1:]
    other = f"; {rows[0][0]}: {rows[0][1]:{form}}" if len(rows) > 1 else ""
    return {
        "metric": metric,
        "chart": interval_chart(rows, form),
        "brief": f"{value:{form}} ± {_HALF * error:{form}}".replace("-", "−"),
        "detail": f"{metric}{other}".replace("-", "−"),
        "sentence": _compared(rows[-1], rows[0], form) if len(rows) > 1 else "",
        "note": f"{metric[:1].upper()}{metric[1:]}. {how} Intervals of 95 %.",
    }


def _compared(
    kept: tuple[str, float, float], other: tuple[str, float, float], form: str
) -> str:
    """Return in a sentence which of two scores is better, if that can be told."""
    gap, error = kept[1] - other[1], _HALF * math.hypot(kept[2], other[2])
    difference = f"({gap:+{form}} ± {error:{form}})".replace("-", "−")
    if abs(gap) <= error:
        return (
            f"Between the kept columns and {other[0]} no difference is shown "
            f"{difference}."
        )
    word = "better" if gap > 0 else "worse"
    return f"The kept columns do {word} than {other[0]} {difference}."


def _path(gain: Content | None) -> Content | None:
    """Return the chart of the candidate sets."""
    if gain is None or len(gain["sizes"]) < 2:
        return None
    chart = path_chart(gain["sizes"], gain["gains"], gain["errors"], gain["chosen"])
    return {"chart": chart, "unit": _unit(gain)}


def _unit(gain: Content) -> str:
    """Return what a gain is a share of."""
    return "variance explained" if gain["is_variance"] else "uncertainty removed"


def notes_of(estimator: Any, facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return warnings, then notes, each with its kind and no sentence twice.

    Warnings that are passed say what those of the estimator say, in other words.
    """
    others = [str(text) for text in facts.get("notes") or ()]
    warned = [str(text) for text in facts.get("warnings") or ()]
    own = [note["text"] for note in estimator.notes_ if note["warning"] is not None]
    said = [("warning", text) for text in warned or own]
    for note in estimator.notes_:
        text = note["text"]
        is_new = not any(text.rstrip(".") in other for other in others)
        if note["warning"] is None and is_new:
            said.append(("note", text))
    said += [("note", text) for text in others]
    return [(kind, _as_sentence(text)) for kind, text in said]


def _as_sentence(text: str) -> str:
    """Return a text with a capital, unless it begins with a name or an argument."""
    return f"{text[0].upper()}{text[1:]}" if text.split(" ")[0].isalpha() else text


def _about_missing(rows: Sequence[Content]) -> list[tuple[str, str]]:
    """Return a note on columns with gaps, those with the most named."""
    gaps = [(r["picture"].missing_share, r["name"]) for r in rows if r["picture"]]
    gaps = sorted((gap for gap in gaps if gap[0] > 0), key=lambda gap: -gap[0])
    if not gaps:
        return []
    named = ", ".join(f"{name[:60]} ({share:.0%})" for share, name in gaps[:5])
    more = f" and {len(gaps) - 5:,} more" if len(gaps) > 5 else ""
    return [("note", f"Values are missing in {named}{more}.")]


def _correlations(rows: Sequence[Content], data: FitData) -> Content | None:
    """Return the chart of kept columns against each other and the nearest dropped."""
    there = [row for row in rows if row["feature"] in data]
    kept = [row for row in there if row["kept"]][:_MOST_CORRELATED]
    dropped = [row for row in there if not row["kept"]]
    if not kept or len(kept) + len(dropped) < 2:
        return None
    own = [row["feature"] for row in kept]
    others = [row["feature"] for row in dropped]
    with_kept, with_dropped = (
        data.correlations(own, own),
        data.correlations(own, others),
    )
    strongest = np.abs(with_dropped).max(axis=0)
    order = np.argsort(-strongest, kind="stable")[:_MOST_CORRELATED]
    order = order[strongest[order] >= _LEAST_CORRELATION]
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
    arguments = ", ".join(f"{key}={value!r}" for key, value in given.items())
    code = (
        f"from featuresieve import {name}\n\n"
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
