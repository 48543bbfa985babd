"""`featuresieve doctor`, and words completed in a shell."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from argcomplete.shell_integration import shellcode

from featuresieve.cli import main
from featuresieve.cli._doctor import EXTRAS, REQUIRED

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]


def name_of(requirement):
    return re.match(r"[\w-]+", requirement)[0]


def test_doctor_and_the_page_of_licences_know_what_the_package_depends_on():
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    for name in (
        *REQUIRED,
        *(f"{name} (extra `{e}`)" for e, (name, _) in EXTRAS.items()),
    ):
        assert f"| {name} |" in page
    assert sorted(REQUIRED) == sorted(map(name_of, PROJECT["dependencies"]))
    for extra, (name, _) in EXTRAS.items():
        (requirement,) = PROJECT["optional-dependencies"][extra]
        assert name_of(requirement) == name


def test_doctor_names_versions_extras_devices_and_threads(capsys):
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    for pattern in (r"torch +\d+\.\d+", r"cli +pyarrow \d", r"cpu +\d+ of \d+ cores,"):
        assert re.search(pattern, text)
    assert re.search(r"torch has \d+ thread.*, \d+\.\d s$", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("module", "status", "line"),
    [
        ("scipy", 1, r"scipy +[\d.]+ cannot be imported: ModuleNotFoundError: .*"),
        ("onnx", 0, r"onnx +onnx [\d.]+ cannot .*; pip install 'featuresieve\[onnx\]'"),
        (None, 1, r"cpu +fails: RuntimeError: no kernel image"),
    ],
)
def test_doctor_tells_what_is_broken_in_a_line(
    monkeypatch, capsys, module, status, line
):
    def fail(*_):
        raise RuntimeError("no kernel image")

    if module is None:
        monkeypatch.setattr("featuresieve.AutoNFSClassifier.fit", fail)
    else:
        monkeypatch.setitem(sys.modules, module, None)
    assert main(["doctor"]) == status
    captured = capsys.readouterr()
    assert re.search(rf"^  {line}$", captured.out, re.MULTILINE)
    assert captured.err == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_for_a_shell_is_printed_as_it_is(capsys, monkeypatch, shell):
    assert main(["--completion", shell]) == 0
    script = shellcode(["featuresieve", "sievebench"], shell=shell)
    assert capsys.readouterr().out == f"{script}\n"
    monkeypatch.setitem(sys.modules, "argcomplete.shell_integration", None)
    assert main(["--completion", shell]) == 2
    assert "pip install 'featuresieve[completion]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("featuresieve ", {"select", "apply", "demo", "doctor"}),
        ("featuresieve select --max", {"--max-features", "--max-time"}),
        ("featuresieve select --task reg", {"regression"}),
        ("sievebench compare --predictor ", {"boosting", "linear"}),
    ],
)
def test_shell_is_told_how_words_go_on(folder, line, words):
    answer = folder / "answer"
    asked = {
        **{"_ARGCOMPLETE": "1", "_ARGCOMPLETE_SHELL": "bash", "_ARGCOMPLETE_IFS": "|"},
        **{"COMP_LINE": line, "COMP_POINT": str(len(line)), "COMP_TYPE": "63"},
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
    }
    command = [sys.executable, "-m", line.split()[0]]
    subprocess.run(command, env={**os.environ, **asked}, check=True, timeout=60)
    found = {word.strip() for word in answer.read_text().split("|")}
    assert words <= found
    assert all(word.startswith(line.split(" ")[-1]) for word in found)
