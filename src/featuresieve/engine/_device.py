"""Where a stack is trained: the device, its memory, the torch settings there."""

import threading
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from featuresieve.errors import OutOfDeviceMemoryError


def resolve_device(device: str | torch.device) -> torch.device:
    """Return the device a name stands for; "auto" is CUDA, then MPS, then the CPU.

    Raises
    ------
    ValueError
        If the name is not a device, or the device is not there.
    """
    if isinstance(device, str) and device == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        if torch.backends.mps.is_available():
            return torch.device("mps")
        return torch.device("cpu")
    try:
        resolved = torch.device(device)
    except (RuntimeError, TypeError, ValueError) as error:
        raise ValueError(
            f"device must be 'auto' or the name of a torch device, got {device!r}."
        ) from error
    is_there = {
        "cpu": True,
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
    }
    if not is_there.get(resolved.type, False):
        raise ValueError(
            f"device={device!r} is not available here; use 'auto' or 'cpu'."
        )
    return resolved


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
            "n_members, training.batch_size or training.hidden_sizes"
            f"{elsewhere}. It said: {first}"
        ) from error


def _is_about_memory(error: Exception) -> bool:
    """Tell whether memory was what failed."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return any(sign in str(error) for sign in _SIGNS)


# Settings of the whole process: the first thread that trains takes them, and the last
# one that is done puts back what was there.
_lock = threading.Lock()
_n_inside = 0
_dtype_before = torch.float32
_rounding_before: list[str] = []
_backends: Any = torch.backends  # its types do not know all of it
_PRODUCTS = (_backends.cuda.matmul, _backends.mkldnn.matmul)


@contextmanager
def torch_defaults() -> Iterator[None]:
    """Shield training from the caller's torch settings, and them from training.

    One intra-op thread (tensors of a stack are so small that more slow it down),
    float32 and the CPU as defaults, products that are not rounded, no autocast,
    gradients allowed; all restored afterwards. Threads may train at the same time.
    """
    n_threads = torch.get_num_threads()
    _enter()
    torch.set_num_threads(1)  # of this thread
    try:
        with ExitStack() as stack:
            # A context slows every call down: enter those that are needed.
            if torch.get_default_device().type != "cpu":
                stack.enter_context(torch.device("cpu"))
            for kind in ("cpu", "cuda", "mps"):
                if torch.is_autocast_enabled(kind):
                    stack.enter_context(torch.autocast(kind, enabled=False))
            stack.enter_context(torch.inference_mode(False))
            yield
    finally:
        torch.set_num_threads(n_threads)
        _leave()


def _enter() -> None:
    """Take the settings of the process, if no other thread has."""
    global _n_inside, _dtype_before, _rounding_before
    with _lock:
        if _n_inside == 0:
            _dtype_before = torch.get_default_dtype()
            torch.set_default_dtype(torch.float32)
            _rounding_before = [products.fp32_precision for products in _PRODUCTS]
            for products in _PRODUCTS:
                products.fp32_precision = "ieee"
        _n_inside += 1


def _leave() -> None:
    """Put the settings of the process back, unless another thread still needs them."""
    global _n_inside
    with _lock:
        _n_inside -= 1
        if _n_inside == 0:
            torch.set_default_dtype(_dtype_before)
            for products, rounding in zip(_PRODUCTS, _rounding_before, strict=True):
                products.fp32_precision = rounding
