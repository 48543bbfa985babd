"""Whole tables drawn at random: container, labels, cells, target, weights, arguments.

A drawn `Case` says what is wrong with it, if anything is: without faults a fit must
work, with them it must be refused.
"""

from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

from any_arrays import arrays, object_tables, sparse_matrices, tensors
from any_columns import NAN, REFUSED, TAKEN, TEXTS, cells, holes_of
from any_target import class_targets, value_targets, weights_of
from featuresieve import Training

CONTAINERS = (
    *("array", "objects", "sparse", "tensor"),
    *("pandas", "pandas labels", "polars", "pyarrow"),
)
ODD_TEXTS = [*TEXTS, " ", "A", "x0", "x1", "__index__", "\n", "{}", "*", "^.*$"]
ODD_TEXTS += ["é", "e\u0301"]


@dataclass
class Case:
    """A drawn table with all that a fit is called with."""

    X: Any = field(repr=False)
    is_classes: bool
    arguments: dict[str, Any]
    output: str | None
    # Why a fit must be refused; a fault of a column starts with its label.
    faults: list[str]
    bad_labels: list[str]
    n_rows: int
    n_columns: int
    seed: int
    what: list[Any]  # of which the table was made
    y: Any = field(repr=False, default=None)
    sample_weight: Any = field(repr=False, default=None)


@st.composite
def cases(draw, container):
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n_rows = draw(st.sampled_from([2, 3, 5, 8, 12, 12, 12, 20, 20, 20, 40, 1, 0]))
    n_columns = draw(st.integers(1, 5))
    make = {"array": arrays, "objects": object_tables, "sparse": sparse_matrices}
    make["tensor"] = tensors
    drawn = make.get(container, frames)(draw, container, n_rows, n_columns, rng)
    X, faults, bad_columns, labels, what = drawn
    is_classes = draw(st.booleans())
    arguments = draw(constructor_arguments(labels, n_columns))
    if isinstance(X, list | tuple) and bad_columns:
        arguments["never_keep"] = None  # numpy makes one array of all columns
    dropped = positions_of(arguments["never_keep"], labels)
    bad_columns = [j for j in bad_columns if j not in dropped]
    case = Case(
        *(X, is_classes, arguments, draw(st.sampled_from([None, None, *OUTPUTS]))),
        faults + [f"column {labels[j]!r}" for j in bad_columns],
        [repr(labels[j]) for j in bad_columns],
        *(n_rows, n_columns, seed, what),
    )
    if n_rows < 2:
        case.faults.append("too few rows")
    add_target(draw, case, rng)
    return case


OUTPUTS = ("default", "pandas", "polars")


def add_target(draw, case, rng):
    targets = class_targets if case.is_classes else value_targets
    case.y, kind, is_good = draw(targets(case.n_rows, rng))
    case.sample_weight, weights, is_weight_good = draw(weights_of(case.n_rows, rng))
    case.what += [kind, weights]
    if weights == "zeros":  # rows that do not count may be too far out to standardise
        case.arguments["training"].scaling = "normal_scores"
    if case.is_classes and draw(st.integers(0, 5)) == 5:
        case.arguments["class_weight"] = "balanced"
    if not is_good:
        case.faults.append("y")
    if not is_weight_good:
        case.faults.append("sample_weight")


# Data frames.


@st.composite
def names(draw, n_columns):
    name = st.sampled_from(ODD_TEXTS) | st.text(max_size=4)
    return draw(st.lists(name, min_size=n_columns, max_size=n_columns, unique=True))


def frames(draw, container, n_rows, n_columns, rng):
    library = container.split()[0]
    columns, bad, kinds = [], [], []
    for j in range(n_columns):
        is_good = draw(st.integers(0, 14)) < 14
        makers = (TAKEN if is_good else REFUSED)[library]
        kind = draw(st.sampled_from(sorted(makers)))
        holes = draw(holes_of) if is_good else "none"
        values, make = makers[kind]
        columns.append(make(cells(values, holes, n_rows, rng)))
        kinds.append((kind, holes))
        if not is_good:
            bad.append(j)
    labels, faults = draw(names(n_columns)), []
    if container == "pandas labels":
        labels = ODD_LABELS[draw(st.sampled_from(sorted(ODD_LABELS)))](n_columns)
        faults = label_faults(labels)
        X = pandas_frame(draw, columns, labels, n_rows)
        return X, faults, bad, list(labels), [kinds, "labels", list(labels)]
    if library == "pandas":
        X = pandas_frame(draw, columns, pd.Index(labels, dtype=object), n_rows)
    elif library == "polars":
        X = pl.DataFrame(dict(zip(labels, columns, strict=True)))
    else:
        if n_columns > 1 and draw(st.integers(0, 9)) == 9:
            labels[0], faults = labels[1], ["labels twice"]
        is_batch = draw(st.booleans())
        form = pa.RecordBatch if is_batch else pa.Table
        X = form.from_arrays(columns, names=labels)
    if library != "pyarrow" and draw(st.integers(0, 9)) == 9:
        X = nw.from_native(X)
    return X, faults, bad, labels, [kinds, labels]


