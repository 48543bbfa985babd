"""The pages on adding things: their code runs, and prints what they show.

What they say to write into the package is also done there, in a copy of it.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from made_dataset import made_dataset
from sklearn.utils.estimator_checks import check_estimator

from sievebench.cli import main
from sievebench.corruption import SCENARIOS
from sievebench.data import split
from sievebench.downstream import PREDICTORS
from sievebench.selectors import SELECTORS
from test_readme import FENCE, ROOT, code_blocks, read, run_blocks

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
    monkeypatch.setattr("sievebench.runner.usual_workers", lambda _: 1)
    run_page("add_a_dataset")
    row, experiment = fenced("add_a_dataset", "toml")
    (tmp_path / "my_data" / "catalog.toml").write_text(row)
    (tmp_path / "mine.toml").write_text(experiment)
    text = "".join(fenced("add_a_dataset", "console"))
    for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = step.partition("\n")
        assert main(shlex.split(command)[1:]) == 0
        printed = capsys.readouterr().out
        # The bytes of the file depend on the versions of pandas and pyarrow.
        assert MD5.sub("", printed) == MD5.sub("", shown)
        content = (tmp_path / "my_data" / "friedman.parquet").read_bytes()
        assert set(MD5.findall(printed)) <= {hashlib.md5(content).hexdigest()}


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


class ProjectCopy:
    """A copy of the project that a page may change, and programs run in it."""

    def __init__(self, folder):
        self.folder = folder
        leave_out = shutil.ignore_patterns("__pycache__")
        for part in ("src", "tests", "experiments"):
            shutil.copytree(ROOT / part, folder / part, ignore=leave_out)
        shutil.copy(ROOT / "pyproject.toml", folder)

    def write(self, path, text):
        (self.folder / path).write_text(text, encoding="utf-8")

    def replace(self, path, old, new):
        text = (self.folder / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path} has not exactly one\n{old}"
        self.write(path, text.replace(old, new))

    def enter(self, page):
        """Make the changes that the page shows as a diff."""
        (diff,) = fenced(page, "diff")
        for change in diff.removeprefix("--- ").split("\n--- "):
            path, _, hunks = change.partition("\n")
            for hunk in hunks.split("@@\n"):
                lines = hunk.splitlines()
                old, new = (
                    [line[1:] for line in lines if line[0] in marks]
                    for marks in (" -", " +")
                )
                self.replace(path, "\n".join(old), "\n".join(new))

    def run(self, *words):
        """Run a Python module in the copy; return what it prints."""
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder / "src")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def first_block(page):
    return code_blocks(read(f"docs/{page}.md"))[0].code


@pytest.mark.slow
def test_entries_of_the_pages_work_in_the_package(tmp_path):
    project = ProjectCopy(tmp_path)
    selector = "src/sievebench/selectors/rank_univariate.py"
    project.write(selector, first_block("add_a_selector"))
    _, _, scenario = first_block("add_a_scenario").partition("\n\n\n")
    corruption = "src/sievebench/corruption.py"
    project.replace(corruption, "\nSCENARIOS: ", f"\n{scenario}\n\nSCENARIOS: ")
    predictor = "src/sievebench/downstream/neighbours.py"
    project.write(predictor, first_block("add_a_predictor"))
    for page in ("add_a_selector", "add_a_scenario", "add_a_predictor"):
        project.enter(page)
    project.run("ruff", "check", "src", "tests")
    project.run("ruff", "format", "--check", "src", "tests")
    stages = ("selectors_contract", "corruption", "downstream")
    files = [f"tests/sievebench/test_{stage}.py" for stage in stages]
    names = "rank-univariate or RankUnivariate or labels or shuffled or neighbours"
    # With the example in its docstring.
    said = project.run("pytest", "-v", selector, *files, "-k", names)
    example = "sievebench.selectors.rank_univariate.RankUnivariate"
    assert f"{selector}::{example} PASSED" in said
    for file in files:
        assert re.search(rf"{file}::\S+(rank|shuffled|neighbours)\S* PASSED", said)
    # The page itself runs a cell.
    words = ["--selectors", "rank-univariate", "--datasets", "wine", "--list"]
    said = project.run("sievebench", "run", "experiments/smoke.toml", *words)
    assert said.count("rank-univariate") == 3
