"""Real processes on this machine that train together, each a rank, forked from one.

What they run is defined here, so that a child needs to import little else. A stack
counts as large from `LEAST_WORK` multiply-adds on: small tables are cut into slices.
"""

import multiprocessing
import os
import signal
import time
import traceback
import warnings
from datetime import timedelta

import numpy as np
import torch
import torch.distributed as dist
from scipy import sparse
from torch import nn

from featuresieve import AutoNFSClassifier, AutoNFSRegressor, Stream
from featuresieve.engine import _slices, joined_ranks
from featuresieve.engine import on_ranks as on_ranks_of
from featuresieve.engine._open_gates import OpenGates
from featuresieve.errors import CheckpointError, TableFileError
from featuresieve.files.stream import _parquet_files
from featuresieve.files.stream._row_sample import RowSample
from featuresieve.monitoring import _checkpoint, _monitor, _progress
from featuresieve.search import _stacks
from interrupted_fits import answers
from made_tables import class_table, value_table
from quick_selectors import quick

LEAST_WORK = 20_000
PATIENCE = 240  # seconds, on a machine that does much else


def on_ranks(n_ranks, function, *arguments):
    """Return what a function returns on each rank, or how the process ended.

    An error comes back as its name and its text.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["featuresieve.estimators", "scipy.stats"])
    # As torchrun does: the store is here, at a port that the system chooses.
    wait = timedelta(seconds=PATIENCE)
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, timeout=wait)
    around = {
        **{"WORLD_SIZE": n_ranks, "LOCAL_WORLD_SIZE": n_ranks, "OMP_NUM_THREADS": 1},
        **{"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": store.port},
        **{"TORCHELASTIC_USE_AGENT_STORE": True, "TORCHELASTIC_RESTART_COUNT": 0},
    }
    children = []
    for number in range(n_ranks):
        here, there = context.Pipe(duplex=False)
        own = around | {"RANK": number, "LOCAL_RANK": number}
        child = context.Process(target=_child, args=(there, own, function, arguments))
        child.start()
        there.close()
        children.append((child, here))
    return [_told(child, here) for child, here in children]


def _child(there, environment, function, arguments):
    """Run in a child; tell the parent what came of it."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    os.environ |= {name: str(value) for name, value in environment.items()}
    _slices._LEAST_WORK = _slices._LEAST_OF_SLICE = LEAST_WORK
    try:
        there.send(function(environment["RANK"], *arguments))
    except BaseException as error:
        traceback.print_exc()  # for whom a test fails
        there.send((type(error).__name__, str(error)))


def _told(child, here):
    """Return what a child tells, or its exit code."""
    try:
        told = here.recv() if here.poll(PATIENCE) else "nothing"
    except EOFError:
        told = None
    child.join(30)
    if child.exitcode is None:
        child.kill()
        return "hung"
    return child.exitcode if told is None else told


def own_network(n_columns, n_outputs):
    """Return a network with noise of its own."""
    return nn.Sequential(
        nn.Linear(n_columns, 8), nn.Dropout(0.2), nn.Linear(8, n_outputs)
    )


def selector(is_classifier=True, **arguments):
    """Return a selector that learns for a moment."""
    kind = AutoNFSClassifier if is_classifier else AutoNFSRegressor
    return quick(kind, **({"n_epochs": 3, "random_state": 3} | arguments))


def answers_of(fitted, X):
    """Return what is compared, as bytes."""
    found = answers(fitted, X) | {"notes": np.array([n["code"] for n in fitted.notes_])}
    return {name: array.tobytes() for name, array in found.items()}


def fit(number, is_classifier=True, arguments=None):  # noqa: ARG001
    """Fit, and return the answers."""
    X, y = class_table() if is_classifier else value_table()
    return answers_of(selector(is_classifier, **(arguments or {})).fit(X, y), X)


def fit_wide(number):  # noqa: ARG001
    """Fit what counts as wide: gates leave its stack. Tell how many were left."""
    _stacks._WIDE = 10
    n_left, still_open = [], OpenGates.still_open

    def counted(gates, logits, step):
        n_left.append(len(logits))
        return still_open(gates, logits, step)

    OpenGates.still_open = counted
    X, y = class_table(400, 60)
    fitted = selector(n_epochs=20).fit(X, y)
    return answers_of(fitted, X), n_left


def fit_stream(number, folder, classes, damaged=None):
    """Fit a sample of Parquet files; count the rows that this rank has read."""
    n_read, look = [], RowSample.add

    def counting(sample, batch, first_row):
        n_read.append(batch.num_rows)
        look(sample, batch, first_row)

    RowSample.add = counting
    if damaged is not None and number == 1:
        _parquet_files.ParquetFiles.batches = damaged
    stream = Stream(str(folder), memory=600 * 1000)
    fitted = selector(classes).fit(stream, "y")
    sums = [fitted.logits_.tobytes(), fitted.history_["task_loss"].tobytes()]
    return sums, fitted.notes_[-1]["text"], sum(n_read)


