"""What all tests share: one thread, no windows, Ctrl-C, data folder, GPU marker."""

import os
import signal
from pathlib import Path

import pytest
import torch
from hypothesis import settings

os.environ["MPLBACKEND"] = "Agg"  # read when matplotlib is imported: no windows
# What these compare is shown when they fail, as in a test.
pytest.register_assert_rewrite("interrupted_fits", "saved_estimators")
# Each folder may have one; they hold no doctests, and doctest confuses them.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]

# `make test` has the same examples each time; `make fuzz` many more, and others.
settings.register_profile("usual", max_examples=25, deadline=None, derandomize=True)
settings.register_profile("fuzz", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))


def pytest_configure():
    # Small tensors on two threads are slower than on one, and xdist already runs
    # one process per core.
    torch.set_num_threads(1)
    # A shell's background job ignores Ctrl-C, and so would every program it starts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    # The long ones first, so that no worker begins one when the others are done.
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    if torch.cuda.is_available():
        return
    no_cuda = pytest.mark.skip(reason="CUDA is not available")
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(no_cuda)


@pytest.fixture
def python_handles_interrupts():
    # Workers of pytest-xdist ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def data_folder():
    """Return the folder FEATURESIEVE_DATA names, or skip the test."""
    setting = os.environ.get("FEATURESIEVE_DATA")
    if not setting:
        pytest.skip("FEATURESIEVE_DATA is not set")
    folder = Path(setting).expanduser().resolve()
    if not folder.is_dir():
        pytest.skip(f"FEATURESIEVE_DATA names no folder: {folder}")
    return folder
