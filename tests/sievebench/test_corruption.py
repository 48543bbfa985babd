import numpy as np
import pytest
from made_dataset import made_dataset

from sievebench import corruption

ADDING = [name for name in corruption.SCENARIOS if name != "none"]


def literal_columns(X, scenario, p):
    """Follow the protocol line by line, with NumPy's global legacy generator."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    n_rows, D = X.shape
    n_extra = int(D / (1 - p) * p)
    if scenario == "random":
        extra = np.random.randn(n_rows, n_extra)  # noqa: NPY002
    elif scenario == "corrupted":
        idx = np.random.choice(np.arange(D), 9 * D, replace=True)[:n_extra]  # noqa: NPY002
        Z = np.random.randn(n_rows, n_extra)  # noqa: NPY002
        extra = np.empty((n_rows, n_extra))
        for place, source in enumerate(idx):
            std = np.nanstd(X[:, source])
            extra[:, place] = 0.5 * X[:, source] + 0.5 * std * Z[:, place]
    else:
        a = np.random.choice(np.arange(D), 9 * D, replace=True)[:n_extra]  # noqa: NPY002
        b = np.random.choice(np.arange(D), 9 * D, replace=True)[:n_extra]  # noqa: NPY002
        extra = np.stack([X[:, i] * X[:, j] for i, j in zip(a, b, strict=True)], axis=1)
    np.random.set_state(before)  # noqa: NPY002
    return extra


@pytest.mark.parametrize("fraction", [0.25, 0.5, 0.75, 0.9])
@pytest.mark.parametrize("scenario", ["random", "corrupted", "second_order"])
def test_legacy_columns_are_those_of_the_protocol(scenario, fraction):
    dataset = made_dataset()
    dataset.X[3, 2] = np.nan
    found = corruption.apply(dataset, scenario, fraction)
    expected = literal_columns(dataset.X, scenario, fraction)
    np.testing.assert_allclose(found.X[:, :6], dataset.X)
    np.testing.assert_allclose(found.X[:, 6:], expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("scenario", ADDING)
def test_added_columns_are_marked_and_named(scenario, seed):
    found = corruption.apply(made_dataset(), scenario, seed=seed)
    assert found.is_original.tolist() == [True] * 6 + [False] * 6
    assert found.column_names[6:8] == (f"{scenario}_0", f"{scenario}_1")
    assert found.n_original == 6
    assert found.n_columns == 12


@pytest.mark.parametrize("scenario", ["corrupted", "second_order"])
def test_smaller_share_begins_with_the_same_sources(scenario):
    dataset = made_dataset()
    dataset.X[:] = np.arange(1, 7)  # constant columns: no spread, so no noise
    few = corruption.apply(dataset, scenario, 0.5).X
    many = corruption.apply(dataset, scenario, 0.9).X
    np.testing.assert_array_equal(many[:, : few.shape[1]], few)


@pytest.mark.parametrize("scenario", ADDING)
def test_own_stream_begins_with_the_same_columns_and_differs_by_seed(scenario):
    few, many, other, legacy = (
        corruption.apply(made_dataset(), scenario, fraction, seed=seed).X
        for fraction, seed in ((0.5, 7), (0.9, 7), (0.5, 8), (0.5, None))
    )
    np.testing.assert_array_equal(many[:, : few.shape[1]], few)
    assert not np.allclose(few, other)
    assert not np.allclose(few, legacy)


def test_corrupted_column_correlates_with_its_source_at_half_the_variance():
    dataset = made_dataset(n_rows=20_000, n_columns=1)
    found = corruption.apply(dataset, "corrupted").X
    # 1 / sqrt(2); the standard error of r at this size is about 0.004.
    correlation = np.corrcoef(found.T)[0, 1]
    assert correlation == pytest.approx(np.sqrt(0.5), abs=0.015)


def test_no_scenario_leaves_the_table_alone():
    dataset = made_dataset()
    found = corruption.apply(dataset, "none")
    np.testing.assert_array_equal(found.X, dataset.X)


@pytest.mark.parametrize(
    ("scenario", "fraction", "message"),
    [
        *(("random", f, "noise_fraction must be between 0 and") for f in (-0.1, 0.95)),
        ("salt", 0.5, "scenario must be one of none, random"),
    ],
)
def test_fraction_out_of_range_and_unknown_scenario_are_refused(
    scenario, fraction, message
):
    with pytest.raises(ValueError, match=message):
        corruption.apply(made_dataset(), scenario, fraction)
