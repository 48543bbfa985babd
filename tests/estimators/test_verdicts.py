"""What the table says of each feature: a verdict, an importance, who stands for it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score

from featuresieve import AutoNFSClassifier, AutoNFSRegressor
from quick_selectors import quick


def table_of(selector):
    return selector.feature_table().set_index("name")


def noisy_copies(n_rows=400):
    """Return a frame whose columns are related to the labels in every way there is."""
    rng = np.random.default_rng(0)
    a, b, other = rng.standard_normal((3, n_rows))
    frame = {
        "a": a,
        "b": b,
        "near a": a + 0.7 * rng.standard_normal(n_rows),
        "far from a": 0.25 * a + rng.standard_normal(n_rows),
        "noise": other,
        "left out": a - b,
        "wanted": rng.standard_normal(n_rows),
        "one value": np.ones(n_rows),
        "a again": np.exp(a),
        "b downwards": -b,
        "noise again": other,
    }
    return pd.DataFrame(frame), np.where(2 * a + b > 0, "yes", "no")


@pytest.fixture(scope="module")
def judged():
    X, y = noisy_copies()
    arguments = {"always_keep": ["wanted"], "never_keep": ["left out"]}
    return AutoNFSClassifier(random_state=0, **arguments).fit(X, y)


EXPECTED = {
    "a": ("kept", None),
    "b": ("kept", None),
    "near a": ("redundant", "a"),
    "far from a": ("weak", None),
    "noise": ("no signal", None),
    "left out": ("excluded", None),
    "wanted": ("forced", None),
    "one value": ("constant", None),
    "a again": ("duplicate", "a"),
    "b downwards": ("duplicate", "b"),
    "noise again": ("duplicate", None),
}


def test_every_feature_gets_the_verdict_it_was_made_for_and_kept_ones_importance(
    judged,
):
    table = table_of(judged)
    found = {
        name: (row.verdict, None if pd.isna(row.represented_by) else row.represented_by)
        for name, row in table.iterrows()
    }
    assert found == EXPECTED
    # What a shuffled column costs.
    is_measured = table["importance"].notna()
    assert (is_measured == table["kept"]).all()
    assert (is_measured == table["importance_error"].notna()).all()
    assert table["importance"]["a"] > table["importance"]["b"] > 0.1
    assert abs(table["importance"]["wanted"]) < 0.05
    assert (table["importance_error"].dropna() > 0).all()


def test_importance_of_a_regression_is_in_points_of_r2():
    # Without x0 the best guess is that of x1 alone: shuffled, x0 adds its variance
    # twice, once because it is not known and once because it misleads.
    rng = np.random.default_rng(1)
    X = rng.standard_normal((600, 2))
    y = 3 * X[:, 0] + X[:, 1]
    shuffled = np.c_[rng.permutation(X[:, 0]), X[:, 1]]
    expected = r2_score(y, 3 * X[:, 0] + X[:, 1]) - r2_score(y, shuffled @ [3, 1])
    table = table_of(AutoNFSRegressor(random_state=0).fit(X, y))
    assert table["importance"]["x0"] == pytest.approx(expected, abs=0.2)
    assert table["importance"]["x1"] == pytest.approx(2 * 1 / 10, abs=0.05)


def test_copy_of_half_an_interaction_is_redundant():
    # Neither half says anything alone, so only the likeness can tell.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 8))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    X[:, 7] = X[:, 0] + 0.45 * rng.standard_normal(1000)
    table = table_of(AutoNFSClassifier(random_state=0).fit(X, y).with_size(2))
    assert set(table.index[table["kept"]]) == {"x0", "x1"}
    assert tuple(table.loc["x7", ["verdict", "represented_by"]]) == ("redundant", "x0")
    assert set(table["verdict"].drop(["x0", "x1", "x7"])) == {"no signal"}


# --- equal columns


def copied(**arguments):
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((2, 200))
    b[::9] = np.nan
    frame = pd.DataFrame(
        {"b": b, "a": a, "A": a, "B": b, "c": rng.standard_normal(200)}
    )
    return quick(**arguments).fit(frame, a + np.nan_to_num(b) > 0)


@pytest.mark.parametrize(
    ("arguments", "stays"),
    [
        ({}, {"a", "b"}),
        ({"feature_costs": {"A": 0.5, "b": 2}}, {"A", "B"}),
        ({"always_keep": ["A"], "feature_costs": {"A": 9}}, {"A", "b"}),
        ({"always_keep": ["a", "A"]}, {"a", "A", "b"}),
        ({"never_keep": ["a", "b"]}, {"A", "B"}),
        ({"balance": "price"}, {"a", "b"}),
        ({"scaling": "standard"}, {"a", "b"}),
    ],
)
def test_of_equal_columns_the_forced_the_cheapest_the_first_stays(arguments, stays):
    selector = copied(**arguments)
    table = table_of(selector)
    assert stays <= set(table.index[table["kept"]]) <= stays | {"c"}
    for name in {"a", "A", "b", "B"} - stays - {*arguments.get("never_keep", ())}:
        other = next(one for one in stays if one.lower() == name.lower())
        assert tuple(table.loc[name, ["verdict", "represented_by"]]) == (
            "duplicate",
            other,
        )
        assert table.loc[name, "frequency"] == 0


def test_groups_exact_counts_and_the_other_goal_keep_copies():
    every = copied().with_size(5)
    assert set(every.get_feature_names_out()) == set("abcAB")
    assert "duplicate" not in {note["code"] for note in every.notes_}
    assert set(copied(n_features_to_select=5).get_feature_names_out()) == set("abcAB")
    grouped = table_of(copied(feature_groups=[["a", "c"]]))
    assert grouped["verdict"]["a"] == "kept"
    assert grouped["verdict"]["A"] != "duplicate"
    assert "duplicate" not in set(table_of(copied(goal="all_relevant"))["verdict"])


@pytest.mark.parametrize("n_known", [60, 61])  # one has a value in the middle
def test_copies_with_gaps_are_copies_downwards_too_but_not_with_other_gaps(n_known):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 80))
    other = a.copy()
    a[n_known:], other[n_known - 1 : -1] = np.nan, np.nan
    frame = pd.DataFrame({"a": a, "down": 1 - a**3, "other gaps": other, "b": b})
    found = table_of(quick().fit(frame, b > 0))["verdict"]
    assert (found == "duplicate").sum() == 1
    assert "duplicate" in {found["a"], found["down"]}


def test_straight_scales_know_no_monotone_copies():
    X, y = noisy_copies()
    table = table_of(quick(scaling="standard").fit(X, y))
    assert table["verdict"]["a again"] != "duplicate"
    assert table["verdict"]["noise again"] == "duplicate"


# --- other sizes


def test_verdicts_follow_what_another_size_keeps(judged):
    selector = judged
    most = table_of(selector.with_size(4))
    least = table_of(selector.with_size(2))
    assert set(least.index[least["kept"]]) == {"wanted", "a"}
    assert least["verdict"]["b"] in ("weak", "redundant")
    assert pd.isna(least["importance"]["b"])
    assert least["importance"]["a"] == most["importance"]["a"]
    assert pd.isna(least["represented_by"]["b downwards"])


@pytest.mark.filterwarnings("ignore::featuresieve.UninformativeTargetWarning")
def test_nothing_is_worth_anything_for_a_constant_target():
    X = np.random.default_rng(0).standard_normal((60, 2))
    table = quick(AutoNFSRegressor).fit(X, np.ones(60)).feature_table()
    assert table.loc[table["kept"], "importance_error"].max() < 0.01
