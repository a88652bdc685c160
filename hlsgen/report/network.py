"""What a network costs and how fast it is: report.json, and report.md for a person. All modelled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hlsgen.board import Board
from hlsgen.cost.accuracy import cost_figures, cost_text
from hlsgen.cost.resources import Resources
from hlsgen.cost.stages import process_resources, total_resources
from hlsgen.design import Estimates
from hlsgen.mapping.balance import Balanced
from hlsgen.mapping.deadlock import least_depths, small_enough
from hlsgen.mapping.fifos import simulate
from hlsgen.mapping.placement import usable
from hlsgen.mapping.processes import Load, StageProcess, Store, port_beats, port_width
from hlsgen.passes.choose_types import Accuracy

KINDS = ("dsp", "bram18", "uram", "lut", "ff")


@dataclass(frozen=True, kw_only=True)
class NetworkEstimate(Estimates):
    """The modelled figures of a network. `as_json` has the keys of report.json."""

    design: str
    balanced: Balanced
    board: Board
    clock_mhz: float
    batch: int
    accuracy: tuple[Accuracy, ...]
    latency_cycles: int

    @property
    def interval_cycles(self) -> int:
        """Cycles from frame to frame of one instance, in the steady state."""
        return self.balanced.pipeline.interval

    @property
    def frames_per_s(self) -> float:
        """Of all instances, in the steady state, no more than DDR carries."""
        rate = self.balanced.instances * self.clock_mhz * 1e6 / self.interval_cycles
        return min(rate, self._ddr_frames_per_s)

    @property
    def gops(self) -> float:
        return 2 * self.balanced.pipeline.graph.macs * self.frames_per_s / 1e9

    @property
    def binds(self) -> str:
        rate = self.balanced.instances * self.clock_mhz * 1e6 / self.interval_cycles
        return "DDR bandwidth" if self._ddr_frames_per_s < rate else self.balanced.binds

    @property
    def frame_bytes(self) -> int:
        """Moved between DDR and the kernel for a frame, of full blocks where weights are streamed."""
        total = 0
        for process in self.balanced.pipeline.processes:
            if isinstance(process, Load | Store):
                words = process.words
                total += words.frame_words * port_beats(words) * port_width(words) // 8
        for streamer in self.balanced.pipeline.streamers:
            stage = streamer.stage
            total += -(-stage.block_beats * stage.beat_bits // 8 // stage.batch)
        return total

    @property
    def _ddr_frames_per_s(self) -> float:
        memory = self.board.memory
        banks = memory.banks[: self.balanced.instances]
        return sum(bank.gb_per_s for bank in banks) * 1e9 * memory.efficiency / self.frame_bytes

    def as_json(self) -> dict[str, Any]:
        pipeline, instances = self.balanced.pipeline, self.balanced.instances
        share = -(-self.batch // instances)
        cycles = self.latency_cycles + (share - 1) * self.interval_cycles
        least = least_depths(pipeline) if small_enough(pipeline) else {}
        batch_rate = min(self.batch * self.clock_mhz * 1e6 / cycles, self.frames_per_s)
        return {
            "design": self.design,
            "board": self.board.name,
            "clock_mhz": self.clock_mhz,
            "layers": [
                layer_figures(process, self.board)
                for process in pipeline.processes
                if isinstance(process, StageProcess)
            ],
            "total": {
                "macs": pipeline.graph.macs,
                "interval_cycles": self.interval_cycles,
                "latency_cycles": self.latency_cycles,
                **resource_figures(self.balanced.each.times(instances)),
                "instances": instances,
            },
            "performance": {
                "frames_per_s": round(self.frames_per_s, 3),
                "gops": round(self.gops, 3),
                "batch": self.batch,
                "batch_frames_per_s": round(batch_rate, 3),
                "batch_gops": round(2 * pipeline.graph.macs * batch_rate / 1e9, 3),
                "binds": self.binds,
                "kind": "modelled",
            },
            "cost": cost_figures(
                lambda terms: total_resources(pipeline, self.board.with_terms(terms)).times(instances),
                self.board.terms,
            ),
            "slrs": self._slrs(),
            "joints": [
                {
                    "name": process.name,
                    "interval_cycles": process.interval,
                    **resource_figures(process_resources(process, self.board)),
                }
                for process in pipeline.processes
                if not isinstance(process, StageProcess)
            ],
            "fifos": [
                {
                    "name": stream.name,
                    "depth": stream.depth,
                    "least_depth": least.get(stream.name),
                    "lanes": stream.words.lanes,
                    "type": str(stream.words.type),
                }
                for stream in pipeline.streams.values()
            ],
            "quantisation": quantisation_figures(self.accuracy),
            "intervals_tried": self.balanced.intervals_tried,
        }

    def _slrs(self) -> list[dict[str, Any]]:
        rows = []
        spans = self.balanced.spans
        for slr in self.board.slrs:
            count = 0 if spans else self.balanced.placed[slr.name]
            rows.append(
                {
                    "name": slr.name,
                    "instances": count,
                    "used": resource_figures(self.balanced.each.times(count)),
                    "usable": resource_figures(usable(slr, self.board)),
                    "ddr": [bank.name for bank in self.board.memory.banks if bank.slr == slr.name and count],
                }
            )
        if spans:
            whole = Resources()
            for slr in self.board.slrs:
                whole += usable(slr, self.board)
            rows.append(
                {
                    "name": "all SLRs",
                    "instances": 1,
                    "used": resource_figures(self.balanced.each),
                    "usable": resource_figures(whole),
                    "ddr": [],
                }
            )
        return rows


def network_estimate(
    design: str,
    balanced: Balanced,
    board: Board,
    clock_mhz: float,
    batch: int,
    accuracy: tuple[Accuracy, ...],
) -> NetworkEstimate:
    return NetworkEstimate(
        design=design,
        balanced=balanced,
        board=board,
        clock_mhz=clock_mhz,
        batch=batch,
        accuracy=accuracy,
        latency_cycles=simulate(balanced.pipeline, 1).latency_cycles,
    )


def layer_figures(process: StageProcess, board: Board) -> dict[str, Any]:
    """A layer's stage as report.json has it."""
    stage = process.stage
    layer = stage.layer
    schedule = stage.schedule(1)
    return {
        "name": layer.name,
        "kind": layer.kind,
        "macs": layer.macs,
        "type": str(layer.output_type),
        "shape": list(layer.output_shape),
        "folding": {
            "px": stage.fold.px,
            "pe": stage.fold.pe,
            "simd": stage.fold.simd,
            "macs_per_cycle": -(-layer.macs // stage.interval) if layer.macs else 0,
        },
        "ii": 1,
        "interval_cycles": stage.interval,
        "latency_cycles": int(schedule.writes[0][0]) + stage.latency,
        **_weights(process, board),
        **resource_figures(process_resources(process, board)),
    }


def _weights(process: StageProcess, board: Board) -> dict[str, Any]:
    """Where they lie; an empty dict for a layer without weights."""
    if process.place is None:
        return {}
    memory = process.place.memory(process.stage, board)
    layer: Any = process.stage.layer
    found = {
        "type": str(layer.weight_type),
        "codes": int(layer.weights.size),
        "place": process.place.place,
        "storage": memory.storage.value if memory else "ddr",
    }
    if process.place.place == "stream":
        found["batch_reuse"] = process.place.batch
    return {"weights": found}


def quantisation_figures(accuracy: Sequence[Accuracy]) -> list[dict[str, Any]]:
    """Signal to noise of the outputs of layers and network; None where they are equal."""
    return [
        {
            "name": one.name,
            "type": one.type,
            "snr_db": round(one.snr_db, 2) if math.isfinite(one.snr_db) else None,
            "agreement": one.agreement,
        }
        for one in accuracy
    ]


def resource_figures(resources: Resources) -> dict[str, int]:
    """They as report.json has them."""
    return {kind: getattr(resources, kind) for kind in KINDS}


def network_markdown(name: str, board: Board, balanced: Balanced, report: dict[str, Any]) -> str:
    """The report of a build. Every figure is modelled unless it says measured."""
    parts = [
        f"# {name} on {board.title}",
        _summary(balanced, report),
        "\n".join(f"**Warning:** {warning}" for warning in report["warnings"]),
        "## Board\n\n" + slr_table(report),
        cost_text(report),
        "## Layers of one instance\n\n" + _layer_table(report),
        "## Streams\n\n" + _fifo_table(report),
        quantisation_text(report),
        "## C-simulation\n\n" + _csim(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "-|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def _summary(balanced: Balanced, report: dict[str, Any]) -> str:
    total, speed = report["total"], report["performance"]
    graph = balanced.pipeline.graph
    ports = [
        f"{port.name} {' x '.join(map(str, port.shape))} of {port.tensor.type}"
        for port in (*graph.inputs, *graph.outputs)
    ]
    rows = [
        ("instances", f"{total['instances']} at {report['clock_mhz']:g} MHz"),
        ("speed, steady", f"{speed['gops']:,.1f} G operations/s, {speed['frames_per_s']:,.1f} frames/s"),
        (
            f"speed, batch of {speed['batch']}",
            f"{speed['batch_gops']:,.1f} G operations/s, {speed['batch_frames_per_s']:,.1f} frames/s",
        ),
        ("interval of an instance", f"{total['interval_cycles']:,} cycles a frame"),
        ("latency of one frame", f"{total['latency_cycles']:,} cycles, weights there already"),
        ("what binds", speed["binds"]),
        ("multiply-accumulates a frame", f"{total['macs']:,}"),
    ]
    return "; ".join(ports) + ".\n\n" + table(("modelled", ""), rows)


def slr_table(report: dict[str, Any], what: str = "instances") -> str:
    """What of each SLR is used; `what` its instances are."""
    rows = [
        (slr["name"], slr["instances"], *(_share(slr["used"][kind], slr["usable"][kind]) for kind in KINDS))
        for slr in report["slrs"]
    ]
    return table(("SLR", what, *(f"{kind.upper()} (share of usable)" for kind in KINDS)), rows)


def _share(used: int, limit: int) -> str:
    return f"{used:,} ({used / limit:.0%})" if limit else f"{used:,}"


def _layer_table(report: dict[str, Any]) -> str:
    rows = []
    for layer in report["layers"]:
        folding = layer["folding"]
        rows.append(
            (
                f"`{layer['name']}`",
                layer["kind"],
                " x ".join(map(str, layer["shape"])),
                layer["type"],
                f"{folding['px']} / {folding['pe']} / {folding['simd']}",
                f"{layer['interval_cycles']:,}",
                weight_text(layer.get("weights")),
                *(f"{layer[kind]:,}" for kind in KINDS),
            )
        )
    for joint in report["joints"]:
        rows.append(
            (
                f"`{joint['name']}`",
                "",
                "",
                "",
                "",
                f"{joint['interval_cycles']:,}",
                "",
                *(f"{joint[kind]:,}" for kind in KINDS),
            )
        )
    head = ("stage", "kind", "gives", "type", "PX / PE / SIMD", "cycles a frame", "weights")
    return table((*head, *(kind.upper() for kind in KINDS)), rows)


def weight_text(weights: dict[str, Any] | None) -> str:
    """runtime in uram"""
    if not weights:
        return ""
    frames = f", for {weights['batch_reuse']} frames" if "batch_reuse" in weights else ""
    return f"{weights['place']} in {weights['storage']}{frames}"


def _fifo_table(report: dict[str, Any]) -> str:
    deep = [fifo for fifo in report["fifos"] if fifo["depth"] > 2]
    text = f"{len(report['fifos'])} FIFOs, {len(report['fifos']) - len(deep)} of them of 2 words"
    if not deep:
        return text + "."
    rows = [
        (f"`{f['name']}`", f["depth"], f["least_depth"] or "not computed", f"{f['lanes']} of {f['type']}")
        for f in deep
    ]
    return text + ":\n\n" + table(("stream", "words", "deadlock below", "word"), rows)


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
    return (
        "## Fixed point against floating point\n\nMeasured on calibration frames: signal to noise of each "
        "layer's output, and of the network's.\n\n" + table(head, rows)
    )


def _csim(report: dict[str, Any]) -> str:
    csim = report["csim"]
    if csim["verdict"] == "skipped":
        return "Skipped."
    equal = csim["compared"] - csim["mismatches"]
    return (
        f"Measured: {equal:,} of {csim['compared']:,} results of {len(csim['layers'])} layers and "
        f"{csim['frames']} frames equal golden bit for bit. Every stage makes the modelled iterations and "
        f"reads and writes its streams in just those of its schedule; with all stages at once and FIFOs of "
        f"these depths the kernel runs through."
    )
