import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from featuresieve import TRUSTED_TYPES, AutoNFSClassifier, AutoNFSRegressor, Training
from interrupted_fits import fit_until
from made_tables import class_table
from saved_estimators import quick, saved_and_loaded

ESTIMATORS = [AutoNFSClassifier, AutoNFSRegressor]


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize("training", [None, Training()])
def test_params_show_the_entries_with_and_without_an_object(estimator_class, training):
    deep = estimator_class(training=training).get_params()
    entries = {f"training__{name}": v for name, v in Training().get_params().items()}
    assert len(entries) == 21
    assert deep | entries == deep
    assert not entries.keys() & estimator_class().get_params(deep=False).keys()


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_an_entry_can_be_set_where_there_is_no_object_or_another(estimator_class):
    selector = estimator_class().set_params(
        training__noise="logistic", training__n_epochs=3
    )
    assert (selector.training.noise, selector.training.n_epochs) == ("logistic", 3)
    assert estimator_class().training is None
    assert estimator_class().get_params()["training__noise"] == "gumbel"
    selector.set_params(training__penalty_ramp=0.0, training=None)
    assert selector.training.noise == "gumbel"
    assert selector.training.penalty_ramp == 0.0
    with pytest.raises(ValueError, match="Invalid parameter 'nosie'"):
        estimator_class().set_params(training__nosie="logistic")


def test_objects_with_the_same_entries_are_equal():
    assert Training(noise="logistic") == Training(noise="logistic")
    assert Training(noise="logistic") != Training()
    selector = AutoNFSClassifier(training=Training(noise="logistic"))
    assert clone(selector).get_params() == selector.get_params()


def test_an_object_is_the_same_as_none_where_it_has_the_defaults(tmp_path):
    X, y = class_table()
    plain, given = quick().fit(X, y), quick(training=Training()).fit(X, y)
    np.testing.assert_array_equal(given.logits_, plain.logits_)
    np.testing.assert_array_equal(given.predict_proba(X), plain.predict_proba(X))
    path = tmp_path / "fit.checkpoint"  # which knows them as the same
    assert fit_until(quick(checkpoint=path), X, y, n_writes=2)
    resumed = quick(checkpoint=path, training=Training()).fit(X, y)
    np.testing.assert_array_equal(resumed.logits_, plain.logits_)
    other = quick(training=Training(noise="logistic")).fit(X, y)
    assert (other.logits_ != plain.logits_).all()


@pytest.mark.parametrize("training", [None, Training(noise="logistic")])
def test_fit_does_not_write_the_argument(training):
    selector = AutoNFSClassifier(0.01, training=training, random_state=0)
    selector.fit(*class_table())
    assert selector.training is training
    if training is not None:
        assert vars(training) == vars(Training(noise="logistic"))


def test_a_grid_varies_an_entry():
    X, y = class_table()
    pipeline = make_pipeline(StandardScaler(), quick(n_epochs=2))
    grid = {"autonfsclassifier__training__noise": ["gumbel", "logistic"]}
    found = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert found.best_params_.keys() == grid.keys()
    assert pipeline[-1].training == Training(n_epochs=2)


COPIES = {
    "clone": lambda selector, _: clone(selector),
    "copy": lambda selector, _: copy.copy(selector),
    "deepcopy": lambda selector, _: copy.deepcopy(selector),
    "pickle": lambda selector, _: pickle.loads(pickle.dumps(selector)),
    "file": saved_and_loaded,
}


@pytest.mark.parametrize("way", COPIES)
def test_every_copy_has_an_object_of_its_own_with_the_same_entries(way, tmp_path):
    training = Training(n_epochs=2, noise="logistic", hidden_sizes=[8], batch_size=16)
    selector = AutoNFSClassifier(0.01, training=training, random_state=0)
    other = COPIES[way](selector.fit(*class_table()), tmp_path)
    assert type(other.training) is Training
    assert other.training is not training
    assert other.training.get_params() == training.get_params()


def test_a_pickle_holds_public_names_and_derived_classes_as_they_are():
    data = pickle.dumps(quick(training=Training(noise="logistic")))
    assert b"AutoNFSClassifier" in data
    assert b"Training\x94" not in data
    data = pickle.dumps(Training(noise="logistic"))
    assert b"featuresieve.engine" not in data
    assert pickle.loads(data).noise == "logistic"
    selector = pickle.loads(pickle.dumps(quick(training=OwnTraining(noise="logistic"))))
    assert type(selector.training) is OwnTraining
    assert selector.training.noise == "logistic"


def test_skops_needs_no_more_trust_for_it():
    import skops.io

    training = Training(noise="logistic", hidden_sizes=(8,))
    data = skops.io.dumps(AutoNFSClassifier(training=training))
    asked = skops.io.get_untrusted_types(data=data)
    assert asked == ["featuresieve.AutoNFSClassifier"]
    again = skops.io.loads(data, trusted=TRUSTED_TYPES)
    assert again.training == training


class OwnTraining(Training):
    """A variant that a user derived, with the same entries."""
