"""No emitted C++ draws a warning, whatever legal types, multipliers and places of weights a design combines.

A layer or a kernel for each combination, many in one translation unit, looked at by the compiler's front end.
"""

from __future__ import annotations

import itertools
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hlsgen.base.output import write_files
from hlsgen.csim.compiler import INCLUDE, WARNINGS
from hlsgen.designfile.constraints import NoFit
from hlsgen.emit.conv2d import kernel_constants, kernel_files
from hlsgen.emit.dataflow import dataflow_files
from hlsgen.emit.plan import KernelNames
from hlsgen.hardware.conv2d import map_conv2d
from hlsgen.hardware.pipeline import pipeline_of
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.base import Layer
from hlsgen.layers.stage import Fold
from tests.support.kernels import U200
from tests.support.layer_examples import EXAMPLES
from tests.support.pipelines import side_by_side
from tests.support.type_combinations import (
    PLACES,
    is_signed,
    layers_of_any_types,
    task_kernels,
    weighted_layers,
)

LAYERS_OF_A_KERNEL = 144


@pytest.fixture(params=["g++", "clang++"])
def compiler(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


def assert_no_warning(
    compiler: str, folder: Path, *include: str, sources: Sequence[Path] | None = None
) -> None:
    """Of the sources, or all in the build folder, in the front end's eyes."""
    folders = [*(INCLUDE / name for name in include), folder / "src", INCLUDE / "common", INCLUDE / "fast"]
    sources = sources or sorted([*(folder / "src").glob("*.cpp"), *(folder / "tb").glob("*.cpp")])
    command = [compiler, "-std=c++14", "-fsyntax-only", *WARNINGS, *(f"-I{path}" for path in folders)]
    command += map(str, sources)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr[:4000]) == (0, "")


# ---------------------------------------------------------------- tasks


def test_tasks_of_any_types(compiler: str, tmp_path: Path) -> None:
    """All kernels in one translation unit, and again with memories that record their ports."""
    kinds = set()
    names: list[str] = []
    for number, (layer, folding) in enumerate(task_kernels()):
        try:
            mapping = map_conv2d(replace(layer, name=f"layer{number}"), folding, U200)
        except NoFit:
            continue
        kinds.add((mapping.arithmetic, is_signed(layer)))
        names.append(f"kernel{number}")
        constants = kernel_constants(mapping, KernelNames(kernel=names[-1], source="test"))
        write_files(tmp_path, kernel_files(mapping, constants, "0"))
    assert kinds == {(arithmetic, sign) for arithmetic in ("fixed", "packed") for sign in (True, False)}
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "all.cpp").write_text(in_one(tmp_path, names))
    for include in ((), ("trace",)):
        assert_no_warning(compiler, tmp_path, *include, sources=[tmp_path / "all" / "all.cpp"])


def in_one(folder: Path, names: Sequence[str]) -> str:
    """The sources of the kernels and their testbenches; headers before them, what they call alike apart."""
    sources = [folder / path for name in names for path in (f"src/{name}.cpp", f"tb/{name}_tb.cpp")]
    headers = [line for path in sources for line in path.read_text().splitlines() if "#include <" in line]
    text = "".join(f"{line}\n" for line in dict.fromkeys(headers))
    text += "".join(f'#include "../src/{name}.h"\n' for name in names) + '#include "../tb/npy.h"\n'
    for number, path in enumerate(sources):
        text += f'namespace source{number} {{\n#include "{path}"\n}}\n'
    return text


# ---------------------------------------------------------------- dataflow


def test_dataflow_layers_of_any_types(compiler: str, tmp_path: Path) -> None:
    layers = layers_of_any_types()
    folds = [
        list(layer.folds())[number % 5 % len(list(layer.folds()))] for number, layer in enumerate(layers)
    ]
    assert {layer.kind for layer in layers} == set(EXAMPLES) - {"conv2d", "dense", "affine"}
    check_kernels(compiler, tmp_path, layers, folds, {})


def test_dataflow_weights_of_any_types(compiler: str, tmp_path: Path) -> None:
    cases = list(weighted_layers())
    made = {(fold.multipliers, where.place, is_signed(layer)) for layer, fold, where in cases}
    counted = {one for one in made if one[0] == "popcount"}  # where a weight or an input is a sign
    assert counted
    added = {one for one in made if one[0] == "constants"}  # where all channels are taken and made at once
    assert added == {("constants", "constant", True), ("constants", "constant", False)}
    others = set(itertools.product(("dsp", "packed", "fabric"), PLACES, (True, False)))
    assert made - counted - added == others
    places = {number: where for number, (_, _, where) in enumerate(cases)}
    check_kernels(
        compiler, tmp_path, [layer for layer, _, _ in cases], [fold for _, fold, _ in cases], places
    )


def check_kernels(
    compiler: str,
    folder: Path,
    layers: Sequence[Layer],
    folds: Sequence[Fold],
    places: Mapping[int, WeightPlace],
) -> None:
    """The layers side by side, some in each kernel."""
    for first in range(0, len(layers), LAYERS_OF_A_KERNEL):
        graph = side_by_side(layers[first : first + LAYERS_OF_A_KERNEL])
        of_layer = {layer.name: folds[first + number] for number, layer in enumerate(graph.layers)}
        weights = {
            layer.name: replace(places[first + number], layer=layer.name)
            for number, layer in enumerate(graph.layers)
            if first + number in places
        }
        pipeline = pipeline_of(graph, of_layer, weights or None)
        names = KernelNames(kernel=graph.name, source="test")
        write_files(folder / str(first), dataflow_files(pipeline, names, U200))
        assert_no_warning(compiler, folder / str(first), "dataflow")
