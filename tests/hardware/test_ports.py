"""DDR ports of any width: results, schedules, every byte that a kernel leaves in a buffer and behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hlsgen.base.errors import ToolError
from hlsgen.base.fixed import Codes, FixedType
from hlsgen.cost.resources import Resources
from hlsgen.cost.stages import (
    ddr_resources,
    fifo_resources,
    process_resources,
    total_resources,
    weight_port_resources,
)
from hlsgen.csim.streaming import save_inputs
from hlsgen.csim.testbench import run_testbench
from hlsgen.hardware.pipeline import pipeline_of
from hlsgen.hardware.port_processes import DmaRead
from hlsgen.hardware.ports import DdrPort, Interfaces, ddr_port, ddr_word_bits, slot_bits
from hlsgen.hardware.processes import StageProcess
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.base import Tensor
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.stage import Fold, StreamFormat
from hlsgen.model.ir import run_golden
from hlsgen.targets.board import load_board
from tests.support.layers.stage_cases import few_kernels, one_kernel
from tests.support.pipelines import Built, build_pipeline, random_codes, side_by_side

U200 = load_board("u200")

AFTER_CALL = "    std::size_t different = 0;\n"
DUMP = """
    {{
        std::FILE *file = std::fopen((folder + "/{name}.bin").c_str(), "wb");
        for (const ap_uint<{port}> &word : {name}) {{
            for (int low = 0; low < {port}; low += 64) {{
                const std::uint64_t part = ap_uint<64>(word.range(low + 63, low)).to_uint64();
                std::fwrite(&part, 8, 1, file);
            }}
        }}
        std::fclose(file);
    }}
"""
"""Writes a result's memory, the guard behind it included, to <port>.bin after the call."""


@dataclass(frozen=True, kw_only=True)
class Case:
    layer: Clamp
    fold: Fold


@st.composite
def cases(draw: st.DrawFn) -> Case:
    width = draw(st.sampled_from([1, 2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 63, 64]))
    tensor = Tensor(
        shape=(draw(st.sampled_from([1, 2, 3, 5, 6, 12])), draw(st.integers(1, 3)), draw(st.integers(1, 9))),
        type=FixedType(width, draw(st.integers(1, width)), signed=draw(st.booleans())),
    )
    layer = Clamp(name="c", inputs=("x",), source=tensor, result_type=tensor.type)
    return Case(layer=layer, fold=draw(st.sampled_from(list(layer.folds()))))


def interfaces(bits: int) -> Interfaces:
    return Interfaces(ddr=DdrPort(bits=bits))


def in_ddr(codes: Codes, words: StreamFormat) -> NDArray[np.uint8]:
    """Every byte of these frames: word w at byte w * word_bytes, lane l in slot l, all other bits zero.

    Lanes of pixels beyond a row's end are no part of the tensor: their slots are zero here.
    """
    channels, height, width = words.shape
    frames, slot, bits = len(codes), slot_bits(words.type) // 8, ddr_word_bits(words) // 8
    assert isinstance(words.type, FixedType)
    memory = np.zeros((frames * words.frame_words, bits), np.uint8)
    word = 0
    for frame in codes:
        for row in range(height):
            for group in range(words.groups):
                for fold in range(words.folds):
                    for lane in range(words.lanes):
                        column = group * words.px + lane // words.channels
                        channel = fold * words.channels + lane % words.channels
                        if column < width:
                            code = int(frame[channel, row, column]) & ((1 << words.type.width) - 1)
                            at = lane * slot
                            memory[word, at : at + slot] = list(code.to_bytes(slot, "little"))
                    word += 1
    return memory.reshape(-1)


def beyond_rows(words: StreamFormat, frames: int) -> NDArray[np.bool_]:
    """By byte whether it belongs to a pixel beyond its row's end, which may be anything."""
    slot, bits = slot_bits(words.type) // 8, ddr_word_bits(words) // 8
    found = np.zeros((words.shape[1], words.groups, words.folds, bits), np.bool_)
    for lane in range(words.lanes):
        if (words.groups - 1) * words.px + lane // words.channels >= words.shape[2]:
            found[:, -1, :, lane * slot : (lane + 1) * slot] = True
    return np.tile(found.reshape(-1), frames)


