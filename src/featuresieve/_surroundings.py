"""The torch settings of the caller: shielded from training, and restored after it."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch


@contextmanager
def own_surroundings() -> Iterator[None]:
    """Shield training from the caller's torch settings, and them from training.

    One intra-op thread (tensors of a stack are so small that more slow it down),
    float32 and the CPU as defaults, gradients allowed; all restored afterwards.
    """
    n_threads, dtype = torch.get_num_threads(), torch.get_default_dtype()
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float32)
    # The context of a default device slows every call down: enter it only if needed.
    is_cpu_default = torch.get_default_device().type == "cpu"
    cpu_default = nullcontext() if is_cpu_default else torch.device("cpu")
    try:
        with cpu_default, torch.inference_mode(False):
            yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_num_threads(n_threads)
