import numpy as np
import pytest
from neural_tables import TABLES

from made_tables import INFORMATIVE, class_table, value_table
from sievebench.selectors import SELECTORS

# Those that look at one column at a time, or at a weighted sum of them.
MISSES = ["univariate", "lasso", "mrmr", "svc-rfe"]
FINDS = {
    "forest": {},
    "xgboost": {"n_jobs": 1},
    "permutation": {},
    "boruta": {"max_iter": 12, "n_estimators": 100, "max_depth": 10},
    "lassonet": {"first_penalty": 5.0, "path_multiplier": 1.3, "n_epochs": (200, 30)},
    "autonfs": {},
    "protogate": {"penalty": 0.01, "hidden_sizes": (100,), "max_epochs": 40},
}
SUMS = {
    **{name: {} for name in ("univariate", "lasso", "mrmr", "mutual-info", "svc-rfe")},
    **{name: {} for name in ("forest", "xgboost", "permutation")},
    "autonfs": {"balance": "price", "n_epochs": 30},
}
NETWORKS = {
    "1l-lasso": {"penalty": (0.01, 0.03), "hidden_sizes": (32, 32), "max_epochs": 60},
    "agl": {"first_penalty": 0.01, "penalty": 0.01, "n_steps": 1500},
    "deep-lasso": {"penalty": (0.03, 0.1), "hidden_sizes": (32, 32), "max_epochs": 60},
    "stg": {"penalty": (0.1, 0.3), "hidden_sizes": (50,), "learning_rate": 5e-3}
    | {"max_epochs": 80},
    "lspin": {"penalty": 0.3, "gating_sizes": (50,), "max_epochs": 60},
    "attention": {"token_size": 8, "n_heads": 2, "learning_rate": 0.01}
    | {"max_epochs": 30},
    "protogate": {"penalty": 0.01, "max_epochs": 40},
}
OTHER = {("lspin", "three_classes"): {"penalty": 1.0}}


XOR_COLUMNS = (1, 4)


def balanced_xor(task, n_quarter=150, n_columns=8, seed=0):
    """Return X and y: whether two columns have the same sign, or their product.

    The table holds every pair of absolute values with all four pairs of signs, so that
    within the table, exactly, either column alone tells nothing of y.
    """
    rng = np.random.default_rng(seed)
    signs = np.repeat([(1, 1), (1, -1), (-1, 1), (-1, -1)], n_quarter, axis=0)
    X = rng.normal(size=(4 * n_quarter, n_columns))
    pair = np.tile(0.5 + rng.random((n_quarter, 2)), (4, 1)) * signs
    X[:, XOR_COLUMNS] = pair
    product = pair.prod(axis=1)
    return X, product > 0 if task == "classification" else product


def kept(name, settings, X, y, count=2):
    selector = SELECTORS[name](n_features_to_select=count, random_state=0, **settings)
    return set(np.flatnonzero(selector.fit(X, y).support_))


def tasks(names):
    return [(name, task) for name in names for task in SELECTORS[name].supported_tasks]


@pytest.mark.parametrize("table", [class_table, value_table])
@pytest.mark.parametrize("name", SUMS)
def test_selector_keeps_the_columns_of_a_sum(name, table):
    X, y = table(n_rows=600 if name == "mutual-info" else 200)
    assert kept(name, SUMS[name], X, y) == set(INFORMATIVE)


@pytest.mark.parametrize(("name", "task"), tasks(MISSES))
def test_selector_of_single_columns_misses_xor(name, task):
    assert not set(XOR_COLUMNS) & kept(name, {}, *balanced_xor(task))


@pytest.mark.parametrize(("name", "task"), tasks(FINDS))
def test_selector_of_interactions_finds_xor(name, task):
    assert kept(name, FINDS[name], *balanced_xor(task)) == set(XOR_COLUMNS)


@pytest.mark.parametrize(
    ("name", "table"),
    [
        (name, table)
        for name, task in tasks(NETWORKS)
        for table in TABLES
        if (table == "curved_sum") == (task == "regression")
        # whether prototypes see a product depends on their first weights
        and (name, table) != ("protogate", "signed_product")
    ],
)
def test_network_finds_the_informative_columns(name, table):
    X, y, informative = TABLES[table]()
    settings = {**NETWORKS[name], **OTHER.get((name, table), {}), "device": "cpu"}
    assert kept(name, settings, X, y, len(informative)) == informative


@pytest.mark.gpu
def test_network_finds_the_informative_columns_on_cuda():
    X, y, informative = TABLES["signed_product"]()
    assert kept("1l-lasso", {"device": "cuda"}, X, y) == informative


@pytest.mark.parametrize("name", ["forest", "xgboost"])
def test_missing_values_that_tell_the_class_are_found(name):
    X, y = class_table()
    X = np.random.default_rng(1).normal(size=X.shape)
    X[y, 3] = np.nan
    assert kept(name, {}, X, y, 1) == {3}
