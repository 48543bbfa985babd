"""Three parts of a data set, and what is learnt from the first alone."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import train_test_split

from sievebench.data._catalog import Metric, Scaler, Task
from sievebench.data._dataset import Dataset, Marks, Matrix
from sievebench.data._exceptions import SmallDataError
from sievebench.data._scaling import column_means, fit_scaler

# 65 / 15 / 20 %: first the test part, then the validation part of what is left.
_TEST_FRACTION = 0.2
_VALIDATION_FRACTION_OF_REST = 0.15 / 0.8


@dataclass(frozen=True)
class Part:
    """Some rows of a table.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_columns)
    y : ndarray of shape (n_rows,)
        Class codes, or values.
    """

    X: Matrix
    y: npt.NDArray[Any]


@dataclass(frozen=True)
class Split:
    """A data set in three parts.

    Attributes
    ----------
    train, validation, test : Part
    is_original : ndarray of shape (n_columns,)
    task, metric, scaler : str
        As in the catalogue.
    n_classes : int
        0 for regression.
    is_scaled : bool
        Whether missing values are filled and columns scaled.
    """

    train: Part
    validation: Part
    test: Part
    is_original: Marks
    task: Task
    metric: Metric
    scaler: Scaler
    n_classes: int
    is_scaled: bool = False

    @property
    def parts(self) -> tuple[Part, Part, Part]:
        """Train, validation and test."""
        return (self.train, self.validation, self.test)

    def keep(self, support: Marks) -> "Split":
        """Return the split with the marked columns only.

        Parameters
        ----------
        support : ndarray of shape (n_columns,)

        Returns
        -------
        Split
        """
        train, validation, test = (
            Part(np.ascontiguousarray(part.X[:, support]), part.y)
            for part in self.parts
        )
        return replace(
            self,
            train=train,
            validation=validation,
            test=test,
            is_original=self.is_original[support],
        )

    def scaled(self) -> "Split":
        """Return the split, imputed and scaled by what the train part shows.

        Missing values become the column's mean, then the scaler of the data set is
        applied. All of it is learnt from the train part.

        Returns
        -------
        Split
        """
        if self.is_scaled:
            raise ValueError("the split is scaled already.")
        means = column_means(self.train.X)
        filled = [np.where(np.isnan(part.X), means, part.X) for part in self.parts]
        scaler = fit_scaler(self.scaler, filled[0])
        train, validation, test = (
            Part(np.asarray(scaler.transform(X)), part.y)
            for X, part in zip(filled, self.parts, strict=True)
        )
        return replace(
            self, train=train, validation=validation, test=test, is_scaled=True
        )


def split(dataset: Dataset, seed: int = 0) -> Split:
    """Cut a data set into train, validation and test, 65 / 15 / 20 %.

    Classes are kept in proportion. A regression target is standardised by mean and
    standard deviation of the train part.

    Parameters
    ----------
    dataset : Dataset
    seed : int, default=0
        The benchmark's is always 0.

    Returns
    -------
    Split

    Raises
    ------
    SmallDataError
        If there are too few rows, in all or of a class.
    """
    y = dataset.y
    is_classification = dataset.task == "classification"
    try:
        train, validation, test = _cut(y if is_classification else None, len(y), seed)
    except ValueError as error:
        raise SmallDataError(
            f"{dataset.name} has too few rows to be split: {error}"
        ) from error
    if not is_classification:
        y = _standardised(y, train)
    parts = [Part(dataset.X[rows], y[rows]) for rows in (train, validation, test)]
    return Split(
        train=parts[0],
        validation=parts[1],
        test=parts[2],
        is_original=dataset.is_original,
        task=dataset.task,
        metric=dataset.metric,
        scaler=dataset.scaler,
        n_classes=dataset.n_classes,
    )


def _cut(
    classes: npt.NDArray[np.int64] | None, n_rows: int, seed: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the rows of train, validation and test, classes in proportion."""
    rest, test = train_test_split(
        np.arange(n_rows),
        test_size=_TEST_FRACTION,
        random_state=seed,
        stratify=classes,
    )
    train, validation = train_test_split(
        rest,
        test_size=_VALIDATION_FRACTION_OF_REST,
        random_state=seed,
        stratify=None if classes is None else classes[rest],
    )
    return train, validation, test


def _standardised(
    y: npt.NDArray[np.float64], train: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return (y - mean) / std with the statistics of the train rows."""
    spread = y[train].std()
    return np.asarray((y - y[train].mean()) / (spread if spread > 0 else 1.0))
