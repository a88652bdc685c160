"""Build folders of designs of every style, their host programs, and what these run against in tests."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlsgen
from hlsgen.api.design import Design
from hlsgen.api.project import Project, build
from hlsgen.base.fixed import FixedType
from hlsgen.csim.compiler import INCLUDE
from hlsgen.designfile.constraints import (
    LayerWeightConstraints,
    NetworkConstraints,
    ProcessorConstraints,
    WeightConstraints,
)
from hlsgen.layers.base import Tensor
from hlsgen.layers.dense import Dense
from hlsgen.layers.pool2d import Pool2d
from hlsgen.loading.from_graph import Options, from_graph
from hlsgen.model.ir import Graph, Port
from tests.support.networks import FLOAT, convolution, frames, relu
from tests.support.xclbin import Argument, Kernel, write_xclbin

STAND_IN = Path(__file__).parent / "stand_in_xrt"
STRICT = "-O0 -Wall -Wextra -Werror"
FRAMES = 13
BANKS = 4
SEVEN_BITS = FixedType(7, 3)
PROCESSOR = ProcessorConstraints(rows=1, lanes=8)
"""Given, since the search among all that fit takes longer than all else of a build."""

CONV = """
name: conv
board: u200
batch: 64
input: {shape: [3, 9, 11], type: "fixed<8,3>", samples: random}
layers:
  - {name: conv1, kind: conv2d, out_channels: 4, kernel: [3, 5], padding: 1, weights: {seed: 3}}
precision: {weights: "fixed<7,1>", output: "ufixed<13,8,rnd,sat>"}
mapping: {instances: 3, conv1: {rows: 2, pe: 2, simd: 3, algorithm: direct}}
"""
WINOGRAD = (
    CONV.replace("rows: 2", "rows: 4").replace("direct", "winograd").replace("fixed<7,1>", "fixed<5,1>")
)


def conv_design(folder: Path) -> Design:
    """Two products a multiplier; rows that are no whole words, codes that do not fill their containers."""
    path = folder / "conv.yaml"
    path.write_text(CONV)
    return hlsgen.load(path)


def foldings_design(folder: Path) -> Design:
    """Compute units of two foldings of the layer, of which one packs its products and one does not."""
    path = folder / "conv.yaml"
    second = "second: {rows: 2, pe: 1, simd: 3, instances: 2}"
    path.write_text(CONV.replace("algorithm: direct", f"algorithm: direct, {second}"))
    return hlsgen.load(path)


def winograd_design(folder: Path) -> Design:
    """The same with two pairs of rows a multiplier."""
    path = folder / "conv.yaml"
    path.write_text(WINOGRAD)
    return hlsgen.load(path)


def dense(name: str, source: str, shape: tuple[int, int, int], outputs: int, *, seed: int) -> Dense:
    generator = np.random.default_rng(seed)
    return Dense(
        name=name,
        inputs=(source,),
        in_shape=shape,
        out_channels=outputs,
        input_type=FLOAT,
        weight_type=FLOAT,
        bias_type=FLOAT,
        accumulator=FLOAT,
        result_type=FLOAT,
        weights=generator.normal(0, 0.1, (outputs, int(np.prod(shape)), 1, 1)),
        bias=generator.normal(0, 0.1, outputs),
    )


def pool(name: str, source: str, shape: tuple[int, int, int]) -> Pool2d:
    tensor = Tensor(shape=shape, type=FLOAT)
    return Pool2d(
        name=name,
        inputs=(source,),
        source=tensor,
        function="max",
        kernel=(2, 2),
        stride=(2, 2),
        result_type=FLOAT,
    )


def graph() -> Graph:
    """Channels last outside; a convolution, its activation, a pool and a dense layer; two outputs."""
    layers = (
        convolution("conv1", "x", (3, 6, 5), 4, seed=1),
        relu("relu1", "conv1", (4, 6, 5)),
        pool("pool", "relu1", (4, 6, 5)),
        dense("fc", "pool", (4, 3, 2), 6, seed=2),
    )
    source = Tensor(shape=(3, 6, 5), type=FLOAT)
    return Graph(
        name="net",
        inputs=(Port(name="x", source="x", tensor=source, shape=(6, 5, 3), axes=(1, 2, 0)),),
        layers=layers,
        outputs=(
            Port.of("map", layers[1].output, "relu1"),
            Port(name="y", source="fc", tensor=layers[3].output, shape=(6,)),
        ),
    )


def network_design(
    style: str,
    weights: WeightConstraints,
    precision: FixedType | str = SEVEN_BITS,
    network: Graph | None = None,
) -> Design:
    samples = frames(FRAMES, (6, 5, 3))
    processor = PROCESSOR if style in ("shared", "mixed") else ProcessorConstraints()
    options = Options(
        calibration=samples,
        precision=precision,
        board="u200",
        clock_mhz=None,
        batch=FRAMES,
        constraints=NetworkConstraints(instances=2, weights=weights, processor=processor),
        style=style,
    )
    return Design(from_graph(network or graph(), options, "net.py"))


def streaming_design(_: Path) -> Design:
    """Weights that are loaded once and weights that stream from DDR."""
    weight_constraints = {"fc": LayerWeightConstraints(place="stream", batch_reuse=3)}
    return network_design("dataflow", WeightConstraints(place="runtime", layers=weight_constraints))


def tasks_design(_: Path) -> Design:
    """A kernel with constant weights, one without, one that loads them."""
    return network_design("tasks", WeightConstraints(layers={"fc": LayerWeightConstraints(place="runtime")}))


def shared_design(_: Path) -> Design:
    """Two processors that run tasks from a list; the input's columns are made channels."""
    return network_design("shared", WeightConstraints())


