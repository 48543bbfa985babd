"""Splits are disjoint, cover the rows, and keep the classes in proportion."""

from dataclasses import replace

import numpy as np
import pytest

from featuresieve.problem import Problem
from featuresieve.search._splits import gate_halves, held_out_splits, membership


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
PROBLEMS = {"regression": REGRESSION, "imbalanced": IMBALANCED, "singleton": SINGLETON}


@pytest.fixture(params=PROBLEMS)
def problem(request):
    return PROBLEMS[request.param]


def assert_partition(parts, rows):
    """Check that the parts are disjoint and together are the rows."""
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.sort(rows))


def test_held_out_rows_are_disjoint_parts_that_the_seed_decides(problem):
    first, second, other = (held_out_splits(problem, 5, 0.2, seed=s) for s in (0, 0, 1))
    for split, again in zip(first, second, strict=True):
        assert_partition([split.fit_rows, split.test_rows], np.arange(problem.n_rows))
        assert len(split.test_rows) == round(0.2 * problem.n_rows)
        np.testing.assert_array_equal(split.test_rows, again.test_rows)
    parts = [split.test_rows for split in first]
    assert_partition(parts, np.arange(problem.n_rows))
    assert tuple(parts[0]) != tuple(other[0].test_rows)


def test_held_out_rows_and_halves_have_the_classes_in_proportion():
    for split in held_out_splits(IMBALANCED, 4, 0.2, seed=0):
        counts = np.bincount(IMBALANCED.targets[split.test_rows])
        assert counts.tolist() == [12, 6, 2]
    for pair in gate_halves(IMBALANCED, np.arange(100), 2, seed=0):
        for rows in pair:
            assert np.bincount(IMBALANCED.targets[rows]).tolist() == [30, 15, 5]


@pytest.mark.parametrize(
    ("problem", "n_held_out"),
    [
        (SINGLETON, 4),
        # More classes than held-out rows: a fifth of 12, rounded up.
        (make_problem(np.repeat(np.arange(6), 2)), 3),
        *((make_problem(np.arange(float(n))), 1) for n in (2, 3, 4)),
    ],
)
def test_rare_classes_and_small_tables_do_not_stop_a_split(problem, n_held_out):
    (split,) = held_out_splits(problem, 1, 0.2, seed=0)
    assert len(split.test_rows) == n_held_out
    assert len(split.fit_rows) == problem.n_rows - n_held_out


def test_each_halving_is_another_partition_and_used_both_ways_round(problem):
    rows = np.arange(0, problem.n_rows, 2)
    pairs = gate_halves(problem, rows, 3, seed=0)
    assert len(pairs) == len({tuple(task) for task, _ in pairs}) == 6
    for (task, gate), (swapped_task, swapped_gate) in zip(
        pairs[::2], pairs[1::2], strict=True
    ):
        assert_partition([task, gate], rows)
        assert abs(len(task) - len(gate)) <= 1
        np.testing.assert_array_equal(task, swapped_gate)
        np.testing.assert_array_equal(gate, swapped_task)


def test_halves_do_not_depend_on_the_number_of_threads(problem):
    rows = np.arange(problem.n_rows)
    alone, together = (gate_halves(problem, rows, 7, 0, n) for n in (1, 3))
    np.testing.assert_equal(together, alone)


def test_a_single_row_or_its_copies_play_both_roles():
    copied = with_groups(REGRESSION, [0] * 25)
    for problem, rows in ((REGRESSION, np.array([5])), (copied, np.arange(25))):
        pairs = gate_halves(problem, rows, 2, seed=0)
        assert len(pairs) == 4
        for task, gate in pairs:
            assert task.tolist() == gate.tolist() == rows.tolist()


def test_membership_is_true_where_a_row_is_in_the_group():
    found = membership(5, [np.array([0, 3]), np.array([], dtype=int), np.arange(5)])
    assert found.tolist() == [[1, 0, 0, 1, 0], [0] * 5, [1] * 5]
    assert found.dtype == bool


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
def test_copies_of_a_row_are_held_out_together_and_in_one_half(copies, seed):
    splits = held_out_splits(copies, 3, 0.2, seed=seed)
    for split in splits:
        assert_partition([split.fit_rows, split.test_rows], np.arange(copies.n_rows))
        assert_no_copy_is_on_both_sides(copies, split.fit_rows, split.test_rows)
    assert_no_copy_is_on_both_sides(copies, splits[0].test_rows, splits[1].test_rows)
    rows = splits[0].fit_rows
    for task_rows, gate_rows in gate_halves(copies, rows, 2, seed):
        assert_partition([task_rows, gate_rows], rows)
        assert_no_copy_is_on_both_sides(copies, task_rows, gate_rows)


def dealt(problem, rows, n_parts, rng):
    """Return parts as sorting deals them: the slow way."""
    order = rng.permutation(rows)
    card_of_row = order if problem.row_groups is None else problem.row_groups[order]
    cards = {}  # in order of their first rows, with these and the number of copies
    for row, card in zip(order.tolist(), card_of_row.tolist(), strict=True):
        first, n_copies = cards.get(card, (row, 0))
        cards[card] = first, n_copies + 1
    is_classified = problem.task == "classification"
    ranked = sorted(
        cards,
        key=lambda card: (
            is_classified and problem.targets[cards[card][0]],
            cards[card][1],
        ),
    )
    part = {card: place % n_parts for place, card in enumerate(ranked)}
    parts = np.array([part[card] for card in card_of_row.tolist()])
    return [np.sort(order[parts == number]) for number in range(n_parts)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("problem", [*PROBLEMS.values(), *COPIES.values()])
def test_rows_are_dealt_as_sorting_deals_them(problem, seed):
    rng = np.random.default_rng(seed)
    (split,) = held_out_splits(problem, 1, 0.2, seed)
    expected, *_ = dealt(problem, np.arange(problem.n_rows), 5, rng)
    np.testing.assert_array_equal(split.test_rows, expected)
    rng = np.random.default_rng(seed)
    pairs = gate_halves(problem, split.fit_rows, 2, seed)
    for halves in pairs[::2]:
        expected = dealt(problem, split.fit_rows, 2, rng)
        for half, other in zip(halves, expected, strict=True):
            np.testing.assert_array_equal(half, other)


@pytest.mark.parametrize("rows", [[4, 0, 2], [3, 3, 1], []])
def test_groups_of_rows_are_those_that_unique_numbers(rows):
    rows = np.array(rows, dtype=np.intp)
    found = with_groups(REGRESSION, [7, 2, 2, 9, 7] * 5).groups_of(rows)
    labels = np.array([7, 2, 2, 9, 7])[rows]
    np.testing.assert_array_equal(found, np.unique(labels, return_inverse=True)[1])
    alone = REGRESSION.groups_of(rows)
    if len(set(rows)) == len(rows):
        assert alone is None
    else:
        np.testing.assert_array_equal(alone, np.unique(rows, return_inverse=True)[1])


def test_parts_with_copies_are_of_equal_size_and_keep_the_classes():
    problem = COPIES["pairs"]
    for split in held_out_splits(problem, 5, 0.2, seed=0):
        counts = np.bincount(problem.targets[split.test_rows], minlength=3)
        assert counts.tolist() == [12, 6, 2]