def memories(built: Built, inputs: Mapping[str, Codes], folder: Path) -> dict[str, bytes]:
    """After a call all bytes of each result's memory, and of the guard behind it."""
    folder.mkdir()
    save_inputs(built.pipeline, inputs, folder)
    run_testbench([str(built.executable), str(folder)], {})
    return {port.name: (folder / f"{port.name}.bin").read_bytes() for port in built.pipeline.graph.outputs}


def kernel_of(found: Sequence[Case], bits: int, folder: Path) -> Built:
    """The cases side by side in one kernel, whose testbench shows what lies in memory."""
    graph = side_by_side([one.layer for one in found])
    folds = {layer.name: one.fold for layer, one in zip(graph.layers, found, strict=True)}
    dumps = "".join(DUMP.format(name=port.name, port=bits) for port in graph.outputs)
    edit = {f"tb/{graph.name}_tb.cpp": (AFTER_CALL, dumps + AFTER_CALL)}
    return build_pipeline(graph, folds, folder, interfaces=interfaces(bits), edit=edit)


def assert_memory_exact(built: Built, inputs: Mapping[str, Codes], folder: Path) -> None:
    golden = run_golden(built.pipeline.graph, inputs)
    bits, ports = built.pipeline.interfaces.ddr.bits, built.pipeline.ports
    found = memories(built, inputs, folder)
    for port in built.pipeline.graph.outputs:
        codes, words = golden[port.source], ports[port.name]
        memory = np.frombuffer(found[port.name], np.uint8)
        want = in_ddr(codes, words)
        used = -(-len(want) * 8 // bits) * bits // 8
        assert len(memory) == used + 64
        got = np.where(beyond_rows(words, len(codes)), 0, memory[: len(want)])
        np.testing.assert_array_equal(got, want, err_msg=port.name)
        assert not memory[len(want) : used].any(), f"{port.name}: the rest of the last port word is zero"
        assert (memory[used:] == 0xFF).all(), f"{port.name}: nothing is written behind it"


@few_kernels
@given(
    found=one_kernel(cases()),
    bits=st.sampled_from([64, 128, 256, 512]),
    frames=st.integers(1, 5),
)
def test_any_words_through_any_port(
    tmp_path_factory: pytest.TempPathFactory, found: list[Case], bits: int, frames: int
) -> None:
    folder = tmp_path_factory.mktemp("ports")
    built = kernel_of(found, bits, folder)
    graph = built.pipeline.graph
    for count in {frames, 1}:
        inputs = {port.name: random_codes(port.tensor, count, n) for n, port in enumerate(graph.inputs)}
        golden = run_golden(graph, inputs)
        for bounded in (False, True):
            run = built.run(inputs, folder, bounded=bounded)
            for name, codes in run.tensors.items():
                np.testing.assert_array_equal(codes, golden[name], err_msg=name)
            run.check_schedule(count)
        assert_memory_exact(built, inputs, folder / f"memory{count}")


def bytes_of_one_channel(width: int, bits: int, fold: Fold | None = None) -> Case:
    tensor = Tensor(shape=(1, 1, width), type=FixedType(bits, bits))
    layer = Clamp(name="c", inputs=("x",), source=tensor, result_type=tensor.type)
    return Case(layer=layer, fold=fold or Fold())


@pytest.mark.parametrize("bits", [128, 512])
def test_no_port_reads_or_writes_outside_its_buffer(
    bits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the address sanitizer; the testbench's buffers end with the last port word."""
    compiler = tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\nexec g++ -fsanitize=address -fno-omit-frame-pointer "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    wide = FixedType(33, 33)
    tensor = Tensor(shape=(12, 1, 3), type=wide)
    found = [
        bytes_of_one_channel(7, 8),
        bytes_of_one_channel(5, 17),
        Case(
            layer=Clamp(name="c", inputs=("x",), source=tensor, result_type=wide), fold=Fold(pe=12, simd=12)
        ),
    ]
    built = kernel_of(found, bits, tmp_path / "build")
    graph = built.pipeline.graph
    for frames in (1, 3):
        inputs = {port.name: random_codes(port.tensor, frames, n) for n, port in enumerate(graph.inputs)}
        golden = run_golden(graph, inputs)
        for name, codes in built.run(inputs, tmp_path).tensors.items():
            np.testing.assert_array_equal(codes, golden[name], err_msg=name)


def test_the_address_sanitizer_would_see_a_port_word_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\nexec g++ -fsanitize=address "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    graph = side_by_side([bytes_of_one_channel(7, 8).layer])
    edit = {"src/cases.cpp": ("(memory, out, frames);", "(memory, out, frames + 64);")}
    built = build_pipeline(
        graph, {layer.name: Fold() for layer in graph.layers}, tmp_path / "build", edit=edit
    )
    inputs = {port.name: random_codes(port.tensor, 1, 0) for port in graph.inputs}
    with pytest.raises(ToolError, match="heap-buffer-overflow"):
        built.run(inputs, tmp_path)


# ---------------------------------------------------------------- what is emitted and what it costs


def test_a_port_is_as_wide_as_the_boards() -> None:
    assert ddr_port(U200).bits == 512
    assert ddr_port(load_board("zcu102")).bits == 128
    for asked, bits in ((8, 64), (100, 64), (1000, 512), (4096, 512)):
        memory = U200.memory.model_copy(update={"port_bits": asked})
        assert ddr_port(U200.model_copy(update={"memory": memory})).bits == bits


def load_of(words: StreamFormat, bits: int) -> DmaRead:
    return DmaRead(name="load_x", reads=(), writes=("x_s",), words=words, port=DdrPort(bits=bits))


def test_wide_words_take_several_port_words_and_narrow_ones_share_one() -> None:
    tensor = Tensor(shape=(48, 2, 3), type=FixedType(8, 8))  # 48 bytes: 64 in DDR
    wide, narrow = StreamFormat(tensor=tensor, channels=48), StreamFormat(tensor=tensor, channels=2)
    assert (load_of(wide, 512).interval, load_of(wide, 128).interval) == (6, 24)
    assert load_of(wide, 128).carrier is None
    carrier = load_of(narrow, 512).carrier
    assert carrier is not None and carrier.name == "read_x"
    assert load_of(narrow, 512).interval == 2 * 3 * 24
    # 144 words of 2 bytes a frame: 4.5 port words
    assert [carrier.iterations(frames) for frames in (1, 2, 3)] == [5, 9, 14]
    assert load_of(narrow, 512).frame_bytes == load_of(narrow, 64).frame_bytes == 288


def test_what_a_port_costs_follows_its_width() -> None:
    costs = [ddr_resources(bits, U200.terms) for bits in (64, 128, 512)]
    assert [one.bram18 for one in costs] == [2, 4, 15]
    assert [one.lut for one in costs] == sorted(one.lut for one in costs)


def test_weights_that_stay_on_chip_have_their_port_counted() -> None:
    tensor = Tensor(shape=(4, 6, 6), type=FixedType(8, 8))
    layer = convolution(tensor)
    graph = side_by_side([layer])
    name = graph.layers[0].name
    both = [
        pipeline_of(graph, {name: Fold()}, {name: WeightPlace(layer=name, place=place)})
        for place in ("constant", "runtime")
    ]
    constant, runtime = (weight_port_resources(one, U200) for one in both)
    assert constant == Resources()
    assert runtime.bram18 == 2 and runtime.lut > 0
    rest = [one for one in both[1].processes if not isinstance(one, StageProcess)]
    stages = [one for one in both[1].processes if isinstance(one, StageProcess)]
    parts = [process_resources(one, U200) for one in (*rest, *stages)]
    parts += [fifo_resources(one, U200) for one in both[1].streams.values()]
    assert sum(parts, runtime) == total_resources(both[1], U200)


def convolution(tensor: Tensor) -> Conv2d:
    type_ = tensor.type
    assert isinstance(type_, FixedType)
    return Conv2d(
        name="conv",
        inputs=("x",),
        in_shape=tensor.shape,
        out_channels=2,
        kernel=(1, 1),
        input_type=type_,
        weight_type=type_,
        bias_type=type_,
        accumulator=type_,
        result_type=type_,
        weights=np.ones((2, tensor.shape[0], 1, 1), np.int64),
        bias=np.zeros(0, np.int64),
    )
