import copy
from functools import partial

import numpy as np
import pytest

from encoded_tables import fitted, mixed_frame, sparse_table, through_json
from featuresieve.storage._encoder_state import encoder_from_state, encoder_state
from sealed_files import on, put

NAN = float("nan")


def drop(*path):
    def spoil(header, arrays):
        *steps, last = path
        place = {"header": header, "arrays": arrays}
        for step in steps:
            place = place[step]
        del place[last]

    return spoil


to = partial(put, "header")
FIRST = ("features", 0)
HOSTILE = {
    "version": to("version", value=2),
    "true version": to("version", value=True),
    "no version": drop("header", "version"),
    "features in": to("n_features_in", value=1),
    "negative": to("n_features_in", value=-1),
    "text for a count": to("n_features_in", value="9"),
    "flag": to("is_sparse", value=0),
    "sparse without arrays": to("is_sparse", value=True),
    "features no list": to("features", value={"a": 1}),
    "kinds no list": to("kinds", value="number"),
    "too few kinds": to("kinds", value=["number"]),
    "unknown kinds": to("kinds", value=["colour"] * 9),
    "no text for a kind": to("kinds", value=[["number"]] * 9),
    "another kind": to("kinds", 0, value="date"),
    "feature no object": to(*FIRST, value=3),
    "feature beyond": to(*FIRST, "feature", value=9),
    "feature below": to(*FIRST, "feature", value=-1),
    "feature true": to(*FIRST, "feature", value=True),
    "name": to(*FIRST, "name", value=["number"]),
    "kind": to(*FIRST, "kind", value="pickle"),
    "kind no text": to(*FIRST, "kind", value=[]),
    "kind of another": to(*FIRST, "kind", value="category"),
    "parts": to(*FIRST, "parts", value=["timestamp"]),
    "parts no list": to(*FIRST, "parts", value="value"),
    "parts unhashable": to(*FIRST, "parts", value=[["value"]]),
    "date parts": to("features", 5, "parts", value=["month"]),
    "repeated parts": to("features", 5, "parts", value=["timestamp"] * 2),
    "empty with parts": to("features", 8, "parts", value=["value"]),
    "has missing": to(*FIRST, "has_missing", value=True),
    "missing no flag": to(*FIRST, "has_missing", value=None),
    "levels": to("features", 2, "levels", value="xyz"),
    "levels nested": to("features", 2, "levels", value=[[1], "y", "z"]),
    "levels NaN": to("features", 2, "levels", value=[NAN, "y", "z"]),
    "levels equal": to("features", 2, "levels", value=["y", "y", "z"]),
    "no states": to("features", 2, "levels", value=[]),
    "one level too few": to("features", 2, "levels", value=["x", "y"]),
    "no features": to("features", value=[]),
    "NaN": on("means", lambda a: a * NAN),
    "infinite": on("knots", lambda a: a + np.inf),
    "zero spreads": on("spreads", lambda a: a * 0),
    "negative spreads": on("spreads", lambda a: -a),
    "falling knots": on("knots", lambda a: a[::-1].copy()),
    "falling scores": on("scores", lambda a: -a),
    "shares": on("shares", lambda a: a + 2),
    "short": on("knots", lambda a: a[:-1]),
    "long": on("knots", lambda a: np.append(a, 1e9)),
    "float32": on("means", lambda a: a.astype(np.float32)),
    "objects": on("means", lambda a: a.astype(object)),
    "two dimensions": on("means", lambda a: a[:, None]),
    "negative sizes": on("n_knots", lambda a: -a),
    "huge sizes": on("n_knots", lambda a: a + 2**62),
    "list for an array": on("means", lambda a: a.tolist()),
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


@pytest.mark.parametrize("nothing", [None, [], "x", 3])
def test_what_is_no_state_at_all_is_refused(nothing):
    state = encoder_state(fitted(np.eye(2)))
    for parts in ((nothing, state[1]), (state[0], nothing)):
        with pytest.raises(ValueError, match="not the state of an encoder"):
            encoder_from_state(*parts)


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
    # There are none of numbers alone, and in files of an early version.
    description, arrays = encoder_state(fitted(np.eye(3)))
    assert "kinds" not in description
    description, arrays = encoder_state(fitted(mixed_frame()))
    del description["kinds"]
    assert encoder_from_state(description, arrays).kinds == ()
