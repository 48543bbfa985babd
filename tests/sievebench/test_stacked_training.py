from dataclasses import replace

import numpy as np
import pytest
import torch
from neural_tables import CPU, as_sequential, make_stack, on_device, small_rows
from sklearn.metrics import roc_auc_score
from torch import nn

from featuresieve import TrainingDivergedError
from sievebench.stack.member_noise import MemberNoise
from sievebench.stack.penalized_loss import PenalizedLoss, stack_outputs
from sievebench.stack.task_loss import TaskLoss, area_under_roc
from sievebench.stack.training import TrainingSettings, epoch_batches, train_stack

pytestmark = pytest.mark.numeric

TASK_LOSSES = {
    "classes": TaskLoss.for_classes(3),
    "two classes": TaskLoss.for_classes(2),
    "values": TaskLoss.for_classes(0),
}
N_CLASSES = {"classes": 3, "two classes": 2, "values": 0}
CLASSES = TASK_LOSSES["classes"]
OPTIMIZERS = {
    "adamw": torch.optim.AdamW,
    "adam": torch.optim.Adam,
    "sgd": torch.optim.SGD,
}


def stack_for(loss, seeds=(0, 1), **arguments):
    return make_stack(5, loss.n_outputs, seeds, **arguments)


def trained(stack, loss, rows, *, monitor="score", order_seed=0, **settings):
    """Train a stack; return its objective and the record."""
    objective = PenalizedLoss(stack, loss, monitor=monitor)
    settings = TrainingSettings(**settings)
    record = train_stack(stack, objective, rows, settings, order_seed=order_seed)
    return objective, record


def assert_same_state(one, other, **tolerance):
    for name, value in one.state.items():
        torch.testing.assert_close(value, other.state[name].to(CPU), **tolerance)


def plain_loss(task):
    """Return PyTorch's own loss for outputs of shape (rows, outputs)."""
    return {
        "classes": nn.functional.cross_entropy,
        "two classes": lambda out, y: nn.functional.binary_cross_entropy_with_logits(
            out[:, 0], y.double()
        ),
        "values": lambda out, y: nn.functional.mse_loss(out[:, 0], y),
    }[task]


def train_plainly(network, rows, settings, task, order_seed):
    """Train one nn.Sequential as anybody would write it down."""
    optimizer = OPTIMIZERS[settings.optimizer](
        network.parameters(), lr=settings.learning_rate, weight_decay=0.01
    )
    order = torch.Generator().manual_seed(order_seed)
    for epoch in range(settings.max_epochs):
        for group in optimizer.param_groups:
            group["lr"] = settings.rate_of(epoch)
        for picked in epoch_batches(rows.training, settings.batch_size, order):
            loss = plain_loss(task)(
                network(rows.features[picked]), rows.targets[picked]
            )
            optimizer.zero_grad()
            loss.backward()
            if settings.clip_norm is not None:
                nn.utils.clip_grad_norm_(network.parameters(), settings.clip_norm)
            optimizer.step()


