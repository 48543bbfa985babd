"""The stacked MLP against torch.nn, member by member, in float64."""

import pytest
import torch
from neural_tables import CPU, as_sequential, make_stack

from sievebench.stack.member_noise import MemberNoise
from sievebench.stack.mlp import StackedMLP

pytestmark = pytest.mark.numeric


def draw(*shape, seed=9):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("hidden_sizes", [(), (7,), (7, 4)])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("seeds", [(4,), (0, 1, 2)])
def test_outputs_are_those_of_torch_layers(seeds, activation, hidden_sizes):
    stack = make_stack(seeds=seeds, hidden_sizes=hidden_sizes, activation=activation)
    batch = draw(6, 5)
    outputs = stack.forward(batch, training=True)

    assert outputs.shape == (len(seeds), 6, 3)
    for member in range(len(seeds)):
        expected = as_sequential(stack, member, activation)(batch)
        torch.testing.assert_close(outputs[member], expected)


def test_members_may_see_values_of_their_own():
    stack, batch = make_stack(), draw(2, 6, 5)
    outputs = stack.forward(batch, training=False)
    for member in range(2):
        expected = as_sequential(stack, member)(batch[member])
        torch.testing.assert_close(outputs[member], expected)


def test_column_scale_multiplies_the_columns():
    stack, batch, scale = make_stack(), draw(6, 5), draw(2, 5, seed=1)
    folded = stack.forward(batch, training=False, column_scale=scale)
    plain = stack.forward(batch * scale.unsqueeze(1), training=False)
    torch.testing.assert_close(folded, plain)


def test_batch_norm_is_that_of_torch_in_training_and_after_it():
    stack = make_stack(batch_norm=True, activation="tanh")
    twins = [as_sequential(stack, member, "tanh", True) for member in range(2)]
    for step in range(4):
        batch = draw(6, 5, seed=step)
        outputs = stack.forward(batch, training=True)
        for output, twin in zip(outputs, twins, strict=True):
            torch.testing.assert_close(output, twin(batch))
    batch = draw(6, 5, seed=100)
    outputs = stack.forward(batch, training=False)
    for output, twin in zip(outputs, twins, strict=True):
        torch.testing.assert_close(output, twin.eval()(batch))


def test_dropout_leaves_out_its_fraction_and_keeps_the_mean():
    noise = MemberNoise((0, 1), CPU)
    factors = noise.kept((200, 100), 0.3, torch.float64)
    dropped = (factors == 0).double().mean(dim=(1, 2))
    # 20,000 draws: a standard error of 0.0032.
    torch.testing.assert_close(
        dropped, torch.full_like(dropped, 0.3), atol=0.015, rtol=0
    )
    assert set(factors.unique().tolist()) == {0.0, 1 / 0.7}
    assert not torch.equal(factors[0], factors[1])


def test_dropout_is_off_outside_training():
    stack, batch = make_stack(dropout=0.5), draw(6, 5)
    once = stack.forward(batch, training=False)
    torch.testing.assert_close(once, stack.forward(batch, training=False))
    assert not torch.allclose(once, stack.forward(batch, training=True))


def test_initial_weights_are_uniform_or_normal_as_asked():
    noise = MemberNoise((3,), CPU)
    wide = StackedMLP(100, 1, hidden_sizes=(200,), noise=noise)
    bound = wide.first_weight.abs().max().item()
    assert 0.099 < bound <= 0.1  # 1 / sqrt(100), approached by 20,000 draws
    normal = StackedMLP(100, 1, hidden_sizes=(200,), noise=noise, initial_std=0.015)
    assert normal.first_weight.std().item() == pytest.approx(0.015, rel=0.03)
    assert normal.trainable["bias0"].abs().max().item() == 0


def test_member_is_the_same_in_any_stack():
    alone, among = make_stack(seeds=(1,)), make_stack(seeds=(0, 1, 2))
    torch.testing.assert_close(alone.first_weight[0], among.first_weight[1])


def test_member_trains_as_if_unseen_columns_were_not_there():
    is_seen = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 0, 0, 0], [1, 1, 1, 1, 1]]).bool()
    stack = make_stack(seeds=(0, 1, 2), is_seen=is_seen)
    batch, target = draw(6, 5), draw(3, 6, 3)
    for _ in range(3):
        loss = (stack.forward(batch, training=True) - target).square().sum()
        take_step(stack, loss)
    for member, seen in enumerate(is_seen):
        alone = make_stack(int(seen.sum()), seeds=(member,))
        for _ in range(3):
            outputs = alone.forward(batch[:, seen], training=True)
            take_step(alone, (outputs - target[member]).square().sum())
        for name, values in alone.trainable.items():
            found = stack.trainable[name][member]
            found = found[seen] if name == "weight0" else found
            torch.testing.assert_close(found, values[0])
    assert not stack.first_weight[~is_seen].any()
    with pytest.raises(ValueError, match="initial_std must be None"):
        make_stack(seeds=(0, 1, 2), is_seen=is_seen, initial_std=0.1)


def take_step(stack, loss):
    """Take one step of gradient descent."""
    parameters = list(stack.trainable.values())
    slopes = torch.autograd.grad(loss, parameters)
    with torch.no_grad():
        for values, slope in zip(parameters, slopes, strict=True):
            values -= 0.01 * slope
