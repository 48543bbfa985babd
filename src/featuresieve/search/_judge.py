"""Nested sets judged by another kind of model than the networks, on held-out rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from featuresieve.engine import on_ranks
from featuresieve.problem import FloatArray, IndexArray, Problem
from featuresieve.search._refit import HeldOutLosses
from featuresieve.search._settings import Settings
from featuresieve.search._splits import HeldOutSplit

# What `judge` may be, besides an estimator.
NETWORKS, TREES = JUDGES = ("networks", "trees")
# Trees with random cuts suffer from a column of noise more than others do, so their
# losses have a clear minimum; boosted trees hardly tell 5 columns from 30.
_TREES = {"n_estimators": 60, "min_samples_leaf": 2}
# Columns tried at a node, as a share. Two at least: trees that try one split at random,
# and a set of seven, which tries two, would be better than one of six for that alone.
_TRIED, _FEWEST_TRIED = 0.33, 2
# Rows that they learn from.
_MOST_ROWS = 10_000


def judged_losses(
    problem: Problem,
    judge: Any,
    sets: Sequence[Sequence[IndexArray]],
    splits: Sequence[HeldOutSplit],
    *,
    settings: Settings | None = None,
    deadline: float | None = None,
) -> tuple[HeldOutLosses, FloatArray]:
    """Train a model on every candidate of every split.

    A loss is the squared error of a prediction, summed over outputs; of probabilities
    (Brier's score) where there are classes or labels.

    Each split has a sequence of sets of gates, equally many in each. Return the losses
    of the first candidates, as many as there was time for, one at least, and those of
    the mean of the rows that were learnt from.
    """
    settings = settings or Settings()
    truth = _as_numbers(problem)
    held_out = np.concatenate([split.test_rows for split in splits])
    rows: list[FloatArray] = []
    for candidate in range(len(sets[0])):
        if rows and settings.is_past(deadline):
            break

        def predictions(number: int, candidate: int = candidate) -> FloatArray:
            own, split = sets[number][candidate], splits[number]
            return _predictions(problem, judge, own, split)

        # An estimator of the user's own may not be safe on threads.
        used = settings.n_threads if isinstance(judge, str) else 1
        found = on_ranks(predictions, range(len(splits)), used, settings.ranks)
        rows.append(_squares(np.concatenate(found), truth[held_out]))
    means = [
        np.average(truth[s.fit_rows], axis=0, weights=problem.weights_of(s.fit_rows))
        for s in splits
    ]
    sizes = [len(split.test_rows) for split in splits]
    losses = HeldOutLosses(
        np.array(rows),
        np.ones(len(rows)),
        len(rows) < len(sets[0]),
        problem.weights_of(held_out),
        problem.groups_of(held_out),
    )
    return losses, _squares(np.repeat(means, sizes, axis=0), truth[held_out])


def _squares(found: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the squared error of each row, summed over the outputs."""
    return np.asarray(((found - truth) ** 2).sum(axis=1))


def _as_numbers(problem: Problem) -> FloatArray:
    """Return the targets, (rows, outputs), classes as indicators."""
    if problem.task == "classification":
        return np.eye(problem.n_outputs)[problem.targets]
    return np.asarray(problem.targets, dtype=np.float64)


def _predictions(
    problem: Problem, judge: Any, gates: IndexArray, split: HeldOutSplit
) -> FloatArray:
    """Train one model; return its values or probabilities for the held-out rows."""
    features = problem.features[:, problem.gates.columns_of(gates)]
    if issparse(features):
        features = features.toarray()
    rows = split.fit_rows
    if isinstance(judge, str):
        rows = rows[:: -(-len(rows) // _MOST_ROWS)]
    targets = problem.targets[rows]
    model, weights = _model(judge, problem, features.shape[1]), {}
    if problem.row_weights is not None and has_fit_parameter(model, "sample_weight"):
        weights = {"sample_weight": problem.weights_of(rows)}
    if problem.task == "regression" and problem.n_outputs == 1:
        targets = targets[:, 0]
    model = _for_outputs(model, problem)
    model.fit(features[rows], targets, **weights)
    asked = features[split.test_rows]
    if problem.task == "regression":
        found = np.asarray(model.predict(asked), dtype=np.float64)
        return found.reshape(len(asked), -1)
    found = model.predict_proba(asked)
    if problem.task == "multilabel":
        return np.column_stack(
            [
                _probabilities(p, e.classes_, 2)[:, 1]
                for p, e in zip(found, model.estimators_, strict=True)
            ]
        )
    return _probabilities(found, model.classes_, problem.n_outputs)


def _probabilities(found: Any, classes: Any, n_classes: int) -> FloatArray:
    """Return probabilities with a column for every class, also those not seen."""
    probabilities = np.zeros((len(found), n_classes))
    probabilities[:, np.asarray(classes, dtype=np.intp)] = found
    return probabilities


def _model(judge: Any, problem: Problem, n_columns: int) -> Any:
    """Return an untrained model, for one output."""
    # Imported here, because few fits have another judge, and these take long.
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    if not isinstance(judge, str):
        return clone(judge)
    is_regression = problem.task == "regression"
    kind = ExtraTreesRegressor if is_regression else ExtraTreesClassifier
    tried = min(n_columns, max(_FEWEST_TRIED, int(_TRIED * n_columns)))
    return kind(**_TREES, max_features=tried, random_state=0)


def _for_outputs(model: Any, problem: Problem) -> Any:
    """Return a model, or one that trains it for each of several outputs."""
    from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor

    if problem.task == "multilabel":
        return MultiOutputClassifier(model)
    if problem.task == "regression" and problem.n_outputs > 1:
        return MultiOutputRegressor(model)
    return model
