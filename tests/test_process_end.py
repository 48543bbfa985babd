"""How the two commands end as processes."""

import signal
import subprocess
import sys

import pytest

# What comes of a status: callbacks are called, and Python is not taken apart, in which
# a thread of pyarrow could abort the process.
ENDING = """
import atexit
import sys
from {module} import cli

class Told:
    def __del__(self):
        print("taken apart", flush=True)

told = Told()

def main():
    atexit.register(print, "called back")
    {ending}

cli.main = main
sys.exit(cli.console())
"""


def run(module, ending):
    script = ENDING.format(module=module, ending=ending)
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("module", ["featuresieve", "sievebench"])
@pytest.mark.parametrize(
    ("status", "found"),
    [(0, 0), (2, 2), (141, 141), (130, -signal.SIGINT)],
)
def test_process_ends_with_the_status_before_python_is_taken_apart(
    module, status, found
):
    done = run(module, f"return {status}")
    assert (done.returncode, done.stdout, done.stderr) == (found, "called back\n", "")


@pytest.mark.parametrize("module", ["featuresieve", "sievebench"])
def test_error_that_is_not_expected_is_shown_as_python_shows_it(module):
    done = run(module, "raise ZeroDivisionError('by what?')")
    assert done.returncode == 1
    assert done.stdout == "called back\ntaken apart\n"
    assert done.stderr.splitlines()[-1] == "ZeroDivisionError: by what?"
