import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from torch import nn

from featuresieve import (
    AutoNFSClassifier,
    AutoNFSRegressor,
    CheckpointError,
    CheckpointWarning,
    Training,
    TrainingDivergedError,
)
from featuresieve.engine._schedule import StepBudget
from featuresieve.monitoring import _checkpoint
from featuresieve.monitoring._checkpoint import Checkpoint
from interrupted_fits import (
    answers,
    assert_same_answers,
    classifier,
    fit_until,
    own_network,
    write_at_every_step,
)
from made_tables import class_table, value_table
from quick_selectors import built

TESTS = Path(__file__).parents[1]
# Quality does not matter here, and a few epochs may leave the answer in doubt.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::featuresieve.{name}")
    for name in ("SelectionCollapseWarning", "UninformativeTargetWarning")
]


X_CLASS, Y_CLASS = class_table()
X_VALUE, Y_VALUE = value_table()
# Arguments, X, y; the fits of all take more steps than the tests let them.
CASES = {
    "search": (AutoNFSClassifier(), X_CLASS, Y_CLASS),
    "regression": (AutoNFSRegressor(), X_VALUE, Y_VALUE),
    "given balance": (AutoNFSClassifier(balance=0.1), X_CLASS, Y_CLASS),
    "given size": (AutoNFSClassifier(n_features_to_select=2), X_CLASS, Y_CLASS),
    "own network": (
        AutoNFSClassifier(
            balance=0.1, training=Training(n_members=2, task_network=own_network)
        ),
        X_CLASS,
        Y_CLASS,
    ),
    "sparse": (
        AutoNFSClassifier(balance=0.1),
        sparse.csr_array(X_CLASS * (np.abs(X_CLASS) > 0.5)),
        Y_CLASS,
    ),
    "groups": (AutoNFSClassifier(feature_groups=[[0, 1], [4, 5]]), X_CLASS, Y_CLASS),
}


@pytest.mark.parametrize("name", CASES)
def test_resumed_fit_ends_with_the_answer_of_an_uninterrupted_one(name, path):
    unfitted, X, y = CASES[name]
    selector = clone(unfitted).set_params(training__n_epochs=4, random_state=3)
    expected = answers(clone(selector).fit(X, y), X)
    selector.set_params(checkpoint=path)
    n_ended = 0
    # Ended after 11 writings again and again: in every stage, at ever other steps.
    while fit_until(selector, X, y, n_writes=11):
        n_ended += 1
        assert path.exists()
    assert n_ended >= 3
    assert_same_answers(answers(selector, X), expected)


class Lines(LinearRegression):
    """Lines whose text is another for each object."""

    __repr__ = object.__repr__


def test_a_judge_is_the_same_in_another_process(path):
    selector = built(AutoNFSRegressor, judge=Lines(), n_epochs=4, random_state=3)
    expected = answers(clone(selector).fit(X_VALUE, Y_VALUE), X_VALUE)
    selector.set_params(checkpoint=path)
    assert fit_until(selector, X_VALUE, Y_VALUE, n_writes=60)
    other = clone(selector).fit(X_VALUE, Y_VALUE)
    assert_same_answers(answers(other, X_VALUE), expected)


@pytest.mark.gpu
def test_fit_resumed_on_cuda_ends_with_the_same_support(path):
    X, y = class_table()
    expected = classifier(None, device="cuda").fit(X, y)
    selector = classifier(path, device="cuda")
    while fit_until(selector, X, y, n_writes=11):
        assert path.exists()
    np.testing.assert_array_equal(selector.support_, expected.support_)
    # What two fits with the same seed agree to there.
    np.testing.assert_allclose(selector.logits_, expected.logits_, atol=1e-4)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes")
def test_killed_fits_end_with_the_answer_of_an_uninterrupted_one(tmp_path):
    script, seed = TESTS / "interrupted_fits.py", "0"
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), seed],
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    # Four are aimed at; on a busy machine a fit may end before its signal.
    n_killed, _, rest = done.stdout.partition(" ")
    assert int(n_killed) >= 2
    assert rest.strip() == "killed, the same answer"


