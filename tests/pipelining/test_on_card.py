"""Parts on a card: the stand-in for pyxrt runs their kernels, with the results of the C-simulation."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hlsgen.api.design import Design
from hlsgen.api.from_model import from_torch
from hlsgen.base.errors import DesignError, ToolError
from hlsgen.layers.pool2d import Pool2d
from hlsgen.pipelining.computing import OnFpga
from hlsgen.pipelining.pipeline import Pipeline
from hlsgen.pipelining.running import run_in_sequence
from hlsgen.pipelining.split import Wish, split
from tests.support import stand_in_pyxrt
from tests.support.command_line import run
from tests.support.host_builds import compile_kernels, kernels, stand_in_xclbin

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
SHAPE = (3, 8, 8)


def frames(count: int) -> np.ndarray:
    return np.random.default_rng(5).uniform(-0.9, 0.9, (count, *SHAPE))


@pytest.fixture
def pyxrt(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.delenv("XCL_EMULATION_MODE", raising=False)
    monkeypatch.setitem(sys.modules, "pyxrt", stand_in_pyxrt)
    monkeypatch.setattr(stand_in_pyxrt, "log", [])
    return stand_in_pyxrt


@pytest.fixture(scope="module")
def design() -> Design:
    torch.manual_seed(6)
    nn = torch.nn
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3), nn.Conv2d(4, 2, 1)
    )
    return from_torch(net.eval(), SHAPE, name="net", calibration=frames(8), precision=12, board="u200")


def cut_points(design: Design) -> list[str]:
    """Behind the pool, and before the last convolution."""
    names = [layer.name for layer in design.graph.layers]
    return [next(layer.name for layer in design.graph.layers if isinstance(layer, Pool2d)), names[-2]]


@pytest.fixture(scope="module")
def file(design: Design, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of a CPU part and two on the FPGA, which an xclbin is made of."""
    path = tmp_path_factory.mktemp("card") / "net.zip"
    wishes = [Wish(), Wish(target="fpga"), Wish(target="fpga", workers=2)]
    split(design, cut_points(design), wishes=wishes).save(path)
    return path


def linked(file: Path, folder: Path, *parts: str) -> Path:
    """What a user does who unpacks the file: an xclbin with the kernels of these parts' builds."""
    with zipfile.ZipFile(file) as archive:
        archive.extractall(folder)
    text = ""
    for part in parts:
        build = folder / "parts" / part / "build"
        library = compile_kernels(build, folder / f"{part}.so")
        text += stand_in_xclbin(folder / f"{part}.xclbin", library, kernels(build)).read_text()
    path = folder / "both.xclbin"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def xclbin(file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return linked(file, tmp_path_factory.mktemp("linked"), "b", "c")


def test_a_card_gives_what_the_simulation_gives(file: Path, xclbin: Path, pyxrt: Any) -> None:
    x = frames(9)
    wanted = run_in_sequence(Pipeline.load(file), x, 2)
    told: list[str] = []
    on_card = Pipeline.load(file, told.append, xclbin)
    assert told == [], "no C++ of the file is compiled"
    assert [one.about.rpartition(", ")[2] for one in on_card.in_order()[1:]] == ["both.xclbin"] * 2
    with on_card.open() as running:
        np.testing.assert_array_equal(running.run(x, 2), wanted)
        assert not running.simulated
    units = {line.split()[1] for line in pyxrt.log if line.startswith("begin")}
    assert {unit.rpartition("_")[0] for unit in units} == {"net_b", "net_c"}


def test_a_card_gives_golden(design: Design, file: Path, xclbin: Path, pyxrt: Any) -> None:
    """The design itself cut anew for the card: its builds are the ones of the file, so the xclbin fits."""
    x = frames(5)
    wishes = [Wish(target="fpga"), Wish(target="fpga", xclbin=xclbin), Wish(target="fpga", xclbin=xclbin)]
    with split(design, cut_points(design), wishes=wishes).open() as running:
        np.testing.assert_array_equal(running.run(x, 3), design.golden(x))
        computes = [running.workers[name][0].compute for name in "abc"]
        assert [one.runtime.backend.fpga for one in computes if isinstance(one, OnFpga)] == [
            False,
            True,
            True,
        ]
        assert running.simulated, "its first part has no card"


def test_an_emulation_is_no_fpga(
    file: Path, xclbin: Path, pyxrt: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XCL_EMULATION_MODE", "hw_emu")
    with Pipeline.load(file, xclbin=xclbin).open() as running:
        assert running.simulated


def test_command_with_a_card(file: Path, xclbin: Path, pyxrt: Any, tmp_path: Path) -> None:
    x, y, own = tmp_path / "x.npy", tmp_path / "y.npy", tmp_path / "y_card.npy"
    np.save(x, frames(4))
    assert run("pipeline", str(file), "--input", str(x), "--results", str(y)).exit_code == 0
    done = run("pipeline", str(file), "--input", str(x), "--results", str(own), "--xclbin", str(xclbin))
    assert done.exit_code == 0, done.output
    assert "both.xclbin" in done.stdout and "simulat" not in done.output
    np.testing.assert_array_equal(np.load(own), np.load(y))


def test_what_is_wrong_with_an_xclbin(file: Path, xclbin: Path, pyxrt: Any, tmp_path: Path) -> None:
    """One of another build, none, one for CPUs; what fails at work. The pipeline ends with what XRT says."""
    other = tmp_path / "other.xclbin"
    text = xclbin.read_text()
    other.write_text(text[: text.index("library", 1)])
    with pytest.raises(ToolError, match="has no compute unit net_c:net_c_1"):
        Pipeline.load(file, xclbin=other).open()
    with pytest.raises(ToolError, match=r"none.xclbin is no file"):
        Pipeline.load(file, xclbin=tmp_path / "none.xclbin").open()
    pyxrt.stuck.add("net_b_1")
    try:
        running = Pipeline.load(file, xclbin=xclbin).open()
        running.workers["b"][0].compute.runtime.backend.timeout_s = 0.2  # type: ignore[union-attr]
        with pytest.raises(ToolError, match="compute unit net_b_1 has not finished"):
            running.run(frames(2))
        running.close()
        assert not any(thread.is_alive() for thread in running.threads)
    finally:
        pyxrt.stuck.clear()


def test_cpu_parts_have_no_card(design: Design, tmp_path: Path) -> None:
    path = tmp_path / "cpu.zip"
    split(design, cut_points(design)).save(path)
    with pytest.raises(DesignError, match=r"cpu.zip has no part on an FPGA, which x.xclbin could be for"):
        Pipeline.load(path, xclbin="x.xclbin")
    np.save(tmp_path / "x.npy", frames(1))
    words = ("pipeline", str(path), "--input", str(tmp_path / "x.npy"))
    assert run(*words, "--xclbin", "x.xclbin").exit_code == 1
    wrong = run(*words, "--target", "fpga", "--workers", "2")
    assert wrong.exit_code == 2
    assert "is cut already; --target, --workers is for a design" in " ".join(wrong.stderr.split())


def test_without_pyxrt(file: Path, xclbin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyxrt", None)
    with pytest.raises(ToolError, match="XRT's Python module cannot be imported"):
        Pipeline.load(file, xclbin=xclbin).open()
