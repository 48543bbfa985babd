import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, r2_score

from encoded_tables import mixed_frame
from featuresieve import AutoNFSClassifier, AutoNFSRegressor
from made_tables import INFORMATIVE, class_table, value_table
from quick_selectors import built

pytestmark = pytest.mark.numeric

N_COLUMNS = 8
NAMES = [f"column {letter}" for letter in "abcdefgh"]


def fit(kind, balance="auto", **arguments):
    """Fit a quick estimator of one kind to its made table."""
    arguments = {"n_epochs": 20, "random_state": 0} | arguments
    if kind == "classifier":
        return built(AutoNFSClassifier, balance, **arguments).fit(*class_table())
    return built(AutoNFSRegressor, balance, **arguments).fit(*value_table())


@pytest.fixture(scope="module", params=["classifier", "regressor"])
def kind(request):
    return request.param


@pytest.fixture(scope="module", params=["auto", "price", 0.05])
def fitted(kind, request):
    return fit(kind, request.param)


@pytest.fixture(scope="module")
def automatic(kind):
    return fit(kind)


# --- learned attributes


def test_columns_have_a_mask_logits_and_an_order(fitted):
    assert fitted.support_.dtype == bool
    assert fitted.support_.shape == fitted.logits_.shape == (N_COLUMNS,)
    assert fitted.n_features_selected_ == fitted.support_.sum() >= 1
    assert isinstance(fitted.n_features_selected_, int)
    assert np.isfinite(fitted.logits_).all()
    assert set(fitted.order_[:2]) == set(INFORMATIVE)
    assert isinstance(fitted.balance_, float)
    assert 0 < fitted.balance_ < np.inf


def test_path_has_one_chosen_row_that_tells_the_answer(fitted):
    path = fitted.path_
    names = ("balance", "n_kept", "loss", "loss_error", "is_chosen")
    assert path.dtype.names == names
    chosen = path[path["is_chosen"]]
    assert len(chosen) == 1
    assert chosen["n_kept"][0] == fitted.n_features_selected_
    assert chosen["balance"][0] == fitted.balance_
    if fitted.balance == "auto":  # candidates are compared by their held-out losses
        assert len(path) > 1
        assert (path["loss"] >= 0).all()
        assert (path["loss_error"] >= 0).all()
        assert (np.diff(path["n_kept"]) >= 0).all()
    else:
        assert len(path) == 1
        assert np.isnan([path["loss"][0], path["loss_error"][0]]).all()


def test_history_has_one_row_a_record_and_one_column_a_member(fitted):
    history = fitted.history_
    n_records, n_members = history["task_loss"].shape
    shapes = {name: array.shape for name, array in history.items()}
    assert shapes == {
        "step": (n_records,),
        "temperature": (n_records,),
        "balance": (n_members,),
        "task_loss": (n_records, n_members),
        "penalty": (n_records, n_members),
        "n_kept": (n_records, n_members),
        "gates": (n_records, N_COLUMNS),
    }
    assert (np.diff(history["step"]) > 0).all()
    assert (np.diff(history["temperature"]) <= 0).all()
    assert np.isfinite(history["task_loss"]).all()
    assert ((history["penalty"] > 0) & (history["penalty"] < 1)).all()


def test_selection_frequency_is_the_share_of_the_members_votes(fitted):
    frequency = fitted.selection_frequency_
    assert frequency.shape == (N_COLUMNS,)
    assert frequency.min() >= 0
    assert frequency.max() <= 1
    is_own = fitted.history_["balance"] == fitted.balance_
    counts = frequency * np.count_nonzero(is_own)
    np.testing.assert_allclose(counts, counts.round())
    # The columns members keep at the end are these votes.
    n_votes = fitted.history_["n_kept"][-1][is_own].sum()
    assert n_votes == pytest.approx(counts.sum())


def test_single_member_keeps_what_its_logits_say(kind):
    """One network at a given balance is the paper's rule: keep w > 0, rank by w."""
    selector = fit(kind, 0.05, n_members=1)
    logits = selector.logits_
    np.testing.assert_array_equal(selector.support_, logits > 0)
    np.testing.assert_array_equal(selector.selection_frequency_, logits > 0)
    np.testing.assert_array_equal(selector.order_, np.argsort(-logits))
    # Gates are computed in float32.
    open_share = 1 / (1 + np.exp(-logits))
    np.testing.assert_allclose(selector.history_["gates"][-1], open_share, rtol=1e-5)


