"""The encoding of a table as nodes of ONNX, with the arithmetic of `TableEncoder`."""

from dataclasses import dataclass

import numpy as np

from featuresieve.storage.onnx._columns import (
    MISSING_INTEGER,
    MISSING_TEXT,
    Columns,
    tensor_type,
)
from featuresieve.storage.onnx._graph import Graph, Tensor, TensorType
from featuresieve.tables import (
    DATE_PARTS,
    CategoryEncoder,
    ColumnScaler,
    FeatureEncoder,
    FloatArray,
    NumberEncoder,
    TableEncoder,
    scaled_indicator,
)

_HOUR = 3_600_000_000  # in microseconds
# A feature, and the index of its first encoded column.
_Placed = tuple[FeatureEncoder, int]
# Encoded columns in the order in which nodes make them, and where they belong.
_Blocks = list[tuple[Tensor, list[int]]]


@dataclass(frozen=True)
class _Part:
    """One scaled part of a feature.

    `owner` is the index of the feature among those that are measured, `source` the
    column of the values, and `index` the encoded column.
    """

    owner: int
    source: int
    index: int
    scaler: ColumnScaler  # of this part alone


def add_encoding(graph: Graph, encoder: TableEncoder, columns: Columns) -> Tensor:
    """Add the nodes that encode a table, as float32 does, and return the float64s."""
    if encoder.sparse_features is not None:
        values = columns.block(encoder.sparse_features.tolist(), TensorType.DOUBLE)
        return (values / encoder.sparse_spreads[None, :]).rounded_to_float32()
    blocks: _Blocks = []
    measured: list[_Placed] = []
    index = 0
    for feature in encoder.features:
        if isinstance(feature.encoder, CategoryEncoder):
            own = range(index, index + feature.encoder.n_columns)
            blocks.append((_add_category(graph, feature, columns), list(own)))
        else:
            measured.append((feature, index))
        index += feature.encoder.n_columns
    if measured:
        _add_measured(graph, measured, columns, blocks)
    tensors, indices = zip(*blocks, strict=True)
    order = np.argsort(np.concatenate(indices))
    return graph.columns(graph.side_by_side(tensors), order)


def _add_measured(
    graph: Graph, measured: list[_Placed], columns: Columns, blocks: _Blocks
) -> None:
    """Encode numbers, booleans and dates, all at once."""
    measured = sorted(measured, key=lambda pair: pair[0].kind == "date")
    numbers = [f.feature for f, _ in measured if f.kind != "date"]
    dates = [f.feature for f, _ in measured if f.kind == "date"]
    values, missing = [], []
    if numbers:
        raw = columns.block(numbers, TensorType.DOUBLE)
        missing.append(graph.add("IsNaN", raw))
        values.append(graph.add("Where", missing[-1], 0.0, raw))
    if dates:
        moments = columns.block(dates, TensorType.INT64)
        missing.append(graph.add("Equal", moments, MISSING_INTEGER))
        known = graph.add("Where", missing[-1], 0, moments)
        values += [_add_date_part(graph, known, part) for part in DATE_PARTS]
    is_missing = graph.side_by_side(missing)
    all_values = graph.side_by_side(values)
    parts = _parts(measured, len(dates))
    for has_knots in (True, False):
        group = [part for part in parts if bool(part.scaler.knots) == has_knots]
        if group:
            scaled = _add_scaling(graph, all_values, group)
            holes = graph.columns(is_missing, [part.owner for part in group])
            filled = graph.add("Where", holes, 0.0, scaled)
            blocks.append((filled, [part.index for part in group]))
    _add_indicators(graph, measured, is_missing, blocks)


def _parts(measured: list[_Placed], n_dates: int) -> list[_Part]:
    """Return the scaled parts of all features that are measured."""
    parts = []
    for owner, (feature, index) in enumerate(measured):
        assert isinstance(feature.encoder, NumberEncoder)
        for j, name in enumerate(feature.encoder.parts):
            source = owner
            if feature.kind == "date":  # the dates have a block for each of their parts
                source += n_dates * DATE_PARTS.index(name)
            scaler = feature.encoder.scaler.take(slice(j, j + 1))
            parts.append(_Part(owner, source, index + j, scaler))
    return parts


def _add_indicators(
    graph: Graph, measured: list[_Placed], is_missing: Tensor, blocks: _Blocks
) -> None:
    """Encode what is missing, and as zero those features that had no values at all."""
    found = []
    for owner, (feature, index) in enumerate(measured):
        own = feature.encoder
        assert isinstance(own, NumberEncoder)
        if not own.parts:
            found.append((owner, index, (0.0, 0.0)))
        if own.missing_share is not None:
            states = scaled_indicator(own.missing_share)
            found.append((owner, index + own.n_columns - 1, states))
    if not found:
        return
    owners, indices, both = zip(*found, strict=True)
    # (states, columns), as float32 has them
    no, yes = np.array(both, dtype=np.float32).T
    holes = graph.columns(is_missing, owners)
    blocks.append((graph.add("Where", holes, yes, no), list(indices)))


def _add_scaling(graph: Graph, values: Tensor, parts: list[_Part]) -> Tensor:
    """Scale some columns as `ColumnScaler` does."""
    column = graph.columns(values, [part.source for part in parts])
    scaler = ColumnScaler.joined([part.scaler for part in parts])
    if scaler.knots:
        column = _add_interpolation(graph, column, scaler)
    scaled = column / scaler.spreads - scaler.means / scaler.spreads
    return scaled.rounded_to_float32()


