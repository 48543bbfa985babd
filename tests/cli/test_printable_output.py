"""What the two commands print cannot steer a terminal."""

import io
import os
import re
import sys

import numpy as np
import pytest

import sievebench.cli
from featuresieve.cli import main
from featuresieve.process import CLEAR_LINE, printable

CLEAR_SCREEN = "\x1b[2J"
COMMANDS = {"featuresieve": main, "sievebench": sievebench.cli.main}
QUICK = ("--balance", "price", "--epochs", "3")
NAME = f"t{CLEAR_SCREEN}.csv"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def hostile_file(folder):
    """Write a file whose name, columns and labels hold controls."""
    numbers = np.random.default_rng(0).normal(size=(60, 3)).round(3)
    head = f"a{CLEAR_SCREEN},b\x9b2J,empty\x1b[8m,c\u202e,label\x07"
    labels = np.where(numbers[:, 0] > 0, f"yes{CLEAR_SCREEN}", "no\x1b]0;title\x07")
    rows = [
        f"{a},{b},,{c},{label}"
        for (a, b, c), label in zip(numbers, labels, strict=True)
    ]
    (folder / NAME).write_text("\n".join([head, *rows, ""]), encoding="utf-8")


def shown(capsys):
    """Return what was printed, after a look at its characters."""
    text = "".join(capsys.readouterr())
    assert all(line.isprintable() for line in text.split("\n"))
    return text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain ä – 日本", "plain ä – 日本"),
        ("a\u00a0b\u3000c", "a\u00a0b\u3000c"),
        ("\x1b[2J\r\n\t\x7f\x9b", r"\x1b[2J\r\n\t\x7f\x9b"),
        ("\u202e\u2028\udc80", r"\u202e\u2028\udc80"),
    ],
)
def test_printable_escapes_controls_only(text, expected):
    assert printable(text) == expected


def test_select_escapes_names_and_labels(capsys):
    words = ("select", NAME, "--target", "label\x07", *QUICK)
    outputs = ("--verbose", "--json", f"r{CLEAR_SCREEN}.json")
    assert main([*words, *outputs, "--save", "s.sieve"]) == 0
    text = shown(capsys)
    for name in (r"t\x1b[2J.csv:", r"yes\x1b[2J", r"\x1b]0;title\x07", r"a\x1b[2J "):
        assert name in text
    assert r"wrote r\x1b[2J.json" in text
    assert main(["apply", "s.sieve", NAME, "--out", f"o{CLEAR_SCREEN}.csv"]) == 0
    assert r"wrote o\x1b[2J.csv" in shown(capsys)


def test_json_on_standard_output_escapes_controls(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", out)
    words = ("select", NAME, "--target", "label\x07", *QUICK, "--json", "-", "--quiet")
    assert main(words) == 0
    text = out.buffer.getvalue().decode()
    assert r"b\u009b2J" in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_what_a_stream_cannot_encode_is_escaped(folder, monkeypatch, encoding):
    head, *rows = (folder / NAME).read_text(encoding="utf-8").split("\n")
    (folder / "t.csv").write_text("\n".join([f"ä→{head}", *rows]), encoding="utf-8")
    streams = {"stdout": io.BytesIO(), "stderr": io.BytesIO()}
    for name, raw in streams.items():
        monkeypatch.setattr(sys, name, io.TextIOWrapper(raw, encoding=encoding))
    words = ("select", "t.csv", "--target", "label\x07", *QUICK, "--keep", "ä*")
    assert main([*words, "--out", "small.csv"]) == 0
    sys.stderr.flush()
    assert r"\u2192a\x1b[2J " in streams["stdout"].getvalue().decode(encoding)
    assert "wrote small.csv" in streams["stderr"].getvalue().decode(encoding)


@pytest.mark.parametrize("command", COMMANDS)
def test_reader_that_has_seen_enough_is_no_error(capsys, monkeypatch, command):
    class Closed(io.StringIO):
        def flush(self):
            raise BrokenPipeError

    stream = Closed()
    with open(os.devnull, "wb") as stream.buffer:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdout", stream)
        words = {"featuresieve": ["doctor"], "sievebench": ["data", "list", "wine"]}
        assert COMMANDS[command](words[command]) == 141
    assert capsys.readouterr().err == ""


def test_compare_escapes_names_and_labels(capsys):
    words = ["compare", NAME, "--target", "label\x07", "--folds", "2"]
    assert sievebench.cli.main([*words, "--selectors", "none", "univariate"]) == 0
    assert r"t\x1b[2J.csv: 60 rows" in shown(capsys)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("featuresieve", ("select", NAME, "--target", f"no{CLEAR_SCREEN}")),
        ("featuresieve", ("select", f"no{CLEAR_SCREEN}", "--target", "y")),
        ("featuresieve", ("select", NAME, "--target", "y", f"--x{CLEAR_SCREEN}")),
        ("featuresieve", ("apply", f"no{CLEAR_SCREEN}", NAME)),
        ("featuresieve", ("apply", NAME, NAME)),
        ("sievebench", ("compare", NAME, "--target", f"no{CLEAR_SCREEN}")),
        ("sievebench", ("compare", f"no{CLEAR_SCREEN}", "--target", "y")),
        ("sievebench", ("data", "list", f"no{CLEAR_SCREEN}")),
        ("sievebench", ("run", f"no{CLEAR_SCREEN}.toml", "--out", "runs")),
        ("sievebench", ("collect", f"no{CLEAR_SCREEN}", "--out", "t.csv")),
        ("sievebench", ("report", f"no{CLEAR_SCREEN}", "--list")),
    ],
)
def test_error_escapes_what_it_quotes(capsys, command, words):
    assert COMMANDS[command](words) == 2
    assert r"\x1b[2J" in shown(capsys)


def test_error_of_argparse_or_an_unexpected_one_is_escaped(capsys, monkeypatch):
    def fail(*_):
        raise RuntimeError(CLEAR_SCREEN)

    assert sievebench.cli.main(["data", "list", f"--x{CLEAR_SCREEN}"]) == 2
    assert r"--x\x1b[2J" in shown(capsys)
    monkeypatch.setattr("argparse.ArgumentParser.parse_args", fail)
    assert sievebench.cli.main([]) == 1
    assert r"RuntimeError: \x1b[2J" in shown(capsys)


def test_progress_on_a_terminal_clears_its_own_lines_only(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("featuresieve.monitoring._progress.TERMINAL_SECONDS", 0.0)
    assert main(["select", NAME, "--target", "label\x07", *QUICK]) == 0
    text = terminal.getvalue()
    assert CLEAR_LINE in text
    assert "\rfeaturesieve: " in text
    assert re.sub(r"\r(\x1b\[K)?|\n", "", text).isprintable()
