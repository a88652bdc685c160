"""Errors of the PyTorch frontend about whole models, and where and how all of its errors are told."""

# ruff: noqa: E402 (PyTorch has to be there for the imports below the first)

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
from torch import nn

from hlsgen.base.errors import ToolError
from hlsgen.frontends.torch.call import CONVERTERS
from tests.support.frontends.torch_models import IMAGE, SIGNAL, VECTOR, Of, Shape
from tests.support.frontends.torch_refusals import HERE, NO_LAYER, problems_of

# where and how it is said


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(4, 4, 1)
        self.features = nn.Sequential(nn.ReLU(), nn.LayerNorm(6))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x).sqrt()  # the root
        return self.features(x) + x.log()  # the logarithm


def line_of(mark: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


def test_an_operation_is_named_with_its_module_and_its_line() -> None:
    class Norm(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.block = nn.Sequential(nn.ReLU(), nn.LayerNorm(6))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.block(x) + 1  # a norm

    (problem,) = problems_of(Norm(), IMAGE)
    assert problem.message == f"block.1 (LayerNorm): aten.layer_norm: {NO_LAYER}"
    assert problem.place is not None
    assert (problem.place.file, problem.place.line) == (os.path.relpath(__file__), line_of("a norm"))
    assert problem.place.excerpt == "return self.block(x) + 1  # a norm"


def test_one_run_tells_every_operation_also_behind_one_that_failed() -> None:
    root, norm, logarithm = problems_of(Net(), IMAGE)
    assert root.message == f"aten.sqrt: {NO_LAYER}"
    assert root.place is not None and root.place.line == line_of("the root")
    assert norm.message == f"features.1 (LayerNorm): aten.layer_norm: {NO_LAYER}"
    assert logarithm.message == f"aten.log: {NO_LAYER}"
    assert logarithm.place is not None and logarithm.place.line == line_of("the logarithm")


class ByHand(nn.Module):
    """A transformer as people write one, and what its modules are."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.own = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.memory = nn.LSTM(8, 8, batch_first=True)
        self.fc = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.memory(self.own(self.norm(x)))[0]
        centred = x - x.mean(-1, keepdim=True)
        x = centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + 1e-5)  # a norm by hand
        scores = x @ x.transpose(1, 2) / 8**0.5  # attention by hand
        x = torch.softmax(scores, -1) @ x
        return self.fc(nn.functional.normalize(x, dim=-1))


def test_what_is_refused_as_one_is_told_by_its_name_and_once() -> None:
    problems = problems_of(ByHand(), (5, 8))
    told = [problem.message.split(": hlsgen")[0].split(", for which")[0] for problem in problems]
    assert [text.split(": aten")[0] for text in told] == [
        "norm (LayerNorm)",
        "own.self_attn (MultiheadAttention)",
        "own.norm1 (LayerNorm)",
        "own.norm2 (LayerNorm)",
        "memory (LSTM)",
        "aten.sqrt: with those around it this is LayerNorm, RMSNorm or the like",
        "aten.matmul: with those around it this is attention",
        "aten.matmul: with those around it this is attention",
        "aten.linalg_vector_norm",
    ]
    assert all(problem.place is not None for problem in problems)
    assert problems[5].place is not None and problems[5].place.line == line_of("a norm by hand")


def test_operations_that_fail_by_themselves_are_all_reported() -> None:
    problems = problems_of(Of(lambda m, x: x.sqrt() + x.log()), IMAGE)
    assert [problem.message.split(":")[0] for problem in problems] == ["aten.sqrt", "aten.log"]


def test_without_a_line_of_the_users_the_place_is_the_designs() -> None:
    (problem,) = problems_of(nn.Sequential(nn.LayerNorm(6)), IMAGE)
    assert problem.place == HERE


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    """PyTorch prints graphs and logs where a model depends on values."""
    problems_of(Branches(), IMAGE)
    assert capfd.readouterr() == ("", "")


def test_a_converter_that_misunderstands_an_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CONVERTERS, "relu", lambda call, self: call.builder.flatten(self))
    (problem,) = problems_of(nn.ReLU(), IMAGE)
    assert "hlsgen takes its result to be 144 without the batch, which it is not" in problem.message


# models


class Branches(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:  # a choice
            return x * 2
        return x


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        return x * self.count


class Conditional(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.shape[0] > 5, lambda y: y * 2, lambda y: y * 3, (x,))


class Raising(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise ValueError("no weights yet")  # raised


class Foreign(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(x.numpy() * 2)


def test_control_flow_that_depends_on_values() -> None:
    (problem,) = problems_of(Branches(), IMAGE)
    assert problem.message.startswith(
        "the model does different things for different values, which hardware cannot"
    )
    assert "if and while" in problem.fix
    assert problem.place is not None and problem.place.line == line_of("a choice")


def test_control_flow_as_an_operation() -> None:
    (problem,) = problems_of(Conditional(), IMAGE)
    assert problem.message == f"torch.cond: {NO_LAYER}"
    assert problem.fix == "a forward() that does the same for every input"


def test_a_model_that_changes_its_buffers() -> None:
    (problem,) = problems_of(Counting(), IMAGE)
    assert problem.message == "the model changes its own buffers when it runs: count"


def test_a_model_that_fails_by_itself() -> None:
    (problem,) = problems_of(Raising(), IMAGE)
    assert problem.message == "the model fails on inputs of 4 x 6 x 6 (without the batch): no weights yet"
    assert problem.place is not None and problem.place.line == line_of("raised")


def test_a_model_that_runs_and_cannot_be_exported() -> None:
    (problem,) = problems_of(Foreign(), IMAGE)
    assert problem.message.startswith("torch.export cannot trace the model: ")
    assert "torch.export.export(model" in problem.fix


def test_other_input_shapes_than_the_models() -> None:
    (problem,) = problems_of(nn.Linear(5, 2), VECTOR)
    assert "fails on inputs of 4 (without the batch): mat1 and mat2 shapes" in problem.message


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([], "the model has no inputs"),
        (
            [VECTOR, VECTOR],
            "the model's forward(input) does not take 2 inputs: too many positional arguments",
        ),
    ],
)
def test_another_number_of_inputs(shapes: list[Shape], message: str) -> None:
    (problem,) = problems_of(nn.Linear(4, 2), *shapes)
    assert problem.message == message
    assert problem.place == HERE


def test_an_input_of_four_axes() -> None:
    (problem,) = problems_of(nn.ReLU(), (1, 2, 3, 4))
    assert problem.message == "the input input of the model net is 1 x 2 x 3 x 4 without the batch"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda m, x: (x * 2, m.scale), "the output out1 of the model is a constant"),
        (lambda m, x: {"y": x * 2, "loss": None}, "the output loss of the model is None"),
        (lambda m, x: (x * 2, 3), "the output out1 of the model is a constant"),
        (lambda m, x: x, "the model net computes nothing: its outputs are its inputs"),
    ],
)
def test_outputs_that_are_not_computed(function: Callable[..., Any], message: str) -> None:
    (problem,) = problems_of(Of(function), IMAGE)
    assert problem.message == message


def test_an_input_that_nothing_needs() -> None:
    (problem,) = problems_of(Of(lambda m, x, y: x * 2), IMAGE, SIGNAL)
    assert "do not depend on its input inputs_1" in problem.message


def test_pytorch_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "hlsgen.frontends.torch.package")
    with pytest.raises(ToolError, match=r"needs the package torch.*\nfix: pip install 'hlsgen\[torch\]'"):
        importlib.import_module("hlsgen.frontends.torch.package")
