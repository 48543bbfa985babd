"""How columns are encoded, and networks built and trained: what variants differ in."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sklearn.base import BaseEstimator
from torch import nn

from featuresieve.errors import as_called

# (n_columns, n_outputs) -> a fresh network, (rows, columns) -> (rows, outputs)
ModuleFactory = Callable[[int, int], nn.Module]
PenaltyKind = Literal["fraction", "target"]
NoiseKind = Literal["gumbel", "logistic"]
Reduction = Literal["mean", "sum"]
MaskInit = Literal["zeros", "uniform"]


@dataclass(kw_only=True, repr=False)
class Training(BaseEstimator):
    """Say how columns are encoded, and networks built and trained.

    An argument of the estimators, for the variants of the paper and for networks of
    another size or number. As in any scikit-learn object, ``training__noise`` names an
    entry in `set_params` and in a grid. Values are checked in `fit`.

    Parameters
    ----------
    n_members : int or None, default=None
        Networks that vote. None means 100, fewer on tables of more than 1,600 encoded
        columns (at least 20), and 4 at a balance that is given. The automatic search
        rounds it to an even number for each of five held-out parts.
    n_epochs : int or None, default=None
        Passes over the rows; None chooses from the size of the table.
    scaling : {"normal_scores", "standard", "none"}, default="normal_scores"
        What the networks see of a column: normal quantiles of its ranks, or
        standardised values, or the values as they are. A regression target with long
        tails is compressed with "normal_scores" only.
    max_categories : int, default=32
        Levels of a categorical column that get an indicator of their own, the most
        frequent ones; all others share one.
    hidden_sizes : tuple of int, default=(32, 32)
        Hidden layers of the task network.
    embedding_size : int, default=32
        Size of the learned embedding that the masking network reads.
    task_network : callable or None, default=None
        Your own network: called with (n_columns, n_outputs), returns a torch.nn.Module
        that maps (rows, columns) to (rows, outputs). It trains one member after another
        under autograd, which is several times slower. A network that normalises its
        inputs (batch normalisation before the first layer) undoes the mask.
    batch_size : int or None, default=None
        Rows of a mini-batch; None chooses from the size of the table.
    penalty : {"fraction", "target"}, default="fraction"
        ``mean(m)``, or ``(mean(m) - target_count / D)^2``. The automatic balances are
        meant for the former.
    target_count : float, default=2.0
        The count that penalty="target" pulls towards.
    penalty_ramp : float, default=0.3
        Share of training over which the penalty grows from zero to its full weight.
    noise : {"gumbel", "logistic"}, default="gumbel"
        Noise of the relaxed mask; Gumbel as the paper prints it.
    reduction : {"mean", "sum"}, default="mean"
        How the losses of a batch are put together. The paper's algorithm prints a sum,
        its authors' code takes the mean.
    decision : {"threshold", "vote"}, default="threshold"
        A member keeps a feature if its logit is positive, or (as the authors' code
        does) if at least one of as many noisy draws as an epoch has batches keeps it.
    gate_rows : {"held_out", "shared"}, default="held_out"
        Which rows train the gates. "held_out": each member trains its task network on
        one half of the rows and its gates on the other, so that a feature is kept only
        if it helps on rows the network has not learnt from. "shared": all rows train
        both, as in the paper.
    mask_init : {"zeros", "uniform"}, default="zeros"
        Start of the masking network's projection.
    train_embedding : bool, default=True
        Whether the embedding learns too.
    start_temperature : float, default=2.0
        Temperature of the relaxed mask at the start.
    temperature_decay : float or None, default=None
        Factor on the temperature per epoch; None reaches 0.85 at the end.
    mask_learning_rate, task_learning_rate : float, default=4e-3 and 2e-3
        Adam's rates for embedding and masking network, and for the task network.

    Examples
    --------
    >>> from featuresieve import AutoNFSClassifier, Training
    >>> AutoNFSClassifier(training=Training(noise="logistic"))
    AutoNFSClassifier(training=Training(noise='logistic'))
    >>> AutoNFSClassifier().set_params(training__noise="logistic")
    AutoNFSClassifier(training=Training(noise='logistic'))
    """

    # Pickles name the class by where users find it: files may move.
    __module__ = "featuresieve"

    n_members: int | None = None
    n_epochs: int | None = None
    scaling: Literal["normal_scores", "standard", "none"] = "normal_scores"
    max_categories: int = 32
    hidden_sizes: tuple[int, ...] = (32, 32)
    embedding_size: int = 32
    task_network: ModuleFactory | None = None
    batch_size: int | None = None
    penalty: PenaltyKind = "fraction"
    target_count: float = 2.0
    penalty_ramp: float = 0.3
    noise: NoiseKind = "gumbel"
    reduction: Reduction = "mean"
    decision: Literal["threshold", "vote"] = "threshold"
    gate_rows: Literal["held_out", "shared"] = "held_out"
    mask_init: MaskInit = "zeros"
    train_embedding: bool = True
    start_temperature: float = 2.0
    temperature_decay: float | None = None
    mask_learning_rate: float = 4e-3
    task_learning_rate: float = 2e-3


Training.__init__ = as_called()(Training.__init__)  # type: ignore[method-assign]
