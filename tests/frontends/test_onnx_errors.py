"""What ONNX models are refused, and that each refusal names the node and a remedy."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

from hlsgen.errors import DesignError, ToolError  # noqa: E402
from hlsgen.fixed import FixedType  # noqa: E402
from hlsgen.frontends.onnx import graph_of_onnx  # noqa: E402
from tests.frontends.onnx_models import QONNX, model, node, normal, onnx, outputs_of  # noqa: E402

IMAGE = ("N", 4, 6, 8)


def message(source: Any, **options: Any) -> str:
    """What the refusal of a model says."""
    with pytest.raises(DesignError) as caught:
        graph_of_onnx(source, name="net", **options)
    for problem in caught.value.problems:
        assert problem.message and problem.fix
    return str(caught.value)


def refused(op: str, *constants: Any, shape: Any = IMAGE, opset: int = 17, **attributes: Any) -> str:
    """What the refusal of a model of one node, called wrong, says; None is an input that is left out."""
    names = [f"c{number}" if value is not None else "-" for number, value in enumerate(constants)]
    arrays = {name: value for name, value in zip(names, constants, strict=True) if value is not None}
    made = node(op, " ".join(["x", *names]), "y", name="wrong", **attributes)
    said = message(model([made], {"x": shape}, arrays, opset=opset))
    assert f"node wrong ({op})" in said
    return said


# the file


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any, **more: Any) -> Any:
        if name.split(".")[0] == "onnx":
            raise ImportError("No module named 'onnx'")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ToolError, match=r"pip install 'hlsgen\[onnx\]'"):
        graph_of_onnx("net.onnx", name="net")


def test_no_such_file(tmp_path: Path) -> None:
    assert "no such file" in message(tmp_path / "missing.onnx")
    assert "no such file" in message(tmp_path)


@pytest.mark.parametrize("content", [b"", b"not a model", bytes(range(256))])
def test_what_is_no_model(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "net.onnx"
    file.write_bytes(content)
    assert "net.onnx" in message(file)


def test_a_file_above_two_gibibytes(tmp_path: Path) -> None:
    file = tmp_path / "net.onnx"
    with file.open("wb") as opened:
        opened.truncate(1 << 31)
    assert "2 GiB" in message(file)


def small() -> Any:
    return model([node("Conv", "x w", "y")], {"x": IMAGE}, {"w": normal(1, 3, 4, 3, 3)})


@pytest.mark.parametrize("version", [8, 23])
def test_operator_sets_that_are_not_read(version: int) -> None:
    made = small()
    made.opset_import[0].version = version
    assert f"operator set {version}; 9 to 22 are supported" in message(made)


def test_what_the_checker_finds() -> None:
    made = small()
    made.graph.node[0].input[1] = "nowhere"
    assert "onnx.checker finds" in message(made)
    made = model([node("Relu", "x", "a"), node("Relu", "a", "y")], {"x": IMAGE})
    made.graph.node[0].output[0] = "y"
    assert "onnx.checker finds" in message(made)


def test_types_and_shapes_that_do_not_fit() -> None:
    made = small()
    made.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(normal(1, 3, 5, 3, 3), "w"))
    assert "do not fit" in message(made)


def test_a_tensor_of_another_size_than_it_says() -> None:
    made = small()
    made.graph.initializer[0].dims[0] = 5
    assert "w" in message(made)


def test_sparse_initialisers() -> None:
    made = model([node("Relu", "x", "y")], {"x": IMAGE})
    values = onnx.helper.make_tensor("s", 1, [1], [2.0])
    indices = onnx.helper.make_tensor("i", 7, [1], [0])
    made.graph.sparse_initializer.append(onnx.helper.make_sparse_tensor(values, indices, [4]))
    assert "sparse" in message(made)


# external data


def external(tmp_path: Path, **entries: str) -> Path:
    """A model whose weights lie in a file beside it, with other entries for that."""
    folder = tmp_path / "model"
    folder.mkdir()
    onnx.save(small(), folder / "net.onnx", save_as_external_data=True, location="net.data", size_threshold=0)
    made = onnx.load(folder / "net.onnx", load_external_data=False)
    (tensor,) = made.graph.initializer
    for entry in tensor.external_data:
        entry.value = entries.pop(entry.key, entry.value)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    onnx.save(made, folder / "net.onnx")
    return folder / "net.onnx"


@pytest.mark.parametrize("location", ["../outside.data", "/etc/hostname", "sub/../../outside.data", ""])
def test_external_data_outside_the_folder(tmp_path: Path, location: str) -> None:
    (tmp_path / "outside.data").write_bytes(bytes(432))
    assert "not inside the model's folder" in message(external(tmp_path, location=location))


def test_external_data_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "outside.data").write_bytes(bytes(432))
    file = external(tmp_path, location="link.data")
    os.symlink(tmp_path / "outside.data", file.parent / "link.data")
    assert "not inside the model's folder" in message(file)
    (file.parent / "link.data").unlink()
    (file.parent / "inside.data").write_bytes(bytes(432))
    os.symlink(file.parent / "inside.data", file.parent / "link.data")
    assert "cannot be read" in message(file)


def test_external_data_that_is_missing_or_short(tmp_path: Path) -> None:
    file = external(tmp_path)
    (file.parent / "net.data").write_bytes(bytes(100))
    assert "needs 432 bytes" in message(file)
    (file.parent / "net.data").unlink()
    assert "no such file beside the model" in message(file)


@pytest.mark.parametrize(
    "entries",
    [{"offset": "-8"}, {"offset": "8"}, {"length": "12"}, {"offset": "x"}, {"length": "99999999999"}],
)
def test_external_data_of_a_wrong_extent(tmp_path: Path, entries: dict[str, str]) -> None:
    assert "tensor w" in message(external(tmp_path, **entries))


def test_external_data_of_a_wrong_type_or_size(tmp_path: Path) -> None:
    file = external(tmp_path)
    made = onnx.load(file, load_external_data=False)
    made.graph.initializer[0].data_type = 999
    onnx.save(made, file)
    assert "element type 999" in message(file)
    made.graph.initializer[0].data_type = 1
    made.graph.initializer[0].dims[0] = -3
    onnx.save(made, file)
    assert "negative size" in message(file)


def test_external_data_of_a_model_in_memory(tmp_path: Path) -> None:
    made = onnx.load(external(tmp_path), load_external_data=False)
    assert "has no folder" in message(made)


# inputs and outputs


@pytest.mark.parametrize("shape", [("N", 4, "H", "W"), ("N", 4, None, 8), ("N", 4, 0, 8)])
def test_open_sizes(shape: Any) -> None:
    said = message(model([node("Relu", "x", "y")], {"x": shape}))
    assert "input x" in said and "open" in said and "onnx.tools" in said


@pytest.mark.parametrize("shape", [("N",), (1, 2, 3, 4, 5)])
def test_inputs_of_too_few_or_too_many_axes(shape: Any) -> None:
    assert "axes" in message(model([node("Relu", "x", "y")], {"x": shape}))


def test_inputs_of_other_types() -> None:
    made = model([node("Cast", "x", "y", to=1)], {"x": IMAGE}, input_type=7)
    assert "input x holds int64" in message(made)
    made = model([node("SequenceLength", "s", "y")], {"x": IMAGE}, output_type=7)
    made.graph.input.append(onnx.helper.make_tensor_sequence_value_info("s", 1, None))
    assert "input s is not a tensor" in message(made)


def test_inputs_of_different_batches_and_none() -> None:
    made = model([node("Relu", "x", "y")], {"x": (1, 4), "z": (2, 4)})
    assert "differ in their batch" in message(made)
    made = model([node("Constant", "", "y", value_floats=[1.0])], {})
    assert "no inputs" in message(made)


def test_a_tensor_beyond_memory() -> None:
    made = model([node("Relu", "x", "y")], {"x": ("N", 1 << 15, 1 << 15)})
    assert "1073741824 elements" in message(made)
    shape = np.array([1, 1 << 10, 1 << 10, 1 << 10])
    made = model([node("Expand", "x s", "y", name="wrong")], {"x": ("N", 1, 1, 1)}, {"s": shape})
    assert "wrong" in message(made)


def test_outputs_that_are_constant_or_inputs() -> None:
    made = model([node("Relu", "x", "y"), node("Identity", "c", "z")], {"x": IMAGE}, {"c": normal(1, 1, 2)})
    made.graph.output.append(onnx.helper.make_tensor_value_info("z", 1, [1, 2]))
    assert "output z" in message(made) and "constant" in message(made)
    assert "computes nothing" in message(model([node("Identity", "x", "y")], {"x": IMAGE}))


def test_inputs_that_nothing_needs() -> None:
    made = model([node("Relu", "x", "y")], {"x": IMAGE, "z": IMAGE})
    assert "input z" in message(made)


# operations


def test_every_unknown_operation_is_told_at_once() -> None:
    nodes = [
        node("LSTM", "s w r", "h", hidden_size=3, name="memory"),
        node("TopK", "x k", "v i", name="best"),
        node("FusedConv", "x w", "f", domain="com.microsoft", name="fast"),
        node("Own", "x", "o", domain="my.domain", name="mine"),
        node("Trunc", "x a b c d", "t", domain=QONNX, name="cut"),
        node("Relu", "x", "y"),
    ]
    made = model(nodes, {"x": IMAGE}, domains={"com.microsoft": 1, "my.domain": 1, QONNX: 1})
    made.graph.initializer.extend(
        onnx.numpy_helper.from_array(np.zeros(1, np.int64 if name == "k" else np.float32), name)
        for name in ("s", "w", "r", "k", "a", "b", "c", "d")
    )
    said = message(made)
    for text in ("memory (LSTM)", "best (TopK)", "fast (FusedConv)", "mine (Own)", "cut (Trunc)"):
        assert text in said
    assert "ArgMax" in said and "my.domain" in said and "QDQ" in said and "recurrence" in said


def test_control_flow() -> None:
    branch = onnx.helper.make_graph(
        [node("Identity", "x", "b")], "branch", [], [onnx.helper.make_tensor_value_info("b", 1, None)]
    )
    nodes = [node("If", "c", "y", name="choice", then_branch=branch, else_branch=branch)]
    made = model(nodes, {"x": (1, 4)}, {"c": np.array(True)})
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
    "tensors": lambda: message(model([node("Max", "x z", "y")], {"x": IMAGE, "z": IMAGE})),
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
    "joins the batch": lambda: refused("Flatten", axis=0),
    "begins with the batch": lambda: refused("Reshape", np.array([4, -1]), shape=(2, 4, 6, 8)),
    "leaves the batch in front": lambda: refused("Transpose"),
    "perhaps the batch": lambda: refused("Squeeze", shape=("N", 4, 1, 8)),
    "repeats [2, 1, 1, 1] times": lambda: refused("Tile", np.array([2, 1, 1, 1])),
    "the batch as it is": lambda: refused("Expand", np.array([3, 1, 4, 6, 8])),
    "at equal steps": lambda: refused("Gather", np.array([0, 1, 3]), axis=1),
    "none": lambda: refused("Slice", np.array([3]), np.array([3]), np.array([1])),
    "it cuts off all": lambda: refused("Pad", np.array([0, -4, 0, 0, 0, 0, 0, 0])),
    "it interpolates": lambda: refused("Resize", None, np.array([1, 1, 2, 2], np.float32), mode="linear"),
    "not each equally often": lambda: refused("Resize", None, np.array([1, 1, 1.5, 1], np.float32)),
    "keeps the aspect ratio": lambda: refused(
        "Resize", None, None, np.array([1, 4, 12, 16]), opset=18, keep_aspect_ratio_policy="not_larger"
    ),
    "coordinate_transformation_mode is": lambda: refused(
        "Resize",
        np.zeros(8, np.float32),
        np.array([1, 1, 2, 2], np.float32),
        coordinate_transformation_mode="tf_crop_and_resize",
    ),
    "channels that the block divides": lambda: refused(
        "DepthToSpace", blocksize=2, mode="CRD", shape=("N", 6, 2, 2)
    ),
    "is not computed when the model is read": lambda: message(
        model([node("Hardmax", "c", "h"), node("Add", "x h", "y")], {"x": IMAGE}, {"c": normal(1, 8)})
    ).replace("operation Hardmax is not supported", "is not computed when the model is read"),
    "computed when all its inputs are constant": lambda: refused("Sqrt"),
}


@pytest.mark.parametrize("text", WRONG)
def test_refusals(text: str) -> None:
    assert text in WRONG[text]()


def test_folding_that_fails_or_does_not_fit_memory() -> None:
    nodes = [node("ConstantOfShape", "s", "c", name="huge"), node("Relu", "x", "y")]
    made = model(nodes, {"x": IMAGE}, {"s": np.array([1 << 20, 1 << 20])})
    assert "huge" in message(made) and "elements" in message(made)
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
    "rounding mode CEIL": qonnx([quant("x", "y", rounding_mode="CEIL")]),
    "weights are not quantised": qonnx([quant("x", "a"), node("Conv", "a w", "y")]),
    "unquantised": qonnx([quant("w", "v"), node("Conv", "x v", "y")]),
    "not alike": qonnx([quant("x", "a"), quant("x", "c", "t"), node("Add", "a c", "y")], t=np.float32(0.5)),
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
    graph = graph_of_onnx(made, name="net", input_types={"x": FixedType(8, 3)})
    assert str(graph.input.type) == "fixed<8,3>"
    assert graph.layers[0].golden(np.ones((1, 3, 6, 6), np.int64)).shape == (1, 4, 4, 4)


@pytest.mark.parametrize(
    ("text", "type_"), [("INT6", "fixed<6,6>"), ("UINT4", "ufixed<4,4>"), ("FIXED<8,2>", "fixed<8,2>")]
)
def test_an_input_that_is_annotated_has_that_type(text: str, type_: str) -> None:
    made = qonnx([quant("w", "v"), node("Conv", "x v", "y")])
    note = onnx.TensorAnnotation(tensor_name="x")
    note.quant_parameter_tensor_names.add(key="finn_datatype", value=text)
    made.graph.quantization_annotation.append(note)
    assert str(graph_of_onnx(made, name="net").input.type) == type_


def linear(nodes: list[Any], *, opset: int = 17, input_type: int = 1, **constants: Any) -> Any:
    known = {"s": np.float32(0.03), "z": np.uint8(3), "w": np.ones((4, 3, 3, 3), np.int8)}
    return model(nodes, {"x": ("N", 3, 6, 6)}, known | constants, opset=opset, input_type=input_type)


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