@pytest.mark.parametrize("task", TASK_LOSSES)
@pytest.mark.parametrize(
    ("optimizer", "clip_norm"),
    [("adamw", None), ("adam", None), ("sgd", None), ("sgd", 0.1)],
)
@pytest.mark.parametrize("n_epochs", [1, 7])
def test_training_is_that_of_a_plain_loop(task, optimizer, clip_norm, n_epochs):
    rows = small_rows(n_classes=N_CLASSES[task])
    rows = replace(rows, validation=rows.validation[:0])  # the last state counts
    stack = stack_for(TASK_LOSSES[task], (0, 1, 2))
    twins = [as_sequential(stack, member) for member in range(3)]
    settings = TrainingSettings(
        optimizer=optimizer,
        learning_rate=0.05,
        weight_decay=0.01,
        batch_size=5,
        max_epochs=n_epochs,
        decay_epochs=(6,),
        clip_norm=clip_norm,
    )
    objective = PenalizedLoss(stack, TASK_LOSSES[task])
    train_stack(stack, objective, rows, settings, order_seed=3)

    for member, twin in enumerate(twins):
        train_plainly(twin, rows, settings, task, order_seed=3)
        trained = as_sequential(stack, member)
        for mine, expected in zip(trained.parameters(), twin.parameters(), strict=True):
            torch.testing.assert_close(mine, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("batch_norm", [False, True])
def test_stack_equals_its_members_trained_alone(batch_norm):
    settings = {"learning_rate": 0.02, "batch_size": 5, "max_epochs": 25}

    def train(seeds):
        stack = make_stack(seeds=seeds, dropout=0.3, batch_norm=batch_norm)
        watched = {"monitor": "loss", "order_seed": 1}
        return stack, trained(stack, CLASSES, small_rows(), **watched, **settings)[1]

    together, record = train((5, 6, 7))
    for member, seed in enumerate((5, 6, 7)):
        alone, own_record = train((seed,))
        assert own_record.best_epoch[0] == record.best_epoch[member]
        for name, value in together.state.items():
            torch.testing.assert_close(value[member], alone.state[name][0])


def test_each_member_is_restored_to_its_own_best_epoch():
    rows, stack = small_rows(n_rows=60), make_stack(seeds=(0, 1, 2, 3))
    settings = {"learning_rate": 0.03, "batch_size": 8, "patience": 4}
    objective, record = trained(stack, CLASSES, rows, monitor="loss", **settings)

    history = torch.stack(record.scores)  # (epochs, members)
    assert record.n_epochs == len(history) < 200
    restored = objective.validation_scores(rows)
    torch.testing.assert_close(restored, record.best_score, check_dtype=False)
    for member in range(4):
        best = int(record.best_epoch[member])
        # The best before it had to stop: the 5th epoch in a row without a gain.
        watched = history[: best + 5 + 1, member]
        assert int(watched.argmax()) == best
        assert history[best, member] == record.best_score[member]
    assert len(set(record.best_epoch.tolist())) > 1


def test_stack_stops_after_patience_is_spent_and_divergence_is_an_error():
    never_a_gain = {"learning_rate": 1e-300, "patience": 3, "monitor": "loss"}
    _, record = trained(make_stack(), CLASSES, small_rows(), **never_a_gain)
    assert record.best_epoch.tolist() == [0, 0]
    assert record.n_epochs == 5  # epoch 4 is the first that is more than 3 after 0
    rows, loss = small_rows(n_classes=0), TASK_LOSSES["values"]
    rows = replace(rows, targets=rows.targets * torch.inf)
    with pytest.raises(TrainingDivergedError, match="no epoch of a network"):
        trained(stack_for(loss), loss, rows, max_epochs=2)


def test_learning_rate_follows_the_protocol():
    rate = TrainingSettings(learning_rate=1.0).rate_of
    assert [rate(epoch) for epoch in range(6)] == pytest.approx(
        [0.2, 0.4, 0.6, 0.8, 1.0, 1.0]
    )
    assert [rate(epoch) for epoch in (39, 40, 79, 80)] == pytest.approx(
        [1.0, 0.1, 0.1, 0.01]
    )


def test_passes_over_a_batch_give_the_gradient_of_the_batch():
    settings = {"batch_size": 8, "max_epochs": 6}
    stacks = make_stack(), make_stack()
    for stack, n_rows in zip(stacks, (None, 3), strict=True):
        trained(stack, CLASSES, small_rows(), rows_per_pass=n_rows, **settings)
    assert_same_state(*stacks, rtol=1e-8, atol=1e-10)


def test_epoch_visits_rows_once_and_leaves_a_short_batch_out():
    batches = list(epoch_batches(torch.arange(23), 5, torch.Generator().manual_seed(0)))
    assert [len(batch) for batch in batches] == [5, 5, 5, 5]
    assert len(torch.cat(batches).unique()) == 20
    (whole,) = epoch_batches(torch.arange(3), 5, torch.Generator().manual_seed(0))
    assert sorted(whole.tolist()) == [0, 1, 2]


def test_penalty_hooks_see_every_step():
    stack, seen, rates = make_stack(), [], []

    def penalised(losses):
        seen.append(losses)
        return losses + stack.first_weight.square().sum(dim=(1, 2))

    def after_step_(rate):
        rates.append(rate)
        stack.first_weight.clamp_(-0.1, 0.1)

    settings = TrainingSettings(batch_size=8, max_epochs=2)
    objective = PenalizedLoss(stack, CLASSES, penalised, after_step_=after_step_)
    train_stack(stack, objective, small_rows(), settings, order_seed=0)
    assert len(seen) == 4
    assert rates == pytest.approx([2e-4, 2e-4, 4e-4, 4e-4])
    assert stack.first_weight.abs().max() <= 0.1


def test_predictions_in_blocks_are_those_of_one_pass():
    stack, rows = make_stack(), small_rows(n_rows=50)
    stack.numbers_per_row = 1 << 21  # four rows a block
    blocks = stack_outputs(stack, rows.features, torch.arange(50))
    whole = stack.forward(rows.features, training=False)
    torch.testing.assert_close(blocks, whole)
    assert not blocks.requires_grad


def test_area_under_roc_is_that_of_scikit_learn_with_ties():
    rng = np.random.default_rng(0)
    logits = rng.integers(0, 6, size=(4, 200)).astype(float)
    targets = rng.integers(0, 2, size=200)
    areas = area_under_roc(torch.from_numpy(logits), torch.from_numpy(targets))
    expected = [roc_auc_score(targets, row) for row in logits]
    np.testing.assert_allclose(areas.numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("task", TASK_LOSSES)
def test_monitored_score_is_the_score_of_the_task(task):
    rows, loss = small_rows(n_classes=N_CLASSES[task]), TASK_LOSSES[task]
    stack = stack_for(loss, (2,))
    score = float(PenalizedLoss(stack, loss).validation_scores(rows).detach())
    outputs = stack.forward(rows.features[rows.validation], training=False)[0].detach()
    y = rows.targets[rows.validation].numpy()
    expected = {
        "classes": lambda: np.mean(outputs.argmax(1).numpy() == y),
        "two classes": lambda: roc_auc_score(y, outputs[:, 0].numpy()),
        "values": lambda: -np.sqrt(np.mean((outputs[:, 0].numpy() - y) ** 2)),
    }[task]()
    assert score == pytest.approx(expected)


@pytest.mark.gpu
def test_training_on_cuda_is_that_on_the_cpu():
    stacks = []
    for device in (CPU, torch.device("cuda")):
        stacks.append(make_stack(noise=MemberNoise((0, 1), device)))
        rows = on_device(small_rows(n_rows=60), device)
        trained(stacks[-1], CLASSES, rows, batch_size=8, max_epochs=10)
    assert_same_state(*stacks, rtol=1e-7, atol=1e-9)
