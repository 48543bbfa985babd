"""Files, folders and patterns of Parquet: found in order, refused with what to do."""

import re
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import dataset as arrow_dataset
from pyarrow import parquet

from featuresieve.errors import TableFileError
from featuresieve.files import Stream
from featuresieve.files.stream._batch_source import read_ahead
from featuresieve.files.stream._memory import memory_of_process
from featuresieve.files.stream._parquet_files import _as_expression


def rows(first=0, n_rows=10, **others):
    return pa.table({"a": np.arange(first, first + n_rows), **others})


@pytest.fixture
def write(tmp_path):
    """Write a table to a path below the folder of the test, and return the folder."""

    def written(table, path, **how):
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(table, place, **how)
        return tmp_path

    return written


def read(source, **how):
    """Return all rows of a stream as a table."""
    opened = Stream(source, **how).open()
    batches = list(opened.batches(opened.schema.names))
    return pa.Table.from_batches(batches, schema=opened.schema)


def test_files_of_a_folder_come_in_order_and_others_are_no_part(write):
    for number in (2, 0, 1):
        write(rows(10 * number), f"events/part-{number}.parquet")
    folder = write(rows(99), "events/_temporary/b.parquet") / "events"
    for name in ("_SUCCESS", ".a.parquet.crc", "readme.txt"):
        (folder / name).write_text("no table")
    assert read(folder).column("a").to_pylist() == list(range(30))


def test_partitions_are_columns_below_the_folder_only(write):
    for year in (2023, 2024):
        folder = write(rows(), f"run=7/year={year}/a.parquet") / "run=7"
    found = read(folder)
    assert found.column_names == ["a", "year"]
    assert found.column("year").to_pylist() == [2023] * 10 + [2024] * 10
    assert read(folder / "year=2024" / "a.parquet").column_names == ["a"]
    assert read(f"{folder}/year=*/*.parquet").equals(found)


def test_numbers_and_categories_of_several_files_are_one_column(write):
    for number, (values, letters) in enumerate(
        [
            (pa.array([1, 2], pa.int32()), "xy"),
            (pa.array([None, None], pa.null()), "xx"),
            ([2**60 + 1], "z"),  # no float64, but near to one
            ([0.5], "z"),
        ]
    ):
        coded = pa.array([*letters]).dictionary_encode()
        folder = write(pa.table({"a": values, "letter": coded}), f"{number}.parquet")
    found = read(folder)
    assert found.schema.field("a").type == pa.float64()
    assert found.column("a").to_pylist() == [1.0, 2.0, None, None, 2.0**60, 0.5]
    assert found.column("letter").cast(pa.string()).to_pylist() == [*"xyxxzz"]


def test_fragments_of_a_dataset_are_read_as_they_are_chosen(write):
    folder = write(rows(n_rows=40), "a.parquet", row_group_size=10)
    (fragment,) = arrow_dataset.dataset(folder).get_fragments()
    some = fragment.subset(row_group_ids=[1, 3])
    chosen = arrow_dataset.FileSystemDataset(
        [some], fragment.physical_schema, fragment.format, fragment.filesystem
    )
    expected = [*range(10, 20), *range(30, 40)]
    assert read(chosen).column("a").to_pylist() == expected


def test_a_dataset_of_another_format_is_read(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,x\n2,y\n")
    found = read(arrow_dataset.dataset(tmp_path, format="csv"))
    assert found.to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


def cut(path, keep):
    path.write_bytes(path.read_bytes()[:keep])


def test_a_truncated_file_is_named_before_a_row_is_read(write):
    for number in range(3):
        folder = write(rows(), f"{number}.parquet")
    for keep in (0, 3, 200):
        cut(folder / "1.parquet", keep)
        with pytest.raises(
            TableFileError, match=r"1\.parquet cannot be read: .* copy it again"
        ):
            Stream(folder).open()


def test_a_page_that_is_damaged_is_named(write):
    numbers = np.random.default_rng(0).random(50_000)
    for number in range(2):
        table = pa.table({"a": numbers})
        folder = write(table, f"{number}.parquet", compression="gzip")
    damaged = folder / "1.parquet"
    content = bytearray(damaged.read_bytes())
    content[2000:3000] = b"\xff" * 1000
    damaged.write_bytes(content)
    with pytest.raises(TableFileError, match=r"1\.parquet cannot be read"):
        read(folder)


def test_files_of_other_columns_are_named(write):
    write(rows(b=["x"] * 10), "m=1/a.parquet")
    folder = write(rows(), "m=2/a.parquet")
    message = r"m=2/a\.parquet has no column 'b', which .*m=1/a\.parquet has"
    with pytest.raises(TableFileError, match=message):
        Stream(folder).open()
    assert read(folder, columns=["a", "m"]).num_rows == 20


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (rows(b=["x"] * 10), r"0\.parquet has no column 'b', which"),
        (
            pa.table({"a": ["1"]}),
            r"'a' is string in .*1\.parquet, and int64 in .*0\.parquet\. Write the",
        ),
    ],
)
def test_another_column_or_type_is_named(write, second, message):
    write(rows(), "0.parquet")
    with pytest.raises(TableFileError, match=message):
        Stream(write(second, "1.parquet")).open()


