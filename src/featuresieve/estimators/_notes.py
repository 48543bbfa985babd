"""What a user should know of an answer: notes, and warnings where it is doubtful."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from featuresieve import errors
from featuresieve.errors import (
    DoubtfulSelectionWarning,
    FeatureSieveWarning,
    SelectionCollapseWarning,
    TimeBudgetWarning,
    UninformativeTargetWarning,
    listed,
)
from featuresieve.estimators._row_labels import row_labels
from featuresieve.problem import EncodedProblem, Problem
from featuresieve.search import Evidence, SearchResult
from featuresieve.storage import VERDICTS, feature_names
from featuresieve.tables import Table

# One column alone that gains so much, as a share of a constant's loss and of what the
# elected ones gain, may hold the target.
_LEAK, _LEAK_OF_ALL = 0.9, 0.95
# Standard errors, and share of a constant's loss, by which all columns must be better
# than the kept ones for that to be said.
_CLEARLY, _CLEARLY_LOST = 3.0, 0.05
_LOW_AGREEMENT = 0.4
# Notes that are true of the data, whatever number of features is kept.
ABOUT_DATA = ("identifier", "free_text", "numbers_as_text", "leak", "uninformative")

Note = dict[str, Any]


def as_note(
    code: str,
    text: str,
    columns: Sequence[str] = (),
    kind: type[FeatureSieveWarning] | None = None,
) -> Note:
    """Return a note; one with a kind is also a warning."""
    warning = None if kind is None else kind.__name__
    return {"code": code, "text": text, "columns": [*columns], "warning": warning}


def notes_about(
    estimator: Any,
    result: SearchResult,
    prepared: EncodedProblem,
    table: Table,
    is_cut_short: bool,
) -> list[Note]:
    """Return what should be said of an answer, the doubtful first."""
    names = feature_names(estimator)
    notes = [*_doubts(estimator, result, prepared.problem)]
    if result.screened is not None:
        n_left = prepared.problem.gates.count(result.screened)
        text = (
            f"there are few rows: only the {n_left} of {len(names)} columns that a "
            "test relates to the target by themselves took part in the vote. Columns "
            "that matter only together are not found."
        )
        notes.append(as_note("screened", text))
    if is_cut_short:
        text = f"max_time={estimator.max_time!r} seconds shortened the training."
        notes.append(as_note("time", text, kind=TimeBudgetWarning))
    if result.evidence is not None and not result.is_uninformative:
        notes += _about_evidence(estimator, result.evidence, prepared, names)
    return sorted(
        [*notes, *_about_columns(estimator, prepared, table, names)],
        key=lambda note: note["warning"] is None,
    )


def warn_about(notes: Sequence[Note]) -> None:
    """Tell the user who called `fit`, which is wrapped and calls this, of doubts."""
    for note in notes:
        if note["warning"] is not None:
            kind = getattr(errors, note["warning"])
            warnings.warn(note["text"], kind, stacklevel=4)


def _doubts(estimator: Any, result: SearchResult, problem: Problem) -> Iterator[Note]:
    """Yield that there may be nothing in the data, or not at this balance."""
    n_kept, n_all = estimator.n_features_selected_, len(estimator.support_)
    if result.is_uninformative:
        yield as_note(
            "uninformative",
            "no set of columns was shown to predict held-out targets better than a "
            f"constant: {n_kept} of {n_all} columns were kept, but there is no "
            "evidence that they are related to y.",
            kind=UninformativeTargetWarning,
        )
    elif result.is_hardly_judged:
        rows = "row" if result.n_uncommon == 1 else "rows"
        if problem.n_groups < problem.n_rows:  # one group says as much as one row
            rows = "group of rows" if result.n_uncommon == 1 else "groups of rows"
        yield as_note(
            "uninformative",
            f"the answer rests on {result.n_uncommon} held-out {rows}: no more have "
            "another target than the most common one, and what seems to predict so few "
            f"may be chance. {n_kept} of {n_all} columns were kept.",
            kind=UninformativeTargetWarning,
        )
    elif result.is_collapsed and estimator.n_features_to_select is None:
        advice = "" if estimator.balance == "auto" else " Lower balance, or use 'auto'."
        are = "is" if n_kept == 1 else "are"
        yield as_note(
            "collapsed",
            f"no column cleared the threshold at balance={estimator.balance_:g}: "
            f"only the {n_kept} best ranked of {n_all} {are} kept.{advice}",
            kind=SelectionCollapseWarning,
        )


def _about_evidence(
    estimator: Any, evidence: Evidence, prepared: EncodedProblem, names: Sequence[str]
) -> Iterator[Note]:
    """Yield what the votes and the held-out losses say."""
    is_large = evidence.first_gain >= max(_LEAK, _LEAK_OF_ALL * evidence.gain)
    if evidence.first is not None and is_large:
        name = names[prepared.units[evidence.first][0]]
        yield as_note(
            "leak",
            f"{name!r} alone predicts the target nearly perfectly, on held-out rows "
            f"too ({evidence.first_gain:.0%} of the loss of a constant are gone). Is "
            "it known before the target, and not made from it? Else leave it out "
            "with never_keep.",
            [name],
            DoubtfulSelectionWarning,
        )
    is_minimal = (
        estimator.goal == "minimal"
        and estimator.tolerance == 0
        and isinstance(estimator.judge, str)
        and estimator.judge == "networks"
    )
    is_clear = evidence.lost > max(_CLEARLY * evidence.lost_error, _CLEARLY_LOST)
    if is_minimal and is_clear:
        is_limited = estimator.max_features is not None
        yield as_note(
            "worse_than_all",
            "the kept columns predict held-out rows clearly worse than all columns: "
            f"by {evidence.lost:.2f} ± {evidence.lost_error:.2f} of the loss of a "
            "constant. goal='all_relevant' or a larger n_features_to_select keeps "
            "more.",
            kind=None if is_limited else DoubtfulSelectionWarning,
        )
    if evidence.agreement < _LOW_AGREEMENT:
        yield as_note(
            "disagreement",
            "the parts of the rows elect different columns: two of them share "
            f"{evidence.agreement:.0%} on average. A larger training.n_members would "
            "raise it, and so would more rows, unless the columns say the same: those "
            "change places.",
        )
    if is_minimal:
        yield from _close_calls(estimator, evidence, prepared, names)


def _close_calls(
    estimator: Any, evidence: Evidence, prepared: EncodedProblem, names: Sequence[str]
) -> Iterator[Note]:
    """Yield which features have nearly too few votes, or nearly enough."""
    is_close = prepared.by_feature(evidence.close_calls, False)
    close = [j for j in estimator.order_ if is_close[j]]
    if close:
        kept = [names[j] for j in close if estimator.support_[j]]
        dropped = [names[j] for j in close if not estimator.support_[j]]
        parts = [("kept", kept), ("not kept", dropped)]
        shown = "; ".join(f"{word}: {listed(part)}" for word, part in parts if part)
        text = f"close calls, which another random_state may decide otherwise: {shown}."
        yield as_note("close_call", text, [*kept, *dropped])


def _about_columns(
    estimator: Any,
    prepared: EncodedProblem,
    table: Table,
    names: Sequence[str],
) -> Iterator[Note]:
    """Yield what columns are, whatever they predict."""
    labels = row_labels(table, prepared.encoder)
    is_read = estimator._verdict != VERDICTS.index("excluded")
    own = [names[j] for j in labels.names if is_read[j]]
    if own:
        word = "looks" if len(own) == 1 else "look"
        yield as_note(
            "identifier",
            f"{listed(own)} {word} like a number or name of each row, which says "
            "nothing about other rows.",
            own,
        )
    own = [names[j] for j in labels.texts if is_read[j]]
    if own:
        yield as_note(
            "free_text",
            f"{listed(own)}: free text, of which only whole values are compared. "
            "Counts of words, or embeddings, could say more.",
            own,
        )
    own = [names[j] for j in labels.numbers if is_read[j]]
    if own:
        word = "holds" if len(own) == 1 else "hold"
        yield as_note(
            "numbers_as_text",
            f"{listed(own)} {word} numbers as text, which are compared as words. If "
            "they are no codes, make numbers of them: pandas.to_numeric.",
            own,
        )
    yield from about_copies(estimator)


def about_copies(estimator: Any) -> Iterator[Note]:
    """Yield which features are copies of others, and are not kept."""
    names = feature_names(estimator)
    copies = estimator._verdict == VERDICTS.index("duplicate")
    own = [names[j] for j in np.flatnonzero(copies).tolist()]
    if own:
        word = "holds" if len(own) == 1 else "hold"
        yield as_note(
            "duplicate",
            f"{listed(own)} {word} what another column holds, and took no part.",
            own,
        )
