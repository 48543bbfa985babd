"""The torch settings of the caller: shielded from training, and restored after it."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch


@contextmanager
def own_torch_settings() -> Iterator[None]:
    """Train on one thread in float32 with gradients, and restore what was set before.

    The tensors of a stack are small: more threads make it slower.
    """
    n_threads, dtype = torch.get_num_threads(), torch.get_default_dtype()
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float32)
    # The context of a default device slows every call down: enter it only if needed.
    is_cpu_default = torch.get_default_device().type == "cpu"
    cpu_default = nullcontext() if is_cpu_default else torch.device("cpu")
    try:
        with torch.inference_mode(False), torch.enable_grad(), cpu_default:
            yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_num_threads(n_threads)
