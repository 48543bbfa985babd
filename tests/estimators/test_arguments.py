import re
from inspect import signature

import numpy as np
import pytest
from sklearn.base import clone
from torch import nn

from featuresieve import AutoNFSClassifier, AutoNFSRegressor, Training
from made_tables import class_table

INT = r"an int >= 1"
POSITIVE = r"a finite number > 0"
NOT_NEGATIVE = r"a finite number >= 0"

COUNTS = ("n_features_to_select", "min_features_to_select", "max_features")
COUNTS += tuple(
    f"training__{name}"
    for name in ("max_categories", "n_members", "n_epochs", "batch_size")
)
COUNTS += ("training__embedding_size",)

# name, value, kind of error, what the message must say is allowed
BAD_ARGUMENTS = [
    ("balance", "automatic", ValueError, "'auto', 'price'"),
    ("balance", "automatic", ValueError, "number"),
    ("balance", -0.1, ValueError, NOT_NEGATIVE),
    ("balance", 1e30, ValueError, "<= 1e+12"),
    ("balance", None, TypeError, "number"),
    ("balance", None, TypeError, "'auto'"),
    ("balance", True, TypeError, "number"),
    *((name, 0, ValueError, INT) for name in COUNTS),
    *((name, "2", TypeError, INT) for name in COUNTS),
    *(
        (name, 9, ValueError, "at most the number of features, 8")
        for name in ("n_features_to_select", "min_features_to_select")
    ),
    ("min_features_to_select", None, TypeError, INT),
    ("feature_groups", "all", TypeError, "a list of lists of features"),
    ("class_weight", "heavy", ValueError, "a dict, 'balanced' or None"),
    ("tolerance", -0.01, ValueError, NOT_NEGATIVE),
    ("tolerance", None, TypeError, NOT_NEGATIVE),
    ("judge", "forest", ValueError, "'networks', 'trees'"),
    ("n_jobs", 0, ValueError, "-1 stands for all cores"),
    ("n_jobs", 2.0, TypeError, "an int >="),
    ("training__gate_rows", "both", ValueError, "'held_out', 'shared'"),
    ("training__n_epochs", 10.5, TypeError, INT),
    ("training__batch_size", True, TypeError, INT),
    ("training__hidden_sizes", 32, TypeError, "a tuple of ints >= 1"),
    ("training__hidden_sizes", "32", TypeError, "a tuple of ints >= 1"),
    ("training__embedding_size", None, TypeError, INT),
    ("training__task_network", "mlp", TypeError, "a callable"),
    ("training__task_network", nn.Linear(8, 2), TypeError, "builds a network, such as"),
    ("training__penalty", "count", ValueError, "'fraction', 'target'"),
    ("training__target_count", -1, ValueError, NOT_NEGATIVE),
    ("training__penalty_ramp", 1.1, ValueError, ">= 0 and <= 1"),
    ("training__penalty_ramp", -0.1, ValueError, ">= 0 and <= 1"),
    ("training__noise", "normal", ValueError, "'gumbel', 'logistic'"),
    ("training__noise", None, ValueError, "'gumbel', 'logistic'"),
    ("training__reduction", "none", ValueError, "'mean', 'sum'"),
    ("training__decision", "majority", ValueError, "'threshold', 'vote'"),
    ("training__start_temperature", 0, ValueError, POSITIVE),
    ("training__start_temperature", "2", TypeError, POSITIVE),
    ("training__temperature_decay", 0.0, ValueError, "> 0 and <= 1"),
    ("training__temperature_decay", 1.5, ValueError, "> 0 and <= 1"),
    ("training__mask_learning_rate", 0.0, ValueError, POSITIVE),
    ("training__mask_learning_rate", None, TypeError, POSITIVE),
    ("training__task_learning_rate", -1e-3, ValueError, POSITIVE),
    ("training__mask_init", "normal", ValueError, "'zeros', 'uniform'"),
    ("training__train_embedding", 1, TypeError, "True or False"),
    ("training__scaling", "minmax", ValueError, "'normal_scores', 'standard', 'none'"),
    ("goal", "all", ValueError, "'minimal', 'all_relevant'"),
    ("cv", 1, ValueError, "a number of folds of at least 2"),
    ("max_time", 0, ValueError, POSITIVE),
    ("max_time", -1.0, ValueError, POSITIVE),
    ("max_time", "10", TypeError, POSITIVE),
    ("checkpoint", 3, TypeError, "the path of a file"),
    ("checkpoint", b"a", TypeError, "the path of a file"),
    ("checkpoint", "", ValueError, "in a folder that exists"),
    ("checkpoint", "no/such/folder/a", ValueError, "in a folder that exists"),
    ("training", "logistic", TypeError, "a featuresieve.Training or None"),
    ("training", Training, TypeError, "a featuresieve.Training or None"),
    ("verbose", -1, ValueError, "an int >= 0"),
    ("verbose", "yes", TypeError, "True or False"),
    ("device", "abacus", ValueError, "'auto'"),
    ("device", "meta", ValueError, "'auto'"),
    ("device", None, (TypeError, ValueError), "'auto'"),
    ("random_state", "seed", (TypeError, ValueError), "int"),
    ("random_state", -1, ValueError, "int"),
]


