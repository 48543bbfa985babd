"""Automatic fits on a GPU, and the authors' package beside them."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np


def gpu() -> Iterator[dict[str, Any]]:
    """Time automatic fits on a GPU, and the authors' automatic mode beside them."""
    import tables
    from featuresieve import AutoNFSRegressor

    split = tables.tabular_cell("california", "random")
    X, y = split.X["train"], split.y["train"]
    for repeat in range(4):
        started = time.perf_counter()
        selector = AutoNFSRegressor(random_state=repeat, device="cuda").fit(X, y)
        seconds = time.perf_counter() - started
        n_members = selector.history_["task_loss"].shape[1]
        # Gated members see every fitted row once an epoch; refits are not counted.
        n_epochs = float(selector.history_["step"][-1]) * 256 / (0.8 * len(X))
        yield {
            "what": "featuresieve auto, california + 8 noise columns",
            "seconds": round(seconds, 3),
            "n_kept": selector.n_features_selected_,
            "member_epochs": round(n_members * n_epochs, 1),
        }
    yield _authors_gpu(X, y)


def _authors_gpu(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Time an epoch of the authors' automatic mode on the GPU.

    Its five networks at one balance, two epochs and six: the difference is what four
    epochs of training cost, without the forests that score the result.
    """
    from autonfs import AutoNFS

    seconds = []
    for n_epochs in (1, 2, 6):  # the first warms up
        selector = AutoNFS(
            mode="regression",
            device="cuda",
            epochs=n_epochs,
            adaptive_grid=(0.1,),
            random_state=0,
        )
        started = time.perf_counter()
        selector.fit(X.astype(np.float32), y.astype(np.float32))
        seconds.append(time.perf_counter() - started)
    return {
        "what": "autonfs 1.0.0 auto, five networks, four epochs, no scoring",
        "seconds": round(seconds[2] - seconds[1], 3),
        "member_epochs": 20,
    }
