"""Networks in float32 on shared processors: PyTorch judges golden, golden the C-simulation."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.styles.shared import SharedNetwork

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch import nn  # noqa: E402

SHAPE = (3, 15, 13)
TOLERANCE = {"rtol": 2e-5, "atol": 2e-6}
"""What sums of some hundred products in another order may differ by."""


class Network(nn.Module):  # type: ignore[misc]
    """A residual block, slopes, an upsampling that is joined, pools and a dense layer."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.LeakyReLU(0.1)
        )
        self.block = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Conv2d(8, 8, 1), nn.ReLU())
        self.pool = nn.MaxPool2d(2)
        self.deep = nn.Conv2d(8, 12, 3, padding=1)
        self.up = nn.Upsample(scale_factor=2)
        self.head = nn.Linear(20, 5)

    def forward(self, x: Any) -> Any:
        x = self.stem(x)
        x = torch.relu(x + self.block(x))
        small = self.pool(x)
        joined = torch.cat([self.up(self.deep(small)), x[:, :, :8, :6]], dim=1)
        return self.head(joined.mean(dim=(2, 3)))


def model() -> nn.Module:
    torch.manual_seed(3)
    found = Network().eval()
    with torch.no_grad():
        found.stem[1].running_mean.uniform_(-1, 1)
        found.stem[1].running_var.uniform_(0.5, 2)
    return found


def design(net: nn.Module | None = None, **more: Any) -> hlsgen.Design:
    options = {"precision": "float32", "style": "shared", "batch": 4, "board": "pynq_z2"} | more
    return hlsgen.from_torch(net or model(), input_shape=SHAPE, name="net", **options)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("floats") / "net"
    built = design().build(folder, schedule=False)
    assert built.report["csim"]["verdict"] == "equal"
    x = np.random.default_rng(0).normal(size=(3, *SHAPE)).astype(np.float32)
    golden = design().golden(x)
    np.testing.assert_array_equal(built.csim(x), golden)
    with torch.no_grad():
        np.testing.assert_allclose(golden, model()(torch.from_numpy(x)).numpy(), **TOLERANCE)
    return folder


def test_frameworks_prediction_golden_and_csimulation(build: Path) -> None:
    sources = {path.name for path in (build / "src").iterdir()}
    assert "floats.h" in sources


def test_another_network_in_float32_runs_on_the_processor(build: Path, tmp_path: Path) -> None:
    other = copy.deepcopy(model())
    other.deep = nn.Conv2d(8, 12, 1)
    made = hlsgen.program_for(design(other), build, tmp_path / "other", frames=2)
    assert made.report["csim"]["verdict"] == "equal"


def test_one_in_fixed_point_does_not(build: Path, tmp_path: Path) -> None:
    fixed = design(precision="fixed<8,4>", style="shared")
    with pytest.raises(DesignError, match="is in fixed point, and the processor net computes in floating"):
        hlsgen.program_for(fixed, build, tmp_path / "other")


def test_what_only_shared_processors_compute_is_left_to_them() -> None:
    assert isinstance(design(style="auto").style, SharedNetwork)
    with pytest.raises(DesignError, match="a leaky has no hardware for float32"):
        design(style="tasks")


def test_functions_are_refused_by_name() -> None:
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Sigmoid())
    with pytest.raises(DesignError, match="has no hardware for float32"):
        design(net)
    with pytest.raises(DesignError, match="a streaming kernel computes in fixed point"):
        design(style="dataflow")
