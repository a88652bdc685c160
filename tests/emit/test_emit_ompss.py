"""The OmpSs-2@FPGA folder: run sequentially, and held against the rules of its compiler."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from hlsgen.base.type_text import parse_type
from hlsgen.emit.ompss_project import ait_name
from hlsgen.hardware.conv_folding import Folding
from tests.support.build_folders import (
    CASES,
    Case,
    calls,
    emitted,
    in_threads,
    make,
    outputs,
    stand_in,
    write_build,
)
from tests.support.kernels import conv

CLAUSES = {"device", "in", "out", "copy_deps", "num_instances"}


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


def tasks(text: str) -> list[str]:
    """Each task's pragma, on one line, with the head of its function."""
    joined = text.replace("\\\n", " ")
    return [" ".join(found.split()) for found in re.findall(r"#pragma oss task .*?\) \{", joined, re.DOTALL)]


@pytest.mark.parametrize("name", CASES)
def test_sequential_program_equals_golden(name: str, tmp_path: Path) -> None:
    build = write_build(name, tmp_path / "path with spaces")
    done = make(build, "ompss")
    assert done.returncode == 0, done.stderr
    assert "-std=c++11" in done.stdout
    assert f"conv: {outputs(name)} of {outputs(name)} equal" in done.stdout


@pytest.mark.parametrize("name", ["float", "int8"])
def test_openmp_tasks_run_in_several_threads(name: str, tmp_path: Path) -> None:
    build = write_build(name, tmp_path)
    done = in_threads(build, "conv_instance", threads=3)
    assert done.returncode == 0, done.stderr
    assert f"conv: {outputs(name)} of {outputs(name)} equal" in done.stdout


def test_the_recorder_notices_a_single_thread(tmp_path: Path) -> None:
    build = write_build("float", tmp_path)
    done = in_threads(build, "conv_instance", threads=1, wait=1)
    assert "only one thread runs tasks" in done.stderr and "Error 3" in done.stderr


# of each a code that fills its container, that lacks some bits of it, or that is wider than 32 bits
ARGUMENTS = {
    "signed": ("fixed<33,10>", "fixed<8,1>", "fixed<12,7,rnd_conv,sat_sym>"),
    "unsigned": ("ufixed<7,3>", "ufixed<3,0>", "ufixed<41,16>"),
    "whole": ("ufixed<8,3>", "fixed<5,-1>", "fixed<16,6,rnd,sat>"),
}


def test_ait_s_flags_see_the_arguments(tmp_path: Path) -> None:
    """AIT gives Vitis HLS the standard and its own folder, no macro: the header has to have the choice."""
    folder = write_build("int8", tmp_path) / "ompss"
    (folder / "hlsgen").symlink_to("../src/hlsgen")
    code = '#include "conv_kernel.fpga.h"\n#include <type_traits>\n'
    code += 'static_assert(std::is_integral<conv_task::in_code_t>::value == PLAIN, "other arguments");'
    for arguments in ("codes", "fixed", "codes"):
        make(folder, "conv_arguments.fpga.h", f"ARGUMENTS={arguments}")
        command = ["g++", "-fsyntax-only", "-w", "-std=c++11", f"-I{folder}", "-x", "c++", "-"]
        command += ["-isystem", str(folder.parent / "csim/include/fast")]
        command += [f"-I{folder.parent}/csim/include/common", f"-DPLAIN={int(arguments == 'codes')}"]
        done = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", ["codes", "fixed"])
