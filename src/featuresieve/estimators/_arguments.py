"""Checks of the arguments of the estimators, with messages that say what is allowed."""

import os
from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
from torch import nn

from featuresieve.engine import Training, resolve_device, resolve_threads
from featuresieve.errors import (
    LARGEST_INTEGER,
    check_choice,
    check_count_or_share,
    check_flag,
    check_integer,
    check_real,
    check_sizes,
    listed,
    shown,
)
from featuresieve.estimators._folds import check_folds
from featuresieve.files import check_no_nul
from featuresieve.problem import CountLimits
from featuresieve.search import GOALS, JUDGES, Settings

TRAINING_ARGUMENTS = tuple(field.name for field in fields(Training))
# Where what is no argument of the estimators is one, for `as_called`.
IN_TRAINING = {name: f"training=Training({name}=...)" for name in TRAINING_ARGUMENTS}
BALANCES = ("auto", "price")
# Squared gradients of larger ones overflow in float32; the gates shut long before.
LARGEST_BALANCE = 1e12


def check_verbose(value: Any) -> None:
    """Refuse what is neither a bool nor a count."""
    if not isinstance(value, bool | np.bool_):
        check_integer("verbose, if not True or False,", value, least=0)


def check_checkpoint(value: Any) -> None:
    """Refuse what is not the path of a file that could be written."""
    if value is None:
        return
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(path, str):
        raise TypeError(
            f"checkpoint must be the path of a file, or None, got {value!r}."
        )
    check_no_nul("checkpoint", path)
    real = Path(os.path.realpath(path))  # still a link, if links go in a circle
    is_place = real.is_file() or (not real.exists() and real.parent.is_dir())
    if not path or real.is_symlink() or not is_place:
        raise ValueError(
            "checkpoint must be the path of a file in a folder that exists, got "
            f"{value!r}."
        )


def settings_from(params: Mapping[str, Any]) -> Settings:
    """Check the arguments of an estimator and return the settings of its search."""
    _check_numbers(params)
    _check_goal(params)
    _check_comparison(params)
    check_folds(params["cv"])
    check_verbose(params["verbose"])
    check_checkpoint(params["checkpoint"])
    return Settings(
        checked_training(params["training"]),
        device=resolve_device(params["device"]),
        n_threads=resolve_threads(_checked_jobs(params["n_jobs"])),
    )


def _checked_jobs(value: Any) -> int | None:
    """Return a number of jobs as scikit-learn counts them: negative ones from all."""
    if value is None:
        return None
    check_integer("n_jobs, if not None,", value, least=-LARGEST_INTEGER)
    if value == 0:
        raise ValueError("n_jobs must not be 0: -1 stands for all cores, got 0.")
    return int(value)


def check_judge(value: Any, *, needs_probabilities: bool) -> None:
    """Refuse what can not judge sets of columns."""
    if isinstance(value, str):
        check_choice("judge, if no estimator,", value, JUDGES)
        return
    wanted = "predict_proba" if needs_probabilities else "predict"
    is_estimator = hasattr(value, "get_params") and not isinstance(value, type)
    is_other = not needs_probabilities and hasattr(value, "predict_proba")
    can_judge = is_estimator and hasattr(value, "fit") and hasattr(value, wanted)
    if is_other or not can_judge:
        kind = "a classifier" if needs_probabilities else "a regressor"
        raise TypeError(
            f"judge must be one of {listed(JUDGES)}, or {kind} with fit and {wanted}, "
            f"got {shown(value)}."
        )


def named(judge: Any) -> str:
    """Return what a judge is called; texts of estimators may hold an address."""
    return judge if isinstance(judge, str) else type(judge).__qualname__


def _check_goal(params: Mapping[str, Any]) -> None:
    """Refuse a goal that is none, or that other arguments contradict."""
    check_choice("goal", params["goal"], GOALS)
    if params["goal"] == "minimal":
        return
    balance, exactly = params["balance"], params["n_features_to_select"]
    if not isinstance(balance, str) or balance != "auto":
        raise ValueError(
            f"balance must be 'auto' with goal='all_relevant', got {shown(balance)}."
        )
    if exactly is not None:
        raise ValueError(
            "n_features_to_select must be None with goal='all_relevant', which finds "
            f"how many there are, got {shown(exactly)}."
        )


def _check_comparison(params: Mapping[str, Any]) -> None:
    """Refuse what would choose among sets of columns, where none are compared."""
    balance, judge = params["balance"], params["judge"]
    if isinstance(balance, str) and balance == "auto":
        return
    for name, value, plain in (
        ("tolerance", params["tolerance"], 0),
        ("judge", judge if isinstance(judge, str) else named(judge), "networks"),
    ):
        if value != plain:
            raise ValueError(
                f"{name} must be {plain!r} unless balance='auto', which alone compares "
                f"sets of columns, got {value!r} with balance={shown(balance)}."
            )


