"""Random layers and small graphs that a shared processor has hardware for, of types that its words hold.

Every one comes from a seed alone, so that what many of them cover can be counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import Codes, FixedType, Overflow, Rounding
from hlsgen.hardware.processor import RESULT_BITS, Processor
from hlsgen.layers.base import Layer, Shape, Tensor
from hlsgen.layers.binary import Add
from hlsgen.layers.cast import Cast
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.concat import Concat
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.crop import Crop
from hlsgen.layers.dense import Dense
from hlsgen.layers.global_pool import GlobalPool
from hlsgen.layers.leaky import Leaky
from hlsgen.layers.pad import Pad
from hlsgen.layers.pool2d import Pool2d
from hlsgen.layers.rearrange import Rearrange
from hlsgen.model.ir import Graph, Port
from hlsgen.program.program import Program, program

Option = TypeVar("Option")
Pair = tuple[int, int]
MOST_ROWS, MOST_COLUMNS = (9, 32), 11
REASONS = (
    "a band of",
    "the weights of",
    "its weights of",
    "its biases need",
    "more than the",
    "an average of so many values",
    "finer than its sums",
    "lies too far",
    "lies between two of the values",
    "rounded more than",
)
"""Why a graph of these may be refused: it is larger or finer than the processor."""


class Unfit(Exception):
    """What was drawn breaks a rule of layers, or is more than the processor holds."""


@dataclass
class Drawing:
    """A graph that grows; `tensors` by name are what its next layers may read."""

    processor: Processor
    rng: np.random.Generator
    layers: list[Layer] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    ports: list[Port] = field(default_factory=list)

    def pick(self, options: Sequence[Option]) -> Option:
        return options[int(self.rng.integers(len(options)))]

    def whole(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high, endpoint=True))

    def pair(self, most: int) -> Pair:
        return self.whole(1, most), self.whole(1, most)

    def strides(self) -> Pair:
        """Of rows: one that shares no factor with the processor's."""
        rows = self.processor.rows
        return self.pick([1, 1, *(step for step in (2, 3) if rows == 1 or rows % step)]), self.whole(1, 3)

    def image(self) -> Shape:
        lanes = self.processor.lanes
        channels = self.pick([1, 3, lanes - 1, lanes, lanes, lanes + 2, 2 * lanes])
        return channels, self.whole(1, self.pick(MOST_ROWS)), self.whole(1, MOST_COLUMNS)

    def port(self, shape: Shape) -> str:
        """An input of any type that a word has room for."""
        name, signed, words = f"in{len(self.ports)}", self.pick([True, False]), self.processor
        most = words.activation_bits - (not signed and not words.unsigned)
        type_ = FixedType(self.pick([most, most, most - 1, most // 2, 2]), self.whole(-1, 4), signed)
        self.ports.append(Port.of(name, Tensor(shape=shape, type=type_)))
        self.tensors[name] = self.ports[-1].tensor
        return name

    def add(self, layer: Layer) -> str:
        if layer.check():
            raise Unfit(str(layer.check()[0]))
        self.layers.append(layer)
        self.tensors[layer.name] = layer.output
        return layer.name

    def fresh(self, kind: str) -> str:
        return f"{kind}{len(self.layers)}"

    def fraction(self, source: str) -> int:
        type_ = self.tensors[source].type
        assert isinstance(type_, FixedType)
        return type_.fraction

    def result(self, fraction: int, largest: int, most: int | None = None) -> FixedType:
        """A saturating type for numbers up to `largest`, codes of `fraction` bits: some of them may leave it.

        most: bits; None: those of the processor's words.
        """
        signed = self.pick([True, False])
        room = self.processor.activation_bits if most is None else most
        width = room - (not signed and not self.processor.unsigned) - self.pick([0, 0, 0, 1, room // 2])
        kept = fraction - max(0, largest.bit_length() + 1 - width + self.whole(-2, 1))
        rounding, overflow = self.pick(list(Rounding)), self.pick([Overflow.SAT, Overflow.SAT_SYM])
        return FixedType(width, width - kept, signed, rounding, overflow)

    def retyped(self, layer: Any, largest: int | None = None) -> Any:
        """With a result type of its own."""
        type_ = layer.sources[0].type
        most = max(abs(type_.min_code), type_.max_code) if largest is None else largest
        return replace(layer, result_type=self.result(type_.fraction, most))

    def graph(self, outputs: Sequence[str]) -> Graph:
        ports = tuple(Port.of(f"out{n}", self.tensors[name], name) for n, name in enumerate(outputs))
        return Graph(name="drawn", inputs=tuple(self.ports), layers=tuple(self.layers), outputs=ports)

    # ---- layers, each reading `source` and giving its own name ----

    def conv(self, source: str, *, most: int | None = None, same: bool = False) -> str:
        """most: bits of its results. same: its output has the shape of its input."""
        channels, height, width = self.tensors[source].shape
        groups, outputs = self.grouping(channels, same)
        kernel, stride = self.pair(4), self.strides()
        dilation = self.pick([1, 1, 2, 4]), self.whole(1, 2)
        padding = (self.whole(0, 3), self.whole(0, 2), self.whole(0, 3), self.whole(0, 2))
        if same:
            kernel, padding = self.pick([((1, 1), (0, 0, 0, 0)), ((3, 3), (1, 1, 1, 1))])
            stride = dilation = (1, 1)
        bits = self.processor.weight_bits
        numbers = self.numbers(source, FixedType(self.pick([bits, bits, 3]), self.whole(0, 3)))
        layer = Conv2d(
            name=self.fresh("conv"),
            inputs=(source,),
            in_shape=(channels, height, width),
            out_channels=outputs,
            kernel=kernel,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            low=self.pick([None, None, 0.0, -0.5]),
            high=self.pick([None, None, 6.0]),
            **numbers,
        )
        return self.add(self.weighted(layer, (outputs, channels // groups, *kernel), most))

    def grouping(self, channels: int, same: bool) -> Pair:
        """(groups, output channels): plain, depthwise, and groups that words do and do not divide."""
        lanes = self.processor.lanes
        found = [(1, channels), (channels, channels)]
        if not same:
            found += [(1, count) for count in (1, lanes - 1, lanes, lanes + 3)] + [(channels, 2 * channels)]
        found += [(g, channels) for g in (2, 3, channels // 2) if g > 1 and channels % g == 0]
        return self.pick(found)

    def numbers(self, source: str, weight_type: FixedType) -> dict[str, Any]:
        """Types of a convolution, whose bias may be finer than its products; no weights yet."""
        fraction = self.fraction(source) + weight_type.fraction + self.pick([0, 0, 0, -3, -1, 1])
        width = 2 * weight_type.width
        return {
            "input_type": self.tensors[source].type,
            "weight_type": weight_type,
            "bias_type": FixedType(width, width - fraction),
            "accumulator": weight_type,
            "result_type": weight_type,
            "weights": np.zeros(0, np.int64),
            "bias": np.zeros(0, np.int64),
        }

    def weighted(self, layer: Conv2d, shape: tuple[int, ...], most: int | None) -> Conv2d:
        """With weights, of which some are all extremes, and a result type that its sums suit."""
        if layer.check():
            raise Unfit(str(layer.check()[0]))
        extreme = self.pick([False, False, True])
        weights = self.codes(layer.weight_type, shape, extreme)
        bias = self.codes(layer.bias_type, (shape[0] * self.whole(0, 1),), False)
        exact = replace(layer, weights=weights, bias=bias).retyped((layer.input_type,), None)
        largest = max(abs(end) for end in exact.worst_case_sum)
        return replace(exact, result_type=self.result(exact.sum_fraction, largest, most))

    def codes(self, type_: Any, shape: tuple[int, ...], extreme: bool) -> Codes:
        low, high = type_.min_code, type_.max_code
        return (
            self.rng.choice([low, low, high], shape) if extreme else self.rng.integers(low, high + 1, shape)
        )

    def dense(self, source: str) -> str:
        shape = self.tensors[source].shape
        outputs = self.pick([1, self.processor.lanes, self.processor.lanes + 2])
        layer = Dense(
            name=self.fresh("dense"),
            inputs=(source,),
            in_shape=shape,
            out_channels=outputs,
            **self.numbers(source, FixedType(self.processor.weight_bits, 1)),
        )
        return self.add(self.weighted(layer, (outputs, int(np.prod(shape)), 1, 1), None))

    def pool(self, source: str) -> str:
        tensor, average = self.tensors[source], self.pick([False, False, True])
        kernel = self.pair(4)
        top, left, bottom, right = (self.whole(0, (kernel[n % 2] - 1) // 2) for n in range(4))
        layer = Pool2d(
            name=self.fresh("pool"),
            inputs=(source,),
            source=tensor,
            function="average" if average else "max",
            kernel=kernel,
            stride=self.strides(),
            padding=(top, left, bottom, right),
            overhang=(0, 0) if average else (self.whole(0, 1), self.whole(0, 1)),
            dilation=(1, 1) if average else self.pair(2),
            count_include_pad=average,
            divisor=self.pick([None, None, 3, 8]) if average else None,
            result_type=tensor.type,
        )
        return self.add(self.retyped(layer) if average or self.whole(0, 1) else layer)

    def halved(self, source: str) -> str:
        """The largest of two rows by two columns; a last odd one is left out."""
        tensor = self.tensors[source]
        layer = Pool2d(
            name=self.fresh("halved"),
            inputs=(source,),
            source=tensor,
            function="max",
            kernel=(2, 2),
            stride=(2, 2),
            result_type=tensor.type,
        )
        return self.add(layer)

    def window(self, source: str) -> str:
        """A depthwise convolution or largest values of 3 x 3 values or fewer, perhaps of more."""
        channels, height, width = self.tensors[source].shape
        kernel = self.pick([(3, 3), (3, 3), self.pair(3), self.pair(4)])
        top, left, bottom, right = (self.whole(0, kernel[n % 2] - 1) for n in range(4))
        stride = self.strides()[0]
        if self.whole(0, 1):
            padding = tuple(
                min(side, kernel[n % 2] // 2) for n, side in enumerate((top, left, bottom, right))
            )
            tensor = self.tensors[source]
            layer = Pool2d(
                name=self.fresh("window"),
                inputs=(source,),
                source=tensor,
                function="max",
                kernel=kernel,
                stride=(stride, stride),
                padding=padding,
                overhang=(self.whole(0, stride - 1), self.whole(0, stride - 1)),
                result_type=tensor.type,
            )
            return self.add(layer)
        weights = FixedType(self.pick([self.processor.weight_bits, 3]), self.whole(0, 3))
        depthwise = Conv2d(
            name=self.fresh("window"),
            inputs=(source,),
            in_shape=(channels, height, width),
            out_channels=channels,
            kernel=kernel,
            stride=(stride, stride),
            padding=(top, left, bottom, right),
            groups=channels,
            low=self.pick([None, None, 0.0]),
            high=self.pick([None, None, 6.0]),
            **self.numbers(source, weights),
        )
        return self.add(self.weighted(depthwise, (channels, 1, *kernel), None))

    def global_pool(self, source: str) -> str:
        tensor = self.tensors[source]
        layer = GlobalPool(
            name=self.fresh("global"),
            inputs=(source,),
            source=tensor,
            function=self.pick(["max", "average", "sum"]),
            result_type=tensor.type,
        )
        assert isinstance(tensor.type, FixedType)
        largest = layer.pixels * max(abs(tensor.type.min_code), tensor.type.max_code)
        return self.add(self.retyped(layer, largest if layer.function == "sum" else None))

    def clamp(self, source: str) -> str:
        low, high = self.pick([(0.0, None), (0.0, 6.0), (-0.75, 1.5), (None, 1.0)])
        tensor = self.tensors[source]
        name = self.fresh("clamp")
        layer = Clamp(name=name, inputs=(source,), source=tensor, low=low, high=high, result_type=tensor.type)
        return self.add(self.retyped(layer))

    def cast(self, source: str) -> str:
        tensor = self.tensors[source]
        layer = Cast(name=self.fresh("cast"), inputs=(source,), source=tensor, result_type=tensor.type)
        return self.add(self.retyped(layer))

    def leaky(self, source: str) -> str:
        slope = self.pick([FixedType(8, 1), FixedType(5, 2), FixedType(9, 0, False)])
        tensor = self.tensors[source]
        layer = Leaky(
            name=self.fresh("leaky"),
            inputs=(source,),
            source=tensor,
            slopes=np.array([self.whole(max(slope.min_code, -20), slope.max_code)]),
            slope_type=slope,
            result_type=tensor.type,
        )
        return self.add(self.retyped(layer))

    def sum(self, left: str, right: str) -> str:
        one, other = self.tensors[left], self.tensors[right]
        layer = Add(name=self.fresh("add"), inputs=(left, right), left=one, right=other, result_type=one.type)
        return self.add(
            replace(layer, result_type=self.result(layer.exact_type.fraction, layer.exact_type.max_code))
        )

    def concat(self, *sources: str) -> str:
        parts = tuple(self.tensors[name] for name in sources)
        assert isinstance(parts[0].type, FixedType)
        result = replace(parts[0].type, rounding=Rounding.RND, overflow=Overflow.SAT)
        name = self.fresh("concat")
        return self.add(Concat(name=name, inputs=sources, parts=parts, axis=0, result_type=result))

    def pad(self, source: str) -> str:
        padding = (self.whole(0, 8), self.whole(0, 3), self.whole(0, 8), self.whole(0, 3))
        name = self.fresh("pad")
        return self.add(Pad(name=name, inputs=(source,), source=self.tensors[source], padding=padding))

    def crop(self, source: str) -> str:
        tensor = self.tensors[source]
        step = (self.whole(1, 2), *self.strides())
        begin = tuple(self.whole(0, size - 1) for size in tensor.shape)
        most = [-(-(size - at) // by) for size, at, by in zip(tensor.shape, begin, step, strict=True)]
        size = tuple(self.whole(1, count) for count in most)
        name = self.fresh("crop")
        return self.add(Crop(name=name, inputs=(source,), source=tensor, begin=begin, size=size, step=step))  # type: ignore[arg-type]

    def upsample(self, source: str) -> str:
        """Nearest: every row and column several times."""
        tensor, (down, right) = self.tensors[source], self.pair(3)
        channels, height, width = tensor.shape
        axes = (((channels, height * width),), ((height, width), (down, 0)), ((width, 1), (right, 0)))
        return self.add(Rearrange(name=self.fresh("up"), inputs=(source,), source=tensor, axes=axes))

    def backwards(self, source: str) -> str:
        """The last channel first."""
        tensor = self.tensors[source]
        channels, height, width = tensor.shape
        pixels = height * width
        axes = (((channels, -pixels),), ((height, width),), ((width, 1),))
        last, name = (channels - 1) * pixels, self.fresh("backwards")
        return self.add(Rearrange(name=name, inputs=(source,), source=tensor, axes=axes, offset=last))


KINDS = (
    *("conv", "conv", "conv", "dense", "pool", "pool", "global_pool"),
    *("clamp", "cast", "leaky", "pad", "crop", "upsample", "backwards"),
)


def single_layer(drawing: Drawing) -> Graph:
    kind = drawing.pick(KINDS)
    return drawing.graph([getattr(drawing, kind)(drawing.port(drawing.image()))])


def convolution(drawing: Drawing) -> Graph:
    return drawing.graph([drawing.conv(drawing.port(drawing.image()))])


def tall(drawing: Drawing) -> Graph:
    """A convolution and a pool in several bands, behind one whose words are not filled up with zeros."""
    channels = drawing.pick([drawing.processor.lanes, drawing.processor.lanes - 1])
    first = drawing.conv(drawing.port((channels, drawing.whole(20, 40), drawing.whole(4, 11))), same=True)
    return drawing.graph([drawing.conv(first), drawing.pool(first)])


def pooled(drawing: Drawing) -> Graph:
    """A convolution or a cast, perhaps an addition, then the largest of 2 x 2, perhaps on the way to DDR."""
    lanes = drawing.processor.lanes
    channels, rows = drawing.pick([lanes - 1, lanes, lanes + 2, 2 * lanes]), drawing.pick([9, 60, 60])
    source = drawing.port((channels, drawing.whole(2, rows), drawing.whole(3, 14)))
    # a cast's results are as large as its source, unsigned ones with their highest bit
    kind = drawing.pick(["any", "same", "cast"])
    found = drawing.cast(source) if kind == "cast" else drawing.conv(source, same=kind == "same")
    if drawing.tensors[found].shape == drawing.tensors[source].shape and drawing.whole(0, 1):
        found = drawing.sum(found, source)
    return drawing.graph([drawing.halved(found)])


def windowed(drawing: Drawing) -> Graph:
    """A convolution or a cast, perhaps an addition or a function; a window over its results on their way to
    DDR, as a rule; perhaps another one or a convolution behind that.
    """
    lanes = drawing.processor.lanes
    channels, rows = drawing.pick([lanes - 1, lanes, lanes + 2, 2 * lanes]), drawing.pick([4, 12, 24])
    source = drawing.port((channels, drawing.whole(1, rows), drawing.whole(5, 14)))
    kind = drawing.pick(["any", "same", "same", "cast"])
    found = drawing.cast(source) if kind == "cast" else drawing.conv(source, same=kind == "same")
    if drawing.tensors[found].shape == drawing.tensors[source].shape and drawing.whole(0, 1):
        found = drawing.sum(found, source)
    found = drawing.window(found)
    behind = drawing.pick(["nothing", "clamp", "window", "conv", "sum"])
    if behind == "sum":
        found = drawing.sum(found, drawing.port(drawing.tensors[found].shape))
    elif behind != "nothing":
        found = getattr(drawing, behind)(found)
    return drawing.graph([found])


def addition(drawing: Drawing) -> Graph:
    """A convolution, of results wider than a word or not, and another tensor added; activations; perhaps a
    layer that reads all that.
    """
    first = drawing.port(drawing.image())
    other = drawing.pick(["input", "conv", "port"])
    joins = first
    if other == "conv":
        joins = drawing.conv(first, same=True)
    if other == "port":
        joins = drawing.port(drawing.tensors[first].shape)
    branch = drawing.conv(first, same=True, most=drawing.pick([None, RESULT_BITS - 1]))
    found = drawing.sum(*drawing.pick([(branch, joins), (joins, branch)]))
    for _ in range(drawing.whole(0, 2)):
        found = getattr(drawing, drawing.pick(["clamp", "leaky", "cast"]))(found)
    outputs = [found]
    if drawing.whole(0, 1):
        outputs.append(drawing.conv(found))
    return drawing.graph(outputs)


def network(drawing: Drawing) -> Graph:
    """Up to seven layers, each reading any of the last tensors; what nobody reads is an output."""
    drawing.port(drawing.image())
    for _ in range(drawing.whole(3, 7)):
        names = list(drawing.tensors)
        source = drawing.pick(names[-3:])
        shape = drawing.tensors[source].shape
        alike = [one for one in names if drawing.tensors[one].shape == shape and one != source]
        joined = [one for one in alike if shape[0] % drawing.processor.lanes == 0]
        kind = drawing.pick([*KINDS, *["sum"] * 6 * bool(alike), *["concat"] * 6 * bool(joined)])
        if kind == "sum":
            drawing.sum(source, drawing.pick(alike))
        elif kind == "concat":
            drawing.concat(source, drawing.pick(joined))
        else:
            getattr(drawing, kind)(source)
    read = {name for layer in drawing.layers for name in layer.inputs}
    return drawing.graph([layer.name for layer in drawing.layers if layer.name not in read])


@dataclass(frozen=True, kw_only=True)
class Case:
    """A graph, its program for `together` frames, and how many rounds of them run."""

    graph: Graph
    program: Program
    together: int
    rounds: int
    seed: int


def cases(
    build: Callable[[Drawing], Graph],
    processor: Processor,
    count: int,
    *,
    first_seed: int = 0,
    drawn: type[Drawing] = Drawing,
) -> Iterator[Case]:
    """The first graphs that the processor has room for: a quarter at least of those that are drawn."""
    found = 0
    for seed in range(first_seed, first_seed + 4 * count):
        drawing = drawn(processor, np.random.default_rng(seed))
        together, rounds = drawing.whole(1, 4), drawing.whole(1, 2)
        try:
            graph = build(drawing)
            made = program(graph, processor, together)
        except Unfit:
            continue
        except DesignError as error:
            assert any(reason in str(error) for reason in REASONS), error
            continue
        yield Case(graph=graph, program=made, together=together, rounds=rounds, seed=seed)
        found += 1
        if found == count:
            return
    raise AssertionError(f"{found} of {4 * count} graphs fit the processor")
