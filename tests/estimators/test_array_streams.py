"""Arrays on disk: read as they are where they fit, else sampled as streams are."""

import numpy as np
import pyarrow as pa
import pytest

from featuresieve import Stream
from featuresieve.files.stream._costs import array_row_cost, row_cost
from quick_selectors import quick

# Searches as short as these have doubts about all that they find.
pytestmark = pytest.mark.filterwarnings("ignore::featuresieve.FeatureSieveWarning")
QUICK = {"n_epochs": 3, "n_members": 10}


@pytest.fixture
def memmap(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 5)).astype(np.float32)
    X.tofile(tmp_path / "X")
    mapped = np.memmap(tmp_path / "X", np.float32, "r", shape=X.shape)
    return mapped, X, X[:, 1] > 0


def test_an_array_on_disk_that_fits_is_read_as_it_is(memmap):
    mapped, X, y = memmap
    expected = quick(**QUICK).fit(X, y)
    for source in (mapped, Stream(mapped)):
        found = quick(**QUICK).fit(source, y)
        np.testing.assert_array_equal(found.logits_, expected.logits_)
        assert found.notes_ == expected.notes_


def test_a_sample_of_an_array_on_disk_is_that_of_the_same_stream(memmap):
    mapped, X, y = memmap
    stream = Stream(mapped, memory="2 MB")
    weights = np.arange(3000) % 4
    found = quick(**QUICK).fit(stream, y, sample_weight=weights)
    assert found.notes_[-1]["code"] == "sample"
    # All of Arrow, too, is kept by the places of the rows and their classes.
    names = [f"x{j}" for j in range(5)]
    rows = pa.table([*X.T, y, weights], names=[*names, "y", "weight"])
    n_rows = 2_000_000 // array_row_cost(X)
    stream = Stream(rows.to_batches(100), memory=n_rows * row_cost(rows.schema, 32))
    other = quick(**QUICK).fit(stream, "y", sample_weight="weight")
    assert other.notes_[-1]["text"] == found.notes_[-1]["text"]
    np.testing.assert_array_equal(found.logits_, other.logits_)


def test_predictions_and_columns_of_an_array_come_in_blocks(memmap):
    mapped, X, y = memmap
    selector = quick(**QUICK).fit(X, y)
    blocks = list(selector.transform(Stream(mapped)))
    np.testing.assert_array_equal(np.concatenate(blocks), selector.transform(X))
    np.testing.assert_array_equal(selector.predict(Stream(mapped)), selector.predict(X))
