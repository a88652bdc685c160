"""The OmpSs-2@FPGA folder: run sequentially, and held against the rules of its compiler."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from hlsgen.emit.ompss_project import ait_name
from tests.build_folders import CASES, calls, emitted, make, outputs, stand_in, write_build

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
    assert re.findall(r'#include ["<](.*?)[">]', source) == ["conv_kernel.fpga.h"]
    fpga = [source, header, *(text for path, text in files.items() if path.startswith("src/"))]
    for text in fpga:
        if "burst_maxi" not in text:  # the kernel for Vitis is not part of this
            assert re.search(r"\bsize_t\b|(?<!long )\blong\b(?! long)", without_comments(text)) is None
    instance, batch = tasks(source)
    assert f"constexpr unsigned INSTANCES = {CASES[name].instances};" in header
    assert "num_instances(conv_task::INSTANCES) copy_deps" in instance
    assert "copy_deps" not in batch and "num_instances" not in batch
    for task in (instance, batch):
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
    assert make(build / "ompss", "program-p", env=env).returncode == 0
    done = make(build / "ompss", "bitstream-p", env=env)
    assert done.returncode == 0, done.stderr
    check, program, _, bitstream = calls(tools)
    assert check == "clang++ [] -fompss-2 -fsyntax-only -x c++ -"
    common = "-target aarch64-linux-gnu -std=c++11 -O3 -ffp-contract=off -fompss-2 -fompss-fpga-wrapper-code"
    for call in (program, bitstream):
        assert call.startswith(f"clang++ [] {common} -fompss-fpga-memory-port-width 128 ")
        assert " main.cpp conv_tasks.cpp -o " in call
    assert "-fompss-fpga-ait-flags --name=conv --board=zcu102 -c=200 " in bitstream
    assert (build / "ompss/hlsgen/dot.h").is_file(), "Vitis HLS looks for headers in this folder"


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
    for target in ("sequential", "program-p", "bitstream-p"):
        assert f"\n  {target} " in done.stdout


@pytest.mark.parametrize(
    ("kernel", "name"), [("conv", "conv"), ("conv__x_", "conv_x"), ("_1", "kernel_1"), ("_", "kernel")]
)
def test_ait_name(kernel: str, name: str) -> None:
    assert ait_name(kernel) == name
