"""ONNX files as the world has them: dialects, open sizes, newer versions, what exporters take apart."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

import hlsgen  # noqa: E402
from hlsgen.base.errors import DesignError  # noqa: E402
from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from tests.support.frontends.onnx_models import (  # noqa: E402
    QONNX,
    Array,
    assert_same,
    expected,
    kinds,
    message,
    model,
    node,
    normal,
    onnx,
    outputs_of,
)
from tests.support.frontends.onnx_networks import FRAMES, Net, executed  # noqa: E402

# ---------------------------------------------------------------- dialects of quantisers


def quantised() -> Any:
    """A layer as MLPerf Tiny's keyword spotting has it, with weights of one bit beside those of four."""
    net = Net((6,))
    net.nodes += [
        node("Quant", "x s z b", "q", domain=QONNX, signed=1, narrow=1, rounding_mode="ROUND"),
        node("Quant", "w s z f", "v", domain=QONNX, signed=1, narrow=1),
        node("MatMul", "q v", "m"),
        node("Relu", "m", "r"),
        node("Quant", "r t z f", "a", domain=QONNX, signed=0, narrow=0),
        node("BipolarQuant", "u t", "k", domain=QONNX),
        node("MatMul", "a k", "p"),
    ]
    net.constants |= {
        "w": normal(1, 6, 5),
        "u": normal(2, 5, 3),
        "s": np.array(0.25),
        "t": np.array(0.5),
        "z": np.array(0.0),
        "b": np.array(8.0),
        "f": np.array(4.0),
    }
    return net.qonnx("p", (3,))


def as_brevitas_had_it(made: Any, domain: str) -> Any:
    """The same in the default domain, or without an entry for QONNX's."""
    old = onnx.ModelProto()
    old.CopyFrom(made)
    for one in old.graph.node:
        if one.domain == QONNX:
            one.domain = domain
    entries = [entry for entry in old.opset_import if entry.domain != QONNX]
    del old.opset_import[:]
    old.opset_import.extend(entries)
    return old


@pytest.mark.parametrize("domain", ["", "ai.onnx", QONNX, "onnx.brevitas"])
def test_quantisers_that_are_not_at_home(domain: str) -> None:
    array = np.concatenate(
        [3 * normal(3, FRAMES - 3, 6), 40 * normal(4, 2, 6), np.full((1, 6), -1e6, np.float32)]
    )
    wanted = executed(quantised(), array)
    old, said = as_brevitas_had_it(quantised(), domain), list[str]()
    before = old.SerializeToString()
    graph = graph_of_onnx(old, name="net", say=said.append)
    np.testing.assert_allclose(outputs_of(graph, array)[0], wanted, atol=1e-5)
    assert len(said) == 1 and (domain if domain in ("onnx.brevitas", QONNX) else "default domain") in said[0]
    assert old.SerializeToString() == before
    said.clear()
    assert graph_of_onnx(quantised(), name="net", say=said.append) and not said


def test_from_python_it_is_a_warning() -> None:
    with pytest.warns(UserWarning, match="BipolarQuant, Quant of the default domain") as caught:
        hlsgen.from_onnx(as_brevitas_had_it(quantised(), ""))
    assert Path(caught[0].filename) == Path(__file__)


# ---------------------------------------------------------------- open sizes


def open_model(shape: tuple[Any, ...] = ("N", 3, "H", "W")) -> Any:
    """An image whose shape the model itself asks for: Shape, Gather, Concat, Reshape."""
    nodes = [
        node("Conv", "x w", "c", pads=[1, 1, 1, 1]),
        node("Shape", "c", "s"),
        node("Gather", "s two", "h"),
        node("Mul", "h three", "d"),
        node("Concat", "first d rest", "t", axis=0),
        node("Reshape", "c t", "r"),
        node("Relu", "r", "y"),
    ]
    constants = {
        "w": normal(1, 6, 3, 3, 3),
        "two": np.array([2]),
        "three": np.array([3]),
        "first": np.array([0, 2]),
        "rest": np.array([-1]),
    }
    return model(nodes, {"x": shape}, constants)