def fit_each_form(number, folder):  # noqa: ARG001
    """Fit a table in memory, sparse, on disk and as a stream."""
    X, y = class_table()
    forms = {
        "memory": (X, y),
        "sparse": (sparse.csr_array(X), y),
        "array on disk": (np.load(folder / "table.npy", mmap_mode="r"), y),
        "stream": (folder / "table.parquet", "y"),
    }
    found = {}
    for form, data in forms.items():
        fitted = selector(balance="price", n_epochs=12).fit(*data)
        found[form] = fitted.support_.tolist(), fitted.logits_.tobytes()
    return found


def fails(*_):
    """Stand for a file that cannot be read to its end."""
    raise TableFileError("part.parquet cannot be read.")


def fit_in_a_group_of_the_callers(number):
    """Fit twice beside a use of the group that was there before."""
    multiprocessing.current_process()._config["daemon"] = True  # as those of Dask are
    dist.init_process_group("gloo")
    found = [fit(number), fit(number)]
    here, there = multiprocessing.Pipe(duplex=False)
    if os.fork() == 0:  # a child has no part in the group of its parent
        with joined_ranks() as ranks:
            there.send(ranks.size)
        os._exit(0)
    os.wait()
    assert here.recv() == 1
    sums = torch.ones(1)
    dist.all_reduce(sums)
    dist.destroy_process_group()
    return (*found, sums.item())


def fit_and_warn(number, arguments):
    """Return the answers, and the names of the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = fit(number, True, arguments)
    return found, [type(warning.message).__name__ for warning in caught]


def fit_unalike(number, changed):
    """Fit what is not the same on rank 1, arguments or else rows, then what is."""
    X, y = class_table()
    own = selector()
    if number == 1:
        own.set_params(**changed)
        X = X if changed else X[::-1]
    told = []
    for each in (own, selector()):
        try:
            told.append(each.fit(X, y).support_.tolist())
        except Exception as error:
            told.append((type(error).__name__, str(error)))
        X = class_table()[0]
    return told


def fit_until_killed(number, checkpoint, stage):
    """Fit until rank 1 is killed in the middle of a stage; write at every beat."""
    _checkpoint.INTERVAL_SECONDS, _checkpoint.LARGEST_SHARE = 0.0, 1.0
    after_step = _monitor.StageMonitor.after_step

    def killing(monitor, trainer):
        if number == 1 and (monitor.name, trainer.step) == (stage, 13):
            os.kill(os.getpid(), signal.SIGKILL)
        return after_step(monitor, trainer)

    _monitor.StageMonitor.after_step = killing
    return fit(number, True, {"checkpoint": checkpoint})


def fit_until_raised(number, error, checkpoint=None, heard=None):
    """Fit twice; progress, on the first rank, raises an error. It waits to be heard."""

    def raising(progress, step, n_steps):  # noqa: ARG001
        if step == 11:
            raise error
        return False

    _progress.Progress.after_step = raising
    told = []
    for _ in range(2):
        try:
            told.append(fit(number, True, {"checkpoint": checkpoint, "verbose": 1}))
        except BaseException as raised:
            told.append((type(raised).__name__, str(raised)))
        if heard is not None and number == 1:
            heard.touch()
        waited = time.monotonic() + PATIENCE
        while heard is not None and not heard.exists() and time.monotonic() < waited:
            time.sleep(0.05)
    return told


def fit_without_one(number, folder):
    """Kill rank 1 before it has said what it fits; the others wait for each other."""
    if number == 1:
        with joined_ranks():
            os.kill(os.getpid(), signal.SIGKILL)
    try:
        told = fit(number)
    except Exception as error:
        told = type(error).__name__, str(error)
    (folder / f"{number}").touch()
    waited = time.monotonic() + PATIENCE
    while not (folder / f"{2 - number}").exists() and time.monotonic() < waited:
        time.sleep(0.05)
    return told, time.monotonic() < waited


class Eager:
    """A captured step where nothing can be captured."""

    def __init__(self, step, next_noise, like):
        self._step, self._next_noise, self._like = step, next_noise, like

    def __call__(self, rows, temperature, scale):
        knobs = self._like.new_tensor([temperature, scale])
        self._step(rows, *knobs, self._next_noise())


def fit_as_on_gpus(number):
    """Fit with one slice for each rank."""
    _slices._GPU, _slices._LEAST_ON_GPU = "cpu", LEAST_WORK
    _slices.CapturedStep = Eager
    X, y = class_table()
    fitted = selector().fit(X, y)
    return number, fitted.support_, fitted.logits_


class Talk:
    """What ranks say to one another."""

    def __init__(self, number):
        with joined_ranks() as ranks:
            self.size, self.gathered = ranks.size, ranks.gather("abc"[number])
            self.most = ranks.most(number)
            own = [torch.full((2, 3), float(number)).T, torch.tensor([number] * 2)]
            ranks.broadcast_(own, 2)
            self.broadcast = [tensor.tolist() for tensor in own]
            self.from_first = ranks.from_first(lambda: f"of {number}")
            self.squares = on_ranks_of(lambda k: k * k, range(7), 1, ranks)
            try:
                ranks.from_first(self._fail)
            except CheckpointError as error:
                self.error = str(error)

    @staticmethod
    def _fail():
        raise CheckpointError("no room")
