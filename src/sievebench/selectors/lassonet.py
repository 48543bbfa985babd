"""LassoNet: a network whose columns leave along a path of growing penalties."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from featuresieve.engine import resolve_device
from sievebench.checks import check_integer, check_layers, check_number, check_sizes
from sievebench.search_space import Choice, SearchSpace, Uniform
from sievebench.selectors._lassonet_steps import Adam, Momentum, proximal_step, train
from sievebench.selectors._scored_selector import (
    FitData,
    ScoredSelector,
    Scores,
    require,
)

_MOST_STEPS = 10_000
_LEAST_CHANGE = 1e-5  # of a skip weight in a step; below it, a penalty is done
_AT_ONCE = 16


def first_penalty(skip: Tensor, first: Tensor, hierarchy: float) -> float:
    """Return what the package's `lambda_start` returns, to the last bit.

    That is the largest ``2**k * 1e-6`` such that proximal steps with twice as much, and
    with each smaller power, leave no column without a skip weight. `skip` (outputs,
    columns) and `first` (hidden, columns) are weights; those of the first layer may be
    `hierarchy` times larger than the others.
    """
    start = 1e-6
    while True:
        starts = [start * 2.0**k for k in range(_AT_ONCE)]
        drops = _drops_columns(skip, first, hierarchy, [2 * it for it in starts])
        if any(drops):
            return starts[drops.index(True)]
        start *= 2.0**_AT_ONCE


def _drops_columns(
    skip: Tensor, first: Tensor, hierarchy: float, penalties: list[float]
) -> list[bool]:
    """Tell for each penalty whether columns lose their skip weights.

    Only up to the first that does: the others are False.
    """
    n_columns, drops = skip.shape[1], [False] * len(penalties)
    left = list(range(len(penalties)))  # those that are not done
    beta = skip.repeat(1, len(left))
    # A step cuts the sizes of the other weights, which leaves them in order.
    sizes = first.abs().sort(dim=0, descending=True).values.repeat(1, len(left))
    penalty = torch.tensor(penalties).to(skip).repeat_interleave(n_columns)
    for step in range(1, _MOST_STEPS + 1):
        new_beta, bound = proximal_step(beta, sizes, penalty, hierarchy)
        sizes = torch.minimum(sizes, bound)
        changes = (beta - new_beta).abs().amax(dim=0).view(-1, n_columns).amax(dim=1)
        is_done = changes < _LEAST_CHANGE
        # A step that changes so little is not taken.
        beta = torch.where(is_done.repeat_interleave(n_columns), beta, new_beta)
        is_done |= step == _MOST_STEPS
        if is_done.any():
            is_zero = torch.linalg.vector_norm(beta, dim=0) == 0
            has_dropped = is_zero.view(-1, n_columns).any(dim=1)
            for k, dropped in zip(left, (is_done & has_dropped).tolist(), strict=True):
                drops[k] = dropped
            most = drops.index(True) if any(drops) else len(penalties)
            is_left = ~is_done & (torch.tensor(left, device=beta.device) < most)
            left = [k for k, kept in zip(left, is_left.tolist(), strict=True) if kept]
            if not left:
                break
            kept = is_left.repeat_interleave(n_columns)
            beta, sizes, penalty = beta[:, kept], sizes[:, kept], penalty[kept]
    return drops


_GLOBAL_GENERATORS = threading.RLock()


@dataclass(kw_only=True, eq=False, repr=False)
class LassoNet(ScoredSelector):
    """Score columns by the penalty at which they leave a network with a skip layer.

    Needs the package lassonet, in the extra `lab`.

    Parameters
    ----------
    hidden_sizes : tuple of int, default=(100,)
        Hidden layers.
    hierarchy : float, default=10.0
        M in the constraint: how much larger the weights of a column in the first layer
        may be than its weight in the skip layer.
    first_penalty : float or "auto", default="auto"
        Start of the path; "auto" looks for the penalty at which the columns begin to
        leave, which takes about a second.
    path_multiplier : float, default=1.02
        Factor between the penalties of the path.
    max_penalty : float or None, default=None
        End of the path; None goes on until no column is left.
    n_epochs : tuple of int, default=(1000, 100)
        Most epochs of the dense network, and at each penalty.
    patience : tuple of int, default=(100, 10)
        Epochs without improvement before both stop.
    batch_size : int or None, default=None
        Rows per step; None takes all rows. Incomplete batches are left out.
    dropout : float, default=0.0
        Dropout of the hidden layers.
    validation_fraction : float, default=0.1
        Fraction of the rows set aside for stopping, at most 0.5.
    device : str, default="auto"
        "auto" takes CUDA if it is there and every step has all rows, else the CPU: the
        steps of a batch are too small for a GPU.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Penalty at which the column left; infinite if it never did.
    n_path_steps_ : int
        Penalties tried.

    Notes
    -----
    Minimises ``loss + λ Σ_j ||θ_j||`` subject to ``max_h |W_hj| <= M ||θ_j||``, with θ
    the weights of a linear layer from the columns to the outputs and W those of the
    first hidden layer, by a proximal step after each gradient step; λ grows by
    `path_multiplier`.

    References
    ----------
    I. Lemhadri, F. Ruan, L. Abraham, R. Tibshirani, "LassoNet: A Neural Network with
    Feature Sparsity", JMLR 22 (2021).
    """

    standardises: ClassVar[bool] = True
    turn: ClassVar[AbstractContextManager[Any]] = _GLOBAL_GENERATORS
    example: ClassVar[Mapping[str, Any]] = {
        "first_penalty": 10.0,
        "path_multiplier": 1.5,
    }
    # Our proposal; the benchmark's space is unpublished.
    space: ClassVar[SearchSpace] = {
        "hidden_sizes": Choice(((64,), (128,), (256,), (512,))),
        "hierarchy": Choice((1.0, 10.0, 100.0)),
        "batch_size": Choice((512,)),
        "path_multiplier": Uniform(1.02, 1.05),
    }

    hidden_sizes: tuple[int, ...] = (100,)
    hierarchy: float = 10.0
    first_penalty: float | Literal["auto"] = "auto"
    path_multiplier: float = 1.02
    max_penalty: float | None = None
    n_epochs: tuple[int, int] = (1000, 100)
    patience: tuple[int, int] = (100, 10)
    batch_size: int | None = None
    dropout: float = 0.0
    validation_fraction: float = 0.1
    device: str = "auto"

    def _score_columns(self, data: FitData) -> Scores:
        self._check_parameters()
        network, path = self._train(data)
        self.n_path_steps_ = len(path) - 1  # the first entry is the dense network
        scores = network.feature_importances_.numpy().astype(np.float64)
        if self.max_penalty is not None and np.isinf(scores).all():
            raise ValueError(
                f"no column left LassoNet's path up to max_penalty={self.max_penalty}, "
                "so that all columns are equal: raise max_penalty, or set it to None."
            )
        return np.asarray(scores)

    def _check_parameters(self) -> None:
        """Raise ValueError for the first argument that is not allowed."""
        check_layers(self.hidden_sizes, self.dropout)
        check_number("hierarchy", self.hierarchy, low=0.0)
        if self.first_penalty != "auto":
            check_number("first_penalty", self.first_penalty, above=0.0)
        check_number("path_multiplier", self.path_multiplier, above=1.0)
        if self.max_penalty is not None:
            check_number("max_penalty", self.max_penalty, above=0.0)
        for name in ("n_epochs", "patience"):
            if len(check_sizes(name, getattr(self, name))) != 2:
                raise ValueError(
                    f"{name} must be two ints >= 1, got {getattr(self, name)!r}."
                )
        if self.batch_size is not None:
            check_integer("batch_size", self.batch_size, low=1)

    def _train(self, data: FitData) -> tuple[Any, list[Any]]:
        """Return the package's estimator and its path."""
        lassonet = require("lassonet.interfaces", "LassoNet")
        kinds = (lassonet.LassoNetClassifier, lassonet.LassoNetRegressor)
        device = self._own_device()
        network = kinds[data.is_regression](
            hidden_dims=tuple(self.hidden_sizes),
            M=self.hierarchy,
            lambda_start=self.first_penalty,
            path_multiplier=self.path_multiplier,
            n_iters=tuple(self.n_epochs),
            patience=tuple(self.patience),
            batch_size=self.batch_size,
            dropout=self.dropout,
            device=device,
            verbose=0,
            torch_seed=data.seed,
        )
        _search_at_once(network)
        if self.dropout == 0.0:
            _train_without_autograd(network, lassonet.HistoryItem)
        learnt, judged = data.parts(self.validation_fraction)
        with _own_torch_state(device):
            try:
                path = network.path(
                    *(learnt.X, learnt.y),
                    X_val=judged.X,
                    y_val=judged.y,
                    lambda_max=self.max_penalty or float("inf"),
                    disable_lambda_warning=True,
                )
            except (lassonet.NonFiniteLossError, FloatingPointError) as error:
                raise ValueError(
                    f"LassoNet diverged: {error} Extreme values in X, or a large "
                    "hierarchy, are the usual causes."
                ) from error
        return network, path

    def _own_device(self) -> torch.device:
        """Return where to train."""
        is_small = self.device == "auto" and self.batch_size is not None
        return resolve_device("cpu" if is_small else self.device, needs_float64=True)


