"""`featuresieve select` and `apply` on Parquet that is too large, or in many files."""

import json
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from featuresieve.cli import main
from featuresieve.files import _writing

QUICK = ("--balance", "price", "--epochs", "1", "--quiet")
N_ROWS = 3000
SMALL = ("--memory", "4MB")  # for a part of the rows


def write_events(folder):
    """Write a table to one file, and to several in a folder."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, N_ROWS))
    labels = np.where(a + b > 0, "yes", "no").astype(object)
    labels[10:20] = "rare"
    labels[[3, 2000]] = None
    table = pa.table(
        {
            "a": a,
            "b": b,
            "noise": rng.standard_normal(N_ROWS),
            "word": rng.choice(["up", "down"], N_ROWS),
            "count": rng.integers(0, 3, N_ROWS),
            "bought": pa.array(labels.tolist()),
        }
    )
    parquet.write_table(table, folder / "one.parquet")
    (folder / "events").mkdir()
    for number in range(3):
        part = table.slice(number * 1000, 1000)
        parquet.write_table(part, folder / "events" / f"{number}.parquet")
    return table


@pytest.fixture(autouse=True)
def events(folder):
    return write_events(folder)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return the file of a selector of two columns."""
    folder = tmp_path_factory.mktemp("saved")
    write_events(folder)
    words = ("--save", str(folder / "saved"), "--n-features", "2")
    assert select(*words, file=str(folder / "events")) == 0
    return str(folder / "saved")


def select(*words, file="events", target="bought"):
    return main(["select", file, "--target", target, *QUICK, *words])


def selected(*words, **arguments):
    assert select(*words, "--json", "result.json", **arguments) == 0
    return json.loads(Path("result.json").read_text())


def without(result, *names):
    return {k: v for k, v in result.items() if k not in ("seconds", "file", *names)}


def test_many_files_that_fit_are_selected_from_as_one():
    expected = without(selected(file="one.parquet"))
    for name in ("events", "events/*.parquet", "events/**/[012]*"):
        assert without(selected(file=name)) == expected


def test_a_file_that_does_not_fit_is_sampled_and_that_is_said(capsys):
    result = selected(*SMALL, file="one.parquet")
    assert result["n_rows"] == N_ROWS
    assert result["n_rows_without_target"] == 2
    assert 300 < result["n_rows_used"] < 2000
    note = result["notes"][0]
    assert "3,000 rows are more than fit into the memory" in note
    assert without(result) == without(selected(*SMALL))
    assert main(["select", "events", "--target", "bought", *QUICK[:4], *SMALL]) == 0
    text = capsys.readouterr().out
    assert "events: 3000 rows, 5 columns to select from" in text
    assert "rare 10" in text
    assert note in text


def test_a_sample_of_whole_numbers_is_classes_and_of_others_values():
    assert selected(*SMALL, target="count")["task"] == "classification"
    assert selected(*SMALL, target="a")["task"] == "regression"
    forced = selected(*SMALL, "--task", "regression", target="count")
    assert forced["task"] == "regression"


def test_half_of_the_memory_is_what_may_be_taken(monkeypatch):
    module = "featuresieve.files.stream._large_files.memory_of_process"
    monkeypatch.setattr(module, lambda: 8_000_000)
    found = selected(file="one.parquet")
    assert "(3.81 MiB; --memory)" in found["notes"][0]
    assert found["kept"] == selected(*SMALL)["kept"]


def test_what_is_written_has_all_rows_and_the_kept_columns(events):
    found = selected(*SMALL, "--out", "kept.parquet")
    written = parquet.read_table("kept.parquet")
    names = [n for n in events.column_names if n in {*found["kept"], "bought"}]
    assert written.equals(events.select(names))


def read_text(name):
    frame = pd.read_csv(name, keep_default_na=False)
    return pa.Table.from_pandas(frame, preserve_index=False)


OUTPUTS = {"kept.parquet": parquet.read_table, "kept.feather": feather.read_table}
OUTPUTS |= {"kept.csv": read_text, "kept.csv.gz": read_text}


