"""The constants of a convolution's templates: every value computed here, nothing computed there."""

from __future__ import annotations

import itertools
from string import ascii_lowercase
from typing import Any

import numpy as np

from hlsgen.base.fixed import FixedType
from hlsgen.base.floating import HALF
from hlsgen.cost.cycles import has_bias, interval, iterations
from hlsgen.emit.constants import c_type, header_files, shape_constants
from hlsgen.emit.environment import render, source_text
from hlsgen.emit.plan import KernelNames
from hlsgen.hardware.conv2d import ConvMapping
from hlsgen.hardware.conv_words import BAND_LATENCY, burst_limit, outstanding
from hlsgen.hardware.storage import Memory
from hlsgen.hardware.wave import band_constants, window_constants
from hlsgen.layers import winograd
from hlsgen.layers.packing import lower_lane_limit, signed_bits
from hlsgen.search.placement import Deployment

SHARED_HEADERS = ("static.h", "counter.h", "lanes.h", "memory.h", "iteration.h", "dot.h")


def deployed_constants(deployment: Deployment, name: str, source: str) -> list[dict[str, Any]]:
    """What the templates use of each kernel of a design that is called `name`, in their order."""
    names = folding_names(name, deployment.layer.name, len(deployment.kernels))
    return [
        kernel_constants(kernel.mapping, KernelNames(kernel=one, source=source, space=space))
        for kernel, (one, space) in zip(deployment.kernels, names, strict=True)
    ]


def folding_names(design: str, layer: str, count: int) -> list[tuple[str, str]]:
    """(kernel, namespace) of each folding of a layer: those of the first are the design's and the layer's.

    The others end in _b, _c and so on; no two files are called alike, on any file system.
    """
    found, taken = [(design, layer)], {design.lower(), layer.lower()}
    for letter in ascii_lowercase[1:count]:
        ends = (f"{'_' * more}_{letter}" for more in itertools.count())
        end = next(end for end in ends if not taken & {(design + end).lower(), (layer + end).lower()})
        found.append((design + end, layer + end))
        taken |= {(design + end).lower(), (layer + end).lower()}
    return found


def kernel_files(mapping: ConvMapping, k: dict[str, Any], version: str) -> dict[str, str]:
    """The kernel's sources and its testbench, by path in the build folder."""
    headers = (*SHARED_HEADERS, "winograd.h") if k["winograd"] else SHARED_HEADERS
    files = header_files(headers, half=k["half"])
    for template, path in (
        ("conv2d.h.j2", f"src/{k['layer']}.h"),
        ("kernel.h.j2", f"src/{k['name']}.h"),
        ("kernel.cpp.j2", f"src/{k['name']}.cpp"),
        ("testbench.cpp.j2", f"tb/{k['name']}_tb.cpp"),
    ):
        files[path] = render(f"hls/{template}", k=k, version=version)
    files["tb/npy.h"] = source_text("hls/npy.h")
    return files


def kernel_constants(mapping: ConvMapping, names: KernelNames) -> dict[str, Any]:
    """Everything that the templates of a convolution use, by the name they use."""
    return {
        **_names(mapping, names),
        **_types(mapping),
        **shape_constants(mapping.layer),
        **window_constants(mapping.layer),
        **_folding(mapping),
        **_winograd(mapping),
        **band_constants(mapping.wave, mapping.bank_map),
        **_transfers(mapping),
        **_storage(mapping),
    }


def _names(mapping: ConvMapping, names: KernelNames) -> dict[str, Any]:
    layer = names.space or mapping.layer.name
    return {
        "name": names.kernel,
        "source": names.source,
        "layer": layer,
        "guard": f"HLSGEN_{layer.upper()}",
        "guard_top": f"HLSGEN_KERNEL_{names.kernel.upper()}",
        "top_indent": " " * len(f'extern "C" void {names.kernel}('),
    }


def _types(mapping: ConvMapping) -> dict[str, Any]:
    layer = mapping.layer
    values = {
        "in_t": layer.input_type.cpp,
        "weight_t": layer.weight_type.cpp,
        "bias_t": layer.bias_type.cpp,
        "acc_t": layer.accumulator.cpp,
        "out_t": layer.result_type.cpp,
        "IN_BITS": layer.input_type.width,
        "IN_SLOT": layer.input_type.container_bits,
        "OUT_BITS": layer.result_type.width,
        "OUT_SLOT": layer.result_type.container_bits,
        "WEIGHT_BITS": layer.weight_type.width,
        "BIAS_BITS": layer.bias_type.width,
        "in_npy": c_type(layer.input_type),
        "weight_npy": c_type(layer.weight_type),
        "bias_npy": c_type(layer.bias_type),
        "out_npy": c_type(layer.result_type),
        "out_descr": layer.result_type.dtype.str.replace("=", "<"),
        "arithmetic": mapping.arithmetic,
        "floating": layer.is_float,
        "half": layer.input_type == HALF,
        "has_bias": has_bias(mapping),
    }
    if layer.is_float:
        values |= layer.float_cores.constants(mapping.folding.fabric_pe, mapping.folding.pe)
    else:
        assert isinstance(layer.input_type, FixedType) and isinstance(layer.weight_type, FixedType)
        values |= {
            "product_t": mapping.product.cpp,
            "dot_t": mapping.dot.cpp,
            "DOT_BITS": mapping.dot.width,
            "IN_CODE": signed_bits(layer.input_type),
            "WEIGHT_CODE": signed_bits(layer.weight_type),
            "CHAIN": mapping.chain,
            "PACKED_LIMIT": lower_lane_limit(layer),
            "dot_name": "dot_t",
            "dot_call": "hlsgen::dot_chain",
            "dot_types": ", dot_t, product_t",
            "in_dsp": "hlsgen::in_dsp",
            "in_fabric": "hlsgen::in_fabric",
            "running_add": "before + dot[p]",
        }
    return values


