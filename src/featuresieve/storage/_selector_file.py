"""A fitted estimator as one file, and back; nothing in a file is run.

The file is described in docs/files.md.
"""

import os
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve import __version__
from featuresieve.engine import Predictor
from featuresieve.errors import FileFormatError
from featuresieve.files import write_atomically
from featuresieve.problem import ClassEncoder
from featuresieve.storage._argument_state import argument_state, arguments_from_state
from featuresieve.storage._attribute_state import attribute_state, attributes_from_state
from featuresieve.storage._container import pack, unpack, unpack_stream
from featuresieve.storage._encoder_state import encoder_from_state, encoder_state
from featuresieve.storage._file_checks import (
    Arrays,
    Fields,
    NamedArrays,
    State,
    require,
)
from featuresieve.storage._json_values import from_json_value, to_json_value
from featuresieve.storage._target_state import target_from_state, target_state
from featuresieve.tables import TableEncoder

SCHEMA = "featuresieve-selector"
SCHEMA_VERSION = 6
CLASS_NAMES = ("AutoNFSClassifier", "AutoNFSRegressor")

_MAX_MEMBERS = 1000
_MAX_LAYERS = 1000


@dataclass(frozen=True)
class SavedEstimator:
    """What a file says about an estimator."""

    class_name: str
    parameters: dict[str, Any]  # arguments of the constructor
    attributes: dict[str, Any]  # what `fit` sets
    output: str | None  # what `set_output` asked `transform` to return
    version: str  # of the library that wrote the file


def write_estimator(
    path: str | os.PathLike[str], estimator: Any, class_name: str
) -> None:
    """Write a fitted estimator of the library's own networks to a file."""
    attributes = vars(estimator)
    encoder, encoder_arrays = encoder_state(attributes["_encoder"])
    target, target_arrays = target_state(attributes["_target_code"])
    predictor, predictor_arrays = _predictor_state(attributes["_predictor"])
    learned_attributes, findings_arrays = attribute_state(attributes)
    names = attributes.get("feature_names_in_")
    output = attributes.get("_sklearn_output_config", {}).get("transform")
    header = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "featuresieve_version": __version__,
        "class": class_name,
        "parameters": argument_state(estimator.get_params(deep=False)),
        "output": output,
        "n_features_in": attributes["n_features_in_"],
        "feature_names": None if names is None else [str(name) for name in names],
        "labels": to_json_value(attributes["_labels"], "column names"),
        "encoder": encoder,
        "target": target,
        "predictor": predictor,
        "findings": learned_attributes,
    }
    arrays = {f"encoder.{name}": array for name, array in encoder_arrays.items()}
    arrays |= target_arrays | predictor_arrays | findings_arrays
    data = pack(header, arrays)
    try:
        _saved(*unpack_stream(BytesIO(data)))
    except FileFormatError as error:
        raise TypeError(
            f"the estimator cannot be saved, as the file could not be loaded: {error} "
            "Use pickle or joblib, or set_params with another value before you save."
        ) from error
    write_atomically(path, data)


def read_estimator(path: str | os.PathLike[str]) -> SavedEstimator:
    """Read a file that `write_estimator` wrote; else a FileFormatError says why not."""
    try:
        return _saved(*unpack(path))
    except FileFormatError as error:
        raise FileFormatError(f"{os.fspath(path)} cannot be loaded: {error}") from None


