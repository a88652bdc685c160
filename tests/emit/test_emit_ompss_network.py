"""Networks of tasks as OmpSs-2@FPGA applications: run sequentially and in threads, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hlsgen.base.fixed import FixedType
from hlsgen.base.output import write_files
from hlsgen.designfile.constraints import NetworkConstraints
from hlsgen.emit.ompss_network import block_frames, network_obstacles
from hlsgen.layers.base import Tensor
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.concat import Concat
from hlsgen.model.ir import Graph, Port
from hlsgen.styles.layerwise import LayerwiseNetwork
from hlsgen.targets.board import load_board
from tests.support.build_folders import in_threads, make
from tests.support.networks import frames

torch = pytest.importorskip("torch")
BYTE = FixedType(8, 4)
FRAMES = 53
"""Blocks of two frames, the last one in part; more than there are slots."""


@pytest.fixture(scope="module")
def design() -> LayerwiseNetwork:
    from tests.styles.test_task_network import residual

    return residual("tasks").given


@pytest.fixture(scope="module")
def build(design: LayerwiseNetwork, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(design, tmp_path_factory.mktemp("ompss") / "path with spaces", FRAMES)


@pytest.fixture(scope="module")
def sequential(build: Path) -> Path:
    """The sequential program, which has run once."""
    done = make(build / "ompss", "sequential")
    assert done.returncode == 0, done.stderr
    assert "-std=c++11" in done.stdout
    assert f"out0: {FRAMES * 70} of {FRAMES * 70} equal" in done.stdout
    return build / "ompss" / "net-seq"


def written(design: LayerwiseNetwork, folder: Path, count: int) -> Path:
    inputs = design.inputs_of(frames(count, design.graph.inputs[0].tensor.shape))
    write_files(folder, design.plan(inputs, design.golden_codes(inputs)))
    return folder


def run(executable: Path, data: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([executable, data], capture_output=True, text=True, check=False)


def copied(build: Path, folder: Path) -> Path:
    """The build's data in a folder that a test may change."""
    shutil.copytree(build / "tb", folder)
    return folder


def test_wrong_results(build: Path, sequential: Path, tmp_path: Path) -> None:
    data = copied(build, tmp_path / "data")
    golden = np.load(data / "out0_golden.npy")
    golden[3, 5] ^= 1
    np.save(data / "out0_golden.npy", golden)
    done = run(sequential, data)
    assert done.returncode == 1
    assert "out0: frame 3, channel 5, row 0, column 0: code " in done.stdout


@pytest.mark.parametrize(
    ("file", "shape", "message"),
    [
        ("fc.weights.npy", (3,), "fc.weights.npy has the wrong size"),
        ("x.npy", (5,), "x.npy holds no whole number of frames"),
        ("out0_golden.npy", (7,), "out0_golden.npy has the wrong size"),
    ],
)
def test_wrong_data(
    file: str, shape: tuple[int, ...], message: str, build: Path, sequential: Path, tmp_path: Path
) -> None:
    data = copied(build, tmp_path / "data")
    np.save(data / file, np.zeros(shape, np.uint64))
    done = run(sequential, data)
    assert done.returncode == 2
    assert f"error: {message}" in done.stderr


def test_openmp_tasks_run_in_several_threads(build: Path) -> None:
    """Threads that load their weights, scratch slots that are used again, tasks that wait for others."""
    done = in_threads(build, "net_conv1", threads=4)
    assert done.returncode == 0, done.stderr
    assert f"out0: {FRAMES * 70} of {FRAMES * 70} equal" in done.stdout


def test_other_weights_need_no_other_program(
    design: LayerwiseNetwork, build: Path, sequential: Path, tmp_path: Path
) -> None:
    """What the accelerators load is what the files hold: the dense layer's weights are not in the sources."""
    data = copied(build, tmp_path / "data")
    weights = np.load(data / "fc.weights.npy")
    np.save(data / "fc.weights.npy", np.roll(weights, 1))
    done = run(sequential, data)
    assert done.returncode == 1
    wrong = int(re.findall(r"out0: (\d+) of", done.stdout)[0])
    assert wrong < FRAMES * 70 / 2


def test_a_task_a_layer_with_its_instances(design: LayerwiseNetwork, build: Path) -> None:
    source = (build / "ompss/net_tasks.cpp").read_text()
    names = [f"net_{layer.name}" for layer in design.graph.layers]
    assert re.findall(r"^void (\w+)\(", source, re.MULTILINE) == [*names, "net_batch", "net_frames"]
    assert source.count("num_instances(net_ompss::INSTANCES)") == len(names)
    assert "constexpr unsigned INSTANCES = 2;" in (build / "ompss/net_tasks.fpga.h").read_text()
    assert "copy" not in re.sub(r"//[^\n]*", "", source)
    placed = json.loads((build / "ompss/placement.json").read_text())["accs"]
    slrs = {name: index for index, name in enumerate(slr.name for slr in design.board.slrs)}
    for name, chosen in zip(names, design.hardware.slrs, strict=True):
        instances = placed[name]["instances"]
        assert [one["placement"] for one in instances.values()] == [slrs[slr] for slr in chosen]
    assert set(placed) == {*names, "net_batch"}


