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
from featuresieve.engine._masking import draw_noise_
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
    take_losses_,
    whole_epochs,
)

pytestmark = pytest.mark.numeric

N_ROWS, N_COLUMNS, N_STEPS = 14, 5, 30
BALANCES = (0.7, 3.0)
NOISE = {"gumbel": gumbel, "logistic": logistic}

# Both sides add the same float64 numbers in another order. That changes a gradient by
# about 1e-16, and Adam, whose steps are normalised, hardly magnifies it: 30 steps end
# within 1e-14. A wrong formula shows at 1e-3, a wrong epsilon or beta at 1e-8.
TOLERANCE = 1e-11


def assert_close(found, expected, what=""):
    """Compare at TOLERANCE, far faster than numpy.testing does."""
    worst = np.abs(np.asarray(found) - expected).max()
    assert worst <= TOLERANCE, f"{what} differs by {worst}"  # nan fails too


def assert_all_close(found, expected):
    """Compare arrays by name."""
    assert found.keys() == expected.keys()
    for name in expected:
        assert_close(found[name], expected[name], name)


def uniform_numbers(seed):
    """Yield the uniform numbers from which `draw_noise_` makes its noise."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield torch.rand(
            N_COLUMNS, len(BALANCES), dtype=torch.float64, generator=generator
        ).numpy()


def noise_source(kind, seed):
    """Return the library's own noise, as a source for a trainer."""
    generator = torch.Generator().manual_seed(seed)
    shape = (N_COLUMNS, len(BALANCES))
    return lambda: draw_noise_(torch.empty(shape, dtype=torch.float64), kind, generator)


def build_trainer(
    settings,
    *,
    noise="gumbel",
    weights=None,
    source=None,
    **networks,
):
    """Return a float64 trainer with two members."""
    X, y = make_rows(
        N_ROWS, N_COLUMNS, is_classification=settings.is_classification, seed=1
    )
    task, masking = build_networks(
        N_COLUMNS,
        3 if settings.is_classification else 1,
        len(BALANCES),
        train_embedding=settings.train_embedding,
        **networks,
    )
    return StackTrainer(
        as_data(X, y, **(weights or {})),
        loss_for(settings.is_classification),
        Training(
            penalty=settings.penalty,
            target_count=settings.target_count,
            noise=noise,
            reduction=settings.reduction,
            mask_learning_rate=settings.mask_learning_rate,
            task_learning_rate=settings.task_learning_rate,
        ),
        task,
        masking=masking,
        balances=torch.tensor(BALANCES, dtype=torch.float64),
        noise_source=source,
    )


def references_of(trainer, settings):
    """Return one reference per member, with the trainer's present parameters."""
    return [
        ReferenceAutoNFS(
            member_arrays(trainer.task, trainer.masking, member),
            replace(settings, balance=balance),
        )
        for member, balance in enumerate(BALANCES)
    ]


def batch_for(trainer, rows, noise, **more):
    """Return some rows of a trainer's data as a batch of the reference."""
    X, y = trainer.data.features.numpy(), trainer.data.targets.numpy()
    return Batch(X[rows], y[rows], noise, **more)


def draw_rows(rng):
    """Return a batch of 3 to 6 rows."""
    return rng.choice(N_ROWS, size=rng.integers(3, 7), replace=False)


def train_both(trainer, references, noise, *, n_steps=N_STEPS, uniform):
    """Yield, for every step and member, what the engine and the reference have."""
    rng = np.random.default_rng(2)
    for step in range(n_steps):
        rows = draw_rows(rng)
        knobs = {
            "temperature": temperature_of_epoch(10 * step),
            "scale": min(1.0, step / 9),
        }
        trainer.train_step(torch.from_numpy(rows), **knobs)
        (task_loss, penalty), u = take_losses_(trainer), next(uniform)
        logits = trainer.masking.logits().numpy()
        for member, reference in enumerate(references):
            g = np.array([NOISE[noise](x) for x in u[:, member]])
            record = reference.step(batch_for(trainer, rows, g, **knobs))
            found, expected = (
                {
                    "task_loss": task_loss[member],
                    "penalty": penalty[member],
                    "logits": logits[:, member],
                    "gradients": member_arrays(
                        trainer.task, trainer.masking, member, "gradient"
                    ),
                    "parameters": member_arrays(trainer.task, trainer.masking, member),
                },
                {
                    "task_loss": record.task_loss,
                    "penalty": record.penalty,
                    "logits": np.array(reference.logits()),
                    "gradients": record.gradients,
                    "parameters": {
                        name: value.copy()
                        for name, value in reference.parameters.items()
                    },
                },
            )
            yield found, expected


