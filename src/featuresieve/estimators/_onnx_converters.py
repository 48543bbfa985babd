"""Pipelines with a selector in them go to ONNX through skl2onnx."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from featuresieve.estimators._classifier_regressor import (
    AutoNFSClassifier,
    AutoNFSRegressor,
)
from featuresieve.problem import ClassEncoder
from featuresieve.storage import (
    TEXT_OPSET,
    Columns,
    Graph,
    TensorType,
    add_encoding,
    add_prediction,
    is_numeric,
    label_type,
)

_SELECTOR = "FeaturesieveSelector"
_PREDICTORS = {
    AutoNFSClassifier: "FeaturesieveClassifier",
    AutoNFSRegressor: "FeaturesieveRegressor",
}
_ZIPMAP = {"zipmap": [True, False, "columns"], "nocl": [False]}

# A parser of skl2onnx: (scope, model, inputs, custom_parsers) -> outputs.
Parser = Callable[..., Any]


def register_onnx_converters() -> None:
    """Teach skl2onnx to convert both estimators, alone and inside pipelines.

    Call it once, before ``skl2onnx.to_onnx``. The last step of a pipeline becomes a
    predictor, with the outputs of any classifier or regressor there; before the last
    step, and inside a ColumnTransformer or FeatureUnion, an estimator becomes a
    selector of columns. A selector takes one matrix of numbers; a table of several
    kinds comes as one input a column, in the order of `fit`.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.
    """
    try:
        skl2onnx = import_module("skl2onnx")
    except ImportError:
        raise ImportError(
            "register_onnx_converters needs the package skl2onnx: pip install skl2onnx."
        ) from None
    # There is no public way to the parser that a class has.
    parsers = import_module("skl2onnx._parse").sklearn_parsers_map
    register = skl2onnx.update_registered_converter
    register(_Selector, _SELECTOR, _selector_shapes, _convert_selector)
    for estimator, alias in _PREDICTORS.items():
        is_classifier = estimator is AutoNFSClassifier
        register(
            estimator,
            alias,
            _classifier_shapes if is_classifier else _regressor_shapes,
            _convert_predictor,
            parser=None if is_classifier else _parse_regressor,
            options=_ZIPMAP if is_classifier else None,
        )
        parser = _by_role(parsers[estimator])
        skl2onnx.update_registered_parser(estimator, parser)
    for container in (Pipeline, ColumnTransformer, FeatureUnion):
        if not hasattr(parsers[container], "knows_selectors"):
            parser = _knowing_selectors(parsers[container])
            skl2onnx.update_registered_parser(container, parser)


class _Selector:
    """Stands in skl2onnx for an estimator that selects columns."""


# --- which role an estimator has

# Ids of the estimators that select, while a model is parsed.
_selecting: list[int] = []


def _selectors_in(model: Any, is_transformer: bool) -> Iterator[int]:
    """Yield the ids of our estimators that select columns inside a model."""
    if isinstance(model, Pipeline):
        for _, step in model.steps[:-1]:
            yield from _selectors_in(step, True)
        yield from _selectors_in(model.steps[-1][1], is_transformer)
    elif isinstance(model, ColumnTransformer):
        for _, part, _ in model.transformers_:
            yield from _selectors_in(part, True)
    elif isinstance(model, FeatureUnion):
        for _, part in model.transformer_list:
            yield from _selectors_in(part, True)
    elif is_transformer and isinstance(model, tuple(_PREDICTORS)):
        yield id(model)


@contextmanager
def _remembering(model: Any) -> Iterator[None]:
    """Remember the selectors inside a model."""
    before = len(_selecting)
    _selecting.extend(_selectors_in(model, False))
    try:
        yield
    finally:
        del _selecting[before:]


def _knowing_selectors(original: Parser) -> Parser:
    """Return a parser of a container that remembers the selectors inside it."""

    def parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
        with _remembering(model):
            return original(scope, model, inputs, custom_parsers=custom_parsers)

    parse.knows_selectors = True  # type: ignore[attr-defined]
    return parse


def _by_role(predictor_parser: Parser) -> Parser:
    """Return a parser that makes a selector or a predictor of an estimator."""

    def parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
        chosen = _parse_selector if id(model) in _selecting else predictor_parser
        return chosen(scope, model, inputs, custom_parsers=custom_parsers)

    return parse


def _parse_selector(
    scope: Any, model: Any, inputs: Any, custom_parsers: Any = None
) -> Any:
    """Declare the kept columns: one matrix, or one output for each of the inputs."""
    del custom_parsers
    operator = scope.declare_local_operator(_SELECTOR, model)
    operator.inputs = inputs
    _check_inputs(model, inputs)
    taken = inputs
    if len(inputs) > 1:
        taken = [inputs[j] for j in np.flatnonzero(model.support_)]
    for variable in taken:
        name, type_ = variable.raw_name, type(variable.type)()
        operator.outputs.append(scope.declare_local_variable(name, type_))
    return operator.outputs


def _parse_regressor(
    scope: Any, model: Any, inputs: Any, custom_parsers: Any = None
) -> Any:
    """Declare the prediction."""
    del custom_parsers
    operator = scope.declare_local_operator(_PREDICTORS[AutoNFSRegressor], model)
    operator.inputs = inputs
    type_ = _data_types().guess_tensor_type(inputs[0].type)
    operator.outputs.append(scope.declare_local_variable("variable", type_))
    return operator.outputs


def _check_inputs(model: Any, inputs: Any) -> None:
    """Raise unless the inputs are one numeric matrix, or all columns of the table."""
    n_features = model.n_features_in_
    is_matrix = model._encoder.is_sparse or is_numeric(model._encoder)
    if len(inputs) != n_features and not (len(inputs) == 1 and is_matrix):
        wanted = f"{n_features} inputs, one a column"
        if is_matrix:
            wanted += ", or one matrix"
        raise ValueError(
            f"{type(model).__name__} was fitted on {n_features} columns and takes "
            f"{wanted}, got {len(inputs)} inputs."
        )


def _data_types() -> Any:
    """Return the types of skl2onnx."""
    return import_module("skl2onnx.common.data_types")


# --- shapes


def _selector_shapes(operator: Any) -> None:
    """Set the shapes of kept columns."""
    rows = operator.inputs[0].get_first_dimension()
    kept = np.flatnonzero(operator.raw_operator.support_)
    if len(operator.inputs) == 1:
        (variable,), (output,) = operator.inputs, operator.outputs
        output.set_type(type(variable.type)([rows, len(kept)]))
        return
    for j, output in zip(kept, operator.outputs, strict=True):
        output.set_type(type(operator.inputs[j].type)([rows, 1]))


def _classifier_shapes(operator: Any) -> None:
    """Set the shapes of labels and probabilities."""
    rows = operator.inputs[0].get_first_dimension()
    code = operator.raw_operator._target_code
    width = len(code.classes)
    shape = [rows, width] if code.is_multilabel else [rows]
    is_text = label_type(code) == TensorType.STRING
    type_name = "StringTensorType" if is_text else "Int64TensorType"
    labels, probabilities = operator.outputs
    labels.set_type(getattr(_data_types(), type_name)(shape))
    probabilities.type.shape = [rows, width]


def _regressor_shapes(operator: Any) -> None:
    """Set the shape of predictions."""
    rows = operator.inputs[0].get_first_dimension()
    n_outputs = len(operator.raw_operator._target_code.means)
    operator.outputs[0].type.shape = [rows, n_outputs]


# --- nodes


def _convert_selector(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes that take columns."""
    graph = Graph(scope.get_unique_variable_name)
    kept = np.flatnonzero(operator.raw_operator.support_)
    names = [variable.full_name for variable in operator.inputs]
    outputs = [variable.full_name for variable in operator.outputs]
    if len(names) == 1:
        columns = graph.integers(kept)
        graph.add("Gather", names[0], columns, output=outputs[0], axis=1)
    else:
        for j, output in zip(kept, outputs, strict=True):
            graph.add("Identity", names[j], output=output)
    _copy(graph, scope, container)