@pytest.mark.parametrize("name", ARGUMENTS)
def test_fixed_point_arguments(
    name: str, arguments: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Types of the layer reach a task and come back: as integers, or as ap_fixed of their container."""
    given, weights, result = ARGUMENTS[name]
    layer = conv((3, 7, 9), 4, input_type=given, weight_type=weights, result_type=result, extremes=True)
    monkeypatch.setitem(CASES, name, Case(layer=lambda: layer, folding=Folding(rows=2, pe=2, simd=1)))
    build = write_build(name, tmp_path)
    done = make(build / "ompss", "sequential", f"ARGUMENTS={arguments}")
    assert done.returncode == 0, done.stderr
    assert f"conv: {outputs(name)} of {outputs(name)} equal" in done.stdout
    header = (build / "ompss/conv_kernel.fpga.h").read_text()
    for text, argument in ((given, "in_code_t"), (weights, "weight_code_t"), (result, "out_code_t")):
        own = parse_type(text)
        (width, integer), bits = (
            re.findall(rf"typedef ap_u?fixed<(-?\d+), (-?\d+)> {argument};", header)[0],
            8,
        )
        while bits < own.width:  # type: ignore[union-attr]
            bits *= 2
        assert (int(width), int(width) - int(integer)) == (bits, own.fraction)  # type: ignore[union-attr]


def test_arguments_of_another_kind(tmp_path: Path) -> None:
    done = make(write_build("int8", tmp_path) / "ompss", "sequential", "ARGUMENTS=ints")
    assert 'ARGUMENTS must be codes or fixed, not "ints"' in done.stderr and done.returncode == 2


def test_exit_codes(tmp_path: Path) -> None:
    build = write_build("int8", tmp_path)
    np.save(build / "tb/golden.npy", np.load(build / "tb/golden.npy") ^ 1)
    done = make(build / "ompss", "sequential")
    assert done.returncode == 2
    assert f"conv: 0 of {outputs('int8')} equal" in done.stdout
    assert "Error 1" in done.stderr
    (build / "tb/weights.npy").unlink()
    done = make(build / "ompss", "sequential")
    assert "error: cannot read ../tb/weights.npy" in done.stderr
    assert "Error 2" in done.stderr


@pytest.mark.parametrize("name", CASES)
def test_rules_of_the_compiler(name: str) -> None:
    files = emitted(CASES[name].deployment())
    source, header = files["ompss/conv_tasks.cpp"], files["ompss/conv_kernel.fpga.h"]
    # only such headers reach the accelerator
    kernels = ["conv", "conv_b"][: 2 if CASES[name].second else 1]
    assert re.findall(r'#include ["<](.*?)[">]', source) == [f"{one}_kernel.fpga.h" for one in kernels]
    fpga = [
        source,
        *(files[f"ompss/{one}_kernel.fpga.h"] for one in kernels),
        *(text for path, text in files.items() if path.startswith("src/")),
    ]
    for text in fpga:
        if "burst_maxi" not in text:  # the kernel for Vitis is not part of this
            assert re.search(r"\bsize_t\b|(?<!long )\blong\b(?! long)", without_comments(text)) is None
    *instances, batch = tasks(source)
    assert f"constexpr unsigned INSTANCES = {CASES[name].instances};" in header
    for one, instance in zip(kernels, instances, strict=True):
        assert f"num_instances({one}_task::INSTANCES) copy_deps" in instance
    assert "copy_deps" not in batch and "num_instances" not in batch
    for task in (*instances, batch):
        pragma = task.split(" void ")[0]
        assert set(re.findall(r"(\w+)\(", pragma)) <= CLAUSES
        assert "const conv_task::out_code_t" not in task
        assert ("biases" in task) == bool(CASES[name].layer().bias.size)
    assert source.count("#pragma oss taskwait\n}") == 2


@pytest.mark.parametrize("name", CASES)
def test_arrays_end_on_whole_blocks(name: str) -> None:
    layer = CASES[name].layer()
    header = emitted(CASES[name].deployment())["ompss/conv_kernel.fpga.h"]
    for array, shape, type_ in (
        ("INPUT", layer.in_shape, layer.input_type),
        ("WEIGHTS", layer.weights.shape, layer.weight_type),
        ("OUTPUT", layer.output_shape, layer.result_type),
    ):
        (size,) = re.findall(rf"constexpr int {array}_SIZE = (\d+);", header)
        block = 64 // type_.dtype.itemsize
        assert int(size) % block == 0
        assert 0 <= int(size) - int(np.prod(shape)) < block


def test_makefile_calls(tmp_path: Path) -> None:
    build, tools = write_build("channels", tmp_path / "build"), tmp_path / "bin"
    for tool in ("clang++", "ait", "vivado", "vitis_hls"):
        stand_in(tools, tool)
    env = {"PATH": f"{tools}:/usr/bin:/bin"}
    targets = [f"{target}-{kind}" for target in ("program", "design", "bitstream") for kind in "pid"]
    for target in targets:
        done = make(build / "ompss", target, env=env)
        assert done.returncode == 0, done.stderr
    checks, found = calls(tools)[::2], dict(zip(targets, calls(tools)[1::2], strict=True))
    assert set(checks) == {"clang++ [] -fompss-2 -fsyntax-only -x c++ -"}
    common = "-target aarch64-linux-gnu -std=c++11 -O3 -ffp-contract=off -fompss-2 -fompss-fpga-wrapper-code"
    for target, call in found.items():
        assert call.startswith(f"clang++ [] {common} -fompss-fpga-memory-port-width 128 ")
        assert " main.cpp conv_tasks.cpp -o " in call
        program = target.startswith("program")
        assert ("-fompss-fpga-ait-flags --name=conv --board=zcu102 -c=200 " in call) == (not program)
        assert ("-fompss-fpga-ait-flags --to_step=design" in call) == target.startswith("design")
        assert (" -fompss-fpga-instrumentation " in call) == target.endswith("i")
        assert (f" -g -fompss-fpga-hls-tasks-dir {build / 'ompss'} " in call) == target.endswith("d")
        assert ("-fompss-fpga-ait-flags -k -i -v" in call) == (target.endswith("d") and not program)
        assert call.endswith(f"-o conv-{target[-1]}") == program
    assert (build / "ompss/hlsgen/dot.h").is_file(), "Vitis HLS looks for headers in this folder"


def test_every_instance_has_its_slr() -> None:
    files = emitted(CASES["fixed16"].deployment())
    placed = json.loads(files["ompss/placement.json"])["accs"]
    assert [one["placement"] for one in placed["conv_instance"]["instances"].values()] == [0, 1, 2]
    assert placed["conv_batch"] == {"instances": {"0": {"placement": 1}}}
    assert "USER_CONFIG ?= placement.json" in files["ompss/Makefile"]
    small = emitted(CASES["channels"].deployment())
    assert "ompss/placement.json" not in small and "placement.json" not in small["ompss/Makefile"]


def test_makefile_says_what_is_missing(tmp_path: Path) -> None:
    build, tools = write_build("float", tmp_path / "build"), tmp_path / "bin"
    stand_in(tools, "clang++", "exit 1")
    env = {"PATH": f"{tools}:/usr/bin:/bin"}
    done = make(build / "ompss", "program-p", env=env)
    assert done.returncode == 2
    assert "error: clang++ is not the clang++ of OmpSs-2@FPGA" in done.stderr
    stand_in(tools, "clang++")
    done = make(build / "ompss", "bitstream-p", env=env)
    assert done.returncode == 2
    assert "error: ait was not found; pip install ait-bsc" in done.stderr
    done = make(build / "ompss", env=env)
    assert done.returncode == 0
    for target in ("sequential", "openmp", "program-p", "design-p", "bitstream-p"):
        assert f"\n  {target} " in done.stdout


@pytest.mark.parametrize(
    ("kernel", "name"), [("conv", "conv"), ("conv__x_", "conv_x"), ("_1", "kernel_1"), ("_", "kernel")]
)
def test_ait_name(kernel: str, name: str) -> None:
    assert ait_name(kernel) == name