@pytest.mark.parametrize("size", [(3, 8, 6), (3, 5, 7)])
def test_open_sizes_that_are_fixed(size: tuple[int, ...]) -> None:
    array = normal(2, 2, *size)
    graph = graph_of_onnx(open_model(), name="net", input_shapes=[size])
    np.testing.assert_allclose(outputs_of(graph, array)[0], expected(open_model(), array)[0], atol=1e-5)
    by_name = graph_of_onnx(open_model(), name="net", input_shapes={"x": size})
    assert [layer.output for layer in by_name.layers] == [layer.output for layer in graph.layers]


def test_the_remedy_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the three ways that the message names, as it writes them, with numbers for H and W."""
    from click.testing import CliRunner

    from hlsgen.cli.commands import cli

    onnx.save(open_model(), tmp_path / "net.onnx")
    monkeypatch.chdir(tmp_path)
    text = "name: net\nboard: u200\nmodel: {onnx: net.onnx}\n"
    (tmp_path / "net.yaml").write_text(text)
    with pytest.raises(DesignError) as caught:
        hlsgen.load("net.yaml")
    fix = caught.value.problems[0].fix
    for way in ("input_shape=(3, H, W)", "--shape 3,H,W", "input: {shape: [3, H, W]}"):
        assert way in fix
    assert hlsgen.from_onnx("net.onnx", input_shape=(3, 8, 6)).graph.inputs[0].shape == (3, 8, 6)
    (tmp_path / "net.yaml").write_text(text + "input: {shape: [3, 8, 6]}\n")
    assert hlsgen.load("net.yaml").graph.inputs[0].shape == (3, 8, 6)
    result = CliRunner().invoke(cli, ["import", "net.onnx", "--shape", "3,8,6", "--force"])
    assert result.exit_code == 0, result.output
    assert hlsgen.load("net.yaml").graph.inputs[0].shape == (3, 8, 6)


def pair(left: tuple[Any, ...], right: tuple[Any, ...]) -> Any:
    return model([node("Add", "x z", "s"), node("Relu", "s", "y")], {"x": left, "z": right})


def test_several_inputs_and_sizes_of_one_name() -> None:
    made = pair(("N", 2, "T"), ("N", 2, "T"))
    for shapes in ([(2, 5), (2, 5)], {"x": (2, 5)}):
        graph = graph_of_onnx(made, name="net", input_shapes=shapes)
        assert [port.shape for port in graph.inputs] == [(2, 5), (2, 5)]
    design = hlsgen.from_onnx(pair(("N", 2, 5), ("N", 2, "T")), input_shape={"z": [2, 5]})
    assert [port.shape for port in design.graph.inputs] == [(2, 5), (2, 5)]


WRONG_SHAPES: dict[str, tuple[Any, Any]] = {
    "has 2 axes without the batch": (open_model(), [(3, 8)]),
    "contradicts it": (open_model(), [(4, 8, 8)]),
    "1 input shapes are given, and it has 2 inputs": (pair(("N", 2, "T"), ("N", 2, "T")), [(2, 5)]),
    "the same size wherever it says T": (pair(("N", 2, "T"), ("N", 2, "T")), [(2, 5), (2, 6)]),
    "no such input": (open_model(), {"q": (3, 8, 8)}),
    '{"z": (2, T)}': (pair(("N", 2, 5), ("N", 2, "T")), {"x": (2, 5)}),
}


@pytest.mark.parametrize("text", WRONG_SHAPES)
def test_shapes_that_do_not_fit(text: str) -> None:
    made, shapes = WRONG_SHAPES[text]
    assert text in message(made, input_shapes=shapes)


def test_every_open_input_is_told() -> None:
    said = message(pair(("N", 2, "T"), ("N", 2, None)))
    assert "input x has" in said and "input z has" in said


@pytest.mark.parametrize("given", [3, "3,8,8", (3.5, 8, 8), [None]])
def test_what_is_no_shape(given: Any) -> None:
    with pytest.raises(DesignError, match="input_shape is"):
        hlsgen.from_onnx(open_model(), input_shape=given)


def test_a_condition_on_a_shape_is_decided() -> None:
    """As PyTorch's exporter writes squeeze(): only a shape says whether there is something to squeeze."""
    helper = onnx.helper
    branches = {
        name: helper.make_graph(
            [node(op, inputs, name)], name, [], [helper.make_tensor_value_info(name, 1, None)], constants
        )
        for name, op, inputs, constants in (
            ("then_branch", "Squeeze", "r axis", [onnx.numpy_helper.from_array(np.array([2]), "axis")]),
            ("else_branch", "Identity", "r", []),
        )
    }
    nodes = [
        node("Relu", "x", "r"),
        node("Shape", "r", "s"),
        node("Gather", "s two", "h"),
        node("Equal", "h one", "c"),
        node("If", "c", "chosen", **branches),
        node("Neg", "chosen", "y"),
    ]
    constants = {"two": np.array(2), "one": np.array(1)}
    for rows in (1, 3):
        made = model(nodes, {"x": ("N", 2, "H", 4)}, constants, domains={})
        array = normal(1, 2, 2, rows, 4)
        graph = graph_of_onnx(made, name="net", input_shapes=[(2, rows, 4)])
        np.testing.assert_array_equal(outputs_of(graph, array)[0], expected(made, array)[0])


