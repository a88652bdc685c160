"""hlsgen.runtime: a build folder without its model, as C-simulation and on the stand-in for pyxrt."""

from __future__ import annotations

import gc
import json
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hlsgen
from hlsgen import runtime
from hlsgen.base.errors import DesignError, HlsgenError, ToolError
from hlsgen.base.fixed import FixedType, Overflow
from hlsgen.base.type_text import parse_type
from hlsgen.hardware.host_interface import HostTensor, read_interface
from hlsgen.runtime.ddr_frames import packed, unpacked
from hlsgen.runtime.simulation import Simulation
from tests.support import stand_in_pyxrt
from tests.support.host_builds import DESIGNS, FRAMES, HostBuild, host_build, interface


@pytest.fixture
def pyxrt(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The stand-in in the place of XRT's module, with nothing of another test in it."""
    monkeypatch.delenv("XCL_EMULATION_MODE", raising=False)
    monkeypatch.setitem(sys.modules, "pyxrt", stand_in_pyxrt)
    monkeypatch.setattr(stand_in_pyxrt, "log", [])
    yield stand_in_pyxrt


@pytest.fixture(params=[kind for kind in DESIGNS if kind != "winograd"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> HostBuild:
    return host_build(request.param, tmp_path_factory)


@pytest.fixture
def conv(tmp_path_factory: pytest.TempPathFactory) -> HostBuild:
    return host_build("conv", tmp_path_factory)


def opened(made: HostBuild, **options: Any) -> runtime.Runtime:
    """On the stand-in for a card."""
    return runtime.open(made.build, xclbin=made.folder / "stand_in.xclbin", **options)


def check_numbers(net: runtime.Runtime, made: HostBuild) -> None:
    """Against golden in NumPy of the design, which the runtime has never seen."""
    design = DESIGNS[made.kind](made.folder)
    shape = design.graph.inputs[0].shape
    for frames in (5, 1, 14):
        x = np.random.default_rng(frames).normal(0, 0.5, (frames, *shape))
        got, want = net.run(x), design.golden(x)
        for one, other in zip(as_list(got), as_list(want), strict=True):
            np.testing.assert_array_equal(one, other)
        assert net.figures is not None and net.figures.frames == frames
    np.testing.assert_array_equal(as_list(net.run(x[0]))[0], as_list(want)[0][:1])


def as_list(arrays: Any) -> list[Any]:
    return arrays if isinstance(arrays, list) else [arrays]


def test_simulation_equals_golden(made: HostBuild) -> None:
    with runtime.open(made.build) as net:
        check_numbers(net, made)
        scratch = net.backend.scratch  # type: ignore[attr-defined]
        assert scratch.is_dir()
    assert not scratch.exists()


def test_card_equals_golden(made: HostBuild, pyxrt: Any) -> None:
    with opened(made) as net:
        check_numbers(net, made)
        codes = {
            port["name"]: np.load(made.build / f"tb/{port['name']}.npy")
            for port in interface(made.build)["inputs"]
        }
        results = net.run_codes(codes)
        for port in interface(made.build)["outputs"]:
            np.testing.assert_array_equal(results[port["name"]], np.load(made.build / "tb" / port["golden"]))


@pytest.mark.parametrize("own", [False, True])
def test_inputs_that_are_clipped_are_said(made: HostBuild, pyxrt: Any, own: bool, tmp_path: Path) -> None:
    """As golden says it, unless the type is the model's own quantizer."""
    x = np.full((2, *DESIGNS[made.kind](made.folder).graph.inputs[0].shape), 1e4)
    shutil.copytree(made.build, tmp_path / "build")
    data = interface(tmp_path / "build")
    (port,) = data["inputs"]
    (tensor,) = [one for one in data["tensors"] if one["name"] == port["tensor"]]
    type_ = parse_type(tensor["type"])
    if isinstance(type_, FixedType):
        type_ = replace(type_, overflow=Overflow.SAT)
    tensor["type"], port["own"] = str(type_), own
    (tmp_path / "build" / "interface.json").write_text(json.dumps(data))
    net = runtime.open(tmp_path / "build", xclbin=made.folder / "stand_in.xclbin")
    with net, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        net.run(x)
    said = [one for one in caught if one.category is hlsgen.ClippingWarning]
    clips = isinstance(type_, FixedType) and not own
    assert len(said) == (1 if clips else 0)
    assert all(f"input {port['name']}: 100.0% of" in str(one.message) for one in said)
    assert all(one.filename == __file__ for one in said)


def test_figures_say_what_they_were_measured_on(
    conv: HostBuild, pyxrt: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.zeros((FRAMES, 3, 9, 11))
    with runtime.open(conv.build) as net:
        assert net.figures is None
        net.run(x)
        assert net.figures is not None and not net.figures.fpga
        assert str(net.figures).startswith("measured on C-simulation on this machine; this is no FPGA time: ")
    monkeypatch.setattr(pyxrt, "call_seconds", 0.03)
    with opened(conv) as net:
        net.run(x)
        figures = net.figures
        assert figures is not None and figures.fpga
        assert str(figures).startswith("measured on device 0 with stand_in.xclbin: ")
        assert figures.frames_per_s == pytest.approx(FRAMES / figures.seconds)
        assert figures.frames_per_s <= 3 * figures.chunk_frames / 0.03
        assert [*figures.latency_s] == [50, 90, 99, 100]
        assert 0.03 <= figures.latency_s[50] <= figures.latency_s[100] <= figures.seconds
    monkeypatch.setenv("XCL_EMULATION_MODE", "hw_emu")
    with opened(conv) as net:
        net.run(x)
        assert net.figures is not None and not net.figures.fpga
        assert str(net.figures).startswith(
            "measured on hw_emu, an emulation, with stand_in.xclbin; this is no FPGA"
        )


def test_units_share_the_batch_and_transfers_overlap(
    made: HostBuild, pyxrt: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pyxrt, "call_seconds", 0.3)  # long beside what a busy machine takes for a transfer
    with opened(made) as net:
        codes = {
            port.name: np.zeros((40, *net.interface.tensor(port.tensor).shape), int)
            for port in net.interface.inputs
        }
        monkeypatch.setattr(net.backend, "chunk", lambda frames: 2)
        net.run_codes(codes)
    working: set[str] = set()
    most = sent = 0
    for line in pyxrt.log:
        what, *unit = line.split()
        if what == "begin":
            working.add(unit[0])
        elif what == "end":
            working.remove(unit[0])
        most = max(most, len(working))
        sent += what == "to_device" and len(working) > 0
    lanes = net.interface.lanes
    assert most >= lanes + (made.kind == "tasks")
    assert sent >= 3
    for step in net.interface.steps:
        calls = [
            line.split() for line in pyxrt.log if line.startswith("begin") and line.split()[1] in step.units
        ]
        reloads = lanes * any(argument.source == "reload" for argument in step.arguments)
        # the processor's last argument is rounds: two frames fill a part of one
        frames_of_all = 20 if step.runs_tasks else 40 + reloads
        assert sum(int(frames) for _, _, frames in calls) == frames_of_all
        assert {unit for _, unit, _ in calls} == set(step.units)


def test_stuck_unit_is_named_and_does_not_block_the_next_run(
    conv: HostBuild, pyxrt: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.zeros((FRAMES, 3, 9, 11))
    with opened(conv, timeout_s=0.3) as net:
        monkeypatch.setattr(pyxrt, "stuck", {"conv_2"})
        with pytest.raises(ToolError, match="compute unit conv_2 has not finished a call within 0.3 s"):
            net.run(x)
        monkeypatch.setattr(pyxrt, "stuck", set())
        assert as_list(net.run(x))[0].shape == (FRAMES, 4, 9, 9)


def test_card_is_not_there(
    conv: HostBuild, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pyxrt: Any
) -> None:
    with pytest.raises(ToolError, match="none.xclbin is no file\nfix: make xclbin"):
        runtime.open(conv.build, xclbin=tmp_path / "none.xclbin")
    with pytest.raises(ToolError, match="on device 5: Could not open device with index '5'"):
        opened(conv, device=5)
    text = (conv.folder / "stand_in.xclbin").read_text()
    other = tmp_path / "other.xclbin"
    other.write_text(text.replace("conv_3", "third"))
    with pytest.raises(ToolError, match="no compute unit conv:conv_3; it has conv:conv_1, .*, conv:third"):
        runtime.open(conv.build, xclbin=other)
    other.write_text("")
    with pytest.raises(ToolError, match="bad xclbin"):
        runtime.open(conv.build, xclbin=other)
    monkeypatch.setitem(sys.modules, "pyxrt", None)
    with pytest.raises(ToolError, match="XRT's Python module cannot be imported.*\nfix: source /opt/xilinx"):
        opened(conv)


def test_kernels_of_a_lane_share_a_bank(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, pyxrt: Any
) -> None:
    made = host_build("tasks", tmp_path_factory)
    text = (made.folder / "stand_in.xclbin").read_text()
    other = tmp_path / "other.xclbin"
    other.write_text(re.sub(r"(net_fc_2) .*", r"\1 7 7 7 7 7", text))
    with pytest.raises(ToolError, match=r"net_fc_2 reaches pool in memory group 7, .* in group \d"):
        runtime.open(made.build, xclbin=other)


WRONG_INPUTS: dict[str, tuple[Callable[[runtime.Runtime], Any], str]] = {
    "shape": (lambda net: net.run(np.zeros((2, 3, 9, 12))), r"x has shape \(2, 3, 9, 12\)"),
    "nan": (lambda net: net.run(np.full((1, 3, 9, 11), np.nan)), "x holds NaN or infinity"),
    "missing": (lambda net: net.run_codes({"x": np.zeros(1)}), "input input is missing"),
    "codes": (lambda net: net.run_codes({"input": np.zeros((9, 11), int)}), r"input has shape \(9, 11\)"),
    "floats": (
        lambda net: net.run_codes({"input": np.zeros((1, 3, 9, 11))}),
        "does not hold codes of fixed",
    ),
    "range": (
        lambda net: net.run_codes({"input": np.full((1, 3, 9, 11), 1 << 7)}),
        "integers from -128 to 127",
    ),
}


@pytest.mark.parametrize("case", list(WRONG_INPUTS))
def test_wrong_inputs(case: str, conv: HostBuild, pyxrt: Any) -> None:
    use, message = WRONG_INPUTS[case]
    with opened(conv) as net, pytest.raises(DesignError, match=message):
        use(net)


def edited(conv: HostBuild, folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    data = interface(conv.build)
    change(data)
    (folder / "interface.json").write_text(json.dumps(data))
    return folder


def put(data: dict[str, Any], *path: Any, value: Any) -> None:
    *way, last = path
    for step in way:
        data = data[step]
    data[last] = value


WRONG_INTERFACES = {
    "format": (partial(put, value=1), ("format",), "is not of format 3"),
    "zero": (
        partial(put, value=0),
        ("tensors", 0, "width"),
        "tensors.0.width: Input should be greater",
    ),
    "words": (
        partial(put, value=4),
        ("tensors", 0, "word_bytes"),
        "the words of input do not hold its",
    ),
    "type": (partial(put, value="int7"), ("tensors", 0, "type"), 'input: "int7": unknown number type'),
    "shape": (
        partial(put, value=[3, 9, 10]),
        ("inputs", 0, "shape"),
        "input does not have the shape of",
    ),
    "tensor": (partial(put, value="x"), ("outputs", 0, "tensor"), "output is x, which is not there"),
    "argument": (
        partial(put, value="x"),
        ("steps", 0, "arguments", 0, "name"),
        "conv takes x, which is not",
    ),
    "units": (partial(put, value=[]), ("steps", 0, "units"), "there are no compute units"),
    "container": (
        partial(put, value="garbage"),
        ("tensors", 0, "container"),
        "tensors.0.container: Input should be '<i1'",
    ),
    "container of weights": (
        partial(put, value="O"),
        ("constants", 0, "container"),
        "constants.0.container: Input should be '<i1'",
    ),
    "path": (partial(put, value="../x.npy"), ("constants", 0, "file"), "a file's name leaves the folder"),
}


@pytest.mark.parametrize("case", list(WRONG_INTERFACES))
def test_wrong_interface(case: str, conv: HostBuild, tmp_path: Path) -> None:
    change, path, message = WRONG_INTERFACES[case]
    folder = edited(conv, tmp_path, lambda data: change(data, *path))
    with pytest.raises(DesignError) as refused:
        read_interface(folder)
    assert message in str(refused.value) and "\nfix: name a folder that hlsgen build made" in str(
        refused.value
    )


def test_a_closed_one_says_so(conv: HostBuild, pyxrt: Any) -> None:
    for net in (opened(conv), runtime.open(conv.build)):
        port = net.interface.inputs[0]
        x = np.zeros((1, *port.shape))
        net.run(x)
        net.close()
        with pytest.raises(DesignError, match="conv was closed, and runs no more\nfix: open its build"):
            net.run(x)


def test_one_that_is_not_closed_leaves_nothing(conv: HostBuild) -> None:
    net = runtime.open(conv.build)
    assert isinstance(net.backend, Simulation)
    scratch = net.backend.scratch
    assert scratch.is_dir()
    del net
    gc.collect()
    assert not scratch.exists()


def test_no_build_folder(conv: HostBuild, tmp_path: Path) -> None:
    with pytest.raises(DesignError, match="cannot read .*interface.json"):
        runtime.open(tmp_path)
    (tmp_path / "interface.json").write_text("{")
    with pytest.raises(DesignError, match="is no JSON document"):
        runtime.open(tmp_path)
    build = Path(shutil.copytree(conv.build, tmp_path / "build"))
    weights = np.load(build / "tb/weights.npy")
    np.save(build / "tb/weights.npy", weights[1:])
    with pytest.raises(DesignError, match="holds 135 bytes of int8, but the kernel takes 180 of int8"):
        runtime.open(build)
    np.save(build / "tb/weights.npy", weights.astype(np.float16))
    with pytest.raises(DesignError, match="holds 360 bytes of float16, but the kernel takes 180 of int8"):
        runtime.open(build)
    np.save(build / "tb/weights.npy", np.full_like(weights, -64))
    with pytest.raises(DesignError, match="the weights in .* are too large for this kernel's packing"):
        runtime.open(build)
    (build / "tb/weights.npy").unlink()
    with pytest.raises(HlsgenError, match="cannot read .*weights.npy"):
        runtime.open(build)


@given(
    sizes=st.tuples(
        st.integers(1, 4), st.integers(1, 3), st.integers(1, 5), st.integers(1, 9), st.integers(1, 8)
    ),
    bits=st.sampled_from([1, 7, 8, 13, 16, 24, 33, 64]),
    signed=st.booleans(),
    planar=st.booleans(),
    frames=st.integers(1, 3),
)
def test_packing_is_where_the_kernel_reads(
    sizes: tuple[int, int, int, int, int], bits: int, signed: bool, planar: bool, frames: int
) -> None:
    ch, folds, height, width, px = sizes
    ch = 1 if planar else ch
    number = FixedType(bits, bits, signed)
    element = number.dtype.itemsize
    tensor = HostTensor(
        name="t",
        channels=ch * folds,
        height=height,
        width=width,
        px=px,
        ch=ch,
        element_bytes=element,
        word_bytes=1 << (px * ch * element - 1).bit_length(),
        planar=planar,
        type=str(number),
        container=number.dtype.str,
        bits=bits,
    )
    generator = np.random.default_rng(bits)
    codes = generator.integers(number.min_code, number.max_code, (frames, *tensor.shape), number.dtype, True)
    content = packed(codes, tensor)
    assert len(content) == frames * tensor.frame_bytes
    n, c, y, x = (int(generator.integers(size)) for size in codes.shape)
    word, lane = (y * tensor.groups + x // px) * folds + c // ch, x % px * ch + c % ch
    if planar:
        word, lane = (c * height + y) * tensor.groups + x // px, x % px
    at = n * tensor.frame_bytes + word * tensor.word_bytes + lane * element
    assert content[at : at + element].tobytes() == codes[n, c, y, x].tobytes()
    # what a kernel leaves above a code's bits is anything
    unused = 8 * element - bits
    if unused:
        high = np.arange(len(content)) % element == element - 1
        content[high] ^= np.uint8((0xFF << (8 - min(unused, 8))) & 0xFF)
    np.testing.assert_array_equal(unpacked(content, tensor), codes)
