"""The folder of a network as StarPU tasks: the program, and for each part a model or a build."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hlsgen.api.design import Design
from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.output import replacing, write_files
from hlsgen.base.progress import Progress, silent
from hlsgen.cpu.onnx_model import onnx_model
from hlsgen.cpu.running import OnnxSession
from hlsgen.layers.base import Shape
from hlsgen.model.ir import run_golden
from hlsgen.pipelining.computing import as_codes
from hlsgen.pipelining.part import Part, Values
from hlsgen.pipelining.pipeline import Pipeline
from hlsgen.pipelining.split import Wish, split
from hlsgen.starpu.description import TaskNetwork, TaskPart, symbol_of
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.targets.board import Board

TARGETS = ("cpu", "fpga", "any")
FRAMES = 4
"""Of the program, unless said otherwise."""


def build_starpu(
    design: Design,
    folder: Path,
    cuts: Sequence[str] | None = None,
    *,
    parts: int | None = None,
    targets: Sequence[str] = ("cpu",),
    style: str = "dataflow",
    frames: int = FRAMES,
    input_file: Path | None = None,
    cpus: int | None = None,
    progress: Progress = silent,
) -> TaskNetwork:
    """Writes the program into `folder`, which appears when all is well; `make run` there runs it.

    cuts, parts: as of `split`. targets: cpu, fpga, or any of both as the policy decides, of each part or of
    all. style: of kernels. frames: what the program checks, and what requests bring. cpus: CPU workers; None:
    the cores here, but one for the FPGA's.
    Raises DesignError: no such parts; on any, CPUs would give other answers than the kernel. ToolError: a
    package is missing. OutputError: the folder cannot be written.
    """
    for target in targets:
        if target not in TARGETS:
            raise DesignError(Problem(message=f"a part has the target {target!r:.40}", fix="cpu, fpga, any"))
    wishes = [Wish(target="cpu" if target == "cpu" else "fpga", style=style) for target in targets]
    pipeline = split(design, cuts, parts=parts, wishes=wishes, progress=progress)
    names = [part.name for part in pipeline.in_order()]
    every = list(targets) * len(names) if len(targets) == 1 else list(targets)
    on_any = {name for name, target in zip(names, every, strict=True) if target == "any"}
    network = design.given
    assert isinstance(network, NetworkStyle)  # split refused what is none
    progress("the frames through every part")
    found = _Building(network, pipeline, on_any)
    values = found.frames(frames, input_file)
    files: dict[str, str | bytes] = dict(found.parts(values))
    about = found.network(cpus)
    about.check()
    files |= about.files()
    whole = onnx_model(network.reference or network.graph)
    files["whole.onnx"] = whole.SerializeToString()
    with replacing(folder) as fresh:
        write_files(fresh, files)
    return about


class _Building:
    """Collects what each part needs. described: parts as the program knows them."""

    def __init__(self, network: NetworkStyle[Any], pipeline: Pipeline, on_any: set[str]) -> None:
        self.style, self.pipeline, self.on_any = network, pipeline, on_any
        self.inputs = [port.name for port in pipeline.input_ports]
        self.tensors: dict[str, Shape] = {port.name: port.tensor.shape for port in pipeline.input_ports}
        self.described: list[TaskPart] = []
        self.given: dict[str, Values] = {}

    def frames(self, count: int, file: Path | None) -> dict[str, Values]:
        """Values [N, C, H, W] of the inputs, on the grid of their types."""
        sampled = self.style.sampled(count, file=file)
        self.given = {
            port.name: np.asarray(port.tensor.type.decode(sampled.codes[port.name]), np.float32)
            for port in self.style.graph.inputs
        }
        return dict(self.given)

    def parts(self, values: dict[str, Values]) -> dict[str, bytes]:
        """The files of parts and frames. values: of the inputs; then those of what parts give too."""
        files = {f"frames_{at}.npy": _npy(values[name]) for at, name in enumerate(self.inputs)}
        for part in self.pipeline.in_order():
            assert part.saved is not None and part.graph is not None
            saved = dict(part.saved())
            if part.target == "fpga":
                saved |= self._with_kernel(part, values)
            else:
                values |= _session(part, saved["model.onnx"])(values)
            self.tensors |= {one.name: one.shape for one in part.outputs}
            self.described.append(self._described(part, saved))
            files |= {f"parts/{part.name}/{name}": content for name, content in saved.items()}
        return files

    def _with_kernel(self, part: Part, values: dict[str, Values]) -> dict[str, bytes]:
        """Golden of a part's own frames, and the model of its fixed-point layers if CPUs take it too."""
        assert part.graph is not None
        given = {one.name: as_codes(values[one.name], one.type) for one in part.inputs}
        golden = run_golden(part.graph, given, [one.name for one in part.outputs])
        tensors = part.graph.tensors()
        found = {
            name: np.asarray(tensors[name].type.decode(codes), np.float32) for name, codes in golden.items()
        }
        values |= found
        read = [values[one.name] for one in part.inputs]
        files = {f"golden_in_{at}.npy": _npy(array) for at, array in enumerate(read)}
        files |= {f"golden_out_{at}.npy": _npy(found[one.name]) for at, one in enumerate(part.outputs)}
        if part.name in self.on_any:
            files["model.onnx"] = onnx_model(part.graph).SerializeToString()
            own = {
                one.name: np.asarray(tensors[one.name].type.decode(given[one.name]), np.float32)
                for one in part.inputs
            }
            _check_alike(part, _session(part, files["model.onnx"])(own), found)
        return files

    def _described(self, part: Part, saved: Mapping[str, bytes]) -> TaskPart:
        on_fpga = part.target == "fpga"
        models = [saved[name] for name in ("model.onnx", "build/report.json") if name in saved]
        return TaskPart(
            name=part.name,
            reads=tuple(one.name for one in part.inputs),
            gives=tuple(one.name for one in part.outputs),
            symbol=symbol_of(self.pipeline.name, part.name, models),
            on_cpu=not on_fpga or part.name in self.on_any,
            on_fpga=on_fpga,
            fpga_us=kernel_us(json.loads(saved["build/report.json"]), part, self.style.board)
            if on_fpga
            else 0.0,
            types={one.name: one.type for one in part.inputs} if on_fpga else {},
            shown=part.gives,
        )

    def network(self, cpus: int | None) -> TaskNetwork:
        kernels = any(part.on_fpga for part in self.described)
        return TaskNetwork(
            name=self.pipeline.name,
            inputs=tuple(self.inputs),
            outputs=tuple(port.source for port in self.pipeline.output_ports),
            tensors=self.tensors,
            parts=tuple(self.described),
            cpus=cpus or max(1, (os.cpu_count() or 1) - kernels),
        )