# ---------------------------------------------------------------- newer versions


def reference(made: Any, array: Array) -> Array:
    """What ONNX's own evaluator computes: onnxruntime does not read the newest versions."""
    result: Array = onnx.reference.ReferenceEvaluator(made).run(None, {"x": array})[0]
    return result


@pytest.mark.parametrize("opset", [23, 25, 28])
def test_operator_sets_and_versions_that_onnxruntime_does_not_read(opset: int) -> None:
    if opset > onnx.defs.onnx_opset_version():
        pytest.skip(f"onnx {onnx.__version__} has no operator set {opset}")
    nodes = [
        node("Conv", "x w", "c"),
        node("Cast", "c", "f", to=1),
        node("Transpose", "f", "t", perm=[0, 2, 3, 1]),
        node("Reshape", "t s", "r"),
        node("Gemm", "r g", "y"),
    ]
    constants = {"w": normal(1, 4, 2, 3, 3), "s": np.array([0, -1]), "g": normal(2, 4 * 12, 5)}
    made = model(nodes, {"x": ("N", 2, 5, 6)}, constants, opset=opset)
    made.ir_version = onnx.IR_VERSION
    array = normal(3, 2, 2, 5, 6)
    graph = graph_of_onnx(made, name="net")
    np.testing.assert_allclose(outputs_of(graph, array)[0], reference(made, array), atol=1e-5)


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_space_to_depth_has_a_mode_in_operator_set_28(mode: str) -> None:
    if onnx.defs.onnx_opset_version() < 28:
        pytest.skip(f"onnx {onnx.__version__} has no operator set 28")
    nodes = [node("SpaceToDepth", "x", "s", blocksize=2, mode=mode), node("Relu", "s", "y")]
    made = model(nodes, {"x": ("N", 3, 4, 6)}, opset=28)
    array = normal(1, 2, 3, 4, 6)
    found = outputs_of(graph_of_onnx(made, name="net"), array)[0]
    np.testing.assert_allclose(found, reference(made, array), atol=1e-6)


def test_a_version_that_onnx_itself_does_not_know() -> None:
    made = model([node("Relu", "x", "y")], {"x": ("N", 4)})
    made.ir_version = onnx.IR_VERSION + 1
    assert "pip install --upgrade onnx" in message(made)


