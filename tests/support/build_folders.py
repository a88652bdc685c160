"""Build folders as `make` users get them, written for the tests of what is emitted beside the kernel."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pytest

from hlsgen.base.output import write_files
from hlsgen.designfile.clock import Clock
from hlsgen.emit.conv2d import deployed_constants, kernel_files
from hlsgen.emit.ompss import ompss_files
from hlsgen.emit.project import csim_header_files, project_files
from hlsgen.emit.vitis import vitis_files
from hlsgen.hardware.conv2d import map_conv2d
from hlsgen.hardware.conv_folding import Folding
from hlsgen.layers.conv2d import Conv2d
from hlsgen.search.conv_kernel import ConvConstraints, choose
from hlsgen.search.placement import Deployment, deploy
from hlsgen.targets.board import load_board
from tests.support.kernels import conv, frames_for

STRICT = "-O0 -Wall -Wextra -Werror"
FRAMES = 3


@dataclass(frozen=True, kw_only=True)
class Case:
    """A layer small enough to be compiled and run in a test."""

    layer: Callable[[], Conv2d]
    folding: Folding
    board: str = "u200"
    instances: int = 2
    second: ConvConstraints | None = None

    def deployment(self) -> Deployment:
        board = load_board(self.board)
        if self.second is not None:
            first = ConvConstraints(**asdict(self.folding), instances=self.instances, second=self.second)
            return choose(self.layer(), board, first, clock_mhz=board.clock_mhz, batch=8).deployment
        mapping = map_conv2d(self.layer(), self.folding, board)
        return deploy(mapping, board, clock_mhz=board.clock_mhz, batch=8, instances=self.instances)


CASES = {
    # rows of 13 and 11 elements, no multiple of a word
    "float": Case(layer=lambda: conv((4, 14, 13), 4), folding=Folding(rows=2, pe=2, simd=1)),
    "fixed16": Case(
        layer=lambda: conv(
            (3, 17, 19),
            4,
            (5, 3),
            stride=(2, 2),
            padding=(2, 0, 1, 3),
            input_type="fixed<16,4>",
            weight_type="fixed<12,1>",
            result_type="ufixed<13,8,rnd,sat>",
        ),
        folding=Folding(rows=2, pe=2, simd=3),
        instances=3,
    ),
    "int8": Case(
        layer=lambda: conv(
            (4, 9, 11),
            6,
            padding=(1, 1, 1, 1),
            input_type="fixed<8,3>",
            weight_type="fixed<8,1>",
            result_type="fixed<12,5>",
        ),
        folding=Folding(rows=3, pe=2, simd=2),
    ),
    "foldings": Case(
        layer=lambda: conv(
            (4, 9, 11),
            6,
            padding=(1, 1, 1, 1),
            input_type="fixed<8,3>",
            weight_type="fixed<8,1>",
            result_type="fixed<12,5>",
        ),
        folding=Folding(rows=3, pe=2, simd=2),
        second=ConvConstraints(rows=3, pe=1, simd=2, algorithm="direct", instances=1),
    ),
    "channels": Case(
        layer=lambda: conv((4, 14, 15), 4, dilation=(2, 3), padding=(2, 3, 2, 3), bias=False),
        folding=Folding(rows=4, pe=2, simd=2, order="channels"),
        board="zcu102",
    ),
}


def emitted(deployment: Deployment, kernel: str = "conv") -> dict[str, str]:
    """All text files of the build folder."""
    clock = Clock(mhz=deployment.clock_mhz)
    ks = deployed_constants(deployment, kernel, "test.yaml")
    files: dict[str, str] = {}
    for one, k in zip(deployment.kernels, ks, strict=True):
        files |= kernel_files(one.mapping, k, "0")
    return {
        **files,
        **csim_header_files(),
        **vitis_files(deployment, clock, ks, "0"),
        **ompss_files(deployment, clock, ks, "0"),
        **project_files(deployment, ks, "0"),
    }


def write_build(name: str, folder: Path) -> Path:
    """The case's build folder, its data included."""
    deployment = CASES[name].deployment()
    write_files(folder, emitted(deployment))
    layer = deployment.mapping.layer
    frames = frames_for(layer, FRAMES)
    golden = layer.golden(frames, simd=deployment.mapping.folding.simd)
    np.save(folder / "tb/input.npy", frames.astype(layer.input_type.dtype))
    np.save(folder / "tb/weights.npy", layer.weights.astype(layer.weight_type.dtype))
    np.save(folder / "tb/golden.npy", golden.astype(layer.result_type.dtype))
    if layer.bias.size:
        np.save(folder / "tb/biases.npy", layer.bias.astype(layer.bias_type.dtype))
    return folder


def in_threads(build: Path, word: str, *, threads: int, wait: int = 20) -> subprocess.CompletedProcess[str]:
    """`make openmp` in the build's ompss/, which ends with status 3 unless two threads run tasks at a time.

    word: of the names of the tasks' functions. wait: seconds that a thread waits for another one.
    """
    recorder = Path(__file__).with_name("thread_recorder.cpp")
    sources = "main.cpp", *(path.name for path in (build / "ompss").glob("*_tasks.cpp")), f'"{recorder}"'
    others = "/include/,src/,kernels/,tb/"
    flags = f"-rdynamic -finstrument-functions -finstrument-functions-exclude-file-list={others}"
    return make(
        build / "ompss",
        "openmp",
        f"SOURCES={' '.join(sources)}",
        env={
            "CXXFLAGS": f"{STRICT} {flags}",
            "OMP_NUM_THREADS": str(threads),
            "HLSGEN_TASKS": word,
            "HLSGEN_WAIT": str(wait),
        },
    )


def outputs(name: str) -> int:
    """Elements that a run of the case compares."""
    channels, height, width = CASES[name].layer().output_shape
    return FRAMES * channels * height * width


def make(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`make` in the folder; only CXXFLAGS and `env` are added to the environment."""
    for tool in ("make", "g++"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "CXX", "HEADERS")
    }
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env={**inherited, "CXXFLAGS": STRICT, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def stand_in(folder: Path, name: str, script: str = "") -> None:
    """An executable that appends its name, HLSGEN_STEPS and its arguments to calls.txt beside it."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "{name} [$HLSGEN_STEPS] $*" >> "{folder}/calls.txt"\n{script}\n')
    path.chmod(0o755)


def calls(folder: Path) -> list[str]:
    return (folder / "calls.txt").read_text().splitlines()
