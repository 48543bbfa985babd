"""`featuresieve doctor`: what is installed, where it runs, whether a fit works."""

import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from featuresieve import __version__
from featuresieve.errors import one_line

# Distributions, and what to import of them.
REQUIRED = {
    **{name: name for name in ("joblib", "narwhals", "numpy", "safetensors", "scipy")},
    **{"scikit-learn": "sklearn", "torch": "torch"},
}
EXTRAS = {
    "cli": ("pyarrow", "pyarrow"),
    "completion": ("argcomplete", "argcomplete"),
    "excel": ("python-calamine", "python_calamine"),
    "onnx": ("onnx", "onnx"),
    "plot": ("matplotlib", "matplotlib"),
    "report": ("jinja2", "jinja2"),
}


class Doctor:
    """Lines about an installation, and whether something that is needed is broken."""

    def __init__(self) -> None:
        self.is_well = True

    def lines(self) -> Iterator[str]:
        """Yield what is found, a line each."""
        yield f"featuresieve {__version__}, Python {platform.python_version()}"
        yield f"{platform.platform()}, {sys.executable}"
        yield "needed:"
        for name, module in sorted(REQUIRED.items()):
            found, is_there = _installed(name, module)
            self.is_well &= is_there
            yield _line(name, found)
        yield "extras:"
        for extra, (name, module) in EXTRAS.items():
            found, is_there = _installed(name, module)
            advice = "" if is_there else f"; pip install 'featuresieve[{extra}]'"
            yield _line(extra, f"{name} {found}{advice}")
        if self.is_well:
            yield "a small fit on:"
            yield from self._devices()

    def _devices(self) -> Iterator[str]:
        """Yield a line for each device."""
        for name in ("cpu", "cuda", "mps"):
            try:
                about = _ABOUT[name]()
                if about:
                    about += f", {_seconds_of_fit(name):.1f} s"
            except Exception as error:
                self.is_well = False
                about = f"fails: {one_line(error, has_kind=True)}"
            yield _line(name, about or "there is none")


def _line(name: str, text: str) -> str:
    """Return a line of the list."""
    return f"  {name:<13} {text}"


def _installed(name: str, module: str) -> tuple[str, bool]:
    """Return the version of a distribution, or what is wrong; and if it can be used."""
    try:
        found = version(name)
    except PackageNotFoundError:
        return "is not installed", False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import_module(module)
    except Exception as error:
        return f"{found} cannot be imported: {one_line(error, has_kind=True)}", False
    return found, True


def _about_cpu() -> str:
    """Return the cores, the threads and the instructions of the processor."""
    import torch

    cores = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0)
    threads = torch.get_num_threads()
    asked = os.environ.get("OMP_NUM_THREADS")
    variable = f", OMP_NUM_THREADS={asked}" if asked else ""
    instructions = torch.backends.cpu.get_cpu_capability()
    return (
        f"{len(cores)} of {os.cpu_count()} cores, {instructions}, torch has {threads} "
        f"thread{'s' if threads > 1 else ''}{variable}"
    )


def _about_cuda() -> str:
    """Return the names and the memory of the graphics processors."""
    import torch

    if not torch.cuda.is_available():
        return ""
    cards = map(torch.cuda.get_device_properties, range(torch.cuda.device_count()))
    shown = ", ".join(f"{c.name} ({c.total_memory / 2**30:.0f} GiB)" for c in cards)
    return f"{shown}, CUDA {torch.version.cuda}"


def _about_mps() -> str:
    """Tell whether Apple's graphics processor is there."""
    import torch

    return "Metal" if torch.backends.mps.is_available() else ""


_ABOUT: dict[str, Callable[[], str]] = {
    "cpu": _about_cpu,
    "cuda": _about_cuda,
    "mps": _about_mps,
}


def _seconds_of_fit(device: str) -> float:
    """Return how long a small fit takes."""
    import numpy as np

    from featuresieve import AutoNFSClassifier

    X = np.random.default_rng(0).normal(size=(200, 5))
    selector = AutoNFSClassifier("price", random_state=0, device=device)
    selector.set_params(training__n_epochs=5)
    started = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(X, X[:, 0] > 0)
    return time.monotonic() - started
