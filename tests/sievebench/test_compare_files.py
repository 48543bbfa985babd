"""`sievebench compare`: files that are written, and files that are left alone."""

import os

import pandas as pd
import pytest

from made_tables import class_table
from sievebench.cli import main
from sievebench.compare import _comparison


@pytest.fixture
def file(tmp_path):
    X, y = class_table(n_rows=60)
    path = tmp_path / "table.csv"
    pd.DataFrame(X).assign(target=y).to_csv(path, index=False)
    return path


def test_files_stay_as_they_are_if_ctrl_c_comes_before_anything_is_finished(
    file, tmp_path, monkeypatch, capsys
):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_comparison, "_judge", interrupt)
    old = tmp_path / "old.csv"
    old.write_text("of an earlier comparison")
    words = ["compare", str(file), "--target", "target", "--csv", str(old)]
    assert main([*words, "--quiet"]) == 130
    assert old.read_text() == "of an earlier comparison"
    assert capsys.readouterr() == ("", "sievebench: interrupted\n")


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
@pytest.mark.parametrize("words", [["LOOP"], ["FILE", "--csv", "LOOP"]])
def test_link_that_leads_to_itself_is_one_line(file, tmp_path, capsys, words):
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    paths = {"LOOP": str(loop), "FILE": str(file)}
    words = [paths.get(word, word) for word in words]
    assert main(["compare", *words, "--target", "target"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "loop.csv" in line


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
