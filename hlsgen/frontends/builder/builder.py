"""Builds a graph from a framework's operations. What every frontend uses.

    builder = GraphBuilder("net", channels_last=False)
    x = builder.input("image", (3, 32, 32))             # the framework's shape without the batch
    with builder.at("layer1.0.conv1", place):           # names the layers made inside, and errors
        x = builder.conv2d(x, weights, bias, padding=(1, 1, 1, 1))
    x = builder.clamp(x, 0.0, None)
    x = builder.reshape(builder.permute(x, (1, 2, 0)), (-1,))           # views: no layer
    builder.output("scores", builder.dense(x, weights, bias))
    graph = builder.build()

A `Value` is a framework's tensor without the batch: a view on a tensor of the graph (see `views`). Axes may
be negative. By default it is arranged, by rank, as [C, H, W], [C, L] as (C, 1, L), [F] as (F, 1, 1); with
channels_last as [H, W, C], [L, C], [F].

Views, no layer unless there is no view that says it (`reshaping`): reshape, flatten, squeeze, unsqueeze,
permute, transpose, flip, repeat, tile, expand, slice, split, depth_to_space, space_to_depth.

Layers, with weights as NumPy arrays in PyTorch's layouts:
    conv2d, conv_transpose2d, pool2d, interpolated      of [C, H, W] or [C, L]
    dense                                   along any axis; of a flattened image it permutes the weights
    affine, leaky                           parameters broadcast to the value's shape, as NumPy does
    clamp, table, steps, cast               of any value
    add, sub, mul, maximum, minimum         of any two values; shapes broadcast
    compared, inverse, choose               masks of zeros and ones, and what they choose (`choosing`)
    concat, take, pad, reduce, smallest, softmax, log_softmax, argmax, argmin    of any value along any axis
    layer                                   any kind, on the tensors as they are
Each takes its values in whatever view. `materialise(value, chw)` puts a Rearrange or a Crop in between where
the tensor is not arranged as the layer needs it, once for all that need the same. What takes each element by
itself is done before the view where that is hardly more work.
Number types are float32 unless given: `types` (SumTypes) of what has weights, result_type of the others.

Layers are checked as they are made. Raises DesignError: a layer's `check` finds problems, an operation that
cannot be built. `refusal` makes such an error, named after `at`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import FloatType, NumberType
from hlsgen.frontends.builder.limits import graph_problems, shape_problem
from hlsgen.frontends.builder.reductions import Reductions
from hlsgen.frontends.builder.resampling import Resampling
from hlsgen.frontends.builder.sums import SumTypes
from hlsgen.frontends.builder.views import Arrangement, Value
from hlsgen.layers.base import Tensor
from hlsgen.model.ir import Graph, Port
from hlsgen.passes import BUILT_PASSES, run_passes

__all__ = ["Arrangement", "GraphBuilder", "SumTypes", "Value"]

Axes = tuple[int, int, int]


class GraphBuilder(Resampling, Reductions):
    """Collects layers and ports; see the module's text.

    name: the graph's. channels_last: whether the framework's arrays are [H, W, C]. taken: names that, besides
    it, no layer or port may have.
    """

    def input(
        self,
        name: str,
        shape: Sequence[int],
        type_: NumberType | None = None,
        *,
        in_float32: bool = False,
        odd: bool = False,
        own: bool = False,
    ) -> Value:
        """An input of logical shape `shape` without the batch; `in_float32`, `odd`, `own`: as of `Port`.

        Raises DesignError: more than 3 axes, an empty one, or too many elements.
        """
        if len(shape) > 3 or min(shape, default=1) < 1:
            sizes = " x ".join(str(size) for size in shape)
            message = f"the input {name} of the model {self.name} is {sizes} without the batch"
            fix = "one to three axes of at least one element: a vector, a signal or an image"
            raise DesignError(Problem(message=message, fix=fix, place=self._place))
        problem = shape_problem(f"the input {name}", tuple(shape))
        if problem is not None:
            raise DesignError(replace(problem, place=self._place))
        chw = self.default(len(shape))
        channels, height, width = (math.prod(shape[axis] for axis in group) for group in chw)
        tensor = Tensor(shape=(channels, height, width), type=type_ or FloatType())
        axes: Axes = (0, 1, 2)
        if self.channels_last and len(shape) > 1:
            axes = (1, 2, 0)
        name = self.unique(name)
        port = Port(name=name, source=name, tensor=tensor, shape=tuple(shape), axes=axes)
        self._inputs.append(replace(port, in_float32=in_float32, odd=odd, own=own))
        return Value.of(name, tensor, shape, chw)

    def output(self, name: str, x: Value, scale: float = 1.0) -> None:
        """An output: a view that a port can say costs nothing, any other one a Rearrange."""
        axes = _port_axes(x)
        if axes is None:
            with self.at(name, self._place):
                x = self.materialise(x)
            axes = _port_axes(x)
        if axes is None:
            with self.at(name, self._place):
                x = self.materialise(x, self.in_order(x.rank))
            axes = _port_axes(x)
        assert axes is not None, "a port can say row-major order"
        name = self.unique(name)
        self._outputs.append(
            Port(name=name, source=x.source, tensor=x.tensor, shape=x.shape, axes=axes, scale=scale)
        )

    def build(self) -> Graph:
        """The graph. Layers that no output needs are left out.

        Raises DesignError: no layer is needed, or an input is not; the network is too large.
        """
        built = Graph(
            name=self.name,
            inputs=tuple(self._inputs),
            layers=tuple(self._layers),
            outputs=tuple(self._outputs),
            origins=tuple(self._origins.values()),
        )
        graph = run_passes(built, BUILT_PASSES)
        if not graph.layers:
            message = f"the model {self.name} computes nothing: its outputs are its inputs"
            raise DesignError(Problem(message=message, fix="a model with layers", place=self._place))
        read = graph.consumers()
        for port in graph.inputs:
            if not read[port.name]:
                message = f"the outputs of the model {self.name} do not depend on its input {port.name}"
                raise DesignError(Problem(message=message, fix="leave that input out", place=self._place))
        problems = graph_problems(graph)
        if problems:
            raise DesignError(problems)
        return graph


def _port_axes(x: Value) -> Axes | None:
    """The order of its tensor's axes in which `x` has the elements; None: it is no such order."""
    whole = Value.whole(x.source, x.tensor)
    for axes in permutations((0, 1, 2)):
        if x.flat == whole.permuted(axes).flat:
            return axes[0], axes[1], axes[2]
    return None
