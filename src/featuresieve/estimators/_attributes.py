"""What a search found, as the learned attributes of an estimator and as a table."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from featuresieve.estimators._verdicts import judged_features
from featuresieve.problem import EncodedProblem
from featuresieve.search import SearchResult
from featuresieve.storage import PATH_FIELDS, VERDICTS, kept_attributes
from featuresieve.tables import on_threads


def learned_attributes(
    result: SearchResult, prepared: EncodedProblem, n_threads: int = 1
) -> dict[str, Any]:
    """Return the learned attributes by name; arrays are by feature."""
    votes = result.votes
    logits = votes.logits.mean(axis=0, dtype=np.float64)
    support = prepared.by_feature(result.support, False)
    importances = prepared.by_feature(votes.importances(), 0.0)
    judgement = result.judgement
    if judgement is not None:
        sets = prepared.by_feature(judgement.sets, False)
        judgement = replace(judgement, sets=sets)
    importance = np.full((2, len(prepared.units)), np.nan)
    if result.evidence is not None:
        importance = result.evidence.importance
    frequency = prepared.by_feature(votes.frequency(), 0.0)
    return {
        "logits_": prepared.by_feature(logits, -np.inf),
        "selection_frequency_": frequency,
        "feature_importances_": importances / importances.sum(),
        "balance_": result.balance,
        "path_": np.array(result.path, dtype=PATH_FIELDS),
        "history_": _history(result, prepared, n_threads),
        "_judgement": judgement,
        "_importance": prepared.by_feature(importance, np.nan),
        **judged_features(prepared, support, frequency, n_threads),
        **kept_attributes(support, prepared.order(votes.ranked)),
    }


def _history(
    result: SearchResult, prepared: EncodedProblem, n_threads: int
) -> dict[str, npt.NDArray[Any]]:
    """Return what training recorded, by name."""
    history, gates = result.history, prepared.problem.gates
    recorded = on_threads(
        lambda logits: expit(logits).mean(axis=0), history.logits, n_threads
    )
    means = np.array(list(recorded))
    openings = np.zeros((len(means), len(gates)), dtype=means.dtype)
    openings[:, slice(None) if result.screened is None else result.screened] = means
    openings[:, gates.is_forced] = 1.0
    return {
        "step": np.array(history.step),
        "temperature": np.array(history.temperature),
        "balance": np.full(len(history.task_loss[0]), result.balance),
        "task_loss": np.array(history.task_loss),
        "penalty": np.array(history.penalty),
        "n_kept": np.array([(logits > 0).sum(axis=1) for logits in history.logits]),
        "gates": prepared.by_feature(openings, 0.0),
    }


def array_of_labels(labels: Sequence[Any]) -> npt.NDArray[Any]:
    """Return names that are no strings as an array of objects, tuples whole."""
    array = np.empty(len(labels), dtype=object)
    for j, label in enumerate(labels):
        array[j] = label
    return array


def feature_table(estimator: Any) -> Any:
    """Return one row per feature, best ranked first: a data frame if pandas is there.

    Without pandas, a numpy structured array with the same fields.
    """
    names = _names(estimator)
    order, support = estimator.order_, estimator.support_
    importance = np.where(support, estimator._importance, np.nan)[:, order]
    represented = np.empty(len(order), dtype=object)
    for row, nearest in enumerate(estimator._represented_by[order].tolist()):
        represented[row] = names[nearest] if nearest >= 0 else None
    columns = {
        "name": names[order],
        "kept": support[order],
        "verdict": np.array(VERDICTS, dtype=object)[estimator._verdict[order]],
        "rank": np.arange(1, len(order) + 1),
        "frequency": estimator.selection_frequency_[order],
        "importance": importance[0],
        "importance_error": importance[1],
        "represented_by": represented,
        "logit": estimator.logits_[order],
    }
    fields = [(name, values.dtype) for name, values in columns.items()]
    table = np.empty(len(order), dtype=fields)
    for name, values in columns.items():
        table[name] = values
    try:
        import pandas as pd
    except ImportError:
        return table
    return pd.DataFrame(table)


def _names(estimator: Any) -> npt.NDArray[Any]:
    """Return the names of all features as they came, x0, x1, ... if they have none."""
    if estimator._labels is not None:
        return array_of_labels(estimator._labels)
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names = np.array([f"x{j}" for j in range(len(estimator.support_))])
    if any(name.endswith("\0") for name in names):
        return np.asarray(names)
    return np.asarray(names, dtype=str)  # which would cut a zero off the end
