"""Models of ONNX are fed with data frames of pandas, as docs/files.md says."""

import json

import numpy as np
from onnx.reference import ReferenceEvaluator

try:
    import onnxruntime
except ImportError:  # `make test-ecosystem` has it
    onnxruntime = None


def answers(model, inputs):
    """Return the outputs of a model by name: those of onnxruntime, if it is there."""
    if onnxruntime is None:
        evaluator = ReferenceEvaluator(model)
    else:
        evaluator = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
    names = [output.name for output in model.graph.output]
    return dict(zip(names, evaluator.run(None, inputs), strict=True))


def kinds_of(model):
    """Return which column each input takes, and of which kind it is."""
    (entry,) = [e for e in model.metadata_props if e.key == "inputs"]
    return json.loads(entry.value)


def feeds(model, frame):
    """Return what a model takes of a frame."""
    types = {
        entry.name: entry.type.tensor_type.elem_type for entry in model.graph.input
    }
    return {
        name: tensor(frame[described["column"]], types[name])
        for name, described in kinds_of(model).items()
    }


def tensor(column, number):
    """Return a column as the tensor type that has this number in ONNX."""
    if number == 7 and column.dtype.kind == "M":
        # NaT is the smallest of all integers.
        return column.to_numpy("datetime64[us]").astype(np.int64)[:, None]
    missing, dtype = {
        1: (np.nan, np.float32),
        7: (-(2**63), np.int64),
        8: ("", object),
        11: (np.nan, np.float64),
    }[number]
    known = column.astype(object).where(column.notna(), missing)
    return known.to_numpy(dtype)[:, None]
