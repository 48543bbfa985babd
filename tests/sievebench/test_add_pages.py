"""The pages on adding things: their code runs, and prints what they show."""

import re
import shlex
import sys

import pytest
from made_dataset import made_dataset
from sklearn.utils.estimator_checks import check_estimator

from sievebench.cli import main
from sievebench.corruption import SCENARIOS
from sievebench.data import split
from sievebench.downstream import PREDICTORS
from sievebench.selectors import SELECTORS
from test_readme import FENCE, code_blocks, read, run_blocks

MD5 = re.compile(r"\b[0-9a-f]{32}\b")


@pytest.fixture(autouse=True)
def registries_as_they_were(tmp_path, monkeypatch):
    """Let a page enter what it likes, and write where it likes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FEATURESIEVE_DATA", raising=False)
    registries = [SCENARIOS, PREDICTORS, SELECTORS]
    before = [dict(registry) for registry in registries]
    yield
    for registry, entries in zip(registries, before, strict=True):
        registry.clear()
        registry.update(entries)


def run_page(name):
    blocks = code_blocks(read(f"docs/{name}.md"))
    assert len(blocks) >= 1
    run_blocks(blocks, f"docs/{name}.md")


def fenced(name, language):
    fences = FENCE.finditer(read(f"docs/{name}.md"))
    return [fence["body"] for fence in fences if fence["language"] == language]


@pytest.mark.slow
def test_data_set_of_the_page_can_be_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FEATURESIEVE_DATA", "")  # the page sets it: undone afterwards
    run_page("add_a_dataset")
    row, experiment = fenced("add_a_dataset", "toml")
    (tmp_path / "my_data" / "catalog.toml").write_text(row)
    (tmp_path / "mine.toml").write_text(experiment)
    text = "".join(fenced("add_a_dataset", "console"))
    for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = step.partition("\n")
        assert main(shlex.split(command)[1:]) == 0
        assert MD5.sub("", capsys.readouterr().out) == MD5.sub("", shown)


def test_scenario_of_the_page_runs():
    run_page("add_a_scenario")
    assert "shuffled" in SCENARIOS


def test_selector_of_the_page_keeps_the_contract(monkeypatch):
    run_page("add_a_selector")
    kind = SELECTORS["rank-univariate"]
    # The checks pickle it: where it says it comes from, it must be found.
    monkeypatch.setattr(sys.modules["__main__"], kind.__name__, kind, raising=False)
    check_estimator(kind(), on_skip=None)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_predictor_of_the_page_learns(n_classes):
    run_page("add_a_predictor")
    task = "classification" if n_classes else "regression"
    table = split(made_dataset(task=task, n_classes=n_classes)).scaled()
    found = PREDICTORS["neighbours"].evaluate(table, {"n_neighbors": 5}, [0, 1], "cpu")
    assert [evaluation.seed for evaluation in found] == [0, 1]
    # Guessing scores at most 1/2, and -1 for values.
    assert found[0].score > (0.6 if n_classes else -0.8)
