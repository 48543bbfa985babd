"""Splits are disjoint, cover the rows, and keep the classes in proportion."""

import numpy as np
import pytest

from featuresieve._problem import Problem
from featuresieve._row_roles import gate_halves, held_out_splits, weight_sets


def make_problem(targets):
    """Return a problem with these targets; the features do not matter here."""
    targets = np.asarray(targets)
    is_classification = targets.dtype.kind == "i"
    n_outputs = targets.max() + 1 if is_classification else 1
    if not is_classification:
        targets = targets.reshape(-1, 1).astype(np.float32)
    features = np.zeros((len(targets), 1), dtype=np.float32)
    task = "classes" if is_classification else "values"
    return Problem(features, targets, n_outputs, task)


REGRESSION = make_problem(np.linspace(0.0, 1.0, 25))
IMBALANCED = make_problem(np.repeat([0, 1, 2], [60, 30, 10]))
SINGLETON = make_problem(np.repeat([0, 1], [19, 1]))
PROBLEMS = {
    "regression": REGRESSION,
    "imbalanced": IMBALANCED,
    "singleton": SINGLETON,
}


@pytest.fixture(params=PROBLEMS)
def problem(request):
    return PROBLEMS[request.param]


def assert_partition(parts, rows):
    """Check that the parts are disjoint and together are the rows."""
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.sort(rows))


def test_held_out_rows_and_the_others_are_a_partition(problem):
    splits = held_out_splits(problem, 3, 0.2, seed=0)
    assert len(splits) == 3
    for split in splits:
        assert_partition([split.fit_rows, split.test_rows], np.arange(problem.n_rows))
        assert len(split.test_rows) == round(0.2 * problem.n_rows)


def test_held_out_splits_differ_from_each_other(problem):
    splits = held_out_splits(problem, 3, 0.2, seed=0)
    assert len({tuple(split.test_rows) for split in splits}) == 3


def test_held_out_splits_depend_on_the_seed_alone(problem):
    first, second, other = (held_out_splits(problem, 2, 0.2, seed=s) for s in (0, 0, 1))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a.test_rows, b.test_rows)
    assert tuple(first[0].test_rows) != tuple(other[0].test_rows)


def test_held_out_rows_have_the_classes_in_proportion():
    for split in held_out_splits(IMBALANCED, 4, 0.2, seed=0):
        counts = np.bincount(IMBALANCED.targets[split.test_rows])
        assert counts.tolist() == [12, 6, 2]


def test_a_class_of_one_row_does_not_stop_a_split():
    (split,) = held_out_splits(SINGLETON, 1, 0.2, seed=0)
    assert len(split.test_rows) == 4


def test_more_classes_than_held_out_rows_do_not_stop_a_split():
    problem = make_problem(np.repeat(np.arange(6), 2))
    (split,) = held_out_splits(problem, 1, 0.2, seed=0)
    assert len(split.test_rows) == 3  # a fifth of 12 rows, rounded up


@pytest.mark.parametrize("n_rows", [2, 3, 4])
def test_the_smallest_tables_keep_a_row_on_either_side(n_rows):
    problem = make_problem(np.arange(float(n_rows)))
    (split,) = held_out_splits(problem, 1, 0.2, seed=0)
    assert len(split.test_rows) == 1
    assert len(split.fit_rows) == n_rows - 1


def test_each_halving_is_a_partition_and_used_both_ways_round(problem):
    rows = np.arange(0, problem.n_rows, 2)
    pairs = gate_halves(problem, rows, 3, seed=0)
    assert len(pairs) == 6
    for (task, gate), (swapped_task, swapped_gate) in zip(
        pairs[::2], pairs[1::2], strict=True
    ):
        assert_partition([task, gate], rows)
        assert abs(len(task) - len(gate)) <= 1
        np.testing.assert_array_equal(task, swapped_gate)
        np.testing.assert_array_equal(gate, swapped_task)


def test_halves_have_the_classes_in_proportion():
    for pair in gate_halves(IMBALANCED, np.arange(100), 2, seed=0):
        for rows in pair:
            assert np.bincount(IMBALANCED.targets[rows]).tolist() == [30, 15, 5]


def test_halvings_differ_from_each_other(problem):
    pairs = gate_halves(problem, np.arange(problem.n_rows), 3, seed=0)
    assert len({tuple(task) for task, _ in pairs}) == 6


def test_a_single_row_plays_both_roles():
    pairs = gate_halves(REGRESSION, np.array([5]), 2, seed=0)
    assert len(pairs) == 4
    assert all(task.tolist() == gate.tolist() == [5] for task, gate in pairs)


def test_weight_sets_are_one_where_a_row_is_in_the_group():
    found = weight_sets(5, [np.array([0, 3]), np.array([], dtype=int), np.arange(5)])
    assert found.tolist() == [[1, 0, 0, 1, 0], [0] * 5, [1] * 5]
    assert found.dtype == np.float32


def test_held_out_parts_share_no_row(problem):
    parts = [split.test_rows for split in held_out_splits(problem, 5, 0.2, seed=0)]
    assert_partition(parts, np.arange(problem.n_rows))
