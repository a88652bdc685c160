"""The Python interface: load, build, csim, golden, estimate."""

from __future__ import annotations

import gc
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest

import hlsgen
from hlsgen.csim.compiler import reference_headers
from hlsgen.emit.conv2d import kernel_constants
from tests.support.places import ROOT
from tests.support.small_design import DESIGN

SMALL = """
name: small
board: zcu102
batch: 8
input: {shape: [2, 10, 11], type: "fixed<16,6>", samples: random}
layers:
  - {name: conv1, kind: conv2d, out_channels: 4, kernel: 3, padding: same, weights: {seed: 3}}
mapping: {conv1: {rows: 2, pe: 2, simd: 2}}
"""


def written(folder: Path, text: str = SMALL) -> Path:
    path = folder / "small.yaml"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> hlsgen.Project:
    folder = tmp_path_factory.mktemp("project")
    return hlsgen.load(written(folder)).build(folder / "build")


def test_csim_equals_golden_in_the_frameworks_layout(project: hlsgen.Project) -> None:
    x = np.random.default_rng(0).uniform(-20, 20, (5, 2, 10, 11))
    y = project.csim(x)
    assert y.shape == (5, 4, 10, 11)
    np.testing.assert_array_equal(y, project.golden(x))
    np.testing.assert_array_equal(project.csim(x[0])[0], y[0])


def test_csim_on_the_reference_headers(tmp_path: Path) -> None:
    if reference_headers() is None:
        pytest.skip("the reference ap headers (hls4ml wheel) are not installed")
    # the design that the command line simulates on them, which is compiled once for both
    project = hlsgen.load(written(tmp_path, DESIGN)).build(tmp_path / "build", csim=False)
    x = np.random.default_rng(1).uniform(-20, 20, (2, 2, 8, 8))
    np.testing.assert_array_equal(project.csim(x, headers="reference"), project.csim(x))


def test_csim_is_close_to_torch(project: hlsgen.Project) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    layer = project.design.given.layer
    x = np.random.default_rng(2).uniform(-1, 1, (3, 2, 10, 11))
    weights = layer.weight_type.decode(layer.weights)
    bias = layer.bias_type.decode(layer.bias)
    expected = torch.nn.functional.conv2d(
        torch.from_numpy(x), torch.from_numpy(weights), torch.from_numpy(bias), padding=1
    ).numpy()
    # half a step of the input on each of 18 terms, and half a step of the output
    bound = 2.0**-11 * np.abs(weights).sum(axis=(1, 2, 3)).max() + 2.0**-11
    assert np.abs(project.csim(x) - expected).max() <= bound


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((2, 10, 12)), "shape"),
        (np.zeros((2, 2, 2, 10, 11)), "shape"),
        (np.full((2, 10, 11), np.nan), "NaN"),
        (np.full((2, 10, 11), 32.0), "leave the range of fixed<16,6>"),
    ],
)
def test_wrong_frames_are_refused(project: hlsgen.Project, x: np.ndarray, message: str) -> None:
    with pytest.raises(hlsgen.DesignError, match=message):
        project.csim(x)


def test_estimate_is_what_the_report_says(project: hlsgen.Project) -> None:
    estimate = project.design.estimate()
    report = json.loads((project.folder / "report.json").read_text())
    assert report["total"]["interval_cycles"] == estimate.interval_cycles
    assert report["total"]["latency_cycles"] == estimate.latency_cycles
    assert report["performance"]["gops"] == pytest.approx(estimate.gops, abs=1e-3)
    assert report["csim"]["verdict"] == "equal"
    assert report == project.report


def test_iterations_in_the_report_were_counted(project: hlsgen.Project) -> None:
    csim = project.report["csim"]
    # 2 frames x 5 tiles x 2 steps over the output channels x 13 columns, two of them to fill the window
    assert csim["iterations_measured"]["compute"] == 2 * 5 * 2 * 13
    assert csim["port_conflicts_measured"] == 0


def test_overflowing_results_are_warned_of(tmp_path: Path) -> None:
    text = SMALL + 'precision: {output: "fixed<8,1>"}\n'
    project = hlsgen.load(written(tmp_path, text)).build(tmp_path / "build", csim=False)
    assert any("leave the range of fixed<8,1>" in warning for warning in project.report["warnings"])
    assert "**Warning:**" in (tmp_path / "build" / "report.md").read_text()


