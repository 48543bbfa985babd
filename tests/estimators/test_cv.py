import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from featuresieve import FeatureSieveWarning, load
from quick_selectors import quick

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 6))
Y = np.repeat((X[:60, 0] > 0).astype(int), 2)
X[:, 0] = np.repeat(X[:60, 0], 2) + 0.01 * RNG.standard_normal(120)
GROUPS = np.repeat(np.arange(60), 2)


class Watched(KFold):
    """A splitter that remembers what it was asked, and what it said."""

    def split(self, X, y=None, groups=None):
        self.asked = X, y, groups
        self.said = list(super().split(X, y, groups))
        return iter(self.said)


@pytest.mark.parametrize(
    "cv",
    [
        GroupKFold(4),
        TimeSeriesSplit(3),
        ShuffleSplit(4, test_size=0.4, random_state=0),
        [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))],
        [(np.arange(120) < 80, np.arange(120) >= 80)],
    ],
    ids=lambda cv: type(cv).__name__,
)
def test_folds_of_every_kind_find_the_column(cv):
    fitted = quick(cv=cv).fit(X, Y, groups=GROUPS)
    assert fitted.order_[0] == 0


def test_splitter_is_asked_with_row_numbers_target_and_groups():
    splitter = Watched(4)
    assert quick(cv=splitter).fit(X, Y, groups=GROUPS).order_[0] == 0
    numbers, y, groups = splitter.asked
    assert numbers.ravel().tolist() == list(range(120))
    assert y.tolist() == Y.tolist()
    assert groups.tolist() == GROUPS.tolist()


def test_count_means_stratified_folds_as_in_scikit_learn():
    counted = quick(cv=4).fit(X, Y)
    given = quick(cv=StratifiedKFold(4)).fit(X, Y)
    assert counted.logits_.tolist() == given.logits_.tolist()


def test_held_out_rows_are_those_of_the_folds():
    """A fold whose held-out labels are turned round is worse than a constant."""
    turned = np.where(np.arange(120) < 60, Y, 1 - Y)
    honest = [(np.arange(40), np.arange(40, 60))]
    wrong = [(np.arange(60), np.arange(60, 120))]
    good = quick(cv=honest).fit(X, turned).path_["loss"].min()
    with pytest.warns(FeatureSieveWarning, match="no set of columns"):
        bad = quick(cv=wrong).fit(X, turned).path_["loss"].min()
    assert good < np.log(2) <= bad + 0.05


def test_rows_keep_their_fold_when_the_table_is_shuffled():
    order = RNG.permutation(120)
    inverse = np.argsort(order)
    folds = list(KFold(4).split(X))
    moved = [(inverse[train], inverse[test]) for train, test in folds]
    one, other = quick(cv=folds).fit(X, Y), quick(cv=moved).fit(X[order], Y[order])
    assert one.path_.tolist() == other.path_.tolist()


def test_row_held_out_twice_counts_once_in_the_error():
    fold = next(KFold(3).split(X))
    once, twice = quick(cv=[fold]).fit(X, Y), quick(cv=[fold, fold]).fit(X, Y)
    ratio = twice.path_["loss_error"][0] / once.path_["loss_error"][0]
    assert 0.8 < ratio < 1.2  # not 1 / sqrt(2); the networks differ


def test_splitter_is_not_saved_and_a_count_is(tmp_path):
    fitted = quick(cv=KFold(3)).fit(X, Y)
    with pytest.warns(FeatureSieveWarning, match="is saved as None"):
        fitted.save(tmp_path / "a")
    assert load(tmp_path / "a").cv is None
    quick(cv=3).fit(X, Y).save(tmp_path / "b")
    assert load(tmp_path / "b").cv == 3


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "cv must be None, a number of folds of at least 2"),
        ("group", "cv must be None, a number of folds"),
        (2.5, "cv must be None, a number of folds"),
        (KFold, "cv must be None, a number of folds"),
        (LeaveOneOut(), "cv must make between 1 and 50 folds, got 120"),
        ([], "cv must make between 1 and 50 folds, got 0"),
        ([([0, 1, 2], [2, 3])], "cv must keep rows apart"),
        ([([0], [1])], "at least 2 rows to learn from and 1 held out"),
        ([([0, 1], [])], "at least 2 rows to learn from and 1 held out"),
        ([([0, 500], [1])], "cv must hold numbers of rows, 0 to 119"),
        ([([0.5, 1], [1])], "cv must hold numbers of rows, 0 to 119"),
    ],
)
def test_folds_that_cannot_be_are_refused(cv, message):
    with pytest.raises(ValueError, match=message):
        quick(cv=cv).fit(X, Y)
