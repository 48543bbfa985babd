import re
from dataclasses import fields
from itertools import product
from pathlib import Path

import pytest

from sievebench.data import catalog
from sievebench.experiment import (
    EXPERIMENT_KEYS,
    PROFILES,
    SELECTOR_KEYS,
    Experiment,
    ExperimentError,
    SelectorRow,
    read_experiment,
)
from sievebench.run_spec import EarlierResults
from sievebench.runner import check_cells
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
    found = [(spec.scenario, spec.selector) for spec in cells]
    assert found == [*product(("random", "none"), ("none", "autonfs:auto"))]
    assert cells[0].seeds == (0, 1, 2)
    assert cells[0].n_trials == 15
    assert (cells[1].keep, cells[1].tunes_selector) == ("own", False)


def test_varied_settings_make_a_cell_for_each_combination(tmp_path):
    row = '{ name = "lasso", settings = { a = 1 }, vary = { b = [1, 2], c = [3, 4] } }'
    cells = read(tmp_path, SMALL.replace('"none", {', f"{row}, {{")).cells()
    varied = {s.selector: s.selector_settings for s in cells if "lasso" in s.selector}
    assert varied == {
        f"lasso:b={b},c={c}": {"a": 1, "b": b, "c": c} for b in (1, 2) for c in (3, 4)
    }
    assert len({spec.key for spec in cells}) == len(cells)


def test_file_may_change_the_budget_and_not_contradict_itself(tmp_path):
    experiment = read(tmp_path, f'{SMALL}\nn_trials = 4\npurpose = "balance"\n')
    assert experiment.n_trials == 4
    assert experiment.n_seeds == PROFILES["quick"]["n_seeds"]
    with pytest.raises(ExperimentError, match="small: selector_settings must have"):
        experiment.cells()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("dataset = []", "unknown key 'dataset'; did you mean 'datasets'?"),
        ('name = "x"', "unknown key 'name'; there are 'about', 'profile'"),
        ("n_trials = ", "is no TOML"),
        ("n_trials = true", "n_trials must be an int >= 0 and <= .*, got True."),
        ("n_seeds = 0", "n_seeds must be an int >= 1 and <= .*, got 0."),
        ("trials_at_once = 0", "trials_at_once must be an int >= 1 and <= .*, got 0."),
        ("time_limit_seconds = -5", "time_limit_seconds must be a number > 0, got -5."),
        ('tuning_seconds = "a"', "tuning_seconds must be a number > 0, got 'a'."),
        (f"n_seeds = 1{'0' * 5000}", "is no TOML: Exceeds the limit"),
        ("downstream_settings = { a = inf }", "downstream_settings must be a table"),
        ("noise_fraction = 1.0", "noise_fraction must be a number >= 0 and below 1"),
        ('splits_anew = "no"', "splits_anew must be true or false, got 'no'."),
        ('purpose = "fun"', "purpose must be one of benchmark, shared, .* got 'fun'."),
        ('stream = "new"', "stream must be one of legacy, own, fresh, got 'new'."),
        ("about = 3", "about must be a text, got 3."),
        ("downstream_settings = 3", "downstream_settings must be a table .* got 3."),
        ("downstream_settings = { a = 2020-01-01 }", "must be a table of numbers"),
        ('downstream = "mlp"', "downstream must be a list of different names"),
        ("downstream = []", "downstream must be a list of different names, .* got"),
        ('match = { experiment = "a" }', "match must be a table with the names"),
    ],
)
def test_mistake_is_refused(tmp_path, change, message):
    with pytest.raises(ExperimentError, match=message) as caught:
        read(tmp_path, f"{SMALL}\n{change}\n")
    assert str(tmp_path / "small.toml") in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"quick"', '"slow"', "profile must be one of smoke, quick, paper"),
        ('"quick"', '["smoke"]', "profile must be one of .* got \\['smoke'\\]"),
        ('profile = "quick"', "", "profile is missing: one of smoke, quick, paper."),
        ('datasets = ["wine"]', "", "datasets is missing: a list of different names"),
        ('["wine"]', '"wine"', "datasets must be a list .* got 'wine'."),
        ('["wine"]', "3", "datasets must be a list .* got 3."),
        ('["wine"]', "[]", "datasets must be a list .* at least one"),
        ('["wine"]', '["wine", "wine"]', "datasets must be a list of different names"),
        ('["wine"]', '[""]', "datasets must be a list of different names"),
        ("is_tuned", "tuned", "selector 2: .* did you mean 'is_tuned'"),
        ("= false", '= "no"', "selector 2: is_tuned must be true or false, got 'no'"),
        *(
            ('["none", {', f"{rest} # ", "selectors must be a list of names and")
            for rest in ("3", '"none"', "[]")
        ),
        ('name = "autonfs:auto", ', "", "selector 2: name is missing: a name."),
        ('"autonfs:auto"', "[3]", "selector 2: name must be a name"),
        ('"none", {', "3, {", "selector 1: it must be a name or a table, got 3."),
        ('keep = "own"', 'keep = "some"', "selector 2: keep must be one of default"),
        ('keep = "own"', "keep = true", "selector 2: keep must be .* got True."),
        ('keep = "own"', "settings = 3", "selector 2: settings must be a table"),
        ('keep = "own"', "vary = 3", "selector 2: vary must be a table of lists"),
        ('keep = "own"', "vary = { C = 1 }", "vary must be .* got {'C': 1}"),
        ('keep = "own"', "vary = { C = [] }", "vary must be a table of lists"),
    ],
)
def test_missing_or_wrong_value_is_refused(tmp_path, old, new, message):
    assert old in SMALL
    with pytest.raises(ExperimentError, match=message):
        read(tmp_path, SMALL.replace(old, new))


