"""What a search found, as the learned attributes of an estimator and as a table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve.problem import Prepared
from featuresieve.search import SearchResult
from featuresieve.storage import PATH_FIELDS, kept_attributes


def learned_attributes(result: SearchResult, prepared: Prepared) -> dict[str, Any]:
    """Return the learned attributes by name; arrays are by feature."""
    votes = result.votes
    logits = votes.logits.mean(axis=0, dtype=np.float64)
    support = prepared.by_feature(result.support, False)
    rows = [
        (r.balance, r.n_kept, r.loss, r.loss_error, r.is_chosen) for r in result.path
    ]
    importances = prepared.by_feature(votes.importances(), 0.0)
    judgement = result.judgement
    if judgement is not None:
        judgement = judgement.with_sets(prepared.by_feature(judgement.sets, False))
    return {
        "logits_": prepared.by_feature(logits, -np.inf),
        "selection_frequency_": prepared.by_feature(votes.frequency(), 0.0),
        "feature_importances_": importances / importances.sum(),
        "balance_": result.balance,
        "path_": np.array(rows, dtype=PATH_FIELDS),
        "history_": _history(result, prepared),
        "_judgement": judgement,
    } | kept_attributes(support, prepared.order(votes.ranked))


def _history(result: SearchResult, prepared: Prepared) -> dict[str, npt.NDArray[Any]]:
    """Return what training recorded, by name."""
    history = result.history
    openings = np.array(
        [(1.0 / (1.0 + np.exp(-w))).mean(axis=0) for w in history.logits]
    )
    openings[:, prepared.problem.gates.is_forced] = 1.0
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
    n_features = len(estimator.support_)
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names = np.array([f"x{j}" for j in range(n_features)])
    if estimator._labels is not None:
        names = array_of_labels(estimator._labels)
    elif not any(name.endswith("\0") for name in names):
        names = np.asarray(names, dtype=str)  # which would cut a zero off the end
    order = estimator.order_
    columns = {
        "name": names[order],
        "kept": estimator.support_[order],
        "logit": estimator.logits_[order],
        "frequency": estimator.selection_frequency_[order],
        "rank": np.arange(1, n_features + 1),
    }
    fields = [(name, values.dtype) for name, values in columns.items()]
    table = np.empty(n_features, dtype=fields)
    for name, values in columns.items():
        table[name] = values
    try:
        import pandas as pd
    except ImportError:
        return table
    return pd.DataFrame(table)
