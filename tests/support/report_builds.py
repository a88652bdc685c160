"""Builds of each kind of design, small and without C-simulation, whose reports are looked at."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlsgen
from hlsgen.api.design import Design
from hlsgen.api.project import build
from hlsgen.api.scheduling import VARIABLE
from hlsgen.designfile.constraints import InterfaceConstraints, NetworkConstraints
from hlsgen.loading.from_graph import Options, from_graph
from hlsgen.model.ir import Graph, Port
from tests.support.networks import convolution, residual_network, tensor
from tests.support.small_design import DESIGN

KINDS = ("layer", "dataflow", "best", "tasks", "auto", "names")
DEEP_LAYERS = 14


def built(kind: str, folder: Path) -> Path:
    """The build folder of a layer, a network of a style or of the fastest, best mapping, long names, or
    ("deep") many layers.
    """
    target = folder / kind
    if kind == "layer":
        path = folder / "small.yaml"
        path.write_text(DESIGN)
        with pytest.MonkeyPatch.context() as patch:  # one of them has a schedule, where there is a compiler
            patch.delenv(VARIABLE, raising=False)
            build(hlsgen.load(path), target, csim=False)
        return target
    graph = {"names": _long_names, "deep": _deep}.get(kind, residual_network)()
    options = Options(
        board="zcu102" if kind in ("tasks", "auto") else "u200",
        clock_mhz=None,
        batch=64,
        constraints=NetworkConstraints(search="best") if kind == "best" else None,
        style=kind if kind in ("tasks", "auto", "mixed") else "dataflow",
        calibration=np.random.default_rng(0).normal(0, 1, (4, *graph.inputs[0].shape)),
        precision="auto",
    )
    build(Design(from_graph(graph, options, "test")), target, frames=2, csim=False)
    return target


def streaming(board: str, target: Path) -> Path:
    """The build folder of a network all of whose ports are AXI streams."""
    graph = residual_network()
    options = Options(
        board=board,
        clock_mhz=None,
        batch=4,
        constraints=NetworkConstraints(interface=InterfaceConstraints(input="stream", output="stream")),
        style="dataflow",
        calibration=np.random.default_rng(0).normal(0, 1, (2, *graph.inputs[0].shape)),
        precision="auto",
    )
    build(Design(from_graph(graph, options, "test")), target, frames=1, csim=False)
    return target


def _deep() -> Graph:
    """A chain of layers that is higher than a screen."""
    names = ["x", *(f"features_{index}" for index in range(DEEP_LAYERS))]
    layers = tuple(
        convolution(name, source, (3 if source == "x" else 4, 8, 8), 4, seed=seed)
        for seed, (source, name) in enumerate(pairwise(names))
    )
    outputs = (Port.of("scores", tensor((4, 8, 8)), names[-1]),)
    return Graph(name="deep", inputs=(Port.of("x", tensor((3, 8, 8))),), layers=layers, outputs=outputs)


def _long_names() -> Graph:
    """Names of 60 characters, without a place where a line could break."""
    first, second = "a" * 60, "b" * 60
    shape = (4, 8, 8)
    layers = (
        convolution(first, "x", (3, 8, 8), 4, seed=1),
        convolution(second, first, shape, 4, seed=2),
    )
    return Graph(
        name="n" * 60,
        inputs=(Port.of("x", tensor((3, 8, 8))),),
        layers=layers,
        outputs=(Port.of("o" * 60, tensor(shape), second),),
    )


def content(folder: Path) -> dict[str, Any]:
    """report.json of a build folder."""
    found: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return found
