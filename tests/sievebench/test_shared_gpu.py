"""Manners of a process that has a GPU together with others."""

import ctypes.util
import subprocess
import sys

import pytest
import torch

from sievebench.stack.shared_gpu import give_memory_back

# Prints whether it worked, and the share of a wait that a core was busy.
WAIT = """
import time
import torch
from sievebench.stack.shared_gpu import wait_asleep

print(wait_asleep())
if torch.cuda.is_available():
    torch.ones(1, device="cuda").cpu()
    torch.cuda._sleep(2_000_000_000)
    clock, busy = time.perf_counter(), time.process_time()
    torch.cuda.synchronize()
    print((time.process_time() - busy) / (time.perf_counter() - clock))
"""


def answers_of_another_process():
    command = [sys.executable, "-c", WAIT]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_process_knows_whether_it_can_wait_asleep():
    # A driver may be there for a PyTorch that cannot use it.
    has_driver = torch.cuda.is_available() or bool(ctypes.util.find_library("cuda"))
    assert answers_of_another_process()[0] == str(has_driver)


@pytest.mark.gpu
def test_a_process_that_waits_keeps_no_core_busy():
    assert float(answers_of_another_process()[1]) < 0.2


def test_giving_memory_back_harms_nothing_without_a_gpu():
    kept = torch.arange(3)
    give_memory_back()
    assert kept.tolist() == [0, 1, 2]


@pytest.mark.gpu
def test_memory_that_is_cached_is_given_back_and_what_is_used_is_not():
    kept = torch.arange(3, device="cuda")
    freed = torch.empty(1 << 28, device="cuda")
    del freed
    before = torch.cuda.memory_reserved()
    give_memory_back()
    assert torch.cuda.memory_reserved() <= before - (1 << 30)
    assert kept.tolist() == [0, 1, 2]
