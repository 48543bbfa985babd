import ctypes.util
import subprocess
import sys

import pytest
import torch

from sievebench.stack.on_gpu import give_memory_back

# Prints whether a wait can be asleep, the largest relative error of a product on a
# device before and after products are rounded, and the share of a wait for the GPU that
# a core was busy.
SCRIPT = """
import sys
import time
import torch
from sievebench.stack.on_gpu import round_products, wait_asleep

source = torch.Generator().manual_seed(0)
left, right = torch.rand(2, 64, 64, generator=source)
exact = left.double() @ right.double()

def error():
    product = left.to(sys.argv[1]) @ right.to(sys.argv[1])
    return float(((product.cpu() - exact) / exact).abs().max())

print(wait_asleep())
print(error())
round_products()
print(error())
if sys.argv[1] == "cuda":
    torch.cuda._sleep(2_000_000_000)
    clock, busy = time.perf_counter(), time.process_time()
    torch.cuda.synchronize()
    print((time.process_time() - busy) / (time.perf_counter() - clock))
"""


def answers_of_another_process(device):
    command = [sys.executable, "-c", SCRIPT, device]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    is_asleep, *numbers = done.stdout.split()
    # A driver may be there for a PyTorch that cannot use it.
    has_driver = torch.cuda.is_available() or bool(ctypes.util.find_library("cuda"))
    assert is_asleep == str(has_driver)
    return map(float, numbers)


def test_products_on_the_cpu_are_not_rounded():
    before, after = answers_of_another_process("cpu")
    assert before == after < 1e-6


@pytest.mark.gpu
def test_products_on_a_gpu_are_rounded_to_ten_bits_and_a_wait_keeps_no_core_busy():
    before, after, busy = answers_of_another_process("cuda")
    assert before < 1e-6 < after < 2**-10
    assert busy < 0.2


@pytest.mark.gpu
def test_memory_that_is_cached_is_given_back_and_what_is_used_is_not():
    kept = torch.arange(3, device="cuda")
    freed = torch.empty(1 << 28, device="cuda")
    del freed
    before = torch.cuda.memory_reserved()
    give_memory_back()
    assert torch.cuda.memory_reserved() <= before - (1 << 30)
    assert kept.tolist() == [0, 1, 2]