def test_tight_accumulator_is_narrower_and_equal(tmp_path: Path) -> None:
    exact = hlsgen.load(written(tmp_path, DESIGN))
    tight = hlsgen.load(written(tmp_path, DESIGN + "precision: {accumulator: tight}\n"))
    assert tight.given.layer.accumulator.width < exact.given.layer.accumulator.width  # type: ignore[union-attr]
    x = np.random.default_rng(3).uniform(-31, 31, (4, 2, 8, 8))
    np.testing.assert_array_equal(tight.build(tmp_path / "build", csim=False).csim(x), exact.golden(x))


def test_a_kernel_that_differs_from_golden_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def doubled(*args: object) -> dict[str, object]:
        return {**kernel_constants(*args), "running_add": "before + dot[p] + dot[p]"}  # type: ignore[arg-type]

    monkeypatch.setattr("hlsgen.emit.conv2d.kernel_constants", doubled)
    with pytest.raises(
        hlsgen.MismatchError, match="differs from golden in .* of .* results; the first is frame 0"
    ):
        hlsgen.load(written(tmp_path, DESIGN)).build(tmp_path / "build")
    assert not (tmp_path / "build").exists()


@pytest.mark.usefixtures("as_users_compile")
@pytest.mark.parametrize(
    ("design", "csim"),
    [("conv", True), ("conv_fixed16", False), ("conv_int8", False), ("conv_zcu102", True)],
)
def test_shipped_designs_build(design: str, csim: bool, tmp_path: Path) -> None:
    """conv_zcu102 is the layer of conv_fixed16; conv_int8's arithmetic, and two foldings, are below."""
    loaded = hlsgen.load(ROOT / "designs" / f"{design}.yaml")
    project = loaded.build(tmp_path / design, frames=2, csim=csim)
    assert project.report["csim"]["verdict"] == ("equal" if csim else "skipped")
    assert project.report["warnings"] == []
    assert (tmp_path / design / "banks.svg").read_text().startswith("<svg")


@pytest.mark.usefixtures("as_users_compile")
def test_two_foldings_of_eight_bits_build(tmp_path: Path) -> None:
    text = SMALL.replace("fixed<16,6>", "fixed<8,1,rnd,sat>").replace(
        "{conv1: {rows: 2, pe: 2, simd: 2}}",
        "{instances: 2, conv1: {rows: 2, pe: 2, simd: 1, fabric_pe: 0, second: {rows: 1, pe: 4}}}",
    )
    text += 'precision: {weights: "fixed<8,1,rnd,sat>", output: "fixed<8,3,rnd,sat>", accumulator: exact}\n'
    project = hlsgen.load(written(tmp_path, text)).build(tmp_path / "build", frames=2)
    assert project.report["csim"]["verdict"] == "equal"
    kernels = project.report["kernels"]
    assert [one["folding"]["arithmetic"] for one in kernels] == ["packed", "fixed"]


def test_csim_after_a_build_runs_what_the_build_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until a source is another; and no executable is left, neither in the build nor beside it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    design = hlsgen.load(written(tmp_path))
    project = design.build(tmp_path / "build", frames=2)
    x = np.random.default_rng(0).uniform(-1, 1, (2, 2, 10, 11))
    with monkeypatch.context() as patch:
        patch.setenv("CXX", "no-such-compiler")
        np.testing.assert_array_equal(project.csim(x), design.golden(x))
        assert design.build(tmp_path / "other", csim=False).folder.is_dir()
        source = tmp_path / "build" / "src" / "small.cpp"
        source.write_text(source.read_text() + "// edited\n")
        with pytest.raises(hlsgen.ToolError, match="no-such-compiler"):
            project.csim(x)
    np.testing.assert_array_equal(project.csim(x), design.golden(x))
    built = [path for path in (tmp_path / "build").rglob("*") if path.is_file()]
    assert not [path for path in built if path.read_bytes().startswith(b"\x7fELF")]
    assert list(tmp_path.glob("hlsgen-csim-*"))
    del project
    gc.collect()
    assert not list(tmp_path.glob("hlsgen-csim-*"))


def test_a_network_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    design = hlsgen.from_torch(torch.nn.Linear(3, 2), (3,), board="zcu102", batch=2)
    project = design.build(tmp_path / "build")
    monkeypatch.setenv("CXX", "no-such-compiler")
    x = np.random.default_rng(0).uniform(-1, 1, (2, 3))
    np.testing.assert_array_equal(project.csim(x), design.golden(x))
    np.testing.assert_array_equal(project.csim(x, weights=design), design.golden(x))
    with pytest.warns(hlsgen.ClippingWarning, match="input .*: 50.0% of 6 values lie beyond fixed<16,6"):
        np.testing.assert_array_equal(project.csim(x + [[0], [40]]), design.golden(x + [[0], [40]]))
