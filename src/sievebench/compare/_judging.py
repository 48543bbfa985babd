"""The process that judges a selector: encode, select, predict, score in each fold."""

import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from featuresieve.errors import one_line
from sievebench.compare._table import FoldScore, Plan, encoder_of
from sievebench.selectors import SELECTORS, ScoredSelector


def judge_fold(
    pipe: Connection,
    name: str,
    number: int,
    plan: Plan,
    features: pd.DataFrame,
    target: npt.NDArray[Any],
    folds: list[Any],
) -> None:
    """Judge a selector in a fold; send pairs of what happens, as "fitted", and a value.

    In one thread, however many the machine has: it may run as many of these processes,
    and sums come out the same.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what to keep
    _silence()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            judged = _judge(
                *(name, plan, features, target, folds[number]),
                say=lambda what: pipe.send((what, None)),
            )
        pipe.send(("scored", judged))
    except MemoryError:
        pipe.send(("failed", "out of memory"))
    except BrokenPipeError:
        pass  # nobody wants to know any more
    except Exception as error:  # a failing selector is a row of the table
        pipe.send(("failed", one_line(error, has_kind=True, longest=None)))
    finally:
        pipe.close()


def _silence() -> None:
    """Keep what libraries print off the parent's screen."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


def _judge(
    name: str,
    plan: Plan,
    features: pd.DataFrame,
    target: npt.NDArray[Any],
    rows: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    say: Callable[[str], None],
) -> FoldScore:
    """Select on the training rows and score on the others.

    Everything, encoding included, is learnt from the training rows alone.
    """
    train, test = rows
    encode = encoder_of(features.iloc[train])
    X = encode(features.iloc[train])
    selector = _selector(name, plan)
    say("fitting")
    started = time.perf_counter()
    selector.fit(X, target[train])
    seconds = time.perf_counter() - started
    say("fitted")
    support = selector.get_support()
    predictor = _predictor(plan, target[train]).fit(X[:, support], target[train])
    held_out = encode(features.iloc[test])[:, support]
    score = get_scorer(plan.metric)(predictor, held_out, target[test])
    return FoldScore(float(score), tuple(support.tolist()), seconds)


def _selector(name: str, plan: Plan) -> ScoredSelector:
    """Return the selector, told how many columns to keep."""
    arguments: dict[str, Any] = {"task": plan.task, "random_state": plan.seed}
    if plan.keep != "auto" and name != "none":
        arguments["n_features_to_select"] = plan.keep
    selector = SELECTORS[name](**arguments)
    if "n_jobs" in selector.get_params():
        selector.set_params(n_jobs=1)
    return selector


def _predictor(plan: Plan, target: npt.NDArray[Any]) -> Any:
    is_regression = plan.task == "regression"
    if plan.predictor == "linear":
        if is_regression:
            return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 13)))
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    if is_regression:
        return HistGradientBoostingRegressor(random_state=plan.seed)
    # Where it stops early, it holds out rows of every class: two of each are needed.
    counts = np.unique(target, return_counts=True)[1]
    early_stopping = "auto" if counts.min() > 1 else False
    return HistGradientBoostingClassifier(
        early_stopping=early_stopping, random_state=plan.seed
    )
