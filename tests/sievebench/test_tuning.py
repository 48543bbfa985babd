import json
import multiprocessing
from dataclasses import replace

import optuna
import pytest
from made_trials import SPACE as X
from made_trials import Asked, parabola, share_of_work

from sievebench.downstream import PREDICTORS
from sievebench.search_space import (
    Choice,
    HiddenSizes,
    Integer,
    LogUniform,
    Uniform,
    ZeroOr,
)
from sievebench.selectors import SELECTORS
from sievebench.tuning import (
    JournalError,
    NothingWorkedError,
    SharedStudy,
    StorageError,
    forget,
    open_storage,
    tune,
)
from sievebench.tuning._study import suggest_settings

SPACE = {
    "part": {
        "rate": LogUniform(1e-5, 1e-2),
        "share": Uniform(0.25, 0.5),
        "depth": Integer(2, 10, step=4),
        "kind": Choice(("a", None)),
        "sizes": Choice(((64,), (128, 64))),
        "decay": ZeroOr(LogUniform(1e-6, 1e-3)),
        "hidden": HiddenSizes(Integer(1, 4), Integer(1, 8)),
    }
}


class Extreme:
    """A trial that always draws one end, or the first or last choice."""

    def __init__(self, place):
        self.place, self.names = place, []

    def suggest_float(self, name, low, high, *, log=False):  # noqa: ARG002
        self.names.append(name)
        return (low, high)[self.place]

    def suggest_int(self, name, low, high, *, step=1):
        self.names.append(name)
        return (low, high - (high - low) % step)[self.place]

    def suggest_categorical(self, name, choices):
        self.names.append(name)
        return choices[-self.place]


def test_draws_cover_the_space_from_end_to_end():
    trial = Extreme(1)
    low = suggest_settings(Extreme(0), SPACE)["part"]
    high = suggest_settings(trial, SPACE)["part"]
    # Middle layers share one size, and names carry the part.
    sizes = ("n_layers", "first", "middle", "last")
    assert trial.names[-4:] == [f"part.hidden.{part}" for part in sizes]
    assert {name: (low[name], high[name]) for name in low} == {
        "rate": (1e-5, 1e-2),
        "share": (0.25, 0.5),
        "depth": (2, 10),
        "kind": ("a", None),
        "sizes": ((64,), (128, 64)),
        "decay": (0.0, 1e-3),
        "hidden": ((1,), (8, 8, 8, 8)),
    }


@pytest.mark.parametrize("name", SELECTORS)
def test_every_selector_can_be_built_from_its_space(name):
    kind = SELECTORS[name]
    for place in (0, 1):
        drawn = suggest_settings(Extreme(place), {"selector": kind.search_space()})
        kind(**drawn["selector"])


def drawn_by(journal, *, dies_after=None, n_trials=14, batch_size=1):
    """Search, die on the way if asked to, and return what was judged and found."""
    judge = Asked(dies_after)
    limits = {"n_trials": n_trials, "batch_size": batch_size}
    try:
        found = tune(X, judge, seed=0, journal=journal, **limits)
    except KeyboardInterrupt:
        found = None
    return judge.drawn, found


@pytest.mark.parametrize("batch_size", [1, 5])
def test_search_that_was_killed_ends_as_if_it_had_not(tmp_path, batch_size):
    whole, expected = drawn_by(None, batch_size=batch_size)
    assert len(set(whole)) == 14
    journal, parts = tmp_path / "deep" / "trials.log", []
    for dies_after in (3, 0, 4, None):
        judged, found = drawn_by(journal, dies_after=dies_after, batch_size=batch_size)
        assert (found is None) == (dies_after is not None)
        parts += judged
    assert parts == whole
    assert replace(found, seconds=0) == replace(expected, seconds=0)


def test_line_that_was_broken_off_is_one_trial_lost_and_seconds_may_lack(tmp_path):
    journal = tmp_path / "trials.log"
    whole, found = drawn_by(journal, n_trials=4)
    journal.write_bytes(journal.read_bytes()[:-5])
    assert drawn_by(journal, n_trials=4)[0] == whole[-1:]
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    for line in lines:
        assert line.pop("seconds") >= 0
    journal.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    again, other = drawn_by(journal, n_trials=4)
    assert (len(whole), again) == (4, [])
    assert other.score == found.score


def test_settings_that_did_not_work_are_not_tried_again(tmp_path):
    journal, sizes = tmp_path / "trials.log", []

    def judge(batch):
        sizes.append(len(batch))
        return [None if s["part"]["x"] > 0.5 else s["part"]["x"] for s in batch]

    first, second = (
        tune(X, judge, n_trials=8, seed=0, journal=journal) for _ in range(2)
    )
    assert sizes == [1] * 8
    assert 8 > first.n_failed == second.n_failed > 0
    assert first.settings == second.settings
    assert first.settings["part"]["x"] <= 0.5


@pytest.mark.parametrize(
    "text", ["{}", "[]", "trials", '{"settings": {}, "score": "a"}', "\x00\xff"]
)
def test_file_that_is_no_journal_is_left_alone(tmp_path, text):
    journal = tmp_path / "trials.log"
    journal.write_text(f"{text}\n", encoding="latin-1")
    before = journal.read_bytes()
    with pytest.raises(JournalError, match=r"trials\.log, line 1, is no trial"):
        drawn_by(journal)
    assert journal.read_bytes() == before


