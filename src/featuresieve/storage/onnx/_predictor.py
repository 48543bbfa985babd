"""The networks and the decoding of their outputs as nodes of ONNX."""

from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve.engine import Predictor
from featuresieve.problem import ClassEncoder, ValueScaler
from featuresieve.storage.onnx._graph import Graph, TensorType


def add_networks(graph: Graph, predictor: Predictor, encoded: str) -> str:
    """Add the MLPs of all members, in float64, (members, rows, outputs)."""
    hidden = encoded
    n_layers = len(predictor.members[0]) // 2
    for layer in range(n_layers):
        weights = np.stack([m[f"weight{layer}"] for m in predictor.members])
        biases = np.stack([m[f"bias{layer}"] for m in predictor.members])[:, None, :]
        product = graph.add("MatMul", hidden, _add_float32(graph, weights))
        hidden = graph.add("Add", product, _add_float32(graph, biases))
        if layer < n_layers - 1:
            hidden = graph.add("Max", hidden, graph.doubles(0.0))
    return hidden


def _add_float32(graph: Graph, values: npt.NDArray[Any]) -> str:
    """Add numbers that are stored in half the space of the float64 they are used as."""
    return graph.cast(graph.constant(values, np.float32), TensorType.DOUBLE)


def add_probabilities(
    graph: Graph, code: ClassEncoder, outputs: str, n_members: int
) -> str:
    """Return the mean probabilities, (rows, classes or labels)."""
    if code.is_multilabel:
        halves = graph.add("Tanh", graph.add("Div", outputs, graph.doubles(2.0)))
        doubled = graph.add("Add", halves, graph.doubles(1.0))
        shares = graph.add("Mul", doubled, graph.doubles(0.5))
    else:
        shares = graph.add("Softmax", outputs, axis=-1)
    return _add_mean(graph, shares, n_members)


def add_labels(graph: Graph, code: ClassEncoder, probabilities: str) -> str:
    """Return the labels: a class a row, or a matrix of zeros and ones."""
    if code.is_multilabel:
        is_likely = graph.add("Greater", probabilities, graph.doubles(0.5))
        return graph.cast(is_likely, TensorType.INT64)
    best = graph.add("ArgMax", probabilities, axis=1, keepdims=0)
    dtypes = {TensorType.INT64: np.int64, TensorType.DOUBLE: np.float64}
    dtype: Any = dtypes.get(label_type(code), object)
    classes = graph.constant(code.classes.tolist(), dtype)
    return graph.add("Gather", classes, best, axis=0)


def label_type(code: ClassEncoder) -> TensorType:
    """Return the type of predicted labels; booleans are the integers 0 and 1."""
    labels = code.classes.tolist()
    if all(isinstance(label, str) for label in labels):
        return TensorType.STRING
    if all(isinstance(label, int) and abs(label) < 2**63 for label in labels):
        return TensorType.INT64
    if all(isinstance(label, float) for label in labels):
        return TensorType.DOUBLE
    raise TypeError(
        "to_onnx: labels must be text, booleans, integers or floats, all of one kind, "
        f"got {labels[0]!r} and {labels[-1]!r}."
    )


def add_values(graph: Graph, code: ValueScaler, outputs: str, n_members: int) -> str:
    """Return the predicted values, (rows, outputs)."""
    mean = _add_mean(graph, outputs, n_members)
    scaled = graph.add("Mul", mean, graph.doubles(code.spreads))
    values = graph.add("Add", scaled, graph.doubles(code.means))
    is_heavy = code.widths != 0
    if not is_heavy.any():
        return values
    exponent = graph.add("Max", values, graph.doubles(-300.0))
    exponent = graph.add("Min", exponent, graph.doubles(300.0))
    up = graph.add("Exp", exponent)
    down = graph.add("Exp", graph.add("Neg", exponent))
    # The hyperbolic sine, which onnxruntime has for float32 only.
    sine = graph.add("Div", graph.add("Sub", up, down), graph.doubles(2.0))
    wide = graph.add("Mul", sine, graph.doubles(code.widths))
    decoded = graph.add("Add", wide, graph.doubles(code.centres))
    return graph.add("Where", graph.constant(is_heavy, np.bool_), decoded, values)


def _add_mean(graph: Graph, tensor: str, n_members: int) -> str:
    """Return the mean over the first axis."""
    total = graph.add("ReduceSum", tensor, graph.integers([0]), keepdims=0)
    return graph.add("Div", total, graph.doubles(float(n_members)))
