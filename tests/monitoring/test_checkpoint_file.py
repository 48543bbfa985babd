import json
import os
import pickle
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from featuresieve import AutoNFSRegressor, CheckpointError, FeatureSieveError
from featuresieve.monitoring import _checkpoint
from featuresieve.monitoring._checkpoint import Checkpoint
from interrupted_fits import (
    answers,
    assert_same_answers,
    classifier,
    fit_until,
    own_network,
)
from made_tables import class_table
from quick_selectors import built

# Quality does not matter here, and a few epochs may leave the answer in doubt.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::featuresieve.{name}")
    for name in ("SelectionCollapseWarning", "UninformativeTargetWarning")
]


@pytest.fixture
def left_behind(path):
    """Return the checkpoint of a fit that ended in its first stage."""
    assert fit_until(classifier(path), *class_table(), n_writes=5)
    return path


@pytest.mark.parametrize(
    ("arguments", "statement"),
    [
        ({"n_members": 5}, "training.n_members is 20 there and 5 here"),
        (
            {"hidden_sizes": (8,)},
            "training.hidden_sizes is [32, 32] there and [8] here",
        ),
        ({"balance": 0.5}, "balance is 'auto' there and 0.5 here"),
        (
            {"task_network": own_network},
            "task_network is None there and 'interrupted_fits.own_network' here",
        ),
        ({"scaling": "standard"}, "the data, or their weights, groups or encoding"),
        (
            {"feature_groups": [[0, 1]]},
            "the data, or their weights, groups or encoding",
        ),
        ({"random_state": 4}, "a fit with another random_state"),
    ],
)
def test_checkpoint_of_other_arguments_is_refused_by_name(
    left_behind, arguments, statement
):
    with pytest.raises(CheckpointError, match=re.escape(statement)) as caught:
        classifier(left_behind, **arguments).fit(*class_table())
    assert str(left_behind) in str(caught.value)
    assert "Delete the file" in str(caught.value)


@pytest.mark.parametrize("part", ["a cell", "a label", "a row", "weights", "values"])
def test_checkpoint_of_other_data_is_refused(left_behind, part):
    X, y = class_table()
    weights = np.arange(1, len(y) + 1) if part == "weights" else None
    if part == "a cell":
        X[7, 3] += 9.0
    elif part == "a label":
        y[7] = not y[7]
    elif part == "a row":
        X, y = X[1:], y[1:]
    selector = classifier(left_behind)
    if part == "values":
        settings = {"n_epochs": 4, "random_state": 3, "checkpoint": left_behind}
        selector, y = built(AutoNFSRegressor, **settings), y.astype(float)
    with pytest.raises(CheckpointError, match="the data"):
        selector.fit(X, y, sample_weight=weights)


def test_arguments_that_do_not_touch_the_answer_may_change(left_behind, capsys):
    X, y = class_table()
    expected = answers(classifier(None).fit(X, y), X)
    copy = shutil.copy(left_behind, left_behind.with_name("copy"))
    selector = classifier(os.fspath(left_behind), verbose=1, max_time=1e6, device="cpu")
    assert_same_answers(answers(selector.fit(X, y), X), expected)
    assert "predictor (3 of 3)" in capsys.readouterr().err
    # The search depends on content alone, so that of shuffled columns is the same.
    order = np.random.default_rng(0).permutation(X.shape[1])
    found = classifier(copy).fit(X[:, order], y).logits_
    np.testing.assert_array_equal(found, expected["logits"][order])


def test_open_random_state_is_decided_by_the_file(path):
    X, y = class_table()
    selector = classifier(path, random_state=None)
    assert fit_until(selector, X, y, n_writes=5)
    copy = shutil.copy(path, path.with_name("copy"))
    first = answers(selector.fit(X, y), X)
    second = answers(selector.set_params(checkpoint=copy).fit(X, y), X)
    assert_same_answers(second, first)


