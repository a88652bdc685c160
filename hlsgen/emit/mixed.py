"""A streaming kernel and the shared processors that it feeds -> {path: content}.

The processors lie where those of `style: shared` do, the kernel in a folder of its own below: each is
C-simulated and synthesised alone, both are linked together, and one host program calls them in turn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes
from hlsgen.base.version import VERSION
from hlsgen.designfile.clock import Clock
from hlsgen.emit.dataflow import weight_files
from hlsgen.emit.environment import safe_comment
from hlsgen.emit.plan import Plan, array_bytes, npy_bytes
from hlsgen.emit.project import csim_header_files, makefile
from hlsgen.emit.shared import NO_COSIM, OWN_FILES, linked_processors, processor_files, program_files
from hlsgen.emit.streaming import instances_of, streaming_plan
from hlsgen.emit.vitis import LinkedKernel, link_file, plain_word, tool_files
from hlsgen.emit.xrt import host_files, network_interface
from hlsgen.emit.xrt_program import call_rounds, program_interface
from hlsgen.hardware.host_interface import HostArgument, HostInterface, HostStep
from hlsgen.hardware.processor_file import PROCESSOR, BuiltProcessor
from hlsgen.layers.row_blocks import RowBlocks
from hlsgen.model.ir import Graph
from hlsgen.search.mixture import MixedHardware
from hlsgen.targets.board import Board

FRONT = "front"
"""The folder of the streaming kernel; its weights have names that begin so, too."""


def front_name(design: str) -> str:
    """The streaming kernel's."""
    return f"{design}_{FRONT}"


@dataclass(frozen=True, kw_only=True)
class _Mixture:
    """What the files are made of. call, held: rounds of a host's call, and those that the memory holds."""

    hardware: MixedHardware
    built: BuiltProcessor
    source: str
    board: Board
    clock: Clock
    call: int
    held: int

    @property
    def name(self) -> str:
        return self.built.name

    @property
    def front(self) -> str:
        return front_name(self.name)

    @property
    def blocks(self) -> RowBlocks:
        layer = self.hardware.front.pipeline.graph.layers[-1]
        assert isinstance(layer, RowBlocks)
        return layer

    def interface(self) -> HostInterface:
        """The host's view: the inputs are the streaming kernel's, the outputs the processors'."""
        pipeline = self.hardware.front.pipeline
        found = program_interface(
            self.hardware.back.program,
            self.built,
            name=self.name,
            source=self.source,
            call=self.call,
            held=self.held,
        )
        front = network_interface(
            pipeline,
            name=self.front,
            source=self.source,
            units=(f"{self.front}_1",) * len(self.built.units),
            board=self.built.board,
            clock_mhz=self.clock.mhz,
        )
        (port,) = pipeline.graph.outputs
        outputs = {one.source for one in self.hardware.back.program.graph.outputs}
        assert found.program is not None
        renamed = {one.name: f"{FRONT}.{one.name}" for one in front.constants}
        weights = [
            replace(one, name=renamed[one.name], file=f"{FRONT}.{one.file}") for one in front.constants
        ]
        (step,) = front.steps
        return replace(
            found,
            tensors=(
                *(one for one in front.tensors if one.name != port.name),
                *(one for one in found.tensors if one.name in outputs),
            ),
            constants=(*weights, *found.constants),
            steps=(replace(step, arguments=_into_memory(step, port.name, renamed)), *found.steps),
            inputs=front.inputs,
            program=replace(
                found.program, places=tuple(one for one in found.program.places if one.tensor in outputs)
            ),
        )

    def linked(self) -> list[LinkedKernel]:
        """The streaming kernel, then the processors, with their SLRs and banks."""
        back, pipeline = self.hardware.back, self.hardware.front.pipeline
        (port,) = pipeline.graph.outputs
        weights = [file.removesuffix(".npy") for file in weight_files(pipeline)]
        ports = [f"gmem_{name}" for name in (*pipeline.ports, *weights)]
        instances = instances_of(self.hardware.front, self.board, self.front)
        into, banks = f"gmem_{port.name}", plain_word(banks_text(back.banks))
        front = LinkedKernel(
            name=self.front,
            ports=ports,
            instances=instances,
            port_banks={f"{instance['name']}.{into}": banks for instance in instances},
        )
        return [front, linked_processors(self.built, back.slrs, back.banks)]


