"""Fields of selectors: which set counts, ranks, and how sure a difference is."""

import numpy as np
import pytest
from scipy.stats import rankdata

from sievebench.analysis import (
    FIELDS,
    field_cube,
    field_losses,
    field_scores,
    field_summary,
    signed_rank_posterior,
)

TABLES, DRAWS = ("t0", "t1", "t2", "t3", "t4", "t5"), (1, 2)


def one_set(what, count, score, validation=0.0):
    added = count // 4
    return {
        **{"what": what, "count": count, "added": added},
        **{"score": score, "validation": validation},
    }


def record(table, draw, generator):
    def noisy(score):
        return score + 0.01 * generator.normal()

    selectors = {
        "none": {"sets": [one_set("own", 20, noisy(0.5))]},
        "autonfs": {
            "sets": [
                one_set("own", 6, noisy(0.9), 0.8),
                one_set("0.5", 5, noisy(0.85), 0.7),
                one_set("1", 10, noisy(0.8), 0.6),
            ]
        },
        "autonfs:literal": {"sets": [one_set("own", 1, noisy(0.4))]},
        "stg": {
            "sets": [
                one_set("0.5", 5, noisy(0.7), 0.9),
                one_set("1", 10, noisy(0.6), 0.9),
                one_set("matched", 6, noisy(0.95), 1.0),
            ]
        },
    }
    where = {"table": table, "scenario": "random", "draw": draw}
    return {**where, "n_original": 10, "selectors": selectors}


@pytest.fixture(scope="module")
def scores():
    generator = np.random.default_rng(0)
    made = [record(table, draw, generator) for table in TABLES for draw in DRAWS]
    return field_scores(made)


@pytest.mark.parametrize(
    ("field", "of_autonfs", "of_stg"),
    [
        ("paper", 6, 10),
        ("told", 10, 10),
        ("matched", 6, 6),
        # By validation rows, of equal ones the fewest; a matched set is not its own.
        ("free", 6, 5),
        ("validated", 6, 5),
    ],
)
def test_field_says_which_number_of_columns_counts(scores, field, of_autonfs, of_stg):
    is_field = (scores["field"] == field) & (scores["selector"] != "autonfs:literal")
    counts = scores[is_field].groupby("selector")["count"].unique()
    assert counts.map(list).to_dict() == {
        "autonfs": [of_autonfs],
        "none": [20],
        "stg": [of_stg],
    }
    assert set(scores["field"]) == set(FIELDS)


def test_shares_are_of_the_kept_and_of_the_original_columns(scores):
    own = scores[(scores["field"] == "paper") & (scores["selector"] == "autonfs")]
    np.testing.assert_allclose(own["added_share"], 1 / 6)
    np.testing.assert_allclose(own["kept_share"], 0.6)


def test_loss_without_a_column_is_the_mean_over_the_columns_left_out():
    made = [record("t0", draw, np.random.default_rng(draw)) for draw in DRAWS]
    for one, less in zip(made, (0.2, 0.1), strict=True):
        one["selectors"]["stg"]["sets"][1]["score"] = 0.6
        one["selectors"]["stg"]["removals"] = [
            {"column": 3, "score": 0.6 - less},
            {"column": 4, "score": 0.6},
        ]
    losses = field_losses(made)  # of the set of D columns, the second
    assert list(losses.index) == ["stg"]
    assert losses.columns.to_list() == [("t0", 1), ("t0", 2)]
    np.testing.assert_allclose(losses.loc["stg"], [10, 5])


def test_row_as_published_takes_the_place_of_the_default_with_its_own_number(scores):
    own = scores[scores["selector"] == "autonfs:literal"]
    assert (set(own["field"]), set(own["count"])) == ({"paper"}, {1})
    found = field_summary(scores, "random", "paper", "autonfs:literal")
    assert set(found.index) == {"none", "stg", "autonfs:literal"}
    assert found["rank"].to_dict() == {"stg": 1.0, "none": 2.0, "autonfs:literal": 3.0}
    assert set(found["verdict"].dropna()) == {"worse"}
    default = field_summary(scores, "random", "paper")
    assert set(default.index) == {"none", "stg", "autonfs"}


def test_ranks_are_means_over_tables_and_draws(scores):
    names, tables, cube = field_cube(scores, "random", "matched")
    assert (tables, cube.shape) == (list(TABLES), (6, 2, 3))
    flat = cube.reshape(-1, 3).round(3)
    expected = rankdata(-flat, axis=1).mean(axis=0)
    found = field_summary(scores, "random", "matched")
    np.testing.assert_allclose(found.loc[names, "rank"], expected)
    gap = (cube[:, :, names.index("autonfs")] - cube[:, :, names.index("stg")]).mean()
    assert found.at["stg", "mean_difference"] == pytest.approx(gap, abs=1e-5)
    assert found.at["stg", "verdict"] == "worse"
    assert found.at["none", "verdict"] == "better"
    assert found.at["none", "low"] < 0.4 < found.at["none", "high"]


def test_a_draw_that_a_table_lacks_counts_for_none(scores):
    gone = (scores["table"] == "t3") & (scores["draw"] == 2)
    assert field_cube(scores[~gone], "random", "told")[2].shape == (6, 1, 3)
    # As published there is a row on the first draw only.
    few = scores[(scores["selector"] != "autonfs:literal") | (scores["draw"] == 1)]
    assert set(field_summary(few, "random", "paper")["n_cells"]) == {12}
    found = field_summary(few, "random", "paper", "autonfs:literal")
    assert set(found["n_cells"]) == {6}


def test_signed_rank_posterior_of_clear_and_of_empty_differences_and_mirrored():
    assert signed_rank_posterior(np.full(12, 0.1))[2] > 0.99
    assert signed_rank_posterior(np.full(12, 0.001))[1] == 1.0
    differences = np.random.default_rng(3).normal(0.01, 0.02, size=9)
    worse, alike, better = signed_rank_posterior(differences)
    mirrored = signed_rank_posterior(-differences)
    assert worse + alike + better == pytest.approx(1.0)
    assert mirrored == pytest.approx((better, alike, worse))


def test_signed_rank_posterior_of_one_difference_is_that_of_a_beta():
    # Weights of 0 and of z are Beta(1/2, 1). z/2 and z are beyond the bound: better has
    # 1 - w0², alike w0², with w0 below sqrt(1/2): P = (1/2)^(1/4).
    _, alike, better = signed_rank_posterior(np.array([1.0]), equivalence=0.1)
    assert better == pytest.approx(0.5**0.25, abs=0.03)
    assert alike == pytest.approx(1 - 0.5**0.25, abs=0.03)
