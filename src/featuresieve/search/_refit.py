"""Held-out losses of candidate sets: every set refitted as one more stack."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from featuresieve.engine import (
    LOSSES,
    ModuleStack,
    Monitor,
    State,
    TaskStack,
    array_of,
    number_array,
    number_of,
    on_ranks,
    stack_outputs,
)
from featuresieve.problem import BoolArray, IndexArray, Problem
from featuresieve.search._settings import Settings
from featuresieve.search._shuffling import Shuffling
from featuresieve.search._splits import HeldOutSplit
from featuresieve.search._stacks import FixedMaskRun, tensors_of, train_fixed_mask

FloatArray = npt.NDArray[np.float64]
# Predictions, of every candidate for every held-out row, that are worth threads.
_LARGE = 20_000
_RECORDS = tuple(np.arange(1, 11) / 10)


@dataclass(frozen=True)
class HeldOutLosses:
    """Losses of candidates on rows they were not fitted on."""

    rows: FloatArray  # (candidates, held-out rows of all splits), at the best moment
    best_share: FloatArray  # the part of the training after which that came
    is_cut_short: bool = False  # by a deadline
    row_weights: FloatArray | None = None  # with mean one; None: all count alike
    # Copies of one row have the same number, from zero on; None if there are none.
    row_groups: IndexArray | None = None
    # What the mean loss of the last candidate rises by if a gate of it is shuffled, and
    # the standard error, (2, gates).
    rises: FloatArray | None = None

    @property
    def n_groups(self) -> int:
        """Return the number of rows that are no copies of others."""
        if self.row_groups is None:
            return int(self.rows.shape[1])
        return int(self.row_groups.max()) + 1

    @property
    def weights(self) -> FloatArray:
        """Return the weights of the rows."""
        if self.row_weights is None:
            return np.ones(self.rows.shape[1])
        return self.row_weights

    @property
    def means(self) -> FloatArray:
        """Return the mean loss of each candidate."""
        return np.asarray((self.rows * self.weights).mean(axis=1))

    @property
    def errors(self) -> FloatArray:
        """Return the standard error of each mean."""
        return mean_errors(self.rows, self.weights, self.row_groups)

    def gain_over(self, constant: FloatArray, candidate: int) -> tuple[float, float]:
        """Return how much less a candidate loses than a constant, and its error."""
        gains = constant - self.rows[candidate]
        n = self.n_groups
        if n < 2:
            return 0.0, np.inf
        error = mean_errors(gains, self.weights, self.row_groups)
        error = error * np.sqrt(n / (n - 1))
        return float((gains * self.weights).mean()), float(error)


def mean_errors(
    values: FloatArray, weights: FloatArray, groups: IndexArray | None = None
) -> FloatArray:
    """Return the standard errors of weighted means over the last axis.

    Copies of a row, which have the same number in `groups`, vary together.
    """
    n_rows = values.shape[-1]
    means = (values * weights).mean(axis=-1, keepdims=True)
    terms = weights * (values - means)
    if groups is not None:
        order = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[order], np.arange(groups.max() + 1))
        terms = np.add.reduceat(terms[..., order], starts, axis=-1)
    return np.asarray(np.sqrt((terms**2).sum(axis=-1)) / n_rows)


def refit_candidates(
    problem: Problem,
    settings: Settings,
    sets: Sequence[Sequence[npt.NDArray[np.intp]]],
    splits: Sequence[HeldOutSplit],
    *,
    seed: int,
    is_shuffled: bool = False,
    deadline: float | None = None,
    monitor: Monitor | None = None,
) -> HeldOutLosses:
    """Train every candidate of every split; return losses on the held-out rows.

    `sets` has one sequence of sets of gates per split, equally many in each. The gates
    of the last one, the same in each split then, may be shuffled too.
    """
    used = np.unique(np.concatenate([c for group in sets for c in group]))
    index = np.zeros(len(problem.gates), dtype=np.intp)
    index[used] = np.arange(len(used))
    narrow = problem.take(used)
    n_candidates = len(sets[0])
    watch = _Watch(narrow, settings, splits, n_candidates)
    if is_shuffled:
        gates = index[sets[0][-1]]
        watch.shuffling = Shuffling(narrow, settings, gates, splits, seed)
    if monitor is not None:
        monitor.add("held_out", watch)
    members = [index[c] for group in sets for c in group]
    fit_rows = [split.fit_rows for split in splits for _ in range(n_candidates)]
    schedule = settings.schedule(
        len(splits[0].fit_rows), narrow.n_columns, len(members)
    )
    run = train_fixed_mask(
        narrow,
        settings,
        members,
        schedule,
        fit_rows=fit_rows,
        seed=seed,
        record_after=_RECORDS,
        on_record=watch,
        deadline=deadline,
        monitor=monitor,
    )
    return watch.best(run)


class _Watch:
    """Collect the held-out losses while a stack of refits trains."""

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        splits: Sequence[HeldOutSplit],
        n_candidates: int,
    ) -> None:
        self._loss = LOSSES[problem.task]
        self._parts = [tensors_of(problem, settings, s.test_rows) for s in splits]
        held_out = np.concatenate([s.test_rows for s in splits])
        self._weights = problem.weights_of(held_out)
        self._groups = problem.groups_of(held_out)
        # Modules are not safe on threads, and a small table is judged sooner without.
        is_for_threads = (
            settings.device.type == "cpu"
            and settings.training.task_network is None
            and len(held_out) * n_candidates >= _LARGE
        )
        self._n_threads = settings.n_threads if is_for_threads else 1
        self._ranks = settings.ranks
        self._n_records = 0
        # Losses stay where they are computed; ranks send them to one another.
        is_alone = settings.device.type == "cuda" and settings.ranks.size == 1
        self._home = settings.device if is_alone else torch.device("cpu")
        self._by_row = torch.from_numpy(self._weights).to(self._home)
        self._best_rows: Tensor | None = None  # (candidates, held-out rows)
        self._best_record = np.zeros(n_candidates, dtype=np.intp)
        self._problem = problem
        self.shuffling: Shuffling | None = None  # of the last candidate

    def __call__(self, task: TaskStack, mask: Tensor) -> None:
        """Take the losses of this moment, (candidates, held-out rows)."""
        n_each = len(self._best_record)

        def losses_of(split: int) -> Tensor:
            features, targets = self._parts[split]
            own = slice(split * n_each, (split + 1) * n_each)
            outputs = stack_outputs(task, features, mask, own)
            return self._loss.row_losses(outputs, targets).to(self._home)

        splits = range(len(self._parts))
        if isinstance(task, ModuleStack):  # it counts what it is asked, for its noise
            parts = self._ranks.from_first(lambda: list(map(losses_of, splits)))
        else:
            parts = on_ranks(losses_of, splits, self._n_threads, self._ranks)
        rows = torch.cat(parts, dim=1)
        if self._best_rows is None:
            self._best_rows = rows.clone()
        is_better = self._is_better(rows, self._best_rows)
        if self.shuffling is not None and (is_better[-1] or self._n_records == 0):
            members = range(n_each - 1, len(self._parts) * n_each, n_each)
            self.shuffling.remember(task, mask, members)
        for candidate in np.flatnonzero(is_better).tolist():
            self._best_rows[candidate] = rows[candidate]
        self._best_record[is_better] = self._n_records
        self._n_records += 1

    def _is_better(self, rows: Tensor, than: Tensor) -> BoolArray:
        """Tell which candidates lose less on their rows, by weight, than others."""
        gains = [
            torch.dot(own.double() - other.double(), self._by_row)
            for own, other in zip(rows, than, strict=True)
        ]
        return np.asarray(torch.stack(gains).cpu().numpy() < 0)

    def _rises(self) -> FloatArray | None:
        """Return mean rises and their errors, (2, gates)."""
        if self.shuffling is None:
            return None
        rows, rises = self.shuffling.held_out, self.shuffling.rises()
        weights, groups = self._problem.weights_of(rows), self._problem.groups_of(rows)
        errors = mean_errors(rises, weights, groups)
        return np.stack([(rises * weights).mean(axis=1), errors])

    def state(self) -> State:
        """Return the losses so far."""
        state: State = {"n_records": number_array(self._n_records)}
        if self._best_rows is not None:
            rows = self._best_rows.cpu().double().numpy()
            state |= {"best_rows": rows, "best_record": self._best_record}
        return state

    def load_state_dict(self, state: State) -> None:
        """Go on from what `state` was taken from."""
        self._n_records = number_of(state, "n_records", 0, len(_RECORDS))
        if not self._n_records:
            return
        n_candidates = len(self._best_record)
        shape = (n_candidates, len(self._weights))
        rows = array_of(state, "best_rows", np.float64, shape).astype(np.float32)
        self._best_rows = torch.from_numpy(rows).to(self._home)
        record = array_of(state, "best_record", np.intp, (n_candidates,))
        if record.min() < 0 or record.max() >= self._n_records:
            raise ValueError(f"best_record should be below {self._n_records}.")
        self._best_record = record.copy()  # the arrays of a file are read-only

    def best(self, run: FixedMaskRun) -> HeldOutLosses:
        """Return the losses at the moment that was best for each candidate."""
        assert self._best_rows is not None
        return HeldOutLosses(
            self._best_rows.cpu().double().numpy(),
            run.record_shares[self._best_record],
            run.is_cut_short,
            self._weights,
            self._groups,
            self._rises(),
        )