def truncated(data):
    return data[: len(data) // 2]


def damaged(data):
    place = len(data) - 200
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


class Hostile:
    """Writes a file when it is unpickled."""

    def __reduce__(self):
        return Path.touch, (Path("was_here"),)


@pytest.mark.parametrize(
    "spoil",
    [
        truncated,
        damaged,
        lambda _: b"",
        lambda data: data.replace(b"checkpoint", b"chequepint"),
        lambda _: pickle.dumps(Hostile()),
    ],
)
def test_spoilt_file_is_refused_and_not_run(left_behind, spoil, monkeypatch):
    monkeypatch.chdir(left_behind.parent)
    left_behind.write_bytes(spoil(left_behind.read_bytes()))
    with pytest.raises(CheckpointError, match="cannot be used") as caught:
        classifier(left_behind).fit(*class_table())
    assert isinstance(caught.value, FeatureSieveError)
    assert [file.name for file in left_behind.parent.iterdir()] == [left_behind.name]


def changed(path, edit):
    """Write a checkpoint anew, well sealed, after an edit of its arrays."""
    header, arrays = _checkpoint.unpack(path)
    edit(arrays)
    path.write_bytes(_checkpoint.pack(header, arrays))


@pytest.mark.parametrize(
    "edit",
    [
        lambda arrays: arrays.pop("0.trainer.step"),
        lambda arrays: arrays.update({"0.trainer.step": np.array([10**9])}),
        lambda arrays: arrays.update({"0.trainer.step": np.array([-1])}),
        lambda arrays: arrays.update({"0.trainer.step": np.array([1.0])}),
        lambda arrays: arrays.update({"0.trainer.running.float32": np.zeros(3)}),
        lambda arrays: arrays.pop("0.trainer.running.float32"),
        lambda arrays: arrays.update(
            {"0.trainer.running.noise.generator": np.zeros(3, dtype=np.uint8)}
        ),
        lambda arrays: arrays.update({"0.trainer.history.step": np.zeros((2, 2))}),
    ],
)
def test_sealed_file_with_a_state_that_does_not_fit_is_refused(left_behind, edit):
    changed(left_behind, edit)
    with pytest.raises(CheckpointError, match="cannot be used: in stage 0"):
        classifier(left_behind).fit(*class_table())


def test_saved_estimator_is_no_checkpoint(path):
    selector = classifier(None).fit(*class_table())
    selector.save(path)
    with pytest.raises(CheckpointError, match="cannot be used"):
        classifier(path).fit(*class_table())


def test_checkpoint_has_a_readable_header_and_the_time_spent_counts(left_behind):
    data = left_behind.read_bytes()
    n_header = int.from_bytes(data[:8], "little")
    outer = json.loads(data[8 : 8 + n_header])
    header = json.loads(outer["__metadata__"]["featuresieve"])
    assert header["kind"] == "checkpoint"
    fingerprint, spent = header["fingerprint"], header["spent_seconds"]
    assert fingerprint["training.n_epochs"] == 4
    assert spent > 0
    seed = {"seed": header["seed"], "is_seed_free": False}
    again = Checkpoint(left_behind, fingerprint, **seed, started=1000.0)
    assert again.started == 1000.0 - spent


def test_finished_fit_deletes_nothing_of_others(tmp_path):
    path = tmp_path / "run"
    others = [
        *(".run.2.abcdefgh.checkpoint.part", ".run.abcdefgh.part", ".run.part"),
        *(".run.mine.part", "run.abcdefgh.checkpoint.part", "run.2"),
    ]
    for name in others:
        (tmp_path / name).write_text("theirs")
    classifier(path).fit(*class_table())
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(others)


def test_checkpoint_through_a_link_goes_on_from_a_file_elsewhere(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    link = tmp_path / "link"
    link.symlink_to(folder / "real")
    X, y = class_table()
    expected = answers(classifier(None).fit(X, y), X)
    assert fit_until(classifier(link), X, y, n_writes=5)
    assert_same_answers(answers(classifier(link).fit(X, y), X), expected)
    assert sorted(tmp_path.iterdir()) == [folder, link]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "target", [".", "no/such/folder/a", "link", os.devnull], ids=str
)
def test_checkpoint_that_leads_to_no_file_is_refused_at_once(target, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(target)
    with pytest.raises(ValueError, match="checkpoint must be the path of a file in a"):
        classifier(link).fit(*class_table())
    assert link.is_symlink()