def _convert_predictor(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes that encode, run the networks and decode."""
    model = operator.raw_operator
    _check_inputs(model, operator.inputs)
    graph = Graph(scope.get_unique_variable_name)
    names = [variable.full_name for variable in operator.inputs]
    columns = Columns(graph, names[0] if len(names) == 1 else dict(enumerate(names)))
    encoded = add_encoding(graph, model._encoder, columns)
    tensors = add_prediction(graph, model, encoded)
    code = model._target_code
    has_text = isinstance(code, ClassEncoder) and label_type(code) == TensorType.STRING
    for tensor, variable in zip(tensors, operator.outputs, strict=True):
        if has_text and variable is operator.outputs[0]:  # labels come first
            graph.add("Identity", tensor, output=variable.full_name)
        else:
            to = _data_types().guess_proto_type(variable.type)
            graph.add("Cast", tensor, output=variable.full_name, to=to)
    _copy(graph, scope, container)


def _copy(graph: Graph, scope: Any, container: Any) -> None:
    """Put a graph into a container of skl2onnx."""
    numpy_helper = import_module("onnx.numpy_helper")
    for name, values in graph.constants.items():
        tensor = numpy_helper.from_array(values, name)
        content = values.tolist() if values.dtype == object else tensor
        container.add_initializer(name, tensor.data_type, values.shape, content)
    for node in graph.nodes:
        container.add_node(
            node.operation,
            node.inputs,
            node.outputs,
            op_domain=node.domain,
            op_version=TEXT_OPSET if node.domain else None,
            name=scope.get_unique_operator_name(node.operation),
            **node.attributes,
        )
