"""A fitted encoding is read back only from what one wrote."""

import copy

import numpy as np
import pytest

from encoded_tables import (
    fitted,
    mixed_frame,
    sparse_table,
    through_json,
)
from featuresieve.storage._encoder_state import encoder_from_state, encoder_state

NAN = float("nan")


def put(*path, value):
    """Return a function that sets one entry of a state."""

    def spoil(description, arrays):
        place = {"description": description, "arrays": arrays}
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return spoil


def drop(*path):
    def spoil(description, arrays):
        place = {"description": description, "arrays": arrays}
        for step in path[:-1]:
            place = place[step]
        del place[path[-1]]

    return spoil


def change(name, function):
    def spoil(_, arrays):
        arrays[name] = function(arrays[name])

    return spoil


FIRST = ("description", "features", 0)
HOSTILE = {
    "version": put("description", "version", value=2),
    "true version": put("description", "version", value=True),
    "no version": drop("description", "version"),
    "features in": put("description", "n_features_in", value=1),
    "negative": put("description", "n_features_in", value=-1),
    "text for a count": put("description", "n_features_in", value="9"),
    "flag": put("description", "is_sparse", value=0),
    "sparse without arrays": put("description", "is_sparse", value=True),
    "features no list": put("description", "features", value={"a": 1}),
    "kinds no list": put("description", "kinds", value="number"),
    "too few kinds": put("description", "kinds", value=["number"]),
    "unknown kinds": put("description", "kinds", value=["colour"] * 9),
    "no text for a kind": put("description", "kinds", value=[["number"]] * 9),
    "another kind": put("description", "kinds", 0, value="date"),
    "feature no object": put(*FIRST, value=3),
    "feature beyond": put(*FIRST, "feature", value=9),
    "feature below": put(*FIRST, "feature", value=-1),
    "feature true": put(*FIRST, "feature", value=True),
    "name": put(*FIRST, "name", value=["number"]),
    "kind": put(*FIRST, "kind", value="pickle"),
    "kind no text": put(*FIRST, "kind", value=[]),
    "kind of another": put(*FIRST, "kind", value="category"),
    "parts": put(*FIRST, "parts", value=["timestamp"]),
    "parts no list": put(*FIRST, "parts", value="value"),
    "parts unhashable": put(*FIRST, "parts", value=[["value"]]),
    "date parts": put("description", "features", 5, "parts", value=["month"]),
    "repeated parts": put(
        *("description", "features", 5, "parts"), value=["timestamp", "timestamp"]
    ),
    "empty with parts": put("description", "features", 8, "parts", value=["value"]),
    "has missing": put(*FIRST, "has_missing", value=True),
    "missing no flag": put(*FIRST, "has_missing", value=None),
    "levels": put("description", "features", 2, "levels", value="xyz"),
    "levels nested": put("description", "features", 2, "levels", value=[[1], "y", "z"]),
    "levels NaN": put("description", "features", 2, "levels", value=[NAN, "y", "z"]),
    "levels equal": put("description", "features", 2, "levels", value=["y", "y", "z"]),
    "no states": put("description", "features", 2, "levels", value=[]),
    "one level too few": put("description", "features", 2, "levels", value=["x", "y"]),
    "no features": put("description", "features", value=[]),
    "NaN": change("means", lambda a: a * NAN),
    "infinite": change("knots", lambda a: a + np.inf),
    "zero spreads": change("spreads", lambda a: a * 0),
    "negative spreads": change("spreads", lambda a: -a),
    "falling knots": change("knots", lambda a: a[::-1].copy()),
    "falling scores": change("scores", lambda a: -a),
    "shares": change("shares", lambda a: a + 2),
    "short": change("knots", lambda a: a[:-1]),
    "long": change("knots", lambda a: np.append(a, 1e9)),
    "float32": change("means", lambda a: a.astype(np.float32)),
    "objects": change("means", lambda a: a.astype(object)),
    "two dimensions": change("means", lambda a: a[:, None]),
    "negative sizes": change("n_knots", lambda a: -a),
    "huge sizes": change("n_knots", lambda a: a + 2**62),
    "list for an array": change("means", lambda a: a.tolist()),
    "no array": drop("arrays", "shares"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_state_is_refused(case):
    description, arrays = copy.deepcopy(
        encoder_state(fitted(mixed_frame(), "normal_scores"))
    )
    HOSTILE[case](description, arrays)
    with pytest.raises(ValueError, match="not the state of an encoder"):
        encoder_from_state(description, arrays)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sparse_features", np.array([0, 1, 2, 3, 4, 6])),
        ("sparse_features", np.array([-1, 1, 2, 3, 4, 5])),
        ("sparse_features", np.array([0, 1])),
        ("sparse_spreads", np.zeros(6)),
        ("sparse_spreads", np.full(6, NAN)),
    ],
)
def test_a_hostile_sparse_state_is_refused(name, value):
    description, arrays = encoder_state(fitted(sparse_table()))
    with pytest.raises(ValueError, match="not the state of an encoder"):
        encoder_from_state(description, arrays | {name: value})


def test_the_kinds_of_all_columns_survive_take_and_state():
    taken = fitted(mixed_frame()).take(np.array([2]))
    numeric = ["number", "number", "category", "category", "boolean", "date"]
    expected = (*numeric, "category", "number", "empty")
    assert taken.kinds == through_json(taken).kinds == expected


def test_a_state_without_kinds_is_that_of_numbers_or_of_an_early_version():
    description, arrays = encoder_state(fitted(np.eye(3)))
    assert "kinds" not in description
    description, arrays = encoder_state(fitted(mixed_frame()))
    del description["kinds"]
    assert encoder_from_state(description, arrays).kinds == ()


@pytest.mark.parametrize("nothing", [None, [], "x", 3])
def test_what_is_no_state_at_all_is_refused(nothing):
    description, arrays = encoder_state(fitted(np.eye(2)))
    with pytest.raises(ValueError, match="not the state of an encoder"):
        encoder_from_state(nothing, arrays)
    with pytest.raises(ValueError, match="not the state of an encoder"):
        encoder_from_state(description, nothing)
