"""A streaming kernel's ports as reports have them: into DDR, or AXI streams; and who starts the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hlsgen.cost.stages import WEIGHT_PORT_BITS
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.hardware.processes import PortProcess


def interface_figures(pipeline: Pipeline) -> dict[str, Any]:
    """The section `interface`. bits: that a port moves at a time."""
    ports = [_port(one) for one in (*pipeline.dma, *pipeline.streamers)]
    if pipeline.loaders:
        ports.append({"name": "weights", "writes": False, "stream": False, "bits": WEIGHT_PORT_BITS})
    constraints = pipeline.interfaces.constraints
    return {
        "input": constraints.input,
        "output": constraints.output,
        "free_running": pipeline.free_running,
        "ports": ports,
    }


def _port(process: PortProcess) -> dict[str, Any]:
    return {
        "name": process.argument,
        "writes": process.direction == "write",
        "stream": bool(process.axi_bits),
        "bits": process.port_bits,
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
