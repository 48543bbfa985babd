"""What held-out losses rise by when the values of one gate are shuffled."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from featuresieve.engine import (
    LOSSES,
    Predictor,
    SparseRows,
    StackedMLP,
    TaskStack,
    stack_outputs,
)
from featuresieve.problem import FloatArray, IndexArray, Problem
from featuresieve.search._settings import Settings
from featuresieve.search._splits import HeldOutSplit
from featuresieve.search._stacks import tensors_of

_N_SHUFFLES = 3
# Rows times squared columns that are read at most for one shuffle of every gate, and
# the fewest rows of a split all the same.
_MOST_READ, _LEAST_ROWS = 10_000_000, 40
# Numbers that a network reads at once.
_MOST_AT_ONCE = 1 << 24


class Shuffling:
    """Shuffle the gates of a set, one by one, before networks that were fitted on it.

    There is one network for each split. Where many rows are held out, some stand for
    all of them.
    """

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        gates: IndexArray,
        splits: Sequence[HeldOutSplit],
        seed: int,
    ) -> None:
        self._problem, self._loss = problem, LOSSES[problem.task]
        self._settings, self._seed = settings, seed
        self._columns = [problem.gates.columns_of(np.array([g])) for g in gates]
        n_read = len(gates) * sum(map(len, self._columns))
        n_rows = max(_LEAST_ROWS, _MOST_READ // max(n_read, 1) // len(splits))
        self._rows = [_some(split.test_rows, n_rows) for split in splits]
        self.held_out = np.concatenate(self._rows)
        # Network and mask of each split.
        self._fitted: list[tuple[StackedMLP | Predictor, Tensor]] = []

    def remember(self, task: TaskStack, mask: Tensor, members: Sequence[int]) -> None:
        """Take the networks of the splits as they are now."""
        self._fitted = [(self._copy_of(task, m), mask[:, m]) for m in members]

    def _copy_of(self, task: TaskStack, member: int) -> StackedMLP | Predictor:
        """Return a network that will not learn any more."""
        if isinstance(task, StackedMLP):
            return task.of_members(slice(member, member + 1))
        n_outputs = self._problem.n_outputs
        return Predictor([Predictor.of(task, n_outputs).members[member]], n_outputs)

    def rises(self) -> FloatArray:
        """Return by how much the loss of each row rises, (gates, held-out rows)."""
        parts = []
        for split, (rows, own) in enumerate(zip(self._rows, self._fitted, strict=True)):
            rng = np.random.default_rng([self._seed, split])
            network, mask = own
            features, targets = tensors_of(self._problem, self._settings, rows)
            if isinstance(features, SparseRows):
                features = features.dense()
            parts.append(self._rises_of(network, features * mask, targets, rng))
        return np.concatenate(parts, axis=1)

    def _rises_of(
        self,
        network: StackedMLP | Predictor,
        features: Tensor,
        targets: Tensor,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Return the rises of one network: many gates are one table to it."""
        n_rows, n_gates = len(targets), len(self._columns)
        before = self._losses(network, features, targets)
        rises = np.zeros((n_gates, n_rows))
        n_each = max(1, _MOST_AT_ONCE // features.numel())
        for _ in range(_N_SHUFFLES):
            order = torch.from_numpy(rng.permutation(n_rows)).to(features.device)
            shuffled = features[order]
            for first in range(0, n_gates, n_each):
                some = self._columns[first : first + n_each]
                tables = features.repeat(len(some), 1, 1)
                for table, columns in zip(tables, some, strict=True):
                    table[:, columns] = shuffled[:, columns]
                repeated = targets.repeat(len(some), *[1] * (targets.ndim - 1))
                own = self._losses(network, tables.flatten(0, 1), repeated)
                rises[first : first + n_each] += own.reshape(-1, n_rows) - before
        return rises / _N_SHUFFLES

    def _losses(
        self, network: StackedMLP | Predictor, features: Tensor, targets: Tensor
    ) -> FloatArray:
        """Return the loss of a network on each row."""
        outputs = self._outputs(network, features)
        losses = self._loss.row_losses(outputs, targets)
        return np.asarray(losses[0].cpu().double().numpy())

    def _outputs(self, network: StackedMLP | Predictor, features: Tensor) -> Tensor:
        """Return the outputs of one network, (1, rows, outputs)."""
        if isinstance(network, StackedMLP):
            return stack_outputs(network, features, None)
        factory = self._settings.training.task_network
        outputs = network.outputs(features.cpu().numpy(), factory)
        return torch.from_numpy(outputs).to(features)


def _some(rows: IndexArray, most: int) -> IndexArray:
    """Return rows, or `most` of them from the first to the last."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).round().astype(np.intp)]
