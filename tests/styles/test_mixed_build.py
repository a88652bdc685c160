"""`style: mixed`: builds from end to end, what they say, what they refuse, and that faults are caught."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import hlsgen
from hlsgen import runtime
from hlsgen.base.errors import DesignError, MismatchError
from hlsgen.cli.commands import cli
from hlsgen.emit.mixed import banks_text
from hlsgen.report.reading import read_report
from hlsgen.schedule.configuration import components_of_build
from hlsgen.styles.mixed import MixedNetwork

NET = """name: net
board: BOARD
style: mixed
batch: 24
input: {shape: [3, 18, 14], type: "fixed<8,1>"}
layers:
  - {name: conv1, kind: conv2d, out_channels: 12, kernel: 3, padding: same, weights: {seed: 1}}
  - {name: relu1, kind: clamp, low: 0}
  - {name: pool1, kind: pool2d, function: max, kernel: 2, stride: 2}
  - {name: conv2, kind: conv2d, out_channels: 20, kernel: 3, padding: same, weights: {seed: 2}}
  - {name: fc1, kind: dense, out_channels: 10, weights: {seed: 3}}
precision: PRECISION
mapping: MAPPING
"""
PROCESSOR = "{instances: 2, processor: {rows: 3, lanes: 8}}"


def written(
    folder: Path, mapping: str = PROCESSOR, board: str = "u200", precision: str = '"fixed<8,3>"'
) -> Path:
    text = NET.replace("BOARD", board).replace("PRECISION", precision).replace("MAPPING", mapping)
    if precision == "float32":
        text = text.replace(', type: "fixed<8,1>"', "")
    path = folder / "net.yaml"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> hlsgen.Project:
    folder = tmp_path_factory.mktemp("mixed")
    return hlsgen.load(written(folder)).build(folder / "net", frames=11, schedule=False)


def test_everything_equals_golden(project: hlsgen.Project) -> None:
    """Every layer that streams, every task, and frames that no build has seen, in whole rounds and not."""
    design = project.design
    assert project.report["csim"]["verdict"] == "equal"
    style = design.style
    assert isinstance(style, MixedNetwork)
    together = style.hardware.back.program.together
    for frames in (1, together, together + 1, 2 * together + 3):
        x = np.random.default_rng(frames).uniform(-1, 0.99, (frames, 3, 18, 14))
        np.testing.assert_array_equal(project.csim(x), design.golden(x))


def test_its_processors_run_other_programs(project: hlsgen.Project, tmp_path: Path) -> None:
    """Without the streaming kernel: it is of the build's own network alone."""
    other = hlsgen.load(written(tmp_path, "auto"))
    made = hlsgen.program_for(other, project.folder, tmp_path / "program", frames=1, csim=False)
    command = ["make", "-C", project.folder, "csim", f"DATA={made.folder}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\n0 of " in done.stdout and "-C front" not in done.stdout
    x = np.random.default_rng(3).uniform(-1, 0.99, (5, 3, 18, 14))
    with runtime.open(project.folder, program=made.folder) as opened:
        np.testing.assert_array_equal(opened.run(x), other.golden(x))


def test_reports_say_both_sides(project: hlsgen.Project) -> None:
    found = project.report["mixture"]
    layers = [one["name"] for one in project.report["layers"]]
    assert project.report["style"] == "mixed"
    assert found["streaming"] == layers[: len(found["streaming"])] and found["streaming"][-1] == found["cut"]
    assert [task["name"] for task in project.report["tasks"]][-1] == layers[-1]
    speeds = found["streaming_frames_per_s"], found["processors_frames_per_s"]
    assert project.report["performance"]["frames_per_s"] == pytest.approx(min(speeds), rel=0.02)
    counts = project.figures.unit_counts
    assert set(counts) == {"net", "net_front"}
    total = project.report["total"]
    for kind in ("dsp", "bram18", "uram", "lut", "ff"):
        assert counts["net_front"][kind] + 2 * counts["net"][kind] == pytest.approx(total[kind], abs=2)
    assert "## Streaming and shared" in (project.folder / "report.md").read_text()
    page = (project.folder / "report.html").read_text()
    assert "as a streaming kernel that feeds processors with the other" in page
    assert read_report(project.folder).mixture == project.figures.mixture


def test_the_folder_has_both_kernels(project: hlsgen.Project) -> None:
    link = (project.folder / "vitis/link.cfg").read_text()
    assert "nk=net_front:1:net_front_1\n" in link and "nk=net:2:net_1.net_2\n" in link
    style = project.design.style
    assert isinstance(style, MixedNetwork)
    (port,) = style.hardware.front.pipeline.graph.outputs
    reached = banks_text(style.hardware.back.banks)
    assert f"sp=net_front_1.m_axi_gmem_{port.name}:{reached}\n" in link
    steps = json.loads((project.folder / "interface.json").read_text())["steps"]
    assert [step["units"] for step in steps] == [["net_front_1"] * 2, ["net_1", "net_2"]]
    assert [one.top for one in components_of_build(project.folder)] == ["net", "net_front"]
    makefile = (project.folder / "Makefile").read_text()
    assert "XO_FILES := $(KERNELS:%=vitis/%.xo) front/vitis/net_front.xo\n" in makefile


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("front/src/hlsgen/port.h", "memory[begin + i] = bits[0];", "memory[begin + i] = ~bits[0];"),
        ("front/src/{blocks}.h", "emptied += LINE;", "emptied += GROUPS;"),
        ("src/array.h", "sum[r][l] = before + dot[l];", "sum[r][l] = before - dot[l];"),
    ],
)
def test_a_fault_in_either_kernel_is_caught(
    project: hlsgen.Project, file: str, before: str, after: str, tmp_path: Path
) -> None:
    style = project.design.style
    assert isinstance(style, MixedNetwork)
    folder = Path(shutil.copytree(project.folder, tmp_path / "net"))
    path = folder / file.format(blocks=style.blocks.name)
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))
    inputs = style.sample_inputs(3)
    with pytest.raises(MismatchError):
        style.verify(folder, inputs, style.golden_codes(inputs))


@pytest.mark.parametrize(
    ("mapping", "precision", "said"),
    [
        ("{interval: 5000}", '"fixed<8,3>"', "interval is of one kernel, and in style: mixed the slower"),
        ("{conv1: {slr: SLR0}}", '"fixed<8,3>"', "slr is of a kernel that holds all layers"),
        ("auto", "float32", "precision is float32, and what feeds shared processors computes in fixed point"),
    ],
)
def test_what_it_cannot_obey_is_refused(tmp_path: Path, mapping: str, precision: str, said: str) -> None:
    with pytest.raises(DesignError) as caught:
        hlsgen.load(written(tmp_path, mapping, precision=precision)).estimate()
    assert said in str(caught.value)


def test_other_weights_and_explore_say_what_to_do(project: hlsgen.Project, tmp_path: Path) -> None:
    style = project.design.style
    with pytest.raises(DesignError, match="which only a build changes"):
        style.with_weights(style)
    with pytest.raises(DesignError, match="of which hlsgen explore has no search of its own"):
        project.design.explore()


def test_banks_of_a_port() -> None:
    assert banks_text(["DDR[1]", "DDR[1]"]) == "DDR[1]"
    assert banks_text(["DDR[2]", "DDR[0]", "DDR[2]"]) == "DDR[0:2]"
    with pytest.raises(DesignError, match="cannot be given the banks A, B together"):
        banks_text(["A", "B"])


def test_the_console_says_both_sides(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["estimate", str(written(tmp_path, board="zcu102"))])
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "stream at" in said and "frames/s, the others at" in said
