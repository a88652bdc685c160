"""Resize and Upsample of ONNX as ONNX Runtime computes them: sizes, positions and weights of every mode."""

from __future__ import annotations

import io
import itertools
import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from tests.support.frontends.onnx_models import (  # noqa: E402
    QONNX,
    assert_same,
    expected,
    model,
    node,
    normal,
    one,
    outputs_of,
)

MODES = ("asymmetric", "half_pixel", "pytorch_half_pixel", "half_pixel_symmetric", "align_corners")
ROUNDINGS = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
FACTORS = (0.7, 0.9, 2.3, 0.35, 1.7, 1.05, 1.1, 1.3333333, 2.6, 1.7320508, 0.5, 3)
SHAPE = (2, 2, 10, 13)


def scales(*numbers: float) -> Any:
    return np.array(numbers, np.float32)


def pairs() -> Iterator[tuple[float, float]]:
    return zip(FACTORS, itertools.islice(itertools.cycle(FACTORS), 5, None), strict=False)


@pytest.mark.parametrize("where", MODES)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_fractional_scales(where: str, mode: str) -> None:
    for rows, columns in pairs():
        attributes: dict[str, Any] = {"coordinate_transformation_mode": where, "opset": 19, "mode": mode}
        for rounding in ROUNDINGS if mode == "nearest" else ("floor",):
            one("Resize", None, scales(1, 1, rows, columns), shape=SHAPE, nearest_mode=rounding, **attributes)


@pytest.mark.parametrize("op, opset", [("Resize", 10), ("Upsample", 9), ("Upsample", 7)])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_older_operator_sets(op: str, opset: int, mode: str) -> None:
    for rows, columns in pairs():
        if op == "Upsample":
            rows, columns = max(1.25, rows), max(1, columns)
        if opset < 9:
            one(op, shape=SHAPE, opset=opset, mode=mode, scales=[1.0, 1.0, float(rows), float(columns)])
        else:
            one(op, scales(1, 1, rows, columns), shape=SHAPE, opset=opset, mode=mode)


@pytest.mark.parametrize("inside", [0, 1])
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_antialias(mode: str, inside: int) -> None:
    for rows, columns in pairs():
        attributes: dict[str, Any] = {"antialias": 1, "exclude_outside": inside, "opset": 18, "mode": mode}
        one("Resize", None, scales(1, 1, rows, columns), shape=SHAPE, cubic_coeff_a=-0.5, **attributes)


def test_cubic_without_what_is_outside() -> None:
    one("Resize", None, scales(1, 1, 2, 0.7), shape=SHAPE, mode="cubic", exclude_outside=1)


@pytest.mark.parametrize("policy", ["stretch", "not_larger", "not_smaller"])
def test_sizes_of_chosen_axes_that_keep_the_aspect_ratio(policy: str) -> None:
    attributes: dict[str, Any] = {"keep_aspect_ratio_policy": policy, "axes": [3, 2], "opset": 18}
    for mode in ("nearest", "linear"):
        one("Resize", None, None, np.array([17, 7]), shape=SHAPE, mode=mode, **attributes)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("ends", [(0.1, 0.9), (-0.2, 0.75), (0.3, 1.2), (0.8, 0.2)])
def test_regions_that_are_cut_out(mode: str, ends: tuple[float, float]) -> None:
    roi = scales(0, 0, ends[0], 0, 1, 1, ends[1], 1)
    where: dict[str, Any] = {
        "coordinate_transformation_mode": "tf_crop_and_resize",
        "extrapolation_value": 1.5,
    }
    one("Resize", roi, scales(1, 1, 1.7, 0.7), shape=SHAPE, mode=mode, **where)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_channels_last(mode: str) -> None:
    one("Resize", None, scales(1, 1.7, 0.7, 1), shape=(2, 7, 9, 3), mode=mode)
    one("Resize", None, scales(1, 2.3, 1.5), shape=(2, 3, 7), mode=mode)
    one("Resize", None, scales(1, 2.3), shape=(2, 7), mode=mode)


def test_halves_of_float32_are_where_onnx_runtime_sees_them() -> None:
    for factor, rounding in itertools.product((1.3333333, 0.2857143), ROUNDINGS):
        attributes: dict[str, Any] = {"coordinate_transformation_mode": "asymmetric"}
        one(
            "Resize",
            None,
            scales(1, 1, factor, 1),
            shape=(1, 1, 14, 1),
            nearest_mode=rounding,
            **attributes,
        )


@pytest.mark.parametrize("mode, tolerance", [("nearest", 0.0), ("linear", 1e-5), ("cubic", 1e-5)])
@pytest.mark.parametrize("factor", [0.7, 1.7, 1.7320508])
def test_quantised_tensors(mode: str, tolerance: float, factor: float) -> None:
    nodes = [
        node("Quant", "x s zero eight", "q", domain=QONNX),
        node("Resize", "q - f", "r", mode=mode),
        node("Quant", "r s zero eight", "y", domain=QONNX),
    ]
    constants = {"s": np.float32(2**-4), "zero": np.float32(0), "eight": np.float32(8)}
    constants["f"] = scales(1, 1, factor, 1)
    made = model(nodes, {"x": (1, 2, 10, 3)}, constants, domains={QONNX: 1})
    graph = graph_of_onnx(made, name="net")
    image = normal(3, 1, 2, 10, 3)
    plain = model([node("Resize", "x - f", "y", mode=mode)], {"x": (1, 2, 10, 3)}, {"f": constants["f"]})
    codes = np.clip(np.rint(image * 16), -128, 127) / 16
    wanted = expected(plain, codes)[0].astype(np.float64)
    found = outputs_of(graph, image)[0]
    assert found.shape == wanted.shape
    # no more than half a step, but for what float32 may have moved
    assert (
        np.abs(found - np.clip(wanted, -8, 127 / 16)).max() <= (2**-5 if mode != "nearest" else 0) + tolerance
    )


@pytest.mark.parametrize("recomputed", [None, True])
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_networks_that_pytorch_exports(mode: str, recomputed: bool | None) -> None:
    """Exporters declare the sizes that PyTorch computes; ONNX Runtime's answer is the one that counts."""
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'hlsgen[torch]'")

    class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, factor: float) -> None:
            super().__init__()
            self.factor = factor

        def forward(self, x: Any) -> Any:
            options: dict[str, Any] = {"mode": mode, "recompute_scale_factor": recomputed}
            return torch.nn.functional.interpolate(torch.relu(x), scale_factor=self.factor, **options)

    for factor in (0.7, 2.3, 1.7, random.Random(4).uniform(0.3, 3)):
        file = io.BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = torch.zeros(1, 2, 10, 13)
            torch.onnx.export(Net(factor), (frame,), file, dynamo=False, opset_version=17)
        assert_same(onnx.load_from_string(file.getvalue()), normal(5, 1, 2, 10, 13))
