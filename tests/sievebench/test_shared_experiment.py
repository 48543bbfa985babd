from dataclasses import replace

import numpy as np
import pytest
from made_cells import done, planted

from sievebench.cli import main
from sievebench.experiment import ExperimentError, read_experiment
from sievebench.pipeline import run_one
from sievebench.run_spec import RunSpec
from sievebench.store import RunRecord, Store, counts_kept, earlier_results

SHORT = {"max_epochs": 20, "patience": 50}
SMALL = {**SHORT, "hidden_sizes": [4]}
LARGE = {**SHORT, "hidden_sizes": [64]}
CELL = RunSpec("wine", "random", "univariate", seeds=(0, 1, 2), device="cpu")
COLUMNS = ((0, 6, 9, 12), (0, 6, 9, 12), (1, 2))
SHARED = """
profile = "quick"
purpose = "shared"
n_trials = 0
n_seeds = 2
datasets = ["wine"]
scenarios = ["random", "none"]
selectors = ["lasso", "forest", "stg"]
reuse = { experiment = "earlier", what = "columns", n_predictors = 2 }
"""


def record(selector, score, width, status="done", **fields):
    """Return a record of a search that found a network of so many units."""
    spec = RunSpec("wine", "random", selector, seeds=(0, 1), n_trials=5, **fields)
    tuned = {"downstream": {"hidden_sizes": [width]}, "selector": {"depth": width}}
    kept = (0, width), (1, width)
    found = done(spec, *kept) if status == "done" else planted(spec, status)
    return replace(found, tuning={"settings": tuned, "score": score})


PLACE = ("wine", "random", "mlp")
RECORDS = [
    record("lasso", 0.7, 5, selector_settings={"alpha": 2.0}),
    record("forest", 0.9, 6),
    record("stg", 0.8, 7, status="failed"),
    record("none", 0.8, 6),
    record("agl", float("nan"), 8),
]


def test_given_columns_are_kept_and_nothing_is_selected():
    cell = replace(CELL, given=COLUMNS, downstream_settings=SHORT)
    found = run_one(cell)
    assert found.status == "done", found.details
    assert tuple(run.kept for run in found.runs) == COLUMNS
    assert [run.n_added_kept for run in found.runs] == [0, 0, 0]
    assert {run.selector_seconds for run in found.runs} == {0.0}
    # The selector has no say: another one scores the same.
    other = run_one(replace(cell, selector="lasso"))
    assert [run.score for run in other.runs] == [run.score for run in found.runs]


@pytest.mark.parametrize("downstream", ["mlp", "forest"])
def test_run_does_not_depend_on_what_other_seeds_keep(downstream):
    columns = ((0, 6, 9, 12), (1, 2), ())
    fast = {"mlp": SHORT, "forest": {"n_estimators": 10}}[downstream]
    cell = replace(CELL, downstream=downstream, downstream_settings=fast)
    together = run_one(replace(cell, given=columns)).runs
    for seed, own in enumerate(columns):
        (alone,) = run_one(replace(cell, seeds=(seed,), given=(own,))).runs
        assert together[seed].kept == alone.kept == own
        assert together[seed].score == pytest.approx(alone.score, abs=1e-6)
    assert len({run.score for run in together}) > 1


def test_score_with_several_predictors_is_the_mean_of_theirs():
    cell = replace(CELL, given=COLUMNS)
    both = run_one(replace(cell, predictors=(SMALL, LARGE)))
    each = [
        run_one(replace(cell, downstream_settings=settings))
        for settings in (SMALL, LARGE)
    ]
    for name in ("score", "validation_score"):
        values = [[getattr(run, name) for run in one.runs] for one in each]
        assert values[0] != values[1]
        found = [getattr(run, name) for run in both.runs]
        np.testing.assert_allclose(found, np.mean(values, axis=0), rtol=1e-12)
    scores = [[run.score for run in one.runs] for one in each]
    found = [run.predictor_scores for run in both.runs]
    np.testing.assert_array_equal(found, np.transpose(scores))
    assert RunRecord.from_json(both.to_json()) == both
    assert "predictor_scores" not in each[0].to_json()


