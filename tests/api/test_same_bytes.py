"""A model becomes the same project on every machine, as far as this one can be made another."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.other_processor import ENVIRONMENT
from tests.support.places import ROOT

NO_FMA = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"}
"""Other exponentials and logarithms of the C library's; where it does not know them, the same ones."""

AUTO = """
from hlsgen.api.design import (load)
from pathlib import Path
load(Path("designs/digits.yaml").resolve()).build(OUT / "auto", csim=False)
"""
ONNX = """
import numpy as np
import hlsgen
from tests.support.frontends.onnx_models import model, node, normal
nodes = [node("Exp", "a", "e"), node("Tanh", "e", "t"), node("MatMul", "t b", "w"), node("Conv", "x w4", "c"),
         node("Reshape", "w shape", "w4"), node("Sigmoid", "c", "y")]
nodes = [nodes[0], nodes[1], nodes[2], nodes[4], nodes[3], nodes[5]]
constants = {"a": normal(1, 8, 257), "b": normal(2, 257, 36), "shape": np.array([8, 4, 3, 3])}
made = model(nodes, {"x": ("N", 4, 6, 8)}, constants)
frames = normal(3, 8, 4, 6, 8)
hlsgen.from_onnx(made, calibration=frames, precision="fixed<32,8>").build(OUT / "onnx", csim=False)
"""
QKERAS = """
import hlsgen
from hlsgen.base.fixed import FixedType
from tests.support.frontends.keras_models import bits, functional, packages
Q = packages().qkeras
quantizers = {"bias_quantizer": bits(12, 4)}
net = functional(
    (6, 8, 4),
    Q.QConv2DBatchnorm(6, 3, kernel_quantizer=bits(6, 2), **quantizers),
    Q.QActivation(Q.quantized_po2(4, log2_rounding="floor")),
    Q.QConv2D(4, 1, kernel_quantizer="binary(alpha='auto')", **quantizers),
    packages().keras.layers.BatchNormalization(),
    Q.QActivation(bits(8, 3)),
    Q.QConv2D(4, 1, kernel_quantizer="ternary(alpha='auto_po2')", **quantizers),
    Q.QActivation(bits(8, 3)),
)
# which way float32 decides ties is the processor's, and the judge counts them
hlsgen.from_qkeras(net, precision={"input": "fixed<8,3>"}).build(OUT / "qkeras", csim=False, judge=False)
"""
START = """
import sys
from pathlib import Path
OUT = Path(sys.argv[1])
if sys.argv[2] == "other":
    from tests.support import other_processor
    other_processor.install()
"""
CASES = {"auto": (AUTO, "torch"), "onnx": (ONNX, "onnx"), "qkeras": (QKERAS, "qkeras")}
Built = dict[str, bytes]


def built(folder: Path, processor: str) -> Built:
    """All cases whose framework is there, in one process, as frameworks take seconds to import."""
    settings = {} if processor == "this" else {**ENVIRONMENT, **NO_FMA}
    programs = [program for program, needed in CASES.values() if importlib.util.find_spec(needed)]
    done = subprocess.run(
        [sys.executable, "-c", START + "".join(programs), str(folder / processor), processor],
        cwd=ROOT,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "1", **settings},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    root = folder / processor
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Built, Built]:
    folder = tmp_path_factory.mktemp("processors")
    return built(folder, "this"), built(folder, "other")


@pytest.mark.parametrize("name", CASES)
def test_another_processor_builds_the_same_bytes(both: tuple[Built, Built], name: str) -> None:
    _, needed = CASES[name]
    if importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    here, there = ({file: data for file, data in one.items() if file.startswith(f"{name}/")} for one in both)
    assert sorted(here) == sorted(there)
    assert [file for file in here if here[file] != there[file]] == []
    assert len(here) > 10
