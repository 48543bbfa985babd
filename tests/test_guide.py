"""The guide is executed, and prints what it shows."""

import pytest

from test_readme import code_blocks, read, run_blocks


@pytest.mark.slow
def test_guide_runs_and_prints_what_it_shows(tmp_path, monkeypatch):
    blocks = code_blocks(read("docs/guide.md"))
    assert sum(block.output is not None for block in blocks) >= 8
    monkeypatch.chdir(tmp_path)
    run_blocks(blocks, "docs/guide.md")
