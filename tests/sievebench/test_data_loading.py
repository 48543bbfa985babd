from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from made_dataset import catalog_row
from sklearn.datasets import load_diabetes

from sievebench.data import (
    CorruptDataError,
    MissingDataError,
    RawTable,
    catalog,
    file_md5,
    find_entry,
    load,
    loading,
    write_table,
)
from sievebench.report.paper import paper_cohorts

# Protocol, table 1.1: rows, columns, classes, scaler.
PROTOCOL = {
    "aloi": (108_000, 128, 1000, "standard"),
    "california": (20_640, 8, 0, "quantile"),
    "eye": (10_936, 26, 3, "standard"),
    "gesture": (9_873, 32, 5, "quantile"),
    "helena": (65_196, 27, 100, "standard"),
    "higgs": (98_050, 28, 2, "quantile"),
    "house": (22_784, 16, 0, "quantile"),
    "jannis": (83_733, 54, 4, "quantile"),
    "microsoft": (1_200_192, 136, 0, "quantile"),
    "otto": (61_878, 93, 9, "quantile"),
    "year": (515_345, 90, 0, "quantile"),
}
NAMES = tuple(f"x{number}" for number in range(136))


def test_catalogue_holds_the_eleven_tables_of_the_protocol():
    found = {
        name: (row.n_rows, row.n_columns, row.n_classes, row.scaler)
        for name, row in catalog().items()
        if row.group == "tabular"
    }
    assert found == PROTOCOL


def test_catalogue_holds_all_cohorts_of_the_paper_and_its_source():
    cohorts = {name for name, row in catalog().items() if row.group == "metagenomics"}
    printed, withdrawn = paper_cohorts(), paper_cohorts(is_withdrawn=True)
    assert cohorts == {*printed.index, *withdrawn.index}
    assert len(cohorts) == 24
    widths = sorted(row.n_columns for row in catalog().values() if row.name in cohorts)
    # The source prints the widths of the 24 in reverse order, so as a set they fit.
    assert set(withdrawn["n_features"]) <= set(widths)


ROW = catalog_row(
    "toy",
    **{"task": "regression", "metric": "negative_rmse", "n_classes": 0},
    **{"n_rows": 4, "n_columns": 1},
)


def test_data_folder_may_have_a_catalogue_of_its_own(tmp_path, monkeypatch, refused):
    monkeypatch.setenv("FEATURESIEVE_DATA", str(tmp_path))
    assert "toy" not in catalog()
    (tmp_path / "catalog.toml").write_text(ROW)
    X, y = np.arange(4.0)[:, None], np.arange(4.0)
    write_table(RawTable(X, y, ("a",)), tmp_path / "toy.parquet")
    assert load("toy").column_names == ("a",)
    assert "eye" in catalog()
    (tmp_path / "catalog.toml").write_text(ROW.replace("toy", "eye"))
    assert "the name 'eye' is taken" in refused("data", "list")


def test_bundled_data_is_scikit_learns():
    dataset = load("diabetes")
    X, y = load_diabetes(return_X_y=True)
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.y, y)
    assert dataset.is_original.all()


@pytest.fixture
def small_higgs(tmp_path, monkeypatch):
    """Return a function that puts a small whole set or sample into a data folder."""
    row = find_entry("higgs")

    def put(is_sample, n_rows, md5=None):
        X = np.random.default_rng(0).normal(size=(n_rows, 28))
        path = tmp_path / (row.sample.file if is_sample else row.file)
        write_table(RawTable(X, np.arange(n_rows) % 2, NAMES[:28]), path)
        sample = replace(row.sample, rows=n_rows, md5=md5 or file_md5(path))
        changed = {} if is_sample else {"n_rows": n_rows}
        entry = replace(row, sample=sample, **changed)
        monkeypatch.setattr(loading, "find_entry", lambda _: entry)
        return X

    return put


def test_whole_data_set_is_preferred_to_a_sample_and_damage_refused(
    small_higgs, tmp_path
):
    where = {"folder": tmp_path, "cache": tmp_path / "cache"}
    X = small_higgs(is_sample=True, n_rows=40)
    sample = load("higgs", **where)
    assert sample.is_sample
    np.testing.assert_array_equal(sample.X, X)
    small_higgs(is_sample=True, n_rows=40, md5="0" * 32)
    with pytest.raises(CorruptDataError, match="was expected"):
        load("higgs", **where)
    small_higgs(is_sample=False, n_rows=60)
    whole = load("higgs", **where)
    assert not whole.is_sample
    assert whole.n_rows == 60


def test_what_cannot_be_downloaded_says_where_to_get_it(tmp_path):
    with pytest.raises(MissingDataError, match=r"kaggle.*put it as tabular/otto"):
        load("otto", folder=tmp_path, cache=tmp_path / "cache")


def test_rows_are_drawn_once_and_for_all(monkeypatch, tmp_path):
    row = find_entry("microsoft")
    X = np.arange(50 * 136, dtype=float).reshape(50, 136)
    entry = replace(row, n_rows=50, subsample_rows=20, md5="")
    write_table(RawTable(X, X[:, 0], NAMES), tmp_path / row.file)
    monkeypatch.setattr(loading, "find_entry", lambda _: entry)
    first, second = (load("microsoft", folder=tmp_path) for _ in range(2))
    np.testing.assert_array_equal(first.X, second.X)
    assert len(np.unique(first.y)) == 20
    np.testing.assert_array_equal(first.X[:, 0], first.y)


@pytest.mark.data
@pytest.mark.parametrize(
    "name", [name for name, row in catalog().items() if row.md5 or row.sample]
)
def test_file_at_hand_is_that_of_the_catalogue(data_folder, tmp_path, name):
    row = find_entry(name)
    dataset = load(name, folder=data_folder, cache=tmp_path)
    assert dataset.n_columns == row.n_columns
    assert dataset.is_sample == (not row.md5)
    assert dataset.n_rows == (row.sample.rows if dataset.is_sample else row.n_rows)


def test_categories_are_read_as_places_of_their_sorted_values(tmp_path, monkeypatch):
    letters = pd.Categorical(["b", "a", None, "c"] * 10, categories=["c", "b", "a"])
    table = pd.DataFrame({"x": letters, "z": 1.5, "target": [0, 1] * 20})
    table.to_parquet(tmp_path / "toy.parquet")
    row = catalog_row("toy", n_columns=2, n_classes=2)
    (tmp_path / "catalog.toml").write_text(row)
    monkeypatch.setenv("FEATURESIEVE_DATA", str(tmp_path))
    expected = [[1, 1.5], [0, 1.5], [np.nan, 1.5], [2, 1.5]] * 10
    np.testing.assert_array_equal(load("toy").X, expected)
