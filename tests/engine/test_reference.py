"""The engine, step by step, against the literal Algorithm 1 of `reference_autonfs`.

Both get the same initial parameters, rows and uniform numbers. What the engine does
differently (a stack of members, the mask folded into the first layer, closed-form
gradients, a fused Adam) must not show.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch

from featuresieve.engine import StackTrainer, Training
from reference_autonfs import (
    MASK_NAMES,
    Batch,
    ReferenceAutoNFS,
    ReferenceSettings,
    gumbel,
    logistic,
    temperature_of_epoch,
)
from small_stacks import (
    as_data,
    build_networks,
    loss_for,
    make_rows,
    member_arrays,
    whole_epochs,
)

pytestmark = pytest.mark.numeric

N_ROWS, N_COLUMNS, N_EPOCHS, BATCH_SIZE = 14, 5, 8, 4
STEPS_PER_EPOCH = 4  # batches of 4, 4, 4 and 2 rows
BALANCES = (0.7, 3.0)
NOISE = {"gumbel": gumbel, "logistic": logistic}

# Both sides add the same float64 numbers in another order. That changes a gradient by
# about 1e-16, and Adam, whose steps are normalised, hardly magnifies it: 32 steps end
# within 1e-14. A wrong formula shows at 1e-3, a wrong epsilon or beta at 1e-8.
TOLERANCE = 1e-11


def build_trainer(settings, *, noise="gumbel", weights=None, **networks):
    """Return a float64 trainer with two members."""
    is_classification = settings.is_classification
    X, y = make_rows(N_ROWS, N_COLUMNS, is_classification=is_classification, seed=1)
    networks["train_embedding"] = settings.train_embedding
    n_outputs = 3 if is_classification else 1
    task, masking = build_networks(N_COLUMNS, n_outputs, len(BALANCES), **networks)
    shared = ("penalty", "target_count", "reduction")
    shared += ("mask_learning_rate", "task_learning_rate")
    return StackTrainer(
        as_data(X, y, **(weights or {})),
        loss_for(is_classification),
        Training(noise=noise, **{name: getattr(settings, name) for name in shared}),
        task,
        masking=masking,
        balances=torch.tensor(BALANCES, dtype=torch.float64),
    )


def noise_of(trainer, kind):
    """Return the noise of each step to come, from a twin of the trainer's generator."""
    twin, shape = torch.Generator(), (N_COLUMNS, len(BALANCES))
    twin.set_state(trainer.noise_generator.get_state())
    draws = (
        torch.rand(shape, dtype=torch.float64, generator=twin).numpy()
        for _ in itertools.count()
    )
    return map(np.vectorize(NOISE[kind]), draws)


def run_engine(trainer, schedule):
    """Return rows, temperature and scale of every step, and what members had then."""
    steps, states, take_step = [], [], trainer.train_step

    def train_step(rows, temperature, scale):
        steps.append((rows.numpy().copy(), temperature, scale))
        take_step(rows, temperature, scale)

    def note(trainer):
        parts = trainer.task, trainer.masking
        states.append(
            [
                {
                    "task loss": trainer.history.task_loss[-1][member],
                    "logits": trainer.masking.logits().numpy()[:, member].copy(),
                    "gradients": member_arrays(*parts, member, "gradient"),
                    "parameters": member_arrays(*parts, member),
                }
                for member in range(len(BALANCES))
            ]
        )

    trainer.train_step = train_step
    every = np.arange(1, schedule.n_steps + 1) / schedule.n_steps
    trainer.run(schedule, record_after=every, on_record=note)
    return steps, states


def weights_for(weights, member, rows):
    """Return the row weights of a member in a batch, by the names of the reference."""
    own = 1 - member  # set_of_member swaps the two
    names = {"task_weights": "task_weights", "mask_weights": "gate_weights"}
    return {
        name: weights[key][own, rows] for key, name in names.items() if key in weights
    }


def train_both(settings, *, noise="gumbel", weights=None, **networks):
    """Return what engine and reference had after each step, for each member."""
    weights = weights or {}
    trainer = build_trainer(settings, noise=noise, weights=weights, **networks)
    references = [
        ReferenceAutoNFS(
            member_arrays(trainer.task, trainer.masking, member),
            replace(settings, balance=balance),
        )
        for member, balance in enumerate(BALANCES)
    ]
    noises = noise_of(trainer, noise)
    schedule = whole_epochs(N_EPOCHS, N_ROWS, BATCH_SIZE)
    steps, states = run_engine(trainer, replace(schedule, penalty_ramp=0.3))
    X, y = trainer.data.features.numpy(), trainer.data.targets.numpy()
    course = []
    for (rows, temperature, scale), found in zip(steps, states, strict=True):
        drawn = next(noises)
        for member, reference in enumerate(references):
            task_loss, gradients = reference.step(
                Batch(
                    *(X[rows], y[rows], drawn[:, member]),
                    temperature=temperature,
                    scale=scale,
                    **weights_for(weights, member, rows),
                )
            )
            parameters = reference.parameters.items()
            expected = {
                "task loss": task_loss,
                "logits": reference.logits().detach().numpy(),
                "gradients": gradients,
                "parameters": {k: v.detach().numpy().copy() for k, v in parameters},
            }
            course.append((found[member], expected))
    return course


