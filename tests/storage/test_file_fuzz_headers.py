import time
import tracemalloc
from functools import partial

import numpy as np
import pytest

from featuresieve.storage import pack, unpack
from sealed_files import (
    CLASSIFIER,
    REGRESSOR,
    assert_refused,
    inner_text,
    on,
    put,
    with_text,
)

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
    "half a character": ('"\\ud800":"\\udfff",', None),
    "many values": ('"more":[' + "0," * 4_000_000 + "0],", "values"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_fuzz_hostile_header_texts_are_refused(case, file):
    text, match = TEXTS[case]
    assert_refused(file, with_text(text + inner_text()), match)


def with_first(value):
    """Return a function that puts a value into the first place of an array."""

    def change(array):
        array = array.copy()
        array.flat[0] = value
        return array

    return change


to = partial(put, "header")
TRAINING = ("parameters", "training")
NOISE = (*TRAINING, "noise")
LONG_TEXTS = ["a" * 10_000, *[""] * 10_000]


def array_of(values, dtype):
    return {"array": values, "dtype": dtype}


def texts_target(width, classes):
    return {"kind": "classes", "n": 2, "dtype": "U", "width": width, "classes": classes}


HEADER = {
    "schema": (to("schema", value="other"), "its schema is 'other'"),
    "newer": (to("schema_version", value=7), "install a newer release"),
    "version zero": (to("schema_version", value=0), "schema_version"),
    "version true": (to("schema_version", value=True), "schema_version"),
    "class": (to("class", value="os.system"), "class is not one of"),
    "other class": (to("class", value="AutoNFSRegressor"), "its target"),
    "parameter": (to("parameters", "x", value=1), "'x' is no argument"),
    "checkpoint": (
        to("parameters", "checkpoint", value="/etc"),
        "'checkpoint', a path",
    ),
    "parameters": (to("parameters", value=[]), "not an object"),
    "training": (to(*TRAINING, value=[]), "not an object"),
    "in training": (to(*TRAINING, "x", value=1), "'x' is no argument of Training"),
    "flat noise": (to("parameters", "noise", value="gumbel"), "no argument"),
    "groups": (to("parameters", "groups", value=None), "no argument"),
    "training of version 1": (to("schema_version", value=1), "'training' is no argum"),
    "version between": (to("schema_version", value=5), "reads versions 1 and 6"),
    "tag": (to(*NOISE, value={"eval": []}), "no known kind"),
    "tags": (to(*NOISE, value={"set": [], "tuple": []}), "no known kind"),
    "set of lists": (to(*NOISE, value={"set": [[1]]}), "not single values"),
    "dict of lists": (to(*NOISE, value={"dict": [[[1], 2]]}), "not single values"),
    "no pairs": (to(*NOISE, value={"dict": [[1, 2, 3]]}), "no pairs"),
    "array overflow": (
        to(*NOISE, value=array_of([300], "uint8")),
        "not of dtype uint8",
    ),
    "array dtype": (to(*NOISE, value=array_of([1], "V8")), "dtype is not one of"),
    "array of long texts": (to(*NOISE, value=array_of(LONG_TEXTS, "str")), "too long"),
    "output": (to("output", value="os"), "output"),
    "output no text": (to("output", value={}), "output"),
    "no features": (to("n_features_in", value=0), "n_features_in"),
    "more features": (to("n_features_in", value=7), "shape"),
    "huge features": (to("n_features_in", value=2**31 - 1), "shape"),
    "names": (to("feature_names", value=["a"]), "6 feature names"),
    "names no text": (to("feature_names", value=[1] * 6), "not text"),
    "names equal": (to("feature_names", value=["a"] * 6), "distinct"),
    "labels": (to("labels", value=[1, 2]), "6 column names"),
    "labels no list": (to("labels", value="abcdef"), "6 column names"),
    "no date": (to("labels", value=[{"date": ["x"]}] * 6), "a date"),
    "two dates": (to("labels", value=[{"date": ["x", 1]}] * 6), "a date"),
    "balance": (to("findings", "balance", value=-1.0), "balance"),
    "records": (to("findings", "n_records", value=2**31 - 1), "shape"),
    "members": (to("findings", "n_members", value=-1), "n_members"),
    "no path": (to("findings", "n_path", value=0), "n_path"),
    "networks": (to("predictor", "n_members", value=10**9), "n_members"),
    "one network more": (to("predictor", "n_members", value=3), "no array"),
    "one network less": (to("predictor", "n_members", value=1), "unknown"),
    "sizes": (to("predictor", "sizes", 0, value=9), "10 columns"),
    "huge sizes": (to("predictor", "sizes", 1, value=2**62), "shape"),
    "sizes no list": (to("predictor", "sizes", value="abc"), "a list"),
    "no sizes": (to("predictor", "sizes", value=[]), "0 sizes"),
    "target": (to("target", "kind", value="code"), "kind is not one of"),
    "huge target": (
        to("target", value={"kind": "labels", "n": 2**31 - 1}),
        "2 outputs",
    ),
    "classes": (to("target", "classes", value=["a", "a"]), "distinct"),
    "three classes": (to("target", "classes", value=["a", "b", "c"]), "2 class labels"),
    "classes no text": (to("target", "classes", value=[1, 2]), "of str"),
    "width": (to("target", value=texts_target(1, ["aa", "b"])), "cut off"),
    "huge width": (to("target", value=texts_target(2**30, ["a"])), "width"),
    "encoder": (to("encoder", value=None), "encoder"),
    "encoder of others": (to("encoder", "features", 0, "feature", value=5), "kept"),
    "encoder of a wider table": (to("encoder", "n_features_in", value=2**30), "a kind"),
    "NaN weights": (on("predictor.0.weight0", with_first(np.nan)), "NaN or infinity"),
    "infinite weights": (on("predictor.1.bias0", with_first(np.inf)), "NaN"),
    "NaN logits": (on("logits", with_first(np.nan)), "NaN"),
    "NaN scales": (on("encoder.means", with_first(np.nan)), "encoder"),
    "NaN history": (on("history.gates", with_first(np.nan)), "NaN"),
    "infinite path": (on("path.loss", with_first(np.inf)), "path.loss.*infinite"),
    "frequency": (on("selection_frequency", with_first(1.5)), r"\[0, 1\]"),
    "ranking": (on("ranking", with_first(2)), "ranking"),
    "nothing kept": (on("support", np.zeros_like), "keeps no feature"),
    "all kept": (on("support", np.ones_like), "encoder is not of the kept"),
    "importances": (on("feature_importances", with_first(-1.0)), "negative"),
    "NaN importances": (on("feature_importances", with_first(np.nan)), "NaN"),
    "seed": (to("findings", "seed", value=-1), "seed"),
    "huge seed": (to("findings", "seed", value=2**40), "seed"),
    "judgement of none": (
        to("findings", "judgement", value={"n": 3}),
        "judgement.sets",
    ),
    "two choices": (on("path.is_chosen", np.zeros_like), "one choice"),
    "path counts": (on("path.n_kept", with_first(7)), "more features"),
    "float64 weights": (
        on("predictor.0.weight0", lambda a: a.astype(float)),
        "float64",
    ),
    "integer weights": (on("predictor.0.weight0", lambda a: a.astype(int)), "int64"),
    "transposed": (on("predictor.0.weight0", lambda a: a.T.copy()), "shape"),
    "flat": (on("predictor.0.weight0", lambda a: a.reshape(-1)), "shape"),
    "short": (on("logits", lambda a: a[1:]), "shape"),
    "another array": (put("arrays", "more", value=np.ones(3)), "unknown arrays"),
}


NOTE = {"code": "x", "text": "y", "columns": ["z"], "warning": None}
FINDINGS = {
    "no verdict": (on("insight.verdict", with_first(99)), "a verdict that is none"),
    "signed verdict": (on("insight.verdict", lambda a: a.astype(np.int8)), "int8"),
    "nobody": (on("insight.represented_by", with_first(99)), "none of its features"),
    "importance": (
        on("insight.importance", with_first(np.inf)),
        "infinite number",
    ),
    "one importance": (on("insight.importance", lambda a: a[:1]), "shape"),
    "all columns": (to("findings", "all_columns", value=[1]), "gain of all columns"),
    "notes": (to("findings", "notes", value="abc"), "notes is not a list"),
    "no note": (to("findings", "notes", value=[{}]), "a note of it has no field"),
    "long note": (to("findings", "notes", value=[NOTE | {"a": 1}]), "unknown fields"),
    "note of one": (to("findings", "notes", value=[NOTE | {"columns": [1]}]), "of str"),
    "warning": (to("findings", "notes", value=[NOTE | {"warning": 1}]), "no warning"),
}


CASES = HEADER | FINDINGS


@pytest.mark.parametrize("case", CASES)
def test_fuzz_hostile_headers_are_refused_and_cost_little(case, file):
    change, match = CASES[case]
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


REGRESSION = {
    "spreads": (on("target.spreads", np.zeros_like), "spreads below zero"),
    "widths": (on("target.widths", lambda a: a - 1), "widths below zero"),
    "NaN": (on("target.means", lambda a: a * np.nan), "NaN"),
    "outputs": (to("target", "n", value=2), "1 outputs, its target 2"),
    "flat": (to("target", "is_flat", value=1), "true or false"),
    "no set": (on("judgement.sets", np.zeros_like), "empty candidate"),
    "other sizes": (on("judgement.sizes", with_first(3)), "other sizes"),
    "elected": (to("findings", "judgement", "elected", value=99), "elected"),
    "NaN loss": (on("judgement.means", with_first(np.nan)), "NaN"),
    "too short": (on("judgement.means", lambda a: a[1:]), "shape"),
    "many": (to("findings", "judgement", "n", value=2**31 - 1), "shape"),
    "fewest": (to("findings", "judgement", "fewest", value=99), "smallest"),
    "loss": (to("findings", "judgement", "null_loss", value="x"), "least"),
    "more": (to("findings", "judgement", "x", value=1), "unknown fields"),
    "no object": (to("findings", "judgement", value=[1]), "not an object"),
}


@pytest.mark.parametrize("case", REGRESSION)
def test_fuzz_hostile_targets_and_judgements_are_refused(case, file):
    change, match = REGRESSION[case]
    header, arrays = unpack(REGRESSOR)
    change(header, arrays)
    assert_refused(file, pack(header, arrays), match)
