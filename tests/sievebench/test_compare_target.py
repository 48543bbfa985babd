"""Targets as people have them: small classes, names of rows, values as classes."""

import numpy as np
import pandas as pd
import pytest
from compared_table import table_of

from featuresieve.files import TableFileError
from made_tables import class_table
from sievebench.compare import CompareError, Plan, run_comparison
from sievebench.compare._deciding import class_notes, decide, folds_of
from sievebench.compare._judging import _predictor


def table(target, task="auto"):
    rng = np.random.default_rng(0)
    columns = pd.DataFrame(rng.normal(size=(len(target), 3)), columns=list("abc"))
    return table_of(columns.assign(target=target), "target", task=task)


SMALL = table(["u"] * 20 + ["v"] * 18 + ["w"] * 3 + ["x"])


def test_class_of_one_row_is_for_training_in_every_fold():
    plan = decide(SMALL, Plan(("none",), n_folds=5))
    folds = folds_of(SMALL, plan)
    for train, held_out in folds:
        assert set(SMALL.target[train]) == {"u", "v", "w", "x"}
        assert not set(train) & set(held_out)
    held_out = np.concatenate([rows for _, rows in folds])
    assert sorted(held_out) == list(range(41))  # all but the last, once each


def test_small_classes_are_noted():
    plan = decide(SMALL, Plan(("none",), n_folds=5))
    assert class_notes(SMALL, plan) == [
        "Classes of one row, for training only: 'x'.",
        "Classes of fewer rows than folds: 'w'.",
    ]
    comparison = run_comparison(SMALL, plan)
    assert comparison.table.notes == tuple(class_notes(SMALL, plan))
    assert comparison.results[0].reason == ""


@pytest.mark.parametrize("metric", ["roc_auc", "neg_log_loss"])
def test_metric_of_probabilities_needs_every_class_in_every_fold(metric):
    with pytest.raises(CompareError, match=f"{metric} needs every class .* 'x' are 1"):
        run_comparison(SMALL, Plan(("none",), metric=metric))
    enough = table(["u"] * 9 + ["v"] * 9 + ["w"] * 3)
    plan = Plan(("none",), metric=metric, n_folds=3)
    assert run_comparison(enough, plan).results[0].reason == ""


@pytest.mark.parametrize(
    ("target", "task", "message"),
    [
        ([f"id {i}" for i in range(40)], "auto", "40 different values in 40 rows"),
        ([f"id {i}" for i in range(12)], "auto", "at least 2 classes with 2 rows"),
        (["u"] * 11 + ["v"], "auto", "2 classes with 2 rows or more, got 1"),
        (np.arange(12) / 4, "classification", "fraction such as 0.25, which are no"),
        (["u"] * 12, "auto", "'u' in every row"),
        ([1.5] * 12, "auto", "1.5 in every row"),
        (list("aabbccddeeff"), "auto", "between 2 and 2, the rows of the largest"),
    ],
)
def test_target_that_is_not_of_the_task_is_refused_once(target, task, message):
    with pytest.raises((CompareError, TableFileError), match=message):
        run_comparison(table(target, task), Plan(("none",), task=task))


def test_boosting_learns_a_large_table_with_a_class_of_one_row():
    X, y = class_table(n_rows=10_001)  # from here on it stops early
    labels = np.where(y, "yes", "no").astype(object)
    labels[0] = "perhaps"
    model = _predictor(Plan((), task="classification"), labels).fit(X, labels)
    assert len(model.classes_) == 3
