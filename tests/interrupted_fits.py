"""Fits that are ended before they are done, in this process and by a kill.

As a script: ``python interrupted_fits.py FOLDER SEED`` fits in child processes that are
killed at random moments until one of them comes through, and prints how many were, and
whether the answer is that of an uninterrupted fit, bit for bit.
"""

import os
import signal
import sys
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
from torch import nn

from featuresieve import AutoNFSClassifier
from featuresieve.monitoring import _checkpoint
from made_tables import class_table
from quick_selectors import built


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
    settings = {"n_epochs": 4, "n_members": 20, "random_state": 3, "checkpoint": path}
    return built(AutoNFSClassifier, **(settings | arguments))


class EndedError(Exception):
    pass


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
        "order": selector.order_,
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
    selector = built(
        AutoNFSClassifier, n_epochs=8, random_state=3, checkpoint=checkpoint
    )
    with write_at_every_step():
        np.savez(path, **answers(selector.fit(X, y), X))


def _in_child(call, *arguments, seconds=0):
    """Run a function in a child process; return its status and how long it computed.

    The signal ends it after so many seconds of its own, wherever it is then; seconds of
    a clock would depend on what else the machine does.
    """
    number = os.fork()
    if number == 0:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        call(*arguments)
        os._exit(0)
    _, status, usage = os.wait4(number, 0)
    return status, usage.ru_utime + usage.ru_stime


def main(folder, seed):
    """Kill one fit after another, at random moments."""
    rng = np.random.default_rng(seed)
    _, seconds = _in_child(_fit_and_store, folder / "whole.npz", folder / "other")
    names = folder / "killed.npz", folder / "checkpoint"
    # Half of a fit in the mean, so that each of the signals comes before the end.
    limits = [*rng.uniform(0.01, 0.25, size=4) * seconds, 0]
    statuses = [_in_child(_fit_and_store, *names, seconds=limit)[0] for limit in limits]
    n_killed = statuses.count(signal.SIGPROF)
    assert statuses[-1] == 0, statuses
    whole, killed = (dict(np.load(folder / f"{n}.npz")) for n in ("whole", "killed"))
    assert_same_answers(killed, whole)
    left = sorted(path.name for path in folder.iterdir())
    assert left == ["killed.npz", "whole.npz"], left
    sys.stdout.write(f"{n_killed} killed, the same answer\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]), int(sys.argv[2]))
