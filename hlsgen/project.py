"""A built project: emitted, C-simulated, reported."""

from __future__ import annotations

import json
import shutil
import tempfile
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hlsgen.cost.cycles import Iterations
from hlsgen.csim.compiler import Headers, compile_testbench, compiling
from hlsgen.csim.recorded import check_recorded
from hlsgen.csim.scratch import SCRATCH_PREFIX, scratch_errors, scratch_folder
from hlsgen.csim.simulation import Comparison, Run, compare, simulate
from hlsgen.emit.plan import plan_of
from hlsgen.errors import MismatchError
from hlsgen.layers.base import Codes
from hlsgen.layers.conv2d import Conv2d
from hlsgen.output import MARK, replacing, write_files
from hlsgen.report.markdown import markdown_report

if TYPE_CHECKING:
    from hlsgen.design import Design

PORT_CHECK_FRAMES = 2
"""Frames of the build that records ports: every kind of iteration occurs in two."""


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What C-simulation showed. The seconds are measured here and say nothing about the FPGA."""

    comparison: Comparison
    counted: Iterations
    frames: int
    compile_seconds: float
    run_seconds: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Project:
    """A build folder and what is known about it. `report` is the content of report.json."""

    design: Design
    folder: Path
    report: dict[str, Any]
    verification: Verification | None = None

    @cached_property
    def _scratch(self) -> Path:
        """A folder for executables, gone with the project."""
        folder = tempfile.mkdtemp(prefix=SCRATCH_PREFIX)
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def csim(self, x: ArrayLike, *, headers: str = "fast") -> NDArray[np.float64]:
        """The emitted C++ on frames [N, C, H, W] (or [C, H, W]): [N, M, OH, OW] as numbers.

        `headers`: "fast" or "reference". Raises DesignError: x does not fit. ToolError: the compiler is
        missing or fails.
        """
        layer = self.design.layer
        run = self._simulate(self.design.codes(x), Headers(headers))
        return layer.output_type.decode(run.output)

    def golden(self, x: ArrayLike) -> NDArray[np.float64]:
        return self.design.golden(x)

    def _simulate(self, codes: Codes, headers: Headers) -> Run:
        with scratch_errors():
            executable = self._scratch / f"{self.design.name}_{headers.value}"
            if not executable.exists():
                compile_testbench(self.folder, self.design.name, executable, headers=headers)
            return simulate(self.design.layer, executable, codes, self._scratch)


def build(
    design: Design,
    folder: Path,
    *,
    frames: int | None = None,
    input_file: Path | None = None,
    csim: bool = True,
    progress: Callable[[str], None] = lambda _: None,
) -> Project:
    """Emits the project of `design`, C-simulates it, writes its reports; `folder` appears when all is well.

    Raises DesignError: nothing fits, or the input is wrong. MismatchError: C-simulation differs from golden,
    iterations from the model, or a memory's ports do not suffice. ToolError: no compiler. OutputError: the
    folder cannot be written.
    """
    progress("choosing the hardware")
    mapping = design.choice.deployment.mapping
    assert mapping.bank_map.proves(mapping.patterns), "the bank mapper returned a map with collisions"
    codes = design.sample_codes(frames, file=input_file)
    progress(f"computing golden for {len(codes)} frames")
    sums = design.layer.sums(codes, simd=mapping.folding.simd)
    golden = design.layer.result_of(sums)
    report = design.estimate().as_json()
    report["warnings"] = _warnings(design.layer, sums)
    with replacing(folder) as fresh:
        progress("emitting")
        write_files(fresh, plan_of(design, frames=codes, golden=golden))
        verification = None
        if csim:
            progress("compiling and running the C-simulation")
            verification = verify(design, fresh, codes, golden)
        report["csim"] = csim_report(design, verification)
        write_files(
            fresh, {MARK: json.dumps(report, indent=2) + "\n", "report.md": markdown_report(design, report)}
        )
    return Project(design=design, folder=folder, report=report, verification=verification)


def simulate_only(
    design: Design,
    *,
    frames: int | None = None,
    input_file: Path | None = None,
    headers: Headers = Headers.FAST,
    progress: Callable[[str], None] = lambda _: None,
) -> Verification:
    """Emits into a temporary folder and C-simulates there; raises as `build` does."""
    codes = design.sample_codes(frames, file=input_file)
    progress(f"computing golden for {len(codes)} frames")
    golden = design.golden_codes(codes)
    with scratch_folder() as folder:
        write_files(folder, plan_of(design, frames=codes, golden=golden))
        progress("compiling and running the C-simulation")
        return verify(design, folder, codes, golden, headers=headers)


def verify(
    design: Design, folder: Path, codes: Codes, golden: Codes, *, headers: Headers = Headers.FAST
) -> Verification:
    """C-simulates the emitted sources in `folder` twice: on all frames, and recording ports on the first few.

    Raises MismatchError as `build` does.
    """
    layer = design.layer
    with scratch_folder() as scratch:
        plain, recording = scratch / "plain", scratch / "recording"
        with (
            compiling(folder, design.name, plain, headers=headers) as first,
            compiling(folder, design.name, recording, record_ports=True, optimise="-O1") as second,
        ):
            compiled = first.wait()
            second.wait()
        run = simulate(layer, plain, codes, scratch)
        few = codes[:PORT_CHECK_FRAMES]
        recorded = simulate(layer, recording, few, scratch)
    comparison = compare(run.output, golden, layer.output_type)
    _check(design, comparison, run.output, golden)
    check_recorded(recorded, design.choice.deployment.mapping, len(few))
    return Verification(
        comparison=comparison,
        counted=recorded.iterations,
        frames=len(codes),
        compile_seconds=compiled.seconds,
        run_seconds=run.seconds,
    )


def _check(design: Design, comparison: Comparison, got: Codes, want: Codes) -> None:
    if comparison.mismatches == 0:
        return
    assert comparison.first is not None
    frame, channel, row, column = comparison.first
    type_ = design.layer.output_type
    pair = [
        (array[comparison.first], float(type_.decode(array[comparison.first])))
        for array in (got, want.astype(got.dtype))
    ]
    raise MismatchError(
        f"error: C-simulation differs from golden in {comparison.mismatches} of {comparison.compared} "
        f"results; the first is frame {frame}, channel {channel}, row {row}, column {column}: "
        f"code {pair[0][0]} ({pair[0][1]:g}), golden {pair[1][0]} ({pair[1][1]:g})"
    )


def csim_report(design: Design, verification: Verification | None) -> dict[str, Any]:
    """The `csim` section of report.json; nothing in it depends on the machine."""
    if verification is None:
        return {"verdict": "skipped", "compared": 0, "mismatches": 0, "max_abs_error": 0.0}
    comparison = verification.comparison
    return {
        "verdict": comparison.verdict,
        "compared": comparison.compared,
        "mismatches": comparison.mismatches,
        "max_abs_error": comparison.max_abs_error,
        "frames": verification.frames,
        "iterations_measured": verification.counted.__dict__,
        "iterations_frames": min(PORT_CHECK_FRAMES, verification.frames),
        "port_conflicts_measured": 0,
    }


def _warnings(layer: Conv2d, sums: Codes) -> list[str]:
    overflowing = layer.overflowing(sums)
    if not overflowing:
        return []
    return [
        f"{layer.name}: {overflowing} of {sums.size} results leave the range of {layer.result_type} "
        "on these frames; give precision.output more integer bits"
    ]