GRID = list(
    itertools.product(
        ("classification", "regression"),
        ("fraction", "target"),
        ("mean", "sum"),
        ("gumbel", "logistic"),
        ("trained", "frozen"),
    )
)


@pytest.fixture(scope="module", params=GRID, ids="-".join)
def course(request):
    """Return what engine and reference had after each of 30 steps."""
    task, penalty, reduction, noise, embedding = request.param
    settings = ReferenceSettings(
        is_classification=task == "classification",
        penalty=penalty,
        reduction=reduction,
        train_embedding=embedding == "trained",
    )
    trainer = build_trainer(settings, noise=noise, source=noise_source(noise, 7))
    references = references_of(trainer, settings)
    return list(train_both(trainer, references, noise, uniform=uniform_numbers(7)))


@pytest.mark.parametrize("what", ["task_loss", "penalty", "logits"])
def test_engine_has_the_losses_and_logits_of_the_reference_at_every_step(course, what):
    for found, expected in course:
        assert_close(found[what], expected[what], what)


@pytest.mark.parametrize("what", ["gradients", "parameters"])
def test_engine_has_the_gradients_and_parameters_of_the_reference(course, what):
    for found, expected in course:
        assert_all_close(found[what], expected[what])


def test_training_moves_every_parameter_that_is_compared(course):
    # Otherwise agreement would be cheap: 30 steps at 3e-4 move a weight by up to 9e-3.
    (_, first), (_, last) = course[0], course[-2]  # both of the first member
    for name, value in first["parameters"].items():
        is_frozen = not np.any(last["gradients"]["embedding"]) and name == "embedding"
        assert is_frozen or np.abs(last["parameters"][name] - value).max() > 1e-3


@pytest.mark.parametrize("noise", ["gumbel", "logistic"])
def test_trainer_draws_the_noise_its_settings_name(noise):
    settings = ReferenceSettings(reduction="mean")
    trainer = build_trainer(settings, noise=noise)
    twin = torch.Generator()
    twin.set_state(trainer.noise_generator.get_state())
    uniform = (
        torch.rand(
            N_COLUMNS, len(BALANCES), dtype=torch.float64, generator=twin
        ).numpy()
        for _ in itertools.count()
    )
    references = references_of(trainer, settings)
    for found, expected in train_both(
        trainer, references, noise, n_steps=5, uniform=uniform
    ):
        assert_close(found["logits"], expected["logits"])


@pytest.mark.parametrize("is_classification", [True, False])
@pytest.mark.parametrize("hidden_sizes", [(), (4,), (3, 4, 2)], ids=str)
def test_engine_agrees_for_any_number_of_layers(hidden_sizes, is_classification):
    settings = ReferenceSettings(is_classification=is_classification)
    trainer = build_trainer(
        settings, source=noise_source("gumbel", 7), hidden_sizes=hidden_sizes
    )
    references = references_of(trainer, settings)
    for found, expected in train_both(
        trainer, references, "gumbel", n_steps=10, uniform=uniform_numbers(7)
    ):
        assert_all_close(found["gradients"], expected["gradients"])
        assert_all_close(found["parameters"], expected["parameters"])


def test_engine_agrees_when_the_projection_starts_at_zero():
    # The embedding's gradient is exactly zero in the first step: Adam must not divide
    # by its square root alone.
    settings = ReferenceSettings()
    trainer = build_trainer(settings, init="zeros", source=noise_source("gumbel", 7))
    references = references_of(trainer, settings)
    course = list(train_both(trainer, references, "gumbel", uniform=uniform_numbers(7)))
    assert not np.any(course[0][0]["gradients"]["embedding"])
    for found, expected in course:
        assert_close(found["logits"], expected["logits"])


# Two ways to share the rows out: the members use one each.
TASK_ROWS = np.zeros((2, N_ROWS))
TASK_ROWS[0, ::2] = TASK_ROWS[1, 1::2] = 1.0
GATE_ROWS = 1.0 - TASK_ROWS
UNEVEN = np.random.default_rng(3).uniform(0.2, 3.0, (2, N_ROWS))


