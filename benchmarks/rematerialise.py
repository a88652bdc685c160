"""Training under a memory budget beside plain training and torch's checkpoint_sequential, measured.

python benchmarks/rematerialise.py [--json PATH] [--batch N] [--size N] [--rounds N]

ResNet-18 and MobileNetV2 of designs/networks in training mode, one thread. Of each budget the predicted peak,
the measured one (tensors, by PyTorch's allocator), how far the process's own resident memory rose (Linux),
and the processor time of a step over that of plain training, each the best of rounds that take turns.
checkpoint_sequential runs over the very same stages in 2 segments and more; of a budget the fastest whose
measured peak is within it stands beside.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from machine import DESIGNS, machine
from rich.console import Console
from rich.table import Table
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential

import hlsgen
from hlsgen.rematerialising.module import Rematerialised
from hlsgen.rematerialising.peaks import now, step_cost
from hlsgen.rematerialising.plan import Plan
from hlsgen.rematerialising.sizes import size_text

JSON = Path("build/benchmarks/rematerialise.json")
NETWORKS = {"resnet18": "ResNet18", "mobilenet_v2": "MobileNetV2"}
SHARES = (1.0, 0.75, 0.5, 0.25, 0.0)
"""Budgets: the least possible, and this share of what plain training needs more."""
SEGMENTS = (2, 3, 4, 5, 6, 8, 10, 14, 20)
PLENTY = "1TB"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One way to train within a budget. Bytes; `ratio`: its time over that of plain training."""

    network: str
    way: str
    budget: int
    predicted_peak: int | None
    measured_peak: int
    resident: int | None
    predicted_ratio: float | None
    measured_ratio: float

    @property
    def within(self) -> bool:
        return self.measured_peak <= self.budget


class Segments(nn.Module):
    """The stages of a plan in torch's checkpoint_sequential, so many segments of them."""

    def __init__(self, planned: Rematerialised, number: int) -> None:
        super().__init__()
        self.module = planned.module
        self.number = number
        self._functions = [one.segment for one in planned._stages]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = checkpoint_sequential(self._functions, self.number, x, use_reentrant=False)
        return output


def resident_rise(step: Callable[[], object]) -> int | None:
    """Bytes by which the process's resident memory rises at most while it runs; None: not on Linux."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was released goes back to the system first
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    before = _kilobytes(status, "VmRSS")
    step()
    return 1024 * (_kilobytes(status, "VmHWM") - before)


def _kilobytes(status: Path, what: str) -> int:
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith(what))


def step_of(module: nn.Module, frame: torch.Tensor) -> Callable[[], None]:
    def step() -> None:
        module.zero_grad()
        module(frame).sum().backward()

    return step


def ratios(ways: Mapping[str, nn.Module], frame: torch.Tensor, rounds: int) -> dict[str, float]:
    """Seconds of a step of each over those of "plain", the best of rounds in which all take turns."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, module in ways.items():
            step = step_of(module, frame)
            start = now()
            step()
            best[name] = min(best[name], now() - start)
    return {name: seconds / best["plain"] for name, seconds in best.items()}


def network_of(name: str) -> nn.Module:
    """Of designs/networks, with weights as PyTorch makes them."""
    sys.path.insert(0, str(DESIGNS / "networks"))
    try:
        module: nn.Module = getattr(import_module(name), NETWORKS[name])()
    finally:
        sys.path.pop(0)
    return module.train()


def compared(name: str, batch: int, size: int, rounds: int) -> list[Row]:
    module, frame = network_of(name), torch.rand(batch, 3, size, size)
    free = hlsgen.rematerialise(module, frame, PLENTY)
    plans = {share: _plan(module, frame, free.plan, share) for share in SHARES}
    segments = {f"{n} segments": Segments(free, n) for n in SEGMENTS if n <= len(free._stages)}
    ways: dict[str, nn.Module] = {"plain": module, **segments}
    ways.update({f"{share:.0%}": one for share, one in plans.items()})
    peaks = {way: step_cost(one, frame, repeats=0).peak for way, one in ways.items()}
    resident = {way: resident_rise(step_of(one, frame)) for way, one in ways.items()}
    took = ratios(ways, frame, rounds)
    rows = []
    for share, one in plans.items():
        plan, way = one.plan, f"{share:.0%}"
        rows.append(_row(name, "plan", plan.budget, way, peaks, resident, took, plan))
        fitting = [way for way in ("plain", *segments) if peaks[way] <= plan.budget]
        best = min(fitting, key=lambda way: took[way], default=None)
        if best is not None:
            rows.append(_row(name, best, plan.budget, best, peaks, resident, took))
    least = min(segments, key=lambda way: peaks[way])
    rows.append(_row(name, f"{least} (least)", peaks[least], least, peaks, resident, took))
    return rows


def _plan(module: nn.Module, frame: torch.Tensor, free: Plan, share: float) -> Rematerialised:
    budget = free.least_memory + round(share * (free.plain_peak - free.least_memory))
    return hlsgen.rematerialise(module, frame, budget)


def _row(
    network: str,
    name: str,
    budget: int,
    way: str,
    peaks: Mapping[str, int],
    resident: Mapping[str, int | None],
    took: Mapping[str, float],
    plan: Plan | None = None,
) -> Row:
    return Row(
        network=network,
        way=name,
        budget=budget,
        predicted_peak=None if plan is None else plan.peak,
        measured_peak=peaks[way],
        resident=resident[way],
        predicted_ratio=None if plan is None else plan.seconds / plan.plain_seconds,
        measured_ratio=took[way],
    )


def table_of(rows: Sequence[Row]) -> Table:
    table = Table("network", "way", "budget", "predicted", "measured", "resident", "predicted time", "time")
    for row in rows:
        table.add_row(
            row.network,
            row.way,
            size_text(row.budget),
            "-" if row.predicted_peak is None else size_text(row.predicted_peak),
            size_text(row.measured_peak) + ("" if row.within else " (over)"),
            "-" if row.resident is None else size_text(row.resident),
            "-" if row.predicted_ratio is None else f"{row.predicted_ratio:.2f}",
            f"{row.measured_ratio:.2f}",
        )
    return table


def as_json(rows: Sequence[Row], options: argparse.Namespace) -> dict[str, Any]:
    return {
        "kind": "measured",
        "batch": options.batch,
        "size": options.size,
        "torch": torch.__version__,
        "machine": machine(),
        "rows": [asdict(row) for row in rows],
    }


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", type=Path, default=JSON)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--network", choices=sorted(NETWORKS), action="append")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    rows = []
    for name in options.network or NETWORKS:
        rows += compared(name, options.batch, options.size, options.rounds)
    Console(width=120).print(table_of(rows))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(as_json(rows, options), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
