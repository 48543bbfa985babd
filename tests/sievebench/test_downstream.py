"""Predictors and metrics, against scikit-learn, plain torch and each other."""

import numpy as np
import pytest
import torch
from made_dataset import made_dataset
from sklearn import metrics

from sievebench.data import split
from sievebench.downstream import PREDICTORS, evaluate
from sievebench.downstream._metrics import score
from sievebench.downstream.mlp import MLPSettings
from sievebench.stack.training import TrainingSettings

QUICK = {
    "mlp": {"max_epochs": 40, "learning_rate": 1e-2, "batch_size": 64},
    "forest": {"n_estimators": 30},
    "xgboost": {"n_rounds": 60, "patience": 10},
}
TASKS = {
    "multiclass": {"task": "classification", "n_classes": 3},
    "binary": {"task": "classification", "n_classes": 2},
    "regression": {"task": "regression"},
}


def scaled(kind, **changes):
    return split(made_dataset(**{**TASKS[kind], **changes})).scaled()


def outputs_of(shape):
    """Return outputs with some ties, as tensors of two members."""
    generator = np.random.default_rng(1)
    return torch.from_numpy(np.round(generator.normal(size=shape), 1))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("accuracy", metrics.accuracy_score),
        ("balanced_accuracy", metrics.balanced_accuracy_score),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_class_metrics_are_scikit_learns(metric, expected, n_classes):
    outputs = outputs_of((2, 200, 1 if n_classes == 2 else n_classes))
    targets = torch.arange(200) % n_classes
    for member, found in zip(
        outputs.numpy(), score(metric, outputs, targets), strict=True
    ):
        labels = member[:, 0] > 0 if n_classes == 2 else member.argmax(axis=1)
        assert float(found) == pytest.approx(
            expected(targets.numpy(), labels.astype(int))
        )


def test_roc_auc_is_scikit_learns():
    outputs, targets = outputs_of((2, 200, 1)), torch.arange(200) % 2
    expected = [metrics.roc_auc_score(targets, member) for member in outputs[..., 0]]
    assert score("roc_auc", outputs, targets).tolist() == pytest.approx(expected)


def test_negative_rmse_is_scikit_learns():
    outputs, targets = outputs_of((2, 200, 1)), torch.linspace(-1, 1, 200)
    expected = [
        -metrics.root_mean_squared_error(targets, member) for member in outputs[..., 0]
    ]
    assert score("negative_rmse", outputs, targets).tolist() == pytest.approx(expected)


def test_output_that_is_no_number_has_no_score():
    outputs = outputs_of((2, 20, 1))
    outputs[1, 3] = torch.inf
    found = score("accuracy", outputs, torch.arange(20) % 2)
    assert found.isnan().tolist() == [False, True]


# What the first two columns tell is nearly everything: guessing scores 1/3, 1/2, -1.
WORTH = {"multiclass": 0.8, "binary": 0.9, "regression": -0.5}


@pytest.mark.parametrize("kind", TASKS)
@pytest.mark.parametrize("name", PREDICTORS)
def test_predictor_learns(name, kind):
    found = evaluate(
        name, scaled(kind, n_rows=1000), [0, 1], settings=QUICK[name], device="cpu"
    )
    assert [evaluation.seed for evaluation in found] == [0, 1]
    for evaluation in found:
        assert evaluation.score > WORTH[kind]
        assert evaluation.validation_score > WORTH[kind]
        assert evaluation.seconds > 0


