"""The build folder of a shared processor: its data, other weights, and what its Makefile refuses."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hlsgen.api.design import Design
from hlsgen.api.project import build
from hlsgen.base.errors import DesignError
from hlsgen.designfile.constraints import WeightConstraints
from hlsgen.hardware.processor_file import read_processor
from hlsgen.styles.shared import SharedNetwork
from hlsgen.vendor.synthesis_steps import Place, read_flow, steps_to
from tests.support.host_builds import HostBuild, host_build, network_design

FRAMES = 18


@pytest.fixture
def made(tmp_path_factory: pytest.TempPathFactory) -> HostBuild:
    return host_build("shared", tmp_path_factory)


def make(folder: Path, *goals: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *goals], cwd=folder, capture_output=True, text=True, check=False)


def test_the_folders_own_data_equal_golden_in_its_own_testbench(made: HostBuild) -> None:
    done = make(made.build, "csim")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\n0 of " in done.stdout


def test_other_weights_for_the_same_processor(tmp_path: Path) -> None:
    first = network_design("shared", WeightConstraints()).given
    assert isinstance(first, SharedNetwork) and first.reference is not None
    dense = next(layer for layer in first.reference.layers if layer.name == "fc")
    halved = replace(dense, weights=dense.weights / 2)  # type: ignore[attr-defined, call-arg]
    others = [halved if layer is dense else layer for layer in first.reference.layers]
    second = Design(replace(first, reference=first.reference.with_layers(others)))
    project = build(Design(first), tmp_path / "net", frames=FRAMES, csim=False, schedule=False)
    before = {path: path.read_bytes() for path in project.folder.rglob("*") if path.is_file()}
    project.write_weights(second)
    changed = {path.name for path, content in before.items() if path.read_bytes() != content}
    assert {"weights.npy", "y_golden.npy", "memory_golden.npy"} <= changed
    assert changed <= {"weights.npy", "y_golden.npy", "memory_golden.npy", "program.npy"}
    done = make(project.folder, "csim")
    assert done.returncode == 0, done.stdout + done.stderr
    x = np.load(project.folder / "tb/x.npy")
    golden = project.design.with_weights(second).golden_codes({"x": x.astype(np.int64)})["fc"]
    np.testing.assert_array_equal(golden, np.load(project.folder / "tb/y_golden.npy"))


def test_co_simulation_is_refused_with_the_reason(made: HostBuild) -> None:
    done = make(made.build, "cosim")
    assert done.returncode
    assert "three ports of the memory are one buffer" in done.stderr
    assert "three ports of the memory are one buffer" in make(made.build, "help").stdout
    flow = read_flow(made.build)
    with pytest.raises(DesignError, match="three ports of the memory are one buffer"):
        steps_to("cosim", flow, Place(target="hw", platform=flow.platform))
    assert steps_to("csynth", flow, Place(target="hw", platform=flow.platform))


def test_every_port_of_the_memory_is_linked_to_the_same_bank(made: HostBuild) -> None:
    lines = (made.build / "vitis/link.cfg").read_text().splitlines()
    for unit in read_processor(made.build).units:
        banks = {line.split(":")[1] for line in lines if line.startswith(f"sp={unit}.")}
        assert len(banks) == 1


def test_the_memory_has_room_for_a_call_and_for_the_frames(made: HostBuild) -> None:
    interface = json.loads((made.build / "interface.json").read_text())
    program = interface["program"]
    rounds = int(np.load(made.build / "tb/rounds.npy")[0])
    assert rounds <= program["rounds"]
    assert interface["chunk_frames"] <= program["rounds"] * program["together"]
    assert interface["chunk_frames"] % program["together"] == 0
    assert np.load(made.build / "tb/memory.npy").size == program["memory_bytes"]
    assert np.load(made.build / "tb/program.npy").size % program["tasks"] == 0
