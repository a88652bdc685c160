"""What operations of ONNX models are refused, and that each refusal names the node and a remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

from hlsgen.base.fixed import FixedType  # noqa: E402
from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from tests.support.frontends.onnx_models import (  # noqa: E402
    IMAGE,
    QONNX,
    kinds,
    message,
    model,
    node,
    normal,
    onnx,
    outputs_of,
    refused,
)


def test_every_unknown_operation_is_told_at_once() -> None:
    nodes = [
        node("Reshape", "x s", "sequence"),
        node("LSTM", "sequence w r", "h", hidden_size=3, name="memory"),
        node("TopK", "h k", "v i", name="best"),
        node("FusedConv", "x w", "f", domain="com.microsoft", name="fast"),
        node("Own", "x", "o", domain="my.domain", name="mine"),
        node("Trunc", "x a b c d", "t", domain=QONNX, name="cut"),
        node("Sqrt", "o", "p", name="root"),
        node("MatMul", "x x", "m", name="pair"),
        node("Resize", "x - scales", "cubic", mode="lanczos", name="smooth"),
        node("Relu", "x", "y"),
    ]
    constants = {"scales": np.array([1, 1, 1.5, 2]), "s": np.array([48, 1, 4])}
    made = model(
        nodes, {"x": (1, 4, 6, 8)}, constants, domains={"com.microsoft": 1, "my.domain": 1, QONNX: 1}
    )
    made.graph.initializer.extend(
        onnx.numpy_helper.from_array(np.zeros(1, np.int64 if name == "k" else np.float32), name)
        for name in ("w", "r", "k", "a", "b", "c", "d")
    )
    said = message(made)
    for text in ("memory (LSTM)", "best (TopK)", "fast (FusedConv)", "mine (Own)", "cut (Trunc)"):
        assert text in said
    for text in (
        "root (Sqrt)",
        "pair (MatMul)",
        "smooth (Resize)",
        "ArgMax",
        "my.domain",
        "QDQ",
        "recurrent",
    ):
        assert text in said
    assert said.count("error:") == 8  # the Reshape that takes the batch away is only there for the LSTM


def test_control_flow() -> None:
    branch = onnx.helper.make_graph(
        [node("Identity", "x", "b")], "branch", [], [onnx.helper.make_tensor_value_info("b", 1, None)]
    )
    choice = node("If", "c", "y", name="choice", then_branch=branch, else_branch=branch)
    made = model([node("Greater", "x zero", "c"), choice], {"x": (1, 4)}, {"zero": np.zeros(1)})
    made.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info("y", 1, [1, 4]))
    assert "choice (If)" in message(made) and "control flow" in message(made)


WRONG: dict[str, Callable[[], str]] = {
    "its second output": lambda: message(
        model(
            [
                node("MaxPool", "x", "m i", kernel_shape=[2, 2]),
                node("Cast", "i", "c", to=1),
                node("Add", "m c", "y"),
            ],
            {"x": IMAGE},
        )
    ),
    "3 spatial axes": lambda: message(
        model(
            [node("Unsqueeze", "x a", "u"), node("Conv", "u w", "y")],
            {"x": IMAGE},
            {"a": np.array([2]), "w": normal(1, 3, 4, 1, 1, 1)},
        )
    ),
    "groups do not fit": lambda: refused("Conv", normal(1, 3, 2, 3, 3), group=2),
    "auto_pad is": lambda: refused("Conv", normal(1, 3, 4, 3, 3), auto_pad="SOME"),
    "more than the padded image": lambda: message(
        model([node("Conv", "x w", "y")], {"x": IMAGE}, {"w": normal(1, 3, 4, 7, 3)})
    ),
    "output shall have": lambda: refused("ConvTranspose", normal(1, 4, 3, 3, 3), output_shape=[90, 90]),
    "transA 1": lambda: refused("Gemm", normal(1, 2, 3), shape=(2, 2), transA=1),
    "a matrix [F, M]": lambda: refused("MatMul", normal(1, 4, 8, 3)),
    "statistics of the batch": lambda: message(
        model(
            [node("BatchNormalization", "x a a a a", "y m v", training_mode=1)],
            {"x": IMAGE},
            {"a": np.ones(4, np.float32)},
        )
    ),
    "a variance is negative": lambda: refused(
        "BatchNormalization", *[np.ones(4, np.float32)] * 3, -np.ones(4, np.float32)
    ),
    "an average pool has the dilations": lambda: refused(
        "AveragePool", kernel_shape=[2, 2], dilations=[2, 2], opset=19
    ),
    "all axes, the batch too": lambda: refused("ReduceMean"),
    "axis 0, which is the batch": lambda: refused("ReduceMean", axes=[0]),
    "select_last_index": lambda: message(
        model(
            [node("ArgMax", "x", "i", axis=1, select_last_index=1), node("Cast", "i", "y", to=1)],
            {"x": IMAGE},
        )
    ),
    "divides by zero": lambda: refused("Div", np.zeros(1, np.float32)),
    "divides by a tensor": lambda: message(model([node("Div", "x x", "y")], {"x": IMAGE})),
    "to the power 0.5": lambda: refused("Pow", np.float32(0.5)),
    "lower limit has 4 elements": lambda: refused("Max", normal(1, 4, 1, 1)).replace("limit", "lower limit"),
    "do not broadcast": lambda: message(
        model([node("Max", "x z", "y")], {"x": IMAGE, "z": ("N", 4, 5, 8)}, domains={})
    ),
    "shrinks by": lambda: refused("Shrink", bias=0.25, lambd=0.5),
    "finite": lambda: refused("Mul", np.float32(np.inf)),
    "each frame alike": lambda: refused("Add", normal(1, 2, 4, 6, 8), shape=(2, 4, 6, 8)),
    "4 and 3 axes": lambda: message(model([node("Add", "x z", "y")], {"x": IMAGE, "z": ("N", 6, 8)})),
    "is supported for a float tensor there": lambda: message(
        model([node("Conv", "c x", "y")], {"x": (1, 4, 3, 3)}, {"c": normal(1, 1, 4, 8, 8)})
    ),
    "computed from the model's input": lambda: message(
        model([node("Conv", "x x", "y")], {"x": (1, 4, 3, 3)})
    ),
    "it drops elements": lambda: refused("Dropout", np.float32(0.5), np.array(True)),
    "rounds them": lambda: message(
        model([node("Cast", "x", "i", to=7), node("Cast", "i", "y", to=1)], {"x": IMAGE})
    ),
    "joins the batch": lambda: refused("Flatten", axis=0, shape=(2, 4, 6, 8)),
    "begins with the batch": lambda: refused("Reshape", np.array([4, -1]), shape=(2, 4, 6, 8)),
    "leaves the batch in front": lambda: refused("Transpose"),
    "perhaps the batch": lambda: refused("Squeeze", shape=("N", 4, 1, 8)),
    "repeats [2, 1, 1, 1] times": lambda: refused("Tile", np.array([2, 1, 1, 1])),
    "the batch as it is": lambda: refused("Expand", np.array([3, 1, 4, 6, 8])),
    "more than 16": lambda: refused("Gather", np.arange(37) ** 2 % 37, axis=1, shape=("N", 37, 2, 2)),
    "within the axis": lambda: refused("Gather", np.array([0, 4]), axis=1),
    "none": lambda: refused("Slice", np.array([3]), np.array([3]), np.array([1])),
    "it cuts off all": lambda: refused("Pad", np.array([0, -4, 0, 0, 0, 0, 0, 0])),
    "each with weights of its own": lambda: refused(
        "Resize", None, np.array([1, 1, 1.7320508, 1], np.float32), mode="linear", shape=("N", 1, 1024, 1)
    ),
    "the channels, in mode cubic": lambda: refused(
        "Resize", None, np.array([1, 1.5, 1.5, 1], np.float32), mode="cubic"
    ),
    "its mode is lanczos": lambda: refused("Resize", None, np.ones(4, np.float32), mode="lanczos"),
    "along axis 0, which is the batch": lambda: refused("Resize", None, np.array([2, 1, 1, 1], np.float32)),
    "keep_aspect_ratio_policy is some": lambda: refused(
        "Resize", None, None, np.array([1, 4, 12, 16]), opset=18, keep_aspect_ratio_policy="some"
    ),
    "coordinate_transformation_mode is some": lambda: refused(
        "Resize", None, np.array([1, 1, 2, 2], np.float32), coordinate_transformation_mode="some"
    ),
    "its roi has 3 numbers": lambda: refused(
        "Resize",
        np.zeros(3, np.float32),
        np.array([1, 1, 2, 2], np.float32),
        coordinate_transformation_mode="tf_crop_and_resize",
    ),
    "lies outside of its input": lambda: refused(
        "Resize",
        np.array([0, 0, 2, 0, 1, 1, 3, 1], np.float32),
        np.array([1, 1, 2, 2], np.float32),
        coordinate_transformation_mode="tf_crop_and_resize",
    ),
    "channels that the block divides": lambda: refused(
        "DepthToSpace", blocksize=2, mode="CRD", shape=("N", 6, 2, 2)
    ),
    "strides is [0, 1]": lambda: refused("Conv", normal(1, 3, 4, 3, 3), strides=[0, 1]),
    "dilations is [1, 8589934592]": lambda: refused("Conv", normal(1, 3, 4, 3, 3), dilations=[1, 1 << 33]),
    "pads is [0, 0, 0]": lambda: refused("Conv", normal(1, 3, 4, 3, 3), pads=[0, 0, 0]),
    "kernel_shape is [5, 5]": lambda: refused("Conv", normal(1, 3, 4, 3, 3), kernel_shape=[5, 5]),
    "in 3 groups do not fit 4 channels": lambda: refused("ConvTranspose", normal(1, 4, 3, 3, 3), group=3),
    "its weights by phase": lambda: refused("ConvTranspose", normal(1, 4, 3, 3, 3), strides=[9999, 9999]),
    "output_shape is [9]": lambda: refused("ConvTranspose", normal(1, 4, 3, 3, 3), output_shape=[9]),
    "its bias has the shape [4]": lambda: refused("Conv", normal(1, 3, 4, 3, 3), normal(2, 4)),
    "its weights hold NaN": lambda: refused("Conv", np.full((3, 4, 3, 3), np.nan, np.float32)),
    "its third input has the shape": lambda: refused("Gemm", normal(1, 4, 3), normal(2, 7), shape=("N", 4)),
    "does not fit an axis of 4 elements": lambda: refused("Gemm", normal(1, 5, 3), shape=("N", 4)),
    "by a tensor of 2": lambda: message(
        model([node("MatMul", "w x", "y")], {"x": (1, 4)}, {"w": normal(1, 3, 1)}, domains={})
    ),
    "or is not finite": lambda: refused("BatchNormalization", *[np.full(4, np.inf, np.float32)] * 4),
    "epsilon is nan": lambda: refused("BatchNormalization", *[np.ones(4, np.float32)] * 4, epsilon=np.nan),
    "ceil_mode is 7": lambda: refused("MaxPool", kernel_shape=[2, 2], ceil_mode=7),
    "shapes [1, 4, 6, 8] and [1, 4, 5, 8] do not": lambda: message(
        model([node("Add", "x z", "y")], {"x": IMAGE, "z": ("N", 4, 5, 8)}, domains={})
    ),
    "shapes [1, 4, 6, 8] and [5] do not broadcast": lambda: refused("Add", normal(1, 5)),
    "its slopes have the shape": lambda: refused("PRelu", normal(1, 5, 1, 1), shape=("N", 1, 6, 8)),
    "approximate is some": lambda: refused("Gelu", approximate="some", opset=20),
    "its input 1 is left out": lambda: refused("Concat", None, axis=1),
    "axis 9 does not exist": lambda: refused("Softmax", axis=9),
    "removes axis 2, which has 6 elements": lambda: refused("Squeeze", np.array([2])),
    "differ in number": lambda: refused("Slice", np.array([0, 1]), np.array([1])),
    "its step is 0": lambda: refused("Slice", np.array([0]), np.array([1]), np.array([1]), np.array([0])),
    "1 outputs": lambda: refused("Split", np.array([1, 3]), axis=1),
    "differ in more than axis 1": lambda: message(
        model([node("Concat", "x z", "y", axis=1)], {"x": IMAGE, "z": ("N", 4, 5, 8)}, domains={})
    ),
    "its input c0 holds float32": lambda: refused("Tile", np.ones(4, np.float32)),
    "3 pads for 4 axes": lambda: refused("Pad", np.array([1, 2, 3])),
    "it adds 8589934592 elements": lambda: refused("Pad", np.array([0, 1 << 33, 0, 0, 0, 0, 0, 0])),
    "its mode is some": lambda: refused("Pad", np.zeros(8, np.int64), mode="some"),
    "no scale or size for each axis": lambda: refused("Resize", None, np.ones(3, np.float32)),
    "a scale is infinite": lambda: refused("Resize", None, np.array([1, 1, np.inf, 1], np.float32)),
    "its result would have the sizes": lambda: refused("Resize", None, np.array([1, 1, 0, 1], np.float32)),
    "nearest_mode is some": lambda: refused(
        "Resize", None, np.array([1, 1, 2, 2], np.float32), nearest_mode="some"
    ),
    "blocks of 4 x 4 do not make up": lambda: refused("SpaceToDepth", blocksize=4),
    "of a tensor of 3 axes": lambda: refused("DepthToSpace", blocksize=2, shape=("N", 4, 6)),
    "computed when all its inputs are constant": lambda: refused("Trilu"),
    "activation that hlsgen has": lambda: refused("Sqrt"),
}


@pytest.mark.parametrize("text", WRONG)
def test_refusals(text: str) -> None:
    assert text in WRONG[text]()


@pytest.mark.parametrize("op", ["Add", "Mul", "Conv", "MatMul", "Concat", "Reshape", "PRelu", "Pad"])
@pytest.mark.parametrize("constant", ["initialiser", "value_string", "value_strings", "value"])
def test_strings_are_no_numbers(op: str, constant: str) -> None:
    text = onnx.helper.make_tensor("c", onnx.TensorProto.STRING, [1], [b"1"])
    given = {"value_string": "1", "value_strings": ["1"], "value": text}
    options = {"axis": 1} if op == "Concat" else {}
    made = [] if constant == "initialiser" else [node("Constant", "", "c", **{constant: given[constant]})]
    proto = model([*made, node(op, "x c", "y", name="sum", **options)], {"x": IMAGE}, domains={})
    if not made:
        proto.graph.initializer.append(text)
    said = message(proto)
    assert "numbers" in said and "fix: " in said


def test_strings_that_no_node_reads_do_no_harm() -> None:
    proto = model([node("Relu", "x", "y")], {"x": IMAGE})
    proto.graph.initializer.append(onnx.helper.make_tensor("c", onnx.TensorProto.STRING, [1], [b"made by"]))
    assert kinds(graph_of_onnx(proto, name="net")) == ["clamp"]


FOLDED: dict[str, tuple[Any, dict[str, Any]]] = {
    "ConstantOfShape": (node("ConstantOfShape", "s", "c", name="huge"), {"s": np.array([1 << 20, 1 << 20])}),
    "Range": (
        node("Range", "a b d", "c", name="huge"),
        {"a": np.array(0), "b": np.array(1 << 40), "d": np.array(1)},
    ),
    "Expand": (node("Expand", "a s", "c", name="huge"), {"a": np.ones(1), "s": np.array([1 << 40])}),
    "Tile": (node("Tile", "a s", "c", name="huge"), {"a": np.ones(1), "s": np.array([1 << 40])}),
    "Pad": (node("Pad", "a s", "c", name="huge"), {"a": np.ones(1), "s": np.array([1 << 40, 0])}),
    "Gather": (node("Gather", "a s", "c", name="huge"), {"a": np.ones((1, 9999)), "s": np.zeros(99999, int)}),
    "MatMul": (node("MatMul", "a b", "c", name="huge"), {"a": np.ones((99999, 1)), "b": np.ones((1, 99999))}),
    "Gemm": (node("Gemm", "a b", "c", name="huge"), {"a": np.ones((99999, 1)), "b": np.ones((1, 99999))}),
    "Mul": (node("Mul", "a b", "c", name="huge"), {"a": np.ones((99999, 1)), "b": np.ones((1, 99999))}),
}


@pytest.mark.parametrize("op", FOLDED)
def test_constants_that_do_not_fit_memory(op: str) -> None:
    made, constants = FOLDED[op]
    said = message(model([made, node("Relu", "x", "y")], {"x": IMAGE}, constants, domains={}))
    assert f"node huge ({op})" in said and "elements" in said


def test_folding_of_large_products_that_do_fit() -> None:
    nodes = [node("MatMul", "a b", "w"), node("Gather", "w i", "v"), node("MatMul", "x v", "y")]
    constants = {"a": normal(1, 900, 900), "b": normal(2, 900, 9), "i": np.arange(4)}
    assert kinds(graph_of_onnx(model(nodes, {"x": ("N", 4)}, constants), name="net")) == ["dense"]


DRAWN = [
    node("RandomNormal", "", "a", shape=[1, 4], name="drawn"),
    node("RandomUniformLike", "c", "a", name="drawn"),
    node("Bernoulli", "c", "a", name="drawn"),
]


@pytest.mark.parametrize("made", DRAWN, ids=lambda one: one.op_type)
def test_constants_that_are_drawn_at_random(made: Any) -> None:
    nodes = [made, node("Add", "x a", "y")]
    said = message(model(nodes, {"x": (1, 4)}, {"c": np.full((1, 4), 0.5)}, domains={}))
    assert "drawn" in said and "not computed when the model is read" in said


HUGE = [
    node("Einsum", "a b", "c", equation="i,j->ij", name="huge"),
    node("OneHot", "i n v", "c", name="huge"),
    node("Conv", "p w", "c", pads=[1 << 15] * 4, name="huge"),
    node("Resize", "p - s", "c", name="huge"),
]


@pytest.mark.parametrize("made", HUGE, ids=lambda one: one.op_type)
def test_any_constant_that_does_not_fit_memory_or_time(made: Any) -> None:
    constants = {
        "a": np.ones(99999),
        "b": np.ones(99998),
        "i": np.arange(99999),
        "n": np.array(1 << 20),
        "v": np.array([0.0, 1.0]),
        "p": np.ones((1, 1, 8, 8)),
        "w": np.ones((1, 1, 3, 3)),
        "s": np.array([1, 1, 9999, 9999], np.float32),
    }
    said = message(model([made, node("Relu", "x", "y")], {"x": IMAGE}, constants, domains={}))
    assert "node huge" in said and "elements" in said


def test_folding_that_fails() -> None:
    nodes = [node("Gather", "c i", "g", name="far"), node("Add", "x g", "y")]
    made = model(nodes, {"x": IMAGE}, {"c": normal(1, 4), "i": np.array([9])})
    assert "far" in message(made) and "cannot be computed" in message(made)


# quantised models


def quant(x: str, output: str, scale: str = "s", zero: str = "z", bits: str = "b", **attributes: Any) -> Any:
    given = {"signed": 1, "narrow": 0, "rounding_mode": "ROUND"} | attributes
    return node("Quant", f"{x} {scale} {zero} {bits}", output, domain=QONNX, name=f"q_{output}", **given)


def qonnx(nodes: list[Any], shape: Any = (1, 3, 6, 6), **constants: Any) -> Any:
    known = {"s": np.float32(0.25), "z": np.float32(0), "b": np.float32(8), "w": normal(1, 4, 3, 3, 3)}
    return model(nodes, {"x": shape}, known | constants, domains={QONNX: 1})


BAD_QUANTS: dict[str, Any] = {
    "0 bits": qonnx([quant("x", "y")], b=np.float32(0)),
    "2.5 bits": qonnx([quant("x", "y")], b=np.float32(2.5)),
    "a whole zero point": qonnx([quant("x", "y")], z=np.float32(0.5)),
    "a scale is missing or not positive": qonnx([quant("x", "y")], s=np.float32(0)),
    "rounding mode is SOME": qonnx([quant("x", "y", rounding_mode="SOME")]),
    "rounding mode DOWN goes with": qonnx([quant("x", "y", rounding_mode="DOWN")], z=np.float32(3)),
    "one signed bit": qonnx([quant("x", "y")], b=np.float32(1), z=np.float32(3)),
    "its scale has the shape [6]": qonnx(
        [quant("x", "a"), quant("w", "v", "t"), node("Conv", "a v", "y")], t=normal(1, 6) ** 2
    ),
    "its scale has the shape [3, 6]": qonnx([quant("x", "y", "t")], t=normal(1, 3, 6) ** 2),
    "3 scales": qonnx([quant("x", "y", "t")], t=normal(1, 3, 1, 1) ** 2),
    "rounding mode UP": qonnx([quant("x", "y", rounding_mode="UP")]),
    "with rounding mode UP": qonnx(
        [quant("x", "a"), node("Neg", "a", "n"), quant("n", "y", "t", rounding_mode="UP")], t=np.float32(2)
    ),
    "weights are not quantised": qonnx([quant("x", "a"), node("Conv", "a w", "y")]),
    "unquantised": qonnx([quant("w", "v"), node("Conv", "x v", "y")]),
    "differs within an output channel": qonnx(
        [quant("x", "a"), quant("w", "v", "t"), node("Conv", "a v", "y")], t=normal(1, 1, 3, 1, 1) ** 2
    ),
    "values that are not quantised": qonnx(
        [
            quant("x", "a"),
            quant("w", "v"),
            node("Conv", "a v", "c", pads=[1, 1, 1, 1]),
            quant("u", "p"),
            node("Conv", "c p", "d", pads=[1, 1, 1, 1]),
            node("Conv", "d p", "e"),
            node("Conv", "e p", "y"),
        ],
        u=30 * normal(2, 4, 4, 3, 3),
    ),
}


@pytest.mark.parametrize("text", BAD_QUANTS)
def test_refused_quantisers(text: str) -> None:
    assert text in message(BAD_QUANTS[text])


def test_an_input_that_nothing_quantises_may_be_given_a_type() -> None:
    made = qonnx([quant("w", "v"), node("Conv", "x v", "y")])
    graph = graph_of_onnx(made, name="net", input_types=[FixedType(8, 3)])
    assert str(graph.input.type) == "fixed<8,3>"
    assert graph.layers[0].golden(np.ones((1, 3, 6, 6), np.int64)).shape == (1, 4, 4, 4)


@pytest.mark.parametrize(
    ("text", "type_"), [("INT6", "fixed<6,6"), ("UINT4", "ufixed<4,4"), ("FIXED<8,2>", "fixed<8,2")]
)
def test_an_input_that_is_annotated_has_that_type(text: str, type_: str) -> None:
    made = qonnx([quant("w", "v"), node("Conv", "x v", "y")])
    note = onnx.TensorAnnotation(tensor_name="x")
    note.quant_parameter_tensor_names.add(key="finn_datatype", value=text)
    made.graph.quantization_annotation.append(note)
    assert str(graph_of_onnx(made, name="net").input.type) == f"{type_},rnd,wrap>"


def linear(nodes: list[Any], *, opset: int = 17, input_type: int = 1, **constants: Any) -> Any:
    known = {"s": np.float32(0.03), "z": np.uint8(3), "w": np.ones((4, 3, 3, 3), np.int8)}
    shape = {"x": ("N", 3, 6, 6)}
    return model(nodes, shape, known | constants, opset=opset, input_type=input_type, domains={})


Q, DQ = "QuantizeLinear", "DequantizeLinear"
BAD_LINEAR: dict[str, Callable[[], Any]] = {
    "zero points of its activations differ": lambda: linear(
        [node(Q, "x t u", "a"), node(DQ, "a t u", "y")],
        t=np.ones(3, np.float32),
        u=np.arange(3, dtype=np.uint8),
    ),
    "in blocks": lambda: linear(
        [node(Q, "x t", "a", block_size=2, axis=3), node(DQ, "a t", "y", block_size=2, axis=3)],
        opset=21,
        t=np.ones((1, 3, 6, 3), np.float32),
    ),
    "it quantises to": lambda: linear([node(Q, "x s", "a", output_dtype=17), node(DQ, "a s", "y")], opset=21),
    "holds real values": lambda: linear(
        [node("ArgMax", "x", "m", axis=1), node("Cast", "m", "i", to=2), node(DQ, "i s z", "y")]
    ),
    "different scales or zero points": lambda: linear(
        [
            node(Q, "x s z", "a"),
            node(Q, "x t z", "b"),
            node("Concat", "a b", "c", axis=1),
            node(DQ, "c s z", "y"),
        ],
        t=np.float32(0.5),
    ),
    "ReduceMax is supported for a float tensor": lambda: linear(
        [node(Q, "x s z", "a"), node("ReduceMax", "a", "m", axes=[2]), node(DQ, "m s z", "y")]
    ),
    "do not go together": lambda: linear(
        [node(Q, "x s u", "a"), node(DQ, "a s u", "y")], u=np.zeros(3, np.uint8)
    ),
    "has 2 scales": lambda: linear(
        [node(Q, "x s z", "a"), node(DQ, "a t u", "y", axis=1)],
        t=np.ones(2, np.float32),
        u=np.zeros(2, np.uint8),
    ),
    "scale or zero point of shape [2]": lambda: linear(
        [node(DQ, "w t", "v", axis=1), node("Conv", "x v", "y")], t=np.ones(2, np.float32)
    ),
    "scale or a zero point is empty": lambda: linear(
        [node(DQ, "w t u", "v"), node("Conv", "x v", "y")],
        t=np.ones(1, np.float32),
        u=np.zeros(0, np.int8),
    ),
    "another integer type": lambda: linear(
        [node(Q, "x s z", "a"), node("Cast", "a", "b", to=3), node(DQ, "b s", "y")]
    ),
    "its input has a scale for each channel": lambda: linear(
        [node(Q, "x t u", "a", axis=1), node("ConvInteger", "a w", "c"), node("Cast", "c", "y", to=1)],
        t=np.ones(3, np.float32),
        u=np.zeros(3, np.uint8),
    ),
    "its bias has the shape [3]": lambda: linear(
        [
            node(Q, "x s z", "a"),
            node("QLinearConv", "a s z w s v s z b", "c"),
            node(DQ, "c s z", "y"),
        ],
        v=np.int8(0),
        b=np.zeros(3, np.int32),
    ),
    "DynamicQuantizeLinear": lambda: linear(
        [node("DynamicQuantizeLinear", "x", "a t u"), node(DQ, "a t u", "y")]
    ),
    "is not a tensor of integers that the model computes": lambda: linear(
        [node("QLinearConv", "x s z w s z s z", "y")]
    ),
}


@pytest.mark.parametrize("text", BAD_LINEAR)
def test_refused_integer_models(text: str) -> None:
    assert text in message(BAD_LINEAR[text]())


def test_golden_of_a_model_with_both_kinds_of_inputs() -> None:
    """An integer input and one that a quantiser reads."""
    helper = onnx.helper
    made = linear(
        [node(DQ, "x s z", "a"), node(Q, "r s z", "b"), node(DQ, "b s z", "c"), node("Add", "a c", "y")],
        input_type=2,
    )
    made.graph.input.append(helper.make_tensor_value_info("r", 1, ["N", 3, 6, 6]))
    graph = graph_of_onnx(made, name="net")
    x = np.random.default_rng(1).integers(0, 256, (2, 3, 6, 6))
    r = normal(2, 2, 3, 6, 6)
    wanted = (x - 3) * np.float32(0.03) + (
        np.clip(np.rint(r / np.float32(0.03)) + 3, 0, 255) - 3
    ) * np.float32(0.03)
    assert np.abs(outputs_of(graph, x, r)[0] - wanted).max() < 1e-5


def test_an_input_that_is_moved_before_it_is_quantised() -> None:
    """A border of zeros too: both keep the grid."""
    nodes = [node("Pad", "x p", "a"), node("Transpose", "a", "t", perm=[0, 1, 3, 2]), quant("t", "y")]
    made = qonnx(nodes, p=np.array([0, 0, 1, 1, 0, 0, 1, 1]))
    assert kinds(graph_of_onnx(made, name="net")) == ["pad"]
