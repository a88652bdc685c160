"""What a design costs and how fast it is, as report.json says it. Every figure is the cost model's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hlsgen.cost.cycles import AXI_LATENCY, ddr_cost, iterations
from hlsgen.cost.error_margins import cost_figures, cost_text
from hlsgen.cost.resources import FMUL_DSP, Resources, instance_resources
from hlsgen.emit.bank_picture import bank_table
from hlsgen.hardware.conv2d import ConvMapping
from hlsgen.model.ir import Graph
from hlsgen.report.estimates import Estimates
from hlsgen.report.figures import (
    KINDS,
    board_figures,
    performance_figures,
    resource_figures,
    slr_figures,
)
from hlsgen.report.roofline import built_ceiling, dsp_ceiling, roofline_figures
from hlsgen.report.structure import graph_figures
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
from hlsgen.search.board_limits import usable
from hlsgen.search.conv_kernel import ConvHardware
from hlsgen.search.placement import Deployment, ddr_bytes_per_s, frame_copies, slrs_with
from hlsgen.targets.board import Board


@dataclass(frozen=True, kw_only=True)
class Estimate(Estimates):
    """The modelled figures of a design. `as_json` has the keys of report.json."""

    design: str
    deployment: Deployment
    graph: Graph
    foldings_tried: int

    @property
    def interval_cycles(self) -> int:
        """Cycles from frame to frame of one instance."""
        return self.deployment.cycles.interval

    @property
    def latency_cycles(self) -> int:
        """Cycles of a call with one frame, the loading of the weights included."""
        return self.deployment.cycles.latency

    @property
    def target(self) -> tuple[Board, float]:
        return self.deployment.board, self.deployment.clock_mhz

    @property
    def hardware_text(self) -> str:
        return str(self.deployment)

    @property
    def used(self) -> Resources:
        return self.deployment.total

    @property
    def frames_per_s(self) -> float:
        return self.deployment.frames_per_s

    @property
    def gops(self) -> float:
        return self.deployment.gops

    @property
    def binds(self) -> str:
        """What keeps the design from being faster."""
        return self.deployment.bottleneck

    def as_json(self) -> dict[str, Any]:
        deployment = self.deployment
        return {
            "design": self.design,
            "board": deployment.board.name,
            "clock_mhz": deployment.clock_mhz,
            **board_figures(deployment.board),
            "graph": graph_figures(self.graph),
            "layers": [_layer(deployment)],
            "total": {
                "macs": deployment.mapping.layer.macs,
                "interval_cycles": self.interval_cycles,
                "latency_cycles": self.latency_cycles,
                **resource_figures(deployment.total),
                "instances": len(deployment.instances),
            },
            "performance": performance_figures(
                frames_per_s=self.frames_per_s,
                batch=deployment.batch,
                batch_frames_per_s=deployment.batch_frames_per_s,
                macs=deployment.mapping.layer.macs,
                binds=deployment.bottleneck,
            ),
            "cost": conv_kernel_cost(deployment),
            "roofline": _roofline(deployment),
            "timeline": _timeline(deployment),
            "ompss": _ompss_figures(deployment),
            "slrs": _slrs(deployment),
            "banks": _banks_figures(deployment),
            "memories": [
                {
                    "name": memory.name,
                    "depth": memory.depth,
                    "bits": memory.bits,
                    "copies": memory.copies,
                    "storage": memory.storage.value,
                    "bram18": memory.bram18,
                    "uram": memory.uram,
                    "lut": memory.lut,
                }
                for memory in deployment.mapping.memories
            ],
            "foldings_tried": self.foldings_tried,
        }


def conv_kernel_estimate(name: str, graph: Graph, choice: ConvHardware) -> Estimate:
    return Estimate(design=name, graph=graph, deployment=choice.deployment, foldings_tried=choice.tried)


def conv_kernel_cost(deployment: Deployment) -> dict[str, Any]:
    """The section `cost` of report.json: LUT and FF of all instances, and how far off they may be."""
    return cost_figures(
        lambda terms: instance_resources(deployment.mapping, terms).times(len(deployment.instances)),
        deployment.board,
    )


def _layer(deployment: Deployment) -> dict[str, Any]:
    mapping = deployment.mapping
    folding = mapping.folding
    return {
        "name": mapping.layer.name,
        "kind": mapping.layer.kind,
        "macs": mapping.layer.macs,
        "type": str(mapping.layer.output_type),
        "shape": list(mapping.layer.output_shape),
        "folding": {
            "rows": folding.rows,
            "pe": folding.pe,
            "simd": folding.simd,
            "fabric_pe": folding.fabric_pe,
            "order": folding.order,
            "arithmetic": mapping.arithmetic,
            "chain": mapping.chain,
            "macs_per_cycle": mapping.macs_per_iteration,
            "in_lanes": mapping.in_lanes,
            "out_lanes": mapping.out_lanes,
        },
        "ii": 1,
        "interval_cycles": deployment.cycles.interval,
        "latency_cycles": deployment.cycles.latency,
        **resource_figures(deployment.each),
    }


def _roofline(deployment: Deployment) -> dict[str, Any] | None:
    mapping, board, clock_mhz = deployment.mapping, deployment.board, deployment.clock_mhz
    products, dsps = {"float": (1, FMUL_DSP), "fixed": (1, 1), "packed": (2, 1)}[mapping.arithmetic]
    return roofline_figures(
        ceilings=(
            dsp_ceiling(board, clock_mhz, products=products, dsps=dsps),
            built_ceiling(mapping.macs_per_iteration, len(deployment.instances), clock_mhz),
        ),
        gops=deployment.gops,
        macs=mapping.layer.macs,
        frame_bytes=ddr_cost(mapping),
        ddr_gb_per_s=ddr_bytes_per_s(deployment.instances, board, clock_mhz) / 1e9,
    )


def _timeline(deployment: Deployment) -> list[dict[str, Any]]:
    """A call with one frame, in the parts of `Cycles.call`."""
    counts = iterations(deployment.mapping, 1)
    parts = (
        ("weights", AXI_LATENCY + counts.weights),
        ("first rows", counts.fill),
        ("compute", counts.compute + deployment.cycles.depth - 1),
        ("last results", deployment.mapping.drain_steps + AXI_LATENCY + 2),
    )
    rows, begin = [], 0
    for name, cycles in parts:
        rows.append({"name": name, "begin": begin, "first_output": None, "end": begin + cycles})
        begin += cycles
    return rows


def _ompss_figures(deployment: Deployment) -> dict[str, int]:
    copies = frame_copies(deployment.mapping)
    return {"instances": len(slrs_with(deployment, copies)), "frames_bram18": copies.bram18}


def _slrs(deployment: Deployment) -> list[dict[str, Any]]:
    rows = []
    for slr in deployment.board.slrs:
        limit = usable(slr, deployment.board)
        here = [instance for instance in deployment.instances if instance.slr == slr.name]
        rows.append(
            slr_figures(
                slr.name,
                slr,
                limit,
                instances=len(here),
                used=deployment.used_in(slr.name),
                banks=sorted({instance.bank for instance in here}),
            )
        )
    return rows


def _banks_figures(deployment: Deployment) -> dict[str, Any]:
    bank_map = deployment.mapping.bank_map
    return {
        "banks": bank_map.banks,
        "slots": bank_map.slots,
        "offsets": list(bank_map.offsets),
        "fewest": bank_map.fewest,
        "reads_per_iteration": len(deployment.mapping.patterns[0].elements),
        "proven_anchors": bank_map.slots * bank_map.banks,
    }


# ---------------------------------------------------------------- report.md


def conv_kernel_markdown(name: str, deployment: Deployment, report: dict[str, Any]) -> str:
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