@pytest.mark.parametrize(("name", "value", "error", "allowed"), BAD_ARGUMENTS)
def test_bad_argument_is_refused_by_name_with_its_value(name, value, error, allowed):
    with pytest.raises(error) as caught:
        AutoNFSClassifier().set_params(**{name: value}).fit(*class_table())
    message = str(caught.value)
    assert name.replace("__", ".") in message
    assert str(value) in message
    assert allowed in message


# Arguments with several entries: the message names the wrong one.
BAD_ENTRIES = [
    ("feature_groups", [[0, 99]], "positions 0 to 7, got 99"),
    ("feature_groups", [[0, 1], [1, 2]], "disjoint, got 1 in two"),
    ("feature_groups", [[0], []], "feature_groups[1] must name at least one feature"),
    ("always_keep", ["area"], "because X has no column names, got 'area'"),
    ("never_keep", [-99], "positions 0 to 7, got -99"),
    ("never_keep", range(8), "must leave at least one feature, got all"),
    ("feature_costs", [1.0, 2.0], "each of the 8 features, got 2"),
    ("feature_costs", {0: -1.0}, "a finite number >= 0 and <= 1e+12, got -1.0"),
    ("class_weight", {0: -1.0}, "finite and >= 0, and at most 1e+200, got 0: -1.0"),
    ("training__hidden_sizes", (8, 0), "every entry of training.hidden_sizes must be"),
    ("training__hidden_sizes", (8, 1.5), "must be an int >= 1, got 1.5."),
]


@pytest.mark.parametrize(("name", "value", "statement"), BAD_ENTRIES)
def test_bad_entry_is_refused_by_name_with_its_value(name, value, statement):
    error = TypeError if value == (8, 1.5) else ValueError
    with pytest.raises(error, match=re.escape(statement)) as caught:
        AutoNFSClassifier().set_params(**{name: value}).fit(*class_table())
    assert name.replace("__", ".") in str(caught.value)


def test_an_array_that_is_refused_stands_in_one_line():
    values = np.zeros((40, 40))
    with pytest.raises(ValueError, match=r"got array\(\[\[0\., 0\..*\.\.\.\.$"):
        AutoNFSClassifier(goal=values).fit(*class_table())


