"""A classifier that ends in log_softmax, typed automatically and all of one type: judged by PyTorch's own."""

from __future__ import annotations

import numpy as np
import pytest

import hlsgen

torch = pytest.importorskip("torch", reason="torch is not installed")


@pytest.mark.parametrize(("precision", "most"), [("auto", 0.1), ("fixed<16,6>", 0.05)])
def test_the_result_is_near_the_frameworks(precision: str, most: float) -> None:
    nn = torch.nn
    torch.manual_seed(0)
    head = nn.Linear(8, 10)
    with torch.no_grad():
        head.weight *= 12
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), head)
    model.append(nn.LogSoftmax(1)).eval()
    frames = np.random.default_rng(0).random((24, 3, 6, 6)).astype(np.float32)
    wanted = model(torch.from_numpy(frames)).detach().numpy()
    design = hlsgen.from_torch(model, input_shape=(3, 6, 6), precision=precision, calibration=frames[:16])
    got = design.golden(frames)
    assert np.abs(got - wanted).max() < most
