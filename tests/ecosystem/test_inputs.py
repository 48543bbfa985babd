"""Tables of other libraries: read as what they are, or refused with what to pass."""

import duckdb
import numpy as np
import pandas as pd
import pytest
import xarray

from featuresieve import AutoNFSClassifier, Training
from made_tables import class_table

NAMES = [f"f{j}" for j in range(8)]


def quick():
    return AutoNFSClassifier(training=Training(n_epochs=20), random_state=0)


def labelled(X):
    return xarray.DataArray(X, dims=["row", "column"], coords={"column": NAMES})


def test_an_array_of_xarray_is_read_as_the_array_it_is():
    X, y = class_table()
    plain, selector = quick().fit(X, y), quick().fit(labelled(X), y)
    np.testing.assert_array_equal(selector.support_, plain.support_)
    np.testing.assert_array_equal(selector.predict(labelled(X)), plain.predict(X))
    kept = selector.transform(labelled(X))
    assert isinstance(kept, xarray.DataArray)
    assert kept.equals(labelled(X)[:, selector.support_])
    restored = selector.inverse_transform(kept)
    np.testing.assert_array_equal(restored, np.where(plain.support_, X, 0))


def test_an_array_of_xarray_with_three_dimensions_is_refused():
    X, y = class_table()
    with pytest.raises(ValueError, match="dim 3"):
        quick().fit(xarray.DataArray(X[:, :, None]), y)


def test_a_dataset_of_xarray_is_refused_and_its_frame_is_read():
    X, y = class_table()
    dataset = labelled(X).to_dataset("column")
    with pytest.raises(TypeError, match=r"pass X\.to_dataframe\(\)"):
        quick().fit(dataset, y)
    found = quick().fit(dataset.to_dataframe(), y)
    np.testing.assert_array_equal(found.support_, quick().fit(X, y).support_)


def relation_and_frame():
    X, y = class_table()
    frame = pd.DataFrame(X, columns=NAMES).assign(answer=y)
    return duckdb.from_df(frame), frame


def test_a_relation_of_duckdb_is_a_stream_and_gives_the_answer_of_its_frames():
    relation, _ = relation_and_frame()
    found = quick().fit(relation, "answer")
    assert found.feature_names_in_.tolist() == NAMES
    for frame in (relation.df(), relation.pl()):
        selector = quick().fit(frame[NAMES], frame["answer"])
        np.testing.assert_array_equal(found.logits_, selector.logits_)


def test_a_relation_of_duckdb_is_transformed_and_predicted_batch_by_batch():
    relation, frame = relation_and_frame()
    selector = quick().fit(relation, "answer")
    kept = selector.get_feature_names_out()
    assert selector.transform(relation).read_all() == (
        relation.select(*kept).to_arrow_table()
    )
    expected = selector.predict(frame[NAMES])
    np.testing.assert_array_equal(selector.predict(relation), expected)


def test_a_relation_of_duckdb_needs_the_name_of_its_target():
    relation, frame = relation_and_frame()
    with pytest.raises(TypeError, match="y must be the name of a column where X is a"):
        quick().fit(relation, frame["answer"])


def test_table_of_duckdb_goes_in_as_arrow_and_names_the_columns_of_a_query():
    X, y = class_table()
    frame = pd.DataFrame(X, columns=NAMES).assign(answer=y)
    relation = duckdb.from_df(frame)
    found = quick().fit(relation.arrow(), "answer")
    table = relation.to_arrow_table()
    selector = quick().fit(table.drop_columns("answer"), table["answer"])
    np.testing.assert_array_equal(selector.logits_, found.logits_)
    kept = relation.select(*selector.get_feature_names_out())
    assert selector.transform(table.drop_columns("answer")).equals(
        kept.to_arrow_table()
    )
