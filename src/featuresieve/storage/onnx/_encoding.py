"""The encoding of a table as nodes of ONNX, with the arithmetic of `TableEncoder`."""

from dataclasses import dataclass, field

import numpy as np

from featuresieve.storage.onnx._columns import (
    MISSING_INTEGER,
    MISSING_TEXT,
    Columns,
    tensor_type,
)
from featuresieve.storage.onnx._graph import Graph, TensorType
from featuresieve.tables import (
    DATE_PARTS,
    CategoryEncoder,
    FeatureEncoder,
    FloatArray,
    NumberEncoder,
    TableEncoder,
    scaled_indicator,
)

_HOUR = 3_600_000_000  # in microseconds
_DAY = 24 * _HOUR


@dataclass
class _Blocks:
    """Encoded columns in the order in which nodes make them, and where they belong."""

    tensors: list[str] = field(default_factory=list)
    indices: list[int] = field(default_factory=list)

    def add(self, tensor: str, indices: list[int]) -> None:
        """Take some encoded columns."""
        self.tensors.append(tensor)
        self.indices += indices


@dataclass(frozen=True)
class _Part:
    """One scaled part of a feature.

    `owner` is the index of the feature among those that are measured, `source` the
    column of the values, and `index` the encoded column.
    """

    owner: int
    source: int
    index: int
    knots: FloatArray | None
    scores: FloatArray | None
    mean: float
    spread: float


def add_encoding(graph: Graph, encoder: TableEncoder, columns: Columns) -> str:
    """Add the nodes that encode a table, as float32 does, and return the float64s."""
    if encoder.sparse_features is not None:
        values = columns.block(encoder.sparse_features.tolist(), TensorType.DOUBLE)
        spreads = graph.doubles(encoder.sparse_spreads[None, :])
        return graph.rounded_to_float32(graph.add("Div", values, spreads))
    blocks = _Blocks()
    measured: list[tuple[FeatureEncoder, int]] = []
    index = 0
    for feature in encoder.features:
        if isinstance(feature.encoder, CategoryEncoder):
            encoded = _add_category(graph, feature, columns)
            blocks.add(encoded, list(range(index, index + feature.encoder.n_columns)))
        else:
            measured.append((feature, index))
        index += feature.encoder.n_columns
    if measured:
        _add_measured(graph, measured, columns, blocks)
    return graph.columns(graph.side_by_side(blocks.tensors), np.argsort(blocks.indices))


def _add_measured(
    graph: Graph,
    measured: list[tuple[FeatureEncoder, int]],
    columns: Columns,
    blocks: _Blocks,
) -> None:
    """Encode numbers, booleans and dates, all at once."""
    measured = sorted(measured, key=lambda pair: pair[0].kind == "date")
    numbers = [f.feature for f, _ in measured if f.kind != "date"]
    dates = [f.feature for f, _ in measured if f.kind == "date"]
    values, missing = [], []
    if numbers:
        raw = columns.block(numbers, TensorType.DOUBLE)
        missing.append(graph.add("IsNaN", raw))
        values.append(graph.add("Where", missing[-1], graph.doubles(0.0), raw))
    if dates:
        moments = columns.block(dates, TensorType.INT64)
        missing.append(graph.add("Equal", moments, graph.integers(MISSING_INTEGER)))
        known = graph.add("Where", missing[-1], graph.integers(0), moments)
        values += [_add_date_part(graph, known, part) for part in DATE_PARTS]
    is_missing = graph.side_by_side(missing)
    all_values = graph.side_by_side(values)
    parts = _parts(measured, len(dates))
    for has_knots in (True, False):
        group = [part for part in parts if (part.knots is not None) == has_knots]
        if group:
            scaled = _add_scaling(graph, all_values, group)
            holes = graph.columns(is_missing, [part.owner for part in group])
            filled = graph.add("Where", holes, graph.doubles(0.0), scaled)
            blocks.add(filled, [part.index for part in group])
    _add_indicators(graph, measured, is_missing, blocks)


def _parts(measured: list[tuple[FeatureEncoder, int]], n_dates: int) -> list[_Part]:
    """Return the scaled parts of all features that are measured."""
    parts = []
    for owner, (feature, index) in enumerate(measured):
        assert isinstance(feature.encoder, NumberEncoder)
        scaler = feature.encoder.scaler
        for j, name in enumerate(feature.encoder.parts):
            source = owner
            if feature.kind == "date":  # the dates have a block for each of their parts
                source += n_dates * DATE_PARTS.index(name)
            knots = scaler.knots[j] if scaler.knots else None
            scores = scaler.scores[j] if scaler.scores else None
            mean, spread = float(scaler.means[j]), float(scaler.spreads[j])
            parts.append(_Part(owner, source, index + j, knots, scores, mean, spread))
    return parts