def _into_memory(step: HostStep, port: str, renamed: Mapping[str, str]) -> tuple[HostArgument, ...]:
    """The arguments of the streaming kernel, whose results go into the processors' memory."""
    found = []
    for one in step.arguments:
        if one.port == port:
            found.append(HostArgument(port=port, source="memory", name="memory"))
        elif one.source == "constants":
            found.append(replace(one, name=renamed[one.name]))
        else:
            found.append(one)
    return tuple(found)


def banks_text(banks: Sequence[str]) -> str:
    """The banks of all processors as v++ takes those of one port: DDR[0:2]; of one bank its name."""
    names = sorted(set(banks))
    if len(names) == 1:
        return names[0]
    parts = [re.fullmatch(r"(\w+)\[(\d+)\]", name) for name in names]
    kinds = {part[1] for part in parts if part is not None}
    if None in parts or len(kinds) != 1:
        message = f"one port of the streaming kernel cannot be given the banks {', '.join(names)} together"
        raise DesignError(Problem(message=message, fix="mapping: {instances: 1}, or style: shared"))
    numbers = [int(part[2]) for part in parts if part is not None]
    return f"{kinds.pop()}[{min(numbers)}:{max(numbers)}]"


def mixed_plan(
    hardware: MixedHardware,
    graph: Graph,
    built: BuiltProcessor,
    *,
    source: str,
    board: Board,
    clock: Clock,
    inputs: Mapping[str, Codes],
    golden: Mapping[str, Codes],
) -> Plan:
    """All files of the build folder. `inputs` and `golden`: codes of the testbench's frames by tensor."""
    program, name = hardware.back.program, built.name
    call = call_rounds(program, hardware.back.round_cycles / program.together, clock.mhz)
    held = max(call, program.rounds_of(len(next(iter(inputs.values())))))
    mixture = _Mixture(
        hardware=hardware, built=built, source=source, board=board, clock=clock, call=call, held=held
    )
    k = {"name": name, "source": safe_comment(source)}
    data = mixed_data(mixture, graph, inputs, golden)
    plan: Plan = {**processor_files(program.processor, name=name, source=source), **csim_header_files()}
    plan |= {f"tb/{file}": content for file, content in data.items()}
    plan[PROCESSOR] = built.as_json()
    linked = mixture.linked()
    plan |= tool_files(board, clock, k, VERSION, files=list(data), linked=linked[1])
    plan["vitis/link.cfg"] = link_file(board, clock, k, VERSION, kernels=linked)
    plan |= host_files(mixture.interface(), VERSION)
    line = f"{len(graph.layers)} layers, the first as a streaming kernel that feeds processors with the rest"
    plan |= makefile(board, k, line, VERSION, streaming=True, no_cosim=NO_COSIM, front=(FRONT, mixture.front))
    blocks = mixture.blocks
    front = streaming_plan(
        hardware.front,
        name=mixture.front,
        source=source,
        board=hardware.front_board,
        clock=clock,
        inputs=inputs,
        golden={blocks.name: blocks.golden(golden[hardware.cut])},
        host=False,
    )
    return plan | {f"{FRONT}/{path}": content for path, content in front.items()}


def mixed_data(
    mixture: _Mixture, graph: Graph, inputs: Mapping[str, Codes], golden: Mapping[str, Codes]
) -> dict[str, bytes]:
    """What the processors' testbench and hosts read, by name: the memory with the tensor at the cut, frames
    of the network's inputs, weights of both sides.
    """
    cut, pipeline = mixture.hardware.cut, mixture.hardware.front.pipeline
    found = program_files(mixture.hardware.back.program, {cut: golden[cut]}, golden, mixture.held)
    for port in graph.inputs:
        if port.name in OWN_FILES:
            message = f"input {port.name} has the name of one of the files that every program has in tb/"
            raise DesignError(Problem(message=message, fix=f"another name than {', '.join(OWN_FILES)}"))
        found[f"{port.name}.npy"] = npy_bytes(inputs[port.name], port.tensor.type)
    weights = weight_files(pipeline)
    return found | {f"{FRONT}.{file}": array_bytes(beats) for file, beats in weights.items()}
