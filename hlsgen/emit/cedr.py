"""A network of tasks as an application of CEDR: {path: content} of the folder cedr/ of its build."""

from __future__ import annotations

import json
from typing import Any

from hlsgen.base.fixed import FixedType
from hlsgen.base.version import VERSION
from hlsgen.emit.adapters import ddr_format
from hlsgen.emit.cedr_layers import CalledLayer, biases_of, called_layer, numbers_of, parts_of
from hlsgen.emit.environment import counted, render, safe_comment, source_text
from hlsgen.emit.plan import Plan, array_bytes
from hlsgen.hardware.weight_beats import weight_beats
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.dense import Dense
from hlsgen.layers.pool2d import Pool2d
from hlsgen.model.ir import Graph
from hlsgen.search.layerwise import LayerwiseHardware
from hlsgen.search.task_kernels import TaskKernel

FOLDER = "cedr"
RESOURCES = {"cpu": 3, "fft": 0, "gemm": 1, "zip": 1, "gpu": 0}
"""As the slides of CEDR have them, convolutions under gemm: CEDR knows no others."""
CPU_NS = 1.0
"""Of a CPU, for a product or an element: an assumption."""
FRAMEWORK_TYPES = {"conv2d": "Conv2d", "dense": "Linear", "clamp": "ReLU"}


def cedr_files(choice: LayerwiseHardware, graph: Graph, *, name: str, source: str, clock_mhz: float) -> Plan:
    """{"cedr/Makefile": text, ...}."""
    called = calls_of(graph)
    k = _context(choice, graph, called, name=name, source=source)
    files: Plan = {
        f"{name}_application.cpp": render("cedr/application.cpp.j2", k=k, version=VERSION),
        "implementations.cpp": render("cedr/implementations.cpp.j2", k=k, version=VERSION),
        "alone.cpp": render("cedr/alone.cpp.j2", k=k, version=VERSION),
        "Makefile": render("cedr/Makefile.j2", k=k, version=VERSION),
        "layers.h": source_text("cedr/layers.h"),
        "dash.h": source_text("cedr/dash.h"),
        "layers.json": _text(layer_list(graph)),
        "dag.json": _text(layer_dag(graph)),
        "resources.json": _text(_resources(name, assumed_costs(called, clock_mhz))),
    }
    for one in called.values():
        files[f"data/{one.layer.name}.masks.npy"] = array_bytes(parts_of(one))
        files[f"data/{one.layer.name}.biases.npy"] = array_bytes(biases_of(one))
    return {f"{FOLDER}/{path}": content for path, content in files.items()}


def calls_of(graph: Graph) -> dict[str, CalledLayer]:
    """The layers that are calls, by name."""
    found = {layer.name: called_layer(layer) for layer in graph.layers}
    return {name: one for name, one in found.items() if one is not None}


def layer_list(graph: Graph) -> list[dict[str, Any]]:
    """The layers with their attributes, each by itself: the first step of the way from a model."""
    return [{"sequential": "no", **_attributes(layer)} for layer in graph.layers]


def layer_dag(graph: Graph) -> list[dict[str, Any]]:
    """The same with what each reads and writes and who is next: a list where there are several."""
    readers = graph.consumers()
    return [
        {
            "name": layer.name,
            "input": _one_or_list(list(layer.inputs)),
            "output": layer.name,
            "next": _one_or_list([name for name, at in readers[layer.name] if at >= 0]) or "NONE",
            **{key: value for key, value in entry.items() if key != "name"},
        }
        for layer, entry in zip(graph.layers, layer_list(graph), strict=True)
    ]


def _one_or_list(names: list[str]) -> str | list[str]:
    names = list(dict.fromkeys(names))
    return names[0] if len(names) == 1 else names


def _attributes(layer: Layer) -> dict[str, Any]:
    """Type and sizes, in the words of PyTorch where it has them."""
    found: dict[str, Any] = {"name": layer.name, "type": FRAMEWORK_TYPES.get(layer.kind, layer.kind)}
    if isinstance(layer, Dense):
        found |= {"in_features": layer.group_channels, "out_features": layer.out_channels}
    elif isinstance(layer, Conv2d):
        found |= {
            "in_channels": layer.in_shape[0],
            "out_channels": layer.out_channels,
            "groups": layer.groups,
        }
        found |= {key: list(getattr(layer, key)) for key in ("stride", "padding", "dilation")}
        found["kernel_size"] = list(layer.kernel)
    elif isinstance(layer, Pool2d):
        found["type"] = "MaxPool2d" if layer.function == "max" else "AvgPool2d"
        found |= {"kernel_size": list(layer.kernel), "stride": list(layer.stride)}
    found["output_shape"] = list(layer.output_shape)
    return found


