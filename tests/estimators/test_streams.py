"""Streams: the answer of the table in memory where all rows fit, else of a sample."""

import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import dataset as arrow_dataset
from pyarrow import fs, parquet
from sklearn.model_selection import KFold

import featuresieve
from featuresieve import Stream
from featuresieve.errors import TableFileError
from quick_selectors import quick, quick_regressor

N_ROWS = 600
# Searches as short as these have doubts about all that they find.
pytestmark = pytest.mark.filterwarnings("ignore::featuresieve.FeatureSieveWarning")
QUICK = {"n_epochs": 3, "n_members": 10}


def table(n_rows=N_ROWS, seed=0):
    """Return numbers, text, categories and weights; a and b make the answer."""
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, n_rows))
    return pa.table(
        {
            "a": a,
            "b": pa.array(b, mask=rng.random(n_rows) < 0.1),
            "noise": rng.standard_normal(n_rows).astype(np.float32),
            "word": rng.choice(["up", "down", "left"], n_rows),
            "kind": pd.Categorical(rng.choice(["x", "y"], n_rows)),
            "day": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(rng.integers(0, 90, n_rows), unit="D"),
            "weight": rng.integers(0, 3, n_rows).astype(float),
            "patient": rng.integers(0, 100, n_rows),
            "bought": np.where(a + b > 0, "yes", "no"),
        }
    )


@pytest.fixture
def folder(tmp_path):
    """Write the table in partitions of several files and row groups."""
    rows = table()
    for year, first, last in ((2023, 0, 250), (2024, 250, 600)):
        path = tmp_path / "events" / f"year={year}"
        path.mkdir(parents=True)
        part = rows.slice(first, last - first)
        parquet.write_table(part.slice(0, 90), path / "0.parquet", row_group_size=40)
        parquet.write_table(part.slice(90), path / "1.parquet")
    (tmp_path / "events" / "_SUCCESS").write_text("")
    return tmp_path / "events"


def in_memory(folder):
    return arrow_dataset.dataset(
        folder, partitioning="hive", exclude_invalid_files=True
    ).to_table()


def below(folder):
    return fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())


SOURCES = {
    "folder": lambda folder: folder,
    "text": str,
    "pattern": lambda folder: f"{folder}/*/*.parquet",
    "deep pattern": lambda folder: str(folder / "**" / "[0-9].parquet"),
    "list": lambda folder: sorted(folder.rglob("*.parquet")),
    "dataset": lambda folder: arrow_dataset.dataset(folder, partitioning="hive"),
    "filtered dataset": lambda folder: arrow_dataset.dataset(
        folder, partitioning="hive"
    ).filter(arrow_dataset.field("a").is_valid()),
    "dataset in memory": lambda folder: arrow_dataset.dataset(in_memory(folder)),
    "reader": lambda folder: in_memory(folder).to_reader(77),
    "batches": lambda folder: in_memory(folder).to_batches(50),
    "iterable": lambda folder: iter(in_memory(folder).to_batches(33)),
    "stream": lambda folder: Stream(folder, memory=10**9),
    "file system": lambda folder: Stream(
        "events",
        filesystem=fs.SubTreeFileSystem(str(folder.parent), fs.LocalFileSystem()),
    ),
}


@pytest.mark.parametrize("source", SOURCES)
def test_a_stream_that_fits_gives_the_answer_of_the_table_in_memory(folder, source):
    rows = in_memory(folder)
    if source == "list":  # the folders have no part in names that are listed
        assert "year" in rows.column_names
    features = rows.drop_columns(["bought", "weight", "patient"])
    expected = quick(**QUICK).fit(
        features,
        rows["bought"],
        sample_weight=rows["weight"],
        groups=rows["patient"].to_numpy(),
    )
    found = quick(**QUICK).fit(
        SOURCES[source](folder), "bought", sample_weight="weight", groups="patient"
    )
    assert found.feature_names_in_.tolist() == features.column_names
    np.testing.assert_array_equal(found.logits_, expected.logits_)
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_array_equal(found.classes_, ["no", "yes"])
    assert found.notes_ == expected.notes_
    np.testing.assert_array_equal(
        found.predict_proba(features), expected.predict_proba(features)
    )


def test_regression_takes_streams(folder):
    rows = in_memory(folder)
    rest = rows.drop_columns(["a"])
    expected = quick_regressor(**QUICK).fit(rest, rows["a"])
    found = quick_regressor(**QUICK).fit(folder, "a")
    np.testing.assert_array_equal(found.logits_, expected.logits_)
    np.testing.assert_array_equal(found.predict(folder), expected.predict(rest))


def test_columns_leave_others_out(folder):
    found = quick(**QUICK).fit(Stream(folder, columns=["b", "a", "bought"]), "bought")
    assert found.feature_names_in_.tolist() == ["b", "a"]


def test_transform_of_a_stream_is_a_reader_of_the_kept_columns(folder):
    rows = in_memory(folder)
    selector = quick(max_features=2, **QUICK).fit(folder, "bought")
    kept = selector.get_feature_names_out().tolist()
    reader = selector.transform(str(folder))
    assert isinstance(reader, pa.RecordBatchReader)
    assert reader.schema.names == kept
    assert reader.read_all().equals(rows.select(kept))


