"""What held-out losses rise by when the values of one gate are shuffled."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import issparse
from torch import Tensor

from featuresieve.engine import LOSSES, Predictor, TaskStack
from featuresieve.problem import FloatArray, IndexArray, Problem
from featuresieve.search._settings import Settings
from featuresieve.search._splits import HeldOutSplit

_N_SHUFFLES = 3
# Rows times squared columns that are read at most for one shuffle of every gate, and
# the fewest rows of a split all the same.
_MOST_READ, _LEAST_ROWS = 10_000_000, 40


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
        self._network, self._seed = settings.training.task_network, seed
        self._columns = [problem.gates.columns_of(np.array([g])) for g in gates]
        n_read = len(gates) * sum(map(len, self._columns))
        n_rows = max(_LEAST_ROWS, _MOST_READ // max(n_read, 1) // len(splits))
        self._rows = [_some(split.test_rows, n_rows) for split in splits]
        self.held_out = np.concatenate(self._rows)
        # Parameters and mask of the network of each split.
        self._fitted: list[tuple[Any, npt.NDArray[np.float32]]] = []

    def remember(self, task: TaskStack, mask: Tensor, members: Sequence[int]) -> None:
        """Take the networks of the splits as they are now."""
        every = Predictor.of(task, self._problem.n_outputs).members
        masks = mask.cpu().numpy()
        self._fitted = [(every[member], masks[:, member]) for member in members]

    def rises(self) -> FloatArray:
        """Return by how much the loss of each row rises, (gates, held-out rows)."""
        parts = []
        for split, (rows, own) in enumerate(zip(self._rows, self._fitted, strict=True)):
            rng = np.random.default_rng([self._seed, split])
            network = Predictor([own[0]], self._problem.n_outputs)
            block = self._problem.features[rows]
            block = block.toarray() if issparse(block) else block
            parts.append(self._rises_of(network, block * own[1], rows, rng))
        return np.concatenate(parts, axis=1)

    def _rises_of(
        self,
        network: Predictor,
        features: npt.NDArray[np.float32],
        rows: IndexArray,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Return the rises of one network."""
        targets = torch.from_numpy(self._problem.targets[rows])

        def losses() -> FloatArray:
            outputs = network.outputs(features, self._network).astype(np.float32)
            own = self._loss.row_losses(torch.from_numpy(outputs), targets)
            return np.asarray(own[0].double().numpy())

        before = losses()
        rises = np.zeros((len(self._columns), len(rows)))
        for _ in range(_N_SHUFFLES):
            order = rng.permutation(len(rows))
            for gate, columns in enumerate(self._columns):
                own = features[:, columns]
                features[:, columns] = own[order]
                rises[gate] += losses() - before
                features[:, columns] = own
        return rises / _N_SHUFFLES


def _some(rows: IndexArray, most: int) -> IndexArray:
    """Return rows, or `most` of them from the first to the last."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).round().astype(np.intp)]
