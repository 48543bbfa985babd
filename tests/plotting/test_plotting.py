"""The displays draw what the estimator learnt, where they are told to, and no more.

What is particular to the path is in test_balance_path_display.py.
"""

import sys
from copy import copy

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from matplotlib.text import Text
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from featuresieve import AutoNFSClassifier, Training
from featuresieve.plotting import (
    BalancePathDisplay,
    MaskEvolutionDisplay,
    StabilityDisplay,
)
from made_tables import class_table
from test_readme import code_blocks, read, run_blocks

each_display = pytest.mark.parametrize(
    "display_class", [BalancePathDisplay, MaskEvolutionDisplay, StabilityDisplay]
)
NAMES = [
    "price in $ and $",
    "a name\nof two lines",
    "ñandú",
    "the same name",
    "the same name",
    "a very long name of a column that goes on and on and ends in 5",
    "",
    "_hidden",
]


def columns(n_features, n_kept, names):
    return {
        "is_kept": np.arange(n_features) >= n_features - n_kept,
        "ranking": np.arange(n_features, 0, -1),
        "feature_names": names or [f"x{j}" for j in range(n_features)],
    }


def made_evolution(n_records=3, n_features=8, n_kept=2, names=None):
    """Return a display of made gates; columns are ranked from last to first."""
    return MaskEvolutionDisplay(
        step=10 * np.arange(1, n_records + 1),
        gates=np.random.default_rng(0).uniform(size=(n_records, n_features)),
        **columns(n_features, n_kept, names),
    )


def made_stability(n_features=8, n_kept=2, names=None):
    """Return a display of made frequencies; columns are ranked from last to first."""
    frequency = np.linspace(0, 1, n_features)
    return StabilityDisplay(frequency=frequency, **columns(n_features, n_kept, names))


def words_in(figure):
    """Return the words at the ticks and in the axes of a figure, once drawn."""
    figure.draw_without_rendering()
    return [
        text.get_text()
        for ax in figure.axes
        for text in [*ax.texts, *ax.get_xticklabels(), *ax.get_yticklabels()]
        if text.get_text() and text.get_visible()
    ]


# All displays


@each_display
def test_display_makes_one_figure_and_plots_again_on_other_axes(
    selector, display_class
):
    backend, settings = plt.get_backend(), dict(plt.rcParams)
    display = display_class.from_estimator(selector)
    assert (plt.get_backend(), dict(plt.rcParams)) == (backend, settings)
    assert plt.get_fignums() == [display.figure_.number]
    assert display.ax_ in display.figure_.axes
    ax = plt.figure().subfigures(1, 2)[0].subplots()
    assert display.plot(ax) is display
    assert (display.ax_, display.figure_) == (ax, ax.figure)


@each_display
def test_display_draws_on_the_given_axes_only(selector, display_class):
    figure, (left, right) = plt.subplots(1, 2)
    display = display_class.from_estimator(selector, ax=right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not left.has_data()
    assert plt.get_fignums() == [figure.number]


@each_display
def test_display_of_something_else_is_refused_by_name(display_class):
    with pytest.raises(NotFittedError):
        display_class.from_estimator(AutoNFSClassifier())
    pipeline = make_pipeline(AutoNFSClassifier())
    for other in (LogisticRegression(), pipeline, AutoNFSClassifier):
        with pytest.raises(TypeError, match=f"got {type(other).__name__}"):
            display_class.from_estimator(other)
    assert plt.get_fignums() == []


@each_display
def test_display_without_matplotlib_names_the_extra(
    selector, display_class, monkeypatch
):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"featuresieve\[plot\]"):
        display_class.from_estimator(selector)


@pytest.mark.parametrize(
    ("display", "arguments", "message"),
    [
        (made_stability(), {"max_features": 0}, "max_features must be an int >= 1"),
        (made_stability(), {"max_features": 2.5}, r"got 2\.5"),
        (made_stability(), {"threshold": 2}, r"number in \[0, 1\], got 2"),
        (made_evolution(), {"max_features": -1}, "max_features must be an int >= 1"),
        (made_evolution(), {"kind": "bars"}, "'lines', 'heatmap', got 'bars'"),
    ],
)
def test_wrong_argument_is_named_and_leaves_no_figure(display, arguments, message):
    error = TypeError if 2.5 in arguments.values() else ValueError
    with pytest.raises(error, match=message):
        display.plot(**arguments)
    assert plt.get_fignums() == []


# MaskEvolutionDisplay


def test_evolution_draws_the_gates_of_every_column(selector):
    display = MaskEvolutionDisplay.from_estimator(selector)
    order = np.lexsort((np.argsort(selector.order_), ~selector.support_))
    assert len(display.lines_) == 8
    for line, column in zip(display.lines_, order, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), selector.history_["step"])
        np.testing.assert_array_equal(
            line.get_ydata(), selector.history_["gates"][:, column]
        )


def test_evolution_names_the_best_kept_and_tells_them_from_dropped():
    kept, *_, dropped = made_evolution().plot().lines_
    assert kept.get_linewidth() > dropped.get_linewidth()
    assert kept.get_linestyle() != dropped.get_linestyle()
    display = made_evolution(n_features=20, n_kept=9).plot()
    names = [text.get_text() for text in display.ax_.texts]
    assert names == ["x19", "x18", "x17", "x16", "x15", "x14", "x13"]


