"""A design as an application of CEDR: emitted, compiled, run alone, compared with golden."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hlsgen.api.design import Design
from hlsgen.api.project import Stimulus
from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.output import replacing, write_files
from hlsgen.base.progress import Progress, silent
from hlsgen.csim.cedr import run_alone
from hlsgen.emit.cedr import calls_of, cedr_files
from hlsgen.lint import lint_emitted
from hlsgen.styles.layerwise import LayerwiseNetwork


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

    Raises DesignError: the design is of another style, or in floating point. MismatchError: a result is not
    golden's. ToolError: make or the compiler fails. OutputError: the folder cannot be written.
    """
    style = design.given
    if not isinstance(style, LayerwiseNetwork) or style.graph.input.is_float:
        message = (
            f"{design.name} is no network of style: tasks in fixed point, which an application of CEDR is"
        )
        fix = "write style: tasks in the design, and precision: auto or a type such as fixed<16,6>"
        raise DesignError(Problem(message=message, fix=fix))
    design.choose(progress)
    chosen = design.style
    assert isinstance(chosen, LayerwiseNetwork)
    given = Stimulus.of(design, frames, input_file, progress)
    progress("emitting")
    plan = chosen.plan(given.inputs, given.golden)
    lint_emitted(plan)
    plan |= cedr_files(
        chosen.hardware, chosen.graph, name=design.name, source=design.source, clock_mhz=design.clock_mhz
    )
    called = calls_of(chosen.graph)
    said = ""
    with replacing(folder) as fresh:
        write_files(fresh, plan)
        if run:
            progress("compiling and running the application")
            said = run_alone(fresh, design.name)
    return CedrApplication(
        folder=folder,
        calls={name: one.conv_calls + one.zip_calls + one.gemm_calls for name, one in called.items()},
        on_cpu=tuple(layer.name for layer in chosen.graph.layers if layer.name not in called),
        frames=len(next(iter(given.inputs.values()))),
        said=said,
    )
