"""RAIDER with a kernel among its parts: as a pipeline and as StarPU tasks, equal to golden in every bit."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hlsgen
from hlsgen.pipelining.pipeline import Pipeline
from hlsgen.pipelining.split import Wish, split
from hlsgen.starpu.building import build_starpu
from tests.starpu.test_starpu import needs_starpu
from tests.support.frontends.keras_models import WARNINGS
from tests.support.places import ROOT

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
pytestmark = [
    *WARNINGS,
    # to import it here would choose Keras 3 for it
    pytest.mark.skipif(importlib.util.find_spec("qkeras") is None, reason="QKeras is not installed"),
]
DESIGN = ROOT / "designs/raider.yaml"
CUT = "pool2"  # convolutions before it, dense layers behind


@pytest.fixture(scope="module")
def design() -> hlsgen.Design:
    return hlsgen.load(DESIGN)


def test_a_pipeline_equals_golden(design: hlsgen.Design, tmp_path: Path) -> None:
    """Convolutions in ONNX Runtime round as the network's quantisers do; so not a bit may differ."""
    x = np.load(ROOT / "designs/raider/test_images.npy")[:40].astype(float)
    made = split(design, [CUT], wishes=[Wish(), Wish(target="fpga")])
    made.save(tmp_path / "raider.zip")
    with Pipeline.load(tmp_path / "raider.zip").open() as running:
        np.testing.assert_array_equal(running.run(x, 16), design.golden(x))


@needs_starpu
def test_tasks_equal_the_whole(design: hlsgen.Design, tmp_path: Path) -> None:
    folder = tmp_path / "raider"
    build_starpu(design, folder, [CUT], targets=["cpu", "fpga"], frames=6, cpus=1)
    flags = [f"PYTHON={sys.executable}", "CXXFLAGS=-O0", "ARGS=--policy dmda --requests 8"]
    done = subprocess.run(
        ["make", "-C", str(folder), "run", *flags],
        env={**os.environ, "STARPU_SILENT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "equal to the whole network in ONNX Runtime in every bit" in done.stdout
    assert "part b: equal to golden on 6 frames" in done.stdout
    told = json.loads((folder / "figures.json").read_text())
    assert told["parts"]["b"]["fpga"]["tasks"] == 8 and told["fpga_time"] == "modelled"