def _add_interpolation(graph: Graph, values: Tensor, scaler: ColumnScaler) -> Tensor:
    """Interpolate between knots as ``np.interp`` does, in every column.

    A binary search finds the last knot that is not above a value. The knots of all
    columns lie behind one another, filled up to equal powers of two.
    """
    knots, scores, slopes = _curves(scaler)
    n_parts, size = knots.shape
    values = graph.add("Max", values, knots[:, 0])
    lasts = np.where(np.isinf(knots), -np.inf, knots).max(axis=1)
    values = graph.add("Min", values, lasts)
    all_knots = graph.constant(knots.reshape(-1), np.float64)
    index = graph.integers(np.arange(n_parts)[None, :] * size)  # of the first knots
    step = size // 2
    while step > 0:
        further = index + step
        next_knot = graph.add("Gather", all_knots, further, axis=0)
        is_reached = graph.add("LessOrEqual", next_knot, values)
        index = graph.add("Where", is_reached, further, index)
        step //= 2
    knot, slope, score = (
        graph.add("Gather", curve, index, axis=0)
        for curve in (all_knots, slopes.reshape(-1), scores.reshape(-1))
    )
    return slope * (values - knot) + score


def _curves(scaler: ColumnScaler) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return knots, scores and slopes, (parts, size), with infinity behind the knots.

    The size is a power of two.
    """
    size = 1 << (max(map(len, scaler.knots)) - 1).bit_length()
    knots = np.full((len(scaler.knots), size), np.inf)
    scores, slopes = np.zeros((2, *knots.shape))
    for row, (known, score) in enumerate(zip(scaler.knots, scaler.scores, strict=True)):
        n_knots = len(known)
        knots[row, :n_knots] = known
        scores[row, :n_knots] = score
        with np.errstate(over="ignore"):
            slope = np.diff(score) / np.diff(known)
        # Knots that are next to nothing apart have no value between them.
        slopes[row, : n_knots - 1] = np.where(np.isfinite(slope), slope, 0.0)
    return knots, scores, slopes


def _add_date_part(graph: Graph, moments: Tensor, part: str) -> Tensor:
    """Return a part of moments, which are microseconds, as `date_part` does."""
    if part == "timestamp":
        return moments.cast(TensorType.DOUBLE) / 1e6
    unit = graph.integers(_HOUR if part == "hour" else 24 * _HOUR)
    count = (moments - moments % unit) / unit  # ``Div`` would round towards zero
    if part == "hour":
        number = count % 24
    elif part == "weekday":  # the first of January 1970 was a Thursday
        number = (count + 3) % 7
    else:
        number = _months_since_january(count) % 12
    return number.cast(TensorType.DOUBLE)


def _months_since_january(days: Tensor) -> Tensor:
    """Return which month days since 1970 are in: 0 or 12 in January.

    Years are counted from the first of March, so that a leap day comes last, within
    400 years of 146097 days. Then the months have 31, 30, 31, 30, 31 days, and again:
    153 days in five months.
    """
    # The first of March of the year 0 was 719468 days before 1970.
    day = (days + 719_468) % 146_097
    # Without leap days: every 4 years one, every 100 none, every 400 one.
    without = day - day / 1_460 + day / 36_524 - day / 146_096
    year = without / 365
    of_year = day - (year * 365 + year / 4 - year / 100)
    return (of_year * 5 + 2) / 153 + 2


def _add_category(graph: Graph, feature: FeatureEncoder, columns: Columns) -> Tensor:
    """Encode a category: its state, and then the indicators of that state."""
    encoder = feature.encoder
    assert isinstance(encoder, CategoryEncoder)
    column = columns.column(feature.feature)
    kind = tensor_type(feature, TensorType.DOUBLE)
    if kind == TensorType.STRING:
        states = {str(level): state for state, level in enumerate(encoder.levels)}
        states = {MISSING_TEXT: encoder.missing_state} | states
        state = graph.add(
            "LabelEncoder",
            column,
            domain="ai.onnx.ml",
            keys_strings=list(states),
            values_int64s=list(states.values()),
            default_int64=encoder.other_state,
        )
    else:
        state = _add_number_state(graph, encoder, column, kind)
    rows = graph.add("Gather", encoder.indicators(), state, axis=0)
    return graph.add("Reshape", rows, [-1, encoder.n_columns])


def _add_number_state(
    graph: Graph, encoder: CategoryEncoder, column: Tensor, kind: TensorType
) -> Tensor:
    """Return the state of each number."""
    n_levels, other = len(encoder.levels), encoder.other_state
    if kind == TensorType.INT64:
        column = column.cast(TensorType.INT64)
        levels = graph.integers([[int(level) for level in encoder.levels]])
        is_missing = graph.add("Equal", column, MISSING_INTEGER)
    else:
        # Inputs of float32 hold the levels rounded: these are compared.
        column = column.cast(TensorType.FLOAT)
        levels = graph.constant([encoder.levels], np.float32)
        is_missing = graph.add("IsNaN", column)
    hits = graph.add("Equal", column, levels).cast(TensorType.INT64)
    moves = hits * (np.arange(n_levels)[None, :] - other)
    state = graph.add("ReduceSum", moves, [1], keepdims=1) + other
    return graph.add("Where", is_missing, encoder.missing_state, state)
