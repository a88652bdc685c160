"""What ONNX files, inputs and outputs are refused."""

from __future__ import annotations

import builtins
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

from hlsgen.base.errors import ToolError  # noqa: E402
from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from tests.support.frontends.onnx_models import IMAGE, message, model, node, normal, onnx  # noqa: E402

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


def test_operator_sets_that_are_not_read() -> None:
    made = small()
    made.opset_import[0].version = 5
    assert "operator set 5; 6 to 28 are supported" in message(made)


def test_of_an_unknown_operator_set_what_has_not_changed_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hlsgen.frontends.onnx.dialects.NEWEST_OPSET", 22)
    graph_of_onnx(model([node("Relu", "x", "y")], {"x": IMAGE}, opset=23), name="net")
    changed = model([node("Relu", "x", "r"), node("Transpose", "r", "y")], {"x": IMAGE}, opset=23)
    assert "operator set 23 has changed Transpose since 22" in message(changed)


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
    wanted = "4,H,W" if shape[3] != 8 else "4,H,8"
    assert "input x" in said and "open" in said and f"--shape {wanted} of hlsgen import" in said


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


def test_an_attribute_whose_data_is_short() -> None:
    value = onnx.numpy_helper.from_array(normal(1, 3), "v")
    made = model([node("Constant", "", "c", value=value), node("Add", "x c", "y")], {"x": (1, 3)}, domains={})
    made.graph.node[0].attribute[0].t.dims[0] = 4
    assert "v" in message(made)
