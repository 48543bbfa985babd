"""The page on long fits is executed, and prints what it shows."""

import pytest

from test_readme import code_blocks, read, run_blocks

pytest.importorskip("sklearn.callback")


def test_long_work_page_runs_and_prints_what_it_shows(tmp_path, monkeypatch):
    blocks = code_blocks(read("docs/long_work.md"))
    assert sum(block.output is not None for block in blocks) == 4
    monkeypatch.chdir(tmp_path)
    run_blocks(blocks, "docs/long_work.md")