@pytest.mark.parametrize("kind", [AutoNFSClassifier, AutoNFSRegressor])
def test_an_unknown_argument_is_reported_for_the_class_that_was_called(kind):
    message = (
        rf"^{kind.__name__}.__init__\(\) got an unexpected keyword argument "
        r"'n_feature_to_select'.* did you mean 'n_features_to_select'\?$"
    )
    with pytest.raises(TypeError, match=message):
        kind(n_feature_to_select=3)
    with pytest.raises(TypeError, match=message):
        kind.as_published(n_feature_to_select=3)
    with pytest.raises(TypeError, match=rf"^{kind.__name__}.__init__\(\) too many pos"):
        kind("auto", 3)
    message = rf"^{kind.__name__}.fit\(\) .*'weights'; did you mean 'sample_weight'\?"
    with pytest.raises(TypeError, match=message):
        kind().fit([[1], [2]], [0, 1], weights=[1, 2])
    message = rf"^{kind.__name__}.fit\(\) too many .* such as sample_weight=\.\.\.$"
    with pytest.raises(TypeError, match=message):
        kind().fit([[1], [2]], [0, 1], [1, 2])


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("noise", "training=Training(noise=...)"),
        ("n_epochs", "training=Training(n_epochs=...)"),
        ("training__n_epochs", "training=Training(n_epochs=...)"),
        ("n_member", "training=Training(n_members=...)"),
        ("hidden_layer_sizes", "training=Training(hidden_sizes=...)"),
        ("groups", "'feature_groups'"),
    ],
)
def test_an_argument_that_lives_elsewhere_is_told_where(name, meant):
    message = re.escape(f"argument {name!r}; did you mean {meant}?")
    with pytest.raises(TypeError, match=message):
        AutoNFSClassifier(**{name: None})


def test_wrong_entry_of_training_names_the_nearest():
    message = r"^Training.__init__\(\) .*'n_epoch'; did you mean 'n_epochs'\?$"
    with pytest.raises(TypeError, match=message):
        Training(n_epoch=3)
    with pytest.raises(TypeError, match=r"^Training.* such as n_members=\.\.\.$"):
        Training(3)


@pytest.mark.parametrize("kind", [AutoNFSClassifier, AutoNFSRegressor])
def test_wrong_argument_of_a_method_names_the_class_that_was_called(kind):
    message = rf"^{kind.__name__}.score\(\) missing a required argument: 'y'"
    with pytest.raises(TypeError, match=message):
        kind().score([[1]])
    message = rf"^{kind.__name__}.report\(\) .*'fact'; did you mean 'facts'\?$"
    with pytest.raises(TypeError, match=message):
        kind().report("page.html", fact={})


@pytest.mark.parametrize("name", ["noise", "n_epochs", "scaling"])
def test_an_entry_of_training_is_told_how_to_be_set(name):
    message = rf"'{name}' .* did you mean 'training__{name}'"
    with pytest.raises(ValueError, match=message):
        AutoNFSClassifier().set_params(**{name: None})


def test_the_constructor_shows_its_few_arguments_and_all_are_tried():
    shown = signature(AutoNFSClassifier)
    assert len(shown.parameters) <= 20
    assert list(shown.parameters)[:2] == ["balance", "n_features_to_select"]
    copy = clone(AutoNFSClassifier(0.5, n_features_to_select=3))
    assert (copy.balance, copy.n_features_to_select) == (0.5, 3)
    refused = {row[0] for row in (*BAD_ARGUMENTS, *BAD_ENTRIES)}
    assert refused == AutoNFSClassifier().get_params().keys()


@pytest.mark.parametrize("estimator_class", [AutoNFSClassifier, AutoNFSRegressor])
def test_arguments_are_not_checked_before_fit(estimator_class):
    selector = estimator_class(balance="automatic", training=Training(n_epochs=-3))
    params = selector.set_params(training__n_epochs=2).get_params()
    assert params["balance"] == "automatic"


@pytest.mark.filterwarnings("ignore::featuresieve.FeatureSieveWarning")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("training__n_members", np.int64(1)),
        ("balance", np.float32(0.5)),
        ("training__hidden_sizes", [4]),
        ("n_features_to_select", np.int32(2)),
        ("random_state", np.random.RandomState(0)),
    ],
)
def test_numpy_numbers_and_lists_are_welcome(name, value):
    selector = AutoNFSClassifier().set_params(training__n_epochs=1, **{name: value})
    selector.fit(*class_table())
    assert selector.n_features_selected_ >= 1
