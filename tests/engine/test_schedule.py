"""Schedules against the closed forms of their docstrings."""

from dataclasses import replace

import numpy as np
import pytest

from featuresieve.engine import Schedule, Training
from featuresieve.engine._schedule import Course
from featuresieve.search import Settings


def test_temperature_decays_once_an_epoch():
    schedule = Schedule(n_steps=6, steps_per_epoch=2, batch_size=5)
    expected = [2.0, 2.0, 2.0 * 0.997, 2.0 * 0.997, 2.0 * 0.997**2, 2.0 * 0.997**2]
    np.testing.assert_allclose(schedule.temperatures(), expected, rtol=1e-15)


def test_penalty_has_full_weight_from_the_first_step_without_a_ramp():
    assert Schedule(5, 1, 1).penalty_scales().tolist() == [1.0] * 5


def test_penalty_ramp_grows_linearly_over_its_part_of_the_run():
    scales = Schedule(10, 1, 1, penalty_ramp=0.4).penalty_scales()
    np.testing.assert_allclose(scales, [0, 0.25, 0.5, 0.75, 1, 1, 1, 1, 1, 1])


def test_penalty_ramp_over_the_whole_run_ends_just_below_full_weight():
    scales = Schedule(10, 1, 1, penalty_ramp=1.0).penalty_scales()
    np.testing.assert_allclose(scales, np.arange(10) / 10)


@pytest.mark.parametrize("n_steps", [25, 100, 333])
def test_shortened_schedule_ends_at_about_the_same_temperature(n_steps):
    schedule = Schedule(1000, 1, 8, temperature_decay=0.999)
    short = schedule.shortened(n_steps)
    assert short.n_steps == n_steps
    # The temperature after the last step is the same; at the last step there is one
    # (longer) epoch of decay less.
    after = short.temperatures()[-1] * short.temperature_decay
    assert after == pytest.approx(2.0 * 0.999**1000, rel=1e-12)


def test_shortened_schedule_ramps_over_the_same_part_of_the_run():
    short = Schedule(1000, 1, 8, penalty_ramp=0.3).shortened(10)
    assert np.count_nonzero(short.penalty_scales() < 1) == 3


def test_shortened_schedule_is_never_longer_and_never_empty():
    schedule = Schedule(100, 5, 8)
    assert schedule.shortened(200) == schedule
    assert schedule.shortened(0).n_steps == 1


# The schedule that settings choose.


@pytest.mark.parametrize(
    ("n_rows", "batch_size", "steps_per_epoch"),
    [(10, 10, 1), (10, 5, 2), (10, 4, 3), (10, 100, 1), (1, 1, 1)],
)
def test_settings_count_the_last_small_batch(n_rows, batch_size, steps_per_epoch):
    schedule = Settings(Training(batch_size=batch_size), n_epochs=7).schedule(
        n_rows, 5, 1
    )
    assert schedule.steps_per_epoch == steps_per_epoch
    assert schedule.n_steps == 7 * steps_per_epoch


def test_settings_take_the_epochs_and_the_batch_size_asked_for():
    training = Training(batch_size=32, temperature_decay=0.997)
    settings = Settings(training, n_epochs=6)
    schedule = settings.schedule(100, 5, 1)
    assert (schedule.n_steps, schedule.steps_per_epoch) == (24, 4)
    assert schedule.temperature_decay == 0.997


def test_settings_never_make_a_batch_larger_than_the_table():
    assert Settings(Training(batch_size=32)).schedule(10, 5, 1).batch_size == 10


def test_settings_take_a_share_of_the_steps():
    settings = Settings(Training(batch_size=10), n_epochs=10)
    whole = settings.schedule(100, 5, 1)
    half = settings.schedule(100, 5, 1, 0.5)
    assert half.n_steps == whole.n_steps // 2


def test_settings_choose_a_decay_that_cools_every_run_equally():
    settings = Settings()
    ends = []
    for n_rows in (50, 500, 5000):
        schedule = settings.schedule(n_rows, 5, 1)
        n_epochs = schedule.n_steps / schedule.steps_per_epoch
        ends.append(schedule.temperature_decay**n_epochs)
    assert ends == pytest.approx([ends[0]] * 3, rel=1e-12)
    assert 0 < ends[0] < 1


def test_settings_shorten_runs_on_wide_tables_on_the_cpu():
    settings = Settings()
    narrow = settings.schedule(5000, 10, 4)
    wide = settings.schedule(5000, 1_000_000, 4)
    assert wide.n_steps < narrow.n_steps
    longer = replace(settings, n_epochs=50).schedule(5000, 1_000_000, 4)
    assert longer.n_steps == 50 * longer.steps_per_epoch  # what is asked for is done


def test_numbers_of_some_steps_are_those_of_all():
    schedule = Schedule(1000, 7, 32, penalty_ramp=0.3)
    for first, n_steps in ((0, 10), (500, 100), (990, 100)):
        some = slice(first, first + n_steps)
        np.testing.assert_array_equal(
            schedule.temperatures(first, n_steps), schedule.temperatures()[some]
        )
        np.testing.assert_array_equal(
            schedule.penalty_scales(first, n_steps), schedule.penalty_scales()[some]
        )


def test_course_has_the_numbers_of_the_schedule():
    schedule = Schedule(200_000, 7, 32, temperature_decay=0.9999, penalty_ramp=0.5)
    course = Course(schedule, [1.0])
    temperatures, scales = schedule.temperatures(), schedule.penalty_scales()
    for step in (0, 1, 65_535, 65_536, 150_000, 3, 199_999):
        assert course.at(step) == (temperatures[step], scales[step])


def test_course_of_more_steps_than_memory_holds_is_none_the_larger():
    course = Course(Schedule(10**12, 10, 32, penalty_ramp=0.5), [0.5, 1.0])
    assert course.at(0) == (2.0, 0.0)
    assert course.at(10**12 - 1) == (0.0, 1.0)
    assert course.records == {5 * 10**11, 10**12}
