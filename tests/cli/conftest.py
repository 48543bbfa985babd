"""What the tests of the command share."""

from pathlib import Path

import pytest

from made_files import plain_text


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Run each test in a folder of its own that holds plain.csv."""
    monkeypatch.chdir(tmp_path)
    Path("plain.csv").write_text(plain_text())
    return tmp_path
