"""A device that runs out of memory, said in words that help."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from featuresieve.errors import OutOfDeviceMemoryError

# What errors of kinds that do not tell say of it, on the CPU, on CUDA and on MPS.
_SIGNS = ("can't allocate memory", "out of memory", "ALLOC_FAILED")


@contextmanager
def explain_out_of_memory(device: torch.device) -> Iterator[None]:
    """Turn every kind of running out of memory into one error that says what to do."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not _is_about_memory(error):
            raise
        # The frames below hold the tensors that fill the device.
        traceback.clear_frames(error.__traceback__)
        elsewhere = "" if device.type == "cpu" else ', or train with device="cpu"'
        first = str(error).partition("\n")[0][:200]
        raise OutOfDeviceMemoryError(
            f"the device {str(device)!r} has no memory left. Choose a smaller "
            f"batch_size, n_members or hidden_sizes{elsewhere}. It said: {first}"
        ) from error


def _is_about_memory(error: Exception) -> bool:
    """Tell whether memory was what failed."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return any(sign in str(error) for sign in _SIGNS)