def _add_indicators(
    graph: Graph,
    measured: list[tuple[FeatureEncoder, int]],
    is_missing: str,
    blocks: _Blocks,
) -> None:
    """Encode what is missing, and as zero those features that had no values at all."""
    owners, indices, states = [], [], []
    for owner, (feature, index) in enumerate(measured):
        assert isinstance(feature.encoder, NumberEncoder)
        share = feature.encoder.missing_share
        n_columns = feature.encoder.n_columns
        if not feature.encoder.parts:
            owners.append(owner)
            indices.append(index)
            states.append((0.0, 0.0))
        if share is not None:
            owners.append(owner)
            indices.append(index + n_columns - 1)
            states.append(scaled_indicator(share))
    if not owners:
        return
    # (states, columns), as float32 has them
    no, yes = np.array(states, dtype=np.float32).T
    holes = graph.columns(is_missing, owners)
    encoded = graph.add("Where", holes, graph.doubles(yes), graph.doubles(no))
    blocks.add(encoded, indices)


def _add_scaling(graph: Graph, values: str, parts: list[_Part]) -> str:
    """Scale some columns as `ColumnScaler` does."""
    column = graph.columns(values, [part.source for part in parts])
    if parts[0].knots is not None:
        column = _add_interpolation(graph, column, parts)
    means = np.array([part.mean for part in parts])
    spreads = np.array([part.spread for part in parts])
    scaled = graph.add("Div", column, graph.doubles(spreads))
    scaled = graph.add("Sub", scaled, graph.doubles(means / spreads))
    return graph.rounded_to_float32(scaled)


def _add_interpolation(graph: Graph, values: str, parts: list[_Part]) -> str:
    """Interpolate between knots as ``np.interp`` does, in every column.

    A binary search finds the last knot that is not above a value. The knots of all
    columns lie behind one another, filled up to equal powers of two.
    """
    knots, scores, slopes = _curves(parts)
    n_parts, size = knots.shape
    values = graph.add("Max", values, graph.doubles(knots[:, 0]))
    lasts = np.where(np.isinf(knots), -np.inf, knots).max(axis=1)
    values = graph.add("Min", values, graph.doubles(lasts))
    all_knots = graph.doubles(knots.reshape(-1))
    index = graph.integers(np.arange(n_parts)[None, :] * size)  # of the first knots
    step = size // 2
    while step > 0:
        further = graph.add("Add", index, graph.integers(step))
        next_knot = graph.add("Gather", all_knots, further, axis=0)
        is_reached = graph.add("LessOrEqual", next_knot, values)
        index = graph.add("Where", is_reached, further, index)
        step //= 2
    knot = graph.add("Gather", all_knots, index, axis=0)
    slope = graph.add("Gather", graph.doubles(slopes.reshape(-1)), index, axis=0)
    score = graph.add("Gather", graph.doubles(scores.reshape(-1)), index, axis=0)
    rise = graph.add("Mul", slope, graph.add("Sub", values, knot))
    return graph.add("Add", rise, score)


