"""What ranks say to one another, and which members each trains."""

import multiprocessing
from types import SimpleNamespace

import pytest
import torch

from featuresieve.engine import StackedMLP
from featuresieve.engine._slices import cuts_of
from ranked_fits import Talk, on_ranks
from small_stacks import CPU


@pytest.mark.skipif(
    "forkserver" not in multiprocessing.get_all_start_methods(), reason="needs forks"
)
def test_every_rank_hears_the_same():
    for talk in on_ranks(3, Talk):
        assert (talk.size, talk.most, talk.from_first) == (3, 2, "of 0")
        assert talk.gathered == ["a", "b", "c"]
        assert talk.broadcast == [[[2.0, 2.0]] * 3, [2, 2]]
        assert talk.squares == [0, 1, 4, 9, 16, 25, 36]
        assert talk.error == "no room"


@pytest.mark.parametrize(
    ("device", "n_columns", "n_ranks", "expected"),
    [
        ("cpu", 400, 1, [4, 4, 4, 4]),  # 53 million multiply-adds
        ("cpu", 400, 3, [4, 4, 4, 4]),
        ("cpu", 20, 3, [16]),
        ("cuda", 400, 3, [16]),
        ("cuda", 40_000, 3, [5, 5, 6]),
        ("cuda", 40_000, 1, [16]),
    ],
)
def test_only_gpus_are_cut_by_the_number_of_ranks(device, n_columns, n_ranks, expected):
    drawn = {"generator": torch.Generator().manual_seed(0)}
    drawn |= {"dtype": torch.float32, "device": CPU}
    task = StackedMLP(n_columns, 2, 16, hidden_sizes=(32,), **drawn)
    features = SimpleNamespace(device=torch.device(device))
    data = SimpleNamespace(features=features, targets=range(1000))
    cuts = cuts_of(task, data, 256, n_ranks)
    assert [cut.stop - cut.start for cut in cuts] == expected
    assert [cut.start for cut in cuts[1:]] == [cut.stop for cut in cuts[:-1]]
