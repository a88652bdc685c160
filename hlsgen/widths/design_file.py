"""Widths that were found as a design file: the original's keys with another `precision`."""

from __future__ import annotations

from pathlib import Path

from hlsgen.explore.design_file import moved_design, yaml_text
from hlsgen.widths.quantised import Candidate, Quantised, precision_keys


def design_text(
    found: Quantised,
    one: Candidate,
    source: Path,
    target: Path,
    board: str | None = None,
    clock_mhz: float | None = None,
) -> str:
    """The text of a design file at `target` from the one at `source`; board, clock_mhz: as of `hlsgen.load`.

    Raises DesignError: `source` cannot be read any more.
    """
    keys = precision_keys(one.widths)
    own = found.design.given.precision  # type: ignore[attr-defined]
    if own.input is not None and "input" not in keys:
        keys["input"] = str(own.input)
    if own.headroom is not None:
        keys["headroom"] = own.headroom
    if own.balance:
        keys["balance"] = True
    if own.accumulator is not None:
        keys["accumulator"] = str(own.accumulator)
    data = moved_design(source, target, board=board, clock_mhz=clock_mhz, precision=keys)
    text, of = found.metric.text, one.hardware
    measured = f"{text(one.metric)} measured, {text(one.held_out)} on {found.held_out} held-out frames"
    head = (
        f"# {source.name} with the widths that hlsgen quantise found ({one.name}).\n"
        f"# {found.metric.name}: {measured} (floating point {text(found.floating[1])}).\n"
        f"# {found.hardware_text[0].upper()}{found.hardware_text[1:]}, modelled: {of.lut:,} LUT, "
        f"{of.dsp:,} DSP, {of.bram18:,} BRAM18.\n"
    )
    return head + yaml_text(data)
