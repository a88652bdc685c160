"""Another network's program on a built processor: hlsgen.runtime and the program's own host program."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hlsgen
from hlsgen import runtime
from hlsgen.api.design import Design
from hlsgen.base.errors import DesignError
from hlsgen.hardware.host_interface import read_interface
from hlsgen.hardware.host_program import HostPlace
from hlsgen.program.tasks import Stored
from hlsgen.program.unfolding import unfold
from tests.support import stand_in_pyxrt
from tests.support.host_builds import HostBuild, compile_against_stand_in, host_build, run

OTHER = """
name: other
board: zcu102
style: dataflow
precision: "fixed<6,3,rnd,sat>"
input: {shape: [2, 9, 7], type: "fixed<5,1>", samples: random}
layers:
  - {name: conv1, kind: conv2d, out_channels: 7, kernel: 3, stride: 2, padding: 1, weights: {seed: 5}}
  - {name: conv2, kind: conv2d, out_channels: 18, kernel: 1, weights: {seed: 6}}
"""
FRAMES = 21


@pytest.fixture
def made(tmp_path_factory: pytest.TempPathFactory) -> HostBuild:
    return host_build("shared", tmp_path_factory)


@pytest.fixture
def pyxrt(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.delenv("XCL_EMULATION_MODE", raising=False)
    monkeypatch.setitem(sys.modules, "pyxrt", stand_in_pyxrt)
    monkeypatch.setattr(stand_in_pyxrt, "log", [])
    yield stand_in_pyxrt


@pytest.fixture
def other(tmp_path: Path) -> Design:
    (tmp_path / "other.yaml").write_text(OTHER)
    return hlsgen.load(tmp_path / "other.yaml")


@pytest.fixture
def program(made: HostBuild, other: Design, tmp_path: Path) -> Path:
    return hlsgen.program_for(other, made.build, tmp_path / "program", frames=FRAMES, csim=False).folder


def check(net: runtime.Runtime, design: Design) -> None:
    """Batches of sizes that fill rounds and that do not, against golden in NumPy."""
    for frames in (1, FRAMES, 16):
        x = np.random.default_rng(frames).uniform(-0.9, 0.9, (frames, *design.graph.inputs[0].shape))
        np.testing.assert_array_equal(net.run(x), design.golden(x))


def test_c_simulation_of_the_build_runs_it(made: HostBuild, other: Design, program: Path) -> None:
    with runtime.open(made.build, program=program) as net:
        check(net, other)


def test_the_card_runs_both_networks(made: HostBuild, other: Design, program: Path, pyxrt: Any) -> None:
    container = made.folder / "stand_in.xclbin"
    with runtime.open(made.build, xclbin=container, program=program) as net:
        check(net, other)
        units = {line.split()[1] for line in pyxrt.log if line.startswith("begin")}
        assert units == {"net_1", "net_2"}
    with runtime.open(made.build, xclbin=container) as net:
        codes = {"x": np.load(made.build / "tb/x.npy")}
        found = net.run_codes(codes)
        for name, one in found.items():
            np.testing.assert_array_equal(one, np.load(made.build / f"tb/{name}_golden.npy"))


def test_its_host_program_takes_the_builds_bitstream(made: HostBuild, program: Path, tmp_path: Path) -> None:
    host = compile_against_stand_in(program, tmp_path / "host", "g++", "-Werror")
    container = made.folder / "stand_in.xclbin"
    done = run([host, container, program, "--repeat", "2", "-o", "out"], cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("TEST PASSED\n")
    (golden,) = [path for path in program.glob("*_golden.npy") if path.name != "memory_golden.npy"]
    got = np.load(tmp_path / "out" / golden.name.replace("_golden", ""))
    np.testing.assert_array_equal(got, np.load(golden))
    refused = run([host, container, program, "--chunk", "1000000"], cwd=tmp_path)
    assert refused.returncode == 2
    assert "the program has room for" in refused.stderr


def test_a_program_for_another_processor_is_refused(made: HostBuild, program: Path) -> None:
    content = json.loads((program / "interface.json").read_text())
    content["steps"][0]["units"] = ["net_1"]
    (program / "interface.json").write_text(json.dumps(content))
    with pytest.raises(DesignError, match="is no program for the processor of net"):
        runtime.open(made.build, program=program)


def of_place(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda content: content["program"]["places"][0].update(values)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda content: content.pop("program"), "there is no program for the processor"),
        (lambda content: content["program"].update(rounds=0), "greater than 0"),
        (lambda content: content["program"].update(rounds=1 << 30), "ends beyond the memory"),
        (lambda content: content["program"].update(memory_bytes=1 << 60), "no card has so much memory"),
        (lambda content: content["program"].update(places=[]), "has no place in the memory"),
        (lambda content: content.update(chunk_frames=1 << 20), "more frames than the memory"),
        (of_place(first_byte=1 << 40), "ends beyond the memory"),
        (of_place(first_byte=-1), "greater than or equal to 0"),
        (of_place(lanes=0), "greater than 0"),
        (of_place(width=99), "has another width"),
        (of_place(channels=99), "has another shape"),
        (of_place(element_bytes=3), "neither one byte nor two nor four"),
        (of_place(tensor="nobody"), "which is not there"),
    ],
)
def test_a_damaged_interface_is_refused(
    made: HostBuild, tmp_path: Path, damage: Callable[[dict[str, Any]], None], reason: str
) -> None:
    shutil.copy(made.build / "interface.json", tmp_path)
    content = json.loads((tmp_path / "interface.json").read_text())
    damage(content)
    (tmp_path / "interface.json").write_text(json.dumps(content))
    with pytest.raises(DesignError, match=reason):
        read_interface(tmp_path)


@given(
    channels=st.integers(1, 5),
    height=st.integers(1, 6),
    width=st.integers(1, 7),
    columns=st.integers(1, 4),
    dilation=st.integers(1, 2),
    stride=st.integers(1, 3),
    left=st.integers(0, 3),
)
def test_unfolded_columns_are_those_of_the_convolution(
    channels: int, height: int, width: int, columns: int, dilation: int, stride: int, left: int
) -> None:
    """Summing a moved channel is the same as a tap of a convolution over the padded image."""
    found_width = max(1, (width + 2 * left - (columns - 1) * dilation - 1) // stride + 1)
    codes = np.arange(2 * channels * height * width).reshape(2, channels, height, width) + 1
    how = (columns, dilation, stride, left)
    shape = (channels * columns, height, found_width)
    stored = Stored(name="x", shape=shape, type=None, unfolded=how)  # type: ignore[arg-type]
    moved = unfold(codes, stored)
    reach = left + found_width * stride + columns * dilation
    padded = np.pad(codes, ((0, 0), (0, 0), (0, 0), (left, reach)))
    for k in range(columns):
        want = padded[..., k * dilation : k * dilation + found_width * stride : stride][..., :found_width]
        np.testing.assert_array_equal(moved[:, k::columns], want)


def test_a_place_has_the_bytes_of_its_layout() -> None:
    place = HostPlace(
        tensor="x", first_byte=0, channels=5, height=7, width=3, rows=3, lanes=4, element_bytes=2
    )
    # two groups of four channels, three blocks of three rows, three columns, of two bytes each
    assert place.frame_bytes == 2 * 4 * 3 * 3 * 3 * 2
