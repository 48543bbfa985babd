"""The sample of a stream: uniform, class by class, the same however rows come."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from featuresieve.errors import TableFileError
from featuresieve.files.stream._row_choice import affordable_rows, row_hashes
from featuresieve.files.stream._row_sample import RowSample


def table(n_rows, shares=(0.7, 0.28, 0.02), seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.choice(["common", "usual", "rare"], n_rows, p=shares)
    return pa.table({"place": np.arange(n_rows), "label": labels})


def sampled(rows, n_kept, *, seed=0, cuts=(), label="label", most_rows=None):
    """Return the sample of a table that comes in batches that end at the cuts."""
    sample = new_sample(n_kept, seed=seed, label=label, most_rows=most_rows)
    for start, end in pairwise([0, *sorted(cuts), rows.num_rows]):
        for batch in rows.slice(start, end - start).combine_chunks().to_batches():
            sample.add(batch, start)
    return sample.take()


def new_sample(n_kept, *, seed=0, label="label", most_rows=None):
    return RowSample(
        seed=seed, budget=n_kept, row_cost=1, class_column=label, most_rows=most_rows
    )


def splitmix(seed, row):
    """Return the hash of a row in plain integers."""

    def mixed(bits):
        bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) % 2**64
        return bits ^ (bits >> 31)

    return mixed((row * 0x9E3779B97F4A7C15 + mixed(seed)) % 2**64)


def brute_force(labels, n_kept, seed=0):
    """Return the rows of the largest number a class for which all fit."""
    places = {}
    for row in sorted(range(len(labels)), key=lambda row: splitmix(seed, row)):
        places.setdefault(labels[row], []).append(row)
    if len(labels) <= n_kept:
        return list(range(len(labels)))
    level = max(
        n
        for n in range(n_kept + 1)
        if sum(min(n, len(own)) for own in places.values()) <= n_kept
    )
    return sorted(row for own in places.values() for row in own[:level])


def test_hashes_are_those_of_plain_integers_and_differ():
    rows = np.array([0, 1, 2, 2**40, 2**62])
    found = [splitmix(7, row) for row in rows.tolist()]
    assert row_hashes(7, rows).tolist() == found
    many = row_hashes(0, np.arange(100_000))
    assert len(np.unique(many)) == 100_000


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=60),
    st.integers(3, 70),
    st.lists(st.integers(0, 60), max_size=6),
    st.integers(0, 2**31),
)
def test_sample_is_that_of_brute_force_however_rows_come(labels, n_kept, cuts, seed):
    rows = pa.table({"place": np.arange(len(labels)), "label": labels})
    cuts = [min(cut, len(labels)) for cut in cuts]
    found = sampled(rows, n_kept, seed=seed, cuts=cuts)
    assert found.rows.tolist() == brute_force(labels, n_kept, seed)
    assert found.table.column("place").to_pylist() == found.rows.tolist()
    assert found.n_rows == len(labels)


def test_what_fits_is_whole_and_in_order_without_weights():
    rows = table(500)
    found = sampled(rows, 500, cuts=(3, 100, 101))
    assert found.is_whole
    assert found.weights is None
    assert found.table.equals(rows)


def test_rare_classes_are_kept_whole_and_weights_restore_the_shares():
    rows = table(20_000)
    labels = rows.column("label").to_numpy(zero_copy_only=False)
    found = sampled(rows, 3000, cuts=range(0, 20_000, 700))
    own = found.table.column("label").to_numpy(zero_copy_only=False)
    assert (own == "rare").sum() == (labels == "rare").sum()
    assert (own == "common").sum() == (own == "usual").sum()
    for label in ("common", "usual", "rare"):
        share = found.weights[own == label].sum() / found.weights.sum()
        assert share == pytest.approx((labels == label).mean())
    assert found.weights.mean() == pytest.approx(1)


def test_every_row_of_a_class_is_as_likely_as_the_others():
    rows = pa.table({"place": np.arange(400)})
    counts = np.zeros(400)
    for seed in range(500):
        counts[sampled(rows, 100, seed=seed, label=None, cuts=(150,)).rows] += 1
    assert counts.sum() == 500 * 100
    # Without replacement the variance is that of 500 draws at a quarter, 93.75.
    statistic = ((counts - 125) ** 2).sum() / (500 * 0.25 * 0.75)
    assert 1e-4 < stats.chi2.sf(statistic * 399 / 400, 399) < 1 - 1e-4


def test_places_of_a_sample_are_spread_evenly():
    found = sampled(table(200_000), 5000, label=None, cuts=range(0, 200_000, 9999))
    assert stats.kstest(found.rows / 200_000, "uniform").pvalue > 0.001


def test_parts_of_a_stream_merge_to_the_sample_of_the_whole():
    rows = table(9000)
    whole = sampled(rows, 700)
    parts = []
    for start in (6000, 0, 3000):
        part = new_sample(700)
        for batch in rows.slice(start, 3000).to_batches(max_chunksize=1000):
            part.add(batch, start)
            start += batch.num_rows
        parts.append(part)
    parts[0].merge(parts[1])
    parts[2].merge(parts[0])
    merged = parts[2].take()
    assert merged.table.equals(whole.table)
    assert merged.weights.tolist() == whole.weights.tolist()
    assert merged.n_rows == 9000


def test_long_text_or_training_leave_room_for_fewer_rows():
    assert len(sampled(table(900), 900, label=None, most_rows=250).rows) == 250
    texts = ["x" * (1000 if row % 2 else 1) for row in range(1000)]
    sample = RowSample(seed=0, budget=50_000, row_cost=10, byte_cost=1)
    for number, batch in enumerate(pa.table({"text": texts}).to_batches(64)):
        sample.add(batch, 64 * number)
    found = sample.take()
    n_bytes = sum(10 + len(text) for text in found.table.column("text").to_pylist())
    assert 48_000 < n_bytes <= 50_000
    assert len(found.rows) == pytest.approx(100, abs=40)


def test_samples_keep_no_more_in_memory_than_twice_the_budget():
    sample = new_sample(1000)
    rows = table(50_000)
    most = 0
    for start in range(0, 50_000, 100):
        (batch,) = rows.slice(start, 100).combine_chunks().to_batches()
        sample.add(batch, start)
        most = max(most, sum(batch.num_rows for batch, _ in sample._parts))
    assert 1000 < most <= 2000


def test_too_many_classes_or_too_little_for_a_row_of_each_are_refused():
    rows = pa.table({"label": np.arange(5000)})
    with pytest.raises(TableFileError, match="more than 1000 different values"):
        sampled(rows, 100)
    with pytest.raises(TableFileError, match="hold no row of each class"):
        sampled(table(100), 2)


def test_no_class_is_let_go_for_others():
    codes = np.array([0] * 50 + [1] * 3)
    hashes = np.arange(53, dtype=np.uint64)
    is_kept = affordable_rows(hashes, codes, np.ones(53), 10)
    assert is_kept[:50].sum() == 7
    assert is_kept[50:].all()
