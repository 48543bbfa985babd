"""A fitted estimator as bytes, and back from bytes nobody vouches for.

Comes in: the attributes of an estimator, or a file.
Goes out: a file, JSON, a page, a model of ONNX, plain state for pickle; or checked
attributes.
May import: errors, tables, problem, engine, search, files.
"""

from featuresieve.storage._argument_state import OBJECT_ARGUMENTS
from featuresieve.storage._attribute_state import (
    PATH_FIELDS,
    VERDICTS,
    kept_attributes,
)
from featuresieve.storage._container import pack, unpack
from featuresieve.storage._export import feature_names, selection_text
from featuresieve.storage._file_checks import Fields
from featuresieve.storage._plain_state import from_plain_state, plain_state
from featuresieve.storage._selector_file import (
    CLASS_NAMES,
    SavedEstimator,
    read_estimator,
    write_estimator,
)
from featuresieve.storage.onnx._columns import Columns, is_numeric
from featuresieve.storage.onnx._encoding import add_encoding
from featuresieve.storage.onnx._graph import TEXT_OPSET, Graph, TensorType
from featuresieve.storage.onnx._model import onnx_model
from featuresieve.storage.onnx._predictor import add_prediction, label_type
from featuresieve.storage.page._page import check_facts, notebook_text, page_text
