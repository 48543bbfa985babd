from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from scipy import sparse
from sklearn.metrics import r2_score

from any_target import CONTAINERS
from featuresieve import AutoNFSClassifier, AutoNFSRegressor
from featuresieve.problem import class_target, value_target
from made_tables import INFORMATIVE, class_table, value_table
from quick_selectors import quick, quick_regressor

LABELS = {
    "strings": np.array(["no", "yes"]),
    "minus one and one": np.array([-1, 1]),
    "far apart": np.array([7, 1_000_000]),
    "floats": np.array([1.0, 2.0]),
    "booleans": np.array([False, True]),
    "objects": np.array(["β", "α"], dtype=object),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_any_labels_come_back(labels):
    X, y = class_table()
    selector = quick(balance=0.05).fit(X, labels[y.astype(int)])
    predicted = selector.predict(X)
    assert predicted.dtype == labels.dtype
    assert set(np.unique(predicted)) == set(labels)
    np.testing.assert_array_equal(selector.classes_, np.unique(labels))
    assert (predicted == labels[y.astype(int)]).mean() > 0.9


FORMS = CONTAINERS | {
    "pandas category": lambda y: pd.Series(pd.Categorical(y)),
    "torch": torch.tensor,
    "sparse": lambda y: sparse.csr_array(np.asarray(y)[:, None]),
}


@pytest.mark.parametrize("container", FORMS.values(), ids=FORMS)
@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_targets_of_any_container_are_read(container):
    y = [0, 1, 1, 2, 0]
    found = class_target(container(y), 5)
    np.testing.assert_array_equal(found.values, y)


def test_missing_labels_are_refused():
    for y in (
        pd.Series(["a", None, "b"]),
        pl.Series(["a", None, "b"]),
        np.array(["a", None, "b"], dtype=object),
        np.array(["a", pd.NA, "b"], dtype=object),
        [0.0, np.nan, 1.0],
    ):
        with pytest.raises(ValueError, match="Input y contains"):
            class_target(y, 3)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, np.inf])
def test_missing_and_infinite_values_are_refused(missing):
    message = "infinity" if missing is np.inf else "NaN"
    with pytest.raises(ValueError, match=f"Input y contains {message}"):
        value_target(np.array([0.5, missing, 1.0], dtype=object), 3, None)


TEXTS = {
    "array": np.array(["1", "b", "1"]),
    "list": ["1", "b", "1"],
    "objects": np.array([1.0, "b", "1"], dtype=object),
    "pandas": pd.Series(["1", "b", "1"], dtype="string"),
    "pandas category": pd.Series(["1", "b", "1"], dtype="category"),
    "polars": pl.Series(["1", "b", "1"]),
    "polars category": pl.Series(["1", "b", "1"], dtype=pl.Categorical),
    "arrow": pa.chunked_array([["1", "b", "1"]]),
    "a column of two": pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["1", "b", "1"]}),
}


@pytest.mark.parametrize("y", TEXTS.values(), ids=TEXTS)
def test_text_values_are_referred_to_the_classifier(y):
    message = "y must hold numbers, got the str 'b': for classes, use AutoNFSClassifier"
    with pytest.raises(ValueError, match=message):
        value_target(y, 3, None)


@pytest.mark.parametrize("name", ["price", 4, np.str_("price")])
@pytest.mark.parametrize("kind", [AutoNFSClassifier, AutoNFSRegressor])
def test_name_in_the_place_of_a_column_is_told_how_to_pass_it(kind, name):
    frame = pd.DataFrame({"a": [1, 2], str(name): [0, 1]})
    with pytest.raises(TypeError) as caught:
        kind().fit(frame, name)
    call = f"fit(X.drop(columns={name!r}), X[{name!r}])."
    assert str(caught.value).endswith(call)


@pytest.mark.parametrize(
    "target", [class_target, lambda y, n: value_target(y, n, None)]
)
def test_ragged_targets_are_refused_by_name(target):
    with pytest.raises(ValueError, match="the rows of y must have equal lengths"):
        target([[1], 2, 3], 3)


def test_text_that_spells_numbers_is_read():
    found = value_target(np.array(["1", "2.5", "4"], dtype=object), 3, None)
    np.testing.assert_allclose(found.code.decode(found.values), [1, 2.5, 4], rtol=1e-6)


DAYS = np.array(["2021-03-04", "2021-03-05", "2021-04-04"], dtype="datetime64[D]")
TIMES = {
    "dates": (DAYS, "days"),
    "pandas dates": (pd.Series(DAYS), "days"),
    "pandas dates in a zone": (pd.Series(DAYS).dt.tz_localize("Europe/Oslo"), "days"),
    "pandas frame": (pd.DataFrame({"y": DAYS}), "days"),
    "polars dates": (pl.Series(DAYS.tolist()), "days"),
    "date objects": (DAYS.tolist(), "days"),
    "moments": (pd.Series(DAYS).tolist(), "days"),
    "spans": (DAYS - DAYS[0], "hours"),
    "pandas spans": (pd.Series(DAYS - DAYS[0]), "hours"),
    "polars spans": (pl.Series((DAYS - DAYS[0]).tolist()), "hours"),
    "span objects": ((DAYS - DAYS[0]).tolist(), "hours"),
}


