"""docs/command.md tells the truth: its commands run and print what it shows."""

import io
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import sklearn

from featuresieve.cli import main
from featuresieve.cli._options import read_config
from featuresieve.cli._parser import build_parser
from made_files import plain_text

PAGE = (Path(__file__).parents[2] / "docs" / "command.md").read_text(encoding="utf-8")
PINNED = (Path(__file__).parents[2] / "constraints.txt").read_text(encoding="utf-8")
SECONDS = re.compile(r"\d+\.\d s\b")
# Votes of a hundred networks: one more or less on another processor.
VOTES = re.compile(r"\b[01]\.\d\d(?= +\d+$)", re.MULTILINE)
SCORES = re.compile(r"\d\.\d{3} ± \d\.\d{3}")


def lasting(text):
    """Return what must be the same in every run."""
    text = VOTES.sub("", SECONDS.sub("", text))
    # The gradient boosting of another scikit-learn has other scores.
    is_pinned = f"scikit-learn=={sklearn.__version__}\n" in PINNED
    return text if is_pinned else SCORES.sub("", text)


def fenced(language):
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return [body for found, body in fences if found == language]


def sessions():
    """Return the shown commands with what they print."""
    steps = re.split(r"^\$ ", "".join(fenced("console")), flags=re.MULTILINE)
    return [step.partition("\n")[::2] for step in steps if step]


def test_commands_of_the_page_print_what_it_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for command, shown in sessions():
        program, *words = shlex.split(command)
        if program == "python":
            subprocess.run([sys.executable, *words], check=True)
            continue
        assert main(words) == 0
        printed = capsys.readouterr().out
        if shown:
            assert lasting(printed) == lasting(shown)
    assert Path("predictions.csv").read_text().startswith('"prediction"')


def test_other_commands_of_the_page_are_understood():
    text = "".join(fenced("")).replace("\\\n", " ")
    lines = [line.removeprefix("$ ") for line in text.splitlines()]
    commands = [shlex.split(line) for line in lines if "featuresieve " in line]
    commands = [words for words in commands if words[0] == "featuresieve"]
    assert len(commands) >= 4
    for words in commands:
        build_parser().parse_args(words[1:])


def test_configuration_of_the_page_is_understood(tmp_path):
    (text,) = fenced("toml")
    path = tmp_path / "c.toml"
    path.write_text(text)
    assert len(read_config(str(path))) == len(tomllib.loads(text))


def test_page_names_every_field_of_the_json(monkeypatch, capsys):
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(plain_text().encode()))
    )
    words = ["select", "-", "--target", "label", "--balance", "price", "--epochs", "3"]
    assert main([*words, "--json", "-"]) == 0
    result = json.loads(capsys.readouterr().out)
    for name in [*result, *result["score"]]:
        assert f"`{name}`" in PAGE
