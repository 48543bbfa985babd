"""The tables of the breadth suite with useless columns added, and four judges."""

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tables

CLASSES = (
    *("credit_g", "spambase", "splice", "satimage", "arrhythmia", "qsar_biodeg"),
    *("telco_churn", "soybean", "steel_plates", "kr_vs_kp", "ionosphere"),
)
VALUES = (
    *("ames_housing", "cpu_act", "pol", "auto_mpg", "ailerons"),
    *("communities_crime", "student_por"),
)
WIDE = ("colon_alon", "tox171", "riboflavin")
REGRESSIONS = {*VALUES, "riboflavin"}
SCENARIOS = ("random", "corrupted")
_MOST_TEST_ROWS = 3000


@dataclass(frozen=True)
class Cell:
    """One draw of rows and of added columns."""

    train: pd.DataFrame
    y_train: np.ndarray
    test: pd.DataFrame
    y_test: np.ndarray
    is_original: np.ndarray
    is_regression: bool


def as_numbers(frame: pd.DataFrame) -> np.ndarray:
    """Return a frame as numbers, categories as their codes, NaN where missing."""
    columns = []
    for _, column in frame.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes = column.cat.codes.to_numpy(dtype=float)
            columns.append(np.where(codes < 0, np.nan, codes))
        else:
            columns.append(column.to_numpy(dtype=float, na_value=np.nan))
    return np.column_stack(columns)


def imputed(train: np.ndarray, *others: np.ndarray) -> list[np.ndarray]:
    """Replace missing values by the medians of the first array."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # columns without any value
        medians = np.nan_to_num(np.nanmedian(train, axis=0))
    return [np.where(np.isnan(a), medians, a) for a in (train, *others)]


def make_cell(name: str, scenario: str, draw: int, most_rows: int) -> Cell:
    """Draw rows, 70 % of at most `most_rows` for training, and as many new columns.

    Random columns are standard normal; a corrupted one is half a drawn column and half
    noise of its spread, as in the benchmark of the paper.
    """
    frame = pd.read_parquet(tables.data_folder() / "breadth" / f"{name}.parquet")
    y = frame.pop("target").to_numpy()
    is_regression = name in REGRESSIONS
    n_train = int(0.7 * min(len(y), most_rows))
    train, test = train_test_split(
        np.arange(len(y)),
        train_size=n_train,
        test_size=min(len(y) - n_train, _MOST_TEST_ROWS),
        random_state=draw,
        stratify=None if is_regression else y,
    )
    rows = np.concatenate([train, test])
    frame, y = frame.iloc[rows].reset_index(drop=True), y[rows]
    rng = np.random.default_rng([draw, 77])
    n_columns = frame.shape[1]
    if scenario == "random":
        extra = rng.standard_normal(frame.shape)
    else:
        numbers, chosen = as_numbers(frame), rng.integers(n_columns, size=n_columns)
        spread = np.nanstd(numbers, axis=0)[chosen]
        noise = rng.standard_normal(frame.shape)
        extra = 0.5 * numbers[:, chosen] + 0.5 * spread * noise
    names = [f"{scenario}_{i}" for i in range(n_columns)]
    frame = pd.concat([frame, pd.DataFrame(extra, columns=names)], axis=1)
    return Cell(
        frame.iloc[:n_train].reset_index(drop=True),
        y[:n_train],
        frame.iloc[n_train:].reset_index(drop=True),
        y[n_train:],
        np.arange(2 * n_columns) < n_columns,
        is_regression,
    )


class Judges:
    """Score sets of columns of a cell by boosted trees, forest, linear, neighbours.

    In points: balanced accuracy, or R² (not below -100), on the test rows. Boosted
    trees see missing values, the others medians; linear models and neighbours see
    indicators of categories.
    """

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        raw = as_numbers(cell.train), as_numbers(cell.test)
        filled = imputed(*raw)
        wide = [
            [self._indicators(j, part) for j in range(part.shape[1])] for part in raw
        ]
        for j, (_, column) in enumerate(cell.train.items()):
            if not isinstance(column.dtype, pd.CategoricalDtype):
                for part, values in zip(wide, filled, strict=True):
                    part[j] = values[:, [j]]
        self._raw, self._filled, self._wide = raw, filled, wide
        self._scores: dict[bytes, dict[str, float]] = {}

    def _indicators(self, j: int, numbers: np.ndarray) -> np.ndarray:
        """Return one column for each category of a column, nothing for numbers."""
        column = self.cell.train.iloc[:, j]
        n = 0
        if isinstance(column.dtype, pd.CategoricalDtype):
            n = len(column.cat.categories)
        return (numbers[:, j, None] == np.arange(n)).astype(float)

    def scores(self, support: np.ndarray) -> dict[str, float]:
        """Return one score a judge."""
        key = support.tobytes()
        if key not in self._scores:
            self._scores[key] = self._fresh_scores(np.flatnonzero(support))
        return self._scores[key]

    def _fresh_scores(self, columns: np.ndarray) -> dict[str, float]:
        """Train the four judges on some columns."""
        raw = [part[:, columns] for part in self._raw]
        filled = [part[:, columns] for part in self._filled]
        wide = [np.hstack([part[j] for j in columns]) for part in self._wide]
        parts = {"boosted": raw, "forest": filled, "linear": wide, "neighbours": wide}
        scores = {}
        for name, model in judges(self.cell.is_regression).items():
            train, test = parts[name]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = model.fit(train, self.cell.y_train).predict(test)
                if self.cell.is_regression:
                    score = max(r2_score(self.cell.y_test, found), -1.0)
                else:
                    score = balanced_accuracy_score(self.cell.y_test, found)
            scores[name] = 100 * float(score)
        return scores


def judges(is_regression: bool) -> dict:
    """Return the four models, untrained."""
    if is_regression:
        return {
            "boosted": HistGradientBoostingRegressor(
                early_stopping=False, random_state=0
            ),
            "forest": RandomForestRegressor(150, max_features=0.33, random_state=0),
            "linear": make_pipeline(StandardScaler(), RidgeCV(np.logspace(-1, 4, 11))),
            "neighbours": make_pipeline(
                StandardScaler(), KNeighborsRegressor(10, weights="distance")
            ),
        }
    return {
        "boosted": HistGradientBoostingClassifier(early_stopping=False, random_state=0),
        "forest": RandomForestClassifier(150, random_state=0),
        "linear": make_pipeline(
            StandardScaler(), LogisticRegression(C=0.3, max_iter=300)
        ),
        "neighbours": make_pipeline(
            StandardScaler(), KNeighborsClassifier(10, weights="distance")
        ),
    }
