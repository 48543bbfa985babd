import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import featuresieve
from featuresieve import FileFormatError, Training
from featuresieve.storage import pack, unpack
from saved_tables import DATA, expected_of, fit_regressor, mixed_rows, number_rows

FILES = sorted(DATA.glob("*.safetensors"))
ROWS = {"classifier": mixed_rows, "regressor": number_rows}
TRAINING = {
    "classifier": Training(n_epochs=12, n_members=2, hidden_sizes=(4,)),
    "regressor": Training(n_epochs=60, n_members=2, scaling="none", hidden_sizes=()),
}
CLASSES = {"classifier": "AutoNFSClassifier", "regressor": "AutoNFSRegressor"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_saved_file_answers_as_it_did_and_can_be_saved_again(path, tmp_path):
    kind, _ = path.stem.split("-")
    selector = featuresieve.load(path)
    assert type(selector).__name__ == CLASSES[kind]
    n_epochs = 12 if path.stem == "regressor-1" else TRAINING[kind].n_epochs
    assert selector.training == replace(TRAINING[kind], n_epochs=n_epochs)
    assert selector.feature_groups is None
    X, _ = ROWS[kind](8)
    found = expected_of(selector, X)
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    # Another machine may add the products of float32 in another order.
    np.testing.assert_allclose(
        found.pop("predictions"), expected.pop("predictions"), rtol=1e-4
    )
    assert found == expected
    selector.save(tmp_path / "again")
    again = featuresieve.load(tmp_path / "again")
    assert again.order_.tolist() == selector.order_.tolist()


@pytest.mark.filterwarnings("ignore::featuresieve.FeatureSieveWarning")
def test_first_and_present_schema_version_have_their_files(tmp_path):
    fit_regressor().save(tmp_path / "new")
    present = unpack(tmp_path / "new")[0]["schema_version"]
    expected = {f"{kind}-{version}" for kind in ROWS for version in (1, present)}
    assert {path.stem for path in FILES} == expected


def test_saved_arguments_are_read():
    selector = featuresieve.load(Path(DATA, "classifier-1.safetensors"))
    assert selector.training.hidden_sizes == (4,)
    assert selector.always_keep == ["word", "day", "holes", "flag"]
    assert selector.never_keep == ("noise",)
    assert selector.feature_costs == {"wave": 0.5}
    names = ["wave", "word", "day", "holes", "flag", "noise"]
    assert selector.feature_names_in_.tolist() == names
    assert selector.classes_.tolist() == ["no", "yes"]


def load_changed(name, folder, **parameters):
    """Load a saved file in which some parameters are others."""
    header, arrays = unpack(DATA / f"{name}.safetensors")
    header["parameters"] |= parameters
    path = folder / "selector.safetensors"
    path.write_bytes(pack(header, arrays))
    return featuresieve.load(path)


def test_groups_of_an_older_file_are_feature_groups(tmp_path):
    changed = {"groups": [["wave", "flag"]], "noise": "logistic"}
    selector = load_changed("classifier-1", tmp_path, **changed)
    assert selector.feature_groups == [["wave", "flag"]]
    assert selector.training.noise == "logistic"


@pytest.mark.parametrize("training", [[], "x", {"nosie": 1}])
def test_training_of_a_file_is_an_object_of_its_entries(training, tmp_path):
    with pytest.raises(FileFormatError, match=r"not an object|no argument of Training"):
        load_changed("classifier-6", tmp_path, training=training)
