"""A design file's layers as a graph: shapes, types, and weights as codes."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hlsgen import samples
from hlsgen.document import Document
from hlsgen.errors import DesignError, Problem
from hlsgen.fixed import FixedType, FloatType, NumberType, Overflow, Rounding, accumulator_type
from hlsgen.ir import Graph, Tensor
from hlsgen.layers.conv2d import Conv2d
from hlsgen.quantise import quantised
from hlsgen.schema import DesignFile, LayerSection, WeightFile

MOST_BIAS_BITS = 64


def graph_of(file: DesignFile, document: Document) -> Graph:
    """The graph that the file describes. Raises DesignError with every mistake found."""
    problems = _not_yet(file, document)
    if problems:
        raise DesignError(problems)
    layer = _conv2d(file, file.layers[0], document)
    source = Tensor(shape=file.input.shape, type=file.input.type)
    return Graph(name=file.name, input=source, layers=(layer,))


def _not_yet(file: DesignFile, document: Document) -> list[Problem]:
    """What the file may say and this version does not build."""
    problems = []
    if file.style != "tasks":
        problems.append(
            Problem(
                message="style: dataflow is not built yet; a layer becomes a kernel that is called (tasks)",
                fix="style: tasks",
                place=document.place(("style",)),
            )
        )
    if len(file.layers) > 1:
        problems.append(
            Problem(
                message=f"a design has one layer; this one has {len(file.layers)}",
                fix="one design file for each layer",
                place=document.place(("layers", 1)),
            )
        )
    return problems


def _conv2d(file: DesignFile, section: LayerSection, document: Document) -> Conv2d:
    place = document.place(("layers", 0))
    channels, height, width = file.input.shape
    shape = (section.out_channels, channels, *section.kernel)
    weights, bias, origin = _weights(section, shape, document)
    types = _types(file, shape, weights, document)
    weights_place = document.place(
        ("precision", "weights") if file.precision.weights else ("layers", 0, "weights")
    )
    bias_place = document.place(("precision", "bias") if file.precision.bias else ("layers", 0, "weights"))
    return Conv2d(
        name=section.name,
        place=place,
        in_shape=(channels, height, width),
        out_channels=section.out_channels,
        kernel=section.kernel,
        stride=section.stride,
        padding=_padding(section, height, width),
        dilation=section.dilation,
        input_type=file.input.type,
        weight_type=types["weights"],
        bias_type=types["bias"],
        result_type=types["output"],
        accumulator=types["accumulator"],
        accumulator_wish=file.precision.accumulator,
        weights=quantised(weights, types["weights"], f"{section.name}: weights", weights_place),
        bias=quantised(bias, types["bias"], f"{section.name}: bias", bias_place),
        weights_origin=origin,
    )


def _weights(
    section: LayerSection, shape: tuple[int, int, int, int], document: Document
) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
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


def _padding(section: LayerSection, height: int, width: int) -> tuple[int, int, int, int]:
    """(top, left, bottom, right). `same`: the output has ceil(input / stride) rows and columns, the odd zero goes last."""
    if section.padding == "valid":
        return (0, 0, 0, 0)
    if section.padding != "same":
        return section.padding
    sides = []
    for size, kernel, stride, dilation in zip(
        (height, width), section.kernel, section.stride, section.dilation, strict=True
    ):
        total = max(0, (-(-size // stride) - 1) * stride + (kernel - 1) * dilation + 1 - size)
        sides.append((total // 2, total - total // 2))
    (top, bottom), (left, right) = sides
    return (top, left, bottom, right)


Role = Literal["weights", "bias", "output", "accumulator"]


def _types(
    file: DesignFile, shape: tuple[int, int, int, int], weights: NDArray[np.float64], document: Document
) -> dict[Role, NumberType]:
    """The types that the file gives, and the defaults of the others.

    Weights: as wide as the input, with the integer bits that the weights need. Bias: as wide as the sum of products, on its grid.
    Output: the input's range and width, rounded to the nearest and saturating. Accumulator: no sum overflows.
    """
    given, source = file.precision, file.input.type
    if isinstance(source, FloatType) or isinstance(given.weights, FloatType):
        narrowed = given.accumulator if not isinstance(given.accumulator, str) else None
        return {
            "weights": given.weights or source,
            "bias": given.bias or source,
            "output": given.output or source,
            "accumulator": narrowed or source,
        }
    weight = given.weights or _weight_type(source, weights)
    assert isinstance(weight, FixedType)
    exact = accumulator_type(source, weight, int(np.prod(shape[1:])))
    width = min(MOST_BIAS_BITS, exact.width)
    bias = given.bias or FixedType(width, width - exact.fraction)
    if isinstance(bias, FloatType):
        return {"weights": weight, "bias": bias, "output": given.output or source, "accumulator": exact}
    if bias.fraction > exact.fraction:
        raise DesignError(
            Problem(
                message=f"bias: {bias} has {bias.fraction} fraction bits, more than the {exact.fraction} of a product; they would be lost",
                fix=f"at most {exact.fraction} fraction bits, as in {FixedType(bias.width, bias.width - exact.fraction)}",
                place=document.place(("precision", "bias")),
            )
        )
    output = given.output or FixedType(
        source.width, source.integer, source.signed, Rounding.RND, Overflow.SAT
    )
    with_bias = accumulator_type(source, weight, int(np.prod(shape[1:])), bias)
    return {"weights": weight, "bias": bias, "output": output, "accumulator": with_bias}


def _weight_type(source: FixedType, weights: NDArray[np.float64]) -> FixedType:
    """Signed, as wide as the input, with the fewest integer bits that hold every weight."""
    width = source.width
    for integer in range(1 - width, width + 1):
        candidate = FixedType(width, integer)
        low, high = candidate.min_code * candidate.resolution, candidate.max_code * candidate.resolution
        if weights.size == 0 or (float(weights.min()) >= low and float(weights.max()) <= high):
            return candidate
    return FixedType(width, width)
