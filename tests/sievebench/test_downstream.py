import numpy as np
import pytest
import torch
from made_dataset import made_dataset
from sklearn import metrics

from sievebench.data import split
from sievebench.downstream import PREDICTORS, evaluate, score
from sievebench.downstream.mlp import MLPSettings

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


def judge(name, table, seeds, *, device="cpu", settings=None, **named):
    settings = QUICK[name] if settings is None else settings
    return evaluate(name, table, seeds, settings=settings, device=device, **named)


def outputs_of(shape):
    """Return outputs with some ties, as tensors of two members."""
    generator = np.random.default_rng(1)
    return torch.from_numpy(np.round(generator.normal(size=shape), 1))


def labels_of(outputs):
    return outputs[:, 0] > 0 if outputs.shape[1] == 1 else outputs.argmax(axis=1)


@pytest.mark.parametrize(
    ("metric", "n_classes", "expected"),
    [
        *(("accuracy", n, metrics.accuracy_score) for n in (2, 4)),
        *(("balanced_accuracy", n, metrics.balanced_accuracy_score) for n in (2, 4)),
        ("roc_auc", 2, metrics.roc_auc_score),
        ("negative_rmse", 0, lambda y, z: -metrics.root_mean_squared_error(y, z)),
    ],
)
def test_metric_is_scikit_learns_unless_an_output_is_no_number(
    metric, n_classes, expected
):
    outputs = outputs_of((2, 200, n_classes if n_classes > 2 else 1))
    targets = torch.arange(200) % n_classes if n_classes else torch.linspace(-1, 1, 200)
    answer = labels_of if "accuracy" in metric else (lambda each: each[:, 0])
    scores = [expected(targets.numpy(), answer(each)) for each in outputs.numpy()]
    assert score(metric, outputs, targets).tolist() == pytest.approx(scores)
    outputs[1, 3] = torch.inf
    assert score(metric, outputs, targets).isnan().tolist() == [False, True]


# What the first two columns tell is nearly everything: guessing scores 1/3, 1/2, -1.
WORTH = {"multiclass": 0.8, "binary": 0.9, "regression": -0.5}


@pytest.mark.parametrize("kind", TASKS)
@pytest.mark.parametrize("name", PREDICTORS)
def test_predictor_learns(name, kind):
    found = judge(name, scaled(kind, n_rows=1000), [0, 1])
    assert [evaluation.seed for evaluation in found] == [0, 1]
    for evaluation in found:
        assert evaluation.score > WORTH[kind]
        assert evaluation.validation_score > WORTH[kind]
        assert evaluation.seconds > 0


@pytest.mark.parametrize("name", PREDICTORS)
def test_seed_decides_the_score_whatever_other_seeds_there_are(name):
    table = scaled("multiclass")
    (alone,), (_, beside) = (judge(name, table, seeds) for seeds in ([5], [3, 5]))
    assert beside.score == alone.score
    assert beside.validation_score == alone.validation_score


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("kind", TASKS)
def test_mlp_scores_the_same_beside_others_that_see_other_columns(kind, device):
    table = scaled(kind)
    is_seen = np.ones((3, table.train.X.shape[1]), dtype=bool)
    is_seen[0, 2:] = False
    is_seen[1, ::2] = False
    given = {"settings": {**QUICK["mlp"], "dropout": 0.2}, "device": device}
    together = judge("mlp", table, [4, 5, 6], is_seen=is_seen, **given)
    close = 1e-2 if device == "cpu" else 0.05  # rounding grows from step to step
    for seed, seen, found in zip([4, 5, 6], is_seen, together, strict=True):
        (alone,) = judge("mlp", table.keep(seen), [seed], **given)
        scores = (found.score, found.validation_score)
        expected = (alone.score, alone.validation_score)
        assert scores == pytest.approx(expected, abs=close)


@pytest.mark.parametrize("name", PREDICTORS)
def test_test_rows_decide_nothing(name):
    table = scaled("regression")
    before = judge(name, table, [0])
    table.test.X[:] = 7.0
    table.test.y[:] = 7.0
    after = judge(name, table, [0])
    assert after[0].validation_score == before[0].validation_score
    assert after[0].score != before[0].score


def test_mlp_starts_from_the_benchmarks_settings():
    settings = MLPSettings()
    assert settings.hidden_sizes == (100, 100)
    assert (settings.dropout, settings.learning_rate) == (0.1, 1e-3)
    assert (settings.weight_decay, settings.batch_size) == (2e-4, 512)


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
    with pytest.raises(ValueError, match=r"has no setting '\?'.* it has") as raised:
        evaluate(name, scaled("binary"), [0], settings={"?": 0, **QUICK[name]})
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
        judge("mlp", table, [0, 1], device=device) for device in ("cpu", "cuda")
    )
    for here, there in zip(on_cpu, on_gpu, strict=True):
        # Dropout is drawn on the device, so the networks are not the same ones.
        assert there.score == pytest.approx(here.score, abs=0.05)
