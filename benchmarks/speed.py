"""How fast: against other selectors, against itself without mask, on CPU and GPU.

Usage (from the repository root)::

    python benchmarks/speed.py peers     # every selector on five tables, one by one
    python benchmarks/speed.py stack     # cost of members and of the mask, this device
    python benchmarks/speed.py memory    # peak memory against the size of the input
    python benchmarks/speed.py gpu       # one automatic fit, and the authors' package
    python benchmarks/speed.py table     # print what the stored results say

Ratios are taken between runs on one machine in one go. Every measurement of `peers`
and `memory` is a process of its own on one thread, with a time limit; one that fails
or runs out of time is a row that says so.
"""

import json
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import stamp
import torch
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    make_classification,
)
from speed_gpu import gpu

LIMIT_SECONDS = 40
REGRESSIONS = {"diabetes"}


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return one of the tables, standardised."""
    loaders = {
        "breast_cancer": load_breast_cancer,
        "digits": load_digits,
        "diabetes": load_diabetes,
    }
    if name in loaders:
        X, y = loaders[name](return_X_y=True)
    else:
        n_rows, n_columns = map(int, name.removeprefix("made_").split("x"))
        X, y = make_classification(
            n_rows, n_columns, n_informative=8, n_redundant=8, random_state=0
        )
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    if name in REGRESSIONS:
        y = (y - y.mean()) / y.std()
    return X, y


TABLES = (
    *("breast_cancer", "diabetes", "digits"),
    *("made_1000x200", "made_2000x500", "made_500x2000"),
)


def _ours(name: str, **arguments: Any) -> Callable[[np.ndarray, np.ndarray], int]:
    """Return a fit of the library's estimator that counts what it keeps."""
    from featuresieve import AutoNFSClassifier, AutoNFSRegressor

    kind = AutoNFSRegressor if name in REGRESSIONS else AutoNFSClassifier
    build = kind.as_published if arguments.pop("is_published", False) else kind
    selector = build(random_state=0, device="cpu", **arguments)
    return lambda X, y: selector.fit(X, y).n_features_selected_


def _autonfs(name: str, **arguments: Any) -> Callable[[np.ndarray, np.ndarray], int]:
    """Return a fit of the authors' package."""
    from autonfs import AutoNFS

    mode = "regression" if name in REGRESSIONS else "classification"

    def fit(X: np.ndarray, y: np.ndarray) -> int:
        selector = AutoNFS(mode=mode, **arguments)
        target = y.astype(np.float32) if mode == "regression" else y
        selector.fit(X.astype(np.float32), target)
        return int(np.count_nonzero(selector.support_))

    return fit


def _lassonet(name: str) -> Callable[[np.ndarray, np.ndarray], int]:
    """Return a fit of LassoNet's cross-validated path."""
    from lassonet import LassoNetClassifierCV, LassoNetRegressorCV

    kind = LassoNetRegressorCV if name in REGRESSIONS else LassoNetClassifierCV

    def fit(X: np.ndarray, y: np.ndarray) -> int:
        model = kind(random_state=0, torch_seed=0, verbose=0)
        model.fit(X.astype(np.float32), y)
        return int(model.best_selected_.sum())

    return fit


def _forest(name: str) -> Any:
    """Return the forest that the wrappers use."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestRegressor if name in REGRESSIONS else RandomForestClassifier
    return kind(n_estimators=100, n_jobs=1, random_state=0)


def _boruta(name: str) -> Callable[[np.ndarray, np.ndarray], int]:
    """Return a fit of Boruta with its usual shallow forest."""
    from boruta import BorutaPy

    forest = _forest(name).set_params(max_depth=5)
    selector = BorutaPy(forest, n_estimators="auto", random_state=0)
    return lambda X, y: int(selector.fit(X, y).support_.sum())


def _rfecv(name: str) -> Callable[[np.ndarray, np.ndarray], int]:
    """Return a fit of scikit-learn's recursive elimination, a tenth at a time."""
    from sklearn.feature_selection import RFECV

    selector = RFECV(_forest(name), step=0.1, cv=5)
    return lambda X, y: int(selector.fit(X, y).n_features_)


