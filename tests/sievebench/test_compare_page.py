"""The page on comparing: its command prints what it shows."""

import re
import shlex

import pytest

from sievebench.cli import main
from test_readme import FENCE, code_blocks, read, run_blocks

SECONDS = re.compile(r" +\d+\.\d\d(?=( +(\d\.\d\d|–)){2}$)", re.MULTILINE)


@pytest.mark.slow
def test_command_of_the_page_prints_what_it_shows(tmp_path, monkeypatch, capsys):
    page = read("docs/compare.md")
    monkeypatch.chdir(tmp_path)
    run_blocks(code_blocks(page), "docs/compare.md")
    (console,) = [f["body"] for f in FENCE.finditer(page) if f["language"] == "console"]
    _, _, step = console.replace("\\\n", " ").partition("$ sievebench ")
    command, _, shown = step.partition("\n")
    assert main(shlex.split(command)) == 0
    assert SECONDS.sub("", capsys.readouterr().out) == SECONDS.sub("", shown)
