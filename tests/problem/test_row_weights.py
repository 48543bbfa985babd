import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.class_weight import compute_sample_weight

from any_target import BAD_WEIGHTS
from featuresieve import AutoNFSClassifier, AutoNFSRegressor
from featuresieve.problem import Problem, row_weights
from made_tables import class_table, value_table
from quick_selectors import built

Y = np.array(["a", "b", "b", "b"])


@pytest.mark.parametrize("estimator", [AutoNFSClassifier, AutoNFSRegressor])
def test_weights_are_named(estimator):
    # Groups of rows, as of a splitter, would be taken for weights.
    X, y = class_table(40)
    with pytest.raises(TypeError, match=r"name those from sample_weight on"):
        estimator(random_state=0).fit(X, y, np.arange(40) // 10)


def test_without_weights_all_rows_count_alike_and_whole_weights_are_copies():
    plain = row_weights(None, None, None, 3)
    assert plain.rows.tolist() == [0, 1, 2]
    copied = row_weights([2, 0, 1, 3], None, None, 4)
    assert copied.rows.tolist() == [0, 0, 2, 3, 3, 3]
    assert plain.weights is copied.weights is plain.by_row is None


@pytest.mark.parametrize("given", [[0.5, 0, 1, 1.5], [50, 0, 100, 150]])
def test_other_weights_have_mean_one_and_leave_zeros_out(given):
    found = row_weights(given, None, None, 4)
    assert found.rows.tolist() == [0, 2, 3]
    np.testing.assert_allclose(found.weights, [0.5, 1, 1.5])


def test_error_about_many_weights_is_short():
    X, y = class_table(60)
    with pytest.raises(TypeError, match="must hold real numbers, got ") as raised:
        AutoNFSClassifier().fit(X, y, sample_weight=["heavy"] * 60)
    assert len(str(raised.value)) < 200


def test_balanced_classes_are_those_of_scikit_learn_and_multiply_sample_weights():
    found = row_weights(None, "balanced", Y, 4)
    expected = compute_sample_weight("balanced", Y)
    np.testing.assert_allclose(found.by_row, expected)
    found = row_weights([3.5, 1.0, 1.0, 1.5], "balanced", Y, 4).by_row
    assert found[0] == pytest.approx(found[1:].sum())
    found = row_weights([1.0, 2.0, 0.5, 1.0], {"a": 3.0, "b": 0.5}, Y, 4)
    np.testing.assert_allclose(found.by_row, [3.0, 1.0, 0.25, 0.5])


@pytest.mark.parametrize("kind", [*BAD_WEIGHTS, "sum not finite"])
def test_bad_weights_are_refused_by_name(kind):
    make = BAD_WEIGHTS.get(kind, lambda _, n: [1e308] * n)
    error = TypeError if kind in ("text", "complex") else ValueError
    with pytest.raises(error, match="sample_weight must"):
        row_weights(make(None, 4), None, None, 4)


def test_class_weights_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="class_weight must be None for regression"):
        AutoNFSRegressor(class_weight="balanced").fit(*value_table())
    X, y = class_table()
    with pytest.raises(ValueError, match="must leave at least 2 classes"):
        AutoNFSClassifier().fit(X, y, sample_weight=y.astype(float))
    series = pd.Series({0: 1.0, 1: 2.0})
    with pytest.raises(ValueError, match="class_weight must be a dict, 'balanced' or"):
        row_weights(None, series, np.array([0, 1]), 2)


def weighted_problem(task, weights, rows):
    X = np.zeros((4, 1), dtype=np.float32)
    targets = {
        "classification": np.array([0, 1, 1, 0]),
        "multilabel": np.array([[0, 1], [1, 1], [1, 0], [0, 0]], dtype=np.float32),
        "regression": np.array([[0.0], [3.0], [1.0], [2.0]], dtype=np.float32),
    }[task]
    n_outputs = 2 if task != "regression" else 1
    return Problem(X[rows], targets[rows], n_outputs, task, row_weights=weights)


@pytest.mark.parametrize("task", ["classification", "multilabel", "regression"])
def test_loss_of_a_constant_with_weights_is_that_with_copies(task):
    weights = np.array([2.0, 1.0, 3.0, 2.0])
    one = weighted_problem(task, weights / weights.mean(), np.arange(4))
    copies = np.repeat(np.arange(4), weights.astype(int))
    many = weighted_problem(task, None, copies)
    # The one count added to each class weighs less among more copies.
    if task == "regression":
        assert one.null_loss() == pytest.approx(many.null_loss())
    else:
        assert one.null_loss() == pytest.approx(many.null_loss(), rel=0.1)


@pytest.mark.filterwarnings("ignore::featuresieve.DoubtfulSelectionWarning")
def test_weights_decide_which_column_matters():
    # Two halves of the rows obey different columns; the weights say which half counts.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((800, 6))
    is_first = np.arange(800) < 400
    y = np.where(is_first, X[:, 0], X[:, 1]) > 0
    for favoured, kept in ((is_first, 0), (~is_first, 1)):
        weights = np.where(favoured, 1.0, 0.001)
        selector = AutoNFSClassifier(random_state=0).fit(X, y, sample_weight=weights)
        assert selector.order_[0] == kept
        assert selector.support_[kept]


@pytest.mark.filterwarnings("ignore::featuresieve.DoubtfulSelectionWarning")
def test_weights_do_not_turn_identifiers_into_categories():
    # Weights of three and a half, of a rare class, are not three rows and a half.
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"id": [f"i{k}" for k in range(300)], "x": rng.normal(size=300)}
    )
    y = frame["x"] > 1.1
    for arguments, weights in (
        ({"class_weight": "balanced"}, None),
        ({}, 1.0 + 2.5 * y),
    ):
        selector = built(AutoNFSClassifier, n_epochs=20, random_state=0, **arguments)
        selector.fit(frame, y, sample_weight=weights)
        assert list(selector.get_feature_names_out()) == ["x"]


@pytest.mark.filterwarnings("ignore::featuresieve.FeatureSieveWarning")
@pytest.mark.parametrize("balance", ["auto", "price", 0.1])
def test_one_row_of_weight_one_is_enough_for_values(balance):
    X, y = value_table()
    weights = np.eye(len(y))[3]
    selector = built(AutoNFSRegressor, balance, n_epochs=2, random_state=0)
    assert np.isfinite(selector.fit(X, y, sample_weight=weights).predict(X)).all()


@pytest.mark.parametrize("far", [1e10, 1e30, 1e300])
def test_the_target_of_a_row_that_does_not_count_may_be_far_out(far):
    X, y = value_table()
    weights = np.ones(len(y))
    weights[0] = 0
    selector = built(AutoNFSRegressor, 0.01, n_epochs=2, random_state=0)
    expected = clone(selector).fit(X, y, sample_weight=weights).logits_
    y[0] = far
    found = selector.fit(X, y, sample_weight=weights).logits_
    np.testing.assert_array_equal(found, expected)
