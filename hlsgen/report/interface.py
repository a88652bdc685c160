"""A streaming kernel's ports as reports have them: into DDR, or AXI streams; and who starts the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hlsgen.cost.stages import WEIGHT_PORT_BITS
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.hardware.ports import StreamPort
from hlsgen.hardware.processes import DmaRead, DmaWrite, LoadWeights


def interface_figures(pipeline: Pipeline) -> dict[str, Any]:
    """The section `interface`. bits: that a port moves at a time."""
    ports = [_port(one) for one in pipeline.processes if isinstance(one, DmaRead | DmaWrite)]
    weights = [(one.argument, one.port.bits) for one in pipeline.processes if isinstance(one, LoadWeights)]
    if pipeline.loaders:
        weights.append(("weights", WEIGHT_PORT_BITS))
    constraints = pipeline.interfaces.constraints
    return {
        "input": constraints.input,
        "output": constraints.output,
        "free_running": pipeline.free_running,
        "ports": ports
        + [{"name": name, "writes": False, "stream": False, "bits": bits} for name, bits in weights],
    }


def _port(process: DmaRead | DmaWrite) -> dict[str, Any]:
    port = process.port
    stream = isinstance(port, StreamPort)
    return {
        "name": process.argument,
        "writes": isinstance(process, DmaWrite),
        "stream": stream,
        "bits": port.bits(process.words) if isinstance(port, StreamPort) else port.bits,
    }


def interface_text(figures: Mapping[str, Any]) -> str:
    """The section `interface` in words."""
    named = [
        f"{port['name']} {'writes' if port['writes'] else 'reads'} {port['bits']} bits of "
        f"{'an AXI stream' if port['stream'] else 'DDR'}"
        for port in figures["ports"]
    ]
    started = (
        "Nobody starts the kernel: it takes frames as they come."
        if figures["free_running"]
        else "The host starts it."
    )
    return f"At a time {', '.join(named)}. {started}"
