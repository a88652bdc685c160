"""Networks that users bring as they are: a default build of each, with its schedule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hlsgen
from tests.support.frontends.keras_models import WARNINGS, packages, randomised

pytestmark = [*WARNINGS, pytest.mark.nightly]


@pytest.mark.parametrize("name", ["MobileNetV3Small", "EfficientNetB0", "RegNetY002"])
def test_a_default_build(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gates of squeeze-and-excite, swish, grouped and depthwise convolutions; random weights."""
    monkeypatch.delenv("HLSGEN_NO_SCHEDULE", raising=False)
    applications = packages().keras.applications
    options = {"include_preprocessing": False} if name.startswith("Mobile") else {}
    model = getattr(applications, name)(weights=None, input_shape=(64, 64, 3), classes=10, **options)
    model = randomised(model, spread=0.1)
    x = np.random.default_rng(0).uniform(0, 1, (4, 64, 64, 3))
    design = hlsgen.from_qkeras(model, calibration=x, precision=8, board="u250", batch=4)
    project = design.build(tmp_path / "b", frames=1)
    assert project.figures.csim.verdict == "equal"
    assert project.figures.schedule is not None and project.figures.schedule.loops
