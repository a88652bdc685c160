"""The PyTorch frontend: golden of the float graph is what the model computes, for every operation."""

# ruff: noqa: E402 (PyTorch has to be there for the imports below the first)

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import nn

from hlsgen.frontends.torch.call import CONVERTERS
from hlsgen.frontends.torch.export import exported
from hlsgen.frontends.torch.to_graph import graph_of_module, op_name
from hlsgen.model.ir import Graph
from tests.support.frontends.ports import outputs_of
from tests.support.frontends.torch_models import (
    IMAGE,
    SIGNAL,
    TOLERANCE,
    VECTOR,
    Shape,
    Together,
    random,
    settle,
)


class Case(NamedTuple):
    """A model, or a function of (model, inputs); the inputs' shapes; the layers' kinds, if they matter."""

    model: nn.Module | Callable[..., Any]
    shapes: tuple[Shape, ...]
    layers: list[str] | None = None


def case(model: nn.Module | Callable[..., Any], *shapes: Shape, layers: list[str] | None = None) -> Case:
    return Case(model, shapes, layers)


CASES = {
    # convolutions
    "conv2d": case(nn.Conv2d(4, 3, 3, 2, 1), IMAGE, layers=["conv2d"]),
    "conv2d_no_bias": case(nn.Conv2d(4, 3, (3, 1), bias=False), IMAGE, layers=["conv2d"]),
    "conv2d_groups": case(nn.Conv2d(4, 8, 3, groups=2), IMAGE, layers=["conv2d"]),
    "conv2d_depthwise": case(nn.Conv2d(4, 4, 3, groups=4, dilation=2, padding=2), IMAGE),
    "conv2d_same": case(nn.Conv2d(4, 3, (4, 3), padding="same", dilation=(1, 2)), IMAGE, layers=["conv2d"]),
    "conv2d_valid": case(nn.Conv2d(4, 3, 3, padding="valid"), IMAGE, layers=["conv2d"]),
    "conv2d_reflect": case(nn.Conv2d(4, 3, 3, padding=2, padding_mode="reflect"), IMAGE),
    "conv2d_circular": case(nn.Conv2d(4, 3, 3, padding=(1, 2), padding_mode="circular"), IMAGE),
    "conv2d_replicate": case(nn.Conv2d(4, 3, 5, padding="same", padding_mode="replicate"), IMAGE),
    "conv1d": case(nn.Conv1d(4, 3, 3, 2, 1), SIGNAL, layers=["conv2d"]),
    "conv1d_same": case(nn.Conv1d(4, 3, 4, padding="same"), SIGNAL, layers=["conv2d"]),
    "conv1d_circular": case(nn.Conv1d(4, 3, 3, padding=1, padding_mode="circular"), SIGNAL),
    "convolution": case(
        lambda m, x: torch.convolution(
            x, m.places[:, :, :3, :2], None, [1, 2], [1, 0], [2, 1], False, [0, 0], 1
        ),
        IMAGE,
    ),
    "convolution_transposed": case(
        lambda m, x: torch.convolution(
            x, m.places[0, :, None, :3, :2], None, [2, 2], [1, 0], [1, 1], True, [1, 0], 1
        ),
        IMAGE,
    ),
    "_convolution": case(
        lambda m, x: torch._convolution(
            x, m.places[:, :, :3, :2], None, [1, 2], [1, 0], [2, 1], False, [0, 0], 1, *[False] * 4
        ),
        IMAGE,
    ),
    "conv_transpose2d": case(nn.ConvTranspose2d(4, 3, 2, 2), IMAGE, layers=["conv2d", "rearrange"]),
    "conv_transpose2d_crop": case(
        nn.ConvTranspose2d(4, 3, 4, 2, 1), IMAGE, layers=["conv2d", "rearrange", "crop"]
    ),
    "conv_transpose2d_groups": case(nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, groups=2), IMAGE),
    "conv_transpose2d_dilation": case(nn.ConvTranspose2d(4, 3, 3, 3, 2, 1, dilation=2, bias=False), IMAGE),
    "conv_transpose2d_stride_1": case(nn.ConvTranspose2d(4, 3, 3, dilation=2), IMAGE, layers=["conv2d"]),
    "conv_transpose1d": case(nn.ConvTranspose1d(4, 3, 5, 3, 2, 1), SIGNAL),
    "weight_norm": case(
        lambda m, x: F.conv2d(x, torch._weight_norm(m.places, m.scale[:1], 0)), IMAGE, layers=["conv2d"]
    ),
    # products
    "linear": case(nn.Linear(4, 5), VECTOR, layers=["dense"]),
    "linear_of_last": case(nn.Linear(6, 5), IMAGE),
    "linear_of_signal": case(nn.Linear(6, 5, bias=False), SIGNAL),
    "matmul_right": case(lambda m, x: x @ m.matrix, IMAGE),
    "matmul_left": case(lambda m, x: m.matrix[:, :4] @ x, SIGNAL),
    "matmul_vector": case(lambda m, x: torch.matmul(x, m.matrix[0]), SIGNAL),
    "mm": case(lambda m, x: torch.mm(x, m.matrix[:4]), VECTOR, layers=["dense"]),
    "mv": case(lambda m, x: torch.mv(x[:, 0], m.matrix[0]), SIGNAL),
    "addmm": case(
        lambda m, x: torch.addmm(m.matrix[0], x, m.matrix[:4], beta=2, alpha=0.5), VECTOR, layers=["dense"]
    ),
    # normalisation
    "batch_norm1d": case(nn.BatchNorm1d(4), VECTOR, layers=["affine"]),
    "batch_norm1d_signal": case(nn.BatchNorm1d(4), SIGNAL, layers=["affine"]),
    "batch_norm2d": case(nn.BatchNorm2d(4), IMAGE, layers=["affine"]),
    "batch_norm2d_plain": case(nn.BatchNorm2d(4, affine=False, eps=0.1), IMAGE, layers=["affine"]),
    "batch_norm_function": case(
        lambda m, x: F.batch_norm(x, m.matrix[0, :4], m.matrix[0, :4] ** 2, None, m.matrix[2, :4]), IMAGE
    ),
    # pools
    "max_pool2d": case(nn.MaxPool2d(2), IMAGE, layers=["pool2d"]),
    "max_pool2d_all": case(nn.MaxPool2d((3, 2), (2, 1), (1, 1), (2, 1), ceil_mode=True), IMAGE),
    "max_pool2d_indices": case(lambda m, x: F.max_pool2d(x, 2, return_indices=True)[0], IMAGE),
    "max_pool1d_indices": case(lambda m, x: F.max_pool1d(x, 2, return_indices=True)[0], SIGNAL),
    "max_pool1d": case(nn.MaxPool1d(3, 2, 1, 2), SIGNAL, layers=["pool2d"]),
    "avg_pool2d": case(nn.AvgPool2d(3, 2, 1), IMAGE, layers=["pool2d"]),
    "avg_pool2d_inside": case(nn.AvgPool2d(3, 2, 1, True, False), IMAGE, layers=["pool2d"]),
    "avg_pool2d_divisor": case(nn.AvgPool2d(3, 2, 1, divisor_override=4), IMAGE, layers=["pool2d"]),
    "avg_pool1d": case(nn.AvgPool1d(3, 2, 1, ceil_mode=True), SIGNAL, layers=["pool2d"]),
    "adaptive_avg_pool2d": case(nn.AdaptiveAvgPool2d(1), IMAGE, layers=["global_pool"]),
    "adaptive_avg_pool2d_sizes": case(nn.AdaptiveAvgPool2d((3, None)), IMAGE, layers=["pool2d"]),
    "adaptive_avg_pool2d_larger": case(nn.AdaptiveAvgPool2d((7, 4)), (4, 1, 8), layers=["adaptive_pool"]),
    "adaptive_avg_pool2d_repeated": case(nn.AdaptiveAvgPool2d(7), (4, 1, 1), layers=["rearrange"]),
    "adaptive_avg_pool2d_uneven": case(nn.AdaptiveAvgPool2d((4, None)), IMAGE, layers=["adaptive_pool"]),
    "adaptive_avg_pool2d_more": case(nn.AdaptiveAvgPool2d(7), (4, 2, 4), layers=["adaptive_pool"]),
    "adaptive_avg_pool1d_uneven": case(nn.AdaptiveAvgPool1d(4), SIGNAL, layers=["adaptive_pool"]),
    "adaptive_max_pool2d_uneven": case(nn.AdaptiveMaxPool2d((5, 2)), IMAGE, layers=["adaptive_pool"]),
    "adaptive_avg_pool1d": case(nn.AdaptiveAvgPool1d(2), SIGNAL, layers=["pool2d"]),
    "adaptive_max_pool2d": case(nn.AdaptiveMaxPool2d(1), IMAGE, layers=["global_pool"]),
    "adaptive_max_pool1d": case(nn.AdaptiveMaxPool1d(3), SIGNAL, layers=["pool2d"]),
    # along axes
    "mean_pixels": case(lambda m, x: x.mean((2, 3)), IMAGE, layers=["global_pool"]),
    "mean_negative": case(lambda m, x: x.mean((-1, -2), keepdim=True), IMAGE, layers=["global_pool"]),
    "mean_rows": case(lambda m, x: x.mean(2), IMAGE, layers=["pool2d"]),
    "mean_channels": case(lambda m, x: x.mean(1, keepdim=True), IMAGE),
    "sum": case(lambda m, x: x.sum((2, 3)), IMAGE, layers=["global_pool"]),
    "sum_columns": case(lambda m, x: x.sum(-1), IMAGE, layers=["pool2d"]),
    "amax": case(lambda m, x: x.amax((2, 3)), IMAGE, layers=["global_pool"]),
    "max": case(lambda m, x: x.max(2)[0], IMAGE, layers=["pool2d"]),
    "amin": case(lambda m, x: x.amin((2, 3)), IMAGE, layers=["affine", "global_pool", "affine"]),
    "min_with_index": case(lambda m, x: tuple(x.min(1)), IMAGE),
    "argmin": case(lambda m, x: x.argmin(1), VECTOR, layers=["affine", "argmax"]),
    "max_with_index": case(
        lambda m, x: tuple(x.max(1)), VECTOR, layers=["rearrange", "global_pool", "argmax"]
    ),
    "argmax": case(lambda m, x: x.argmax(1), VECTOR, layers=["argmax"]),
    "argmax_pixels": case(lambda m, x: x.argmax(1, keepdim=True), IMAGE, layers=["argmax"]),
    "argmax_rows": case(lambda m, x: x.argmax(-2), IMAGE),
    "softmax": case(nn.Softmax(1), VECTOR, layers=["softmax"]),
    "softmax_pixels": case(nn.Softmax2d(), IMAGE, layers=["softmax"]),
    "softmax_columns": case(lambda m, x: F.softmax(x, -1), IMAGE),
    "softmin": case(nn.Softmin(1), VECTOR, layers=["affine", "softmax"]),
    "log_softmax": case(nn.LogSoftmax(1), VECTOR, layers=["log_softmax"]),
    "log_softmax_columns": case(lambda m, x: F.log_softmax(x, -1), IMAGE),
    "decomposed_softmax": case(lambda m, x: torch.ops.aten._softmax(x, 1, False), IMAGE),
    "decomposed_log_softmax": case(lambda m, x: torch.ops.aten._log_softmax(x, 1, False), IMAGE),
    # choices; test_torch_choices.py has more
    "where": case(lambda m, x: torch.where(x > 0, x, 0), IMAGE, layers=["clamp"]),
    "relations": case(lambda m, x: x * (x >= 1) + x * (x < -1) - 2 * x * (x <= 0), IMAGE),
    "equal": case(lambda m, x: torch.where(x.relu() == 0, x, 1) + x * (x.relu() != 0), IMAGE),
    "masked_fill": case(lambda m, x: x.masked_fill(x > 0.5, 2), IMAGE),
    "logic": case(
        lambda m, x: x * torch.logical_or(torch.logical_and(x > 0, x < 1), torch.logical_not(x > -1)), IMAGE
    ),
    "operators_of_logic": case(lambda m, x: x * ((x > 0) & (x < 1) | ~(x > -1)), IMAGE),
    "bitwise_logic": case(
        lambda m, x: x * torch.bitwise_or(torch.bitwise_and(x > 0, x < 1), torch.bitwise_not(x > -1)), IMAGE
    ),
    # limits and slopes
    "relu": case(nn.ReLU(), IMAGE, layers=["clamp"]),
    "relu_in_place": case(nn.ReLU(inplace=True), IMAGE, layers=["clamp"]),
    "relu6": case(nn.ReLU6(), IMAGE, layers=["clamp"]),
    "relu6_function": case(lambda m, x: F.relu6(x), IMAGE, layers=["clamp"]),
    "clip": case(lambda m, x: torch.clip(x, 0, 1), IMAGE, layers=["clamp"]),
    "hardtanh": case(nn.Hardtanh(-2, 0.5), IMAGE, layers=["clamp"]),
    "clamp": case(lambda m, x: x.clamp(min=-0.5).clamp_(max=1), IMAGE, layers=["clamp", "clamp"]),
    "clamp_both": case(lambda m, x: torch.clamp(x, -0.5, 1), IMAGE, layers=["clamp"]),
    "clamp_min": case(lambda m, x: torch.clamp_min(x, 0.5).clamp_max(0.75), IMAGE),
    "clamp_infinite": case(lambda m, x: torch.clamp(x, 0, math.inf), IMAGE, layers=["clamp"]),
    "bilinear": case(
        nn.Upsample(scale_factor=2, mode="bilinear"),
        IMAGE,
        layers=["crop", "crop", "concat", "crop", "crop", "concat", "conv2d", "rearrange"],
    ),
    "bilinear_sides": case(lambda m, x: F.interpolate(x, size=(18, 6), mode="bilinear"), IMAGE),
    "bilinear_of_one_row": case(
        lambda m, x: F.interpolate(x[:, :, :1], scale_factor=(2, 5), mode="bilinear"), IMAGE
    ),
    "bilinear_of_one_pixel": case(
        lambda m, x: F.interpolate(x.mean((2, 3), keepdim=True), (4, 6), mode="bilinear"), IMAGE
    ),
    "bilinear_corners": case(nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), IMAGE),
    "bilinear_part": case(nn.Upsample(scale_factor=1.5, mode="bilinear"), IMAGE),
    "bilinear_part_and_rest": case(nn.Upsample(scale_factor=(1.4, 2.4), mode="bilinear"), IMAGE),
    "bilinear_smaller": case(lambda m, x: F.interpolate(x, size=(4, 5), mode="bilinear"), IMAGE),
    "bilinear_both_ways": case(
        lambda m, x: F.interpolate(x, size=(13, 2), mode="bilinear", align_corners=True), IMAGE
    ),
    "linear_corners": case(nn.Upsample(size=11, mode="linear", align_corners=True), SIGNAL),
    "nearest_part": case(nn.Upsample(scale_factor=1.5), IMAGE),
    "nearest_part_and_rest": case(nn.Upsample(scale_factor=(2.4, 0.7)), IMAGE),
    "nearest_sizes": case(lambda m, x: F.interpolate(x, size=(11, 4)), IMAGE),
    "nearest_exact_sizes": case(lambda m, x: F.interpolate(x, size=(8, 13), mode="nearest-exact"), IMAGE),
    "nearest_of_many": case(lambda m, x: F.interpolate(x.repeat(1, 1, 5, 1), size=(47, 6)), IMAGE),
    "nearest_signal": case(nn.Upsample(scale_factor=0.4), SIGNAL),
    "linear_upsampling": case(nn.Upsample(scale_factor=3, mode="linear"), SIGNAL),
    "bilinear_root_of_three": case(nn.Upsample(scale_factor=1.7320508, mode="bilinear"), IMAGE),
    "bilinear_of_many_taps": case(
        lambda m, x: F.interpolate(x.repeat_interleave(20, 2), size=(127, 6), mode="bilinear"), IMAGE
    ),
    "bicubic": case(nn.Upsample(scale_factor=2, mode="bicubic"), IMAGE),
    "bicubic_part": case(nn.Upsample(scale_factor=(1.7, 0.35), mode="bicubic"), IMAGE),
    "bicubic_corners": case(nn.Upsample(size=(11, 5), mode="bicubic", align_corners=True), IMAGE),
    "bilinear_antialias": case(
        lambda m, x: F.interpolate(x, scale_factor=(0.6, 1.7), mode="bilinear", antialias=True), IMAGE
    ),
    "bicubic_antialias": case(
        lambda m, x: F.interpolate(x, size=(4, 3), mode="bicubic", antialias=True), IMAGE
    ),
    "a_factor_that_changes_no_size": case(nn.Upsample(scale_factor=1.05), IMAGE),
    "a_factor_that_changes_no_signal": case(nn.Upsample(scale_factor=1.05), SIGNAL),
    "a_factor_that_changes_one_size": case(nn.Upsample(scale_factor=(1.05, 2), mode="bilinear"), IMAGE),
    "nearest_without_turns": case(
        lambda m, x: F.interpolate(x.repeat(1, 1, 12, 1), scale_factor=(1.7320508, 1)), IMAGE
    ),
    "larger": case(lambda m, x, y: torch.max(x, y), IMAGE, IMAGE, layers=["sub", "clamp", "add"]),
    "larger_of_each": case(lambda m, x, y: torch.maximum(x, y[:, :1]), IMAGE, IMAGE),
    "smaller": case(lambda m, x, y: torch.min(x, y), IMAGE, IMAGE, layers=["sub", "clamp", "sub"]),
    "smaller_of_each": case(lambda m, x, y: torch.minimum(x[:, :, :1], y), IMAGE, IMAGE),
    "maximum": case(lambda m, x: torch.maximum(x, torch.tensor(0.25)), IMAGE, layers=["clamp"]),
    "minimum": case(lambda m, x: torch.minimum(torch.tensor(0.25), x), IMAGE, layers=["clamp"]),
    "leaky_relu": case(nn.LeakyReLU(0.1), IMAGE, layers=["leaky"]),
    "prelu": case(nn.PReLU(), IMAGE, layers=["leaky"]),
    "prelu_channels": case(nn.PReLU(4, init=0.3), IMAGE, layers=["leaky"]),
    "rrelu": case(nn.RReLU(), IMAGE, layers=["leaky"]),
    # tables
    "sigmoid": case(nn.Sigmoid(), IMAGE, layers=["table"]),
    "expit": case(lambda m, x: torch.special.expit(x), IMAGE, layers=["table"]),
    "tanh": case(nn.Tanh(), IMAGE, layers=["table"]),
    "silu": case(nn.SiLU(), IMAGE, layers=["table"]),
    "mish": case(nn.Mish(), IMAGE, layers=["table"]),
    "gelu": case(nn.GELU(), IMAGE, layers=["table"]),
    "gelu_tanh": case(nn.GELU("tanh"), IMAGE, layers=["table"]),
    "elu": case(nn.ELU(0.7), IMAGE, layers=["table"]),
    "selu": case(nn.SELU(), IMAGE, layers=["table"]),
    "celu": case(nn.CELU(0.7), IMAGE, layers=["table"]),
    "softplus": case(nn.Softplus(2.0, 3.0), IMAGE, layers=["table"]),
    "softsign": case(nn.Softsign(), IMAGE, layers=["table"]),
    "hardswish": case(nn.Hardswish(), IMAGE, layers=["table"]),
    "hardsigmoid": case(nn.Hardsigmoid(), IMAGE, layers=["table"]),
    "logsigmoid": case(nn.LogSigmoid(), IMAGE, layers=["table"]),
    "softshrink": case(nn.Softshrink(0.4), IMAGE, layers=["table"]),
    "hardshrink": case(nn.Hardshrink(0.4), IMAGE, layers=["table"]),
    "tanhshrink": case(nn.Tanhshrink(), IMAGE, layers=["table", "sub"]),
    "threshold": case(nn.Threshold(0.3, -2.0), IMAGE, layers=["table"]),
    "exp": case(lambda m, x: x.exp(), IMAGE, layers=["table"]),
    "erf": case(lambda m, x: x.erf(), IMAGE, layers=["table"]),
    "abs": case(lambda m, x: x.abs(), IMAGE, layers=["table"]),
    "sign": case(lambda m, x: x.sign() + torch.sgn(x), IMAGE, layers=["table", "table", "add"]),
    "glu": case(nn.GLU(1), IMAGE),
    # arithmetic
    "add": case(lambda m, x, y: x + y, IMAGE, IMAGE, layers=["add"]),
    "other_names": case(
        lambda m, x: torch.negative(torch.true_divide(torch.multiply(torch.divide(x, 2), 3), 4)).subtract(5),
        IMAGE,
    ),
    "add_alpha": case(lambda m, x, y: torch.add(x, y, alpha=-2), IMAGE, IMAGE, layers=["affine", "add"]),
    "sub": case(lambda m, x, y: x - y, IMAGE, IMAGE, layers=["sub"]),
    "sub_alpha": case(lambda m, x, y: torch.sub(x, y, alpha=3), IMAGE, IMAGE),
    "sub_broadcast": case(lambda m, x, y: x - y, (4, 1, 1), IMAGE),
    "mul": case(lambda m, x, y: x * y, IMAGE, IMAGE, layers=["mul"]),
    "mul_gate": case(lambda m, x, y: y * x, IMAGE, (4, 1, 1), layers=["mul"]),
    "mul_vector": case(lambda m, x, y: x * y[:, :, None, None], IMAGE, VECTOR, layers=["mul"]),
    "mul_map": case(lambda m, x, y: x * y, IMAGE, (1, 6, 6)),
    "mul_fewer_axes": case(lambda m, x, y: x[:, :, :1] * y[:, None], IMAGE, SIGNAL),
    "add_scalar": case(lambda m, x: x + 1, IMAGE, layers=["affine"]),
    "add_in_place": case(lambda m, x: x.clone().add_(1).mul_(2), IMAGE, layers=["affine", "affine"]),
    "add_channels": case(lambda m, x: x + m.scale, IMAGE, layers=["affine"]),
    "add_places": case(lambda m, x: x + m.places, IMAGE),
    "add_columns": case(lambda m, x: x + m.matrix[0], IMAGE),
    "add_constant_alpha": case(lambda m, x: torch.add(x, m.scale, alpha=3), IMAGE, layers=["affine"]),
    "constant_minus": case(lambda m, x: m.scale - x, IMAGE, layers=["affine"]),
    "number_minus": case(lambda m, x: 1 - x, IMAGE, layers=["affine"]),
    "rsub": case(lambda m, x: torch.rsub(x, m.scale, alpha=2), IMAGE),
    "rsub_values": case(lambda m, x, y: torch.rsub(x, y, alpha=2), IMAGE, IMAGE),
    "mul_scalar": case(lambda m, x: 3 * x, IMAGE, layers=["affine"]),
    "mul_channels": case(lambda m, x: x * m.scale, IMAGE, layers=["affine"]),
    "mul_enlarges": case(lambda m, x: x * m.scale + m.places, (1, 6, 6)),
    "div": case(lambda m, x: x / m.scale / 4, IMAGE, layers=["affine", "affine"]),
    "neg": case(lambda m, x: -x, IMAGE, layers=["affine"]),
    "square": case(lambda m, x: x.square(), IMAGE, layers=["mul"]),
    "pow": case(lambda m, x: x**3, IMAGE, layers=["mul", "mul"]),
    "normalise": case(lambda m, x: (x - 0.5) / 0.25, IMAGE, layers=["affine", "affine"]),
    "constants": case(
        lambda m, x: x * (m.scale.abs().sqrt() + torch.ones(1)).log(), IMAGE, layers=["affine"]
    ),
    # views
    "flatten": case(lambda m, x: F.relu(x).flatten(1), IMAGE, layers=["clamp"]),
    "view": case(lambda m, x: (2 * x).view(x.size(0), -1), IMAGE, layers=["affine"]),
    "view_minus_one": case(lambda m, x: (2 * x).view(-1, 144), IMAGE, layers=["affine"]),
    "reshape": case(lambda m, x: (2 * x).reshape(x.shape[0], 2, 2, 6, -1), IMAGE, layers=["affine"]),
    "reshape_of_permuted": case(lambda m, x: (2 * x).permute(0, 2, 3, 1).reshape(x.size(0), 12, 12), IMAGE),
    "alias": case(lambda m, x: torch.ops.aten.alias(2 * x), IMAGE, layers=["affine"]),
    "unflatten": case(lambda m, x: (2 * x).unflatten(1, (2, 2)), IMAGE, layers=["affine"]),
    "squeeze": case(lambda m, x: (2 * x).squeeze(1).unsqueeze(2).squeeze(), (1, 6, 6), layers=["affine"]),
    "permute": case(lambda m, x: (2 * x).permute(0, 2, 3, 1), IMAGE, layers=["affine"]),
    "transpose": case(lambda m, x: (2 * x).transpose(1, -1).swapaxes(2, 3), IMAGE, layers=["affine"]),
    "movedim": case(lambda m, x: (2 * x).movedim(1, -1).mT, IMAGE, layers=["affine"]),
    "expand": case(lambda m, x: (2 * x).expand(-1, 4, -1, 6), (1, 6, 1)),
    "expand_as": case(lambda m, x, y: (2 * x).expand_as(y) + y, (4, 1, 1), IMAGE),
    "repeat": case(lambda m, x: (2 * x).repeat(1, 2, 1, 3), IMAGE, layers=["affine", "rearrange"]),
    "repeat_new_axis": case(lambda m, x: (2 * x).repeat(1, 2, 1), VECTOR[:0] + (4, 6)),
    "tile": case(lambda m, x: torch.tile(2 * x, (2, 1)), IMAGE, layers=["affine", "rearrange"]),
    "repeat_interleave": case(lambda m, x: (2 * x).repeat_interleave(3, 1), IMAGE),
    "flip": case(lambda m, x: (2 * x).flip(1, 3), IMAGE, layers=["affine", "rearrange"]),
    "roll": case(lambda m, x: x.roll((2, -1), (1, 3)), IMAGE),
    "slice": case(lambda m, x: (2 * x)[:, 1:, :, 1:-1], IMAGE, layers=["affine", "crop"]),
    "slice_step": case(lambda m, x: (2 * x)[:, :, ::2, 1::3], IMAGE, layers=["affine", "crop"]),
    "slice_beyond": case(lambda m, x: (2 * x)[:, -9:3, -2:9], IMAGE, layers=["affine", "crop"]),
    "narrow": case(lambda m, x: (2 * x).narrow(1, 1, 2), IMAGE, layers=["affine", "crop"]),
    "select": case(lambda m, x: (2 * x)[:, -1] + x[:, 0], IMAGE),
    "index": case(lambda m, x: (2 * x)[:, [3, 1]], IMAGE),
    "index_shuffled": case(lambda m, x: (2 * x)[:, [0, 2, 1, 3]], IMAGE, layers=["affine", "rearrange"]),
    "index_uneven": case(lambda m, x: (2 * x)[:, :, [0, 1, 3, 3, 2, 5]], IMAGE),
    "index_of_two": case(
        lambda m, x: (2 * x).view(-1, 36, 4).transpose(1, 2).flatten(1)[:, [7, 5, 40]], IMAGE
    ),
    "index_select": case(lambda m, x: (2 * x).index_select(1, torch.tensor([0, 2])), IMAGE),
    "new_axis": case(lambda m, x: (2 * x)[:, :, None, ..., None], IMAGE, layers=["affine"]),
    "split": case(lambda m, x: sum(x.split(3, 1)[1:], 2 * x[:, :1]), IMAGE),
    "split_sizes": case(lambda m, x: torch.split(2 * x, [1, 3], 1), IMAGE, layers=["affine", "crop", "crop"]),
    "unsafe_split": case(
        lambda m, x: torch.unsafe_split(2 * x, 3, 2) + torch.unsafe_split_with_sizes(2 * x, [2, 2], 1), IMAGE
    ),
    "chunk": case(lambda m, x: torch.chunk(2 * x, 4, -1), IMAGE),
    "tensor_split": case(lambda m, x: torch.tensor_split(2 * x, 4, 3), IMAGE),
    "unbind": case(lambda m, x: (2 * x).unbind(2), IMAGE),
    "cat": case(lambda m, x, y: torch.cat([x, y, x], 1), IMAGE, (2, 6, 6), layers=["concat"]),
    "cat_columns": case(lambda m, x, y: torch.cat([x, y], -1), IMAGE, (4, 6, 2), layers=["concat"]),
    "cat_vectors": case(lambda m, x, y: torch.cat((x, y), dim=1), VECTOR, (3,), layers=["concat"]),
    "concat_names": case(lambda m, x, y: torch.concat([torch.concatenate([x, y], 1), y], 1), VECTOR, (3,)),
    "hstack": case(lambda m, x, y: torch.hstack((x, y)), VECTOR, (3,), layers=["concat"]),
    "stack": case(lambda m, x, y: torch.stack([x, y], 1), IMAGE, IMAGE),
    "stack_last": case(lambda m, x, y: torch.stack([x, y], -1), VECTOR, VECTOR),
    "zero_pad": case(nn.ZeroPad2d((1, 2, 0, 3)), IMAGE, layers=["pad"]),
    "constant_pad": case(nn.ConstantPad1d((1, 2), 3.5), SIGNAL, layers=["pad"]),
    "constant_pad_nd": case(lambda m, x: torch.constant_pad_nd(x, [1, 0], 2.5), IMAGE, layers=["pad"]),
    "negative_pad": case(lambda m, x: F.pad(2 * x, (-1, 1, 2, -3)), IMAGE, layers=["affine", "crop", "pad"]),
    "pad_channels": case(lambda m, x: F.pad(x, (0, 0, 1, 0, 1, 2)), IMAGE, layers=["pad"]),
    "pad_no_batch": case(lambda m, x: F.pad(x, (0, 0, 1, 0, 1, 2, 0, 0)), IMAGE, layers=["pad"]),
    "reflection_pad": case(nn.ReflectionPad2d((1, 2, 3, 0)), IMAGE),
    "replication_pad": case(nn.ReplicationPad1d((1, 2)), SIGNAL),
    "circular_pad": case(lambda m, x: F.pad(x, (1, 2, 3, 0), mode="circular"), IMAGE),
    "pixel_shuffle": case(nn.PixelShuffle(2), IMAGE, layers=["rearrange"]),
    "pixel_unshuffle": case(nn.PixelUnshuffle(3), IMAGE, layers=["rearrange"]),
    "channel_shuffle": case(nn.ChannelShuffle(2), IMAGE, layers=["rearrange"]),
    "upsample": case(nn.Upsample(scale_factor=2), IMAGE, layers=["rearrange"]),
    "upsample_size": case(lambda m, x: F.interpolate(x, size=(12, 18)), IMAGE, layers=["rearrange"]),
    "upsample1d": case(nn.Upsample(scale_factor=3), SIGNAL, layers=["rearrange"]),
    "downsample": case(lambda m, x: F.interpolate(x, scale_factor=0.5), IMAGE, layers=["crop"]),
    "nearest_exact": case(
        lambda m, x: F.interpolate(x, size=(2, 12), mode="nearest-exact"), IMAGE, layers=["rearrange"]
    ),
    "nearest_exact1d": case(lambda m, x: F.interpolate(x, size=3, mode="nearest-exact"), SIGNAL),
    # nothing
    "dropout": case(nn.Sequential(nn.Dropout(), nn.Dropout2d(), nn.ReLU()), IMAGE, layers=["clamp"]),
    "identity": case(nn.Sequential(nn.Identity(), nn.ReLU(), nn.Identity()), IMAGE, layers=["clamp"]),
    "no_operation": case(
        lambda m, x: F.relu(x.contiguous().detach().clone().to("cpu").to(torch.float64).type_as(m.scale)),
        IMAGE,
        layers=["clamp"],
    ),
    "float_cast": case(lambda m, x: x.sign().float().double(), IMAGE, layers=["table"]),
    "add_nothing": case(lambda m, x: F.relu(x + 0) * 1 + torch.zeros(1), IMAGE, layers=["clamp"]),
}


