"""Splits are disjoint, cover the rows, and keep the classes in proportion."""

from dataclasses import replace

import numpy as np
import pytest

from featuresieve.problem import Problem
from featuresieve.search._splits import gate_halves, held_out_splits, weight_sets


def make_problem(targets):
    """Return a problem with these targets; the features do not matter here."""
    targets = np.asarray(targets)
    is_classification = targets.dtype.kind == "i"
    n_outputs = targets.max() + 1 if is_classification else 1
    if not is_classification:
        targets = targets.reshape(-1, 1).astype(np.float32)
    features = np.zeros((len(targets), 1), dtype=np.float32)
    task = "classification" if is_classification else "regression"
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


# --- copies of a row


def with_groups(problem, groups):
    return replace(problem, row_groups=np.asarray(groups))


COPIES = {
    "pairs": with_groups(IMBALANCED, np.repeat(np.arange(50), 2)),
    "one of many": with_groups(REGRESSION, [7] * 8 + [*range(100, 117)]),
    "some": with_groups(IMBALANCED, np.r_[np.arange(60), np.arange(40)]),
}


@pytest.fixture(params=COPIES)
def copies(request):
    return COPIES[request.param]


def assert_no_copy_is_on_both_sides(problem, one, other):
    shared = set(problem.row_groups[one]) & set(problem.row_groups[other])
    assert shared == set()


@pytest.mark.parametrize("seed", range(5))
def test_copies_of_a_row_are_held_out_together(copies, seed):
    splits = held_out_splits(copies, 3, 0.2, seed=seed)
    for split in splits:
        assert_partition([split.fit_rows, split.test_rows], np.arange(copies.n_rows))
        assert_no_copy_is_on_both_sides(copies, split.fit_rows, split.test_rows)
    assert_no_copy_is_on_both_sides(copies, splits[0].test_rows, splits[1].test_rows)


@pytest.mark.parametrize("seed", range(5))
def test_copies_of_a_row_are_in_one_half(copies, seed):
    rows = held_out_splits(copies, 1, 0.2, seed=seed)[0].fit_rows
    for task_rows, gate_rows in gate_halves(copies, rows, 2, seed):
        assert_partition([task_rows, gate_rows], rows)
        assert_no_copy_is_on_both_sides(copies, task_rows, gate_rows)


def test_parts_with_copies_are_of_nearly_equal_size_and_keep_the_classes():
    problem = with_groups(IMBALANCED, np.repeat(np.arange(50), 2))
    sizes = [len(split.test_rows) for split in held_out_splits(problem, 5, 0.2, seed=0)]
    assert sizes == [20] * 5
    for split in held_out_splits(problem, 5, 0.2, seed=0):
        counts = np.bincount(problem.targets[split.test_rows], minlength=3)
        assert counts.tolist() == [12, 6, 2]


def test_copies_of_one_row_alone_train_both_networks():
    problem = with_groups(REGRESSION, [0] * 25)
    rows = np.arange(25)
    for task_rows, gate_rows in gate_halves(problem, rows, 1, seed=0):
        np.testing.assert_array_equal(task_rows, rows)
        np.testing.assert_array_equal(gate_rows, rows)
