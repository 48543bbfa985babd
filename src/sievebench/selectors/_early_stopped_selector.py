"""Neural selectors that stop when the validation rows see no better epoch."""

from dataclasses import replace

from torch import Tensor

from sievebench.checks import check_integer
from sievebench.selectors._neural_selector import NeuralProblem, NeuralSelector
from sievebench.stack.mlp import StackedNetwork
from sievebench.stack.training import Objective, TrainingSettings, train_stack


class EarlyStoppedSelector(NeuralSelector):
    """Train for `max_epochs` at most, and keep the best epoch of each network.

    A subclass calls `_train` from its `_train_stack`. A network stops after more than
    `patience` epochs without a better validation score.
    """

    max_epochs: int
    patience: int

    def _check_parameters(self) -> None:
        """Raise ValueError for the first argument that is not allowed."""
        super()._check_parameters()
        check_integer("max_epochs", self.max_epochs, low=1)
        check_integer("patience", self.patience, low=0)

    def _train(
        self,
        network: StackedNetwork,
        objective: Objective,
        problem: NeuralProblem,
        schedule: TrainingSettings,
    ) -> Tensor:
        """Train with the arguments of this selector.

        Parameters
        ----------
        network : StackedNetwork
            Left in its best state.
        objective : Objective
            What it minimises.
        problem : NeuralProblem
            The rows, and the size of a batch.
        schedule : TrainingSettings
            Optimiser and schedule; what the user decides is put in here.

        Returns
        -------
        Tensor of shape (members,)
            The best validation scores.
        """
        settings = replace(
            schedule,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            batch_size=problem.batch_size,
            max_epochs=self.max_epochs,
            patience=self.patience,
        )
        record = train_stack(
            network, objective, problem.rows, settings, order_seed=problem.order_seed
        )
        return record.best_score