@pytest.mark.parametrize(("y", "unit"), TIMES.values(), ids=TIMES)
def test_times_are_refused_with_a_way_out(y, unit):
    with pytest.raises(ValueError, match=rf"y must hold numbers.*np\.time.*for {unit}"):
        value_target(y, 3, None)
    numbers = (DAYS - DAYS.min()) / np.timedelta64(1, unit[0].upper().replace("H", "h"))
    assert value_target(numbers, 3, None).task == "regression"


def test_dates_of_numpy_and_numbers_are_labels_and_dates_to_be_made_text():
    np.testing.assert_array_equal(class_target(DAYS, 3).code.classes, DAYS)
    with pytest.raises(ValueError, match=r"got the date 2021-03-04: .*make them text"):
        class_target(DAYS.tolist(), 3)
    assert class_target([str(label) for label in DAYS.tolist()], 3).n_outputs == 3
    found = class_target(np.array([2, 1, 2], dtype=object), 3)
    assert found.code.classes.tolist() == [1, 2]
    assert found.code.classes.dtype == np.int64


MIXED = {
    "list": [1, "a", 1],
    "objects": np.array(["a", 1, 1], dtype=object),
    "floats": [1.5, 1.5, "a"],
    "pandas": pd.Series([True, "a", "a"]),
}


@pytest.mark.parametrize("y", MIXED.values(), ids=MIXED)
def test_labels_of_two_kinds_are_refused_with_a_way_out(y):
    message = r"must be of one kind, got the text 'a' and the number .*make all.*str"
    with pytest.raises(ValueError, match=message):
        class_target(y, 3)
    assert class_target([str(label) for label in y], 3).n_outputs == 2


@pytest.mark.parametrize("label", [Fraction(1, 2), (1,), pd.Period("2021-03")])
def test_labels_of_no_known_kind_are_named(label):
    y = np.array([None, None], dtype=object)
    y[:] = [label, label]
    with pytest.raises(ValueError, match=f"got the {type(label).__name__} .*make them"):
        class_target(y, 2)


NAN = float("nan")
MISSING = {
    "floats": (np.array([1.0, NAN, 0.0, NAN]), "2 of 4 rows, the first is row 1"),
    "objects": (np.array(["a", "b", None, "b"], dtype=object), "1 of 4 .* is row 2"),
    "nullable": (pd.Series([1, 0, pd.NA, 1], dtype="Int64"), "1 of 4 .* is row 2"),
    "polars": (pl.Series(["a", None, None, "b"]), "2 of 4 .* is row 1"),
    "outputs": (np.array([[1.0, 0], [0, 1], [NAN, NAN], [1, 1]]), "1 of 4 .* row 2"),
}


@pytest.mark.parametrize(("y", "message"), MISSING.values(), ids=MISSING)
def test_missing_targets_are_counted_with_what_to_do(y, message):
    message = f"Input y contains NaN or missing values in {message}: leave these rows"
    with pytest.raises(ValueError, match=message):
        class_target(y, 4)
    if getattr(y, "dtype", None) not in (object, pl.String):
        with pytest.raises(ValueError, match=message):
            value_target(y, 4, None)


@pytest.mark.parametrize("label", [0, 1])
def test_labels_that_no_row_or_every_row_has_are_refused(label):
    message = f"y must have rows with and without a label, got {label} everywhere"
    with pytest.raises(ValueError, match=message):
        class_target(np.full((4, 2), label), 4)


@pytest.mark.parametrize("y", [{0: 1, 1: 0}, (label for label in "ab"), None])
def test_what_is_no_target_is_named_once(y):
    with pytest.raises(TypeError, match="pass a list, an array or a Series") as raised:
        class_target(y, 2)
    assert str(raised.value).count("got") == 1
    assert "X.drop" not in str(raised.value)


def test_periods_are_counted_by_way_of_dates():
    y = pd.Series(pd.period_range("2021-03", periods=3, freq="M"))
    with pytest.raises(ValueError, match=r"the Period 2021-03: .*y\.dt\.to_timestamp"):
        value_target(y, 3, None)
    dates = y.dt.to_timestamp()
    days = (dates - dates.min()) / np.timedelta64(1, "D")
    assert value_target(days, 3, None).code.means == pytest.approx((0 + 31 + 61) / 3)


def test_one_class_and_several_a_row_are_refused():
    with pytest.raises(ValueError, match="at least 2 classes, got 1 class: 'a'"):
        class_target(["a", "a"], 2)
    with pytest.raises(ValueError, match="one class a row, or a matrix of zeros"):
        class_target(np.array([[0, 1], [2, 1], [1, 0]]), 3)


