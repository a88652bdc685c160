"""The state in which an ONNX graph is read, node after node, and what the operations ask of their inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from hlsgen.base.fixed import FixedType
from hlsgen.frontends.builder.builder import GraphBuilder
from hlsgen.frontends.builder.views import Value
from hlsgen.frontends.onnx.declarations import Difference, Sizes
from hlsgen.frontends.onnx.folding import Budget
from hlsgen.frontends.onnx.model import MULTI_THRESHOLD, Node, OnnxModel
from hlsgen.frontends.onnx.values import Array, Constant, Known, Real
from hlsgen.layers.affine import Affine
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.passes.quantisers import Grid


class RecordingBuilder(GraphBuilder):
    """A builder that remembers the convolutions it made, whose weights may have a grid, and the last one."""

    convolution: Conv2d | None = None

    def __init__(self, name: str, channels_last: bool) -> None:
        super().__init__(name, channels_last)
        self.convolutions: list[str] = []

    def layer(self, kind: Callable[..., Layer], *values: Value, suffix: str = "", **fields: Any) -> Layer:
        made = super().layer(kind, *values, suffix=suffix, **fields)
        if isinstance(made, Conv2d) and not isinstance(made, Affine):
            self.convolution = made
            self.convolutions.append(made.name)
        return made


@dataclass(kw_only=True)
class Reading:
    """What is known of the graph so far. Shapes and axes of views do not count the batch; ONNX's do."""

    model: OnnxModel
    builder: RecordingBuilder
    known: dict[str, Known] = field(default_factory=dict)
    weight_grids: dict[str, Grid] = field(default_factory=dict)
    plain_grids: dict[str, Grid] = field(default_factory=dict)
    """Grids of weights that are ours, not the model's: they make no model a quantised one."""
    on_grid: set[str] = field(default_factory=set)
    input_types: dict[str, FixedType] = field(default_factory=dict)
    declared: Mapping[str, Sizes] = field(default_factory=dict)
    """The shapes that the file declares, by name."""
    differences: list[Difference] = field(default_factory=list)
    """Results whose shape is another one than the file declares."""
    read: frozenset[str] = frozenset()
    """Every name that a node or an output of the graph reads."""

    @cached_property
    def budget(self) -> Budget:
        """The budget of what is computed of the model's constants."""
        return Budget(sum(array.nbytes for array in self.model.constants.values()))

    @cached_property
    def has_thresholds(self) -> bool:
        """Whether the model's activations are thresholds, as where FINN has taken its quantisers apart."""
        return any(node.op == MULTI_THRESHOLD for node in self.model.nodes)

    @property
    def opset(self) -> int:
        return self.model.opset

    @property
    def batch(self) -> int:
        return self.model.batch

    # inputs of nodes

    def value(self, node: Node, index: int) -> Known:
        """What an input is. Raises DesignError: it is left out."""
        if not node.input(index):
            raise node.problem(f"its input {index} is left out", "a tensor there")
        return self.known[node.inputs[index]]

    def view(self, node: Node, index: int = 0) -> Value:
        """A real tensor. Raises DesignError: the input is constant, or integers."""
        return self.real(node, index).view

    def real(self, node: Node, index: int = 0) -> Real:
        known = self.value(node, index)
        if isinstance(known, Real):
            return known
        what = "constant" if isinstance(known, Constant) else "a tensor of integers"
        message = f"its input {node.inputs[index]} is {what}; {node.op} is supported for a float tensor there"
        raise node.problem(message, "fold it before the export, or dequantise it first")

    def constant(self, node: Node, index: int) -> Constant | None:
        """A constant input, None if it is left out. Raises DesignError: it depends on an input."""
        if not node.input(index):
            return None
        known = self.value(node, index)
        if isinstance(known, Constant):
            return known
        message = f"its input {node.inputs[index]} is computed from the model's input"
        raise node.problem(message, "a constant there: an initialiser, or what folds to one")

    def array(self, node: Node, index: int) -> Array | None:
        constant = self.constant(node, index)
        return None if constant is None else constant.values

    def needed(self, node: Node, index: int) -> Constant:
        """A constant input that must be there."""
        self.value(node, index)
        constant = self.constant(node, index)
        assert constant is not None
        return constant

    def whole(self, node: Node, index: int) -> list[int]:
        """A constant input of integers."""
        array = self.needed(node, index).values
        if array.dtype.kind not in "iu":
            raise node.problem(f"its input {node.inputs[index]} holds {array.dtype}", "integers there")
        return [int(value) for value in array.reshape(-1)]

    def integers(self, node: Node, index: int, attribute: str) -> list[int] | None:
        """What older operator sets have as an attribute and newer ones as a constant input."""
        if node.input(index):
            return self.whole(node, index)
        given = node.attribute(attribute)
        return None if given is None else [int(value) for value in np.asarray(given).reshape(-1)]

    def number(self, node: Node, index: int, what: str) -> float | None:
        """A constant input of one element."""
        array = self.array(node, index)
        if array is None:
            return None
        if array.size != 1:
            message = f"its {what} has {array.size} elements"
            raise node.problem(message, "one number")
        return float(array.reshape(()))

    # shapes and axes

    def shape(self, x: Value) -> tuple[int, ...]:
        """ONNX's shape of a view, with the batch."""
        return (self.batch, *x.shape)

    def axis(self, node: Node, axis: int, rank: int) -> int:
        """An axis of ONNX as one of the view; `rank`: the view's. Raises DesignError: it is the batch."""
        if not -rank - 1 <= axis <= rank:
            message = f"axis {axis} does not exist: the tensor has {rank + 1} axes"
            raise node.problem(message, f"an axis from {-rank - 1} to {rank}")
        axis %= rank + 1
        if axis == 0:
            message = "it works along axis 0, which is the batch"
            raise node.problem(message, "an operation within each frame")
        return axis - 1

    def axes(self, node: Node, axes: Sequence[int], rank: int) -> list[int]:
        return [self.axis(node, axis, rank) for axis in axes]

    def per_frame(self, node: Node, array: Array, rank: int) -> Array:
        """A constant as it broadcasts to a view of `rank` axes. Raises DesignError: it differs by frame."""
        if array.ndim <= rank:
            return array
        extra = array.ndim - rank - 1
        frames = (
            array.reshape(array.shape[extra:]) if extra > 0 and set(array.shape[:extra]) == {1} else array
        )
        if frames.ndim != rank + 1 or (frames != frames[:1]).any():
            message = f"a constant of shape {list(array.shape)} does not broadcast to each frame alike"
            raise node.problem(message, "a constant without the batch axis, or of size 1 along it")
        frame: Array = frames[0]
        return frame

    def broadcast(self, node: Node, x: Value, array: Array) -> tuple[Value, Array]:
        """A view and a constant as NumPy broadcasts them; the view is repeated where it must grow."""
        constant = self.per_frame(node, np.asarray(array), x.rank)
        try:
            shape = np.broadcast_shapes(x.shape, constant.shape)
        except ValueError:
            message = f"shapes {list(self.shape(x))} and {list(array.shape)} do not broadcast"
            raise node.problem(message, "shapes whose axes are equal or 1") from None
        return self.builder.expand(x, shape), constant

    def same_rank(self, node: Node, left: Value, right: Value) -> None:
        if left.rank != right.rank:
            message = f"its inputs have {left.rank + 1} and {right.rank + 1} axes, both with the batch first"
            raise node.problem(message, "tensors with as many axes (Unsqueeze the smaller one)")

    # results

    def is_read(self, node: Node, index: int) -> bool:
        """Whether an optional output is there and used."""
        return index < len(node.outputs) and node.outputs[index] in self.read


Handler: TypeAlias = Callable[[Reading, Node], "Sequence[Known]"]
