"""Fits on several ranks, real processes: the answer of one, bit for bit."""

import multiprocessing
import os
import signal
import subprocess
import sys

import joblib
import numpy as np
import pyarrow as pa
import pytest
import torch
from pyarrow import parquet
from sklearn.ensemble import RandomForestClassifier

from featuresieve import RankError
from featuresieve.engine import joined_ranks, resolve_device, resolve_threads
from made_tables import INFORMATIVE, class_table
from quick_selectors import quick
from ranked_fits import (
    PATIENCE,
    fails,
    fit,
    fit_and_warn,
    fit_as_on_gpus,
    fit_each_form,
    fit_in_a_group_of_the_callers,
    fit_stream,
    fit_unalike,
    fit_until_killed,
    fit_until_raised,
    fit_wide,
    fit_without_one,
    on_ranks,
    own_network,
)

pytestmark = pytest.mark.skipif(
    "forkserver" not in multiprocessing.get_all_start_methods(), reason="needs forks"
)


@pytest.fixture(scope="module")
def alone():
    """Return the answers of one process."""
    [found] = on_ranks(1, fit)
    return found


@pytest.mark.parametrize("n_ranks", [2, 4])
def test_the_number_of_ranks_changes_no_bit_of_the_answer(alone, n_ranks):
    assert on_ranks(n_ranks, fit) == [alone] * n_ranks


def test_memory_sparse_disk_stream_and_ranks_select_the_same(tmp_path):
    X, y = class_table()
    np.save(tmp_path / "table.npy", X)
    columns = dict(zip("abcdefgh", X.T, strict=True))
    table = pa.table({**columns, "y": y})
    parquet.write_table(table, tmp_path / "table.parquet", row_group_size=70)
    [found] = on_ranks(1, fit_each_form, tmp_path)
    support, logits = found["memory"]
    assert np.flatnonzero(support).tolist() == [*INFORMATIVE]
    assert found.pop("sparse")[0] == support  # its numbers are not centred
    assert found == dict.fromkeys(found, (support, logits))
    for told in on_ranks(2, fit_each_form, tmp_path):
        assert told.pop("sparse")[0] == support
        assert told == found


@pytest.mark.parametrize(
    ("is_classifier", "arguments"),
    [
        (False, {}),
        (False, {"goal": "all_relevant"}),
        (True, {"judge": RandomForestClassifier(5, random_state=0)}),
        (True, {"task_network": own_network, "n_epochs": 1}),
        (True, {"balance": 0.5}),
    ],
)
def test_other_searches_are_the_same_on_two_ranks(is_classifier, arguments):
    [expected] = on_ranks(1, fit, is_classifier, arguments)
    assert on_ranks(2, fit, is_classifier, arguments) == [expected] * 2


def test_gates_leave_a_wide_stack_on_all_ranks_alike():
    [(expected, n_left)] = on_ranks(1, fit_wide)
    assert min(n_left) < 60
    assert on_ranks(2, fit_wide) == [(expected, n_left)] * 2


@pytest.fixture
def parquet_files(tmp_path):
    """Write two files in several groups of rows, with a rare class at the end."""
    X, is_class = class_table(3000)
    for number, y in enumerate((is_class, np.arange(3000) // 2990 + is_class * 2)):
        table = pa.table({**dict(zip("abcdefgh", X.T, strict=True)), "y": y})
        folder = tmp_path / str(number)
        folder.mkdir()
        parquet.write_table(table[:1100], folder / "0.parquet", row_group_size=300)
        parquet.write_table(table[1100:], folder / "1.parquet", row_group_size=700)
    return tmp_path


@pytest.mark.parametrize(
    ("folder", "classes"), [("0", True), ("1", True), ("1", False)]
)
def test_ranks_read_their_parts_of_files_and_have_one_sample(
    parquet_files, folder, classes
):
    path = parquet_files / folder
    [(expected, note, n_read)] = on_ranks(1, fit_stream, path, classes)
    assert n_read == 3000
    assert "of the 3,000 rows of the stream, a random sample" in note
    told = on_ranks(3, fit_stream, path, classes)
    assert [each[:2] for each in told] == [(expected, note)] * 3
    assert sum(each[2] for each in told) == 3000
    assert max(each[2] for each in told) < 1500


def test_a_file_that_one_rank_cannot_read_is_said_by_the_others(parquet_files):
    first, second = on_ranks(2, fit_stream, parquet_files / "0", True, fails)
    assert second == ("TableFileError", "part.parquet cannot be read.")
    assert first[0] == "RankError"
    assert "rank 1 could not begin: TableFileError: part.parquet" in first[1]


def test_the_first_rank_draws_the_seed_and_judges_what_it_is_asked_to():
    judge = RandomForestClassifier(20)  # another one on each rank
    free = {"random_state": None, "judge": judge}
    first, second = on_ranks(2, fit, True, free)
    assert isinstance(first, dict)
    assert first == second


def test_the_clock_of_the_first_rank_ends_a_fit_for_all():
    hasty = {"max_time": 0.05, "n_epochs": 3000}
    (first, warned), (second, others) = on_ranks(2, fit_and_warn, hasty)
    assert first == second
    assert "TimeBudgetWarning" in warned
    assert others == []


def test_a_group_of_the_callers_is_used_and_stays(alone):
    assert on_ranks(2, fit_in_a_group_of_the_callers) == [(alone, alone, 2.0)] * 2


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, "the data, or their weights, groups or encoding, are others"),
        ({"training__n_epochs": 4}, "training.n_epochs is 3 on rank 0 and 4 on rank 1"),
        ({"random_state": 4}, "random_state is"),
        ({"max_time": 60}, "max_time is None on rank 0 and 60 on rank 1"),
    ],
)
def test_ranks_that_are_not_alike_say_what_differs_and_go_on(changed, expected):
    told = on_ranks(2, fit_unalike, changed)
    for (kind, text), after in told:
        assert (kind, expected in text) == ("RankError", True), text
        assert after == told[0][1] != []


