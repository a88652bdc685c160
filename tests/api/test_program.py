"""`hlsgen program`: one processor, the programs of several networks, and the reasons why others have none."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlsgen
from hlsgen.api.design import Design
from hlsgen.api.project import build
from hlsgen.base.errors import DesignError
from hlsgen.emit.shared import processor_files
from hlsgen.hardware.processor import Processor
from hlsgen.hardware.processor_file import BuiltProcessor, read_processor
from hlsgen.report.processor import task_cells
from tests.support.cards import assert_small_and_whole
from tests.support.command_line import document, failure, text, working_folder
from tests.support.shared_processor import SIGNED

NETWORK = """
name: {name}
board: zcu102
style: {style}
precision: {precision}
input: {{shape: {shape}, type: "{type}", samples: random}}
layers:
{layers}
"""
CONV = "  - {name: conv1, kind: conv2d, out_channels: 6, kernel: 3, padding: same, weights: {seed: 1}}"
POOL = "  - {name: pool1, kind: pool2d, function: max, kernel: 2, stride: 2}"
DENSE = "  - {name: fc1, kind: dense, out_channels: 5, weights: {seed: 2}}"
MAPPING = (
    "mapping: {instances: 1, processor: {rows: 5, lanes: 4, extra_lanes: 0, fabric_lanes: 0, together: 4, "
    "pixel_words: 256, weight_words: 128}}\n"
)
"""Given, as a search takes seconds; the pool is part of a task."""
NARROW = replace(SIGNED, rows=3, fabric_lanes=0, pool_columns=0)


def network(
    folder: Path,
    name: str,
    *layers: str,
    shape: tuple[int, ...] = (3, 7, 6),
    type_: str = "fixed<8,1>",
    precision: str = '"fixed<8,4,rnd,sat>"',
    style: str = "dataflow",
) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(
        NETWORK.format(
            name=name,
            style=style,
            precision=precision,
            shape=list(shape),
            type=type_,
            layers="\n".join(layers),
        )
    )
    return path


def built(folder: Path, processor: Processor = NARROW) -> Path:
    """What of a build a program needs: the sources, and processor.json."""
    target = folder / "built"
    files = processor_files(processor, name="shared", source="a test")
    one = BuiltProcessor(
        name="shared",
        board="A board",
        clock_mhz=100.0,
        units=("shared_1",),
        ddr_rate=8.0,
        processor=processor,
    )
    for name, content in {**files, "processor.json": one.as_json()}.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(content)
    return target


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    working_folder(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def shared_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole build of style: shared, of a network with a convolution and a dense layer."""
    folder = tmp_path_factory.mktemp("first")
    path = network(folder, "first", CONV, POOL, DENSE, style="shared")
    path.write_text(path.read_text() + MAPPING)
    design = hlsgen.load(path)
    build(design, folder / "build", frames=2, csim=False, schedule=False)
    return folder / "build"


