"""dask: frames are computed first, partitions go through a fitted selector."""

import dask.array as da
import dask.dataframe as dd
import distributed
import joblib
import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from quick_selectors import quick


@pytest.fixture
def lazy(table):
    return dd.from_pandas(table[0], npartitions=3)


def test_lazy_frame_is_refused_and_its_frame_is_read(lazy, table):
    X, y = table
    with pytest.raises(TypeError, match=r"pass X\.compute\(\)"):
        quick().fit(lazy, y)
    selector = quick().fit(X, y)
    with pytest.raises(TypeError, match=r"pass X\.compute\(\)"):
        selector.transform(lazy)
    found = quick().fit(lazy.compute(), y).support_
    np.testing.assert_array_equal(found, selector.support_)


def test_partitions_go_through_a_fitted_selector(lazy, table):
    X, y = table
    selector = quick().fit(X, y)
    kept = lazy.map_partitions(selector.transform).compute()
    assert kept.equals(selector.transform(X))
    answers = lazy.map_partitions(selector.predict, meta=("answer", int)).compute()
    np.testing.assert_array_equal(answers, selector.predict(X))


def test_array_of_chunks_is_read_whole(table):
    X, y = table
    chunks = da.from_array(X.to_numpy(), chunks=(100, 30))
    found = quick().fit(chunks, y)
    np.testing.assert_array_equal(found.support_, quick().fit(X, y).support_)
    assert isinstance(found.transform(chunks), np.ndarray)


# A table of weak references in joblib's dask backend may lose an entry twice.
@pytest.mark.filterwarnings("ignore:Exception ignored in.*on_destroy")
def test_folds_run_on_the_workers_of_a_cluster(table):
    expected = cross_val_score(quick(), *table, cv=2)
    with (
        distributed.Client(n_workers=2, processes=False, dashboard_address=None),
        joblib.parallel_config("dask"),
    ):
        found = cross_val_score(quick(), *table, cv=2)
    np.testing.assert_array_equal(found, expected)