def test_emitted_text_reads_as_written_by_hand(build: Path) -> None:
    for path in (build / "ompss").rglob("*"):
        if path.suffix in (".h", ".cpp"):
            text = path.read_text()
            assert "{%" not in text and "\t" not in text, path
            assert not any(line != line.rstrip() for line in text.splitlines()), path
            assert "\n\n\n" not in text, path


# ---------------------------------------------------------------- shapes of networks


def clamp(source: str, name: str) -> Clamp:
    tensor = Tensor(shape=(2, 3, 5), type=BYTE)
    return Clamp(name=name, inputs=(source,), source=tensor, low=0.0, high=2.0, result_type=BYTE)


def design_of(graph: Graph, **constraints: object) -> LayerwiseNetwork:
    from tests.styles.test_task_network import design_of as made

    return made(graph, NetworkConstraints(**constraints))  # type: ignore[arg-type]


@pytest.mark.parametrize(("board", "port"), [("u200", 512), ("zcu102", 128)])
def test_a_tensor_that_is_read_twice_and_several_outputs(board: str, port: int, tmp_path: Path) -> None:
    from tests.styles.test_task_network import twice

    design = replace(design_of(twice(), instances=2), board=load_board(board))
    build = written(design, tmp_path / "build", 5)
    source = (build / "ompss/twice_tasks.cpp").read_text()
    assert "in([twice_ompss::BLOCK_IN0]in0)" in source, "one dependence a tensor"
    assert set(re.findall(r"ap_uint<(\d+)>", source)) == {str(port)}
    done = make(build / "ompss", "sequential")
    assert done.returncode == 0, done.stderr
    for name in ("y", "z"):
        assert f"{name}: {5 * 192} of {5 * 192} equal" in done.stdout


def chain(count: int) -> Graph:
    layers = [clamp("x", "l0")]
    for number in range(1, count):
        layers.append(clamp(f"l{number - 1}", f"l{number}"))
    tensor = Tensor(shape=(2, 3, 5), type=BYTE)
    output = Port.of("y", tensor, layers[-1].name)
    return Graph(name="chain", inputs=(Port.of("x", tensor),), layers=tuple(layers), outputs=(output,))


def test_more_layers_than_accelerator_types(tmp_path: Path) -> None:
    assert network_obstacles(design_of(chain(15), instances=1).hardware, chain(15)) == []
    design = design_of(chain(16), instances=1)
    (obstacle,) = network_obstacles(design.hardware, design.graph)
    assert obstacle.startswith(
        "the network has 16 layers, each an accelerator type, and the hardware runtime"
    )
    inputs = design.sample_inputs(1)
    golden = design.golden_codes(inputs)
    assert f"no ompss/ folder: {obstacle}" in design.warnings(())
    assert not any(path.startswith("ompss/") for path in design.plan(inputs, golden))


def test_more_dependences_than_a_task_has() -> None:
    tensor = Tensor(shape=(2, 3, 5), type=BYTE)
    layers = [clamp("x", f"l{number}") for number in range(8)]
    names = tuple(layer.name for layer in layers)
    joined = Concat(name="all", inputs=names, parts=(tensor,) * 8, result_type=BYTE)
    graph = Graph(
        name="wide",
        inputs=(Port.of("x", tensor),),
        layers=(*layers, joined),
        outputs=(Port.of("y", joined.output, "all"),),
    )
    design = design_of(graph, instances=1)
    assert network_obstacles(design.hardware, graph) == [
        "all needs 9 dependences, and a task of OmpSs-2@FPGA has 8 at the most"
    ]


def test_frames_of_a_task(design: LayerwiseNetwork) -> None:
    """Short layers get several; but every instance has work, and long layers get one."""
    choice = design.hardware
    assert block_frames(choice, 1) == 1
    assert block_frames(choice, 4) == 2
    average = choice.interval / len(choice.kernels)
    assert block_frames(choice, 1000) == -(-4096 // int(average))
    slow = replace(choice.placed, cycles=dict.fromkeys(choice.placed.cycles, 1 << 30))
    assert block_frames(replace(choice, placed=slow), 1000) == 1


def test_front_waves_in_float32_are_tasks_too(tmp_path: Path) -> None:
    from tests.support.host_builds import float_design

    given = float_design(tmp_path).given
    assert isinstance(given, LayerwiseNetwork)
    inputs = given.sampled(5).codes
    folder = tmp_path / "net"
    write_files(folder, given.plan(inputs, given.golden_codes(inputs)))
    assert "conv2d_wave" in {
        kernel.pipeline.stages[kernel.layer.name].template for kernel in given.hardware.kernels
    }
    for goal in ("sequential", "openmp"):
        done = make(folder / "ompss", goal)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count(" equal\n") == len(given.graph.outputs), done.stdout