def _folding(mapping: ConvMapping) -> dict[str, Any]:
    folding, wave = mapping.folding, mapping.wave
    several_passes = mapping.channel_steps > 1
    bias = "acc_t(0)"
    if has_bias(mapping):
        bias = "held_bias[p]"
    steps = "at.filters * CF + at.channels" if folding.order == "rows" else "at.channels"
    return {
        "ROWS": folding.rows,
        "PE": folding.pe,
        "SIMD": folding.simd,
        "FABRIC_PE": folding.fabric_pe,
        "fabric_what": "adders" if mapping.layer.is_float else "multipliers",
        "order": folding.order,
        "LAG": wave.lag,
        "COLUMNS": mapping.columns,
        "idle_columns": mapping.columns - wave.columns,
        "macs_per_iteration": mapping.macs_per_iteration,
        "iterations": interval(mapping),
        "STALLS": mapping.stalls[0],
        "LAST_STALLS": mapping.stalls[1],
        "BAND_DISTANCE": mapping.band_distance,
        "BAND_MARGIN": BAND_LATENCY,
        "PARTIAL_DISTANCE": mapping.columns,
        "SUMS": mapping.sums,
        "lone_sum": several_passes and mapping.lone_sum,
        "has_partial": several_passes,
        "bias_value": bias,
        "weight_step": steps,
    }


def _winograd(mapping: ConvMapping) -> dict[str, Any]:
    """Lanes and limits of words that hold two pairs of rows, where the algorithm is Winograd's."""
    layer, used = mapping.layer, mapping.folding.algorithm == "winograd"
    if not used:
        return {"winograd": False}
    assert isinstance(layer.input_type, FixedType)
    difference = 0  # as all points but one
    limits = [winograd.limit(layer.input_type, point) for point in range(winograd.POINTS)]
    return {
        "winograd": True,
        "row_groups": "GROUPS" if mapping.arithmetic == "packed" else "PAIRS",
        "odd_pairs": mapping.folding.rows // winograd.ROWS % 2 == 1,
        "SUM_LANE": winograd.lane(layer.input_type, winograd.SUM_POINT),
        "DIFFERENCE_LANE": winograd.lane(layer.input_type, difference),
        "MOST_SUM": _most_beside(layer.input_type, winograd.SUM_POINT),
        "MOST_DIFFERENCE": _most_beside(layer.input_type, difference),
        "SUM_LIMIT": limits[winograd.SUM_POINT],
        "DIFFERENCE_LIMIT": limits[difference],
        "POINT_LIMITS": ", ".join(map(str, limits)),
    }


def _most_beside(input_type: FixedType, point: int) -> int:
    """The largest magnitude that the upper of two words needs room for."""
    low, high = winograd.row_range(input_type, point)
    return max(1 - low, high + 1)


def _transfers(mapping: ConvMapping) -> dict[str, Any]:
    layer, wave = mapping.layer, mapping.wave
    filled = np.flatnonzero(wave.rows_by_tile).tolist()
    frame_in = layer.in_shape[0] * layer.in_shape[1] * mapping.in_words
    frame_out = layer.out_channels * layer.output_shape[1] * mapping.out_words
    return {
        "IN_LANES": mapping.in_lanes,
        "OUT_LANES": mapping.out_lanes,
        "in_words": mapping.in_words,
        "out_words": mapping.out_words,
        "rows_used": wave.rows_used,
        "LOAD_TILE_BEGIN": filled[0] if filled else 0,
        "LOAD_TILE_END": filled[-1] + 1 if filled else 0,
        "LOAD_TIMES": mapping.load_times,
        "trips": _trips(mapping),
        "FIRST_ROWS": wave.rows_filled(0),
        "in_burst": burst_limit(mapping.input_burst),
        "in_outstanding": outstanding(mapping.input_burst),
        "BURSTS_AHEAD": outstanding(mapping.input_burst) - 1,
        "out_burst": burst_limit(mapping.output_burst),
        "out_outstanding": outstanding(mapping.output_burst),
        "weights_port": max(layer.weight_type.container_bits, layer.bias_type.container_bits),
        "depth_input": frame_in * COSIM_FRAMES,
        "depth_output": frame_out * COSIM_FRAMES,
        "depth_weights": layer.weights.size,
        "COSIM_FRAMES": COSIM_FRAMES,
    }


MOST_TRIPS = 2**31 - 1


def _trips(mapping: ConvMapping) -> dict[str, int]:
    """How often loops run in a call with one frame, as far as their pragmas can say."""
    wave, channels = mapping.wave, mapping.layer.in_shape[0]
    counts = iterations(mapping, 1)
    runs = int(np.count_nonzero(wave.rows_by_tile)) * channels
    trips = {
        "requests": min(mapping.load_times * runs, outstanding(mapping.input_burst) - 1),
        "load": counts.load,
        "compute": counts.compute // mapping.load_times,  # the loop begins anew for each
        "drain": counts.drain,
        "responses": min(wave.tiles * mapping.layer.out_channels, outstanding(mapping.output_burst)),
    }
    return {name: min(number, MOST_TRIPS) for name, number in trips.items()}


COSIM_FRAMES = 2
"""Frames that the m_axi ports of an RTL co-simulation are deep enough for."""


def _storage(mapping: ConvMapping) -> dict[str, Any]:
    def word(memory: Memory | None) -> str:
        return memory.storage.value if memory else ""

    return {
        f"{name}_storage": word(mapping.memory(name)) for name in ("band", "weight", "bias", "partial")
    } | {"drain_storage": word(mapping.memory("rows"))}