def test_evolution_names_do_not_cover_one_another():
    display = made_evolution(n_features=20, n_kept=7)
    display.gates[-1] = 1.0  # all lines end at one point
    figure = display.plot().figure_
    figure.draw_without_rendering()
    # The box of the words alone: that of an annotation includes its leader.
    boxes = [Text.get_window_extent(text) for text in display.ax_.texts]
    assert len(boxes) == 7
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i]), boxes
    assert all(box.x1 <= figure.bbox.x1 for box in boxes)


def test_of_many_columns_the_best_are_drawn_which_is_said():
    display = made_evolution(n_features=7000, n_kept=3).plot()
    assert len(display.lines_) == 200
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words == ["kept (3)", "dropped (197 of 6,997)"]
    display = made_evolution(n_features=500).plot(kind="heatmap", max_features=20)
    drawn = display.mesh_.get_array().reshape(20, 3)
    np.testing.assert_array_equal(drawn, display.gates[:, ::-1][:, :20].T)
    assert display.lines_ == []
    assert "20 of 500" in display.ax_.get_ylabel()
    display = made_stability(n_features=7000).plot()
    assert len(display.bars_) == 30
    assert display.ax_.get_yticklabels()[0].get_text() == "x6999"
    assert "30 of 7,000" in display.ax_.get_ylabel()


@pytest.mark.parametrize("kind", ["lines", "heatmap"])
@pytest.mark.parametrize("n_kept", [0, 1, 2])
def test_evolution_of_a_single_record_is_drawn(kind, n_kept):
    display = made_evolution(n_records=1, n_features=2, n_kept=n_kept).plot(kind=kind)
    display.figure_.draw_without_rendering()
    assert all(line.get_marker() == "o" for line in display.lines_)


# StabilityDisplay


def test_stability_draws_the_frequencies_by_rank(selector):
    display = StabilityDisplay.from_estimator(selector)
    order = selector.order_
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, selector.selection_frequency_[order])
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == [f"x{column}" for column in order]
    heights = [bar.get_y() for bar in display.bars_]
    on_screen = display.ax_.transData.transform([(0, y) for y in heights])[:, 1]
    assert (np.diff(on_screen) < 0).all()  # the best is on top


def test_stability_tells_kept_from_dropped_by_more_than_colour(selector):
    display = StabilityDisplay.from_estimator(selector)
    is_kept = selector.support_[selector.order_]
    assert [bar.get_hatch() is None for bar in display.bars_] == is_kept.tolist()
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words == ["kept", "dropped", "a tenth of the networks"]


@pytest.mark.parametrize(("balance", "share"), [("auto", 0.1), (0.01, 0.5)])
def test_stability_line_stands_at_the_share_that_was_needed(selector, balance, share):
    other = copy(selector).set_params(balance=balance)
    line = StabilityDisplay.from_estimator(other).threshold_line_
    assert set(line.get_xdata()) == {share}


def test_stability_uses_the_names_of_the_columns():
    X, y = class_table()
    names = [f"sensor {j}" for j in range(8)]
    selector = AutoNFSClassifier("price", training=Training(n_epochs=4), random_state=0)
    selector.fit(pd.DataFrame(X, columns=names), y)
    display = StabilityDisplay.from_estimator(selector)
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == selector.feature_table()["name"].tolist()
    assert display.feature_names.tolist() == names


@pytest.mark.parametrize("threshold", [0.5, 0.9, None])
def test_stability_line_stands_at_the_threshold_and_colours_are_passed_on(threshold):
    display = made_stability().plot(threshold=threshold, color="red")
    lines = [set(line.get_xdata()) for line in display.ax_.lines]
    assert lines == ([] if threshold is None else [{threshold}])
    assert (display.threshold_line_ is None) == (threshold is None)
    assert {bar.get_facecolor() for bar in display.bars_} == {to_rgba("red")}


# Names


@pytest.mark.parametrize(
    "plot",
    [
        lambda: made_stability(names=NAMES).plot(),
        lambda: made_evolution(names=NAMES, n_kept=8).plot(),
        lambda: made_evolution(names=NAMES).plot(kind="heatmap"),
    ],
    ids=["stability", "lines", "heatmap"],
)
def test_odd_names_are_drawn_as_they_are_on_one_short_line(plot):
    display = plot()
    drawn = words_in(display.figure_)
    assert "price in $ and $" in drawn or "a name of two lines" in drawn
    assert "_hidden" in drawn
    assert max(map(len, drawn)) <= 26
    assert not any("\n" in text for text in drawn)


@pytest.mark.parametrize("n_rows", [2, 30, 100])
@pytest.mark.parametrize("size", [None, (5, 3)])
@pytest.mark.parametrize("kind", ["stability", "heatmap"])
def test_row_names_do_not_cover_one_another(n_rows, size, kind):
    ax = None if size is None else plt.subplots(figsize=size)[1]
    if kind == "stability":
        display = made_stability(n_features=n_rows).plot(ax, max_features=n_rows)
    else:
        display = made_evolution(n_features=n_rows).plot(
            ax, kind=kind, max_features=n_rows
        )
    display.figure_.draw_without_rendering()
    labels = display.ax_.get_yticklabels()
    middles = np.array([label.get_window_extent().get_points() for label in labels])
    distance = np.abs(np.diff(middles.mean(axis=1)[:, 1])).min()
    letter_height = labels[0].get_fontsize() / 72 * display.figure_.dpi
    assert distance >= letter_height
    assert labels[0].get_fontsize() >= 6


# The guide


def test_guide_code_runs_and_saves_its_pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_blocks(code_blocks(read("docs/plots.md")), "docs/plots.md")
    saved = {path.stem for path in tmp_path.glob("*.png")}
    assert saved == {"balance_path", "mask_evolution", "stability", "both"}
