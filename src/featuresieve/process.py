"""A command line as a process: its end, Ctrl-C, its output. For both commands."""

import atexit
import os
import signal
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from types import FrameType
from typing import Any, Self

from featuresieve.errors import FeatureSieveError

INTERRUPTED = 130  # the status after Ctrl-C
CLEAR_LINE = "\r\033[K"
_UP = "\033[A"
# What the commands themselves send to a terminal, each in a write of its own.
_CONTROLS = ("\r", CLEAR_LINE, _UP)

_n_lines_above = 0  # of the status, above its last line
_end_signal = signal.SIGINT  # by which an interrupted process ends


def run_as_process(main: Callable[[], int]) -> int:
    """Run a command as a process, which ends with it.

    After Ctrl-C the process ends by that signal (130 for a shell), as a loop in a
    shell needs it to stop too. SIGTERM is heard as Ctrl-C is, so that no draft of a
    file is left. A standard stream that is closed is as one that leads nowhere.

    `main` returns the exit status, `INTERRUPTED` after Ctrl-C.
    """
    _open_streams()
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:  # else it shall be ignored
        signal.signal(signal.SIGTERM, _terminate)
    statuses: list[int] = []
    atexit.register(_end, statuses)  # the first to be registered is called last
    statuses.append(main())
    return statuses[0]


def _open_streams() -> None:
    """Open what the caller closed: a file opened later would take its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, "w" if number else "r"))  # noqa: PTH123, SIM115


def _terminate(number: int, frame: FrameType | None) -> None:
    """Handle the signal; the process will end by it."""
    global _end_signal
    _end_signal = signal.SIGTERM
    interrupt = signal.getsignal(signal.SIGINT)
    if not callable(interrupt):  # it is ignored, as shells have it in the background
        raise KeyboardInterrupt
    interrupt(number, frame)


class NulError(FeatureSieveError, ValueError):
    """A word of a command line that no path can be."""


def check_words(words: Iterable[str]) -> None:
    """Refuse words with a NUL, which end as errors without the name of the file."""
    for word in words:
        if "\0" in word:
            raise NulError(f"an argument must not hold a NUL character, got {word!r}.")


def nobody_reads() -> int:
    """Let standard output lead nowhere, and return the status of a closed pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.buffer.fileno())
    return 141


def was_interrupted(error: BaseException | None) -> bool:
    """Tell whether Ctrl-C is at the bottom: in an import it may turn into an error."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def printable(text: str) -> str:
    r"""Return a text with control characters escaped, such as ``\x1b`` and ``\n``.

    Names from a file could otherwise clear a terminal, or write into its title.
    """
    if text.isprintable():
        return text
    return "".join(
        letter
        if letter.isprintable() or unicodedata.category(letter) == "Zs"
        else letter.encode("unicode_escape").decode()
        for letter in text
    )


@contextmanager
def printable_output() -> Iterator[None]:
    """Escape control characters in all that is printed, but for ends of lines.

    What is written to ``sys.stdout.buffer`` is data, and stays as it is.
    """
    with (
        redirect_stdout(_PrintableStream(sys.stdout)),
        redirect_stderr(_PrintableStream(sys.stderr)),
    ):
        yield


class _PrintableStream:
    """A text stream on which control characters are readable, and do nothing.

    So are letters that its encoding does not have, such as Greek ones in a file that
    Windows writes: they would end a command that is done with its work.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._encoding = getattr(stream, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        """Write text; control characters only if they are all of it."""
        if text not in _CONTROLS:
            text = "\n".join(map(printable, text.split("\n")))
            known = text.encode(self._encoding, "backslashreplace")
            text = known.decode(self._encoding)
        return int(self._stream.write(text))

    def __getattr__(self, name: str) -> Any:
        """Return what the stream has; without a fileno, Python adds no colours."""
        if name == "fileno":
            raise AttributeError(name)
        return getattr(self._stream, name)


def rank() -> int:
    """Return which of several processes of one command this is, by its launcher."""
    words = [os.environ.get(name, "") for name in ("RANK", "WORLD_SIZE")]
    if not all(word.isdecimal() for word in words) or int(words[1]) < 2:
        return 0
    return int(words[0])


def show_status(text: str) -> None:
    """Write over the last status of a terminal; "" clears it. Elsewhere do nothing.

    The text may have several lines, none longer than the terminal is wide.
    """
    global _n_lines_above
    if sys.stderr.isatty():
        for _ in range(_n_lines_above):
            sys.stderr.write(CLEAR_LINE)  # alone: in a text, the commands escape it
            sys.stderr.write(_UP)
        sys.stderr.write(CLEAR_LINE)
        sys.stderr.write(text)
        sys.stderr.flush()
        _n_lines_above = text.count("\n")


def as_clock(seconds: float) -> str:
    """Return a time to read: 8 s, 3 min 20 s, 2 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _end(statuses: list[int]) -> None:
    """End the process before Python takes itself apart.

    A thread of pyarrow that lets go of a Python object then would abort the process.
    """
    if not statuses:  # an error that main does not know of
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads it; it is closed
            stream.flush()
    if statuses[0] == INTERRUPTED:
        signal.signal(_end_signal, signal.SIG_DFL)
        signal.raise_signal(_end_signal)
    os._exit(statuses[0])


class HeldInterrupts:
    """Note an interrupt instead of raising it; the second one is raised at once.

    Only in the main thread, and only where Python's own handler stands: a program that
    handles the signal itself is left alone.
    """

    def __init__(self) -> None:
        self.is_asked = False  # whether an interrupt came
        self._is_installed = False

    def __enter__(self) -> Self:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._is_installed = True
        return self

    def __exit__(self, *exception: object) -> None:
        if self._is_installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """Handle the signal."""
        if self.is_asked:
            raise KeyboardInterrupt
        self.is_asked = True


@contextmanager
def interrupts_delayed() -> Iterator[None]:
    """Raise Ctrl-C at the end of the block; the second one at once.

    For imports: what is raised while modules are loaded may be dropped (in a callback
    of the import system), turn into another error, or end the process (inside torch).
    """
    with HeldInterrupts() as held:
        yield
    if held.is_asked:
        raise KeyboardInterrupt


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back in the block, and in processes that are started there.

    A terminal sends it to every process of a command. One that is started in the block
    never sees it, from its first instruction on. Here it arrives after the block, or
    in it if the process has other threads. Windows has no such mask: there nothing is
    held.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Here: most commands start no process.
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # starting it in the block would lift the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