# ---------------------------------------------------------------- constants

FOLDED: dict[str, tuple[Any, dict[str, Array]]] = {
    "Sin": (node("Sin", "a", "c"), {"a": normal(1, 4)}),
    "Conv": (node("Conv", "a w", "c"), {"a": normal(1, 1, 4, 6, 8), "w": normal(2, 4, 4, 1, 1)}),
    "Einsum": (
        node("Einsum", "a b", "c", equation="ij,jk->ik"),
        {"a": normal(1, 1, 3), "b": normal(2, 3, 8)},
    ),
    "OneHot": (
        node("OneHot", "i n v", "c"),
        {"i": np.array([1, 5, 2, 0, 1, 7]), "n": np.array(8), "v": np.array([0.5, 2.0])},
    ),
    "ScatterND": (
        node("ScatterND", "a i u", "c"),
        {"a": normal(1, 8), "i": np.array([[2], [5]]), "u": normal(2, 2)},
    ),
    "TopK": (node("TopK", "a k", "c order"), {"a": normal(1, 6, 20), "k": np.array([8])}),
    "Resize": (
        node("Resize", "a - s", "c"),
        {"a": normal(1, 1, 4, 3, 4), "s": np.array([1, 1, 2, 2], np.float32)},
    ),
    "GatherND": (
        node("GatherND", "a i", "c"),
        {"a": normal(1, 6, 8), "i": np.array([[3], [1], [0], [5], [2], [4]])},
    ),
    "Hardmax": (node("Hardmax", "a", "c"), {"a": normal(1, 6, 8)}),
}


@pytest.mark.parametrize("op", FOLDED)
def test_whatever_onnx_evaluates_of_constants_is_folded(op: str) -> None:
    made, constants = FOLDED[op]
    nodes = [made, node("Add", "x c", "a2"), node("Relu", "a2", "y")]
    shape = ("N", 4, 6, 8) if op != "Sin" else ("N", 4)
    whole = model(nodes, {"x": shape}, constants, domains={})
    assert_same(whole, normal(9, 2, *[size for size in shape if isinstance(size, int)]))


# ---------------------------------------------------------------- taken apart


def exported(module: Any, shape: tuple[int, ...], dynamo: bool) -> Any:
    """What PyTorch's exporter makes of a module."""
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'hlsgen[torch]'")
    with (
        warnings.catch_warnings(),
        torch.no_grad(),
        patch.object(torch.backends.mha, "_is_fastpath_enabled", False),
    ):
        warnings.simplefilter("ignore")
        buffer = io.BytesIO()
        torch.onnx.export(module.eval(), torch.zeros(1, *shape), buffer, dynamo=dynamo, opset_version=16)
    return onnx.load_from_string(buffer.getvalue())


def layer_norm() -> Any:
    nodes = [
        node("ReduceMean", "x", "m", axes=[-1]),
        node("Sub", "x m", "d"),
        node("Pow", "d two", "p"),
        node("ReduceMean", "p", "v", axes=[-1]),
        node("Add", "v eps", "e"),
        node("Sqrt", "e", "s", name="root"),
        node("Div", "d s", "n"),
        node("Mul", "n g", "y"),
    ]
    return model(nodes, {"x": ("N", 4, 8)}, {"two": np.array(2.0), "eps": np.array(1e-5), "g": normal(1, 8)})


def rms_norm() -> Any:
    nodes = [
        node("Mul", "x x", "p"),
        node("ReduceMean", "p", "v", axes=[-1]),
        node("Add", "v eps", "e"),
        node("Sqrt", "e", "s", name="root"),
        node("Reciprocal", "s", "i"),
        node("Mul", "x i", "y"),
    ]
    return model(nodes, {"x": ("N", 4, 8)}, {"eps": np.array(1e-5)})


