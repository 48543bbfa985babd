"""`sievebench compare`: what it prints, writes, refuses, and leaves behind."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from made_tables import class_table
from sievebench.cli import main
from sievebench.cli._live_table import LiveTable
from sievebench.compare import Comparison, FoldScore, SelectorResult
from test_readme import FENCE, code_blocks, read, run_blocks


@pytest.fixture
def file(tmp_path):
    X, y = class_table(n_rows=60)
    frame = pd.DataFrame(X, columns=[f"<c {j}>" for j in range(8)])
    frame["город"] = np.where(frame["<c 0>"] > 0, "Київ", "Львів")
    frame.loc[::7, "<c 1>"] = np.nan
    frame["target"] = np.where(y, "yes", "no")
    path = tmp_path / "strange.csv"
    frame.to_csv(path, index=False)
    return path


def compare(file, *words, target="target"):
    """Run the command; return its exit status."""
    return main(["compare", str(file), "--target", target, *map(str, words)])


def start(*command, **options):
    """Start a program whose output is read."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *map(str, command)], **pipes, **options)


def test_command_line_prints_and_writes(file, tmp_path, capsys):
    out = tmp_path / "out.csv", tmp_path / "out.html"
    words = ["--folds", 3, "--selectors", "none,univariate", "lasso"]
    assert compare(file, *words, "--csv", out[0], "--html", out[1]) == 0
    printed = capsys.readouterr()
    assert "60 rows, 9 columns (1 text)" in printed.out
    assert "[3/3] lasso finished" in printed.err
    written = out[0].read_text(encoding="utf-8")
    assert len(written.splitlines()) == 4
    assert "город" in written
    assert "&lt;c 2&gt;" in out[1].read_text(encoding="utf-8")


@pytest.mark.slow
def test_command_of_the_page_prints_what_it_shows(tmp_path, monkeypatch, capsys):
    page = read("docs/compare.md")
    monkeypatch.chdir(tmp_path)
    run_blocks(code_blocks(page), "docs/compare.md")
    (console,) = [f["body"] for f in FENCE.finditer(page) if f["language"] == "console"]
    _, _, step = console.replace("\\\n", " ").partition("$ sievebench ")
    command, _, shown = step.partition("\n")
    assert main(shlex.split(command)) == 0
    seconds = re.compile(r" +\d+\.\d\d(?=( +(\d\.\d\d|–)){2}$)", re.MULTILINE)
    assert seconds.sub("", capsys.readouterr().out) == seconds.sub("", shown)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"--target": "tagret"}, "did you mean 'target'"),
        ({"--task": "regression"}, "holds text"),
        ({"--exclude": "none"}, "--exclude leaves no selector"),
        ({"--csv": "nowhere/out.csv"}, "--csv: there is no folder 'nowhere'"),
        ({"--html": "."}, "--html: . is a folder"),
        ({"--csv": "t", "--html": "t"}, "--html: 't' is the file of --csv"),
        ({"--folds": "100"}, "number of folds"),
    ],
)
def test_wrong_argument_is_one_line_and_status_2(file, capsys, change, message):
    options = {"--target": "target", "--selectors": "none"} | change
    words = [word for pair in options.items() for word in pair]
    assert main(["compare", str(file), *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("sievebench: error: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--selectors", ""], "must name a selector, got ''"),
        (["--seed", "-1"], "must be a whole number >= 0"),
        (["--selectors", "laso"], "did you mean 'lasso'"),
        (["--keep", "1.5"], "must be a count"),
        (["--keep", "1_0"], "must be a count"),
        (["--folds", "-1"], "must be a whole number >= 2"),
        (["--time-limit", "-1"], "must be a number of seconds"),
        (["--jobs", "0"], "must be a whole number >= 1"),
        (["--fast", "--selectors", "none"], "not allowed with argument"),
    ],
)
def test_argument_of_the_wrong_kind_is_explained(capsys, words, message):
    assert compare("t.csv", *words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "a\0b.csv", "--target", "y"],
        ["compare", "a.csv", "--target", "y", "--html", "a\0b.html"],
        ["run", "a\0b.toml"],
        ["run", "a.toml", "--out", "a\0b"],
        ["collect", "a\0b", "--out", "c.csv"],
        ["collect", "a", "--out", "a\0b.csv"],
        ["report", "a\0b", "--list"],
        ["data", "list", "a\0b"],
    ],
)
def test_word_with_a_nul_is_refused_in_one_line(capsys, words):
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("sievebench: error: an argument must not hold a NUL")
    assert r"'a\x00b" in line


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
@pytest.mark.parametrize("words", [["LOOP"], ["FILE", "--csv", "LOOP"]])
def test_link_that_leads_to_itself_is_one_line(file, tmp_path, capsys, words):
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    paths = {"LOOP": loop, "FILE": file}
    assert compare(*(paths.get(word, word) for word in words)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "loop.csv" in line


@pytest.mark.parametrize("option", ["--csv", "--html"])
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="root may write anywhere")
def test_file_that_cannot_be_written_is_told_before_work(capsys, option):
    assert compare("nowhere.csv", option, "/proc/out") == 2
    assert f"{option}: /proc/out cannot be written: " in capsys.readouterr().err


