"""A network as a pipeline: split by hand at layers, or where its parts take equally long."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from hlsgen.api.design import Design
from hlsgen.api.project import build
from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Progress, silent
from hlsgen.base.scratch import Scratch
from hlsgen.base.short_repr import some
from hlsgen.cpu.onnx_model import onnx_model
from hlsgen.cpu.running import Framework, cpu_part
from hlsgen.designfile.constraints import NetworkConstraints
from hlsgen.model.ir import Graph
from hlsgen.model.parts import part_of, tensors_at
from hlsgen.partitioning.balance import balanced
from hlsgen.partitioning.chain import Chain, chain_of
from hlsgen.partitioning.fpga import Fpga
from hlsgen.partitioning.result import MOST_PARTS
from hlsgen.partitioning.times import measure
from hlsgen.pipelining.computing import OnFpga, on_cpu, on_fpga_text
from hlsgen.pipelining.part import ANY, Input, Output, Part, Target
from hlsgen.pipelining.pipeline import Pipeline
from hlsgen.pipelining.running import check_cpus
from hlsgen.styles.auto import STYLES
from hlsgen.styles.network_style import NetworkStyle


@dataclass(frozen=True, kw_only=True)
class Wish:
    """How a part is to be computed. xclbin: of an FPGA part, what its card gets; None: C-simulation.

    framework, threads: of a CPU part. workers: copies of it at once. cpus: cores; empty: all. style: of an
    FPGA part.
    """

    target: Target = "cpu"
    framework: Framework = "onnxruntime"
    threads: int = 1
    workers: int = 1
    cpus: tuple[int, ...] = ()
    style: str = "dataflow"
    xclbin: Path | None = None

    def __post_init__(self) -> None:
        checks = (
            (self.target in ("cpu", "fpga"), f"the target is {self.target!r:.40}", "cpu or fpga"),
            (
                self.framework in ("onnxruntime", "torch"),
                f"framework {self.framework!r:.40}",
                "onnxruntime or torch",
            ),
            (1 <= self.workers <= 64, f"{self.workers} workers", "1 to 64"),
            (1 <= self.threads <= 1024, f"{self.threads} threads", "1 to 1024"),
            (self.style in STYLES, f"style {self.style!r:.40}", ", ".join(STYLES)),
        )
        for right, message, fix in checks:
            if not right:
                raise DesignError(Problem(message=f"a part cannot have {message}", fix=fix))


def split(
    design: Design,
    cuts: Sequence[str] | None = None,
    *,
    parts: int | None = None,
    wishes: Sequence[Wish] = (),
    progress: Progress = silent,
) -> Pipeline:
    """The network's parts, called a, b, c ..., each connected to those before it.

    cuts: layers that each end a part. parts: so many instead, where the slowest takes least: CPUs measured
    here, FPGAs modelled. wishes: one for each part, or one for all; none: the CPU. FPGA parts are built.
    Raises DesignError: no such layers, hardware that does not fit. ToolError: a package is missing.
    """
    network = design.given
    if not isinstance(network, NetworkStyle):
        raise DesignError(
            Problem(message=f"{design.name} is a single layer, which is not cut", fix="a network")
        )
    if (cuts is None) == (parts is None):
        raise DesignError(
            Problem(message="a pipeline is cut by hand or into a number of parts", fix="cuts or parts")
        )
    count = len(cuts) + 1 if cuts is not None else parts or 0
    wished = list(wishes) or [Wish()]
    wished = wished * count if len(wished) == 1 else wished
    if not 1 <= count <= MOST_PARTS or len(wished) != count:
        message = f"{count} parts with {len(wished)} targets"
        raise DesignError(
            Problem(message=message, fix=f"1 to {MOST_PARTS} parts, a target for each or one for all")
        )
    ends = _ends(network, cuts) if cuts is not None else _balanced(network, wished, progress)
    return _Splitting(network, progress).pipeline(ends, wished)


def _ends(network: NetworkStyle[Any], cuts: Sequence[str]) -> list[int]:
    """The number of the layer behind each part."""
    names = [layer.name for layer in network.graph.layers]
    found = []
    for name in cuts:
        if name not in names[:-1]:
            message = f"{network.name} cannot be cut behind {name!r:.80}"
            raise DesignError(Problem(message=message, fix=f"a layer but the last: {some(names[:-1])}"))
        found.append(names.index(name) + 1)
    if sorted(set(found)) != found:
        message = f"the cuts of {network.name} are not in the network's order"
        raise DesignError(Problem(message=message, fix=f"each layer once, in this order: {some(names)}"))
    return [*found, len(names)]


def _balanced(network: NetworkStyle[Any], wishes: Sequence[Wish], progress: Progress) -> list[int]:
    """Where the slowest part is fastest, among cuts before layers that multiply."""
    chain = chain_of(network.graph)
    if len(chain.tasks) < len(wishes):
        message = f"{network.name} has {len(chain.tasks)} layers that multiply, for {len(wishes)} parts"
        raise DesignError(Problem(message=message, fix=f"{len(chain.tasks)} parts or fewer"))
    known: dict[tuple[Target, Framework, int], list[float]] = {}
    for wish in wishes:
        key = (wish.target, wish.framework, wish.threads)
        if key not in known:
            known[key] = _seconds(network, chain, wish, progress)
    rows = [
        [seconds / wish.workers for seconds in known[wish.target, wish.framework, wish.threads]]
        for wish in wishes
    ]
    return [chain.tasks[at - 1].end for at in balanced(rows)]


def _seconds(network: NetworkStyle[Any], chain: Chain, wish: Wish, progress: Progress) -> list[float]:
    """Of each task a frame, where a part is to run."""
    if wish.target == "cpu":
        graph = network.reference or network.graph
        times = measure(graph, chain, threads=wish.threads, frameworks=(wish.framework,), progress=progress)
        return [times.of(task.layers) for task in chain.tasks]
    fpga = Fpga.of("fpga", network, network.board, chain, None, None)
    device, _ = fpga.shared(progress)
    return list(device.seconds)


class _Splitting:
    """Makes the parts of one network. folders: of builds, gone with the pipeline."""

    def __init__(self, network: NetworkStyle[Any], progress: Progress) -> None:
        self.network = network
        self.progress = progress
        self.float_graph = network.reference or network.graph
        self.scratch = Scratch()

    def pipeline(self, ends: Sequence[int], wishes: Sequence[Wish]) -> Pipeline:
        graph = self.float_graph
        found = Pipeline(self.network.name, graph.inputs, graph.outputs)
        found.kept = self.scratch
        outputs = {port.name: found.input(port.name) for port in graph.inputs}
        first = 0
        for letter, end, wish in zip(string.ascii_lowercase, ends, wishes, strict=False):
            part = found.add(self._part(letter, first, end, wish))
            for read in part.inputs:
                read.connect(outputs[read.name])
            outputs |= {given.name: given for given in part.outputs}
            first = end
        for port, result in zip(graph.outputs, found.results, strict=True):
            result.connect(outputs[port.source])
        return found

    def _part(self, name: str, first: int, end: int, wish: Wish) -> Part:
        self.progress(f"part {name}: {wish.target}")
        check_cpus(name, wish.cpus)
        whole = self.float_graph if wish.target == "cpu" else self.network.graph
        graph = part_of(whole, first, end, f"{self.network.name}_{name}")
        tensors = whole.tensors()
        read = [port.name for port in graph.inputs]
        last = set(tensors_at(whole, end))
        given = [layer.name for layer in graph.layers if layer.name in last]
        types = {one: ANY if wish.target == "cpu" else str(tensors[one].type) for one in (*read, *given)}
        inputs = tuple(Input(name, one, tensors[one].shape, types[one]) for one in read)
        outputs = tuple(Output(name, one, tensors[one].shape, types[one]) for one in given)
        made = (
            self._on_cpu(graph, read, given, wish)
            if wish.target == "cpu"
            else self._on_fpga(graph, inputs, wish)
        )
        make, about, saved, gives = made
        return Part(
            name=name,
            inputs=inputs,
            outputs=outputs,
            make=make,
            target=wish.target,
            framework=wish.framework,
            threads=wish.threads,
            workers=wish.workers,
            cpus=wish.cpus,
            about=about,
            gives=gives,
            saved=saved,
            graph=graph,
        )

    def _on_cpu(self, graph: Graph, read: list[str], given: list[str], wish: Wish) -> Any:
        threads = f"{wish.threads} thread{'s' if wish.threads > 1 else ''}"
        if wish.framework == "torch":
            return partial(cpu_part, graph, "torch", wish.threads), f"PyTorch, {threads}", None, ()
        model: bytes = onnx_model(graph).SerializeToString()
        make: Any = partial(on_cpu, model, read, given, wish.threads)
        return make, f"ONNX Runtime, {threads}", lambda: {"model.onnx": model}, ()

    def _on_fpga(self, graph: Graph, inputs: tuple[Input, ...], wish: Wish) -> Any:
        own = {one.name: getattr(self.network, one.name) for one in fields(NetworkStyle)}
        own |= {"name": graph.name, "graph": graph, "chosen": None, "reference": None, "samples": {}}
        own |= {"accuracy": (), "reached": None, "measured": None, "explored": None}
        own |= {"original": None, "as_read": None}
        own |= {"constraints": NetworkConstraints(), "calibration": None, "styles": ()}
        folder = self.scratch.folder / graph.name
        build(
            Design(STYLES[wish.style](**own)),
            folder,
            frames=1,
            csim=False,
            schedule=False,
            progress=self.progress,
        )
        what = on_fpga_text(self.network.board.title, wish.xclbin)
        gives = [port.source for port in graph.outputs]
        make: Any = partial(OnFpga, folder, inputs, gives, wish.xclbin)
        return make, what, partial(folder_files, folder), tuple(gives)


def folder_files(folder: Path) -> dict[str, bytes]:
    """Every file of a build folder, by its path in it."""
    return {
        f"build/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
