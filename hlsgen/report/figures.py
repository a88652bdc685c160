"""Figures that several designs' reports have in common, as report.json has them. Every one is modelled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hlsgen.cost.resources import Resources
from hlsgen.cost.stages import process_resources
from hlsgen.hardware.processes import Process, StageProcess
from hlsgen.model.accuracy import Accuracy
from hlsgen.targets.board import SLR, Board

KINDS = ("dsp", "bram18", "uram", "lut", "ff")


def resource_figures(resources: Resources) -> dict[str, int]:
    """The resources as report.json has them."""
    return {kind: getattr(resources, kind) for kind in KINDS}


def fifo_memory(bram18: int, uram: int) -> str:
    """The memories that a FIFO is of, in words; empty if of logic cells."""
    return f"{uram} URAM" if uram else f"{bram18} BRAM18" if bram18 else ""


def board_figures(board: Board) -> dict[str, str]:
    return {"board_title": board.title, "part": board.part}


def batch_cycles(batch: int, instances: int, latency: int, interval: int) -> int:
    """Cycles of a batch in one go: those of the instance with the most frames, whose first takes longest."""
    return latency + (-(-batch // instances) - 1) * interval


def slr_figures(
    name: str, free: SLR, limit: Resources, *, instances: int, used: Resources, banks: Sequence[str]
) -> dict[str, Any]:
    """A row of the section `slrs`.

    free: what the platform leaves free, of which a design may use `limit`. banks: of DDR in use there.
    """
    return {
        "name": name,
        "instances": instances,
        "used": resource_figures(used),
        "usable": resource_figures(limit),
        "free": {kind: getattr(free, kind) for kind in KINDS},
        "ddr": list(banks),
    }


def performance_figures(
    *, frames_per_s: float, batch: int, batch_frames_per_s: float, macs: int, binds: str
) -> dict[str, Any]:
    """Speed in the steady state and of a batch; each of the `macs` of a frame is two operations."""
    return {
        "frames_per_s": round(frames_per_s, 3),
        "gops": round(2 * macs * frames_per_s / 1e9, 3),
        "batch": batch,
        "batch_frames_per_s": round(batch_frames_per_s, 3),
        "batch_gops": round(2 * macs * batch_frames_per_s / 1e9, 3),
        "binds": binds,
        "kind": "modelled",
    }


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
            **stage.folding(),
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


def adapter_figures(process: Process, board: Board) -> dict[str, Any]:
    """What stands between stages: loads, stores, forks and converters."""
    return {
        "name": process.name,
        "interval_cycles": process.interval,
        **resource_figures(process_resources(process, board)),
    }


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
