import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from made_cells import SMALL

from featuresieve.process import interrupts_held

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "pthread_sigmask"), reason="this system has no signal masks"
)

ENDLESS = '{ name = "forest", settings = { n_estimators = 1000000 } }'


def test_interrupt_arrives_after_the_block():
    reached = []
    with pytest.raises(KeyboardInterrupt), interrupts_held():
        # To this thread: one of those that libraries start would not hold it back.
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        reached.append("the end of the block")
    assert reached == ["the end of the block"]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def report_mask(pipe):
    pipe.send(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))


@pytest.mark.parametrize("is_held", [True, False])
def test_process_started_in_the_block_never_sees_it(is_held):
    context = multiprocessing.get_context("spawn")
    pipe, far_end = context.Pipe()
    process = context.Process(target=report_mask, args=(far_end,))
    if is_held:
        with interrupts_held():
            process.start()
    else:
        process.start()
    assert pipe.recv() == is_held
    process.join()


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [2.0, 6.0])
def test_interrupted_run_says_one_line(tmp_path, seconds):
    file = tmp_path / "small.toml"
    file.write_text(SMALL.replace('"univariate"', ENDLESS))
    words = ["run", str(file), "--out", str(tmp_path), "--workers", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "sievebench", *words],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    (line,) = error.splitlines()
    assert line.startswith(("sievebench: interrupted", "sievebench: stopped"))