def _unmasked(name: str) -> Callable[[np.ndarray, np.ndarray], int]:
    """Return the trainer of `as_published` without a mask: what masking adds to."""
    from featuresieve.engine import Training
    from featuresieve.problem import Problem
    from featuresieve.search import Settings
    from featuresieve.search._stacks import train_fixed_mask

    def fit(X: np.ndarray, y: np.ndarray) -> int:
        is_regression = name in REGRESSIONS
        targets = y.astype(np.float32)[:, None] if is_regression else y.astype(np.int64)
        n_outputs = 1 if is_regression else int(y.max()) + 1
        task = "regression" if is_regression else "classification"
        problem = Problem(X.astype(np.float32), targets, n_outputs, task)
        settings = Settings(
            Training(n_epochs=150, batch_size=32, task_learning_rate=3e-4)
        )
        schedule = settings.schedule(len(X), X.shape[1], 1)
        train_fixed_mask(problem, settings, [np.arange(X.shape[1])], schedule, seed=0)
        return X.shape[1]

    return fit


METHODS: dict[str, Callable[[str], Callable[[np.ndarray, np.ndarray], int]]] = {
    "featuresieve auto": lambda name: _ours(name),
    "featuresieve price": lambda name: _ours(name, balance="price"),
    "featuresieve, published setting": lambda name: _ours(name, is_published=True),
    "autonfs 1.0.0, same setting": lambda name: _autonfs(name, balance=1.0),
    "autonfs 1.0.0 auto": lambda name: _autonfs(name),
    "same trainer, no mask": _unmasked,
    "LassoNet CV": _lassonet,
    "Boruta": _boruta,
    "RFECV, forest": _rfecv,
}


def measure_one(method: str, name: str) -> dict[str, Any]:
    """Fit once in this process."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    X, y = table(name)
    fit = METHODS[method](name)
    warm_up, _ = table("breast_cancer")
    torch.from_numpy(warm_up).float() @ torch.ones(30, 4)
    started, cpu = time.perf_counter(), time.process_time()
    n_kept = fit(X, y)
    return {
        "seconds": round(time.perf_counter() - started, 3),
        "cpu_seconds": round(time.process_time() - cpu, 3),
        "n_kept": n_kept,
    }


apart = partial(
    stamp.in_process, limit=LIMIT_SECONDS, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1"
)


def peers(n_jobs: int) -> Iterator[dict[str, Any]]:
    """Time every selector on every table, so many at a time, the slow ones last."""
    slow = ("LassoNet CV", "Boruta", "RFECV, forest")
    groups = ([m for m in METHODS if m not in slow], slow)
    cells = [(n, m) for methods in groups for n in TABLES for m in methods]
    with ThreadPoolExecutor(n_jobs) as pool:
        yield from pool.map(_peer, cells)


def _peer(cell: tuple[str, str]) -> dict[str, Any]:
    """Time one selector on one table, the best of three where that is quick."""
    name, method = cell
    result = apart("one", method, name)
    if result.get("seconds", LIMIT_SECONDS) < 3:
        again = [apart("one", method, name)["seconds"] for _ in range(2)]
        result["seconds"] = min(result["seconds"], *again)
    print(name, method, result, flush=True)
    return {"table": name, "method": method, **result}


def stack() -> Iterator[dict[str, Any]]:
    """Time a training step for several sizes of stack, with and without mask."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    for n_columns in (64, 500, 5000):
        for n_members in (1, 16):
            seconds = {
                is_masked: _seconds_per_step(n_columns, n_members, is_masked, device)
                for is_masked in (True, False)
            }
            record = {
                "n_columns": n_columns,
                "n_members": n_members,
                "microseconds": round(seconds[True] * 1e6, 1),
                "microseconds_unmasked": round(seconds[False] * 1e6, 1),
            }
            print(record, flush=True)
            yield record


def _seconds_per_step(
    n_columns: int,
    n_members: int,
    is_masked: bool,
    device: torch.device,
    batch_size: int = 128,
) -> float:
    """Return the seconds of one step, the best of several runs."""
    from featuresieve.engine import Schedule

    n_steps = 1000 if device.type == "cuda" else 200
    if n_columns * n_members > 10**5:
        n_steps = 100 if device.type == "cuda" else 12
    schedule = Schedule(n_steps, 16, batch_size)
    times = []
    for _ in range(6):
        trainer = _trainer(n_columns, n_members, is_masked, device)
        _synchronize(device)
        started = clock_of(device)()
        trainer.run(schedule)
        _synchronize(device)
        times.append((clock_of(device)() - started) / schedule.n_steps)
    return min(times)