class Run(NamedTuple):
    """Of some cases: the aten operations, the graph, and for each case what the model and golden give."""

    operations: set[str]
    graph: Graph
    arrays: dict[str, NDArray[Any]]
    wanted: list[list[torch.Tensor]]
    names: list[list[str]]


@lru_cache
def run_of(shapes: tuple[Shape, ...]) -> tuple[list[str], Run]:
    """All cases of these inputs' shapes, in one model."""
    names = [name for name, each in CASES.items() if each.shapes == shapes]
    model = settle(Together(CASES[name].model for name in names))
    program = exported(model, shapes)
    operations = {op_name(node) for node in program.nodes if node.op == "call_function"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hlsgen.frontends.torch.to_graph.exported", lambda *_: program)
        graph = graph_of_module(model, list(shapes), name="net")
    inputs = [random(shape, seed) for seed, shape in enumerate(shapes)]
    with torch.no_grad():
        results = model(*(each.clone() for each in inputs))
    wanted = [torch.utils._pytree.tree_leaves(each) for each in results]
    ports = iter(port.name for port in graph.outputs)
    taken = [[next(ports) for _ in each] for each in wanted]
    assert next(ports, None) is None
    return names, Run(operations, graph, outputs_of(graph, *(each.numpy() for each in inputs)), wanted, taken)


@pytest.mark.parametrize("name", CASES)
def test_operation(name: str) -> None:
    names, run = run_of(CASES[name].shapes)
    number = names.index(name)
    for port, tensor in zip(run.names[number], run.wanted[number], strict=True):
        array = run.arrays[port]
        assert array.shape == tuple(tensor.shape)
        np.testing.assert_allclose(array, tensor.numpy(), rtol=0, atol=TOLERANCE)
    expected = CASES[name].layers
    if expected is not None:
        assert kinds_before(run.graph, run.names[number]) == expected


def kinds_before(graph: Graph, outputs: list[str]) -> list[str]:
    """The kinds of the layers that these outputs need."""
    needed = {port.source for port in graph.outputs if port.name in outputs}
    found = []
    for layer in reversed(graph.layers):
        if layer.name in needed:
            needed.update(layer.inputs)
            found.append(layer.kind)
    return found[::-1]


def test_every_operation_that_is_converted_has_a_case() -> None:
    met = {op for shapes in {each.shapes for each in CASES.values()} for op in run_of(shapes)[1].operations}
    assert sorted(set(CONVERTERS) - met) == []
