"""The networks and the decoding of their outputs as nodes of ONNX."""

from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve.engine import Predictor
from featuresieve.problem import ClassEncoder, ValueScaler
from featuresieve.storage.onnx._graph import Graph, Tensor, TensorType


def add_prediction(graph: Graph, estimator: Any, encoded: Tensor) -> tuple[Tensor, ...]:
    """Add networks and decoding to an encoded table.

    Returns labels and probabilities, or the values of a regression, (rows, outputs).
    """
    if estimator._task_network is not None:
        raise TypeError(
            "to_onnx(predictor=True) cannot export a task_network of your own. Export "
            "the selector alone, and the network with torch.onnx.export."
        )
    predictor, code = estimator._predictor, estimator._target_code
    outputs = _add_networks(graph, predictor, encoded)
    n_members = len(predictor.members)
    if isinstance(code, ClassEncoder):
        probabilities = _add_probabilities(graph, code, outputs, n_members)
        return _add_labels(graph, code, probabilities), probabilities
    return (_add_values(graph, code, outputs, n_members),)


def _add_networks(graph: Graph, predictor: Predictor, encoded: Tensor) -> Tensor:
    """Add the MLPs of all members, in float64, (members, rows, outputs)."""

    def stacked(name: str) -> npt.NDArray[Any]:
        return np.stack([member[name] for member in predictor.members])

    def double(values: npt.NDArray[Any]) -> Tensor:  # stored in half the space
        return graph.constant(values, np.float32).cast(TensorType.DOUBLE)

    hidden = encoded
    n_layers = len(predictor.members[0]) // 2
    for layer in range(n_layers):
        product = graph.add("MatMul", hidden, double(stacked(f"weight{layer}")))
        hidden = product + double(stacked(f"bias{layer}")[:, None, :])
        if layer < n_layers - 1:
            hidden = graph.add("Max", hidden, 0.0)
    return hidden


def _add_probabilities(
    graph: Graph, code: ClassEncoder, outputs: Tensor, n_members: int
) -> Tensor:
    """Return the mean probabilities, (rows, classes or labels)."""
    if code.is_multilabel:
        shares = (graph.add("Tanh", outputs / 2.0) + 1.0) * 0.5
    else:
        shares = graph.add("Softmax", outputs, axis=-1)
    return _add_mean(graph, shares, n_members)


def _add_labels(graph: Graph, code: ClassEncoder, probabilities: Tensor) -> Tensor:
    """Return the labels: a class a row, or a matrix of zeros and ones."""
    if code.is_multilabel:
        return graph.add("Greater", probabilities, 0.5).cast(TensorType.INT64)
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


def _add_values(
    graph: Graph, code: ValueScaler, outputs: Tensor, n_members: int
) -> Tensor:
    """Return the predicted values, (rows, outputs)."""
    values = _add_mean(graph, outputs, n_members) * code.spreads + code.means
    is_heavy = code.widths != 0
    if not is_heavy.any():
        return values
    exponent = graph.add("Min", graph.add("Max", values, -300.0), 300.0)
    # The hyperbolic sine, which onnxruntime has for float32 only.
    up, down = graph.add("Exp", exponent), graph.add("Exp", graph.add("Neg", exponent))
    decoded = (up - down) / 2.0 * code.widths + code.centres
    return graph.add("Where", is_heavy, decoded, values)


def _add_mean(graph: Graph, tensor: Tensor, n_members: int) -> Tensor:
    """Return the mean over the first axis."""
    total = graph.add("ReduceSum", tensor, [0], keepdims=0)
    return total / float(n_members)