def assumed_costs(called: dict[str, CalledLayer], clock_mhz: float) -> dict[str, int]:
    """Nanoseconds of a call in the mean over a frame's, for CEDR's policies, which know one number for each.

    Assumed, not measured: a CPU takes CPU_NS for a product or an element, an accelerator a cycle of the
    design's clock for a pixel, a complex product or a complex element.
    """
    convs = [one for one in called.values() if one.side]
    denses = [one for one in called.values() if not one.side]
    pixels = _mean([(one.pixels, one.conv_calls) for one in convs])
    products = _mean([(one.pixels * one.side**2, one.conv_calls) for one in convs])
    elements = _mean([((one.pixels + 1) // 2, one.zip_calls) for one in convs])
    complex_products = _mean([(one.gemm_products, 1) for one in denses])
    cycle = 1000 / clock_mhz
    return {
        "DASH_CONV_2D_cpu": round(products * CPU_NS),
        "DASH_CONV_2D_gemm": round(pixels * cycle),
        "DASH_GEMM_cpu": round(complex_products * 4 * CPU_NS),
        "DASH_GEMM_gemm": round(complex_products * cycle),
        "DASH_ZIP_cpu": round(elements * 2 * CPU_NS),
        "DASH_ZIP_zip": round(elements * cycle),
    }


def _mean(pairs: list[tuple[int, int]]) -> float:
    """Of values with how often they occur; 0: of none."""
    count = sum(times for _, times in pairs)
    return sum(value * times for value, times in pairs) / count if count else 0.0


def _resources(name: str, costs: dict[str, int]) -> dict[str, Any]:
    """CEDR's configuration of the daemon. Libraries later in the list win; the first is CEDR's own."""
    return {
        "Worker Threads": RESOURCES,
        "Features": {
            "Cache Schedules": False,
            "Enable Queueing": True,
            "Use PAPI": False,
            "Loosen Thread Permissions": True,
            "Fixed Periodic Injection": True,
            "Exit When Idle": False,
        },
        "DASH API Costs": costs,
        "Scheduler": "EFT",
        "Random Seed": 0,
        "DASH Binary Paths": ["./libdash-rt/libdash-rt.so", f"./{name}_calls.so"],
    }


def _context(
    choice: LayerwiseHardware, graph: Graph, called: dict[str, CalledLayer], *, name: str, source: str
) -> dict[str, Any]:
    formats = {tensor: ddr_format(choice.formats[tensor]) for tensor in graph.tensors()}
    kernels = {kernel.layer.name: kernel for kernel in choice.kernels}
    layers = [_layer(layer, kernels[layer.name], called.get(layer.name), formats) for layer in graph.layers]
    signed = {
        tensor: isinstance(one.type, FixedType) and one.type.signed for tensor, one in graph.tensors().items()
    }
    return {
        "name": name,
        "source": safe_comment(source),
        "calls": sum(layer["call"]["calls"] for layer in layers if layer["call"]),
        "lines": [_line(layer) for layer in layers],
        "layers": layers,
        "kernels": [kernels[layer["name"]] for layer in layers if not layer["call"]],
        "tensors": [{"name": tensor, "signed": signed[tensor], **one} for tensor, one in formats.items()],
        "PORT": choice.port_bits,
        "inputs": [port.name for port in graph.inputs],
        "outputs": [{"name": port.name, "source": port.source} for port in graph.outputs],
        "resources": RESOURCES,
    }


def _layer(
    layer: Layer, kernel: TaskKernel, called: CalledLayer | None, formats: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    call = None if called is None else numbers_of(called)
    return {
        "name": layer.name,
        "kind": layer.kind,
        "call": call,
        "reads": list(kernel.reads.values()),
        "packed": [{"name": one, "WIDTH": formats[one]["WIDTH"]} for one in kernel.reads.values()],
        "kernel": kernel.name,
        "WIDTH": formats[layer.name]["WIDTH"],
        "weight_beats": 0 if call else sum(weight_beats(kernel.pipeline).values()),
    }


def _line(layer: dict[str, Any]) -> str:
    """What becomes of a layer, for the application's head."""
    call = layer["call"]
    if call is None:
        return f"{layer['name']} ({layer['kind']}): on the CPU"
    parts = call["weight_parts"] * call["input_parts"]
    how = "DASH_GEMM_flt" if call["dense"] else "DASH_CONV_2D_int"
    how += ", DASH_ZIP_flt" if call["zip"] else ""
    split = f"; codes in {call['weight_parts']} x {call['input_parts']} parts" if parts > 1 else ""
    return f"{layer['name']} ({layer['kind']}): {how}, {counted(call['calls'], 'call')}{split}"


def _text(document: object) -> str:
    return json.dumps(document, indent=2) + "\n"
