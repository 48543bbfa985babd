"""Ctrl-C while a command loads modules."""

import signal
import threading
from contextlib import suppress

import pytest

from featuresieve.process import interrupts_delayed


@pytest.fixture(autouse=True)
def python_handles_interrupts():
    # Workers of pytest-xdist ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupt_is_raised_at_the_end():
    reached = []
    with pytest.raises(KeyboardInterrupt), interrupts_delayed():
        with suppress(BaseException):  # as some modules have it
            signal.raise_signal(signal.SIGINT)
        reached.append("the end")
    assert reached == ["the end"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_second_interrupt_is_raised_at_once():
    reached = []
    with pytest.raises(KeyboardInterrupt), interrupts_delayed():
        signal.raise_signal(signal.SIGINT)
        reached.append("the second")
        signal.raise_signal(signal.SIGINT)
        reached.append("the end")
    assert reached == ["the second"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_block_without_an_interrupt_is_left_alone():
    with interrupts_delayed():
        pass
    with pytest.raises(ImportError, match="no such module"), interrupts_delayed():
        raise ImportError("no such module")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_program_that_handles_the_signal_itself_is_left_alone():
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append("by the program"))
    with interrupts_delayed():
        signal.raise_signal(signal.SIGINT)
        assert seen == ["by the program"]


def test_another_thread_is_left_alone():
    handlers = []

    def work():
        with interrupts_delayed():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]
