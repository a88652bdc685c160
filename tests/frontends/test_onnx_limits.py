"""Small ONNX files that would take gigabytes or minutes, or are damaged as only strangers damage them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

import hlsgen  # noqa: E402
from hlsgen.base.errors import DesignError  # noqa: E402
from hlsgen.frontends.onnx.functions import inlined_nodes  # noqa: E402
from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from hlsgen.model.ir import run_golden  # noqa: E402
from tests.support.frontends.onnx_models import IMAGE, message, model, node, normal, onnx  # noqa: E402
from tests.support.limited import limited  # noqa: E402

TENSOR = onnx.TensorProto

# what small files would take


def with_constant(nodes: list[Any], constants: dict[str, Any]) -> Any:
    """A model that multiplies its input by the sum of `k`."""
    rest = [node("ReduceSum", "k", "s", keepdims=0), node("Mul", "x s", "y")]
    return model([*nodes, *rest], {"x": IMAGE}, constants)


def doubled(depth: int) -> Any:
    nodes = [node("Concat", f"k{i} k{i}", f"k{i + 1}", axis=0) for i in range(depth)]
    return with_constant([*nodes, node("Identity", f"k{depth}", "k")], {"k0": np.ones(8)})


def several() -> Any:
    """Each constant may be, but not all of them."""
    nodes = [node("ConstantOfShape", "n", name) for name in ("a", "b", "k")]
    return with_constant(nodes, {"n": np.array([1 << 25])})


def product() -> Any:
    return with_constant([node("ConstantOfShape", "n", "a"), node("MatMul", "a a", "k")], {"n": [4000, 4000]})


def broadcast() -> Any:
    nodes = [node("Equal", "a b", "c"), node("Cast", "c", "k", to=TENSOR.FLOAT)]
    return with_constant(nodes, {"a": np.ones((1 << 16, 1)), "b": np.ones((1, 1 << 16))})


def function(name: str, calls: str, times: int) -> Any:
    """A function that calls another one `times` times in turn."""
    values = ["a", *(f"t{i}" for i in range(times - 1)), "b"]
    domain = "" if calls == "Relu" else "local"
    nodes = [node(calls, *pair, domain=domain) for pair in zip(values, values[1:], strict=False)]
    versions = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("local", 1)]
    return onnx.helper.make_function("local", name, ["a"], ["b"], nodes, versions)


def nested(depth: int) -> Any:
    """2 ** depth nodes."""
    made = model([node(f"f{depth}", "x", "y", domain="local")], {"x": IMAGE}, domains={"local": 1})
    made.functions.append(function("f0", "Relu", 1))
    made.functions.extend(function(f"f{i + 1}", f"f{i}", 2) for i in range(depth))
    return made


def window(op: str, **attributes: Any) -> Any:
    return model([node(op, "x", "y", **attributes)], {"x": IMAGE})


BOMBS: dict[str, tuple[Callable[[], Any], str]] = {
    "concat": (lambda: doubled(30), "it makes a constant of 268,435,456 bytes; "),
    "several": (several, "node b (ConstantOfShape): it makes a constant of "),
    "product": (product, "a product of constants with 64,000,000,000 multiply-accumulates"),
    "broadcast": (broadcast, "it makes a constant of 4294967296 elements"),
    "functions": (lambda: nested(24), "it has 16,777,216 nodes, its local functions written out"),
    "padded": (
        lambda: window(
            "AveragePool", kernel_shape=[2, 2], pads=[9000] * 4, strides=[9000] * 2, count_include_pad=1
        ),
        "its padded input of 4 x 18006 x 18008 has 1,297,008,192 elements",
    ),
    "window": (
        lambda: window("MaxPool", kernel_shape=[3001, 3001], pads=[1500] * 4),
        "a window of 9,006,001 places, more than 262,144",
    ),
    "image": (
        lambda: model([node("Relu", "x", "y")], {"x": (1, 3, 9000, 9000)}),
        "the input x of 3 x 9000 x 9000 has 243,000,000 elements, more than 67,108,864",
    ),
    "long": (
        lambda: model([node("Relu", "x", "r0"), *_deep(12)], {"x": (1, 1, 8192, 8192)}),
        "elements in the tensors of a frame, more than 536,870,912",
    ),
}

ONE_BY_ONE = """
import glob
from hlsgen.base.errors import DesignError
from hlsgen.frontends.onnx.to_graph import graph_of_onnx
for name in sorted(glob.glob("*.onnx")):
    try:
        graph_of_onnx(name, name="net")
    except DesignError as error:
        print(name, *error.problems)
