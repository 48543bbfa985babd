"""BalancePathDisplay draws the candidates, their errors and the choice."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from featuresieve.plotting import BalancePathDisplay
from made_tables import value_table
from quick_selectors import quick_regressor


def made_path(*candidates, chosen=0, **more):
    """Return a display of made candidates: balance, count, loss and its error."""
    columns = [list(column) for column in zip(*candidates, strict=True)]
    is_chosen = [k == chosen for k in range(len(candidates))]
    names = ("balance", "n_kept", "loss", "loss_error", "is_chosen")
    values = dict(zip(names, [*columns, is_chosen], strict=True))
    return BalancePathDisplay(**values, **more)


def test_path_shows_the_loss_and_error_of_every_candidate(selector):
    display = BalancePathDisplay.from_estimator(selector)
    points, _, (bars,) = display.errorbar_
    path = selector.path_
    np.testing.assert_array_equal(points.get_xdata(), path["n_kept"])
    np.testing.assert_array_equal(points.get_ydata(), path["loss"])
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends.mean(axis=1), path["loss"])
    np.testing.assert_allclose(np.ptp(ends, axis=1) / 2, path["loss_error"])


def test_path_marks_and_names_the_chosen_candidate(selector):
    display = BalancePathDisplay.from_estimator(selector)
    (row,) = selector.path_[selector.path_["is_chosen"]]
    point = display.chosen_[0]
    assert (point.get_xdata(), point.get_ydata()) == (row["n_kept"], row["loss"])
    assert to_hex(point.get_color()) != to_hex(display.errorbar_[0].get_color())
    assert point.get_marker() != display.errorbar_[0].get_marker()
    text = display.chosen_label_.get_text()
    assert f"elected by votes: {selector.n_features_selected_} of 8\n" in text
    assert f"λ = {selector.balance_:.3g}" in text


@pytest.mark.parametrize("balance", [0.0, 0.1, 5000.0])
def test_path_of_a_fit_without_candidates_says_so(balance):
    display = made_path((balance, 3, np.nan, np.nan), n_features=8).plot()
    display.figure_.draw_without_rendering()
    assert display.errorbar_ is None
    assert display.chosen_ is None
    note, label = (text.get_text() for text in display.ax_.texts)
    assert "no candidate sets" in note
    assert label.startswith("kept: 3 of 8\nλ = ")
    assert display.chosen_line_.get_xdata()[0] == 3


def test_path_of_a_fixed_balance_is_drawn_from_the_estimator():
    selector = quick_regressor(balance=0.1, n_epochs=4).fit(*value_table())
    display = BalancePathDisplay.from_estimator(selector)
    assert display.errorbar_ is None
    assert "λ = 0.1" in display.chosen_label_.get_text()


@pytest.mark.parametrize(
    ("counts", "scale"), [([1, 2, 3], "linear"), ([1, 40, 5000], "log")]
)
def test_path_takes_a_logarithmic_axis_for_far_counts(counts, scale):
    display = made_path(*((1.0, n, 0.2, 0.0) for n in counts), chosen=1).plot()
    assert display.ax_.get_xscale() == scale
    low, high = display.ax_.get_xlim()
    assert low < counts[0] < counts[-1] < high


def test_path_of_a_single_candidate_has_a_finite_axis_and_one_tick():
    display = made_path((1.0, 1, 0.0, 0.0)).plot()
    low, high = display.ax_.get_ylim()
    assert low < 0 < high
    display = made_path((1.0, 1, 0.3, 0.1)).plot()
    display.figure_.draw_without_rendering()
    low, high = display.ax_.get_xlim()
    assert [t for t in display.ax_.get_xticks() if low <= t <= high] == [1]


def test_path_words_stay_above_all_points_and_other_arguments_are_passed_on(selector):
    display = BalancePathDisplay.from_estimator(selector, markersize=11)
    assert display.errorbar_[0].get_markersize() == 11
    display.figure_.draw_without_rendering()
    path = selector.path_
    top = (path["loss"] + path["loss_error"]).max()
    (_, top_on_screen) = display.ax_.transData.transform((1, top))
    assert display.chosen_label_.get_window_extent().y0 > top_on_screen
