import runpy
import sys
from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from featuresieve import AutoNFSClassifier, Training, TrainingDivergedError
from featuresieve.monitoring import _callbacks
from interrupted_fits import answers, assert_same_answers, fit_until
from made_tables import class_table
from quick_selectors import built

callback = pytest.importorskip("sklearn.callback")

# Quality does not matter here, and a few epochs may leave the answer in doubt.
pytestmark = pytest.mark.filterwarnings("ignore::featuresieve.FeatureSieveWarning")


# Callbacks have the arguments that scikit-learn calls them with, used or not.
# ruff: noqa: ARG002


class Recorder:
    """Notes what it is told, and asks to stop after some parts of a stage."""

    def __init__(self, stage=None, after=0):
        self.stage, self.after = stage, after
        self.begun, self.ended, self.calls = [], [], []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(path_of(context))

    def on_fit_task_end(self, estimator, context):
        path = path_of(context)
        self.ended.append(path)
        return path[1:] == (self.stage, "part") and context.task_id >= self.after - 1


def path_of(context):
    own = (context.task_name,)
    return own if context.parent is None else (*path_of(context.parent), *own)


def classifier(**arguments):
    arguments = {"n_epochs": 30, "n_members": 20, "random_state": 3} | arguments
    return built(AutoNFSClassifier, **arguments)


def test_a_fit_has_three_stages_of_up_to_a_hundred_parts_that_all_end():
    recorder = Recorder()
    selector = classifier().set_callbacks(recorder).fit(*class_table())
    counts = Counter(recorder.ended)
    assert Counter(recorder.begun) == counts
    assert recorder.begun[0] == recorder.ended[-1] == ("fit",)
    assert recorder.calls == ["setup", "teardown"]
    stages = [path[1] for path in recorder.ended if len(path) == 2]
    assert stages == ["gates", "refit", "predictor"]
    n_steps = selector.history_["step"][-1]
    assert counts[("fit", "gates", "part")] == min(100, n_steps)


def test_callbacks_change_nothing_about_the_answer():
    X, y = class_table()
    plain = classifier().fit(X, y)
    followed = classifier().set_callbacks(Recorder()).fit(X, y)
    assert_same_answers(answers(followed, X), answers(plain, X))
    assert vars(followed).keys() - vars(plain).keys() == {"_skl_callbacks"}


def test_stopping_the_gates_ends_them_there_and_completes_the_fit(recwarn):
    X, y = class_table()
    whole = classifier().fit(X, y)
    recorder = Recorder("gates", after=50)
    stopped = classifier().set_callbacks(recorder).fit(X, y)
    counts = Counter(recorder.ended)
    assert counts[("fit", "gates", "part")] == 50
    assert counts[("fit", "predictor", "part")] > 50
    # Half of the steps, and the records of the longer run up to there.
    n_steps = whole.history_["step"][-1]
    last = stopped.history_["step"][-1]
    assert last == pytest.approx(n_steps / 2, abs=1)
    shared = np.isin(whole.history_["step"], stopped.history_["step"])
    assert shared.sum() >= 15
    np.testing.assert_array_equal(
        whole.history_["task_loss"][shared],
        stopped.history_["task_loss"][: shared.sum()],
    )
    assert stopped.score(X, y) > 0.7
    assert not [w for w in recwarn if "max_time" in str(w.message)]


@pytest.mark.parametrize("stage", ["refit", "predictor"])
def test_stopping_a_later_stage_leaves_the_gates_alone(stage):
    X, y = class_table()
    whole = classifier().fit(X, y)
    recorder = Recorder(stage, after=5)
    stopped = classifier().set_callbacks(recorder).fit(X, y)
    assert Counter(recorder.ended)[("fit", stage, "part")] == 5
    np.testing.assert_array_equal(
        stopped.history_["task_loss"], whole.history_["task_loss"]
    )
    assert stopped.n_features_selected_ >= 1


def test_a_stage_that_was_stopped_stays_so_in_a_checkpoint(tmp_path):
    X, y = class_table()
    expected = answers(
        classifier().set_callbacks(Recorder("gates", after=30)).fit(X, y), X
    )
    selector = classifier(checkpoint=tmp_path / "file")
    selector.set_callbacks(Recorder("gates", after=30))
    n_steps = len(expected["history step"])
    assert fit_until(selector, X, y, n_writes=80 + n_steps)
    assert_same_answers(answers(selector.fit(X, y), X), expected)


def test_an_error_tears_callbacks_down_and_keeps_them():
    recorder = Recorder()
    selector = classifier(training=Training(task_learning_rate=1e30)).set_callbacks(
        recorder
    )
    before = dict(vars(selector))
    with pytest.raises(TrainingDivergedError):
        selector.fit(*class_table())
    assert recorder.calls == ["setup", "teardown"]
    assert vars(selector) == before


def test_callbacks_reach_the_estimator_through_a_pipeline_and_clones():
    class Propagated(Recorder):
        max_propagation_depth = None

    recorder = Propagated()
    pipeline = make_pipeline(StandardScaler(), classifier())
    pipeline.set_callbacks(recorder).fit(*class_table())
    assert recorder.calls == ["setup", "teardown"]
    assert Counter(path[-1] for path in recorder.ended)["part"] > 100
    recorder = Recorder()
    clone(classifier().set_callbacks(recorder)).fit(*class_table())
    assert recorder.calls == ["setup", "teardown"]


def test_progress_bar_shows_the_stages(capsys):
    pytest.importorskip("rich")
    classifier().set_callbacks(callback.ProgressBar()).fit(*class_table())
    shown = capsys.readouterr().out
    for name in ("fit", "gates #0", "refit #1", "predictor #2"):
        assert f"AutoNFSClassifier - {name}" in shown


def test_scoring_monitor_scores_the_finished_fit():
    X, y = class_table()
    monitor = callback.ScoringMonitor(scoring="accuracy")
    selector = classifier().set_callbacks(monitor).fit(X, y)
    (row,) = monitor.get_logs().data
    assert row["task_name"] == "fit"
    assert row["accuracy"] == selector.score(X, y)


def test_library_does_without_callbacks_in_an_older_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)  # it has no such module
    name = _callbacks.__name__
    callbacks = runpy.run_path(_callbacks.__file__, run_name=name)
    assert callbacks["CallbackSupportMixin"].__module__ == name
    assert callbacks["with_callbacks"](len) is len