def float_design(_: Path) -> Design:
    """Tasks in float32, one of which loads its weights."""
    loaded = WeightConstraints(layers={"fc": LayerWeightConstraints(place="runtime")})
    return network_design("tasks", loaded, "float32")


def shared_float_design(_: Path) -> Design:
    """Two processors in float32, whose words hold the bits of floats."""
    return network_design("shared", WeightConstraints(), "float32")


def mixed_design(_: Path) -> Design:
    """A streaming kernel that loads its weights and feeds two processors; of the outputs the last."""
    loaded = WeightConstraints(layers={"conv1": LayerWeightConstraints(place="runtime")})
    whole = graph()
    return network_design("mixed", loaded, network=replace(whole, outputs=whole.outputs[1:]))


DESIGNS: Mapping[str, Callable[[Path], Design]] = {
    "conv": conv_design,
    "foldings": foldings_design,
    "winograd": winograd_design,
    "streaming": streaming_design,
    "tasks": tasks_design,
    "float": float_design,
    "shared": shared_design,
    "shared_float": shared_float_design,
    "mixed": mixed_design,
}


def built(kind: str, folder: Path) -> Project:
    """The build folder, without C-simulation."""
    return build(DESIGNS[kind](folder), folder / "build", frames=FRAMES, csim=False)


