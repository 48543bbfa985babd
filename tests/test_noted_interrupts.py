"""Ctrl-C while modules are loaded, in the two commands."""

import signal
import sys
import threading
from contextlib import suppress

import pytest

import featuresieve._interrupts
import sievebench.interrupts


@pytest.fixture(autouse=True)
def python_handles_interrupts():
    # Workers of pytest-xdist ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(params=[featuresieve._interrupts, sievebench.interrupts])
def interrupts_noted(request):
    return request.param.interrupts_noted


def test_interrupt_is_raised_where_it_comes(interrupts_noted):
    reached = []
    with pytest.raises(KeyboardInterrupt), interrupts_noted():
        signal.raise_signal(signal.SIGINT)
        reached.append("the next line")
    assert reached == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_interrupt_that_is_dropped_is_raised_at_the_end(interrupts_noted):
    reached = []
    with pytest.raises(KeyboardInterrupt), interrupts_noted():
        with suppress(BaseException):
            signal.raise_signal(signal.SIGINT)
        reached.append("the next line")
    assert reached == ["the next line"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class Called:
    """Called back when it is gone, where errors are dropped and shown."""

    def __init__(self, call):
        self.call = call

    def __del__(self):
        self.call()


@pytest.fixture
def shown(monkeypatch):
    """The errors that Python shows because it cannot raise them."""
    errors = []
    monkeypatch.setattr(sys, "unraisablehook", errors.append)
    return errors


def test_interrupt_that_a_callback_drops_is_raised_and_not_shown(
    interrupts_noted, shown
):
    with pytest.raises(KeyboardInterrupt), interrupts_noted():
        Called(lambda: signal.raise_signal(signal.SIGINT))
    assert shown == []


def test_other_errors_of_callbacks_are_shown(interrupts_noted, shown):
    with interrupts_noted():
        Called(lambda: 1 / 0)
    assert [dropped.exc_type for dropped in shown] == [ZeroDivisionError]


def test_error_that_an_interrupt_turned_into_is_the_interrupt(interrupts_noted):
    with pytest.raises(KeyboardInterrupt) as caught, interrupts_noted():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("half a module") from None
    assert isinstance(caught.value.__cause__, ImportError)


def test_other_errors_are_left_alone(interrupts_noted):
    with pytest.raises(ImportError, match="no such module"), interrupts_noted():
        raise ImportError("no such module")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_is_changed_where_a_program_handles_the_signal(interrupts_noted):
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append("by the program"))
    with interrupts_noted():
        signal.raise_signal(signal.SIGINT)
    assert seen == ["by the program"]


def test_nothing_is_changed_in_another_thread(interrupts_noted):
    handlers = []

    def work():
        with interrupts_noted():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]
