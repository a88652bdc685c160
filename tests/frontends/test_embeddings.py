"""Indices of a table are looked up before the model: what is said of an embedding, done."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hlsgen
from tests.support.frontends.keras_models import WARNINGS, packages

pytestmark = WARNINGS
BEFORE = "compute it before, and give the model its result as an input"
TYPE = "fixed<24,8>"


def refused(call: Any) -> str:
    with pytest.raises(hlsgen.DesignError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("cast", [False, True], ids=["indices", "numbers"])
def test_pytorch(cast: bool) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    nn = torch.nn

    class Words(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.table, self.rest = nn.Embedding(20, 4), nn.Conv1d(4, 8, 3)

        def forward(self, x: Any) -> Any:
            return self.rest(self.table(x.long() if cast else x).transpose(1, 2))

    model = Words().eval()
    assert BEFORE in refused(lambda: hlsgen.from_torch(model, input_shape=(16,), precision=TYPE))
    design = hlsgen.from_torch(model.rest, input_shape=(4, 16), precision=TYPE)
    words = torch.arange(16)[None]
    with torch.no_grad():
        found = design.golden(model.table(words).transpose(1, 2).numpy())
        np.testing.assert_allclose(found, model(words).numpy(), atol=1e-3)


def test_keras() -> None:
    keras = packages().keras
    layers = keras.layers
    table, rest = layers.Embedding(20, 4), layers.Conv1D(8, 3)
    model = keras.Sequential([layers.Input((16,)), table, rest])
    assert BEFORE in refused(lambda: hlsgen.from_qkeras(model, precision=TYPE))
    after = keras.Sequential([layers.Input((16, 4)), rest])
    words = np.arange(16)[None]
    found = hlsgen.from_qkeras(after, precision=TYPE).golden(np.asarray(table(words)))
    np.testing.assert_allclose(found, model.predict(words, verbose=0), atol=1e-3)


def test_onnx() -> None:
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    make, table = onnx.helper, np.linspace(-1, 1, 80, dtype=np.float32).reshape(20, 4)

    def model(first: list[Any], x: Any) -> Any:
        nodes = [*first, make.make_node("Relu", ["e"], ["y"])]
        held = [onnx.numpy_helper.from_array(table, "w")] if first else []
        graph = make.make_graph(nodes, "n", [x], [make.make_tensor_value_info("y", 1, [1, 16, 4])], held)
        return make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8)

    gather = [make.make_node("Gather", ["w", "x"], ["e"])]
    words = model(gather, make.make_tensor_value_info("x", onnx.TensorProto.INT64, [1, 16]))
    assert "look them up before" in refused(lambda: hlsgen.from_onnx(words, precision=TYPE))
    after = model([], make.make_tensor_value_info("e", 1, [1, 16, 4]))
    found = hlsgen.from_onnx(after, precision=TYPE).golden(table[None, :16])
    np.testing.assert_allclose(found, np.maximum(table[None, :16], 0), atol=1e-3)
