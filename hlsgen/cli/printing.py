"""Builds and estimates as the command line prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from hlsgen.cli.console import note, say, show

if TYPE_CHECKING:
    from hlsgen.api.design import Design
    from hlsgen.api.project import Project
    from hlsgen.csim.verification import Verification


def print_build(project: Project) -> None:
    print_warnings(project.report)
    for finding in project.report["lint"]["findings"]:
        say(f"lint: {finding}")
    print_earlier_builds(project)
    print_estimate(project.report)
    print_clipping(project.report)
    if project.verification is not None:
        print_verification(project.design.macs, project.verification)
    else:
        click.echo("C-simulation skipped")
    folder = click.format_filename(project.folder)
    click.echo(f"wrote {folder}/ (start with {folder}/report.md)")


def note_calibration(design: Design) -> None:
    """Notes types that were chosen from a stand-in, on a command that simulates no frames."""
    if design.calibration is not None and design.calibration.warning is not None:
        note(design.calibration.warning)


def print_warnings(figures: dict[str, Any]) -> None:
    for warning in figures["warnings"]:
        say(f"warning: {warning}")


def print_clipping(figures: dict[str, Any]) -> None:
    """Where number types come from, and how many of the frames' values they clip."""
    from hlsgen.report.tables import calibration_line, clipping_line

    for line in (calibration_line(figures), clipping_line(figures)):
        if line:
            click.echo(line)


def print_earlier_builds(project: Project) -> None:
    """What became of earlier results of the vendor's tools."""
    for text in project.notes:
        note(text)


def print_verification(macs: int, verification: Verification) -> None:
    comparison = verification.comparison
    rate = verification.frames * macs / max(verification.run_seconds, 1e-9) / 1e6
    equal = comparison.compared - comparison.mismatches
    click.echo(
        f"C-simulation: {equal:,} of {comparison.compared:,} results equal golden bit for bit "
        f"({verification.frames} frames; compiled in {verification.compile_seconds:.1f} s, "
        f"ran at {rate:,.0f} M MAC/s on this machine)"
    )
    click.echo(verification.checked())


def print_estimate(figures: dict[str, Any]) -> None:
    speed, total = figures["performance"], figures["total"]
    click.echo(
        f"{figures['design']} on {figures['board']} at {figures['clock_mhz']:g} MHz: "
        f"{total['instances']} instance{'s' if total['instances'] > 1 else ''} of {_what(figures)}"
    )
    click.echo(
        f"modelled: {speed['gops']:,.1f} G operations/s, {speed['frames_per_s']:,.0f} frames/s "
        f"({speed['batch_gops']:,.1f} and {speed['batch_frames_per_s']:,.0f} on a batch of {speed['batch']})"
        f"; binds: {speed['binds']}"
    )
    _print_timing(figures)
    _print_streamed(figures)
    table = Table("modelled", "instances", "DSP", "BRAM18", "URAM", "LUT", "FF")
    for slr in figures["slrs"]:
        cells = [
            _cell(slr["used"][kind], slr["usable"][kind]) for kind in ("dsp", "bram18", "uram", "lut", "ff")
        ]
        table.add_row(f"{slr['name']} (of usable)", str(slr["instances"]), *cells)
    table.add_row(
        "total",
        str(total["instances"]),
        *(f"{total[kind]:,}" for kind in ("dsp", "bram18", "uram", "lut", "ff")),
    )
    show(table)
    from hlsgen.cost.error_margins import cells_line

    click.echo(cells_line(figures))
    if "explored" in figures:
        from hlsgen.report.explored import explored_line

        click.echo(explored_line(figures["explored"]))


def _print_timing(figures: dict[str, Any]) -> None:
    """Of a streaming network: when the first frame is done, and what waits for what in a circle."""
    timing = figures.get("timing")
    if not timing:
        return
    microseconds = timing["latency_cycles"] / figures["clock_mhz"]
    text = f"first frame after {timing['latency_cycles']:,} cycles ({microseconds:,.1f} us)"
    if timing["waits"]:
        text += f"; slower than its slowest stage alone: {', '.join(timing['waits'])}"
    click.echo(text)


def _print_streamed(figures: dict[str, Any]) -> None:
    """Which share of a network's weights is never on chip."""
    weights = [layer["weights"] for layer in figures["layers"] if layer.get("weights")]
    streamed = [one for one in weights if one["place"] == "stream"]
    if not streamed:
        return
    from hlsgen.report.tables import block_text

    codes, every = (sum(one["codes"] for one in found) for found in (streamed, weights))
    largest = max(one["batch_reuse"] for one in streamed)
    click.echo(
        f"streamed from DDR for {block_text(largest)}: {codes:,} of {every:,} weights, those of "
        f"{len(streamed)} of {len(weights)} layers"
    )


def print_fifos(figures: dict[str, Any]) -> None:
    """FIFOs that could be shallower, the deepest first."""
    found = [one for one in figures["fifos"] if (one["smallest_depth"] or one["depth"]) < one["depth"]]
    if not found:
        click.echo("no FIFO of more words than a shift register holds could be shallower")
        return
    table = Table("stream", "words", "no slower from", "deadlock below")
    for one in sorted(found, key=lambda one: -one["depth"]):
        least = one["least_depth"]
        table.add_row(one["name"], f"{one['depth']:,}", f"{one['smallest_depth']:,}", str(least or ""))
    show(table)


def _what(figures: dict[str, Any]) -> str:
    """One instance in a line: a layer's folding, or a network's stages."""
    folding = figures["layers"][0]["folding"]
    if "arithmetic" in folding:
        return (
            f"{folding['macs_per_cycle']} multiply-accumulates a cycle (rows {folding['rows']}, "
            f"PE {folding['pe']}, SIMD {folding['simd']}, {folding['arithmetic']})"
        )
    if figures.get("style") == "tasks":
        cycles = figures["total"]["interval_cycles"]
        return f"{len(figures['layers'])} kernels in turn, {cycles:,} cycles a frame"
    return f"{len(figures['layers'])} stages, a frame every {figures['total']['interval_cycles']:,} cycles"


def _cell(used: int, limit: int) -> str:
    return f"{used:,} ({used / limit:.0%})" if limit else f"{used:,}"
