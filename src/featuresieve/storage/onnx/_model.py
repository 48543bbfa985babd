"""A selector or predictor as a model of ONNX."""

import json
from importlib import import_module
from typing import Any

import numpy as np

from featuresieve import __version__
from featuresieve.problem import ClassEncoder, ValueScaler
from featuresieve.storage._export import feature_names
from featuresieve.storage.onnx._columns import (
    Columns,
    is_numeric,
    tensor_type,
    tensor_type_of_kind,
)
from featuresieve.storage.onnx._encoding import add_encoding
from featuresieve.storage.onnx._graph import (
    OPSET,
    TEXT_OPSET,
    Graph,
    Operand,
    TensorType,
    UniqueNames,
)
from featuresieve.storage.onnx._predictor import add_prediction, label_type
from featuresieve.tables import TableEncoder

# Newer runtimes load older models, not the other way round: that of the opset's time.
_IR_VERSION = 8

_NUMBER_TYPES = {"float32": TensorType.FLOAT, "float64": TensorType.DOUBLE}

# A tensor's name, type and number of columns; None if it has one dimension.
Border = tuple[str, TensorType, int | None]


def onnx_model(estimator: Any, *, predictor: bool, dtype: str) -> bytes:
    """Return the model that `Persistence.to_onnx` describes."""
    if not isinstance(predictor, bool | np.bool_):
        raise TypeError(f"predictor must be a bool, got {predictor!r}.")
    if dtype not in _NUMBER_TYPES:
        raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}.")
    try:
        import_module("onnx")
    except ImportError:
        raise ImportError(
            'to_onnx needs the package onnx: pip install "featuresieve[onnx]".'
        ) from None
    model = _Model(estimator, _NUMBER_TYPES[dtype])
    if predictor:
        model.add_predictor()
    else:
        model.add_selector()
    return model.serialized()


class _Model:
    """A graph with its inputs, outputs and metadata."""

    def __init__(self, estimator: Any, numbers: TensorType) -> None:
        self.estimator = estimator
        self.encoder: TableEncoder = estimator._encoder
        self.numbers = numbers
        self.names = feature_names(estimator)
        self.kept = np.flatnonzero(estimator.support_).tolist()
        self.unique_name = UniqueNames()
        self.graph = Graph(self.unique_name)
        self.inputs: list[Border] = []
        self.outputs: list[Border] = []
        self.metadata: dict[str, Any] = {
            "feature_names_in": self.names,
            "feature_names_out": [self.names[j] for j in self.kept],
        }
        self.is_matrix = self.encoder.is_sparse or is_numeric(self.encoder)

    def add_matrix_input(self) -> str:
        """Add the input X, with all columns of the table."""
        name = self.unique_name("X")
        self.inputs.append((name, self.numbers, len(self.names)))
        return name

    def add_column_inputs(self, features: list[int]) -> dict[int, str]:
        """Add an input for each of some features, and return the names."""
        own = {feature.feature: feature for feature in self.encoder.features}
        kinds = self.encoder.kinds
        inputs, described = {}, {}
        for j in features:
            name = inputs[j] = self.unique_name(_valid_name(self.names[j], j))
            if j in own:
                kind, type_ = own[j].kind, tensor_type(own[j], self.numbers)
            else:
                kind, type_ = kinds[j], tensor_type_of_kind(kinds[j], self.numbers)
            self.inputs.append((name, type_, 1))
            described[name] = {"column": self.names[j], "kind": kind}
        self.metadata["inputs"] = described
        return inputs

    def add_output(
        self, tensor: Operand, name: str, type_: TensorType, width: int | None
    ) -> None:
        """Add an output of a name that is free, cast to the type if need be."""
        name = self.unique_name(name)
        if type_ in (TensorType.FLOAT, TensorType.DOUBLE):
            self.graph.add("Cast", tensor, output=name, to=int(type_))
        else:
            self.graph.add("Identity", tensor, output=name)
        self.outputs.append((name, type_, width))

    def serialized(self) -> bytes:
        """Return the model as bytes, after onnx has checked it."""
        from onnx import checker, helper, numpy_helper

        def border(name: str, type_: TensorType, width: int | None) -> Any:
            shape: list[str | int | None] = ["rows"]
            shape += [] if width is None else [width]
            return helper.make_tensor_value_info(name, int(type_), shape)

        graph = helper.make_graph(
            [
                helper.make_node(
                    n.operation, n.inputs, n.outputs, domain=n.domain, **n.attributes
                )
                for n in self.graph.nodes
            ],
            "featuresieve",
            [border(*entry) for entry in self.inputs],
            [border(*entry) for entry in self.outputs],
            [numpy_helper.from_array(v, k) for k, v in self.graph.constants.items()],
        )
        opsets = {"": OPSET}
        opsets |= {n.domain: TEXT_OPSET for n in self.graph.nodes if n.domain}
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid(*pair) for pair in opsets.items()],
            ir_version=_IR_VERSION,
            producer_name="featuresieve",
            producer_version=__version__,
        )
        metadata = {key: json.dumps(value) for key, value in self.metadata.items()}
        helper.set_model_props(model, metadata)
        checker.check_model(model, full_check=True)
        return bytes(model.SerializeToString(deterministic=True))

    def add_selector(self) -> None:
        """Take columns of a matrix, or pass some inputs on."""
        if self.is_matrix:
            columns = self.graph.integers(self.kept)
            name = self.unique_name("kept")
            matrix = self.add_matrix_input()
            self.graph.add("Gather", matrix, columns, output=name, axis=1)
            self.outputs.append((name, self.numbers, len(self.kept)))
            return
        # A file of an early version does not say what the other columns held.
        known = range(len(self.names)) if self.encoder.kinds else self.kept
        names = self.add_column_inputs(list(known))
        types = {name: type_ for name, type_, _ in self.inputs}
        for j in self.kept:
            self.add_output(names[j], f"kept_{names[j]}", types[names[j]], 1)

    def add_predictor(self) -> None:
        """Encode the kept columns, run the networks, decode their outputs."""
        names: Any = (
            self.add_matrix_input()
            if self.is_matrix
            else self.add_column_inputs(self.kept)
        )
        columns = Columns(self.graph, names)
        encoded = add_encoding(self.graph, self.encoder, columns)
        code = self.estimator._target_code
        tensors = add_prediction(self.graph, self.estimator, encoded)
        if isinstance(code, ClassEncoder):
            labels, probabilities = tensors
            width = len(code.classes)
            if code.is_multilabel:
                self.add_output(labels, "labels", TensorType.INT64, width)
            else:
                self.add_output(labels, "label", label_type(code), None)
                self.metadata["classes"] = code.classes.tolist()
            self.add_output(probabilities, "probabilities", self.numbers, width)
            return
        assert isinstance(code, ValueScaler)
        (values,) = tensors
        n_outputs = None if code.is_flat else len(code.means)
        if code.is_flat:
            values = self.graph.add("Squeeze", values, [1])
        self.add_output(values, "prediction", self.numbers, n_outputs)


def _valid_name(name: str, position: int) -> str:
    """Return a column's name, or its position where ONNX cannot hold the name."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return f"x{position}"
    return name or f"x{position}"
