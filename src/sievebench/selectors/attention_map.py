"""AttentionMap: what the [CLS] token of an FT-Transformer attends to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sievebench.checks import check_integer, check_number
from sievebench.search_space import Integer, LogUniform, SearchSpace, Uniform, ZeroOr
from sievebench.selectors._ft_transformer import FTTransformer, mean_attention
from sievebench.selectors._neural_selector import (
    EarlyStoppedSelector,
    NeuralProblem,
    ScoredStack,
)
from sievebench.stack.penalized_loss import PenalizedLoss
from sievebench.stack.training import TrainingSettings

# A batch is split into passes that keep at most about so many numbers, one GiB.
_PASS_NUMBERS = 1 << 28


@dataclass(kw_only=True, eq=False, repr=False)
class AttentionMap(EarlyStoppedSelector):
    """Score columns by the attention they get in an FT-Transformer.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to keep: a count, or a fraction of the columns.
    token_size : int, default=32
        Width of a token; a multiple of `n_heads`.
    n_layers : int, default=2
        Number of layers.
    n_heads : int, default=4
        Heads of attention in each layer.
    ffn_factor : float, default=4 / 3
        Hidden units of the feed-forward parts, as a multiple of `token_size`.
    attention_dropout : float, default=0.0
        Fraction of attention left out in a training step. Above zero the whole
        attention map of a batch has to be stored: memory grows with the square of the
        number of columns, and not with their number.
    ffn_dropout : float, default=0.1
        Fraction of feed-forward units left out in a training step.
    residual_dropout : float, default=0.0
        Fraction of what a layer adds that is left out in a training step.
    learning_rate : float, default=3e-3
        Of AdamW; warmed up over 5 epochs, a tenth from epoch 40 and again from 80.
    weight_decay : float, default=1e-5
        Of AdamW.
    batch_size : int or "auto", default="auto"
        Rows of a training step; "auto" aims at 16 steps an epoch, from 32 to 512 rows.
    max_epochs : int, default=100
        Longest training.
    patience : int, default=15
        Epochs without a better validation score after which a network stops.
    monitor, validation_fraction, n_networks, task, random_state, device : various
        As in every neural selector: see the base class `NeuralSelector`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Mean attention of [CLS] to each column.
    support_, network_scores_ : various
        As in every neural selector.

    Notes
    -----
    The score of column j is the mean, over validation rows, heads and layers, of the
    attention that the [CLS] token gives to the token of column j, at the epoch that is
    best on the validation rows. Only the order of the scores means something. The
    network is this package's own, since the maintained package of its authors
    (rtdl_revisiting_models) gives no attention maps, uses torch's global generator and
    trains one network at a time; both compute the same function. Columns and a
    regression target are standardised first. `as_published` has the benchmark's untuned
    settings: tokens of 192, 3 layers, 8 heads, attention dropout 0.2, learning rate
    1e-4, batches of 512, epochs judged by the score.

    References
    ----------
    Gorishniy, Rubachev, Khrulkov and Babenko, "Revisiting deep learning models for
    tabular data", NeurIPS 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sievebench.selectors.attention_map import AttentionMap
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = AttentionMap(n_features_to_select=4, max_epochs=5, random_state=0)
    >>> selector.fit_transform(X, y).shape
    (178, 4)
    """

    published: ClassVar[Mapping[str, Any]] = {
        "token_size": 192,
        "n_layers": 3,
        "n_heads": 8,
        "attention_dropout": 0.2,
        "learning_rate": 1e-4,
        "batch_size": 512,
        "max_epochs": 200,
        "patience": 20,
        "monitor": "score",
    }
    # The benchmark's space.
    space: ClassVar[SearchSpace] = {
        "token_size": Integer(64, 512, 8),
        "n_layers": Integer(1, 4),
        "ffn_factor": Uniform(2 / 3, 8 / 3),
        "attention_dropout": Uniform(0.0, 0.5),
        "ffn_dropout": Uniform(0.0, 0.5),
        "residual_dropout": ZeroOr(Uniform(0.0, 0.2)),
        "learning_rate": LogUniform(1e-5, 1e-3),
        "weight_decay": LogUniform(1e-6, 1e-3),
    }

    token_size: int = 32
    n_layers: int = 2
    n_heads: int = 4
    ffn_factor: float = 4 / 3
    attention_dropout: float = 0.0
    ffn_dropout: float = 0.1
    residual_dropout: float = 0.0
    weight_decay: float = 1e-5
    max_epochs: int = 100
    patience: int = 15

    def _check_parameters(self) -> None:
        """Raise ValueError for the first argument that is not allowed."""
        super()._check_parameters()
        check_integer("token_size", self.token_size, low=1)
        check_integer("n_layers", self.n_layers, low=1)
        check_integer("n_heads", self.n_heads, low=1)
        if self.token_size % self.n_heads:
            raise ValueError(
                f"token_size must be a multiple of n_heads, {self.n_heads}, "
                f"got {self.token_size!r}."
            )
        check_number("ffn_factor", self.ffn_factor, above=0.0)
        for name in ("attention_dropout", "ffn_dropout", "residual_dropout"):
            check_number(name, getattr(self, name), low=0.0, below=1.0)

    def _train_stack(self, problem: NeuralProblem) -> ScoredStack:
        """Train transformers, and look at their attention on validation rows."""
        network = FTTransformer(
            problem.n_columns,
            problem.task_loss.n_outputs,
            noise=problem.noise(),
            token_size=self.token_size,
            n_layers=self.n_layers,
            n_heads=self.n_heads,
            ffn_factor=self.ffn_factor,
            attention_dropout=self.attention_dropout,
            ffn_dropout=self.ffn_dropout,
            residual_dropout=self.residual_dropout,
        )
        numbers_per_row = network.training_numbers_per_row(problem.n_columns)
        schedule = TrainingSettings(
            rows_per_pass=max(1, _PASS_NUMBERS // numbers_per_row)
        )
        objective = PenalizedLoss(network, problem.task_loss, monitor=problem.monitor)
        best = self._train(network, objective, problem, schedule)
        return ScoredStack(mean_attention(network, problem.rows), best)
