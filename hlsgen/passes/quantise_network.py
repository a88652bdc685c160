"""A network in floating point becomes the one in fixed point that is built, as near to it as is asked for."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

from hlsgen.ir import Graph
from hlsgen.passes import FIXED_PASSES, run_passes
from hlsgen.passes.accuracy import Measured, measured, noisy_outputs
from hlsgen.passes.choose_types import choose_types
from hlsgen.passes.float_run import FloatRun
from hlsgen.precision import MOST_TARGET_DB, Precision

OUTPUT_ROUNDS = 4
"""Times that `auto` raises the target of all tensors for the sake of the outputs."""
OUTPUT_STEP_DB = 3.0
"""By this much at least."""
OUTPUT_STEP = 1.5
"""Or by this share of what is missing: an output gains less than its tensors, whose widths are whole bits."""
OUTPUT_FRAMES = 2
"""Calibration frames that the outputs are looked at on meanwhile."""
OUTPUT_MACS = 1 << 30
"""Fewer, if together they would need more multiply-accumulates."""


def quantised_network(
    reference: Graph, precision: Precision, calibration: FloatRun | None, any_weights: Collection[str] = ()
) -> tuple[Graph, Measured | None]:
    """`reference` with types, after all passes, and what was measured of it; None without calibration.

    With auto, the target of all tensors is raised in steps until the outputs have `precision.output_db`.
    any_weights and errors: those of `choose_types`.
    """
    fixed = run_passes(choose_types(reference, precision, calibration, any_weights), FIXED_PASSES)
    if calibration is None:
        return fixed, None
    frames = calibration.kept
    if precision.default == "auto":
        frames = max(1, min(OUTPUT_FRAMES, OUTPUT_MACS // max(1, reference.macs), calibration.kept))
    found = measured(fixed, calibration, frames)
    for _ in range(OUTPUT_ROUNDS if precision.default == "auto" else 0):
        short = precision.output_db - _worst_output(found)
        if short <= 0:
            break
        target = precision.target_db + max(short * OUTPUT_STEP, OUTPUT_STEP_DB)
        precision = replace(precision, target_db=min(target, MOST_TARGET_DB))
        fixed = run_passes(choose_types(reference, precision, calibration, any_weights), FIXED_PASSES)
        found = measured(fixed, calibration, frames)
    return fixed, found if frames == calibration.kept else measured(fixed, calibration)


def _worst_output(found: Measured) -> float:
    """The least signal to noise of an output, in dB; inf without one that has noise."""
    outputs = noisy_outputs(found.graph)
    return min((one.snr_db for one in found.accuracy if one.name in outputs), default=math.inf)
