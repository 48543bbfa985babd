"""What the tests of problems share."""

import pytest

from featuresieve.problem import (
    constraints_from,
    encode_problem,
    row_weights,
    value_target,
)
from featuresieve.tables import read_table


@pytest.fixture
def prepared():
    """Return a function that makes the problem of a table of numbers, as it is."""

    def make(X, y, weights=None, *, row_groups=None, feature_groups=None):
        table, n_rows = read_table(X), len(y)
        wishes = dict.fromkeys(("always_keep", "never_keep", "feature_costs"))
        wishes["feature_groups"] = feature_groups
        counted = row_weights(weights, None, None, n_rows)
        return encode_problem(
            table,
            value_target(y, n_rows, counted.by_row),
            counted,
            constraints_from(wishes, None, table.n_features),
            scaling="none",
            max_categories=32,
            row_groups=row_groups,
        )

    return make