def kernel_us(report: Mapping[str, Any], part: Part, board: Board) -> float:
    """Microseconds of one request on the card, modelled: a frame from DDR to DDR, and the link's transfers.

    What a call of the driver takes has no public figure and is left out.
    """
    latency = report["total"]["latency_cycles"] / report["clock_mhz"]
    if board.link is None or part.graph is None:
        return float(latency)
    tensors = part.graph.tensors()

    def byte_count(names: Sequence[str]) -> int:
        return sum(
            int(np.prod(tensors[name].shape)) * -(-tensors[name].type.container_bits // 8) for name in names
        )

    to_card = byte_count([one.name for one in part.inputs]) / (board.link.to_gb_per_s * 1e3)
    from_card = byte_count([one.name for one in part.outputs]) / (board.link.from_gb_per_s * 1e3)
    return float(latency + to_card + from_card)


def _session(part: Part, model: bytes) -> OnnxSession:
    return OnnxSession(model, [one.name for one in part.inputs], [one.name for one in part.outputs], 1)


def _check_alike(part: Part, found: Mapping[str, Values], golden: Mapping[str, Values]) -> None:
    """Raises DesignError: answers would depend on which of both computed the part."""
    for name, wanted in golden.items():
        differing = int(np.count_nonzero(found[name] != wanted))
        if differing:
            message = (
                f"part {part.name}: {differing:,} of {wanted.size:,} values of {name} differ between ONNX "
                "Runtime in float32 and the kernel, so answers would depend on the schedule"
            )
            fix = "the target fpga, or narrower types: sums within 24 bits are exact on both"
            raise DesignError(Problem(message=message, fix=fix))


def _npy(array: Values) -> bytes:
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array, np.float32))
    return file.getvalue()
