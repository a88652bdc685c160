"""A network of tasks as an application of CEDR: {path: content} of the folder cedr/ of its build."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.version import VERSION
from hlsgen.emit.cedr_dag import application_dag, layers_of, tensor_entry
from hlsgen.emit.cedr_float import TOLERANCE_BITS, FloatLayer, float_layer
from hlsgen.emit.cedr_layers import CalledLayer, biases_of, called_layer, parts_of
from hlsgen.emit.environment import counted, render, safe_comment, source_text
from hlsgen.emit.plan import Plan, array_bytes
from hlsgen.model.documents import Entry, ModelDocument
from hlsgen.model.ir import Graph
from hlsgen.search.layerwise import LayerwiseHardware

FOLDER = "cedr"
RESOURCES = {"cpu": 3, "fft": 0, "gemm": 1, "zip": 1, "gpu": 0}
"""As the slides of CEDR have them, convolutions under gemm: CEDR knows no others."""
CPU_NS = 1.0
"""Of a CPU, for a product or an element: an assumption."""


def cedr_files(
    choice: LayerwiseHardware,
    graph: Graph,
    document: ModelDocument,
    *,
    name: str,
    source: str,
    clock_mhz: float,
) -> Plan:
    """{"cedr/Makefile": text, ...}. document: the model that `graph` was made from, before layers were fused.

    The C++ is generated from the text of dag.json.
    """
    called = calls_of(graph)
    dag = _text(application_dag(document, choice, graph, called))
    k = _context(json.loads(dag), choice, graph, name=name, source=source)
    files: Plan = {
        f"{name}_application.cpp": render("cedr/application.cpp.j2", k=k, version=VERSION),
        "implementations.cpp": render("cedr/implementations.cpp.j2", k=k, version=VERSION),
        "alone.cpp": render("cedr/alone.cpp.j2", k=k, version=VERSION),
        "Makefile": render("cedr/Makefile.j2", k=k, version=VERSION),
        "layers.h": source_text("cedr/layers.h"),
        "dash.h": source_text("cedr/dash.h"),
        "layers.json": _text(document.layers),
        "dag.json": dag,
        "parameters.npz": _archive(document.parameters),
        "resources.json": _text(_resources(name, assumed_costs(called, clock_mhz))),
    }
    for one in called.values():
        masks, biases = _data(one)
        files[f"data/{one.layer.name}.masks.npy"] = array_bytes(masks)
        files[f"data/{one.layer.name}.biases.npy"] = array_bytes(biases)
    return {f"{FOLDER}/{path}": content for path, content in files.items()}


def calls_of(graph: Graph) -> dict[str, CalledLayer | FloatLayer]:
    """The layers that are calls, by name."""
    found = {layer.name: called_layer(layer) or float_layer(layer) for layer in graph.layers}
    return {name: one for name, one in found.items() if one is not None}


def _archive(arrays: Mapping[str, NDArray[np.generic]]) -> bytes:
    """A .npz file: the same bytes for the same arrays, whatever they are called."""
    held = BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, array in arrays.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), array_bytes(array))
    return held.getvalue()


def _data(called: CalledLayer | FloatLayer) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    """What the calls of a layer multiply by, and its biases."""
    if isinstance(called, FloatLayer):
        return called.matrices, called.biases
    return parts_of(called), biases_of(called)


def assumed_costs(called: Mapping[str, CalledLayer | FloatLayer], clock_mhz: float) -> dict[str, int]:
    """Nanoseconds of a call in the mean over a frame's, for CEDR's policies, which know one number for each.

    Assumed, not measured: a CPU takes CPU_NS for a product or an element, an accelerator a cycle of the
    design's clock for a pixel, a complex product or a complex element.
    """
    convs = [one for one in called.values() if isinstance(one, CalledLayer) and one.side]
    products_of = [(one.gemm_products, one.gemm_calls) for one in called.values()]
    pixels = _mean([(one.pixels, one.conv_calls) for one in convs])
    products = _mean([(one.pixels * one.side**2, one.conv_calls) for one in convs])
    elements = _mean([((one.pixels + 1) // 2, one.zip_calls) for one in convs])
    complex_products = _mean([(count, calls) for count, calls in products_of if calls])
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
    dag: list[Entry], choice: LayerwiseHardware, graph: Graph, *, name: str, source: str
) -> dict[str, Any]:
    """What the templates name: the layers as dag.json has them, and the network's ports."""
    layers = layers_of(dag)
    inputs = [tensor_entry(port.tensor, choice, port.name) for port in graph.inputs]
    tensors = {one["name"]: one for one in (*inputs, *(layer["tensor"] for layer in layers))}
    for layer in layers:
        layer["packed"] = [tensors[one] for one in layer["reads"]]
    return {
        "name": name,
        "source": safe_comment(source),
        "calls": sum(layer["call"]["calls"] for layer in layers if layer["call"]),
        "lines": [_line(layer) for layer in layers],
        "layers": layers,
        "kernels": [{"name": layer["kernel"]} for layer in layers if not layer["call"]],
        "tensors": list(tensors.values()),
        "PORT": choice.port_bits,
        "inputs": [port.name for port in graph.inputs],
        "outputs": [
            {"name": port.name, "source": port.source, "float32": tensors[port.source]["float32"]}
            for port in graph.outputs
        ],
        "TOLERANCE_BITS": TOLERANCE_BITS,
        "resources": RESOURCES,
    }


def _line(layer: dict[str, Any]) -> str:
    """What becomes of a layer, for the application's head."""
    call = layer["call"]
    if call is None:
        return f"{layer['name']} ({layer['kind']}): on the CPU"
    how = "DASH_CONV_2D_int" if call["function"] == "convolution" else "DASH_GEMM_flt"
    how += ", DASH_ZIP_flt" if call.get("zip") else ""
    parts = call.get("weight_parts", 1) * call.get("input_parts", 1)
    split = f"; codes in {call['weight_parts']} x {call['input_parts']} parts" if parts > 1 else ""
    return f"{layer['name']} ({layer['kind']}): {how}, {counted(call['calls'], 'call')}{split}"


def _text(document: object) -> str:
    return json.dumps(document, indent=2) + "\n"
