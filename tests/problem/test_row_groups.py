import numpy as np
import pandas as pd
import pytest

from featuresieve import AutoNFSClassifier, UninformativeTargetWarning
from featuresieve.problem import row_group_codes
from made_tables import class_table
from quick_selectors import quick


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["b", "a", "b"], None),
        ((7, 3, 7), None),
        (np.array([1.5, 2.5, 1.5]), None),
        (pd.Series(["x", "y", "x"], index=[5, 6, 7], dtype="category"), None),
        ([("a", 1), ("a", 2), ("a", 1)], None),
        ([1, 2], "one label for each of the 3 rows of X, got 2"),
        ([1, None, 2], "missing"),
        ([1.0, np.nan, 2.0], "missing"),
        (pd.array([1, pd.NA, 2]), "missing"),
        (np.zeros((3, 1)), "one-dimensional"),
        (pd.DataFrame({"g": [1, 2, 1]}), "one-dimensional"),
        ([1, 1, 1], "at least 2 different labels"),
    ],
)
def test_labels_of_any_kind_become_numbers_or_are_refused_in_words(groups, message):
    if message is None:
        assert row_group_codes(groups, 3).tolist() == [0, 1, 0]
        assert row_group_codes(None, 3) is None
        return
    with pytest.raises(ValueError, match=f"groups must .*{message}"):
        row_group_codes(groups, 3)


def test_name_of_a_column_is_no_labels():
    message = "a label for each row; the name of a column is for streams, got 'sick'"
    with pytest.raises(TypeError, match=message):
        row_group_codes("sick", 4)


def near_copies(seed):
    """Return noise: 40 samples, each measured five times, and a target of chance."""
    rng = np.random.default_rng(seed)
    samples = np.repeat(rng.standard_normal((40, 12)), 5, axis=0)
    X = samples + 0.01 * rng.standard_normal(samples.shape)
    return X, np.repeat(rng.permutation(np.arange(40) % 2), 5), np.repeat(range(40), 5)


@pytest.mark.parametrize("seed", range(2))
def test_near_copies_do_not_make_noise_a_signal_if_they_are_a_group(seed):
    X, y, groups = near_copies(seed)
    selector = AutoNFSClassifier(random_state=seed)
    with pytest.warns(UninformativeTargetWarning):
        selector.fit(X, y, groups=groups)
    assert selector.n_features_ == 1


def test_without_their_groups_near_copies_seem_to_be_a_signal(recwarn):
    X, y, _ = near_copies(0)
    assert AutoNFSClassifier(random_state=0).fit(X, y).n_features_ > 1
    assert UninformativeTargetWarning not in {w.category for w in recwarn}


def test_order_of_rows_and_names_of_groups_do_not_matter():
    X, y = class_table()
    groups = np.arange(len(y)) // 3
    order = np.random.default_rng(0).permutation(len(y))
    one = quick().fit(X, y, groups=groups)
    other = quick().fit(X[order], y[order], groups=[f"g{g}" for g in groups[order]])
    np.testing.assert_allclose(other.logits_, one.logits_, rtol=1e-5, atol=1e-5)
