"""What tests of the command `sievebench` share."""

import io

import pytest

from sievebench.cli import main


@pytest.fixture
def printed(capsys):
    """Return a function that runs the command, and returns what it prints."""

    def run(*words, status=0):
        found = main([str(word) for word in words])
        said = capsys.readouterr()
        assert found == status, said.err
        return said.out

    return run


@pytest.fixture
def watch(monkeypatch):
    """Return a function that makes standard error a terminal, and returns it."""

    def begin():
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        monkeypatch.setattr("sys.stderr", terminal)
        return terminal

    return begin


@pytest.fixture
def refused(capsys):
    """Return a function that runs the command, and returns the line of its error."""

    def run(*words):
        assert main([str(word) for word in words]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("sievebench: error: ")
        return line

    return run
