"""Emits, compiles and runs single kernels for the tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hlsgen.base.fixed import Codes, FixedType, FloatType, NumberType, accumulator_type
from hlsgen.base.output import write_files
from hlsgen.base.type_text import parse_type
from hlsgen.cost.cycles import Iterations
from hlsgen.csim.check_counts import check_counts
from hlsgen.csim.compiler import Headers, compile_testbench
from hlsgen.csim.conv_kernel import Run, simulate
from hlsgen.csim.verification import compare
from hlsgen.emit.conv2d import kernel_constants, kernel_files
from hlsgen.emit.plan import KernelNames
from hlsgen.hardware.conv2d import ConvMapping, map_conv2d
from hlsgen.hardware.conv_folding import Folding
from hlsgen.layers.conv2d import Conv2d
from hlsgen.targets.board import Board, load_board

U200 = load_board("u200")
ZCU102 = load_board("zcu102")


def conv(
    in_shape: tuple[int, int, int],
    out_channels: int,
    kernel: tuple[int, int] = (3, 3),
    *,
    stride: tuple[int, int] = (1, 1),
    padding: tuple[int, int, int, int] = (0, 0, 0, 0),
    dilation: tuple[int, int] = (1, 1),
    input_type: str = "float32",
    weight_type: str = "float32",
    result_type: str | None = None,
    accumulator: str | None = None,
    bias: bool = True,
    seed: int = 0,
    extremes: bool = False,
) -> Conv2d:
    """A convolution with random weights; `extremes`: every weight is the least or the largest code."""
    rng = np.random.default_rng(seed)
    source, weight = parse_type(input_type), parse_type(weight_type)
    result = parse_type(result_type) if result_type else source
    shape = (out_channels, in_shape[0], *kernel)
    if isinstance(source, FloatType):
        scale = extreme_scales(shape, rng) if extremes else 1.0
        weights: Codes = (rng.standard_normal(shape) * scale).astype(source.dtype)
        biases: Codes = rng.standard_normal(out_channels if bias else 0).astype(source.dtype)
        weights, biases = source.encode(weights), source.encode(biases)
        bias_type: NumberType = source
        total: NumberType = source
    else:
        assert isinstance(weight, FixedType)
        exact = accumulator_type(source, weight, in_shape[0] * kernel[0] * kernel[1])
        width = min(32, exact.width)
        bias_type = FixedType(width, width - exact.fraction)
        total = accumulator_type(source, weight, in_shape[0] * kernel[0] * kernel[1], bias_type)
        weights = random_codes(weight, shape, rng, extremes)
        biases = random_codes(bias_type, (out_channels if bias else 0,), rng, extremes)
    return Conv2d(
        name="conv1",
        in_shape=in_shape,
        out_channels=out_channels,
        kernel=kernel,
        stride=stride,
        padding=padding,
        dilation=dilation,
        input_type=source,
        weight_type=weight,
        bias_type=bias_type,
        accumulator=parse_type(accumulator) if accumulator else total,
        result_type=result,
        weights=weights,
        bias=biases,
    )


def extreme_scales(shape: tuple[int, ...], rng: np.random.Generator) -> Codes:
    """Factors with which half products are too small for half, or their sums too large."""
    return np.asarray(rng.choice([1.0, 2.0**-9, 2.0**-12, 2.0**12], shape, p=[0.4, 0.26, 0.3, 0.04]))


def random_codes(
    type_: FixedType, shape: tuple[int, ...], rng: np.random.Generator, extremes: bool = False
) -> Codes:
    if extremes:
        return rng.choice(np.array([type_.min_code, type_.max_code], dtype=object), shape).astype(np.int64)
    return rng.integers(type_.min_code, type_.max_code, shape, endpoint=True)


def frames_for(layer: Conv2d, frames: int, *, seed: int = 1) -> Codes:
    """Random frames; with three or more, one of least codes and one of largest are among them."""
    rng = np.random.default_rng(seed)
    if isinstance(layer.input_type, FloatType):
        values = rng.standard_normal((frames, *layer.in_shape))
        if layer.input_type.is_half and frames >= 3:
            values[-1] *= extreme_scales(layer.in_shape, rng)
        return layer.input_type.encode(values)
    x = random_codes(layer.input_type, (frames, *layer.in_shape), rng)
    if frames >= 3:
        x[-2], x[-1] = layer.input_type.min_code, layer.input_type.max_code
    return x


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """An emitted kernel: its mapping and its folder."""

    mapping: ConvMapping
    folder: Path


def emit_kernel(layer: Conv2d, folding: Folding, folder: Path, *, board: Board = U200) -> Kernel:
    """The kernel's own sources (no flows, no reports) in `folder`."""
    mapping = map_conv2d(layer, folding, board)
    assert mapping.bank_map.proves(mapping.patterns)
    write_files(folder, kernel_sources(mapping))
    return Kernel(mapping=mapping, folder=folder)


def kernel_sources(mapping: ConvMapping) -> dict[str, str]:
    return kernel_files(mapping, kernel_constants(mapping, KernelNames(kernel="conv", source="test")), "0")


def run_kernel(
    kernel: Kernel,
    frames: Codes,
    *,
    record_ports: bool = True,
    headers: Headers = Headers.FAST,
    standard: str = "c++14",
    optimise: str = "-O0",
) -> Run:
    """Compiles and runs an emitted kernel."""
    executable = kernel.folder / f"tb_{headers.value}_{record_ports}"
    compile_testbench(
        kernel.folder,
        "conv",
        executable,
        headers=headers,
        record_ports=record_ports,
        optimise=optimise,
        standard=standard,
    )
    return simulate(kernel.mapping.layer, executable, frames, kernel.folder)


def assert_exact(
    layer: Conv2d, folding: Folding, folder: Path, *, frames: int = 3, board: Board = U200
) -> Kernel:
    """C-simulation with recorded ports equals golden bit for bit, and counts the iterations of the cost
    model.
    """
    kernel = emit_kernel(layer, folding, folder, board=board)
    x = frames_for(layer, frames)
    run = run_kernel(kernel, x)
    golden = layer.golden(x, simd=folding.simd)
    result = compare(run.output, golden, layer.result_type)
    assert result.mismatches == 0, result
    check_counts(run, kernel.mapping, frames)
    return kernel


def with_weights(layer: Conv2d, weights: Codes) -> Conv2d:
    return replace(layer, weights=weights)


__all__ = [
    "U200",
    "ZCU102",
    "Iterations",
    "Kernel",
    "assert_exact",
    "conv",
    "emit_kernel",
    "frames_for",
    "kernel_sources",
    "random_codes",
    "run_kernel",
    "with_weights",
]
