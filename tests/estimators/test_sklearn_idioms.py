import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.linear_model import LogisticRegression
from test_other_sizes import QUICK, class_table, value_table

from featuresieve import AutoNFSClassifier, AutoNFSRegressor
from quick_selectors import built


@pytest.fixture(scope="module")
def fitted():
    return AutoNFSClassifier(**QUICK, n_features_to_select=3).fit(*class_table())


def test_ranking_is_that_of_rfe_in_the_full_order(fitted):
    X, y = class_table()
    peer = RFE(LogisticRegression(), n_features_to_select=3).fit(X, y)
    assert sorted(fitted.ranking_) == sorted(peer.ranking_) == [1, 1, 1, 2, 3, 4, 5, 6]
    assert fitted.ranking_.dtype == peer.ranking_.dtype
    kept = X.columns[fitted.ranking_ == 1]
    assert list(kept) == list(fitted.get_feature_names_out())
    assert fitted.n_features_ == fitted.n_features_selected_ == 3
    table = fitted.feature_table()
    assert table["rank"].tolist() == [*range(1, 9)]
    assert table["name"].tolist() == X.columns[fitted.order_].tolist()
    dropped = fitted.order_[~fitted.support_[fitted.order_]]
    assert fitted.ranking_[dropped].tolist() == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("as_frame", [pd.DataFrame, pl.DataFrame, pa.Table.from_pandas])
def test_frame_of_the_kept_columns_alone_is_transformed_and_predicted(fitted, as_frame):
    X, y = class_table()
    kept = as_frame(X[fitted.get_feature_names_out()])
    assert fitted.transform(kept).equals(fitted.transform(as_frame(X)))
    np.testing.assert_array_equal(fitted.predict_proba(kept), fitted.predict_proba(X))
    assert fitted.score(kept, y) == fitted.score(X, y)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_kept_columns_are_known_by_names_and_order_alone(fitted):
    X, y = class_table()
    kept = X[fitted.get_feature_names_out()]
    for other in (kept.iloc[:, ::-1], kept.add_suffix("_"), kept.iloc[:, :2]):
        with pytest.raises(ValueError, match="feature names should match"):
            fitted.predict(other)
    with pytest.raises(ValueError, match="X has 3 features, but"):
        fitted.transform(kept.to_numpy())
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.with_size(2, kept, y)  # which needs the others too


def test_kept_columns_may_have_numbers_for_names():
    X, y = class_table()
    X = X.set_axis(range(8), axis=1).assign(text=np.where(X["c0"] > 0, "p", "n"))
    X = X.rename(columns={"text": 8})
    selector = AutoNFSClassifier(**QUICK, always_keep=[8]).fit(X, y)
    kept = selector.transform(X)
    assert selector.transform(kept).equals(kept)
    np.testing.assert_array_equal(selector.predict(kept), selector.predict(X))


def test_importances_are_shares_in_the_full_order_with_constraints_at_its_ends(fitted):
    importances = fitted.feature_importances_
    assert importances.shape == (8,)
    assert (importances >= 0).all()
    assert importances.sum() == pytest.approx(1.0, abs=1e-12)
    assert (np.diff(importances[fitted.order_]) <= 0).all()
    constraints = {"always_keep": ["c6"], "never_keep": ["c0"]}
    selector = AutoNFSClassifier(0.01, **QUICK, **constraints).fit(*class_table())
    assert selector.feature_importances_[6] == selector.feature_importances_.max()
    assert selector.feature_importances_[0] == 0.0


def test_select_from_model_and_rfe_take_the_estimator():
    X, y = class_table()
    selector = SelectFromModel(AutoNFSClassifier(**QUICK), max_features=2).fit(X, y)
    expected = AutoNFSClassifier(**QUICK, n_features_to_select=2).fit(X, y)
    np.testing.assert_array_equal(selector.get_support(), expected.support_)
    X, y = value_table()
    model = AutoNFSRegressor(**QUICK)
    selector = RFE(model, n_features_to_select=2, step=0.5).fit(X, y)
    assert list(X.columns[selector.support_]) == ["c0", "c1"]


def test_log_probabilities_are_the_logarithms_also_of_zero(fitted):
    X, y = class_table()
    np.testing.assert_array_equal(
        fitted.predict_log_proba(X), np.log(fitted.predict_proba(X))
    )
    far = pd.DataFrame(np.sign(X) * 1e6, columns=X.columns)
    selector = built(AutoNFSClassifier, 0.01, **QUICK, scaling="none").fit(X, y)
    found = selector.predict_log_proba(far)
    assert np.isneginf(found).any()
    assert found.max() <= 0.0


@pytest.mark.parametrize("argument", ["n_features_to_select", "max_features"])
@pytest.mark.parametrize(("share", "count"), [(0.5, 4), (0.3, 2), (0.01, 1)])
def test_fractions_count_as_rfe_counts_them(argument, share, count):
    # Rounded down, and one at least.
    X, y = class_table()
    selector = AutoNFSClassifier(1e-9, **QUICK, **{argument: share}).fit(X, y)
    assert selector.n_features_ == count


@pytest.mark.parametrize("argument", ["n_features_to_select", "max_features"])
@pytest.mark.parametrize("value", [0.0, -0.5, 1.5, float("nan"), 0])
def test_fractions_outside_of_one_are_refused(argument, value):
    with pytest.raises(ValueError, match=f"{argument} must be an int >= 1, or a float"):
        AutoNFSClassifier(**{argument: value}).fit(*class_table())