def test_selector_decides_where_only_predictors_are_given():
    cell = replace(CELL, seeds=(0,), keep=5, predictors=(SMALL,))
    (run,) = run_one(cell).runs
    (alone,) = run_one(replace(cell, predictors=(), downstream_settings=SMALL)).runs
    assert len(run.kept) == 5
    assert (run.kept, run.score) == (alone.kept, alone.score)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"given": ((0, 26),) * 3}, r"columns from 0 to 25, got \(0, 26\)"),
        ({"given": ((-1,),) * 3}, "columns from 0 to 25"),
        ({"predictors": ({"width": 3},)}, "has no setting 'width'"),
    ],
)
def test_what_the_table_or_the_predictor_does_not_have_fails(change, message):
    failed = run_one(replace(CELL, **change))
    assert failed.status == "failed"
    with pytest.raises(ValueError, match=message):
        raise ValueError(failed.reason)


def test_former_results_are_those_of_finished_cells():
    earlier = earlier_results(RECORDS, n_predictors=2)
    assert set(earlier.columns) == {
        (*PLACE, name) for name in ("lasso", "forest", "none", "agl")
    }
    assert earlier.columns[*PLACE, "forest"] == ((0, 6), (1, 6))
    # The best search first; the second best found the same, a failed one nothing.
    assert earlier.predictors == {PLACE: ({"hidden_sizes": [6]}, {"hidden_sizes": [5]})}
    assert earlier.settings[*PLACE, "lasso"] == {"depth": 5, "alpha": 2.0}
    everything = earlier_results(RECORDS[::-1], n_predictors=9).predictors[PLACE]
    assert [settings["hidden_sizes"] for settings in everything] == [[6], [5], [8]]


def test_predictors_of_some_selectors_can_be_left_out():
    records = [record("forest:deep", 0.9, 6), record("lasso", 0.7, 5)]
    earlier = earlier_results(records, n_predictors=2, not_from=["forest"])
    assert earlier.predictors == {PLACE: ({"hidden_sizes": [5]},)}
    assert set(earlier.columns) == {(*PLACE, "forest:deep"), (*PLACE, "lasso")}
    records.append(record("forest", 0.8, 7))
    earlier = earlier_results(records, n_predictors=2, not_from=["forest:deep"])
    assert earlier.predictors == {PLACE: ({"hidden_sizes": [7]}, {"hidden_sizes": [5]})}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["forrest"], "not_from names 'forrest', of which there is no record; did you"),
        (["forest:deep"], "not_from names 'forest:deep', of which there is no record"),
        (["lasso", "forest", "none", "agl"], "leaves no search to take a predictor"),
    ],
)
def test_names_that_leave_out_nothing_or_everything_are_refused(names, message):
    with pytest.raises(ValueError, match=message):
        earlier_results(RECORDS, n_predictors=2, not_from=names)


@pytest.fixture
def cells_of(tmp_path):
    """Return a function that reads an experiment and takes over from RECORDS."""

    def cells(text):
        file = tmp_path / "shared.toml"
        file.write_text(text)
        earlier = earlier_results(RECORDS, n_predictors=2)
        return read_experiment(file).cells(earlier=earlier)

    return cells


def test_selector_to_match_must_be_there_in_one_version():
    assert counts_kept(RECORDS, "forest") == {("wine", "random", "mlp"): 2}
    with pytest.raises(ValueError, match="no record of 'forrest'; did you mean 'fore"):
        counts_kept(RECORDS, "forrest")
    records = [*RECORDS, record("forest", 0.6, 6, selector_settings={"a": 1})]
    message = "--forest--.*json and .*--forest--.*json are two versions of one cell"
    with pytest.raises(ValueError, match=message):
        earlier_results(records, n_predictors=2)
    with pytest.raises(ValueError, match=message):
        counts_kept(records, "forest")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("noise_fraction = 0.4", "_fraction must be 0.5, as in 'earlier', whose col"),
        ('stream = "own"', "stream must be 'legacy', as in 'earlier', .* got 'own'"),
        ("n_seeds = 3", "n_seeds must be 2, as in 'earlier', .* got 3"),
        ("n_trials = 3", "n_trials must be 0 with given"),
    ],
)
def test_cells_that_do_not_fit_the_former_ones_are_refused(cells_of, line, message):
    key = line.partition(" ")[0]
    rest = [other for other in SHARED.splitlines() if not other.startswith(key)]
    with pytest.raises(ExperimentError, match=message):
        cells_of("\n".join([line, *rest]))


