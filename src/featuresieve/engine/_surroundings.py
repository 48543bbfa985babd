"""The torch settings of the caller: shielded from training, and restored after it."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

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
