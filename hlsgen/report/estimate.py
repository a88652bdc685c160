"""What a design costs and how fast it is, as report.json says it. Every figure is the cost model's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hlsgen.cost.accuracy import cost_figures
from hlsgen.cost.cycles import AXI_LATENCY, ddr_cost, iterations
from hlsgen.cost.resources import FMUL_DSP, Resources, instance_resources
from hlsgen.model.ir import Graph
from hlsgen.report.estimates import Estimates
from hlsgen.report.figures import board_figures, free_figures, performance_figures, resource_figures
from hlsgen.report.roofline import built_ceiling, dsp_ceiling, roofline_figures
from hlsgen.report.structure import graph_figures
from hlsgen.search.conv2d import Choice
from hlsgen.search.placement import Deployment, ddr_bytes_per_s, frame_copies, slrs_with, usable
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
    def hardware(self) -> str:
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
        return self.deployment.binds

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
                binds=deployment.binds,
            ),
            "cost": layer_cost(deployment),
            "roofline": _roofline(deployment),
            "timeline": _timeline(deployment),
            "ompss": _ompss(deployment),
            "slrs": _slrs(deployment),
            "banks": _banks(deployment),
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


def estimate_of(name: str, graph: Graph, choice: Choice) -> Estimate:
    return Estimate(design=name, graph=graph, deployment=choice.deployment, foldings_tried=choice.tried)


def layer_cost(deployment: Deployment) -> dict[str, Any]:
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


def _ompss(deployment: Deployment) -> dict[str, int]:
    copies = frame_copies(deployment.mapping)
    return {"instances": len(slrs_with(deployment, copies)), "frames_bram18": copies.bram18}


def _slrs(deployment: Deployment) -> list[dict[str, Any]]:
    rows = []
    for slr in deployment.board.slrs:
        limit = usable(slr, deployment.board)
        here = [instance for instance in deployment.instances if instance.slr == slr.name]
        rows.append(
            {
                "name": slr.name,
                "instances": len(here),
                "used": resource_figures(deployment.used_in(slr.name)),
                "usable": resource_figures(limit),
                "free": free_figures(slr),
                "ddr": sorted({instance.bank for instance in here}),
            }
        )
    return rows


def _banks(deployment: Deployment) -> dict[str, Any]:
    bank_map = deployment.mapping.bank_map
    return {
        "banks": bank_map.banks,
        "slots": bank_map.slots,
        "offsets": list(bank_map.offsets),
        "fewest": bank_map.fewest,
        "reads_per_iteration": len(deployment.mapping.patterns[0].elements),
        "proven_anchors": bank_map.slots * bank_map.banks,
    }
