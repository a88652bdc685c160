"""The host program against Debian's libxrt-dev: strictly compiled, and run with its no-op driver, which opens
compute units and places buffers as for a card but computes nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.host_builds import (
    DESIGNS,
    STRICT,
    built,
    interface,
    kernels,
    make_host,
    noop_environment,
    noop_xclbin,
    run,
)
from tests.support.xclbin import Argument, Kernel

HEADERS = Path("/usr/include/xrt/xrt/xrt_kernel.h")
DRIVERS = sorted(Path("/usr/lib").glob("*/libxrt_noop.so.2"))
pytestmark = pytest.mark.skipif(
    not (HEADERS.is_file() and DRIVERS and shutil.which("g++") and shutil.which("make")),
    reason="libxrt-dev (Debian's XRT with its no-op driver), g++ and make are not all installed",
)

KINDS = [kind for kind in DESIGNS if kind not in ("conv", "winograd", "float", "shared_float")]
"""Kernels, units and banks of every sort. The others have those of one of these, and the same main.cpp, which
test_host_program.py compiles with their types.
"""


def silent(build: Path) -> Path:
    """The testbench's data, with what buffers that nothing writes hold as golden."""
    data = Path(shutil.copytree(build / "tb", build.parent / "data"))
    for port in interface(build)["outputs"]:
        np.save(data / port["golden"], np.zeros_like(np.load(data / port["golden"])))
    return data


@pytest.mark.parametrize("kind", KINDS)
def test_host_program_runs(kind: str, tmp_path: Path) -> None:
    build = built(kind, tmp_path).folder
    program = make_host(build)
    data, container = silent(build), noop_xclbin(tmp_path / "noop.xclbin", kernels(build))
    env = noop_environment(build / "host", DRIVERS[0].parent)
    done = run(
        ["make", "run", "TARGET=hw_emu", f"XCLBIN={container}", f"DATA={data}"], cwd=program.parent, env=env
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "emulation: the times below are the emulator's" in done.stdout
    assert "TEST PASSED" in done.stdout
    refused = run([program, container, build / "tb", "--singles", "2"], cwd=program.parent, env=env)
    assert refused.returncode == 1 and "TEST FAILED" in refused.stdout, "zeros are no results"
    for change, message in BREAKS[kind]:
        other = noop_xclbin(tmp_path / "other.xclbin", change(kernels(build)))
        done = run([program, other, data], cwd=program.parent, env=env)
        assert done.returncode == 4, done.stdout + done.stderr
        assert message in done.stderr, done.stderr
    bare = run([program, container, data], cwd=tmp_path)
    assert bare.returncode == 4 and "error: cannot open device 0: " in bare.stderr
    text = tmp_path / "text.xclbin"
    text.write_text("no container")
    done = run([program, text, data], cwd=program.parent, env=env)
    assert done.returncode == 4 and "is no .xclbin file that XRT can read" in done.stderr


Change = Callable[[Sequence[Kernel]], list[Kernel]]


def each(change: Callable[[Kernel], Kernel]) -> Change:
    return lambda found: [change(kernel) for kernel in found]


def renamed_unit(kernel: Kernel) -> Kernel:
    return replace(kernel, units={f"{unit}x": bank for unit, bank in kernel.units.items()})


def one_argument_more(kernel: Kernel) -> Kernel:
    return replace(kernel, arguments=[*kernel.arguments, Argument(name="more", pointer=False)])


def one_argument_less(kernel: Kernel) -> Kernel:
    return replace(kernel, arguments=kernel.arguments[:-1])


def first_is_no_pointer(kernel: Kernel) -> Kernel:
    first, *others = kernel.arguments
    return replace(kernel, arguments=[Argument(name=first.name, pointer=False), *others])


def last_kernel_elsewhere(found: Sequence[Kernel]) -> list[Kernel]:
    *others, last = found
    return [
        *others,
        replace(last, units={unit: [3 - bank for bank in banks] for unit, banks in last.units.items()}),
    ]


COMMON: list[tuple[Change, str]] = [
    (each(renamed_unit), "has no compute unit "),
    (each(one_argument_more), ", more), but this host program gives ("),
    (each(one_argument_less), "they are not of the same build"),
    (each(first_is_no_pointer), "error: "),
]
BREAKS = {kind: COMMON for kind in KINDS}
BREAKS["tasks"] = [*COMMON, (last_kernel_elsewhere, "sp= in vitis/link.cfg must give both the same bank")]


def test_xrt_itself_refuses_another_unit(tmp_path: Path) -> None:
    """The no-op driver is no rubber stamp: names and memory that the container does not have are refused."""
    build = built("conv", tmp_path).folder
    design = build / "host/design.h"
    design.write_text(design.read_text().replace('"conv_3"', '"conv_4"'))
    device = build / "host/device.h"
    device.write_text(device.read_text().replace("check_xclbin(xclbin, d, o.xclbin);", "(void)d;"))
    program = make_host(build)
    container = noop_xclbin(tmp_path / "noop.xclbin", kernels(build))
    env = noop_environment(build / "host", DRIVERS[0].parent)
    done = run([program, container, build / "tb"], cwd=program.parent, env=env)
    assert done.returncode == 4
    assert "cannot open compute unit conv:{conv_4}: No compute units matching 'conv:{conv_4}'" in done.stderr


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k not in ("CXX", "XILINX_XRT", "XILINX_VITIS", "MAKEFLAGS")}
    command = ["make", "-C", str(folder), *arguments, f"CXXFLAGS={STRICT}"]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


