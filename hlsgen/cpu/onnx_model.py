"""A graph, or a part of one, as an ONNX model of float32."""

from __future__ import annotations

from typing import Any

from hlsgen.base.version import VERSION
from hlsgen.cpu.onnx_nodes import OPSET, Nodes
from hlsgen.cpu.operators import layer_nodes
from hlsgen.cpu.packages import package
from hlsgen.model.ir import Graph

IR_VERSION = 9
"""Of the file: the one that came with opset 20."""


def onnx_model(graph: Graph) -> Any:
    """A ModelProto from the tensors that the graph's inputs are to those that its outputs show, by name.

    Tensors are [N, C, H, W] of float32 values, whatever the framework's layout was; N is open. Layers in
    fixed point round and limit their results as their types do: those are golden's as long as sums have at
    most 24 bits. Raises DesignError: a layer that no framework has. ToolError: the package onnx is missing.
    """
    onnx = package("onnx")
    nodes = Nodes()
    names = {port.name: f"in_{port.name}" for port in graph.inputs}
    for layer in graph.layers:
        names[layer.name] = layer_nodes(layer, nodes, [names[source] for source in layer.inputs])
    shown = dict.fromkeys(port.source for port in graph.outputs)
    for name in shown:
        # an output that is an input too, or shown twice, still has a node and a name of its own
        nodes.nodes.append(onnx.helper.make_node("Identity", [names[name]], [f"out_{name}"]))
    tensors = graph.tensors()

    def value(prefix: str, name: str) -> Any:
        sizes = ["N", *tensors[name].shape]
        return onnx.helper.make_tensor_value_info(f"{prefix}{name}", onnx.TensorProto.FLOAT, sizes)

    made = onnx.helper.make_graph(
        nodes.nodes,
        graph.name,
        [value("in_", port.name) for port in graph.inputs],
        [value("out_", name) for name in shown],
        initializer=nodes.constants,
    )
    return onnx.helper.make_model(
        made,
        producer_name="hlsgen",
        producer_version=VERSION,
        ir_version=IR_VERSION,
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
    )
