"""ONNX nodes as they are written one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.cpu.packages import package

OPSET = 20
"""Of the nodes: the first with Gelu; ONNX Runtime has it from 1.17 on."""


class Nodes:
    """Nodes of one model; values are names. What a node gives is called after it unless told otherwise."""

    def __init__(self) -> None:
        self.helper = package("onnx").helper
        self.numpy = package("onnx").numpy_helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: ArrayLike, dtype: type[np.generic] = np.float32) -> str:
        """An array of the model."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.numpy.from_array(np.ascontiguousarray(values, dtype), name))
        return name

    def whole(self, *values: int) -> str:
        """A list of whole numbers of the model, for sizes and axes."""
        return self.constant(values, np.int64)

    def __call__(self, op: str, *inputs: str, **attributes: Any) -> str:
        """A node of one result, whose name it gives."""
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name
