"""A design file's one convolution as a graph: shapes, types, and weights as codes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError, Problem, collecting
from hlsgen.base.fixed import (
    MAX_WIDTH,
    Codes,
    FixedType,
    FloatType,
    NumberType,
    Overflow,
    Rounding,
    accumulator_type,
)
from hlsgen.base.quantise import nearest
from hlsgen.designfile.document import Document
from hlsgen.designfile.layer_sections import Conv2dLayer
from hlsgen.designfile.schema import DesignFile, LayerSection
from hlsgen.designfile.schema_values import WeightFile
from hlsgen.frontends.builder.sums import same_padding
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model import samples
from hlsgen.model.ir import Graph, Tensor

Floats = NDArray[np.float64]

MOST_BIAS_BITS = 64
MOST_FRAME_ELEMENTS = 1 << 25
"""Elements of an input or output frame: a picture of 4096 x 2730. Golden and C-simulation hold all of it."""
MOST_WEIGHTS = 1 << 24
"""Weights of a layer: 2048 x 2048 channels with 2 x 2 taps. More than that is no layer for one kernel."""
MOST_MACS = 1 << 37
"""Multiply-accumulates of a frame, nine times those of VGG-16: golden and C-simulation compute them all."""


def graph_of(file: DesignFile, document: Document) -> tuple[Graph, list[Problem]]:
    """The graph that the file describes, and every mistake found.

    If there are mistakes, zeros stand for weights that are missing or wrong: such a graph only serves to find
    more mistakes.
    """
    problems: list[Problem] = []
    layer = _conv2d(file, file.layers[0], document, problems)
    source = Tensor(shape=file.input.shape, type=file.input.type)
    return Graph.chain(file.name, source, (layer,)), problems


def interface_problem(file: DesignFile, document: Document) -> list[Problem]:
    """What the file may say of ports, and a layer by itself does not have."""
    if file.interface == "memory":
        return []
    return [
        Problem(
            message="a layer as a kernel by itself reads and writes DDR, with bursts of its own",
            fix="interface: memory, or style: dataflow, which can stream",
            place=document.place(("interface",)),
        )
    ]


def _conv2d(file: DesignFile, section: LayerSection, document: Document, problems: list[Problem]) -> Conv2d:
    """The layer; what is wrong with it goes to `problems`."""
    channels, height, width = file.input.shape
    shape = (section.out_channels, channels, *section.kernel)
    source = file.input.type
    layer = Conv2d(
        name=section.name,
        place=document.place(("layers", 0)),
        in_shape=(channels, height, width),
        out_channels=section.out_channels,
        kernel=section.kernel,
        stride=section.stride,
        padding=zeros_around(section, height, width),
        dilation=section.dilation,
        input_type=source,
        weight_type=source,
        bias_type=source,
        result_type=source,
        accumulator=source,
        accumulator_wish=file.precision.accumulator,
        weights=_zeros(shape),
        bias=_zeros((section.out_channels if section.bias else 0,)),
    )
    numbers: tuple[Floats, Floats, str] | None = None
    if too_large := _too_large(layer, document):
        problems += too_large
    else:
        with collecting(problems):
            numbers = _weights(section, shape, document)
    with collecting(problems):
        layer = _typed(layer, file, numbers, document)
    if numbers is None or _mixed(layer):
        return layer
    weights, bias, origin = numbers
    layer = replace(layer, weights_origin=origin)
    weights_place = document.place(
        ("precision", "weights") if file.precision.weights else ("layers", 0, "weights")
    )
    bias_place = document.place(("precision", "bias") if file.precision.bias else ("layers", 0, "weights"))
    with collecting(problems):
        codes = nearest(weights, layer.weight_type, f"{section.name}: weights", weights_place)
        layer = replace(layer, weights=codes)
    with collecting(problems):
        codes = nearest(bias, layer.bias_type, f"{section.name}: bias", bias_place)
        return replace(layer, bias=codes)
    return layer


def _zeros(shape: tuple[int, ...]) -> Codes:
    """Zeros of any shape in eight bytes, read-only."""
    return np.broadcast_to(np.int64(0), shape)


def _mixed(layer: Conv2d) -> bool:
    types = (layer.input_type, layer.weight_type, layer.bias_type, layer.accumulator, layer.result_type)
    return len({isinstance(one, FloatType) for one in types}) > 1


def _too_large(layer: Conv2d, document: Document) -> list[Problem]:
    """What is beyond the limits; nothing of that size has been made yet."""
    problems = []
    elements = math.prod(layer.in_shape)
    if elements > MOST_FRAME_ELEMENTS:
        problems.append(
            Problem(
                message=f"a frame of {by(layer.in_shape)} has {elements:,} elements, "
                f"more than {MOST_FRAME_ELEMENTS:,}",
                fix="fewer channels, rows or columns: cut the image into tiles",
                place=document.place(("input", "shape")),
            )
        )
    shape = (layer.out_channels, layer.in_shape[0], *layer.kernel)
    weights = math.prod(shape)
    if weights > MOST_WEIGHTS:
        message = f"{by(shape)} are {weights:,} weights, more than {MOST_WEIGHTS:,}"
        problems.append(layer.problem(message, "fewer channels, or a smaller kernel"))
    out_shape = layer.output_shape
    results = math.prod(max(0, size) for size in out_shape)
    if results > MOST_FRAME_ELEMENTS:
        message = f"the output of {by(out_shape)} has {results:,} elements, more than {MOST_FRAME_ELEMENTS:,}"
        problems.append(layer.problem(message, "fewer out_channels, or a larger stride"))
    macs = results * math.prod(shape[1:])
    if not problems and macs > MOST_MACS:
        message = f"a frame needs {macs:,} multiply-accumulates, more than {MOST_MACS:,}"
        problems.append(layer.problem(message, "a smaller kernel, fewer channels or a smaller image"))
    return problems


def by(sizes: tuple[int, ...]) -> str:
    return " x ".join(str(size) for size in sizes)


def _weights(
    section: LayerSection, shape: tuple[int, int, int, int], document: Document
) -> tuple[Floats, Floats, str]:
    """Weights [M, C, KH, KW], bias [M] or empty, and where they come from."""
    if isinstance(section.weights, WeightFile):
        weights, bias = samples.load_weights(
            document.beside(section.weights.path),
            section.name,
            shape,
            (shape[0],) if section.bias else None,
            document.place(("layers", 0, "weights")),
        )
        return weights, bias if section.bias else np.zeros(0), f"file {section.weights.path.name}"
    weights, bias = samples.random_weights(shape, section.weights.seed)
    return weights, bias if section.bias else np.zeros(0), f"random, seed {section.weights.seed}"


def zeros_around(section: LayerSection | Conv2dLayer, height: int, width: int) -> tuple[int, int, int, int]:
    """The zeros that a section of a layer asks for: (top, left, bottom, right)."""
    if section.padding == "valid":
        return (0, 0, 0, 0)
    if section.padding != "same":
        return section.padding
    windows = zip((height, width), section.kernel, section.stride, section.dilation, strict=True)
    (top, bottom), (left, right) = (same_padding(*window) for window in windows)
    return (top, left, bottom, right)


def _typed(
    layer: Conv2d, file: DesignFile, numbers: tuple[Floats, Floats, str] | None, document: Document
) -> Conv2d:
    """`layer` with the types that the file gives, and the defaults of the others.

    Weights: as wide as the input, with the integer bits that the weights need. Bias: as wide as the sum of
    products, on its grid. Output: the input's range and width, rounded to the nearest and saturating.
    Accumulator: no sum overflows. float32 mixed with fixed point is left for the layer's rules to refuse.
    Raises DesignError: bits that would be lost, or sums too wide. `numbers` None: they could not be read, and
    what depends on them is not judged.
    """
    weights, biases = numbers[:2] if numbers else (np.zeros(0), np.zeros(0))
    given, source = file.precision, file.input.type
    wish = None if isinstance(given.accumulator, str) else given.accumulator
    if isinstance(source, FloatType) or any(
        isinstance(one, FloatType) for one in (given.weights, given.bias, given.output, wish)
    ):
        return replace(
            layer,
            weight_type=given.weights or source,
            bias_type=given.bias or source,
            result_type=given.output or source,
            accumulator=wish or source,
        )
    weight = given.weights or _weight_type(source, weights)
    assert isinstance(weight, FixedType) and not isinstance(given.bias, FloatType | str)
    terms = math.prod(layer.weights.shape[1:])
    try:
        exact = accumulator_type(source, weight, terms)
        bias = given.bias or _bias_type(exact, biases)
        if given.weights is not None or numbers is not None:
            lost = _lost_bits({"bias": bias, "accumulator": wish}, exact.fraction, document)
            if lost:
                raise DesignError(lost)
        total = accumulator_type(source, weight, terms, bias)
        if not -MAX_WIDTH <= exact.integer <= total.integer <= MAX_WIDTH:
            raise ValueError(f"integer bits {total.integer} are outside -{MAX_WIDTH}..{MAX_WIDTH}")
    except ValueError as error:
        raise DesignError(
            Problem(
                message=f"{layer.name}: sums of products of {source} and {weight} cannot be held: {error}",
                fix=f"types with fewer bits, or fewer integer bits: sums have at most {MAX_WIDTH}",
                place=document.place(("precision",) if document.data.get("precision") else ("input", "type")),
            )
        ) from None
    output = given.output or FixedType(
        source.width, source.integer, source.signed, Rounding.RND, Overflow.SAT
    )
    return replace(layer, weight_type=weight, bias_type=bias, result_type=output, accumulator=total)


def _bias_type(exact: FixedType, biases: Floats) -> FixedType:
    """A type as wide as the sum of products, on its grid; with more integer bits if the biases need them."""
    low, high = float(biases.min(initial=0)), float(biases.max(initial=0))
    largest = max(high, -low)
    needed = math.frexp(largest)[1] + 1 if largest else 1
    width = min(MOST_BIAS_BITS, exact.width)
    integer = max(needed, width - exact.fraction)
    return FixedType(min(MOST_BIAS_BITS, integer + exact.fraction), integer)


def _lost_bits(types: dict[str, NumberType | None], most: int, document: Document) -> list[Problem]:
    """A problem for each type that has bits below those of a product."""
    return [
        Problem(
            message=f"{key}: {type_} has {type_.fraction} fraction bits, more than the {most} of a product; "
            "they would be lost",
            fix=f"at most {most} fraction bits, as in {FixedType(type_.width, type_.width - most)}",
            place=document.place(("precision", key)),
        )
        for key, type_ in types.items()
        if isinstance(type_, FixedType) and type_.fraction > most
    ]


def _weight_type(source: FixedType, weights: Floats) -> FixedType:
    """Signed, as wide as the input, with the fewest integer bits that hold every weight."""
    width = source.width
    for integer in range(1 - width, width + 1):
        candidate = FixedType(width, integer)
        low, high = candidate.min_code * candidate.resolution, candidate.max_code * candidate.resolution
        if weights.size == 0 or (float(weights.min()) >= low and float(weights.max()) <= high):
            return candidate
    return FixedType(width, width)
