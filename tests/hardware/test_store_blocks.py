"""What a streaming kernel leaves in DDR for processors that layers share, against their layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hlsgen.csim.streaming import simulate
from hlsgen.hardware.port_processes import StoreBlocks
from hlsgen.hardware.ports import DDR_ONLY
from hlsgen.layers.row_blocks import RowBlocks
from hlsgen.layers.stage import Fold
from hlsgen.model.ir import Graph
from hlsgen.program.layout import Layout
from tests.support.layers.exact import tensor
from tests.support.pipelines import Built, assert_pipeline_exact, build_pipeline, random_codes, side_by_side

IN_BLOCKS = replace(DDR_ONLY, in_blocks=True)
LAYERS = [
    RowBlocks(name="layer", source=tensor(shape, type_), rows=rows, lanes=lanes, bits=bits)
    for shape, type_, rows, lanes, bits in (
        ((8, 7, 3), "fixed<8,4>", 3, 8, 8),
        ((20, 10, 3), "fixed<6,2>", 3, 8, 8),
        ((24, 5, 2), "ufixed<8,4>", 7, 16, 8),
        ((9, 4, 3), "fixed<12,4>", 1, 4, 16),
        ((40, 3, 2), "fixed<16,4>", 5, 32, 16),
    )
]


def folded(layers: Sequence[RowBlocks]) -> tuple[Graph, dict[str, Fold]]:
    graph = side_by_side(layers)
    return graph, {layer.name: next(layer.folds()) for layer in graph.layers}


def codes_left(
    built: Built, layers: Sequence[RowBlocks], folder: Path
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of each output the codes as they lie in DDR, and as `Layout` packs them: three frames."""
    graph = built.pipeline.graph
    inputs = {port.name: random_codes(port.tensor, 3, n) for n, port in enumerate(graph.inputs)}
    run = simulate(built.pipeline, built.executable, inputs, folder, keep=False)
    found = []
    stores = {one.argument: one for one in built.pipeline.dma_writes}
    for port, source, layer in zip(graph.outputs, graph.inputs, layers, strict=True):
        store = stores[port.name]
        assert isinstance(store, StoreBlocks)
        wide = np.dtype(f"<i{layer.bits // 8}")
        in_ddr = store.in_ddr(run.tensors[port.source]).transpose(0, 2, 3, 1)
        layout = Layout(shape=layer.source.shape, rows=layer.rows, lanes=layer.lanes, bits=layer.bits)
        data = np.ascontiguousarray(in_ddr.astype(wide)).view(np.uint8).reshape(3, -1)
        found.append((data, layout.packed(inputs[source.name])))
    return found


def test_memory_is_as_processors_read_it(tmp_path: Path) -> None:
    """Of kernels that are exact and in time."""
    built = assert_pipeline_exact(*folded(LAYERS), tmp_path, interfaces=IN_BLOCKS)
    for left, packed in codes_left(built, LAYERS, tmp_path):
        np.testing.assert_array_equal(left, packed)


@pytest.mark.parametrize(
    ("before", "after"),
    [("begin += GROUP;", "begin += RUN;"), ("begin = block_begin;", "begin = frame_begin;")],
)
def test_a_fault_is_caught(tmp_path: Path, before: str, after: str) -> None:
    edit = {"src/hlsgen/port.h": (before, after)}
    built = build_pipeline(*folded(LAYERS[1:2]), tmp_path, interfaces=IN_BLOCKS, edit=edit)
    assert any((left != packed).any() for left, packed in codes_left(built, LAYERS[1:2], tmp_path))


def test_rows_go_to_ddr_and_back() -> None:
    built = StoreBlocks(
        name="store_out", reads=("s",), writes=(), words=LAYERS[0].stage(next(LAYERS[0].folds())).output,
        blocks=3, groups=2,
    )  # fmt: skip
    codes = np.arange(2 * 6).reshape(1, 1, 6, 2)
    np.testing.assert_array_equal(built.in_ddr(codes)[0, 0, :, 0] // 2, [0, 2, 4, 1, 3, 5])
    np.testing.assert_array_equal(built.from_ddr(built.in_ddr(codes)), codes)
