import numpy as np
import pandas as pd
import pytest

from featuresieve import AutoNFSRegressor
from featuresieve.problem import CountLimits, Gates, constraints_from, nearest_count
from featuresieve.search import fill
from made_tables import class_table
from quick_selectors import quick

NAMES = list("abcdefgh")  # c and f matter


def frame():
    X, y = class_table()
    return pd.DataFrame(X, columns=NAMES), y


def kept_names(selector):
    return set(selector.get_feature_names_out())


@pytest.mark.filterwarnings("ignore:no column cleared the threshold")
@pytest.mark.parametrize("balance", ["auto", "price", 0.3, 1e6])
def test_always_kept_features_are_kept_and_ranked_first(balance):
    selector = quick(balance=balance, always_keep=["a", "h"]).fit(*frame())
    assert {"a", "h"} <= kept_names(selector)
    assert set(selector.order_[:2]) == {0, 7}
    assert (selector.logits_[[0, 7]] == np.inf).all()
    assert (selector.selection_frequency_[[0, 7]] == 1).all()


@pytest.mark.parametrize("balance", ["auto", "price", 0.0])
def test_never_kept_features_are_left_out_and_ranked_last(balance):
    selector = quick(balance=balance, never_keep=["c", 0]).fit(*frame())
    assert not kept_names(selector) & {"a", "c"}
    assert set(selector.order_[-2:]) == {0, 2}
    assert (selector.logits_[[0, 2]] == -np.inf).all()


@pytest.mark.parametrize(
    "feature_groups", [[["c", "h"], ["a", 1]], {"x": [2, 7], "y": [0, 1]}]
)
@pytest.mark.parametrize("balance", ["auto", 0.05])
@pytest.mark.parametrize("always_keep", [None, ["a"]])
def test_groups_are_kept_or_dropped_whole(feature_groups, balance, always_keep):
    constraints = {"feature_groups": feature_groups, "always_keep": always_keep}
    selector = quick(balance=balance, **constraints).fit(*frame())
    kept = kept_names(selector)
    assert {"c", "h", "f"} <= kept  # h comes with c
    assert len(kept & {"a", "b"}) in ((0, 2) if always_keep is None else (2,))
    for values in (selector.logits_, selector.selection_frequency_):
        assert values[2] == values[7]
    rank = np.argsort(selector.order_)
    assert abs(rank[2] - rank[7]) == 1


def test_of_two_equal_columns_the_cheaper_is_kept():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 5))
    X[:, 4] = X[:, 1]
    y = X[:, 1] + 0.1 * rng.standard_normal(600)
    for dear, cheap in ((1, 4), (4, 1)):
        costs = {dear: 20.0, cheap: 0.05}
        selector = quick(AutoNFSRegressor, balance=0.5, feature_costs=costs).fit(X, y)
        assert selector.support_[cheap]
        assert not selector.support_[dear]


def test_costs_may_be_a_sequence():
    X, y = frame()
    as_dict = quick(feature_costs={"a": 3.0, 5: 0.5}).fit(X, y)
    as_list = quick(feature_costs=[3.0, 1, 1, 1, 1, 0.5, 1, 1]).fit(X, y)
    np.testing.assert_array_equal(as_dict.logits_, as_list.logits_)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize("balance", ["auto", 0.1])
def test_exact_counts_are_met_with_groups_and_wishes(count, balance):
    selector = quick(
        balance=balance,
        n_features_to_select=count,
        feature_groups=[["a", "b"], ["d", "e", "h"]],
        always_keep=["f"],
        never_keep=["g"],
    ).fit(*frame())
    assert selector.n_features_selected_ == count
    assert "f" in kept_names(selector)


def test_max_features_counts_features_not_groups():
    groups = [["c", "a", "b", "d"]]  # the best column comes with three others
    selector = quick(max_features=3, feature_groups=groups).fit(*frame())
    assert selector.n_features_selected_ <= 3
    assert not selector.support_[2]


CONTRADICTIONS = [
    ({"always_keep": ["a"], "never_keep": ["a"]}, "not share a feature, got 'a'"),
    (
        {"feature_groups": [["a", "b"]], "never_keep": ["b"]},
        "got 'b' without 'a' of it",
    ),
    *(
        (
            {"always_keep": ["a", "b", "c"], name: 2},
            f"{name} must be at least .* always_keep holds, 3, got 2",
        )
        for name in ("max_features", "n_features_to_select")
    ),
    (
        {"never_keep": NAMES[:6], "n_features_to_select": 3},
        "n_features_to_select must be at most .* never_keep leaves, 2, got 3",
    ),
    (
        {"feature_groups": [NAMES[:4], NAMES[4:]], "n_features_to_select": 3},
        "must allow groups to be kept whole",
    ),
    ({"feature_groups": [["a", "b"], ["b"]]}, "disjoint, got 'b' in two"),
    ({"always_keep": ["aa"]}, "must name columns of X, got 'aa'"),
    (
        {"goal": "all_relevant", "balance": 0.1},
        "balance must be 'auto' with goal='all_relevant', got 0.1",
    ),
    (
        {"goal": "all_relevant", "n_features_to_select": 3},
        "n_features_to_select must be None with goal='all_relevant'",
    ),
    (
        {"balance": "price", "tolerance": 0.1},
        "tolerance must be 0 unless balance='auto', .* got 0.1 with balance='price'",
    ),
    (
        {"balance": 0.1, "judge": "trees"},
        "judge must be 'networks' unless balance='auto', .* got 'trees' with balance=0",
    ),
    *(
        ({"max_features": 2, name: 3}, f"{name} must be at most max_features=2, got 3")
        for name in ("min_features_to_select", "n_features_to_select")
    ),
    ({"n_features_to_select": 2, "min_features_to_select": 3}, "n_features_to_select"),
]


