"""Every operation that the PyTorch frontend refuses: what it says, and what it proposes."""

# ruff: noqa: E402 (PyTorch has to be there for the imports below the first)

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
import torch.nn.functional as F
from torch import nn

from hlsgen.base.errors import Problem
from tests.support.frontends.torch_models import IMAGE, VECTOR, Of, Shape, Together
from tests.support.frontends.torch_refusals import NO_LAYER, problems_of


class Refused(NamedTuple):
    """A model, or a function of (model, inputs), the inputs' shapes, and parts of message and remedy."""

    model: nn.Module | Callable[..., Any]
    shapes: tuple[Shape, ...]
    message: str
    fix: str


def refused(model: nn.Module | Callable[..., Any], *shapes: Shape, says: str, fix: str) -> Refused:
    return Refused(model, shapes, says, fix)


FRAMES = "does not have the batch first and only there"

OPERATIONS = {
    "layer_norm": refused(
        nn.LayerNorm(6), IMAGE, says=f"aten.layer_norm: {NO_LAYER}", fix="nn.BatchNorm1d or"
    ),
    "group_norm": refused(nn.GroupNorm(2, 4), IMAGE, says=f"aten.group_norm: {NO_LAYER}", fix="BatchNorm2d"),
    "instance_norm": refused(nn.InstanceNorm2d(4), IMAGE, says="aten.instance_norm", fix="BatchNorm2d"),
    "batch_statistics": refused(
        nn.BatchNorm2d(4, track_running_stats=False),
        IMAGE,
        says=f"aten.batch_norm: {NO_LAYER}",
        fix="track_running_stats=True",
    ),
    "training_norm": refused(
        lambda m, x: F.batch_norm(x, None, None, training=True),
        IMAGE,
        says="aten.batch_norm",
        fix="training=False",
    ),
    "dropout": refused(
        lambda m, x: F.dropout(x), IMAGE, says="aten.native_dropout", fix="training=self.training"
    ),
    "random_slope": refused(
        lambda m, x: F.rrelu(x, training=True), IMAGE, says="slope is drawn at random", fix="nn.RReLU"
    ),
    "conv3d": refused(
        lambda m, x: F.conv3d(x[:, None], torch.ones(1, 1, 1, 1, 1)),
        IMAGE,
        says="aten.conv3d",
        fix="nn.Conv2d",
    ),
    "convolution3d": refused(
        lambda m, x: torch.convolution(
            x[:, None], torch.ones(1, 1, 1, 1, 1), None, [1] * 3, [0] * 3, [1] * 3, False, [0] * 3, 1
        ),
        IMAGE,
        says="an input of 5 axes with the batch, and weights of 5",
        fix="a batch of images or signals",
    ),
    "pool_of_frames": refused(
        lambda m, x: F.max_pool2d(x[:, 0], 2), IMAGE, says="has 3 axes with the batch", fix="[N, C, H, W]"
    ),
    "adaptive_pool_of_frames": refused(
        lambda m, x: F.adaptive_avg_pool2d(x[:, 0], 2), IMAGE, says="has 3 axes with", fix="[N, C, H, W]"
    ),
    "pool_of_vectors": refused(
        lambda m, x: F.avg_pool1d(x[:, 0, 0], 2), IMAGE, says="has 2 axes with the batch", fix="[N, C, L]"
    ),
    "nearly_softsign": refused(
        lambda m, x: x / (x.abs() + 2), IMAGE, says="divides by a tensor", fix="constants"
    ),
    "resized_without_turns": refused(
        lambda m, x: F.interpolate(F.pad(x[:, :1], (0, 1100, 0, 0)), scale_factor=1.7320508, mode="bilinear"),
        IMAGE,
        says="each with weights of its own",
        fix="3/2",
    ),
    "trilinear": refused(
        lambda m, x: F.interpolate(x[:, None], scale_factor=2, mode="trilinear"),
        IMAGE,
        says="aten.upsample_trilinear3d",
        fix="'bilinear' or 'bicubic' of images",
    ),
    "unpool": refused(
        lambda m, x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2),
        IMAGE,
        says=f"aten.max_unpool2d: {NO_LAYER}",
        fix="nn.ConvTranspose2d",
    ),
    "used_indices": refused(
        lambda m, x: x[:, :, :3, :3] * F.max_pool2d(x, 2, return_indices=True)[1],
        IMAGE,
        says="aten.mul: it takes the indices of a max pool",
        fix="MaxUnpool",
    ),
    "lstm": refused(nn.LSTM(4, 3, batch_first=True), (5, 4), says="aten.lstm", fix="nn.Conv1d"),
    "attention": refused(
        lambda m, x: F.scaled_dot_product_attention(x, x, x),
        IMAGE,
        says="scaled_dot_product",
        fix="convolutions",
    ),
    "two_matrices": refused(
        lambda m, x: x @ x, IMAGE, says="multiplies two matrices that both", fix="constant"
    ),
    "many_matrices": refused(
        lambda m, x: x @ m.places[0], IMAGE, says="by 4 different matrices", fix="groups"
    ),
    "computed_weights": refused(
        lambda m, x, y: F.linear(x, (y.T @ y)), VECTOR, VECTOR, says=FRAMES, fix="batch as the first axis"
    ),
    "computed_slope": refused(
        lambda m, x, y: F.leaky_relu(x, 0.1) * torch.clamp(x, y),
        VECTOR,
        VECTOR,
        says="has to be constant",
        fix="param",
    ),
    "half": refused(
        lambda m, x: x.half(), IMAGE, says="it casts to float16", fix="the design chooses the number types"
    ),
    "integer": refused(
        lambda m, x: x.int() * 2, IMAGE, says="it casts to int32", fix="the design chooses the number types"
    ),
    "softmax_half": refused(
        lambda m, x: F.softmax(x, 1, dtype=torch.half),
        IMAGE,
        says="casts to float16",
        fix="the design chooses",
    ),
    "type_as": refused(
        lambda m, x: x.type_as(torch.ones(1).half()), IMAGE, says="casts to float16", fix="the design chooses"
    ),
    "sum_of_masks": refused(
        lambda m, x: x * ((x > 0) + (x < 1)), IMAGE, says="computes with true and false", fix="torch.where"
    ),
    "count_of_masks": refused(
        lambda m, x: x + (x > 0).sum(1, keepdim=True),
        IMAGE,
        says="computes with true and false",
        fix="torch.where",
    ),
    "logic_of_numbers": refused(
        lambda m, x: x * torch.logical_and(x, x + 1), IMAGE, says="true and false", fix="comparisons"
    ),
    "infinite_choice": refused(
        lambda m, x: x.masked_fill(x > 0, -torch.inf), IMAGE, says="NaN or infinity", fix="finite"
    ),
    "division": refused(
        lambda m, x: 1 / x, IMAGE, says="aten.reciprocal", fix="an activation that hlsgen has"
    ),
    "division_of_two": refused(lambda m, x: x / (x + 5), IMAGE, says="divides by a tensor", fix="constants"),
    "division_by_zero": refused(
        lambda m, x: x / (m.scale * 0), IMAGE, says="divides by zero", fix="other than zero"
    ),
    "whole_division": refused(
        lambda m, x: torch.div(x, 2, rounding_mode="floor"),
        IMAGE,
        says=f"aten.div: {NO_LAYER}",
        fix="reshapes",
    ),
    "root": refused(lambda m, x: x**0.5, IMAGE, says="the power of 0.5", fix="exponent of 1, 2, 3 or 4"),
    "scaled_elu": refused(
        lambda m, x: torch.ops.aten.elu(x, 1, 2), IMAGE, says="scales its input or its result", fix="nn.SELU"
    ),
    "assignment": refused(
        lambda m, x: (y := x * 2, y.__setitem__((slice(None), 0), 0.0), y)[2],
        IMAGE,
        says="aten.fill",
        fix="torch.cat",
    ),
    "scattered_index": refused(
        lambda m, x: x[:, [n * n % 37 for n in range(37)]],
        (37, 2, 2),
        says="its 37 indices are 19 slices, more than 16",
        fix="fewer slices",
    ),
    "two_indices": refused(
        lambda m, x: x[:, [0, 1], [1, 2]], IMAGE, says="indexes 2 axes", fix="index of one axis"
    ),
    "square_index": refused(
        lambda m, x: x[:, torch.tensor([[0, 1]])], IMAGE, says="its index has 2 axes", fix="index of one axis"
    ),
    "many_limits": refused(
        lambda m, x: torch.clamp(x, m.scale), IMAGE, says="limit has 4 elements", fix="single"
    ),
    "crossed_limits": refused(
        lambda m, x: x.clamp(2, 1), IMAGE, says="lower limit 2 is above its upper", fix="order"
    ),
    "nan": refused(lambda m, x: x + float("nan"), IMAGE, says="holds NaN or infinity", fix="finite"),
    "complex": refused(
        lambda m, x: (x * torch.tensor(1j)).real, IMAGE, says="casts to complex64", fix="number types"
    ),
    "minimum_of_all": refused(lambda m, x: x.amin(), IMAGE, says=FRAMES, fix="each frame"),
    "unknown": refused(
        lambda m, x: torch.fft.fft(x).real, IMAGE, says="aten.fft_fft", fix="reshapes; or leave it"
    ),
    "constant_part": refused(
        lambda m, x: torch.cat([x, torch.zeros_like(x)], 1), IMAGE, says="aten.zeros_like", fix="reshapes"
    ),
    "empty": refused(lambda m, x: x[:, 4:] * 2, IMAGE, says="its result has no elements", fix="leave it out"),
    "channel_pixels": refused(
        lambda m, x: F.pixel_shuffle(x[:, None], 2),
        IMAGE,
        says="its input has 5 axes with the batch",
        fix="4 axes",
    ),
    # the batch
    "mean_of_all": refused(
        lambda m, x: x - x.mean(), IMAGE, says="aten.mean: its result, a single", fix="frame"
    ),
    "mean_of_batch": refused(lambda m, x: x - x.mean(0), IMAGE, says=f"4 x 6 x 6, {FRAMES}", fix="frame"),
    "softmax_of_batch": refused(
        lambda m, x: F.softmax(x, 0), IMAGE, says="works along the batch", fix="dim of 1"
    ),
    "flip_of_batch": refused(lambda m, x: x.flip(0), IMAGE, says="works along the batch", fix="dim of 1"),
    "mixed_view": refused(
        lambda m, x: x.view(-1, 6), IMAGE, says=f"its result, 24*N x 6, {FRAMES}", fix="frame"
    ),
    "moved_batch": refused(
        lambda m, x: x.permute(1, 0, 2, 3), IMAGE, says=f"4 x N x 6 x 6, {FRAMES}", fix="frame"
    ),
    "swapped_batch": refused(
        lambda m, x: x.transpose(0, 1), IMAGE, says=f"4 x N x 6 x 6, {FRAMES}", fix="frame"
    ),
    "frame": refused(
        lambda m, x: x[0] * 2, IMAGE, says=f"aten.select: its result, 4 x 6 x 6, {FRAMES}", fix="frame"
    ),
    "frames": refused(
        lambda m, x: x[:1] * 2, IMAGE, says=f"aten.slice: its result, 1 x 4 x 6 x 6, {FRAMES}", fix=""
    ),
    "joined_frames": refused(
        lambda m, x: torch.cat([x, x]), IMAGE, says=f"2*N x 4 x 6 x 6, {FRAMES}", fix="frame"
    ),
    "repeated_frames": refused(lambda m, x: x.repeat(2, 1), VECTOR, says=f"2*N x 4, {FRAMES}", fix="frame"),
    "number_of_frames": refused(
        lambda m, x: x * x.shape[0], IMAGE, says="takes the number of frames", fix="frame"
    ),
    "constant_for_each": refused(
        lambda m, x: x + torch.zeros(x.shape[0], 4, 6, 6),
        IMAGE,
        says="takes the number of frames",
        fix="frame",
    ),
}


