"""xgboost and lightgbm learn from the kept columns, and know their names."""

import lightgbm
import polars as pl
import pytest
import xgboost
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from quick_selectors import quick

BOOSTERS = [
    xgboost.XGBClassifier(n_estimators=5, n_jobs=1, enable_categorical=True),
    lightgbm.LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1),
]


@pytest.mark.parametrize("booster", BOOSTERS, ids=["xgboost", "lightgbm"])
def test_names_of_the_kept_columns_reach_the_booster(booster, table):
    X, y = table
    pipeline = make_pipeline(quick(), booster).fit(X, y)
    kept = list(pipeline[0].get_feature_names_out())
    if isinstance(booster, lightgbm.LGBMClassifier):
        kept = [name.replace(" ", "_") for name in kept]  # lightgbm has no spaces
    assert list(pipeline[-1].feature_names_in_) == kept
    assert pipeline.score(X, y) > 0.9


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
@pytest.mark.parametrize("booster", BOOSTERS, ids=["xgboost", "lightgbm"])
def test_booster_takes_kept_columns_of_other_frames(booster, library, table):
    X, y = pl.from_pandas(table[0]), table[1].to_numpy()
    X = X.to_arrow() if library == "pyarrow" else X
    pipeline = make_pipeline(quick(), booster).fit(X, y)
    assert isinstance(pipeline[0].transform(X), type(X))
    assert pipeline.score(X, y) > 0.9


@pytest.mark.parametrize("booster", BOOSTERS, ids=["xgboost", "lightgbm"])
def test_categories_stay_categories_on_the_way_to_the_booster(booster, table, word):
    X, y = table
    X = X[["worst texture"]].assign(word=word).astype({"word": "category"})
    pipeline = make_pipeline(quick(always_keep=["word"]), booster).fit(X, y)
    assert pipeline[0].transform(X)["word"].dtype == "category"
    assert pipeline.score(X, y) > 0.9


@pytest.mark.parametrize("booster", BOOSTERS, ids=["xgboost", "lightgbm"])
def test_booster_stops_early_on_rows_that_went_through_the_selector(booster, table):
    X, y = table
    selector = quick().fit(X[:400], y[:400])
    kept, held_out = selector.transform(X[:400]), selector.transform(X[400:])
    booster = clone(booster).set_params(n_estimators=200)
    if isinstance(booster, xgboost.XGBClassifier):
        booster.set_params(early_stopping_rounds=3)
        booster.fit(kept, y[:400], eval_set=[(held_out, y[400:])], verbose=False)
        assert booster.best_iteration < 199
    else:
        stop = {"callbacks": [lightgbm.early_stopping(3, verbose=False)]}
        booster.fit(kept, y[:400], eval_X=held_out, eval_y=y[400:], **stop)
        assert booster.best_iteration_ < 199
