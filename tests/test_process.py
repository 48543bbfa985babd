import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from featuresieve.process import interrupts_delayed

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

sys.modules[cli.console.__module__].main = main
sys.exit(cli.console())
"""


def run(module, ending):
    script = ENDING.format(module=module, ending=ending)
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("module", ["featuresieve", "sievebench"])
@pytest.mark.parametrize(
    ("status", "found"), [(0, 0), (2, 2), (141, 141), (130, -signal.SIGINT)]
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


STREAMS = """
import sys
from {module} import cli

def main():
    print("said")
    print("told", file=sys.stderr)
    return 3 if sys.stdin.read() else 0

sys.modules[cli.console.__module__].main = main
sys.exit(cli.console())
"""


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize("module", ["featuresieve", "sievebench"])
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_stream_is_one_that_leads_nowhere(module, closed):
    words = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-c"]
    done = subprocess.run(
        [*words, STREAMS.format(module=module)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    said = "" if ">&-" in closed.split() else "said\n"
    told = "" if "2>&-" in closed else "told\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, said, told)


TERMINATED = """
import signal
import sys
from pathlib import Path
from {module} import cli
from featuresieve.process import INTERRUPTED

def main():
    try:
        Path(sys.argv[1]).touch()
        signal.raise_signal(signal.SIGTERM)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        Path(sys.argv[1]).unlink()

{before}
sys.modules[cli.console.__module__].main = main
sys.exit(cli.console())
"""


@pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")
@pytest.mark.parametrize("module", ["featuresieve", "sievebench"])
@pytest.mark.parametrize("before", ["", "signal.signal(signal.SIGINT, signal.SIG_IGN)"])
def test_termination_clears_away_and_ends_the_process(tmp_path, module, before):
    script = TERMINATED.format(module=module, before=before)
    words = [sys.executable, "-c", script, str(tmp_path / "draft")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGTERM, "")
    assert not list(tmp_path.iterdir())


# Ctrl-C while a command loads modules.


@pytest.mark.usefixtures("python_handles_interrupts")
@pytest.mark.parametrize("n_interrupts", [1, 2])
def test_interrupt_is_raised_at_the_end_and_a_second_one_at_once(n_interrupts):
    reached = []
    with pytest.raises(KeyboardInterrupt), interrupts_delayed():
        with suppress(BaseException):  # as some modules have it
            signal.raise_signal(signal.SIGINT)
        reached.append("the second")
        if n_interrupts == 2:
            signal.raise_signal(signal.SIGINT)
        reached.append("the end")
    assert reached == ["the second", "the end"][: 3 - n_interrupts]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("python_handles_interrupts")
def test_block_without_an_interrupt_is_left_alone():
    with interrupts_delayed():
        pass
    with pytest.raises(ImportError, match="no such module"), interrupts_delayed():
        raise ImportError("no such module")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("python_handles_interrupts")
def test_program_that_handles_the_signal_itself_is_left_alone():
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append("by the program"))
    with interrupts_delayed():
        signal.raise_signal(signal.SIGINT)
        assert seen == ["by the program"]


@pytest.mark.usefixtures("python_handles_interrupts")
def test_another_thread_is_left_alone():
    handlers = []

    def work():
        with interrupts_delayed():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]
