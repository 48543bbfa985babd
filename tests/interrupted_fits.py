"""Fits that are ended before they are done, in this process and by a kill.

As a script: ``python interrupted_fits.py FOLDER SEED`` fits in child processes that are
killed at random moments until one of them comes through, and prints how many were, and
whether the answer is that of an uninterrupted fit, bit for bit.
"""

import os
import signal
import sys
import time
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
from torch import nn

from featuresieve import AutoNFSClassifier, _checkpoint
from made_tables import class_table


def own_network(n_columns, n_outputs):
    """Return a network with buffers and with noise of its own."""
    return nn.Sequential(
        nn.Linear(n_columns, 8),
        nn.BatchNorm1d(8),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(8, n_outputs),
    )


def classifier(path, **arguments):
    """Return a quick classifier that writes its checkpoint there."""
    settings = {"n_epochs": 4, "random_state": 3, "checkpoint": path}
    return AutoNFSClassifier(**(settings | arguments))


class EndedError(Exception):
    """Stands for the end of a process."""


def write_at_every_step():
    """Return a context in which checkpoints are written after every step."""
    return mock.patch.multiple(_checkpoint, INTERVAL_SECONDS=0.0, LARGEST_SHARE=1.0)


def fit_until(selector, X, y, *, n_writes):
    """Fit until the checkpoint was written so often; return whether that ended it."""
    write, count = _checkpoint.Checkpoint.write, 0

    def counted(checkpoint, parts):
        nonlocal count
        write(checkpoint, parts)
        count += 1
        if count == n_writes:
            raise EndedError

    with (
        write_at_every_step(),
        mock.patch.object(_checkpoint.Checkpoint, "write", counted),
    ):
        try:
            selector.fit(X, y)
        except EndedError:
            return True
    return False


def answers(selector, X):
    """Return everything that is compared between fits, bit by bit."""
    outputs = selector.predict(X)
    if hasattr(selector, "predict_proba"):
        outputs = selector.predict_proba(X)
    return {
        "support": selector.support_,
        "logits": selector.logits_,
        "ranking": selector.ranking_,
        "path": selector.path_,
        "outputs": np.asarray(outputs),
        **{f"history {name}": array for name, array in selector.history_.items()},
    }


def assert_same_answers(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        # Bytes, because NaN is not equal to itself.
        assert found[name].tobytes() == array.tobytes(), name


def _fit_and_store(path, checkpoint):
    """Fit with a checkpoint after every step, and store the answers."""
    X, y = class_table()
    selector = AutoNFSClassifier(n_epochs=8, random_state=3, checkpoint=checkpoint)
    with write_at_every_step():
        np.savez(path, **answers(selector.fit(X, y), X))


def _in_child(call, *arguments):
    """Run a function in a child process; return its number."""
    number = os.fork()
    if number == 0:
        call(*arguments)
        os._exit(0)
    return number


def main(folder, seed):
    """Kill one fit after another, at random moments."""
    rng = np.random.default_rng(seed)
    began = time.monotonic()
    os.waitpid(_in_child(_fit_and_store, folder / "whole.npz", folder / "other"), 0)
    seconds = time.monotonic() - began
    n_killed, status = 0, -1
    while status != 0:
        child = _in_child(_fit_and_store, folder / "killed.npz", folder / "checkpoint")
        if n_killed < 4:
            time.sleep(rng.uniform(0, 0.4) * seconds)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        n_killed += status != 0
    whole, killed = (dict(np.load(folder / f"{n}.npz")) for n in ("whole", "killed"))
    assert_same_answers(killed, whole)
    left = sorted(path.name for path in folder.iterdir())
    assert left == ["killed.npz", "whole.npz"], left
    sys.stdout.write(f"{n_killed} killed, the same answer\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]), int(sys.argv[2]))