def test_a_column_that_is_also_a_folder_is_no_damage(write):
    folder = write(rows(year=["2023"] * 10), "year=2023/0.parquet")
    message = r"0\.parquet and the files beside it make no table: .* year .* A name"
    with pytest.raises(TableFileError, match=message):
        Stream(folder).open()


def test_names_of_rows_are_no_column(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]})
    frame[frame["a"] != 2.0].to_parquet(tmp_path / "0.parquet")
    assert "__index_level_0__" in parquet.read_schema(tmp_path / "0.parquet").names
    assert read(tmp_path).column_names == ["a"]
    named = read(tmp_path, columns=["__index_level_0__"])
    assert named.column(0).to_pylist() == [0, 2, 3]


def test_what_is_checked_of_files_grows_with_their_columns_alone(write):
    seconds = []
    for n_columns in (200, 4000):
        wide = pa.table({f"column {j}": [0] for j in range(n_columns)})
        write(wide, f"{n_columns}/0.parquet")
        folder = write(wide, f"{n_columns}/1.parquet")
        taken = []
        for _ in range(3):
            started = time.thread_time()
            Stream(folder / str(n_columns)).open()
            taken.append(time.thread_time() - started)
        seconds.append(min(taken))
    assert seconds[1] < 100 * seconds[0]  # 20 times as many; by pairs 400 times


MISSING = {
    "": "the path of a file must not be empty",
    "nowhere.parquet": "there is no file or folder .*nowhere",
    "*.parquet": "no file fits .*",
    "empty": "is a folder without Parquet in it",
    "a.csv": "Only Parquet is read as a stream: pass",
    "nosuchfs://bucket/a": r"nosuchfs://bucket/a cannot be opened: .* Stream\(path, fi",
}


@pytest.mark.parametrize("name", MISSING)
def test_what_is_not_there_is_said(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(TableFileError, match=MISSING[name]):
        Stream(name).open()


def test_columns_must_be_there(write):
    path = write(rows(age=[1] * 10), "0.parquet")
    with pytest.raises(TableFileError, match=r"'c'; there are 'a', 'age'\.$"):
        Stream(path, columns=["a", "c"]).open()
    with pytest.raises(TableFileError, match="column 'agee'; did you mean 'age'"):
        Stream(path, columns=["agee"]).open()


PATTERNS = {
    "a/*.parquet": ({"a/x.parquet", "a/.parquet"}, {"a/b/x.parquet", "a/x.parquets"}),
    "a/**/x": ({"a/x", "a/b/x", "a/b/c/x"}, {"ax", "a/bx"}),
    "part-[0-3]?": ({"part-0x", "part-39"}, {"part-4x", "part-0", "part-0/"}),
    "[!a]+(b)": ({"c+(b)"}, {"a+(b)", "cc+(b)", "cb"}),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_are_those_of_a_shell(pattern):
    expression = re.compile(_as_expression(pattern))
    fitting, others = PATTERNS[pattern]
    assert {path for path in fitting | others if expression.fullmatch(path)} == fitting


def test_a_thread_reads_ahead_and_hands_over_its_errors():
    def items():
        yield 1
        yield 2
        raise OSError("gone")

    read = read_ahead(items())
    assert [next(read), next(read)] == [1, 2]
    with pytest.raises(OSError, match="gone"):
        next(read)


def test_a_thread_ends_when_nobody_asks_for_more():
    n_read = 0

    def items():
        nonlocal n_read
        while True:
            n_read += 1
            yield n_read

    read = read_ahead(items())
    assert next(read) == 1
    read.close()  # joins the thread
    before = n_read
    assert before <= 5
    assert n_read == before


def test_memory_is_that_of_the_container_where_it_has_less(tmp_path, monkeypatch):
    module = "featuresieve.files.stream._memory._LIMITS"
    (tmp_path / "memory.max").write_text("1048576\n")
    monkeypatch.setattr(module, (tmp_path / "memory.max", tmp_path / "nowhere"))
    assert memory_of_process() == 2**20
    (tmp_path / "memory.max").write_text("max\n")
    assert memory_of_process() > 2**24
