"""`n_jobs`: as scikit-learn counts jobs, and without a part in the answer."""

import joblib
import numpy as np
import pytest
import torch

from featuresieve import AutoNFSClassifier, Training
from featuresieve.engine import resolve_threads
from interrupted_fits import answers, assert_same_answers

N_CORES = joblib.cpu_count()
# 46 million multiply-adds a step: in slices.
RNG = np.random.default_rng(0)
X = RNG.standard_normal((2100, 250))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)


def fit_answers(n_jobs, X, y, judge):
    training = Training(n_members=20, n_epochs=1)
    settings = {"training": training, "random_state": 0, "device": "cpu"}
    selector = AutoNFSClassifier(n_jobs=n_jobs, judge=judge, **settings)
    return answers(selector.fit(X, y), X)


@pytest.mark.filterwarnings("ignore::featuresieve.FeatureSieveWarning")
@pytest.mark.parametrize(
    ("judge", "n_rows", "n_columns"), [("networks", 2100, 250), ("trees", 200, 5)]
)
def test_the_number_of_jobs_changes_no_bit_of_the_answer(judge, n_rows, n_columns):
    data = X[:n_rows, :n_columns], Y[:n_rows], judge
    expected = fit_answers(1, *data)
    for n_jobs in (2, 4):
        assert_same_answers(fit_answers(n_jobs, *data), expected)


@pytest.mark.usefixtures("two_threads_of_torch")
def test_jobs_are_counted_as_in_joblib_and_none_is_what_it_leaves():
    for n_jobs, expected in ((1, 1), (3, 3), (-1, N_CORES), (-999, 1)):
        assert resolve_threads(n_jobs) == expected == joblib.effective_n_jobs(n_jobs)
    assert resolve_threads(None) == min(2, N_CORES)
    torch.set_num_threads(1)  # as OMP_NUM_THREADS=1 does
    assert resolve_threads(None) == 1
    with joblib.parallel_config(n_jobs=3):
        assert resolve_threads(None) == 3


@pytest.fixture
def two_threads_of_torch():
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(1)


@pytest.mark.usefixtures("two_threads_of_torch")
@pytest.mark.parametrize(
    ("backend", "options", "expected"),
    [
        ("threading", {}, 1),
        ("multiprocessing", {}, 1),
        ("loky", {"inner_max_num_threads": 2}, min(2, N_CORES)),
    ],
)
def test_workers_of_joblib_share_the_cores(backend, options, expected):
    with joblib.parallel_config(backend, n_jobs=2, **options):
        calls = [joblib.delayed(resolve_threads)(None)] * 2
        assert joblib.Parallel()(calls) == [expected] * 2
