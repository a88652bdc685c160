"""Networks in float32: PyTorch's own prediction is the judge of golden, golden of the C-simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlsgen
from hlsgen.base.errors import DesignError

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch import nn  # noqa: E402


class Residual(nn.Module):  # type: ignore[misc]
    """Everything that float32 networks have: residual, concatenation, groups, pools, a dense layer."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.left = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Conv2d(8, 8, 1, groups=2))
        self.right = nn.Conv2d(8, 4, 1)
        self.down = nn.AvgPool2d(2)
        self.head = nn.Linear(12, 5)

    def forward(self, x: Any) -> Any:
        x = self.stem(x)
        y = torch.relu(x + self.left(x))
        y = self.down(torch.cat([y, self.right(x)], dim=1))
        return self.head(y.mean(dim=(2, 3)))


def design(**more: Any) -> hlsgen.Design:
    torch.manual_seed(3)
    model = Residual().eval()
    with torch.no_grad():
        model.stem[1].running_mean.uniform_(-1, 1)
        model.stem[1].running_var.uniform_(0.5, 2)
    options = {"precision": "float32", "style": "tasks", "batch": 2, "board": "zcu102"} | more
    return hlsgen.from_torch(model, input_shape=(3, 14, 12), name="net", **options)


def test_frameworks_prediction_golden_and_csimulation(tmp_path: Path) -> None:
    torch.manual_seed(3)
    built = design().build(tmp_path / "net")
    assert built.report["csim"]["verdict"] == "equal"
    x = np.random.default_rng(0).normal(size=(3, 3, 14, 12)).astype(np.float32)
    y, golden = built.csim(x), design().golden(x)
    assert y.dtype == np.float32 or y.dtype == np.float64
    np.testing.assert_array_equal(y, golden)
    torch.manual_seed(3)
    model = Residual().eval()
    with torch.no_grad():
        model.stem[1].running_mean.uniform_(-1, 1)
        model.stem[1].running_var.uniform_(0.5, 2)
        want = model(torch.from_numpy(x)).numpy()
    # the same sums in another order: a few last bits of the largest
    np.testing.assert_allclose(y, want, rtol=0, atol=2e-6 * np.abs(want).max())


def test_what_float32_cannot_do_is_refused() -> None:
    with pytest.raises(DesignError, match="a streaming kernel computes in fixed point\nfix: style: tasks"):
        design(style="dataflow")
    model = nn.Sequential(nn.Conv2d(4, 4, 3, groups=4), nn.Sigmoid(), nn.Softmax(dim=1))
    with pytest.raises(DesignError) as caught:
        hlsgen.from_torch(model, input_shape=(4, 8, 8), precision="float32", style="tasks")
    text = str(caught.value)
    assert "a table has no hardware for float32" in text and "a softmax has no" in text
    with pytest.raises(DesignError, match="precision: float32 and no other key"):
        design(precision={"default": "float32", "weights": "fixed<8,2>"})


YAML = """name: net
board: zcu102
style: {style}
batch: 2
input: {{shape: [4, 9, 8], type: {type}}}
layers:
  - {{name: conv1, kind: conv2d, out_channels: 6, kernel: 3, padding: same, weights: {{seed: 1}}}}
  - {{name: fc1, kind: dense, out_channels: 3, weights: {{seed: 2}}}}
precision: {precision}
mapping: {mapping}
"""


def written(tmp_path: Path, **more: str) -> Path:
    path = tmp_path / "net.yaml"
    values = {"style": "tasks", "type": "float32", "precision": "float32", "mapping": "auto"} | more
    path.write_text(YAML.format(**values))
    return path


def test_a_written_network_in_float32(tmp_path: Path) -> None:
    path = written(tmp_path, mapping="{conv1: {rows: 3, pe: 2, simd: 4, fabric_pe: 1}}")
    built = hlsgen.load(path).build(tmp_path / "net")
    report = built.report
    assert report["csim"]["verdict"] == "equal"
    folding = report["layers"][0]["folding"]
    assert (folding["rows"], folding["pe"], folding["simd"], folding["fabric_pe"]) == (3, 2, 4, 1)
    assert report["layers"][0]["type"] == "float32"
    lone = hlsgen.load(written(tmp_path, precision="{default: float32}"))
    assert lone.graph.input.is_float


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"precision": "fixed<16,6>"}, "the input is float32, but fixed<16,6> is asked for too"),
        ({"precision": "auto"}, "the input is float32, but auto is asked for too"),
        ({"style": "dataflow"}, "a streaming kernel computes in fixed point"),
        (
            {
                "style": "dataflow",
                "type": '"fixed<8,2>"',
                "precision": "auto",
                "mapping": "{conv1: {rows: 2}}",
            },
            "rows is of a front wave",
        ),
    ],
)
def test_refused_where_it_stands(more: dict[str, str], message: str, tmp_path: Path) -> None:
    path = written(tmp_path, **more)
    with pytest.raises(DesignError) as caught:
        hlsgen.load(path)
    assert message in str(caught.value)
    assert f"{path}:" in str(caught.value)
