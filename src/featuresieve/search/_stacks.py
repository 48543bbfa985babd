"""The two kinds of stack a search trains: gated ones, and plain ones on given sets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import issparse
from torch import Tensor

from featuresieve.engine import (
    LOSSES,
    GateTensors,
    History,
    MaskingNetwork,
    ModuleStack,
    Monitor,
    Schedule,
    SparseRows,
    StackedMLP,
    StackTrainer,
    TaskStack,
    TrainingData,
)
from featuresieve.problem import BoolArray, Problem
from featuresieve.search._price import cannot_pay
from featuresieve.search._settings import MOST_HELD, Settings
from featuresieve.search._splits import LONG, RowArray, membership

_RECORDS = tuple(np.arange(1, 33) / 32)
# Columns from which gates that are shut leave the stack: others are soon trained.
_WIDE = 4096


@dataclass(frozen=True)
class GateRun:
    """What a gated stack learnt."""

    logits: npt.NDArray[np.float32]  # (members, gates)
    history: History
    schedule: Schedule  # as it was run
    is_cut_short: bool  # by a deadline
    # Those that the history is of; None: all.
    gates: npt.NDArray[np.intp] | None = None


@dataclass(frozen=True)
class FixedMaskRun:
    """A trained plain stack."""

    task: TaskStack
    record_shares: npt.NDArray[np.float64]  # of the run, after which records were taken
    is_cut_short: bool  # by a deadline


def train_gates(
    problem: Problem,
    settings: Settings,
    balances: npt.NDArray[np.float64],
    row_roles: Sequence[tuple[RowArray, RowArray]],
    *,
    seed: int,
    is_closed: npt.NDArray[np.bool_] | None = None,
    may_shrink: bool = True,
    deadline: float | None = None,
    monitor: Monitor | None = None,
) -> GateRun:
    """Train one gated network per balance, each on its (task rows, gate rows).

    `is_closed`, (members, gates), tells what a member never opens. Gates of a wide
    table that every member has shut may leave the stack if it `may_shrink`.
    """
    training = settings.training
    n_members, n_gates = len(balances), len(problem.gates)
    generator = torch.Generator().manual_seed(seed)
    task = _task_stack(problem, n_members, settings, generator)
    masking = MaskingNetwork(
        n_gates,
        n_members,
        embedding_size=training.embedding_size,
        init=training.mask_init,
        train_embedding=training.train_embedding,
        generator=generator,
        dtype=torch.float32,
        device=settings.device,
    )
    may_shrink = may_shrink and _can_shrink(problem, settings)
    shut = np.zeros((n_members, n_gates), dtype=bool)
    for some in (problem.gates.is_shut, is_closed):
        shut |= False if some is None else some
    if may_shrink:
        gate_rows = [rows for _, rows in row_roles]
        shut |= cannot_pay(problem, float(balances.min()), gate_rows)
    if shut.any():
        masking.close_(_to_device(shut, settings))
    data = _training_data(problem, settings, row_roles, _gates(problem, settings))
    trainer = StackTrainer(
        data,
        LOSSES[problem.task],
        training,
        task,
        masking=masking,
        balances=_to_device(balances.astype(np.float32), settings),
        seed=seed,
        n_threads=settings.n_threads,
        ranks=settings.ranks,
        may_shrink=may_shrink,
    )
    n_rows = data.features.shape[0]
    planned = settings.schedule(n_rows, problem.n_columns, n_members)
    schedule = trainer.run(
        planned, record_after=_RECORDS, deadline=deadline, monitor=monitor
    )
    history, is_cut_short = trainer.history, trainer.planned_steps < planned.n_steps
    return GateRun(history.logits[-1], history, schedule, is_cut_short)


def _can_shrink(problem: Problem, settings: Settings) -> bool:
    """Tell whether gates that are shut may leave the stack, and whether that pays.

    Not where closed gates count, in the distance to a count and in votes.
    """
    training = settings.training
    return (
        problem.n_columns > _WIDE
        and training.task_network is None
        and training.penalty == "fraction"
        and training.decision == "threshold"
        and training.reduction == "mean"
    )


def train_fixed_mask(
    problem: Problem,
    settings: Settings,
    sets: Sequence[npt.NDArray[np.intp]],
    schedule: Schedule,
    *,
    fit_rows: Sequence[RowArray] | None = None,
    seed: int,
    record_after: Sequence[float] = (1.0,),
    on_record: Callable[[TaskStack, Tensor], None] | None = None,
    deadline: float | None = None,
    monitor: Monitor | None = None,
) -> FixedMaskRun:
    """Train one plain network per set of gates, each on rows of its own, or on all.

    `on_record` is called after the fractions `record_after` of the run.
    """
    n_members = len(sets)
    fit_rows = fit_rows or [np.arange(problem.n_rows)] * n_members
    mask = np.zeros((problem.n_columns, n_members), dtype=np.float32)
    for member, gates in enumerate(sets):
        mask[problem.gates.columns_of(gates), member] = 1.0
    fixed_mask = _to_device(mask, settings)
    generator = torch.Generator().manual_seed(seed)
    task = _task_stack(problem, n_members, settings, generator)
    trainer = StackTrainer(
        _training_data(problem, settings, [(rows, rows) for rows in fit_rows]),
        LOSSES[problem.task],
        settings.training,
        task,
        fixed_mask=fixed_mask,
        seed=seed,
        n_threads=settings.n_threads,
        ranks=settings.ranks,
    )
    trainer.run(
        schedule,
        record_after=record_after,
        on_record=on_record and (lambda _: on_record(task, fixed_mask)),
        deadline=deadline,
        monitor=monitor,
    )
    # Of the run as planned, also where it was stopped before.
    shares = np.array(trainer.history.step) / trainer.planned_steps
    return FixedMaskRun(task, shares, trainer.planned_steps < schedule.n_steps)


def _task_stack(
    problem: Problem,
    n_members: int,
    settings: Settings,
    generator: torch.Generator,
) -> TaskStack:
    """Build the stacked MLP, or the user's modules."""
    sizes = problem.n_columns, problem.n_outputs, n_members
    where: Any = {"dtype": torch.float32, "device": settings.device}
    training = settings.training
    if training.task_network is not None:
        return ModuleStack(training.task_network, *sizes, generator=generator, **where)
    hidden = training.hidden_sizes
    return StackedMLP(*sizes, hidden_sizes=hidden, generator=generator, **where)