def attention() -> Any:
    """As PaddleOCR exports it: heads and tokens in front of each other, the batch moved inside."""
    nodes = [
        node("MatMul", "x w", "a"),
        node("Reshape", "a s", "b"),
        node("Transpose", "b", "t", perm=[2, 0, 3, 1, 4]),
        node("Gather", "t zero", "q", axis=0),
        node("Gather", "t one", "k", axis=0),
        node("Gather", "t two", "v", axis=0),
        node("Transpose", "k", "kt", perm=[0, 1, 3, 2]),
        node("MatMul", "q kt", "qk"),
        node("Mul", "qk scale", "scaled"),
        node("Softmax", "scaled", "soft", axis=-1),
        node("MatMul", "soft v", "y", name="last"),
    ]
    constants = {"w": normal(1, 8, 24), "s": np.array([0, 5, 3, 2, 4]), "scale": np.array(0.5)}
    constants |= {"zero": np.array(0), "one": np.array(1), "two": np.array(2)}
    return model(nodes, {"x": ("N", 5, 8)}, constants)


APART: dict[str, tuple[Callable[[], Any], str]] = {
    "layer norm": (layer_norm, "root (Sqrt): with those around it this is LayerNorm"),
    "rms norm": (rms_norm, "root (Sqrt): with those around it this is RMSNorm"),
    "attention": (attention, "last (MatMul): with those around it this is attention"),
}


@pytest.mark.parametrize("what", APART)
def test_what_is_taken_apart_is_told_once_and_by_its_name(what: str) -> None:
    made, text = APART[what]
    said = message(made())
    assert text in said and said.count("error:") == 1


def torch_modules() -> dict[str, tuple[Any, tuple[int, ...], str]]:
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'hlsgen[torch]'")
    nn = torch.nn

    class Own(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: Any) -> Any:
            found = self.inner(x, x, x) if isinstance(self.inner, nn.MultiheadAttention) else self.inner(x)
            return torch.relu(found[0] if isinstance(found, tuple) else found)

    return {
        "layer norm": (nn.LayerNorm(8), (4, 8), "LayerNorm"),
        "group norm": (nn.GroupNorm(2, 4), (4, 6, 6), "InstanceNorm"),
        "attention": (Own(nn.MultiheadAttention(8, 2, batch_first=True)), (5, 8), "attention"),
        "lstm": (Own(nn.LSTM(8, 4, batch_first=True)), (5, 8), "LSTM"),
        "gru": (Own(nn.GRU(8, 4, batch_first=True)), (5, 8), "GRU"),
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", ["layer norm", "group norm", "attention", "lstm", "gru"])
def test_what_pytorch_exports_is_told_by_its_name(what: str) -> None:
    module, shape, name = torch_modules()[what]
    said = message(exported(module, shape, dynamo=False))
    assert name in said and said.count("error:") == 1, said


def test_one_run_names_all_that_is_taken_apart() -> None:
    """Two LayerNorms, the second behind the first, and a Sqrt that is none."""
    made = layer_norm()
    nodes = list(made.graph.node)
    again = []
    for one in nodes:
        copy = onnx.NodeProto()
        copy.CopyFrom(one)
        copy.name = f"{one.name}2"
        renamed = {"x": "y"}
        own = {output for each in nodes for output in each.output}
        copy.input[:] = [renamed.get(name, f"{name}2" if name in own else name) for name in one.input]
        copy.output[:] = [f"{name}2" for name in one.output]
        again.append(copy)
    made.graph.node.extend([*again, node("Sqrt", "y2", "z", name="other")])
    made.graph.output[0].name = "z"
    said = message(made)
    assert "root (Sqrt): with" in said and "root2 (Sqrt): with" in said and "other (Sqrt)" in said
    assert said.count("error:") == 3


def test_a_network_of_open_sizes_down_to_its_layers() -> None:
    assert kinds(graph_of_onnx(open_model(), name="net", input_shapes=[(3, 4, 4)])) == ["conv2d", "clamp"]
