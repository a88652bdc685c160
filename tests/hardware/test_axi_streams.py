"""Networks between other kernels: AXI streams at one end or both."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from torch import nn

import hlsgen
from hlsgen.api.design import Design
from hlsgen.base.errors import DesignError, MismatchError
from hlsgen.base.fixed import FixedType
from hlsgen.cost.stages import process_resources, total_resources
from hlsgen.designfile.constraints import InterfaceConstraints, NetworkConstraints, WeightConstraints
from hlsgen.hardware.ports import Interfaces, StreamPort
from hlsgen.layers.base import Tensor
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.stage import Fold, StreamFormat
from hlsgen.model.ir import run_golden
from hlsgen.styles.streaming import StreamingNetwork
from hlsgen.targets.board import load_board
from tests.hardware.test_ports import Case, cases
from tests.support.layers.stage_cases import few_kernels, one_kernel
from tests.support.pipelines import assert_pipeline_exact, build_pipeline, random_codes, side_by_side

U200 = load_board("u200")
BOTH = Interfaces(constraints=InterfaceConstraints(input="stream", output="stream"))


def net() -> nn.Sequential:
    torch.manual_seed(3)
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 3)
    )


def design(interface: Any, **options: Any) -> StreamingNetwork:
    x = np.random.default_rng(0).uniform(-1, 1, (8, 2, 8, 8))
    made = hlsgen.from_torch(
        net(), (2, 8, 8), calibration=x, batch=4, name="between", interface=interface, **options
    )
    assert isinstance(made.given, StreamingNetwork)
    return made.given


@few_kernels
@given(found=one_kernel(cases(), 6))
def test_any_words_through_streams(tmp_path_factory: pytest.TempPathFactory, found: list[Case]) -> None:
    graph = side_by_side([one.layer for one in found])
    folds = {layer.name: one.fold for layer, one in zip(graph.layers, found, strict=True)}
    built = assert_pipeline_exact(graph, folds, tmp_path_factory.mktemp("streams"), interfaces=BOTH)
    assert built.pipeline.free_running and not built.pipeline.frame_bytes


def words(lanes: int, bits: int) -> StreamFormat:
    return StreamFormat(tensor=Tensor(shape=(lanes, 1, 1), type=FixedType(bits, bits)), channels=lanes)


@pytest.mark.parametrize(
    ("lanes", "bits", "width", "transfers"),
    [(1, 1, 8, 1), (3, 6, 24, 1), (128, 8, 1024, 1), (129, 8, 520, 2), (64, 33, 728, 3), (1, 64, 64, 1)],
)
def test_a_transfer_is_whole_bytes_of_whole_elements(
    lanes: int, bits: int, width: int, transfers: int
) -> None:
    port = StreamPort()
    assert (port.transfer_bits(words(lanes, bits)), port.transfers(words(lanes, bits))) == (width, transfers)
    assert width <= 1024 and width // bits * transfers >= lanes


def test_words_of_several_transfers(tmp_path: Path) -> None:
    tensor = Tensor(shape=(64, 1, 3), type=FixedType(33, 20))
    layer = Clamp(name="c", inputs=("x",), source=tensor, result_type=tensor.type)
    graph = side_by_side([layer])
    folds = {one.name: Fold(pe=64, simd=64) for one in graph.layers}
    built = assert_pipeline_exact(graph, folds, tmp_path, interfaces=BOTH)
    (load,) = built.pipeline.dma_reads
    assert (load.transfers, load.interval, load.latency) == (3, 9, 4)


LAST = "transfer.last = (n + 1) % f.frame_beats() == 0;"
WRONG = """
        const std::string wrong = std::getenv("WRONG");
        if (wrong == "missing") transfer.last = n + 1 > beats.size() + f.frame_beats();
        if (wrong == "early") transfer.last = n + 3 == f.frame_beats();
        if (wrong == "bytes") transfer.keep = 0;
