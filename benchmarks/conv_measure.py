"""The layer of figure 3.8 on this machine: hlsgen's C-simulation beside the peers."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import convolutions
import hls4ml_layer
from conv_model import PUBLISHED
from layer import Measurement, Missing
from machine import DESIGNS
from processes import children_cpu

import hlsgen
from hlsgen.base.errors import HlsgenError
from hlsgen.base.output import write_files
from hlsgen.csim.compiler import Headers, compile_testbench
from hlsgen.csim.conv_kernel import simulate
from hlsgen.csim.verification import compare
from hlsgen.styles.conv_kernel import ConvKernel

CSIM_TARGET = 300.0
"""Million multiply-accumulates a second of C-simulation, on one core."""
COMPILE_TARGET = 5.0
"""Seconds of CPU time to compile the C-simulation in."""
CSIM_REPEATS = 3


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Frames to measure with: `float_` for the CPU's convolutions, the others for C-simulation."""

    float_: int
    fast: int
    reference: int
    hls4ml: int


FULL = Effort(float_=64, fast=64, reference=16, hls4ml=8)
QUICK = Effort(float_=8, fast=8, reference=2, hls4ml=1)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What was measured here, in one run; Missing where that was not possible."""

    naive: Measurement | Missing
    pytorch: Measurement | Missing
    fast: Measurement | Missing
    reference: Measurement | Missing
    hls4ml: Measurement | Missing


def measure(effort: Effort, progress: Callable[[str], None] = lambda _: None) -> Measured:
    """All measurements, one after the other; C-simulation and hls4ml on conv_fixed16's weights and frames."""
    progress("naive C++ on one core")
    naive = convolutions.naive_cpp(effort.float_)
    progress("PyTorch on all cores")
    pytorch = convolutions.pytorch(effort.float_)
    design = hlsgen.load(DESIGNS / "conv_fixed16.yaml", board=PUBLISHED.board).given
    assert isinstance(design, ConvKernel)
    progress("C-simulation of conv_fixed16, fast headers")
    fast = csim(design, Headers.FAST, effort.fast)
    progress("C-simulation of conv_fixed16, reference headers")
    reference = csim(design, Headers.REFERENCE, effort.reference)
    progress("hls4ml on the same layer")
    layer = design.layer
    hls4ml = hls4ml_layer.hls4ml_csim(
        layer.weight_type.decode(layer.weights),
        layer.bias_type.decode(layer.bias),
        layer.input_type.decode(design.codes(design.sample_frames(effort.hls4ml))),
    )
    return Measured(naive=naive, pytorch=pytorch, fast=fast, reference=reference, hls4ml=hls4ml)


def csim(design: ConvKernel, headers: Headers, frames: int) -> Measurement | Missing:
    """Multiply-accumulates a CPU second of the emitted kernel, compiled for this machine.

    The CPU seconds are the whole process's, the best of CSIM_REPEATS runs. Missing if there is no compiler or
    a result is not golden's, bit for bit.
    """
    what = f"hlsgen C-simulation, {headers.value} ap headers"
    codes = design.codes(design.sample_frames(frames))
    golden = design.golden_codes({"input": codes})[design.layer.name]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, design.plan({"input": codes[:1]}, {design.layer.name: golden[:1]}))
        executable = folder / "testbench"
        try:
            before = children_cpu()
            compiled = compile_testbench(folder, design.name, executable, headers=headers)
            compile_cpu = children_cpu() - before
            runs, seconds = [], math.inf
            for _ in range(CSIM_REPEATS):
                before = children_cpu()
                runs.append(simulate(design.layer, executable, codes, folder))
                seconds = min(seconds, children_cpu() - before)
        except HlsgenError as failure:
            return Missing(what=what, reason=str(failure).split("\nfix:")[0].removeprefix("error: "))
    differing = compare(runs[-1].output, golden, design.layer.output_type).mismatches
    if differing:
        return Missing(what=what, reason=f"{differing} results differ from golden")
    return Measurement(
        what=what,
        value=design.layer.macs * frames / seconds,
        unit="MAC/s per core",
        seconds=seconds,
        frames=frames,
        detail={
            "compile CPU s": compile_cpu,
            "kernel wall s": min(run.seconds for run in runs),
            "compile wall s": compiled.seconds,
            "repeats": CSIM_REPEATS,
            "results equal to golden": int(golden.size),
        },
    )


def ratios(measured: Measured) -> dict[str, float | None]:
    """How many times as fast, or as quick to compile; None where one of the two is missing."""
    pairs = {
        "PyTorch to naive C++": (measured.pytorch, measured.naive),
        "fast headers to reference headers": (measured.fast, measured.reference),
        "fast headers to hls4ml": (measured.fast, measured.hls4ml),
        "reference headers to hls4ml": (measured.reference, measured.hls4ml),
    }
    found = {name: ratio(speed(one), speed(other)) for name, (one, other) in pairs.items()}
    found["compile CPU time, hls4ml to fast headers"] = ratio(
        compile_cpu(measured.hls4ml), compile_cpu(measured.fast)
    )
    found["compile CPU time, reference headers to fast headers"] = ratio(
        compile_cpu(measured.reference), compile_cpu(measured.fast)
    )
    return found


def speed(found: Measurement | Missing) -> float | None:
    return found.value if isinstance(found, Measurement) else None


def compile_cpu(found: Measurement | Missing) -> float | None:
    return float(found.detail["compile CPU s"]) if isinstance(found, Measurement) else None


def ratio(one: float | None, other: float | None) -> float | None:
    return one / other if one is not None and other else None


def csim_reached(found: Measurement | Missing) -> bool | None:
    rate = speed(found)
    return None if rate is None else rate / 1e6 >= CSIM_TARGET


def compile_reached(found: Measurement | Missing) -> bool | None:
    seconds = compile_cpu(found)
    return None if seconds is None else seconds < COMPILE_TARGET