def test_makefile_finds_xrt(tmp_path: Path) -> None:
    host = built("conv", tmp_path).folder / "host"
    (tmp_path / "xrt/include/xrt").mkdir(parents=True)
    (tmp_path / "xrt/include/xrt/xrt_device.h").touch()
    done = make(host, "-n", "host", f"XILINX_XRT={tmp_path}/xrt")
    assert f'-isystem "{tmp_path}/xrt/include" -L"{tmp_path}/xrt/lib" main.cpp -o conv_host' in done.stdout
    done = make(host, "host", f"XILINX_XRT={tmp_path}/none", "CXX=g++")
    assert f"XRT's headers were not found below {tmp_path}/none" in done.stderr
    vitis = tmp_path / "vitis/gnu/aarch64/lin/aarch64-linux/bin/aarch64-linux-gnu-g++"
    vitis.parent.mkdir(parents=True)
    vitis.touch()
    (tmp_path / "root/usr/include/xrt/xrt").mkdir(parents=True)
    (tmp_path / "root/usr/include/xrt/xrt/xrt_device.h").touch()
    done = make(host, "-n", "host", f"SYSROOT={tmp_path}/root", f"XILINX_VITIS={tmp_path}/vitis")
    assert f"{vitis} -std=c++17 {STRICT} --sysroot=" in done.stdout
    assert f'-isystem "{tmp_path}/root/usr/include/xrt" -L"{tmp_path}/root/usr/lib"' in done.stdout
    done = make(host, "host", f"SYSROOT={tmp_path}/nothing", "CXX=g++")
    assert done.returncode == 2
    assert "XRT's headers were not found below" in done.stderr and "set SYSROOT" in done.stderr
    done = make(host, "host", "CXX=no-such-compiler")
    assert "error: no-such-compiler was not found" in done.stderr


def test_make_run_says_what_is_missing(tmp_path: Path) -> None:
    host = built("conv", tmp_path).folder / "host"
    (host / "conv_host").touch()
    done = make(host, "run")
    assert done.returncode == 2
    assert "error: XCLBIN must name the .xclbin file" in done.stderr
    done = make(host, "run", "XCLBIN=nothing.xclbin")
    assert "error: nothing.xclbin is missing" in done.stderr
    done = make(host, "run", "TARGET=sw_emu")
    assert 'TARGET must be hw or hw_emu, not "sw_emu"' in done.stderr