def test_another_network_runs_on_the_sources_of_a_build_unchanged(shared_build: Path, tmp_path: Path) -> None:
    sources = {path: path.read_bytes() for path in shared_build.rglob("*") if path.is_file()}
    other = network(
        tmp_path,
        "other",
        "  - {name: conv1, kind: conv2d, out_channels: 9, kernel: 5, stride: 2, weights: {seed: 3}}",
        "  - {name: relu1, kind: clamp, low: 0}",
        "  - {name: conv2, kind: conv2d, out_channels: 4, kernel: 1, weights: {seed: 4}}",
        shape=(2, 13, 11),
    )
    found = document(
        "program", str(other), "--for", str(shared_build), "-o", str(tmp_path / "out"), "--frames", "5"
    )
    assert found["csim"]["verdict"] == "equal"
    assert found["csim"]["frames"] == 5
    assert [one["layers"] for one in found["tasks"]] == [["conv1"], ["conv2"]]
    assert {path: path.read_bytes() for path in shared_build.rglob("*") if path.is_file()} == sources
    # the build's own Makefile runs it too, and finds golden in the folder
    for folder, status in ((tmp_path / "out", 0), (shared_build / "tb", 0)):
        done = subprocess.run(
            ["make", "csim", f"DATA={folder}"], cwd=shared_build, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stdout + done.stderr
        assert " 0 of " in done.stdout.replace("\n", " "), done.stdout


def test_a_wrong_weight_is_found_by_the_builds_own_testbench(shared_build: Path, tmp_path: Path) -> None:
    made = hlsgen.program_for(
        hlsgen.load(network(tmp_path, "other", CONV)), shared_build, tmp_path / "out", frames=1
    )
    weights = np.load(made.folder / "weights.npy")
    weights[: weights.size // 2] ^= 0x55
    np.save(made.folder / "weights.npy", weights)
    done = subprocess.run(
        ["make", "csim", f"DATA={made.folder}"], cwd=shared_build, capture_output=True, text=True, check=False
    )
    assert done.returncode
    assert "differ from golden" in done.stdout


def test_plan_says_where_tensors_lie(tmp_path: Path) -> None:
    design = hlsgen.load(network(tmp_path, "net", CONV, POOL, shape=(1, 7, 6)))
    made = hlsgen.program_for(design, built(tmp_path), tmp_path / "out", frames=3)
    plan = json.loads((made.folder / "plan.json").read_text())
    assert plan == json.loads(json.dumps(made.report))
    memory = np.load(made.folder / "memory.npy")
    golden = np.load(made.folder / "memory_golden.npy")
    assert plan["memory_bytes"] == memory.size
    assert plan["program_bytes"] == np.load(made.folder / "program.npy").nbytes
    assert plan["weight_bytes"] == np.load(made.folder / "weights.npy").nbytes
    places = {one["role"]: one for one in plan["tensors"]}
    together = plan["processor"]["frames_together"]
    output, codes = places["output"], np.load(made.folder / f"{design.graph.outputs[0].name}_golden.npy")
    for frame, (channel, row, column) in ((0, (0, 0, 0)), (2, (5, 2, 1)), (1, (4, 1, 2))):
        lanes, rows = output["lanes"], output["rows"]
        blocks = -(-output["height"] // rows)
        at = ((channel // lanes * blocks + row // rows) * output["width"] + column) * rows + row % rows
        place = output["first_byte"] + frame // together * output["round_bytes"]
        place += frame % together * output["frame_bytes"] + at * lanes + channel % lanes
        assert golden[place].astype(np.int8) == codes[frame, channel, row, column]
    # a kernel of three columns over one channel: three channels, whose columns the host has moved
    assert places["input"]["unfolded"] == {"columns": 3, "dilation": 1, "stride": 1, "left": 1}
    assert places["input"]["channels"] == 3


def test_speed_is_that_of_the_tasks(tmp_path: Path) -> None:
    design = hlsgen.load(network(tmp_path, "net", CONV, DENSE))
    made = hlsgen.program_for(design, built(tmp_path), tmp_path / "out", frames=1, csim=False)
    one = made.figures
    assert one.round_cycles == sum(task.cycles for task in one.tasks)
    assert one.frames_per_s == pytest.approx(100e6 * one.processor.frames_together / one.round_cycles)
    assert f"{one.frames_per_s:,.0f} frames/s modelled" in (made.folder / "report.md").read_text()
    assert one.csim.verdict == "skipped"
    words = assert_small_and_whole(made._repr_html_()).words
    assert f"Program of net for {one.built_with}" in words and "skipped" in words
    for task in one.tasks:
        assert all(cell in words for cell in task_cells(task))


WIDE = Processor(
    rows=3,
    lanes=4,
    activation_bits=16,
    weight_bits=16,
    unsigned=True,
    pixel_depth=64,
    weight_depth=32,
    weight_beat_bits=128,
)


@pytest.mark.parametrize(
    ("processor", "layers", "options", "reason"),
    [
        (NARROW, (CONV,), {"type_": "fixed<16,4>"}, "input x is fixed<16,4,rnd,wrap>, more than the 8 bits"),
        (
            NARROW,
            (CONV,),
            {"type_": "ufixed<8,0>"},
            "more than the 8 bits of the processor's words, which have a sign",
        ),
        (NARROW, (CONV,), {"precision": '"fixed<12,4,rnd,sat>"'}, "need more than 8 bits"),
        (
            NARROW,
            (CONV, POOL),
            {"precision": "float32", "type_": "float32", "style": "tasks"},
            "is in floating point",
        ),
        (replace(NARROW, pixel_depth=16), (CONV,), {}, "words of a bank, which has 16"),
        (
            replace(WIDE, weight_depth=8),
            (CONV,),
            {"shape": (12, 7, 6)},
            "the weights of conv1 take 27 words of a bank, which has 8",
        ),
        (
            WIDE,
            ("  - {name: soft, kind: softmax}",),
            {"shape": (4, 1, 1)},
            "soft",
        ),
        (
            WIDE,
            (
                "  - {name: shares, kind: softmax}",
                "  - {name: conv1, kind: conv2d, out_channels: 6, kernel: 1, weights: {seed: 1}}",
            ),
            {"shape": (4, 1, 1)},
            "shares: it is of kind softmax",
        ),
        (
            WIDE,
            ("  - {name: conv1, kind: conv2d, out_channels: 4, kernel: 3, stride: 3, weights: {seed: 1}}",),
            {"shape": (4, 9, 9)},
            "a stride of 3 rows",
        ),
    ],
)
def test_a_network_beyond_the_limits_is_refused_with_the_reason(
    tmp_path: Path, processor: Processor, layers: tuple[str, ...], options: dict[str, Any], reason: str
) -> None:
    path = network(tmp_path, "net", *layers, **options)
    said = failure(
        1, "program", str(path), "--for", str(built(tmp_path, processor)), "-o", str(tmp_path / "out")
    )
    assert reason in " ".join(said.split())
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_no_shared_build_is_refused(tmp_path: Path) -> None:
    path = str(network(tmp_path, "net", CONV))
    assert "is no folder" in failure(1, "program", path, "--for", str(tmp_path / "none"))
    (tmp_path / "empty").mkdir()
    assert "no build of style: shared" in failure(1, "program", path, "--for", str(tmp_path / "empty"))
    folder = built(tmp_path)
    (folder / "src/shared.cpp").unlink()
    assert "has no src/shared.cpp" in failure(1, "program", path, "--for", str(folder))


def changed(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda data: data.update(values)


def of_processor(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda data: data["processor"].update(values)


@pytest.mark.parametrize(
    "damage",
    [
        changed(format=2),
        changed(name="../../etc/passwd"),
        changed(units=[]),
        changed(units=["a b"]),
        changed(clock_mhz=-1.0),
        changed(clock_mhz="200"),
        changed(ddr_rate=float("inf")),
        changed(processor=None),
        of_processor(rows=0),
        of_processor(rows=4),
        of_processor(rows=17),
        of_processor(lanes=1 << 20),
        of_processor(lanes=True),
        of_processor(weight_beat_bits=0),
        of_processor(weight_beat_bits=24),
        of_processor(activation_bits=9),
        of_processor(pixel_depth=-5),
        of_processor(pixel_depth=1 << 40),
        of_processor(pixel_storage="tape"),
        of_processor(pool_columns=-1),
        of_processor(window_columns=5),
        of_processor(window_columns=5, window_results=-1, window_largest=True),
        of_processor(fabric_lanes=5),
        changed(descriptor=["in_base"]),
        lambda data: data["processor"].pop("rows"),
    ],
)
def test_a_damaged_processor_file_is_refused(
    tmp_path: Path, damage: Callable[[dict[str, Any]], None]
) -> None:
    folder = built(tmp_path)
    assert read_processor(folder).processor == NARROW
    data = json.loads((folder / "processor.json").read_text())
    damage(data)
    (folder / "processor.json").write_text(json.dumps(data))
    with pytest.raises(DesignError, match="processor.json"):
        read_processor(folder)


@pytest.mark.parametrize("content", ["", "{", "[" * 100_000, "[]", "null"])
def test_a_processor_file_that_is_no_document_is_refused(tmp_path: Path, content: str) -> None:
    folder = built(tmp_path)
    (folder / "processor.json").write_text(content)
    with pytest.raises(DesignError, match="processor.json"):
        read_processor(folder)


def test_the_build_itself_is_not_overwritten(tmp_path: Path) -> None:
    folder = built(tmp_path)
    with pytest.raises(DesignError, match="is the build itself"):
        hlsgen.program_for(hlsgen.load(network(tmp_path, "net", CONV)), folder, folder)


def test_an_input_may_not_be_called_as_a_file_of_every_program(tmp_path: Path) -> None:
    design = hlsgen.load(network(tmp_path, "net", CONV))
    port = replace(design.graph.inputs[0], name="memory")
    layer = replace(design.graph.layers[0], inputs=("memory",))
    other = Design(replace(design.given, graph=replace(design.graph, inputs=(port,), layers=(layer,))))
    with pytest.raises(DesignError, match="input memory has the name of one of the files"):
        hlsgen.program_for(other, built(tmp_path), tmp_path / "out", frames=1, csim=False)


def test_the_command_names_its_folder(tmp_path: Path) -> None:
    folder = built(tmp_path)
    said = text(
        "program", str(network(tmp_path, "net", CONV)), "--for", str(folder), "--no-csim", "--frames", "1"
    )
    assert "wrote build/net_for_built/" in said
    assert (tmp_path / "build/net_for_built/program.npy").is_file()


@pytest.mark.parametrize(
    ("columns", "tasks"), [(3, [["conv1", "pool1"]]), (2, [["conv1"], ["pool1"]])], ids=["joined", "wider"]
)
def test_pools_join_tasks_as_far_as_the_processor_pools(
    tmp_path: Path, columns: int, tasks: list[list[str]]
) -> None:
    processor = replace(NARROW, rows=5, pool_columns=columns)
    design = hlsgen.load(network(tmp_path, "net", CONV, POOL))
    made = hlsgen.program_for(design, built(tmp_path, processor), tmp_path / "out", frames=2)
    assert [list(one.layers) for one in made.figures.tasks] == tasks
    assert made.figures.csim.verdict == "equal"
