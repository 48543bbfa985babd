"""Where a stack is trained: device, cores, memory, the torch settings there."""

import multiprocessing
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import joblib
import torch
from joblib.parallel import get_active_backend

from featuresieve.engine._ranks import local_number, local_size
from featuresieve.errors import OutOfDeviceMemoryError


def resolve_device(
    device: str | torch.device, *, needs_float64: bool = False
) -> torch.device:
    """Return the device a name stands for; "auto" is CUDA, then MPS, then the CPU.

    Of several ranks on a machine each has a GPU of its own, by LOCAL_RANK. What
    `needs_float64` is not on MPS. A ValueError if there is no such device.
    """
    is_there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available() and not needs_float64,
        "cpu": True,
    }
    if isinstance(device, str) and device == "auto":
        kind = next(kind for kind in is_there if is_there[kind])
        if kind == "cuda" and local_size() > 1:
            return torch.device(kind, local_number() % torch.cuda.device_count())
        return torch.device(kind)
    try:
        resolved = torch.device(device)
    except (RuntimeError, TypeError, ValueError) as error:
        raise ValueError(
            "device must be 'auto' or the name of a torch device, such as 'cpu' or "
            f"'cuda:0', got {device!r}."
        ) from error
    if not is_there.get(resolved.type, False):
        raise ValueError(
            f"device={device!r} is not available here; use 'auto' or 'cpu'."
        )
    return resolved


def resolve_threads(n_jobs: int | None) -> int:
    """Return how many threads may train, as scikit-learn counts jobs.

    -1 stands for all cores that the process may use, -2 for all but one, and so on.
    None is what a surrounding ``joblib.parallel_config`` says of `n_jobs`, or else all
    cores, within the limits of OpenMP and torch, which joblib sets in its worker
    processes; workers that are threads share the cores already, so that each has one.
    Ranks on one machine share its cores (LOCAL_WORLD_SIZE); what their launcher says
    of OpenMP, which is 1, does not count.
    """
    n_cores: int = max(1, joblib.cpu_count() // local_size())
    if n_jobs is None:
        backend, n_jobs = get_active_backend()
        is_main = threading.current_thread() is threading.main_thread()
        is_worker = backend.nesting_level > 0 and not is_main
        if is_worker or multiprocessing.current_process().daemon:
            return 1
    if n_jobs is None:
        limit = n_cores if local_size() > 1 else torch.get_num_threads()
        return min(n_cores, limit)
    return n_jobs if n_jobs > 0 else max(n_cores + 1 + n_jobs, 1)


def wait_for(device: torch.device) -> None:
    """Wait for what this thread has asked a device to do."""
    if device.type == "cuda":
        # Not the whole device: another thread may be recording a graph on it.
        torch.cuda.current_stream(device).synchronize()
    elif device.type == "mps":
        torch.mps.synchronize()


# What errors of kinds that do not tell say of it, on the CPU, on CUDA and on MPS.
_SIGNS = ("can't allocate memory", "out of memory", "ALLOC_FAILED")


@contextmanager
def explain_out_of_memory(device: torch.device) -> Iterator[None]:
    """Turn every kind of running out of memory into one error that says what to do."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        is_about_memory = isinstance(error, MemoryError | torch.OutOfMemoryError)
        if not is_about_memory and not any(sign in str(error) for sign in _SIGNS):
            raise
        # The frames below hold the tensors that fill the device.
        traceback.clear_frames(error.__traceback__)
        elsewhere = "" if device.type == "cpu" else ', or train with device="cpu"'
        first = str(error).partition("\n")[0][:200]
        raise OutOfDeviceMemoryError(
            f"the device {str(device)!r} has no memory left. Choose a smaller "
            "training.n_members, training.batch_size or training.hidden_sizes"
            f"{elsewhere}. It said: {first}"
        ) from error


_backends: Any = torch.backends  # its types do not know all of it
_lock = threading.Lock()


class _ProcessSetting:
    """A setting of the process that the first thread takes and the last puts back."""

    def __init__(
        self, read: Callable[[], Any], write: Callable[[Any], None], wanted: Any
    ) -> None:
        self._read, self._write, self._wanted = read, write, wanted
        self._n_inside = 0
        self._before: Any = None

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Have it as it is wanted within the block."""
        with _lock:
            if self._n_inside == 0:
                self._before = self._read()
                self._write(self._wanted)
            self._n_inside += 1
        try:
            yield
        finally:
            with _lock:
                self._n_inside -= 1
                if self._n_inside == 0:
                    self._write(self._before)


_DTYPE = _ProcessSetting(
    torch.get_default_dtype, torch.set_default_dtype, torch.float32
)
# How the backends round the factors of products.
_ROUNDINGS = [
    _ProcessSetting(
        partial(getattr, products, "fp32_precision"),
        partial(setattr, products, "fp32_precision"),
        "ieee",
    )
    for products in (_backends.cuda.matmul, _backends.mkldnn.matmul)
]


@contextmanager
def torch_defaults(*, is_exact: bool = True) -> Iterator[None]:
    """Shield training from the caller's torch settings, and them from training.

    One intra-op thread (tensors of a stack are so small that more slow it down),
    float32 and the CPU as defaults, products that are not rounded, no autocast,
    gradients allowed; all restored afterwards. Threads may train at the same time.
    Unless it `is_exact`, whether products are rounded is left to the caller.
    """
    n_threads = torch.get_num_threads()
    with ExitStack() as stack:
        for setting in (_DTYPE, *(_ROUNDINGS if is_exact else ())):
            stack.enter_context(setting.taken())
        stack.callback(torch.set_num_threads, n_threads)
        torch.set_num_threads(1)  # of this thread
        # A context slows every call down: enter those that are needed.
        if torch.get_default_device().type != "cpu":
            stack.enter_context(torch.device("cpu"))
        for kind in ("cpu", "cuda", "mps"):
            if torch.is_autocast_enabled(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        stack.enter_context(torch.inference_mode(False))
        yield
