"""A shared processor with OmpSs-2@FPGA: run sequentially and in threads, on blocks that share slots."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hlsgen.api.design import Design
from hlsgen.base.output import write_files
from hlsgen.designfile.constraints import WeightConstraints
from hlsgen.emit.ompss_shared import block_rounds
from hlsgen.lint import lint_emitted
from hlsgen.program.slots import slot_plan
from hlsgen.styles.shared import SharedNetwork
from tests.support.build_folders import in_threads, make
from tests.support.host_builds import network_design
from tests.support.networks import frames

ROUNDS = 5
"""More than there are slots, the last one in part."""


@pytest.fixture(scope="module")
def style() -> SharedNetwork:
    found = network_design("shared", WeightConstraints()).given
    assert isinstance(found, SharedNetwork)
    return found


@pytest.fixture(scope="module")
def count(style: SharedNetwork) -> int:
    return (ROUNDS - 1) * style.hardware.program.together + 1


@pytest.fixture(scope="module")
def build(style: SharedNetwork, count: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ompss") / "path with spaces"
    inputs = Design(style).inputs_of(frames(count, (6, 5, 3)))
    write_files(folder, style.plan(inputs, style.golden_codes(inputs)))
    return folder


@pytest.fixture(scope="module")
def sequential(build: Path, count: int) -> Path:
    """The sequential program, which has run once."""
    done = make(build / "ompss", "sequential")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "-std=c++11" in done.stdout
    check(done.stdout, count)
    return build / "ompss" / "net-seq"


def check(said: str, count: int) -> None:
    """Both outputs of all frames equal golden."""
    assert f"map: {count * 4 * 6 * 5} of {count * 4 * 6 * 5} equal" in said
    assert f"y: {count * 6} of {count * 6} equal" in said


def run(executable: Path, data: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([executable, data], capture_output=True, text=True, check=False)


def test_openmp_tasks_run_in_several_threads(build: Path, sequential: Path, count: int) -> None:
    """Slots that are used again, and that rounds at a time do not share."""
    done = in_threads(build, "net_instance", threads=4)
    assert done.returncode == 0, done.stdout + done.stderr
    check(done.stdout, count)


def test_words_hold_the_bits_of_floats(tmp_path: Path) -> None:
    style = network_design("shared", WeightConstraints(), "float32").given
    count = 3
    inputs = Design(style).inputs_of(frames(count, (6, 5, 3)))
    write_files(tmp_path, style.plan(inputs, style.golden_codes(inputs)))
    done = make(tmp_path / "ompss", "sequential")
    assert done.returncode == 0, done.stdout + done.stderr
    check(done.stdout, count)


def test_wrong_results_are_shown(build: Path, sequential: Path, tmp_path: Path) -> None:
    data = shutil.copytree(build / "tb", tmp_path / "data")
    golden = np.load(data / "y_golden.npy")
    golden[3, 5] ^= 1
    np.save(data / "y_golden.npy", golden)
    done = run(sequential, data)
    assert done.returncode == 1
    assert "y: frame 3, channel 5, row 0, column 0: code " in done.stdout


@pytest.mark.parametrize(
    ("file", "shape", "message"),
    [
        ("ompss_program.npy", (128,), "ompss_program.npy has the wrong size"),
        ("weights.npy", (3,), "weights.npy has the wrong size"),
        ("x.npy", (5,), "x.npy holds no whole number of frames"),
        ("y_golden.npy", (7,), "y_golden.npy has the wrong size"),
    ],
)
def test_wrong_data(
    file: str, shape: tuple[int, ...], message: str, build: Path, sequential: Path, tmp_path: Path
) -> None:
    data = shutil.copytree(build / "tb", tmp_path / "data")
    kind = np.load(data / file).dtype
    np.save(data / file, np.zeros(shape, kind))
    done = run(sequential, data)
    assert done.returncode == 2
    assert f"error: {message}" in done.stderr


def test_a_slots_program_is_needed_for_every_slot(build: Path, sequential: Path, tmp_path: Path) -> None:
    """The second slot's descriptors are those that every second round runs by."""
    data = shutil.copytree(build / "tb", tmp_path / "data")
    words = np.load(data / "ompss_program.npy")
    half = len(words) // 2
    assert not np.array_equal(words[:half], words[half:])
    words[half:] = 0
    np.save(data / "ompss_program.npy", words)
    done = run(sequential, data)
    wrong = re.findall(r"map: (\d+) of (\d+) equal", done.stdout)
    assert done.returncode == 1 and 0 < int(wrong[0][0]) < int(wrong[0][1])


def test_tasks_and_their_instances(style: SharedNetwork, build: Path) -> None:
    source = (build / "ompss/net_tasks.cpp").read_text()
    assert re.findall(r"^void (\w+)\(", source, re.MULTILINE) == ["net_instance", "net_batch", "net_frames"]
    assert source.count("num_instances(net_ompss::INSTANCES)") == 1
    header = (build / "ompss/net_tasks.fpga.h").read_text()
    assert f"constexpr unsigned INSTANCES = {style.hardware.instances};" in header
    assert "copy" not in re.sub(r"//[^\n]*", "", source)
    placed = json.loads((build / "ompss/placement.json").read_text())["accs"]
    slrs = {name: index for index, name in enumerate(slr.name for slr in style.board.slrs)}
    instances = placed["net_instance"]["instances"]
    assert [one["placement"] for one in instances.values()] == [slrs[slr] for slr in style.hardware.slrs]
    assert set(placed) == {"net_instance", "net_batch"}


def test_the_rules_of_the_compiler_are_kept(build: Path) -> None:
    files = {
        path.relative_to(build).as_posix(): path.read_text()
        for path in build.rglob("*")
        if path.suffix in (".h", ".cpp")
    }
    assert [finding for finding in lint_emitted(files).findings if "ompss" in str(finding)] == []


def test_emitted_text_reads_as_written_by_hand(build: Path) -> None:
    for path in (build / "ompss").rglob("*"):
        if path.suffix in (".h", ".cpp"):
            text = path.read_text()
            assert "{%" not in text and "\t" not in text, path
            assert not any(line != line.rstrip() for line in text.splitlines()), path
            assert "\n\n\n" not in text, path


def test_slots_and_rounds_do_not_meet(style: SharedNetwork) -> None:
    """What lies between tasks has a place of its own in every slot; the rest begins behind all of them."""
    program = style.hardware.program
    found = slot_plan(program, 3)
    taken: set[int] = set()
    for plan in found.plans:
        words: set[int] = set()
        for name, place in plan.places.items():
            size = program.layout(name).frame_words * program.together
            here = set(range(place, place + size))
            if name in program.outer:
                assert min(here) >= found.first_round
                assert max(here) < found.first_round + found.round_words
            else:
                words |= here
        assert not words & taken and max(words) < found.first_round
        taken |= words
    assert found.first_round == 3 * found.slot_words


@pytest.mark.parametrize(
    ("cycles", "batch", "instances", "rounds"),
    [(10_000, 1000, 2, 1), (1000, 1000, 2, 5), (1000, 16, 2, 1), (100, 16 * 8, 2, 4), (5, 16, 1, 1)],
)
def test_a_task_is_not_too_short_and_every_instance_has_one(
    style: SharedNetwork, cycles: int, batch: int, instances: int, rounds: int
) -> None:
    program = replace(style.hardware.program, together=16)
    assert block_rounds(program, cycles, batch, instances) == rounds