def test_cells_take_over_what_there_is(cells_of):
    cells = cells_of(SHARED)
    assert [spec.selector for spec in cells] == ["lasso", "forest"]
    assert {spec.scenario for spec in cells} == {"random"}
    assert [spec.given for spec in cells] == [((0, 5), (1, 5)), ((0, 6), (1, 6))]
    assert {len(spec.predictors) for spec in cells} == {2}
    first = cells_of(SHARED.replace('"columns"', '"settings"'))[0]
    assert first.selector_settings == {"depth": 5, "alpha": 2.0}
    assert (first.given, first.predictors) == ((), cells[0].predictors)


@pytest.mark.parametrize(
    "reuse",
    [
        '{ experiment = "earlier", what = "columns" }',
        '{ experiment = "earlier", what = "rows", n_predictors = 2 }',
        '{ experiment = "earlier", what = "columns", n_predictors = 0 }',
        '{ experiment = "", what = "columns", n_predictors = 1 }',
        '{ experiment = "old", what = "columns", n_predictors = 1, not_from = "a" }',
    ],
)
def test_reuse_says_what_it_may_be(cells_of, reuse):
    start = SHARED[: SHARED.index("reuse")]
    message = "reuse must be a table with experiment .a name., what .one of columns, se"
    with pytest.raises(ExperimentError, match=message):
        cells_of(f"{start}reuse = {reuse}\n")


def test_command_takes_over_from_the_records_beside_it(tmp_path, capsys, refused):
    file = tmp_path / "shared.toml"
    file.write_text(SHARED)
    words = ["run", str(file), "--out", str(tmp_path), "--list"]
    error = refused(*words)
    assert "no finished search to take over: run 'earlier' first" in error
    store = Store(tmp_path / "earlier")
    for found in RECORDS:
        store.write(found)
    assert main(words) == 0
    printed = capsys.readouterr()
    left_out = "4 of 6 cells are left out, as 'earlier' has no finished record"
    assert left_out in printed.err
    assert [key.split("--")[3] for key in printed.out.split()] == ["lasso", "forest"]
    file.write_text(SHARED.replace('["random", "none"]', '["none"]'))
    error = refused(*words)
    assert "none of the 3 cells has a finished record in 'earlier'" in error


@pytest.mark.parametrize("what", ["columns", "settings"])
def test_selector_that_does_not_do_the_table_is_skipped_again(tmp_path, what):
    searched = record("lasso", 0.7, 5)
    lasso = replace(searched.spec, dataset="diabetes")
    protogate = replace(lasso, selector="protogate", n_trials=0)
    # What was not there to be run on is not known to be unfit.
    missing = planted(replace(protogate, scenario="none"), "skipped")
    records = [replace(searched, spec=lasso), run_one(protogate), missing]
    earlier = earlier_results(records, n_predictors=1)
    assert earlier.unfit == {("diabetes", "random", "mlp", "protogate")}

    file = tmp_path / "later.toml"
    text = SHARED.replace("wine", "diabetes").replace('"stg"', '"protogate"')
    file.write_text(text.replace('"columns"', f'"{what}"'))
    cells = read_experiment(file).cells(earlier=earlier)
    (again,) = [spec for spec in cells if spec.selector == "protogate"]
    found = run_one(again)
    assert found.status == "skipped"
    assert found.reason == "protogate does not do regression"
