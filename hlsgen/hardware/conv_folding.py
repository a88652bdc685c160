"""The folding of a convolution, and what of it a layer does not allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hlsgen.designfile.constraints import NoFit
from hlsgen.hardware.ports import WIDEST_STREAM
from hlsgen.layers import winograd
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.stage import divisors

Order = Literal["rows", "channels"]
Algorithm = Literal["direct", "winograd"]
MOST_PARTITIONS = 1024
"""Elements of an array that are partitioned completely; more of them and synthesis slows down or gives up."""


@dataclass(frozen=True, kw_only=True)
class Folding:
    """The parallelism of one instance, per iteration.

    rows: output rows; pe: output channels; simd: input channels; fabric_pe: how many of the pe have their
    adders (fp32) or multipliers (fixed point) in logic cells; order: what runs outermost, row tiles (all
    weights on chip) or output channels (the weights of pe channels on chip, the input read again for each of
    them); algorithm: direct, or winograd for two rows by four products of a column instead of six.
    """

    rows: int
    pe: int
    simd: int
    fabric_pe: int = 0
    order: Order = "rows"
    algorithm: Algorithm = "direct"


def check_folding(layer: Conv2d, folding: Folding) -> None:
    """Raises NoFit, the first of them, where the folding does not fit the layer."""
    for fault in folding_faults(
        layer,
        rows=folding.rows,
        pe=folding.pe,
        simd=folding.simd,
        fabric_pe=folding.fabric_pe,
        algorithm=folding.algorithm,
    ):
        raise fault


def folding_faults(
    layer: Conv2d,
    *,
    rows: int | None,
    pe: int | None,
    simd: int | None,
    fabric_pe: int | None,
    algorithm: Algorithm | None = None,
) -> list[NoFit]:
    """Everything in which the given values do not fit the layer; None is not looked at."""
    faults = []
    channels, height = layer.in_shape[0], layer.output_shape[1]
    if pe and layer.out_channels % pe:
        fix = f"one of {_listed(divisors(layer.out_channels))}"
        faults.append(NoFit(f"pe: {pe} does not divide the {layer.out_channels} output channels", fix, "pe"))
    if simd and channels % simd:
        fix = f"one of {_listed(divisors(channels))}"
        faults.append(NoFit(f"simd: {simd} does not divide the {channels} input channels", fix, "simd"))
    if rows and rows > height:
        faults.append(NoFit(f"rows: {rows} is more than the {height} output rows", f"1 to {height}", "rows"))
    if fabric_pe and fabric_pe > (pe or layer.out_channels):
        limit = pe or layer.out_channels
        faults.append(NoFit(f"fabric_pe: {fabric_pe} is more than pe: {limit}", f"0 to {limit}", "fabric_pe"))
    if algorithm == "winograd":
        faults += _winograd_faults(layer, rows)
    if not faults:
        faults += _word_faults(layer, rows or 1, pe or 1)
    taps = winograd.POINTS * layer.kernel[1] if algorithm == "winograd" else layer.taps
    weights = (pe or 1) * (simd or 1) * taps
    if not faults and weights > MOST_PARTITIONS:
        given = f"pe: {pe or 1} with simd: {simd or 1}"
        message = f"{given} needs {weights} weights at once, more than {MOST_PARTITIONS}"
        most = MOST_PARTITIONS // taps
        fix = f"pe x simd of at most {most}; rows adds parallelism without more weights"
        faults.append(NoFit(message, fix, "pe" if pe else None))
    return faults


def _winograd_faults(layer: Conv2d, rows: int | None) -> list[NoFit]:
    """Why Winograd's algorithm is none for the layer, or for so many rows; empty if it is one."""
    if not winograd.fits(layer):
        message = (
            "algorithm: winograd is for fixed point, kernels of three rows with stride and dilation 1 along "
            "the rows, and inputs of up to 17 bits by weights of up to 16"
        )
        return [NoFit(message, "algorithm: direct", "algorithm")]
    if layer.output_shape[1] < winograd.ROWS:
        return [
            NoFit("algorithm: winograd computes two rows at a time, and there is one", "direct", "algorithm")
        ]
    if rows and rows % winograd.ROWS:
        return [NoFit(f"rows: {rows} is odd, and winograd computes rows in pairs", "an even number", "rows")]
    return []


def _word_faults(layer: Conv2d, rows: int, pe: int) -> list[NoFit]:
    """Why a column of results, a word of a stream, is too wide; empty if it is not."""
    element = layer.result_type.width
    bits = rows * pe * element
    if bits <= WIDEST_STREAM:
        return []
    message = f"rows: {rows} with pe: {pe} makes words of {bits:,} bits, more than {WIDEST_STREAM:,}"
    fix = f"rows x pe of at most {WIDEST_STREAM // element}; simd adds parallelism without wider words"
    return [NoFit(message, fix, "rows" if rows > 1 else "pe")]


def _listed(values: list[int]) -> str:
    return ", ".join(str(v) for v in values)