def interface(build_folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((build_folder / "interface.json").read_text())
    return found


def kernels(build_folder: Path) -> list[Kernel]:
    """As the linker would make them of vitis/link.cfg: names and banks are read there."""
    link = (build_folder / "vitis/link.cfg").read_text().splitlines()
    banks: dict[tuple[str, str], int] = {}
    reaches: dict[tuple[str, str], tuple[int, ...]] = {}
    for line in link:
        if line.startswith("sp="):
            port, bank = line.removeprefix("sp=").split(":", 1)
            unit, bundle = port.split(".m_axi_gmem_")
            first, *last = map(int, bank.removeprefix("DDR[").removesuffix("]").split(":"))
            if last:
                reaches[unit, bundle] = tuple(range(first, last[0] + 1))
            else:
                banks[unit, bundle] = first

    def bank_of(unit: str, kernel: str) -> list[int]:
        source = source_of(build_folder, kernel)
        bundles = dict(re.findall(r"m_axi port=(\w+) .*?bundle=gmem_(\w+)", source.read_text()))
        led = [bundles.get(one.name, "") for one in arguments(source, kernel)]
        return [banks.get((unit, bundle), 0) for bundle in led]

    names = [line.removeprefix("nk=").split(":") for line in link if line.startswith("nk=")]
    return [
        Kernel(
            name=name,
            arguments=[
                replace(one, reaches=reaches.get((units.split(".")[0], one.name), ()))
                for one in arguments(source_of(build_folder, name), name)
            ],
            units={unit: bank_of(unit, name) for unit in units.split(".")},
        )
        for name, _, units in names
    ]


def source_of(build_folder: Path, kernel: str) -> Path:
    """A kernel's C++ file: a streaming one that feeds processors lies in a folder of its own."""
    (found,) = (path for path in build_folder.glob("**/src/*.cpp") if path.stem == kernel)
    return found


def arguments(source: Path, kernel: str) -> list[Argument]:
    """Of the kernel's C++ function."""
    head = source.read_text().split(f'extern "C" void {kernel}(')[1].split(") {")[0]
    found = []
    for text in head.split(","):
        type_, name = text.strip().rsplit(" ", 1)
        found.append(Argument(name=name.lstrip("*"), pointer="*" in name or "burst_maxi" in type_))
    return found


def make_host(build_folder: Path, *options: str) -> Path:
    """The host program, by its own Makefile. `options`: variables of make."""
    command = ["make", "-C", str(build_folder / "host"), "host", f"CXXFLAGS={STRICT}", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (program,) = (build_folder / "host").glob("*_host")
    return program


def compile_against_stand_in(build_folder: Path, out: Path, compiler: str = "g++", *flags: str) -> Path:
    """The same main.cpp with the headers of the stand-in."""
    main = str(build_folder / "host/main.cpp")
    warnings = ("-Wall", "-Wextra", *flags)
    _compile(["-O0", *warnings, f"-I{STAND_IN}", main, "-o", str(out), "-pthread", "-ldl"], compiler)
    return out


def compile_kernels(build_folder: Path, out: Path) -> Path:
    """A shared library with the kernels' C-simulation sources, to be called with bytes."""
    names = [kernel.name for kernel in kernels(build_folder)]
    table = "".join(
        f'    if (std::strcmp(kernel, "{name}") == 0) return stand_in::call_with({name}, count, arguments);\n'
        for name in names
    )
    glue = out.with_suffix(".cpp")
    found = {name: source_of(build_folder, name) for name in names}
    includes = "".join(f'#include "{path.with_suffix(".h")}"\n' for path in found.values())
    glue.write_text(
        f'#include "{STAND_IN}/kernels.h"\n{includes}'
        'extern "C" bool stand_in_call(const char *kernel, int count, const stand_in_argument *arguments) {\n'
        f"{table}    return false;\n}}\n"
    )
    sources = [str(path) for path in found.values()]
    headers = [f"-I{build_folder / 'src'}", f"-I{INCLUDE / 'common'}", f"-I{INCLUDE / 'fast'}"]
    # static objects of inline functions would be one for all copies of the library
    flags = ["-O1", "-w", "-ffp-contract=off", "-shared", "-fPIC", "-fno-gnu-unique"]
    _compile([*flags, *headers, str(glue), *sources, "-o", str(out)])
    return out


def _compile(arguments: Sequence[str], compiler: str = "g++") -> None:
    done = subprocess.run([compiler, "-std=c++17", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def stand_in_xclbin(path: Path, library: Path, found: Sequence[Kernel]) -> Path:
    lines = [f"library {library}"]
    for kernel in found:
        names = " ".join(one.name + "*" * (one.pointer + bool(one.reaches)) for one in kernel.arguments)
        lines.append(f"kernel {kernel.name} {names}")
        lines += [
            f"unit {kernel.name} {unit} {' '.join(map(str, banks))}" for unit, banks in kernel.units.items()
        ]
    path.write_text("\n".join(lines) + "\n")
    return path


def run(
    command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The program in `cwd`, nothing of XRT's in its environment but `env`."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("XCL_", "XILINX_", "STAND_IN"))}
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**inherited, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def noop_environment(folder: Path, xrt_library: Path) -> dict[str, str]:
    """XRT with its no-op driver, for programs that run in `folder`; `xrt_library`: where Debian has it."""
    (folder / "xrt.ini").write_text("[Runtime]\nhw_em_driver=xrt_noop\n")
    root = folder / "xrt_root"
    root.mkdir(exist_ok=True)
    if not (root / "lib").exists():
        (root / "lib").symlink_to(xrt_library)
    return {"XCL_EMULATION_MODE": "hw_emu", "XILINX_XRT": str(root)}


def noop_xclbin(path: Path, found: Sequence[Kernel]) -> Path:
    return write_xclbin(path, found, banks=BANKS)


@dataclass(frozen=True, kw_only=True)
class HostBuild:
    """A build folder, and what its host program can be run with: all compiled once for all tests."""

    kind: str
    folder: Path

    @property
    def build(self) -> Path:
        return self.folder / "build"

    @property
    def units(self) -> list[str]:
        return [unit for kernel in kernels(self.build) for unit in kernel.units]

    def stand_in(
        self, *options: str, cwd: Path, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """The host program with the stand-in for XRT; `options` after its .xclbin."""
        program, container = self.folder / "host", self.folder / "stand_in.xclbin"
        return run([program, container, *options], cwd=cwd, env=env)


def host_build(kind: str, factory: pytest.TempPathFactory) -> HostBuild:
    """Made by the first of all processes of a test run that asks for it."""
    base = factory.getbasetemp()
    common = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    folder = common / f"host_{kind}"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "stand_in.xclbin").exists():
            build_folder = built(kind, folder).folder
            library = compile_kernels(build_folder, folder / "kernels.so")
            compile_against_stand_in(build_folder, folder / "host")
            stand_in_xclbin(folder / "stand_in.xclbin", library, kernels(build_folder))
    return HostBuild(kind=kind, folder=folder)
