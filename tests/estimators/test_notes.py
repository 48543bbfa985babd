"""What the selector says of its answer: notes, and warnings where it is doubtful."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

import featuresieve
from featuresieve import AutoNFSRegressor, DoubtfulSelectionWarning
from quick_selectors import quick


def codes(selector):
    return [note["code"] for note in selector.notes_]


def told(selector, code):
    return next(note for note in selector.notes_ if note["code"] == code)


def three_columns(n_rows=200):
    """Return rows of which the first three columns, alike, make the value."""
    X = np.random.default_rng(0).standard_normal((n_rows, 6))
    return X, X[:, :3].sum(axis=1)


@pytest.mark.parametrize(("error", "is_leak"), [(0.1, True), (1.0, False)])
def test_column_that_holds_the_target_is_a_suspect(error, is_leak, recwarn):
    X, y = three_columns()
    X[:, 5] = y + error * np.random.default_rng(1).standard_normal(len(y))
    selector = AutoNFSRegressor(random_state=0).fit(X, y)
    assert ("leak" in codes(selector)) == is_leak
    assert [w.category for w in recwarn] == [DoubtfulSelectionWarning] * is_leak
    if is_leak:
        assert told(selector, "leak")["columns"] == ["x5"]
        assert codes(selector)[0] == "leak"


def test_too_few_columns_are_told_from_all_of_them():
    X, y = three_columns()
    with pytest.warns(DoubtfulSelectionWarning, match="clearly worse than all"):
        AutoNFSRegressor(feature_costs={1: 50, 2: 50}, random_state=0).fit(X, y)
    wanted = AutoNFSRegressor(max_features=2, random_state=0).fit(X, y)
    assert told(wanted, "worse_than_all")["warning"] is None
    assert "worse_than_all" not in codes(AutoNFSRegressor(random_state=0).fit(X, y))


@pytest.mark.filterwarnings("ignore::featuresieve.DoubtfulSelectionWarning")
def test_parts_that_elect_different_columns_are_told():
    rng = np.random.default_rng(0)
    one = rng.standard_normal(300)
    copies = one[:, None] + 0.7 * rng.standard_normal((300, 40))
    y = one + 0.3 * rng.standard_normal(300) > 0
    selector = quick(n_members=20, n_epochs=None).fit(copies, y)
    assert "n_members" in told(selector, "disagreement")["text"]
    X, y = three_columns()
    assert "disagreement" not in codes(AutoNFSRegressor(random_state=0).fit(X, y))


def test_close_calls_are_a_standard_error_from_the_bar():
    X, y = three_columns(150)
    y = y + 0.25 * X[:, 3] + np.random.default_rng(1).standard_normal(150)
    selector = AutoNFSRegressor(random_state=0).fit(X, y)
    # A tenth of a hundred members, plus or minus the root of 100 * 0.1 * 0.9.
    votes = np.round(100 * selector.selection_frequency_)
    close = {f"x{j}" for j in np.flatnonzero((votes >= 7) & (votes <= 12))}
    notes = [note for note in selector.notes_ if note["code"] == "close_call"]
    assert {name for note in notes for name in note["columns"]} == close


def rows_with_names(n_rows=60):
    rng = np.random.default_rng(0)
    words = rng.choice(["red", "big", "old", "new", "low"], (n_rows, 6))
    frame = {
        "number": np.arange(100, 100 + n_rows),
        "shuffled": rng.permutation(n_rows),
        "name": [f"row {row}" for row in range(n_rows)],
        "text": [" ".join(row) for row in words],
        "price": rng.integers(0, 10**6, n_rows),
        "size": np.sort(rng.standard_normal(n_rows)),
        "colour": words[:, 0],
    }
    return pd.DataFrame(frame), rng.integers(0, 2, n_rows)


@pytest.mark.filterwarnings("ignore::featuresieve.SelectionCollapseWarning")
def test_names_of_rows_and_free_text_are_told():
    selector = quick(balance="price").fit(*rows_with_names())
    assert told(selector, "identifier")["columns"] == ["number", "shuffled", "name"]
    assert told(selector, "free_text")["columns"] == ["text"]
    left_out = {"never_keep": ["number", "shuffled", "name", "text"]}
    again = quick(balance="price", **left_out).fit(*rows_with_names())
    assert set(codes(again)) <= {"collapsed"}


@pytest.mark.filterwarnings("ignore::featuresieve.SelectionCollapseWarning")
def test_numbers_as_text_are_told():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((200, 2)).round(3)
    counts = rng.integers(0, 100, 200)
    frame = pd.DataFrame({"height": values[:, 0].astype(str), "w": values[:, 1]})
    frame["count"] = counts.astype(str)
    frame["few"] = (counts % 9).astype(str)  # as levels, nothing is lost
    frame["zip"] = [f"{count:05d}" for count in counts]
    frame["code"] = pd.Categorical(counts)
    frame["name"] = [f"{count} m" for count in counts]
    frame.loc[3, "height"] = None
    y = (values[:, 0] > 0).astype(int)
    note = told(quick(balance="price").fit(frame, y), "numbers_as_text")
    assert note["columns"] == ["height", "count"]
    assert "pandas.to_numeric" in note["text"]
    left_out = quick(balance="price", never_keep=["height", "count"]).fit(frame, y)
    assert "numbers_as_text" not in codes(left_out)


@pytest.mark.filterwarnings("ignore::featuresieve.UninformativeTargetWarning")
def test_notes_go_with_the_selector(tmp_path):
    X, y = rows_with_names()
    selector = quick().fit(X, y)
    assert codes(selector)[0] == "uninformative"
    selector.save(tmp_path / "selector")
    for again in (
        featuresieve.load(tmp_path / "selector"),
        pickle.loads(pickle.dumps(selector)),
    ):
        assert again.notes_ == selector.notes_
    assert json.loads(selector.to_json())["notes"] == selector.notes_
    assert selector.with_tolerance(0.1).notes_ == selector.notes_
    assert {"identifier", "free_text"} <= {*codes(selector.with_size(2))}
