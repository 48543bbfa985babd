"""optuna searches over the arguments of a selector, alone and in a pipeline."""

import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna_integration import OptunaSearchCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from quick_selectors import quick

optuna.logging.set_verbosity(optuna.logging.WARNING)


def pipeline():
    return make_pipeline(StandardScaler(), quick(), LogisticRegression())


def test_search_finds_a_balance_and_refits(table):
    X, y = table
    balance = "autonfsclassifier__balance"
    ranges = {
        balance: FloatDistribution(0.01, 0.1, log=True),
        "logisticregression__C": FloatDistribution(0.1, 10.0, log=True),
    }
    search = OptunaSearchCV(pipeline(), ranges, n_trials=3, cv=2, random_state=0)
    search.fit(X, y)
    best = pipeline().set_params(**search.best_params_)
    scores = cross_val_score(best, X, y, cv=2)
    assert search.best_score_ == pytest.approx(scores.mean())
    assert search.best_estimator_[1].balance == search.best_params_[balance]


def test_study_weighs_the_score_against_the_count(table):
    X, y = table

    def objective(trial):
        n_features = trial.suggest_int("n_features", 1, 20)
        counted = {"autonfsclassifier__n_features_to_select": n_features}
        scores = cross_val_score(pipeline().set_params(**counted), X, y, cv=2)
        return scores.mean(), n_features

    sampler = optuna.samplers.RandomSampler(seed=0)
    study = optuna.create_study(directions=["maximize", "minimize"], sampler=sampler)
    study.optimize(objective, n_trials=4)
    best = sorted(study.best_trials, key=lambda trial: trial.values[1])
    assert [trial.values[0] for trial in best] == sorted(t.values[0] for t in best)
