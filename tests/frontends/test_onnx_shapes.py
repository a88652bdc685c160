"""Float ONNX models: operations that move elements, and what is computed when the model is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

from tests.support.frontends.onnx_models import (  # noqa: E402
    IMAGE,
    assert_same,
    kinds,
    model,
    node,
    normal,
    one,
)


@pytest.mark.parametrize("perm", [[0, 2, 3, 1], [0, 1, 3, 2], [0, 3, 1, 2]])
def test_transposes(perm: list[int]) -> None:
    nodes = [node("Transpose", "x", "t", perm=perm), node("Relu", "t", "y")]
    graph = assert_same(model(nodes, {"x": IMAGE}), normal(1, 2, 4, 6, 8))
    assert kinds(graph) == ["clamp"]  # an output port says the order


@pytest.mark.parametrize("shape", [[0, -1], [0, 4, 48], [-1, 192], [0, 2, 2, -1], [0, 0, 8, 6]])
def test_reshapes(shape: list[int]) -> None:
    nodes = [node("Reshape", "x s", "r"), node("Relu", "r", "y")]
    assert_same(model(nodes, {"x": IMAGE}, {"s": np.array(shape)}), normal(1, 2, 4, 6, 8))


@pytest.mark.parametrize("opset", [11, 13])
def test_flatten_squeeze_and_unsqueeze(opset: int) -> None:
    axes: dict[str, Any] = {"axes": [2]} if opset < 13 else {}
    constants = {} if opset < 13 else {"a": np.array([2])}
    extra = "" if opset < 13 else " a"
    nodes = [
        node("Relu", "x", "r"),
        node("Unsqueeze", f"r{extra}", "u", **axes),
        node("Squeeze", f"u{extra}", "s", **axes),
        node("Flatten", "s", "f"),
        node("Gemm", "f w", "y"),
    ]
    constants["w"] = normal(1, 192, 3)
    graph = assert_same(model(nodes, {"x": IMAGE}, constants, opset=opset), normal(2, 2, 4, 6, 8))
    assert kinds(graph) == ["clamp", "rearrange", "dense"]


SLICES = [
    ([1], [3], [1], None),
    ([0, 1], [100, -1], [2, 3], None),
    ([1], [100], [3], [2]),
    ([-1], [-100], [3], [-1]),
    ([5], [0], [2], [-2]),
]


@pytest.mark.parametrize(("starts", "ends", "axes", "steps"), SLICES)
def test_slices(starts: list[int], ends: list[int], axes: list[int], steps: list[int] | None) -> None:
    arrays = [np.array(values) for values in (starts, ends, axes, steps) if values is not None]
    names = [f"c{number}" for number in range(len(arrays))]
    nodes = [node("Slice", " ".join(["x", *names]), "s"), node("Relu", "s", "y")]
    made = model(nodes, {"x": IMAGE}, dict(zip(names, arrays, strict=True)))
    assert_same(made, normal(1, 2, 4, 6, 8))
    if steps is None:
        nodes = [node("Slice", "x", "s", starts=starts, ends=ends, axes=axes), node("Relu", "s", "y")]
        assert_same(model(nodes, {"x": IMAGE}, opset=9), normal(1, 2, 4, 6, 8))


def test_splits_and_joins() -> None:
    nodes = [
        node("Split", "x s", "a b", axis=1),
        node("Split", "b", "c d e", axis=2),
        node("Relu", "a", "f"),
        node("Concat", "c e d", "g", axis=2),
        node("Concat", "g f", "y", axis=1),
    ]
    assert_same(model(nodes, {"x": IMAGE}, {"s": np.array([1, 3])}), normal(1, 2, 4, 6, 8))
    nodes[0] = node("Split", "x", "a b", axis=1, split=[1, 3])
    assert_same(model(nodes, {"x": IMAGE}, opset=11), normal(1, 2, 4, 6, 8))
    uneven = [node("Split", "x", "a b c", axis=3, num_outputs=3), node("Concat", "c a b", "y", axis=3)]
    assert_same(model(uneven, {"x": IMAGE}, opset=18), normal(1, 2, 4, 6, 8))


@pytest.mark.parametrize(
    "indices",
    [
        np.array(1),
        np.array([1, 3]),
        np.array([-2, -1]),
        np.array([0]),
        np.array([3, 0, 1]),
        np.array([[0, 2], [1, 3]]),
    ],
)
def test_gather(indices: Any) -> None:
    nodes = [node("Gather", "x i", "g", axis=1), node("Relu", "g", "y")]
    assert_same(model(nodes, {"x": IMAGE}, {"i": indices}), normal(1, 2, 4, 6, 8))


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
def test_pads(mode: str) -> None:
    amounts = [0, 0, 1, 2, 0, 0, 3, 1]
    one("Pad", np.array(amounts), np.float32(1.5), mode=mode)
    one("Pad", opset=9, mode=mode, pads=amounts, value=1.5)


def test_pads_of_chosen_axes_and_of_channels() -> None:
    one("Pad", np.array([1, 2, 0, 1]), np.float32(0.5), np.array([1, -1]), opset=18)
    one("Pad", np.array([0, 0, -1, 0, 0, 0, 2, -3]))


def test_expand_and_tile() -> None:
    nodes = [node("Relu", "x", "r"), node("Expand", "r s", "e"), node("Tile", "e t", "y")]
    constants = {"s": np.array([1, 4, 3, 5]), "t": np.array([1, 1, 2, 1])}
    assert_same(model(nodes, {"x": ["N", 4, 1, 5]}, constants), normal(1, 2, 4, 1, 5))


RESIZES = [
    ("asymmetric", "floor"),
    ("half_pixel", "round_prefer_floor"),
    ("half_pixel", "round_prefer_ceil"),
    ("pytorch_half_pixel", "round_prefer_floor"),
    ("half_pixel_symmetric", "round_prefer_floor"),
]


@pytest.mark.parametrize(("where", "rounding"), RESIZES)
@pytest.mark.parametrize("scale", [(2, 3), (4, 1)])
def test_upsampling(where: str, rounding: str, scale: tuple[int, int]) -> None:
    attributes = {"coordinate_transformation_mode": where, "nearest_mode": rounding}
    one("Resize", None, np.array([1, 1, *scale], np.float32), **attributes)
    one("Resize", None, None, np.array([2, 4, 6 * scale[0], 8 * scale[1]]), shape=(2, 4, 6, 8), **attributes)
    one("Resize", None, np.array(scale, np.float32), opset=18, axes=[2, 3], **attributes)


def test_other_coordinates_where_they_repeat_plainly() -> None:
    attributes = {"coordinate_transformation_mode": "align_corners", "nearest_mode": "round_prefer_ceil"}
    one("Resize", None, np.array([1, 1, 2, 1], np.float32), shape=("N", 4, 2, 8), **attributes)
    attributes = {"coordinate_transformation_mode": "pytorch_half_pixel"}
    one("Resize", None, np.array([1, 1, 0.5, 1], np.float32), shape=("N", 4, 2, 8), **attributes)


def test_a_slice_of_the_whole_batch() -> None:
    constants = [np.array([0, 1]), np.array([1 << 40, 3]), np.array([0, 1])]
    nodes = [node("Slice", "x a b c", "s"), node("Relu", "s", "y")]
    made = model(nodes, {"x": IMAGE}, dict(zip("abc", constants, strict=True)))
    assert_same(made, normal(1, 2, 4, 6, 8))


def test_upsampling_of_older_operator_sets() -> None:
    one("Resize", np.array([1, 1, 2, 2], np.float32), opset=10)
    one("Upsample", np.array([1, 1, 2, 2], np.float32), opset=9)


def test_downsampling_by_a_whole_factor_is_a_slice() -> None:
    attributes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    graph = one("Resize", None, np.array([1, 1, 0.5, 0.25], np.float32), **attributes)
    assert kinds(graph) == ["crop"]


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space_and_back(mode: str) -> None:
    one("DepthToSpace", blocksize=2, mode=mode)
    one("SpaceToDepth", blocksize=2)


def test_what_does_nothing() -> None:
    nodes = [
        node("Identity", "x", "a"),
        node("Dropout", "a", "b"),
        node("Cast", "b", "c", to=1),
        node("Relu", "c", "y"),
    ]
    assert kinds(assert_same(model(nodes, {"x": IMAGE}), normal(1, 2, 4, 6, 8))) == ["clamp"]


def test_shapes_computed_in_the_model_are_folded() -> None:
    nodes = [
        node("Relu", "x", "r"),
        node("Shape", "r", "shape"),
        node("Gather", "shape zero", "batch", axis=0),
        node("Size", "r", "size"),
        node("Div", "size batch", "rest"),
        node("Unsqueeze", "batch first", "b"),
        node("Unsqueeze", "rest first", "f"),
        node("Concat", "b f", "s", axis=0),
        node("Reshape", "r s", "y"),
    ]
    constants = {"zero": np.array(0), "first": np.array([0])}
    for batch in ("N", 1, 2):
        made = model(nodes, {"x": [batch, 4, 6, 8]}, constants)
        assert_same(made, normal(1, 1 if batch == 1 else 2, 4, 6, 8))


def test_weights_computed_in_the_model_are_folded() -> None:
    nodes = [
        node("Transpose", "v", "t", perm=[1, 0, 2, 3]),
        node("Mul", "t g", "w"),
        node("Constant", "", "b", value_floats=[0.5, -1.0, 2.0]),
        node("Conv", "x w b", "y"),
    ]
    constants = {"v": normal(1, 4, 3, 3, 3), "g": normal(2, 3, 1, 1, 1)}
    assert kinds(assert_same(model(nodes, {"x": IMAGE}, constants), normal(3, 2, 4, 6, 8))) == ["conv2d"]


@pytest.mark.parametrize("shape", [(2, 4, 6, 8), (2, 4, 1, 8)])
@pytest.mark.parametrize("mode", ["half_pixel", "pytorch_half_pixel"])
def test_linear_resizing_by_whole_factors(shape: Any, mode: str) -> None:
    scales = np.array([1, 1, 2, 3], np.float32)
    one("Resize", None, scales, shape=shape, mode="linear", coordinate_transformation_mode=mode)
    sizes = np.array([2, 4, 2 * shape[2], 8])
    one("Resize", None, None, sizes, shape=shape, mode="linear", coordinate_transformation_mode=mode)


def test_linear_resizing_of_a_signal() -> None:
    one("Resize", None, np.array([1, 1, 4], np.float32), shape=("N", 4, 6), mode="linear")


MODES = ["asymmetric", "half_pixel", "pytorch_half_pixel", "half_pixel_symmetric", "align_corners"]
FACTORS = [(1.5, 2), (0.5, 1.25), (2.4, 0.7), (1, 2.3), (3, 0.125)]


@pytest.mark.parametrize("where", MODES)
@pytest.mark.parametrize("factor", FACTORS)
def test_resizing_by_any_factor(where: str, factor: tuple[float, float]) -> None:
    scales = np.array([1, 1, *factor], np.float32)
    sizes = np.array([2, 4, *(max(1, round(size * by)) for size, by in zip((6, 8), factor, strict=True))])
    attributes = {"coordinate_transformation_mode": where, "opset": 19}
    if where != "align_corners":
        one("Resize", None, scales, mode="linear", **attributes)
    one("Resize", None, None, sizes, shape=(2, 4, 6, 8), mode="linear", **attributes)
    for rounding in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil"):
        one("Resize", None, None, sizes, shape=(2, 4, 6, 8), nearest_mode=rounding, **attributes)


def test_linear_resizing_of_older_operator_sets() -> None:
    one("Resize", np.array([1, 1, 2, 1.5], np.float32), opset=10, mode="linear")
    one("Upsample", np.array([1, 1, 3, 1.5], np.float32), opset=9, mode="linear")


def test_antialias_changes_nothing_of_a_larger_image() -> None:
    scales = np.array([1, 1, 1.5, 2], np.float32)
    one("Resize", None, scales, mode="linear", antialias=1, opset=18)
