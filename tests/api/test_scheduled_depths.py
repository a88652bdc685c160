"""Builds of networks reckon with the depths of their own schedule, and say so."""

from __future__ import annotations

from pathlib import Path

import pytest

import hlsgen
from hlsgen.api import scheduling
from hlsgen.api.project import Project, build
from hlsgen.cost.stages import total_resources
from hlsgen.designfile.clock import Clock
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.report.reading import read_report
from hlsgen.report.streaming import StreamingEstimate
from hlsgen.search.streaming import StreamingHardware
from hlsgen.targets.board import load_board
from hlsgen.timing.timing import simulate
from tests.schedule.test_stage_depths import kernel, loop
from tests.support.schedule_ir import needs_llvm
from tests.timing.test_timing import emitted, residual

NETWORK = """
name: net
board: zcu102
style: {style}
batch: 2
precision: "fixed<8,4>"
input: {{shape: [2, 6, 6], type: "fixed<8,1>", samples: random}}
layers:
  - {{name: conv1, kind: conv2d, out_channels: 2, kernel: 3, padding: same, weights: {{seed: 1}}}}
  - {{name: pool1, kind: pool2d, function: max, kernel: 2, stride: 2}}
"""
"""A chain in which nobody waits for room."""


def built(folder: Path, style: str, **asked: bool) -> Project:
    path = folder / f"{style}.yaml"
    path.write_text(NETWORK.format(style=style))
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(scheduling.VARIABLE, raising=False)
        return build(hlsgen.load(path), folder / style, csim=False, **asked)


def depths_of(project: Project, kernel: str) -> dict[str, int]:
    """The depth of the loop of each file."""
    rows = project.report["schedule"]["loops"]
    return {Path(row["place"]).stem: row["depth_estimated"] for row in rows if row["kernel"] == kernel}


@needs_llvm
def test_a_chain_is_shorter_by_what_its_stages_are(tmp_path: Path) -> None:
    project = built(tmp_path, "dataflow")
    modelled = project.design.estimate().figures()
    found, depths = project.report, depths_of(project, "net")
    assert project.report["schedule"]["verdict"] == "met"
    # the first write comes at the end of the stage's depth, where the model has 16 cycles for each
    less = sum(16 - (depths[stage] - 1) for stage in ("conv1", "pool1"))
    assert less > 0
    assert found["total"]["latency_cycles"] == modelled.total.latency_cycles - less
    assert found["timing"]["latency_cycles"] == found["total"]["latency_cycles"]
    assert found["timeline"][-1]["end"] == found["total"]["latency_cycles"]
    assert found["total"]["interval_cycles"] == modelled.total.interval_cycles
    assert found["fifos"] == modelled.as_json()["fifos"]
    assert (found["total"]["depths"], modelled.total.depths) == ("scheduled", "modelled")
    for row in found["layers"]:
        before = next(one for one in modelled.layers if one.name == row["name"])
        assert before.latency_cycles - row["latency_cycles"] == 16 - (depths[row["name"]] - 1)
    said = (project.folder / "report.md").read_text()
    assert said.count("with the scheduled depths of pipelines") == 2
    assert "one frame, scheduled depths" in (project.folder / "report.html").read_text()
    assert read_report(project.folder).as_json() == found


def test_without_a_schedule_round_figures_hold(tmp_path: Path) -> None:
    project = built(tmp_path, "dataflow", schedule=False)
    assert project.report["total"] == project.design.estimate().as_json()["total"]
    assert "with the modelled depths of pipelines" in (project.folder / "report.md").read_text()
    assert project.report["total"]["depths"] == "modelled"


@needs_llvm
def test_a_network_of_tasks_is_scheduled(tmp_path: Path) -> None:
    """Every loop of every kernel, and each kernel reckons with its own depths."""
    project = built(tmp_path, "tasks")
    found, modelled = project.report, project.design.estimate().figures()
    schedule = found["schedule"]
    assert schedule["verdict"] == "met"
    assert {row["kernel"] for row in schedule["loops"]} == {"net_conv1", "net_pool1"}
    assert {row["ii"] for row in schedule["loops"]} == {1}
    assert {row["kernel"] for row in schedule["cells"]} == {"net_conv1", "net_pool1"}
    assert found["total"]["depths"] == "scheduled"
    for row, before in zip(found["layers"], modelled.layers, strict=True):
        assert row["latency_cycles"] < before.latency_cycles
        assert row["interval_cycles"] == before.interval_cycles
    total = sum(max(row["latency_cycles"], row["ddr_cycles"]) for row in found["layers"])
    assert found["total"]["latency_cycles"] == total < modelled.total.latency_cycles
    assert "with the scheduled depths of pipelines" in (project.folder / "report.md").read_text()


def estimated(pipeline: Pipeline) -> StreamingEstimate:
    board = load_board("u200")
    each = total_resources(pipeline, board)
    hardware = StreamingHardware(
        pipeline=pipeline, each=each, instances=1, by_slr={slr.name: 1 for slr in board.slrs}, bottleneck="-"
    )
    return StreamingEstimate(
        design="net",
        graph=pipeline.graph,
        board=board,
        clock=Clock(mhz=300),
        batch=1,
        accuracy=(),
        quality=None,
        hardware=hardware,
    )


def test_fifos_too_shallow_for_the_depths_are_named_with_what_they_need() -> None:
    """A branch that takes much longer than was thought: the words of the other one do not fit."""
    pipeline = emitted(residual(6, 6))
    estimate = estimated(pipeline)
    slow = pipeline.stage_processes[1].name
    found = estimate.scheduled([kernel(loop(f"src/{slow}.h", 201))])
    assert found.latencies == {"net": {slow: 200}}
    (said,) = found.slowed
    assert found.interval_cycles > estimate.interval_cycles
    assert f"takes {found.interval_cycles:,} cycles, not the {estimate.interval_cycles:,}" in said
    # the remedy that is named is one
    wanted = said.partition("would mend it: ")[2]
    depths = {name: stream.depth for name, stream in pipeline.streams.items()}
    for one in wanted.split("), "):
        name, _, needed = one.partition(" (")
        depths[name] = int(needed.split()[0].replace(",", ""))
    mended = simulate(pipeline.with_depths(depths), latencies={slow: 200})
    assert mended.interval_cycles == estimate.interval_cycles
    assert found.figures().fifos == estimate.figures().fifos


def test_depths_that_fit_say_nothing() -> None:
    pipeline = emitted(residual(6, 6))
    loops = [loop(f"src/{process.name}.h", 3) for process in pipeline.stage_processes]
    found = estimated(pipeline).scheduled([kernel(*loops)])
    assert found.slowed == ()
    assert found.latency_cycles < estimated(pipeline).latency_cycles