def assert_same_course(course):
    """Compare all of every step at TOLERANCE."""
    for found, expected in course:
        for what in ("task loss", "logits"):
            assert abs(found[what] - expected[what]).max() <= TOLERANCE, what
        for what in ("gradients", "parameters"):
            assert found[what].keys() == expected[what].keys()
            for name, value in expected[what].items():
                worst = np.abs(found[what][name] - value).max()
                assert worst <= TOLERANCE, f"{what} of {name} differ by {worst}"


GRID = itertools.product(
    *(("classification", "regression"), ("fraction", "target"), ("mean", "sum")),
    *(("gumbel", "logistic"), ("trained", "frozen")),
)
# Half of them: all combinations of any four of the five.
HALF = [case for place, case in enumerate(GRID) if place.bit_count() % 2 == 0]


@pytest.mark.parametrize("case", HALF, ids="-".join)
def test_engine_takes_the_steps_of_the_reference(case):
    task, penalty, reduction, noise, embedding = case
    settings = ReferenceSettings(
        is_classification=task == "classification",
        penalty=penalty,
        reduction=reduction,
        train_embedding=embedding == "trained",
    )
    course = train_both(settings, noise=noise)
    assert_same_course(course)
    # Otherwise agreement would be cheap: 32 steps at 3e-4 move a weight by up to 1e-2.
    (_, first), (_, last) = course[0], course[-2]  # both of the first member
    for name, value in first["parameters"].items():
        is_frozen = (embedding, name) == ("frozen", "embedding")
        assert is_frozen or np.abs(last["parameters"][name] - value).max() > 1e-3


@pytest.mark.parametrize("is_classification", [True, False])
@pytest.mark.parametrize("hidden_sizes", [(), (4,), (3, 4, 2)], ids=str)
def test_engine_agrees_for_any_number_of_layers(hidden_sizes, is_classification):
    settings = ReferenceSettings(is_classification=is_classification)
    assert_same_course(train_both(settings, hidden_sizes=hidden_sizes))


def test_engine_agrees_when_the_projection_starts_at_zero():
    # The embedding's gradient is exactly zero in the first step: Adam must not divide
    # by its square root alone.
    course = train_both(ReferenceSettings(), init="zeros")
    assert not np.any(course[0][0]["gradients"]["embedding"])
    assert_same_course(course)


# Two ways to share the rows out: the members use one each.
TASK_ROWS = np.zeros((2, N_ROWS))
TASK_ROWS[0, ::2] = TASK_ROWS[1, 1::2] = 1.0
GATE_ROWS = 1.0 - TASK_ROWS
UNEVEN = np.random.default_rng(3).uniform(0.2, 3.0, (2, N_ROWS))
SHARED_OUT = {
    "disjoint": {"task_weights": TASK_ROWS, "mask_weights": GATE_ROWS},
    "some rows": {"task_weights": TASK_ROWS},
    "uneven": {"task_weights": UNEVEN},
    "uneven and disjoint": {
        "task_weights": UNEVEN * TASK_ROWS,
        "mask_weights": UNEVEN * GATE_ROWS,
    },
}


@pytest.mark.parametrize("hidden_sizes", [(4, 3), ()], ids=["deep", "linear"])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("case", SHARED_OUT)
def test_gates_and_task_networks_learn_from_their_own_rows(
    hidden_sizes, reduction, case
):
    settings = ReferenceSettings(reduction=reduction)
    weights = SHARED_OUT[case] | {"set_of_member": np.array([1, 0])}
    course = train_both(settings, weights=weights, hidden_sizes=hidden_sizes)
    assert_same_course(course)


def test_a_member_without_task_rows_in_a_batch_moves_its_gates_alone():
    weights = SHARED_OUT["disjoint"] | {"set_of_member": np.array([1, 0])}
    trainer = build_trainer(ReferenceSettings(reduction="mean"), weights=weights)
    # Task rows of set 0, gate rows of set 1, which the first member has.
    trainer.train_step(torch.arange(0, N_ROWS, 2), 1.3, 1.0)
    found = member_arrays(trainer.task, trainer.masking, 0, "gradient")
    for name, gradient in found.items():
        assert np.any(gradient) == (name in MASK_NAMES), name


def test_a_run_has_the_batches_and_the_temperature_of_algorithm_1():
    trainer = build_trainer(ReferenceSettings())
    steps, _ = run_engine(trainer, whole_epochs(N_EPOCHS, N_ROWS, BATCH_SIZE))
    assert len(steps) == N_EPOCHS * STEPS_PER_EPOCH
    for number, (rows, temperature, scale) in enumerate(steps):
        epoch, place = divmod(number, STEPS_PER_EPOCH)
        assert len(rows) == (2 if place == STEPS_PER_EPOCH - 1 else BATCH_SIZE)
        assert scale == 1.0
        # 0.997^5 by powers or by products: a few units in the last place.
        assert temperature == pytest.approx(temperature_of_epoch(epoch), rel=1e-14)
    for epoch in range(N_EPOCHS):
        seen = [rows for rows, *_ in steps[epoch * STEPS_PER_EPOCH :][:STEPS_PER_EPOCH]]
        assert sorted(np.concatenate(seen)) == list(range(N_ROWS))
    orders = [np.concatenate([rows for rows, *_ in steps[n : n + 4]]) for n in (0, 4)]
    assert orders[0].tolist() != orders[1].tolist()
