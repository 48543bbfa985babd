import numpy as np
import pytest

from made_tables import INFORMATIVE, class_table, value_table
from sievebench.selectors import Boruta

QUICK = {"max_iter": 25, "n_estimators": 50, "random_state": 0}


@pytest.mark.parametrize("table", [class_table, value_table])
def test_confirmed_columns_are_the_informative_ones(table):
    selector = Boruta(**QUICK).fit(*table())
    assert tuple(np.flatnonzero(selector.support_)) == INFORMATIVE
    assert selector.n_confirmed_ == 2
    assert set(selector.ranking_[selector.support_]) == {1, 2}


def test_given_count_goes_past_what_is_confirmed():
    settings = {**QUICK, "max_iter": 12, "n_features_to_select": 5}
    selector = Boruta(**settings).fit(*class_table())
    assert selector.n_confirmed_ == 2
    assert selector.support_.sum() == 5
    assert selector.support_[list(INFORMATIVE)].all()


def test_pure_noise_confirms_nothing_and_keeps_something():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(150, 5)), rng.integers(2, size=150)
    selector = Boruta(**QUICK).fit(X, y)
    assert selector.n_confirmed_ == 0
    assert selector.support_.any()