def test_fit_that_is_not_ended_has_the_same_answer_and_leaves_no_file(path):
    # As a process that was killed while it wrote would leave.
    path.with_name(f".{path.name}.ab_c0123.checkpoint.part").write_bytes(b"half")
    X, y = class_table()
    expected = answers(classifier(None).fit(X, y), X)
    with write_at_every_step():
        found = answers(classifier(path).fit(X, y), X)
    assert_same_answers(found, expected)
    assert list(path.parent.iterdir()) == []
    # It would diverge again, and stand in the way of a fit with another rate.
    selector = classifier(path, training=Training(task_learning_rate=1e30))
    with pytest.raises(TrainingDivergedError, match=r"training\.task_learning_rate"):
        selector.fit(X, y)
    assert not path.exists()


class InterruptingFile(Checkpoint):
    """Sends the signal of Ctrl-C when it is asked for the third time."""

    n_asked = 0

    def is_due(self):
        self.n_asked += 1
        if self.n_asked == 3:
            signal.raise_signal(signal.SIGINT)
        return False


@pytest.mark.usefixtures("python_handles_interrupts")
def test_interrupt_leaves_an_unfitted_estimator_and_a_usable_file(path, monkeypatch):
    X, y = class_table()
    expected = answers(classifier(None).fit(X, y), X)
    selector = classifier(path)
    before = dict(vars(selector))
    with monkeypatch.context() as patch:
        patch.setattr("featuresieve.monitoring._fit_run.Checkpoint", InterruptingFile)
        with pytest.raises(KeyboardInterrupt):
            selector.fit(X, y)
    assert vars(selector) == before
    with pytest.raises(NotFittedError):
        selector.predict(X)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    # The signal came after step 3 and was raised after step 4, with a last writing.
    steps = steps_in(path)
    assert steps == [4]
    assert_same_answers(answers(selector.fit(X, y), X), expected)


def steps_in(path):
    """Return how many steps of each stage a checkpoint knows of."""
    _, arrays = _checkpoint.unpack(path)
    names = sorted(name for name in arrays if name.endswith("trainer.step"))
    return [int(arrays[name][0]) for name in names]


def test_program_that_handles_the_signal_itself_is_left_alone(path, monkeypatch):
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        monkeypatch.setattr(
            "featuresieve.monitoring._fit_run.Checkpoint", InterruptingFile
        )
        classifier(path).fit(*class_table())
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [1]


@pytest.mark.parametrize("n_written", [0, 3])
def test_full_disk_is_an_error_before_training_and_a_warning_later(
    n_written, path, monkeypatch
):
    X, y = class_table()
    write, count = _checkpoint.write_atomically, 0

    def fills_up(*arguments, **names):
        nonlocal count
        count += 1
        if count > n_written:
            raise OSError("No space left on device")
        write(*arguments, **names)

    selector, expected = classifier(path), answers(classifier(None).fit(X, y), X)
    monkeypatch.setattr(_checkpoint, "write_atomically", fills_up)
    if n_written == 0:
        with pytest.raises(CheckpointError, match="No space left on device"):
            selector.fit(X, y)
        return
    with write_at_every_step(), pytest.warns(CheckpointWarning) as caught:
        selector.fit(X, y)
    assert len(caught) == 1
    assert_same_answers(answers(selector, X), expected)


def test_files_are_written_rarely_by_default(path, monkeypatch):
    written = []
    monkeypatch.setattr(
        *(_checkpoint, "write_atomically"),
        lambda *_, **__: written.append(time.monotonic()),
    )
    started = time.monotonic()
    classifier(path).fit(*class_table())
    seconds = time.monotonic() - started
    assert 1 <= len(written) <= 1 + seconds / _checkpoint.INTERVAL_SECONDS


def test_stopwatch_of_a_resumed_run_measures_its_own_steps():
    told = []
    for first, last in ((10, 50), (24, 80)):
        budget = StepBudget(time.monotonic() - 1.0, first_step=first)
        steps = range(first + 1, last)
        asked = {n: budget.affordable_steps(n, lambda: None) for n in steps}
        told.append({n: steps for n, steps in asked.items() if steps is not None})
    assert told == [{34: 34}, {}]  # the second was measured before


def test_network_whose_state_is_no_tensor_is_refused_with_a_checkpoint(path):
    class Counting(nn.Linear):
        def get_extra_state(self):
            return {"calls": 1}

        def set_extra_state(self, state):
            """Accept it."""

    selector = classifier(path, balance=0.1, training=Training(task_network=Counting))
    with pytest.raises(TypeError, match="state_dict holds tensors only, got dict"):
        selector.fit(*class_table())
