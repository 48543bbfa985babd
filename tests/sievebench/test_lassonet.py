import threading
import time
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from lassonet.interfaces import LassoNetClassifier, NonFiniteLossError

from made_tables import class_table
from sievebench import selectors
from sievebench.selectors import LassoNet

QUICK = {
    "hidden_sizes": (16,),
    "first_penalty": 5.0,
    "path_multiplier": 1.3,
    "n_epochs": (100, 20),
}


@pytest.mark.parametrize("hierarchy", [1.0, 10.0])
def test_first_layer_stays_below_the_skip_layer(hierarchy, monkeypatch):
    follow, followed = LassoNetClassifier.path, []

    def remember(network, *arguments, **named):
        followed.append((network, follow(network, *arguments, **named)))
        return followed[-1][1]

    monkeypatch.setattr(LassoNetClassifier, "path", remember)
    settings = {**QUICK, "hierarchy": hierarchy, "max_penalty": 400.0}
    LassoNet(**settings, random_state=0).fit(*class_table())
    ((network, path),) = followed
    skip = network.model.skip.weight.norm(dim=0)
    first_layer = network.model.layers[0].weight.abs().amax(dim=0)

    assert len(path) > 2
    assert (first_layer <= hierarchy * skip * (1 + 1e-5)).all()  # float32
    assert (first_layer[skip == 0] == 0).all()


def test_scores_are_penalties_of_the_path():
    X, y = class_table()
    selector = LassoNet(**QUICK, random_state=0).fit(X, y)
    path = 5.0 * 1.3 ** np.arange(selector.n_path_steps_)
    nearest = np.abs(selector.scores_[:, None] / path - 1).min(axis=1)
    assert nearest.max() < 1e-5  # the package keeps them in float32


def test_paths_without_end_or_with_divergence_are_errors_with_advice(monkeypatch):
    def diverge(*_, **__):
        raise NonFiniteLossError("Loss is nan.")

    with pytest.raises(ValueError, match="raise max_penalty"):
        LassoNet(**QUICK, max_penalty=5.1, random_state=0).fit(*class_table())
    monkeypatch.setattr(LassoNetClassifier, "path", diverge)
    with pytest.raises(ValueError, match="LassoNet diverged: Loss is nan"):
        LassoNet().fit(*class_table())


def test_columns_left_at_the_end_of_the_path_score_infinity():
    X, y = class_table()
    whole = LassoNet(**QUICK, random_state=0).fit(X, y).scores_
    end = np.sort(whole)[-2] * 0.99  # before the last two leave
    cut = LassoNet(**QUICK, max_penalty=end, random_state=0).fit(X, y).scores_
    np.testing.assert_array_equal(np.isinf(cut), whole > end)


@pytest.mark.parametrize(
    ("settings", "device"),
    [
        ({}, "cuda"),
        ({"batch_size": 512}, "cpu"),
        ({"batch_size": 512, "device": "cuda"}, "cuda"),
        ({"device": "cpu"}, "cpu"),
    ],
)
def test_batches_train_on_the_cpu_unless_told_otherwise(monkeypatch, settings, device):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert LassoNet(**settings)._own_device().type == device


def test_threads_and_random_numbers_of_the_caller_are_left_alone():
    n_threads, state = torch.get_num_threads(), torch.get_rng_state()
    LassoNet(**QUICK).fit(*class_table())
    assert torch.get_num_threads() == n_threads
    assert torch.equal(torch.get_rng_state(), state)


def test_seconds_do_not_count_the_wait_for_other_fits(monkeypatch):
    # The clock of one fit is read twice before that of the other is read at all.
    readers = []

    def clock():
        readers.append(threading.get_ident())
        return 0.0

    monkeypatch.setattr(selectors, "time", SimpleNamespace(perf_counter=clock))
    monkeypatch.setattr(LassoNet, "fit", lambda *_: time.sleep(0.05))
    monkeypatch.setattr(LassoNet, "get_support", lambda _: None)
    monkeypatch.setattr(LassoNet, "scores_", None, raising=False)
    part = SimpleNamespace(X=None, y=None)
    split = SimpleNamespace(task="classification", train=part)
    fit = partial(selectors.select, "lassonet", split, keep=None, seed=0)
    both = [threading.Thread(target=fit) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert readers[0] == readers[1]
    assert readers[2] == readers[3] != readers[0]
