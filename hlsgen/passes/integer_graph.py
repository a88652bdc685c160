"""A float graph with quantisers becomes the fixed-point graph that computes the same codes.

before  x -> quant1 (steps of 0.02) -> conv1 (weights in steps of 0.003) -> relu1 -> quant2 (steps of 0.1)
after   x, integers: its port divides by 0.02 -> conv1 of integers -> conv1_scale (times 0.0006, to unsigned)

Every layer is rebuilt on the tensors as they are now: weights become codes of their grids, a quantiser a cast
or a multiplier, everything else the natural exact type of what it reads. What is real and not in a tensor
(scales, biases off the grid, batch normalisation, limits) travels beside it, see `requantise`. INTEGER_PASSES
then take casts into the layers that they read.

What is not exact, because no quantiser says how it shall be rounded:
  functions, softmax  RESULT_BITS bits, unless a quantiser follows or they only select (table.SELECTING); what
                      they read is exact, or see requantise.INNER and ARGUMENT_BITS
  averages            8 fraction bits more, unless a quantiser follows, the count is a power of two, or they
                      are outputs, whose scale has the count
  slopes              SIGNIFICANT_BITS bits each, which are float32's; what they multiply is exact, or see
                      requantise.SLOPED
  biases              beside a power of two scale: exact up to BIAS_FINER fraction bits below the products,
                      else rounded there
  joins               of unequal scales: see requantise.JOIN_BITS
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from hlsgen.base.coded import (
    SIGN,
    SIGNIFICANT_BITS,
    Doubles,
    code_type,
    held,
    nearly_each,
    on_grid,
    trailing_zeros,
)
from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import MAX_TENSOR_WIDTH, Codes, FixedType, Overflow, Rounding, float32_holds
from hlsgen.base.progress import Say, silent
from hlsgen.layers.affine import Affine
from hlsgen.layers.base import Layer
from hlsgen.layers.binary import Add, Binary, Mul, Sub
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.concat import Concat
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.correct_rounding import PLAIN, Units
from hlsgen.layers.global_pool import GlobalPool
from hlsgen.layers.leaky import Leaky
from hlsgen.layers.pad import Pad
from hlsgen.layers.pool2d import Pool2d
from hlsgen.layers.table import DIRECT_BITS, Table
from hlsgen.layers.thresholds import Thresholds
from hlsgen.layers.unary import Selection
from hlsgen.model.ir import Graph, Port
from hlsgen.model.origins import Origin
from hlsgen.passes.pools import counts_zeros, summed
from hlsgen.passes.quantisers import Direction, FakeQuant, Grid
from hlsgen.passes.requantise import SLOPED, Emitter
from hlsgen.passes.rewriting import merged
from hlsgen.passes.scaled import (
    ONE,
    ZERO,
    Scaled,
    compressed,
    scale_and_fraction,
    weights_and_scale,
)
from hlsgen.passes.threshold_codes import on_codes, placed, reached_by_some, shared

RESULT_BITS = 16
BIAS_FINER = 8
MOST_INPUT_BITS = 32
"""A convolution reads no wider values: what is wider was never quantised."""
CHOSEN = FixedType(32, 10, True, Rounding.RND_CONV, Overflow.SAT)
"""The type of an input that pools, functions and the like read before anything quantises it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Quantisation:
    """What a frontend knows of a float graph's quantisation besides its `FakeQuant` layers.

    weights: by layer the grid of its weights, the scale [M] by output channel. on_grid: layers whose bias is
    given in codes of input scale * weight scale. inputs: types that the model gives inputs. wished: types for
    inputs that no quantiser reads first, alike by all that read them. output: the type of the outputs; None:
    exact, or see requantise.OUTPUT. say: told which types were chosen.
    """

    weights: Mapping[str, Grid]
    on_grid: frozenset[str]
    inputs: Mapping[str, FixedType]
    wished: Mapping[str, FixedType] = field(default_factory=dict)
    output: FixedType | None = None
    say: Say = silent


