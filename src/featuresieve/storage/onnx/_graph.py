"""A graph of ONNX while it is built: nodes and constants, without the package onnx."""

from collections.abc import Callable, Sequence
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

    def __init__(self) -> None:
        self._taken = {""}

    def __call__(self, wanted: str) -> str:
        """Return a name like the wanted one, which is taken from now on."""
        while wanted in self._taken:
            wanted += "_"
        self._taken.add(wanted)
        return wanted


class Tensor:
    """A tensor of a graph; its arithmetic adds nodes to that."""

    def __init__(self, graph: "Graph", name: str) -> None:
        self._graph, self.name = graph, name

    def __add__(self, other: "Operand") -> "Tensor":
        return self._graph.add("Add", self, other)

    def __sub__(self, other: "Operand") -> "Tensor":
        return self._graph.add("Sub", self, other)

    def __mul__(self, other: "Operand") -> "Tensor":
        return self._graph.add("Mul", self, other)

    def __truediv__(self, other: "Operand") -> "Tensor":
        return self._graph.add("Div", self, other)  # of integers, towards zero

    def __mod__(self, other: "Operand") -> "Tensor":
        return self._graph.add("Mod", self, other)

    def cast(self, to: TensorType) -> "Tensor":
        """Return the tensor as another type."""
        return self._graph.add("Cast", self, to=int(to))

    def rounded_to_float32(self) -> "Tensor":
        """Return float64 without the digits that float32 does not hold."""
        return self.cast(TensorType.FLOAT).cast(TensorType.DOUBLE)


# A tensor, its name, or a constant: floats are float64, integers int64.
Operand = Tensor | str | float | list[Any] | npt.NDArray[Any]
_CONSTANTS: dict[str, type[Any]] = {"f": np.float64, "i": np.int64, "b": np.bool_}


class Graph:
    """Nodes in the order in which they run, and their constants, under unique names.

    Operations are those of `OPSET`, which later opsets left as they are, and
    ``LabelEncoder`` of ai.onnx.ml.
    """

    def __init__(self, unique_name: Callable[[str], str]) -> None:
        self._unique_name = unique_name
        self.nodes: list[Node] = []
        self.constants: dict[str, npt.NDArray[Any]] = {}

    def constant(self, values: Any, dtype: type[Any]) -> Tensor:
        """Add a constant."""
        name = self._unique_name(f"constant{len(self.constants)}")
        self.constants[name] = np.ascontiguousarray(np.asarray(values, dtype=dtype))
        return Tensor(self, name)

    def integers(self, values: Any) -> Tensor:
        """Add a constant of int64."""
        return self.constant(values, np.int64)

    def _name(self, operand: Operand) -> str:
        """Return the name of a tensor, or of a new constant."""
        if isinstance(operand, str):
            return operand
        if not isinstance(operand, Tensor):
            dtype = _CONSTANTS[np.asarray(operand).dtype.kind]
            operand = self.constant(operand, dtype)
        return operand.name

    def add(
        self,
        operation: str,
        *inputs: Operand,
        output: str | None = None,
        domain: str = "",
        **attributes: Any,
    ) -> Tensor:
        """Add a node, and return its only output."""
        names = [self._name(operand) for operand in inputs]
        if output is None:
            output = self._unique_name(f"{operation}{len(self.nodes)}")
        self.nodes.append(Node(operation, names, [output], domain, attributes))
        return Tensor(self, output)

    def columns(self, matrix: Operand, positions: Any) -> Tensor:
        """Return some columns of a matrix."""
        return self.add("Gather", matrix, self.integers(positions), axis=1)

    def side_by_side(self, matrices: Sequence[Tensor]) -> Tensor:
        """Return matrices as one."""
        if len(matrices) == 1:
            return matrices[0]
        return self.add("Concat", *matrices, axis=1)