def train_weighted(
    reduction, task_weights, gate_weights, *, rows_of_step, hidden_sizes=(4, 3)
):
    """Yield engine and reference gradients of every step and member."""
    settings = ReferenceSettings(reduction=reduction)
    weights = {"task_weights": task_weights, "set_of_member": np.array([1, 0])}
    if gate_weights is not None:
        weights["mask_weights"] = gate_weights
    trainer = build_trainer(
        settings,
        weights=weights,
        source=noise_source("gumbel", 7),
        hidden_sizes=hidden_sizes,
    )
    references = references_of(trainer, settings)
    uniform = uniform_numbers(7)
    for rows in rows_of_step:
        trainer.train_step(torch.from_numpy(rows), 1.3, 1.0)
        (task_loss, _), u = take_losses_(trainer), next(uniform)
        for member, reference in enumerate(references):
            own = 1 - member  # set_of_member swaps the two
            batch = batch_for(
                trainer,
                rows,
                np.array([gumbel(x) for x in u[:, member]]),
                temperature=1.3,
                task_weights=task_weights[own, rows],
                gate_weights=None if gate_weights is None else gate_weights[own, rows],
            )
            record = reference.step(batch)
            assert_close(task_loss[member], record.task_loss)
            found = member_arrays(trainer.task, trainer.masking, member, "gradient")
            yield found, record.gradients


@pytest.mark.parametrize("hidden_sizes", [(4, 3), ()], ids=["deep", "linear"])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize(
    ("task_weights", "gate_weights"),
    [
        (TASK_ROWS, GATE_ROWS),
        (TASK_ROWS, None),
        (UNEVEN, None),
        (UNEVEN * TASK_ROWS, UNEVEN * GATE_ROWS),
    ],
    ids=["disjoint", "some-rows", "uneven", "uneven-disjoint"],
)
def test_gates_and_task_networks_learn_from_their_own_rows(
    hidden_sizes, reduction, task_weights, gate_weights
):
    rng = np.random.default_rng(4)
    rows_of_step = [draw_rows(rng) for _ in range(N_STEPS)]
    for found, expected in train_weighted(
        reduction,
        task_weights,
        gate_weights,
        rows_of_step=rows_of_step,
        hidden_sizes=hidden_sizes,
    ):
        assert_all_close(found, expected)


def test_a_member_without_task_rows_in_a_batch_moves_its_gates_alone():
    rows = np.arange(0, N_ROWS, 2)  # task rows of set 0, gate rows of set 1
    (found, _), _ = train_weighted("mean", TASK_ROWS, GATE_ROWS, rows_of_step=[rows])
    for name, gradient in found.items():
        assert np.any(gradient) == (name in MASK_NAMES), name


@pytest.mark.parametrize("is_classification", [True, False])
def test_a_whole_run_is_algorithm_1(is_classification):
    settings = ReferenceSettings(is_classification=is_classification, reduction="mean")
    trainer = build_trainer(settings, source=noise_source("gumbel", 7))
    references, uniform = references_of(trainer, settings), uniform_numbers(7)
    steps, take_step = [], trainer.train_step

    def train_step(rows, temperature, scale):
        steps.append((rows.numpy().copy(), temperature, scale))
        take_step(rows, temperature, scale)

    trainer.train_step = train_step
    n_epochs, batch_size, per_epoch = 6, 4, 4  # 14 rows: batches of 4, 4, 4 and 2
    trainer.run(whole_epochs(n_epochs, N_ROWS, batch_size))

    assert len(steps) == n_epochs * per_epoch
    for number, (rows, temperature, scale) in enumerate(steps):
        epoch, place = divmod(number, per_epoch)
        assert len(rows) == (2 if place == per_epoch - 1 else batch_size)
        assert scale == 1.0
        # 0.997^5 by powers or by products: a few units in the last place.
        assert temperature == pytest.approx(temperature_of_epoch(epoch), rel=1e-14)
        u = next(uniform)
        for member, reference in enumerate(references):
            noise = np.array([gumbel(x) for x in u[:, member]])
            batch = batch_for(
                trainer, rows, noise, temperature=temperature_of_epoch(epoch)
            )
            reference.step(batch)
    for epoch in range(n_epochs):
        seen = [rows for rows, _, _ in steps[epoch * per_epoch :][:per_epoch]]
        assert sorted(np.concatenate(seen)) == list(range(N_ROWS))
    for member, reference in enumerate(references):
        found = member_arrays(trainer.task, trainer.masking, member)
        assert_all_close(found, reference.parameters)
