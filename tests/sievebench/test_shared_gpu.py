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


# Prints the largest relative error of a product on a device, before and after.
PRODUCTS = """
import sys
import torch
from sievebench.stack.shared_gpu import round_products

source = torch.Generator().manual_seed(0)
left, right = torch.rand(2, 64, 64, generator=source)
exact = left.double() @ right.double()

def error():
    product = left.to(sys.argv[1]) @ right.to(sys.argv[1])
    return float(((product.cpu() - exact) / exact).abs().max())

print(error())
round_products()
print(error())
"""


def answers_of_another_process(script=WAIT, *arguments):
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_process_knows_whether_it_can_wait_asleep():
    # A driver may be there for a PyTorch that cannot use it.
    has_driver = torch.cuda.is_available() or bool(ctypes.util.find_library("cuda"))
    assert answers_of_another_process()[0] == str(has_driver)


@pytest.mark.gpu
def test_a_process_that_waits_keeps_no_core_busy():
    assert float(answers_of_another_process()[1]) < 0.2


def test_products_on_the_cpu_are_not_rounded():
    before, after = map(float, answers_of_another_process(PRODUCTS, "cpu"))
    assert before == after < 1e-6


@pytest.mark.gpu
def test_products_on_a_gpu_are_rounded_to_ten_places():
    before, after = map(float, answers_of_another_process(PRODUCTS, "cuda"))
    assert before < 1e-6 < after < 2**-10


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
