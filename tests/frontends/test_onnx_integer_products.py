"""Products of eight-bit integers in ONNX Runtime are the reference evaluator's, on every processor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

import hlsgen  # noqa: E402
from hlsgen.frontends.onnx.integer_products import OPERANDS, make_signs_alike  # noqa: E402
from tests.support.frontends.onnx_models import Array, expected, onnx, referred  # noqa: E402
from tests.support.frontends.onnx_networks import Net  # noqa: E402

TYPES = {np.uint8: 2, np.int8: 3, np.int32: 6}
SIGNS = [(np.uint8, np.int8), (np.int8, np.uint8), (np.uint8, np.uint8), (np.int8, np.int8)]


def extreme(type_: Any, shape: Sequence[int], seed: int) -> Array:
    """Codes of all sizes, a slice of the largest: two products of these do not fit in 16 bits."""
    limits = np.iinfo(type_)
    codes = np.random.default_rng(seed).integers(limits.min, limits.max + 1, shape)
    codes[0] = limits.max
    return codes.astype(type_)


def product(op: str, given: Any, weight: Any, *, zeros: bool = True) -> tuple[Any, Array]:
    """A model of one such operation, and frames for it."""
    shape = (3, 6, 7) if "Conv" in op else (16,)
    net = Net(shape)
    weights = net.constant(extreme(weight, (5, 3, 3, 3) if "Conv" in op else (16, 5), 1), weight)
    zero = net.constant(121 if given is np.uint8 else -7, given)
    weight_zero = net.constant(130 if weight is np.uint8 else 3, weight)
    if op.startswith("QLinear"):
        result = f"{net.constant(13.0)} {net.constant(99, given)}"
        made = net.add(
            op, f"x {net.constant(0.02)} {zero} {weights} {net.constant(0.03)} {weight_zero} {result}"
        )
    else:
        made = net.add(op, f"x {weights}" + zeros * f" {zero} {weight_zero}")
    output = TYPES[given if op.startswith("QLinear") else np.int32]
    return net.onnx(made, input_type=TYPES[given], output_type=output), extreme(given, (4, *shape), 2)


@pytest.mark.parametrize(("given", "weight"), SIGNS)
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("op", OPERANDS)
def test_every_product_is_that_of_the_reference(op: str, given: Any, weight: Any, zeros: bool) -> None:
    made, frames = product(op, given, weight, zeros=zeros)
    wanted = referred(made, frames)
    nodes = len(made.graph.node)
    make_signs_alike(made)
    assert (len(made.graph.node) == nodes) == (given is weight)
    # a result that is a half of its step is rounded from a float32 or a float64
    assert np.abs(expected(made, frames)[0].astype(int) - wanted).max() <= op.startswith("QLinear")
    assert np.unique(wanted).size > 2


def test_products_in_a_branch() -> None:
    made, frames = product("MatMulInteger", np.uint8, np.int8)
    inner = onnx.helper.make_graph(list(made.graph.node), "inner", [], [made.graph.output[0]])
    inner.node[-1].output[0] = inner.output[0].name = "inside"
    no = onnx.helper.make_node("Identity", ["inside_no"], ["outside"])
    nothing = onnx.numpy_helper.from_array(np.zeros((4, 5), np.int32), "inside_no")
    other = onnx.helper.make_graph(
        [no], "other", [], [onnx.helper.make_tensor_value_info("outside", TYPES[np.int32], (4, 5))], [nothing]
    )
    made.graph.initializer.append(onnx.numpy_helper.from_array(np.array(True), "yes"))
    del made.graph.node[:]
    made.graph.node.append(onnx.helper.make_node("If", ["yes"], ["y"], then_branch=inner, else_branch=other))
    wanted = referred(made, frames)
    make_signs_alike(made)
    assert len(made.graph.node[0].attribute[0].g.node) + len(made.graph.node[0].attribute[1].g.node) > 3
    np.testing.assert_array_equal(expected(made, frames)[0], wanted)


def test_a_trace_shows_them() -> None:
    made, frames = product("QLinearConv", np.uint8, np.int8)
    trace = hlsgen.from_onnx(made).trace(frames)
    assert trace.judge == "ONNX Runtime" and trace.misread is None and trace.first_wrong is None
    shown = trace.layer("t0")
    assert shown.wanted is not None and not shown.fused
    assert np.abs(shown.wanted - referred(made, frames)).max() <= 1  # both round from floating point
