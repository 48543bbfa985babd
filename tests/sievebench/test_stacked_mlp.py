import pytest
import torch
from neural_tables import CPU, as_sequential, make_stack
from scipy import stats

from sievebench.stack.member_noise import MemberNoise
from sievebench.stack.mlp import NormalStart, StackedMLP

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


def test_members_may_see_values_of_their_own_and_scaled_columns():
    stack, batch, scale = make_stack(), draw(2, 6, 5), draw(2, 5, seed=1)
    outputs = stack.forward(batch, training=False)
    for member in range(2):
        expected = as_sequential(stack, member)(batch[member])
        torch.testing.assert_close(outputs[member], expected)
    folded = stack.forward(batch[0], training=False, column_scale=scale)
    plain = stack.forward(batch[0] * scale.unsqueeze(1), training=False)
    torch.testing.assert_close(folded, plain)


@pytest.mark.parametrize("shape", [(6, 5), (2, 6, 5)])
def test_batch_norm_of_every_input_is_that_of_torch_in_training_and_after_it(shape):
    stack = make_stack(batch_norm=True, activation="tanh")
    with torch.no_grad():
        for layer in range(3):
            stack.trainable[f"norm_scale{layer}"].mul_(1.5)
            stack.trainable[f"norm_shift{layer}"].add_(0.1)
    twins = [as_sequential(stack, member, "tanh", True) for member in range(2)]
    for step in range(4):
        batch = draw(*shape, seed=step)
        outputs = stack.forward(batch, training=True)
        for output, twin, seen in zip(
            outputs, twins, batch.expand(2, 6, 5), strict=True
        ):
            torch.testing.assert_close(output, twin(seen))
    batch = draw(*shape, seed=100)
    outputs = stack.forward(batch, training=False)
    for output, twin, seen in zip(outputs, twins, batch.expand(2, 6, 5), strict=True):
        torch.testing.assert_close(output, twin.eval()(seen))


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
    normal = start_of(NormalStart(1.0, has_biases=True))
    assert normal.first_weight.std().item() == pytest.approx(1.0, rel=0.03)
    assert normal.trainable["bias0"].std().item() == pytest.approx(1.0, rel=0.2)


@pytest.mark.parametrize(("std", "bound"), [(0.015, 0.03), (1.0, 0.2)])
def test_cut_off_weights_have_the_deviation_of_a_truncated_normal(std, bound):
    stack = start_of(NormalStart(std, bound))
    expected = stats.truncnorm(-bound / std, bound / std, scale=std).std()
    assert stack.first_weight.abs().max().item() <= bound
    # 20,000 draws: a standard error of half a per cent.
    assert stack.first_weight.std().item() == pytest.approx(expected, rel=0.03)
    assert not stack.trainable["bias0"].any()


def start_of(start):
    noise = MemberNoise((3,), CPU)
    return StackedMLP(100, 1, hidden_sizes=(200,), noise=noise, start=start)


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
    with pytest.raises(ValueError, match="start must be None"):
        make_stack(seeds=(0, 1, 2), is_seen=is_seen, start=NormalStart(0.1))


def take_step(stack, loss):
    parameters = list(stack.trainable.values())
    slopes = torch.autograd.grad(loss, parameters)
    with torch.no_grad():
        for values, slope in zip(parameters, slopes, strict=True):
            values -= 0.01 * slope
