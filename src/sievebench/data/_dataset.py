"""A table with its target, the three parts of it, and what is learnt from the first."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from sievebench.data._catalog import Metric, Scaler, SmallDataError, Task

Matrix = npt.NDArray[np.float64]
Marks = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class _Problem:
    """What is known of a table, whole or in parts."""

    # Whether each column belongs to the data set, and was not added to it.
    is_original: Marks
    # As in the catalogue.
    task: Task
    metric: Metric
    scaler: Scaler
    n_classes: int  # 0 for regression


@dataclass(frozen=True, kw_only=True)
class Dataset(_Problem):
    """A table, its target, and what must be known of both later on."""

    name: str  # as in the catalogue
    X: Matrix  # raw values, NaN where one is missing
    # Class codes 0 … n_classes - 1 (int64), or raw values (float64).
    y: npt.NDArray[Any]
    column_names: tuple[str, ...]
    # Whether the rows are only a part of the data set of that name.
    is_sample: bool = False
    # md5 of the file the rows were read from; empty for what scikit-learn brings.
    checksum: str = ""
    # Columns whose values together name the group of a row, such as its query.
    group_columns: tuple[int, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows at hand."""
        return int(self.X.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns, added ones included."""
        return int(self.X.shape[1])

    @property
    def n_original(self) -> int:
        """Number of columns that were not added."""
        return int(self.is_original.sum())

    def groups(self) -> npt.NDArray[np.int64] | None:
        """Return the number of the group of each row; None if rows have none."""
        if not self.group_columns:
            return None
        named = self.X[:, list(self.group_columns)]
        _, numbers = np.unique(named, axis=0, return_inverse=True)
        return np.asarray(numbers, dtype=np.int64).reshape(-1)


# 65 / 15 / 20 %: first the test part, then the validation part of what is left.
_TEST_FRACTION = 0.2
_VALIDATION_FRACTION_OF_REST = 0.15 / 0.8
_JITTER = 1e-3
_JITTER_SEED = 0
# At most so many quantiles, one for 30 rows, but at least ten.
_MOST_QUANTILES, _ROWS_PER_QUANTILE, _FEWEST_QUANTILES = 1000, 30, 10


@dataclass(frozen=True)
class Part:
    """Some rows of a table."""

    X: Matrix
    y: npt.NDArray[Any]  # class codes, or values


@dataclass(frozen=True, kw_only=True)
class Split(_Problem):
    """A data set in three parts."""

    train: Part
    validation: Part
    test: Part
    is_scaled: bool = False  # whether missing values are filled and columns scaled

    @property
    def parts(self) -> tuple[Part, Part, Part]:
        """Train, validation and test."""
        return (self.train, self.validation, self.test)

    def keep(self, support: Marks) -> "Split":
        """Return the split with the marked columns only."""
        kept = [np.ascontiguousarray(part.X[:, support]) for part in self.parts]
        return self._with(kept, is_original=self.is_original[support])

    def scaled(self) -> "Split":
        """Return the split, imputed and scaled by what the train part shows.

        Missing values become the column's mean, then the scaler of the data set is
        applied. All of it is learnt from the train part.
        """
        if self.is_scaled:
            raise ValueError("the split is scaled already.")
        n_there = (~np.isnan(self.train.X)).sum(axis=0)  # where nothing is: mean 0
        means = np.nansum(self.train.X, axis=0) / np.maximum(n_there, 1)
        filled = [np.where(np.isnan(part.X), means, part.X) for part in self.parts]
        scaler = fit_scaler(self.scaler, filled[0])
        scaled = [np.asarray(scaler.transform(X)) for X in filled]
        return self._with(scaled, is_scaled=True)

    def _with(self, features: Iterable[Matrix], **changes: Any) -> "Split":
        """Return the split with other features in its parts, and other changes."""
        train, validation, test = (
            Part(X, part.y) for X, part in zip(features, self.parts, strict=True)
        )
        return replace(self, train=train, validation=validation, test=test, **changes)


def split(
    dataset: Dataset, seed: int = 0, groups: npt.NDArray[np.int64] | None = None
) -> Split:
    """Cut a data set into train, validation and test, 65 / 15 / 20 %.

    Classes are kept in proportion. A regression target is standardised by mean and
    standard deviation of the train part. The benchmark's seed is always 0. With
    `groups`, a number for each row, no two parts share a group; 65 / 15 / 20 % is of
    the groups then. Raises SmallDataError if there are too few rows, in all or of a
    class.
    """
    y = dataset.y
    is_classification = dataset.task == "classification"
    try:
        if groups is None:
            classes = y if is_classification else None
            train, validation, test = _cut(classes, len(y), seed)
        else:
            drawn = _cut(None, int(groups.max()) + 1, seed)
            train, validation, test = (
                np.flatnonzero(np.isin(groups, some)) for some in drawn
            )
    except ValueError as error:
        raise SmallDataError(
            f"{dataset.name} has too few rows to be split: {error}"
        ) from error
    if not is_classification:
        spread = y[train].std()
        y = (y - y[train].mean()) / (spread if spread > 0 else 1.0)
    return Split(
        train=Part(dataset.X[train], y[train]),
        validation=Part(dataset.X[validation], y[validation]),
        test=Part(dataset.X[test], y[test]),
        **{item.name: getattr(dataset, item.name) for item in fields(_Problem)},
    )


def _cut(
    classes: npt.NDArray[np.int64] | None, n_rows: int, seed: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the rows of train, validation and test, classes in proportion."""
    rest, test = train_test_split(
        np.arange(n_rows), test_size=_TEST_FRACTION, random_state=seed, stratify=classes
    )
    train, validation = train_test_split(
        rest,
        test_size=_VALIDATION_FRACTION_OF_REST,
        random_state=seed,
        stratify=None if classes is None else classes[rest],
    )
    return train, validation, test


def fit_scaler(kind: Scaler, X: Matrix) -> Any:
    """Return a fitted scikit-learn scaler.

    "standard" is the z-score. "quantile" maps each column to a normal distribution,
    fitted on ``X + e`` with ``e ~ N(0, (1e-3 / max(std, 1e-3))²)`` for each column, as
    in the benchmark; it is then applied to rows without jitter.
    """
    if kind == "standard":
        return StandardScaler().fit(X)
    generator = np.random.RandomState(_JITTER_SEED)
    spread = _JITTER / np.maximum(X.std(axis=0), _JITTER)
    jittered = X + spread * generator.standard_normal(X.shape)
    n_quantiles = min(len(X) // _ROWS_PER_QUANTILE, _MOST_QUANTILES)
    return QuantileTransformer(
        output_distribution="normal",
        # Never more than rows: scikit-learn would warn and take that many.
        n_quantiles=min(max(n_quantiles, _FEWEST_QUANTILES), len(X)),
        subsample=None,
        random_state=0,
    ).fit(jittered)
