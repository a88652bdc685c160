"""Two processes train ResNet-18 as a pipeline, each within a memory budget: three ways to plan it, measured.

python benchmarks/pipeline.py [--json PATH] [--batch N] [--size N] [--micro-batches N]

Each process has one thread. Peaks are those of its own tensors, time is its processor time over that of the
pipeline which keeps everything, the best of two steps; waiting for the other process is not in it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from machine import machine
from processes import cores
from rematerialise import network_of
from rich.console import Console
from rich.table import Table
from torch import nn

from hlsgen.base.errors import DesignError
from hlsgen.rematerialising.peaks import now, recorded, storage_bytes
from hlsgen.rematerialising.pipeline import Pipelined, pipelined
from hlsgen.rematerialising.sizes import size_text

JSON = Path("build/benchmarks/pipeline.json")
PROCESSES = 2
WAYS = ("whole", "each", "inputs")
SHARES = (0.75, 0.5, 0.25)
"""Budgets of a process: the least possible, and this share of what keeping everything needs more."""


def worker(rank: int, meeting: str, results: str, options: argparse.Namespace) -> None:
    """One of the processes."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{meeting}", rank=rank, world_size=PROCESSES
    )
    module = network_of("resnet18")
    frame = torch.rand(options.batch, 3, options.size, options.size)
    labels = torch.randint(0, 1000, (options.batch,))

    def planned(memory: int | str, way: Any, bounds: Sequence[int] | None) -> Pipelined:
        count = options.micro_batches
        loss = nn.CrossEntropyLoss()
        return pipelined(module, frame, labels, loss, memory, micro_batches=count, way=way, bounds=bounds)

    free = planned("1TB", "whole", None)
    plan = free.plan
    everything = stepped(free, frame, labels)
    rows = [row("all kept", plan.plain_peak, free, everything, everything)]
    for share in SHARES:
        budget = plan.least_memory + round(share * (plan.plain_peak - plan.least_memory))
        for way in WAYS:
            try:
                pipeline = planned(budget, way, free.bounds)
            except DesignError:
                rows.append({"way": way, "budget": budget, "predicted_peak": None})
                continue
            rows.append(row(way, budget, pipeline, stepped(pipeline, frame, labels), everything))
    Path(results).write_text(json.dumps(rows))
    torch.distributed.destroy_process_group()


def stepped(pipeline: Pipelined, frame: torch.Tensor, labels: torch.Tensor) -> tuple[int, float]:
    """Bytes at the peak of a step, and the seconds of one."""
    pipeline.module.zero_grad()
    with recorded() as recorder:
        recorder.mark()
        pipeline.step(frame, labels)
    seconds = []
    for _ in range(2):
        pipeline.module.zero_grad()
        start = now()
        pipeline.step(frame, labels)
        seconds.append(now() - start)
    named = {**dict(pipeline.module.named_parameters()), **dict(pipeline.module.named_buffers())}
    held = [named[name] for name, owner in pipeline.owners.items() if owner == pipeline.rank]
    own = storage_bytes(held) + (frame.nbytes if pipeline.rank == 0 else 0)
    return recorder.periods[0].peak + own, min(seconds)


def row(
    way: str, budget: int, pipeline: Pipelined, one: tuple[int, float], everything: tuple[int, float]
) -> dict[str, Any]:
    plan = pipeline.plan
    return {
        "way": way,
        "budget": budget,
        "predicted_peak": plan.peak,
        "measured_peak": one[0],
        "predicted_ratio": plan.seconds / plan.plain_seconds,
        "measured_ratio": one[1] / everything[1],
    }


def table_of(found: Sequence[Sequence[dict[str, Any]]]) -> Table:
    table = Table("process", "budget", "way", "predicted peak", "peak", "predicted time", "time")
    for rank, rows in enumerate(found):
        for one in rows:
            if one["predicted_peak"] is None:
                figures = ["does not fit", "-", "-", "-"]
            else:
                sizes = [size_text(one["predicted_peak"]), size_text(one["measured_peak"])]
                figures = [*sizes, f"{one['predicted_ratio']:.2f}", f"{one['measured_ratio']:.2f}"]
            table.add_row(str(rank), size_text(one["budget"]), one["way"], *figures)
    return table


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", type=Path, default=JSON)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--micro-batches", type=int, default=4)
    options = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        context = torch.multiprocessing.get_context("spawn")
        results = [str(Path(folder) / f"{rank}.json") for rank in range(PROCESSES)]
        processes = [
            context.Process(target=worker, args=(rank, str(Path(folder) / "meeting"), results[rank], options))
            for rank in range(PROCESSES)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        if any(process.exitcode for process in processes):
            sys.exit("error: a process of the pipeline failed; what it says is above")
        found = [json.loads(Path(one).read_text()) for one in results]
    Console(width=120).print(table_of(found))
    document = {"kind": "measured", "machine": machine(), "cores": cores(), "processes": found}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
