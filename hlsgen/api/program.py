"""The program of another network for a processor that is built: one bitstream, many networks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hlsgen.api.design import Design
from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes
from hlsgen.base.output import replacing, write_files
from hlsgen.base.progress import Progress, silent
from hlsgen.base.scratch import executable_in, scratch_folder
from hlsgen.base.short_repr import Brief, lines
from hlsgen.base.version import VERSION
from hlsgen.csim.compiler import Headers, compile_testbench
from hlsgen.csim.shared import verified
from hlsgen.csim.verification import NetworkVerification
from hlsgen.emit.environment import source_text
from hlsgen.emit.plan import Plan
from hlsgen.emit.shared import program_files
from hlsgen.emit.xrt import host_files
from hlsgen.emit.xrt_program import call_rounds, program_interface
from hlsgen.hardware.processor_file import PROCESSOR, read_processor
from hlsgen.model.clipping import clipping_warnings
from hlsgen.model.ir import counted_golden
from hlsgen.report.checks import csim_figures
from hlsgen.report.program import ProgramFigures, program_figures, program_line, program_markdown
from hlsgen.search.for_processor import FittedProgram, fitted_program
from hlsgen.styles.network_style import workers

PLAN = "plan.json"


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkProgram(Brief):
    """A program's folder, and what is known of it. build: the folder of the processor."""

    design: Design
    build: Path
    folder: Path
    figures: ProgramFigures
    verification: NetworkVerification | None

    @property
    def report(self) -> dict[str, Any]:
        """The content of plan.json."""
        return self.figures.as_json()

    def __repr__(self) -> str:
        csim = self.figures.csim
        shown = f"{csim.equal:,} of {csim.compared:,} results equal golden" if csim.compared else "skipped"
        return lines(
            f"NetworkProgram of {self.design.name} for {self.build} in {self.folder}",
            program_line(self.figures),
            f"C-simulation of that build's sources: {shown}",
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from hlsgen.api.notebook import program_card

        return program_card(self).html()


def program_for(
    design: Design,
    build: str | Path,
    folder: str | Path,
    *,
    frames: int | None = None,
    input_file: Path | None = None,
    csim: bool = True,
    progress: Progress = silent,
) -> NetworkProgram:
    """Writes into `folder` what the processor of the build folder `build` runs `design`'s network with.

    That is program.npy (descriptors), weights.npy, plan.json (tensors' places, modelled figures),
    report.md, and the sample frames with golden: `make csim DATA=<folder>` in `build` runs them. Its
    sources are C-simulated unchanged. Nothing is synthesised; the design's board, clock and mapping mean
    nothing.

    Raises DesignError: `build` is no such build, or the network does not keep to its limits. MismatchError:
    C-simulation differs from golden. ToolError: no compiler. OutputError: `folder` cannot be written.
    """
    build, folder = Path(build), Path(folder)
    built = read_processor(build)
    if folder.resolve() == build.resolve():
        raise DesignError(
            Problem(message=f"{folder} is the build itself", fix="another folder for the program")
        )
    progress("cutting the network into tasks")
    fitted = fitted_program(design.graph, built)
    style = design.given
    sampled = style.sampled(frames, file=input_file)
    progress(f"computing golden for {len(next(iter(sampled.codes.values())))} frames")
    compute = fitted.program.golden_of
    golden = (
        style.counted_golden(sampled.codes)
        if compute is None
        else counted_golden(design.graph, sampled.codes, compute=compute)
    )
    warnings = clipping_warnings(style.clipping(sampled.values, golden))
    verification = _simulated(fitted, build, sampled.codes, golden.tensors, progress) if csim else None
    call = call_rounds(fitted.program, fitted.frame_cycles, built.clock_mhz)
    held = max(call, fitted.program.rounds_of(len(next(iter(sampled.codes.values())))))
    figures = program_figures(fitted, held, csim_figures(verification), tuple(warnings))
    interface = program_interface(
        fitted.program,
        built,
        name=design.name,
        source=design.source,
        call=call,
        held=held,
        left_to_host=fitted.division.left_to_host,
    )
    plan: Plan = {
        **program_files(fitted.program, sampled.codes, golden.tensors, held),
        **host_files(interface, VERSION, data=".."),
        "tb/npy.h": source_text("hls/npy.h"),
        PLAN: json.dumps(figures.as_json(), indent=2) + "\n",
        "report.md": program_markdown(figures),
    }
    with replacing(folder) as fresh:
        write_files(fresh, plan)
    return NetworkProgram(
        design=design, build=build, folder=folder, figures=figures, verification=verification
    )


def _simulated(
    fitted: FittedProgram,
    build: Path,
    inputs: Mapping[str, Codes],
    golden: Mapping[str, Codes],
    progress: Progress,
) -> NetworkVerification:
    """The sources of the build, as they are, on the program."""
    name = fitted.built.name
    for source in (f"src/{name}.cpp", f"tb/{name}_tb.cpp"):
        if not (build / source).is_file():
            message = f"{build} has no {source}, which its {PROCESSOR} speaks of"
            raise DesignError(Problem(message=message, fix="build the processor's design again"))
    with scratch_folder() as scratch:
        executable = executable_in(scratch, build, name, Headers.FAST)
        progress(f"compiling the C-simulation of {name}")
        compiled = compile_testbench(build, name, executable, streaming=True)
        progress("C-simulation of the program")
        return verified(
            fitted.program,
            executable,
            inputs,
            golden,
            scratch,
            compile_seconds=compiled.seconds,
            processes=workers(),
        )
