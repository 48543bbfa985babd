from dataclasses import replace

import numpy as np
import pytest
import torch
from made_cells import cell

from sievebench import corruption, data, downstream, selectors
from sievebench.pipeline import cached_table, run_one
from sievebench.selectors import SELECTORS

SETTINGS = {"max_epochs": 15, "learning_rate": 1e-2}
CELL = cell(seeds=(0, 1), downstream_settings=SETTINGS, device="cpu")
FOREST = {"selector": "forest", "seeds": (0,)}


def scores_by_hand(split, seed):
    """Return what the predictor of the cell scores on these columns."""
    seeds = [CELL.seed("downstream", seed)]
    return downstream.evaluate(
        "mlp", split.scaled(), seeds, settings=SETTINGS, device="cpu"
    )


def test_record_is_what_the_stages_say_by_hand():
    record = run_one(CELL)
    assert (record.status, record.reason) == ("done", "")
    raw = data.split(corruption.apply(data.load("wine"), "random"))
    scaled = raw.scaled()
    selector = SELECTORS["univariate"](n_features_to_select=13)
    support = selector.fit(scaled.train.X, scaled.train.y).get_support()
    assert record.runs[0].kept == tuple(np.flatnonzero(support))
    assert record.runs[0].n_added_kept == int(support[13:].sum())
    (expected,) = scores_by_hand(raw.keep(support), 1)
    assert record.runs[1].score == expected.score
    facts = record.facts
    assert (facts.n_original, facts.n_features, facts.metric) == (13, 26, "accuracy")
    assert not facts.is_sample


def test_run_repeats_itself_and_seeds_do_not_touch_each_other():
    spec = replace(CELL, selector="forest", selector_settings={"n_estimators": 5})
    both = run_one(spec)
    alone = run_one(replace(spec, seeds=(1,)))
    assert both.runs[1].kept == alone.runs[0].kept
    assert both.runs[1].score == alone.runs[0].score


def test_tuned_settings_are_recorded_and_used_and_given_ones_are_not_tuned(tmp_path):
    spec = replace(CELL, n_trials=2, tunes_selector=True, **FOREST)
    record = run_one(spec, journal=tmp_path / "trials.log")
    assert record.status == "done", record.details
    settings = record.tuning["settings"]
    assert set(settings["selector"]) == {"n_estimators", "max_depth"}
    assert "hidden_sizes" in settings["downstream"]
    assert not set(settings["downstream"]) & set(spec.downstream_settings)
    fixed = replace(
        spec,
        n_trials=0,
        selector_settings=settings["selector"],
        downstream_settings={**spec.downstream_settings, **settings["downstream"]},
    )
    assert run_one(fixed).runs[0].score == record.runs[0].score
    given = replace(spec, selector_settings={"n_estimators": 7})
    assert set(run_one(given).tuning["settings"]["selector"]) == {"max_depth"}


def test_damaged_trials_are_named(tmp_path):
    journal = tmp_path / "trials.log"
    spec = replace(CELL, n_trials=2, seeds=(0,))
    assert run_one(spec, journal=journal).status == "done"
    journal.write_text(f"damaged\n{journal.read_text()}")
    record = run_one(replace(spec, n_trials=3), journal=journal)
    assert record.status == "failed"
    assert f"{journal}, line 1, is no trial" in record.reason


def test_trials_drawn_at_once_are_those_drawn_one_by_one():
    # The search learns from what it has seen only later: the first draws are random.
    few_trees = {"n_estimators": 20}
    spec = replace(CELL, n_trials=4, selector_settings=few_trees, **FOREST)
    together = run_one(replace(spec, trials_at_once=3))
    alone = run_one(spec)
    assert together.tuning["settings"] == alone.tuning["settings"]
    assert together.runs[0].score == alone.runs[0].score


def test_selector_that_is_not_tuned_is_fitted_once_for_all_trials(monkeypatch):
    fits = []
    select = selectors.select

    def counted(*arguments, **named):
        fits.append(named["seed"])
        return select(*arguments, **named)

    monkeypatch.setattr(selectors, "select", counted)
    spec = replace(CELL, n_trials=4, tunes_selector=False, trials_at_once=2)
    assert run_one(spec).status == "done"
    assert len(fits) == 1 + len(spec.seeds)