def test_transform_reads_when_it_is_asked(folder):
    selector = quick(**QUICK).fit(folder, "bought")
    n_read = 0

    def batches():
        nonlocal n_read
        for batch in in_memory(folder).to_batches(10):
            n_read += 1
            yield batch

    reader = selector.transform(batches())
    assert n_read <= 1
    reader.read_next_batch()
    assert n_read <= 2


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
def test_predictions_for_a_stream_are_those_for_the_table(folder, method):
    rows = in_memory(folder)
    selector = quick(**QUICK).fit(folder, "bought")
    features = rows.select(selector.feature_names_in_.tolist())
    expected = getattr(selector, method)(features)
    found = getattr(selector, method)(rows.to_reader(64))
    assert len(found) == N_ROWS
    if method == "predict":
        np.testing.assert_array_equal(found, expected)
    else:  # products of float32 over other numbers of rows
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)


def test_a_stream_is_scored_as_its_table(folder):
    rows = in_memory(folder)
    classifier = quick(**QUICK).fit(folder, "bought")
    features = rows.select(classifier.feature_names_in_.tolist())
    assert classifier.score(folder, "bought") == classifier.score(
        features, rows["bought"].to_pylist()
    )
    regressor = quick_regressor(**QUICK).fit(folder, "a")
    features = rows.select(regressor.feature_names_in_.tolist())
    values, weights = (rows[name].to_numpy() for name in ("a", "weight"))
    expected = regressor.score(features, values, sample_weight=weights)
    found = regressor.score(rows.to_reader(), "a", sample_weight="weight")
    assert found == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ValueError, match="Input y contains missing values: some of"):
        classifier.score(iter(changed("bought", 123, None)), "bought")


SMALL = "1 MB"


def test_a_stream_that_does_not_fit_gives_the_same_answer_in_any_batches(folder):
    rows = in_memory(folder)
    found = [
        quick(**QUICK).fit(Stream(source, memory=SMALL), "bought")
        for source in (
            folder,
            rows.to_reader(13),
            [rows.combine_chunks().to_batches()[0]],
        )
    ]
    (note,) = [note for note in found[0].notes_ if note["code"] == "sample"]
    assert "of the 600 rows of the stream, a random sample of " in note["text"]
    for other in found[1:]:
        np.testing.assert_array_equal(other.logits_, found[0].logits_)
        assert other.notes_ == found[0].notes_


def test_notes_of_a_sample_are_saved_and_the_seed_decides_it(folder, tmp_path):
    stream = Stream(folder, memory=SMALL)
    one, two = (quick(random_state=k, **QUICK).fit(stream, "bought") for k in (1, 2))
    assert (one.logits_ != two.logits_).any()
    one.save(tmp_path / "selector")
    assert featuresieve.load(tmp_path / "selector").notes_ == one.notes_


def test_a_sample_finds_what_the_table_holds():
    rows = table(20_000)
    found = quick(n_epochs=None).fit(
        Stream([*rows.to_batches()], memory="3 MB"), "bought"
    )
    assert {"a", "b"} <= {*found.get_feature_names_out()}


def test_rare_classes_are_whole_and_probabilities_those_of_all_rows():
    rng = np.random.default_rng(0)
    rows = pa.table(
        {
            "x": rng.standard_normal(30_000),
            "class": np.where(np.arange(30_000) < 300, "rare", "common"),
        }
    )
    stream = Stream(rows.to_batches(1000), memory="3 MB")
    selector = quick(n_features_to_select=1, n_epochs=10).fit(stream, "class")
    shares = selector.predict_proba(rows.select(["x"])).mean(axis=0)
    # A hundredth of the rows: with equal weights it would be a fifth.
    assert selector.classes_.tolist() == ["common", "rare"]
    assert 0.002 < shares[1] < 0.05


def test_a_column_that_varies_outside_the_sample_alone_is_named():
    rng = np.random.default_rng(0)
    seldom = np.zeros(30_000)
    seldom[7] = 1.0
    x = rng.standard_normal(30_000)
    rows = pa.table({"x": x, "seldom": seldom, "y": x > 0})
    selector = quick(**QUICK).fit(Stream(rows.to_batches(999), memory="3 MB"), "y")
    (note,) = [note for note in selector.notes_ if note["code"] == "rare"]
    assert note["columns"] == ["seldom"]


def test_splitters_divide_the_sample_and_numbers_of_rows_do_not():
    stream = Stream(table(4000).to_batches(), memory="2 MB")
    quick(cv=KFold(3), **QUICK).fit(stream, "bought")
    pairs = [(np.arange(100), np.arange(100, 200))]
    with pytest.raises(ValueError, match="cv must be None, a number of folds or a spl"):
        quick(cv=pairs, **QUICK).fit(stream, "bought")


