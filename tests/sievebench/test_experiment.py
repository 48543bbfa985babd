"""Experiment files: what they say, and what they may not."""

from itertools import product
from pathlib import Path

import pytest

from sievebench.corruption import SCENARIOS
from sievebench.data import catalog, made_sizes
from sievebench.downstream import PREDICTORS
from sievebench.experiment import PROFILES, ExperimentError, read_experiment
from sievebench.run_spec import NO_PREDICTOR
from sievebench.selectors import SELECTORS

FOLDER = Path(__file__).parents[2] / "experiments"
SMALL = """
profile = "quick"
datasets = ["wine"]
scenarios = ["random", "none"]
selectors = ["none", { name = "autonfs:auto", is_tuned = false, keep = "own" }]
"""


def read(tmp_path, text):
    path = tmp_path / "small.toml"
    path.write_text(text)
    return read_experiment(path)


def test_cells_are_the_product_of_the_lists(tmp_path):
    cells = read(tmp_path, SMALL).cells()
    assert [(spec.scenario, spec.selector) for spec in cells] == [
        ("random", "none"),
        ("random", "autonfs:auto"),
        ("none", "none"),
        ("none", "autonfs:auto"),
    ]
    assert cells[0].seeds == (0, 1, 2)
    assert cells[0].n_trials == 15
    assert (cells[1].keep, cells[1].tunes_selector) == ("own", False)


def test_varied_settings_make_a_cell_for_each_combination(tmp_path):
    row = '{ name = "lasso", settings = { a = 1 }, vary = { b = [1, 2], c = [3, 4] } }'
    cells = read(tmp_path, SMALL.replace('"none", {', f"{row}, {{")).cells()
    settings = [spec.selector_settings for spec in cells if spec.selector == "lasso"]
    expected = [{"a": 1, "b": b, "c": c} for b in (1, 2) for c in (3, 4)]
    assert settings == 2 * expected
    assert len({spec.key for spec in cells}) == len(cells)


def test_cell_that_contradicts_itself_is_refused(tmp_path):
    experiment = read(tmp_path, f'{SMALL}\npurpose = "balance"\n')
    with pytest.raises(ExperimentError, match="small: selector_settings must have"):
        experiment.cells()


def test_file_may_change_the_budget(tmp_path):
    experiment = read(tmp_path, f"{SMALL}\nn_trials = 4\n")
    assert experiment.budget.n_trials == 4
    assert experiment.budget.n_seeds == PROFILES["quick"].n_seeds


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("dataset = []", "unknown key 'dataset'; did you mean 'datasets'"),
        ('name = "x"', "unknown key 'name'"),
        ("n_trials = ", "is no TOML"),
    ],
)
def test_mistake_is_refused(tmp_path, change, message):
    with pytest.raises(ExperimentError, match=message):
        read(tmp_path, f"{SMALL}\n{change}\n")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"quick"', '"slow"', "profile must be one of smoke, quick, paper"),
        ('datasets = ["wine"]', "", "missing 1 required"),
        ("is_tuned", "tuned", "did you mean 'is_tuned'"),
        ('keep = "own"', "vary = { C = 1 }", "vary needs a list of values for 'C'"),
    ],
)
def test_missing_or_wrong_value_is_refused(tmp_path, old, new, message):
    with pytest.raises(ExperimentError, match=message):
        read(tmp_path, SMALL.replace(old, new))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda p: p.stem)
def test_every_experiment_names_what_exists(path):
    experiment = read_experiment(path)
    everywhere = product(
        experiment.datasets, experiment.scenarios, experiment.downstream
    )
    cells = experiment.cells("cpu", dict.fromkeys(everywhere, 3))
    assert cells
    assert len({spec.key for spec in cells}) == len(cells)
    for spec in cells:
        assert spec.dataset in catalog() or made_sizes(spec.dataset)
        assert spec.scenario in SCENARIOS
        if spec.experiment == "scaling":
            assert spec.downstream == NO_PREDICTOR
        else:
            assert spec.downstream in PREDICTORS
        kind = SELECTORS[spec.selector_name]
        assert set(spec.selector_settings) <= set(kind().get_params())
        predictor = PREDICTORS.get(spec.downstream)
        known = {"max_epochs", *predictor.space} if predictor else set()
        assert set(spec.downstream_settings) <= known


def test_paper_experiment_has_the_papers_rows_and_tables():
    experiment = read_experiment(FOLDER / "paper.toml")
    tabular = {name for name, row in catalog().items() if row.group == "tabular"}
    assert set(experiment.datasets) == tabular
    names = {row.name.partition(":")[0] for row in experiment.selectors}
    assert names == set(list(SELECTORS)[:14])
    assert experiment.budget.n_trials == 50