def checked_training(value: Any) -> Training:
    """Return what `training` says, with plain numbers; None says nothing."""
    if value is None:
        return Training()
    if not isinstance(value, Training):
        raise TypeError(
            "training must be a featuresieve.Training or None, such as "
            f"Training(noise='logistic'), got {shown(value)}."
        )
    given = {name: getattr(value, name) for name in TRAINING_ARGUMENTS}
    _check_training(given)
    plain = {name: _plain(value) for name, value in given.items()}
    return Training(**plain | {"hidden_sizes": tuple(map(int, given["hidden_sizes"]))})


def _check_training(given: Mapping[str, Any]) -> None:
    """Check what `training` holds; messages say `training.noise`."""
    for name, kind in get_type_hints(Training).items():
        if get_origin(kind) is Literal:
            check_choice(f"training.{name}", given[name], get_args(kind))
    check_flag("training.train_embedding", given["train_embedding"])
    check_sizes("training.hidden_sizes", given["hidden_sizes"])
    _check_task_network("training.task_network", given["task_network"])
    for name in ("max_categories", "embedding_size"):
        check_integer(f"training.{name}", given[name], least=1)
    for name in ("n_members", "n_epochs", "batch_size"):
        if given[name] is not None:
            check_integer(f"training.{name}", given[name], least=1)
    for name in ("mask_learning_rate", "task_learning_rate", "start_temperature"):
        check_real(f"training.{name}", given[name], least=0, is_least_allowed=False)
    check_real("training.target_count", given["target_count"], least=0)
    check_real("training.penalty_ramp", given["penalty_ramp"], least=0, most=1)
    if given["temperature_decay"] is not None:
        name, decay = "training.temperature_decay", given["temperature_decay"]
        check_real(name, decay, least=0, most=1, is_least_allowed=False)


def _plain(value: Any) -> Any:
    """Return a number of any type as the int or float that it stands for."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def _check_task_network(name: str, value: Any) -> None:
    """Refuse what does not build networks, and networks themselves."""
    is_network = isinstance(value, nn.Module)
    if value is None or (callable(value) and not is_network):
        return
    raise TypeError(
        f"{name} must be None or a callable (n_columns, n_outputs) -> "
        "torch.nn.Module that builds a network, such as lambda n_columns, n_outputs: "
        f"torch.nn.Linear(n_columns, n_outputs), got {'the network ' * is_network}"
        f"{value!r}."
    )


def _check_numbers(params: Mapping[str, Any]) -> None:
    """Check the arguments that are numbers, or None."""
    balance = params["balance"]
    if not isinstance(balance, str):
        name = "balance, if not 'auto' or 'price',"
        check_real(name, balance, least=0.0, most=LARGEST_BALANCE)
    else:
        check_choice("balance, if not a number,", balance, BALANCES)
    check_integer("min_features_to_select", params["min_features_to_select"], least=1)
    for name in ("n_features_to_select", "max_features"):
        if params[name] is not None:
            check_count_or_share(name, params[name])
    check_real("tolerance", params["tolerance"], least=0.0)
    if params["max_time"] is not None:
        check_real("max_time", params["max_time"], least=0.0, is_least_allowed=False)


def count_limits_from(params: Mapping[str, Any], n_features: int) -> CountLimits:
    """Check the wanted counts against each other and the number of features."""
    exactly = _count(params["n_features_to_select"], n_features)
    most = _count(params["max_features"], n_features)
    least = params["min_features_to_select"]
    for what, bound in (
        (f"the number of features, {n_features}", n_features),
        (f"max_features={most}", most),
    ):
        for name in ("n_features_to_select", "min_features_to_select"):
            value = exactly if name.startswith("n_") else least
            if value is not None and bound is not None and value > bound:
                raise ValueError(f"{name} must be at most {what}, got {value}.")
    if exactly is not None and exactly < least:
        raise ValueError(
            f"n_features_to_select must be at least min_features_to_select={least}, "
            f"got {exactly}."
        )
    return CountLimits(least, n_features if most is None else most, exactly)


def _count(value: Any, n_features: int) -> int | None:
    """Return a count of features, from a count or a share; rounded down, one at least.

    As scikit-learn's RFE counts.
    """
    if value is None or isinstance(value, Integral):
        return None if value is None else int(value)
    return max(1, int(value * n_features))
