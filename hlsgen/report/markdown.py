"""report.md: the figures of report.json for a person."""

from __future__ import annotations

from typing import Any

from hlsgen.cost.accuracy import cost_text
from hlsgen.emit.bank_picture import bank_table
from hlsgen.hardware.conv2d import ConvMapping
from hlsgen.report.figures import KINDS
from hlsgen.report.tables import (
    SHARE_HEADS,
    clipping_text,
    kind_cells,
    lint_text,
    page,
    shares,
    table,
    warning_lines,
)
from hlsgen.search.placement import Deployment


def markdown_report(name: str, deployment: Deployment, report: dict[str, Any]) -> str:
    """The report of a build. Every figure is modelled unless it says measured."""
    parts = (
        f"# {name} on {deployment.board.title}",
        _summary(deployment.mapping, report),
        warning_lines(report),
        "## Board\n\n" + _slr_table(report),
        cost_text(report),
        _ompss(report),
        "## One instance\n\n" + _folding(deployment.mapping, report),
        "## On-chip memory\n\n" + _memory_table(report),
        "## Banks\n\n" + _banks(deployment.mapping, report),
        clipping_text(report),
        "## C-simulation\n\n" + _csim(report),
        lint_text(report),
    )
    return page(parts)


def _summary(mapping: ConvMapping, report: dict[str, Any]) -> str:
    layer, total, speed = mapping.layer, report["total"], report["performance"]
    shapes = [" x ".join(str(size) for size in shape) for shape in (layer.in_shape, layer.output_shape)]
    steady = f"{speed['gops']:,.1f} G operations/s, {speed['frames_per_s']:,.0f} frames/s"
    batch = f"{speed['batch_gops']:,.1f} G operations/s, {speed['batch_frames_per_s']:,.0f} frames/s"
    rows = [
        ("modelled", ""),
        ("-", "-"),
        ("instances", f"{total['instances']} at {report['clock_mhz']:g} MHz"),
        ("speed, steady", steady),
        (f"speed, batch of {speed['batch']}", batch),
        ("interval of an instance", f"{total['interval_cycles']:,} cycles a frame"),
        ("latency of a call with one frame", f"{total['latency_cycles']:,} cycles, weights loaded"),
        ("what binds", speed["binds"]),
        ("multiply-accumulates a frame", f"{total['macs']:,}"),
    ]
    return (
        f"{layer.kind} `{layer.name}`: {shapes[0]} of {layer.input_type} -> "
        f"{shapes[1]} of {layer.result_type}; "
        f"weights {layer.weight_type} ({layer.weights_origin}), accumulator {layer.accumulator}.\n\n"
        + "\n".join(f"| {what} | {value} |" for what, value in rows)
    )


def _ompss(report: dict[str, Any]) -> str:
    ompss = report["ompss"]
    if not ompss["instances"]:
        return (
            f"OmpSs-2@FPGA: not even one instance fits, because its copy_deps keep whole frames on chip "
            f"({ompss['frames_bram18']:,} BRAM18)."
        )
    return (
        f"OmpSs-2@FPGA: {ompss['instances']} instances; its copy_deps keep whole frames on chip, "
        f"{ompss['frames_bram18']:,} BRAM18 more for each of them."
    )


def _slr_table(report: dict[str, Any]) -> str:
    rows = [
        (slr["name"], slr["instances"], ", ".join(slr["ddr"]) or "-", *shares(slr)) for slr in report["slrs"]
    ]
    total = f"| total | {report['total']['instances']} | | " + " | ".join(kind_cells(report["total"])) + " |"
    return table(("SLR", "instances", "DDR", *SHARE_HEADS), rows) + "\n" + total


def _folding(mapping: ConvMapping, report: dict[str, Any]) -> str:
    layer = report["layers"][0]
    folding = layer["folding"]
    kinds = {
        "float": "fp32",
        "fixed": "fixed point, a DSP a product",
        "packed": "fixed point, two products a DSP",
    }
    product = " x ".join(str(folding[key]) for key in ("rows", "pe", "simd")) + f" x {mapping.layer.taps}"
    lines = [
        "| | |",
        "|-|-|",
        f"| rows x PE x SIMD x taps | {product} = {folding['macs_per_cycle']} multiply-accumulates a cycle |",
        f"| arithmetic | {kinds[mapping.arithmetic]} |",
        f"| outermost loop | {folding['order']} |",
        f"| II | {layer['ii']} |",
        f"| words | input {folding['in_lanes']} elements, output {folding['out_lanes']} elements |",
    ]
    if mapping.arithmetic == "packed":
        exact = f"{mapping.chain}, exact for these weights"
        lines.append(f"| products added before the lanes are taken apart | {exact} |")
    if folding["fabric_pe"]:
        what = "adders" if mapping.arithmetic == "float" else "multipliers"
        lines.append(f"| output channels with {what} in LUTs | {folding['fabric_pe']} of {folding['pe']} |")
    lines += [f"| {kind.upper()} | {layer[kind]:,} |" for kind in KINDS]
    lines.append(f"\nChosen among {report['foldings_tried']} foldings.")
    return "\n".join(lines)


def _memory_table(report: dict[str, Any]) -> str:
    keys = ("name", "copies", "depth", "bits", "storage", "bram18", "uram", "lut")
    head = ("memory", "copies", "words", "bits", "storage", "BRAM18", "URAM", "LUT")
    return table(head, [[memory[key] for key in keys] for memory in report["memories"]])


def _banks(mapping: ConvMapping, report: dict[str, Any]) -> str:
    banks = report["banks"]
    fewest = "no such map with fewer banks exists" if banks["fewest"] else "fewer banks were not ruled out"
    return (
        f"Each iteration reads {banks['reads_per_iteration']} elements of a channel and writes "
        f"{mapping.in_lanes}. Element (slot, column) of the {banks['slots']} rows on chip lies in bank "
        f"(column + offset[slot]) mod {banks['banks']}; {fewest}. Proven without conflict at all "
        f"{banks['proven_anchors']} positions that differ (slots x banks).\n\n"
        + bank_table(mapping.bank_map).strip()
        + "\n\n![accesses over banks, before and after the offsets](banks.svg)"
    )


def _csim(report: dict[str, Any]) -> str:
    csim = report["csim"]
    if csim["verdict"] == "skipped":
        return "Skipped."
    counted = ", ".join(f"{name} {count:,}" for name, count in csim["iterations_measured"].items())
    equal = csim["compared"] - csim["mismatches"]
    return (
        f"Measured: {equal:,} of {csim['compared']:,} results of {csim['frames']} frames equal golden "
        f"bit for bit. On {csim['iterations_frames']} frames the memories recorded every access: no "
        f"iteration asks one for more ports than it has, and loops iterate as often as modelled ({counted})."
    )