def label_faults(labels):
    """Return what is wrong with labels; scikit-learn takes no text among others."""
    are_texts = {isinstance(label, str) for label in labels}
    faults = [] if labels.is_unique else ["labels twice"]
    return faults + ["text among other labels"] * (len(are_texts) > 1)


def pandas_frame(draw, columns, labels, n_rows):
    """Put columns together, with an index of any kind."""
    X = pd.concat(columns, axis=1)
    X.columns = labels
    index = draw(st.sampled_from(["range", "text", "repeated", "levels", "dates"]))
    rows = np.arange(n_rows)
    if index == "text":
        X.index = pd.Index([f"row {row}" for row in rows], dtype=object, name="a")
    elif index == "repeated":
        X.index = rows // 2
    elif index == "levels":
        X.index = pd.MultiIndex.from_arrays([rows, rows[::-1]], names=["a", None])
    elif index == "dates":
        X.index = pd.date_range("2020", periods=n_rows, tz="UTC")
    return X


def whole(values):
    """Return a maker of an index of objects, tuples whole."""
    return lambda n: pd.Index(values[:n], dtype=object, tupleize_cols=False)


ODD_LABELS = {
    "range": pd.RangeIndex,
    "integers": lambda n: pd.Index([7, -3, 0, 2**40, 1][:n]),
    "floats": lambda n: pd.Index([0.5, -1.0, 1e300, 2.0, 3.0][:n]),
    "NaN": lambda n: pd.Index([NAN, 1.0, 2.0, 3.0, 4.0][:n]),
    "None": whole([None, "a", "b", "c", "d"]),
    "tuples": whole([("a", 1), ("a", 2), (), ("b", None), ("c",)]),
    "bytes": whole([b"a", b"b", b"", b"\xff", b"c"]),
    "truths": lambda n: pd.Index([True, False][:n] + ["a", "b", "c"][: max(n - 2, 0)]),
    "dates": lambda n: pd.date_range("2020-01-31", periods=n, freq="ME"),
    "zoned": lambda n: pd.date_range("2020", periods=n, tz="Europe/Berlin"),
    "nanoseconds": lambda n: pd.DatetimeIndex(
        pd.to_datetime(range(1, n + 1), unit="ns")
    ),
    "spans": lambda n: pd.timedelta_range("1h", periods=n),
    "periods": lambda n: pd.period_range("2020", periods=n, freq="M"),
    "intervals": lambda n: pd.interval_range(0, periods=n),
    "categories": lambda n: pd.CategoricalIndex(list("abcde")[:n]),
    "mixed": whole(["a", 1, 2.5, ("a", 1), None]),
    "levels": lambda n: pd.MultiIndex.from_tuples(
        [("a", 1), ("a", 2), ("b", 1), ("", 0), ("b", 2)][:n], names=["one", None]
    ),
    "NA": whole([pd.NA, 1, 2, 3, 4]),
    "NaN in tuples": whole([("a", NAN), ("a", 1), ("b", 1), ("b", 2), ("b", 3)]),
    "twice": lambda n: pd.Index([1] * n),
}


# Arguments.


def positions_of(features, labels):
    """Return where features stand that are named, or counted."""
    listed = features or []
    return {f if isinstance(f, int) else labels.index(f) for f in listed}


@st.composite
def constructor_arguments(draw, labels, n_columns):
    """Draw arguments that do not contradict each other; all make a fit quick."""
    are_texts = all(isinstance(label, str) for label in labels)
    by_name = are_texts and len(set(labels)) == n_columns and draw(st.booleans())
    features = draw(st.permutations(range(n_columns)))
    n_kept, n_dropped = 0, 0
    if draw(st.integers(0, 2)) == 2:
        n_kept = draw(st.integers(0, n_columns - 1))
        n_dropped = draw(st.integers(0, n_columns - 1 - n_kept))
    named = [labels[j] if by_name else j for j in features]
    rest = named[n_kept + n_dropped :]
    groups = [rest[:2]] if len(rest) > 2 and draw(st.integers(0, 3)) == 3 else None
    free = groups is None and draw(st.integers(0, 3)) == 3
    least = max(n_kept, 1)
    return {
        "balance": draw(st.sampled_from(["auto"] * 6 + ["price", 0.0, 0.1])),
        "random_state": draw(st.integers(0, 3)),
        "training": Training(
            n_epochs=1,
            n_members=draw(st.integers(1, 2)),
            scaling=draw(st.sampled_from(["normal_scores", "standard"])),
            max_categories=draw(st.sampled_from([1, 2, 32])),
            hidden_sizes=(4,),
            embedding_size=4,
            gate_rows=draw(st.sampled_from(["held_out", "shared"])),
        ),
        "always_keep": named[:n_kept] or None,
        "never_keep": named[n_kept : n_kept + n_dropped] or None,
        "feature_groups": groups,
        "feature_costs": {rest[0]: 0.5} if draw(st.booleans()) else None,
        "max_features": draw(st.integers(least, n_columns)) if free else None,
    }
