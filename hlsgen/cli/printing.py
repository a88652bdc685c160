"""Builds and estimates as the command line prints them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click
from rich.table import Table

from hlsgen.cli.console import note, remark, show

if TYPE_CHECKING:
    from hlsgen.api.design import Design
    from hlsgen.api.project import Project
    from hlsgen.csim.verification import Verification
    from hlsgen.report.content import Figures
    from hlsgen.report.frames import FrameFigures
    from hlsgen.report.judge import JudgeFigures
    from hlsgen.report.schedule import ScheduleFigures


def print_build(project: Project) -> None:
    report = project.figures
    print_warnings(report.warnings)
    for finding in report.lint.findings:
        remark(f"lint: {finding}")
    print_earlier_builds(project)
    print_estimate(report)
    print_clipping(report)
    if project.verification is not None:
        print_verification(project.design.macs, project.verification)
    else:
        click.echo("C-simulation skipped")
    print_judge(report.judge)
    _print_schedule(report.schedule)
    folder = click.format_filename(project.folder)
    click.echo(f"wrote {folder}/ (start with {folder}/report.md)")


def print_judge(found: JudgeFigures | None) -> None:
    """Prints what the model's framework says of the answers."""
    from hlsgen.report.judge import judge_line

    if found is not None:
        click.echo(f"judge: {judge_line(found)}")


def _print_schedule(schedule: ScheduleFigures | None) -> None:
    """Prints what is known of the II and the longest chain, and warns of what exceeds a fast clock."""
    from hlsgen.report.schedule import schedule_line

    if schedule is not None:
        print_warnings(schedule.warnings)
        click.echo(f"schedule: {schedule_line(schedule)}")


def note_calibration(design: Design) -> None:
    """Notes types that were chosen from a stand-in, on a command that simulates no frames."""
    if design.calibration is not None and design.calibration.warning is not None:
        note(design.calibration.warning)


def print_warnings(warnings: Iterable[str]) -> None:
    for warning in warnings:
        remark(f"warning: {warning}")


def print_clipping(figures: FrameFigures) -> None:
    """Prints where number types come from, and how many of the frames' values they clip."""
    from hlsgen.report.frames import calibration_line, clipping_line

    for line in (calibration_line(figures.calibration), clipping_line(figures.clipping)):
        if line:
            click.echo(line)


def print_earlier_builds(project: Project) -> None:
    """Prints what became of earlier results of the vendor's tools."""
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


def print_estimate(figures: Figures) -> None:
    from hlsgen.report.cells import cells_line
    from hlsgen.report.explored import explored_line
    from hlsgen.report.fit import fit_line
    from hlsgen.report.styles import style_lines

    speed, total = figures.performance, figures.total
    click.echo(
        f"{figures.design} on {figures.board} at {figures.clock_mhz:g} MHz: "
        f"{total.instances} instance{'s' if total.instances > 1 else ''} of {_what(figures)}"
    )
    click.echo(
        f"modelled: {speed.gops:,.1f} G operations/s, {speed.frames_per_s:,.0f} frames/s "
        f"({speed.batch_gops:,.1f} and {speed.batch_frames_per_s:,.0f} on a batch of {speed.batch})"
        f"; binds: {speed.binds}"
    )
    for line in style_lines(figures.styles):
        click.echo(line)
    if figures.kernels:
        click.echo(f"foldings: {', '.join(f'{one.kernel} {one.text}' for one in figures.kernels)}")
    _print_timing(figures)
    _print_streamed(figures)
    _print_slrs(figures)
    click.echo(cells_line(figures.cost))
    click.echo(fit_line(figures.fit))
    if figures.explored is not None:
        click.echo(explored_line(figures.explored))


def _print_slrs(figures: Figures) -> None:
    """Prints what is used of each SLR, and in all."""
    from hlsgen.report.tables import KIND_HEADS, kind_cells, shares

    table = Table("modelled", "instances", *KIND_HEADS)
    for slr in figures.slrs:
        table.add_row(f"{slr.name} (of usable)", str(slr.instances), *shares(slr))
    table.add_row("total", str(figures.total.instances), *kind_cells(figures.total))
    show(table)


def _print_timing(figures: Figures) -> None:
    """Prints when the first frame of a streaming network is done, and what waits for what in a circle."""
    timing = figures.timing
    if timing is None:
        return
    microseconds = timing.latency_cycles / figures.clock_mhz
    text = f"first frame after {timing.latency_cycles:,} cycles ({microseconds:,.1f} us), "
    text += figures.total.depths_text
    if timing.waits:
        text += f"; slower than its slowest stage alone: {', '.join(timing.waits)}"
    click.echo(text)


def _print_streamed(figures: Figures) -> None:
    """Prints which share of a network's weights is never on chip."""
    from hlsgen.report.tables import block_text

    weights = [layer.weights for layer in figures.layers if layer.weights]
    streamed = [one for one in weights if one.place == "stream"]
    if not streamed:
        return
    codes, every = (sum(one.codes for one in found) for found in (streamed, weights))
    largest = max(one.batch_reuse or 1 for one in streamed)
    click.echo(
        f"streamed from DDR for {block_text(largest)}: {codes:,} of {every:,} weights, those of "
        f"{len(streamed)} of {len(weights)} layers"
    )


def print_fifos(figures: Figures) -> None:
    """Prints the FIFOs that could be shallower, the deepest first."""
    found = [one for one in figures.fifos if (one.smallest_depth or one.depth) < one.depth]
    if not found:
        click.echo("no FIFO of more words than a shift register holds could be shallower")
        return
    table = Table("stream", "words", "no slower from", "deadlock below")
    for one in sorted(found, key=lambda one: -one.depth):
        table.add_row(one.name, f"{one.depth:,}", f"{one.smallest_depth:,}", str(one.least_depth or ""))
    show(table)


def _what(figures: Figures) -> str:
    """One instance in a line: a layer's folding, or a network's stages."""
    from hlsgen.report.kernels import folding_line

    layers, cycles = figures.layers, f"{figures.total.interval_cycles:,} cycles"
    if figures.cost.style == "layer":
        if figures.kernels:
            return f"{len(figures.kernels)} foldings"
        return folding_line(layers[0].folding)
    if figures.cost.style == "tasks":
        return f"{len(layers)} kernels in turn, {cycles} a frame"
    if figures.mixture is not None:
        found = figures.mixture
        return (
            f"{len(found.streaming)} layers up to {found.cut} stream at {found.streaming_frames_per_s:,.0f} "
            f"frames/s, the others at {found.processors_frames_per_s:,.0f} as {len(figures.tasks)} tasks"
        )
    if figures.cost.style == "shared":
        return f"the program of {len(figures.tasks)} tasks, {cycles} a frame"
    return f"{len(layers)} stages, a frame every {cycles}"
