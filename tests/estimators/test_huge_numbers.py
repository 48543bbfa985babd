import inspect
import re
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import sievebench.cli
from featuresieve import AutoNFSClassifier, AutoNFSRegressor, Training
from featuresieve.cli import main
from made_tables import class_table, value_table
from sievebench.checks import check_integer, check_number

pytestmark = pytest.mark.filterwarnings("ignore::featuresieve.FeatureSieveWarning")

HUGE = 10**400
COUNTS = (
    *("n_features_to_select", "min_features_to_select", "max_features", "n_jobs"),
    *("training__n_members", "training__n_epochs", "training__max_categories"),
    *("training__batch_size", "training__embedding_size"),
)
NUMBERS = (
    *("balance", "tolerance", "max_time"),
    *("training__target_count", "training__penalty_ramp"),
    *("training__start_temperature", "training__temperature_decay"),
    *("training__mask_learning_rate", "training__task_learning_rate"),
)
NO_NUMBERS = (float("inf"), float("nan"), np.float32("inf"), Decimal("inf"))
HUGE_NUMBERS = (HUGE, -HUGE, 10**5000, Fraction(HUGE), np.longdouble("1e400"))


def fit(**arguments):
    settings = {"balance": "price", "training__n_epochs": 2, "random_state": 0}
    selector = AutoNFSClassifier().set_params(**(settings | arguments))
    return selector.fit(*class_table())


def told(name):
    return name.replace("__", ".")


@pytest.mark.parametrize("name", [*COUNTS, *NUMBERS])
def test_number_out_of_range_is_refused_by_name(name):
    for value in (*NO_NUMBERS, *HUGE_NUMBERS):
        with pytest.raises(
            (ValueError, TypeError), match=f"^{told(name)}.* must be "
        ) as caught:
            fit(**{name: value})
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *product(["training__hidden_sizes", "feature_costs"], [2**63]),
        *product(
            ["training__hidden_sizes", "feature_costs", "class_weight"],
            [HUGE, Fraction(HUGE)],
        ),
    ],
)
def test_entry_out_of_range_is_refused_by_name(name, value):
    entries = {0: value, 1: 1} if name == "class_weight" else [value] * 8
    with pytest.raises(
        (ValueError, TypeError), match=f"every entry of {told(name)} must be"
    ):
        fit(**{name: entries})


@pytest.mark.parametrize("name", ["feature_costs", "class_weight"])
def test_entry_may_be_a_fraction(name):
    plain = fit(**{name: {0: 0.5, 1: 1.0}})
    other = fit(**{name: {0: Fraction(1, 2), 1: np.float32(1)}})
    assert np.array_equal(plain.logits_, other.logits_)


@pytest.mark.parametrize("name", NUMBERS)
def test_number_may_be_a_fraction(name):
    compared = {"balance": "auto"} if name == "tolerance" else {}
    assert fit(**compared, **{name: Fraction(1, 100)}).n_features_selected_ >= 1


def test_time_may_be_endless_and_a_device_is_no_number():
    assert fit(max_time=1e308, training__n_epochs=40).n_features_selected_ >= 1
    with pytest.raises(ValueError, match=r"^device must be 'auto'"):
        fit(device=HUGE)


@pytest.mark.parametrize("value", [HUGE, Fraction(HUGE)])
def test_weight_of_a_row_may_not_be_huge(value):
    X, y = class_table()
    for weights in (value, [value] * len(y)):
        with pytest.raises(ValueError, match=r"^sample_weight must be at most 1e.200"):
            AutoNFSClassifier().fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("value", [HUGE, -HUGE, Fraction(HUGE), Decimal("1e400")])
def test_target_may_not_be_huge(value):
    X, y = value_table()
    y = [value, *y[1:]]
    with pytest.raises(ValueError, match="Input y contains infinity or a value too"):
        AutoNFSRegressor().fit(X, y)


@pytest.mark.parametrize("key", ["cost", "class-weight"])
def test_entry_of_a_configuration_is_refused(key, tmp_path, capsys):
    path = tmp_path / "c.toml"
    words = ["select", "plain.csv", "--config", str(path)]
    for value in ("inf", "nan", "1" + "0" * 400, "-1"):
        path.write_text(f"target = 'y'\n{key} = {{ a = {value} }}")
        assert main(words) == 2
        message = f"{key} must be a table of numbers, finite and >= 0"
        assert message in capsys.readouterr().err
    path.write_text(f"seed = 1{'0' * 5000}")
    assert main(words) == 2
    assert "c.toml is not TOML" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--time-limit", "--folds", "--seed", "--keep"])
def test_option_of_compare_is_refused(option, capsys):
    for value in ("inf", "nan", "1e308", "1" + "0" * 400):
        words = ["compare", "none.csv", "--target", "label", option, value]
        assert sievebench.cli.main(words) == 2
        assert re.search(f"{option}.*: must be ", capsys.readouterr().err)


@pytest.mark.parametrize("value", [HUGE, Fraction(HUGE), np.longdouble("1e400")])
def test_laboratory_refuses_huge_arguments(value):
    for check, bound in ((check_integer, {"low": 1}), (check_number, {"above": 0.0})):
        with pytest.raises(ValueError, match=r"^alpha must be an? (int|number) [<>]"):
            check("alpha", value, **bound)


def test_every_number_of_the_constructor_is_tested():
    kinds = {}
    for called, prefix in ((AutoNFSClassifier, ""), (Training, "training__")):
        for parameter in inspect.signature(called).parameters.values():
            kinds[prefix + parameter.name] = str(parameter.annotation)
    numbers = {name for name, kind in kinds.items() if "int" in kind or "float" in kind}
    assert numbers - {*COUNTS, *NUMBERS} == {
        *("training__hidden_sizes", "training__task_network", "verbose")
    }
