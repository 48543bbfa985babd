from dataclasses import replace

import numpy as np
import pytest
from made_cells import cell
from made_dataset import made_dataset
from sklearn.ensemble import RandomForestClassifier

from sievebench import corruption, data, downstream
from sievebench.analysis import check_runs, predictive_power
from sievebench.pipeline import run_one
from sievebench.store import RunRecord, collect

CELL = cell(
    **{"seeds": (0, 1), "keep": 4, "experiment": "removal", "device": "cpu"},
    **{"downstream": "forest", "downstream_settings": {"n_estimators": 8}},
)


def test_scores_are_those_of_forests_grown_by_hand():
    record = run_one(CELL)
    assert record.status == "done", record.details
    parts = data.split(corruption.apply(data.load("wine"), "random")).scaled()
    train, test = parts.train, parts.test
    run = record.runs[1]
    assert [removal.column for removal in run.removals] == list(run.kept)

    def forest(columns):
        seed = CELL.seed("downstream", 1)
        grown = RandomForestClassifier(n_estimators=8, random_state=seed)
        return grown.fit(train.X[:, columns], train.y)

    kept = list(run.kept)
    whole = forest(kept)
    assert run.score == whole.score(test.X[:, kept], test.y)
    for removal in run.removals:
        rest = [column for column in kept if column != removal.column]
        assert removal.retrained == forest(rest).score(test.X[:, rest], test.y)
        imputed = test.X.copy()
        imputed[:, removal.column] = train.X[:, removal.column].mean()
        assert removal.imputed == whole.score(imputed[:, kept], test.y)


@pytest.mark.parametrize("predictor", sorted(downstream.PREDICTORS))
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_imputed_score_is_that_of_a_test_part_with_the_mean(predictor, task):
    parts = data.split(made_dataset(task)).scaled()
    sizes = {"mlp": "max_epochs", "forest": "n_estimators", "xgboost": "n_rounds"}
    settings = {sizes[predictor]: 5} if predictor in sizes else {}
    given = {"settings": settings, "device": "cpu"}
    imputed = downstream.evaluate(predictor, parts, [3, 4], imputed=[5, 0], **given)
    for place, column in enumerate((5, 0)):
        X = parts.test.X.copy()
        X[:, column] = parts.train.X[:, column].mean()
        changed = replace(parts, test=replace(parts.test, X=X))
        expected = downstream.evaluate(predictor, changed, [3, 4], **given)
        # The test part decides nothing: it is the same predictor. Float32 rounds the
        # mean before or after it is taken.
        for found, other in zip(imputed, expected, strict=True):
            assert found.imputed_scores[place] == pytest.approx(other.score, rel=1e-5)
    # The first column decides the target, the last does not.
    assert imputed[0].imputed_scores[0] > imputed[0].imputed_scores[1]


def test_columns_and_predictor_are_those_of_a_benchmark_or_given():
    own, plain = run_one(CELL), run_one(replace(CELL, experiment="benchmark"))
    for one, other in zip(plain.runs, own.runs, strict=True):
        assert (one.kept, one.score) == (other.kept, other.score)
    taken = replace(
        CELL,
        selector="lasso",  # has no say
        given=tuple(run.kept for run in own.runs),
        predictors=({"n_estimators": 8},),
        downstream_settings={},
    )
    found = run_one(taken)
    assert found.status == "done", found.details
    for run, other in zip(found.runs, own.runs, strict=True):
        assert (run.kept, run.score) == (other.kept, other.score)
        assert run.removals == other.removals


def test_some_columns_stand_for_all():
    every, some = run_one(CELL), run_one(replace(CELL, n_removed=2))
    for all_of, part_of in zip(every.runs, some.runs, strict=True):
        assert len(part_of.removals) == 2
        assert set(part_of.removals) < set(all_of.removals)
    other = run_one(replace(CELL, n_removed=2, selector="mutual-info", keep=26))
    widest = {removal.column for removal in other.runs[0].removals}
    # One order for all selectors: whoever keeps every column leaves out its first two.
    order = np.random.default_rng(CELL.seed("removal")).permutation(26)
    assert widest == set(order[:2].tolist())


@pytest.mark.parametrize("keep", [1, 7])
def test_stack_of_removals_gives_what_each_gives_alone(keep, monkeypatch):
    settings = {"max_epochs": 20, "patience": 50}
    cell = replace(CELL, downstream="mlp", downstream_settings=settings, keep=keep)
    alone = run_one(cell)
    monkeypatch.setattr(
        "sievebench.pipeline._runs.members_at_once", lambda _: 3
    )  # as on a GPU
    stacked = run_one(cell)
    assert (alone.status, stacked.status) == ("done", "done")
    for one, other in zip(alone.runs, stacked.runs, strict=True):
        assert len(one.removals) == keep
        assert [r.column for r in one.removals] == [r.column for r in other.removals]
        for left, right in zip(one.removals, other.removals, strict=True):
            assert right.retrained == pytest.approx(left.retrained, abs=1e-6)


def test_last_column_leaves_a_constant_answer():
    record = run_one(replace(CELL, keep=1))
    (removal,) = record.runs[0].removals
    parts = data.split(data.load("wine"))
    most = np.bincount(parts.train.y).argmax()
    assert removal.retrained == np.mean(parts.test.y == most)


def test_records_become_the_table_of_losses():
    record = run_one(CELL)
    again = RunRecord.from_json(record.to_json())
    assert again == record
    runs = check_runs(collect([again]))
    assert len(runs) == 2 * (1 + 2 * 4)
    table = predictive_power(runs).set_index("removal")
    for kind in ("retrained", "imputed"):
        losses = [
            run.score - getattr(removal, kind)
            for run in record.runs
            for removal in run.removals
        ]
        assert table.loc[kind, "drop"] == pytest.approx(100 * np.mean(losses))
        assert table.loc[kind, "n_columns"] == 8  # two seeds, four columns each