def test_cells_that_a_report_could_not_tell_apart_are_refused(tmp_path):
    twice = read(tmp_path, SMALL.replace('"none", {', '"none", "none", {'))
    with pytest.raises(ExperimentError, match=r"2 cells are all none on wine.*none:o"):
        twice.cells()
    rows = '{ name = "lasso:a", keep = 3 }, { name = "lasso:a", keep = 4 }, {'
    text = SMALL.replace('"none", {', rows)
    with pytest.raises(ExperimentError, match=r"no report could .* as in lasso:other"):
        read(tmp_path, text).cells()
    assert read(tmp_path, text.replace('"lasso:a", keep = 4', '"lasso:b"')).cells()


@pytest.mark.parametrize(
    ("purpose", "key"), [("matched", "match"), ("shared", "reuse")]
)
def test_purpose_that_lives_on_another_experiment_names_it(tmp_path, purpose, key):
    with pytest.raises(ExperimentError, match=f"{key} is missing, which purpose = "):
        read(tmp_path, f'{SMALL}\npurpose = "{purpose}"\n')


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.toml", "cannot be read"),
        (".", "cannot be read"),
        ("bytes.toml", r"bytes\.toml is no TOML"),
    ],
)
def test_file_that_cannot_be_read_is_named(tmp_path, name, message):
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ExperimentError, match=message):
        read_experiment(tmp_path / name)


def test_every_key_of_an_experiment_has_a_check():
    assert {*EXPERIMENT_KEYS, "name"} == {item.name for item in fields(Experiment)}
    assert set(SELECTOR_KEYS) == {item.name for item in fields(SelectorRow)}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda p: p.stem)
def test_every_experiment_names_what_exists(path):
    experiment = read_experiment(path)
    places = [
        *product(experiment.datasets, experiment.scenarios, experiment.downstream)
    ]
    names = [row.name for row in experiment.selectors]
    kept = ((0, 1),) * experiment.n_seeds
    known = {(*place, name): kept for place in places for name in names}
    source = {
        "noise_fraction": experiment.noise_fraction,
        "stream": experiment.stream,
        "n_seeds": experiment.n_seeds,
    }
    earlier = EarlierResults(
        known,
        {key: {} for key in known},
        dict.fromkeys(places, ({},)),
        dict.fromkeys(known, source),
    )
    cells = experiment.cells("cpu", dict.fromkeys(places, 3), earlier)
    assert cells
    assert len({spec.key for spec in cells}) == len(cells)
    check_cells(cells)  # which test_run_command.py tries with names of nothing


def test_paper_experiment_has_the_papers_rows_and_tables():
    experiment = read_experiment(FOLDER / "paper.toml")
    tabular = {name for name, row in catalog().items() if row.group == "tabular"}
    assert set(experiment.datasets) == tabular
    names = {row.name.partition(":")[0] for row in experiment.selectors}
    assert names == set(list(SELECTORS)[:14])
    assert experiment.n_trials == 50


PAGE = (FOLDER.parent / "docs" / "experiment_file.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("key", [*EXPERIMENT_KEYS, *SELECTOR_KEYS])
def test_page_lists_every_key(key):
    in_a_row = [line for line in PAGE.splitlines() if line.startswith("|")]
    assert any(f"`{key}`" in line.split("|")[1] for line in in_a_row)


@pytest.mark.parametrize("name", PROFILES)
def test_page_has_the_numbers_of_each_profile(name):
    budget = PROFILES[name]
    cells = re.search(rf"^\| `{name}` \|(.+)\|$", PAGE, re.MULTILINE).group(1)
    keys = ("n_trials", "n_seeds", "trials_at_once", "tuning_seconds")
    values = [budget[key] for key in (*keys, "time_limit_seconds")]
    expected = ["no limit" if value is None else f"{value:g}" for value in values]
    assert [cell.strip() for cell in cells.split("|")] == expected


def test_example_of_the_page_can_be_run(tmp_path):
    example = PAGE.partition("```toml\n")[2].partition("```")[0]
    cells = read(tmp_path, example).cells("cpu")
    check_cells(cells)
    assert len(cells) == 8
