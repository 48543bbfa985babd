"""Running a comparison: one process per selector, time limits, interruption."""

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from featuresieve.process import interrupts_held
from sievebench.compare._deciding import class_notes, decide, folds_of
from sievebench.compare._table import FoldScore, Plan, Table

# Called with the selector, the number of finished folds, and what happens.
Progress = Callable[[str, int, str], None]


@dataclass(frozen=True)
class SelectorResult:
    """What a comparison found out about one selector."""

    selector: str  # short name
    folds: tuple[FoldScore, ...]  # one for each finished fold
    reason: str = ""  # why folds are missing; empty if none is


@dataclass(frozen=True)
class Comparison:
    """A comparison, finished or interrupted."""

    table: Table  # the user's table
    plan: Plan  # with `task` and `metric` decided
    results: tuple[SelectorResult, ...]  # in the order of the plan
    is_interrupted: bool


def run_comparison(
    table: Table, plan: Plan, progress: Progress | None = None
) -> Comparison:
    """Judge each selector of a plan by cross-validation.

    Each selector has a process of its own, which is ended when one fit takes longer
    than the limit. A selector that fails is a result with a reason. KeyboardInterrupt
    ends the comparison and keeps what is finished.
    """
    plan = decide(table, plan)
    table = replace(table, notes=(*table.notes, *class_notes(table, plan)))
    folds = folds_of(table, plan)
    results: list[SelectorResult] = []
    is_interrupted = False
    try:
        for name in plan.selectors:
            finished: list[FoldScore] = []  # also if interrupted
            try:
                reason = _judge(name, table, plan, folds, finished, progress)
            except KeyboardInterrupt:
                reason = "" if len(finished) == len(folds) else "interrupted"
                results.append(SelectorResult(name, tuple(finished), reason))
                raise
            results.append(SelectorResult(name, tuple(finished), reason))
    except KeyboardInterrupt:
        is_interrupted = True
        left = plan.selectors[len(results) :]
        results += [SelectorResult(name, (), "not run, interrupted") for name in left]
    return Comparison(table, plan, tuple(results), is_interrupted)


def _judge(
    name: str,
    table: Table,
    plan: Plan,
    folds: list[Any],
    finished: list[FoldScore],
    progress: Progress | None,
) -> str:
    """Add each fold's score to `finished`; return why some are missing, or nothing."""
    tell = progress or (lambda *_: None)
    arguments = (name, plan, table.features, table.target, folds)
    with _process(arguments) as (process, pipe):
        tell(name, 0, "started")
        while len(finished) < len(folds):
            message, value = _receive(pipe, process, None)
            if message == "fitting":
                limit = plan.time_limit_seconds
                message, value = _receive(pipe, process, limit)
            if message == "scored":
                finished.append(value)
                tell(name, len(finished), "scored")
            if message == "failed":
                tell(name, len(finished), "failed")
                return str(value)
    tell(name, len(finished), "finished")
    return ""


def _receive(
    pipe: Connection, process: BaseProcess, limit_seconds: float | None
) -> tuple[str, Any]:
    """Return the next message, or a failure if there is none in time or ever."""
    started = time.monotonic()
    if not pipe.poll(limit_seconds):
        seconds = time.monotonic() - started
        return "failed", f"out of time: a fit took more than {seconds:.0f} s"
    try:
        message: tuple[str, Any] = pipe.recv()
    except EOFError:
        process.join(5)
        return "failed", f"its process ended with code {process.exitcode}"
    return message


@contextmanager
def _process(arguments: tuple[Any, ...]) -> Iterator[tuple[BaseProcess, Connection]]:
    """Run `judge_selector` in a process that is gone when the block is left."""
    context = _context()
    pipe, far_end = context.Pipe(duplex=False)
    process = context.Process(
        target=_judge_selector, args=(far_end, *arguments), daemon=True
    )
    try:
        process.start()
        far_end.close()  # so that the end of the process is the end of the pipe
        yield process, pipe
    finally:
        if process.pid is not None:
            process.kill()
            process.join()
        pipe.close()


def _context() -> Any:
    """Return a way to start processes that have not run a thread before."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    # The server imports torch and the selectors once; forks of it start at once.
    context.set_forkserver_preload(["sievebench.compare._judging"])
    # It is started deaf to Ctrl-C, and with it all its forks: if it ignored Ctrl-C by
    # itself, it would have to load its modules first, and print a traceback for one
    # that comes in that time. The parent hears it right afterwards.
    with interrupts_held():
        forkserver.ensure_running()
    return context


def _judge_selector(*arguments: Any) -> None:
    """Import and run the child's work there, so that the parent does without torch."""
    from sievebench.compare._judging import judge_selector

    judge_selector(*arguments)