"""


def test_c_simulation_refuses_frames_that_do_not_end_where_they_should(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tensor = Tensor(shape=(1, 2, 2), type=FixedType(8, 8))
    graph = side_by_side([Clamp(name="c", inputs=("x",), source=tensor, result_type=tensor.type)])
    folds = {one.name: Fold() for one in graph.layers}
    edit = {"tb/frames.h": (LAST, LAST + WRONG)}
    built = build_pipeline(graph, folds, tmp_path, interfaces=BOTH, edit=edit)
    inputs = {port.name: random_codes(port.tensor, 2, 0) for port in graph.inputs}
    for wrong, says in (
        ("missing", "transfer 3 of frame 0 has TLAST 0"),
        ("early", "transfer 1 of frame 0 has TLAST 1"),
        ("bytes", "left out by TKEEP"),
    ):
        monkeypatch.setenv("WRONG", wrong)
        with pytest.raises(MismatchError, match=says):
            built.run(inputs, tmp_path)
    monkeypatch.setenv("WRONG", "nothing")
    (layer,) = graph.layers
    np.testing.assert_array_equal(
        built.run(inputs, tmp_path).tensors[layer.name], run_golden(graph, inputs)[layer.name]
    )


def test_an_output_without_its_tlast_is_caught(tmp_path: Path) -> None:
    tensor = Tensor(shape=(1, 2, 2), type=FixedType(8, 8))
    graph = side_by_side([Clamp(name="c", inputs=("x",), source=tensor, result_type=tensor.type)])
    edit = {"src/hlsgen/port.h": ("transfer.last = of_frame.last;", "transfer.last = of_frame.value == 0;")}
    folds = {one.name: Fold() for one in graph.layers}
    built = build_pipeline(graph, folds, tmp_path, interfaces=BOTH, edit=edit)
    inputs = {port.name: random_codes(port.tensor, 2, 0) for port in graph.inputs}
    with pytest.raises(hlsgen.ToolError, match="TLAST where no frame ends"):
        built.run(inputs, tmp_path)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> hlsgen.Project:
    return Design(design("stream")).build(tmp_path_factory.mktemp("between") / "b")


def text(project: hlsgen.Project, path: str) -> str:
    return (project.folder / path).read_text(encoding="utf-8")


def test_a_network_between_kernels_is_exact(built: hlsgen.Project) -> None:
    assert built.report["csim"]["verdict"] == "equal"
    x = np.random.default_rng(5).uniform(-1, 1, (3, 2, 8, 8))
    np.testing.assert_array_equal(built.csim(x), built.golden(x))


def test_nobody_starts_a_kernel_without_memory(built: hlsgen.Project) -> None:
    kernel, header = text(built, "src/between.cpp"), text(built, "src/between.h")
    assert "#pragma HLS interface ap_ctrl_none port=return" in kernel
    assert "m_axi" not in kernel
    assert kernel.count("#pragma HLS interface axis port=") == 2
    assert "int frames)" not in header.split('extern "C"')[1]


def test_the_linker_is_told_of_no_memory(built: hlsgen.Project) -> None:
    link = text(built, "vitis/link.cfg").splitlines()
    assert not [line for line in link if line.startswith("sp=")]
    streams = [line for line in link if line.startswith("# stream_connect=")]
    count = built.report["total"]["instances"]
    assert len(streams) == 2 * count
    assert any(line.endswith(f":between_{count}.{built.design.graph.inputs[0].name}:64") for line in streams)


def test_reports_name_the_interface(built: hlsgen.Project) -> None:
    report = json.loads(text(built, "report.json"))
    interface = report["interface"]
    assert (interface["input"], interface["output"], interface["free_running"]) == ("stream", "stream", True)
    assert all(port["stream"] for port in interface["ports"])
    assert report["roofline"] is None
    assert report["performance"]["binds"] != "DDR bandwidth"
    assert "AXI stream" in text(built, "report.md")
    assert "AXI stream" in text(built, "report.html")


@pytest.mark.parametrize("target", ["csim", "csim-bounded"])
def test_the_makefile_simulates(built: hlsgen.Project, target: str) -> None:
    done = subprocess.run(
        ["make", target, "CXXFLAGS=-O1 -Wall -Wextra -Werror"],
        cwd=built.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "12 of 12 equal" in done.stdout


def test_one_side_may_be_memory() -> None:
    made = design({"input": "stream"})
    pipeline = made.hardware.pipeline
    assert not pipeline.free_running
    (output,) = made.graph.outputs
    three_elements = {8: 4, 16: 8}  # in bytes, filled up to a power of two
    assert pipeline.frame_bytes == three_elements[output.tensor.type.container_bits]
    inputs = made.sample_inputs(1)
    kernel = str(made.plan(inputs, made.golden_codes(inputs))["src/between.cpp"])
    assert kernel.count("interface axis") == kernel.count("interface m_axi") == 1
    assert "ap_ctrl_none" not in kernel


def test_weights_at_run_time_need_somebody_who_starts_the_kernel() -> None:
    made = design("stream", constraints=NetworkConstraints(weights=WeightConstraints(place="runtime")))
    pipeline = made.hardware.pipeline
    assert not pipeline.free_running and pipeline.frame_bytes == 0


def test_streams_cost_no_adapters() -> None:
    memory, stream = (design(one).hardware.pipeline for one in ("memory", "stream"))
    assert total_resources(stream, U200).lut < total_resources(memory, U200).lut
    assert [process_resources(one, U200).bram18 for one in stream.dma] == [0, 0]
    assert all(process_resources(one, U200).bram18 for one in memory.dma)


REFUSED: Mapping[str, tuple[object, dict[str, Any], str]] = {
    "tasks": ("stream", {"style": "tasks"}, "is not for style: tasks.*\n.*style: dataflow"),
    "word": ("wire", {}, "interface is 'wire', which there is not"),
    "side": ({"inputs": "stream"}, {}, "says nothing about ports"),
    "kind": ({"input": "wire"}, {}, "interface is 'wire', which there is not.*\n.*one of memory, stream"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_with_a_remedy(name: str) -> None:
    interface, options, says = REFUSED[name]
    with pytest.raises(DesignError, match=says):
        design(interface, **options)