def test_feature_table_lists_the_columns_best_first(fitted):
    table = fitted.feature_table()
    names = ["name", "kept", "verdict", "rank", "frequency", "importance"]
    names += ["importance_error", "represented_by", "logit"]
    assert list(table.columns) == names
    assert set(table.loc[table["kept"], "verdict"]) <= {"kept", "forced"}
    assert list(table["rank"]) == list(range(1, N_COLUMNS + 1))
    order = fitted.order_
    assert list(table["name"]) == [f"x{j}" for j in order]
    np.testing.assert_array_equal(table["kept"], fitted.support_[order])
    np.testing.assert_array_equal(table["logit"], fitted.logits_[order])
    np.testing.assert_array_equal(
        table["frequency"], fitted.selection_frequency_[order]
    )


# --- predictions


def test_score_is_accuracy_or_r2_on_new_rows(automatic, kind):
    is_class = kind == "classifier"
    X, y = (class_table if is_class else value_table)(seed=1)
    score = automatic.score(X, y)
    metric = accuracy_score if is_class else r2_score
    assert score == metric(y, automatic.predict(X))
    assert score > (0.85 if is_class else 0.8)
    if not is_class:
        return
    probabilities = automatic.predict_proba(X)
    assert probabilities.shape == (len(X), 2)
    assert probabilities.min() >= 0
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    most_probable = automatic.classes_[probabilities.argmax(axis=1)]
    np.testing.assert_array_equal(automatic.predict(X), most_probable)


def assert_rows_are_alone(selector, X):
    answer = getattr(selector, "predict_proba", selector.predict)
    expected = answer(X)
    order = np.random.default_rng(0).permutation(len(X))
    for rows in (order, order[:1], order[:17], order[:64]):
        found = answer(X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows])
        # Float64 sums; scikit-learn's own check would let 1e-7 pass.
        np.testing.assert_allclose(found, expected[rows], rtol=1e-11, atol=1e-14)


def test_what_a_row_gets_in_a_table_of_every_kind_is_its_own():
    X = mixed_frame(200)
    y = np.where(X["number"] > 0, "in", "out")
    selector = built(AutoNFSClassifier, 0.0, n_epochs=3, random_state=0).fit(X, y)
    assert_rows_are_alone(selector, X)


def test_prediction_reads_only_the_kept_columns(fitted):
    X, _ = class_table(n_rows=20, seed=1)
    changed = np.where(fitted.support_, X, 1e6)
    np.testing.assert_array_equal(fitted.predict(changed), fitted.predict(X))


def test_labels_change_nothing_but_the_names_of_the_classes():
    X, is_positive = class_table()
    as_bool = built(AutoNFSClassifier, n_epochs=5, random_state=0).fit(X, is_positive)
    as_text = built(AutoNFSClassifier, n_epochs=5, random_state=0)
    as_text.fit(X, np.where(is_positive, "yes", "no"))
    np.testing.assert_array_equal(as_text.logits_, as_bool.logits_)
    np.testing.assert_array_equal(as_text.predict_proba(X), as_bool.predict_proba(X))


def test_classifier_handles_more_than_two_classes():
    X, _ = class_table(n_rows=300)
    y = np.digitize(X[:, 2], [-0.5, 0.5])
    selector = built(AutoNFSClassifier, n_epochs=20, random_state=0).fit(X, y)
    assert selector.support_[2]
    assert selector.order_[0] == 2
    assert selector.predict_proba(X).shape == (300, 3)
    assert selector.score(X, y) > 0.85


def test_regressor_does_not_mind_the_unit_of_the_target():
    X, y = value_table()
    plain = built(AutoNFSRegressor, n_epochs=5, random_state=0).fit(X, y)
    scaled = built(AutoNFSRegressor, n_epochs=5, random_state=0).fit(X, 1024 * y)
    np.testing.assert_array_equal(scaled.logits_, plain.logits_)  # 1024 is exact
    np.testing.assert_array_equal(scaled.predict(X), 1024 * plain.predict(X))
