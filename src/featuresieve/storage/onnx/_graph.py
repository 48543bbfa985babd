"""A graph of ONNX while it is built: nodes and constants, without the package onnx."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

# The oldest opset that has all operations as they still are, and that of ai.onnx.ml.
OPSET = 13
TEXT_OPSET = 2


class TensorType(IntEnum):
    """Types of tensors, with the numbers that ONNX gives them."""

    FLOAT = 1
    INT64 = 7
    STRING = 8
    BOOL = 9
    DOUBLE = 11


@dataclass(frozen=True)
class Node:
    """One operation."""

    operation: str
    inputs: list[str]
    outputs: list[str]
    domain: str
    attributes: dict[str, Any]


class UniqueNames:
    """Gives every name once: a name that is taken gets underscores behind it."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {"", *taken}

    def __call__(self, wanted: str) -> str:
        """Return a name like the wanted one, which is taken from now on."""
        while wanted in self._taken:
            wanted += "_"
        self._taken.add(wanted)
        return wanted


class Graph:
    """Nodes in the order in which they run, and their constants, under unique names.

    Operations are those of `OPSET`, which later opsets left as they are, and
    ``LabelEncoder`` of ai.onnx.ml.
    """

    def __init__(self, unique_name: Callable[[str], str]) -> None:
        self._unique_name = unique_name
        self.nodes: list[Node] = []
        self.constants: dict[str, npt.NDArray[Any]] = {}

    def constant(self, values: Any, dtype: type[Any]) -> str:
        """Add a constant, and return its name."""
        name = self._unique_name(f"constant{len(self.constants)}")
        self.constants[name] = np.ascontiguousarray(np.asarray(values, dtype=dtype))
        return name

    def add(
        self,
        operation: str,
        *inputs: str,
        output: str | None = None,
        domain: str = "",
        **attributes: Any,
    ) -> str:
        """Add a node, and return the name of its only output."""
        if output is None:
            output = self._unique_name(f"{operation}{len(self.nodes)}")
        node = Node(operation, list(inputs), [output], domain, attributes)
        self.nodes.append(node)
        return output

    def cast(self, tensor: str, to: TensorType) -> str:
        """Return a tensor as another type."""
        return self.add("Cast", tensor, to=int(to))

    def doubles(self, values: Any) -> str:
        """Add a constant of float64."""
        return self.constant(values, np.float64)

    def integers(self, values: Any) -> str:
        """Add a constant of int64."""
        return self.constant(values, np.int64)

    def columns(self, matrix: str, positions: Any) -> str:
        """Return some columns of a matrix."""
        return self.add("Gather", matrix, self.integers(positions), axis=1)

    def side_by_side(self, matrices: list[str]) -> str:
        """Return matrices as one."""
        if len(matrices) == 1:
            return matrices[0]
        return self.add("Concat", *matrices, axis=1)

    def rounded_to_float32(self, tensor: str) -> str:
        """Return float64 without the digits that float32 does not hold."""
        return self.cast(self.cast(tensor, TensorType.FLOAT), TensorType.DOUBLE)