@pytest.mark.parametrize(("arguments", "message"), CONTRADICTIONS)
def test_contradictions_are_errors_before_any_training(arguments, message):
    selector = quick(**arguments)
    with pytest.raises(ValueError, match=message):
        selector.fit(*frame())
    assert not hasattr(selector, "support_")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("blood pressure", {"never_keep": ["blod pressure"]}),
        ("F1", {"always_keep": ["f1"]}),
        ("F1", {"never_keep": [" F1"]}),
        ("F1", {"feature_groups": [["f1", "b"]]}),
        ("F1", {"feature_costs": {"f1": 2.0}}),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(name, arguments):
    X, y = frame()
    with pytest.raises(ValueError, match=f"did you mean '{name}'"):
        quick(**arguments).fit(X.rename(columns={"c": name}), y)


def test_features_may_be_a_mask_or_one_name():
    mask = np.array([name == "g" for name in NAMES])
    absent = dict.fromkeys(("feature_groups", "never_keep", "feature_costs"))
    for wish in ("g", 6, -2, [6], mask, {"g"}):
        found = constraints_from({**absent, "always_keep": wish}, NAMES, 8)
        assert found.is_kept.tolist() == mask.tolist()


def test_features_are_named_as_they_are_called_in_several_levels():
    X, y = frame()
    levels = X.set_axis(pd.MultiIndex.from_product([["u", "v"], list("wxyz")]), axis=1)
    wishes = {
        "always_keep": [("u", "w")],
        "feature_groups": [[("u", "x"), ("v", "z")]],
        "feature_costs": {("u", "y"): 3.0},
    }
    selector = quick(n_features_to_select=3, **wishes).fit(levels, y)
    assert ("u", "w") in list(selector.get_feature_names_out())
    assert selector.with_size(3).support_.tolist() == selector.support_.tolist()
    with pytest.raises(
        ValueError, match=r"columns of X, got 'u'; there are \('u', 'w'"
    ):
        quick(always_keep=["u"]).fit(levels, y)
    with pytest.raises(TypeError, match=r"names or positions, got \('u', 'q'\)"):
        quick(always_keep=[("u", "q")]).fit(levels, y)


def test_whole_numbers_are_positions_whatever_the_names():
    X, y = frame()
    numbered = X.set_axis(range(10, 18), axis=1)
    wish = quick(always_keep=[7], n_features_to_select=1)
    assert list(wish.fit(numbered, y).get_feature_names_out()) == [17]
    message = "positions 0 to 7, got 17; the column called 17 is at position 7"
    with pytest.raises(ValueError, match=message):
        quick(always_keep=[17]).fit(numbered, y)


def test_costs_of_a_series_are_found_by_its_names():
    X, y = frame()
    series = pd.Series({"f": 0.5, "a": 3.0})
    found = quick(feature_costs=series).fit(X, y)
    expected = quick(feature_costs={"a": 3.0, "f": 0.5}).fit(X, y)
    np.testing.assert_array_equal(found.logits_, expected.logits_)
    by_position = quick(feature_costs=pd.Series([3.0, 1, 1, 1, 1, 0.5, 1, 1])).fit(X, y)
    np.testing.assert_array_equal(by_position.logits_, expected.logits_)
    with pytest.raises(ValueError, match=r"number for each of the 8 .*, got 3\."):
        quick(feature_costs=3).fit(X, y)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a", "b"], r"feature_groups\[0\] must be a list of features, got 'a'"),
        ([0, 0, 1, 1], r"feature_groups\[0\] must be a list of features, got 0"),
        ({"door": "ab"}, r"feature_groups\['door'\] must be a list .*, got 'ab'"),
    ],
)
def test_groups_that_are_no_lists_are_refused(groups, message):
    with pytest.raises(TypeError, match=message):
        quick(feature_groups=groups).fit(*frame())
    with pytest.raises(
        ValueError, match=r"feature_groups\['door'\] must name at least"
    ):
        quick(feature_groups={"door": []}).fit(*frame())


# Counts of whole gates, against all subsets.


@pytest.mark.parametrize("seed", range(20))
def test_fill_is_the_first_subset_in_rank_order_that_adds_up(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, size=7)
    gates = Gates(np.arange(7), sizes, np.ones(7), np.zeros(7, dtype=bool))
    ranked = rng.permutation(7)
    sums = {}
    for bits in range(1, 2**7):
        chosen = [k for k in range(7) if bits >> (6 - k) & 1]  # positions by rank
        sums.setdefault(int(sizes[ranked[chosen]].sum()), []).append(chosen)
    for count, subsets in sums.items():
        # Taking a better ranked gate always comes before not taking it.
        best = max(subsets, key=lambda chosen: [k in chosen for k in range(7)])
        np.testing.assert_array_equal(fill(ranked, gates, count), np.sort(ranked[best]))
        assert nearest_count(gates, CountLimits(count, count)) == count


def test_counts_that_groups_cannot_make_are_refused():
    gates = Gates(np.arange(2), np.array([3, 4]), np.ones(2), np.zeros(2, dtype=bool))
    with pytest.raises(ValueError, match="between 5 and 6 features"):
        nearest_count(gates, CountLimits(5, 6))