def test_test_part_does_not_touch_tuning_or_selection(monkeypatch):
    spec = replace(CELL, n_trials=2, selector="lasso", seeds=(0,))
    clean = run_one(spec)
    split = data.split

    def poisoned(*arguments):
        parts = split(*arguments)
        parts.test.X[:] = 1e6
        parts.test.y[:] = 0
        return parts

    cached_table.cache_clear()
    monkeypatch.setattr(data, "split", poisoned)
    record = run_one(spec)
    cached_table.cache_clear()
    assert record.tuning["settings"] == clean.tuning["settings"]
    assert record.runs[0].kept == clean.runs[0].kept
    assert record.runs[0].validation_score == clean.runs[0].validation_score


@pytest.mark.parametrize(
    ("changes", "status", "reason"),
    [
        (
            {"dataset": "diabetes", "selector": "protogate"},
            *("skipped", "protogate does not do regression"),
        ),
        ({"keep": "own"}, "skipped", "does not choose the number"),
        ({"dataset": "otto"}, "skipped", "cannot be downloaded by a program"),
        ({"selector": "magic"}, "failed", "there is no selector 'magic'"),
        ({"scenario": "salt"}, "failed", "there is no scenario 'salt'"),
        (
            {**FOREST, "selector_settings": {"n_estimators": -1}},
            *("failed", "n_estimators"),
        ),
        (
            {**FOREST, "selector_settings": {"random_state": -5}, "n_trials": 1},
            *("failed", "none of 1 settings worked"),
        ),
    ],
)
def test_what_goes_wrong_is_a_record(monkeypatch, tmp_path, changes, status, reason):
    monkeypatch.delenv("FEATURESIEVE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    record = run_one(replace(CELL, **changes))
    assert (record.status, record.runs) == (status, ())
    assert reason in record.reason
    assert bool(record.details) == (status == "failed")


def test_each_seed_has_its_own_split_on_request():
    spec = replace(CELL, splits_anew=True, selector="none")
    both, second = run_one(spec), run_one(replace(spec, seeds=(1,)))
    assert both.runs[1].score == second.runs[0].score
    raw = data.split(corruption.apply(data.load("wine"), "random"), seed=1)
    (expected,) = scores_by_hand(raw, 1)
    assert both.runs[1].score == expected.score
    with pytest.raises(ValueError, match="n_trials must be 0"):
        replace(spec, n_trials=1)


@pytest.mark.parametrize(
    ("selector", "keep", "n_kept"),
    [("none", "default", 26), ("lasso", "default", 13), ("lasso", 4, 4)],
)
def test_number_of_columns_kept(selector, keep, n_kept):
    record = run_one(replace(CELL, selector=selector, keep=keep, seeds=(0,)))
    assert len(record.runs[0].kept) == n_kept


@pytest.mark.data
def test_sample_is_marked_in_the_record(data_folder, monkeypatch):
    monkeypatch.setenv("FEATURESIEVE_DATA", str(data_folder))
    spec = replace(CELL, dataset="microsoft", keep=5, seeds=(0,))
    record = run_one(replace(spec, downstream_settings={"max_epochs": 1}))
    assert record.status == "done", record.details
    assert record.facts.is_sample


@pytest.mark.parametrize(
    ("error", "reason", "n_tried"),
    [
        (torch.AcceleratorError("illegal"), "AcceleratorError: illegal", 1),
        (torch.OutOfMemoryError("large"), "ValueError: none of 3 settings worked", 3),
        (ValueError("not these"), "ValueError: none of 3 settings worked", 3),
    ],
)
def test_a_lost_gpu_ends_the_search_where_bad_settings_do_not(
    monkeypatch, error, reason, n_tried
):
    tried = []

    def fails(_, data):
        tried.append(data.seed)
        raise error

    monkeypatch.setattr(SELECTORS["forest"], "_score_columns", fails)
    record = run_one(replace(CELL, selector="forest", n_trials=3))
    assert record.status == "failed"
    assert record.reason.startswith(reason), record.reason
    assert len(tried) == n_tried