@pytest.mark.parametrize("name", OUTPUTS)
def test_apply_writes_in_parts_what_it_writes_at_once(name, saved, capsys):
    for file, out in (("events", name), ("one.parquet", f"other-{name}")):
        words = ["apply", saved, file, "--also", "word", "--out", out]
        assert main([*words, "--predict", f"p-{out}"]) == 0
    read = OUTPUTS[name]
    assert read(name).equals(read(f"other-{name}"))
    assert read(name).num_rows == N_ROWS
    first, second = (read(f"p-{each}").to_pandas() for each in (name, f"other-{name}"))
    assert (first["prediction"] == second["prediction"]).all()
    np.testing.assert_allclose(first.iloc[:, 1:], second.iloc[:, 1:], atol=1e-5)
    assert "events: 3000 rows" in capsys.readouterr().err
    assert main(["apply", saved, "events"]) == 0
    assert capsys.readouterr().out.count("\n") == N_ROWS + 1


def test_apply_needs_the_kept_columns(capsys):
    assert select("--save", "saved", "--n-features", "1", "--keep", "a") == 0
    (Path("others")).mkdir()
    parquet.write_table(pa.table({"aa": [1.0]}), "others/0.parquet")
    assert main(["apply", "saved", "others", "--out", "x.csv"]) == 2
    assert "there is no column 'a'; did you mean 'aa'?" in capsys.readouterr().err
    assert not Path("x.csv").exists()


ERRORS = {
    "--target: there is no column 'buys'": ("--target", "buys"),
    "events/1.parquet is read, and must not be": ("--out", "events/1.parquet"),
    "--memory: must be a size such as 4GiB": ("--memory", "lots"),
    "memory must be at least": ("--memory", "2kB"),
    "--skip is for text and spreadsheets": ("--skip", "2"),
    "--cost: there is no column 'z'": ("--cost", "z=3"),
}


@pytest.mark.parametrize("message", ERRORS)
def test_errors_are_a_line_and_status_2(message, capsys):
    assert select(*ERRORS[message]) == 2
    assert message in capsys.readouterr().err


def fail_after_one(error):
    """Return a writer of Parquet that fails at its second part."""

    class Failing(parquet.ParquetWriter):
        n_written = 0

        def write_table(self, *arguments):
            self.n_written += 1
            if self.n_written == 2:
                raise error
            super().write_table(*arguments)

    return Failing


def hidden_files():
    return [path for path in Path().rglob(".*") if path.is_file()]


@contextmanager
def room_in_a_file(n_bytes):
    """Let no file grow further, as on a disk that is nearly full."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_said_and_costs_nothing_that_was_finished(capsys):
    message = "{} cannot be written: the disk is full, and nothing is left of it"
    words = ("--n-features", "4", "--save", "saved")
    assert select(*words) == 0
    before = Path("saved").read_bytes()
    with room_in_a_file(len(before) // 2):
        assert select(*words, "--json", "result.json", "--out", "kept.parquet") == 2
    assert message.format("saved") in capsys.readouterr().err
    assert Path("saved").read_bytes() == before
    assert json.loads(Path("result.json").read_text())["n_rows"] == N_ROWS
    Path("kept.csv").write_text("before")
    with room_in_a_file(20_000):
        assert main(["apply", "saved", "events", "--out", "kept.csv"]) == 2
    assert message.format("kept.csv") in capsys.readouterr().err
    assert Path("kept.csv").read_text() == "before"
    assert not hidden_files()


def test_a_device_that_is_full_is_one_line(saved, capsys):
    assert main(["apply", saved, "events", "--out", "/dev/full"]) == 2
    assert "the disk is full" in capsys.readouterr().err


def test_an_interrupt_leaves_no_part_of_a_file(saved, monkeypatch, capsys):
    writer = fail_after_one(KeyboardInterrupt())
    monkeypatch.setattr(_writing.parquet, "ParquetWriter", writer)
    assert main(["apply", saved, "events", "--out", "kept.parquet"]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert not Path("kept.parquet").exists()
    assert not hidden_files()