"""


def _deep(layers: int) -> list[Any]:
    names = [*(f"r{i}" for i in range(layers)), "y"]
    return [node("Tanh", *pair) for pair in zip(names, names[1:], strict=False)]


def test_small_files_that_would_take_much_are_refused_early(tmp_path: Path) -> None:
    for name, (make, _) in BOMBS.items():
        onnx.save(make(), tmp_path / f"{name}.onnx")
    said = limited(ONE_BY_ONE, tmp_path)
    for name, (_, wanted) in BOMBS.items():
        line = next(line for line in said.splitlines() if line.startswith(f"{name}.onnx"))
        assert wanted in line


def test_what_is_within_the_limits_is_computed() -> None:
    """Sums of constants, and functions that call functions: 2 x 2^6 x 8 and six times Relu."""
    graph = graph_of_onnx(doubled(6), name="net")
    x = normal(3, 1, 4, 6, 8)
    assert np.allclose(run_golden(graph, {"x": x})[graph.outputs[0].source], x * 512)
    assert inlined_nodes(nested(6)) == 64
    graph = graph_of_onnx(nested(6), name="net")
    assert np.array_equal(run_golden(graph, {"x": x})[graph.outputs[0].source], np.maximum(x, 0))


# damage


def small() -> Any:
    return model([node("Conv", "x w", "y")], {"x": IMAGE}, {"w": normal(1, 3, 4, 3, 3)})


def test_an_unknown_type_of_an_input() -> None:
    made = small()
    made.graph.input[0].type.tensor_type.elem_type = 999
    assert "input x holds the unknown element type 999" in message(made)


def test_more_data_than_the_shape_asks_for() -> None:
    """onnx.checker and numpy_helper pass over it where elements lie two in a byte."""
    made = small()
    made.graph.initializer[0].data_type = TENSOR.UINT4
    assert "w does not hold the data that its shape [3, 4, 3, 3] asks for" in message(made)


@pytest.mark.parametrize("location", ["w\0.bin", "w" * 5000, "w/" * 3000])
def test_external_data_with_a_name_that_is_no_path(tmp_path: Path, location: str) -> None:
    made = small()
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TENSOR.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    (tmp_path / "net.onnx").write_bytes(made.SerializeToString())
    said = message(tmp_path / "net.onnx")
    assert "which is no path" in said and len(said) < 300


def test_a_weight_that_no_float32_holds() -> None:
    made = model([node("Mul", "x w", "y")], {"x": IMAGE}, {"w": 1.0}, input_type=11, output_type=11)
    made.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(np.array(1e300), "w"))
    assert "it has a weight of 1e+300" in message(made)


def test_a_model_of_nothing_but_a_quantiser() -> None:
    attributes = {"domain": "qonnx.custom_op.general", "signed": 1, "narrow": 0, "rounding_mode": "ROUND"}
    quant = node("Quant", "x s z b", "y", **attributes)
    constants = {"s": 0.5, "z": 0.0, "b": 8.0}
    made = model([quant], {"x": IMAGE}, constants, domains={"qonnx.custom_op.general": 1})
    with pytest.raises(DesignError, match="computes nothing: it only quantises its inputs"):
        hlsgen.from_onnx(made)


# what from_onnx takes


def test_qonnx_s_model_wrapper() -> None:
    wrapper = pytest.importorskip("qonnx.core.modelwrapper", reason="needs qonnx").ModelWrapper(small())
    x = normal(3, 2, 4, 6, 8)
    designs = [hlsgen.from_onnx(one, precision="fixed<16,6>", name="net") for one in (wrapper, small())]
    assert np.array_equal(designs[0].golden(x), designs[1].golden(x))


@pytest.mark.parametrize("thing", [b"net.onnx", None, 3, {"x": 1}])
def test_what_is_neither_a_path_nor_a_model(thing: object) -> None:
    with pytest.raises(DesignError, match="from_onnx takes no .*\nfix: the path of a .onnx file"):
        hlsgen.from_onnx(thing, precision="fixed<16,6>")