def test_a_checkpoint_is_of_the_same_sample(folder, tmp_path):
    stream = Stream(folder, memory=SMALL)
    arguments = {"random_state": None, "checkpoint": tmp_path / "point", **QUICK}
    first = quick(**arguments)
    taken = [
        featuresieve.estimators._streams.rows_of_fit(
            first, stream, "bought", None, None, seed
        )
        for seed in (3, 4)
    ]
    assert taken[0].X.equals(taken[1].X)


def test_with_size_reads_the_stream_again(folder):
    selector = quick(**QUICK).fit(folder, "bought")
    expected = selector.with_size(1)
    selector._prepared = None
    found = selector.with_size(1, folder, "bought")
    np.testing.assert_array_equal(found.support_, expected.support_)


def spoiled(**columns):
    """Return batches of the table with other values in some columns."""
    rows = table()
    for name, values in columns.items():
        place = rows.column_names.index(name)
        rows = rows.set_column(place, name, pa.array(values))
    return rows.to_batches(100)


def changed(name, row, value):
    """Return batches of the table with another value in one cell."""
    values = table()[name].to_pylist()
    values[row] = value
    return spoiled(**{name: values})


# What was passed, a column of 200 lines, is one line of the first message.
BAD_FITS = {
    "^y must be the name of a column where X is a stream, got [^\n]*in memory.$": (
        *(TypeError, lambda: table().to_reader(), lambda: table()["bought"]),
    ),
    "y: the reader has no column 'buys'; there are 'a'": (
        *(TableFileError, lambda: table().to_reader(), lambda: "buys"),
    ),
    "missing values: 'bought' is None in row 123 of the stream": (
        *(ValueError, lambda: changed("bought", 123, None)),
    ),
    "column 'a' holds -inf in row 456 of the stream": (
        *(ValueError, lambda: changed("a", 456, -np.inf)),
    ),
    "the reader holds no rows": (
        *(TableFileError, lambda: table().slice(0, 0).to_reader()),
    ),
    "memory must be at least .* which hold 100": (
        *(TableFileError, lambda: Stream(table().to_batches(), memory=5000)),
    ),
    "must yield batches, pyarrow.RecordBatch, got a list": (
        *(TypeError, lambda: iter([[1, 2]])),
    ),
    "the iterator holds no rows: it may have been read before": (
        *(TableFileError, lambda: iter([])),
    ),
    "a stream must be the path of Parquet files": (
        TypeError,
        lambda: Stream({"a": [1]}),
    ),
    "there is no file or folder .*nowhere": (TableFileError, lambda: "nowhere"),
    "a batch has the columns 'b'.*, and the first one 'a'": (
        TableFileError,
        lambda: (t.to_batches()[0] for t in (table(), table().drop_columns(["a"]))),
    ),
}


@pytest.mark.parametrize("message", BAD_FITS)
def test_bad_streams_are_refused_with_what_to_do(message):
    error, stream, *target = BAD_FITS[message]
    y = target[0]() if target else "bought"
    with pytest.raises(error, match=f"(?s){message}"):
        quick().fit(stream(), y)


def test_a_reader_is_not_read_twice(folder):
    reader = table().to_reader()
    quick(**QUICK).fit(reader, "bought")
    with pytest.raises(TableFileError, match="reader holds no rows: it may have been"):
        quick().fit(reader, "bought")
    with pytest.raises(ValueError, match="reads X twice"):
        quick().fit_transform(table().to_reader(), "bought")
    kept = quick(**QUICK).fit_transform(folder, "bought")
    assert isinstance(kept, pa.RecordBatchReader)


def test_columns_of_a_stream_are_found_by_name():
    rows = table()
    selector = quick(**QUICK).fit(rows.to_reader(), "bought")
    kept = selector.get_feature_names_out()[0]
    with pytest.raises(TableFileError, match=f"X: the reader has no column '{kept}'"):
        selector.predict(rows.drop_columns([kept]).to_reader())
    nameless = quick(**QUICK).fit(np.random.default_rng(0).random((50, 2)), [0, 1] * 25)
    with pytest.raises(ValueError, match="fitted on a table without names"):
        nameless.predict(rows.to_reader())


def test_memory_is_a_size_columns_a_list_and_filesystem_one():
    for memory in ("", "1 XB", "-1 GB", 0, None, True, float("inf")):
        with pytest.raises(ValueError, match="memory must be a number of bytes"):
            Stream("events", memory=memory)
    sizes = {"1.5 GiB": 3 * 2**29, "500 MB": 500_000_000, "2kib": 2048, 7: 7}
    assert [Stream("x", memory=size).n_bytes for size in sizes] == [*sizes.values()]
    with pytest.raises(TypeError, match="columns must be a list of names"):
        Stream("events", columns="a")
    with pytest.raises(TypeError, match="filesystem must be one of pyarrow"):
        Stream("events", filesystem=3).open()


def test_an_interrupted_fit_leaves_what_was_there_and_no_thread(folder):
    selector = quick(**QUICK).fit(folder, "bought")
    before = selector.support_

    def batches():
        yield table().to_batches(100)[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        selector.fit(batches(), "bought")
    assert selector.support_ is before
    names = [thread.name for thread in threading.enumerate()]
    assert "featuresieve-reader" not in names