def _saved(fields: dict[str, Any], named_arrays: NamedArrays) -> SavedEstimator:
    """Return what the header and the arrays say."""
    header, arrays = Fields(fields, "its header"), Arrays(named_arrays)
    schema_version, version = _check_schema(header)
    class_name = header.text("class", CLASS_NAMES)
    parameters = arguments_from_state(header.fields("parameters"), schema_version)
    output = header.take("output")
    is_known = output in (None, "default", "pandas", "polars")
    require(is_known, "its output is of no known kind.")
    n_features = header.count("n_features_in", least=1)
    learned_attributes = attributes_from_state(
        header.fields("findings"), arrays, n_features, schema_version
    )
    attributes: dict[str, Any] = {"n_features_in_": n_features, **learned_attributes}
    names = _names(header, n_features)
    if names is not None:
        attributes["feature_names_in_"] = names
    labels = None
    if schema_version > 1:
        labels = from_json_value(header.take("labels"), "its column names")
    is_list = isinstance(labels, list) and len(labels) == n_features
    require(labels is None or is_list, f"it does not have {n_features} column names.")
    attributes["_labels"] = labels
    encoder = _encoder(header.take("encoder"), arrays, learned_attributes["support_"])
    predictor = _predictor(header.fields("predictor"), arrays, encoder)
    code = target_from_state(header.fields("target"), arrays, predictor.n_outputs)
    is_fitting = isinstance(code, ClassEncoder) == (class_name == "AutoNFSClassifier")
    require(is_fitting, f"its target is not that of an {class_name}.")
    if isinstance(code, ClassEncoder):
        attributes["classes_"] = code.classes
    header.finish()
    arrays.finish()
    attributes |= {"_encoder": encoder, "_predictor": predictor, "_target_code": code}
    attributes |= {"_task_network": None, "_prepared": None}
    return SavedEstimator(class_name, parameters, attributes, output, version)


def _check_schema(header: Fields) -> tuple[int, str]:
    """Refuse other schemas and newer versions; return the version, and the writer's."""
    schema = header.text("schema")
    require(schema == SCHEMA, f"its schema is {schema[:80]!r}, not {SCHEMA!r}.")
    schema_version = header.count("schema_version", least=1)
    version = header.text("featuresieve_version")
    require(
        schema_version in (1, SCHEMA_VERSION),
        f"it has schema version {schema_version}, written by featuresieve "
        f"{version[:80]}; featuresieve {__version__} reads versions 1 and "
        f"{SCHEMA_VERSION}: install a newer release, or fit it again.",
    )
    return schema_version, version


def _names(header: Fields, n_features: int) -> npt.NDArray[Any] | None:
    """Return the names of the columns, if they have any."""
    names = header.take("feature_names")
    if names is None:
        return None
    is_text = isinstance(names, list) and all(isinstance(n, str) for n in names)
    require(is_text, "its feature names are not text.")
    require(len(names) == n_features, f"it does not have {n_features} feature names.")
    require(len(set(names)) == n_features, "its feature names are not distinct.")
    return np.array(names, dtype=object)


def _encoder(
    description: Any, arrays: Arrays, support: npt.NDArray[np.bool_]
) -> TableEncoder:
    """Build the encoder of the kept features."""
    try:
        encoder = encoder_from_state(description, arrays.starting_with("encoder."))
    except ValueError as error:
        raise FileFormatError(f"its encoder: {error}") from None
    own = [feature.feature for feature in encoder.features]
    if encoder.sparse_features is not None:
        own = encoder.sparse_features.tolist()
    is_fitting = encoder.n_features_in == len(support)
    kept = np.flatnonzero(support).tolist()
    require(is_fitting and sorted(own) == kept, "its encoder is not of the kept ones.")
    return encoder


def _predictor_state(predictor: Predictor) -> State:
    """Describe networks of affine layers, and name their arrays."""
    first = predictor.members[0]
    sizes = [len(first["weight0"])]
    sizes += [len(first[f"bias{layer}"]) for layer in range(len(first) // 2)]
    arrays = {
        f"predictor.{m}.{name}": array
        for m, state in enumerate(predictor.members)
        for name, array in state.items()
    }
    return {"n_members": len(predictor.members), "sizes": sizes}, arrays


def _predictor(fields: Fields, arrays: Arrays, encoder: TableEncoder) -> Predictor:
    """Build the networks; their sizes are those of their arrays."""
    n_members = fields.count("n_members", least=1, most=_MAX_MEMBERS)
    sizes = fields.listed("sizes", int)
    fields.finish()
    require(2 <= len(sizes) <= _MAX_LAYERS, f"its networks have {len(sizes)} sizes.")
    n_columns = len(encoder.feature_of_column)
    require(sizes[0] == n_columns, f"its networks do not read {n_columns} columns.")
    shapes: dict[str, tuple[int, ...]] = {}
    for layer, shape in enumerate(pairwise(sizes)):
        shapes |= {f"weight{layer}": shape, f"bias{layer}": shape[1:]}
    members = [
        {
            name: arrays.take(f"predictor.{m}.{name}", np.float32, shape)
            for name, shape in shapes.items()
        }
        for m in range(n_members)
    ]
    return Predictor(members, sizes[-1])
