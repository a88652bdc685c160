"""A pipeline over two processes: gradients of plain training with micro-batches, each within its budget."""

from __future__ import annotations

import functools
import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import nn

from hlsgen.base.errors import DesignError
from hlsgen.rematerialising.chain import Kind, Stage
from hlsgen.rematerialising.microbatches import Part, each, inputs_only, programs_of, send_stage, whole
from hlsgen.rematerialising.pipeline import balanced, pipelined
from hlsgen.rematerialising.simulate import peak_bytes
from tests.rematerialising.pipeline_process import COUNT, STEPS, batches, network
from tests.support.places import ROOT

WAYS = ("plenty", "least", "between", "inputs", "each")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What both processes found."""
    folder = tmp_path_factory.mktemp("pipeline")
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.rematerialising.pipeline_process"]
            + [str(rank), "2", str(folder / "meeting"), str(folder / f"{rank}.pt")],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        errors = [process.communicate(timeout=900)[1] for process in processes]
        assert [process.returncode for process in processes] == [0, 0], "\n".join(errors)
    finally:
        for process in processes:
            process.kill()
    return [torch.load(folder / f"{rank}.pt", weights_only=False) for rank in range(2)]


@functools.cache
def plain(steps: int = STEPS) -> tuple[list[dict[str, torch.Tensor]], nn.Module, list[float]]:
    """Gradients of each step, the module and losses of one process, micro-batch by micro-batch."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    module, loss = network(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(module.parameters(), 0.1)
    gradients, losses = [], []
    for frame, labels in batches()[:steps]:
        optimizer.zero_grad()
        pieces = zip(frame.chunk(COUNT), labels.chunk(COUNT), strict=True)
        ends = [loss(module(x), y) / COUNT for x, y in pieces]
        for end in reversed(ends):
            end.backward()
        losses.append(sum(float(end.detach()) for end in ends))
        gradients.append({name: one.grad for name, one in module.named_parameters() if one.grad is not None})
        optimizer.step()
    torch.set_num_threads(threads)
    return gradients, module, losses


@pytest.mark.parametrize("way", WAYS)
def test_gradients_are_those_of_plain_training(found: list[dict[str, Any]], way: str) -> None:
    gradients, module, losses = plain()
    for step in range(STEPS):
        both = {**found[0][way]["gradients"][step], **found[1][way]["gradients"][step]}
        assert set(both) == set(gradients[step])
        assert not set(found[0][way]["gradients"][step]) & set(found[1][way]["gradients"][step])
        for name, gradient in gradients[step].items():
            assert torch.equal(both[name], gradient), name
    assert found[1][way]["losses"] == losses
    assert found[0][way]["losses"] == [None] * STEPS
    for rank in range(2):  # collected in both, running statistics too
        for name, tensor in module.state_dict().items():
            assert torch.equal(found[rank][way]["state"][name], tensor), name


def test_both_processes_have_stages_and_none_twice(found: list[dict[str, Any]]) -> None:
    names = [name for rank in range(2) for name in found[rank]["plenty"]["stages"]]
    assert all(found[rank]["plenty"]["stages"] for rank in range(2))
    assert len(names) == len(set(names))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rank", [0, 1])
def test_each_process_keeps_to_its_budget(found: list[dict[str, Any]], way: str, rank: int) -> None:
    one = found[rank][way]
    assert one["peak"] <= one["predicted"] <= one["budget"]
    assert one["peak"] >= 0.75 * one["predicted"]


@pytest.mark.parametrize("rank", [0, 1])
def test_less_memory_means_more_computed_again(found: list[dict[str, Any]], rank: int) -> None:
    ways = found[rank]
    assert not ways["plenty"]["again"]
    assert ways["least"]["again"] and ways["inputs"]["again"]
    assert ways["least"]["predicted"] < ways["between"]["predicted"] < ways["plenty"]["predicted"]
    assert "process 1: training cannot be done" in ways["refused"], "too little for one is told to both"
    assert "process 0" not in ways["refused"]


def part(stages: int = 6) -> Part:
    one = Stage(
        name="s",
        forward_s=1.0,
        backward_s=2.0,
        output_bytes=10,
        saved_bytes=30,
        gradient_bytes=10,
        forward_peak=12,
        keep_peak=30,
        backward_peak=25,
        parameter_gradient_bytes=2,
    )
    return Part(
        stages=(one,) * stages, received=10, received_gradient=10, end=send_stage(10), fixed_bytes=100
    )


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("budget", [400, 500, 700, 1000])
def test_all_micro_batches_planned_together_are_never_slower(count: int, budget: int) -> None:
    """The seed's global approach beside its direct one and GPipe's, all within the same budget."""
    try:
        together = whole(part(), count, budget)
    except DesignError:
        assert each(part(), count, budget) is None and inputs_only(part(), count, budget) is None
        return
    for other in (each(part(), count, budget), inputs_only(part(), count, budget)):
        # whole rounds amounts up to units of the budget, of which each holds some
        if other is not None and other.peak <= budget - together.rounding:
            assert together.seconds <= other.seconds
    assert peak_bytes(together.chain, together.operations) <= budget


def test_planning_together_is_faster_than_equal_shares() -> None:
    """Micro-batches that go backward later find the memory of those before them free."""
    count, budget = 4, 520
    share = each(part(), count, budget)
    assert share is not None
    assert whole(part(), count, budget).seconds < share.seconds


def test_inputs_are_received_once_and_programs_are_of_one_micro_batch() -> None:
    count, stages = 3, 6
    plan = whole(part(stages), count, 420)
    received = [one for one in plan.operations if one.stage % (stages + 2) == 0]
    assert sum(one.kind is Kind.KEEP for one in received) == count
    assert sum(one.kind is Kind.BACKWARD for one in received) == count
    programs = programs_of(plan, stages, count)
    assert len(programs) == count
    kept = sum(len(one.forward) + sum(map(len, one.backward)) for one in programs)
    inner = [one for one in plan.operations if 0 < one.stage % (stages + 2) <= stages]
    assert kept == sum(one.kind is not Kind.BACKWARD for one in inner)
    assert all(0 <= one.stage < stages for program in programs for one in program.forward)


def test_the_slowest_part_is_as_fast_as_can_be() -> None:
    assert balanced([1, 1, 1, 1], 2) == [0, 2, 4]
    assert balanced([5, 1, 1, 1, 1], 2) == [0, 1, 5]
    assert balanced([1, 2, 3, 4, 5], 3) == [0, 3, 4, 5]


def test_one_process_alone_trains_in_micro_batches() -> None:
    module, (frame, labels) = network(), batches()[0]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    alone = pipelined(module, frame, labels, nn.CrossEntropyLoss(), "1GB", micro_batches=COUNT)
    loss = alone.step(frame, labels)
    torch.set_num_threads(threads)
    gradients, _, losses = plain(1)
    assert loss == losses[0]
    for name, one in module.named_parameters():
        assert one.grad is not None and torch.equal(one.grad, gradients[0][name])
    with pytest.raises(DesignError, match="micro-batches cannot be made of 15"):
        alone.step(frame[:15], labels)
    with pytest.raises(DesignError, match=r"bounds \[0, 2\] do not cut"):
        pipelined(module, frame, labels, nn.CrossEntropyLoss(), "1GB", micro_batches=4, bounds=[0, 2])
    with pytest.raises(DesignError, match="5 micro-batches cannot be made of 16 frames"):
        pipelined(module, frame, labels, nn.CrossEntropyLoss(), "1GB", micro_batches=5)
