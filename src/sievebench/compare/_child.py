"""The process that fits one selector in every fold, and tells its parent."""

import os
import signal
import sys
import warnings
from multiprocessing.connection import Connection
from typing import Any

from threadpoolctl import threadpool_limits

from featuresieve.errors import one_line
from sievebench.compare._judging import judge_fold
from sievebench.compare._plan import Plan

_CELLS_WORTH_THREADS = 1_000_000


def judge_selector(
    pipe: Connection,
    name: str,
    plan: Plan,
    features: Any,
    target: Any,
    folds: list[Any],
) -> None:
    """Judge one selector; send pairs of what happens, as "fitted", and a value."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what to keep
    _silence()
    warnings.simplefilter("ignore")
    # Threads that share little work wait for each other, above all on a busy machine.
    n_threads = 1 if features.size < _CELLS_WORTH_THREADS else None
    try:
        with threadpool_limits(n_threads):
            for rows in folds:
                judged = judge_fold(
                    *(name, plan, features, target, rows),
                    say=lambda what: pipe.send((what, None)),
                )
                pipe.send(("scored", judged))
    except MemoryError:
        pipe.send(("failed", "out of memory"))
    except Exception as error:  # a failing selector is a row of the table
        pipe.send(("failed", one_line(error, has_kind=True, longest=None)))
    finally:
        pipe.close()


def _silence() -> None:
    """Keep what libraries print off the parent's screen."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
