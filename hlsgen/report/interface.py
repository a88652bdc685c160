"""A streaming kernel's ports as reports have them: into DDR, or AXI streams; and who starts the kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from hlsgen.cost.stages import WEIGHT_PORT_BITS
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.hardware.processes import PortProcess
from hlsgen.report.section import Count, Flag, Rows, Section, Text


@dataclass(frozen=True, kw_only=True)
class KernelPort(Section):
    """A port of the kernel. bits: that it moves at a time."""

    name: Text
    writes: Flag
    stream: Flag
    bits: Count


@dataclass(frozen=True, kw_only=True)
class Interface(Section):
    """A streaming kernel's ports: what kind the inputs' and the outputs' are, and each of them."""

    input: Text
    output: Text
    free_running: Flag
    ports: Annotated[tuple[KernelPort, ...], Rows]


def interface_figures(pipeline: Pipeline) -> Interface:
    """The section `interface`."""
    ports = [_port(one) for one in (*pipeline.dma, *pipeline.streamers)]
    if pipeline.loaders:
        ports.append(KernelPort(name="weights", writes=False, stream=False, bits=WEIGHT_PORT_BITS))
    constraints = pipeline.interfaces.constraints
    return Interface(
        input=constraints.input,
        output=constraints.output,
        free_running=pipeline.free_running,
        ports=tuple(ports),
    )


def _port(process: PortProcess) -> KernelPort:
    return KernelPort(
        name=process.argument,
        writes=process.direction == "write",
        stream=bool(process.axi_bits),
        bits=process.port_bits,
    )


def interface_text(interface: Interface) -> str:
    """The section `interface` in words."""
    named = [
        f"{port.name} {'writes' if port.writes else 'reads'} {port.bits} bits of "
        f"{'an AXI stream' if port.stream else 'DDR'}"
        for port in interface.ports
    ]
    started = (
        "Nobody starts the kernel: it takes frames as they come."
        if interface.free_running
        else "The host starts it."
    )
    return f"At a time {', '.join(named)}. {started}"
