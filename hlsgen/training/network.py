"""A network in fixed point as a module of PyTorch that is trained: a stage for each layer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.model.ports import Floats
from hlsgen.training.backend import FRAMES_TOGETHER, Weights
from hlsgen.training.packages import nn, torch
from hlsgen.training.stages import Input, Output, Products, Stage, stage_of


class Network(nn.Module):
    """Frames [N, ...] of each input in the framework's layout -> those of each output, as golden has them.

    stages: one for each layer of `graph`, in its order; inputs, outputs: one for each port. What is trained
    are the weights and biases that the stages round.
    """

    def __init__(self, graph: Graph, weights: Weights) -> None:
        """weights: in floating point. Raises DesignError: a layer or a type that training cannot follow."""
        super().__init__()
        self.graph = graph
        self.inputs = nn.ModuleList(Input(port) for port in graph.inputs)
        self.stages = nn.ModuleList(stage_of(layer, *weights.get(layer.name, ())) for layer in graph.layers)
        self.outputs = nn.ModuleList(Output(port) for port in graph.outputs)

    def forward(self, *frames: torch.Tensor) -> torch.Tensor | list[torch.Tensor]:
        graph = self.graph
        last = {source: layer.name for layer in graph.layers for source in layer.inputs}
        values = {
            port.name: laid_out(given)
            for port, laid_out, given in zip(graph.inputs, self.inputs, frames, strict=True)
        }
        shown = {port.source for port in graph.outputs}
        for layer, stage in zip(graph.layers, self.stages, strict=True):
            sources = [values[name] for name in layer.inputs]
            for name in set(layer.inputs) - shown:
                if last[name] == layer.name:
                    del values[name]
            values[layer.name] = stage(*sources)
        found = [
            laid_out(values[port.source]) for port, laid_out in zip(graph.outputs, self.outputs, strict=True)
        ]
        return found[0] if len(found) == 1 else found

    def as_chain(self) -> nn.Sequential | None:
        """The same modules one after the other; None: it is no chain of one input and one output."""
        graph = self.graph
        before = [port.name for port in graph.inputs] + [layer.name for layer in graph.layers]
        chained = all(layer.inputs == (name,) for layer, name in zip(graph.layers, before, strict=False))
        if len(graph.inputs) > 1 or len(graph.outputs) > 1 or not chained:
            return None
        if graph.outputs[0].source != before[-1]:
            return None
        return nn.Sequential(*self.inputs, *self.stages, *self.outputs)

    def evaluated(self, values: Mapping[str, Floats]) -> list[Floats]:
        """The outputs in the framework's layout, computed in doubles, in which the sums are exact.

        values: frames [N, C, H, W] of each input.
        """
        ports = self.graph.inputs
        frames = [torch.from_numpy(port.from_tensor(values[port.name]).astype(np.float64)) for port in ports]
        self.double().eval()
        parts: list[list[Floats]] = []
        with torch.no_grad():
            for first in range(0, len(frames[0]), FRAMES_TOGETHER):
                found = self(*(one[first : first + FRAMES_TOGETHER] for one in frames))
                parts.append([one.numpy() for one in (found if isinstance(found, list) else [found])])
        return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]

    def weights(self) -> dict[str, tuple[Floats, Floats]]:
        """What it computes with now, on the grids of its types."""
        layers = {layer.name: layer for layer in self.graph.layers}
        found = {}
        for stage in self.stages:
            assert isinstance(stage, Stage)
            if isinstance(stage.computed, Products):
                layer = layers[stage.name]
                assert isinstance(layer, Conv2d)
                found[stage.name] = stage.computed.values(layer.weights.shape)
        return found