MODELS = {
    "pool_indices": refused(
        nn.MaxPool2d(2, return_indices=True),
        IMAGE,
        says="output out1 of the model is the indices",
        fix="outputs",
    ),
    "matrix_of_batch": refused(
        lambda m, x: m.matrix[:4, :2] @ x, VECTOR, says="the model works only for a certain number", fix="-1"
    ),
    "each_second": refused(
        lambda m, x: x[::2] * 2, IMAGE, says="works only for a certain number of frames", fix="-1"
    ),
    "fixed_frames": refused(
        lambda m, x: x.view(2, -1),
        IMAGE,
        says="works only for a certain number of frames: ",
        fix="-1 or x.shape[0]",
    ),
}
"""What is not found operation by operation."""


@lru_cache
def problems_with(shapes: tuple[Shape, ...]) -> tuple[list[str], tuple[Problem, ...]]:
    """The cases of these inputs' shapes, and all problems of a model that consists of them."""
    names = [name for name, each in OPERATIONS.items() if each.shapes == shapes]
    return names, problems_of(Together(OPERATIONS[name].model for name in names), *shapes)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation(name: str) -> None:
    names, problems = problems_with(OPERATIONS[name].shapes)
    path = f"models.{names.index(name)}"
    problem, *_ = [each for each in problems if each.message.startswith((f"{path} (", f"{path}."))]
    assert OPERATIONS[name].message in problem.message
    assert OPERATIONS[name].fix in problem.fix
    assert problem.place is not None


@pytest.mark.parametrize("name", MODELS)
def test_model(name: str) -> None:
    model, shapes, message, fix = MODELS[name]
    (problem,) = problems_of(model if isinstance(model, nn.Module) else Of(model), *shapes)
    assert message in problem.message
    assert fix in problem.fix
    assert problem.place is not None