def _search_at_once(network: Any) -> None:
    """Let the package's estimator look for its first penalty in less time."""
    init_model = network._init_model

    def init_model_and_search(*data: Any) -> None:
        init_model(*data)
        model = network.model
        model.lambda_start = lambda M: first_penalty(
            model.skip.weight.data, model.layers[0].weight.data, M
        )

    network._init_model = init_model_and_search


def _train_without_autograd(network: Any, item: Any) -> None:
    """Let the package's estimator take its steps in less time."""

    def train_and_note(
        X: Tensor, y: Tensor, X_val: Tensor, y_val: Tensor, **named: Any
    ) -> Any:
        lambda_ = named.pop("lambda_")
        assert not named.pop("return_state_dict")
        learnt, judged = (X, y), (X_val, y_val)
        loss, objective, n_epochs = train(
            network, learnt, judged, penalty=lambda_, **named
        )
        model = network.model
        norm = float(model.l1_regularization_skip())
        return item(
            lambda_=lambda_,
            state_dict=None,
            objective=loss + lambda_ * norm,
            loss=loss,
            val_objective=objective,
            val_loss=objective - lambda_ * norm,
            regularization=norm,
            l2_regularization=model.l2_regularization(),
            l2_regularization_skip=model.l2_regularization_skip(),
            selected=model.input_mask().cpu(),
            n_iters=n_epochs,
        )

    network._train = train_and_note
    network.optim_init, network.optim_path = Adam, Momentum


@contextmanager
def _own_torch_state(device: torch.device) -> Iterator[None]:
    """Train in one thread, and leave the caller's threads and random numbers alone.

    The package draws from torch's global generators: one fit at a time may have them.
    """
    n_threads = torch.get_num_threads()
    devices = [device] if device.type == "cuda" else []
    with _GLOBAL_GENERATORS, torch.random.fork_rng(devices=devices):
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(n_threads)
