"""The first table of report.md, whatever the style: instances and speed."""

from __future__ import annotations

from hlsgen.report.content import Report

Row = tuple[str, str]


def summary_rows(
    report: Report, *, interval: Row, latency: Row, decimals: int, each: str = ""
) -> tuple[Row, ...]:
    """The rows of the table. latency: what its row is called, and what its cycles leave out or hold.

    each: what follows the number of instances. decimals: of frames a second.
    """
    total, speed = report.total, report.performance
    return (
        ("instances", f"{total.instances} at {report.clock_mhz:g} MHz{each}"),
        ("clock", report.clock.text),
        ("speed, steady", f"{speed.gops:,.1f} G operations/s, {speed.frames_per_s:,.{decimals}f} frames/s"),
        (
            f"speed, batch of {speed.batch}",
            f"{speed.batch_gops:,.1f} G operations/s, {speed.batch_frames_per_s:,.{decimals}f} frames/s",
        ),
        interval,
        (latency[0], f"{total.latency_cycles:,} cycles, {latency[1]}, {total.depths_text}"),
        ("what binds", speed.binds),
        ("multiply-accumulates a frame", f"{total.macs:,}"),
    )