def test_batches_are_asked_for_at_once_and_late_ones_end_with_the_first_score():
    judge, sizes = Asked(), []
    tune(X, judge, n_trials=7, seed=0, batch_size=3)
    assert judge.sizes == [3, 3, 1]

    def late(batch):
        sizes.append(len(batch))
        return [None] * len(batch) if len(sizes) < 3 else parabola(batch)

    found = tune(X, late, n_trials=20, seed=0, batch_size=2, max_seconds=1e-9)
    assert sizes == [2, 2, 2]
    assert (found.n_trials, found.n_failed) == (6, 4)


class KilledError(Exception):
    pass


@pytest.mark.parametrize("dies_after", [0, 1, 2, 3])
def test_search_that_goes_on_has_only_the_time_that_was_left(
    tmp_path, monkeypatch, dies_after
):
    # A trial takes three seconds of ten: after the fourth it is late.
    now = [0.0]
    monkeypatch.setattr("sievebench.tuning.time.perf_counter", lambda: now[0])
    journal, n_judged = tmp_path / "trials.log", [0]

    def judge(batch):
        if n_judged[0] == dies_after:
            n_judged[0] = -100
            raise KilledError
        n_judged[0] += 1
        now[0] += 3.0
        return parabola(batch)

    limits = {"n_trials": 20, "seed": 0, "journal": journal, "max_seconds": 10.0}
    with pytest.raises(KilledError):
        tune(X, judge, **limits)
    now[0] += 1000.0
    assert tune(X, judge, **limits).n_trials == 4
    assert tune(X, judge, **limits).n_trials == 4


def test_tuples_survive_the_journal_and_nothing_that_works_is_an_error(tmp_path):
    space = {"part": {"sizes": HiddenSizes(Integer(2, 2), Integer(3, 3))}}
    judge, journal = (lambda batch: [1.0] * len(batch)), tmp_path / "trials.log"
    found = tune(space, judge, n_trials=1, seed=0, journal=journal)
    assert found.settings["part"]["sizes"] == (3, 3)
    with pytest.raises(NothingWorkedError, match="none of 3 settings worked"):
        tune(X, lambda batch: [float("nan")] * len(batch), n_trials=3, seed=0)


@pytest.mark.slow
def test_two_workers_share_one_study(tmp_path):
    trials = SharedStudy(f"sqlite:///{tmp_path / 'trials.db'}", "small/cell")
    context = multiprocessing.get_context("spawn")
    drawn, start = context.Queue(), context.Barrier(2)
    workers = [
        context.Process(target=share_of_work, args=(trials, start, drawn))
        for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    judged = [x for _ in workers for x in drawn.get(timeout=120)]
    for worker in workers:
        worker.join(20)
    # The last trial may be asked for by both.
    assert 12 <= len(judged) <= 13
    assert len(set(judged)) == len(judged)
    again = []
    found = tune(X, again.append, n_trials=12, seed=0, journal=trials)
    assert (found.n_trials, found.n_failed, again) == (len(judged), 0, [])
    best = min(judged, key=lambda x: abs(x - 0.3))
    assert found.settings["part"]["x"] == best


def test_lone_process_draws_what_optuna_draws():
    judge = Asked()
    tune(X, judge, n_trials=14, seed=7)
    sampler = optuna.samplers.TPESampler(seed=7, constant_liar=True)
    study = optuna.create_study(sampler=sampler, direction="maximize")
    study.optimize(lambda trial: -((trial.suggest_float("x", 0, 1) - 0.3) ** 2), 14)
    assert judge.drawn == [trial.params["x"] for trial in study.trials]


def test_studies_of_one_database_are_apart_and_can_be_forgotten(tmp_path):
    address = f"sqlite:///{tmp_path / 'trials.db'}"
    first, second = (SharedStudy(address, name) for name in ("first", "second"))
    for study in (first, second):
        assert tune(X, parabola, n_trials=3, seed=0, journal=study).n_trials == 3
    forget(first)
    forget(first)
    names = optuna.get_all_study_names(open_storage(address))
    assert names == ["second"]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("trials.db", "'trials.db' is no address"),
        ("magic://lab:secret@host/trials", r"'magic://lab:\*\*\*@host/trials' is no"),
        ("mysql+asyncmy://a:secret@host/trials", r"//a:\*\*\*@host/trials needs a"),
        ("sqlite:////nowhere/at/all/trials.db", "cannot be used: unable to open"),
    ],
)
def test_database_that_cannot_be_used_is_named_without_its_password(address, message):
    with pytest.raises(StorageError, match=message):
        open_storage(address)


def test_predictors_spaces_are_the_protocols():
    space = PREDICTORS["mlp"].space
    assert space["hidden_sizes"] == HiddenSizes(Integer(1, 8), Integer(1, 512))
    assert space["dropout"] == ZeroOr(Uniform(0.0, 0.5))
    assert space["learning_rate"] == LogUniform(1e-5, 1e-2)
    assert space["weight_decay"] == ZeroOr(LogUniform(1e-6, 1e-3))
