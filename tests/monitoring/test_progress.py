import io
import re
import sys
from itertools import pairwise

import pytest

from featuresieve import AutoNFSClassifier, Training, TrainingDivergedError
from featuresieve.monitoring import _progress
from featuresieve.monitoring._progress import Progress
from featuresieve.process import as_clock
from made_tables import class_table
from quick_selectors import built

# Quality does not matter here, and a few epochs may leave the answer in doubt.
pytestmark = pytest.mark.filterwarnings("ignore::featuresieve.FeatureSieveWarning")

LINE = r"featuresieve: (\w+) \((\d) of (\d)\), step (\d+) of (\d+), \d+ s"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def fit(**arguments):
    settings = {"n_epochs": 4, "random_state": 3}
    return built(AutoNFSClassifier, **(settings | arguments)).fit(*class_table())


def open_terminal(monkeypatch):
    """Make standard error a terminal whose line changes after every step.

    Not a fixture: pytest puts its own stream in place after those.
    """
    monkeypatch.setattr(_progress, "TERMINAL_SECONDS", 0.0)
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


@pytest.mark.parametrize("verbose", [0, False, 1, True, 10])
def test_a_stage_ends_with_a_line_on_standard_error_if_asked_for(verbose, capfd):
    fit(verbose=verbose)
    out, err = capfd.readouterr()
    assert out == ""
    found = [re.match(LINE, line).groups() for line in err.splitlines()]
    stages = ["gates", "refit", "predictor"] if verbose else []
    expected = [(name, str(n), "3") for n, name in enumerate(stages, 1)]
    assert [row[:3] for row in found] == expected
    assert all(done == planned for *_, done, planned in found)


@pytest.mark.parametrize("arguments", [{"balance": 0.1}, {"n_features_to_select": 2}])
def test_a_fit_without_candidates_has_two_stages(arguments, capfd):
    fit(verbose=1, **arguments)
    lines = capfd.readouterr().err.splitlines()
    assert [re.match(LINE, line)[1] for line in lines] == ["gates", "predictor"]
    assert "(2 of 2)" in lines[1]


def test_long_stages_write_lines_in_between(capfd, monkeypatch):
    monkeypatch.setattr(_progress, "LINE_SECONDS", 0.0)
    fit(verbose=1)
    lines = capfd.readouterr().err.splitlines()
    gates = [re.match(LINE, line) for line in lines if "gates" in line]
    n_steps = int(gates[0][5])
    expected = [*range(1, n_steps + 1), n_steps]  # and once more at the end
    assert [int(found[4]) for found in gates] == expected


def test_a_terminal_shows_one_line_that_changes(monkeypatch):
    terminal = open_terminal(monkeypatch)
    fit(verbose=1)
    text = terminal.getvalue()
    assert text.startswith("\rfeaturesieve: gates")
    assert text.count("\n") == 1
    assert text.endswith("\n")
    states = text.rstrip("\n").split("\r")[1:]
    assert len(states) > 20
    # A shorter line leaves nothing of a longer one.
    for before, state in pairwise(states):
        assert len(state) >= len(before.rstrip())


def test_an_error_ends_the_line_and_no_standard_error_is_none(monkeypatch):
    terminal = open_terminal(monkeypatch)
    with pytest.raises(TrainingDivergedError):
        fit(verbose=1, training=Training(task_learning_rate=1e30))
    assert terminal.getvalue().endswith("\n")
    monkeypatch.setattr(sys, "stderr", None)
    assert fit(verbose=1).n_features_selected_ >= 1


def told_after(steps, seconds, monkeypatch, *, stage="gates", n_steps=100):
    """Return the line after some steps at a constant speed, with a clock of our own."""
    clock = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: clock[0])
    stream = open_terminal(monkeypatch)
    progress = Progress(["gates", "refit", "predictor"], started=0.0)
    progress.begin_stage(stage, 0, n_steps, lambda: None)
    for step in range(1, steps + 1):
        clock[0] = seconds * step / steps
        progress.after_step(step, n_steps)
    return stream.getvalue().rpartition("\r")[2]


@pytest.mark.parametrize(
    ("step", "seconds", "stage", "told"),
    [
        # 20 s for a quarter: 60 s left of the gates, which are 80 % of a usual fit, and
        # 20 s for the rest.
        (25, 20.0, "gates (1 of 3)", "20 s, about 1 min 20 s left"),
        (50, 5.0, "predictor (3 of 3)", "5 s, about 5 s left"),
        (3, 20.0, "gates (1 of 3)", "20 s"),  # not enough to know
    ],
)
def test_the_time_left_counts_this_stage_and_those_to_come(
    step, seconds, stage, told, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "100")
    line = told_after(step, seconds, monkeypatch, stage=stage.split()[0])
    whole = f"featuresieve: {stage}, step {step} of 100, {told}"
    assert line.rstrip() == whole
    monkeypatch.setenv("COLUMNS", "40")  # the line fits into a narrow terminal
    line = told_after(step, seconds, monkeypatch, stage=stage.split()[0])
    assert len(line) == 39


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
        (360000, "100 h 0 min"),
    ],
)
def test_times_are_written_to_be_read(seconds, text):
    assert as_clock(seconds) == text
