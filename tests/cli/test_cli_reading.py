"""The command reads strange tables as it is told, and other rows of them alike."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from featuresieve.cli import main
from featuresieve.storage import unpack

QUICK = ("--balance", "price", "--epochs", "3", "--quiet")
PREAMBLE = 'Umsätze "2023"\nStand: 1.2.2024, vorläufig\n\n'


def strange_text(n_rows=90, seed=0):
    """Return a report: lines before the table, decimal commas, k.A. for gaps.

    A code that looks like a number and one with k.A. in it decide the target.
    """
    rng = np.random.default_rng(seed)
    code = rng.choice([10115, 20095, 80331], n_rows)
    size, noise = rng.normal(size=(2, n_rows))
    label = np.where((code == 20095) ^ (size > 0), "ja", "nein")
    lines = ["PLZ;Größe;Rauschen;Tag;Kauf"]
    for row in range(n_rows):
        shown = "k.A." if row % 10 == 3 else f"{size[row]:.2f}".replace(".", ",")
        other = f"{noise[row]:.2f}".replace(".", ",")
        day = f"202301{1 + row % 28:02d}"
        lines.append(f"{code[row]};{shown};{other};{day};{label[row]}")
    return PREAMBLE + "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def report(folder):
    """Write report.csv, in Latin-1."""
    (folder / "report.csv").write_text(strange_text(), encoding="latin-1")


SELECT = ("select", "report.csv", "--target", "Kauf", *QUICK)
READING = ("--skip", "3", "--missing", "k.A.", "--type", "PLZ=category", "Tag=date")


def kinds(name):
    header, _ = unpack(name)
    return {f["name"]: f["kind"] for f in header["encoder"]["features"]}


def test_strange_report_is_read_as_told():
    words = ("--keep", "*", "--save", "s.sieve", "--out", "o.csv")
    assert main([*SELECT, *READING, *words]) == 0
    assert kinds("s.sieve") == {
        "PLZ": "category",
        "Größe": "number",
        "Rauschen": "number",
        "Tag": "date",
    }
    copied = Path("o.csv").read_text(encoding="latin-1")
    assert copied == strange_text().removeprefix(PREAMBLE)


def test_configuration_knows_how_to_read():
    Path("c.toml").write_text(
        'target = "Kauf"\nskip = 3\nmissing = ["k.A."]\nbalance = "price"\nepochs = 3\n'
        'type = {PLZ = "category", Tag = "date"}\nsave = "s.sieve"\nkeep = "*"\n'
    )
    assert main(["select", "report.csv", "--config", "c.toml"]) == 0
    assert kinds("s.sieve")["PLZ"] == "category"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('type = {PLZ = "integer"}', "type must be a table of number, category, date"),
        ('type = "number"', "type must be a table of number, category, date"),
        ("missing = 999", "missing must be a list of names"),
        ("skip = -1", "--skip: must be a whole number >= 0"),
    ],
)
def test_wrong_configuration_of_reading_is_refused(capsys, text, message):
    Path("c.toml").write_text(f'target = "Kauf"\n{text}\n')
    assert main(["select", "report.csv", "--config", "c.toml"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "If the table begins in line 4: --skip 3."),
        ((*READING, "--type", "Kauf=number"), "--type Kauf=number: 'nein' in row 5"),
        ((*READING, "--type", "Größe=date"), "in row 5 is no date"),
        (("--type", "PLZ"), "--type: must be NAME=TYPE with a type of number, "),
        (("--type", "PLZ=code"), "--type: must be NAME=TYPE with a type of number, "),
    ],
)
def test_what_cannot_be_read_so_is_told_in_one_line(capsys, words, message):
    assert main([*SELECT, *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


@pytest.fixture
def saved():
    """Save a selector of a code, a number and a date, none of them read by itself."""
    keep = ("--keep", "PLZ", "Größe", "Tag")
    assert main([*SELECT, *READING, *keep, "--save", "s.sieve"]) == 0
    return "s.sieve"


def predictions(capsys, file, *words):
    assert main(["apply", "s.sieve", file, *words, "--predict", "-"]) == 0
    return list(csv.reader(io.StringIO(capsys.readouterr().out)))


@pytest.mark.usefixtures("saved")
def test_apply_reads_columns_as_they_were_asked_for(capsys):
    words = ("--skip", "3", "--missing", "k.A.")
    whole = predictions(capsys, "report.csv", *words)
    assert len(whole) == 91
    lines = Path("report.csv").read_text(encoding="latin-1").splitlines()
    # Alone, the code is a number, the date too, and nothing is known of the size.
    Path("new.csv").write_text("\n".join([lines[3], lines[7]]), encoding="latin-1")
    assert "k.A." in lines[7]
    _, (label, *shares) = predictions(capsys, "new.csv", "--missing", "k.A.")
    assert label == whole[4][0]
    # A product of one row may round otherwise than one of many, in float32.
    assert [*map(float, shares)] == pytest.approx([*map(float, whole[4][1:])], rel=1e-6)


@pytest.mark.usefixtures("saved")
def test_apply_reads_typed_files_as_was_asked_for(capsys):
    words = ("--skip", "3", "--missing", "k.A.")
    whole = predictions(capsys, "report.csv", *words)
    lines = Path("report.csv").read_text(encoding="latin-1").splitlines()[3:]
    rows = list(csv.DictReader(lines, delimiter=";"))
    table = {
        "PLZ": [int(row["PLZ"]) for row in rows],
        "Größe": [row["Größe"].replace(",", ".") for row in rows],
        "Tag": [int(row["Tag"]) for row in rows],
    }
    parquet.write_table(pa.table(table), "new.parquet")
    assert predictions(capsys, "new.parquet", "--missing", "k.A.") == whole


@pytest.mark.usefixtures("saved")
def test_apply_points_to_lines_before_the_table(capsys):
    assert main(["apply", "s.sieve", "report.csv"]) == 2
    assert "If the table begins in line 4: --skip 3." in capsys.readouterr().err


def test_class_of_a_target_that_is_asked_to_be_a_category_is_text():
    Path("t.csv").write_text(
        "x,y\n" + "\n".join(f"{row % 7},{row % 4}" for row in range(80))
    )
    words = ["select", "t.csv", "--target", "y", "--type", "y=category", *QUICK]
    assert main([*words, "--json", "r.json"]) == 0
    assert json.loads(Path("r.json").read_text())["task_reason"] == "it holds text"
