"""PyTorch's choices, resized images and log_softmax, compiled: C-simulation, golden and PyTorch's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import torch.nn.functional as F  # noqa: E402

import hlsgen  # noqa: E402
from tests.support.frontends.torch_models import IMAGE  # noqa: E402

FRAMES = np.random.default_rng(0).integers(-8, 9, (4, *IMAGE)) / 4
STEP = 2.0**-16  # of fixed<24,8>, the type of what is not given one


class Net(torch.nn.Module):  # type: ignore[misc]
    """All behind one convolution, whose results are quarters: many equal what they are compared with."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.conv = torch.nn.Conv2d(4, 4, 3, padding=1)
        self.conv.weight.data = torch.randint(-1, 2, (4, 4, 3, 3), generator=generator).float()
        self.conv.bias.data = torch.tensor([0.5, -0.5, 0.0, 1.0])
        self.register_buffer("checkered", torch.arange(144).reshape(4, 6, 6) % 3 == 0)

    def forward(self, x: Any) -> dict[str, Any]:
        y = self.conv(x)
        chosen = torch.where((y > -1) & (y <= 2.5) | (x == 0.75), y, x)
        return {
            "larger": torch.where(y > x, y - x, 2 * x).masked_fill(self.checkered, 0.25),
            "mask": (y >= x).to(x.dtype) - torch.where(x > 0.5, 2.0, -3.0),
            "nearest": F.interpolate(chosen, scale_factor=1.5),
            "exact": F.interpolate(chosen, size=(4, 9), mode="nearest-exact"),
            "half": F.interpolate(chosen, size=(12, 3), mode="bilinear"),  # weights are quarters
            "corners": F.interpolate(chosen, size=(11, 6), mode="bilinear", align_corners=True),
            "linear": F.interpolate(chosen, scale_factor=1.5, mode="bilinear"),
            "aligned": F.interpolate(chosen, size=(9, 4), mode="bilinear", align_corners=True),
            "scores": F.log_softmax(chosen.amax((2, 3)), 1),
        }


NEAR = {"linear": 2 * STEP, "aligned": 2 * STEP, "scores": 2 * STEP}
"""How far off what no fixed-point type holds may be: rounded once after the rows, once after the columns."""


def test_choices_sizes_and_scores_are_simulated_as_pytorch_computes_them(tmp_path: Path) -> None:
    model = Net().eval()
    with torch.no_grad():
        wanted = model.double()(torch.from_numpy(FRAMES))
    design = hlsgen.from_torch(model.float(), input_shape=IMAGE, precision="fixed<24,8>")
    project = design.build(tmp_path / "build")
    for name, got, golden in zip(wanted, project.csim(FRAMES), project.golden(FRAMES), strict=True):
        np.testing.assert_array_equal(got, golden, err_msg=name)
        np.testing.assert_allclose(got, wanted[name].numpy(), rtol=0, atol=NEAR.get(name, 0), err_msg=name)
