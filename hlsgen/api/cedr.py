"""A design as an application of CEDR: emitted, compiled, run alone, compared with golden."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from hlsgen.api.design import Design
from hlsgen.base.errors import DesignError
from hlsgen.base.output import replacing, write_files
from hlsgen.base.progress import Progress, silent
from hlsgen.csim.cedr import run_alone
from hlsgen.designfile.constraints import NetworkConstraints
from hlsgen.emit.cedr import calls_of, cedr_files
from hlsgen.lint import lint_emitted
from hlsgen.model.documents import ModelDocument
from hlsgen.model.graph_documents import graph_document
from hlsgen.passes.single_precision import refused_by_kernels
from hlsgen.styles.layerwise import LayerwiseNetwork
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.styles.style import Style


@dataclass(frozen=True, kw_only=True)
class CedrApplication:
    """What was written. calls: of a frame, by layer; on_cpu: layers that are no calls. said: by the run."""

    folder: Path
    calls: dict[str, int]
    on_cpu: tuple[str, ...]
    frames: int
    said: str


def build_cedr(
    design: Design,
    folder: Path,
    *,
    frames: int | None = None,
    input_file: Path | None = None,
    run: bool = True,
    progress: Progress = silent,
) -> CedrApplication:
    """The application in `folder`, with the network's kernels beside it, which appears when all is well.

    A design of another style gives its network: layers that are no calls become kernels of style tasks.

    Raises DesignError: that style has no kernel for a layer, or none that fits. MismatchError: a result
    differs from golden. ToolError: make or the compiler fails. OutputError: the folder cannot be written.
    """
    network = _as_tasks(design.given)
    network.choose(progress)
    sampled = design.given.sampled(frames, file=input_file)
    progress(f"computing golden for {len(next(iter(sampled.codes.values())))} frames")
    golden = network.counted_golden(sampled.codes).tensors
    document = model_document(design.given)
    progress("emitting")
    plan = network.plan(sampled.codes, golden)
    lint_emitted(plan)
    plan |= cedr_files(
        network.hardware,
        network.graph,
        document,
        name=design.name,
        source=design.source,
        clock_mhz=design.clock_mhz,
    )
    called = calls_of(network.graph)
    said = ""
    with replacing(folder) as fresh:
        write_files(fresh, plan)
        if run:
            progress("compiling and running the application")
            said = run_alone(fresh, design.name)
    return CedrApplication(
        folder=folder,
        calls={name: one.conv_calls + one.zip_calls + one.gemm_calls for name, one in called.items()},
        on_cpu=tuple(layer.name for layer in network.graph.layers if layer.name not in called),
        frames=len(next(iter(sampled.codes.values()))),
        said=said,
    )


def model_document(style: Style[Any]) -> ModelDocument:
    """The model of a design as its framework has it; else its layers as they were read or written."""
    modules = None if style.original is None else style.original.modules()
    as_read = style.as_read if isinstance(style, NetworkStyle) else None
    return modules or graph_document(as_read or style.graph)


def _as_tasks(style: Style[Any]) -> LayerwiseNetwork:
    """The network of a design with a kernel for each layer, whatever its own style."""
    if isinstance(style, LayerwiseNetwork):
        return style
    lacking = refused_by_kernels(style.graph) if any(one.is_float for one in style.graph.layers) else []
    if lacking:
        raise DesignError(lacking)
    kind = NetworkStyle if isinstance(style, NetworkStyle) else Style
    own = {one.name: getattr(style, one.name) for one in fields(kind)}
    own |= {"chosen": None, "constraints": NetworkConstraints()}
    return LayerwiseNetwork(**own)
