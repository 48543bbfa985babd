import warnings

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from featuresieve import AutoNFSClassifier, AutoNFSRegressor
from featuresieve.tables import TableEncoder, read_table

QUICK = {"n_epochs": 2, "n_members": 2, "random_state": 0}


def column(draw, n_rows):
    """Draw a column of any kind."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    kind = draw(st.sampled_from(["float", "int", "bool", "text", "date", "constant"]))
    values = {
        "float": rng.standard_normal(n_rows) * 10.0 ** draw(st.integers(-30, 30)),
        "int": rng.integers(-5, 5, n_rows),
        "bool": rng.random(n_rows) < 0.5,
        "text": rng.choice(["a", "b", "ü", "", "a b"], n_rows),
        "date": np.datetime64("2000-01-01", "us") + rng.integers(0, 10**6, n_rows),
        "constant": np.zeros(n_rows),
    }[kind]
    series = pd.Series(values)
    if draw(st.booleans()):
        return series.mask(rng.random(n_rows) < 0.3)
    return series


@st.composite
def tables(draw):
    """Draw a data frame, a target, and whether it is one of classes."""
    n_rows, n_columns = draw(st.integers(6, 40)), draw(st.integers(1, 7))
    names = draw(
        st.lists(
            st.text(min_size=1, max_size=5),
            min_size=n_columns,
            max_size=n_columns,
            unique=True,
        )
    )
    frame = pd.DataFrame({name: column(draw, n_rows) for name in names})
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    if draw(st.booleans()):
        return frame, rng.choice(["x", "y", "z"], n_rows), True
    return frame, rng.standard_normal(n_rows), False


def fit(frame, y, is_classes, **arguments):
    estimator = AutoNFSClassifier if is_classes else AutoNFSRegressor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # noise has nothing to say
        return estimator(**QUICK, **arguments).fit(frame, y)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(tables(), st.randoms(use_true_random=False))
def test_permuting_columns_permutes_the_answer_on_any_table(table, random):
    frame, y, is_classes = table
    assume(len(np.unique(y)) > 1)
    order = list(range(frame.shape[1]))
    random.shuffle(order)
    first = fit(frame, y, is_classes)
    again = fit(frame.iloc[:, order], y, is_classes)
    # Columns that the networks see alike may stand for each other.
    encoder, _ = TableEncoder.fit_transform(read_table(frame), scaling="normal_scores")
    encoded = encoder.transform(read_table(frame)).round(3)
    seen = [
        encoded[:, encoder.feature_of_column == j].tobytes()
        for j in range(frame.shape[1])
    ]
    is_unlike = np.array([seen.count(columns) == 1 for columns in seen])
    np.testing.assert_array_equal(
        again.support_[is_unlike[order]], first.support_[order][is_unlike[order]]
    )