@pytest.mark.parametrize("name", PREDICTORS)
def test_seed_decides_the_score_whatever_other_seeds_there_are(name):
    table = scaled("multiclass")
    alone = evaluate(name, table, [5], settings=QUICK[name], device="cpu")
    together = evaluate(name, table, [3, 5], settings=QUICK[name], device="cpu")
    assert together[1].score == alone[0].score
    assert together[1].validation_score == alone[0].validation_score


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("kind", TASKS)
def test_mlp_scores_the_same_beside_others_that_see_other_columns(kind, device):
    table = scaled(kind)
    is_seen = np.ones((3, table.train.X.shape[1]), dtype=bool)
    is_seen[0, 2:] = False
    is_seen[1, ::2] = False
    settings = {**QUICK["mlp"], "dropout": 0.2}
    together = evaluate(
        "mlp", table, [4, 5, 6], settings=settings, device=device, is_seen=is_seen
    )
    close = 1e-2 if device == "cpu" else 0.05  # rounding grows from step to step
    for seed, seen, found in zip([4, 5, 6], is_seen, together, strict=True):
        (alone,) = evaluate(
            "mlp", table.keep(seen), [seed], settings=settings, device=device
        )
        assert found.score == pytest.approx(alone.score, abs=close)
        assert found.validation_score == pytest.approx(
            alone.validation_score, abs=close
        )


@pytest.mark.parametrize("name", PREDICTORS)
def test_test_rows_decide_nothing(name):
    table = scaled("regression")
    before = evaluate(name, table, [0], settings=QUICK[name], device="cpu")
    table.test.X[:] = 7.0
    table.test.y[:] = 7.0
    after = evaluate(name, table, [0], settings=QUICK[name], device="cpu")
    assert after[0].validation_score == before[0].validation_score
    assert after[0].score != before[0].score


def test_mlp_starts_from_the_benchmarks_settings():
    settings, training = MLPSettings(), TrainingSettings()
    assert settings.hidden_sizes == (100, 100)
    assert (settings.dropout, settings.learning_rate) == (0.1, 1e-3)
    assert (settings.weight_decay, settings.batch_size) == (2e-4, 512)
    rates = [training.rate_of(epoch) / 1e-3 for epoch in (0, 1, 2, 3, 4, 39, 40, 80)]
    assert rates == pytest.approx([0.2, 0.4, 0.6, 0.8, 1, 1, 0.1, 0.01])


@pytest.mark.parametrize("name", PREDICTORS)
def test_unknown_setting_is_refused(name):
    with pytest.raises(ValueError, match="has no setting 'colour'"):
        evaluate(name, scaled("binary"), [0], settings={"colour": 1})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_epochs": 0}, "max_epochs must be an int >= 1, got 0"),
        ({"batch_size": 2.5}, "batch_size must be an int >= 1, got 2.5"),
        ({"hidden_sizes": (8, 0)}, "hidden_sizes must be an int >= 1, got 0"),
        ({"dropout": 1.0}, "dropout must be a number >= 0 and < 1, got 1.0"),
        ({"learning_rate": 0.0}, "learning_rate must be a number > 0, got 0.0"),
        ({"weight_decay": -1.0}, "weight_decay must be a number >= 0, got -1.0"),
    ],
)
def test_setting_of_the_mlp_that_is_not_allowed_is_named(settings, message):
    with pytest.raises(ValueError, match=message):
        evaluate("mlp", scaled("binary"), [0], settings=settings)


@pytest.mark.parametrize("name", PREDICTORS)
def test_space_of_a_predictor_names_its_settings(name):
    table = scaled("binary", n_rows=60)
    settings = {**QUICK[name]}
    with pytest.raises(ValueError, match="it has") as raised:
        evaluate(name, table, [0], settings={"?": 0, **settings})
    assert all(setting in str(raised.value) for setting in PREDICTORS[name].space)


def test_unknown_predictor_and_raw_rows_are_refused():
    with pytest.raises(ValueError, match="downstream must be one of mlp, forest"):
        evaluate("oracle", scaled("binary"), [0])
    with pytest.raises(ValueError, match="must be scaled first"):
        evaluate("mlp", split(made_dataset()), [0])


@pytest.mark.gpu
@pytest.mark.parametrize("kind", TASKS)
def test_mlp_learns_as_well_on_a_gpu(kind):
    table = scaled(kind, n_rows=1000)
    on_cpu, on_gpu = (
        evaluate("mlp", table, [0, 1], settings=QUICK["mlp"], device=device)
        for device in ("cpu", "cuda")
    )
    for here, there in zip(on_cpu, on_gpu, strict=True):
        # Dropout is drawn on the device, so the networks are not the same ones.
        assert there.score == pytest.approx(here.score, abs=0.05)