def test_what_a_rank_cannot_fit_is_said_by_the_others():
    (first, _), (second, _) = told = on_ranks(2, fit_unalike, {"tolerance": -1})
    assert second[0] == "ValueError"
    assert first[0] == "RankError"
    assert "rank 1 could not begin: ValueError: tolerance" in first[1]
    assert told[0][1] == told[1][1] != []


@pytest.mark.parametrize(("stage", "n_ranks"), [("gates", 1), ("refit", 3)])
def test_the_fit_of_a_killed_rank_is_resumed_by_any_number(
    alone, tmp_path, stage, n_ranks
):
    path = str(tmp_path / "fit.checkpoint")
    told, status = on_ranks(2, fit_until_killed, path, stage)
    assert status == -signal.SIGKILL
    assert told[0] == "RankError"
    assert f"rank 0 of 2 has lost another during the stage '{stage}'" in told[1]
    assert "checkpoint" in told[1]
    kept = {"checkpoint": path}
    assert on_ranks(n_ranks, fit, True, kept) == [alone] * n_ranks
    assert list(tmp_path.iterdir()) == []


def test_a_rank_that_ends_before_it_begins_ends_all_others(tmp_path):
    first, killed, third = on_ranks(3, fit_without_one, tmp_path)
    assert killed == -signal.SIGKILL
    for (kind, text), is_soon in (first, third):
        assert (kind, is_soon) == ("RankError", True)
        assert "during the preparation" in text


def test_an_interrupt_of_one_ends_all_at_the_same_step(alone, tmp_path):
    path = str(tmp_path / "fit.checkpoint")
    told = on_ranks(2, fit_until_raised, KeyboardInterrupt(), path)
    assert [each[0][0] for each in told] == ["KeyboardInterrupt"] * 2
    assert on_ranks(1, fit, True, {"checkpoint": path}) == [alone]


def test_others_hear_of_an_error_while_its_process_lives_on(tmp_path):
    told = on_ranks(2, fit_until_raised, ValueError("no"), None, tmp_path / "heard")
    (first, again), (second, _) = told
    assert first == ("ValueError", "no")
    assert (second[0], "stage 'gates'" in second[1]) == ("RankError", True)
    assert (again[0], "start all" in again[1]) == ("RankError", True)


def test_one_slice_a_rank_as_on_gpus_finds_the_same_columns():
    (_, support, logits), *_ = on_ranks(1, fit_as_on_gpus)
    for _, found, its in on_ranks(2, fit_as_on_gpus):
        np.testing.assert_array_equal(found, support)
        # Sums in another order, for some hundred steps.
        np.testing.assert_allclose(its, logits, atol=1e-3)


def test_the_command_under_torchrun_prints_once(tmp_path):
    X, y = class_table(300)
    table = tmp_path / "table.csv"
    names = ",".join([*(f"c{j}" for j in range(X.shape[1])), "y"])
    np.savetxt(table, np.column_stack([X, y]), delimiter=",", header=names, comments="")
    command = f"select {table} --target y --epochs 2 --save {tmp_path / 'kept'}"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2"),
            *("--standalone", "-m", "featuresieve", *command.split()),
        ],
        **{"capture_output": True, "text": True, "timeout": PATIENCE, "check": False},
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("kept ") == 2  # of how many columns, and their score
    assert done.stderr.count("wrote ") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "table.csv"]


@pytest.fixture
def second_of_two(monkeypatch):
    """Set what a launcher sets, of whom nobody else is there."""
    around = {"RANK": 1, "WORLD_SIZE": 2, "LOCAL_RANK": 1, "LOCAL_WORLD_SIZE": 2}
    for name, value in around.items():
        monkeypatch.setenv(name, str(value))


def n_ranks():
    with joined_ranks() as ranks:
        return ranks.size


@pytest.mark.usefixtures("second_of_two")
def test_workers_of_joblib_are_alone():
    calls = [joblib.delayed(n_ranks)()] * 2
    assert joblib.Parallel(2, backend="threading")(calls) == [1, 1]
    X, y = class_table()
    selector = quick()
    fitted = joblib.Parallel(2, backend="multiprocessing")(
        [joblib.delayed(selector.fit)(X, y)] * 2
    )
    assert (fitted[0].support_ == fitted[1].support_).all()


@pytest.mark.usefixtures("second_of_two")
def test_a_launcher_without_an_address_is_an_error():
    with pytest.raises(RankError, match="MASTER_ADDR"):
        quick().fit(*class_table())


@pytest.mark.usefixtures("second_of_two")
def test_ranks_on_one_machine_share_its_cores_and_gpus(monkeypatch):
    half = max(1, joblib.cpu_count() // 2)
    assert resolve_threads(None) == resolve_threads(-1) == half
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    assert resolve_device("auto") == torch.device("cuda", 1)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)  # each sees its own
    assert resolve_device("auto") == torch.device("cuda", 0)
