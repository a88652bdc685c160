"""dag.json of an application of CEDR: the model as its framework has it, and what computes each part.

An entry is a layer of the model, or a Sequential, with all its attributes. Its `application` are the layers
of the design that compute it, with everything that the C++ is generated from: layers are fused, so that one
of the design may compute several of the model, whose value appears in the last of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any

from hlsgen.base.fixed import FixedType, FloatType
from hlsgen.emit.adapters import ddr_format
from hlsgen.emit.cedr_float import FloatLayer
from hlsgen.emit.cedr_layers import CalledLayer, numbers_of
from hlsgen.hardware.weight_beats import weight_beats
from hlsgen.layers.base import Layer, Tensor
from hlsgen.model.documents import Entry, ModelDocument
from hlsgen.model.ir import Graph
from hlsgen.search.layerwise import LayerwiseHardware
from hlsgen.search.task_kernels import TaskKernel


def application_dag(
    document: ModelDocument,
    choice: LayerwiseHardware,
    graph: Graph,
    called: Mapping[str, CalledLayer | FloatLayer],
) -> list[Entry]:
    """The document's dag with the layers of the design, each in the entry whose value it computes."""
    kernels = {kernel.layer.name: kernel for kernel in choice.kernels}
    owners = _owners(document, graph)
    held: dict[str, list[Entry]] = {entry["name"]: [] for entry in document.dag}
    for layer in graph.layers:
        one = _layer(layer, kernels[layer.name], called.get(layer.name))
        held[owners[layer.name]].append(one | {"tensor": tensor_entry(layer.output, choice, layer.name)})
    return [entry | {"application": held[entry["name"]]} for entry in document.dag]


def layers_of(dag: Iterable[Entry]) -> list[Entry]:
    """The layers of the design in a dag, each after what it reads."""
    layers = {one["name"]: one for entry in dag for one in entry["application"]}
    order = TopologicalSorter(
        {name: [source for source in one["reads"] if source in layers] for name, one in layers.items()}
    )
    return [layers[name] for name in order.static_order()]


def tensor_entry(tensor: Tensor, choice: LayerwiseHardware, name: str) -> Entry:
    """How a tensor lies in memory, and what its codes are."""
    type_ = tensor.type
    return {
        "name": name,
        "signed": isinstance(type_, FixedType) and type_.signed,
        "float32": isinstance(type_, FloatType) and not type_.is_half,
        **ddr_format(choice.formats[name]),
    }


def _owners(document: ModelDocument, graph: Graph) -> dict[str, str]:
    """The entry that each layer of the design belongs to: the first whose value it has.

    A layer that is no tensor of the framework's, a cast, belongs where its first reader does, else to its
    source's entry.
    """
    first = document.dag[0]["name"]
    owners: dict[str, str] = {}
    for origin in graph.origins:
        if not origin.joined and origin.name in document.owners:
            owners.setdefault(origin.source, document.owners[origin.name])
    for layer in graph.layers:
        if layer.name in document.owners:
            owners.setdefault(layer.name, document.owners[layer.name])
    for layer in reversed(graph.layers):
        if layer.name in owners:
            for source in layer.inputs:
                owners.setdefault(source, owners[layer.name])
    for layer in graph.layers:
        owners.setdefault(layer.name, _known(layer.inputs, owners) or first)
    return owners


def _known(names: Sequence[str], owners: Mapping[str, str]) -> str | None:
    return next((owners[name] for name in names if name in owners), None)


def _layer(layer: Layer, kernel: TaskKernel, called: CalledLayer | FloatLayer | None) -> dict[str, Any]:
    call = None
    if called is not None:
        call = called.numbers if isinstance(called, FloatLayer) else numbers_of(called)
    return {
        "name": layer.name,
        "kind": layer.kind,
        "call": call,
        "reads": list(kernel.reads.values()),
        "kernel": kernel.name,
        "weight_beats": 0 if call else sum(weight_beats(kernel.pipeline).values()),
    }
