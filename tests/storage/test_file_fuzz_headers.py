"""Files with the right checksum are refused if their header or arrays are not sound."""

import time
import tracemalloc

import numpy as np
import pytest

from featuresieve.storage import pack, unpack
from featuresieve.storage._file_checks import MAX_JSON_VALUES
from sealed_files import CLASSIFIER, REGRESSOR, assert_refused, inner_text, with_text


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Return where to write what is to be loaded."""
    return tmp_path_factory.mktemp("fuzz") / "selector.safetensors"


TEXTS = {
    "key twice": ('"schema":"x",', "a key twice"),
    "NaN": ('"more":NaN,', "NaN, no finite"),
    "infinity": ('"more":-Infinity,', "no finite"),
    "overflow": ('"more":1e999,', "no finite"),
    "digits": ('"more":' + "9" * 10_000 + ",", "not JSON"),
    "deep lists": ('"more":' + "[" * 10**5 + "]" * 10**5 + ",", "nested too deeply"),
    "deep objects": ('"more":' + '{"a":' * 10**5 + "1" + "}" * 10**5 + ",", "deeply"),
    "unfinished": ('"more":', "not JSON"),
    "unknown": ('"more":1,', "unknown fields: 'more'"),
    "many values": ('"more":[' + "0," * MAX_JSON_VALUES + "0],", "values"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_fuzz_hostile_header_texts_are_refused(case, file):
    text, match = TEXTS[case]
    assert_refused(file, with_text(text + inner_text()), match)


def test_unicode_escape_of_half_a_character_is_no_other_error(file):
    assert_refused(file, with_text('"\\ud800":"\\udfff",' + inner_text()))


def put(*path, value):
    def change(header, arrays):
        place = {"header": header, "arrays": arrays}
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


def on(name, function):
    def change(_, arrays):
        arrays[name] = function(arrays[name])

    return change


def with_first(value):
    """Return a function that puts a value into the first place of an array."""

    def change(array):
        array = array.copy()
        array.flat[0] = value
        return array

    return change


TRAINING = ("header", "parameters", "training")
NOISE = (*TRAINING, "noise")
HEADER = {
    "schema": (put("header", "schema", value="other"), "its schema is 'other'"),
    "newer": (put("header", "schema_version", value=4), "install a newer release"),
    "version zero": (put("header", "schema_version", value=0), "schema_version"),
    "version true": (put("header", "schema_version", value=True), "schema_version"),
    "class": (put("header", "class", value="os.system"), "class is not one of"),
    "other class": (put("header", "class", value="AutoNFSRegressor"), "its target"),
    "parameter": (put("header", "parameters", "x", value=1), "'x' is no argument"),
    "checkpoint": (
        put("header", "parameters", "checkpoint", value="/etc/passwd"),
        "'checkpoint', a path",
    ),
    "parameters": (put("header", "parameters", value=[]), "not an object"),
    "training": (put(*TRAINING, value=[]), "not an object"),
    "training text": (put(*TRAINING, value="x"), "not an object"),
    "in training": (
        put(*TRAINING, "x", value=1),
        "'x' is no argument of Training",
    ),
    "flat noise": (put("header", "parameters", "noise", value="gumbel"), "no argument"),
    "groups": (put("header", "parameters", "groups", value=None), "no argument"),
    "training of version 2": (
        put("header", "schema_version", value=2),
        "'training' is no argument of its schema version",
    ),
    "tag": (put(*NOISE, value={"eval": []}), "no known kind"),
    "tags": (
        put(*NOISE, value={"set": [], "tuple": []}),
        "no known kind",
    ),
    "set of lists": (
        put(*NOISE, value={"set": [[1]]}),
        "not single values",
    ),
    "dict of lists": (
        put(*NOISE, value={"dict": [[[1], 2]]}),
        "not single values",
    ),
    "no pairs": (
        put(*NOISE, value={"dict": [[1, 2, 3]]}),
        "no pairs",
    ),
    "array overflow": (
        put(*NOISE, value={"array": [300], "dtype": "uint8"}),
        "not of dtype uint8",
    ),
    "array dtype": (
        put(*NOISE, value={"array": [1], "dtype": "V8"}),
        "dtype is not one of",
    ),
    "array of long texts": (
        put(
            *NOISE,
            value={"array": ["a" * 10_000, *[""] * 10_000], "dtype": "str"},
        ),
        "too long",
    ),
    "output": (put("header", "output", value="os"), "output"),
    "output no text": (put("header", "output", value={}), "output"),
    "no features": (put("header", "n_features_in", value=0), "n_features_in"),
    "more features": (put("header", "n_features_in", value=7), "shape"),
    "huge features": (put("header", "n_features_in", value=2**31 - 1), "shape"),
    "names": (put("header", "feature_names", value=["a"]), "6 feature names"),
    "names no text": (put("header", "feature_names", value=[1] * 6), "not text"),
    "names equal": (put("header", "feature_names", value=["a"] * 6), "distinct"),
    "labels": (put("header", "labels", value=[1, 2]), "6 column names"),
    "labels no list": (put("header", "labels", value="abcdef"), "6 column names"),
    "no date": (put("header", "labels", value=[{"date": ["x"]}] * 6), "a date"),
    "two dates": (put("header", "labels", value=[{"date": ["x", 1]}] * 6), "a date"),
    "balance": (put("header", "findings", "balance", value=-1.0), "balance"),
    "records": (put("header", "findings", "n_records", value=2**31 - 1), "shape"),
    "members": (put("header", "findings", "n_members", value=-1), "n_members"),
    "no path": (put("header", "findings", "n_path", value=0), "n_path"),
    "networks": (put("header", "predictor", "n_members", value=10**9), "n_members"),
    "one network more": (put("header", "predictor", "n_members", value=3), "no array"),
    "one network less": (put("header", "predictor", "n_members", value=1), "unknown"),
    "sizes": (put("header", "predictor", "sizes", 0, value=9), "10 columns"),
    "huge sizes": (put("header", "predictor", "sizes", 1, value=2**62), "shape"),
    "sizes no list": (put("header", "predictor", "sizes", value="abc"), "a list"),
    "no sizes": (put("header", "predictor", "sizes", value=[]), "0 sizes"),
    "target": (put("header", "target", "kind", value="code"), "kind is not one of"),
    "huge target": (
        put("header", "target", value={"kind": "labels", "n": 2**31 - 1}),
        "2 outputs",
    ),
    "classes": (put("header", "target", "classes", value=["a", "a"]), "distinct"),
    "three classes": (
        put("header", "target", "classes", value=["a", "b", "c"]),
        "2 class labels",
    ),
    "classes no text": (put("header", "target", "classes", value=[1, 2]), "of str"),
    "width": (
        put("header", "target", value={
            "kind": "classes", "n": 2, "dtype": "U", "width": 1, "classes": ["aa", "b"]
        }),
        "cut off",
    ),
    "huge width": (
        put("header", "target", value={
            "kind": "classes", "n": 2, "dtype": "U", "width": 2**30, "classes": ["a"]
        }),
        "width",
    ),
    "encoder": (put("header", "encoder", value=None), "encoder"),
    "encoder of others": (
        put("header", "encoder", "features", 0, "feature", value=5),
        "kept",
    ),
    "encoder of a wider table": (
        put("header", "encoder", "n_features_in", value=2**30),
        "every feature has a kind",
    ),
    "NaN weights": (on("predictor.0.weight0", with_first(np.nan)), "NaN or infinity"),
    "infinite weights": (on("predictor.1.bias0", with_first(np.inf)), "NaN"),
    "NaN logits": (on("logits", with_first(np.nan)), "NaN"),
    "NaN scales": (on("encoder.means", with_first(np.nan)), "encoder"),
    "NaN history": (on("history.gates", with_first(np.nan)), "NaN"),
    "infinite path": (on("path.loss", with_first(np.inf)), "infinite loss"),
    "frequency": (on("selection_frequency", with_first(1.5)), r"\[0, 1\]"),
    "ranking": (on("ranking", with_first(2)), "ranking"),
    "nothing kept": (on("support", np.zeros_like), "keeps no feature"),
    "all kept": (on("support", np.ones_like), "encoder is not of the kept"),
    "importances": (on("feature_importances", with_first(-1.0)), "negative"),
    "NaN importances": (on("feature_importances", with_first(np.nan)), "NaN"),
    "seed": (put("header", "findings", "seed", value=-1), "seed"),
    "huge seed": (put("header", "findings", "seed", value=2**40), "seed"),
    "judgement of none": (
        put("header", "findings", "judgement", value={"n": 3}),
        "no array 'judgement.sets'",
    ),
    "two choices": (on("path.is_chosen", np.zeros_like), "one choice"),
    "path counts": (on("path.n_kept", with_first(7)), "more features"),
    "float64 weights": (
        on("predictor.0.weight0", lambda a: a.astype(np.float64)),
        "float64",
    ),
    "integer weights": (on("predictor.0.weight0", lambda a: a.astype(int)), "int64"),
    "transposed": (on("predictor.0.weight0", lambda a: a.T.copy()), "shape"),
    "flat": (on("predictor.0.weight0", lambda a: a.reshape(-1)), "shape"),
    "short": (on("logits", lambda a: a[1:]), "shape"),
    "another array": (put("arrays", "more", value=np.ones(3)), "unknown arrays"),
}  # fmt: skip


@pytest.mark.parametrize("case", HEADER)
def test_fuzz_hostile_headers_are_refused_and_cost_little(case, file):
    change, match = HEADER[case]
    header, arrays = unpack(CLASSIFIER)
    change(header, arrays)
    data = pack(header, arrays)
    tracemalloc.start()
    started = time.perf_counter()
    assert_refused(file, data, match)
    seconds = time.perf_counter() - started
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The file itself has ten kilobytes, or a hundred.
    assert peak < 4 * 2**20
    assert seconds < 5


TARGET = {
    "spreads": (on("target.spreads", np.zeros_like), "spreads below zero"),
    "widths": (on("target.widths", lambda a: a - 1), "widths below zero"),
    "NaN": (on("target.means", lambda a: a * np.nan), "NaN"),
    "outputs": (put("header", "target", "n", value=2), "1 outputs, its target 2"),
    "flat": (put("header", "target", "is_flat", value=1), "true or false"),
}


@pytest.mark.parametrize("case", TARGET)
def test_fuzz_hostile_targets_are_refused(case, file):
    change, match = TARGET[case]
    header, arrays = unpack(REGRESSOR)
    change(header, arrays)
    assert_refused(file, pack(header, arrays), match)


JUDGEMENT = {
    "no set": (on("judgement.sets", np.zeros_like), "empty candidate"),
    "other sizes": (on("judgement.sizes", with_first(3)), "other sizes"),
    "none counts": (on("judgement.must_gain", np.ones_like), "none of its candidates"),
    "NaN loss": (on("judgement.means", with_first(np.nan)), "NaN"),
    "not square": (on("judgement.excess", lambda a: a[:, 1:]), "shape"),
    "many": (put("header", "findings", "judgement", "n", value=2**31 - 1), "shape"),
    "fewest": (put("header", "findings", "judgement", "fewest", value=99), "smallest"),
    "loss": (put("header", "findings", "judgement", "null_loss", value="x"), "least"),
    "more": (put("header", "findings", "judgement", "x", value=1), "unknown fields"),
    "no object": (put("header", "findings", "judgement", value=[1]), "not an object"),
}


@pytest.mark.parametrize("case", JUDGEMENT)
def test_fuzz_hostile_judgements_are_refused(case, file):
    change, match = JUDGEMENT[case]
    header, arrays = unpack(REGRESSOR)
    change(header, arrays)
    assert_refused(file, pack(header, arrays), match)
