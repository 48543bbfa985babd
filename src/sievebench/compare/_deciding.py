"""Plan and table together: the task, the metric, and who is in which fold."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold, StratifiedKFold

from featuresieve.errors import listed
from featuresieve.files import Task
from sievebench.compare._table import METRICS, CompareError, Plan, Table

# These compare the probabilities of all classes: each must be among the rows held out.
_OF_PROBABILITIES = ("roc_auc", "neg_log_loss")
_MOST_SHOWN = 5


def decide(table: Table, plan: Plan) -> Plan:
    """Return the plan with its task and metric decided, checked against the table."""
    task = table.task
    if plan.task not in ("auto", task):
        raise CompareError(f"{table.name} was read for a {task}, not a {plan.task}.")
    if task == "classification":
        _check_classes(table)
    _check_folds(table, plan.n_folds, task)
    metric = _metric(table, plan, task)
    n_columns = table.features.shape[1]
    if isinstance(plan.keep, int) and plan.keep > n_columns:
        raise CompareError(
            f"cannot keep {plan.keep} columns: {table.name} has {n_columns}."
        )
    return replace(plan, task=task, metric=metric)


def class_notes(table: Table, plan: Plan) -> list[str]:
    """Return a sentence about classes too small to be held out in every fold."""
    if plan.task != "classification":
        return []
    classes, _, counts = _classes(table)
    alone, few = classes[counts == 1], classes[(counts > 1) & (counts < plan.n_folds)]
    notes = []
    if len(alone):
        notes.append(f"Classes of one row, for training only: {_listed(alone)}.")
    if len(few):
        notes.append(f"Classes of fewer rows than folds: {_listed(few)}.")
    return notes


def folds_of(table: Table, plan: Plan) -> list[Any]:
    """Return training rows and rows held out, the classes in proportion.

    A class with a single row is always among the training rows.
    """
    n_rows = len(table.target)
    if plan.task == "regression":
        values = KFold(plan.n_folds, shuffle=True, random_state=plan.seed)
        return list(values.split(np.zeros(n_rows)))
    _, codes, counts = _classes(table)
    is_alone = counts[codes] == 1
    rows, alone = np.flatnonzero(~is_alone), np.flatnonzero(is_alone)
    kind = StratifiedKFold(plan.n_folds, shuffle=True, random_state=plan.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small classes are in the notes
        parts = list(kind.split(rows, codes[rows]))
    return [
        (np.union1d(rows[train], alone), rows[held_out]) for train, held_out in parts
    ]


def _check_classes(table: Table) -> None:
    """Refuse classes that cannot be learnt in one part and predicted in another."""
    name, target = table.target_name, table.target
    if target.dtype.kind == "f" and np.any(target != np.trunc(target)):
        example = target[target != np.trunc(target)][0]
        raise CompareError(
            f"{name!r} holds numbers with a fraction such as {example:g}, which are "
            "no classes."
        )
    n_large = np.sum(_classes(table)[2] > 1)
    if n_large < 2:
        raise CompareError(
            f"{name!r} must have at least 2 classes with 2 rows or more, got {n_large}."
        )


def _check_folds(table: Table, n_folds: int, task: Task) -> None:
    most, what = len(table.target), "rows"
    if task == "classification":
        _, _, counts = _classes(table)
        most, what = int(counts.max()), "rows of the largest class"
    if not 2 <= n_folds <= most:
        raise CompareError(
            f"the number of folds must be between 2 and {most}, the {what}, "
            f"got {n_folds}."
        )


def _metric(table: Table, plan: Plan, task: Task) -> str:
    """Return the metric, under the name it has for so many classes."""
    metric = plan.metric or METRICS[task][0]
    if metric not in METRICS[task]:
        allowed = ", ".join(METRICS[task])
        raise CompareError(f"metric of a {task} must be one of {allowed}: {metric!r}.")
    if metric not in _OF_PROBABILITIES:
        return metric
    classes, _, counts = _classes(table)
    if counts.min() < plan.n_folds:
        smallest = _listed(classes[[counts.argmin()]])
        raise CompareError(
            f"metric {metric} needs every class in each of the {plan.n_folds} folds, "
            f"and the rows of class {smallest} are {counts.min()}: take fewer folds, "
            "another metric, or the class away."
        )
    return "roc_auc_ovr" if metric == "roc_auc" and len(classes) > 2 else metric


def _classes(
    table: Table,
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the classes, the index of each row's among them, and their counts."""
    return np.unique(table.target, return_inverse=True, return_counts=True)


def _listed(classes: npt.NDArray[Any]) -> str:
    return listed([f"{label!s:.40}" for label in classes], _MOST_SHOWN)