@pytest.mark.parametrize("n_rows", [2, 4])
def test_lengths_that_differ_are_refused(n_rows):
    for encode in (class_target, lambda y, n: value_target(y, n, None)):
        with pytest.raises(ValueError, match=f"X has {n_rows} rows, y has 3"):
            encode([0.0, 1.0, 0.0], n_rows)


def test_multilabel_targets_keep_the_columns_of_every_label():
    X, _ = class_table(400)
    labels = np.column_stack([X[:, 2] > 0, X[:, 5] + X[:, 7] > 0, X[:, 2] < 0.5])
    selector = AutoNFSClassifier(random_state=0).fit(X, labels.astype(int))
    assert selector.support_[[2, 5, 7]].all()
    probabilities, predicted = selector.predict_proba(X), selector.predict(X)
    assert probabilities.shape == predicted.shape == labels.shape
    np.testing.assert_array_equal(predicted, probabilities > 0.5)
    assert (predicted == labels).mean() > 0.9


def test_several_values_a_row_are_predicted_in_their_own_units():
    X, y = value_table(400)
    both = np.column_stack([y, 1e6 * X[:, 7]])
    selector = AutoNFSRegressor(random_state=0).fit(X, both)
    assert selector.support_[[*INFORMATIVE, 7]].all()
    predicted = selector.predict(X)
    assert predicted.shape == both.shape
    assert r2_score(both, predicted, multioutput="raw_values").min() > 0.8


def heavy_table(n_rows=600):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 8))
    return X, np.exp(3 * (X[:, 2] + 0.5 * X[:, 5]))


def test_heavy_tailed_values_are_compressed_and_come_back():
    _, y = heavy_table()
    target = value_target(y, len(y), None)
    assert target.code.widths[0] > 0
    encoded = target.values.astype(np.float64)
    assert np.abs(encoded).max() < np.abs(y - y.mean()).max() / y.std() / 2
    # float32 keeps seven digits of the compressed value, whose exponent is taken.
    np.testing.assert_allclose(target.code.decode(encoded), y, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "y",
    [np.random.default_rng(0).normal(size=500), np.arange(300.0), [0.0, 1.0] * 100],
    ids=["normal", "uniform", "two values"],
)
def test_other_values_are_only_shifted_and_scaled(y):
    target = value_target(y, len(y), None)
    assert target.code.widths[0] == 0
    np.testing.assert_allclose(target.values.mean(), 0, atol=1e-6)
    np.testing.assert_allclose(target.values.std(), 1, rtol=1e-6)


def test_as_published_a_target_is_standardised_whatever_its_tails():
    X, y = heavy_table()
    selector = AutoNFSRegressor.as_published(n_epochs=1, balance=0.0, random_state=0)
    learnt = selector.fit(X, y)._target_code.encode(y).ravel()
    np.testing.assert_allclose(learnt, (y - y.mean()) / y.std(), rtol=1e-5)


def test_a_handful_of_huge_values_does_not_decide():
    X, y = heavy_table()
    selector = AutoNFSRegressor(random_state=0).fit(X, y)
    assert selector.support_[[2, 5]].all()
    assert selector.n_features_selected_ <= 4
    # Ranks, because the mean squared error is that of the largest value alone.
    order = np.argsort(np.argsort(selector.predict(X)))
    assert np.corrcoef(order, np.argsort(np.argsort(y)))[0, 1] > 0.9


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_values_of_extreme_size_come_back(scale):
    X, y = value_table()
    selector = quick_regressor().fit(X, y * scale)
    assert selector.score(X, y * scale) > 0.5


def test_imbalanced_classes_with_class_weight_are_all_predicted():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 6))
    y = np.where(X[:, 1] + 0.7 * rng.standard_normal(1000) > 2.4, "rare", "usual")
    plain, balanced = (
        quick(n_epochs=60, class_weight=weight).fit(X, y)
        for weight in (None, "balanced")
    )
    assert balanced.support_[1]
    recalls = [(s.predict(X)[y == "rare"] == "rare").mean() for s in (plain, balanced)]
    assert recalls[1] > max(0.7, recalls[0])


@pytest.mark.parametrize("size", [1e308, -1e308, np.finfo(np.float64).max])
def test_values_without_room_for_predictions_are_refused(size):
    X, y = value_table()
    values = y / np.abs(y).max() * size
    with pytest.raises(ValueError, match=r"y must hold numbers between -1e\+300 and"):
        AutoNFSRegressor().fit(X, values)


@pytest.mark.parametrize("shape", ["even", "heavy"])
def test_predictions_of_huge_values_are_finite(shape):
    X, y = value_table()
    values = y / np.abs(y).max() * 1e300
    if shape == "heavy":
        values[3:] /= 1e50
    selector = quick_regressor(balance=0.1, n_members=4).fit(X, values)
    far = np.concatenate([X, 1e30 * X, -1e30 * X])
    assert np.isfinite(selector.predict(far)).all()
    code = value_target(values, len(values), None).code
    assert np.isfinite(code.decode(np.array([[1e30], [-1e30]]))).all()
