"""`featuresieve doctor`: what is installed, where it runs, whether a fit works."""

import os
import platform
import sys
import time
import warnings
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from featuresieve import __version__
from featuresieve.errors import one_line

# Distributions, and what to import of them.
REQUIRED = {
    **{name: name for name in ("joblib", "narwhals", "numpy", "safetensors", "scipy")},
    **{"scikit-learn": "sklearn", "threadpoolctl": "threadpoolctl", "torch": "torch"},
}
EXTRAS = {
    "cli": ("pyarrow", "pyarrow"),
    "completion": ("argcomplete", "argcomplete"),
    "excel": ("python-calamine", "python_calamine"),
    "onnx": ("onnx", "onnx"),
    "plot": ("matplotlib", "matplotlib"),
    "report": ("jinja2", "jinja2"),
}


def doctor() -> int:
    """Print what is installed, and return 1 if something that is needed is broken."""
    is_well = True
    print(f"featuresieve {__version__}, Python {platform.python_version()}")
    print(f"{platform.platform()}, {sys.executable}")
    print("needed:")
    for name, module in sorted(REQUIRED.items()):
        found, is_there = _installed(name, module)
        is_well &= is_there
        _show(name, found)
    print("extras:")
    for extra, (name, module) in EXTRAS.items():
        found, is_there = _installed(name, module)
        advice = "" if is_there else f"; pip install 'featuresieve[{extra}]'"
        _show(extra, f"{name} {found}{advice}")
    if is_well:
        print("a small fit on:")
        for device in _ABOUT:
            is_well &= _tried(device)
    return 0 if is_well else 1


def _show(name: str, text: str) -> None:
    """Print a line of a list, at once."""
    print(f"  {name:<13} {text}", flush=True)


def _tried(device: str) -> bool:
    """Print what a device is; return whether a fit on it works, if there is one."""
    try:
        about = _ABOUT[device]()
        if about:
            about += f", {_seconds_of_fit(device):.1f} s"
    except Exception as error:
        _show(device, f"fails: {one_line(error, has_kind=True)}")
        return False
    _show(device, about or "there is none")
    return True


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


_ABOUT = {"cpu": _about_cpu, "cuda": _about_cuda, "mps": _about_mps}


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
