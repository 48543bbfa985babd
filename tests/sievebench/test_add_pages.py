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
        self.run("ruff", "check", "src", "tests")
        self.run("ruff", "format", "--check", "src", "tests")

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


@pytest.fixture
def project(tmp_path):
    return ProjectCopy(tmp_path)


def first_block(page):
    return code_blocks(read(f"docs/{page}.md"))[0].code


@pytest.mark.slow
def test_selector_of_the_page_works_in_the_package(project):
    file = "src/sievebench/selectors/rank_univariate.py"
    project.write(file, first_block("add_a_selector"))
    project.enter("add_a_selector")
    contract = "tests/sievebench/test_selectors_contract.py"
    names = "rank-univariate or RankUnivariate or labels"
    # With the example in its docstring.
    said = project.run("pytest", "-v", file, contract, "-k", names)
    assert f"{file}::sievebench.selectors.rank_univariate.RankUnivariate PASSED" in said
    # The page itself runs a cell.
    words = ["--selectors", "rank-univariate", "--datasets", "wine", "--list"]
    said = project.run("sievebench", "run", "experiments/smoke.toml", *words)
    assert said.count("rank-univariate") == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "tests", "name"),
    [
        ("add_a_scenario", "test_corruption.py", "shuffled"),
        ("add_a_predictor", "test_downstream.py", "neighbours"),
    ],
)
def test_entry_of_the_page_works_in_the_package(project, page, tests, name):
    code = first_block(page)
    if page == "add_a_scenario":
        file = "src/sievebench/corruption.py"
        _, _, function = code.partition("\n\n\n")
        project.replace(file, "\nSCENARIOS: ", f"\n{function}\n\nSCENARIOS: ")
    else:
        project.write("src/sievebench/downstream/neighbours.py", code)
    project.enter(page)
    said = project.run("pytest", "-q", f"tests/sievebench/{tests}", "-k", name)
    assert "passed" in said
