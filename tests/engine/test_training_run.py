import time
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from featuresieve import TrainingDivergedError
from featuresieve.engine import Schedule, StackTrainer, Training
from small_stacks import as_data, build_networks, loss_for, make_rows, whole_epochs

pytestmark = pytest.mark.numeric


X, Y = make_rows(10, 2, is_classification=False)


def build_plain_trainer(X=X, y=Y, *, dtype=torch.float32, task_learning_rate=3e-4):
    task, _ = build_networks(X.shape[1], y.shape[1], 1, dtype=dtype)
    training = Training(task_learning_rate=task_learning_rate)
    return StackTrainer(as_data(X, y, dtype), loss_for(False), training, task)


def test_a_run_records_after_the_fractions_asked_for():
    trainer = build_plain_trainer()
    called = []
    trainer.run(
        whole_epochs(20, 10, 4), record_after=(0.25, 0.5, 1.0), on_record=called.append
    )
    assert trainer.history.step == [15, 30, 60]
    assert called == [trainer] * 3


def test_a_run_records_the_mean_loss_since_the_record_before():
    full_batches = whole_epochs(6, 10, 10)
    coarse, fine = (build_plain_trainer(dtype=torch.float64) for _ in range(2))
    coarse.run(full_batches, record_after=(0.5, 1.0))
    fine.run(full_batches, record_after=np.arange(1, 7) / 6)
    by_step = np.array(fine.history.task_loss)
    expected = by_step.reshape(2, 3, 1).mean(axis=1)
    # The order of rows within a full batch is drawn alike, so only rounding differs.
    np.testing.assert_allclose(coarse.history.task_loss, expected, rtol=1e-12)


def test_a_deadline_shortens_a_run_and_keeps_its_last_temperature(monkeypatch):
    trainer, clock = build_plain_trainer(), [0.0]
    take_step = trainer.train_step

    def timed_step(*arguments):
        clock[0] += 1e-3
        take_step(*arguments)

    trainer.train_step = timed_step
    own_time = SimpleNamespace(monotonic=lambda: clock[0])
    monkeypatch.setattr("featuresieve.engine._schedule.time", own_time)
    planned = Schedule(200_000, 1, 10, temperature_decay=0.5**5e-6)  # 200 seconds
    done = trainer.run(planned, deadline=0.3)
    assert done.n_steps == pytest.approx(300, abs=1)
    assert trainer.history.step[-1] == done.n_steps
    # One epoch of 300 is left out at the end: 0.5^(1/300).
    assert trainer.history.temperature[-1] == pytest.approx(1.0, rel=0.003)


@pytest.mark.parametrize("n_quick", [0, 30])  # before and after the speed is known
def test_a_deadline_ends_a_run_whose_steps_are_slow(n_quick):
    trainer = build_plain_trainer()
    take_step = trainer.train_step

    def slow_step(*arguments):
        time.sleep(0.3 if trainer.step >= n_quick else 0.0)
        take_step(*arguments)

    trainer.train_step = slow_step
    schedule = Schedule(10_000, 1, 10)
    done = trainer.run(schedule, deadline=time.monotonic() + 0.2)
    assert 1 <= done.n_steps <= n_quick + 3
    assert trainer.history.step[-1] == trainer.planned_steps == done.n_steps


# A run that goes on after 10 steps measures its own; one of 24 was measured before.
@pytest.mark.parametrize(("first", "last"), [(0, 24), (10, 34), (24, 400)])
def test_a_deadline_in_the_past_ends_a_run_after_the_steps_that_measure_its_speed(
    first, last
):
    trainer = build_plain_trainer()
    # More steps than memory has numbers for, where none shall be left out.
    planned = Schedule(400 if last == 400 else 10**12, 1, 10)
    trainer.step = first
    done = trainer.run(planned, deadline=time.monotonic() - 1.0)
    assert done.n_steps == last
    assert trainer.history.step == [last]


def test_a_run_has_the_numbers_of_its_schedule_after_many_steps_too():
    schedule = Schedule(70_000, 7, 10, temperature_decay=0.9999, penalty_ramp=0.99)
    trainer, numbers = build_plain_trainer(), []
    trainer.train_step = lambda _, *knobs: numbers.append(knobs)
    trainer.step = 65_530  # computed in blocks of 65,536
    trainer.run(schedule)
    temperatures, scales = schedule.temperatures(), schedule.penalty_scales()
    expected = np.column_stack([temperatures, scales])[65_530:]
    np.testing.assert_array_equal(numbers, expected)


def test_an_absurd_learning_rate_and_huge_features_are_reported_as_divergence():
    trainer = build_plain_trainer(task_learning_rate=1e30)
    with pytest.raises(TrainingDivergedError, match=r"training\.task_learning_rate"):
        trainer.run(whole_epochs(5, 10, 10))
    trainer = build_plain_trainer(X * 1e30)  # whose square float32 has not
    with pytest.raises(TrainingDivergedError, match="extreme values"):
        trainer.run(whole_epochs(1, 10, 10))
