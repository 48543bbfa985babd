"""Headers that are long, repeat themselves or look like code; files read only once."""

import os
import subprocess
import sys
import threading

import pytest

from featuresieve.files import read_file
from featuresieve.files._dialect import unique_names

# More than the 256 KiB that are looked at first.
LONG = {
    "20,000 columns": [f"a column, number {j}" for j in range(20_000)],
    "names of 10,000 letters": [chr(97 + j) * 10_000 for j in range(26)] * 2,
}


@pytest.mark.parametrize("case", LONG)
def test_long_headers_are_read_whole(tmp_path, case):
    headings = LONG[case]
    row = ";".join(["1"] * len(headings))
    path = tmp_path / "wide.csv"
    path.write_text(";".join(headings) + f"\n{row}\n{row}\n", encoding="utf-8")
    with read_file(str(path)) as file:
        names, _ = unique_names(headings)
        assert file.table.column_names == names
        assert file.table.num_rows == 2


@pytest.mark.parametrize("heading", ["{x}", "{0:>3000000000}", "{", "}{", "%s", "{!r}"])
def test_repeated_names_are_no_format_strings(heading):
    names, notes = unique_names([heading, heading, "y"])
    assert names == [heading, f"{heading} (2)", "y"]
    (note,) = notes
    assert note == f"a second column {heading!r} is called {names[1]!r} here."


def test_many_equal_names_get_numbers_that_are_free():
    n = 300_000  # one by one, a search for each would take hours
    names, notes = unique_names(["a"] * n)
    assert names[:3] == ["a", "a (2)", "a (3)"]
    assert len(set(names)) == n
    assert len(notes) == 6
    assert notes[-1] == "299994 more columns are called so, with a number."
    assert unique_names(["a", "a (2)", "a", "a"])[0] == ["a", "a (2)", "a (3)", "a (4)"]
    assert unique_names(["", "column 1", "", ""])[0] == [
        *("column 2", "column 1", "column 3", "column 4")
    ]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_named_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("a,b\n1,2\n3,4\n",))
    writer.start()
    with read_file(str(pipe)) as file:
        assert file.table.to_pydict() == {"a": [1, 3], "b": [2, 4]}
    writer.join()


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="the system has no /dev/fd")  # noqa: PTH110
def test_command_reads_what_another_program_prints():
    rows = "".join(f"{j % 7},{j % 2},{j % 2}\n" for j in range(60))
    read, write = os.pipe()
    os.write(write, f"a,b,y\n{rows}".encode())
    os.close(write)
    words = ["select", f"/dev/fd/{read}", "--target", "y", "--epochs", "2", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "featuresieve", *words],
        pass_fds=[read],
        capture_output=True,
        text=True,
        timeout=120,
    )
    os.close(read)
    assert done.returncode == 0, done.stderr
    assert "of 2 columns" in done.stdout
