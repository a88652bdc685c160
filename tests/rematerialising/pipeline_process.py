"""One of the processes of a pipeline, started by test_pipeline.py: RANK COUNT MEETING_FILE RESULTS."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from hlsgen.base.errors import DesignError
from hlsgen.rematerialising.peaks import recorded, storage_bytes
from hlsgen.rematerialising.pipeline import Pipelined, pipelined

COUNT = 4
STEPS = 2


def network() -> nn.Module:
    """Deep enough for two parts, with batch normalisation, the same in every process."""
    torch.manual_seed(0)
    layers: list[nn.Module] = [nn.Conv2d(3, 16, 3, padding=1)]
    for _ in range(5):
        layers += [nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5)).train()


def batches() -> list[tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(1)
    return [(torch.rand(16, 3, 24, 24), torch.randint(0, 5, (16,))) for _ in range(STEPS)]


def planned(module: nn.Module, memory: int | str, way: Any, bounds: Sequence[int] | None) -> Pipelined:
    frame, labels = batches()[0]
    loss = nn.CrossEntropyLoss()
    return pipelined(module, frame, labels, loss, memory, micro_batches=COUNT, way=way, bounds=bounds)


def trained(way: str, memory: int | str, bounds: Sequence[int]) -> dict[str, Any]:
    """What a few steps leave in this process, and the peak of the first beside the plan's."""
    module = network()
    pipeline = planned(module, memory, way, bounds)
    optimizer = torch.optim.SGD(pipeline.parameters, 0.1)
    gradients, losses = [], []
    for number, (frame, labels) in enumerate(batches()):
        optimizer.zero_grad()
        if number == 1:
            with recorded() as recorder:
                recorder.mark()
                losses.append(pipeline.step(frame, labels))
        else:
            losses.append(pipeline.step(frame, labels))
        gradients.append({name: one.grad for name, one in module.named_parameters() if one.grad is not None})
        optimizer.step()
    named = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    held = [named[name] for name, owner in pipeline.owners.items() if owner == pipeline.rank]
    own = storage_bytes(held) + (frame.nbytes if pipeline.rank == 0 else 0)
    pipeline.collect()
    return {
        "plan": pipeline.plan,
        "peak": recorder.periods[0].peak + own,
        "losses": losses,
        "gradients": gradients,
        "state": module.state_dict(),
        "stages": [one.stage.name for one in pipeline.stages],
    }


def refused(memory: int | str, bounds: Sequence[int]) -> str:
    try:
        planned(network(), memory, "whole", bounds)
    except DesignError as error:
        return str(error)
    return ""


def main(rank: int, count: int, meeting: str, results: str) -> None:
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=count)
    first = planned(network(), "1GB", "whole", None)
    plan, bounds = first.plan, first.bounds  # later measurements might cut elsewhere
    between = plan.least_memory + (plan.plain_peak - plan.least_memory) // 3
    found = {
        "plenty": trained("whole", "1GB", bounds),
        "least": trained("whole", plan.least_memory, bounds),
        "between": trained("whole", between, bounds),
        "inputs": trained("inputs", "1GB", bounds),
        "each": trained("each", 2 * plan.plain_peak, bounds),
        "refused": refused(plan.least_memory // 2 if rank else "1GB", bounds),
    }
    for one in found.values():
        if isinstance(one, dict):
            chosen = one.pop("plan")
            one.update(
                predicted=chosen.peak, budget=chosen.budget, seconds=chosen.seconds, again=chosen.again
            )
    torch.save(found, results)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4])
