"""Parts of report.md that several designs' reports have in common: tables of the figures in report.json."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hlsgen.model.calibration import Calibration
from hlsgen.model.ir import Graph
from hlsgen.report.figures import KINDS

KIND_HEADS = tuple(kind.upper() for kind in KINDS)
SHARE_HEADS = tuple(f"{kind} (share of usable)" for kind in KIND_HEADS)
CLIPPING_HEADS = ("tensor", "type", "clipped", "furthest beyond", "whose type")
LAYER_HEADS = ("kind", "gives", "type", "PX / PE / SIMD", "cycles a frame")


def page(parts: Iterable[str]) -> str:
    """The parts that are not empty, with a line between them."""
    return "\n\n".join(part for part in parts if part) + "\n"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "-|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def warning_lines(report: dict[str, Any]) -> str:
    return "\n".join(f"**Warning:** {warning}" for warning in report["warnings"])


def lint_text(report: dict[str, Any]) -> str:
    """What the lint found in the emitted code; errors end a build."""
    lint = report["lint"]
    count = lint["warnings"]
    warnings = (
        f"{count} warning{'s' if count > 1 else ''}, the first of them below" if count else "no warning"
    )
    return (
        f"Pragma lint: {lint['pragmas']:,} `#pragma HLS` in {lint['files']} emitted files keep to "
        f"the vendor's option table and to the form of dataflow regions; {warnings}."
        + "".join(f"\n- {one}" for one in lint["findings"])
    )


def network_summary(
    graph: Graph,
    report: dict[str, Any],
    *,
    instances: str,
    interval: tuple[str, str],
) -> str:
    """Ports and speed of a network. instances: what follows their number; interval: its row of the table."""
    total, speed = report["total"], report["performance"]
    ports = [str(port) for port in (*graph.inputs, *graph.outputs)]
    rows = [
        ("instances", f"{total['instances']} at {report['clock_mhz']:g} MHz{instances}"),
        ("speed, steady", f"{speed['gops']:,.1f} G operations/s, {speed['frames_per_s']:,.1f} frames/s"),
        (
            f"speed, batch of {speed['batch']}",
            f"{speed['batch_gops']:,.1f} G operations/s, {speed['batch_frames_per_s']:,.1f} frames/s",
        ),
        interval,
        ("latency of one frame", f"{total['latency_cycles']:,} cycles, weights there already"),
        ("what binds", speed["binds"]),
        ("multiply-accumulates a frame", f"{total['macs']:,}"),
    ]
    return "; ".join(ports) + ".\n\n" + table(("modelled", ""), rows)


def slr_table(report: dict[str, Any], what: str = "instances") -> str:
    """What of each SLR is used; `what` its instances are."""
    rows = [(slr["name"], slr["instances"], *shares(slr)) for slr in report["slrs"]]
    return table(("SLR", what, *SHARE_HEADS), rows)


def shares(slr: dict[str, Any]) -> list[str]:
    """12 (3%): used, of what is usable"""
    used, limits = slr["used"], slr["usable"]
    return [
        f"{used[kind]:,} ({used[kind] / limits[kind]:.0%})" if limits[kind] else f"{used[kind]:,}"
        for kind in KINDS
    ]


def kind_cells(figures: dict[str, Any]) -> list[str]:
    return [f"{figures[kind]:,}" for kind in KINDS]


def weight_text(weights: dict[str, Any] | None) -> str:
    """runtime in uram"""
    if not weights:
        return ""
    if "batch_reuse" not in weights:
        return f"{weights['place']} in {weights['storage']}"
    return f"{weights['place']} in {weights['storage']}, for {block_text(weights['batch_reuse'])}"


def block_text(frames: int) -> str:
    """every block of 4 frames"""
    return "every frame" if frames == 1 else f"every block of {frames} frames"


def quantisation_text(report: dict[str, Any]) -> str:
    """A section, empty without calibration data."""
    if not report["quantisation"]:
        return ""
    rows = [
        (
            f"`{q['name']}`",
            q["type"],
            "equal" if q["snr_db"] is None else f"{q['snr_db']:.1f}",
            "" if q["agreement"] is None else f"{q['agreement']:.0%}",
        )
        for q in report["quantisation"]
    ]
    head = ("layer, then outputs", "type", "dB", "same largest score")
    reached = "\n".join(f"- {line}" for line in (report.get("quality") or {}).get("summary", ()))
    return (
        f"## Fixed point against floating point\n\n{reached}\n\nMeasured on the first of these: signal to "
        f"noise of each layer's output, and of the network's; {calibration_line(report)}.\n\n"
        + table(head, rows)
    )


def calibration_line(report: dict[str, Any]) -> str:
    """Where the number types come from; empty of a network that brings its own."""
    found = report["calibration"]
    if not found:
        return ""
    return str(Calibration.from_json(found))


def clipping_line(report: dict[str, Any]) -> str:
    """How much is clipped of the frames that were simulated: the inputs, and how many other tensors."""
    found = report["clipping"]
    if not found:
        return ""
    parts = [
        f"{one['share']:.2%} of input {one['name']}"
        for one in found
        if one["part"] == "input" and one["clipped"]
    ]
    others = [one for one in found if one["part"] != "input"]
    clipped = [one for one in others if one["clipped"]]
    if clipped:
        most = max(clipped, key=lambda one: one["share"])
        count = f"{len(clipped)} of {len(others)} other tensors"
        parts.append(f"values of {count}, up to {most['share']:.2%} ({most['name']})")
    return "clipped on these frames: " + (", ".join(parts) or "nothing")


def clipping_text(report: dict[str, Any]) -> str:
    """A section; empty of a design in floating point."""
    found = report["clipping"]
    if not found:
        return ""
    rows = [(f"`{name}`", *rest) for name, *rest in (clipping_cells(one) for one in found if one["clipped"])]
    text = "## Clipped values\n\nMeasured on the frames that were simulated: values that left the range of "
    text += f"their type; {clipping_line(report)}."
    return text + ("\n\n" + table(CLIPPING_HEADS, rows) if rows else "")


def clipping_cells(one: dict[str, Any]) -> tuple[str, ...]:
    """A row of the table of clipped values."""
    part = "" if one["part"] == "result" else f", {one['part']}"
    share = f"{one['share']:.2%}" if one["share"] >= 5e-5 else f"{one['share']:.1g}"
    meant = "the model's own" if one["own"] else "chosen or given"
    return (
        f"{one['name']}{part}",
        one["type"],
        f"{one['clipped']:,} ({share})",
        f"{one['furthest']:.4g}",
        meant,
    )


def layer_cells(layer: dict[str, Any]) -> tuple[str, ...]:
    """kind, shape and type of the result, folding (of a front wave "2 rows" for PX), cycles a frame"""
    folding = layer["folding"]
    at_once = (
        folding["px"] if "px" in folding else f"{folding['rows']} row{'s' if folding['rows'] > 1 else ''}"
    )
    return (
        layer["kind"],
        " x ".join(map(str, layer["shape"])),
        layer["type"],
        f"{at_once} / {folding['pe']} / {folding['simd']}",
        f"{layer['interval_cycles']:,}",
    )


def csim_text(report: dict[str, Any], *, compared: str, at_once: str) -> str:
    """compared: what the layers are called; at_once: what C-simulation with all stages at once has shown."""
    csim = report["csim"]
    if csim["verdict"] == "skipped":
        return "Skipped."
    equal = csim["compared"] - csim["mismatches"]
    return (
        f"Measured: {equal:,} of {csim['compared']:,} results of {len(csim['layers'])} {compared} and "
        f"{csim['frames']} frames equal golden bit for bit. Every stage makes the modelled iterations and "
        f"reads and writes its streams in just those of its schedule; {at_once}."
    )
