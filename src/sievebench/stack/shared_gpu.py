"""Settings of a process that shares a GPU with others."""

import ctypes
import gc

import torch

_BLOCKING_SYNC = 4  # CU_CTX_SCHED_BLOCKING_SYNC


def wait_asleep() -> bool:
    """Sleep while waiting for the GPU, where CUDA would keep a core busy.

    With more waiting threads than cores, those that have work to do come first. Has an
    effect only before this process uses the GPU. Returns whether there is a CUDA driver
    that does so.
    """
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    if driver.cuInit(0) != 0:
        return False
    count = ctypes.c_int()
    driver.cuDeviceGetCount(ctypes.byref(count))
    device, answers = ctypes.c_int(), []
    for number in range(count.value):
        driver.cuDeviceGet(ctypes.byref(device), number)
        answers.append(driver.cuDevicePrimaryCtxSetFlags_v2(device, _BLOCKING_SYNC))
    return bool(answers) and not any(answers)


def round_products() -> None:
    """Let CUDA round the factors of matrix products to 10 binary places (TF32).

    Networks are trained like this as a rule: several times faster, and the rounding is
    lost in the noise of mini-batches. Products on the CPU stay as they are.
    """
    torch.backends.cuda.matmul.allow_tf32 = True


def give_memory_back() -> None:
    """Return the GPU memory that this process has cached but does not use."""
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        gc.collect()
        torch.cuda.empty_cache()
