import re
from dataclasses import replace

import pytest
from made_dataset import catalog_row

from sievebench.data import (
    SOURCE_KEYS,
    SOURCES,
    CatalogError,
    bundled_table,
    find_entry,
    read_catalog,
)

ROW = catalog_row("toy")


def refusal(tmp_path, text):
    """Return what is said of a catalogue, less its path."""
    path = tmp_path / "catalog.toml"
    path.write_text(text)
    with pytest.raises(CatalogError) as caught:
        read_catalog(path)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{path}, row ")


def test_row_without_a_mistake_is_read(tmp_path):
    (tmp_path / "catalog.toml").write_text(ROW + "relevant = [0, 2]\n")
    row = read_catalog(tmp_path / "catalog.toml")["toy"]
    assert (row.n_rows, row.relevant, row.source["kind"]) == (40, (0, 2), "manual")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('colour = "red"', "unknown key 'colour'; there are 'title', 'group', 'task'"),
        ("relevant = ['zz']", "relevant must be a list of indices of columns, from 0"),
        ("relevant = [1, 99]", "relevant must be below n_columns = 3, got 99"),
        (
            "subsample_rows = 'x'",
            "subsample_rows must be an int >= 1 and <= 2147483647, got 'x'",
        ),
        ("md5 = '12'", "md5 must be an md5, 32 digits 0-9 and a-f, got '12'"),
        ("sample = { file = 'a.npz' }", "sample.rows is missing: an int >= 1"),
        ("sample = 7", "sample must be a table of keys, got 7"),
    ],
)
def test_further_line_that_is_not_allowed_is_refused(tmp_path, line, message):
    assert refusal(tmp_path, f"{ROW}{line}\n").startswith(f"'toy': {message}")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("task", '"clustering"', "task must be one of classification, regression"),
        ("metric", '"negative_rmse"', "metric must fit the task classification"),
        ("metric", '"roc_auc"', "metric roc_auc is for 2 classes, got n_classes = 3"),
        ("n_classes", "1", "n_classes must be at least 2 for classification, got 1"),
        ("n_rows", "-4", "n_rows must be an int >= 1 and <= 2147483647, got -4"),
        ("title", "7", "title must be a text, got 7"),
        ("file", '"toy.csv"', "file must be a path that ends in .parquet or .npz"),
        ("source", '"me"', "source must be a table of keys, got 'me'"),
        ("source", "{}", "source.kind is missing: one of bundled, manual, openml"),
        ("source", '{ kind = "manul" }', "source.kind must be one of bundled, manual"),
        ("source", '{ kind = "uci" }', "source.url is missing: a text"),
        ("source", '{ kind = "uci", url = "", why = "" }', "unknown key 'source.why'"),
        ("source", '{ kind = "manual", why = "w" }', "source.url is missing: a text."),
    ],
)
def test_value_that_is_not_allowed_is_refused(tmp_path, key, value, message):
    text = re.sub(f"^{key} = .*$", f"{key} = {value}", ROW, flags=re.MULTILINE)
    assert refusal(tmp_path, text).startswith(f"'toy': {message}")


@pytest.mark.parametrize("key", ["task", "n_classes", "source", "file", "scaler"])
def test_key_that_is_missing_is_named(tmp_path, key):
    text = re.sub(f"^{key} = .*$", "", ROW, flags=re.MULTILINE)
    assert refusal(tmp_path, text).startswith(f"'toy': {key} is missing")


def test_what_is_no_table_of_rows_is_refused(tmp_path):
    message = refusal(tmp_path, f'version = "1"\n{ROW}')
    assert message == "'version': must be a table of keys, got '1'."
    (tmp_path / "catalog.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(CatalogError, match="is no TOML"):
        read_catalog(tmp_path / "catalog.toml")


def test_every_source_that_can_be_read_may_be_named_and_what_is_bundled():
    assert set(SOURCE_KEYS) == {*SOURCES, "bundled"}
    with pytest.raises(CatalogError, match="scikit-learn brings no data set 'beer'"):
        bundled_table(replace(find_entry("wine"), name="beer"))
