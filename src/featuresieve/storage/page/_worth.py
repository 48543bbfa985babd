"""How sure the answer is, what it is worth, and what another number would cost."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from featuresieve.storage.page._charts import (
    HALF,
    interval_chart,
    path_chart,
    votes_chart,
)

Content = dict[str, Any]

# Confidence of 95 %, one-sided, in standard errors.
_SHOWN = 1.645
# Votes above the line, as a share of the networks, from which a column is far from it.
_FAR = 0.1
_LATER_ROUNDS = ", and 8 % in a later round, where what was found is mostly hidden"
SCORE_FIELDS = (
    *("metric", "all_columns", "all_error", "kept_columns", "kept_error", "n_test"),
)


def warned_codes(estimator: Any) -> set[str]:
    """Return of what kind the warnings about an answer are."""
    return {note["code"] for note in estimator.notes_ if note["warning"] is not None}


def _vote_share(estimator: Any) -> float:
    """Return the share of the networks that is needed to be kept."""
    return 0.1 if isinstance(estimator.balance, str) else 0.5


def judge_of(estimator: Any) -> str:
    """Return who judged the sets, as a sentence begins."""
    if estimator.judge == "networks":
        return "Networks"
    return "Randomised trees" if estimator.judge == "trees" else "The given judge"


def held_out_gain(estimator: Any) -> Content | None:
    """Return what the refitted sets gain over a constant, as shares of its loss."""
    judgement, path = estimator._judgement, estimator.path_
    if judgement is None or not judgement.null_loss > 0:
        return None
    judged = path[np.isfinite(path["loss"])]
    if not len(judged):
        return None
    chosen = np.flatnonzero(judged["is_chosen"])
    unit = "squared error removed"
    if hasattr(estimator._target_code, "spreads"):
        unit = "variance explained"
    elif estimator.judge == "networks":  # by the log loss
        unit = "uncertainty removed"
    return {
        "sizes": judged["n_kept"].tolist(),
        "gains": 1 - judged["loss"] / judgement.null_loss,
        "errors": np.nan_to_num(judged["loss_error"]) / judgement.null_loss,
        "chosen": int(chosen[0]) if len(chosen) else None,
        "unit": unit,
    }


def how_sure(estimator: Any, rows: Sequence[Content], gain: Content | None) -> Content:
    """Return a word for how sure the answer is, and the sentences behind it."""
    share, warned = _vote_share(estimator), warned_codes(estimator)
    sentences, word = _about_votes(estimator, rows, share)
    level = "fair" if word == "Partly borderline" else "good"
    if gain is None or gain["chosen"] is None:
        sentences.append("This set was not compared with others on held-out rows.")
        word, level = "Not checked", "fair"
    else:
        value, error = gain["gains"][gain["chosen"]], gain["errors"][gain["chosen"]]
        sentences.append(
            "On rows that did not take part in the vote: "
            f"{_with_error(value, error, '.0%')} {gain['unit']}, beside a constant "
            "guess."
        )
        if value < _SHOWN * error:
            warned.add("uninformative")
    if warned:
        word, level = "Doubtful", "bad"
    if "uninformative" in warned:
        word = "No evidence"
    return {"word": word, "level": level, "sentences": sentences}


def _about_votes(
    estimator: Any, rows: Sequence[Content], share: float
) -> tuple[list[str], str]:
    """Return what the votes say of kept and dropped columns, and that in a word."""
    kept = [row for row in rows if row["kept"]]
    near = [row for row in kept if row["frequency"] < share + _FAR]
    below = [r for r in rows if not r["kept"] and r["frequency"] >= share / 2]
    voted = f"{len(estimator.history_['balance'])} networks voted"
    if estimator._judgement is not None and estimator.judge != "networks":
        judge = judge_of(estimator)
        how_many = f"{judge} decided how many are kept, on held-out rows."
        return [f"{voted}: that is the ranking of the columns.", how_many], "Clear"
    word = "a tenth" if share == 0.1 else "half"
    sentences = [
        f"{voted}, each trained on rows of its own; {word} of them is enough to keep a "
        f"column{_LATER_ROUNDS * (estimator.goal == 'all_relevant')}."
    ]
    if all(row["frequency"] < share for row in kept):
        sentences.append(f"No kept column had so many votes: {_some(kept)}.")
    else:
        n_clear = len(kept) - len(near)
        who = f"Of {len(kept)} kept columns {n_clear}" if near else "All kept columns"
        close = f"; near that line, or below: {_some(near)}." if near else "."
        sentences.append(f"{who} had clearly more votes than that{close}")
    if below:
        sentences.append(f"Dropped, but with votes: {_some(below)}.")
    else:
        sentences.append("No dropped column came near the line.")
    if len(near) * 3 > len(kept):
        return sentences, "Partly borderline"
    return sentences, "Mostly clear" if near else "Clear"


def _some(rows: Sequence[Content]) -> str:
    """Return some names with their votes."""
    named = [f"{row['name'][:60]} ({row['frequency']:.0%})" for row in rows[:5]]
    more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
    return ", ".join(named) + more


def votes(estimator: Any, rows: Sequence[Content]) -> Content:
    """Return the chart of votes."""
    frequency = np.array([row["frequency"] for row in rows])
    is_kept = [row["kept"] for row in rows]
    names = [row["name"] for row in rows]
    return votes_chart(frequency, is_kept, names, _vote_share(estimator))


def worth(
    estimator: Any, gain: Content | None, score: Mapping[str, Any] | None
) -> Content | None:
    """Return scores with their intervals: on rows set apart, or of the refits."""
    n_kept, n_all = estimator.n_features_selected_, len(estimator.support_)
    if score is not None and not math.isnan(score["kept_columns"]):
        rows = [
            (f"all {n_all:,} columns", score["all_columns"], score["all_error"]),
            (_kept_columns(n_kept), score["kept_columns"], score["kept_error"]),
        ]
        how = (
            "Gradient boosting, trained with all and with the kept columns, on "
            f"{score['n_test']:,} rows that the selection has not seen."
        )
        return _scores(rows, score["metric"], how, ".3f")
    if gain is None or gain["chosen"] is None:
        return None
    rows = _refitted(gain, n_all, vars(estimator).get("_all_columns"))
    how = (
        f"{judge_of(estimator)}, fitted to the columns of each set, on rows that did "
        "not take part in ranking them."
    )
    if not rows[0][0].startswith("all"):
        how += (
            " All columns together were not refitted: the command's --report has a "
            "score of both."
        )
    return _scores(rows, gain["unit"], how, ".0%")


def _refitted(
    gain: Content, n_all: int, whole: tuple[float, float] | None
) -> list[tuple[str, float, float]]:
    """Return the gains of all columns, or of the largest set, and of the kept ones."""
    chosen, last = gain["chosen"], len(gain["sizes"]) - 1
    rows = [] if whole is None else [(f"all {n_all:,} columns", *whole)]
    for place in (chosen,) if rows else dict.fromkeys((last, chosen)):
        size = gain["sizes"][place]
        word = _kept_columns(size) if place == chosen else f"the {size:,} best"
        word = f"all {n_all:,} columns" if size == n_all and not rows else word
        rows.append((word, float(gain["gains"][place]), float(gain["errors"][place])))
    return rows


def _scores(
    rows: Sequence[tuple[str, float, float]], metric: str, how: str, form: str
) -> Content:
    """Return what is shown of scores, the kept columns last."""
    other = f"; {rows[0][0]}: {_signed(rows[0][1], form)}" if len(rows) > 1 else ""
    texts = [_with_error(value, error, form) for _, value, error in rows]
    return {
        "metric": metric,
        "chart": interval_chart(rows, texts),
        "brief": texts[-1],
        "detail": f"{metric}{other}",
        "sentence": _compared(rows[-1], rows[0], form) if len(rows) > 1 else "",
        "note": f"{metric[:1].upper()}{metric[1:]}. {how} Intervals of 95 %.",
    }


def _with_error(value: float, error: float, form: str) -> str:
    """Return a value and half of its interval, small shares with a decimal."""
    half = HALF * error
    form = ".1%" if form == ".0%" and half < 0.02 else form
    return f"{_signed(value, form)} ± {half:{form}}"


def _signed(value: float, form: str) -> str:
    """Return a number with a minus of printers, and none before zero."""
    text = format(value, form)
    is_zero = not text.strip("-+0.%")
    return text.replace("-", "" if is_zero else "−")


def _compared(
    kept: tuple[str, float, float], other: tuple[str, float, float], form: str
) -> str:
    """Return in a sentence which of two scores is better, if that can be told."""
    gap, error = kept[1] - other[1], math.hypot(kept[2], other[2])
    plus = "+" if gap > 0 else ""
    difference = f"({plus}{_with_error(gap, error, form)})"
    if abs(gap) <= HALF * error:
        return (
            f"Between the kept columns and {other[0]} no difference is shown "
            f"{difference}."
        )
    word = "better" if gap > 0 else "worse"
    return f"The kept columns do {word} than {other[0]} {difference}."


def path(gain: Content | None) -> Content | None:
    """Return the chart of the candidate sets."""
    if gain is None or len(gain["sizes"]) < 2:
        return None
    chart = path_chart(gain["sizes"], gain["gains"], gain["errors"], gain["chosen"])
    return {"chart": chart, "unit": gain["unit"]}


def _kept_columns(count: int) -> str:
    """Return how many columns are kept."""
    return f"{count:,} kept column{'' if count == 1 else 's'}"