def _curves(parts: list[_Part]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return knots, scores and slopes, (parts, size), with infinity behind the knots.

    The size is a power of two.
    """
    most = max(len(part.knots) for part in parts if part.knots is not None)
    size = 1 << (most - 1).bit_length()
    knots = np.full((len(parts), size), np.inf)
    scores, slopes = np.zeros((2, len(parts), size))
    for row, part in enumerate(parts):
        assert part.knots is not None and part.scores is not None
        n_knots = len(part.knots)
        knots[row, :n_knots] = part.knots
        scores[row, :n_knots] = part.scores
        with np.errstate(over="ignore"):
            slope = np.diff(part.scores) / np.diff(part.knots)
        # Knots that are next to nothing apart have no value between them.
        slopes[row, : n_knots - 1] = np.where(np.isfinite(slope), slope, 0.0)
    return knots, scores, slopes


def _add_date_part(graph: Graph, moments: str, part: str) -> str:
    """Return a part of moments, which are microseconds, as `date_part` does."""
    if part == "timestamp":
        seconds = graph.cast(moments, TensorType.DOUBLE)
        return graph.add("Div", seconds, graph.doubles(1e6))
    if part == "hour":
        count, cycle = _add_floor_division(graph, moments, _HOUR), 24
    elif part == "weekday":  # the first of January 1970 was a Thursday
        days = _add_floor_division(graph, moments, _DAY)
        count, cycle = graph.add("Add", days, graph.integers(3)), 7
    else:
        days = _add_floor_division(graph, moments, _DAY)
        count, cycle = _add_months_since_january(graph, days), 12
    number = graph.add("Mod", count, graph.integers(cycle))
    return graph.cast(number, TensorType.DOUBLE)


def _add_floor_division(graph: Graph, dividend: str, divisor: int) -> str:
    """Divide integers and round down: ``Div`` would round towards zero."""
    by = graph.integers(divisor)
    rest = graph.add("Mod", dividend, by)
    return graph.add("Div", graph.add("Sub", dividend, rest), by)


def _add_months_since_january(graph: Graph, days: str) -> str:
    """Return which month days since 1970 are in: 0 or 12 in January.

    Years are counted from the first of March, so that a leap day comes last, within
    400 years of 146097 days. Then the months have 31, 30, 31, 30, 31 days, and again:
    153 days in five months.
    """

    def divided(tensor: str, by: int) -> str:
        return graph.add("Div", tensor, graph.integers(by))

    def times(tensor: str, by: int) -> str:
        return graph.add("Mul", tensor, graph.integers(by))

    # The first of March of the year 0 was 719468 days before 1970.
    shifted = graph.add("Add", days, graph.integers(719_468))
    day = graph.add("Mod", shifted, graph.integers(146_097))
    # Without leap days: every 4 years one, every 100 none, every 400 one.
    without = graph.add("Sub", day, divided(day, 1_460))
    without = graph.add("Add", without, divided(day, 36_524))
    without = graph.add("Sub", without, divided(day, 146_096))
    year = divided(without, 365)
    start = graph.add("Add", times(year, 365), divided(year, 4))
    start = graph.add("Sub", start, divided(year, 100))
    of_year = graph.add("Sub", day, start)
    month = divided(graph.add("Add", times(of_year, 5), graph.integers(2)), 153)
    return graph.add("Add", month, graph.integers(2))


def _add_category(graph: Graph, feature: FeatureEncoder, columns: Columns) -> str:
    """Encode a category: its state, and then the indicators of that state."""
    encoder = feature.encoder
    assert isinstance(encoder, CategoryEncoder)
    column = columns.column(feature.feature)
    kind = tensor_type(feature, TensorType.DOUBLE)
    indicators = encoder.indicators()
    if kind == TensorType.STRING:
        state = _add_text_state(graph, encoder, column)
    else:
        state = _add_number_state(graph, encoder, column, kind)
    rows = graph.add("Gather", graph.doubles(indicators), state, axis=0)
    shape = graph.integers([-1, encoder.n_columns])
    return graph.add("Reshape", rows, shape)


def _add_text_state(graph: Graph, encoder: CategoryEncoder, column: str) -> str:
    """Return the state of each text."""
    states: dict[str, int] = {MISSING_TEXT: encoder.missing_state}
    states |= {str(level): state for state, level in enumerate(encoder.levels)}
    return graph.add(
        "LabelEncoder",
        column,
        domain="ai.onnx.ml",
        keys_strings=list(states),
        values_int64s=list(states.values()),
        default_int64=encoder.other_state,
    )


def _add_number_state(
    graph: Graph, encoder: CategoryEncoder, column: str, kind: TensorType
) -> str:
    """Return the state of each number."""
    n_levels, other = len(encoder.levels), encoder.other_state
    if kind == TensorType.INT64:
        column = graph.cast(column, TensorType.INT64)
        levels = graph.integers([[int(level) for level in encoder.levels]])
        is_missing = graph.add("Equal", column, graph.integers(MISSING_INTEGER))
    else:
        # Inputs of float32 hold the levels rounded: these are compared.
        column = graph.cast(column, TensorType.FLOAT)
        levels = graph.constant([encoder.levels], np.float32)
        is_missing = graph.add("IsNaN", column)
    hits = graph.cast(graph.add("Equal", column, levels), TensorType.INT64)
    moves = graph.integers(np.arange(n_levels)[None, :] - other)
    chosen = graph.add("Mul", hits, moves)
    move = graph.add("ReduceSum", chosen, graph.integers([1]), keepdims=1)
    state = graph.add("Add", move, graph.integers(other))
    return graph.add("Where", is_missing, graph.integers(encoder.missing_state), state)