def clock_of(device: torch.device) -> Callable[[], float]:
    """Return the clock; on one thread the processor's, as other programs may run."""
    return time.process_time if device.type == "cpu" else time.perf_counter


def _trainer(
    n_columns: int, n_members: int, is_masked: bool, device: torch.device
) -> Any:
    """Return a stack that has not taken a step yet."""
    from featuresieve.engine import (
        LOSSES,
        MaskingNetwork,
        StackedMLP,
        StackTrainer,
        Training,
        TrainingData,
    )

    generator = torch.Generator().manual_seed(0)
    place: dict[str, Any] = {"dtype": torch.float32, "device": device}
    X = torch.randn(2048, n_columns, generator=generator).to(device)
    y = torch.randint(2, (2048,), generator=generator).to(device)
    task = StackedMLP(
        n_columns, 2, n_members, hidden_sizes=(32, 32), generator=generator, **place
    )
    masking = MaskingNetwork(
        n_columns,
        n_members,
        embedding_size=32,
        init="zeros",
        train_embedding=True,
        generator=generator,
        **place,
    )
    return StackTrainer(
        TrainingData(X, y),
        LOSSES["classification"],
        Training(),
        task,
        masking=masking if is_masked else None,
        balances=torch.full((n_members,), 0.1, device=device),
    )


def _synchronize(device: torch.device) -> None:
    """Wait for a GPU."""
    if device.type == "cuda":
        torch.cuda.synchronize()


MEMORY_SHAPES = ("20000x16", "60000x200", "200000x100", "500x60", "50x7000")


def memory() -> Iterator[dict[str, Any]]:
    """Measure what a default fit adds to the memory of the process."""
    for shape in MEMORY_SHAPES:
        record = {"shape": shape, **apart("memory-one", "-", shape)}
        print(record, flush=True)
        yield record


def memory_one(shape: str) -> dict[str, Any]:
    """Fit a made table and compare the peak with the size of the input."""
    from featuresieve import AutoNFSClassifier

    warnings.simplefilter("ignore")
    n_rows, n_columns = map(int, shape.split("x"))
    small = np.random.default_rng(0).standard_normal((200, 5))
    AutoNFSClassifier(random_state=0).fit(small, small[:, 0] > 0)
    X = np.random.default_rng(0).standard_normal((n_rows, n_columns))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    before = _peak_bytes()
    started = time.perf_counter()
    AutoNFSClassifier(random_state=0, device="cpu").fit(X, y)
    seconds = time.perf_counter() - started
    return {
        "input_megabytes": round(X.nbytes / 1e6, 1),
        "added_megabytes": round((_peak_bytes() - before) / 1e6, 1),
        "seconds": round(seconds, 2),
    }


def _peak_bytes() -> int:
    """Return the largest memory this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    parser = stamp.parser_of(__doc__)
    parts = ("peers", "stack", "memory", "gpu", "table", "one", "memory-one")
    parser.add_argument("part", choices=parts)
    parser.add_argument("method", nargs="?")
    parser.add_argument("name", nargs="?")
    parser.add_argument(
        "--jobs", type=int, default=1, help="for peers: one thread each"
    )
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.part == "one":
        print(json.dumps(measure_one(arguments.method, arguments.name)))
    elif arguments.part == "memory-one":
        print(json.dumps(memory_one(arguments.name)))
    elif arguments.part == "table":
        from speed_table import print_tables

        print_tables(arguments.out)
    else:
        part = {"peers": partial(peers, arguments.jobs), "stack": stack}
        part |= {"memory": memory, "gpu": gpu}
        device = "gpu" if torch.cuda.is_available() else "cpu"
        name = f"speed_{arguments.part}"
        name += f"_{device}" if arguments.part == "stack" else ""
        stamp.store(name, part[arguments.part](), arguments.out)


if __name__ == "__main__":
    main()
