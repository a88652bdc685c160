"""What both exporters of PyTorch write of networks of open sizes, read with a shape, against PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxscript", reason="torch.onnx.export(dynamo=True) needs onnxscript")

import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from tests.support.frontends.onnx_models import outputs_of  # noqa: E402

IMAGE = (3, 8, 8)
OPEN = (0, 2, 3)


class Residual(nn.Module):
    """A block with a normalised skip branch, an average over everything, and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *(nn.Conv2d(3, 6, 3, 2, 1, bias=False), nn.BatchNorm2d(6), nn.ReLU()),
            *(nn.Conv2d(6, 6, 3, 1, 1, bias=False), nn.BatchNorm2d(6)),
        )
        self.skip = nn.Sequential(nn.Conv2d(3, 6, 1, 2, bias=False), nn.BatchNorm2d(6))
        self.last = nn.Linear(6, 5)

    def forward(self, x: Any) -> Any:
        y = F.relu(self.body(x) + self.skip(x))
        return self.last(torch.flatten(F.adaptive_avg_pool2d(y, 1), 1))


class Mobile(nn.Module):
    """Depthwise convolutions, hard swish, squeeze and excitation; sizes taken from shapes."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, 3, 2, 1), nn.BatchNorm2d(4), nn.Hardswish())
        self.depthwise = nn.Sequential(nn.Conv2d(4, 4, 3, 1, 1, groups=4), nn.Hardswish())
        self.squeeze, self.excite, self.last = nn.Conv2d(4, 2, 1), nn.Conv2d(2, 4, 1), nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        y = self.depthwise(self.stem(x))
        weights = self.excite(F.relu(self.squeeze(y.mean((2, 3), keepdim=True))))
        y = y * F.hardsigmoid(weights)
        return self.last(y.reshape(y.shape[0], y.shape[1], y.shape[2] * y.shape[3]).mean(-1)).softmax(1)


class Upsampling(nn.Module):
    """Of a U-Net: resized to another tensor's size, joined to it; shuffled channels and pixels, slices."""

    def __init__(self) -> None:
        super().__init__()
        self.encode, self.middle = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.up, self.last = nn.ConvTranspose2d(4, 4, 2, 2), nn.Conv2d(12, 4, 3, padding=1)

    def forward(self, x: Any) -> Any:
        left = F.silu(self.encode(x))
        below = F.gelu(self.middle(F.max_pool2d(left, 2)))
        resized = F.interpolate(below, size=left.shape[2:], mode="bilinear", align_corners=False)
        y = self.last(torch.cat([self.up(below), left, resized], 1))
        n, c, h, w = y.shape
        shuffled = y.reshape(n, c // 2, 2, h, w).transpose(1, 2).reshape(n, c, h, w)
        return torch.where(shuffled > 0, y, 0.1 * y), F.pixel_shuffle(y, 2)[:, :, 1:-1, ::2]


def normalised(model: nn.Module) -> nn.Module:
    """In evaluation mode, statistics of normalisations their own."""
    torch.manual_seed(0)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.normal_(module.running_mean)  # type: ignore[arg-type]
            nn.init.uniform_(module.running_var, 0.5, 2.0)  # type: ignore[arg-type]
    return model.eval()


@pytest.mark.filterwarnings("ignore")  # the exporters' own
@pytest.mark.parametrize("dynamo", [True, False])
@pytest.mark.parametrize("kind", [Residual, Mobile, Upsampling])
def test_networks_of_open_sizes(kind: Any, dynamo: bool, tmp_path: Path) -> None:
    model, frames = normalised(kind()), torch.randn(2, *IMAGE)
    path = tmp_path / "net.onnx"
    if dynamo:
        axes = dict.fromkeys(OPEN, torch.export.Dim.DYNAMIC)
        torch.onnx.export(model, (frames,), path, dynamo=True, dynamic_shapes=(axes,), verbose=False)
    else:
        names = {axis: f"size{axis}" for axis in OPEN}
        torch.onnx.export(
            model, (frames,), str(path), dynamo=False, input_names=["x"], dynamic_axes={"x": names}
        )
    with torch.no_grad():
        wanted = model(frames)
    found = outputs_of(graph_of_onnx(path, name="net", input_shapes=[IMAGE]), frames.numpy())
    for got, want in zip(found, wanted if isinstance(wanted, tuple) else [wanted], strict=True):
        np.testing.assert_allclose(got, want.numpy(), rtol=1e-5, atol=1e-5)
