import math
import os
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from sievebench import data, selectors
from sievebench.analysis import check_runs, scaling_exponents, scaling_times
from sievebench.data import UnknownDatasetError
from sievebench.experiment import read_experiment
from sievebench.pipeline import run_one
from sievebench.run_spec import RunSpec
from sievebench.runner import usual_workers
from sievebench.selectors import Selection
from sievebench.store import RunRecord, Store, collect


def cell(width, **changes):
    values = {"seeds": (0, 1), "experiment": "scaling", "device": "cpu", **changes}
    return RunSpec(f"made:60x{width}", "none", "univariate", "none", **values)


def test_made_table_is_the_same_problem_at_every_width():
    narrow, wide = data.load("made:300x12"), data.load("made:300x40")
    np.testing.assert_array_equal(wide.X[:, :12], narrow.X)
    np.testing.assert_array_equal(wide.y, narrow.y)
    assert (wide.n_rows, wide.n_columns, wide.n_original) == (300, 40, 10)
    assert not np.array_equal(data.load("made:301x12").X[:300], narrow.X)
    for name in ("made:x10", "made:300x9", "made:3x12", "made:30"):
        with pytest.raises(UnknownDatasetError, match=f"at least 20 .* got '{name}'"):
            data.load(name)


def test_made_classes_follow_the_columns_that_matter():
    dataset = data.load("made:40000x12")
    signal = dataset.X[:, 0:10:2].sum(axis=1) - dataset.X[:, 1:10:2].sum(axis=1)
    # Two normal variables of correlation r agree in sign with 1/2 + arcsin(r) / π;
    # here r² = 10 / (10 + 2²). The standard error of the share is 0.002.
    expected = 0.5 + math.asin(math.sqrt(10 / 14)) / math.pi
    assert np.mean((signal > 0) == dataset.y) == pytest.approx(expected, abs=0.01)
    assert dataset.y.mean() == pytest.approx(0.5, abs=0.01)
    strength = [
        abs(np.corrcoef(column, signal)[0, 1]) for column in dataset.X[:, 10:].T
    ]
    assert max(strength) < 0.03


def test_every_selection_is_timed_alone_after_one_that_is_not(monkeypatch):
    spans, first = [], {"seconds": 1.5}

    def slow(_name, split, **_arguments):
        started = time.perf_counter()
        time.sleep(first.pop("seconds", 0.02))
        spans.append((started, time.perf_counter()))
        support = np.arange(split.train.X.shape[1]) < 3
        return Selection(support, support * 1.0, spans[-1][1] - started)

    monkeypatch.setattr(selectors, "select", slow)
    record = run_one(cell(12, seeds=(0, 1, 2)))
    assert record.status == "done", record.details
    assert len(spans) == 4
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert all(0.02 <= run.selector_seconds < 1.5 for run in record.runs)
    assert {run.score for run in record.runs} == {None}


def test_records_become_the_tables_of_seconds():
    records = [run_one(cell(width)) for width in (16, 32, 64)]
    again = [RunRecord.from_json(record.to_json()) for record in records]
    assert again == records
    runs = check_runs(collect(again))
    times = scaling_times(runs)
    assert times["n_features"].tolist() == [16, 32, 64]
    seconds = [run.selector_seconds for run in records[0].runs]
    assert times["seconds_mean"].iloc[0] == pytest.approx(np.mean(seconds))
    (exponent,) = scaling_exponents(runs)["exponent"]
    assert np.isfinite(exponent)


def test_one_process_is_usual_where_seconds_are_measured():
    other = replace(cell(16), experiment="benchmark", downstream="mlp")
    assert usual_workers([other]) == os.cpu_count()
    assert usual_workers([other, cell(16)]) == 1


def test_file_is_timed_and_reported(tmp_path, printed):
    file, store = tmp_path / "small.toml", Store(tmp_path / "small")
    file.write_text(
        """
        profile = "smoke"
        purpose = "scaling"
        n_trials = 0
        n_seeds = 2
        datasets = ["made:60x16", "made:60x32"]
        scenarios = ["none"]
        downstream = ["none"]
        selectors = ["univariate", { name = "forest", settings = { n_estimators = 5 } }]
        """
    )
    cells = read_experiment(file).cells("cpu")
    assert len(cells) == 4
    for spec in cells:
        store.write(run_one(spec))
    table = printed("report", store.folder, "--table", "scaling")
    assert "Univariate" in table
    assert "16 to 32" in table