def _gates(problem: Problem, settings: Settings) -> GateTensors | None:
    """Put the gates on the device, unless all are plain."""
    own = problem.gates
    if own.is_plain:
        return None
    return GateTensors(
        own.gate_of_column,
        own.n_features_total,
        own.costs,
        own.is_forced,
        dtype=torch.float32,
        device=settings.device,
    )


def _training_data(
    problem: Problem,
    settings: Settings,
    row_roles: Sequence[tuple[RowArray, RowArray]],
    gates: GateTensors | None = None,
) -> TrainingData:
    """Put the used rows on the device, with the roles they play for each member.

    The same array twice means that the rows train both, as in the paper.
    """
    every = {id(rows): rows for pair in row_roles for rows in pair}
    n_threads = settings.n_threads if problem.n_rows >= LONG else 1
    is_member = membership(problem.n_rows, list(every.values()), n_threads)
    used = np.flatnonzero(is_member.any(axis=0))
    features, targets = tensors_of(problem, settings, used)
    number = {key: place for place, key in enumerate(every)}
    pairs = [(number[id(task)], number[id(gate)]) for task, gate in row_roles]
    distinct = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
    is_shared = all(task == gate for task, gate in distinct)
    if is_shared and len(distinct) == 1 and problem.row_weights is None:
        return TrainingData(features, targets, gates=gates)
    weights = _weights(problem, settings, is_member, used)
    task, gate = zip(*distinct, strict=True)
    return TrainingData(
        features,
        targets,
        _of_sets(weights, task),
        None if is_shared else _of_sets(weights, gate),
        _to_device(np.array([distinct[pair] for pair in pairs]), settings),
        gates,
    )


def _weights(
    problem: Problem, settings: Settings, is_member: BoolArray, used: RowArray
) -> Tensor:
    """Return the weight of every used row in each set, zero outside of it."""
    own = is_member if len(used) == problem.n_rows else is_member[:, used]
    weights = _to_device(own, settings).to(torch.float32)
    if problem.row_weights is not None:
        by_row = problem.row_weights[used].astype(np.float32)
        weights *= _to_device(by_row, settings)
    return weights


def _of_sets(weights: Tensor, sets: Sequence[int]) -> Tensor:
    """Return the weights of some sets: no copy, which may be large, of all of them."""
    return weights if list(sets) == list(range(len(weights))) else weights[list(sets)]


def tensors_of(
    problem: Problem, settings: Settings, rows: RowArray
) -> tuple[Tensor | SparseRows, Tensor]:
    """Return features and targets of some rows on the training device."""
    features, targets = problem.features, problem.targets
    if len(rows) < problem.n_rows:
        targets = targets[rows]
    on_device = _to_device(targets, settings)
    if problem.n_bytes <= MOST_HELD and not issparse(features):
        whole = settings.on_device(features)
        if len(rows) == problem.n_rows:
            return whole, on_device
        return whole.index_select(0, _to_device(rows, settings)), on_device
    if len(rows) < problem.n_rows:
        features = features[rows]
    if issparse(features):
        return SparseRows.of(features, settings.device), on_device
    return _to_device(features, settings), on_device


def _to_device(array: npt.NDArray[np.generic], settings: Settings) -> Tensor:
    """Return an array as a tensor on the training device."""
    return torch.from_numpy(array).to(settings.device)
