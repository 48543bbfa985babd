import hashlib
from dataclasses import replace

import pytest

from sievebench.run_spec import RunSpec
from sievebench.store import RunRecord, Store

CELL = RunSpec(
    "wine", "random", "forest", seeds=(0, 1), selector_settings={"a": (1, 2)}
)


def test_spec_survives_json_and_later_fields_are_there_only_where_given():
    again = RunSpec.from_dict(CELL.as_dict())
    assert again.as_dict() == CELL.as_dict()
    assert again.key == CELL.key
    with pytest.raises(ValueError, match="no field 'colour'"):
        RunSpec.from_dict({**CELL.as_dict(), "colour": "red"})
    assert not {"given", "predictors", "n_removed"} & set(CELL.as_dict())
    cells = [CELL, *(replace(CELL, selector_settings={}, **new) for new in LATER)]
    assert len({cell.key for cell in cells}) == len(cells)
    for cell in cells[1:]:
        assert RunSpec.from_dict(cell.as_dict()) == cell


TAKEN = ((0, 6), (0, 6, 9))
SMALL, LARGE = {"hidden_sizes": [4]}, {"hidden_sizes": [64]}
LATER = (
    {"n_removed": 2, "experiment": "removal"},
    {"given": TAKEN},
    {"given": TAKEN[::-1]},
    {"predictors": (LARGE,)},
    {"given": TAKEN, "predictors": (SMALL, LARGE)},
)


def test_key_is_readable_and_changes_with_any_field_but_the_device():
    assert CELL.key.startswith("benchmark--wine--random--forest--mlp--")
    changes = [
        {"selector": "lasso"},
        {"seeds": (0,)},
        {"n_trials": 3},
        {"noise_fraction": 0.7},
        {"stream": "own"},
        {"keep": 3},
        {"selector_settings": {}},
        {"downstream_settings": {"dropout": 0.0}},
        {"tunes_selector": False},
        {"experiment": "matched"},
    ]
    keys = {replace(CELL, **change).key for change in changes}
    assert len(keys | {CELL.key}) == len(changes) + 1
    assert replace(CELL, device="cuda").key == CELL.key
    variant = replace(CELL, selector="autonfs:auto")
    assert variant.selector_name == "autonfs"
    assert ":" not in variant.key


def test_file_of_the_longest_names_can_be_written(tmp_path):
    n_left = 200 - len("benchmarkwinerandommlp")
    store = Store(tmp_path)
    spec = replace(CELL, selector="x" * n_left)
    assert store.write(RunRecord(spec, "failed", reason="planted")).is_file()
    assert store.read(spec) is not None
    with pytest.raises(ValueError, match="200 bytes in all, got 201"):
        replace(CELL, selector="x" * (n_left + 1))


def test_key_of_records_that_are_there_does_not_change():
    # Of the quick experiment, as its records were first written.
    budget = {"n_trials": 15, "trials_at_once": 5, "tuning_seconds": 180}
    spec = RunSpec("eye", "random", "univariate", seeds=(0, 1, 2), **budget)
    assert spec.key == "benchmark--eye--random--univariate--mlp--57c7659484"
    assert len(spec.as_dict()) == 17


@pytest.mark.parametrize(
    ("stage", "depends", "ignores"),
    [
        ("selector", {"selector": "lasso"}, {"downstream": "forest"}),
        ("downstream", {"downstream": "forest"}, {"selector": "lasso"}),
        ("tuning", {"selector": "lasso"}, {"n_trials": 9}),
        ("selector", {"dataset": "diabetes"}, {"seeds": (0, 1, 2)}),
    ],
)
def test_seed_depends_on_the_fields_of_its_stage_only(stage, depends, ignores):
    seed = CELL.seed(stage, 1)
    assert replace(CELL, **ignores).seed(stage, 1) == seed
    assert replace(CELL, **depends).seed(stage, 1) != seed
    assert CELL.seed(stage, 2) != seed
    assert 0 <= seed < 2**31


def test_seed_is_the_same_on_every_machine():
    spec = RunSpec("wine", "random", "forest")
    text = '["selector", "wine", "random", 0.5, "forest", 0]'
    expected = int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) % 2**31
    assert spec.seed("selector") == expected


def test_added_columns_are_the_benchmarks_unless_other_ones_are_asked_for():
    assert (CELL.seed("corruption"), CELL.seed("split")) == (None, 0)
    own = replace(CELL, stream="own")
    assert own.seed("corruption") == replace(own, selector="lasso").seed("corruption")
    assert own.seed("corruption") != replace(own, dataset="eye").seed("corruption")
    fresh = replace(CELL, stream="fresh", seeds=(1, 2, 3))
    for stage in ("split", "corruption"):
        seeds = {fresh.seed(stage, repetition) for repetition in fresh.seeds}
        assert len(seeds) == 3
        assert not seeds & {None, own.seed(stage), *range(100)}
        assert fresh.seed(stage, 1) == replace(fresh, selector="lasso").seed(stage, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"selector": "forest:depth 1/2"}, "selector must be a name .* 'forest:depth"),
        ({"dataset": "..\\wine"}, "dataset must be a name that can be part of a file"),
        ({"scenario": "a\nb"}, "scenario must be a name"),
        ({"downstream": ""}, "downstream must be a name"),
        ({"dataset": 3}, "dataset must be a name .* got 3."),
        ({"selector": f"forest:{'ü' * 100}"}, "selector is too long: .* got 22"),
        ({"seeds": ()}, "seeds must be distinct"),
        ({"seeds": (1, 1)}, "seeds must be distinct"),
        ({"n_trials": -1}, "n_trials must be"),
        ({"trials_at_once": 0}, "trials_at_once must be"),
        ({"stream": "new"}, "stream must be"),
        ({"keep": 0}, "keep must be"),
        ({"keep": "some"}, "keep must be"),
        ({"experiment": "balance"}, "number as balance .* got None"),
        (
            {"experiment": "balance", "selector_settings": {"balance": "auto"}},
            "number as balance .* got 'auto'",
        ),
        ({"experiment": "scaling"}, "downstream must be 'none' .* got 'mlp'"),
        ({"downstream": "none"}, "got 'none' in 'benchmark'"),
        (
            {"experiment": "scaling", "downstream": "none", "n_trials": 1},
            "n_trials must be 0 in the scaling",
        ),
        ({"given": TAKEN[:1]}, "given must have one set .* the 2 seeds, got 1"),
        ({"given": TAKEN, "n_trials": 3}, "n_trials must be 0 with given"),
        ({"predictors": (SMALL,), "n_trials": 3}, "n_trials must be 0 with predictors"),
        ({"given": TAKEN, "splits_anew": True}, "splits_anew must be False"),
        ({"stream": "fresh", "n_trials": 3}, "n_trials must be 0 with splits_anew and"),
        (
            {"predictors": (SMALL, LARGE), "experiment": "removal"},
            "predictors must be one at most in the removal experiment, got 2",
        ),
        (
            {"predictors": (SMALL,), "experiment": "scaling", "downstream": "none"},
            "predictors must be empty in the scaling experiment",
        ),
        (
            {"predictors": (SMALL,), "downstream_settings": {"dropout": 0.1}},
            "downstream_settings must be empty .* got {'dropout': 0.1}",
        ),
        ({"n_removed": 0, "experiment": "removal"}, "n_removed must be an int >= 1"),
        ({"n_removed": 2}, "n_removed must be an int >= 1"),
    ],
)
def test_field_that_is_not_allowed_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(CELL, **change)
