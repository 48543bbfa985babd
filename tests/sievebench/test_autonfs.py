import json

import numpy as np
import pandas as pd
import pytest

from featuresieve import AutoNFSClassifier, AutoNFSRegressor
from featuresieve.errors import draw_seed
from made_tables import class_table, value_table
from quick_selectors import built
from sievebench.selectors import AutoNFS

QUICK = {"balance": "price", "n_epochs": 30}
CASES = [(class_table, AutoNFSClassifier), (value_table, AutoNFSRegressor)]


@pytest.mark.parametrize(("table", "kind"), CASES)
def test_automatic_support_is_that_of_the_estimator(table, kind):
    X, y = table()
    selector = AutoNFS(**QUICK, random_state=3).fit(X, y)
    estimator = built(kind, **QUICK, random_state=draw_seed(3)).fit(X, y)
    np.testing.assert_array_equal(selector.support_, estimator.support_)
    rank = np.argsort(estimator.order_) + 1
    np.testing.assert_array_equal(selector.ranking_, rank)


def test_published_setting_is_that_of_the_paper():
    X, y = class_table()
    selector = AutoNFS(setting="published", n_epochs=2, random_state=0).fit(X, y)
    published = AutoNFSClassifier.as_published(n_epochs=2)
    different = {"random_state", "device"}
    for name, value in published.get_params().items():
        if name not in different:
            assert selector.estimator_.get_params()[name] == value, name


@pytest.mark.parametrize("balance", [0.0, 50.0])
def test_collapsed_selection_is_empty_on_request(balance):
    X, y = class_table()
    given = {"setting": "published", "n_epochs": 30, "balance": balance}
    filled = AutoNFS(**given, random_state=0).fit(X, y)
    selector = AutoNFS(**given, may_be_empty=True, random_state=0).fit(X, y)
    # One network: what it keeps are the gates that are more open than closed.
    np.testing.assert_array_equal(selector.support_, filled.estimator_.logits_ > 0)
    assert selector.support_.any() == (balance < 1)
    assert filled.support_.any()


@pytest.mark.parametrize("balance", [None, 0.1])
def test_decision_holds_the_path_and_survives_strict_json(balance):
    X, y = class_table()
    selector = AutoNFS(balance=balance, n_epochs=5, random_state=0).fit(X, y)
    found = json.loads(json.dumps(selector.decision(), allow_nan=False))
    assert found["balance"] == selector.estimator_.balance_
    assert found["arguments"]["training__n_epochs"] == "5"
    votes = np.array(found["frequency"]) * found["n_members"]
    np.testing.assert_allclose(votes, votes.round(), atol=0.01)
    assert found["rule"] == "votes"
    expected = pd.DataFrame(selector.estimator_.path_)
    pd.testing.assert_frame_equal(
        pd.DataFrame(found["path"]).astype(expected.dtypes), expected
    )
