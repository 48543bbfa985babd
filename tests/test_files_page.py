"""The page on files is executed, and prints what it shows."""

from test_readme import code_blocks, read, run_blocks


def test_page_runs_and_prints_what_it_shows(tmp_path, monkeypatch):
    blocks = code_blocks(read("docs/files.md"))
    assert sum(block.output is not None for block in blocks) >= 6
    monkeypatch.chdir(tmp_path)
    run_blocks(blocks, "docs/files.md")
