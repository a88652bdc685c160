"""Complex numbers are refused wherever numbers come in; NumPy and PyTorch would drop the imaginary part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType
from hlsgen.base.quantise import quantised

FRAMES = np.ones((4, 2, 6, 6), np.float32)
LAYERS = """name: a
board: u200
input: {{shape: [2, 6, 6], type: "fixed<8,3>"{samples}}}
layers:
  - {{name: c, kind: conv2d, out_channels: 3, kernel: 3, weights: {weights}}}
"""
TORCH = """name: a
board: u200
precision: {default: "fixed<16,6>"}
input: {shape: [2, 6, 6], samples: frames.npy}
model: {torch: "net.py:make_net", weights: net.pt}
"""


def refused(work: Callable[[], object]) -> str:
    with pytest.raises(DesignError) as caught:
        work()
    (problem,) = caught.value.problems
    assert "real numbers" in problem.fix or "save floats" in problem.fix or "state dict" in problem.fix
    return problem.message


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def design(weights: str = "{seed: 1}", samples: str = "") -> hlsgen.Design:
    Path("a.yaml").write_text(LAYERS.format(weights=weights, samples=samples))
    return hlsgen.load("a.yaml")


def test_weights_and_samples_in_files(folder: Path) -> None:
    np.savez("w.npz", weights=np.ones((3, 2, 3, 3)) + 1j, bias=np.zeros(3))
    assert 'w.npz "weights" holds complex128' in refused(lambda: design("w.npz"))
    np.save("s.npy", FRAMES + 1j)
    assert "s.npy holds complex64" in refused(lambda: design(samples=", samples: s.npy"))


def test_frames_in_python(folder: Path) -> None:
    found = design()
    assert "x holds complex64, not real numbers" in refused(lambda: found.golden(FRAMES.astype(np.complex64)))
    assert "holds complex128" in refused(lambda: found.golden((FRAMES * 1j).tolist()))
    assert "w holds complex128" in refused(lambda: quantised([1j], FixedType(8, 4), "w"))


def test_pytorch(folder: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    options = {"input_shape": (2, 6, 6), "precision": "fixed<16,6>", "board": "u200"}

    class Phases(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.phase = torch.nn.Parameter(torch.ones(2, 1, 1, dtype=torch.complex64))

        def forward(self, x: object) -> object:
            return x * self.phase  # type: ignore[operator]

    def calibrated(model: object, frames: object) -> hlsgen.Design:
        return hlsgen.from_torch(model, calibration=frames, **options)  # type: ignore[arg-type]

    net = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3))
    said = refused(lambda: calibrated(net, FRAMES.astype(np.complex64)))
    assert "holds complex64, not real numbers" in said
    with pytest.raises(DesignError, match="complex"):
        calibrated(Phases(), FRAMES)

    source = "import torch\ndef make_net():\n    return torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3))\n"
    Path("net.py").write_text(source)
    torch.save({key: value.to(torch.complex64) for key, value in net.state_dict().items()}, "net.pt")
    np.save("frames.npy", FRAMES)
    Path("a.yaml").write_text(TORCH)
    with pytest.raises(DesignError) as caught:
        hlsgen.load("a.yaml")
    messages = [problem.message for problem in caught.value.problems]
    assert len(messages) == 2 and all("complex" in message for message in messages), messages


def test_onnx(folder: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    weights = onnx.numpy_helper.from_array(np.ones((3, 2, 3, 3), np.complex64), "w")
    node = onnx.helper.make_node("Conv", ["x", "w"], ["y"])
    ends = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in (("x", [1, 2, 6, 6]), ("y", [1, 3, 4, 4]))
    ]
    graph = onnx.helper.make_graph([node], "g", ends[:1], ends[1:], [weights])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)]), "c.onnx")
    said = refused(
        lambda: hlsgen.from_onnx("c.onnx", calibration=FRAMES, precision="fixed<16,6>", board="u200")
    )
    assert "tensor w holds complex64, not real numbers" in said
