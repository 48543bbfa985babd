import numpy as np
import pytest

from featuresieve.engine import Schedule, Training
from featuresieve.search import Settings


def test_temperature_decays_once_an_epoch():
    schedule = Schedule(n_steps=6, steps_per_epoch=2, batch_size=5)
    expected = [2.0, 2.0, 2.0 * 0.997, 2.0 * 0.997, 2.0 * 0.997**2, 2.0 * 0.997**2]
    np.testing.assert_allclose(schedule.temperatures(), expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("ramp", "expected"),
    [
        (0.0, [1.0] * 10),
        (0.4, [0, 0.25, 0.5, 0.75, *[1] * 6]),
        (1.0, np.arange(10) / 10),  # ends just below full weight
    ],
)
def test_penalty_grows_linearly_over_its_part_of_the_run(ramp, expected):
    scales = Schedule(10, 1, 1, penalty_ramp=ramp).penalty_scales()
    np.testing.assert_allclose(scales, expected)


@pytest.mark.parametrize("n_steps", [25, 100, 333])
def test_shortened_schedule_ends_at_about_the_same_temperature(n_steps):
    schedule = Schedule(1000, 1, 8, temperature_decay=0.999)
    short = schedule.shortened(n_steps)
    assert short.n_steps == n_steps
    # The temperature after the last step is the same; at the last step there is one
    # (longer) epoch of decay less.
    after = short.temperatures()[-1] * short.temperature_decay
    assert after == pytest.approx(2.0 * 0.999**1000, rel=1e-12)


def test_shortened_schedule_has_the_same_ramp_and_is_never_longer_or_empty():
    short = Schedule(1000, 1, 8, penalty_ramp=0.3).shortened(10)
    assert np.count_nonzero(short.penalty_scales() < 1) == 3
    schedule = Schedule(100, 5, 8)
    assert schedule.shortened(200) == schedule
    assert schedule.shortened(0).n_steps == 1


# The schedule that settings choose.


@pytest.mark.parametrize(
    ("n_rows", "batch_size", "steps_per_epoch"),
    [(10, 10, 1), (10, 5, 2), (10, 4, 3), (10, 100, 1), (1, 1, 1)],
)
def test_settings_take_what_is_asked_for_and_count_the_last_small_batch(
    n_rows, batch_size, steps_per_epoch
):
    settings = Settings(
        Training(n_epochs=6, batch_size=batch_size, temperature_decay=0.99)
    )
    schedule = settings.schedule(n_rows, 5, 1)
    assert schedule.steps_per_epoch == steps_per_epoch
    assert schedule.n_steps == 6 * steps_per_epoch
    assert schedule.batch_size == min(batch_size, n_rows)
    assert schedule.temperature_decay == 0.99
    assert settings.schedule(n_rows, 5, 1, 0.5).n_steps == 3 * steps_per_epoch


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
    longer = Settings(Training(n_epochs=50)).schedule(5000, 1_000_000, 4)
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