def test_files_stay_as_they_are_if_nothing_comes_of_it(file, tmp_path, capsys):
    before = file.read_bytes()
    assert compare(file, "--csv", file) == 2
    assert "is the table itself" in capsys.readouterr().err
    assert file.read_bytes() == before
    old, new = tmp_path / "old.csv", tmp_path / "new.html"
    old.write_text("precious")
    assert compare(file, "--csv", old, "--html", new, target="nobody") == 2
    assert old.read_text() == "precious"
    assert not new.exists()


def test_files_stay_as_they_are_if_ctrl_c_comes_before_anything_is_finished(
    file, tmp_path, monkeypatch, capsys
):
    def interrupted(table, plan, *_, **__):
        results = [SelectorResult(name, (), "interrupted") for name in plan.selectors]
        return Comparison(table, plan, tuple(results), is_interrupted=True)

    monkeypatch.setattr("sievebench.compare.run_comparison", interrupted)
    old = tmp_path / "old.csv"
    old.write_text("of an earlier comparison")
    assert compare(file, "--csv", old, "--quiet") == 130
    assert old.read_text() == "of an earlier comparison"
    assert capsys.readouterr() == ("", "sievebench: interrupted\n")


def test_words_say_how_the_table_is_written(tmp_path, capsys):
    rows = [f"{i};{i % 3};{i * i % 7};{'k.A.' if i == 3 else i % 2}" for i in range(40)]
    path = tmp_path / "report.csv"
    path.write_text("Umsätze\n\nid;a;b;Größe\n" + "\n".join(rows), encoding="latin-1")
    words = ["--drop", "id", "--skip", 2, "--missing", "k.A.", "--delimiter", ";"]
    words += ["--type", "a=category", "Größe=number", "--encoding", "latin-1"]
    words += ["--selectors", "none", "--folds", 2, "--quiet"]
    assert compare(path, *words, target="Größe") == 0
    text = capsys.readouterr().out
    assert "report.csv: 39 rows, 2 columns (1 text), target 'Größe'" in text
    assert "Left out on request: 'id'." in text


def test_terminal_shows_the_scores_so_far_best_first(watch):
    terminal = watch()
    low, high = (FoldScore(score, (True,), 0.1) for score in (0.5, 0.9))
    known = [
        SelectorResult("none", (low,), "running"),
        SelectorResult("lasso", (low, high)),
        SelectorResult("stg", (), "waiting"),
    ]
    live = LiveTable(n_folds=2, is_quiet=False)
    live("lasso", "finished", known)
    _, *rows, bar = terminal.getvalue().split("\n")
    assert [row.split() for row in rows] == [
        ["Lasso", "0.7000", "2/2"],
        ["No", "FS", "0.5000", "1/2", "running"],
        ["STG", "–", "0/2", "waiting"],
    ]
    assert "3/6 folds" in bar
    live.close()
    assert terminal.getvalue().count("\033[A") == 4  # up again, over each line


def test_help_has_examples_and_imports_nothing_heavy():
    code = (
        "import sys\nfrom sievebench.cli import main\n"
        "try:\n    main(['compare', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('torch', 'sklearn', 'pandas') if m in sys.modules])"
    )
    out, _ = start("-c", code).communicate()
    assert "sievebench compare churn.csv" in out
    assert out.splitlines()[-1] == "[]"


def test_interrupted_comparison_keeps_what_is_finished(file):
    words = ["compare", file, "--target", "target", "--folds", 2]
    words += ["--selectors", "none", "attention", "lassonet", "--jobs", 1]
    process = start("-m", "sievebench", *words)
    assert "none finished" in process.stderr.readline()
    time.sleep(1)  # LassoNet has begun, and is busy for at least ten
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT, error
    *_, reference, later, begun, _, verdict = out.splitlines()
    assert reference.startswith("No FS")
    assert begun.split(maxsplit=1) == ["LassoNet", "interrupted"]
    assert later.split(maxsplit=1) == ["AM", "not run, interrupted"]
    assert verdict == "No selector has finished."
    assert "Traceback" not in error


# The command, telling when the server that forks the children has been started.
TELLING = """
import sys
from sievebench.cli import console
from multiprocessing import forkserver
start = forkserver.ensure_running
def start_and_tell():
    start()
    print("started", flush=True)
forkserver.ensure_running = start_and_tell
if __name__ == "__main__":
    sys.exit(console())
"""


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups")
@pytest.mark.parametrize("wait_seconds", [0.0, 1.0])
def test_ctrl_c_while_modules_are_loaded_prints_no_traceback(
    file, tmp_path, wait_seconds
):
    script = tmp_path / "telling.py"
    script.write_text(TELLING)
    words = ["compare", file, "--target", "target"]
    process = start(script, *words, start_new_session=True)
    assert process.stdout.readline() == "started\n"
    time.sleep(wait_seconds)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, error = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT, error
    assert (out, error) == ("", "sievebench: interrupted\n")
