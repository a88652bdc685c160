"""The program of a shared processor as its host sees it: arguments, memory, frames of a call."""

from __future__ import annotations

from hlsgen.emit.environment import safe_comment
from hlsgen.emit.xrt import BUFFER_BYTES, CALL_SECONDS, host_number, host_port
from hlsgen.hardware.host_interface import HostArgument, HostConstants, HostInterface, HostStep, HostTensor
from hlsgen.hardware.host_program import HostPlace, HostProgram
from hlsgen.hardware.processor_file import BuiltProcessor
from hlsgen.model.ir import Port
from hlsgen.program.program import Program
from hlsgen.program.tasks import Stored

ARGUMENTS = (
    HostArgument(port="program", source="constants", name="program"),
    HostArgument(port="weights", source="constants", name="weights"),
    HostArgument(port="pixels", source="memory", name="memory"),
    HostArgument(port="added", source="memory", name="memory"),
    HostArgument(port="results", source="memory", name="memory"),
    HostArgument(port="tasks", source="tasks", name="tasks"),
    HostArgument(port="rounds", source="rounds", name="rounds"),
)
"""The kernel's, in their order."""


def call_rounds(program: Program, frame_cycles: float, clock_mhz: float) -> int:
    """Rounds of a host's call: about CALL_SECONDS at the modelled speed, within BUFFER_BYTES; at least
    one.
    """
    frame_bytes = sum(program.layout(name).frame_bytes for name in program.outer)
    by_time = CALL_SECONDS * clock_mhz * 1e6 / frame_cycles
    return max(1, int(min(by_time, BUFFER_BYTES / frame_bytes) / program.together))


def program_interface(
    program: Program,
    built: BuiltProcessor,
    *,
    name: str,
    source: str,
    call: int,
    held: int,
    left_to_host: tuple[str, ...] = (),
) -> HostInterface:
    """The host's view. call: rounds of a call; held: those for which the memory has room, no fewer."""
    graph, plan = program.graph, program.plan(held)
    ports = {port.name: port for port in graph.inputs}
    outputs = {port.source: port for port in graph.outputs}
    word_bytes = program.processor.word_bits // 8
    places = [
        _place(program, stored, plan.places[name] * word_bytes)
        for name, stored in program.lowered.tensors.items()
        if stored.of in ports or name in outputs
    ]
    descriptors = program.descriptors(plan)
    return HostInterface(
        name=name,
        source=safe_comment(source),
        board=built.board,
        clock_mhz=built.clock_mhz,
        streaming=True,
        tensors=tuple(_tensor(name, port) for name, port in {**ports, **outputs}.items()),
        constants=(
            HostConstants(name="program", file="program.npy", container="<i4", bytes=descriptors.nbytes),
            HostConstants(name="weights", file="weights.npy", container="<u1", bytes=program.weights.nbytes),
        ),
        steps=(HostStep(kernel=built.name, units=built.units, arguments=ARGUMENTS),),
        inputs=tuple(host_port(port, port.name, output=False) for port in graph.inputs),
        outputs=tuple(host_port(port, port.source, output=True) for port in graph.outputs),
        chunk_frames=call * program.together,
        block_frames=program.together,
        program=HostProgram(
            together=program.together,
            rounds=held,
            tasks=len(descriptors),
            memory_bytes=plan.words * word_bytes,
            places=tuple(places),
        ),
        left_to_host=left_to_host,
    )


def _tensor(name: str, port: Port) -> HostTensor:
    """A tensor as .npy files have it; its place says how it lies in the memory."""
    type_ = port.tensor.type
    channels, height, width = port.tensor.shape
    size = type_.dtype.itemsize
    return HostTensor(
        name=name,
        channels=channels,
        height=height,
        width=width,
        px=1,
        ch=1,
        element_bytes=size,
        word_bytes=size,
        planar=True,
        **host_number(type_),
    )


def _place(program: Program, stored: Stored, first_byte: int) -> HostPlace:
    layout = program.layout(stored.name)
    columns, dilation, stride, left = stored.unfolded or (1, 1, 1, 0)
    return HostPlace(
        tensor=stored.of,
        first_byte=first_byte,
        channels=stored.shape[0],
        height=stored.shape[1],
        width=stored.shape[2],
        rows=layout.rows,
        lanes=layout.lanes,
        element_bytes=layout.bits // 8,
        columns=columns,
        dilation=dilation,
        stride=stride,
        left=left,
    )