def integer_graph(graph: Graph, known: Quantisation) -> Graph:
    """The fixed-point graph. Raises DesignError: something of it is not quantised, or has no exact type."""
    return _Typing(merged(graph, _without_slopes), known).run()


def _without_slopes(first: Layer, second: Layer) -> Layer | None:
    """A sign of what slopes above 0 give: that of what they read."""
    if not isinstance(first, Leaky) or not isinstance(second, FakeQuant) or not second.grid.bipolar:
        return None
    if not (np.asarray(first.slopes) > 0).all():
        return None
    return replace(second, name=first.name, inputs=first.inputs, source=first.source)


class _Typing:
    """One pass over the float graph, layer by layer."""

    def __init__(self, graph: Graph, known: Quantisation) -> None:
        self._graph = graph
        self._known = known
        self._readers = graph.consumers()
        self._layers = {layer.name: layer for layer in graph.layers}
        self._out = Emitter(graph)
        self._values: dict[str, Scaled] = {}

    def run(self) -> Graph:
        inputs = tuple(self._input(port) for port in self._graph.inputs)
        for layer in self._graph.layers:
            self._values[layer.name] = self._typed(layer)
        outputs = tuple(self._output(port) for port in self._graph.outputs)
        return replace(
            self._graph,
            inputs=inputs,
            layers=tuple(self._out.layers),
            outputs=outputs,
            origins=tuple(self._origin(one) for one in self._graph.origins),
        )

    def _origin(self, origin: Origin) -> Origin:
        """The place of a tensor of the framework now, with the scale that is beside its codes."""
        x = self._values[origin.source]
        outer = Scaled(name=origin.source, tensor=x.tensor).moved(
            np.array(origin.scale), np.array(origin.shift)
        )
        if x.is_limited and not outer.is_plain:
            return replace(origin, source=x.name, joined=True)
        x = x.moved(outer.scale, outer.shift)
        return replace(
            origin,
            source=x.name,
            scale=tuple(x.scale.tolist()),
            shift=tuple(x.shift.tolist()),
            low=x.low,
            high=x.high,
        )

    # borders

    def _input(self, port: Port) -> Port:
        type_ = self._known.inputs.get(port.name)
        scale, zero, ceil, own = ONE, 0, False, False
        if type_ is None:
            grids, unquantised = self._first_grids(port.name)
            if unquantised or not _alike(grids):
                type_ = self._known.wished.get(port.name) or self._chosen(port.name, unquantised)
        in_float32 = type_ is None or float32_holds(type_)
        if type_ is None:
            grid = self._first_grid(port.name)
            zero, own = grid.zero, True
            if grid.bipolar:
                # the sign, as the one bit of floor(x / 2 scale)
                type_, scale = SIGN, 2 * grid.scale
            else:
                scale, fraction = scale_and_fraction(grid.scale)
                ceil = grid.direction is Direction.CEIL
                rounding = Rounding.TRN if ceil else grid.direction.rounding
                assert rounding is not None
                type_ = code_type(grid.low, grid.high, fraction, rounding)
        tensor = replace(port.tensor, type=type_)
        self._values[port.name] = Scaled(name=port.name, tensor=tensor, scale=scale)
        return replace(
            port, tensor=tensor, scale=float(scale[0]), in_float32=in_float32, zero=zero, ceil=ceil, own=own
        )

    def _chosen(self, name: str, unquantised: list[str]) -> FixedType | None:
        """The type of an input that is not quantised first, or not alike; None: a convolution reads it."""
        if any(isinstance(self._layers.get(reader), Conv2d) for reader in unquantised):
            return None
        reads = f"{unquantised[0]} reads it unquantised" if unquantised else "its quantisers are not alike"
        ends = f"{CHOSEN.min_code >> CHOSEN.fraction} to {1 << (CHOSEN.integer - 1)}"
        self._known.say(
            f"input {name}: {reads}, so that the model says no type; {CHOSEN} is taken, for values "
            f"from {ends}. Another one: type of input in a design file (hlsgen import --input-type), "
            f'precision={{"input": "fixed<16,6>"}} in Python'
        )
        return CHOSEN

    def _first_grids(self, name: str) -> tuple[list[Grid], list[str]]:
        """The grids on which readers of an input put it before anything else, and readers that do not."""
        grids: list[Grid] = []
        unquantised: list[str] = []
        pending = [name]
        while pending:
            for reader, _ in self._readers[pending.pop()]:
                layer = self._layers.get(reader)
                if isinstance(layer, Selection) and not (isinstance(layer, Pad) and layer.value):
                    pending.append(reader)
                elif isinstance(layer, FakeQuant):
                    grids.append(layer.grid)
                else:
                    unquantised.append(reader)
        return grids, unquantised

    def _first_grid(self, name: str) -> Grid:
        """The grid on which every reader of an input puts it before anything else."""
        grids, unquantised = self._first_grids(name)
        fix = (
            f"quantise {name} before anything else reads it (a Quant, or a QuantizeLinear and a "
            f"DequantizeLinear), everywhere alike; or say in what type it comes: type of input in a design "
            f'file (hlsgen import --input-type), precision={{"input": "ufixed<8,0>"}} in Python'
        )
        if unquantised:
            message = f"{unquantised[0]} reads the input {name} of the quantised model as it is, unquantised"
            raise DesignError(Problem(message=message, fix=fix))
        first = grids[0]
        if first.scale.size > 1:
            message = f"the input {name} is quantised with {first.scale.size} scales"
            raise DesignError(Problem(message=message, fix="one scale for all channels of an input"))
        if not first.bipolar and first.direction is Direction.UP:
            message = f"the input {name} is quantised with rounding mode {first.direction.value}"
            fix = "rounding mode ROUND, FLOOR, CEIL, DOWN, HALF_UP or HALF_DOWN"
            raise DesignError(Problem(message=message, fix=fix))
        return first

    def _output(self, port: Port) -> Port:
        x = self._out.result(self._values[port.source], self._known.output)
        return replace(port, source=x.name, tensor=x.tensor, scale=port.scale * float(x.scale[0]))

    # layers

    def _typed(self, layer: Layer) -> Scaled:
        sources = [self._values[name] for name in layer.inputs]
        x = sources[0]
        match layer:
            case FakeQuant():
                return self._quantised(layer, x)
            case Affine():
                return self._affine(layer, x)
            case Conv2d():
                return self._limited(self._convolution(layer, x), layer.low, layer.high)
            case Clamp():
                return self._limited(x, layer.low, layer.high)
            case Pad():
                return self._padded(layer, x)
            case Selection():
                return self._moved(layer, x)
            case Pool2d() | GlobalPool():
                return self._pooled(layer, x)
            case Concat():
                return self._joined(layer, sources)
            case Add() | Sub():
                return self._sum(layer, sources)
            case Mul():
                return self._product(layer, sources)
            case Leaky():
                return self._leaky(layer, x)
            case Thresholds():
                return self._thresholds(layer, x)
            case Table():
                return self._function(layer, x)
        return self._any_kind(layer, sources)

    def _function(self, layer: Table, x: Scaled) -> Scaled:
        """A function, rounded once to codes of the quantiser that alone follows if its table is small."""
        grid = self._grid_of_all(layer.name)
        x = self._out.unlimited(x, layer.place)
        if grid is None or x.type.width > DIRECT_BITS or x.scale.size > 1 or x.shift.size > 1:
            return self._any_kind(layer, [x])
        scale, fraction = scale_and_fraction(grid.scale)
        units = Units(float(x.scale[0]), float(x.shift[0]), float(scale[0]))
        result = code_type(grid.low, grid.high, fraction, grid.direction.rounding or Rounding.RND_CONV)
        if units == PLAIN and (result.lowest_code, result.max_code) == (grid.low, grid.high):
            return self._any_kind(layer, [x])  # `round_once` joins the quantiser's cast
        return replace(self._emit(replace(layer, units=units), [x], result), scale=scale)

    def _grid_of_all(self, name: str) -> Grid | None:
        """The grid of one scale on which all readers of a tensor put it, with a rounding of a type."""
        readers = [self._layers.get(reader) for reader, _ in self._readers[name]]
        grids = [layer.grid for layer in readers if isinstance(layer, FakeQuant)]
        if len(grids) < len(readers) or not grids or not _alike(grids):
            return None
        grid = grids[0]
        plain = not grid.bipolar and not grid.zero % 2 and grid.direction.rounding is not None
        return grid if plain and grid.scale.size == 1 else None

    def _any_kind(self, layer: Layer, sources: list[Scaled]) -> Scaled:
        """What the layer itself says: scales come out in front, or it reads the values."""
        scale = ONE
        if layer.degrees is None:
            sources = [self._out.argument(x, layer.place) for x in sources]
        else:
            sources = [self._out.uniform(x, layer.place) for x in sources]
            for x, degree in zip(sources, layer.degrees, strict=True):
                scale = scale * x.scale**degree
        result = layer.result_within(RESULT_BITS, *(x.type for x in sources))
        return replace(self._emit(layer, sources, result), scale=scale)

    def _emit(self, layer: Layer, sources: list[Scaled], result: FixedType | None) -> Scaled:
        """The layer on the tensors of `sources`, its value plain."""
        fresh = replace(layer, inputs=tuple(x.name for x in sources))
        typed = fresh.retyped(tuple(x.type for x in sources), result)
        return Scaled(name=layer.name, tensor=self._out.emit(typed))

    def _quantised(self, layer: FakeQuant, x: Scaled) -> Scaled:
        if layer.grid.bipolar and (x.type.width, x.type.signed) == (1, True) and x.is_uniform:
            # the one bit that an input already is: -1 or 0
            return replace(x, scale=2 * layer.grid.scale, shift=layer.grid.scale)
        return self._out.quantised(x, layer.grid, layer.place)

    @staticmethod
    def _limited(x: Scaled, low: float | None, high: float | None) -> Scaled:
        return x if low is None and high is None else x.limited(low, high)

    def _affine(self, layer: Affine, x: Scaled) -> Scaled:
        scale = compressed(layer.weights)
        shift = compressed(layer.bias) if layer.bias.size else ZERO
        if x.is_limited and not (scale.size == shift.size == 1 and scale[0] > 0):
            x = self._out.unlimited(x, layer.place)
        return self._limited(x.moved(scale, shift), layer.low, layer.high)

    def _convolution(self, layer: Conv2d, x: Scaled) -> Scaled:
        grid = self._known.weights.get(layer.name)
        if grid is None:
            message = "its weights are not quantised, while the model's activations are"
            fix = "quantise the weights too (a Quant, or integer weights and a DequantizeLinear)"
            raise DesignError(layer.problem(message, fix))
        x = self._readable(layer, x)
        codes = np.rint(layer.weights / grid.scale.reshape(-1, 1, 1, 1)).astype(np.int64)
        codes, fraction, beside, spread = weights_and_scale(codes, grid.scale)
        ends = (grid.low << spread, grid.high << spread, int(codes.min()), int(codes.max()))
        type_ = code_type(min(ends), max(ends), fraction)
        members = layer.out_channels // layer.groups
        by_output = np.repeat(x.scale, members) if x.scale.size > 1 else x.scale
        scale = compressed(by_output * beside)
        made = replace(
            layer,
            inputs=(x.name,),
            input_type=x.type,
            weight_type=FixedType(type_.width, type_.integer, type_.signed),
            bias_type=held(np.zeros(1, np.int64), fraction),
            accumulator=x.type,
            result_type=x.type,
            weights=codes,
            bias=np.zeros(0, np.int64),
            low=None,
            high=None,
        )
        made, shift = self._with_bias(made, layer.bias, scale)
        tensor = self._out.emit(made.retyped((x.type,), None))
        return Scaled(name=layer.name, tensor=tensor, scale=scale, shift=shift)

    def _readable(self, layer: Conv2d, x: Scaled) -> Scaled:
        """`x` as a convolution can read it: linear, with one scale for each group."""
        x = self._out.linear(x, layer.place)
        depthwise = layer.groups == layer.in_shape[0]
        if x.scale.size > 1 and not (depthwise and (x.scale != 0).all()):
            x = self._out.materialised(x, layer.place)
        if x.type.width > MOST_INPUT_BITS:
            message = (
                f"it reads values that are not quantised: their exact type {x.type} has {x.type.width} bits"
            )
            raise DesignError(layer.problem(message, "a quantiser before it"))
        return x

    def _with_bias(self, layer: Conv2d, bias: Codes, scale: Doubles) -> tuple[Conv2d, Doubles]:
        """The layer with what of the bias it can add, and the rest, which stays on the side."""
        if not bias.size or not bias.any():
            return layer, ZERO
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = bias / scale
        finest = layer.product_fraction + BIAS_FINER
        plain = scale.size == 1 and scale[0] == 1
        if layer.name in self._known.on_grid:
            finest = layer.product_fraction
        elif not plain and not on_grid(steps, finest):
            return layer, bias.astype(np.float64)
        codes = np.rint(np.ldexp(steps, finest))
        if not np.isfinite(codes).all() or np.abs(codes).max() >= 1 << 53:
            return layer, bias.astype(np.float64)
        integers = codes.astype(np.int64)
        spare = min(trailing_zeros(integers), finest - layer.product_fraction)
        type_ = held(integers >> spare, finest - spare)
        return replace(layer, bias=integers >> spare, bias_type=type_), ZERO

    def _moved(self, layer: Selection, x: Scaled) -> Scaled:
        """A layer that moves elements: what belongs to a channel goes with it."""
        if x.scale.size > 1 or x.shift.size > 1:
            channels, height, width = x.tensor.shape
            index = np.broadcast_to(np.arange(channels)[None, :, None, None], (1, *x.tensor.shape))
            moved = layer.golden(np.ascontiguousarray(index))[0].reshape(layer.output_shape[0], -1)
            if (moved != moved[:, :1]).any():
                x = self._out.materialised(x, layer.place)
            else:
                went = moved[:, 0]
                scale, shift = (
                    compressed(part[went]) if part.size > 1 else part for part in (x.scale, x.shift)
                )
                moved = replace(x.at(self._emit(layer, [x], None)), ends=x.ends)
                return replace(moved, scale=scale, shift=shift)
        return replace(x.at(self._emit(layer, [x], None)), ends=x.ends)

    def _padded(self, layer: Pad, x: Scaled) -> Scaled:
        x = self._out.unlimited(x, layer.place)
        if x.shift.any() or (x.scale.size > 1 and (any(layer.channels) or layer.value)):
            x = self._out.materialised(x, layer.place)
        value = layer.value / float(x.scale[0]) if layer.value else 0.0
        if value and not on_grid(value, x.type.fraction) and not x.is_plain:
            x = self._out.materialised(x, layer.place)
            value = layer.value
        x = self._out.holding(x, value, layer.place)
        made = self._emit(replace(layer, value=value), [x], None)
        return x.at(made)

    def _pooled(self, layer: Pool2d | GlobalPool, x: Scaled) -> Scaled:
        if layer.function == "max":
            x = self._out.rising(x, layer.place)
            return replace(x.at(self._emit(layer, [x], None)), ends=x.ends)
        x = self._out.unlimited(x, layer.place)
        if layer.function == "sum" or counts_zeros(layer):
            x = self._out.linear(x, layer.place)
        shown = all(at < 0 for _, at in self._readers[layer.name])  # an output, which is not to be coarser
        if layer.function == "average" and (shown or not x.is_plain):
            layer, count = summed(layer)
            x = replace(x, scale=x.scale / count)
        return x.at(self._emit(layer, [x], None))

    def _joined(self, layer: Concat, sources: list[Scaled]) -> Scaled:
        first = sources[0]
        alike = all((x.low, x.high) == (first.low, first.high) for x in sources)
        if not alike or (first.is_limited and layer.axis):
            sources = [self._out.unlimited(x, layer.place) for x in sources]
        equal = all(
            np.array_equal(x.scale, first.scale) and np.array_equal(x.shift, first.shift) for x in sources
        )
        if layer.axis and not equal:
            sources = self._out.common(sources, layer.place)
        made = self._emit(layer, sources, None)
        scales, shifts = ([x.scale for x in sources], [x.shift for x in sources])
        if not layer.axis:
            widths = [x.tensor.shape[0] for x in sources]
            scales = [np.concatenate([np.broadcast_to(s, n) for s, n in zip(scales, widths, strict=True)])]
            shifts = [np.concatenate([np.broadcast_to(s, n) for s, n in zip(shifts, widths, strict=True)])]
        return replace(sources[0].at(made), scale=compressed(scales[0]), shift=compressed(shifts[0]))

    def _sum(self, layer: Binary, sources: list[Scaled]) -> Scaled:
        sources = [self._out.unlimited(x, layer.place) for x in sources]
        sign = -1.0 if isinstance(layer, Sub) else 1.0
        shifts = [x.shift for x in sources]
        left, right = self._out.common([replace(x, shift=ZERO) for x in sources], layer.place)
        made = self._emit(layer, [left, right], None)
        return replace(made, scale=left.scale, shift=compressed(shifts[0] + sign * shifts[1]))

    def _product(self, layer: Mul, sources: list[Scaled]) -> Scaled:
        left, right = (self._out.linear(x, layer.place) for x in sources)
        return replace(self._emit(layer, [left, right], None), scale=compressed(left.scale * right.scale))

    def _thresholds(self, layer: Thresholds, x: Scaled) -> Scaled:
        """What is beside the codes goes into the thresholds; a factor below zero changes the codes' sign."""
        x = self._out.rising(x, layer.place)
        values = placed(layer.first, layer.step, layer.count)
        fields = {"first": values.first, "step": values.step, "result_type": values.type}
        made = replace(
            layer,
            inputs=(x.name,),
            source=x.tensor,
            thresholds=on_codes(layer.thresholds, x),
            **fields,  # type: ignore[arg-type]
        )
        made = reached_by_some(made)
        tensor = self._out.emit(shared(made) or made)
        ends = [int(code) for code in values.type.encode([made.values[0], made.values[-1]])]
        return Scaled(
            name=layer.name,
            tensor=tensor,
            scale=values.scale,
            shift=values.shift,
            ends=(min(ends), max(ends)),
        )

    def _leaky(self, layer: Leaky, x: Scaled) -> Scaled:
        x = self._out.rising(self._out.linear(x, layer.place, SLOPED), layer.place)
        room = MAX_TENSOR_WIDTH - 1 - x.type.width
        slopes = nearly_each(np.asarray(layer.slopes, np.float64), SIGNIFICANT_BITS, room)
        made = self._emit(replace(layer, slopes=slopes.codes, slope_type=slopes.type), [x], None)
        return replace(made, scale=x.scale)


def _alike(grids: list[Grid]) -> bool:
    return all(grid.equals(grids[0]) for grid in grids)
