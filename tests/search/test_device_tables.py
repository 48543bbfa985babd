"""Rows of a table on the device, where small tables stay for the length of a fit."""

import numpy as np
import pytest
import torch

from featuresieve.problem import Problem
from featuresieve.search import _settings, _stacks
from featuresieve.search._settings import Settings
from featuresieve.search._stacks import tensors_of


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((50, 3)).astype(np.float32)
    return Problem(features, rng.integers(0, 3, 50), 3, "classification")


def devices():
    return ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("device", devices())
@pytest.mark.parametrize("most_held", [1 << 20, 0])
@pytest.mark.parametrize("n_rows", [50, 20])
def test_rows_are_those_of_the_table_whether_it_stays_or_not(
    n_rows, most_held, device, problem, monkeypatch
):
    monkeypatch.setattr(_stacks, "MOST_HELD", most_held)
    settings = Settings(device=torch.device(device))
    rows = np.sort(np.random.default_rng(1).permutation(50)[:n_rows])
    for _ in range(2):
        features, targets = tensors_of(problem, settings, rows)
        np.testing.assert_array_equal(features.cpu().numpy(), problem.features[rows])
        np.testing.assert_array_equal(targets.cpu().numpy(), problem.targets[rows])


@pytest.mark.gpu
def test_a_gpu_gets_a_table_once_and_holds_no_more_than_is_allowed(monkeypatch):
    monkeypatch.setattr(_settings, "MOST_HELD", 100)
    settings = Settings(device=torch.device("cuda"))
    first, second = np.ones((2, 4, 5), np.float32)  # of 80 bytes each
    held = settings.on_device(first)
    assert settings.on_device(first) is held
    settings.on_device(second)
    assert settings.on_device(first) is not held
